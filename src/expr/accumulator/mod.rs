//! Incremental aggregate functions, columnar by group: slot `i` of every accumulator belongs to
//! group `i`. Rows come with weights, so whatever was added can be taken away again; the state is a
//! function of the group's rows alone, not of their order or of what came and went.
//!
//! NULLs are ignored, and over no other values a sum, mean, minimum or maximum is NULL.

mod count;
mod extreme;
mod float;
mod moments;
mod number;
mod spans;
mod sum;
mod varint;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;

pub use extreme::{End, Extreme};
pub use moments::{Moments, Spread, Unit, results as spreads};
pub use spans::Spans;
pub use varint::{read_bytes, read_varint, write_bytes, write_varint};

use crate::error::{SqlError, SqlResult};

/// One aggregate call's state for all groups.
pub trait Accumulator: Send {
    /// Has `slots` slots from now on; new ones are as over no rows.
    fn resize(&mut self, slots: usize);

    /// Adds rows: of row `i` to slot `slots[i]`, `weights[i]` times `values[i]`. Weight 0: not at
    /// all. `values` is `None` only for `count(*)`.
    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()>;

    /// The results of `slots`.
    fn results(&self, slots: &[u32]) -> SqlResult<Results>;

    /// Appends the state of `slot`, for [`Accumulator::read`].
    fn write(&self, slot: usize, bytes: &mut Vec<u8>);

    /// Sets `slot` to what is written first in `bytes`, and moves past it; `None`: it is not that.
    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()>;

    /// Keeps `slots` only, in their order.
    fn retain(&mut self, slots: &[u32]);

    /// Bytes of memory.
    fn bytes(&self) -> usize;
}

/// Results of some slots.
#[derive(Debug)]
pub struct Results {
    pub column: ArrayRef,
    /// Places in the column that are NULL because the result cannot be represented, and why.
    pub errors: Vec<(usize, SqlError)>,
}

/// Which function adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    Total,
    Mean,
}

/// `count`: of the values that are not NULL, or of all rows where there is no argument.
pub fn count() -> Box<dyn Accumulator> {
    Box::new(count::Count::default())
}

/// `sum` or `avg` of values of type `argument`, as `result`.
pub fn sum(
    function: Sum,
    argument: &DataType,
    result: &DataType,
) -> SqlResult<Box<dyn Accumulator>> {
    if matches!(argument, DataType::Interval(_)) {
        return Ok(Box::new(spans::Intervals::new(function)));
    }
    sum::build(function, argument, result)
}

/// A variance or standard deviation of values of type `argument`.
pub fn variance(spread: Spread, argument: &DataType) -> SqlResult<Box<dyn Accumulator>> {
    let unit = Unit::of(argument)
        .ok_or_else(|| SqlError::unsupported(format!("a variance of {argument} in a view")))?;
    Ok(Box::new(moments::Spreads::new(spread, unit)))
}

/// The elements of `values` at `slots`, in their order.
fn gather<T: Default>(values: &mut [T], slots: &[u32]) -> Vec<T> {
    slots.iter().map(|&slot| std::mem::take(&mut values[slot as usize])).collect()
}
