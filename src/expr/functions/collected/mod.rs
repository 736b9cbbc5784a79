//! Aggregates of a group's rows as a whole, which cannot be told from a few numbers: `array_agg`,
//! `string_agg`, `jsonb_agg`, `mode`, `percentile_disc` and their like.
//!
//! Each keeps the rows, brings them into its own ORDER BY (so that several may stand beside each
//! other with different ones), takes out repeated ones for DISTINCT, and hands them to a function
//! of columns. DISTINCT alone gives them in order, as PostgreSQL's sort for it does.

mod arrays;
mod json;
mod quantiles;
mod rows;

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ReversedUDAF, Signature, Volatility,
};

use self::rows::{CollectedRows, state_type};
use super::framed::Frame;
use crate::error::{SqlError, code};

/// What one of these functions is.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    /// The types that arguments of these types are taken as; `None`: there is no such function.
    pub(super) coerce: fn(&[DataType]) -> Option<Vec<DataType>>,
    /// The type of the result over arguments of these types, with what Weir notes in metadata.
    pub(super) result: fn(&[FieldRef]) -> Field,
    /// The result over rows in order: a column for each argument, none of them empty.
    pub(super) evaluate: fn(&[ArrayRef], &FieldRef) -> Result<ScalarValue>,
    /// Rows whose first argument is NULL do not count.
    pub(super) skips_null: bool,
    /// Written `f(...) WITHIN GROUP (ORDER BY x)`: `x` is the first argument.
    pub(super) within_group: bool,
}

/// All of them.
pub(super) fn all() -> impl Iterator<Item = AggregateUDF> {
    let tables = [arrays::TABLE, json::TABLE, quantiles::TABLE];
    tables.into_iter().flatten().map(|definition| AggregateUDF::from(Collected::new(definition)))
}

/// The accumulator of a function. Others collect rows too, where they must be distinct.
pub(super) fn collecting(
    definition: &'static Definition,
    args: &AccumulatorArgs<'_>,
) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(CollectedRows::new(definition, args)?))
}

/// What such an accumulator's state is.
pub(super) fn collected_state(args: &StateFieldsArgs<'_>) -> FieldRef {
    let columns = args.input_fields.iter().chain(args.ordering_fields);
    let kind = state_type(columns.map(|field| field.data_type().clone()));
    Field::new(format!("{}[rows]", args.name), kind, true).into()
}

/// An aggregate over collected rows, which its name identifies.
#[derive(Debug)]
struct Collected {
    definition: &'static Definition,
    signature: Signature,
}

impl PartialEq for Collected {
    fn eq(&self, other: &Self) -> bool {
        self.definition.name == other.definition.name
    }
}

impl Eq for Collected {}

impl std::hash::Hash for Collected {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.definition.name.hash(state);
    }
}

impl Collected {
    fn new(definition: &'static Definition) -> Self {
        Self { definition, signature: Signature::user_defined(Volatility::Immutable) }
    }
}

impl AggregateUDFImpl for Collected {
    fn name(&self) -> &'static str {
        self.definition.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        (self.definition.coerce)(given)
            .ok_or_else(|| super::library::no_such(self.name(), given).into())
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let fields = arguments.iter().map(|kind| Field::new("", kind.clone(), true).into());
        let fields: Vec<FieldRef> = fields.collect();
        Ok((self.definition.result)(&fields).data_type().clone())
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        Ok(Arc::new((self.definition.result)(arguments).with_name(self.name()).with_nullable(true)))
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        collecting(self.definition, &args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        let definition = self.definition;
        let make = move |args: AccumulatorArgs<'_>| {
            Ok(Box::new(CollectedRows::new(definition, &args)?) as Box<dyn Accumulator>)
        };
        Ok(Box::new(Frame::new(args, make)?))
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        Ok(vec![collected_state(&args)])
    }

    /// The columns of ORDER BY come with the arguments; the order is made here.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Beneficial
    }

    fn with_beneficial_ordering(
        self: Arc<Self>,
        _ordered: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }

    fn supports_null_handling_clause(&self) -> bool {
        false
    }

    fn supports_within_group_clause(&self) -> bool {
        self.definition.within_group
    }
}

/// DISTINCT's rows can only be in an order that is told by the arguments.
fn unordered_distinct() -> SqlError {
    let message =
        "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list";
    SqlError::new(code::INVALID_COLUMN_REFERENCE, message)
}
