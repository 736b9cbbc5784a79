//! The rows of one group: kept as they come, put in order and told apart when the result is asked
//! for.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, UInt32Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{SortOptions, concat, filter, is_not_null, take};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use arrow::row::{RowConverter, SortField};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;

use super::super::order::order_keys;
use super::{Definition, unordered_distinct};
use crate::types::SqlType;

/// Batches up to this many rows are joined as they come.
const SMALL_ROWS: usize = 1024;

/// The type of the state: a list of rows.
pub(super) fn state_type(columns: impl Iterator<Item = DataType>) -> DataType {
    DataType::List(Arc::new(row_field(columns)))
}

fn row_field(columns: impl Iterator<Item = DataType>) -> Field {
    let fields = columns.enumerate();
    let fields = fields.map(|(index, kind)| Field::new(format!("c{index}"), kind, true));
    Field::new("item", DataType::Struct(fields.collect()), true)
}

#[derive(Debug)]
pub(super) struct CollectedRows {
    definition: &'static Definition,
    result: FieldRef,
    /// How many of the columns are arguments; those of ORDER BY follow.
    arguments: usize,
    kinds: Vec<DataType>,
    /// The SQL type of each column.
    types: Vec<SqlType>,
    order: Vec<SortOptions>,
    is_distinct: bool,
    batches: Vec<Vec<ArrayRef>>,
}

impl CollectedRows {
    pub(super) fn new(definition: &'static Definition, args: &AccumulatorArgs<'_>) -> Result<Self> {
        let mut kinds: Vec<DataType> =
            args.expr_fields.iter().map(|field| field.data_type().clone()).collect();
        let arguments = kinds.len();
        let mut types: Vec<SqlType> =
            args.expr_fields.iter().map(|field| SqlType::of_field(field)).collect();
        for sort in args.order_bys {
            let field = sort.expr.return_field(args.schema)?;
            kinds.push(field.data_type().clone());
            types.push(SqlType::of_field(&field));
        }
        // A constant tells nothing apart.
        let is_told = |expr: &Arc<dyn PhysicalExpr>| {
            expr.is::<Literal>() || args.exprs.iter().any(|argument| argument == expr)
        };
        if args.is_distinct && !args.order_bys.iter().all(|sort| is_told(&sort.expr)) {
            return Err(unordered_distinct().into());
        }
        Ok(Self {
            definition,
            result: Arc::clone(&args.return_field),
            arguments,
            kinds,
            types,
            order: args.order_bys.iter().map(|sort| sort.options).collect(),
            is_distinct: args.is_distinct,
            batches: Vec::new(),
        })
    }

    fn push(&mut self, columns: Vec<ArrayRef>) -> Result<()> {
        let columns = match (self.definition.skips_null, columns.first()) {
            (true, Some(first)) if first.logical_null_count() > 0 => {
                let valid = is_not_null(first)?;
                columns.iter().map(|column| filter(column, &valid)).collect::<Result<_, _>>()?
            }
            _ => columns,
        };
        if columns.first().is_none_or(|first| first.is_empty()) {
            return Ok(());
        }
        self.batches.push(columns);
        let rows = |batch: &[ArrayRef]| batch[0].len();
        // Two of about the same size become one: each row is copied a few times only.
        while let [.., before, last] = self.batches.as_slice()
            && rows(before) <= 2 * rows(last)
            && rows(before) + rows(last) <= SMALL_ROWS
        {
            let joined = join(&[before, last])?;
            self.batches.truncate(self.batches.len() - 2);
            self.batches.push(joined);
        }
        Ok(())
    }

    /// All rows, as one batch.
    fn joined(&mut self) -> Result<Option<&[ArrayRef]>> {
        if self.batches.len() > 1 {
            let batches: Vec<&Vec<ArrayRef>> = self.batches.iter().collect();
            self.batches = vec![join(&batches)?];
        }
        Ok(self.batches.first().map(Vec::as_slice))
    }
}

fn join(batches: &[&Vec<ArrayRef>]) -> Result<Vec<ArrayRef>> {
    let width = batches.first().map_or(0, |batch| batch.len());
    let column = |index: usize| {
        let parts: Vec<&dyn Array> = batches.iter().map(|batch| batch[index].as_ref()).collect();
        Ok(concat(&parts)?)
    };
    (0..width).map(column).collect()
}

/// The arguments' columns in order, repeated rows once if they must be distinct.
fn in_order(
    columns: &[ArrayRef],
    types: &[SqlType],
    arguments: usize,
    order: &[SortOptions],
    is_distinct: bool,
) -> Result<Vec<ArrayRef>> {
    if order.is_empty() && !is_distinct {
        return Ok(columns[..arguments].to_vec());
    }
    let mut keyed: Vec<usize> = (arguments..columns.len()).collect();
    let mut options = order.to_vec();
    if is_distinct {
        keyed.extend(0..arguments);
        options.resize(keyed.len(), SortOptions { descending: false, nulls_first: false });
    }
    let keys = keyed.into_iter().map(|column| order_keys(&columns[column], &types[column]));
    let keys = keys.collect::<Result<Vec<_>>>()?;
    let fields = keys.iter().zip(options);
    let fields =
        fields.map(|(key, options)| SortField::new_with_options(key.data_type().clone(), options));
    let converter = RowConverter::new(fields.collect())?;
    let rows = converter.convert_columns(&keys)?;
    let mut indexes: Vec<u32> = (0..u32::try_from(rows.num_rows()).unwrap_or(u32::MAX)).collect();
    let row = |index: u32| rows.row(index as usize);
    // Stable: rows that are alike stay in the order in which they came.
    indexes.sort_by(|one, other| row(*one).cmp(&row(*other)));
    if is_distinct {
        indexes.dedup_by(|one, other| row(*one) == row(*other));
    }
    let indexes = UInt32Array::from(indexes);
    columns[..arguments].iter().map(|column| Ok(take(column, &indexes, None)?)).collect()
}

impl Accumulator for CollectedRows {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.push(values.to_vec())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states[0].as_list::<i32>();
        for list in lists.iter().flatten() {
            self.push(list.as_struct().columns().to_vec())?;
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let field = Arc::new(row_field(self.kinds.iter().cloned()));
        let DataType::Struct(fields) = field.data_type() else { return Ok(Vec::new()) };
        let fields: Fields = fields.clone();
        let rows = match self.joined()? {
            Some(columns) => StructArray::try_new(fields, columns.to_vec(), None)?,
            None => StructArray::new_null(fields, 0),
        };
        let offsets = OffsetBuffer::from_lengths([rows.len()]);
        let list = ListArray::try_new(field, offsets, Arc::new(rows), None)?;
        Ok(vec![ScalarValue::List(Arc::new(list))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let (arguments, is_distinct) = (self.arguments, self.is_distinct);
        let (order, types) = (self.order.clone(), self.types.clone());
        let (definition, result) = (self.definition, Arc::clone(&self.result));
        match self.joined()? {
            Some(columns) => {
                let columns = in_order(columns, &types, arguments, &order, is_distinct)?;
                (definition.evaluate)(&columns, &result)
            }
            None => ScalarValue::try_from(result.data_type()),
        }
    }

    fn size(&self) -> usize {
        // A slice counts for what it shows: the batch that it is of is another's.
        let arrays = self.batches.iter().flatten().map(|array| {
            array.to_data().get_slice_memory_size().unwrap_or(0) + size_of::<ArrayRef>()
        });
        size_of_val(self) + arrays.sum::<usize>()
    }
}
