//! System tables: rows made when they are read, from what the process knows then.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;

use super::context::QueryContext;
use crate::catalog::pg::Standing;
use crate::catalog::{Object, QualifiedName, pg};
use crate::error::{SqlError, SqlResult};
use crate::task;

/// Those of the tables of schema `weir` in which rows of tables and views are shown.
const SHOW_ROWS: [&str; 2] = ["errors", "dead_letters"];

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
    let owned_name = name.to_owned();
    if !SHOW_ROWS.contains(&name) || context.reads_everything()? {
        return table(schema, Arc::new(move || system.rows(&owned_name))).map(Some);
    }
    // Rows of others are in it: only those of objects that the statement may read are shown.
    let readable: HashSet<i64> = context
        .catalog
        .objects()
        .filter(|object| context.check_reads(object).is_ok())
        .map(|object| i64::from(object.id.0))
        .collect();
    let rows = move || -> SqlResult<RecordBatch> {
        let all = system.rows(&owned_name)?;
        let object = all.column_by_name("object");
        let object = object.and_then(|column| column.as_primitive_opt::<Int64Type>());
        let object = object.ok_or_else(|| SqlError::internal("rows of no object"))?;
        let shown = object.iter().map(|id| id.is_some_and(|id| readable.contains(&id)));
        Ok(filter_record_batch(&all, &shown.map(Some).collect())?)
    };
    table(schema, Arc::new(rows)).map(Some)
}

/// A relation of `pg_catalog` or `information_schema`.
pub(super) fn catalog_table(
    context: &QueryContext,
    name: &QualifiedName,
) -> SqlResult<Option<Arc<dyn TableProvider>>> {
    pg::table(name, &context.pg_context())
}

/// Where a sequence stands: its only row.
pub(super) fn sequence_table(
    context: &QueryContext,
    sequence: &Arc<Object>,
) -> SqlResult<Arc<dyn TableProvider>> {
    let schema = sequence.schema();
    let (numbering, sequence) = (context.pg.numbering.clone(), Arc::clone(sequence));
    let shape = Arc::clone(&schema);
    let row = move || -> SqlResult<RecordBatch> {
        let numbering = numbering.as_ref();
        let numbering = numbering.ok_or_else(|| SqlError::internal("nobody knows sequences"))?;
        let Standing { position, ahead } = numbering.standing(&sequence)?;
        let ahead = i64::try_from(ahead).unwrap_or(i64::MAX);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from(vec![position.last])),
            Arc::new(Int64Array::from(vec![ahead])),
            Arc::new(BooleanArray::from(vec![position.called])),
        ];
        Ok(RecordBatch::try_new(Arc::clone(&shape), columns)?)
    };
    table(schema, Arc::new(row))
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
