//! CREATE of anything: TABLE, SOURCE, VIEW, MATERIALIZED VIEW, SCHEMA, DATABASE.

use std::collections::BTreeMap;

use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::super::statement::{
    ColumnDef, ColumnRef, CreateDatabase, CreateMaterializedView, CreateSchema, CreateSource,
    CreateTable, CreateView, NewConstraint, NewConstraints, Numbering, OnCommit, StatementKind,
};
use super::super::syntax::Name;
use super::front::Front;
use super::{alter_columns, constraint, function, index, options, role, sequence, sink, subscribe};
use crate::catalog::object::OnError;
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// Actors of a fragment, at the most: more than shares of the keys would be idle.
const PARALLELISM_MAX: usize = crate::types::key::VNODES;

pub(super) fn create(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let position = front.position();
    front.expect(&["create"])?;
    let or_replace = front.eat(&["or", "replace"]);
    if front.eat(&["view"]) {
        return view(front, or_replace);
    }
    if front.eat(&["function"]) {
        return function::create(front, or_replace);
    }
    let allowed_to_replace = !or_replace;
    let refuse = |what: &str| Err(SqlError::unsupported(what).position(position));
    match front.word()?.as_str() {
        "table" if allowed_to_replace => table(front, false),
        "source" if allowed_to_replace => source(front),
        "materialized" if front.eat(&["view"]) => {
            if or_replace {
                return refuse("CREATE OR REPLACE MATERIALIZED VIEW");
            }
            materialized_view(front)
        }
        "schema" if allowed_to_replace => schema(front),
        "database" if allowed_to_replace => database(front),
        word @ ("temp" | "temporary" | "local" | "global") if allowed_to_replace => {
            if matches!(word, "local" | "global") && !front.eat(&["temp"]) {
                front.expect(&["temporary"])?;
            }
            if front.eat(&["table"]) {
                return table(front, true);
            }
            if front.eat(&["sequence"]) {
                return sequence::create(front, true);
            }
            refuse("a temporary relation that is no table")
        }
        "unlogged" => refuse("CREATE UNLOGGED TABLE"),
        "sequence" if allowed_to_replace => sequence::create(front, false),
        "index" if allowed_to_replace => index::index(front, false),
        "sink" if allowed_to_replace => sink::sink(front),
        "subscription" if allowed_to_replace => subscribe::subscription(front),
        "unique" if allowed_to_replace && front.eat(&["index"]) => index::index(front, true),
        "role" if allowed_to_replace => role::create(front, false),
        "user" if allowed_to_replace => role::create(front, true),
        what @ ("index" | "sink" | "type" | "role" | "user" | "extension" | "trigger"
        | "procedure" | "aggregate" | "connection" | "secret" | "subscription"
        | "publication" | "foreign" | "server" | "domain" | "rule" | "policy"
        | "operator" | "cast" | "collation" | "language" | "recursive" | "event") => {
            refuse(&format!("CREATE {}", what.to_uppercase()))
        }
        _ => Err(SqlError::new(code::SYNTAX_ERROR, "syntax error in CREATE").position(position)),
    }
}

fn if_not_exists(front: &mut Front<'_>) -> bool {
    front.eat(&["if", "not", "exists"])
}

// --- Tables and sources ------------------------------------------------------------------------

/// What stands between the parentheses of CREATE TABLE.
#[derive(Default)]
struct Elements {
    columns: Vec<ColumnDef>,
    primary_key: Option<Vec<String>>,
    primary_key_name: Option<String>,
    constraints: NewConstraints,
    /// Columns without a type: names for a query's.
    names: Vec<String>,
}

fn table(front: &mut Front<'_>, temporary: bool) -> SqlResult<StatementKind> {
    let if_not_exists = if_not_exists(front);
    let name = front.name()?;
    let elements =
        if *front.peek(0) == Token::LParen { elements(front, &name)? } else { Elements::default() };
    let append_only = front.eat(&["append", "only"]);
    let on_commit = if temporary { on_commit(front)? } else { OnCommit::PreserveRows };
    for clause in ["partition", "inherits", "on", "tablespace", "using", "of", "emit", "include"] {
        if front.is(0, clause) {
            let what = format!("CREATE TABLE ... {}", clause.to_uppercase());
            return Err(SqlError::unsupported(what).position(front.position()));
        }
    }
    let (connector, storage) = options::connector(front)?;
    accept_storage_options(&storage)?;
    let append_only = front.eat(&["append", "only"]) || append_only;
    let query = if front.eat(&["as"]) { Some(front.query()?) } else { None };
    if let Some(column) = elements.names.first()
        && query.is_none()
    {
        let message = format!("column \"{column}\" needs a type");
        return Err(SqlError::new(code::SYNTAX_ERROR, message).position(name.position));
    }
    let primary_key = key_columns(&elements)?;
    Ok(StatementKind::CreateTable(Box::new(CreateTable {
        name,
        if_not_exists,
        columns: elements.columns,
        primary_key,
        primary_key_name: elements.primary_key_name,
        append_only,
        connector,
        query,
        query_columns: elements.names,
        temporary: temporary.then_some(on_commit),
        constraints: elements.constraints,
    })))
}

/// `ON COMMIT { PRESERVE ROWS | DELETE ROWS | DROP }`.
fn on_commit(front: &mut Front<'_>) -> SqlResult<OnCommit> {
    if !front.eat(&["on", "commit"]) || front.eat(&["preserve", "rows"]) {
        return Ok(OnCommit::PreserveRows);
    }
    if front.eat(&["delete", "rows"]) {
        return Ok(OnCommit::DeleteRows);
    }
    front.expect(&["drop"])?;
    Ok(OnCommit::Drop)
}

/// PostgreSQL's storage parameters steer vacuuming and page layout, which Weir does not have.
fn accept_storage_options(storage: &BTreeMap<String, String>) -> SqlResult<()> {
    let known = |name: &str| {
        name == "fillfactor" || name.starts_with("autovacuum_") || name.starts_with("toast")
    };
    match storage.keys().find(|name| !known(name)) {
        Some(name) => Err(options::unrecognized(name)),
        None => Ok(()),
    }
}

fn source(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_not_exists = if_not_exists(front);
    let name = front.name()?;
    let elements =
        if *front.peek(0) == Token::LParen { elements(front, &name)? } else { Elements::default() };
    if elements.primary_key.is_some() {
        return Err(SqlError::unsupported("PRIMARY KEY of a source")
            .hint("CREATE TABLE ... WITH (connector = ...) keeps rows by their key.")
            .position(name.position));
    }
    let (connector, other) = options::connector(front)?;
    if let Some(name) = other.keys().next() {
        return Err(options::unrecognized(name).hint("A source needs WITH (connector = '...')."));
    }
    let Some(connector) = connector else {
        return Err(SqlError::new(
            code::INVALID_TABLE_DEFINITION,
            "a source needs WITH (connector = '...')",
        )
        .position(name.position));
    };
    let columns = elements.columns;
    Ok(StatementKind::CreateSource(Box::new(CreateSource {
        name,
        if_not_exists,
        columns,
        connector,
    })))
}

fn elements(front: &mut Front<'_>, table: &Name) -> SqlResult<Elements> {
    let mut elements = Elements::default();
    front.expect_token(&Token::LParen)?;
    if front.eat_token(&Token::RParen) {
        return Ok(elements);
    }
    loop {
        element(front, table, &mut elements)?;
        if !front.eat_token(&Token::Comma) {
            break;
        }
    }
    front.expect_token(&Token::RParen)?;
    Ok(elements)
}

fn element(front: &mut Front<'_>, table: &Name, elements: &mut Elements) -> SqlResult<()> {
    let position = front.position();
    let named = if front.eat(&["constraint"]) { Some(front.identifier()?.name) } else { None };
    if front.eat(&["primary", "key"]) {
        front.expect_token(&Token::LParen)?;
        let columns = front.list(|front| Ok(front.identifier()?.name))?;
        front.expect_token(&Token::RParen)?;
        constraint::not_deferrable(front)?;
        return set_key(elements, table, columns, named, position);
    }
    if constraint::of_table(front, &named, &mut elements.constraints)? {
        return Ok(());
    }
    let refused: [(&[&str], &str); 3] = [
        (&["exclude"], "an EXCLUDE constraint"),
        (&["watermark", "for"], "WATERMARK FOR"),
        (&["like"], "CREATE TABLE (LIKE ...)"),
    ];
    for (words, what) in refused {
        if words.iter().enumerate().all(|(ahead, word)| front.is(ahead, word)) {
            return Err(SqlError::unsupported(what).position(position));
        }
    }
    if named.is_some() {
        return Err(front.syntax_error());
    }
    column(front, table, elements)
}

fn set_key(
    elements: &mut Elements,
    table: &Name,
    columns: Vec<String>,
    name: Option<String>,
    position: usize,
) -> SqlResult<()> {
    if elements.primary_key.is_some() {
        let message = format!("multiple primary keys for table \"{}\" are not allowed", table.name);
        return Err(SqlError::new(code::INVALID_TABLE_DEFINITION, message).position(position));
    }
    elements.primary_key = Some(columns);
    elements.primary_key_name = name;
    Ok(())
}

fn column(front: &mut Front<'_>, table: &Name, elements: &mut Elements) -> SqlResult<()> {
    let name = front.identifier()?;
    if matches!(front.peek(0), Token::Comma | Token::RParen) {
        elements.names.push(name.name);
        return Ok(());
    }
    let duplicate = elements.columns.iter().any(|column| column.name == name.name);
    if duplicate || name.name == crate::catalog::object::ROW_ID {
        let message = format!("column \"{}\" specified more than once", name.name);
        return Err(SqlError::new(code::DUPLICATE_COLUMN, message).position(name.position));
    }
    let typed = !front.is(0, "as");
    let serial = sequence::serial(front)?;
    let mut numbering = serial.is_some().then_some(Numbering::Serial);
    let sql_type = match serial {
        Some(sql_type) => sql_type,
        None if typed => front.sql_type()?,
        None => SqlType::Unknown,
    };
    let mut column = ColumnDef {
        name: name.name,
        sql_type,
        not_null: numbering.is_some(),
        default: None,
        generated: None,
        numbering: None,
    };
    let mut nullable = false;
    let place = ColumnRef { name: column.name.clone(), position: name.position };
    loop {
        let position = front.position();
        let named = if front.eat(&["constraint"]) { Some(front.identifier()?.name) } else { None };
        if front.eat(&["not", "null"]) {
            column.not_null = true;
        } else if front.eat(&["null"]) {
            nullable = true;
        } else if front.eat(&["primary", "key"]) {
            let key = vec![column.name.clone()];
            set_key(elements, table, key, named, position)?;
            constraint::not_deferrable(front)?;
        } else if front.eat(&["default"]) {
            column.default = Some(front.default_text()?);
        } else if front.is(0, "collate") {
            alter_columns::collation(front)?;
        } else if let Some(computed) = generated(front, position)? {
            let twice = match computed {
                Computed::By(text) => column.generated.replace(text).map(|_| GENERATIONS),
                Computed::Identity(by) => {
                    column.not_null = true;
                    match numbering.replace(by) {
                        Some(Numbering::Serial) => Some(DEFAULT_AND_IDENTITY),
                        Some(_) => Some(IDENTITIES),
                        None => None,
                    }
                }
            };
            if let Some(what) = twice {
                return Err(specified(what, &column, table).position(position));
            }
        } else if constraint::of_column(front, &named, &place, &mut elements.constraints)? {
            continue;
        } else {
            refuse_column_constraint(front, position)?;
            break;
        }
    }
    let (default, generated) = (column.default.is_some(), column.generated.is_some());
    let both = match &numbering {
        _ if default && generated => Some("both default and generation expression"),
        Some(Numbering::Serial) if default => Some("multiple default values"),
        Some(Numbering::Serial) if generated => Some("both default and generation expression"),
        Some(Numbering::Identity { .. }) if default => Some(DEFAULT_AND_IDENTITY),
        Some(Numbering::Identity { .. }) if generated => {
            Some("both identity and generation expression")
        }
        _ => None,
    };
    if let Some(both) = both {
        return Err(specified(both, &column, table).position(name.position));
    }
    column.numbering = numbering;
    if nullable && column.not_null {
        let message = format!(
            "conflicting NULL/NOT NULL declarations for column \"{}\" of table \"{}\"",
            column.name, table.name
        );
        return Err(SqlError::new(code::SYNTAX_ERROR, message).position(name.position));
    }
    elements.columns.push(column);
    Ok(())
}

/// The definition of a column that a table gets, and the constraints that it brings.
pub(super) fn new_column(
    front: &mut Front<'_>,
    table: &Name,
) -> SqlResult<(ColumnDef, NewConstraints)> {
    let position = front.position();
    let mut elements = Elements::default();
    column(front, table, &mut elements)?;
    let Some(column) = elements.columns.pop() else { return Err(front.syntax_error()) };
    let mut constraints = elements.constraints;
    if elements.primary_key.is_some() {
        let columns = vec![ColumnRef { name: column.name.clone(), position }];
        let name = elements.primary_key_name;
        let (included, nulls_not_distinct) = (Vec::new(), false);
        let key = NewConstraint { name, primary: true, columns, included, nulls_not_distinct };
        constraints.unique.push(key);
    }
    Ok((column, constraints))
}

const GENERATIONS: &str = "multiple generation clauses";
const IDENTITIES: &str = "multiple identity specifications";
const DEFAULT_AND_IDENTITY: &str = "both default and identity";

/// What a column may have once.
fn specified(what: &str, column: &ColumnDef, table: &Name) -> SqlError {
    let (column, table) = (&column.name, &table.name);
    let specified = if what == IDENTITIES { "" } else { " specified" };
    let message = format!("{what}{specified} for column \"{column}\" of table \"{table}\"");
    SqlError::new(code::SYNTAX_ERROR, message)
}

/// Where the values of a column come from that statements do not give.
enum Computed {
    /// The expression of this text.
    By(String),
    Identity(Numbering),
}

/// `GENERATED ALWAYS AS (expression) [STORED | VIRTUAL]`, `AS expression`,
/// `GENERATED { ALWAYS | BY DEFAULT } AS IDENTITY`.
///
/// What is computed from the row alone is the same whether it is kept or computed when it is read,
/// so a VIRTUAL column is kept too.
fn generated(front: &mut Front<'_>, position: usize) -> SqlResult<Option<Computed>> {
    if front.eat(&["as"]) {
        return front.default_text().map(|text| Some(Computed::By(text)));
    }
    if !front.eat(&["generated"]) {
        return Ok(None);
    }
    let always = front.eat(&["always"]);
    if !always {
        front.expect(&["by", "default"])?;
    }
    front.expect(&["as"])?;
    if front.is(0, "identity") {
        return sequence::identity(front, always).map(|by| Some(Computed::Identity(by)));
    }
    if !always {
        let message = "for a generated column, GENERATED ALWAYS must be specified";
        return Err(SqlError::new(code::SYNTAX_ERROR, message).position(position));
    }
    front.expect_token(&Token::LParen)?;
    let start = front.mark();
    front.sql(Parser::parse_expr)?;
    let text = front.text_since(start);
    front.expect_token(&Token::RParen)?;
    if !front.eat(&["stored"]) {
        front.eat(&["virtual"]);
    }
    Ok(Some(Computed::By(text)))
}

/// Names the constraint that is not built; anything else is for the caller to trip over.
pub(super) fn refuse_column_constraint(front: &Front<'_>, position: usize) -> SqlResult<()> {
    let refused = [("compression", "COMPRESSION")];
    match refused.iter().find(|(word, _)| front.is(0, word)) {
        Some((_, what)) => Err(SqlError::unsupported(what).position(position)),
        None => Ok(()),
    }
}

/// The key's columns by index. They become NOT NULL where the table is made.
fn key_columns(elements: &Elements) -> SqlResult<Vec<usize>> {
    let mut key = Vec::new();
    for name in elements.primary_key.iter().flatten() {
        let index = elements.columns.iter().position(|column| column.name == *name);
        let Some(index) = index else {
            let message = format!("column \"{name}\" named in key does not exist");
            return Err(SqlError::new(code::UNDEFINED_COLUMN, message));
        };
        if key.contains(&index) {
            let message = format!("column \"{name}\" appears twice in primary key constraint");
            return Err(SqlError::new(code::DUPLICATE_COLUMN, message));
        }
        key.push(index);
    }
    Ok(key)
}

// --- Views -------------------------------------------------------------------------------------

fn column_names(front: &mut Front<'_>) -> SqlResult<Vec<String>> {
    Ok(front.optional_columns()?.into_iter().map(|column| column.name).collect())
}

fn view(front: &mut Front<'_>, or_replace: bool) -> SqlResult<StatementKind> {
    let name = front.name()?;
    let columns = column_names(front)?;
    front.expect(&["as"])?;
    let query = front.query()?;
    Ok(StatementKind::CreateView(Box::new(CreateView { name, or_replace, columns, query })))
}

fn materialized_view(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_not_exists = if_not_exists(front);
    let name = front.name()?;
    let columns = column_names(front)?;
    let mut parallelism = None;
    let mut on_error = OnError::Null;
    if front.eat(&["with"]) {
        for (option, value) in options::parenthesized(front)? {
            match option.as_str() {
                "parallelism" => parallelism = Some(parallelism_of(&value)?),
                "on_error" => on_error = on_error_of(&value)?,
                other => return Err(options::unrecognized(other)),
            }
        }
    }
    front.expect(&["as"])?;
    let query = front.query()?;
    let position = front.position();
    if front.eat(&["with", "no", "data"]) {
        return Err(SqlError::unsupported("WITH NO DATA").position(position));
    }
    front.eat(&["with", "data"]);
    if front.is(0, "emit") {
        return Err(SqlError::unsupported("EMIT ON WINDOW CLOSE").position(position));
    }
    Ok(StatementKind::CreateMaterializedView(Box::new(CreateMaterializedView {
        name,
        if_not_exists,
        columns,
        query,
        parallelism,
        on_error,
    })))
}

pub(super) fn parallelism_of(value: &str) -> SqlResult<usize> {
    match value.parse() {
        Ok(parallelism) if (1..=PARALLELISM_MAX).contains(&parallelism) => Ok(parallelism),
        _ => Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("parallelism must be between 1 and {PARALLELISM_MAX}, not \"{value}\""),
        )),
    }
}

fn on_error_of(value: &str) -> SqlResult<OnError> {
    match value.to_lowercase().as_str() {
        "null" => Ok(OnError::Null),
        "fail" => Ok(OnError::Fail),
        _ => Err(SqlError::new(
            code::INVALID_PARAMETER_VALUE,
            format!("on_error must be \"null\" or \"fail\", not \"{value}\""),
        )),
    }
}

// --- Namespaces --------------------------------------------------------------------------------

/// `CREATE SCHEMA [IF NOT EXISTS] name [AUTHORIZATION role]`.
fn schema(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_not_exists = if_not_exists(front);
    if front.is(0, "authorization") {
        front.advance();
        let name = front.identifier()?.name;
        return Ok(StatementKind::CreateSchema(CreateSchema { name, if_not_exists }));
    }
    let name = front.identifier()?.name;
    if front.eat(&["authorization"]) {
        front.identifier()?;
    }
    Ok(StatementKind::CreateSchema(CreateSchema { name, if_not_exists }))
}

/// `CREATE DATABASE [IF NOT EXISTS] name [[WITH] name [=] value ...]`.
fn database(front: &mut Front<'_>) -> SqlResult<StatementKind> {
    let if_not_exists = if_not_exists(front);
    let name = front.identifier()?.name;
    front.eat(&["with"]);
    while !front.at_end() {
        let position = front.position();
        let option = front.word()?;
        front.eat_token(&Token::Eq);
        let known = match front.peek(0) {
            Token::Word(_) => Some(front.word()?),
            _ if front.is_number() => Some(front.number()?),
            _ => Some(front.string()?),
        };
        // One encoding and one collation, whatever is asked for; anything else would be ignored.
        let harmless = match option.as_str() {
            "owner" | "template" | "tablespace" | "locale" | "lc_collate" | "lc_ctype" => true,
            "encoding" => known.is_some_and(|encoding| {
                matches!(encoding.to_lowercase().as_str(), "utf8" | "utf-8" | "unicode")
            }),
            _ => false,
        };
        if !harmless {
            let what = format!("CREATE DATABASE ... {}", option.to_uppercase());
            return Err(SqlError::unsupported(what).position(position));
        }
    }
    Ok(StatementKind::CreateDatabase(CreateDatabase { name, if_not_exists }))
}
