//! A subquery for all outer rows at once: the values of the outer columns in columns of its own.
//!
//! ```text
//! D           = distinct values of the outer columns
//! closed      = { (row, d) : d in D, row in subquery(d) }
//!             = filter pending (plan x D)                        in general
//!             = filter (the other pending) (plan), d := inner    where `d = inner` is pending
//! ```
//!
//! The second form needs no D, and may have rows of more `d` than there are outer rows: joining
//! back leaves them out. So it is taken where every outer column has such an equality.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, SortExpr,
};

use super::expression::{
    bind, bind_all, columns_of, compare, filter, is_unit, join, map_sorts, project, uses_only,
};
use super::open::{Open, Outer};

/// An outer column, and the column of a closed plan that has its values.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) outer: Column,
    pub(super) inner: Column,
    /// Whether NULLs meet: they do not where `=` was pending.
    pub(super) null_safe: bool,
}

/// A subquery for all outer rows at once.
#[derive(Debug)]
pub(super) struct Closed {
    pub(super) plan: LogicalPlan,
    /// The subquery's columns, over columns of the plan.
    pub(super) outputs: Vec<Expr>,
    pub(super) keys: Vec<Key>,
    pub(super) order: Vec<SortExpr>,
}

/// An outer column that is equal to an expression over the plan.
struct Equal {
    outer: Column,
    inner: Expr,
    null_safe: bool,
    /// The predicate that says so.
    index: usize,
}

impl Outer<'_> {
    /// The equalities that are pending once a subquery is closed.
    pub(super) fn pending(&self, keys: &[Key]) -> Vec<Expr> {
        let equality = |key: &Key| {
            let op = if key.null_safe { Operator::IsNotDistinctFrom } else { Operator::Eq };
            Some(compare(self.reference(&key.outer)?, op, Expr::Column(key.inner.clone())))
        };
        keys.iter().filter_map(equality).collect()
    }

    /// A closed plan whose keys are all null-safe: without the rows that `=` lets meet nobody.
    pub(super) fn null_safe(&self, mut closed: Closed) -> Result<Closed> {
        let mut present = Vec::new();
        for key in closed.keys.iter_mut().filter(|key| !key.null_safe) {
            present.push(Expr::Column(key.inner.clone()).is_not_null());
            key.null_safe = true;
        }
        closed.plan = filter(closed.plan, present)?;
        Ok(closed)
    }

    /// The outer columns that something in `open` waits for.
    pub(super) fn needed(&self, open: &Open) -> Vec<Column> {
        let sorts = open.order.iter().map(|sort| &sort.expr);
        self.columns_in(open.pending.iter().chain(&open.outputs).chain(sorts))
    }

    pub(super) fn columns_in<'e>(&self, exprs: impl Iterator<Item = &'e Expr>) -> Vec<Column> {
        let mut columns = Vec::new();
        for expr in exprs {
            let _ = expr.apply(|expr| {
                if let Expr::OuterReferenceColumn(_, column) = expr
                    && self.columns.contains(column)
                    && !columns.contains(column)
                {
                    columns.push(column.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            });
        }
        columns
    }

    /// Gives a subquery columns for the outer ones that it, or something in `also`, waits for.
    pub(super) fn close(&self, open: Open, also: &[Column]) -> Result<Closed> {
        let open = self.fill(open)?;
        let mut needed = self.needed(&open);
        for column in also {
            if !needed.contains(column) {
                needed.push(column.clone());
            }
        }
        if needed.is_empty() {
            let Open { plan, outputs, order, .. } = open;
            return Ok(Closed { plan, outputs, keys: Vec::new(), order });
        }
        match self.equals(&open, &needed, also) {
            Some(equals) => self.close_by_equality(open, equals),
            None => self.close_by_domain(open, &needed),
        }
    }

    /// For each outer column an equality, if all of them have one.
    fn equals(&self, open: &Open, needed: &[Column], also: &[Column]) -> Option<Vec<Equal>> {
        needed
            .iter()
            .map(|column| {
                let mut found =
                    open.pending.iter().enumerate().filter_map(|(index, predicate)| {
                        self.equality(predicate, column, index, open)
                    });
                found.find(|equal| {
                    !self.used_elsewhere(open, equal, also) || self.same_type(open, equal)
                })
            })
            .collect()
    }

    fn equality(
        &self,
        predicate: &Expr,
        outer: &Column,
        index: usize,
        open: &Open,
    ) -> Option<Equal> {
        let Expr::BinaryExpr(BinaryExpr { left, op, right }) = predicate else { return None };
        let null_safe = match op {
            Operator::Eq => false,
            Operator::IsNotDistinctFrom => true,
            _ => return None,
        };
        let is_outer =
            |expr: &Expr| matches!(expr, Expr::OuterReferenceColumn(_, column) if column == outer);
        let inner = match (is_outer(left), is_outer(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return None,
        };
        let plain = uses_only(inner, open.plan.schema()) && !inner.contains_outer();
        let inner = inner.as_ref().clone();
        (plain && !inner.is_volatile()).then(|| Equal {
            outer: outer.clone(),
            inner,
            null_safe,
            index,
        })
    }

    /// Is the outer column used elsewhere than in the equality?
    fn used_elsewhere(&self, open: &Open, equal: &Equal, also: &[Column]) -> bool {
        let others = open.pending.iter().enumerate().filter(|(index, _)| *index != equal.index);
        let sorts = open.order.iter().map(|sort| &sort.expr);
        let exprs = others.map(|(_, expr)| expr).chain(&open.outputs).chain(sorts);
        also.contains(&equal.outer) || self.columns_in(exprs).contains(&equal.outer)
    }

    /// What is equal may still differ: `1` and `1.0` are written differently.
    fn same_type(&self, open: &Open, equal: &Equal) -> bool {
        let inner = equal.inner.get_type(open.plan.schema());
        let outer = self
            .plan
            .schema()
            .maybe_index_of_column(&equal.outer)
            .map(|index| self.plan.schema().field(index).data_type());
        matches!((inner, outer), (Ok(inner), Some(outer)) if inner == *outer)
    }

    fn close_by_equality(&self, open: Open, equals: Vec<Equal>) -> Result<Closed> {
        let inner = |column: &Column| {
            equals.iter().find(|equal| equal.outer == *column).map(|equal| equal.inner.clone())
        };
        let mut predicates = Vec::new();
        for (index, predicate) in open.pending.into_iter().enumerate() {
            if !equals.iter().any(|equal| equal.index == index) {
                predicates.push(bind(predicate, &inner)?);
            }
        }
        let mut plan = filter(open.plan, predicates)?;
        let outputs = bind_all(open.outputs, &inner)?;
        let order = map_sorts(open.order, |expr| bind(expr, &inner))?;
        let mut computed = Vec::new();
        let mut keys = Vec::new();
        for Equal { outer, inner, null_safe, .. } in equals {
            let inner = match inner {
                Expr::Column(column) => column,
                expr => {
                    let name = self.tools.fresh(&outer.name);
                    computed.push(expr.alias(&name));
                    Column::new_unqualified(name)
                }
            };
            keys.push(Key { outer, inner, null_safe });
        }
        if !computed.is_empty() {
            let mut exprs = columns_of(plan.schema());
            exprs.extend(computed);
            plan = project(plan, exprs)?;
        }
        Ok(Closed { plan, outputs, keys, order })
    }

    fn close_by_domain(&self, open: Open, needed: &[Column]) -> Result<Closed> {
        let (domain, keys) = self.domain(needed)?;
        let own = |column: &Column| {
            let key = keys.iter().find(|key| key.outer == *column)?;
            Some(Expr::Column(key.inner.clone()))
        };
        let predicates = bind_all(open.pending, &own)?;
        let plan = match is_unit(&open.plan) {
            true => filter(domain, predicates)?,
            false => join(open.plan, domain, predicates, JoinType::Inner)?,
        };
        let outputs = bind_all(open.outputs, &own)?;
        let order = map_sorts(open.order, |expr| bind(expr, &own))?;
        Ok(Closed { plan, outputs, keys, order })
    }

    /// D, and its columns.
    pub(super) fn domain(&self, needed: &[Column]) -> Result<(LogicalPlan, Vec<Key>)> {
        let columns: Vec<Expr> = needed.iter().filter_map(|column| self.own(column)).collect();
        let source = source(self.plan, &columns);
        let mut exprs = Vec::new();
        let mut keys = Vec::new();
        for (outer, column) in needed.iter().zip(columns) {
            let name = self.tools.fresh(&outer.name);
            exprs.push(column.alias(&name));
            let inner = Column::new_unqualified(name);
            keys.push(Key { outer: outer.clone(), inner, null_safe: true });
        }
        let domain = project(source.clone(), exprs)?;
        Ok((LogicalPlanBuilder::from(domain).distinct()?.build()?, keys))
    }
}

/// The smallest part of the outer plan that has the columns: more values do no harm. Without it,
/// plans would double with every subquery that stands on another's result.
fn source<'p>(plan: &'p LogicalPlan, columns: &[Expr]) -> &'p LogicalPlan {
    let within = |plan: &LogicalPlan| columns.iter().all(|expr| uses_only(expr, plan.schema()));
    let below = match plan {
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::Inner if within(&join.left) => Some(&join.left),
            JoinType::Inner if within(&join.right) => Some(&join.right),
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti if within(&join.left) => {
                Some(&join.left)
            }
            JoinType::Right if within(&join.right) => Some(&join.right),
            _ => None,
        },
        LogicalPlan::Projection(projection) if within(&projection.input) => {
            let plain = |expr: &Expr| columns.contains(expr);
            let passed = projection.expr.iter().filter(|expr| plain(expr)).count();
            (passed == columns.len()).then_some(&projection.input)
        }
        _ => None,
    };
    below.map_or(plan, |below| source(below, columns))
}
