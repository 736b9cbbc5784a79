//! `pg_proc`: the system's functions, and those that users wrote in SQL.

use std::sync::Arc;

use super::PgContext;
use super::class::namespace_oid;
use super::data::{fixed_oids, fixed_value};
use super::names::{role_oid, type_text};
use super::objects::oid;
use super::relation::Rows;
use super::value::Value;
use crate::catalog::Function;
use crate::catalog::catalog::PG_CATALOG;
use crate::catalog::drop::quote_identifier;
use crate::catalog::function::Returns;
use crate::types::SqlType;

/// `pg_language.oid` of SQL.
const SQL_LANGUAGE: u32 = 14;

/// What PostgreSQL guesses of a function that says nothing.
const COST: f64 = 100.0;
const ROWS_OF_SET: f64 = 1000.0;

fn count(length: usize) -> Value {
    Value::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

/// The user's function with this OID.
pub(super) fn function_of(context: &PgContext, id: u32) -> Option<&Arc<Function>> {
    context.catalog.function(crate::types::ObjectId(id))
}

/// A function's name, with its schema where it alone does not tell which one it is.
pub(super) fn name_of(context: &PgContext, id: u32) -> Option<String> {
    if let Some(function) = function_of(context, id) {
        let path = &context.session.search_path;
        let found = context.catalog.functions_named(path, None, &function.name.name);
        let alone = found.len() == 1 && found.first().is_some_and(|one| one.id == function.id);
        let name = quote_identifier(&function.name.name);
        let schema = quote_identifier(&function.name.schema);
        return Some(if alone { name } else { format!("{schema}.{name}") });
    }
    let name = fixed_value("pg_proc", id, "proname")?.to_text(context);
    let several = fixed_oids("pg_proc", "proname", &name).len() > 1;
    let schema = fixed_schema(context, id).filter(|schema| several || schema != PG_CATALOG);
    let name = quote_identifier(&name);
    Some(schema.map_or(name.clone(), |schema| format!("{schema}.{name}")))
}

/// `lower(text)`.
pub(super) fn signature_of(context: &PgContext, id: u32) -> Option<String> {
    if let Some(function) = function_of(context, id) {
        let path = &context.session.search_path;
        let found = context.catalog.functions_named(path, None, &function.name.name);
        let visible = found.iter().any(|one| one.id == function.id);
        let name = quote_identifier(&function.name.name);
        let schema = quote_identifier(&function.name.schema);
        let name = if visible { name } else { format!("{schema}.{name}") };
        let types: Vec<String> = function.types().iter().map(|one| one.to_string()).collect();
        return Some(format!("{name}({})", types.join(",")));
    }
    let name = quote_identifier(&fixed_value("pg_proc", id, "proname")?.to_text(context));
    let types = fixed_value("pg_proc", id, "proargtypes")?.as_list().unwrap_or_default();
    let types: Vec<String> =
        types.iter().map(|one| type_text(context, one.as_oid().unwrap_or(0), None)).collect();
    let schema = fixed_schema(context, id).filter(|schema| schema != PG_CATALOG);
    let schema = schema.map(|schema| format!("{schema}.")).unwrap_or_default();
    Some(format!("{schema}{name}({})", types.join(",")))
}

/// The schema of one of PostgreSQL's functions.
fn fixed_schema(context: &PgContext, id: u32) -> Option<String> {
    let oid = fixed_value("pg_proc", id, "pronamespace")?.as_oid();
    let schema = context.catalog.schemas().find(|schema| Some(schema.id.0) == oid)?;
    Some(schema.name.clone())
}

/// The type of a parameter at a position of PostgreSQL's functions of this name that take so many:
/// text unless all of them take the same number there, or a truth value.
pub fn parameter_type(name: &str, arity: usize, position: usize) -> SqlType {
    let signatures = fixed_oids("pg_proc", "proname", name).iter().filter_map(|id| {
        let types = fixed_value("pg_proc", *id, "proargtypes")?.as_list()?.to_vec();
        (types.len() == arity).then(|| types.get(position)?.as_oid()).flatten()
    });
    let mut types: Vec<u32> = signatures.collect();
    types.dedup();
    match types.as_slice() {
        [one] => match SqlType::from_oid(*one) {
            Some(
                found @ (SqlType::BigInt | SqlType::Integer | SqlType::Oid | SqlType::Boolean),
            ) => found,
            _ => SqlType::Text,
        },
        _ => SqlType::Text,
    }
}

pub(super) fn pg_proc(context: &PgContext, rows: &mut Rows) {
    for row in super::data::fixed_rows("pg_proc") {
        rows.push_row(row.to_vec());
    }
    for function in context.catalog.functions() {
        let types: Vec<u32> = function.types().iter().map(|one| one.oid()).collect();
        let columns = match &function.returns {
            Returns::Table(columns) => columns.as_slice(),
            _ => &[],
        };
        let defaults = function.parameters.iter().filter(|p| p.default.is_some()).count();
        let named = function.parameters.iter().any(|parameter| parameter.name.is_some());
        let names = function.parameters.iter().map(|p| p.name.clone().unwrap_or_default());
        let names = names.chain(columns.iter().map(|column| column.name.clone()));
        let modes =
            std::iter::repeat_n("i", types.len()).chain(std::iter::repeat_n("t", columns.len()));
        let all = types.iter().copied().chain(columns.iter().map(|c| c.sql_type.oid()));
        let unless = |nothing: bool, value: Value| if nothing { Value::Null } else { value };
        rows.push([
            ("oid", oid(function.id.0)),
            ("proname", Value::text(&function.name.name)),
            ("pronamespace", oid(namespace_oid(context, &function.name.schema))),
            ("proowner", oid(role_oid(context, &function.owner))),
            ("prolang", oid(SQL_LANGUAGE)),
            ("procost", Value::Float(COST)),
            ("prorows", Value::Float(if function.returns.is_set() { ROWS_OF_SET } else { 0.0 })),
            ("prokind", Value::text("f")),
            ("proisstrict", Value::Bool(function.strict)),
            ("proretset", Value::Bool(function.returns.is_set())),
            ("provolatile", Value::text(function.volatility.letter())),
            ("proparallel", Value::text("u")),
            ("pronargs", count(types.len())),
            ("pronargdefaults", count(defaults)),
            ("prorettype", oid(result_type(context, function))),
            ("proargtypes", Value::list(types.iter().copied().map(oid))),
            ("proallargtypes", unless(columns.is_empty(), Value::list(all.map(oid)))),
            ("proargmodes", unless(columns.is_empty(), Value::list(modes.map(Value::text)))),
            (
                "proargnames",
                unless(!named && columns.is_empty(), Value::list(names.map(Value::text))),
            ),
            ("prosrc", Value::text(source(function))),
        ]);
    }
}

/// `prosrc` is empty where the body is an expression.
fn source(function: &Function) -> &str {
    match &function.body {
        crate::catalog::function::Body::Quoted(_) => function.shown_body(),
        crate::catalog::function::Body::Return(_) => "",
    }
}

fn result_type(context: &PgContext, function: &Function) -> u32 {
    match &function.returns {
        Returns::Rows(relation, _) => {
            context.catalog.object_named(relation).map_or(0, |object| object.row_type.0)
        }
        other => other.sql_type().oid(),
    }
}
