//! Expressions that a relation's definition has: what they may say is checked when it is made, and
//! generated columns are planned over the relation's rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::execution::SessionState;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan, Volatility};
use sqlparser::ast;

use super::dml::assign;
use super::job::session;
use super::parse::{fold_ident, parse_expression};
use super::rows::{Parameters, RowRelation, plan_expressions, plan_rows};
use super::sequence_names::bind_sequences;
use super::sql_functions::qualify_calls;
use super::statement::ColumnDef;
use super::syntax::Expression;
use crate::catalog::function::{Callable, Volatility as Declared};
use crate::catalog::sequence::written;
use crate::catalog::{Catalog, Column};
use crate::error::{SqlError, SqlResult, code};
use crate::expr::Generated;
use crate::expr::functions::reads_zone;
use crate::types::{ObjectId, SqlType};

/// A session for expressions over rows that come from elsewhere than a client.
pub(super) fn session_over(catalog: &Arc<Catalog>) -> SqlResult<SessionState> {
    let mut state = session()?;
    let callable = Callable { catalog: Arc::clone(catalog), search_path: Vec::new() };
    state.config_mut().set_extension(Arc::new(callable));
    Ok(state)
}

/// Checks the defaults and generation expressions of a new relation. Calls of functions in SQL get
/// the function's schema, and columns without a type that of their expression. Gives the functions
/// that the expressions call.
pub fn check_column_expressions(
    catalog: &Arc<Catalog>,
    search_path: &[String],
    relation: &str,
    columns: &mut [ColumnDef],
) -> SqlResult<Vec<ObjectId>> {
    let mut used = Vec::new();
    for index in 0..columns.len() {
        if let Some(text) = columns[index].default.clone() {
            let (text, functions, sequences) = qualified(catalog, search_path, &text)?;
            if !functions.is_empty() {
                check_default(catalog, &columns[index], &text)?;
            }
            used.extend(functions.into_iter().chain(sequences));
            columns[index].default = Some(text);
        }
        let Some(text) = columns[index].generated.clone() else { continue };
        let (text, functions, sequences) = qualified(catalog, search_path, &text)?;
        if !sequences.is_empty() {
            return Err(not_immutable());
        }
        let declared = |id: &ObjectId| catalog.function(*id).map(|function| function.volatility);
        if functions.iter().filter_map(declared).any(|one| one != Declared::Immutable) {
            return Err(not_immutable());
        }
        used.extend(functions);
        columns[index].sql_type = check_generated(catalog, relation, columns, index, &text)?;
        columns[index].generated = Some(text);
    }
    used.sort_unstable();
    used.dedup();
    Ok(used)
}

/// An expression whose calls of functions in SQL name the functions' schemas, and those of
/// sequences the sequences' OIDs; the functions, and the sequences.
pub(super) fn qualified(
    catalog: &Arc<Catalog>,
    search_path: &[String],
    text: &str,
) -> SqlResult<(String, Vec<ObjectId>, Vec<ObjectId>)> {
    let mut expression = parse_expression(text)?;
    let tree = Arc::make_mut(&mut expression.tree);
    let functions = qualify_calls(catalog, search_path, tree);
    let sequences = bind_sequences(catalog, search_path, tree)?;
    let text = match functions.is_empty() && sequences.is_empty() {
        true => text.to_owned(),
        // The parser writes a type's name in capitals, which is not how it is found again.
        false => sequences.iter().map(|id| written(*id)).fold(tree.to_string(), |text, known| {
            text.replace(&known.replace("regclass", "REGCLASS"), &known)
        }),
    };
    Ok((text, functions, sequences))
}

/// Whether a default can be computed: what its functions do is known.
fn check_default(catalog: &Arc<Catalog>, column: &ColumnDef, text: &str) -> SqlResult<()> {
    let state = session_over(catalog)?;
    let mut expression = parse_expression(text)?;
    assign(Arc::make_mut(&mut expression.tree), &as_column(column))?;
    let none = Parameters { declared: &[], values: Some(&[]) };
    plan_expressions(&state, &[&expression], &[], none)
        .map(|_| ())
        .map_err(|error| SqlError { position: None, ..error })
}

fn not_immutable() -> SqlError {
    SqlError::new(code::INVALID_OBJECT_DEFINITION, "generation expression is not immutable")
}

/// Checks one expression, and gives its column's type.
fn check_generated(
    catalog: &Arc<Catalog>,
    relation: &str,
    columns: &[ColumnDef],
    index: usize,
    text: &str,
) -> SqlResult<SqlType> {
    let column = &columns[index];
    let state = session_over(catalog)?;
    let mut expression = parse_expression(text)?;
    check_words(&state, &expression.tree, "column generation expression", columns)?;
    let typed = column.sql_type != SqlType::Unknown;
    let target = as_column(column);
    if typed {
        assign(Arc::make_mut(&mut expression.tree), &target)?;
    }
    let fields: Vec<_> = columns
        .iter()
        .filter(|column| column.generated.is_none())
        .map(|column| column.sql_type.field(&column.name, true))
        .collect();
    let rows = RowRelation { name: relation, schema: Arc::new(Schema::new(fields)) };
    let plan = plan_rows(&state, &expression, &rows).map_err(|error| {
        let message = error.message.replace("but expression is", "but default expression is");
        SqlError { position: None, message, ..error }
    })?;
    if !is_immutable(&plan)? {
        return Err(not_immutable());
    }
    if typed {
        return Ok(column.sql_type.clone());
    }
    Ok(match SqlType::of_field(plan.schema().field(0)) {
        SqlType::Unknown => SqlType::Text,
        known => known,
    })
}

/// What PostgreSQL refuses by the words alone in `place`; `columns` may not be read there if they
/// are generated.
pub(super) fn check_words(
    state: &SessionState,
    tree: &ast::Expr,
    place: &str,
    columns: &[ColumnDef],
) -> SqlResult<()> {
    let generated =
        |name: &str| columns.iter().any(|column| column.name == name && column.generated.is_some());
    let found = ast::visit_expressions(tree, |expr| {
        let error = match expr {
            ast::Expr::Subquery(_) | ast::Expr::Exists { .. } | ast::Expr::InSubquery { .. } => {
                let message = format!("cannot use subquery in {place}");
                SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
            }
            ast::Expr::Function(function) => {
                let name = function.name.0.last().and_then(|part| part.as_ident()).map(fold_ident);
                let name = name.unwrap_or_default();
                if function.over.is_some() {
                    let message = format!("window functions are not allowed in {place}s");
                    SqlError::new("42P20", message)
                } else if state.aggregate_functions().contains_key(&name) {
                    let message = format!("aggregate functions are not allowed in {place}s");
                    SqlError::new(code::GROUPING_ERROR, message)
                } else if matches!(name.as_str(), "unnest" | "generate_series") {
                    let message = format!("set-returning functions are not allowed in {place}s");
                    SqlError::new(code::FEATURE_NOT_SUPPORTED, message)
                } else {
                    return ControlFlow::Continue(());
                }
            }
            ast::Expr::Identifier(_) | ast::Expr::CompoundIdentifier(_) => {
                let name = match expr {
                    ast::Expr::CompoundIdentifier(parts) => parts.last().map(fold_ident),
                    ast::Expr::Identifier(ident) => Some(fold_ident(ident)),
                    _ => None,
                };
                match name {
                    Some(name) if generated(&name) => SqlError::new(
                        code::INVALID_OBJECT_DEFINITION,
                        format!("cannot use generated column \"{name}\" in {place}"),
                    )
                    .detail("A generated column cannot reference another generated column."),
                    _ => return ControlFlow::Continue(()),
                }
            }
            _ => return ControlFlow::Continue(()),
        };
        ControlFlow::Break(error)
    });
    match found {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The names of columns in an expression, as they are without their tables.
pub fn expression_names(text: &str) -> SqlResult<Vec<String>> {
    let expression = parse_expression(text)?;
    let mut names = Vec::new();
    let _ = ast::visit_expressions(&*expression.tree, |expr| {
        match expr {
            ast::Expr::Identifier(ident) => names.push(fold_ident(ident)),
            ast::Expr::CompoundIdentifier(parts) => names.extend(parts.last().map(fold_ident)),
            _ => {}
        }
        ControlFlow::<()>::Continue(())
    });
    Ok(names)
}

/// Does the same row always give the same value, whatever the session's settings?
fn is_immutable(plan: &LogicalPlan) -> SqlResult<bool> {
    let mut immutable = true;
    plan.apply_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(call) = expr {
                    immutable &= call.func.signature().volatility == Volatility::Immutable;
                }
                immutable &= !reads_zone(expr, &schema)?;
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(immutable)
}

fn as_column(column: &ColumnDef) -> Column {
    Column {
        name: column.name.clone(),
        sql_type: column.sql_type.clone(),
        not_null: column.not_null,
        default: None,
        generated: column.generated.clone(),
        identity: None,
        comment: None,
        computed: false,
    }
}

/// The generated columns of a relation, to be computed over its rows; `None` if it has none.
pub fn plan_generated(
    catalog: &Arc<Catalog>,
    relation: &str,
    columns: &[Column],
) -> SqlResult<Option<Generated>> {
    if columns.iter().all(|column| column.generated.is_none()) {
        return Ok(None);
    }
    let state = session_over(catalog)?;
    let mut indexes = Vec::new();
    let mut expressions: Vec<Expression> = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let Some(text) = &column.generated else { continue };
        let mut expression = parse_expression(text)?;
        assign(Arc::make_mut(&mut expression.tree), column)?;
        indexes.push(index);
        expressions.push(expression);
    }
    let fields: Vec<_> =
        columns.iter().map(|column| column.sql_type.field(&column.name, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let rows = RowRelation { name: relation, schema: Arc::clone(&schema) };
    let expressions: Vec<&Expression> = expressions.iter().collect();
    let none = Parameters { declared: &[], values: Some(&[]) };
    let planned = plan_expressions(&state, &expressions, &[rows], none)?;
    let columns = indexes.into_iter().zip(planned.expressions).collect();
    Ok(Some(Generated { schema, columns }))
}
