//! The first rows of a query, or of each of its groups: LIMIT, OFFSET, DISTINCT ON, and
//! `row_number() <= n`, all of them one operator. A view has no order of its own: where ORDER BY
//! decides which rows there are, it is part of this.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    DistinctOn, Expr, Filter, Limit, LogicalPlan, Operator, Projection, Sort, SortExpr, Window,
    WindowFunctionDefinition,
};
use datafusion::physical_expr::PhysicalExpr;

use super::lower::Lowering;
use super::scalar::{flowing_schema, in_view, physical, without_alias};
use super::tree::{Tree, TreeKind, column_expr, column_of, nullable};
use super::window;
use crate::error::SqlResult;
use crate::graph::{Order, TopN};

/// LIMIT and OFFSET.
pub(super) fn limit(lowering: &mut Lowering<'_>, plan: &Limit) -> SqlResult<Tree> {
    let offset = count(plan.skip.as_deref())?.unwrap_or(0);
    let limit = count(plan.fetch.as_deref())?;
    first_of(lowering, &plan.input, offset, limit)
}

/// ORDER BY with the number of rows to give.
pub(super) fn sort(lowering: &mut Lowering<'_>, plan: &Sort) -> SqlResult<Tree> {
    let Some(fetch) = plan.fetch else { return lowering.lower(&plan.input) };
    let fetch = u64::try_from(fetch).unwrap_or(u64::MAX);
    ordered(lowering, plan, 0, Some(fetch))
}

/// The first rows of `plan`, in the order that it has, if it has one.
fn first_of(
    lowering: &mut Lowering<'_>,
    plan: &LogicalPlan,
    offset: u64,
    limit: Option<u64>,
) -> SqlResult<Tree> {
    match plan {
        LogicalPlan::Sort(sort) => ordered(lowering, sort, offset, limit),
        LogicalPlan::SubqueryAlias(alias) => first_of(lowering, &alias.input, offset, limit),
        // A projection has the rows, and the order, of its input.
        LogicalPlan::Projection(projection) => {
            let input = first_of(lowering, &projection.input, offset, limit)?;
            lowering.project(projection, input)
        }
        _ => {
            let input = lowering.lower(plan)?;
            Ok(input.top(Vec::new(), Vec::new(), (offset, limit), false))
        }
    }
}

fn ordered(
    lowering: &mut Lowering<'_>,
    sort: &Sort,
    offset: u64,
    limit: Option<u64>,
) -> SqlResult<Tree> {
    let fetch = sort.fetch.map(|fetch| u64::try_from(fetch).unwrap_or(u64::MAX));
    let limit = match (limit, fetch) {
        (Some(limit), Some(fetch)) => Some(limit.min(fetch.saturating_sub(offset))),
        (limit, fetch) => limit.or(fetch.map(|fetch| fetch.saturating_sub(offset))),
    };
    let input = lowering.lower(&sort.input)?;
    let mut computing = Computing::new(lowering, &sort.input, input);
    let order = computing.order(&sort.expr)?;
    let visible = computing.visible.clone();
    let input = computing.finish()?;
    Ok(input.top(Vec::new(), order, (offset, limit), false).select(&visible))
}

/// DISTINCT ON: the first row of each group.
pub(super) fn distinct_on(lowering: &mut Lowering<'_>, plan: &DistinctOn) -> SqlResult<Tree> {
    let input = lowering.lower(&plan.input)?;
    let mut computing = Computing::new(lowering, &plan.input, input);
    let group = plan.on_expr.iter().map(|expr| computing.column(expr)).collect::<SqlResult<_>>()?;
    let order = computing.order(plan.sort_expr.as_deref().unwrap_or_default())?;
    let visible = computing.visible.clone();
    let input = computing.finish()?;
    let first = input.top(group, order, (0, Some(1)), false).select(&visible);
    let select = plan
        .select_expr
        .iter()
        .map(|expr| physical(lowering.state, expr, plan.input.schema()))
        .collect::<SqlResult<_>>()?;
    Ok(first.project(select, flowing_schema(&plan.schema)))
}

/// A filter over a window that keeps the first rows of each partition by their number: that is
/// computed for those alone, and only if `above`, which reads the filter's rows, looks at it.
pub(super) fn numbered(
    lowering: &mut Lowering<'_>,
    filter: &Filter,
    above: Option<&Projection>,
) -> SqlResult<Option<Tree>> {
    let Some(found) = Numbered::find(filter) else { return Ok(None) };
    let number = Expr::Column(found.number.clone());
    let uses = |expr: &Expr| expr.column_refs().contains(&found.number) || *expr == number;
    let shown = above.is_none_or(|above| above.expr.iter().any(uses))
        || found.others.iter().any(|expr| uses(expr));
    let input = lowering.lower(&found.window.input)?;
    let mut computing = Computing::new(lowering, &found.window.input, input);
    let params = &found.function.params;
    let group =
        params.partition_by.iter().map(|expr| computing.column(expr)).collect::<SqlResult<_>>()?;
    let order = computing.order(&params.order_by)?;
    let visible = computing.visible.clone();
    let input = computing.finish()?;
    let first = input.top(group, order, (0, Some(found.limit)), found.with_ties).select(&visible);
    let mut first = match shown {
        true => window::lower(lowering, found.window, Some(first))?,
        false => unnumbered(first, found.window)?,
    };
    for plan in found.between.iter().rev() {
        if let LogicalPlan::Projection(projection) = plan {
            first = lowering.project(projection, first)?;
        }
    }
    let others = found
        .others
        .iter()
        .map(|expr| physical(lowering.state, expr, filter.input.schema()))
        .collect::<SqlResult<Vec<_>>>()?;
    Ok(Some(if others.is_empty() { first } else { first.filter(others) }))
}

/// `first` with the column of a number that nobody reads.
fn unnumbered(first: Tree, window: &Window) -> SqlResult<Tree> {
    let schema = flowing_schema(window.schema.as_ref());
    let width = first.schema.fields().len();
    let mut columns: Vec<Arc<dyn PhysicalExpr>> =
        (0..width).map(|column| column_expr(&first.schema, column)).collect();
    let null = ScalarValue::try_from(schema.field(width).data_type())?;
    columns.push(Arc::new(datafusion::physical_expr::expressions::Literal::new(null)));
    Ok(first.project(columns, schema))
}

/// `row_number() <= n` or `rank() <= n` in a filter.
struct Numbered<'a> {
    window: &'a Window,
    function: &'a datafusion::logical_expr::expr::WindowFunction,
    /// What stands between the filter and the window, from above.
    between: Vec<&'a LogicalPlan>,
    /// The number's column, as the filter calls it.
    number: datafusion::common::Column,
    limit: u64,
    with_ties: bool,
    /// The other conditions of the filter.
    others: Vec<&'a Expr>,
}

impl<'a> Numbered<'a> {
    fn find(filter: &'a Filter) -> Option<Self> {
        let mut between = Vec::new();
        let mut below = filter.input.as_ref();
        let window = loop {
            match below {
                LogicalPlan::Window(window) => break window,
                LogicalPlan::SubqueryAlias(alias) => below = &alias.input,
                LogicalPlan::Projection(projection) => {
                    between.push(below);
                    below = &projection.input;
                }
                _ => return None,
            }
        };
        let [expr] = window.window_expr.as_slice() else { return None };
        let Expr::WindowFunction(function) = without_alias(expr) else { return None };
        let WindowFunctionDefinition::WindowUDF(udf) = &function.fun else { return None };
        let with_ties = match udf.name() {
            "row_number" => false,
            "rank" => true,
            _ => return None,
        };
        // The column that shows the number, followed upwards.
        let mut index = window.input.schema().fields().len();
        for plan in between.iter().rev() {
            let LogicalPlan::Projection(projection) = plan else { return None };
            let (qualifier, field) = projection.input.schema().qualified_field(index);
            let column = datafusion::common::Column::from((qualifier, field));
            let mut shows = projection
                .expr
                .iter()
                .enumerate()
                .filter(|(_, expr)| expr.column_refs().contains(&column));
            let (shown, expr) = shows.next()?;
            let passed_on = matches!(without_cast(without_alias(expr)), Expr::Column(_));
            if !passed_on || shows.next().is_some() {
                return None;
            }
            index = shown;
        }
        let (qualifier, field) = filter.input.schema().qualified_field(index);
        let number = datafusion::common::Column::from((qualifier, field));
        let mut limit = None;
        let mut others = Vec::new();
        for condition in split_conjunction(&filter.predicate) {
            match at_most(condition, &number) {
                Some(at_most) => limit = Some(limit.map_or(at_most, |l: u64| l.min(at_most))),
                None => others.push(condition),
            }
        }
        Some(Self { window, function, between, number, limit: limit?, with_ties, others })
    }
}

/// The greatest number for which `number <= n`, `number < n` or, as numbers begin at 1,
/// `number = 1` holds.
fn at_most(condition: &Expr, number: &datafusion::common::Column) -> Option<u64> {
    let Expr::BinaryExpr(binary) = condition else { return None };
    let (left, right) = (without_cast(&binary.left), without_cast(&binary.right));
    let (op, bound) = match (left, right) {
        (Expr::Column(column), Expr::Literal(bound, _)) if column == number => (binary.op, bound),
        (Expr::Literal(bound, _), Expr::Column(column)) if column == number => {
            (binary.op.swap()?, bound)
        }
        _ => return None,
    };
    let bound = match bound {
        ScalarValue::UInt64(Some(bound)) => *bound,
        other => u64::try_from(i64::try_from(other.clone()).ok()?).unwrap_or(0),
    };
    match op {
        Operator::LtEq => Some(bound),
        Operator::Lt => Some(bound.saturating_sub(1)),
        Operator::Eq if bound == 1 => Some(1),
        _ => None,
    }
}

/// A number, whatever its type.
pub(super) fn without_cast(expr: &Expr) -> &Expr {
    match expr {
        Expr::Cast(cast) => without_cast(&cast.expr),
        other => other,
    }
}

/// A number of rows, which the optimizer has made a literal.
fn count(expr: Option<&Expr>) -> SqlResult<Option<u64>> {
    match expr {
        None => Ok(None),
        Some(Expr::Literal(value, _)) if value.is_null() => Ok(None),
        Some(Expr::Literal(value, _)) => match i64::try_from(value.clone()) {
            Ok(count) => Ok(Some(u64::try_from(count).unwrap_or(0))),
            Err(error) => Err(error.into()),
        },
        Some(other) => Err(in_view(&format!("LIMIT or OFFSET by {other}"))),
    }
}

/// Columns added to a tree for an order or a group.
struct Computing<'l, 'a> {
    lowering: &'l Lowering<'a>,
    plan: &'l LogicalPlan,
    tree: Tree,
    /// The columns of the plan.
    visible: Vec<usize>,
    computed: Vec<Arc<dyn PhysicalExpr>>,
}

impl<'l, 'a> Computing<'l, 'a> {
    fn new(lowering: &'l Lowering<'a>, plan: &'l LogicalPlan, tree: Tree) -> Self {
        let visible = (0..plan.schema().fields().len()).collect();
        Self { lowering, plan, tree, visible, computed: Vec::new() }
    }

    /// The column of an expression.
    fn column(&mut self, expr: &Expr) -> SqlResult<usize> {
        let expr = physical(self.lowering.state, expr, self.plan.schema())?;
        if let Some(column) = column_of(&expr) {
            return Ok(column);
        }
        let width = self.tree.schema.fields().len();
        let known = self.computed.iter().position(|known| known.as_ref() == expr.as_ref());
        Ok(width
            + known.unwrap_or_else(|| {
                self.computed.push(expr);
                self.computed.len() - 1
            }))
    }

    fn order(&mut self, exprs: &[SortExpr]) -> SqlResult<Vec<Order>> {
        exprs
            .iter()
            .map(|sort| {
                Ok(Order {
                    column: self.column(&sort.expr)?,
                    descending: !sort.asc,
                    nulls_first: sort.nulls_first,
                })
            })
            .collect()
    }

    /// The tree with all columns.
    fn finish(self) -> SqlResult<Tree> {
        self.tree.with_computed(self.computed)
    }
}

impl Tree {
    /// The first rows of each group, in an order: so many after so many.
    fn top(
        self,
        group: Vec<usize>,
        order: Vec<Order>,
        (offset, limit): (u64, Option<u64>),
        with_ties: bool,
    ) -> Self {
        let one = limit == Some(1) && !with_ties && !group.is_empty();
        let key = if one { super::tree::sorted(group.clone()) } else { self.key.clone() };
        Self {
            schema: nullable(&self.schema),
            key,
            append_only: false,
            kind: TreeKind::TopN(TopN { group, order, offset, limit, with_ties }, Box::new(self)),
        }
    }
}
