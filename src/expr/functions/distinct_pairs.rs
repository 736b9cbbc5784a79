//! `corr(DISTINCT y, x)` and its kin: each pair of values counts once. DataFusion's aggregates of
//! two numbers count all pairs, whatever they are told.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF};

use super::framed::OwnedArgs;

/// Whether the aggregate `name` is one of pairs of numbers.
pub(super) fn is_of_pairs(name: &str) -> bool {
    name == "corr" || name.starts_with("covar") || name.starts_with("regr_")
}

/// The different pairs so far.
pub(super) struct DistinctPairs {
    inner: Arc<AggregateUDF>,
    args: OwnedArgs,
    /// Numbers by their bits, so that they have an order: canonical floats are equal if these are.
    pairs: BTreeSet<[u64; 2]>,
}

impl DistinctPairs {
    pub(super) fn new(inner: &Arc<AggregateUDF>, args: &AccumulatorArgs<'_>) -> Self {
        Self { inner: Arc::clone(inner), args: OwnedArgs::new(args), pairs: BTreeSet::new() }
    }

    pub(super) fn state_fields(args: &StateFieldsArgs<'_>) -> Vec<FieldRef> {
        let pairs = Field::new_list_field(DataType::Float64, true);
        let named = |name: &str| {
            let name = format!("{}[{name}]", args.name);
            Arc::new(Field::new_list(name, Arc::new(pairs.clone()), true))
        };
        vec![named("first"), named("second")]
    }

    fn columns(&self) -> [ArrayRef; 2] {
        [0, 1].map(|side: usize| {
            let values = self.pairs.iter().map(|pair| f64::from_bits(pair[side]));
            Arc::new(Float64Array::from_iter_values(values)) as ArrayRef
        })
    }

    fn add(&mut self, first: &ArrayRef, second: &ArrayRef) {
        let first = first.as_primitive::<Float64Type>().iter();
        for pair in first.zip(second.as_primitive::<Float64Type>().iter()) {
            if let (Some(first), Some(second)) = pair {
                self.pairs.insert([first.to_bits(), second.to_bits()]);
            }
        }
    }
}

impl std::fmt::Debug for DistinctPairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs = self.pairs.len();
        f.debug_struct("DistinctPairs").field("inner", &self.inner).field("pairs", &pairs).finish()
    }
}

impl Accumulator for DistinctPairs {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(&values[0], &values[1]);
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let [first, second] = [states[0].as_list::<i32>(), states[1].as_list::<i32>()];
        for (first, second) in first.iter().zip(second.iter()) {
            if let (Some(first), Some(second)) = (first, second) {
                self.add(&first, &second);
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let list = |column: ArrayRef| {
            let values = (0..column.len()).map(|row| ScalarValue::try_from_array(&column, row));
            let values = values.collect::<Result<Vec<_>>>()?;
            let list = ScalarValue::new_list(&values, &DataType::Float64, true);
            Ok(ScalarValue::List(list))
        };
        self.columns().into_iter().map(list).collect()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut inner = self.inner.accumulator(self.args.args())?;
        inner.update_batch(&self.columns())?;
        // A count has no sign for DataFusion.
        inner.evaluate()?.cast_to(self.args.args().return_field.data_type())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.pairs.len() * size_of::<[u64; 2]>() * 2
    }
}
