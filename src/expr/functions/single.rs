//! The value of a subquery that must give one row at the most.
//!
//! ```text
//! (SELECT x ...) = single_row(single_value(x), count(*))
//! ```
//!
//! The aggregate never fails: several rows are an error only where somebody asks for the value,
//! and a view computes the aggregate for groups that nobody asks for too.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs,
    ScalarUDFImpl, Signature, Volatility,
};

use super::sum::wrong_number;
use crate::error::{SqlError, code};

/// Names under which the two are registered.
pub const SINGLE_VALUE: &str = "single_value";
pub const SINGLE_ROW: &str = "single_row";

/// `single_value(x)`: what `x` is in the only row; NULL if there is none, or several.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SingleValue {
    signature: Signature,
}

impl SingleValue {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for SingleValue {
    fn name(&self) -> &'static str {
        SINGLE_VALUE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match arguments {
            [one] => Ok(one.clone()),
            _ => Err(wrong_number(self.name(), arguments)),
        }
    }

    /// The argument's type with what Weir notes in its metadata.
    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        match arguments {
            [one] => Ok(Arc::new(one.as_ref().clone().with_name(self.name()).with_nullable(true))),
            _ => Err(wrong_number(self.name(), &[])),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let value = ScalarValue::try_from(args.return_field.data_type())?;
        Ok(Box::new(Single { rows: 0, value }))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![
            Field::new(format!("{}[rows]", args.name), DataType::Int64, false).into(),
            Field::new(
                format!("{}[value]", args.name),
                args.return_field.data_type().clone(),
                true,
            )
            .into(),
        ])
    }
}

/// How many rows there were, and the first one's value.
#[derive(Debug)]
struct Single {
    rows: i64,
    value: ScalarValue,
}

impl Single {
    fn add(&mut self, values: &ArrayRef, index: usize, rows: i64) -> Result<()> {
        if self.rows == 0 && rows > 0 {
            self.value = ScalarValue::try_from_array(values, index)?;
            // It may be a slice of a batch that should not live as long.
            self.value.compact();
        }
        self.rows += rows;
        Ok(())
    }
}

impl Accumulator for Single {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if values[0].is_empty() {
            return Ok(());
        }
        let rows = i64::try_from(values[0].len()).unwrap_or(i64::MAX);
        self.add(&values[0], 0, rows)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for (index, rows) in states[0].as_primitive::<Int64Type>().values().iter().enumerate() {
            self.add(&states[1], index, *rows)?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Int64(Some(self.rows)), self.value.clone()])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.rows == 1 {
            return Ok(self.value.clone());
        }
        ScalarValue::try_from(&self.value.data_type())
    }

    fn size(&self) -> usize {
        size_of_val(self) - size_of_val(&self.value) + self.value.size()
    }
}

/// `single_row(x, rows)`: `x`, or the error that there is more than one row.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SingleRow {
    signature: Signature,
}

impl SingleRow {
    pub(super) fn new() -> Self {
        Self { signature: Signature::any(2, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for SingleRow {
    fn name(&self) -> &'static str {
        SINGLE_ROW
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments[0].clone())
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let value = args.arg_fields[0].as_ref().clone();
        Ok(Arc::new(value.with_name(self.name()).with_nullable(true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.args[1].to_array(args.number_rows)?;
        let rows = rows.as_primitive::<Int64Type>();
        let several = (0..rows.len()).any(|row| rows.is_valid(row) && rows.value(row) > 1);
        if several {
            let message = "more than one row returned by a subquery used as an expression";
            return Err(SqlError::new(code::CARDINALITY_VIOLATION, message).into());
        }
        Ok(args.args[0].clone())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::Int32Array;

    use super::*;

    fn single() -> Single {
        Single { rows: 0, value: ScalarValue::Int32(None) }
    }

    fn array(values: &[Option<i32>]) -> ArrayRef {
        Arc::new(Int32Array::from(values.to_vec()))
    }

    #[test]
    fn only_a_row_alone_has_a_value() {
        let mut accumulator = single();
        assert_eq!(accumulator.evaluate().expect("a value"), ScalarValue::Int32(None));
        accumulator.update_batch(&[array(&[Some(7)])]).expect("a batch");
        assert_eq!(accumulator.evaluate().expect("a value"), ScalarValue::Int32(Some(7)));
        accumulator.update_batch(&[array(&[None])]).expect("a batch");
        assert_eq!(accumulator.evaluate().expect("a value"), ScalarValue::Int32(None));
    }

    #[test]
    fn states_without_rows_do_not_count() {
        let mut accumulator = single();
        let rows: ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![0, 1, 0]));
        let values = array(&[None, Some(3), None]);
        accumulator.merge_batch(&[rows, values]).expect("states");
        assert_eq!(accumulator.evaluate().expect("a value"), ScalarValue::Int32(Some(3)));
    }
}
