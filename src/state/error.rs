//! What can go wrong below the operators.

use crate::error::{SqlError, code};

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process has the folder open.
    #[error("data folder {path} is in use by another server")]
    Locked { path: String },
    /// The disk or RocksDB refused.
    #[error("storage: {0}")]
    Storage(String),
    /// Bytes on disk that this version cannot read.
    #[error("corrupt or foreign data in {place}: {reason}")]
    Corrupt { place: String, reason: String },
    /// An epoch changes more than is allowed to be in memory.
    #[error(
        "the changes of one epoch, those of views and indexes included, take more than {} MB",
        bytes_max >> 20
    )]
    EpochTooLarge { bytes_max: usize },
    #[error("storage: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
}

impl From<StateError> for SqlError {
    fn from(error: StateError) -> Self {
        let text = error.to_string();
        match error {
            StateError::Locked { .. } => SqlError::new(code::OBJECT_IN_USE, text)
                .hint("Stop the other server, or choose another folder with --data."),
            StateError::Storage(_) => SqlError::new(code::IO_ERROR, text),
            StateError::Corrupt { .. } => SqlError::new(code::DATA_CORRUPTED, text),
            StateError::EpochTooLarge { .. } => SqlError::new(code::OUT_OF_MEMORY, text)
                .hint("Change fewer rows in a transaction, or give the server more --memory."),
            StateError::Arrow(_) => SqlError::internal(text),
        }
    }
}
