//! Values as PostgreSQL writes them in text.
//!
//! A [`TextEncoder`] is made for a column and then writes row by row, appending to a buffer
//! without an allocation of its own. The inverse is [`parse`](super::parse).

mod datetime;
mod encode;
mod float;
mod interval;
mod number;
mod quote;
mod style;

pub use encode::TextEncoder;
pub(crate) use encode::{push_text, write_laid_out};
pub use style::{ByteaOutput, IntervalStyle, TextStyle};

pub(super) use number::{push_big_decimal, push_decimal, push_plain_number};
