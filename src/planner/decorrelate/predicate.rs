//! Conjuncts of WHERE and HAVING that are subqueries: joins that only choose rows.
//!
//! ```text
//! EXISTS S(d)        L ⋉(pending) S
//! NOT EXISTS S(d)    L ▷(pending) S
//! x IN S(d)          L ⋉(pending, x = y) S
//! x NOT IN S(d)      L ▷(pending, x = y) S  ▷(d = d, x is null or nulls > 0) (S by d)
//! ```
//!
//! `x NOT IN S` is true if no row of S equals `x` and none is unknown to: it fails too where S has
//! a NULL, or has any row and `x` is NULL. The second join is left out where nothing can be NULL.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::logical_expr::expr::SetQuantifier;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, Operator, lit};

use super::expression::{filter, is_unit, join, nullable};
use super::open::{Open, Outer};
use super::quantified::compare_rows;
use super::rewrite::has_subqueries;
use super::tools::Tools;
use super::value::{compared, without_columns};

/// A conjunct that only chooses rows.
pub(super) enum Chooser {
    Exists { subquery: Arc<LogicalPlan>, negated: bool },
    In { value: Expr, subquery: Arc<LogicalPlan>, negated: bool },
}

impl Chooser {
    /// What a conjunct is; itself if it is something else.
    pub(super) fn of(conjunct: Expr) -> std::result::Result<Self, Expr> {
        let plain = |value: &Expr| !has_subqueries(value);
        match conjunct {
            Expr::Not(inner) => match Self::of(*inner) {
                Ok(Self::Exists { subquery, negated }) => {
                    Ok(Self::Exists { subquery, negated: !negated })
                }
                Ok(Self::In { value, subquery, negated }) => {
                    Ok(Self::In { value, subquery, negated: !negated })
                }
                Err(inner) => Err(Expr::Not(Box::new(inner))),
            },
            Expr::Exists(node) => {
                Ok(Self::Exists { subquery: node.subquery.subquery, negated: node.negated })
            }
            Expr::InSubquery(node) if plain(&node.expr) => Ok(Self::In {
                value: *node.expr,
                subquery: node.subquery.subquery,
                negated: node.negated,
            }),
            Expr::SetComparison(node)
                if plain(&node.expr)
                    && matches!(
                        (node.op, &node.quantifier),
                        (Operator::Eq, SetQuantifier::Any) | (Operator::NotEq, SetQuantifier::All)
                    ) =>
            {
                Ok(Self::In {
                    negated: node.op == Operator::NotEq,
                    value: *node.expr,
                    subquery: node.subquery.subquery,
                })
            }
            other => Err(other),
        }
    }

    /// The rows of `plan` that it chooses. They are rows of `base`.
    pub(super) fn choose(
        self,
        tools: &Tools<'_>,
        plan: LogicalPlan,
        base: &LogicalPlan,
    ) -> Result<LogicalPlan> {
        match self {
            Self::Exists { subquery, negated } => {
                let outer = Outer::new(tools, base, &subquery)?;
                outer.existing(plan, without_columns(&subquery), negated)
            }
            Self::In { value, subquery, negated } => {
                let outer = Outer::new(tools, base, &subquery)?;
                outer.contained(plan, value, &subquery, negated)
            }
        }
    }
}

fn join_type(negated: bool) -> JoinType {
    if negated { JoinType::LeftAnti } else { JoinType::LeftSemi }
}

impl Outer<'_> {
    fn existing(
        &self,
        plan: LogicalPlan,
        subquery: &LogicalPlan,
        negated: bool,
    ) -> Result<LogicalPlan> {
        let open = self.open(subquery)?;
        if open.absent.is_some() {
            // There is a row, whatever it says.
            return filter(plan, if negated { vec![lit(false)] } else { Vec::new() });
        }
        let open = self.apart(open, plan.schema())?;
        self.choosing(plan, open.plan, open.pending, negated)
    }

    /// The rows of `left` that have, or have not, one of `right` with which all conditions are
    /// true.
    fn choosing(
        &self,
        left: LogicalPlan,
        right: LogicalPlan,
        conditions: Vec<Expr>,
        negated: bool,
    ) -> Result<LogicalPlan> {
        let conditions = self.bound(conditions)?;
        if !is_unit(&right) {
            return join(left, right, conditions, join_type(negated));
        }
        match conjunction(conditions) {
            Some(condition) if negated => filter(left, vec![condition.is_not_true()]),
            Some(condition) => filter(left, vec![condition]),
            None if negated => filter(left, vec![lit(false)]),
            None => Ok(left),
        }
    }

    fn contained(
        &self,
        plan: LogicalPlan,
        value: Expr,
        subquery: &LogicalPlan,
        negated: bool,
    ) -> Result<LogicalPlan> {
        let open = self.fill(self.open_row(subquery)?)?;
        let open = self.apart(open, plan.schema())?;
        let pairs = compared(value, open.outputs.clone())?;
        let equal = pairs.iter().cloned().map(|(x, y)| x.eq(y));
        let conditions = open.pending.iter().cloned().chain(equal).collect();
        let chosen = self.choosing(plan, open.plan.clone(), conditions, negated)?;
        if !negated {
            return Ok(chosen);
        }
        let may =
            |(x, y): &(Expr, Expr)| nullable(x, chosen.schema()) || nullable(y, open.plan.schema());
        if !pairs.iter().any(may) {
            return Ok(chosen);
        }
        match <[_; 1]>::try_from(pairs) {
            Ok([(x, y)]) => self.without_unknown(chosen, open, x, y),
            Err(pairs) => {
                // Rows are compared one by one: there is no count to tell.
                let unknown = compare_rows(pairs, Operator::Eq)?.is_null();
                let mut conditions = open.pending;
                conditions.push(unknown);
                self.choosing(chosen, open.plan, conditions, true)
            }
        }
    }

    /// Leaves out the rows for which it is unknown whether `x` is among the `y`.
    fn without_unknown(
        &self,
        plan: LogicalPlan,
        open: Open,
        x: Expr,
        y: Expr,
    ) -> Result<LogicalPlan> {
        let x_nullable = nullable(&x, plan.schema());
        let closed = self.close(Open { outputs: vec![y], ..open }, &[])?;
        let y = closed.outputs[0].clone();
        let y_nullable = nullable(&y, closed.plan.schema());
        let counts =
            vec![self.tools.count_rows()?, self.tools.aggregate("count", vec![y], Vec::new())?];
        let all = closed.keys.is_empty();
        let mut open = self.grouped(closed, counts)?;
        let [rows, values] = [0, 1].map(|index| open.outputs[index].clone());
        let nulls = values.lt(rows.clone());
        if !x_nullable {
            open.plan = filter(open.plan, vec![nulls])?;
        } else {
            if all {
                open.plan = filter(open.plan, vec![rows.gt(lit(0_i64))])?;
            }
            let missing = x.is_null();
            open.pending.push(if y_nullable { missing.or(nulls) } else { missing });
        }
        // Names are those of the first join's right side, which it did not pass on.
        self.choosing(plan, open.plan, open.pending, true)
    }
}
