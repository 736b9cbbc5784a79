//! Rows to bytes, as they come: encoded into the writer's buffer, flushed when it is full and
//! whenever the statement pauses, so that a row never waits for the next one.

use std::pin::pin;
use std::time::Duration;

use arrow::array::RecordBatch;
use pgwire::messages::copy::MESSAGE_TYPE_BYTE_COPY_DATA;
use pgwire::messages::data::{FieldDescription, MESSAGE_TYPE_BYTE_DATA_ROW, RowDescription};

use super::connection::Stop;
use super::writer::{Writer, length};
use crate::error::SqlResult;
use crate::session::{CopyOut, Description, Format, Interrupts, Rows};
use crate::types::binary::BinaryEncoder;
use crate::types::text::TextEncoder;

/// How long rows may wait in the buffer for more to come.
const FLUSH_DELAY: Duration = Duration::from_millis(10);

/// What [`send`] sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    pub(super) rows: u64,
    /// Whether it stopped at the limit, not at the end.
    pub(super) limited: bool,
}

/// The columns of a result. No formats: as before Bind, when they are not known.
pub(super) fn description(columns: &Description, formats: &[Format]) -> RowDescription {
    let fields = columns.columns().enumerate().map(|(index, column)| {
        let (table, attribute) = column.origin.unwrap_or_default();
        FieldDescription::new(
            column.name.to_owned(),
            // OIDs are unsigned, but pgwire has this one as an i32.
            table.0.cast_signed(),
            attribute,
            column.sql_type.oid(),
            column.sql_type.typlen(),
            column.sql_type.typmod(),
            formats.get(index).map_or(0, |format| format.code()),
        )
    });
    RowDescription::new(fields.collect())
}

/// Sends all rows, and before them their description; nothing if it fails before the first row is
/// there, unless they have no end.
pub(super) async fn send_all(
    writer: &mut Writer,
    interrupts: &Interrupts,
    rows: &mut Rows,
) -> Result<Sent, Stop> {
    if rows.is_endless() {
        writer.put(&description(rows.description(), rows.formats()));
        return send(writer, interrupts, rows, None).await;
    }
    let first = next(writer, interrupts, rows, None).await?;
    writer.put(&description(rows.description(), rows.formats()));
    let Some(first) = first else { return Ok(Sent { rows: 0, limited: false }) };
    send_batch(writer, interrupts, rows, &first).await?;
    let rest = send(writer, interrupts, rows, None).await?;
    Ok(Sent { rows: rest.rows + first.num_rows() as u64, ..rest })
}

/// Sends rows up to `rows_max`, or all.
pub(super) async fn send(
    writer: &mut Writer,
    interrupts: &Interrupts,
    rows: &mut Rows,
    rows_max: Option<u64>,
) -> Result<Sent, Stop> {
    let mut sent = 0;
    loop {
        let left = rows_max.map(|rows_max| rows_max - sent);
        if left == Some(0) {
            return Ok(Sent { rows: sent, limited: true });
        }
        let Some(batch) = next(writer, interrupts, rows, left).await? else {
            return Ok(Sent { rows: sent, limited: false });
        };
        sent += batch.num_rows() as u64;
        send_batch(writer, interrupts, rows, &batch).await?;
    }
}

async fn send_batch(
    writer: &mut Writer,
    interrupts: &Interrupts,
    rows: &Rows,
    batch: &RecordBatch,
) -> Result<(), Stop> {
    let encoders = encoders(rows, batch)?;
    for row in 0..batch.num_rows() {
        writer.put_with(MESSAGE_TYPE_BYTE_DATA_ROW, |body| data_row(&encoders, row, body))?;
        if writer.is_full() {
            flush(writer, interrupts).await?;
        }
    }
    Ok(())
}

/// The next rows; while they are long in coming, what is in the buffer goes out.
pub(super) async fn next(
    writer: &mut Writer,
    interrupts: &Interrupts,
    rows: &mut Rows,
    rows_max: Option<u64>,
) -> Result<Option<RecordBatch>, Stop> {
    let mut next = pin!(interrupts.race(rows.next(rows_max)));
    if !writer.is_empty() {
        tokio::select! {
            biased;
            result = &mut next => return Ok(result?),
            () = tokio::time::sleep(FLUSH_DELAY) => flush(writer, interrupts).await?,
        }
    }
    Ok(next.await?)
}

/// Flushes, unless the statement must end first: a client that does not read can still cancel.
pub(super) async fn flush(writer: &mut Writer, interrupts: &Interrupts) -> Result<(), Stop> {
    tokio::select! {
        biased;
        flushed = writer.flush() => Ok(flushed?),
        interrupt = interrupts.wait() => Err(interrupt.error().into()),
    }
}

/// Sends the data of a COPY: a message for each row, and for what stands before and after them. The
/// header of the binary format comes with the first row, as drivers expect it from PostgreSQL.
pub(super) async fn send_copy(
    writer: &mut Writer,
    interrupts: &Interrupts,
    copy: CopyOut,
) -> Result<u64, Stop> {
    let is_binary = copy.is_binary();
    let CopyOut { mut rows, writer: format, .. } = copy;
    let mut header = Vec::new();
    format.write_header(&mut header);
    if !is_binary {
        put_piece(writer, |body| body.append(&mut header))?;
    }
    let mut sent = 0;
    while let Some(batch) = next(writer, interrupts, &mut rows, None).await? {
        let encoded = format.rows(&batch)?;
        for row in 0..batch.num_rows() {
            put_piece(writer, |body| {
                body.append(&mut header);
                encoded.write(row, body);
            })?;
            if writer.is_full() {
                flush(writer, interrupts).await?;
            }
        }
        sent += batch.num_rows() as u64;
    }
    put_piece(writer, |body| {
        body.append(&mut header);
        format.write_trailer(body);
    })?;
    Ok(sent)
}

/// A CopyData message; none if there is nothing in it.
fn put_piece(writer: &mut Writer, fill: impl FnOnce(&mut Vec<u8>)) -> SqlResult<()> {
    writer.put_unless_empty(MESSAGE_TYPE_BYTE_COPY_DATA, fill)
}

/// The encoder of one column of a batch.
enum Encoder {
    Text(TextEncoder),
    Binary(BinaryEncoder),
}

fn encoders(rows: &Rows, batch: &RecordBatch) -> SqlResult<Vec<Encoder>> {
    let fields = rows.description().schema().fields();
    let columns = fields.iter().zip(batch.columns()).zip(rows.formats());
    columns
        .map(|((field, column), format)| {
            Ok(match format {
                Format::Text => Encoder::Text(TextEncoder::new(field, column, rows.style())?),
                Format::Binary => Encoder::Binary(BinaryEncoder::new(field, column)?),
            })
        })
        .collect()
}

/// The body of a DataRow.
fn data_row(encoders: &[Encoder], row: usize, body: &mut Vec<u8>) -> SqlResult<()> {
    // PostgreSQL's limit of 1664 columns holds here too, so the count always fits.
    let count = u16::try_from(encoders.len()).unwrap_or(u16::MAX);
    body.extend_from_slice(&count.to_be_bytes());
    for encoder in encoders {
        encoder.write(row, body)?;
    }
    Ok(())
}

impl Encoder {
    /// A value with its length before it; NULL has length -1.
    fn write(&self, row: usize, body: &mut Vec<u8>) -> SqlResult<()> {
        let is_null = match self {
            Encoder::Text(encoder) => encoder.is_null(row),
            Encoder::Binary(encoder) => encoder.is_null(row),
        };
        if is_null {
            body.extend_from_slice(&(-1_i32).to_be_bytes());
            return Ok(());
        }
        let start = body.len();
        body.extend_from_slice(&[0; 4]);
        match self {
            Encoder::Text(encoder) => encoder.write(row, body),
            Encoder::Binary(encoder) => encoder.write(row, body),
        }
        let bytes = length(body.len() - start - 4)?;
        body[start..start + 4].copy_from_slice(&bytes.to_be_bytes());
        Ok(())
    }
}
