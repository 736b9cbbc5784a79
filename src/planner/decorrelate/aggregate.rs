//! Aggregates inside subqueries.
//!
//! ```text
//! Γ[g; f](R(d))  =  Γ[g, d; f](R')        for all d at once, R' closed
//! ```
//!
//! An aggregate without groups gives a row over no rows too, which no group of d is there for. What
//! it gives then is known beforehand: `count` is 0, the others are NULL. It is kept as the row of
//! an absent group, so that whoever joins the subquery back can put it in.

use std::sync::Arc;

use datafusion::common::{Column, Result, ScalarValue};
use datafusion::logical_expr::utils::enumerate_grouping_sets;
use datafusion::logical_expr::{Aggregate, Expr, GroupingSet, LogicalPlan, lit};

use super::super::grouping_sets::{Split, split};
use super::expression::{bare, bind, columns_of, project, substitute};
use super::join::keyed;
use super::open::{Open, Outer};

impl Outer<'_> {
    pub(super) fn open_aggregate(&self, node: &Aggregate) -> Result<Open> {
        if over_nothing(&node.group_expr) > 1 {
            // One aggregation for each empty set: each has a row for every d.
            let plan = LogicalPlan::Aggregate(node.clone());
            return self.open(&split(plan, Split::Empty)?);
        }
        let input = node.input.schema();
        let open = self.fill(self.open(&node.input)?)?;
        let replaced = |expr: &Expr, outputs: &[Expr]| substitute(expr.clone(), input, outputs);
        let own = node.group_expr.iter().chain(&node.aggr_expr);
        let own = own.map(|expr| replaced(expr, &open.outputs)).collect::<Result<Vec<_>>>()?;
        let sets = matches!(node.group_expr.as_slice(), [Expr::GroupingSet(_), ..]);
        let mut closed = self.close(open, &self.columns_in(own.iter()))?;
        if sets {
            // A column of a grouping set is NULL in other sets' rows, those of d never.
            closed = self.columns_only(closed)?;
        }
        let at_keys = keyed(&closed.keys);
        let here = |expr: &Expr| bind(replaced(expr, &closed.outputs)?, &at_keys);

        let mut computed = Vec::new();
        let mut groups = Vec::new();
        for group in &node.group_expr {
            groups.push(self.group(here(group)?, &mut computed)?);
        }
        let mut plan = closed.plan.clone();
        if !computed.is_empty() {
            let mut exprs = columns_of(plan.schema());
            exprs.extend(computed);
            plan = project(plan, exprs)?;
        }
        let names = names_of(&groups);
        for key in &closed.keys {
            let key = Expr::Column(key.inner.clone());
            if !groups.contains(&key) {
                groups.push(key);
            }
        }
        let mut outputs: Vec<Expr> = names.into_iter().map(Expr::Column).collect();
        if sets {
            outputs.push(Expr::Column(Column::from_name(Aggregate::INTERNAL_GROUPING_ID)));
        }
        let mut aggregates = Vec::new();
        for aggregate in &node.aggr_expr {
            let name = self.tools.fresh("aggregate");
            outputs.push(Expr::Column(Column::new_unqualified(&name)));
            aggregates.push(here(&bare(aggregate.clone()))?.alias(name));
        }
        let groups = enumerate_grouping_sets(groups)?;
        let plan = Aggregate::try_new(Arc::new(plan), groups, aggregates)?;
        let mut open = Open::new(LogicalPlan::Aggregate(plan), self.pending(&closed.keys), outputs);
        if !closed.keys.is_empty() && over_nothing(&node.group_expr) > 0 {
            open.absent = Some(absent(node)?);
        }
        Ok(open)
    }

    /// Groups by columns only.
    fn group(&self, group: Expr, computed: &mut Vec<Expr>) -> Result<Expr> {
        let mut column = |expr: Expr| match bare(expr) {
            Expr::Column(column) => Expr::Column(column),
            expr => {
                let name = self.tools.fresh("group");
                computed.push(expr.alias(&name));
                Expr::Column(Column::new_unqualified(name))
            }
        };
        Ok(match group {
            Expr::GroupingSet(sets) => {
                // The same expression in several sets is one column.
                let mut known: Vec<(Expr, Expr)> = Vec::new();
                let mut column = |expr: Expr| match known.iter().find(|(from, _)| *from == expr) {
                    Some((_, to)) => to.clone(),
                    None => {
                        let to = column(expr.clone());
                        known.push((expr, to.clone()));
                        to
                    }
                };
                let mut list = |exprs: Vec<Expr>| exprs.into_iter().map(&mut column).collect();
                Expr::GroupingSet(match sets {
                    GroupingSet::Rollup(exprs) => GroupingSet::Rollup(list(exprs)),
                    GroupingSet::Cube(exprs) => GroupingSet::Cube(list(exprs)),
                    GroupingSet::GroupingSets(sets) => {
                        GroupingSet::GroupingSets(sets.into_iter().map(list).collect())
                    }
                })
            }
            expr => column(expr),
        })
    }
}

/// The columns that groups give.
fn names_of(groups: &[Expr]) -> Vec<Column> {
    let mut names: Vec<Column> = Vec::new();
    let mut add = |expr: &Expr| {
        if let Expr::Column(column) = expr
            && !names.contains(column)
        {
            names.push(column.clone());
        }
    };
    for group in groups {
        match group {
            Expr::GroupingSet(sets) => sets.distinct_expr().into_iter().for_each(&mut add),
            expr => add(expr),
        }
    }
    names
}

/// How many groups there are even over no rows.
fn over_nothing(groups: &[Expr]) -> usize {
    let sets = groups.iter().map(|group| match group {
        Expr::GroupingSet(GroupingSet::Rollup(_) | GroupingSet::Cube(_)) => 1,
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => {
            sets.iter().filter(|set| set.is_empty()).count()
        }
        _ => 0,
    });
    sets.product()
}

/// What an aggregate gives over no rows.
fn absent(node: &Aggregate) -> Result<Vec<Expr>> {
    let groups = node.schema.fields().len() - node.aggr_expr.len();
    let fields = node.schema.fields().iter().enumerate();
    fields
        .map(|(index, field)| {
            if index < groups {
                return Ok(lit(ScalarValue::try_from(field.data_type())?));
            }
            match bare(node.aggr_expr[index - groups].clone()) {
                Expr::AggregateFunction(call) if call.func.name() == "grouping" => {
                    let arguments = call.params.args.len().min(31);
                    Ok(lit((1_i32 << arguments) - 1))
                }
                Expr::AggregateFunction(call) => {
                    Ok(lit(call.func.default_value(field.data_type())?))
                }
                _ => Ok(lit(ScalarValue::try_from(field.data_type())?)),
            }
        })
        .collect()
}
