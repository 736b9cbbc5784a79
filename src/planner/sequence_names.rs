//! The sequences that an expression draws from: named by whoever writes it, by their OIDs in what
//! is stored, so that a default finds its sequence whatever that is called later.

use std::ops::ControlFlow;

use sqlparser::ast;

use super::parse::{fold_ident, parse_expression};
use crate::catalog::sequence::written;
use crate::catalog::{Catalog, Column, pg};
use crate::error::{SqlError, SqlResult, code};
use crate::types::ObjectId;

/// The functions whose first argument is a sequence.
const OF_SEQUENCE: [&str; 3] = ["nextval", "currval", "setval"];

/// Whether a function's result is another each time for what sequences give.
pub(super) fn is_of_sequences(name: &str) -> bool {
    OF_SEQUENCE.contains(&name) || name == "lastval"
}

/// Puts OIDs in the places of the names that sequences are called by; gives the sequences.
pub(super) fn bind_sequences(
    catalog: &Catalog,
    search_path: &[String],
    tree: &mut ast::Expr,
) -> SqlResult<Vec<ObjectId>> {
    let mut used = Vec::new();
    let bound = ast::visit_expressions_mut(tree, |expr| {
        let ast::Expr::Function(call) = expr else { return ControlFlow::Continue(()) };
        let Some(argument) = sequence_argument(call) else { return ControlFlow::Continue(()) };
        let Some(name) = constant_name(argument) else { return ControlFlow::Continue(()) };
        let constant = resolve(catalog, search_path, &name).and_then(|id| {
            used.push(id);
            parse_expression(&written(id))
        });
        match constant {
            Ok(constant) => {
                *argument = (*constant.tree).clone();
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    });
    match bound {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(used),
    }
}

/// `nextval('s'::regclass)` is `nextval('s')`: it reads a name itself.
pub(super) fn unwrap_regclass(call: &mut ast::Function) {
    if let Some(argument) = sequence_argument(call)
        && let ast::Expr::Cast { expr: inner, data_type, .. } = argument
        && is_regclass(data_type)
    {
        let null = ast::Expr::Value(ast::Value::Null.with_empty_span());
        *argument = std::mem::replace(inner.as_mut(), null);
    }
}

fn is_regclass(data_type: &ast::DataType) -> bool {
    let name = data_type.to_string().to_lowercase();
    name.strip_prefix("pg_catalog.").unwrap_or(&name) == "regclass"
}

/// The argument that says which sequence a call is of.
fn sequence_argument(call: &mut ast::Function) -> Option<&mut ast::Expr> {
    let name = call.name.0.last().and_then(|part| part.as_ident()).map(fold_ident)?;
    if !OF_SEQUENCE.contains(&name.as_str()) {
        return None;
    }
    let ast::FunctionArguments::List(list) = &mut call.args else { return None };
    match list.args.first_mut()? {
        ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(argument)) => Some(argument),
        _ => None,
    }
}

/// The name of a literal that is read as a sequence's; what is cast to text is looked up late.
fn constant_name(argument: &ast::Expr) -> Option<String> {
    let literal = match argument {
        ast::Expr::Cast { expr, data_type, .. } if is_regclass(data_type) => expr.as_ref(),
        other => other,
    };
    match literal {
        ast::Expr::Value(value) => match &value.value {
            ast::Value::SingleQuotedString(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn resolve(catalog: &Catalog, search_path: &[String], text: &str) -> SqlResult<ObjectId> {
    if let Ok(oid) = text.parse() {
        return Ok(ObjectId(oid));
    }
    let missing = || {
        let message = format!("relation \"{text}\" does not exist");
        SqlError::new(code::UNDEFINED_TABLE, message)
    };
    let parts = pg::identifiers(text).ok_or_else(missing)?;
    let (schema, name) = match parts.as_slice() {
        [name] => (None, name),
        [schema, name] | [_, schema, name] => (Some(schema.as_str()), name),
        _ => return Err(missing()),
    };
    let object = catalog.resolve(search_path, schema, name).ok_or_else(missing)?;
    match object.sequence() {
        Some(_) => Ok(object.id),
        None => {
            let message = format!("\"{}\" is not a sequence", object.name.name);
            Err(SqlError::new(code::WRONG_OBJECT_TYPE, message))
        }
    }
}

/// What a column gets where nothing is given: its default's text, or its next number.
pub(super) fn default_text(column: &Column) -> Option<String> {
    match column.identity {
        Some(identity) => Some(format!("nextval({})", written(identity.sequence))),
        None => column.default.clone(),
    }
}
