//! Values in PostgreSQL's binary format: big-endian, each type with its own layout.
//!
//! | type | bytes |
//! |---|---|
//! | boolean | 1 |
//! | smallint, integer, bigint, oid | 2, 4, 8, 4 |
//! | real, double precision | IEEE 754 |
//! | numeric | digit count, weight, sign, scale (i16 each), digits of base 10000 (i16) |
//! | text, varchar, json | UTF-8 |
//! | jsonb | 1, then UTF-8 |
//! | bytea, uuid | as they are, 16 |
//! | date | days from 2000 (i32) |
//! | time, timestamp, timestamptz | microseconds from midnight or 2000 (i64) |
//! | interval | microseconds (i64), days, months (i32) |
//! | array | dimensions, has NULLs (i32), element OID, (length, 1) a dimension, elements |
//! | record | column count, then OID and value each |
//!
//! An element or a column is its length (i32, -1 for NULL) and its bytes.

mod decode;
mod encode;
mod numeric;
#[cfg(test)]
mod tests;

pub use encode::BinaryEncoder;
