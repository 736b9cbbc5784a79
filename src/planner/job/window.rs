//! Window functions that are kept up to date by looking near what changed: all whose results are
//! decided by so many rows around a row, or go on from those of the row before. The others are
//! recomputed.

use std::sync::Arc;

use arrow::compute::SortOptions;
use arrow::datatypes::{DataType, Field, IntervalMonthDayNano, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::functions_window::row_number::row_number_udwf;
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction};
use datafusion::logical_expr::{
    Expr, LogicalPlan, LogicalPlanBuilder, SortExpr, Window, WindowFrame, WindowFrameBound,
    WindowFrameUnits, WindowFunctionDefinition, cast, when,
};
use datafusion::physical_expr::PhysicalExpr;

use super::limit::without_cast;
use super::lower::Lowering;
use super::recompute::{
    self, batch_plan, column_indexes, computed_arguments, lowered, with_columns,
};
use super::scalar::{flowing_schema, without_alias};
use super::tree::{Tree, TreeKind, nullable};
use crate::error::SqlResult;
use crate::expr::relation::{ALONE, BEFORE, GOES_ON, Given, SLICE, going_on};
use crate::graph::{self, BatchPlan, Order};

/// Rows around a row that its results look at, at the most: for more, a partition is computed
/// anew.
const NEAR_ROWS_MAX: usize = 4096;

/// The window functions of `plan`, over `input` if its input is lowered already.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    plan: &Window,
    input: Option<Tree>,
) -> SqlResult<Tree> {
    let (arguments, calls) = computed_arguments(&plan.window_expr);
    let (computing, visible) = with_columns(&plan.input, &arguments)?;
    let input = lowered(lowering, &plan.input, &computing, input)?;
    let width = computing.schema().fields().len();
    let tree = over(lowering, &Window::try_new(calls, computing)?, input)?;
    let windows = width..width + plan.window_expr.len();
    let shown: Vec<usize> = (0..visible).chain(windows).collect();
    Ok(tree.select(&shown).conform(&flowing_schema(&plan.schema)))
}

/// The same over `input`, functions of columns.
fn over(lowering: &mut Lowering<'_>, plan: &Window, input: Tree) -> SqlResult<Tree> {
    let planned = match Calls::of(plan) {
        Some(calls) => Planned::new(lowering, plan, calls)?,
        None => None,
    };
    match planned {
        Some(planned) => planned.over(lowering, plan, input),
        None => recompute::window(lowering, plan, input),
    }
}

/// A distance in the values of the order; `None`: peers.
type Distance = Option<ScalarValue>;

/// What decides a result.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    /// So many rows before a row and after it.
    Near(usize, usize),
    /// The rows whose place in the order is so far before a row's, and after it.
    Within(Distance, Distance),
    /// The row, and the result before.
    Running(Combine),
}

/// What becomes of the result before and that of the rows since then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Combine {
    /// Their sum.
    Add,
    /// The sum of the number of rows before and the rank since then.
    Rank,
    Least,
    Greatest,
    /// The one before.
    First,
    /// The one since then.
    Last,
}

/// The functions of a node, which have one partition and one order.
struct Calls<'a> {
    calls: Vec<(&'a WindowFunction, Rule)>,
    /// Some go on from peers to peers.
    peers: bool,
}

impl<'a> Calls<'a> {
    /// What decides the results of all functions of `plan`, if that can be said.
    fn of(plan: &'a Window) -> Option<Self> {
        let (mut calls, mut peers) = (Vec::new(), false);
        let results = plan.schema.fields().iter().skip(plan.input.schema().fields().len());
        for (expr, result) in plan.window_expr.iter().zip(results) {
            let Expr::WindowFunction(call) = without_alias(expr) else { return None };
            let (rule, by_peers) = rule_of(call, result.data_type())?;
            peers |= by_peers;
            calls.push((call.as_ref(), rule));
        }
        let this = Self { calls, peers };
        let (partition, order) = (this.partition(), this.order());
        let alike = this.calls.iter().all(|(call, _)| {
            call.params.partition_by == partition && call.params.order_by == order
        });
        let (before, after) = this.near();
        let one_range =
            this.within().is_some() && (order.len() == 1 || this.ranges().next().is_none());
        (alike && one_range && before + after <= NEAR_ROWS_MAX).then_some(this)
    }

    fn partition(&self) -> &'a [Expr] {
        self.calls.first().map_or(&[], |(call, _)| &call.params.partition_by)
    }

    fn order(&self) -> &'a [SortExpr] {
        self.calls.first().map_or(&[], |(call, _)| &call.params.order_by)
    }

    /// How many rows before and after a row its results look at.
    fn near(&self) -> (usize, usize) {
        let near = self.calls.iter().map(|(_, rule)| match rule {
            Rule::Near(before, after) => (*before, *after),
            Rule::Within(..) | Rule::Running(_) => (0, 0),
        });
        near.fold((0, 0), |most, one| (most.0.max(one.0), most.1.max(one.1)))
    }

    fn ranges(&self) -> impl Iterator<Item = (&Distance, &Distance)> {
        self.calls.iter().filter_map(|(_, rule)| match rule {
            Rule::Within(before, after) => Some((before, after)),
            Rule::Near(..) | Rule::Running(_) => None,
        })
    }

    /// The farthest that results look; `None`: that cannot be said.
    fn within(&self) -> Option<(Distance, Distance)> {
        self.ranges().try_fold((None, None), |most, one| {
            Some((farther(most.0, one.0)?, farther(most.1, one.1)?))
        })
    }
}

/// The longer of two distances; `None`: that cannot be said.
fn farther(one: Distance, other: &Distance) -> Option<Distance> {
    let (Some(length), Some(other_length)) = (&one, other) else {
        return Some(one.or_else(|| other.clone()));
    };
    let longer = match (length, other_length) {
        (
            ScalarValue::IntervalMonthDayNano(Some(one)),
            ScalarValue::IntervalMonthDayNano(Some(other)),
        ) => nanoseconds(*one) >= nanoseconds(*other),
        (one, other) => one.partial_cmp(other)?.is_ge(),
    };
    Some(if longer { one } else { other.clone() })
}

/// Of an interval without months.
fn nanoseconds(interval: IntervalMonthDayNano) -> i128 {
    const DAY: i128 = 24 * 60 * 60 * 1_000_000_000;
    i128::from(interval.days) * DAY + i128::from(interval.nanoseconds)
}

/// What decides the results of `call`, of type `result`; and whether they go on from peers to
/// peers.
fn rule_of(call: &WindowFunction, result: &DataType) -> Option<(Rule, bool)> {
    let params = &call.params;
    let ignores_nulls = params.null_treatment == Some(NullTreatment::IgnoreNulls);
    let (name, is_aggregate) = match &call.fun {
        WindowFunctionDefinition::AggregateUDF(function) => (function.name(), true),
        WindowFunctionDefinition::WindowUDF(function) => (function.name(), false),
    };
    match name {
        "row_number" => return Some((Rule::Running(Combine::Add), false)),
        "rank" => return Some((Rule::Running(Combine::Rank), true)),
        "dense_rank" => return Some((Rule::Running(Combine::Add), true)),
        "lag" | "lead" if !ignores_nulls => return Some((shift(name, &params.args)?, false)),
        _ => {}
    }
    let in_frame = is_aggregate
        || matches!(name, "first_value" | "last_value" | "nth_value")
        || name.starts_with("excluding ");
    if !in_frame {
        return None;
    }
    let near = near_frame(&params.window_frame);
    if let Some(rule) = near.or_else(|| frame_within(&params.window_frame)) {
        return Some((rule, false));
    }
    let peers = so_far(&params.window_frame)?;
    let combine = match name {
        _ if params.distinct || ignores_nulls => return None,
        "count" => Combine::Add,
        "sum" if is_exact(result) => Combine::Add,
        "min" if is_plain(result) => Combine::Least,
        "max" if is_plain(result) => Combine::Greatest,
        "first_value" => Combine::First,
        "last_value" => Combine::Last,
        _ => return None,
    };
    Some((Rule::Running(combine), peers))
}

/// `lag` or `lead` by a number of rows that is known.
fn shift(name: &str, args: &[Expr]) -> Option<Rule> {
    let by = match args.get(1).map(without_cast) {
        None => 1,
        Some(Expr::Literal(by, _)) if by.is_null() => 0,
        Some(Expr::Literal(by, _)) => i64::try_from(by.clone()).ok()?,
        Some(_) => return None,
    };
    let rows = usize::try_from(by.unsigned_abs()).ok()?;
    Some(if (name == "lag") == (by > 0) { Rule::Near(rows, 0) } else { Rule::Near(0, rows) })
}

/// A frame of so many rows before and after a row.
fn near_frame(frame: &WindowFrame) -> Option<Rule> {
    if frame.units != WindowFrameUnits::Rows {
        return None;
    }
    let rows = |rows: &ScalarValue| match rows {
        ScalarValue::UInt64(Some(rows)) => i64::try_from(*rows).ok(),
        _ => None,
    };
    let place = |bound: &WindowFrameBound| match bound {
        WindowFrameBound::Preceding(before) => rows(before).map(|rows| -rows),
        WindowFrameBound::CurrentRow => Some(0),
        WindowFrameBound::Following(after) => rows(after),
    };
    let (start, end) = (place(&frame.start_bound)?, place(&frame.end_bound)?);
    let rows = |rows: i64| usize::try_from(rows.max(0)).ok();
    Some(Rule::Near(rows(-start)?, rows(end)?))
}

/// A frame of the rows whose place in the order is not farther than so much.
fn frame_within(frame: &WindowFrame) -> Option<Rule> {
    if frame.units != WindowFrameUnits::Range {
        return None;
    }
    let ((before, _), (_, after)) = (distances(&frame.start_bound)?, distances(&frame.end_bound)?);
    Some(Rule::Within(before, after))
}

/// How far before a row, or after it, a bound is; `None`: it is no distance that can be reckoned
/// with back and forth.
fn distances(bound: &WindowFrameBound) -> Option<(Distance, Distance)> {
    let distance = |value: &ScalarValue| match value {
        value if value.is_null() => None,
        ScalarValue::IntervalMonthDayNano(Some(span)) if span.months == 0 => {
            // A day may be an hour longer.
            let days = if span.days == 0 { 0 } else { span.days.checked_add(1)? };
            let padded = IntervalMonthDayNano { days, ..*span };
            Some(ScalarValue::IntervalMonthDayNano(Some(padded)))
        }
        value if value.data_type().is_integer() => Some(value.clone()),
        _ => None,
    };
    Some(match bound {
        WindowFrameBound::Preceding(before) => (Some(distance(before)?), None),
        WindowFrameBound::CurrentRow => (None, None),
        WindowFrameBound::Following(after) => (None, Some(distance(after)?)),
    })
}

/// Whether a frame of all rows up to the current one has that one's peers; `None`: it is another
/// frame.
fn so_far(frame: &WindowFrame) -> Option<bool> {
    let begins = matches!(&frame.start_bound, WindowFrameBound::Preceding(rows) if rows.is_null());
    let ends = matches!(frame.end_bound, WindowFrameBound::CurrentRow);
    (begins && ends).then_some(frame.units != WindowFrameUnits::Rows)
}

/// Sums of this type do not depend on the order in which they are made.
fn is_exact(sum: &DataType) -> bool {
    sum.is_integer() || matches!(sum, DataType::Decimal128(..) | DataType::Decimal256(..))
}

/// Values of this type are compared as `<` does.
fn is_plain(value: &DataType) -> bool {
    let is_span = matches!(value, DataType::Interval(_) | DataType::Duration(_));
    (value.is_primitive() && !is_span)
        || matches!(value, DataType::Utf8 | DataType::Boolean | DataType::Binary)
}

/// What the operator is told.
struct Planned {
    /// The node's input with the columns of its partition and order.
    input: Arc<LogicalPlan>,
    /// Columns of the node's own input.
    visible: usize,
    /// Fields of the results; some may not be the query's.
    results: SchemaRef,
    window: graph::Window,
}

impl Planned {
    /// `None`: DataFusion would not keep the rows' order.
    fn new(lowering: &Lowering<'_>, plan: &Window, calls: Calls<'_>) -> SqlResult<Option<Self>> {
        let order_exprs = calls.order().iter().map(|sort| &sort.expr);
        let exprs = calls.partition().iter().chain(order_exprs).cloned().collect::<Vec<_>>();
        let (input, visible) = with_columns(&plan.input, &exprs)?;
        let partition = column_indexes(calls.partition(), &input)?;
        let mut order = Vec::new();
        for sort in calls.order() {
            let column = column_indexes(std::slice::from_ref(&sort.expr), &input)?;
            order.extend(column.into_iter().map(|column| Order {
                column,
                descending: !sort.asc,
                nulls_first: sort.nulls_first,
            }));
        }
        let mut combined = calls.calls.iter().map(|(_, rule)| rule.clone()).collect::<Vec<_>>();
        let mut functions = calls.calls.iter().map(|(call, _)| (*call).clone()).collect::<Vec<_>>();
        // A rank goes on from the number of rows before.
        if combined.contains(&Rule::Running(Combine::Rank)) {
            functions.push(WindowFunction::new(row_number_udwf(), Vec::new()));
            combined.push(Rule::Running(Combine::Add));
        }
        let (plan, results) = sliced_plan(lowering, &input, functions, &order)?;
        let sorts = plan.0.exists(|node| Ok(node.name() == "SortExec"))?;
        let (before, after) = calls.near();
        let within = calls.within().filter(|_| calls.ranges().next().is_some());
        let names = calls.calls.iter().map(|(call, _)| call.fun.name().to_owned());
        let window = graph::Window {
            name: names.collect::<Vec<_>>().join(", "),
            partition,
            order,
            before,
            after,
            distances: within.map(|(before, after)| graph::Distances { before, after }),
            running: running(lowering, &combined, &results)?,
            peers: calls.peers,
            plan,
        };
        let is_reckoned = |order: &Order| {
            is_reckoned(input.schema().field(order.column))
                && !window.partition.contains(&order.column)
        };
        let reckoned = window.distances.is_none() || window.order.iter().all(is_reckoned);
        Ok((!sorts && reckoned).then_some(Self { input, visible, results, window }))
    }

    /// The operator over `tree`, which is `plan`'s input, or what that becomes.
    fn over(self, lowering: &mut Lowering<'_>, plan: &Window, tree: Tree) -> SqlResult<Tree> {
        let tree = lowered(lowering, &plan.input, &self.input, Some(tree))?;
        let width = tree.schema.fields().len();
        let own = nullable(&tree.schema);
        let fields = own.fields().iter().chain(self.results.fields()).cloned().collect::<Vec<_>>();
        let computed = Tree {
            schema: Arc::new(Schema::new(fields)),
            key: tree.key.clone(),
            append_only: false,
            kind: TreeKind::Window(self.window, Box::new(tree)),
        };
        let windows = width..width + plan.window_expr.len();
        let shown: Vec<usize> = (0..self.visible).chain(windows).collect();
        Ok(computed.select(&shown).conform(&flowing_schema(&plan.schema)))
    }
}

/// Whether a column's values plus a distance are values of that column again.
fn is_reckoned(column: &Field) -> bool {
    column.data_type().is_integer() || matches!(column.data_type(), DataType::Timestamp(..))
}

/// The plan of `functions` over the rows of `input` in slices, and its results' fields.
fn sliced_plan(
    lowering: &Lowering<'_>,
    input: &LogicalPlan,
    functions: Vec<WindowFunction>,
    order: &[Order],
) -> SqlResult<(BatchPlan, SchemaRef)> {
    let slice = Arc::new(Field::new(SLICE, DataType::UInt32, false));
    let fields = input.schema().iter().map(|(qualifier, field)| {
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_nullable(true)))
    });
    let fields = fields.chain([(None, slice)]).collect();
    let schema = DFSchema::new_with_metadata(fields, input.schema().metadata().clone())?;
    let columns = schema.columns();
    let width = input.schema().fields().len();
    let mut sorted = vec![(width, SortOptions { descending: false, nulls_first: false })];
    let mut order_by = Vec::new();
    for order in order {
        let options = SortOptions { descending: order.descending, nulls_first: order.nulls_first };
        sorted.push((order.column, options));
        let column = Expr::Column(columns[order.column].clone());
        order_by.push(column.sort(!order.descending, order.nulls_first));
    }
    let given = Given::ordered(0, Arc::new(schema), sorted);
    let functions = functions.into_iter().enumerate().map(|(index, mut call)| {
        call.params.partition_by = vec![Expr::Column(columns[width].clone())];
        call.params.order_by = order_by.clone();
        Expr::from(call).alias(format!("_result{index}"))
    });
    let node = LogicalPlan::Window(Window::try_new(functions.collect(), Arc::new(given))?);
    let results = node.schema().columns().split_off(width + 1);
    let results = results.into_iter().map(Expr::Column);
    let node = LogicalPlanBuilder::from(node).project(results)?.build()?;
    Ok((batch_plan(lowering.state, &node)?, flowing_schema(node.schema())))
}

/// How results go on from those before, if some do.
fn running(
    lowering: &Lowering<'_>,
    rules: &[Rule],
    results: &SchemaRef,
) -> SqlResult<Option<Vec<Arc<dyn PhysicalExpr>>>> {
    if !rules.iter().any(|rule| matches!(rule, Rule::Running(_))) {
        return Ok(None);
    }
    let schema = DFSchema::try_from(going_on(results).as_ref().clone())?;
    let column = |name: String| Expr::Column(Column::new_unqualified(name));
    let numbers = rules.len() - 1;
    let mut exprs = Vec::new();
    for (index, rule) in rules.iter().enumerate() {
        let (alone, before) =
            (column(format!("{ALONE}{index}")), column(format!("{BEFORE}{index}")));
        let either = |both: Expr| {
            when(before.clone().is_null(), alone.clone())
                .when(alone.clone().is_null(), before.clone())
                .otherwise(both)
        };
        let expr = match rule {
            Rule::Near(..) | Rule::Within(..) | Rule::Running(Combine::Last) => alone.clone(),
            Rule::Running(Combine::Add) => either(alone.clone() + before.clone())?,
            Rule::Running(Combine::Rank) => {
                let data_type = results.field(index).data_type().clone();
                let rows = cast(column(format!("{BEFORE}{numbers}")), data_type);
                when(rows.clone().is_null(), alone.clone()).otherwise(alone.clone() + rows)?
            }
            Rule::Running(Combine::Least) => {
                let least = when(before.clone().lt(alone.clone()), before.clone());
                either(least.clone().otherwise(alone.clone())?)?
            }
            Rule::Running(Combine::Greatest) => {
                let greatest = when(before.clone().gt(alone.clone()), before.clone());
                either(greatest.clone().otherwise(alone.clone())?)?
            }
            Rule::Running(Combine::First) => {
                when(column(GOES_ON.to_owned()), before.clone()).otherwise(alone.clone())?
            }
        };
        let typed = cast(expr, results.field(index).data_type().clone());
        exprs.push(lowering.state.create_physical_expr(typed, &schema)?);
    }
    Ok(Some(exprs))
}
