//! Plans outlive the moment they were made at (a prepared statement runs many times, a DML
//! statement waits for its locks), so the relations in them are bound anew before each run.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Constraints;
use datafusion::common::tree_node::Transformed;
use datafusion::datasource::{TableProvider, TableType, provider_as_source, source_as_provider};
use datafusion::error::Result as DataFusionResult;
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown, TableScan};
use datafusion::physical_plan::ExecutionPlan;

use super::context::QueryContext;
use super::names::stored_relation;
use crate::catalog::QualifiedName;
use crate::error::{SqlError, SqlResult, code};

/// A relation that knows its name, so that it can be found again in another catalog and snapshot.
#[derive(Debug)]
pub struct Relation {
    name: QualifiedName,
    inner: Arc<dyn TableProvider>,
}

impl Relation {
    pub(super) fn new(name: QualifiedName, inner: Arc<dyn TableProvider>) -> Self {
        Self { name, inner }
    }

    pub fn name(&self) -> &QualifiedName {
        &self.name
    }

    /// The relation that `scan` reads, if it is one of ours.
    pub fn read_by(scan: &TableScan) -> Option<QualifiedName> {
        let provider = source_as_provider(&scan.source).ok()?;
        provider.downcast_ref::<Relation>().map(|relation| relation.name.clone())
    }
}

/// `plan`, made at another moment, as it reads at `context`'s.
pub fn bind(plan: LogicalPlan, context: &QueryContext) -> SqlResult<LogicalPlan> {
    let bound = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let Some(name) = Relation::read_by(&scan) else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        let found = stored_relation(context, &name)?;
        let Some(found) = found else {
            let message = format!("relation \"{}.{}\" does not exist", name.schema, name.name);
            return Err(SqlError::new(code::UNDEFINED_TABLE, message).into());
        };
        if found.schema() != scan.source.schema() {
            let message = "cached plan must not change result type";
            return Err(SqlError::new(code::FEATURE_NOT_SUPPORTED, message).into());
        }
        scan.source = provider_as_source(found);
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    });
    Ok(bound?.data)
}

#[async_trait]
impl TableProvider for Relation {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn constraints(&self) -> Option<&Constraints> {
        self.inner.constraints()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn get_logical_plan(&self) -> Option<Cow<'_, LogicalPlan>> {
        self.inner.get_logical_plan()
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> DataFusionResult<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        self.inner.scan(state, projection, filters, limit).await
    }
}
