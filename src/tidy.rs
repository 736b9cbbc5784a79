//! The habits of the house that a machine can check, as a unit test.
//!
//! A rule is a function from a file's text to what is wrong with it, so that each can be shown to
//! fail on a few lines of its own (the tests at the end) before it is run over the whole tree.
//! Rules about code look at it without comments and without the insides of strings; those about
//! who may call whom also leave out test code, which may use what it likes.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use regex::Regex;

/// The floors, from the ground up. A module imports only from floors below its own, and peers do
/// not know each other. `wire` has its own: nothing but `server` imports it.
const FLOORS: &[&[&str]] = &[
    &["error"],
    &["clock", "failpoint", "metrics", "task", "types"],
    &["expr", "graph", "state"],
    &["catalog", "connector", "operator"],
    &["dataflow"],
    &["checkpoint", "planner", "serving"],
    &["engine"],
    &["session"],
    &["http", "wire"],
    &["server"],
    &["main"],
];

/// Arrows that the floors alone would allow: module, what it never names, and why.
const NEVER: &[(&str, &[&str], &str)] = &[
    ("operator", &["tokio"], "kernels are synchronous"),
    ("planner", &["operator", "dataflow", "state"], "between them stands graph"),
    ("dataflow", &["catalog", "planner", "sqlparser"], "below the graph there are ids, not names"),
    ("checkpoint", &["catalog", "planner", "sqlparser"], "below the graph there are ids"),
    ("session", &["dataflow", "operator", "state", "checkpoint"], "it speaks to the engine"),
];

/// What of the outside world has one door: pattern, where it may stand, what to do instead.
const DOORS: &[(&str, &[&str], &str)] = &[
    (r"\bpgwire\s*::", &["src/wire/"], "the wire is known only in wire"),
    (r"\brocksdb\s*::", &["src/state/rocks.rs"], "RocksDB is known only in state/rocks.rs"),
    (r"\bsqlparser\s*::", &["src/planner/"], "SQL is parsed only in planner"),
    (r"\baxum\s*::", &["src/http/"], "HTTP is known only in http"),
    (r"\bmimalloc\s*::", &["src/main.rs"], "the allocator is the program's choice"),
    (r"\b(Instant|SystemTime)\b", &["src/clock.rs"], "time is read only in clock"),
    (r"\b(Local|Utc)\s*::\s*now\b", &["src/clock.rs"], "time is read only in clock"),
    (r"\b(rand|getrandom)\s*::", &["src/clock.rs"], "randomness comes only from clock"),
    (r"\bnew_v4\b", &["src/clock.rs"], "randomness comes only from clock"),
    (r"\brand_xoshiro\s*::", &["src/connector/"], "only generators draw numbers, seeded by event"),
    (r"\btokio\s*::\s*(task\s*::\s*)?spawn", &["src/task.rs"], "tasks have names: task::spawn"),
];

/// Words that no file may hold: pattern, whether tests may, what to write instead.
const BANNED: &[(&str, bool, &str)] = &[
    (r"\btodo!", false, "refuse it with SqlError::unsupported, naming the construct"),
    (r"\bunimplemented!", false, "refuse it with SqlError::unsupported, naming the construct"),
    (r"#\[\s*ignore\b", false, "a test that does not run proves nothing: mend or remove it"),
    (r"\bdbg!", false, "tracing::debug! where it is worth keeping"),
    (r"\.unwrap\(\)", true, "`?`, or expect(\"why it holds\")"),
];

/// Marks that no comment may hold.
const BANNED_MARKS: &[(&str, &str)] = &[
    (r"\bFIXME\b", "mend it, or file an issue and name it"),
    (r"\bXXX\b", "mend it, or file an issue and name it"),
    (r"\bTODO\b", "do it, or file an issue and name it"),
];

const LINE_COLUMNS_MAX: usize = 100;
const FILE_LINES_MAX: usize = 900;
const FUNCTION_LINES_MAX: usize = 120;

/// Functions that are longer than allowed: file, name, lines. A ratchet: it only tightens.
const LONG_FUNCTIONS: &[(&str, &str, usize)] = &[];

/// What is wrong, and in which line (from 1).
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    line: usize,
    says: String,
}

fn fault(line: usize, says: impl Into<String>) -> Fault {
    Fault { line, says: says.into() }
}

// --- Reading Rust ------------------------------------------------------------------------------

/// What a piece of source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    /// The inside of a string or of a character.
    Text,
}

/// `source` with everything but `kept` turned into blanks; lines stay where they are.
fn only(source: &str, kept: Kind) -> String {
    let mut out = String::with_capacity(source.len());
    for (character, kind) in source.chars().zip(kinds(source)) {
        let keep = kind == kept || character == '\n';
        out.push(if keep { character } else { ' ' });
    }
    out
}

/// The kind of each character of a Rust source.
fn kinds(source: &str) -> Vec<Kind> {
    let text: Vec<char> = source.chars().collect();
    let mut kinds = vec![Kind::Code; text.len()];
    let mut at = 0;
    while at < text.len() {
        let (kind, inside, next) = piece(&text, at);
        kinds[inside.0..inside.1.min(text.len())].fill(kind);
        at = next.max(at + 1);
    }
    kinds
}

/// The comment, string or character that begins at `at`: its kind, its inside, and what follows.
fn piece(text: &[char], at: usize) -> (Kind, (usize, usize), usize) {
    let peek = |ahead: usize| text.get(at + ahead).copied().unwrap_or('\0');
    let word_before = at > 0 && (text[at - 1].is_alphanumeric() || text[at - 1] == '_');
    match peek(0) {
        '/' if peek(1) == '/' => {
            let end = find(text, at, |text, i| text[i] == '\n');
            (Kind::Comment, (at, end), end)
        }
        '/' if peek(1) == '*' => {
            let end = block_comment_end(text, at);
            (Kind::Comment, (at, end), end)
        }
        'r' if !word_before || text[at - 1] == 'b' => raw_string(text, at),
        '"' => {
            let end = quoted_end(text, at + 1, '"');
            (Kind::Text, (at + 1, end), end + 1)
        }
        // A character, not a lifetime: 'a', '\n', '\u{1F600}'.
        '\'' if peek(1) == '\\' || (peek(2) == '\'' && peek(1) != '\'') => {
            let end = quoted_end(text, at + 1, '\'');
            (Kind::Text, (at + 1, end), end + 1)
        }
        _ => (Kind::Code, (at, at + 1), at + 1),
    }
}

fn find(text: &[char], from: usize, found: impl Fn(&[char], usize) -> bool) -> usize {
    (from..text.len()).find(|&index| found(text, index)).unwrap_or(text.len())
}

fn block_comment_end(text: &[char], at: usize) -> usize {
    let mut depth = 0;
    let mut index = at;
    while index < text.len() {
        match (text[index], text.get(index + 1)) {
            ('/', Some('*')) => (depth, index) = (depth + 1, index + 2),
            ('*', Some('/')) => {
                (depth, index) = (depth - 1, index + 2);
                if depth == 0 {
                    return index;
                }
            }
            _ => index += 1,
        }
    }
    index
}

fn quoted_end(text: &[char], from: usize, quote: char) -> usize {
    let mut index = from;
    while index < text.len() && text[index] != quote {
        index += if text[index] == '\\' { 2 } else { 1 };
    }
    index
}

/// `r"..."`, `r#"..."#`; an identifier that only begins with `r` is code.
fn raw_string(text: &[char], at: usize) -> (Kind, (usize, usize), usize) {
    let open = find(text, at + 1, |text, index| text[index] != '#');
    let hashes = open - at - 1;
    if text.get(open) != Some(&'"') {
        return (Kind::Code, (at, at + 1), at + 1);
    }
    let end = find(text, open + 1, |text, index| {
        text[index] == '"'
            && text[index + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes
    });
    (Kind::Text, (open + 1, end), end + 1 + hashes)
}

/// Where the block that opens at or after `from` closes: the index after its `}`.
fn block_end(code: &[char], from: usize) -> usize {
    let mut depth = 0;
    for (index, character) in code.iter().enumerate().skip(from) {
        match character {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth <= 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// `code` with the items under `#[cfg(test)]` blanked.
fn without_tests(code: &str) -> String {
    static TEST: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"#\[cfg\((any\()?test\b").expect("valid"));
    let mut text: Vec<char> = code.chars().collect();
    for found in TEST.find_iter(code) {
        let start = code[..found.start()].chars().count();
        let open = find(&text, start, |text, index| text[index] == '{' || text[index] == ';');
        let end = if text.get(open) == Some(&'{') { block_end(&text, open) } else { open + 1 };
        for character in &mut text[start..end.min(code.chars().count())] {
            if *character != '\n' {
                *character = ' ';
            }
        }
    }
    text.into_iter().collect()
}

fn line_of(text: &str, byte: usize) -> usize {
    text[..byte].matches('\n').count() + 1
}

fn matches<'a>(text: &'a str, pattern: &str) -> Vec<(usize, &'a str)> {
    // A rule's pattern is compiled once, not once a file.
    static COMPILED: Mutex<BTreeMap<String, Regex>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().expect("no rule panics");
    let pattern = compiled
        .entry(pattern.to_owned())
        .or_insert_with(|| Regex::new(pattern).expect("a rule's pattern is valid"));
    pattern.find_iter(text).map(|found| (line_of(text, found.start()), found.as_str())).collect()
}

// --- Rules -------------------------------------------------------------------------------------

/// The module of the house that a file of `src` belongs to.
fn module_of(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
}

/// Whether a whole file is test code.
fn is_test_file(path: &str) -> bool {
    !path.starts_with("src/")
        || path == "src/tidy.rs"
        || path.ends_with("tests.rs")
        || path.contains("/tests/")
}

/// The modules of this crate that `code` names, with the line: `crate::x`, `crate::{x, y::z}`,
/// `weir::x`, and `super` chains that reach the root from `path`.
fn modules_named(path: &str, code: &str) -> Vec<(usize, String)> {
    static ROOT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b(?:crate|weir|(?P<supers>super(?:\s*::\s*super)*))\s*::\s*").expect("valid")
    });
    let depth = path.trim_end_matches("/mod.rs").matches('/').count();
    let mut named = Vec::new();
    for found in ROOT.captures_iter(code) {
        let whole = found.get(0).expect("group 0 is the match");
        let supers = found.name("supers").map_or(depth, |text| text.as_str().matches('r').count());
        let after = &code[whole.end()..];
        if supers >= depth && !after.starts_with("super") {
            let line = line_of(code, whole.start());
            named.extend(first_names(after).into_iter().map(|name| (line, name)));
        }
    }
    named
}

/// The leading names of a path or of a braced group of paths.
fn first_names(after: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let Some(group) = after.strip_prefix('{') else { return vec![word(after)] };
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (index, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            ',' | '}' if depth == 0 => {
                names.push(word(&group[start..index]));
                start = index + 1;
                if character == '}' {
                    break;
                }
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn floor_of(module: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&module))
}

/// Imports go downward, peers do not know each other, and some arrows never are.
fn floors(path: &str, code: &str) -> Vec<Fault> {
    let module = module_of(path);
    if module == "lib" {
        return Vec::new();
    }
    let Some(floor) = floor_of(module) else {
        return vec![fault(1, format!("module {module} stands on no floor: see FLOORS"))];
    };
    let mut faults = Vec::new();
    for (line, named) in modules_named(path, code) {
        let Some(named_floor) = floor_of(&named) else { continue };
        if named != module && named_floor >= floor {
            faults.push(fault(line, format!("{module} imports {named}, which is not below it")));
        }
        if named == "wire" && module != "wire" && module != "server" {
            faults.push(fault(line, format!("{module} imports wire: only server does")));
        }
    }
    for (_, never, why) in NEVER.iter().filter(|(from, ..)| *from == module) {
        for (line, named) in modules_named(path, code) {
            if never.contains(&named.as_str()) {
                faults.push(fault(line, format!("{module} names {named}: {why}")));
            }
        }
        for outside in never.iter().filter(|name| floor_of(name).is_none()) {
            for (line, _) in matches(code, &format!(r"\b{outside}\s*::")) {
                faults.push(fault(line, format!("{module} names {outside}: {why}")));
            }
        }
    }
    faults
}

/// Outside crates, time, randomness and tasks have one door each.
fn doors(path: &str, code: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (pattern, homes, why) in DOORS {
        if !homes.iter().any(|home| path.starts_with(home)) {
            for (line, found) in matches(code, pattern) {
                faults.push(fault(line, format!("`{found}`: {why}")));
            }
        }
    }
    faults
}

fn banned_words(source: &str, is_test_file: bool) -> Vec<Fault> {
    let code = only(source, Kind::Code);
    let outside_tests = if is_test_file { String::new() } else { without_tests(&code) };
    let mut faults = Vec::new();
    for (pattern, tests_may, instead) in BANNED {
        let text = if *tests_may { &outside_tests } else { &code };
        for (line, found) in matches(text, pattern) {
            faults.push(fault(line, format!("`{found}`: {instead}")));
        }
    }
    let comments = only(source, Kind::Comment);
    for (pattern, instead) in BANNED_MARKS {
        for (line, found) in matches(&comments, pattern) {
            faults.push(fault(line, format!("`{found}` in a comment: {instead}")));
        }
    }
    faults
}

/// A file opens by saying what it is for; its lines and itself are not too long.
fn shape(source: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !source.starts_with("//! ") {
        faults.push(fault(1, "does not open with `//! ` and what the file is for"));
    }
    let (code, comments) = (only(source, Kind::Code), only(source, Kind::Comment));
    for (index, line) in source.lines().enumerate() {
        let columns = line.chars().count();
        // A line that is all inside a string is data, such as a golden file.
        let words =
            |text: &str| text.lines().nth(index).is_some_and(|line| !line.trim().is_empty());
        let is_data = || !words(&code) && !words(&comments);
        if columns > LINE_COLUMNS_MAX && !line.contains("https://") && !is_data() {
            faults.push(fault(index + 1, format!("{columns} columns: {LINE_COLUMNS_MAX} at most")));
        }
    }
    let lines = source.lines().count();
    if lines > FILE_LINES_MAX {
        faults.push(fault(lines, format!("{lines} lines: {FILE_LINES_MAX} at most")));
    }
    faults
}

/// The functions of `code`: line, name, length in lines.
fn functions(code: &str) -> Vec<(usize, String, usize)> {
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\bfn\s+(\w+)").expect("valid"));
    let text: Vec<char> = code.chars().collect();
    let mut functions = Vec::new();
    for found in FUNCTION.captures_iter(code) {
        let whole = found.get(0).expect("group 0 is the match");
        let start = code[..whole.start()].chars().count();
        let open = find(&text, start, |text, index| text[index] == '{' || text[index] == ';');
        if text.get(open) == Some(&'{') {
            let end = block_end(&text, open);
            let lines = text[start..end].iter().filter(|c| **c == '\n').count() + 1;
            functions.push((line_of(code, whole.start()), found[1].to_string(), lines));
        }
    }
    functions
}

/// No function is longer than allowed, but for those in `allowed`, which may not grow and must
/// leave the list, or tighten it, when they shrink.
fn function_lengths(path: &str, code: &str, allowed: &[(&str, &str, usize)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut seen = Vec::new();
    for (line, name, lines) in functions(code) {
        let exception =
            allowed.iter().find(|(file, function, _)| *file == path && *function == name);
        match exception {
            Some((.., limit)) if lines > FUNCTION_LINES_MAX => {
                seen.push(name.clone());
                if lines != *limit {
                    faults.push(fault(line, format!("{name}: {lines} lines, listed as {limit}")));
                }
            }
            _ if lines > FUNCTION_LINES_MAX => faults.push(fault(
                line,
                format!("{name}: {lines} lines, {FUNCTION_LINES_MAX} at most: split it"),
            )),
            _ => {}
        }
    }
    for (_, name, _) in allowed.iter().filter(|(file, ..)| *file == path) {
        if !seen.iter().any(|found| found == name) {
            faults.push(fault(1, format!("{name} is short now: take it off LONG_FUNCTIONS")));
        }
    }
    faults
}

/// A page has one title.
fn titles(page: &str) -> Vec<Fault> {
    let (mut fenced, mut titles) = (false, Vec::new());
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && line.starts_with("# ") {
            titles.push(index + 1);
        }
    }
    match titles.as_slice() {
        [_] => Vec::new(),
        [] => vec![fault(1, "has no `# ` title")],
        [_, second, ..] => vec![fault(*second, "has a second `# ` title")],
    }
}

/// A script is where the runner looks for scripts, and asks something.
fn scripts(path: &str, script: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    if !path.starts_with("sql-tests/slt/") {
        faults.push(fault(1, "is not under sql-tests/slt, so nothing runs it"));
    }
    if !script.lines().any(|line| line.starts_with("query ")) {
        faults.push(fault(1, "has no query, so it proves nothing"));
    }
    for (index, line) in script.lines().enumerate() {
        if line.trim() == "halt" {
            faults.push(fault(index + 1, "what stands after `halt` does not run"));
        }
    }
    faults
}

/// Whether some file of `sources` declares the module whose file is `path`.
fn is_declared(path: &str, sources: &[(String, String)]) -> bool {
    const ROOTS: &[&str] = &[
        "src/lib.rs",
        "src/main.rs",
        "sql-tests/main.rs",
        "sql-tests/clients/rust/src/main.rs",
        "benches/main.rs",
    ];
    if ROOTS.contains(&path) {
        return true;
    }
    let stem = path.trim_end_matches("/mod.rs").trim_end_matches(".rs");
    let Some((folder, name)) = stem.rsplit_once('/') else { return false };
    let declaration = Regex::new(&format!(r"\bmod\s+{name}\s*;")).expect("a name is a pattern");
    let parents =
        ["mod.rs", "lib.rs", "main.rs"].map(|file| format!("{folder}/{file}")).into_iter();
    parents.chain([format!("{folder}.rs")]).any(|parent| {
        sources.iter().any(|(file, source)| *file == parent && declaration.is_match(source))
    })
}

// --- The tree ----------------------------------------------------------------------------------

/// All files of the project, by their path in it.
fn project_files() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the project is readable") {
            let path = entry.expect("the project is readable").path();
            let inside = path.strip_prefix(root).expect("below the root").to_string_lossy();
            let hidden =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if hidden || ["target", "weir-data", "demo-data"].contains(&&*inside) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((inside.into_owned(), path));
            }
        }
    }
    files.sort();
    files
}

fn texts_of(extension: &str) -> Vec<(String, String)> {
    let files = project_files().into_iter();
    files
        .filter(|(inside, _)| inside.ends_with(extension))
        .map(|(inside, path)| (inside, fs::read_to_string(path).expect("text is UTF-8")))
        .collect()
}

/// Fails with every fault there is, as `file:line: what`.
fn report(faults: Vec<(String, Vec<Fault>)>) {
    let lines: Vec<String> = faults
        .into_iter()
        .flat_map(|(path, faults)| {
            faults.into_iter().map(move |fault| format!("{path}:{}: {}", fault.line, fault.says))
        })
        .collect();
    assert!(lines.is_empty(), "{} untidy:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn rust_is_tidy() {
    let sources = texts_of(".rs");
    assert!(sources.len() > 20, "only {} sources found", sources.len());
    let mut faults = Vec::new();
    for (path, source) in &sources {
        let code = only(source, Kind::Code);
        let mut found = shape(source);
        found.extend(banned_words(source, is_test_file(path)));
        found.extend(function_lengths(path, &code, LONG_FUNCTIONS));
        if !is_test_file(path) {
            let code = without_tests(&code);
            found.extend(floors(path, &code));
            found.extend(doors(path, &code));
        }
        if !is_declared(path, &sources) {
            found.push(fault(1, "no file declares this module, so nothing compiles it"));
        }
        faults.push((path.clone(), found));
    }
    for (file, name, _) in LONG_FUNCTIONS {
        assert!(sources.iter().any(|(path, _)| path == file), "{name}: there is no {file}");
    }
    report(faults);
}

#[test]
fn pages_and_scripts_are_tidy() {
    let pages = texts_of(".md").into_iter().map(|(path, page)| (path, titles(&page)));
    let scripts = texts_of(".slt").into_iter().map(|(path, script)| {
        let faults = scripts(&path, &script);
        (path, faults)
    });
    report(pages.chain(scripts).collect());
}

// --- The rules can fail ------------------------------------------------------------------------

fn lines(faults: &[Fault]) -> Vec<usize> {
    faults.iter().map(|fault| fault.line).collect()
}

#[test]
fn code_is_told_from_comments_and_text() {
    let source =
        "let a = \"crate::wire // \\\" \"; // crate::x\nlet b = r#\"q\"w\"#; 'c' /* { */ 'l";
    let code = only(source, Kind::Code);
    assert!(!code.contains("crate") && !code.contains('w') && !code.contains('{'), "{code}");
    assert!(code.contains("let b = r#\"") && code.ends_with("'l"), "{code}");
    assert_eq!(only("x // why\ny", Kind::Comment).trim(), "// why");
    assert_eq!(without_tests("a\n#[cfg(test)]\nmod t {\n b {} }\nc").split_whitespace().count(), 2);
}

/// No line.
const NONE: [usize; 0] = [];

#[test]
fn an_upward_import_is_found() {
    let found = |path, code| lines(&floors(path, code));
    assert_eq!(found("src/state/rocks.rs", "use crate::types::A;\nuse crate::engine::B;"), [2]);
    assert_eq!(found("src/expr/mod.rs", "use crate::{types::{A, B}, state::C};"), [1], "a peer");
    assert_eq!(found("src/expr/mod.rs", "use super::graph::Node;"), [1], "a peer by super");
    assert_eq!(found("src/expr/cast.rs", "use super::super::session::A;"), [1]);
    assert_eq!(found("src/expr/cast.rs", "use super::graph::A;"), NONE, "expr::graph, its own");
    assert_eq!(found("src/engine/mod.rs", "fn f(a: crate::wire::A) {}"), [1, 1]);
    assert_eq!(found("src/nowhere.rs", ""), [1]);
    assert_eq!(found("src/main.rs", "weir::server::main()"), NONE);
}

#[test]
fn an_arrow_that_never_is_is_found() {
    let found = |path, code| lines(&floors(path, code));
    assert_eq!(found("src/operator/join.rs", "use tokio::sync::mpsc;"), [1]);
    assert_eq!(found("src/planner/mod.rs", "use crate::graph::A;\nuse crate::state::B;"), [2]);
    assert_eq!(found("src/session/mod.rs", "use crate::checkpoint::A;"), [1]);
    assert_eq!(found("src/dataflow/run.rs", "datafusion::sql::sqlparser::ast::Expr"), [1]);
}

#[test]
fn a_second_door_is_found() {
    let found = |path, code| lines(&doors(path, code));
    assert_eq!(found("src/state/mod.rs", "use rocksdb::DB;"), [1]);
    assert_eq!(found("src/state/rocks.rs", "use rocksdb::DB;"), NONE);
    assert_eq!(found("src/session/mod.rs", "use datafusion::sql::sqlparser::ast;"), [1]);
    assert_eq!(found("src/http/mod.rs", "use pgwire::api;"), [1]);
    assert_eq!(found("src/engine/mod.rs", "use std::time::{Duration, Instant};"), [1]);
    assert_eq!(found("src/engine/mod.rs", "use std::time::Duration;"), NONE);
    assert_eq!(found("src/engine/mod.rs", "\ntokio::spawn(a); tokio::task::spawn(b);"), [2, 2]);
    assert_eq!(found("src/engine/mod.rs", "rand::random(); Uuid::new_v4()"), [1, 1]);
}

#[test]
fn a_banned_word_is_found() {
    let found = |source| lines(&banned_words(source, false));
    assert_eq!(found("fn a() { todo!() }\nfn b() { x.unwrap() }"), [1, 2]);
    assert_eq!(found("// a.unwrap() or todo!\nlet s = \"dbg!\";"), NONE);
    assert_eq!(found("// FIXME: later"), [1]);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n  fn a() { x.unwrap() }\n}"), NONE);
    assert_eq!(found("#[cfg(test)]\nmod tests {\n  #[ignore = \"slow\"]\n fn a() {} }"), [3]);
    assert_eq!(lines(&banned_words("x.unwrap()", true)), NONE);
}

#[test]
fn a_bad_shape_is_found() {
    assert_eq!(lines(&shape("use a;\n")), [1]);
    assert_eq!(lines(&shape(&format!("//! A.\n// {}\n", "x".repeat(98)))), [2]);
    assert_eq!(lines(&shape(&format!("//! A.\n// {}\n", "é".repeat(97)))), NONE);
    let data = format!("//! A.\nlet a = r#\"\n{}\n\"#; // {}", "x".repeat(101), "x".repeat(98));
    assert_eq!(lines(&shape(&data)), [4]);
    assert_eq!(lines(&shape(&format!("//! A.{}", "\n//".repeat(900)))), [901]);
}

#[test]
fn a_long_function_is_found() {
    let long = format!("fn a() {{{}}}\nfn b() {{}}", "\n x();".repeat(130));
    let check = |allowed: &[(&str, &str, usize)]| lines(&function_lengths("f.rs", &long, allowed));
    assert_eq!(check(&[]), [1]);
    assert_eq!(check(&[("f.rs", "a", 131)]), NONE);
    assert_eq!(check(&[("f.rs", "a", 130)]), [1], "it grew");
    assert_eq!(check(&[("f.rs", "a", 131), ("f.rs", "b", 121)]), [1], "b is short now");
    assert_eq!(functions("trait T { fn a(); fn b() -> u8 {\n1 } }"), [(1, "b".to_string(), 2)]);
}

#[test]
fn a_bad_page_or_script_is_found() {
    assert_eq!(lines(&titles("# A\n```\n# not a title\n```\n## B\n")), NONE);
    assert_eq!(lines(&titles("# A\n\n# B\n")), [3]);
    assert_eq!(lines(&titles("A\n")), [1]);
    assert_eq!(lines(&scripts("sql-tests/slt/a.slt", "query I\nSELECT 1\n----\n1\n")), NONE);
    assert_eq!(lines(&scripts("docs/a.slt", "query I\nSELECT 1\n----\n1\n\nhalt")), [1, 6]);
    assert_eq!(lines(&scripts("sql-tests/slt/a.slt", "statement ok\nSELECT 1\n")), [1]);
}

#[test]
fn a_dead_module_is_found() {
    let sources = [("src/a/mod.rs", "mod b;"), ("src/lib.rs", "pub mod a;")]
        .map(|(path, source)| (path.to_string(), source.to_string()));
    assert!(is_declared("src/a/b.rs", &sources) && is_declared("src/a/mod.rs", &sources));
    assert!(!is_declared("src/a/c.rs", &sources));
}
