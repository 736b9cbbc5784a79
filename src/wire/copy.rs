//! COPY over the wire: rows in from CopyData, rows out as CopyData.
//!
//! While a client copies in, the messages are its data: Flush and Sync are ignored, as in
//! PostgreSQL (drivers pipeline a Sync behind the Execute that starts the copy). After an error
//! what still comes of the data is skipped by the message loop.

use pgwire::messages::copy::{CopyDone, CopyInResponse, CopyOutResponse};

use super::connection::{Connection, End, Stop, watched};
use super::frontend::{Frontend, violation};
use super::reader::ReadError;
use super::rows;
use crate::error::{SqlError, code};
use crate::session::{CopyIn, CopyOut, Interrupt};

impl Connection {
    pub(super) async fn copy_in(&mut self, mut copy: CopyIn) -> Result<String, Stop> {
        let format = i8::from(copy.is_binary());
        let columns = vec![i16::from(format); copy.columns()];
        let count = i16::try_from(columns.len()).unwrap_or(i16::MAX);
        self.settle();
        self.writer.put(&CopyInResponse::new(format, count, columns));
        self.writer.flush().await?;
        loop {
            match self.next_of_copy().await? {
                Frontend::CopyData(data) => {
                    let Self { reader, interrupts, shutdown, session, .. } = self;
                    let feeding = session.copy_data(&mut copy, data);
                    let fed = watched(reader, interrupts, shutdown, feeding).await;
                    fed.map_err(|error| self.judge(error))?;
                }
                Frontend::CopyDone => break,
                Frontend::CopyFail(reason) => {
                    let message = format!("COPY from stdin failed: {reason}");
                    return Err(SqlError::new(code::QUERY_CANCELED, message).into());
                }
                Frontend::Flush | Frontend::Sync => {}
                Frontend::Terminate => return Err(End::Gone.into()),
                other => {
                    let kind = other.kind();
                    return Err(violation(format!(
                        "unexpected message type 0x{kind:02X} during COPY from stdin"
                    ))
                    .into());
                }
            }
        }
        let Self { reader, interrupts, shutdown, session, .. } = self;
        let ending = session.copy_done(copy);
        let rows = watched(reader, interrupts, shutdown, ending).await;
        Ok(format!("COPY {}", rows.map_err(|error| self.judge(error))?))
    }

    /// The next message from a client that copies in: it may be long in coming.
    async fn next_of_copy(&mut self) -> Result<Frontend, Stop> {
        let message = tokio::select! {
            biased;
            () = self.shutdown.cancelled() => {
                return Err(End::Fatal(Interrupt::Shutdown.error()).into());
            }
            interrupt = self.interrupts.wait() => return Err(interrupt.error().into()),
            message = self.reader.message() => message,
        };
        message.map_err(|error| match error {
            ReadError::Gone => End::Gone.into(),
            ReadError::Fatal(error) => End::Fatal(error).into(),
            ReadError::Message { error, .. } => Stop::Failed(error),
        })
    }

    pub(super) async fn copy_out(&mut self, copy: CopyOut) -> Result<String, Stop> {
        let format = i8::from(copy.is_binary());
        let columns = vec![i16::from(format); copy.columns()];
        let count = i16::try_from(columns.len()).unwrap_or(i16::MAX);
        self.settle();
        self.writer.put(&CopyOutResponse::new(format, count, columns));
        let Self { reader, writer, interrupts, shutdown, .. } = self;
        let sending = rows::send_copy(writer, interrupts, copy);
        let rows = watched(reader, interrupts, shutdown, sending).await;
        let rows = rows.map_err(|stop| self.judge_stop(stop))?;
        self.writer.put(&CopyDone::new());
        Ok(format!("COPY {rows}"))
    }
}
