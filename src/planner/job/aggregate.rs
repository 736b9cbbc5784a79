//! GROUP BY and DISTINCT.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::AggregateFunction as AggregateExpr;
use datafusion::logical_expr::{Aggregate as LogicalAggregate, Expr, ExprSchemable};
use datafusion::physical_expr::PhysicalExpr;

use arrow::datatypes::{DataType, Field, Schema};

use super::lower::Lowering;
use super::scalar::{flowing_schema, in_view, physical, without_alias};
use super::tree::{Tree, TreeKind, column_of};
use crate::error::SqlResult;
use crate::graph::{Aggregate, AggregateCall, AggregateFunction};

/// Whether every part of an aggregation has a rule of its own.
pub(super) fn is_incremental(plan: &LogicalAggregate) -> bool {
    let grouped = |expr: &Expr| !matches!(expr, Expr::GroupingSet(_));
    let rows = plan.input.schema();
    plan.group_expr.iter().all(grouped) && plan.aggr_expr.iter().all(|call| has_rule(call, rows))
}

fn has_rule(expr: &Expr, rows: &DFSchema) -> bool {
    let Expr::AggregateFunction(AggregateExpr { func, params }) = without_alias(expr) else {
        return false;
    };
    let known = function_named(func.name()).is_some_and(|function| {
        // The order in which values are kept is not that of intervals.
        let extreme = matches!(function, AggregateFunction::Min | AggregateFunction::Max);
        let is_interval = |argument: &Expr| {
            argument.get_type(rows).is_ok_and(|kind| matches!(kind, DataType::Interval(_)))
        };
        !(extreme && params.args.iter().any(is_interval))
    });
    known && params.args.len() <= 1
}

fn function_named(name: &str) -> Option<AggregateFunction> {
    Some(match name {
        "count" => AggregateFunction::Count,
        "sum" => AggregateFunction::Sum,
        "avg" => AggregateFunction::Avg,
        "min" => AggregateFunction::Min,
        "max" => AggregateFunction::Max,
        "var_samp" => AggregateFunction::VarSamp,
        "var_pop" => AggregateFunction::VarPop,
        "stddev_samp" => AggregateFunction::StddevSamp,
        "stddev_pop" => AggregateFunction::StddevPop,
        _ => return None,
    })
}

/// GROUP BY with its aggregate functions. What they read is computed in a map below.
pub(super) fn lower(lowering: &mut Lowering<'_>, plan: &LogicalAggregate) -> SqlResult<Tree> {
    let input = lowering.lower(&plan.input)?;
    let mut arguments =
        Arguments { lowering, schema: plan.input.schema(), expressions: Vec::new() };
    let group =
        plan.group_expr.iter().map(|expr| arguments.column(expr)).collect::<SqlResult<Vec<_>>>()?;
    let calls = plan
        .aggr_expr
        .iter()
        .map(|expr| call(&mut arguments, expr))
        .collect::<SqlResult<Vec<_>>>()?;
    let (input, columns) = arguments.compute(input);
    let group: Vec<usize> = group.into_iter().map(|column| columns[column]).collect();
    let calls: Vec<_> = calls
        .into_iter()
        .map(|call| AggregateCall {
            argument: call.argument.map(|column| columns[column]),
            filter: call.filter.map(|column| columns[column]),
            ..call
        })
        .collect();
    Ok(Tree {
        schema: flowing_schema(&plan.schema),
        key: (0..group.len()).collect(),
        // A group without functions never changes.
        append_only: calls.is_empty() && !group.is_empty() && input.append_only,
        kind: TreeKind::Aggregate(
            Aggregate { group, calls, append_only_input: input.append_only },
            Box::new(input),
        ),
    })
}

/// DISTINCT: a group for each row, without functions.
pub(super) fn distinct(input: Tree) -> Tree {
    let group: Vec<usize> = (0..input.schema.fields().len()).collect();
    Tree {
        schema: Arc::clone(&input.schema),
        key: group.clone(),
        append_only: input.append_only,
        kind: TreeKind::Aggregate(
            Aggregate { group, calls: Vec::new(), append_only_input: input.append_only },
            Box::new(input),
        ),
    }
}

/// What an aggregation reads, each expression once.
struct Arguments<'l, 'a> {
    lowering: &'l Lowering<'a>,
    schema: &'l DFSchema,
    expressions: Vec<Arc<dyn PhysicalExpr>>,
}

impl Arguments<'_, '_> {
    /// The index of an expression among those that are read.
    fn column(&mut self, expr: &Expr) -> SqlResult<usize> {
        let expr = physical(self.lowering.state, expr, self.schema)?;
        let known = self.expressions.iter().position(|known| known.as_ref() == expr.as_ref());
        Ok(known.unwrap_or_else(|| {
            self.expressions.push(expr);
            self.expressions.len() - 1
        }))
    }

    /// `input` with all expressions computed, and the column of each.
    fn compute(self, input: Tree) -> (Tree, Vec<usize>) {
        let plain: Option<Vec<usize>> = self.expressions.iter().map(column_of).collect();
        if let Some(columns) = plain {
            return (input, columns);
        }
        let columns = (0..self.expressions.len()).collect();
        let fields = self.expressions.iter().enumerate().map(|(index, expr)| {
            let field = expr.return_field(&input.schema);
            let name = column_of(expr)
                .map_or_else(|| format!("_{index}"), |c| input.schema.field(c).name().clone());
            match field {
                Ok(field) => field.as_ref().clone().with_name(name).with_nullable(true),
                Err(_) => Field::new(name, DataType::Null, true),
            }
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        (input.project(self.expressions, schema), columns)
    }
}

/// A call, its columns still indexes among the arguments.
fn call(arguments: &mut Arguments<'_, '_>, expr: &Expr) -> SqlResult<AggregateCall> {
    let Expr::AggregateFunction(AggregateExpr { func, params }) = without_alias(expr) else {
        return Err(in_view(&format!("aggregate {expr}")));
    };
    let function = function_named(func.name())
        .ok_or_else(|| in_view(&format!("aggregate function {}", func.name())))?;
    let argument = match params.args.as_slice() {
        [] => None,
        // `count(*)` is planned as the count of a number.
        [Expr::Literal(value, _)]
            if function == AggregateFunction::Count && !value.is_null() && !params.distinct =>
        {
            None
        }
        [argument] => Some(arguments.column(argument)?),
        _ => return Err(in_view("an aggregate of several columns")),
    };
    let filter = match &params.filter {
        Some(filter) => Some(arguments.column(filter)?),
        None => None,
    };
    // The order of the input changes none of these functions' results.
    Ok(AggregateCall { function, argument, distinct: params.distinct, filter })
}
