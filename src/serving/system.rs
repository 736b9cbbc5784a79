//! System tables: rows made when they are read, from what the process knows then.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;

use super::context::QueryContext;
use crate::catalog::{QualifiedName, pg};
use crate::error::{SqlError, SqlResult};
use crate::task;

/// Makes all rows of a relation; may block.
type MakeRows = Arc<dyn Fn() -> SqlResult<RecordBatch> + Send + Sync>;

struct SystemRows {
    schema: SchemaRef,
    make: MakeRows,
}

/// A table of schema `weir`.
pub(super) fn weir_table(
    context: &QueryContext,
    name: &str,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    let Some(schema) = context.system.schema(name) else { return Ok(None) };
    let system = Arc::clone(&context.system);
    let name = name.to_owned();
    table(schema, Arc::new(move || system.rows(&name))).map(Some)
}

/// A relation of `pg_catalog` or `information_schema`.
pub(super) fn catalog_table(
    context: &QueryContext,
    name: &QualifiedName,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    pg::table(name, &context.pg_context())
}

fn table(schema: SchemaRef, make: MakeRows) -> SqlResult<Arc<dyn TableProvider>> {
    let rows = Arc::new(SystemRows { schema: Arc::clone(&schema), make });
    Ok(Arc::new(StreamingTable::try_new(schema, vec![rows])?))
}

impl fmt::Debug for SystemRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemRows")
    }
}

impl PartitionStream for SystemRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let make = Arc::clone(&self.make);
        let rows = stream::once(async move {
            task::spawn_blocking(move || make())
                .await
                .map_err(|error| SqlError::internal(format!("a system table: {error}")))
                .and_then(|rows| rows)
                .map_err(DataFusionError::from)
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows))
    }
}
