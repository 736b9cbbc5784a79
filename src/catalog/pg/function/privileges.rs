//! `has_..._privilege`: every role may do everything, so the answer is whether the object exists.

use super::super::class::class;
use super::super::names::reg_from_text;
use super::super::value::Reg;
use super::super::{PgContext, Value};
use super::{Function, Returns, argument, strict, text_argument};
use crate::error::SqlResult;

pub(super) const FUNCTIONS: [Function; 12] = [
    strict("has_table_privilege", (2, 3), Returns::Boolean, on_relation),
    strict("has_any_column_privilege", (2, 3), Returns::Boolean, on_relation),
    strict("has_column_privilege", (3, 4), Returns::Boolean, on_column),
    strict("has_schema_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        exists(context, Reg::Namespace, arguments)
    }),
    strict("has_database_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        let wanted = subject(arguments);
        let name = wanted.to_text(context);
        let oid = wanted.as_oid();
        let found = context
            .catalog
            .databases()
            .any(|database| database.name == name || Some(database.id.0) == oid);
        Ok(if found { Value::Bool(true) } else { Value::Null })
    }),
    strict("has_type_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        exists(context, Reg::Type, arguments)
    }),
    strict("has_function_privilege", (2, 3), Returns::Boolean, |context, arguments| {
        exists(context, Reg::Proc, arguments)
    }),
    strict("has_language_privilege", (2, 3), Returns::Boolean, |_, _| Ok(Value::Bool(true))),
    strict("has_tablespace_privilege", (2, 3), Returns::Boolean, |_, _| Ok(Value::Bool(true))),
    strict("has_sequence_privilege", (2, 3), Returns::Boolean, on_relation),
    strict("pg_has_role", (2, 3), Returns::Boolean, |_, _| Ok(Value::Bool(true))),
    strict("row_security_active", (1, 1), Returns::Boolean, |_, _| Ok(Value::Bool(false))),
];

/// The object asked about: before it there may be a role, after it is the privilege.
fn subject(arguments: &[Value]) -> &Value {
    argument(arguments, arguments.len().saturating_sub(2))
}

fn on_relation(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    on(context, subject(arguments))
}

fn on_column(context: &PgContext, arguments: &[Value]) -> SqlResult<Value> {
    on(context, argument(arguments, arguments.len().saturating_sub(3)))
}

fn on(context: &PgContext, relation: &Value) -> SqlResult<Value> {
    if let Value::Text(name) = relation {
        reg_from_text(context, Reg::Class, name)?;
        return Ok(Value::Bool(true));
    }
    let found = relation.as_oid().and_then(|oid| class(context, oid));
    Ok(if found.is_some() { Value::Bool(true) } else { Value::Null })
}

fn exists(context: &PgContext, kind: Reg, arguments: &[Value]) -> SqlResult<Value> {
    let wanted = subject(arguments);
    if let Value::Text(_) = wanted {
        reg_from_text(context, kind, &text_argument(context, arguments, arguments.len() - 2))?;
    }
    Ok(Value::Bool(true))
}
