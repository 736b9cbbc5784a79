//! A query's tree to DataFusion's logical plan, with the types of its parameters.

use std::collections::HashMap;

use arrow::datatypes::Field;
use datafusion::common::config::Dialect;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionConfig;
use datafusion::sql::parser::Statement as PlannerStatement;
use sqlparser::ast;

use super::Query;
use crate::error::SqlResult;
use crate::types::SqlType;

/// A query, planned.
#[derive(Debug, Clone)]
pub struct PlannedQuery {
    pub plan: LogicalPlan,
    /// Types of `$1`, `$2`, ...
    pub parameters: Vec<SqlType>,
}

/// How DataFusion reads SQL here: as PostgreSQL writes it.
pub fn configure(config: &mut SessionConfig) {
    let options = config.options_mut();
    options.sql_parser.dialect = Dialect::PostgreSQL;
    options.sql_parser.enable_ident_normalization = true;
    options.sql_parser.parse_float_as_decimal = true;
    options.sql_parser.map_string_types_to_utf8view = false;
}

/// Plans `query`, its names meaning what they mean in `state`. `declared` has the types that the
/// client gave to the first parameters.
pub async fn plan_query(
    state: &SessionState,
    query: &Query,
    declared: &[Option<SqlType>],
) -> SqlResult<PlannedQuery> {
    let tree = ast::Statement::Query(Box::new(ast::Query::clone(&query.tree)));
    let plan = state.statement_to_plan(PlannerStatement::Statement(Box::new(tree))).await?;
    let inferred: HashMap<String, Option<std::sync::Arc<Field>>> = plan.get_parameter_fields()?;
    let numbers = inferred.keys().filter_map(|name| name.trim_start_matches('$').parse().ok());
    let count = numbers.max().unwrap_or(0).max(declared.len());
    let parameters = (1..=count)
        .map(|number: usize| {
            let given = declared.get(number - 1).cloned().flatten();
            let found = inferred.get(&format!("${number}")).cloned().flatten();
            given.or_else(|| found.map(|field| SqlType::of_field(&field))).unwrap_or(SqlType::Text)
        })
        .collect();
    Ok(PlannedQuery { plan, parameters })
}
