//! What clients ask, with PostgreSQL's answers.
//!
//! `tests/psql15.txt` has what psql 15 sends for its `\d` commands to a database with the
//! relations of [`fixture`], and what PostgreSQL 15 answered: after `-- command` the statement,
//! then `----`, the columns' names and the rows. `{t}` stands for the OID of `t`. Where Weir has other
//! schemas, databases or languages than PostgreSQL, the answer is Weir's own and says so.

use std::fmt::Write as _;

use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use super::*;
use crate::catalog::object::{Column, Object, ObjectKind, QualifiedName, Table, View};
use crate::catalog::testing::{context_of, view};
use crate::catalog::{Catalog, CommentTarget};

const PSQL: &str = include_str!("tests/psql15.txt");

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
            comment: None,
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
        }),
        columns: columns.collect(),
        definition: String::new(),
        name,
        depends_on: Vec::new(),
        comment: None,
        row_type,
        row_array_type,
        owner: "weir".to_owned(),
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
            comment: None,
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
    v.kind = ObjectKind::View(View { query: query.to_owned() });
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
        oids.push((format!("{{{}}}", object.name.name), object.id.0));
        if let ObjectKind::Table(Table { primary_key_index: Some(index), .. }) = &object.kind {
            oids.push((format!("{{{}_pkey}}", object.name.name), index.0));
        }
    }
    oids
}

fn parse(sql: &str) -> ast::Query {
    let mut statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(sql);
    match statements.pop() {
        Some(ast::Statement::Query(query)) => *query,
        other => panic!("{other:?}"),
    }
}

/// Columns' names and rows, as the file has them.
fn answer(context: &PgContext, sql: &str) -> SqlResult<String> {
    let Some(query) = CatalogQuery::bind_tree(&parse(sql), context, &[])? else {
        return Ok("(not for the catalog evaluator)\n".to_owned());
    };
    let batch = query.run(context, &[])?;
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
            let value = formatter.value(row).to_string();
            let value = match column.data_type() {
                arrow::datatypes::DataType::Boolean if value.len() > 3 => value[..1].to_owned(),
                arrow::datatypes::DataType::List(_) => value.replace('[', "{").replace(']', "}"),
                _ => value.replace('\n', "\\n"),
            };
            let _ = write!(text, "{separator}{value}");
        }
        text.push('\n');
    }
    Ok(text)
}

#[test]
fn psql_is_answered_as_postgresql_answers_it() {
    let context = fixture();
    let mut different = String::new();
    let mut count = 0;
    let mut same = 0;
    for case in PSQL.split("\n-- ").map(|case| case.trim_start_matches("-- ")) {
        let (command, rest) = case.split_once('\n').expect("a command");
        let (sql, expected) = rest.split_once("\n----\n").expect("an answer");
        let (mut sql, mut expected) = (sql.to_owned(), expected.trim_end().to_owned());
        for (name, oid) in oids(&context) {
            sql = sql.replace(&name, &oid.to_string());
            expected = expected.replace(&name, &oid.to_string());
        }
        count += 1;
        let found = match answer(&context, &sql) {
            Ok(text) => text,
            Err(error) => format!("{} {error}\n", error.code),
        };
        if found.trim_end() == expected {
            same += 1;
        } else {
            let _ =
                writeln!(different, "{command}\n{sql}\nPostgreSQL:\n{expected}\nWeir:\n{found}");
        }
    }
    assert!(different.is_empty(), "{same} of {count} answers are the same\n{different}");
}
