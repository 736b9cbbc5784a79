//! Kept texts by today's names: what is shown of a view's query, or of a function's body, after
//! something that it names was renamed.
//!
//! The text is edited where the parser found names of relations. A relation goes on under the name
//! that the rest of the text has for it, and so do its columns:
//!
//! ```text
//! SELECT t.a FROM t JOIN u USING (a)  becomes  SELECT t.a FROM t_old AS t(id, a) JOIN u USING (a)
//! ```
//!
//! which needs no knowledge of what other names mean, and is how PostgreSQL shows what it can say
//! in no other way. Where columns were renamed, `SELECT t.b AS a FROM t_old AS t` is nicer: it is
//! tried, and taken if its plan proves that it is the same work.
//!
//! What is planned is the text as it was written, with what its names meant (`catalog::meaning`);
//! this one must mean the same.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

use sqlparser::ast;
use sqlparser::tokenizer::{Span, Token, TokenWithSpan};

use super::column_use::{has_wildcard, known_only};
use super::job::{Scope, ViewSettings, own_names, same_work, session};
use super::parse::{fold_ident, parse_expression, parse_query, tokens};
use super::source::Source;
use super::sql_functions::{body_query, called};
use super::syntax::Query;
use crate::catalog::{Catalog, Function, Meaning, Meant, Object, quote_identifier};
use crate::error::SqlResult;
use crate::types::ObjectId;

/// A text that is kept with a definition.
#[derive(Debug)]
pub struct Kept<'a> {
    pub(super) query: Query,
    /// The text that the query was read from, which may begin before it.
    text: String,
    pub(super) search_path: &'a [String],
    meaning: &'a Meaning,
    /// What the query's columns are to be called; `None`: that does not matter.
    columns: Option<Vec<&'a str>>,
    /// Characters of `text` that were put before the kept one.
    prefix: usize,
}

impl<'a> Kept<'a> {
    /// The query of a view, or of a sink, if the object has one.
    pub fn of_object(object: &'a Object) -> SqlResult<Option<Self>> {
        let (Some((text, search_path)), Some(meaning)) = (object.written(), object.meaning())
        else {
            return Ok(None);
        };
        // A sink's columns are numbered.
        let columns = object.is_relation().then(|| object.columns.iter());
        let columns = columns.map(|columns| columns.map(|one| one.name.as_str()).collect());
        let query = parse_query(text)?;
        let text = text.to_owned();
        Ok(Some(Self { query, text, search_path, meaning, columns, prefix: 0 }))
    }

    /// A function's body.
    pub fn of_function(function: &'a Function) -> SqlResult<Self> {
        let text = function.body.query();
        Ok(Self {
            query: body_query(&function.body)?,
            prefix: text.len() - function.body.text().len(),
            text,
            search_path: &function.search_path,
            meaning: &function.meaning,
            columns: None,
        })
    }

    /// What the text means, all of its names found in `catalog`, which has them as the text does.
    pub fn meaning(&self, catalog: &Catalog) -> SqlResult<Meaning> {
        let mut meaning = self.meaning.clone();
        if meaning.names.is_empty() {
            let state = session()?;
            let scope = Scope { state: &state, catalog, search_path: self.search_path, names: &[] };
            meaning.names = scope.meant(&self.query.tree)?;
        }
        Ok(meaning)
    }

    /// Whether the text has a star: all columns of something, or a product.
    pub(super) fn says_all(&self) -> bool {
        self.text.contains('*')
    }

    /// Whether the text has a word.
    pub(super) fn says(&self, name: &str) -> SqlResult<bool> {
        Ok(words(&self.text, &self.query.source)?.iter().any(|word| word.name == name))
    }

    /// The text by the names that `catalog` has; `None`: it is as it was written.
    pub fn shown(&self, catalog: &Catalog) -> SqlResult<Option<String>> {
        let mentions = Mentions::of(&self.query);
        let words = words(&self.text, &self.query.source)?;
        let rewriting = Rewriting { kept: self, catalog, mentions: &mentions.found, words: &words };
        if let Some(edits) = rewriting.by_columns() {
            let shown = self.finish(catalog, &words, edits)?;
            if let Some(shown) = shown.filter(|shown| self.is_meant_by(catalog, shown)) {
                return Ok(Some(shown));
            }
        }
        let mut edits = Edits::new();
        for mention in &mentions.found {
            rewriting.relation(mention, &mut edits, Called::AsWritten);
        }
        self.finish(catalog, &words, edits)
    }

    /// The edited text, its columns called as they are to be.
    fn finish(
        &self,
        catalog: &Catalog,
        words: &[Word],
        mut edits: Edits,
    ) -> SqlResult<Option<String>> {
        let wrapped = self.call_columns(catalog, words, &mut edits)?;
        if edits.is_empty() && wrapped.is_none() {
            return Ok(None);
        }
        let text = edited(&self.text, edits).split_off(self.prefix);
        Ok(Some(match wrapped {
            None => text,
            // A comment may be the last in it.
            Some(columns) => format!("SELECT * FROM ({text}\n) AS view({columns})"),
        }))
    }

    /// Whether a text surely says by today's names what this one says by its own.
    fn is_meant_by(&self, catalog: &Catalog, shown: &str) -> bool {
        let text = format!("{}{shown}", &self.text[..self.prefix]);
        let Ok(query) = parse_query(text.trim_end().trim_end_matches(';')) else { return false };
        let today = ViewSettings::of(self.search_path);
        let written = ViewSettings { names: &self.meaning.names, ..today };
        let same = same_work(catalog, (&self.query, written), (&query, today)).unwrap_or(false);
        let called = || match &self.columns {
            None => true,
            Some(wanted) => own_names(catalog, today, &query)
                .is_ok_and(|called| called.iter().eq(wanted.iter())),
        };
        same && called()
    }

    /// Has the query call its columns as the view does; or gives the names under which a query
    /// around it must.
    fn call_columns(
        &self,
        catalog: &Catalog,
        words: &[Word],
        edits: &mut Edits,
    ) -> SqlResult<Option<String>> {
        let Some(wanted) = &self.columns else { return Ok(None) };
        let names = &self.meaning.names;
        let settings = ViewSettings { names, ..ViewSettings::of(self.search_path) };
        let own = own_names(catalog, settings, &self.query)?;
        if own.iter().eq(wanted.iter()) {
            return Ok(None);
        }
        let select = leftmost(&self.query.tree.body);
        let select = select.filter(|select| select.projection.len() == wanted.len());
        let mut renamed = Vec::new();
        for (place, (own, wanted)) in own.iter().zip(wanted).enumerate() {
            if own == wanted {
                continue;
            }
            let item = select.and_then(|select| select.projection.get(place));
            renamed.push(item.and_then(|item| self.call_item(item, own, wanted, words)));
        }
        match renamed.into_iter().collect::<Option<Vec<Edit>>>() {
            Some(renamed) => edits.extend(renamed),
            None => {
                let list: Vec<_> = wanted.iter().map(|name| quote_identifier(name)).collect();
                return Ok(Some(list.join(", ")));
            }
        }
        Ok(None)
    }

    /// Has one column of SELECT's list be called otherwise, where that changes nothing else.
    fn call_item(
        &self,
        item: &ast::SelectItem,
        own: &str,
        wanted: &str,
        words: &[Word],
    ) -> Option<Edit> {
        let wanted = quote_identifier(wanted);
        let after = |ident: &ast::Ident| {
            let end = self.range(ident.span)?.end;
            Some(((end, end), format!(" AS {wanted}")))
        };
        match item {
            ast::SelectItem::ExprWithAlias { alias, .. } => {
                let range = self.range(alias.span)?;
                // What orders or groups by the name would not find it.
                let elsewhere = words.iter().any(|word| word.name == own && word.range != range);
                (!elsewhere).then(|| ((range.start, range.end), wanted.clone()))
            }
            ast::SelectItem::UnnamedExpr(expr) => after(column_name(expr)?),
            _ => None,
        }
    }

    fn range(&self, span: Span) -> Option<Range<usize>> {
        range(&self.query.source, span)
    }
}

/// What takes the place of bytes of a text, from the first to before the second.
type Edit = ((usize, usize), String);

/// Edits, of which none is in another.
type Edits = BTreeMap<(usize, usize), String>;

fn edited(text: &str, edits: Edits) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for ((start, end), replacement) in edits {
        result.push_str(&text[done..start]);
        result.push_str(&replacement);
        done = end;
    }
    result.push_str(&text[done..]);
    result
}

fn range(source: &Source, span: Span) -> Option<Range<usize>> {
    (span.start.line > 0).then(|| source.place(span.start).byte..source.place(span.end).byte)
}

/// A word of a text, folded as a name is.
struct Word {
    name: String,
    range: Range<usize>,
    quoted: bool,
    /// Whether a dot follows it.
    qualifies: bool,
}

fn words(text: &str, source: &Source) -> SqlResult<Vec<Word>> {
    let tokens = tokens(text)?;
    let mut words = Vec::new();
    for (place, TokenWithSpan { token, span }) in tokens.iter().enumerate() {
        let (Token::Word(word), Some(range)) = (token, range(source, *span)) else { continue };
        let quoted = word.quote_style.is_some();
        words.push(Word {
            name: if quoted { word.value.clone() } else { word.value.to_lowercase() },
            range,
            quoted,
            qualifies: tokens.get(place + 1).is_some_and(|next| next.token == Token::Period),
        });
    }
    Ok(words)
}

/// The SELECT whose list names a query's columns.
fn leftmost(body: &ast::SetExpr) -> Option<&ast::Select> {
    match body {
        ast::SetExpr::Select(select) => Some(select),
        ast::SetExpr::SetOperation { left, .. } => leftmost(left),
        ast::SetExpr::Query(query) => leftmost(&query.body),
        _ => None,
    }
}

/// A place where a text names a relation in FROM.
struct Mention {
    /// As it is written: the name, after its schema and its database.
    parts: Vec<String>,
    range: Range<usize>,
    alias: Option<Alias>,
    /// Names that mean something else at this place.
    hidden: Vec<String>,
}

/// What the mention calls the relation.
struct Alias {
    name: String,
    range: Option<Range<usize>>,
    /// Where it ends, if no list of columns follows.
    end: Option<usize>,
}

/// All places where a query names relations in FROM.
struct Mentions<'a> {
    source: &'a Source,
    found: Vec<Mention>,
    /// Names that WITH gives in the queries around.
    with: Vec<String>,
}

impl<'a> Mentions<'a> {
    fn of(query: &'a Query) -> Self {
        let mut mentions = Self { source: &query.source, found: Vec::new(), with: Vec::new() };
        let _ = ast::Visit::visit(&*query.tree, &mut mentions);
        mentions
    }
}

impl ast::Visitor for Mentions<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
        let Some(with) = &query.with else { return ControlFlow::Continue(()) };
        for one in &with.cte_tables {
            if !with.recursive {
                // Its own name means something else in it. Later it is visited again, when all
                // that its names can mean is what was found now, or less.
                ast::Visit::visit(one, self)?;
            }
            self.with.push(fold_ident(&one.alias.name));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &ast::Query) -> ControlFlow<()> {
        let given = query.with.as_ref().map_or(0, |with| with.cte_tables.len());
        self.with.truncate(self.with.len() - given);
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &ast::TableFactor) -> ControlFlow<()> {
        let ast::TableFactor::Table { name, alias, args: None, .. } = factor else {
            return ControlFlow::Continue(());
        };
        let idents: Option<Vec<_>> = name.0.iter().map(|part| part.as_ident()).collect();
        let ranges = idents.as_deref().and_then(|idents| {
            let first = range(self.source, idents.first()?.span)?;
            Some(first.start..range(self.source, idents.last()?.span)?.end)
        });
        let (Some(idents), Some(whole)) = (idents, ranges) else {
            return ControlFlow::Continue(());
        };
        let parts: Vec<String> = idents.into_iter().map(fold_ident).collect();
        let of_with = matches!(parts.as_slice(), [name] if self.with.contains(name));
        if of_with || self.found.iter().any(|other| other.range == whole) {
            return ControlFlow::Continue(());
        }
        let end = |ident: &ast::Ident| range(self.source, ident.span).map(|range| range.end);
        let alias = alias.as_ref().map(|alias| Alias {
            name: fold_ident(&alias.name),
            range: range(self.source, alias.name.span),
            end: end(&alias.name).filter(|_| alias.columns.is_empty()),
        });
        let hidden = self.with.clone();
        self.found.push(Mention { parts, range: whole, alias, hidden });
        ControlFlow::Continue(())
    }
}

/// What the columns of relations are called in the edited text.
#[derive(Clone, Copy)]
enum Called {
    AsWritten,
    AsToday,
}

/// Columns in the expressions of a text that become others.
struct Columns<'a> {
    source: &'a Source,
    renamed: BTreeMap<&'a str, &'a str>,
    edits: Edits,
}

impl Columns<'_> {
    /// Puts the new name in the place of the old one, if there is one: where that ends, and what it
    /// was.
    fn rename(&mut self, ident: &ast::Ident) -> Option<(usize, String)> {
        let old = fold_ident(ident);
        let new = self.renamed.get(old.as_str())?;
        let range = range(self.source, ident.span)?;
        self.edits.insert((range.start, range.end), quote_identifier(new));
        Some((range.end, old))
    }
}

impl ast::Visitor for Columns<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &ast::Expr) -> ControlFlow<()> {
        if let Some(ident) = column_name(expr) {
            self.rename(ident);
        }
        ControlFlow::Continue(())
    }

    /// What is selected goes on under the name that it had.
    fn pre_visit_select(&mut self, select: &ast::Select) -> ControlFlow<()> {
        for item in &select.projection {
            if let ast::SelectItem::UnnamedExpr(expr) = item
                && let Some(ident) = column_name(expr)
                && let Some((end, old)) = self.rename(ident)
            {
                self.edits.insert((end, end), format!(" AS {}", quote_identifier(&old)));
            }
        }
        ControlFlow::Continue(())
    }
}

/// What names the column, of an expression that is one.
fn column_name(expr: &ast::Expr) -> Option<&ast::Ident> {
    match expr {
        ast::Expr::Identifier(ident) => Some(ident),
        ast::Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    }
}

/// How mentions become others.
struct Rewriting<'a> {
    kept: &'a Kept<'a>,
    catalog: &'a Catalog,
    mentions: &'a [Mention],
    words: &'a [Word],
}

impl Rewriting<'_> {
    /// By the new names of columns too, if some have one: in the text's expressions, of whose names
    /// it is not known what they mean.
    fn by_columns(&self) -> Option<Edits> {
        let mut edits = Edits::new();
        let mut renamed = BTreeMap::new();
        for mention in self.mentions {
            self.relation(mention, &mut edits, Called::AsToday);
            let Some((meant, object)) = self.meant(mention) else { continue };
            if self.is_hidden(mention, meant, object) {
                return None;
            }
            let own = |place: usize| object.columns.get(object.column_at(place)?);
            for (old, place) in meant.columns.iter().zip(meant.known_places()) {
                let Some(column) = own(place) else { continue };
                if *old != column.name {
                    renamed.insert(old.as_str(), column.name.as_str());
                }
            }
        }
        if renamed.is_empty() {
            return None;
        }
        let mut columns = Columns { source: &self.kept.query.source, renamed, edits };
        let _ = ast::Visit::visit(&*self.kept.query.tree, &mut columns);
        Some(columns.edits)
    }

    /// What a mention means.
    fn meant(&self, mention: &Mention) -> Option<(&Meant, &Object)> {
        let (schema, name) = schema_and_name(&mention.parts)?;
        let names = &self.kept.meaning.names;
        let meant =
            names.iter().find(|meant| meant.schema.as_deref() == schema && meant.name == name)?;
        Some((meant, self.catalog.object(meant.object)?))
    }

    fn relation(&self, mention: &Mention, edits: &mut Edits, called: Called) {
        let Some((_, name)) = schema_and_name(&mention.parts) else { return };
        let Some((meant, object)) = self.meant(mention) else { return };
        let is_named = self.names(mention, object.id);
        if !is_named {
            let place = (mention.range.start, mention.range.end);
            edits.insert(place, self.name_for(mention, object));
            self.drop_schema(mention, edits);
        }
        if self.is_hidden(mention, meant, object) {
            let relation = match is_named {
                true => self.kept.text[mention.range.clone()].to_owned(),
                false => self.name_for(mention, object),
            };
            let alias = match &mention.alias {
                None => format!(" AS {}", quote_identifier(name)),
                Some(_) => String::new(),
            };
            let text = format!("{}{alias}", known_only(meant, object, &relation));
            edits.insert((mention.range.start, mention.range.end), text);
            self.drop_schema(mention, edits);
            self.spell_table(mention, edits);
            return;
        }
        let columns = match called {
            Called::AsWritten => columns_under(meant, object),
            Called::AsToday => None,
        };
        match (&mention.alias, columns) {
            (None, columns) => {
                let renamed = object.name.name != name;
                let spoken_of = || self.speaks_of(name) || self.speaks_of(&object.name.name);
                if columns.is_none() && !(renamed && spoken_of()) {
                    return;
                }
                let list =
                    columns.map_or_else(String::new, |list| format!("({})", list.join(", ")));
                let end = mention.range.end;
                edits.insert((end, end), format!(" AS {}{list}", quote_identifier(name)));
                self.drop_schema(mention, edits);
                self.spell_table(mention, edits);
            }
            (Some(Alias { end: Some(end), .. }), Some(list)) => {
                edits.insert((*end, *end), format!("({})", list.join(", ")));
            }
            (Some(_), _) => {}
        }
    }

    /// Whether the object has to be hidden behind a query of the columns that the text knows: it
    /// has others now, and the text may speak of all of them.
    fn is_hidden(&self, mention: &Mention, meant: &Meant, object: &Object) -> bool {
        if meant.columns.is_empty() || meant.known_places() == object.places() {
            return false;
        }
        let name = schema_and_name(&mention.parts).map_or("", |(_, name)| name);
        let called = mention.alias.as_ref().map_or(name, |alias| alias.name.as_str());
        let as_row = |word: &Word| word.name == called && !word.qualifies;
        let inside = |word: &Word| {
            let is_in = |range: &Range<usize>| {
                range.start <= word.range.start && word.range.end <= range.end
            };
            let of_alias = |other: &Mention| {
                other.alias.as_ref().and_then(|alias| alias.range.as_ref()).is_some_and(is_in)
            };
            self.mentions.iter().any(|other| is_in(&other.range) || of_alias(other))
        };
        let natural = |word: &Word| !word.quoted && word.name == "natural";
        let words = self.words.iter().filter(|word| !inside(word));
        has_wildcard(&self.kept.query.tree)
            || words.clone().any(as_row)
            || words.clone().any(natural)
            || columns_under(meant, object).is_some()
    }

    /// Whether the mention's words still name the object.
    fn names(&self, mention: &Mention, object: ObjectId) -> bool {
        let Some((schema, name)) = schema_and_name(&mention.parts) else { return false };
        let found = self.catalog.resolve(self.kept.search_path, schema, name);
        found.is_some_and(|found| found.id == object)
    }

    /// The object's name, with as many parts as were written, or with as many as it takes.
    fn name_for(&self, mention: &Mention, object: &Object) -> String {
        let name = &object.name.name;
        let found = self.catalog.resolve(self.kept.search_path, None, name);
        let bare = mention.parts.len() == 1
            && !mention.hidden.contains(name)
            && found.is_some_and(|found| found.id == object.id);
        let mut parts = Vec::new();
        if let [database, _, _] = mention.parts.as_slice() {
            parts.push(quote_identifier(database));
        }
        if !bare {
            parts.push(quote_identifier(&object.name.schema));
        }
        parts.push(quote_identifier(name));
        parts.join(".")
    }

    /// Whether the text has a word, where it names no relation in FROM.
    fn speaks_of(&self, name: &str) -> bool {
        let in_mention = |word: &Word| {
            self.mentions.iter().any(|mention| {
                mention.range.start <= word.range.start && word.range.end <= mention.range.end
            })
        };
        self.words.iter().any(|word| word.name == name && !in_mention(word))
    }

    /// `schema.name.column` becomes `name.column`: nothing is called by the schema any more.
    fn drop_schema(&self, mention: &Mention, edits: &mut Edits) {
        let Some((last, qualifiers)) = mention.parts.split_last() else { return };
        if qualifiers.is_empty() {
            return;
        }
        let whole: Vec<&String> = mention.parts.iter().collect();
        for found in self.words.windows(whole.len()) {
            let same = found.iter().map(|word| &word.name).eq(whole.iter().copied())
                && found.iter().all(|word| word.qualifies);
            let (Some(first), Some(name)) = (found.first(), found.last()) else { continue };
            let inside = self.mentions.iter().any(|one| one.range.contains(&first.range.start));
            if same && !inside {
                edits.insert((first.range.start, name.range.end), quote_identifier(last));
            }
        }
    }

    /// `TABLE t` takes no other name for `t`.
    fn spell_table(&self, mention: &Mention, edits: &mut Edits) {
        let before = self.words.iter().rfind(|word| word.range.end <= mention.range.start);
        let Some(word) = before.filter(|word| !word.quoted && word.name == "table") else { return };
        let between = &self.kept.text[word.range.end..mention.range.start];
        if between.chars().all(char::is_whitespace) {
            edits.insert((word.range.start, word.range.end), "SELECT * FROM".to_owned());
        }
    }
}

fn schema_and_name(parts: &[String]) -> Option<(Option<&str>, &str)> {
    match parts {
        [name] => Some((None, name)),
        [schema, name] | [_, schema, name] => Some((Some(schema), name)),
        _ => None,
    }
}

/// The names that the text has for the columns of a relation, quoted, where those that are there
/// are called otherwise.
fn columns_under(meant: &Meant, object: &Object) -> Option<Vec<String>> {
    let known = meant.columns.iter().zip(meant.known_places());
    let same = known.into_iter().all(|(name, place)| {
        let column = object.column_at(place).and_then(|column| object.columns.get(column));
        column.is_none_or(|column| column.name == *name)
    });
    (!same).then(|| meant.columns.iter().map(|name| quote_identifier(name)).collect())
}

/// The expression of a generated column, of which one that it reads is called otherwise. No column
/// is called by its table there, whose name may be another too.
pub fn computed_by(text: &str, renamed: Option<(&str, &str)>) -> SqlResult<String> {
    let expression = parse_expression(text)?;
    let source = &expression.source;
    let mut edits = Edits::new();
    let _ = ast::visit_expressions(&*expression.tree, |expr| {
        let idents = match expr {
            ast::Expr::Identifier(ident) => std::slice::from_ref(ident),
            ast::Expr::CompoundIdentifier(parts) => parts,
            _ => return ControlFlow::<()>::Continue(()),
        };
        let (Some(first), Some(last)) = (idents.first(), idents.last()) else {
            return ControlFlow::Continue(());
        };
        let name = fold_ident(last);
        let new = match renamed {
            Some((old, new)) if old == name => new,
            _ => name.as_str(),
        };
        let ranges = (range(source, first.span), range(source, last.span));
        if let (Some(start), Some(end)) = ranges
            && (new != name || idents.len() > 1 || last.quote_style.is_some())
        {
            edits.insert((start.start, end.end), quote_identifier(new));
        }
        ControlFlow::Continue(())
    });
    Ok(edited(text, edits))
}

/// An expression whose calls of functions of one schema name another.
pub fn call_in_schema(text: &str, old: &str, new: &str) -> SqlResult<String> {
    let expression = parse_expression(text)?;
    let mut edits = Edits::new();
    let _ = ast::visit_expressions(&*expression.tree, |expr| {
        if let ast::Expr::Function(call) = expr
            && let [.., schema, _] = call.name.0.as_slice()
            && let Some(schema) = schema.as_ident()
            && fold_ident(schema) == old
            && let Some(range) = range(&expression.source, schema.span)
        {
            edits.insert((range.start, range.end), quote_identifier(new));
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(edited(text, edits))
}

/// Whether a kept text calls a function by the name of its schema.
pub fn calls_into(catalog: &Catalog, schema: &str, kept: &Kept<'_>) -> bool {
    called(&kept.query.tree).iter().any(|parts| match parts.as_slice() {
        [named, name] | [_, named, name] => {
            named == schema && !catalog.functions_named(&[], Some(schema), name).is_empty()
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{catalog_of, run};
    use super::super::{describe_view, plan_stored_view};
    use super::*;
    use crate::catalog::QualifiedName;

    const TABLES: &str = "create table t (id int primary key, a int, b text);
                          create table u (id int primary key, c int);";

    fn object<'a>(catalog: &'a Catalog, name: &str) -> &'a Object {
        catalog.object_named(&QualifiedName::new("public", name)).expect("made before")
    }

    /// A materialized view's query after table `t` was called otherwise: itself, or a column.
    fn after(query: &str, renamed: Renamed) -> String {
        let script = format!("{TABLES}create materialized view v as {query}");
        let catalog = catalog_of(&script).with_schema("s", "weir").expect("free").0;
        let (t, v) = (object(&catalog, "t").clone(), object(&catalog, "v"));
        let kept = Kept::of_object(v).expect("it parses").expect("a query");
        let mut meaning = kept.meaning(&catalog).expect("names are found");
        let plan = |catalog: &Catalog| {
            let view = object(catalog, "v");
            format!("{:?}", run(plan_stored_view(catalog, view)).expect("planned").fragments)
        };
        let before = plan(&catalog);
        if let Renamed::Column(..) = renamed {
            meaning.hold_columns(&t);
        }
        let meanings = BTreeMap::from([(v.id, meaning)]);
        let (catalog, _) = catalog.with_meanings(meanings, &[]).expect("kept");
        let edited = match renamed {
            Renamed::Itself(schema, name) => {
                catalog.with_name(t.id, QualifiedName::new(schema, name))
            }
            Renamed::Column(column, name) => catalog.with_column_name(t.id, column, name),
        };
        let (catalog, _) = edited.expect("the name is free");
        assert_eq!(plan(&catalog), before, "its plan is the same");
        let view = object(&catalog, "v");
        let kept = Kept::of_object(view).expect("it parses").expect("a query");
        let shown = kept.shown(&catalog).expect("it can be shown");
        let shown = shown.unwrap_or_else(|| query.to_owned());
        // By itself, today, it is a query for the same columns.
        let today = parse_query(&shown).expect("it is SQL");
        let path = ["public".to_owned()];
        let described = run(describe_view(&catalog, &path, &today, &[]))
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(described.columns, view.columns, "{shown}");
        assert_eq!(described.depends_on, view.depends_on, "{shown}");
        shown
    }

    enum Renamed {
        Itself(&'static str, &'static str),
        Column(usize, &'static str),
    }

    #[test]
    fn relations_are_shown_by_their_new_names() {
        for (query, expected) in [
            ("select a from t", "select a from old"),
            ("select a from public.t", "select a from public.old"),
            ("select t.a from t", "select t.a from old AS t"),
            ("select x.a from t x", "select x.a from old x"),
            ("select x.a from T as x", "select x.a from old as x"),
            ("select public.t.a, t.b from public.t", "select t.a, t.b from public.old AS t"),
            ("select public.t.* from public.t", "select t.* from public.old AS t"),
            (
                "with t as (select a from t) select a from t",
                "with t as (select a from old AS t) select a from t",
            ),
            (
                "with old as (select 1 as c) select a, c from t, old",
                "with old as (select 1 as c) select a, c from public.old AS t, old",
            ),
            (
                "select c from u where exists (select from t where t.id = u.id)",
                "select c from u where exists (select from old AS t where t.id = u.id)",
            ),
            ("table t", "table old"),
            ("select 't' as t from \"t\"", "select 't' as t from old AS t"),
            (
                "select a from t union all select id from t /* ß */ where id in (table t)",
                "select a from old union all select id from old /* ß */ where id in (table old)",
            ),
        ] {
            let query = query.replace("in (table t)", "in (select id from t)");
            let expected = expected.replace("in (table old)", "in (select id from old)");
            assert_eq!(after(&query, Renamed::Itself("public", "old")), expected);
        }
        assert_eq!(after("select a from t", Renamed::Itself("s", "t")), "select a from s.t");
        let quoted = Renamed::Itself("public", "T 1");
        assert_eq!(after("select a from t", quoted), "select a from \"T 1\"");
    }

    #[test]
    fn columns_go_on_under_the_names_that_the_text_has() {
        for (query, expected) in [
            ("select a from t", "select \"Z\" AS a from t"),
            ("select t.a, b from public.t", "select t.\"Z\" AS a, b from public.t"),
            ("select x.a + 1 as y from t x", "select x.\"Z\" + 1 as y from t x"),
            ("select p from t as x (p, q, r)", "select p from t as x (p, q, r)"),
            ("select id from t where a > 1", "select id from t where \"Z\" > 1"),
            (
                "select b, sum(a) from t group by b having max(t.a) > 1",
                "select b, sum(\"Z\") from t group by b having max(t.\"Z\") > 1",
            ),
            ("select a from (select * from t) s", "select \"Z\" AS a from (select * from t) s"),
            ("select * from t", "select * from t AS t(id, a, b)"),
            ("select x.*, a + 1 as c from t x", "select x.*, a + 1 as c from t x(id, a, b)"),
            ("table t", "SELECT * FROM t AS t(id, a, b)"),
            (
                "select a, row_number() over (order by a) as n from t",
                "select a, row_number() over (order by a) as n from t AS t(id, a, b)",
            ),
            (
                "select x.a, y.a as c from t x, (select 1 as a) y",
                "select x.a, y.a as c from t x(id, a, b), (select 1 as a) y",
            ),
            (
                "select * from t join u using (id)",
                "select * from t AS t(id, a, b) join u using (id)",
            ),
        ] {
            assert_eq!(after(query, Renamed::Column(1, "Z")), expected);
        }
    }

    /// A view's query after one of the view's own columns was called otherwise.
    fn called(query: &str, column: usize, name: &str) -> String {
        let catalog = catalog_of(&format!("{TABLES}create materialized view v as {query}"));
        let plan = |catalog: &Catalog| {
            let view = object(catalog, "v");
            format!("{:?}", run(plan_stored_view(catalog, view)).expect("planned").fragments)
        };
        let before = plan(&catalog);
        let id = object(&catalog, "v").id;
        let (catalog, _) = catalog.with_column_name(id, column, name).expect("a column");
        assert_eq!(plan(&catalog), before, "its plan is the same");

        let catalog = catalog_of(&format!("{TABLES}create view v as {query}"));
        let id = object(&catalog, "v").id;
        let (catalog, _) = catalog.with_column_name(id, column, name).expect("a column");
        let view = object(&catalog, "v");
        let kept = Kept::of_object(view).expect("it parses").expect("a query");
        let shown = kept.shown(&catalog).expect("it can be shown").expect("another text");
        let today = parse_query(&shown).expect("it is SQL");
        let described = run(describe_view(&catalog, &["public".to_owned()], &today, &[]));
        assert_eq!(described.expect("planned").columns, view.columns, "{shown}");
        shown
    }

    #[test]
    fn a_view_shows_what_its_own_columns_are_called() {
        for (query, expected) in [
            ("select a from t", "select a AS \"X\" from t"),
            ("select t.a, b from t", "select t.a AS \"X\", b from t"),
            ("select a + 1 as y from t", "select a + 1 as \"X\" from t"),
            (
                "select a y from t union select id from u",
                "select a \"X\" from t union select id from u",
            ),
            (
                "select a as y from t order by y",
                "SELECT * FROM (select a as y from t order by y\n) AS view(\"X\")",
            ),
            ("select max(a) from t", "SELECT * FROM (select max(a) from t\n) AS view(\"X\")"),
            ("select * from u", "SELECT * FROM (select * from u\n) AS view(\"X\", c)"),
        ] {
            assert_eq!(called(query, 0, "X"), expected);
        }
    }

    #[test]
    fn expressions_of_columns_name_columns_and_schemas_as_they_are_called() {
        let by = |text: &str| computed_by(text, Some(("a", "B c"))).expect("an expression");
        assert_eq!(by("a + t.a * length('a')"), "\"B c\" + \"B c\" * length('a')");
        assert_eq!(computed_by("t.x + a(x)", None).expect("an expression"), "x + a(x)");
        let call = call_in_schema("s.f(x) + s + \"s\" . g(1)", "s", "S");
        assert_eq!(call.expect("an expression"), "\"S\".f(x) + s + \"S\" . g(1)");
    }
}
