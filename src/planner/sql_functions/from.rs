//! Functions in SQL in FROM. What stands there until [`super::inline`] has the function's columns,
//! each a part of the call.

use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::planner::{
    PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning,
};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use sqlparser::ast;

use super::call::{Call, Part};
use super::choose::{choose, given_types};
use super::{Functions, object_parts};
use crate::error::SqlError;

/// Plans functions in SQL in FROM.
#[derive(Debug)]
pub(in crate::planner) struct FunctionRelations(pub(in crate::planner) Functions);

impl RelationPlanner for FunctionRelations {
    fn plan_relation(
        &self,
        relation: ast::TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let (name, args, alias) = match relation {
            ast::TableFactor::Table { ref name, args: Some(ref args), ref alias, .. } => {
                (name, &args.args, alias)
            }
            ast::TableFactor::Function { ref name, ref args, ref alias, .. } => (name, args, alias),
            other => return Ok(RelationPlanning::Original(Box::new(other))),
        };
        let candidates = self.0.named_by(name);
        if candidates.is_empty() {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        let name = object_parts(name).pop().unwrap_or_default();
        if matches!(
            relation,
            ast::TableFactor::Table { with_ordinality: true, .. }
                | ast::TableFactor::Function { with_ordinality: true, .. }
        ) {
            return Err(SqlError::unsupported(format!("WITH ORDINALITY of {name}()")).into());
        }
        let none = DFSchema::empty();
        let args = args.iter().map(|arg| match arg {
            ast::FunctionArg::Unnamed(ast::FunctionArgExpr::Expr(expr)) => {
                context.sql_to_expr(expr.clone(), &none)
            }
            other => Err(SqlError::unsupported(format!("{other} as an argument")).into()),
        });
        let args = args.collect::<Result<Vec<_>>>()?;
        let known = choose(&name, &candidates, &given_types(&args, &none)?)?;
        let columns = known.columns();
        let rows = known.function.returns.columns();
        let mut alias = alias.clone().unwrap_or_else(|| ast::TableAlias {
            explicit: false,
            name: ast::Ident::with_quote('"', &name),
            columns: Vec::new(),
            at: None,
        });
        // A single value is named after the function's alias.
        if rows.is_empty() && alias.columns.is_empty() {
            let name = alias.name.clone();
            alias.columns.push(ast::TableAliasColumnDef { name, data_type: None });
        }
        // Those that are given no other name keep theirs.
        if !alias.columns.is_empty() {
            let others = columns.iter().skip(alias.columns.len());
            let others = others.map(|column| ast::Ident::with_quote('"', &column.name));
            let others = others.map(|name| ast::TableAliasColumnDef { name, data_type: None });
            alias.columns.extend(others.collect::<Vec<_>>());
        }
        let exprs = columns.iter().enumerate().map(|(index, column)| {
            let call = Call::new(&name, candidates.clone(), Part::Column(index));
            let call = ScalarFunction::new_udf(call.into(), args.clone());
            Expr::ScalarFunction(call).alias(&column.name)
        });
        let plan = LogicalPlanBuilder::empty(true).project(exprs.collect::<Vec<_>>())?.build()?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, Some(alias)))))
    }
}

/// The call whose rows a node stands for, and its arguments.
pub(super) fn rows_called(plan: &LogicalPlan) -> Option<(&Call, &[Expr])> {
    let LogicalPlan::Projection(projection) = plan else { return None };
    let mut first = projection.expr.first()?;
    while let Expr::Alias(alias) = first {
        first = &alias.expr;
    }
    Call::of(first).filter(|(call, _)| matches!(call.part, Part::Column(_)))
}
