//! COPY's formats, apart from the wire: text, CSV and binary, read in chunks and written by row.
//!
//! ```text
//! bytes -> RecordReader (lines) -> Fields (text or CSV) -> ColumnBuilder (values) -> batches
//! ```
//!
//! [`RecordReader`] and [`Fields`] stand on their own, for whoever reads CSV elsewhere.

mod binary;
mod fields;
mod options;
mod reader;
mod records;
mod writer;

pub use fields::{Field, Fields};
pub use options::{ColumnSet, CopyFormat, CopyOptions, Header};
pub use reader::{CopyReader, CopyTarget};
pub use records::{RECORD_BYTES_MAX, Record, RecordReader};
pub use writer::{CopyRows, CopyWriter};
