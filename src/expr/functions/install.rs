//! A session with PostgreSQL's functions and operators.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use datafusion::execution::{FunctionRegistry, SessionState, SessionStateBuilder};
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, WindowUDF};

use super::super::guard::Guarded;
use super::arithmetic::CheckArithmetic;
use super::array_fill::array_fill;
use super::average::PgAvg;
use super::casts::PgCasts;
use super::clock::ClockTimestamp;
use super::constant_order::ConstantOrder;
use super::counted::Counted;
use super::divide::{FloatDivide, NumericDivide, NumericMultiply};
use super::extract::Extract;
use super::framed::Framed;
use super::pg_typeof::PgTypeof;
use super::record::{NamedRow, Row};
use super::rules::sound;
use super::shift::{Shift, Way};
use super::single::{SingleRow, SingleValue};
use super::sum::PgSum;
use super::untyped::Untyped;
use super::{arrays, collected, library, noted, numbers, order, row_order, series, variance};
use crate::error::{SqlError, SqlResult};

/// Optimizer rules that may not run.
///
/// `single_distinct_aggregation_to_group_by` sums sums, trusting that a sum has its argument's
/// type, which PostgreSQL's has not.
const UNSOUND: &[&str] = &["single_distinct_aggregation_to_group_by"];

/// The functions of this module by name: made once, the same for all sessions.
static OURS: LazyLock<BTreeMap<String, Arc<ScalarUDF>>> = LazyLock::new(|| {
    let own = [
        ScalarUDF::from(NumericDivide::new()),
        ScalarUDF::from(NumericMultiply::new()),
        ScalarUDF::from(FloatDivide::new()),
        ScalarUDF::from(Untyped::new()),
        ScalarUDF::from(Extract::new()),
        ScalarUDF::from(NamedRow::new()),
        ScalarUDF::from(Row::new()),
        ScalarUDF::from(PgTypeof::new()),
        ScalarUDF::from(ClockTimestamp::new()),
        array_fill(),
    ];
    let all = own.into_iter().chain(numbers::all()).chain(arrays::all());
    let all = all.chain(order::all()).chain(noted::all()).chain(series::all());
    let all = all.chain(row_order::all()).chain(library::all());
    all.map(|function| (function.name().to_owned(), guarded(function))).collect()
});

fn guarded(function: ScalarUDF) -> Arc<ScalarUDF> {
    Arc::new(ScalarUDF::from(Guarded::new(function)))
}

/// One of this module's functions, for the planner to put in an operator's place.
pub fn function(name: &str) -> SqlResult<Arc<ScalarUDF>> {
    let found = OURS.get(name).map(Arc::clone);
    found.ok_or_else(|| SqlError::internal(format!("there is no function {name} of our own")))
}

/// Gives a session what this module has, and the functions of DataFusion's JSON and PostgreSQL
/// crates.
pub fn install(state: SessionState) -> SqlResult<SessionState> {
    let rules = state.optimizers().iter().filter(|rule| !UNSOUND.contains(&rule.name()));
    let rules = rules.map(sound).chain([Arc::new(ConstantOrder) as _]).collect();
    let mut state =
        SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build();
    // It finds the keys of an aggregation by their names alone, and `a.x` and `b.x` are both `x`.
    state.config_mut().options_mut().optimizer.top_down_join_key_reordering = false;

    datafusion_pg_functions::register_all(&mut state);
    datafusion_functions_json::register_all(&mut state)?;

    for function in state.aggregate_functions().values().cloned().collect::<Vec<_>>() {
        // A count takes back what it counted; sums and averages have frames of their own.
        if function.name() != "count" {
            state.register_udaf(Arc::new(AggregateUDF::from(Framed::new(function))))?;
        }
    }
    let windows: Vec<Arc<WindowUDF>> = state.window_functions().values().cloned().collect();
    for counted in windows.into_iter().filter_map(Counted::of) {
        state.register_udwf(Arc::new(WindowUDF::from(counted)))?;
    }
    for way in [Way::Back, Way::Ahead] {
        state.register_udwf(Arc::new(WindowUDF::from(Shift::new(way))))?;
    }
    let libraries: Vec<Arc<ScalarUDF>> = state.scalar_functions().values().cloned().collect();
    for function in libraries {
        state.register_udf(guarded(Arc::unwrap_or_clone(function)))?;
    }
    for function in OURS.values() {
        state.register_udf(Arc::clone(function))?;
    }

    state.register_udaf(Arc::new(AggregateUDF::from(PgSum::new())))?;
    state.register_udaf(Arc::new(AggregateUDF::from(PgAvg::new())))?;

    for function in collected::all().chain(variance::all()) {
        state.register_udaf(Arc::new(function))?;
    }

    // The planner puts these where scalar subqueries were.
    state.register_udaf(Arc::new(AggregateUDF::from(SingleValue::new())))?;
    state.register_udf(Arc::new(ScalarUDF::from(SingleRow::new())))?;

    let arithmetic = CheckArithmetic::new();
    for function in arithmetic.functions() {
        state.register_udf(function)?;
    }
    state.add_analyzer_rule(Arc::new(PgCasts));
    state.add_analyzer_rule(Arc::new(arithmetic));
    Ok(state)
}
