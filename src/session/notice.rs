//! Remarks that go to the client beside a result.

use crate::error::{SqlError, SqlState};

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
