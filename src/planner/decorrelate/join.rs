//! Joins inside subqueries, and the join of a subquery with its outer rows.
//!
//! ```text
//! inner    σp(L) ⋈c σq(R)  =  σ(p, q) (L ⋈c R)
//! left     L(d) ⟕c R(d)    =  L' ⟕(c, q) R          L' closed: q's d are its columns
//! semi, anti               likewise
//! full     L(d) ⟗c R(d)    =  L' ⟗(c, d = d) R'      both closed
//! ```

use std::sync::Arc;

use datafusion::common::{Column, NullEquality, Result};
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, Operator, lit};

use super::close::{Closed, Key};
use super::expression::{
    bind_all, choose, collide, columns_of, compare, is_unit, join, not_distinct, null, nullable,
    project, substitute_all,
};
use super::open::{Open, Outer};
use crate::error::SqlError;

/// A join's conditions, its keys among them.
pub(super) fn conditions(join: &Join) -> Vec<Expr> {
    let op = match join.null_equality {
        NullEquality::NullEqualsNull => Operator::IsNotDistinctFrom,
        NullEquality::NullEqualsNothing => Operator::Eq,
    };
    let keys = join.on.iter().map(|(left, right)| compare(left.clone(), op, right.clone()));
    keys.chain(join.filter.clone().map(split_conjunction_owned).unwrap_or_default()).collect()
}

/// The same join with its sides changed: `Left` for `Right`.
pub(super) fn mirrored(join: &Join) -> Result<Join> {
    let join_type = match join.join_type {
        JoinType::Right => JoinType::Left,
        other => other,
    };
    Join::try_new(
        Arc::clone(&join.right),
        Arc::clone(&join.left),
        join.on.iter().map(|(left, right)| (right.clone(), left.clone())).collect(),
        join.filter.clone(),
        join_type,
        join.join_constraint,
        join.null_equality,
        false,
    )
}

impl Outer<'_> {
    pub(super) fn open_join(&self, join: &Join) -> Result<Open> {
        match join.join_type {
            JoinType::Inner => self.open_inner(join),
            JoinType::Left => self.open_left(join),
            JoinType::Right => {
                let left = join.left.schema().fields().len();
                let mut open = self.open_left(&mirrored(join)?)?;
                let right = open.outputs.len() - left;
                open.outputs.rotate_left(right);
                Ok(open)
            }
            JoinType::Full => self.open_full(join),
            JoinType::LeftSemi | JoinType::LeftAnti => self.open_existence(join),
            other => {
                let message = format!("a {other} join that depends on an outer query");
                Err(SqlError::unsupported(message).into())
            }
        }
    }

    /// Both sides open, with no column name in common.
    fn sides(&self, join: &Join) -> Result<[Open; 2]> {
        let left = self.fill(self.open(&join.left)?)?;
        let right = self.fill(self.open(&join.right)?)?;
        let right = self.apart(right, left.plan.schema())?;
        Ok([left, right])
    }

    fn open_inner(&self, node: &Join) -> Result<Open> {
        let [left, right] = self.sides(node)?;
        let outputs: Vec<Expr> = left.outputs.into_iter().chain(right.outputs).collect();
        let conditions = substitute_all(conditions(node), &node.schema, &outputs)?;
        let (waiting, constant): (Vec<_>, Vec<_>) =
            conditions.into_iter().partition(|condition| self.waits(condition));
        let pending = left.pending.into_iter().chain(right.pending).chain(waiting).collect();
        let plan = if is_unit(&left.plan) && constant.is_empty() {
            right.plan
        } else if is_unit(&right.plan) && constant.is_empty() {
            left.plan
        } else {
            join(left.plan, right.plan, constant, JoinType::Inner)?
        };
        Ok(Open::new(plan, pending, outputs))
    }

    fn open_left(&self, node: &Join) -> Result<Open> {
        let [left, right] = self.sides(node)?;
        let mut schema_outputs = left.outputs.clone();
        schema_outputs.extend(right.outputs.iter().cloned());
        let on = substitute_all(conditions(node), &node.schema, &schema_outputs)?;
        let waits = on.iter().any(|condition| self.waits(condition));
        if !waits && self.needed(&right).is_empty() {
            // Only the left side depends on the outer row: σp(L) ⟕ R = σp(L ⟕ R).
            let right = self.settle(right)?;
            let plan = join(left.plan, right.plan, on, JoinType::Left)?;
            let outputs = left.outputs.into_iter().chain(right.outputs).collect();
            return Ok(Open::new(plan, left.pending, outputs));
        }
        let mut also = self.columns_in(on.iter());
        also.extend(self.needed(&right));
        let on = conditions(node);
        let closed = self.close(left, &also)?;
        let right = self.apart(right, closed.plan.schema())?;
        let mut outputs = closed.outputs.clone();
        outputs.extend(right.outputs.iter().cloned());
        let on = substitute_all(on, &node.schema, &outputs)?;
        let own = keyed(&closed.keys);
        let (plan, right) = self.left(closed.plan, right, on, &own)?;
        let outputs = closed.outputs.into_iter().chain(right).collect();
        Ok(Open::new(plan, self.pending(&closed.keys), outputs))
    }

    /// Semi and anti joins.
    fn open_existence(&self, node: &Join) -> Result<Open> {
        let [left, right] = self.sides(node)?;
        let schema = node.left.schema().join(node.right.schema())?;
        let mut outputs = left.outputs.clone();
        outputs.extend(right.outputs.iter().cloned());
        let on = substitute_all(conditions(node), &schema, &outputs)?;
        let mut also = self.columns_in(on.iter());
        also.extend(self.needed(&right));
        if also.is_empty() && !on.iter().any(|condition| self.waits(condition)) {
            let plan = join(left.plan, right.plan, on, node.join_type)?;
            return Ok(Open::new(plan, left.pending, left.outputs));
        }
        let closed = self.close(left, &also)?;
        let right = self.apart(right, closed.plan.schema())?;
        let mut outputs = closed.outputs.clone();
        outputs.extend(right.outputs.iter().cloned());
        let own = keyed(&closed.keys);
        let mut on = substitute_all(conditions(node), &schema, &outputs)?;
        on.extend(right.pending);
        let on = bind_all(on, &own)?;
        let plan = join(closed.plan, right.plan, on, node.join_type)?;
        Ok(Open::new(plan, self.pending(&closed.keys), closed.outputs))
    }

    fn open_full(&self, node: &Join) -> Result<Open> {
        let [left, right] = self.sides(node)?;
        let mut outputs = left.outputs.clone();
        outputs.extend(right.outputs.iter().cloned());
        let on = substitute_all(conditions(node), &node.schema, &outputs)?;
        let mut also = self.columns_in(on.iter());
        for column in self.needed(&left).into_iter().chain(self.needed(&right)) {
            if !also.contains(&column) {
                also.push(column);
            }
        }
        let left = self.columns_only(self.null_safe(self.close(left, &also)?)?)?;
        let mut right = self.columns_only(self.null_safe(self.close(right, &also)?)?)?;
        if collide(left.plan.schema(), right.plan.schema()) {
            return Err(SqlError::internal("sides of a join with columns in common").into());
        }
        let mut outputs = left.outputs.clone();
        outputs.append(&mut right.outputs);
        let mut on = substitute_all(conditions(node), &node.schema, &outputs)?;
        on = bind_all(on, &keyed(&left.keys))?;
        let mut both = Vec::new();
        for column in &also {
            let find = |keys: &[Key]| {
                let key = keys.iter().find(|key| key.outer == *column);
                Expr::Column(key.expect("closing gives what is asked for").inner.clone())
            };
            let (left, right) = (find(&left.keys), find(&right.keys));
            on.push(not_distinct(left.clone(), right.clone()));
            both.push((column.clone(), left, right));
        }
        let mark = self.tools.fresh("left");
        let mut exprs = columns_of(left.plan.schema());
        exprs.push(lit(true).alias(&mark));
        let plan = join(project(left.plan, exprs)?, right.plan, on, JoinType::Full)?;
        let mut exprs = columns_of(plan.schema());
        let mut keys = Vec::new();
        let present = Expr::Column(Column::new_unqualified(mark)).is_not_null();
        for (outer, left, right) in both {
            let name = self.tools.fresh(&outer.name);
            exprs.push(choose(present.clone(), left, right)?.alias(&name));
            keys.push(Key { outer, inner: Column::new_unqualified(name), null_safe: true });
        }
        Ok(Open::new(project(plan, exprs)?, self.pending(&keys), outputs))
    }

    /// A closed plan whose outputs are columns of it, all of names that are its own.
    pub(super) fn columns_only(&self, closed: Closed) -> Result<Closed> {
        let mut exprs = Vec::new();
        let mut fresh = |name: &str, expr: Expr| {
            let name = self.tools.fresh(name);
            exprs.push(expr.alias(&name));
            Column::new_unqualified(name)
        };
        let outputs = closed.outputs.into_iter().map(|expr| Expr::Column(fresh("column", expr)));
        let outputs = outputs.collect();
        let keys = closed.keys.into_iter().map(|key| {
            let inner = fresh(&key.inner.name, Expr::Column(key.inner.clone()));
            Key { inner, ..key }
        });
        let keys = keys.collect();
        Ok(Closed { plan: project(closed.plan, exprs)?, outputs, keys, order: closed.order })
    }

    /// `left ⟕ open`, and what the subquery's columns are in it. `own` says what outer columns
    /// are in `left`; `on` are further conditions, over columns of both and of the outer row.
    pub(super) fn left(
        &self,
        left: LogicalPlan,
        mut open: Open,
        on: Vec<Expr>,
        own: &dyn Fn(&Column) -> Option<Expr>,
    ) -> Result<(LogicalPlan, Vec<Expr>)> {
        if open.absent.is_none() && open.pending.is_empty() && on.is_empty() && is_unit(&open.plan)
        {
            return Ok((left, bind_all(open.outputs, own)?));
        }
        open.pending.extend(on);
        let open = self.apart(self.settle(open)?, left.schema())?;
        let Open { mut plan, pending, outputs, absent, .. } = open;
        let mark = self.tools.fresh("found");
        let found = Expr::Column(Column::new_unqualified(&mark)).is_not_null();
        let mut marked = false;
        let mut values = Vec::new();
        for (index, output) in outputs.into_iter().enumerate() {
            let absent = absent.as_ref().map(|absent| absent[index].clone());
            let nothing = absent.as_ref().is_none_or(is_null);
            values.push(match (&output, absent) {
                (Expr::Column(_), _) if nothing => output,
                // A count is never NULL where there are rows.
                (Expr::Column(_), Some(absent))
                    if matches!(absent, Expr::Literal(..)) && !nullable(&output, plan.schema()) =>
                {
                    coalesce(vec![output, absent])
                }
                (_, absent) => {
                    marked = true;
                    choose(found.clone(), output, absent.unwrap_or_else(null))?
                }
            });
        }
        if marked {
            let mut exprs = columns_of(plan.schema());
            exprs.push(lit(true).alias(mark));
            plan = project(plan, exprs)?;
        }
        let plan = join(left, plan, bind_all(pending, own)?, JoinType::Left)?;
        Ok((plan, bind_all(values, own)?))
    }

    /// Gives a subquery that is a row even over nothing this row, for each value of d.
    pub(super) fn fill(&self, open: Open) -> Result<Open> {
        let Some(absent) = &open.absent else { return Ok(open) };
        let mut needed = self.needed(&open);
        for column in self.columns_in(absent.iter()) {
            if !needed.contains(&column) {
                needed.push(column);
            }
        }
        let (domain, keys) = self.domain(&needed)?;
        let own = keyed(&keys);
        let (plan, outputs) = self.left(domain, open, Vec::new(), &own)?;
        Ok(Open::new(plan, self.pending(&keys), outputs))
    }
}

/// What outer columns are where `keys` have their values.
pub(super) fn keyed(keys: &[Key]) -> impl Fn(&Column) -> Option<Expr> + '_ {
    |column| {
        let key = keys.iter().find(|key| key.outer == *column)?;
        Some(Expr::Column(key.inner.clone()))
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value, _) if value.is_null())
}
