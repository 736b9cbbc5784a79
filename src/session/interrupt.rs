//! What may end a statement before its time: the client's cancel, a timeout, a client that is
//! gone, the server's shutdown.
//!
//! The wire raises interrupts; the session waits for them wherever a statement waits. A cancel or
//! a timeout ends one statement; the other two stay, and end the connection.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::clock::{self, Moment};
use crate::error::{SqlError, SqlResult, SqlState, code};

/// `connection_failure`.
const CONNECTION_FAILURE: SqlState = "08006";

/// Why a statement must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// The client asked, on a connection of its own.
    Cancel,
    /// `statement_timeout` is over.
    Timeout,
    /// The client is gone.
    HangUp,
    /// The server stops.
    Shutdown,
}

impl Interrupt {
    /// Whether the connection cannot go on.
    pub fn is_fatal(self) -> bool {
        matches!(self, Interrupt::HangUp | Interrupt::Shutdown)
    }

    /// As PostgreSQL tells the client.
    pub fn error(self) -> SqlError {
        let (code, message) = match self {
            Interrupt::Cancel => (code::QUERY_CANCELED, "canceling statement due to user request"),
            Interrupt::Timeout => {
                (code::QUERY_CANCELED, "canceling statement due to statement timeout")
            }
            Interrupt::HangUp => (CONNECTION_FAILURE, "connection to client lost"),
            Interrupt::Shutdown => {
                (code::ADMIN_SHUTDOWN, "terminating connection due to administrator command")
            }
        };
        SqlError::new(code, message)
    }
}

/// The interrupts of one connection.
#[derive(Debug, Default)]
pub struct Interrupts {
    state: Mutex<State>,
    /// Cancelled with the first interrupt that ends the connection.
    ended: CancellationToken,
}

#[derive(Debug, Default)]
struct State {
    /// Cancelled when `raised` is set.
    token: CancellationToken,
    raised: Option<Interrupt>,
    /// Whether a statement runs that a cancel could mean.
    running: bool,
    deadline: Option<(Moment, Duration)>,
}

impl State {
    /// What ended a statement is past with it.
    fn forget(&mut self) {
        if self.raised.is_some_and(|raised| !raised.is_fatal()) {
            self.raised = None;
            self.token = CancellationToken::new();
        }
    }
}

impl Interrupts {
    /// A statement starts, and may take as long as `timeout`. What was raised before is past.
    pub fn begin(&self, timeout: Option<Duration>) {
        let mut state = self.state.lock();
        state.running = true;
        state.deadline = timeout.map(|timeout| (clock::moment(), timeout));
        state.forget();
    }

    /// The statement is over.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.running = false;
        state.deadline = None;
        state.forget();
    }

    /// Raises an interrupt. The first one raised is the one that is told; a fatal one wins.
    pub fn raise(&self, interrupt: Interrupt) {
        let mut state = self.state.lock();
        if !state.running && !interrupt.is_fatal() {
            return;
        }
        let replaces = state.raised.is_none_or(|raised| !raised.is_fatal());
        if replaces && (interrupt.is_fatal() || state.raised.is_none()) {
            state.raised = Some(interrupt);
        }
        state.token.cancel();
        if interrupt.is_fatal() {
            self.ended.cancel();
        }
    }

    /// Returns once the connection must end, whether a statement runs or not.
    pub async fn ended(&self) -> Interrupt {
        self.ended.cancelled().await;
        self.raised().unwrap_or(Interrupt::Shutdown)
    }

    /// A token that is cancelled with the running statement, for those who work for it.
    pub fn token(&self) -> CancellationToken {
        self.state.lock().token.clone()
    }

    /// What has been raised.
    pub fn raised(&self) -> Option<Interrupt> {
        self.state.lock().raised
    }

    /// An error if the statement must end.
    pub fn check(&self) -> SqlResult<()> {
        self.raised().map_or(Ok(()), |interrupt| Err(interrupt.error()))
    }

    /// Returns once the statement must end.
    pub async fn wait(&self) -> Interrupt {
        let (token, deadline) = {
            let state = self.state.lock();
            (state.token.clone(), state.deadline)
        };
        let timeout = async {
            match deadline {
                Some((since, timeout)) => {
                    tokio::time::sleep(timeout.saturating_sub(since.elapsed())).await;
                }
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = token.cancelled() => {}
            () = timeout => self.raise(Interrupt::Timeout),
        }
        self.raised().unwrap_or(Interrupt::Cancel)
    }

    /// `work`, or the error of the interrupt that came first.
    pub async fn race<T>(&self, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
        tokio::select! {
            biased;
            interrupt = self.wait() => Err(interrupt.error()),
            result = work => result,
        }
    }

    /// `work`, which heeds [`Interrupts::token`] itself and is let come to its end. Should it fail
    /// after an interrupt, the error is the interrupt's.
    pub async fn tell<T>(&self, work: impl Future<Output = SqlResult<T>>) -> SqlResult<T> {
        let mut work = pin!(work);
        let interrupt = tokio::select! {
            biased;
            result = &mut work => return result,
            interrupt = self.wait() => interrupt,
        };
        work.await.map_err(|_| interrupt.error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancel_between_statements_means_none() {
        let interrupts = Interrupts::default();
        interrupts.raise(Interrupt::Cancel);
        interrupts.begin(None);
        assert!(interrupts.check().is_ok());
        interrupts.raise(Interrupt::Cancel);
        assert_eq!(interrupts.raised(), Some(Interrupt::Cancel));
        interrupts.end();
        interrupts.begin(None);
        assert_eq!(interrupts.raised(), None);
        assert!(!interrupts.token().is_cancelled());
    }

    #[test]
    fn a_lost_client_stays_lost() {
        let interrupts = Interrupts::default();
        interrupts.begin(None);
        interrupts.raise(Interrupt::Cancel);
        interrupts.raise(Interrupt::HangUp);
        interrupts.raise(Interrupt::Cancel);
        interrupts.begin(None);
        assert_eq!(interrupts.raised(), Some(Interrupt::HangUp));
        assert!(interrupts.token().is_cancelled());
    }

    #[tokio::test]
    async fn what_heeds_the_token_comes_to_its_end() {
        let interrupts = Interrupts::default();
        interrupts.begin(Some(Duration::from_millis(5)));
        let token = interrupts.token();
        let mut ended = false;
        let work = async {
            token.cancelled().await;
            ended = true;
            Err::<(), _>(SqlError::internal("cancelled"))
        };
        let error = interrupts.tell(work).await.unwrap_err();
        assert_eq!(error.message, "canceling statement due to statement timeout");
        assert!(ended);
    }

    #[tokio::test]
    async fn a_timeout_ends_what_waits() {
        let interrupts = Interrupts::default();
        interrupts.begin(Some(Duration::from_millis(5)));
        let error = interrupts.race(std::future::pending::<SqlResult<()>>()).await.unwrap_err();
        assert_eq!(error.code, code::QUERY_CANCELED);
        assert_eq!(error.message, "canceling statement due to statement timeout");
        assert!(interrupts.token().is_cancelled());
    }
}
