//! SELECT from a source: its rows are not stored, so they are read again, from the beginning up to
//! where the snapshot's epoch has come. A source that no view reads has come nowhere, and is empty.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::stream;

use super::context::QueryContext;
use crate::catalog::object::Connector;
use crate::catalog::{Object, ObjectKind};
use crate::connector::registry::Options;
use crate::connector::{Positions, Source, Then, computed};
use crate::dataflow::source::{positions_key, positions_of};
use crate::error::{SqlError, SqlResult};
use crate::expr::Generated;
use crate::state::Snapshot;
use crate::types::ObjectId;

/// Rows asked for at a time.
const POLL_ROWS: usize = 8192;

/// How the settings of a source or table look to the connectors.
pub fn connector_options(connector: &Connector) -> Options {
    Options {
        connector: connector.name.clone(),
        options: connector.options.clone(),
        format: connector.format.clone(),
        encode: connector.encode.clone(),
        encode_options: connector.encode_options.clone(),
    }
}

struct Replay {
    object: Arc<Object>,
    schema: SchemaRef,
    generated: Option<Arc<Generated>>,
    until: Option<Positions>,
}

/// `object`, a source, as its rows were at the snapshot.
pub(super) fn source_table(
    context: &QueryContext,
    object: &Arc<Object>,
) -> SqlResult<Arc<dyn TableProvider>> {
    let until = committed_positions(&context.snapshot, object.id)?;
    let schema = object.schema();
    let generated = context.views.generated(&context.catalog, object)?.map(Arc::new);
    let replay =
        Replay { object: Arc::clone(object), schema: Arc::clone(&schema), generated, until };
    Ok(Arc::new(StreamingTable::try_new(schema, vec![Arc::new(replay)])?))
}

fn committed_positions(snapshot: &Snapshot, object: ObjectId) -> SqlResult<Option<Positions>> {
    match snapshot.meta(&positions_key(object))? {
        None => Ok(None),
        committed => positions_of(committed.as_deref()).map(Some),
    }
}

fn open(object: &Object, generated: Option<Arc<Generated>>) -> SqlResult<Box<dyn Source>> {
    let ObjectKind::Source(source) = &object.kind else {
        return Err(SqlError::internal(format!("{} is not a source", object.name.name)));
    };
    computed::open(&connector_options(&source.connector), object.schema(), generated)
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Replay of {:?}", self.object.name)
    }
}

impl PartitionStream for Replay {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let object = Arc::clone(&self.object);
        let until = self.until.clone();
        let generated = self.generated.clone();
        let schema = Arc::clone(&self.schema);
        let batches = stream::try_unfold(Replaying::Before, move |replaying| {
            let (object, until, schema) = (Arc::clone(&object), until.clone(), Arc::clone(&schema));
            let generated = generated.clone();
            async move {
                let source = match (replaying, &until) {
                    (Replaying::Done, _) | (Replaying::Before, None) => return Ok(None),
                    (Replaying::Before, Some(_)) => open(&object, generated)?,
                    (Replaying::In(source), _) => source,
                };
                let (batch, next) = poll(source, until.as_ref()).await?;
                // The source's fields may lack what ours say of the SQL type.
                Ok(Some((batch.with_schema(schema)?, next)))
            }
        });
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), batches))
    }
}

/// `Before → In → ... → Done`
enum Replaying {
    Before,
    In(Box<dyn Source>),
    Done,
}

/// The next rows of `source` up to `until`.
async fn poll(
    mut source: Box<dyn Source>,
    until: Option<&Positions>,
) -> SqlResult<(RecordBatch, Replaying)> {
    loop {
        let polled = source.poll(POLL_ROWS, until).await?;
        let next = match polled.then {
            Then::End => Replaying::Done,
            Then::More => Replaying::In(source),
            // Not there yet, and nothing to read: what was read once will come again.
            Then::Wait(time) if polled.batch.num_rows() == 0 => {
                tokio::time::sleep(time).await;
                continue;
            }
            Then::Wait(_) => Replaying::In(source),
        };
        return Ok((polled.batch, next));
    }
}
