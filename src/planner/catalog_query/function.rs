//! Calls: functions, aggregates, sets among the outputs, `row_number()`.

use sqlparser::ast;

use crate::catalog::pg::{self, Reg, Value};
use crate::types::SqlType;

use super::bind::{BindError, Binder, Bound, Context, function_arguments, function_name};
use super::expression::{bind, bind_all, call, rows, with_type};
use super::series::Series;
use super::tree::{Aggregate, AggregateKind, Node, RowNumber, SetCall, Typed};

/// Binds a call: of a function, an aggregate, a set.
pub(super) fn bind_function(
    binder: &Binder<'_>,
    context: &Context<'_>,
    function: &ast::Function,
) -> Bound<Typed> {
    let name = function_name(&function.name).ok_or(BindError::NotHere)?;
    if !function.within_group.is_empty() || function.null_treatment.is_some() {
        return Err(BindError::NotHere);
    }
    let list = match &function.args {
        ast::FunctionArguments::None => None,
        ast::FunctionArguments::Subquery(query) if name == "array" => {
            return Ok(rows(binder.query(query, Some(context.scope))?));
        }
        ast::FunctionArguments::Subquery(_) => return Err(BindError::NotHere),
        ast::FunctionArguments::List(list) => Some(list),
    };
    if let Some(over) = &function.over {
        return row_number(binder, context, &name, over);
    }
    if let Some(kind) = aggregate_kind(&name, list) {
        return aggregate(binder, context, kind, function, list);
    }
    if function.filter.is_some() {
        return Err(BindError::NotHere);
    }
    let arguments = match list {
        None => Vec::new(),
        Some(list) if list.clauses.is_empty() && list.duplicate_treatment.is_none() => {
            function_arguments(&list.args)?
        }
        Some(_) => return Err(BindError::NotHere),
    };
    let mut arguments = arguments
        .into_iter()
        .map(|argument| bind(binder, context, argument))
        .collect::<Bound<Vec<_>>>()?;
    if name == "pg_typeof" && arguments.len() == 1 {
        let oid = Value::Reg(Reg::Type, arguments[0].sql_type.oid());
        return Ok(Typed::new(Node::Constant(oid), SqlType::Regtype));
    }
    if let Some(series) = Series::of_name(&name) {
        let types: Vec<SqlType> = arguments.iter().map(|one| one.sql_type.clone()).collect();
        let sql_type = match series.columns(&name, &types).as_slice() {
            [column] => column.sql_type.clone(),
            _ => SqlType::Record,
        };
        let mut steps = context.steps.ok_or(BindError::NotHere)?.borrow_mut();
        let slot = steps.slots;
        steps.slots += 1;
        steps.sets.push(SetCall { slot, series, arguments });
        return Ok(Typed::new(Node::Slot(slot), sql_type));
    }
    let arity = arguments.len();
    for (position, argument) in arguments.iter_mut().enumerate() {
        if matches!(argument.node, Node::Parameter(_)) {
            let untyped = std::mem::replace(
                argument,
                Typed::new(Node::Constant(Value::Null), SqlType::Unknown),
            );
            *argument = with_type(binder, untyped, &pg::parameter_type(&name, arity, position));
        }
    }
    call(&name, arguments)
}

fn row_number(
    binder: &Binder<'_>,
    context: &Context<'_>,
    name: &str,
    over: &ast::WindowType,
) -> Bound<Typed> {
    let ast::WindowType::WindowSpec(window) = over else { return Err(BindError::NotHere) };
    if name != "row_number" || window.window_name.is_some() || window.window_frame.is_some() {
        return Err(BindError::NotHere);
    }
    let partition = bind_all(binder, context, &window.partition_by)?;
    let order = order_keys(binder, context, &window.order_by)?;
    let mut steps = context.steps.ok_or(BindError::NotHere)?.borrow_mut();
    let slot = steps.slots;
    steps.slots += 1;
    steps.row_numbers.push(RowNumber { slot, partition, order });
    Ok(Typed::new(Node::Slot(slot), SqlType::BigInt))
}

fn order_keys(
    binder: &Binder<'_>,
    context: &Context<'_>,
    keys: &[ast::OrderByExpr],
) -> Bound<Vec<(Typed, bool)>> {
    keys.iter()
        .map(|key| {
            if key.options.nulls_first.is_some() {
                return Err(BindError::NotHere);
            }
            Ok((bind(binder, context, &key.expr)?, key.options.asc == Some(false)))
        })
        .collect()
}

fn aggregate_kind(name: &str, list: Option<&ast::FunctionArgumentList>) -> Option<AggregateKind> {
    let rows = list.is_some_and(|list| {
        matches!(
            list.args.as_slice(),
            [ast::FunctionArg::Unnamed(
                ast::FunctionArgExpr::Wildcard | ast::FunctionArgExpr::WildcardWithOptions(_)
            )]
        )
    });
    Some(match name {
        "count" if rows => AggregateKind::CountRows,
        "count" => AggregateKind::Count,
        "min" => AggregateKind::Min,
        "max" => AggregateKind::Max,
        "sum" => AggregateKind::Sum,
        "bool_and" | "every" => AggregateKind::BoolAnd,
        "bool_or" => AggregateKind::BoolOr,
        "string_agg" => AggregateKind::StringAgg,
        "array_agg" => AggregateKind::ArrayAgg,
        _ => return None,
    })
}

fn aggregate(
    binder: &Binder<'_>,
    context: &Context<'_>,
    kind: AggregateKind,
    function: &ast::Function,
    list: Option<&ast::FunctionArgumentList>,
) -> Bound<Typed> {
    let steps = context.steps.ok_or(BindError::NotHere)?;
    let list = list.ok_or(BindError::NotHere)?;
    let inner = Context { scope: context.scope, steps: None };
    let mut order = Vec::new();
    for clause in &list.clauses {
        match clause {
            ast::FunctionArgumentClause::OrderBy(keys) => {
                order = order_keys(binder, &inner, keys)?;
            }
            _ => return Err(BindError::NotHere),
        }
    }
    let arguments = match kind {
        AggregateKind::CountRows => Vec::new(),
        _ => function_arguments(&list.args)?
            .into_iter()
            .map(|argument| bind(binder, &inner, argument))
            .collect::<Bound<Vec<_>>>()?,
    };
    let first = arguments.first().map_or(SqlType::Text, |one| one.sql_type.clone());
    let sql_type = match kind {
        AggregateKind::CountRows | AggregateKind::Count | AggregateKind::Sum => SqlType::BigInt,
        AggregateKind::BoolAnd | AggregateKind::BoolOr => SqlType::Boolean,
        AggregateKind::StringAgg => SqlType::Text,
        AggregateKind::Min | AggregateKind::Max => first,
        AggregateKind::ArrayAgg => SqlType::Array(Box::new(first)),
    };
    let filter = function.filter.as_ref().map(|one| bind(binder, &inner, one)).transpose()?;
    let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    let mut steps = steps.borrow_mut();
    let slot = steps.slots;
    steps.slots += 1;
    steps.aggregates.push(Aggregate { slot, kind, arguments, distinct, filter, order });
    Ok(Typed::new(Node::Slot(slot), sql_type))
}
