//! What CREATE FUNCTION must find out: whether the body can be planned and gives what is declared,
//! and what it needs.

use std::sync::Arc;

use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan};
use sqlparser::ast;

use super::inline::{calls_itself, inline};
use super::{Functions, Known, body_query};
use crate::catalog::function::{Function, Returns, type_name};
use crate::catalog::{Catalog, quote_identifier};
use crate::clock::WallTime;
use crate::error::{SqlError, SqlResult, code};
use crate::expr::{Assigning, SessionStyle};
use crate::planner::failure::planning_error;
use crate::planner::job::{Scope, session};
use crate::planner::parse::parse_query;
use crate::planner::query::{plan_body, plan_tree};
use crate::types::{ObjectId, SqlType};

/// What a function needs.
#[derive(Debug, Clone)]
pub struct DescribedFunction {
    /// The relations and functions that its body names.
    pub depends_on: Vec<ObjectId>,
}

/// Checks a function that is to be made, or to take the place of the one with its OID.
pub fn describe_function(catalog: &Catalog, function: &Function) -> SqlResult<DescribedFunction> {
    let state = session()?;
    let query = body_query(&function.body).map_err(without_place)?;
    refuse_name_of_system(&state, function)?;
    // As if it were there: then its body's calls of itself are seen.
    let (with, _) =
        catalog.with_function(Function { depends_on: Vec::new(), ..function.clone() })?;
    let (search_path, names) = (&function.search_path, &function.meaning.names);
    let scope = Scope { state: &state, catalog: &with, search_path, names };
    let (relations, mut depends_on) = scope.relations(&query.tree).map_err(|error| {
        let message = error.message.replace("a materialized view over", "a function over");
        SqlError { position: None, message, ..error }
    })?;
    let functions = scope.functions(&query.tree).map_err(without_place)?;
    let known = Arc::new(Known {
        types: function.types(),
        function: Arc::new(function.clone()),
        query,
        relations,
    });
    check_placeholders(&known)?;
    let body = plan_body(&state, &known, &functions).map_err(SqlError::from)?;
    check_result(&known, &body)?;
    let of_body =
        |error| without_place(planning_error(error, &*known.query.tree, &known.query.source));
    inline(body, &state, &functions).map_err(of_body)?;
    let used = functions.used();
    depends_on.extend(used);
    let calls_it = |id: &ObjectId| *id == function.id || with.dependants(function.id).contains(id);
    if depends_on.iter().any(calls_it) {
        return Err(calls_itself(&known));
    }
    call_it(&state, &with, function).map_err(without_place)?;
    Ok(DescribedFunction { depends_on })
}

/// Places in a body mean nothing in the client's string.
fn without_place(error: SqlError) -> SqlError {
    SqlError { position: None, ..error }
}

/// Names that the planner gives a meaning itself keep it.
fn refuse_name_of_system(state: &SessionState, function: &Function) -> SqlResult<()> {
    let name = function.name.name.as_str();
    let taken = state.scalar_functions().contains_key(name)
        || state.aggregate_functions().contains_key(name)
        || state.window_functions().contains_key(name)
        || state.table_functions().contains_key(name)
        || !crate::catalog::pg::functions_by_name(name).is_empty();
    if !taken {
        return Ok(());
    }
    let what = format!("a function with the name of a built-in function, {name},");
    Err(SqlError::unsupported(what).hint("Give it another name."))
}

fn check_placeholders(known: &Known) -> SqlResult<()> {
    let count = known.types.len();
    let mut above = None;
    let _ = ast::visit_expressions(&*known.query.tree, |expr| {
        if let ast::Expr::Value(value) = expr
            && let ast::Value::Placeholder(name) = &value.value
            && let Some(number) = name.strip_prefix('$').and_then(|n| n.parse::<usize>().ok())
            && !(1..=count).contains(&number)
        {
            above = Some(number);
        }
        std::ops::ControlFlow::<()>::Continue(())
    });
    match above {
        Some(number) => {
            let message = format!("there is no parameter ${number}");
            Err(SqlError::new(code::UNDEFINED_PARAMETER, message))
        }
        None => Ok(()),
    }
}

/// Whether the body gives what the function says.
fn check_result(known: &Known, body: &LogicalPlan) -> SqlResult<()> {
    let returns = &known.function.returns;
    let wrong = |detail: String| {
        let declared = match returns {
            Returns::Value(sql_type) | Returns::Set(sql_type) => type_name(sql_type),
            Returns::Table(_) => type_name(&returns.sql_type()),
            Returns::Rows(relation, _) => relation.name.clone(),
        };
        let message = format!("return type mismatch in function declared to return {declared}");
        Err(SqlError::new(code::INVALID_FUNCTION_DEFINITION, message).detail(detail))
    };
    let fields = body.schema().fields();
    let single =
        returns.columns().is_empty() || matches!(returns, Returns::Table(c) if c.len() == 1);
    let wanted = known.columns();
    if single && fields.len() != 1 {
        return wrong("Final statement must return exactly one column.".to_owned());
    }
    if fields.len() != wanted.len() {
        let much = if fields.len() > wanted.len() { "many" } else { "few" };
        return wrong(format!("Final statement returns too {much} columns."));
    }
    let untyped = untyped_columns(body);
    let assigning = Assigning { style: SessionStyle::default().text, now: WallTime(0) };
    for (index, (field, wanted)) in fields.iter().zip(&wanted).enumerate() {
        let from = match untyped.get(index) {
            Some(true) => SqlType::Unknown,
            _ => SqlType::of_field(field),
        };
        if assigning.check(field, &from, &wanted.sql_type, &wanted.name).is_ok() {
            continue;
        }
        return wrong(match single {
            true => format!("Actual return type is {}.", type_name(&from)),
            false => format!(
                "Final statement returns {} instead of {} at column {}.",
                type_name(&from),
                type_name(&wanted.sql_type),
                index + 1
            ),
        });
    }
    Ok(())
}

/// Which columns are string literals, which have no type yet.
fn untyped_columns(body: &LogicalPlan) -> Vec<bool> {
    let LogicalPlan::Projection(projection) = body else { return Vec::new() };
    let untyped = projection.expr.iter().map(|expr| {
        let mut expr = expr;
        while let Expr::Alias(alias) = expr {
            expr = &alias.expr;
        }
        matches!(expr, Expr::Literal(datafusion::common::ScalarValue::Utf8(_), None))
    });
    untyped.collect()
}

/// Plans a call with NULLs: what is wrong only where types are decided is found now.
fn call_it(state: &SessionState, catalog: &Catalog, function: &Function) -> SqlResult<()> {
    for parameters in [
        function.parameters.as_slice(),
        // Once more with all defaults.
        &function.parameters
            [..function.parameters.iter().take_while(|p| p.default.is_none()).count()],
    ] {
        let nulls: Vec<_> = parameters.iter().map(|p| format!("NULL::{}", p.sql_type)).collect();
        let name = format!(
            "{}.{}",
            quote_identifier(&function.name.schema),
            quote_identifier(&function.name.name)
        );
        let query = parse_query(&format!("SELECT * FROM {name}({})", nulls.join(", ")))?;
        let scope = Scope { state, catalog, search_path: &function.search_path, names: &[] };
        let functions: Functions = scope.functions(&query.tree)?;
        plan_tree(state, Default::default(), &query.tree, &query.source, &[], &functions)?;
    }
    Ok(())
}
