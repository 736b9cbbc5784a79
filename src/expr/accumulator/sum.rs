//! `sum` and `avg`: integers and decimals in wide integers, floats exactly. Nothing rounds or
//! overflows before a result is read, so that what overflows may come back into range.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    DataType, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type, i256,
};

use super::float::ExactSum;
use super::number::{Target, Total};
use super::{Accumulator, Results, Sum, read_varint, write_varint};
use crate::error::{SqlError, SqlResult, code};

/// The accumulator of `function` over values of type `argument`.
pub(super) fn build(
    function: Sum,
    argument: &DataType,
    result: &DataType,
) -> SqlResult<Box<dyn Accumulator>> {
    let name = match function {
        Sum::Total => "sum",
        Sum::Mean => "avg",
    };
    let unsupported =
        || SqlError::unsupported(format!("{name}({argument}) with result {result} in a view"));
    let target = Target::of(result).ok_or_else(unsupported)?;
    let exact = matches!(target, Target::BigInt | Target::Decimal { .. } | Target::Numeric);
    Ok(match argument {
        DataType::Int8 => Box::new(Sums::<Int8Type>::new(function, target, 0)),
        DataType::Int16 => Box::new(Sums::<Int16Type>::new(function, target, 0)),
        DataType::Int32 => Box::new(Sums::<Int32Type>::new(function, target, 0)),
        DataType::Int64 => Box::new(Sums::<Int64Type>::new(function, target, 0)),
        DataType::UInt8 => Box::new(Sums::<UInt8Type>::new(function, target, 0)),
        DataType::UInt16 => Box::new(Sums::<UInt16Type>::new(function, target, 0)),
        DataType::UInt32 => Box::new(Sums::<UInt32Type>::new(function, target, 0)),
        DataType::UInt64 => Box::new(Sums::<UInt64Type>::new(function, target, 0)),
        DataType::Decimal128(_, scale) => {
            Box::new(Sums::<Decimal128Type>::new(function, target, *scale))
        }
        DataType::Decimal256(_, scale) => {
            Box::new(Sums::<Decimal256Type>::new(function, target, *scale))
        }
        DataType::Float32 if !exact => Box::new(Sums::<Float32Type>::new(function, target, 0)),
        DataType::Float64 if !exact => Box::new(Sums::<Float64Type>::new(function, target, 0)),
        _ => return Err(unsupported()),
    })
}

/// How values of a type add up.
trait Summand: ArrowPrimitiveType {
    type Running: Running + Default + Clone + Send;

    fn add(running: &mut Self::Running, value: Self::Native, weight: i64);
}

/// A sum that goes on.
trait Running: Sized {
    fn total(&self) -> SqlResult<Total>;
    fn write(&self, bytes: &mut Vec<u8>);
    fn read(bytes: &mut &[u8]) -> Option<Self>;
    /// Bytes of memory that it holds besides itself, about: asked for at every barrier, so not
    /// counted one by one.
    const HEAP_BYTES: usize = 0;
}

macro_rules! integer_summand {
    ($($type:ty),*) => {$(
        impl Summand for $type {
            type Running = i128;

            fn add(running: &mut i128, value: Self::Native, weight: i64) {
                *running = running.wrapping_add(i128::from(value) * i128::from(weight));
            }
        }
    )*};
}

integer_summand!(
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type
);

impl Running for i128 {
    fn total(&self) -> SqlResult<Total> {
        Ok(Total::Exact(i256::from_i128(*self)))
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        write_varint(*self, bytes);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        read_varint(bytes)
    }
}

impl Summand for Decimal128Type {
    type Running = Decimals;

    fn add(running: &mut Decimals, value: i128, weight: i64) {
        let value = i256::from_i128(value);
        let sum = &mut running.0;
        *sum = match weight {
            1 => sum.wrapping_add(value),
            -1 => sum.wrapping_sub(value),
            _ => sum.wrapping_add(value.wrapping_mul(i256::from_i128(weight.into()))),
        };
    }
}

/// A sum of decimals of one scale: 128 bits, 64 for weights, and some to spare.
#[derive(Debug, Clone, Default)]
struct Decimals(i256);

impl Running for Decimals {
    fn total(&self) -> SqlResult<Total> {
        Ok(Total::Exact(self.0))
    }

    /// The high half is nearly always the sign only: one byte.
    fn write(&self, bytes: &mut Vec<u8>) {
        let (low, high) = self.0.to_parts();
        let low = low.cast_signed();
        write_varint(high.wrapping_sub(low >> 127), bytes);
        write_varint(low, bytes);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let high: i128 = read_varint(bytes)?;
        let low: i128 = read_varint(bytes)?;
        Some(Self(i256::from_parts(low.cast_unsigned(), high.wrapping_add(low >> 127))))
    }
}

/// A sum of decimals of 256 bits, in two parts that have room: what stands before the point, and
/// what stands after it.
#[derive(Debug, Clone, Default)]
struct LongDecimals {
    whole: Decimals,
    fraction: Decimals,
}

/// 10^38: what parts a numeric without a modifier at its point.
fn unit() -> i256 {
    i256::from_i128(10_i128.pow(38))
}

impl Summand for Decimal256Type {
    type Running = LongDecimals;

    fn add(running: &mut LongDecimals, value: i256, weight: i64) {
        let unit = unit();
        let weight = i256::from_i128(weight.into());
        let parts = [
            (&mut running.whole, value.wrapping_div(unit)),
            (&mut running.fraction, value.wrapping_rem(unit)),
        ];
        for (sum, part) in parts {
            if part != i256::ZERO {
                sum.0 = sum.0.wrapping_add(part.wrapping_mul(weight));
            }
        }
    }
}

impl Running for LongDecimals {
    fn total(&self) -> SqlResult<Total> {
        let whole = self.whole.0.checked_mul(unit());
        let total = whole.and_then(|whole| whole.checked_add(self.fraction.0));
        total.map(Total::Exact).ok_or_else(|| {
            SqlError::new(code::NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
        })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.whole.write(bytes);
        self.fraction.write(bytes);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self { whole: Decimals::read(bytes)?, fraction: Decimals::read(bytes)? })
    }
}

/// A sum of floats: the finite ones exactly, the others counted.
#[derive(Debug, Clone, Default)]
struct Floats {
    finite: ExactSum,
    others: Option<Box<Others>>,
}

/// How many NaNs and infinities there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Others {
    nan: i64,
    positive: i64,
    negative: i64,
}

impl Floats {
    fn add(&mut self, value: f64, weight: i64) {
        if value.is_finite() {
            self.finite.add(value, weight);
            return;
        }
        let others = self.others.get_or_insert_default();
        let count = match value {
            _ if value.is_nan() => &mut others.nan,
            _ if value > 0.0 => &mut others.positive,
            _ => &mut others.negative,
        };
        *count += weight;
        if **others == Others::default() {
            self.others = None;
        }
    }
}

impl Summand for Float64Type {
    type Running = Floats;

    fn add(running: &mut Floats, value: f64, weight: i64) {
        running.add(value, weight);
    }
}

impl Summand for Float32Type {
    type Running = Floats;

    fn add(running: &mut Floats, value: f32, weight: i64) {
        running.add(value.into(), weight);
    }
}

impl Running for Floats {
    fn total(&self) -> SqlResult<Total> {
        let value = match self.others.as_deref() {
            None => self.finite.value(),
            Some(others) if others.nan != 0 => f64::NAN,
            Some(others) => match (others.positive != 0, others.negative != 0) {
                (true, true) => f64::NAN,
                (true, false) => f64::INFINITY,
                _ => f64::NEG_INFINITY,
            },
        };
        if value.is_infinite() && self.others.is_none() {
            return Err(SqlError::new(
                code::NUMERIC_VALUE_OUT_OF_RANGE,
                "value out of range: overflow",
            ));
        }
        Ok(Total::Float(value))
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        match self.others.as_deref() {
            None => bytes.push(0),
            Some(others) => {
                bytes.push(1);
                for count in [others.nan, others.positive, others.negative] {
                    write_varint(count, bytes);
                }
            }
        }
        self.finite.write(bytes);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (tag, rest) = bytes.split_first()?;
        *bytes = rest;
        let others = match tag {
            0 => None,
            1 => {
                let nan = read_varint(bytes)?;
                let positive = read_varint(bytes)?;
                Some(Box::new(Others { nan, positive, negative: read_varint(bytes)? }))
            }
            _ => return None,
        };
        Some(Self { finite: ExactSum::read(bytes)?, others })
    }

    /// Values between a millionth and a trillion take four limbs, and the sign another.
    const HEAP_BYTES: usize = 5 * size_of::<u64>();
}

/// The sums of values of one type, by slot.
struct Sums<T: Summand> {
    function: Sum,
    target: Target,
    scale: i8,
    running: Vec<T::Running>,
    /// Values that are not NULL.
    counts: Vec<i64>,
}

impl<T: Summand> Sums<T> {
    fn new(function: Sum, target: Target, scale: i8) -> Self {
        Self { function, target, scale, running: Vec::new(), counts: Vec::new() }
    }

    fn add(&mut self, slot: u32, value: T::Native, weight: i64) {
        self.counts[slot as usize] += weight;
        T::add(&mut self.running[slot as usize], value, weight);
    }
}

impl<T: Summand> Accumulator for Sums<T> {
    fn resize(&mut self, slots: usize) {
        self.running.resize(slots, T::Running::default());
        self.counts.resize(slots, 0);
    }

    fn update(
        &mut self,
        slots: &[u32],
        values: Option<&ArrayRef>,
        weights: &[i64],
    ) -> SqlResult<()> {
        let values = values
            .and_then(|values| values.as_primitive_opt::<T>())
            .ok_or_else(|| SqlError::internal("a sum of values of another type"))?;
        match values.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => {
                for ((&slot, &value), &weight) in slots.iter().zip(values.values()).zip(weights) {
                    self.add(slot, value, weight);
                }
            }
            Some(nulls) => {
                for row in nulls.valid_indices() {
                    self.add(slots[row], values.value(row), weights[row]);
                }
            }
        }
        Ok(())
    }

    fn results(&self, slots: &[u32]) -> SqlResult<Results> {
        let mut numbers = self.target.numbers(slots.len());
        let mut errors = Vec::new();
        for (place, &slot) in slots.iter().enumerate() {
            let count = self.counts[slot as usize];
            if count <= 0 {
                numbers.push_null();
                continue;
            }
            let divisor = match self.function {
                Sum::Total => 1,
                Sum::Mean => count,
            };
            let total = self.running[slot as usize].total();
            if let Err(error) = total.and_then(|total| numbers.push(total, self.scale, divisor)) {
                errors.push((place, error));
                numbers.push_null();
            }
        }
        Ok(Results { column: numbers.finish()?, errors })
    }

    fn write(&self, slot: usize, bytes: &mut Vec<u8>) {
        write_varint(self.counts[slot], bytes);
        self.running[slot].write(bytes);
    }

    fn read(&mut self, slot: usize, bytes: &mut &[u8]) -> Option<()> {
        self.counts[slot] = read_varint(bytes)?;
        self.running[slot] = T::Running::read(bytes)?;
        Some(())
    }

    fn retain(&mut self, slots: &[u32]) {
        self.running = super::gather(&mut self.running, slots);
        self.counts = super::gather(&mut self.counts, slots);
    }

    fn bytes(&self) -> usize {
        self.running.capacity() * (size_of::<T::Running>() + T::Running::HEAP_BYTES)
            + self.counts.capacity() * size_of::<i64>()
    }
}
