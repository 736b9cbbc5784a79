//! A subquery with its correlation pulled up: what it is without the outer row, and what of it
//! waits for one.
//!
//! ```text
//! subquery(d) = project outputs(d) (filter pending(d) (plan))
//! ```
//!
//! `plan` does not depend on the outer row `d`; predicates and outputs may. A projection only
//! changes the outputs, a filter adds to what is pending, an inner join unites both sides'. An
//! operator for which the rows of different `d` have to be apart (an aggregate, a window, a limit)
//! first *closes* its input ([`super::close`]): `plan` then has `d` in columns, is worked on for
//! all `d` at once, and `d IS NOT DISTINCT FROM` these columns is what is pending.

use std::sync::Arc;

use datafusion::arrow::datatypes::FieldRef;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    Distinct, Expr, LogicalPlan, LogicalPlanBuilder, SortExpr, Union, Unnest, lit,
};

use itertools::Itertools;

use super::expression::{
    bare, bind, bind_all, choose, collide, columns_of, filter, map_sorts, named, null, project,
    substitute, substitute_all, visit_outer_columns,
};
use super::tools::Tools;
use super::value::at_most_one;
use crate::error::SqlError;

/// What subqueries are unnested against: the plan whose rows they depend on.
pub(super) struct Outer<'a> {
    pub(super) tools: &'a Tools<'a>,
    /// Where the values of outer columns are taken from.
    pub(super) plan: &'a LogicalPlan,
    /// The outer columns, as the subquery names them.
    pub(super) columns: Vec<Column>,
}

/// A subquery, pulled up: see the module.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) plan: LogicalPlan,
    /// Predicates over columns of the plan and of the outer row.
    pub(super) pending: Vec<Expr>,
    /// What the subquery's columns are, over columns of the plan and of the outer row.
    pub(super) outputs: Vec<Expr>,
    /// The only row's outputs where nothing is left by what is pending: a global aggregate gives a
    /// row even over no rows. Over columns of the outer row alone.
    pub(super) absent: Option<Vec<Expr>>,
    /// The order of the rows, if it was asked for.
    pub(super) order: Vec<SortExpr>,
}

impl Open {
    /// What does not depend on the outer row.
    pub(super) fn constant(plan: LogicalPlan) -> Self {
        let outputs = columns_of(plan.schema());
        Self { plan, pending: Vec::new(), outputs, absent: None, order: Vec::new() }
    }

    pub(super) fn new(plan: LogicalPlan, pending: Vec<Expr>, outputs: Vec<Expr>) -> Self {
        Self { plan, pending, outputs, absent: None, order: Vec::new() }
    }
}

/// The columns of `schema` on which a subquery depends, as it names them.
pub(super) fn outer_columns(subquery: &LogicalPlan, schema: &DFSchema) -> Result<Vec<Column>> {
    let mut columns = Vec::new();
    visit_outer_columns(subquery, &mut |column| {
        if schema.maybe_index_of_column(column).is_some() && !columns.contains(column) {
            columns.push(column.clone());
        }
    })?;
    Ok(columns)
}

impl<'a> Outer<'a> {
    pub(super) fn new(
        tools: &'a Tools<'a>,
        plan: &'a LogicalPlan,
        subquery: &LogicalPlan,
    ) -> Result<Self> {
        Ok(Self { tools, plan, columns: outer_columns(subquery, plan.schema())? })
    }

    fn field(&self, column: &Column) -> Option<(Column, &FieldRef)> {
        let schema = self.plan.schema();
        let index = schema.maybe_index_of_column(column)?;
        let (relation, field) = schema.qualified_field(index);
        Some((Column::new(relation.cloned(), field.name()), field))
    }

    /// An outer column where the outer row is at hand.
    pub(super) fn own(&self, column: &Column) -> Option<Expr> {
        if !self.columns.contains(column) {
            return None;
        }
        Some(Expr::Column(self.field(column)?.0))
    }

    /// An outer column where the outer row is not at hand.
    pub(super) fn reference(&self, column: &Column) -> Option<Expr> {
        let (_, field) = self.field(column)?;
        Some(Expr::OuterReferenceColumn(FieldRef::clone(field), column.clone()))
    }

    /// Does an expression wait for the outer row?
    pub(super) fn waits(&self, expr: &Expr) -> bool {
        expr.exists(|expr| {
            Ok(matches!(expr, Expr::OuterReferenceColumn(_, column)
                if self.columns.contains(column)))
        })
        .unwrap_or(true)
    }

    fn correlated(&self, plan: &LogicalPlan) -> Result<bool> {
        let mut found = false;
        visit_outer_columns(plan, &mut |column| found |= self.columns.contains(column))?;
        Ok(found)
    }

    /// Pulls the correlation of `plan` up.
    pub(super) fn open(&self, plan: &LogicalPlan) -> Result<Open> {
        if !self.correlated(plan)? {
            return Ok(Open::constant(plan.clone()));
        }
        match plan {
            LogicalPlan::Projection(projection) => {
                let open = self.open(&projection.input)?;
                Self::project(open, &projection.expr, projection.input.schema())
            }
            LogicalPlan::Filter(node) => {
                let open = self.open(&node.input)?;
                let mut open = self.fill(open)?;
                let mut constant = Vec::new();
                for conjunct in split_conjunction_owned(node.predicate.clone()) {
                    let conjunct = substitute(conjunct, node.input.schema(), &open.outputs)?;
                    if self.waits(&conjunct) {
                        open.pending.push(conjunct);
                    } else {
                        constant.push(conjunct);
                    }
                }
                open.plan = filter(open.plan, constant)?;
                Ok(open)
            }
            // Columns are known by their place: names do not matter until the end.
            LogicalPlan::SubqueryAlias(alias) => self.open(&alias.input),
            LogicalPlan::Subquery(subquery) => self.open(&subquery.subquery),
            LogicalPlan::Join(join) => self.open_join(join),
            LogicalPlan::Aggregate(aggregate) => self.open_aggregate(aggregate),
            LogicalPlan::Window(window) => self.open_window(window),
            LogicalPlan::Distinct(Distinct::All(input)) => self.open_distinct(input),
            LogicalPlan::Distinct(Distinct::On(distinct)) => self.open_distinct_on(distinct),
            LogicalPlan::Sort(sort) if at_most_one(&sort.input) => self.open(&sort.input),
            LogicalPlan::Sort(sort) => {
                // The row over nothing has its place among the others.
                let mut open = self.fill(self.open(&sort.input)?)?;
                open.order = map_sorts(sort.expr.clone(), |expr| {
                    substitute(expr, sort.input.schema(), &open.outputs)
                })?;
                Ok(open)
            }
            LogicalPlan::Limit(limit) => self.open_limit(limit),
            LogicalPlan::Union(union) => self.open_union(union),
            LogicalPlan::Values(values) => Self::open_values(&values.values),
            LogicalPlan::Unnest(unnest) => self.open_unnest(unnest),
            LogicalPlan::RecursiveQuery(query) => self.open_recursive(query),
            other => {
                let message = format!("{} that depends on an outer query", other.display());
                Err(SqlError::unsupported(message).into())
            }
        }
    }

    pub(super) fn project(open: Open, exprs: &[Expr], input: &DFSchema) -> Result<Open> {
        let exprs: Vec<Expr> = exprs.iter().map(|expr| bare(expr.clone())).collect();
        let outputs = substitute_all(exprs.clone(), input, &open.outputs)?;
        let absent = open.absent.map(|absent| substitute_all(exprs, input, &absent)).transpose()?;
        Ok(Open { outputs, absent, ..open })
    }

    /// Each row of a VALUES list is a row number and a case.
    pub(super) fn open_values(rows: &[Vec<Expr>]) -> Result<Open> {
        if let [row] = rows {
            let unit = LogicalPlanBuilder::empty(true).build()?;
            return Ok(Open::new(unit, Vec::new(), row.clone()));
        }
        let numbers = (0..rows.len()).map(|row| vec![lit(row as i64)]).collect();
        let plan = LogicalPlanBuilder::values(numbers)?.build()?;
        let number = Expr::Column(plan.schema().columns().remove(0));
        let width = rows.first().map_or(0, Vec::len);
        let outputs = (0..width).map(|column| {
            let mut value = null();
            for (index, row) in rows.iter().enumerate().rev() {
                let this = number.clone().eq(lit(index as i64));
                value = choose(this, row[column].clone(), value)?;
            }
            Ok(value)
        });
        let outputs = outputs.collect::<Result<_>>()?;
        Ok(Open::new(plan, Vec::new(), outputs))
    }

    /// δ(R(d)) for all d at once is δ over R's columns and those of d.
    fn open_distinct(&self, input: &LogicalPlan) -> Result<Open> {
        let closed = self.close(self.open(input)?, &[])?;
        let keys = closed.keys;
        let mut exprs: Vec<Expr> = Vec::new();
        let mut outputs = Vec::new();
        for (index, output) in closed.outputs.into_iter().enumerate() {
            let name = self.tools.fresh(input.schema().field(index).name());
            outputs.push(Expr::Column(Column::new_unqualified(&name)));
            exprs.push(output.alias(name));
        }
        // One column may be equal to several outer ones.
        exprs.extend(keys.iter().map(|key| Expr::Column(key.inner.clone())).unique());
        let plan = LogicalPlanBuilder::from(project(closed.plan, exprs)?).distinct()?.build()?;
        Ok(Open::new(plan, self.pending(&keys), outputs))
    }

    /// Each input has its own columns for d: the same number in the same order.
    fn open_union(&self, union: &Union) -> Result<Open> {
        let mut opens = Vec::new();
        let mut needed = Vec::new();
        for input in &union.inputs {
            let open = self.fill(self.open(input)?)?;
            for column in self.needed(&open) {
                if !needed.contains(&column) {
                    needed.push(column);
                }
            }
            opens.push(open);
        }
        let names: Vec<String> =
            union.schema.fields().iter().map(|field| self.tools.fresh(field.name())).collect();
        let keys: Vec<String> = needed.iter().map(|key| self.tools.fresh(&key.name)).collect();
        let mut inputs = Vec::new();
        for open in opens {
            let closed = self.null_safe(self.close(open, &needed)?)?;
            let own = needed.iter().map(|column| {
                let key = closed.keys.iter().find(|key| key.outer == *column);
                Expr::Column(key.expect("closing gives what is asked for").inner.clone())
            });
            let exprs = closed.outputs.iter().cloned().chain(own);
            let exprs = exprs.zip(names.iter().chain(&keys)).map(|(expr, name)| expr.alias(name));
            let exprs = exprs.collect();
            inputs.push(project(closed.plan, exprs)?.into());
        }
        let plan = LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?);
        let column = |name: &String| Column::new_unqualified(name);
        let keys: Vec<_> = needed
            .into_iter()
            .zip(&keys)
            .map(|(outer, name)| super::close::Key { outer, inner: column(name), null_safe: true })
            .collect();
        let outputs = names.iter().map(|name| Expr::Column(column(name))).collect();
        Ok(Open::new(plan, self.pending(&keys), outputs))
    }

    /// Unnesting keeps the other columns of its input, d among them.
    fn open_unnest(&self, unnest: &Unnest) -> Result<Open> {
        let open = self.fill(self.open(&unnest.input)?)?;
        let closed = self.close(open, &[])?;
        let schema = unnest.input.schema();
        let outputs = closed.outputs.into_iter().enumerate();
        let mut exprs: Vec<_> = outputs.map(|(index, expr)| named(expr, schema, index)).collect();
        let mut keys = closed.keys;
        for key in &mut keys {
            let name = self.tools.fresh(&key.inner.name);
            exprs.push(Expr::Column(key.inner.clone()).alias(&name));
            key.inner = Column::new_unqualified(name);
        }
        let plan = LogicalPlan::Unnest(Unnest::try_new(
            project(closed.plan, exprs)?.into(),
            unnest.exec_columns.clone(),
            unnest.options.clone(),
        )?);
        Ok(Open::new(plan, self.pending(&keys), columns_of(&unnest.schema)))
    }

    /// The same with other names, where a join with `schema` would have a name twice.
    pub(super) fn apart(&self, open: Open, schema: &DFSchema) -> Result<Open> {
        if !collide(schema, open.plan.schema()) {
            return Ok(open);
        }
        let old = Arc::clone(open.plan.schema());
        let names: Vec<_> = old.fields().iter().map(|f| self.tools.fresh(f.name())).collect();
        let exprs = columns_of(&old).into_iter().zip(&names).map(|(expr, name)| expr.alias(name));
        let exprs = exprs.collect();
        let new: Vec<_> =
            names.iter().map(|name| Expr::Column(Column::new_unqualified(name))).collect();
        Ok(Open {
            plan: project(open.plan, exprs)?,
            pending: substitute_all(open.pending, &old, &new)?,
            outputs: substitute_all(open.outputs, &old, &new)?,
            absent: open.absent,
            order: map_sorts(open.order, |expr| substitute(expr, &old, &new))?,
        })
    }

    /// Computes the outputs that do not wait for the outer row: each is a column then.
    pub(super) fn settle(&self, open: Open) -> Result<Open> {
        let computed = |expr: &Expr| !matches!(expr, Expr::Column(_)) && !self.waits(expr);
        if !open.outputs.iter().any(computed) {
            return Ok(open);
        }
        let mut exprs = columns_of(open.plan.schema());
        let mut outputs = Vec::new();
        for output in open.outputs {
            if computed(&output) {
                let name = self.tools.fresh("column");
                outputs.push(Expr::Column(Column::new_unqualified(&name)));
                exprs.push(output.alias(name));
            } else {
                outputs.push(output);
            }
        }
        Ok(Open { plan: project(open.plan, exprs)?, outputs, ..open })
    }

    /// `exprs` where the outer row is at hand.
    pub(super) fn bound(&self, exprs: Vec<Expr>) -> Result<Vec<Expr>> {
        bind_all(exprs, &|column| self.own(column))
    }

    pub(super) fn bound_one(&self, expr: Expr) -> Result<Expr> {
        bind(expr, &|column| self.own(column))
    }
}
