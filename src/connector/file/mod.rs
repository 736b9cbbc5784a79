//! Files: one, or all that a pattern means, plain or compressed, as they are or as they grow.
//!
//! A file is a split. Its position stands after the last whole record that was read, so a seek
//! goes on with the next one, and a record that is half written waits until its end is there.

pub mod options;
mod position;
mod reader;
mod records;
pub mod source;

#[cfg(test)]
mod tests;
