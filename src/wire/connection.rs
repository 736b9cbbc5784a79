//! One client: the message loop, and what every kind of message shares.
//!
//! ```text
//!            message          error in the extended protocol
//!   idle ---------------> running -----------------------> skipping
//!     ^                      |                                 |
//!     +--- ReadyForQuery ----+-------------- Sync -------------+
//! ```

use std::future::Future;
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures::FutureExt;
use pgwire::messages::response::{ReadyForQuery, TransactionStatus};
use pgwire::messages::startup::ParameterStatus;
use tokio_util::sync::CancellationToken;

use super::cancel::Registration;
use super::frontend::{Frontend, violation};
use super::reader::{ReadError, Reader};
use super::report;
use super::startup::{self, Admitted};
use super::writer::Writer;
use crate::error::SqlError;
use crate::session::{Interrupt, Interrupts, Remarks, Session, TransactionState};
use crate::{clock, metrics};

/// A client's connection.
pub(super) struct Connection {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) session: Session,
    pub(super) interrupts: Arc<Interrupts>,
    pub(super) shutdown: CancellationToken,
    /// Whether messages are skipped until Sync.
    pub(super) skipping: bool,
    /// Whether the client was told that it is its turn, and has said nothing since.
    is_ready: bool,
    /// The reported variables as the client knows them.
    reported: Vec<(&'static str, String)>,
    /// [`Variables::changes`](crate::session::Variables::changes) when they were.
    reported_at: u64,
    /// Takes the connection off the list of those that can be cancelled.
    _registration: Registration,
}

/// Why a connection ends.
#[derive(Debug)]
pub(super) enum End {
    /// The client said goodbye, or is gone.
    Gone,
    /// The client is told why.
    Fatal(SqlError),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        tracing::debug!(%error, "connection lost");
        End::Gone
    }
}

/// Why the handling of a message stops.
#[derive(Debug)]
pub(super) enum Stop {
    /// The statement failed; the connection goes on.
    Failed(SqlError),
    End(End),
}

impl From<SqlError> for Stop {
    fn from(error: SqlError) -> Self {
        Stop::Failed(error)
    }
}

impl From<End> for Stop {
    fn from(end: End) -> Self {
        Stop::End(end)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::End(error.into())
    }
}

impl Connection {
    pub(super) fn new(
        reader: Reader,
        mut writer: Writer,
        admitted: Admitted,
        shutdown: CancellationToken,
    ) -> Self {
        startup::greet(&admitted, &mut writer);
        let Admitted { session, registration, .. } = admitted;
        let interrupts = Arc::clone(session.interrupts());
        Self {
            reader,
            writer,
            interrupts,
            shutdown,
            skipping: false,
            is_ready: false,
            reported: session.variables().reported(),
            reported_at: session.variables().changes(),
            session,
            _registration: registration,
        }
    }

    /// To the end of the connection, whatever ends it: a panic is this connection's, not the
    /// server's.
    pub(super) async fn run(mut self) {
        let end = AssertUnwindSafe(self.converse()).catch_unwind().await.unwrap_or_else(|_| {
            let id = format!("{:08x}", clock::random() >> 96);
            tracing::error!(id, "a session panicked");
            End::Fatal(
                SqlError::internal("internal error: the session has been ended")
                    .detail(format!("The server's log has more under {id}.")),
            )
        });
        let Self { mut reader, mut writer, session, .. } = self;
        // What the transaction holds is free before the client can know that it ended.
        session.close().await;
        if let End::Fatal(error) = end {
            writer.put(&report::fatal(&error));
            startup::close(&mut reader, &mut writer).await;
        }
    }

    async fn converse(&mut self) -> End {
        if let Err(end) = self.ready().await {
            return end;
        }
        loop {
            let handled = match self.next().await {
                Ok(message) => Box::pin(self.handle(message)).await,
                Err(ReadError::Gone) => Err(End::Gone),
                Err(ReadError::Fatal(error)) => Err(End::Fatal(error)),
                Err(ReadError::Message { error, in_query }) => {
                    self.unreadable(&error, in_query).await
                }
            };
            if let Err(end) = handled {
                return end;
            }
        }
    }

    /// The next message; while none comes, the things that end an idle connection, and the word
    /// that others send it.
    async fn next(&mut self) -> Result<Frontend, ReadError> {
        let idle = self.session.idle_timeout();
        let timeout = async {
            match idle {
                Some((timeout, error)) => {
                    tokio::time::sleep(timeout).await;
                    error
                }
                None => std::future::pending().await,
            }
        };
        let mut timeout = pin!(timeout);
        loop {
            tokio::select! {
                biased;
                () = self.shutdown.cancelled() => {
                    return Err(ReadError::Fatal(Interrupt::Shutdown.error()));
                }
                interrupt = self.interrupts.ended() => {
                    return Err(ReadError::Fatal(interrupt.error()));
                }
                message = self.reader.message() => {
                    self.is_ready = false;
                    return message;
                }
                error = &mut timeout => return Err(ReadError::Fatal(error)),
                () = self.session.notified(), if self.is_ready => {
                    let delivered = async {
                        self.deliver().await?;
                        Ok(self.writer.flush().await?)
                    };
                    delivered.await.map_err(|end| match end {
                        End::Gone => ReadError::Gone,
                        End::Fatal(error) => ReadError::Fatal(error),
                    })?;
                }
            }
        }
    }

    /// Sends what others have told the session, if it is in no transaction.
    async fn deliver(&mut self) -> Result<(), End> {
        if self.session.transaction_state() != TransactionState::Idle {
            return Ok(());
        }
        for notification in self.session.take_notifications().map_err(End::Fatal)? {
            self.writer.put(&report::notification(&notification));
            if self.writer.is_full() {
                self.writer.flush().await?;
            }
        }
        Ok(())
    }

    async fn handle(&mut self, message: Frontend) -> Result<(), End> {
        match message {
            Frontend::Terminate => return Err(End::Gone),
            Frontend::Sync => return self.sync().await,
            _ if self.skipping => return Ok(()),
            // Left over from a COPY that failed.
            Frontend::CopyData(_) | Frontend::CopyDone | Frontend::CopyFail(_) => return Ok(()),
            Frontend::Query(sql) => return self.query(&sql).await,
            Frontend::FunctionCall => {
                self.fail(&SqlError::unsupported("the function call protocol"));
                return self.ready().await;
            }
            Frontend::Password => {
                return Err(End::Fatal(violation("unexpected password message")));
            }
            _ => {}
        }
        let handled = match message {
            Frontend::Parse(parse) => self.parse(parse).await,
            Frontend::Bind(bind) => self.bind(bind).await,
            Frontend::Describe(target) => self.describe(&target).await,
            Frontend::Execute(execute) => self.execute(execute).await,
            Frontend::Close(target) => self.close(&target),
            Frontend::Flush => self.writer.flush().await.map_err(Stop::from),
            _ => Ok(()),
        };
        self.settle();
        match handled {
            Ok(()) => {
                if self.writer.is_full() {
                    self.writer.flush().await?;
                }
                Ok(())
            }
            Err(Stop::Failed(error)) => self.skip(&error).await,
            Err(Stop::End(end)) => Err(end),
        }
    }

    /// Reports an error of the extended protocol and skips what was sent in the belief that all
    /// goes well. Like PostgreSQL it tells the error at once: a client may wait for it with no more
    /// than a Flush, which is skipped too.
    async fn skip(&mut self, error: &SqlError) -> Result<(), End> {
        self.fail(error);
        self.skipping = true;
        self.writer.flush().await?;
        Ok(())
    }

    /// A message whose frame was whole but whose content was not.
    async fn unreadable(&mut self, error: &SqlError, in_query: bool) -> Result<(), End> {
        if self.skipping {
            return Ok(());
        }
        if in_query {
            self.fail(error);
            return self.ready().await;
        }
        self.skip(error).await
    }

    /// A statement starts: what may interrupt it counts from here.
    pub(super) fn begin(&self) {
        self.interrupts.begin(self.session.statement_timeout());
    }

    /// Reports a failed statement, and lets its transaction fail.
    pub(super) fn fail(&mut self, error: &SqlError) {
        metrics::STATEMENTS.with_label_values(&[error.code]).inc();
        if error.code == crate::error::code::INTERNAL_ERROR {
            tracing::error!(%error, detail = error.detail, "internal error");
        }
        self.interrupts.end();
        self.session.fail();
        self.settle();
        self.writer.put(&report::error(error));
    }

    /// Sends the notices that a statement left beside its result.
    pub(super) fn settle(&mut self) {
        for notice in self.session.take_notices() {
            self.writer.put(&report::notice(&notice));
        }
    }

    /// Sends the reported variables that have changed. Like PostgreSQL, only before ReadyForQuery.
    fn report_variables(&mut self) {
        let variables = self.session.variables();
        if variables.changes() == self.reported_at {
            return;
        }
        self.reported_at = variables.changes();
        let now = variables.reported();
        for (before, after) in self.reported.iter().zip(&now) {
            if before != after {
                let (name, value) = after.clone();
                self.writer.put(&ParameterStatus::new(name.to_owned(), value));
            }
        }
        self.reported = now;
    }

    /// Tells the client that it is its turn.
    pub(super) async fn ready(&mut self) -> Result<(), End> {
        self.interrupts.end();
        self.session.is_idle();
        self.settle();
        self.deliver().await?;
        self.report_variables();
        let status = match self.session.transaction_state() {
            TransactionState::Idle => TransactionStatus::Idle,
            TransactionState::Open => TransactionStatus::Transaction,
            TransactionState::Failed => TransactionStatus::Error,
        };
        self.writer.put(&ReadyForQuery::new(status));
        self.writer.flush().await?;
        self.is_ready = true;
        Ok(())
    }

    /// What a failure means for the connection: an interrupt may be behind it that ends it.
    pub(super) fn judge(&self, error: SqlError) -> Stop {
        match self.interrupts.raised() {
            Some(Interrupt::HangUp) => Stop::End(End::Gone),
            Some(Interrupt::Shutdown) => Stop::End(End::Fatal(Interrupt::Shutdown.error())),
            _ => Stop::Failed(error),
        }
    }

    /// As [`Connection::judge`], for work that may also lose the connection.
    pub(super) fn judge_stop(&self, stop: Stop) -> Stop {
        match stop {
            Stop::Failed(error) => self.judge(error),
            end => end,
        }
    }
}

/// Runs `work` to its end; meanwhile raises an interrupt when the client is gone or the server
/// stops. It is for `work` to heed it.
pub(super) async fn watched<T>(
    reader: &mut Reader,
    interrupts: &Interrupts,
    shutdown: &CancellationToken,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    tokio::select! {
        biased;
        result = &mut work => return result,
        () = shutdown.cancelled() => interrupts.raise(Interrupt::Shutdown),
        () = reader.gone() => interrupts.raise(Interrupt::HangUp),
    }
    work.await
}

/// Runs `work` to its end; meanwhile sends what it remarks. Should the client be gone, that shows
/// elsewhere.
pub(super) async fn telling<T>(
    writer: &mut Writer,
    remarks: &Remarks,
    work: impl Future<Output = T>,
) -> T {
    let mut work = pin!(work);
    loop {
        let notice = tokio::select! {
            biased;
            result = &mut work => return result,
            notice = remarks.next() => notice,
        };
        writer.put(&report::notice(&notice));
        tokio::select! {
            biased;
            result = &mut work => return result,
            flushed = writer.flush() => flushed.unwrap_or_else(|error| {
                tracing::debug!(%error, "a remark cannot be sent");
            }),
        }
    }
}
