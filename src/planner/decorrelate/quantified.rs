//! `x op ANY (subquery)` as a value: true, false or unknown.
//!
//! ```text
//! x op ANY S  =  true      if some y of S has x op y
//!                unknown   otherwise, if S has rows and x is NULL, or S has a NULL
//!                false     otherwise
//! ```
//!
//! `=` looks for `x` among the distinct values of S; `<`, `>`, `<=`, `>=` and `<>` need only the
//! least and the greatest of them. Anything else (rows, other operators) is compared with every row
//! of S, for each distinct `x`.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Operator, lit, when};

use super::close::Closed;
use super::expression::{compare, null};
use super::open::{Open, Outer, outer_columns};
use super::value::{Site, compared};
use crate::error::SqlError;

impl Site<'_> {
    /// `value op ANY (subquery)`.
    pub(super) fn any(
        &mut self,
        value: Expr,
        op: Operator,
        subquery: &LogicalPlan,
    ) -> Result<Expr> {
        let outer = self.outer(subquery)?;
        let open = outer.fill(outer.open_row(subquery)?)?;
        let mut pairs = compared(value.clone(), open.outputs.clone())?;
        if let [_] = pairs.as_slice() {
            let (x, y) = pairs.remove(0);
            let closed = outer.close(Open { outputs: vec![y], ..open }, &[])?;
            return match op {
                Operator::Eq => self.equal_to_any(&outer, closed, x),
                Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq | Operator::NotEq => {
                    self.beyond_any(&outer, closed, x, op)
                }
                _ => self.compared_to_all(value, op, subquery),
            };
        }
        self.compared_to_all(value, op, subquery)
    }

    fn equal_to_any(&mut self, outer: &Outer<'_>, closed: Closed, x: Expr) -> Result<Expr> {
        let y = closed.outputs[0].clone();
        let rows = self.tools.count_rows()?;
        let values = self.tools.aggregate("count", vec![y], Vec::new())?;
        let numbers = Closed {
            plan: closed.plan.clone(),
            outputs: Vec::new(),
            keys: closed.keys.clone(),
            order: Vec::new(),
        };
        let numbers = outer.grouped(numbers, vec![rows, values])?;
        let distinct = outer.columns_only(closed)?;
        let y = distinct.outputs[0].clone();
        let plan = LogicalPlanBuilder::from(distinct.plan).distinct()?.build()?;
        let found = Open::new(plan, outer.pending(&distinct.keys), vec![lit(true)]);
        let found = self.attach(outer, found, vec![x.clone().eq(y)])?.remove(0);
        let numbers = self.attach(outer, numbers, Vec::new())?;
        when(found.is_not_null(), lit(true))
            .when(unknown(&x, &numbers[0], &numbers[1]), null())
            .otherwise(lit(false))
    }

    fn beyond_any(
        &mut self,
        outer: &Outer<'_>,
        closed: Closed,
        x: Expr,
        op: Operator,
    ) -> Result<Expr> {
        let y = closed.outputs[0].clone();
        let mut aggregates = vec![
            self.tools.count_rows()?,
            self.tools.aggregate("count", vec![y.clone()], Vec::new())?,
        ];
        if !matches!(op, Operator::Lt | Operator::LtEq) {
            aggregates.push(self.tools.aggregate("min", vec![y.clone()], Vec::new())?);
        }
        if !matches!(op, Operator::Gt | Operator::GtEq) {
            aggregates.push(self.tools.aggregate("max", vec![y], Vec::new())?);
        }
        let open = outer.grouped(closed, aggregates)?;
        let mut outputs = self.attach(outer, open, Vec::new())?;
        let bounds = outputs.split_off(2).into_iter();
        let found = bounds.map(|bound| compare(x.clone(), op, bound)).reduce(Expr::or);
        let found = found.ok_or_else(|| SqlError::internal("a comparison without a bound"))?;
        when(found, lit(true))
            .when(unknown(&x, &outputs[0], &outputs[1]), null())
            .otherwise(lit(false))
    }

    /// Every row of the subquery, compared with every distinct value.
    fn compared_to_all(
        &mut self,
        value: Expr,
        op: Operator,
        subquery: &LogicalPlan,
    ) -> Result<Expr> {
        let within = |plan: &LogicalPlan| {
            let columns = value.column_refs();
            columns.iter().all(|column| plan.schema().maybe_index_of_column(column).is_some())
        };
        // The value may be a subquery's itself.
        let base = if within(self.base) { self.base.clone() } else { self.plan.clone() };
        let mut columns = outer_columns(subquery, base.schema())?;
        for column in value.column_refs() {
            if !columns.contains(column) {
                columns.push(column.clone());
            }
        }
        // The order in which columns were found decides nothing but names.
        columns.sort();
        let outer = Outer { tools: self.tools, plan: &base, columns };
        let value = value.transform_up(|expr| {
            let reference = match &expr {
                Expr::Column(column) => outer.reference(column),
                _ => None,
            };
            Ok(reference.map_or_else(|| Transformed::no(expr), Transformed::yes))
        })?;
        let open = outer.fill(outer.open_row(subquery)?)?;
        let pairs = compared(value.data, open.outputs.clone())?;
        let comparison = compare_rows(pairs, op)?;
        let closed = outer.close(Open { outputs: vec![comparison], ..open }, &[])?;
        let comparison = closed.outputs[0].clone();
        let count = |condition: Expr| {
            let counted = when(condition, lit(1_i64)).otherwise(null())?;
            self.tools.aggregate("count", vec![counted], Vec::new())
        };
        let aggregates = vec![count(comparison.clone())?, count(comparison.is_null())?];
        let open = outer.grouped(closed, aggregates)?;
        let outputs = self.attach(&outer, open, Vec::new())?;
        let some = |count: &Expr| count.clone().gt(lit(0_i64));
        when(some(&outputs[0]), lit(true)).when(some(&outputs[1]), null()).otherwise(lit(false))
    }
}

impl Outer<'_> {
    /// As [`Outer::open`], with a row's columns for outputs if the subquery makes rows.
    pub(super) fn open_row(&self, subquery: &LogicalPlan) -> Result<Open> {
        if let LogicalPlan::Projection(projection) = subquery
            && let [expr] = projection.expr.as_slice()
        {
            let columns = super::rows::columns_of_row(expr.clone());
            if columns.len() > 1 {
                let open = self.open(&projection.input)?;
                return Self::project(open, &columns, projection.input.schema());
            }
        }
        self.open(subquery)
    }
}

/// With `rows` rows of which `values` are not NULL: is it unknown whether `x` is among them?
fn unknown(x: &Expr, rows: &Expr, values: &Expr) -> Expr {
    let nulls = values.clone().lt(rows.clone());
    rows.clone().gt(lit(0_i64)).and(x.clone().is_null().or(nulls))
}

/// `(a, b) op (x, y)`: equal in all columns, or ordered by the first that differs.
pub(super) fn compare_rows(pairs: Vec<(Expr, Expr)>, op: Operator) -> Result<Expr> {
    let equal = |(x, y): (Expr, Expr)| compare(x, Operator::Eq, y);
    let all = |pairs: Vec<(Expr, Expr)>| conjunction(pairs.into_iter().map(equal));
    let none = || SqlError::internal("a comparison of empty rows");
    let strict = match op {
        Operator::LtEq => Operator::Lt,
        Operator::GtEq => Operator::Gt,
        other => other,
    };
    match op {
        Operator::Eq => Ok(all(pairs).ok_or_else(none)?),
        Operator::NotEq => Ok(!all(pairs).ok_or_else(none)?),
        _ if pairs.len() == 1 => {
            let (x, y) = pairs.into_iter().next().ok_or_else(none)?;
            Ok(compare(x, op, y))
        }
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => {
            let mut pairs = pairs;
            let (x, y) = pairs.pop().ok_or_else(none)?;
            let mut result = compare(x, op, y);
            for (x, y) in pairs.into_iter().rev() {
                let differ = compare(x.clone(), Operator::NotEq, y.clone());
                // An unknown comparison of a column decides the row's.
                result = when(differ.clone(), compare(x, strict, y))
                    .when(differ.is_null(), null())
                    .otherwise(result)?;
            }
            Ok(result)
        }
        _ => Err(SqlError::unsupported(format!("a comparison of rows by {op}")).into()),
    }
}
