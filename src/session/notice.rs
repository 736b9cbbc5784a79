//! Remarks that go to the client beside a result.

use std::collections::VecDeque;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::error::{SqlError, SqlState};

/// Remarks that may wait for a client that does not read; what comes beyond is dropped.
const REMARKS_MAX: usize = 16;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Debug,
    Log,
    Notice,
    Warning,
    /// Always sent, whatever `client_min_messages` says.
    Info,
}

/// A remark: the fields of an error, but nothing failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub severity: Severity,
    pub report: SqlError,
}

/// `successful_completion`.
const SUCCESS: SqlState = "00000";

/// Notices on their way to the client while its statement runs.
#[derive(Debug, Default)]
pub struct Remarks {
    waiting: Mutex<VecDeque<Notice>>,
    added: Notify,
}

impl Remarks {
    pub(super) fn say(&self, notice: Notice) {
        let mut waiting = self.waiting.lock();
        if waiting.len() < REMARKS_MAX {
            waiting.push_back(notice);
            self.added.notify_one();
        }
    }

    /// What was not heard in time is past.
    pub(super) fn clear(&self) {
        self.waiting.lock().clear();
    }

    /// The next one, however long it takes. Cancel-safe.
    pub async fn next(&self) -> Notice {
        loop {
            if let Some(notice) = self.waiting.lock().pop_front() {
                return notice;
            }
            self.added.notified().await;
        }
    }
}

impl Notice {
    pub fn remark(message: impl Into<String>) -> Self {
        Self { severity: Severity::Notice, report: SqlError::new(SUCCESS, message) }
    }

    pub fn warning(code: SqlState, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, report: SqlError::new(code, message) }
    }

    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.report = self.report.detail(detail);
        self
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.report = self.report.hint(hint);
        self
    }
}
