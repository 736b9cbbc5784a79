//! `lag(value [, offset [, default]])` and `lead`: the value of the row that lies so many rows
//! before or after the current one in its partition, with IGNORE NULLS so many rows with a value.
//!
//! DataFusion's own forget what they have looked at when NULLs lie between, and read no further
//! than a LIMIT lets them (apache/datafusion#25471); offset and default are constants there, and
//! expressions of the current row in PostgreSQL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, new_null_array};
use arrow::compute::interleave;
use arrow::datatypes::{DataType, FieldRef, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::type_coercion::binary::type_union_resolution;
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, ReversedUDWF, Signature, Volatility, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;

use super::library::no_such;

/// Which way a positive offset goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// `lag`: to the rows before.
    Back,
    /// `lead`: to the rows after.
    Ahead,
}

/// `lag` or `lead`.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Shift {
    way: Way,
    signature: Signature,
}

impl Shift {
    pub(super) fn new(way: Way) -> Self {
        Self { way, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl WindowUDFImpl for Shift {
    fn name(&self) -> &'static str {
        match self.way {
            Way::Back => "lag",
            Way::Ahead => "lead",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        let offset = |offset: &DataType| offset.is_integer() || offset.is_null();
        match given {
            [value] => Ok(vec![value.clone()]),
            [value, by] if offset(by) => Ok(vec![value.clone(), DataType::Int64]),
            [value, by, default] if offset(by) => {
                let common = match (value, default) {
                    // A literal is read as the value's type.
                    (value, DataType::Utf8) if !value.is_null() => value.clone(),
                    _ => type_union_resolution(&[value.clone(), default.clone()])
                        .ok_or_else(|| no_such(self.name(), given))?,
                };
                Ok(vec![common.clone(), DataType::Int64, common])
            }
            _ => Err(no_such(self.name(), given).into()),
        }
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> Result<FieldRef> {
        let given = args.input_fields();
        let typed = given.iter().step_by(2).find(|field| !field.data_type().is_null());
        let field = typed.or(given.first()).ok_or_else(|| no_such(self.name(), &[]))?;
        Ok(Arc::new(field.as_ref().clone().with_name(args.name()).with_nullable(true)))
    }

    fn partition_evaluator(
        &self,
        args: PartitionEvaluatorArgs<'_>,
    ) -> Result<Box<dyn PartitionEvaluator>> {
        Ok(Box::new(Shifting { way: self.way, ignore_nulls: args.ignore_nulls() }))
    }

    fn reverse_expr(&self) -> ReversedUDWF {
        ReversedUDWF::NotSupported
    }

    fn limit_effect(&self, _args: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        LimitEffect::Unknown
    }
}

/// Computes a partition, which it sees as a whole.
#[derive(Debug)]
struct Shifting {
    way: Way,
    ignore_nulls: bool,
}

impl PartitionEvaluator for Shifting {
    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        const DEFAULT: usize = 1;
        const NULL: usize = 2;
        let value = &values[0];
        let offsets = values.get(1).map(|offsets| offsets.as_primitive::<Int64Type>());
        let null = new_null_array(value.data_type(), 1);
        let default = values.get(2);
        let valued: Option<Vec<usize>> = self
            .ignore_nulls
            .then(|| (0..value.len()).filter(|row| value.is_valid(*row)).collect());
        let place = |row: usize| {
            let by = match offsets {
                Some(offsets) if offsets.is_null(row) => return (NULL, 0),
                Some(offsets) => offsets.value(row),
                None => 1,
            };
            let ahead = if self.way == Way::Ahead { by } else { by.saturating_neg() };
            let found = match &valued {
                Some(valued) => nth_valued(valued, row, ahead),
                None => shifted(row, ahead).filter(|to| *to < rows),
            };
            match (found, default) {
                (Some(found), _) => (0, found),
                (None, Some(_)) => (DEFAULT, row),
                (None, None) => (NULL, 0),
            }
        };
        let places: Vec<(usize, usize)> = (0..rows).map(place).collect();
        let sources = [value.as_ref(), default.unwrap_or(&null).as_ref(), null.as_ref()];
        Ok(interleave(&sources, &places)?)
    }
}

fn shifted(row: usize, by: i64) -> Option<usize> {
    row.checked_add_signed(isize::try_from(by).ok()?)
}

/// The row with a value that is the `by`-th after `row`, or before it if that is negative.
fn nth_valued(valued: &[usize], row: usize, by: i64) -> Option<usize> {
    let place = match by {
        0 => return Some(row),
        1.. => shifted(valued.partition_point(|other| *other <= row), by - 1),
        _ => shifted(valued.partition_point(|other| *other < row), by),
    };
    valued.get(place?).copied()
}
