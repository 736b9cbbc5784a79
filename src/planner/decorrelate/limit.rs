//! What inside a subquery depends on the order of rows: windows, LIMIT, DISTINCT ON.
//!
//! ```text
//! limit(n, R(d) by o)  =  filter rn <= n (row_number() over (partition by d order by o) as rn)
//! ```

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Column, Result, ScalarValue};
use datafusion::logical_expr::{
    DistinctOn, Expr, Limit, LogicalPlan, SortExpr, Window, cast, lit, when,
};

use super::expression::{bare, bind, filter, map_sorts, substitute, substitute_all};
use super::join::keyed;
use super::open::{Open, Outer};
use super::tools::{Tools, row_number};
use super::value::at_most_one;

/// What a limit counts, if it is known: rows to leave out, and rows to give at the most.
pub(super) fn counts(limit: &Limit) -> Option<(i64, Option<i64>)> {
    let number = |expr: &Option<Box<Expr>>| match expr.as_deref() {
        None => Some(None),
        Some(Expr::Literal(value, _)) if value.is_null() => Some(None),
        Some(Expr::Literal(ScalarValue::Int64(Some(number)), _)) => Some(Some(*number)),
        Some(Expr::Literal(ScalarValue::Int32(Some(number)), _)) => Some(Some(i64::from(*number))),
        Some(_) => None,
    };
    Some((number(&limit.skip)?.unwrap_or(0), number(&limit.fetch)?))
}

/// `plan` with a row number of each partition, and the number's column.
pub(super) fn numbered(
    tools: &Tools<'_>,
    plan: LogicalPlan,
    partition_by: Vec<Expr>,
    order_by: Vec<SortExpr>,
) -> Result<(LogicalPlan, Expr)> {
    let name = tools.fresh("row");
    let window = row_number(partition_by, order_by).alias(&name);
    let plan = LogicalPlan::Window(Window::try_new(vec![window], Arc::new(plan))?);
    Ok((plan, cast(Expr::Column(Column::new_unqualified(name)), DataType::Int64)))
}

/// Which rows a limit gives, by their number. NULL is no limit.
pub(super) fn within(number: &Expr, skip: Option<Expr>, fetch: Option<Expr>) -> Result<Vec<Expr>> {
    let count = |expr: Expr| match expr {
        Expr::Literal(value, _) if !value.is_null() => {
            Ok((cast(lit(value), DataType::Int64), true))
        }
        expr => Ok::<_, datafusion::error::DataFusionError>((cast(expr, DataType::Int64), false)),
    };
    let mut predicates = Vec::new();
    let mut first = lit(0_i64);
    if let Some(skip) = skip {
        let (skip, known) = count(skip)?;
        first = match known {
            true => skip,
            false => when(skip.clone().is_null(), lit(0_i64)).otherwise(skip)?,
        };
        predicates.push(number.clone().gt(first.clone()));
    }
    if let Some(fetch) = fetch {
        let (fetch, known) = count(fetch)?;
        let last = first + fetch.clone();
        let before = number.clone().lt_eq(last);
        predicates.push(if known { before } else { fetch.is_null().or(before) });
    }
    Ok(predicates)
}

impl Outer<'_> {
    pub(super) fn open_limit(&self, limit: &Limit) -> Result<Open> {
        let open = self.open(&limit.input)?;
        let counts = counts(limit);
        if counts == Some((0, None)) {
            return Ok(open);
        }
        if at_most_one(&limit.input) && matches!(counts, Some((0, Some(1..)))) {
            // A row at the most is less than any limit.
            return Ok(open);
        }
        let own = limit.skip.iter().chain(&limit.fetch).map(AsRef::as_ref);
        let closed = self.close(open, &self.columns_in(own))?;
        let here = |expr: &Option<Box<Expr>>| {
            let expr = expr.as_deref().cloned();
            expr.map(|expr| bind(expr, &keyed(&closed.keys))).transpose()
        };
        let partition = closed.keys.iter().map(|key| Expr::Column(key.inner.clone())).collect();
        let (plan, number) = numbered(self.tools, closed.plan, partition, closed.order.clone())?;
        let plan = filter(plan, within(&number, here(&limit.skip)?, here(&limit.fetch)?)?)?;
        let pending = self.pending(&closed.keys);
        Ok(Open { order: closed.order, ..Open::new(plan, pending, closed.outputs) })
    }

    pub(super) fn open_window(&self, window: &Window) -> Result<Open> {
        let input = window.input.schema();
        let open = self.open(&window.input)?;
        let own = substitute_all(window.window_expr.clone(), input, &open.outputs)?;
        let closed = self.close(open, &self.columns_in(own.iter()))?;
        let mut outputs = closed.outputs.clone();
        let mut exprs = Vec::new();
        for expr in &window.window_expr {
            let expr = substitute(bare(expr.clone()), input, &closed.outputs)?;
            let mut expr = bind(expr, &keyed(&closed.keys))?;
            if let Expr::WindowFunction(function) = &mut expr {
                let keys = closed.keys.iter().map(|key| Expr::Column(key.inner.clone()));
                function.params.partition_by.extend(keys);
            }
            let name = self.tools.fresh("window");
            outputs.push(Expr::Column(Column::new_unqualified(&name)));
            exprs.push(expr.alias(name));
        }
        let plan = LogicalPlan::Window(Window::try_new(exprs, Arc::new(closed.plan))?);
        Ok(Open::new(plan, self.pending(&closed.keys), outputs))
    }

    /// The first row of each group.
    pub(super) fn open_distinct_on(&self, distinct: &DistinctOn) -> Result<Open> {
        let input = distinct.input.schema();
        let open = self.open(&distinct.input)?;
        let sorts = distinct.sort_expr.clone().unwrap_or_default();
        let replaced = |exprs: &[Expr], outputs: &[Expr]| {
            let exprs = exprs.iter().map(|expr| bare(expr.clone())).collect();
            substitute_all(exprs, input, outputs)
        };
        let mut own = replaced(&distinct.on_expr, &open.outputs)?;
        own.extend(replaced(&distinct.select_expr, &open.outputs)?);
        for sort in &sorts {
            own.push(substitute(sort.expr.clone(), input, &open.outputs)?);
        }
        let closed = self.close(open, &self.columns_in(own.iter()))?;
        let at_keys = keyed(&closed.keys);
        let here = |expr: Expr| bind(substitute(expr, input, &closed.outputs)?, &at_keys);
        let keys = closed.keys.iter().map(|key| Ok(Expr::Column(key.inner.clone())));
        let groups = distinct.on_expr.iter().map(|expr| here(bare(expr.clone())));
        let partition = keys.chain(groups).collect::<Result<_>>()?;
        let order = map_sorts(sorts, here)?;
        let select = distinct.select_expr.iter().map(|expr| here(bare(expr.clone())));
        let outputs = select.collect::<Result<Vec<_>>>()?;
        let (plan, number) = numbered(self.tools, closed.plan.clone(), partition, order.clone())?;
        let plan = filter(plan, vec![number.eq(lit(1_i64))])?;
        Ok(Open { order, ..Open::new(plan, self.pending(&closed.keys), outputs) })
    }
}
