//! SUBSCRIBE: what a watcher sees, as rows with their epoch and how often each came or went; and
//! the cursors of subscriptions, where each says whether it came or went.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::datatypes::{Schema, SchemaRef};
use futures::stream::{self, BoxStream, StreamExt};

use super::Engine;
use super::watcher::{Seen, Watch};
use crate::catalog::Object;
use crate::error::SqlResult;
use crate::serving::QueryContext;
use crate::types::{Delta, Epoch, SqlType, take_rows};

/// The columns of SUBSCRIBE, with `progressed` where progress is asked for.
pub fn subscribed(object: &Object, progress: bool) -> SchemaRef {
    let mut fields = vec![SqlType::BigInt.field("epoch", true)];
    if progress {
        fields.push(SqlType::Boolean.field("progressed", true));
    }
    fields.push(SqlType::BigInt.field("diff", true));
    let shown = object.columns.iter().map(|column| column.sql_type.field(&column.name, true));
    fields.extend(shown);
    Arc::new(Schema::new(fields))
}

impl Engine {
    /// The rows of SUBSCRIBE, without end. An empty batch says that there is nothing more now.
    pub async fn subscribe(
        self: &Arc<Self>,
        context: &QueryContext,
        watch: &Watch,
        progress: bool,
    ) -> SqlResult<BoxStream<'static, SqlResult<RecordBatch>>> {
        let watcher = self.watch(context, watch).await?;
        let schema = subscribed(&watch.object, progress);
        let rows = stream::try_unfold(watcher, move |mut watcher| {
            let schema = Arc::clone(&schema);
            async move {
                loop {
                    let batch = match watcher.next().await? {
                        Seen::Rows { epoch, delta } | Seen::Changes { epoch, delta } => {
                            changed(&schema, epoch, &delta, progress)?
                        }
                        Seen::Progress(epoch) if progress => progressed(&schema, epoch)?,
                        Seen::Progress(_) => continue,
                        Seen::Idle => RecordBatch::new_empty(schema),
                    };
                    return Ok(Some((batch, watcher)));
                }
            }
        });
        Ok(rows.boxed())
    }
}

/// The columns of a subscription's cursor: RisingWave's.
pub fn change_rows(object: &Object) -> SchemaRef {
    let shown = object.columns.iter().map(|column| column.sql_type.field(&column.name, true));
    let mut fields: Vec<_> = shown.collect();
    fields.push(SqlType::Text.field("op", true));
    fields.push(SqlType::BigInt.field("rw_timestamp", true));
    Arc::new(Schema::new(fields))
}

impl Engine {
    /// The rows of a subscription's cursor, without end. An empty batch says that there is nothing
    /// more now.
    pub async fn subscription_changes(
        self: &Arc<Self>,
        context: &QueryContext,
        watch: &Watch,
    ) -> SqlResult<BoxStream<'static, SqlResult<RecordBatch>>> {
        let watcher = self.watch(context, watch).await?;
        let schema = change_rows(&watch.object);
        let rows = stream::try_unfold(watcher, move |mut watcher| {
            let schema = Arc::clone(&schema);
            async move {
                loop {
                    let batch = match watcher.next().await? {
                        Seen::Rows { epoch, delta } | Seen::Changes { epoch, delta } => {
                            one_by_one(&schema, epoch, &delta)?
                        }
                        Seen::Progress(_) => continue,
                        Seen::Idle => RecordBatch::new_empty(schema),
                    };
                    return Ok(Some((batch, watcher)));
                }
            }
        });
        Ok(rows.boxed())
    }
}

/// What went, then what came, each row as often as it did: who applies them in this order by a key
/// has the right rows.
fn one_by_one(schema: &SchemaRef, epoch: Epoch, delta: &Delta) -> SqlResult<RecordBatch> {
    let mut indices: Vec<u32> = Vec::with_capacity(delta.rows());
    let mut deletes = 0;
    for sign in [-1, 1] {
        for (index, row) in (0u32..).zip(0..delta.rows()) {
            let weight = delta.weight(row);
            if weight.signum() == sign {
                indices.extend((0..weight.unsigned_abs()).map(|_| index));
            }
        }
        if sign < 0 {
            deletes = indices.len();
        }
    }
    let rows = take_rows(delta.batch(), &indices.into())?;
    let operations =
        (0..rows.num_rows()).map(|row| if row < deletes { "Delete" } else { "Insert" });
    let mut columns = rows.columns().to_vec();
    columns.push(Arc::new(operations.map(Some).collect::<StringArray>()));
    columns.push(Arc::new(number(epoch, rows.num_rows())));
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

fn changed(
    schema: &SchemaRef,
    epoch: Epoch,
    delta: &Delta,
    progress: bool,
) -> SqlResult<RecordBatch> {
    let rows = delta.rows();
    let weights: Int64Array = (0..rows).map(|row| Some(delta.weight(row))).collect();
    let mut columns: Vec<ArrayRef> = vec![Arc::new(number(epoch, rows))];
    if progress {
        columns.push(Arc::new(BooleanArray::from(vec![false; rows])));
    }
    columns.push(Arc::new(weights));
    columns.extend(delta.batch().columns().iter().cloned());
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

/// The row that says that an epoch is complete.
fn progressed(schema: &SchemaRef, epoch: Epoch) -> SqlResult<RecordBatch> {
    let mut columns: Vec<ArrayRef> =
        vec![Arc::new(number(epoch, 1)), Arc::new(BooleanArray::from(vec![true]))];
    let rest = &schema.fields()[columns.len()..];
    columns.extend(rest.iter().map(|field| new_null_array(field.data_type(), 1)));
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

fn number(epoch: Epoch, rows: usize) -> Int64Array {
    Int64Array::from_value(i64::try_from(epoch.0).unwrap_or(i64::MAX), rows)
}
