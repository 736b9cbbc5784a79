//! Window functions whose results are decided by the rows near a row (`lag`, `lead`, frames of so
//! many rows), or go on from those of the row before (`row_number`, `rank`, sums so far):
//!
//! ```text
//!  Δout = Σ over stretches of rows near what changed of (−stored results + results now)
//! ```
//!
//! Each row is kept in its place, with its results:
//!
//! ```text
//!  vnode | partition | entry  ->  length of the order | weight | results     (`ordered`)
//! ```
//!
//! Lengths and weights are varints; results are rows by their number of copies (`keyed::packed`):
//! copies of a row may differ in theirs. What changed in a partition is followed by a sweep, piece
//! by piece, from the first row whose results may be others to where they are again as stored. A
//! piece begins with as many rows as its first results look back upon, and ends with as many as its
//! last ones look ahead to. Functions are DataFusion's, over pieces instead of partitions; what
//! goes on from the row before is put together with the results that are stored there.
//!
//! A partition on which the functions fail has no rows in the result (see `failures`).

mod operator;
mod sweep;
#[cfg(test)]
mod tests;

pub use operator::Window;
