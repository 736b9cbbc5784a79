//! DataFusion's session for one statement: the template of the process with the statement's
//! catalog, time and time zone.

use std::path::Path;
use std::sync::Arc;

use chrono::DateTime;
use datafusion::common::config::Dialect;
use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::ScalarUDF;
use datafusion::logical_expr::registry::FunctionRegistry;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionConfig;

use super::context::QueryContext;
use super::equalities::PlainEqualities;
use super::names::{DatabaseList, SEARCH_PATH};
use super::top_k::WholeOrder;
use crate::catalog::function::Callable;
use crate::catalog::pg;
use crate::error::SqlResult;
use crate::expr::SessionStyle;
use crate::expr::relation::NodePlanner;

/// Partitions of a plan: what one query may use of the processors.
const PARTITIONS: usize = 2;
const BATCH_ROWS: usize = 8192;
/// Of the consumers of memory, how many an error about too little of it names.
const NAMED_CONSUMERS_MAX: std::num::NonZeroUsize = std::num::NonZeroUsize::new(3).expect("3 > 0");

/// The session that all statements' sessions are copied from. All of them together get
/// `memory_bytes`; what they cannot hold they write below `spill_folder`. It has DataFusion's
/// functions only: the caller installs PostgreSQL's (`expr::functions::install`).
pub fn template(memory_bytes: usize, spill_folder: &Path) -> SqlResult<SessionState> {
    let pool = TrackConsumersPool::new(FairSpillPool::new(memory_bytes), NAMED_CONSUMERS_MAX);
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(pool))
        .with_temp_file_path(spill_folder)
        .build_arc()?;
    let mut config = SessionConfig::new()
        .with_target_partitions(PARTITIONS)
        .with_batch_size(BATCH_ROWS)
        .with_create_default_catalog_and_schema(false)
        .with_information_schema(false);
    let options = config.options_mut();
    options.sql_parser.dialect = Dialect::PostgreSQL;
    options.sql_parser.enable_ident_normalization = true;
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.sql_parser.collect_spans = true;
    // The check takes `UNION ALL` over `coalesce(x, 0)` for an error: the physical expression may
    // be NULL, the logical one may not.
    options.execution.skip_physical_aggregate_schema_check = true;
    let mut rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> =
        vec![Arc::new(PlainEqualities)];
    rules.extend(PhysicalOptimizer::new().rules);
    rules.push(Arc::new(WholeOrder));
    Ok(SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime)
        .with_default_features()
        .with_physical_optimizer_rules(rules)
        .with_query_planner(Arc::new(NodePlanner))
        .build())
}

/// The session in which `context`'s statement is planned and run.
pub fn session_state(context: &QueryContext) -> SqlResult<SessionState> {
    let mut state = SessionState::clone(&context.template);
    let options = state.config_mut().options_mut();
    options.catalog.default_catalog.clone_from(&context.database);
    SEARCH_PATH.clone_into(&mut options.catalog.default_schema);
    options.execution.time_zone = Some(context.style.zone.arrow_name());
    options.extensions.insert(SessionStyle { text: context.style, now_micros: context.now.0 });
    state.config_mut().set_extension(Arc::new(Callable {
        catalog: Arc::clone(&context.catalog),
        search_path: context.search_path.clone(),
    }));
    follow_config(&mut state)?;
    for function in pg::functions(&Arc::new(context.pg_context())) {
        state.register_udf(function)?;
    }
    let now = DateTime::from_timestamp_micros(context.now.0).unwrap_or_default();
    let options = Arc::clone(state.config().options());
    let props = state.execution_props_mut();
    props.query_execution_start_time = Some(now);
    props.config_options = Some(options);
    state.register_catalog_list(Arc::new(DatabaseList::new(context.clone())));
    Ok(state)
}

/// Some functions (`now`, `to_timestamp`) have the time zone built in.
fn follow_config(state: &mut SessionState) -> SqlResult<()> {
    let options = Arc::clone(state.config().options());
    let updated: Vec<ScalarUDF> = state
        .scalar_functions()
        .values()
        .filter_map(|function| function.inner().with_updated_config(&options))
        .collect();
    for function in updated {
        state.register_udf(Arc::new(function))?;
    }
    Ok(())
}
