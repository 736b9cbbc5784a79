//! What clients ask, with PostgreSQL's answers.
//!
//! The statements are what psql 15 sends for its `\d` commands (`tests/psql15.txt`), what asyncpg
//! and SQLAlchemy's inspector send (`tests/drivers.txt`), and one for each part of the dialect
//! (`tests/dialect.txt`), to a database with the relations of [`fixture`]. The answers are those
//! of PostgreSQL 15; where Weir has other schemas, databases or languages, the answer is Weir's own
//! and says so. A case is `-- client`, a line `$ a | b` with its parameters if it has any, the
//! statement, `----`, the columns' names, the rows. `{t}` stands for the OID of `t`.

use std::fmt::Write as _;

use super::super::parse::parse_query;
use super::*;
use crate::catalog::constraint::Constraints;
use crate::catalog::object::{Column, Object, ObjectKind, QualifiedName, Table, View};
use crate::catalog::testing::{context_of, view};
use crate::catalog::{Catalog, CommentTarget, Meaning};
use crate::types::sqltype::ALIAS_SEPARATOR;

const PSQL: &str = include_str!("tests/psql15.txt");
const DIALECT: &str = include_str!("tests/dialect.txt");
const DRIVERS: &str = include_str!("tests/drivers.txt");

fn table(
    catalog: &Catalog,
    schema: &str,
    name: &str,
    columns: &[(&str, &str)],
    key: bool,
) -> Object {
    let mut oids = catalog.oids();
    let id = oids.next();
    let (row_type, row_array_type) = (oids.next(), oids.next());
    let name = QualifiedName::new(schema, name);
    let columns = columns.iter().map(|(column, sql_type)| {
        let (sql_type, rest) = sql_type.split_once(' ').unwrap_or((sql_type, ""));
        Column {
            name: (*column).to_owned(),
            sql_type: SqlType::parse(sql_type).expect("a type"),
            not_null: rest == "not null",
            default: rest.strip_prefix("default ").map(str::to_owned),
            generated: None,
            identity: None,
            comment: None,
            computed: false,
        }
    });
    Object {
        id,
        kind: ObjectKind::Table(Table {
            primary_key: if key { vec![0] } else { Vec::new() },
            primary_key_name: key.then(|| catalog.primary_key_name(&name)),
            primary_key_index: key.then(|| oids.next()),
            primary_key_constraint: key.then(|| oids.next()),
            append_only: false,
            connector: None,
            constraints: Constraints::default(),
            shape: None,
        }),
        columns: columns.collect(),
        definition: String::new(),
        name,
        depends_on: Vec::new(),
        comment: None,
        row_type,
        row_array_type,
        owner: "weir".to_owned(),
        acl: None,
    }
}

fn columns(columns: &[(&str, &str)]) -> Vec<Column> {
    columns
        .iter()
        .map(|(name, sql_type)| Column {
            name: (*name).to_owned(),
            sql_type: SqlType::parse(sql_type).expect("a type"),
            not_null: false,
            default: None,
            generated: None,
            identity: None,
            comment: None,
            computed: false,
        })
        .collect()
}

/// The relations that the answers are about.
fn fixture() -> PgContext {
    let catalog = Catalog::default();
    let t = [
        ("id", "int not null"),
        ("amount", "numeric(10,2) default 0"),
        ("name", "varchar(20) not null"),
        ("at", "timestamptz"),
        ("tags", "text[]"),
        ("d", "float8"),
        ("j", "jsonb"),
        ("u", "uuid"),
    ];
    let t = table(&catalog, "public", "t", &t, true);
    let id = t.id;
    let catalog = catalog.with_object(t).unwrap().0;
    let nokey = table(&catalog, "public", "nokey", &[("a", "int8"), ("b", "text")], false);
    let catalog = catalog.with_object(nokey).unwrap().0;
    let mut v = view(&catalog, "v", vec![id]);
    v.columns = columns(&[("id", "int"), ("amount", "numeric(10,2)")]);
    let query = "SELECT t.id,\n    t.amount\n   FROM t\n  WHERE t.amount > 0::numeric";
    v.kind = ObjectKind::View(View {
        query: query.to_owned(),
        search_path: vec!["public".to_owned()],
        meaning: Meaning::default(),
    });
    let catalog = catalog.with_object(v).unwrap().0;
    let mut mv = view(&catalog, "mv", vec![id]);
    mv.columns = columns(&[("name", "varchar(20)"), ("n", "int8"), ("total", "numeric")]);
    if let ObjectKind::MaterializedView(view) = &mut mv.kind {
        view.query = "SELECT t.name,\n    count(*) AS n,\n    sum(t.amount) AS total\n   \
                      FROM t\n  GROUP BY t.name"
            .to_owned();
    }
    let catalog = catalog.with_object(mv).unwrap().0;
    let catalog = catalog.with_schema("s", "weir").unwrap().0;
    let other = table(&catalog, "s", "other", &[("x", "int")], false);
    let catalog = catalog.with_object(other).unwrap().0;
    let comment = |catalog: &Catalog, target, text: &str| {
        catalog.with_comment(&target, Some(text.to_owned())).unwrap().0
    };
    let catalog = comment(&catalog, CommentTarget::Relation(id), "the table");
    let catalog = comment(&catalog, CommentTarget::Column(id, 1), "how much");
    let catalog = comment(&catalog, CommentTarget::Schema("s".to_owned()), "a schema");
    let mut context = context_of(catalog);
    let session = Arc::make_mut(&mut context.session);
    for (name, bytes) in [("t", 16384), ("nokey", 8192), ("mv", 8192)] {
        let name = QualifiedName::new("public", name);
        let object = context.catalog.object_named(&name).expect("made above");
        session.relation_bytes.insert(object.id, bytes);
        if let ObjectKind::Table(Table { primary_key_index: Some(index), .. }) = &object.kind {
            session.relation_bytes.insert(*index, 16384);
        }
    }
    context
}

/// OIDs by the name that stands for them.
fn oids(context: &PgContext) -> Vec<(String, u32)> {
    let mut oids = Vec::new();
    for object in context.catalog.objects() {
        let name = &object.name.name;
        oids.push((format!("{{{name}}}"), object.id.0));
        oids.push((format!("{{{name}.type}}"), object.row_type.0));
        oids.push((format!("{{{name}.array}}"), object.row_array_type.0));
        if let ObjectKind::Table(Table { primary_key_index: Some(index), .. }) = &object.kind {
            oids.push((format!("{{{}_pkey}}", object.name.name), index.0));
        }
    }
    oids
}

fn parse(sql: &str) -> ast::Query {
    (*parse_query(sql).expect(sql).tree).clone()
}

/// Columns' names and rows, as the file has them.
fn answer(context: &PgContext, sql: &str, parameters: &[ScalarValue]) -> SqlResult<String> {
    let Some(query) = CatalogQuery::bind_tree(&parse(sql), context, &[])? else {
        return Ok("(not for the catalog evaluator)\n".to_owned());
    };
    let batch = query.run(context, parameters)?;
    let names: Vec<&str> =
        batch.schema_ref().fields().iter().map(|field| field.name().as_str()).collect();
    let mut text = names.join("|");
    text.push('\n');
    let options = arrow::util::display::FormatOptions::new().with_null("\\N");
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| arrow::util::display::ArrayFormatter::try_new(column, &options).unwrap())
        .collect();
    for row in 0..batch.num_rows() {
        for (position, (formatter, column)) in columns.iter().zip(batch.columns()).enumerate() {
            let separator = if position == 0 { "" } else { "|" };
            let value = without_oids(&formatter.value(row).to_string());
            let value = match column.data_type() {
                arrow::datatypes::DataType::Boolean if value.len() > 3 => value[..1].to_owned(),
                arrow::datatypes::DataType::List(_) => {
                    value.replace('[', "{").replace(']', "}").replace(", ", ",")
                }
                _ => value.replace('\n', "\\n"),
            };
            let _ = write!(text, "{separator}{value}");
        }
        text.push('\n');
    }
    Ok(text)
}

/// Values of `regclass` and its kin by their names alone.
fn without_oids(value: &str) -> String {
    let mut parts = value.split(ALIAS_SEPARATOR).peekable();
    let mut text = String::new();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        text.push_str(if last {
            part
        } else {
            part.trim_end_matches(|c: char| c.is_ascii_digit())
        });
    }
    text
}

/// Asks all that a file has, and says where an answer differs. A statement that does not order all
/// its rows may have them in any order.
fn ask(file: &str, ordered: bool) {
    let context = fixture();
    let mut different = String::new();
    let (mut count, mut same) = (0, 0);
    for case in file.split("\n-- ").map(|case| case.trim_start_matches("-- ")) {
        let mut case = case.to_owned();
        for (name, oid) in oids(&context) {
            case = case.replace(&name, &oid.to_string());
        }
        let (client, rest) = case.split_once('\n').expect("a client");
        let (mut sql, expected) = rest.split_once("\n----\n").expect("an answer");
        let mut parameters = Vec::new();
        if let Some((line, rest)) = sql.strip_prefix("$ ").and_then(|text| text.split_once('\n')) {
            sql = rest;
            parameters.extend(line.split(" | ").map(|text| ScalarValue::Utf8(Some(text.into()))));
        }
        count += 1;
        let found = answer(&context, sql, &parameters)
            .unwrap_or_else(|error| format!("{} {error}\n", error.code));
        let rows = |text: &str| {
            let mut rows: Vec<String> = text.trim_end().lines().map(str::to_owned).collect();
            if !ordered {
                rows.sort_unstable();
            }
            rows
        };
        if rows(&found) == rows(expected) {
            same += 1;
        } else {
            let _ = writeln!(different, "{client}\n{sql}\nPostgreSQL:\n{expected}\nWeir:\n{found}");
        }
    }
    assert!(different.is_empty(), "{same} of {count} answers are the same\n{different}");
}

#[test]
fn psql_is_answered_as_postgresql_answers_it() {
    ask(PSQL, true);
}

#[test]
fn drivers_are_answered_as_postgresql_answers_them() {
    ask(DRIVERS, false);
}

#[test]
fn the_dialect_is_that_of_postgresql() {
    ask(DIALECT, true);
}

#[test]
fn what_is_not_about_the_system_goes_elsewhere() {
    let context = fixture();
    for sql in [
        "SELECT * FROM t",
        "SELECT * FROM pg_class, t",
        "SELECT * FROM pg_class WHERE oid IN (SELECT id FROM t)",
        "WITH pg AS (SELECT * FROM t) SELECT * FROM pg",
        "SELECT 1",
        "SELECT lower('A')",
        "SELECT md5(relname) FROM pg_class",
        "SELECT * FROM generate_series(1, 3)",
    ] {
        let bound = CatalogQuery::bind_tree(&parse(sql), &context, &[]).unwrap();
        assert!(bound.is_none(), "{sql}");
    }
}

#[test]
fn errors_are_those_of_postgresql() {
    let context = fixture();
    for (sql, code, message) in [
        ("SELECT nothing FROM pg_class", "42703", "column \"nothing\" does not exist"),
        ("SELECT x.oid FROM pg_class", "42P01", "missing FROM-clause entry for table \"x\""),
        ("SELECT oid FROM pg_class, pg_type", "42702", "column reference \"oid\" is ambiguous"),
        ("SELECT 'nothing'::regclass", "42P01", "relation \"nothing\" does not exist"),
        (
            "SELECT current_setting('nothing')",
            "42704",
            "unrecognized configuration parameter \"nothing\"",
        ),
        (
            "SELECT (SELECT oid FROM pg_class)",
            "21000",
            "more than one row returned by a subquery used as an expression",
        ),
        ("SELECT 1 / (relpages - relpages) FROM pg_class", "22012", "division by zero"),
        (
            "SELECT relname::int FROM pg_class",
            "22P02",
            "invalid input syntax for type integer: \"t\"",
        ),
    ] {
        let error = answer(&context, sql, &[]).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (code, message), "{sql}");
    }
}

#[test]
fn parameters_have_the_types_of_what_they_meet() {
    let sql = "SELECT $1::regtype, relname FROM pg_class WHERE oid = $2 AND relkind = ANY ($3) \
               AND relname LIKE $4 AND $5 LIMIT $6";
    let query = CatalogQuery::bind_tree(&parse(sql), &fixture(), &[]).unwrap().unwrap();
    let shown: Vec<String> = query.parameters().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["text", "oid", "\"char\"[]", "text", "boolean", "bigint"]);
    let types: Vec<SqlType> =
        query.schema().fields().iter().map(|field| SqlType::of_field(field)).collect();
    assert_eq!(types, [SqlType::Regtype, SqlType::Name]);
}

#[test]
fn functions_ask_the_session_for_what_they_cannot_do() {
    let context = fixture();
    let sql = "SELECT set_config('jit', 'off', false), current_setting('jit'), \
               pg_terminate_backend(pid), pg_cancel_backend(99) FROM pg_stat_activity";
    let found = answer(&context, sql, &[]).unwrap();
    assert_eq!(found.lines().last(), Some("off|off|t|f"));
    let effects = context.session.effects.lock();
    let (name, value) = ("jit".to_owned(), "off".to_owned());
    let expected =
        [pg::Effect::SetConfig { name, value, local: false }, pg::Effect::Terminate { pid: 7 }];
    assert_eq!(*effects, expected);
}

#[test]
fn a_statement_that_would_never_end_is_refused() {
    let context = fixture();
    let sql = "SELECT count(*) FROM pg_attribute a, pg_attribute b, pg_attribute c";
    let query = CatalogQuery::bind_tree(&parse(sql), &context, &[]).unwrap().unwrap();
    let mut machine = Machine::new(&context, &[]);
    machine.work_max = 100_000;
    assert_eq!(machine.run(&query.query, None).unwrap_err().code, "54001");
}
