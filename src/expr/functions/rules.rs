//! Optimizer rules of DataFusion that are right for most plans, kept off those for which they are
//! not.
//!
//! - A join has one meaning of equality for all of its keys. Two rules add keys to joins without
//!   looking which: they may not touch what has null-safe keys. One of them forgets keys of which a
//!   side has become a constant.
//! - An aggregation without keys gives its one row whatever comes in: what is false above it may
//!   not go below, which the rule for filters does with one that reads no column.
//! - What is a key of rows is none of their elements: `Unnest` says that it still is, and four
//!   rules believe it. They would drop columns to group or to order by, DISTINCT, and copies of
//!   rows in joins.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{FunctionalDependence, FunctionalDependencies, NullEquality, Result};
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, Unnest};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// A rule, or the same kept off the plans for which it is not right.
pub(super) fn sound(rule: &Rule) -> Rule {
    let guard = match rule.name() {
        "extract_equijoin_predicate" => Guard::Spare(has_safe_keys),
        "eliminate_cross_join" => Guard::Spare(keeps_its_joins),
        "push_down_filter" => Guard::Spare(filters_one_row),
        "eliminate_duplicated_expr"
        | "eliminate_join"
        | "optimize_projections"
        | "replace_distinct_aggregate" => Guard::ForgetKeys,
        _ => return Arc::clone(rule),
    };
    Arc::new(Guarded { rule: Arc::clone(rule), guard })
}

/// What keeps a rule right.
#[derive(Debug, Clone, Copy)]
enum Guard {
    /// It leaves the nodes alone of which this is true.
    Spare(fn(&LogicalPlan) -> Result<bool>),
    /// It is given plans in which what unnests rows has no key.
    ForgetKeys,
}

#[derive(Debug)]
struct Guarded {
    rule: Rule,
    guard: Guard,
}

impl OptimizerRule for Guarded {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        // A rule that is given node after node looks at keys in these.
        let looks_at_keys = matches!(
            plan,
            LogicalPlan::Aggregate(_)
                | LogicalPlan::Distinct(_)
                | LogicalPlan::Join(_)
                | LogicalPlan::Sort(_)
        );
        match self.guard {
            Guard::Spare(spares) if spares(&plan)? => Ok(Transformed::no(plan)),
            Guard::ForgetKeys if looks_at_keys || self.apply_order().is_none() => {
                self.rule.rewrite(forget_keys(plan)?.data, config)
            }
            _ => self.rule.rewrite(plan, config),
        }
    }
}

/// `plan`, where what unnests rows has no key: rows that stand for one still have its other columns
/// in common.
fn forget_keys(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let plan = plan.map_children(forget_keys)?;
    match plan.data {
        LogicalPlan::Unnest(mut unnest) => {
            let schema = unnest.schema.as_ref().clone();
            let dependencies = of_unnested(&unnest);
            unnest.schema = Arc::new(schema.with_functional_dependencies(dependencies)?);
            Ok(Transformed::yes(LogicalPlan::Unnest(unnest)))
        }
        above if plan.transformed => Ok(Transformed::yes(above.recompute_schema()?)),
        other => Ok(Transformed::no(other)),
    }
}

/// Which columns decide others, of those that are passed on.
fn of_unnested(unnest: &Unnest) -> FunctionalDependencies {
    let is_unnested = |column: &usize| {
        unnest.struct_type_columns.contains(column)
            || unnest.list_type_columns.iter().any(|(list, _)| list == column)
    };
    let place = |column: &usize| {
        let place = unnest.dependency_indices.iter().position(|from| from == column);
        place.filter(|_| !is_unnested(column))
    };
    let passed_on = |dependence: &FunctionalDependence| {
        let source = dependence.source_indices.iter().map(place).collect::<Option<Vec<_>>>()?;
        let target = dependence.target_indices.iter().filter_map(place).collect();
        // Any number of rows may have the values of what was a key.
        Some(FunctionalDependence::new(source, target, dependence.nullable))
    };
    let dependencies = unnest.input.schema().functional_dependencies();
    FunctionalDependencies::new(dependencies.iter().filter_map(passed_on).collect())
}

/// A join with null-safe keys: `=` in its filter may not become one of them.
fn has_safe_keys(plan: &LogicalPlan) -> Result<bool> {
    Ok(matches!(plan, LogicalPlan::Join(join)
        if join.null_equality == NullEquality::NullEqualsNull && !join.on.is_empty()))
}

/// Inner joins, one of them null-safe, which are ordered as if all their keys were plain; or one
/// with a key that compares a column with a constant, which would be lost.
fn keeps_its_joins(plan: &LogicalPlan) -> Result<bool> {
    let is_constant = |side: &Expr| side.column_refs().is_empty();
    plan.exists(|node| {
        let LogicalPlan::Join(join) = node else { return Ok(false) };
        let constant = join.on.iter().any(|(left, right)| is_constant(left) || is_constant(right));
        let null_safe = join.null_equality == NullEquality::NullEqualsNull;
        Ok(join.join_type == JoinType::Inner && (null_safe || constant))
    })
}

/// A filter of an aggregation without keys.
fn filters_one_row(plan: &LogicalPlan) -> Result<bool> {
    fn gives_one_row(plan: &LogicalPlan) -> bool {
        match plan {
            LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
            LogicalPlan::Filter(filter) => gives_one_row(&filter.input),
            _ => false,
        }
    }
    Ok(matches!(plan, LogicalPlan::Filter(filter) if gives_one_row(&filter.input)))
}
