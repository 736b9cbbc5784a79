//! Subqueries as values, anywhere in an expression.
//!
//! ```text
//! f(outer row, subquery(d))  =  f(outer row, s)  over  outer ⟕ (s by d) ON d
//! ```
//!
//! The plan that the expression is over gets the subquery's value as a column, one row for each of
//! its own: a scalar subquery that may give several rows is aggregated to a value and a number of
//! rows, and complains where the value is used.

use std::mem;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::logical_expr::expr::SetQuantifier;
use datafusion::logical_expr::{
    Aggregate, Expr, ExprSchemable, JoinType, LogicalPlan, Operator, SortExpr, lit,
};

use super::close::Closed;
use super::expression::{bare, choose, join, map_sorts, subquery_of, substitute, substitute_all};
use super::open::{Open, Outer};
use super::rewrite::has_subqueries;
use super::rows::{ARRAY, columns_of_row};
use super::tools::Tools;
use crate::error::{SqlError, code};
use crate::expr::functions::{SINGLE_ROW, SINGLE_VALUE};

/// A plan that gets columns for the subqueries in the expressions over it.
pub(super) struct Site<'a> {
    pub(super) tools: &'a Tools<'a>,
    /// The plan as it was: what subqueries depend on.
    pub(super) base: &'a LogicalPlan,
    /// The plan with what was added. It has the same rows, and more columns.
    pub(super) plan: LogicalPlan,
    /// Subqueries that have a column already.
    known: Vec<(Expr, Expr)>,
}

impl<'a> Site<'a> {
    /// `plan` is `base`, or what is left of its rows.
    pub(super) fn new(tools: &'a Tools<'a>, base: &'a LogicalPlan, plan: LogicalPlan) -> Self {
        Self { tools, base, plan, known: Vec::new() }
    }

    pub(super) fn replace_all(&mut self, exprs: Vec<Expr>) -> Result<Vec<Expr>> {
        exprs.into_iter().map(|expr| self.replace(expr)).collect()
    }

    /// `expr` with columns in the place of its subqueries.
    pub(super) fn replace(&mut self, expr: Expr) -> Result<Expr> {
        if !has_subqueries(&expr) {
            return Ok(expr);
        }
        let replaced = expr.transform_down(|expr| {
            if let Some((_, value)) = self.known.iter().find(|(known, _)| *known == expr) {
                return Ok(Transformed::new(value.clone(), true, TreeNodeRecursion::Jump));
            }
            match self.value(&expr)? {
                Some(value) => {
                    if !volatile(&expr)? {
                        self.known.push((expr, value.clone()));
                    }
                    Ok(Transformed::new(value, true, TreeNodeRecursion::Jump))
                }
                None => Ok(Transformed::no(expr)),
            }
        })?;
        Ok(replaced.data)
    }

    fn value(&mut self, expr: &Expr) -> Result<Option<Expr>> {
        Ok(Some(match expr {
            Expr::ScalarFunction(call) if call.func.name() == ARRAY => match call.args.as_slice() {
                [Expr::ScalarSubquery(subquery)] => self.array(&subquery.subquery)?,
                _ => return Err(SqlError::internal("an array of no subquery").into()),
            },
            Expr::ScalarSubquery(subquery) => self.scalar(&subquery.subquery)?,
            Expr::Exists(exists) => {
                negated_if(exists.negated, self.exists(&exists.subquery.subquery)?)
            }
            Expr::InSubquery(node) => {
                let value = self.replace(node.expr.as_ref().clone())?;
                let subquery = &node.subquery.subquery;
                negated_if(node.negated, self.any(value, Operator::Eq, subquery)?)
            }
            Expr::SetComparison(node) => {
                let value = self.replace(node.expr.as_ref().clone())?;
                let subquery = &node.subquery.subquery;
                match node.quantifier {
                    SetQuantifier::Any => self.any(value, node.op, subquery)?,
                    // x < ALL S  =  NOT x >= ANY S, with three values too.
                    SetQuantifier::All => {
                        let op = node.op.negate().ok_or_else(|| {
                            SqlError::unsupported(format!("{} ALL (subquery)", node.op))
                        })?;
                        negated_if(true, self.any(value, op, subquery)?)
                    }
                }
            }
            _ => return Ok(None),
        }))
    }

    pub(super) fn outer(&self, subquery: &LogicalPlan) -> Result<Outer<'a>> {
        Outer::new(self.tools, self.base, subquery)
    }

    /// Joins a subquery that gives a row at the most to each row. Gives its columns.
    pub(super) fn attach(
        &mut self,
        outer: &Outer<'_>,
        open: Open,
        on: Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let plan = mem::take(&mut self.plan);
        if open.pending.is_empty() && on.is_empty() && exactly_one(&open.plan) {
            let open = outer.apart(open, plan.schema())?;
            self.plan = join(plan, open.plan, Vec::new(), JoinType::Inner)?;
            return outer.bound(open.outputs);
        }
        let (plan, outputs) = outer.left(plan, open, on, &|column| outer.own(column))?;
        self.plan = plan;
        Ok(outputs)
    }

    fn scalar(&mut self, subquery: &LogicalPlan) -> Result<Expr> {
        let outer = self.outer(subquery)?;
        let open = outer.open(subquery)?;
        let one = |outputs: Vec<Expr>| {
            let output = outputs.into_iter().next();
            output.ok_or_else(|| {
                SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column")
            })
        };
        if at_most_one(subquery) {
            return Ok(one(self.attach(&outer, open, Vec::new())?)?);
        }
        let closed = outer.close(open, &[])?;
        let value = one(closed.outputs.clone())?;
        let value = self.tools.aggregate(SINGLE_VALUE, vec![value], Vec::new())?;
        let rows = self.tools.count_rows()?;
        let open = outer.grouped(closed, vec![value, rows])?;
        let outputs = self.attach(&outer, open, Vec::new())?;
        self.tools.call(SINGLE_ROW, outputs)
    }

    fn exists(&mut self, subquery: &LogicalPlan) -> Result<Expr> {
        let outer = self.outer(subquery)?;
        let open = outer.open(without_columns(subquery))?;
        if open.absent.is_some() {
            return Ok(lit(true));
        }
        let closed = outer.close(open, &[])?;
        let correlated = !closed.keys.is_empty();
        let open = outer.grouped(closed, vec![self.tools.count_rows()?])?;
        let count = self.attach(&outer, open, Vec::new())?.remove(0);
        Ok(if correlated { count.is_not_null() } else { count.gt(lit(0_i64)) })
    }

    fn array(&mut self, subquery: &LogicalPlan) -> Result<Expr> {
        let outer = self.outer(subquery)?;
        let open = outer.open_ordered(subquery)?;
        let closed = outer.close(open, &[])?;
        let element = closed.outputs.first().cloned();
        let element = element.ok_or_else(|| {
            SqlError::new(code::SYNTAX_ERROR, "subquery must return only one column")
        })?;
        let array = self.tools.aggregate("array_agg", vec![element], closed.order.clone())?;
        let array_type = array.get_type(closed.plan.schema())?;
        let open = outer.grouped(closed, vec![array])?;
        let array = self.attach(&outer, open, Vec::new())?.remove(0);
        // Over no rows there is no array; the subquery's is empty.
        let empty = match &array_type {
            DataType::List(element) => {
                ScalarValue::List(ScalarValue::new_list(&[], element.data_type(), true))
            }
            _ => ScalarValue::try_from(&array_type)?,
        };
        choose(array.clone().is_null(), lit(empty), array)
    }
}

impl Outer<'_> {
    /// One row for each value of d: `aggregates` over the subquery's rows.
    pub(super) fn grouped(&self, closed: Closed, aggregates: Vec<Expr>) -> Result<Open> {
        let mut outputs = Vec::new();
        let mut named = Vec::new();
        for aggregate in aggregates {
            let name = self.tools.fresh("aggregate");
            outputs.push(Expr::Column(Column::new_unqualified(&name)));
            named.push(aggregate.alias(name));
        }
        let mut groups: Vec<Expr> = Vec::new();
        for key in &closed.keys {
            let key = Expr::Column(key.inner.clone());
            if !groups.contains(&key) {
                groups.push(key);
            }
        }
        let plan = Aggregate::try_new(Arc::new(closed.plan), groups, named)?;
        Ok(Open::new(LogicalPlan::Aggregate(plan), self.pending(&closed.keys), outputs))
    }

    /// As [`Outer::open`], but with the order of rows also where nothing depends on the outer row.
    fn open_ordered(&self, plan: &LogicalPlan) -> Result<Open> {
        if !self.columns.is_empty() {
            return self.open(plan);
        }
        Ok(match plan {
            LogicalPlan::Projection(projection) => {
                let open = self.open_ordered(&projection.input)?;
                let exprs = projection.expr.iter().map(|expr| bare(expr.clone())).collect();
                let outputs = substitute_all(exprs, projection.input.schema(), &open.outputs)?;
                Open { outputs, ..open }
            }
            LogicalPlan::Sort(sort) => {
                let open = self.open_ordered(&sort.input)?;
                let order = map_sorts(sort.expr.clone(), |expr| {
                    substitute(expr, sort.input.schema(), &open.outputs)
                })?;
                Open { order, ..open }
            }
            LogicalPlan::Limit(limit) => match limit.input.as_ref() {
                LogicalPlan::Sort(sort) => {
                    let order: Vec<SortExpr> = sort.expr.clone();
                    Open { order, ..Open::constant(plan.clone()) }
                }
                _ => Open::constant(plan.clone()),
            },
            _ => Open::constant(plan.clone()),
        })
    }
}

/// `expr`, or its negation. NULL stays NULL.
fn negated_if(negated: bool, expr: Expr) -> Expr {
    if negated { !expr } else { expr }
}

fn volatile(expr: &Expr) -> Result<bool> {
    let Some(subquery) = subquery_of(expr) else { return Ok(true) };
    let mut found = false;
    subquery.subquery.apply(|node| {
        node.apply_expressions(|expr| {
            found |= expr.is_volatile();
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

/// What decides whether a subquery has rows: without what only makes columns of them.
pub(super) fn without_columns(plan: &LogicalPlan) -> &LogicalPlan {
    use datafusion::logical_expr::Distinct;
    match plan {
        LogicalPlan::Projection(node) => without_columns(&node.input),
        LogicalPlan::SubqueryAlias(node) => without_columns(&node.input),
        LogicalPlan::Sort(node) => without_columns(&node.input),
        LogicalPlan::Subquery(node) => without_columns(&node.subquery),
        LogicalPlan::Distinct(Distinct::All(input)) => without_columns(input),
        LogicalPlan::Limit(limit)
            if matches!(super::limit::counts(limit), Some((0, None | Some(1..)))) =>
        {
            without_columns(&limit.input)
        }
        other => other,
    }
}

/// Does a plan give exactly one row, whatever its tables have?
fn exactly_one(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(node) => exactly_one(&node.input),
        LogicalPlan::SubqueryAlias(node) => exactly_one(&node.input),
        LogicalPlan::Sort(node) => exactly_one(&node.input),
        LogicalPlan::Aggregate(node) => node.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(node) => node.produce_one_row,
        LogicalPlan::Values(values) => values.values.len() == 1,
        _ => false,
    }
}

/// Does a subquery give a row at the most for each outer row?
pub(in crate::planner) fn at_most_one(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(node) => at_most_one(&node.input),
        LogicalPlan::SubqueryAlias(node) => at_most_one(&node.input),
        LogicalPlan::Sort(node) => at_most_one(&node.input),
        LogicalPlan::Subquery(node) => at_most_one(&node.subquery),
        LogicalPlan::Filter(node) => at_most_one(&node.input) || has_key(plan),
        LogicalPlan::Limit(limit) => {
            at_most_one(&limit.input)
                || matches!(super::limit::counts(limit), Some((_, Some(..=1))))
        }
        LogicalPlan::Join(node) if node.join_type == JoinType::Inner => {
            at_most_one(&node.left) && at_most_one(&node.right)
        }
        LogicalPlan::EmptyRelation(_) => true,
        other => exactly_one(other),
    }
}

/// Does a filter say what each column of a unique key is?
fn has_key(plan: &LogicalPlan) -> bool {
    use datafusion::common::Constraint;
    use datafusion::logical_expr::utils::split_conjunction;
    let LogicalPlan::Filter(filter) = plan else { return false };
    let mut input = filter.input.as_ref();
    while let LogicalPlan::SubqueryAlias(alias) = input {
        input = alias.input.as_ref();
    }
    let LogicalPlan::TableScan(scan) = input else { return false };
    if scan.projection.is_some() {
        return false;
    }
    let schema = filter.input.schema();
    let mut said = Vec::new();
    for conjunct in split_conjunction(&filter.predicate) {
        let Expr::BinaryExpr(node) = conjunct else { continue };
        if node.op != Operator::Eq {
            continue;
        }
        for (column, value) in [(&node.left, &node.right), (&node.right, &node.left)] {
            if let Expr::Column(column) = column.as_ref()
                && !value.any_column_refs()
                && let Some(index) = schema.maybe_index_of_column(column)
            {
                said.push(index);
            }
        }
    }
    let constraints = scan.source.constraints();
    constraints.into_iter().flat_map(|constraints| constraints.iter()).any(|constraint| {
        let (Constraint::PrimaryKey(key) | Constraint::Unique(key)) = constraint;
        !key.is_empty() && key.iter().all(|column| said.contains(column))
    })
}

/// What a subquery's rows are compared with, column by column.
pub(super) fn compared(value: Expr, outputs: Vec<Expr>) -> Result<Vec<(Expr, Expr)>> {
    let values = columns_of_row(value);
    let mut columns: Vec<Expr> = outputs;
    if let [_] = columns.as_slice() {
        columns = columns_of_row(columns.remove(0));
    }
    if values.len() != columns.len() {
        let message = match columns.len() > values.len() {
            true => "subquery has too many columns",
            false => "subquery has too few columns",
        };
        return Err(SqlError::new(code::SYNTAX_ERROR, message).into());
    }
    Ok(values.into_iter().zip(columns).collect())
}
