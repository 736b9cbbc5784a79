//! Joins. A join on keys alone is one operator of its kind. Where more than the keys decides
//! whether rows match, the rows without a match are those that are in no pair:
//!
//! ```text
//!  P = L ⋈ R on the keys and the condition        L ⋉ R = L ⋉ P        L ▷ R = L ▷ P
//!  L ⟕ R = P + padded (L ▷ P)                     on what tells rows of L apart
//! ```
//!
//! A condition that calls a volatile function is evaluated when a pair comes, and what it gave is
//! kept until the pair goes: rows without a match are then those of no pair that was kept. Rows
//! that cannot be told apart share one answer.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{NullEquality, ScalarValue};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{
    Expr, Join as LogicalJoin, JoinType, LogicalPlan, Operator, binary_expr,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;

use super::lower::Lowering;
use super::recompute;
use super::scalar::{flowing_schema, moved, physical};
use super::tree::{Tree, TreeKind, column_expr, column_of, nullable, sorted};
use crate::error::{SqlError, SqlResult};
use crate::graph::{Join, JoinKind, Recompute};

/// A join of any type. Its rows have the logical join's columns.
pub(super) fn lower(lowering: &mut Lowering<'_>, plan: &LogicalJoin) -> SqlResult<Tree> {
    let left = lowering.lower(&plan.left)?;
    let right = lowering.lower(&plan.right)?;
    let sides = Sides::new(lowering, plan, left, right)?;
    let schema = flowing_schema(&plan.schema);
    let tree = match plan.join_type {
        JoinType::Inner => sides.join(JoinKind::Inner)?,
        JoinType::Left => sides.outer([true, false])?,
        JoinType::Right => sides.outer([false, true])?,
        JoinType::Full => sides.outer([true, true])?,
        JoinType::LeftSemi => sides.partial(JoinKind::LeftSemi)?,
        JoinType::LeftAnti => sides.partial(JoinKind::LeftAnti)?,
        JoinType::RightSemi => sides.swapped().partial(JoinKind::LeftSemi)?,
        JoinType::RightAnti => sides.swapped().partial(JoinKind::LeftAnti)?,
        JoinType::LeftMark => sides.marked(&schema)?,
        JoinType::RightMark => sides.swapped().marked(&schema)?,
    };
    Ok(tree.conform(&schema))
}

/// Two inputs, and what makes their rows match.
#[derive(Clone)]
struct Sides {
    left: Side,
    right: Side,
    null_equal: bool,
    /// Over the visible columns of both sides, left's first.
    filter: Option<Arc<dyn PhysicalExpr>>,
    /// What of the condition is volatile, over the same columns.
    kept: Option<Kept>,
}

/// A condition that is evaluated once for each pair.
#[derive(Clone)]
struct Kept {
    recompute: Recompute,
    /// The columns that it is over, of the visible columns of both sides as they are now.
    columns: Vec<usize>,
}

impl Kept {
    /// Those of `pairs` that it chooses, or has chosen.
    fn choose(self, pairs: Tree) -> Tree {
        let given = pairs.select(&self.columns);
        let schema = nullable(&given.schema);
        let chosen = Tree {
            key: given.key.clone(),
            append_only: false,
            schema: Arc::clone(&schema),
            kind: TreeKind::Recompute(self.recompute, vec![given]),
        };
        let back: Vec<usize> = (0..self.columns.len())
            .filter_map(|column| self.columns.iter().position(|from| *from == column))
            .collect();
        chosen.select(&back)
    }
}

impl Sides {
    fn new(
        lowering: &Lowering<'_>,
        plan: &LogicalJoin,
        left: Tree,
        right: Tree,
    ) -> SqlResult<Self> {
        let null_equal = plan.null_equality == NullEquality::NullEqualsNull;
        let is_volatile = |(left, right): &&(Expr, Expr)| left.is_volatile() || right.is_volatile();
        let on: Vec<_> = plan.on.iter().filter(|pair| !is_volatile(pair)).cloned().collect();
        let (left_on, right_on): (Vec<_>, Vec<_>) = on.into_iter().unzip();
        let left = Side::new(lowering, left, &plan.left, &left_on)?;
        let right = Side::new(lowering, right, &plan.right, &right_on)?;
        for (&left_key, &right_key) in left.key.iter().zip(&right.key) {
            let left_type = left.tree.schema.field(left_key).data_type();
            let right_type = right.tree.schema.field(right_key).data_type();
            if left_type != right_type {
                let what = format!("a join of {left_type} with {right_type}");
                return Err(SqlError::internal(format!("{what} was not coerced")));
            }
        }
        let both = plan.left.schema().join(plan.right.schema())?;
        let (volatile, plain): (Vec<Expr>, Vec<Expr>) =
            plan.filter.iter().flat_map(split_conjunction).cloned().partition(Expr::is_volatile);
        let filter = match conjunction(plain) {
            Some(filter) => Some(physical(lowering.state, &filter, &both)?),
            None => None,
        };
        let equal = |(left, right): &(Expr, Expr)| {
            let op = if null_equal { Operator::IsNotDistinctFrom } else { Operator::Eq };
            binary_expr(left.clone(), op, right.clone())
        };
        let keys = plan.on.iter().filter(is_volatile).map(equal);
        let kept = match conjunction(keys.chain(volatile)) {
            Some(condition) => Some(Kept {
                columns: (0..both.fields().len()).collect(),
                recompute: recompute::once_a_row(lowering, &Arc::new(both), condition)?,
            }),
            None => None,
        };
        Ok(Self { left, right, null_equal, filter, kept })
    }

    /// Whether the keys alone decide what matches.
    fn by_keys(&self) -> bool {
        self.filter.is_none() && self.kept.is_none()
    }

    /// The join of the sides the other way round.
    fn swapped(self) -> Self {
        let (left, right) = (self.left.visible, self.right.visible);
        let place = |column: usize| if column < left { column + right } else { column - left };
        let shown = joined_schema(&self.right.shown(), &self.left.shown());
        let filter = self.filter.map(|filter| moved(filter, &shown, place));
        let kept = self
            .kept
            .map(|kept| Kept { columns: kept.columns.into_iter().map(place).collect(), ..kept });
        Self { left: self.right, right: self.left, null_equal: self.null_equal, filter, kept }
    }

    /// One operator. A condition goes with inner joins only.
    fn join(self, kind: JoinKind) -> SqlResult<Tree> {
        debug_assert!(self.by_keys() || kind == JoinKind::Inner, "matches are decided by keys");
        let Self { left, right, null_equal, filter, kept } = self;
        let left_width = left.tree.schema.fields().len();
        // In the joined row, the left side's computed keys lie between the sides' columns.
        let place = |column: usize| {
            if column < left.visible { column } else { column - left.visible + left_width }
        };
        let both = joined_schema(&left.tree.schema, &right.tree.schema);
        let filter = filter.map(|filter| moved(filter, &both, place));
        let (schema, shown): (_, Vec<usize>) = match kind.gives_pairs() {
            true => (both, (0..left.visible + right.visible).map(place).collect()),
            false => (nullable(&left.tree.schema), (0..left.visible).collect()),
        };
        let append_only = left.tree.append_only && right.tree.append_only;
        let joined = Tree {
            schema,
            key: key_of(kind, &left, &right, left_width),
            append_only: append_only && matches!(kind, JoinKind::Inner | JoinKind::LeftSemi),
            kind: TreeKind::Join(
                Join { kind, left_key: left.key, right_key: right.key, null_equal, filter },
                Box::new([left.tree, right.tree]),
            ),
        };
        let pairs = joined.select(&shown);
        Ok(match kept {
            Some(kept) => kept.choose(pairs),
            None => pairs,
        })
    }

    /// Pairs, and the rows without a match of the sides of which all are `kept`.
    fn outer(mut self, kept: [bool; 2]) -> SqlResult<Tree> {
        if self.by_keys() {
            return self.join(match kept {
                [true, true] => JoinKind::Full,
                [false, true] => JoinKind::Right,
                _ => JoinKind::Left,
            });
        }
        for (side, kept) in [&mut self.left, &mut self.right].into_iter().zip(kept) {
            if kept {
                side.share();
            }
        }
        let pairs = self.clone().join(JoinKind::Inner)?.shared();
        let schema = nullable(&pairs.schema);
        let (left, right) = (&self.left, &self.right);
        let mut parts = vec![pairs.clone()];
        for (side, kept, before) in [(left, kept[0], 0), (right, kept[1], left.visible)] {
            if kept {
                let alone = side.without_match(&pairs, before)?;
                parts.push(padded(alone, before, &schema)?);
            }
        }
        Ok(Tree {
            key: Vec::new(),
            append_only: false,
            kind: TreeKind::Union(parts.into_iter().map(|part| part.conform(&schema)).collect()),
            schema,
        })
    }

    /// The left rows with or without a match.
    fn partial(mut self, kind: JoinKind) -> SqlResult<Tree> {
        if self.by_keys() {
            return self.join(kind);
        }
        self.left.share();
        let left = self.left.clone();
        let pairs = self.join(JoinKind::Inner)?;
        left.among(kind, pairs, 0)
    }

    /// The left rows, and whether they have a match.
    fn marked(mut self, schema: &SchemaRef) -> SqlResult<Tree> {
        self.left.share();
        self.right.share();
        // Both parts look at the same pairs.
        let pairs = match self.by_keys() {
            true => None,
            false => Some(self.clone().join(JoinKind::Inner)?.shared()),
        };
        let part = |kind, mark: bool| -> SqlResult<Tree> {
            let rows = match &pairs {
                Some(pairs) => self.left.among(kind, pairs.clone(), 0)?,
                None => self.clone().join(kind)?,
            };
            let columns = (0..rows.schema.fields().len()).map(|c| column_expr(&rows.schema, c));
            let mark: Arc<dyn PhysicalExpr> = Arc::new(Literal::new(ScalarValue::from(mark)));
            let expressions = columns.chain([mark]).collect();
            Ok(rows.project(expressions, Arc::clone(schema)))
        };
        let parts = vec![part(JoinKind::LeftSemi, true)?, part(JoinKind::LeftAnti, false)?];
        Ok(Tree {
            schema: Arc::clone(schema),
            key: self.left.visible_key(),
            append_only: false,
            kind: TreeKind::Union(parts),
        })
    }
}

/// Rows of one side, with the other side's columns NULL. They begin at column `before`.
fn padded(rows: Tree, before: usize, schema: &SchemaRef) -> SqlResult<Tree> {
    let width = rows.schema.fields().len();
    let expressions = schema.fields().iter().enumerate().map(|(index, field)| {
        Ok(match index.checked_sub(before).filter(|own| *own < width) {
            Some(own) => column_expr(&rows.schema, own),
            None => Arc::new(Literal::new(ScalarValue::try_from(field.data_type())?)) as _,
        })
    });
    let expressions = expressions.collect::<SqlResult<Vec<Arc<dyn PhysicalExpr>>>>()?;
    Ok(rows.project(expressions, Arc::clone(schema)))
}

fn joined_schema(left: &SchemaRef, right: &SchemaRef) -> SchemaRef {
    let fields = left.fields().iter().chain(right.fields());
    nullable(&Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>())))
}

/// A side of a join, with its key computed.
#[derive(Clone)]
struct Side {
    tree: Tree,
    /// Columns of the key.
    key: Vec<usize>,
    /// Columns of the logical side; others come after them.
    visible: usize,
}

impl Side {
    fn new(
        lowering: &Lowering<'_>,
        tree: Tree,
        plan: &LogicalPlan,
        on: &[Expr],
    ) -> SqlResult<Self> {
        let visible = plan.schema().fields().len();
        let width = tree.schema.fields().len();
        let keys = on
            .iter()
            .map(|expr| physical(lowering.state, expr, plan.schema()))
            .collect::<SqlResult<Vec<_>>>()?;
        let mut computed: Vec<Arc<dyn PhysicalExpr>> = Vec::new();
        let mut key = Vec::new();
        for expr in keys {
            key.push(column_of(&expr).unwrap_or_else(|| {
                computed.push(expr);
                width + computed.len() - 1
            }));
        }
        Ok(Self { tree: tree.with_computed(computed)?, key, visible })
    }

    fn share(&mut self) {
        self.tree = self.tree.clone().shared();
    }

    /// The visible columns.
    fn shown(&self) -> SchemaRef {
        let fields = self.tree.schema.fields().iter().take(self.visible).cloned();
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The key of the rows, if it is visible.
    fn visible_key(&self) -> Vec<usize> {
        match self.tree.key.iter().all(|column| *column < self.visible) {
            true => self.tree.key.clone(),
            false => Vec::new(),
        }
    }

    /// The rows that are in none of `pairs`, where their columns begin at `before`.
    fn without_match(&self, pairs: &Tree, before: usize) -> SqlResult<Tree> {
        self.among(JoinKind::LeftAnti, pairs.clone(), before)
    }

    /// The rows that are in some or none of `pairs`, as `kind` says.
    fn among(&self, kind: JoinKind, pairs: Tree, before: usize) -> SqlResult<Tree> {
        let visible: Vec<usize> = (0..self.visible).collect();
        let rows = self.tree.clone().select(&visible);
        let identity = rows.identity();
        let in_pairs: Vec<usize> = identity.iter().map(|column| column + before).collect();
        let pairs = pairs.select(&in_pairs);
        let found = (0..identity.len()).collect();
        let left = Self { tree: rows, key: identity, visible: self.visible };
        let right = Self { tree: pairs, key: found, visible: 0 };
        Sides { left, right, null_equal: true, filter: None, kept: None }.join(kind)
    }
}

/// What identifies a joined row: both sides' keys; one side's is enough if the other side has at
/// the most one row for it.
fn key_of(kind: JoinKind, left: &Side, right: &Side, left_width: usize) -> Vec<usize> {
    let one_right = !right.tree.key.is_empty() && is_subset(&right.tree.key, &right.key);
    let one_left = !left.tree.key.is_empty() && is_subset(&left.tree.key, &left.key);
    let of_left = left.tree.key.clone();
    let of_right: Vec<usize> = right.tree.key.iter().map(|column| column + left_width).collect();
    match kind {
        JoinKind::LeftSemi | JoinKind::LeftAnti => of_left,
        // A row of either side may be alone, with nothing but NULLs in the other's key.
        JoinKind::Full => Vec::new(),
        _ if of_left.is_empty() || of_right.is_empty() => Vec::new(),
        JoinKind::Inner | JoinKind::Left if one_right => of_left,
        JoinKind::Inner | JoinKind::Right if one_left => of_right,
        _ => sorted([of_left, of_right].concat()),
    }
}

fn is_subset(columns: &[usize], of: &[usize]) -> bool {
    columns.iter().all(|column| of.contains(column))
}
