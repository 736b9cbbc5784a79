//! CHECK constraints: what they may say is asked when they are made, and they are planned over the
//! rows that a statement writes.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::Schema;
use chrono::DateTime;
use datafusion::execution::SessionState;
use sqlparser::ast;

use super::generated::{check_words, qualified, session_over};
use super::parse::{fold_ident, parse_expression};
use super::rows::{Parameters, RowRelation, plan_expressions, plan_rows};
use super::shown::computed_by;
use super::syntax::Expression;
use crate::catalog::constraint::Check;
use crate::catalog::{Catalog, Column};
use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Checks;
use crate::types::{ObjectId, SqlType};

/// What the text of a CHECK comes to.
#[derive(Debug)]
pub struct CheckedText {
    /// The text as it is kept.
    pub expression: String,
    /// The columns that it reads, in the order in which it names them.
    pub columns: Vec<usize>,
    /// The functions that it calls.
    pub functions: Vec<ObjectId>,
}

/// Checks the text of a CHECK over the rows of `relation`.
pub fn describe_check(
    catalog: &Arc<Catalog>,
    search_path: &[String],
    relation: &str,
    columns: &[Column],
    text: &str,
) -> SqlResult<CheckedText> {
    let state = session_over(catalog)?;
    let (text, mut functions, sequences) = qualified(catalog, search_path, text)?;
    let expression = parse_expression(&text)?;
    check_words(&state, &expression.tree, "check constraint", &[])?;
    let rows = relation_of(relation, columns);
    let without_place = |error: SqlError| SqlError { position: None, ..error };
    let plan = plan_rows(&state, &expression, &rows).map_err(without_place)?;
    let found = SqlType::of_field(plan.schema().field(0));
    if !matches!(found, SqlType::Boolean | SqlType::Unknown) {
        let message = format!("argument of CHECK must be type boolean, not type {found}");
        return Err(SqlError::new(code::DATATYPE_MISMATCH, message));
    }
    functions.extend(sequences);
    functions.sort_unstable();
    functions.dedup();
    Ok(CheckedText {
        columns: columns_in(&expression, columns),
        // The table may be called otherwise one day.
        expression: computed_by(&text, None)?,
        functions,
    })
}

fn relation_of<'a>(name: &'a str, columns: &[Column]) -> RowRelation<'a> {
    let fields: Vec<_> =
        columns.iter().map(|column| column.sql_type.field(&column.name, true)).collect();
    RowRelation { name, schema: Arc::new(Schema::new(fields)) }
}

/// The columns that an expression names.
fn columns_in(expression: &Expression, columns: &[Column]) -> Vec<usize> {
    let mut found = Vec::new();
    let _ = ast::visit_expressions(&*expression.tree, |expr| {
        let name = match expr {
            ast::Expr::Identifier(ident) => Some(fold_ident(ident)),
            ast::Expr::CompoundIdentifier(parts) => parts.last().map(fold_ident),
            _ => None,
        };
        let place = name.and_then(|name| columns.iter().position(|column| column.name == name));
        if let Some(place) = place.filter(|place| !found.contains(place)) {
            found.push(place);
        }
        ControlFlow::<()>::Continue(())
    });
    found
}

/// The checks of a relation, to be asked of its rows; `None` if it has none. `state` is that of
/// the statement that writes them, whose time is theirs.
pub fn plan_checks(
    state: &SessionState,
    relation: &str,
    columns: &[Column],
    checks: &[Check],
) -> SqlResult<Option<Checks>> {
    if checks.is_empty() {
        return Ok(None);
    }
    let mut named: Vec<&Check> = checks.iter().collect();
    named.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let parsed: Vec<Expression> =
        named.iter().map(|check| parse_expression(&check.expression)).collect::<SqlResult<_>>()?;
    let rows = relation_of(relation, columns);
    let schema = Arc::clone(&rows.schema);
    let expressions: Vec<&Expression> = parsed.iter().collect();
    let none = Parameters { declared: &[], values: Some(&[]) };
    let planned = plan_expressions(state, &expressions, &[rows], none)?;
    let names = named.into_iter().map(|check| check.name.clone());
    Ok(Some(Checks { schema, conditions: names.zip(planned.expressions).collect() }))
}

/// The same without a statement: its time is `now`.
pub fn plan_checks_at(
    catalog: &Arc<Catalog>,
    now: WallTime,
    relation: &str,
    columns: &[Column],
    checks: &[Check],
) -> SqlResult<Option<Checks>> {
    let mut state = session_over(catalog)?;
    let now = DateTime::from_timestamp_micros(now.0).unwrap_or_default();
    state.execution_props_mut().query_execution_start_time = Some(now);
    plan_checks(&state, relation, columns, checks)
}
