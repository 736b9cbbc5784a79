//! Functions of arrays of any element type, with PostgreSQL's results: integers for lengths and
//! places, NULL for the length of nothing, and NULLs that are equal where PostgreSQL says so.
//!
//! Elements of all rows are compared at once, each with its row's value.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder, Int32Array, Int32Builder, ListArray,
    ListBuilder, StringArray, UInt32Array, new_empty_array,
};
use arrow::buffer::{OffsetBuffer, ScalarBuffer};
use arrow::compute;
use arrow::compute::kernels::{cmp, zip};
use arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use datafusion::logical_expr::type_coercion::binary::comparison_coercion;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

use super::library::{no_such, scalar_of};
use super::order::{order_keys, with_element_keys};
use crate::error::{SqlError, SqlResult, code};
use crate::types::SqlType;

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// `= ANY (array)`
    AnyEqual,
    Length,
    Lower,
    Upper,
    Cardinality,
    /// `array @> array`
    Contains,
    Dimensions,
    DimensionCount,
    /// `array && array`
    Overlaps,
    Position,
    Positions,
    Remove,
    Replace,
    Trim,
}

impl Kind {
    fn compares(self) -> bool {
        use Kind::{AnyEqual, Contains, Overlaps, Position, Positions, Remove, Replace};
        matches!(self, AnyEqual | Contains | Overlaps | Position | Positions | Remove | Replace)
    }
}

/// The function that `= ANY (array)` is.
pub const ANY_EQUAL: &str = "any_equal";

/// The functions that `@>` and `&&` of arrays are.
pub const ARRAY_CONTAINS: &str = "array_contains";
pub const ARRAY_OVERLAPS: &str = "array_overlaps";

const NAMES: &[(&str, Kind)] = &[
    (ANY_EQUAL, Kind::AnyEqual),
    (ARRAY_CONTAINS, Kind::Contains),
    (ARRAY_OVERLAPS, Kind::Overlaps),
    ("array_length", Kind::Length),
    ("array_lower", Kind::Lower),
    ("array_upper", Kind::Upper),
    ("cardinality", Kind::Cardinality),
    ("array_dims", Kind::Dimensions),
    ("array_ndims", Kind::DimensionCount),
    ("array_position", Kind::Position),
    ("array_positions", Kind::Positions),
    ("array_remove", Kind::Remove),
    ("array_replace", Kind::Replace),
    ("trim_array", Kind::Trim),
];

/// The types whose values are equal by a key. What lies in Arrow does not tell `jsonb` from text,
/// so that there is a function for each.
const KEYED: [SqlType; 2] = [SqlType::Jsonb, SqlType::Interval];

/// Between the name of a function and the type of the elements that it compares by their keys.
const OF: &str = " of ";

/// All of them.
pub(super) fn all() -> Vec<ScalarUDF> {
    let function = |name: String, kind: Kind, element: Option<SqlType>| {
        let signature = Signature::user_defined(Volatility::Immutable);
        ScalarUDF::from(ArrayFunction { name, kind, element, signature })
    };
    let plain = NAMES.iter().map(|(name, kind)| function((*name).to_owned(), *kind, None));
    let keyed = NAMES.iter().filter(|(_, kind)| kind.compares()).flat_map(|(name, kind)| {
        KEYED.map(|element| function(format!("{name}{OF}{element}"), *kind, Some(element)))
    });
    plain.chain(keyed).collect()
}

/// The function that compares elements of a type as the one of this name compares others; `None`:
/// it is the same, or compares none.
pub(super) fn comparing(name: &str, element: &SqlType) -> Option<String> {
    let (_, kind) = NAMES.iter().find(|(known, _)| *known == name)?;
    let element = KEYED.iter().find(|keyed| *keyed == element)?;
    kind.compares().then(|| format!("{name}{OF}{element}"))
}

/// The name of such a function without the type.
pub(super) fn plain_name(name: &str) -> &str {
    name.split_once(OF).map_or(name, |(name, _)| name)
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ArrayFunction {
    name: String,
    kind: Kind,
    /// The type of the elements, if they are compared by keys.
    element: Option<SqlType>,
    signature: Signature,
}

fn list_of(element: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", element, true)))
}

fn element_of(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            Some(item.data_type())
        }
        _ => None,
    }
}

fn is_untyped(kind: &DataType) -> bool {
    matches!(kind, DataType::Null | DataType::Utf8)
}

impl ArrayFunction {
    /// Lists as lists, and values as their elements.
    fn coerced(&self, given: &[DataType]) -> Option<Vec<DataType>> {
        if self.kind == Kind::AnyEqual {
            let [value, list] = given else { return None };
            let common = match (element_of(list), value) {
                (Some(DataType::Null), value) => value.clone(),
                (Some(element), value) if value == element => element.clone(),
                (Some(element), DataType::Null) => element.clone(),
                (Some(element), value) => comparison_coercion(value, element)?,
                // A literal that stands for an array.
                (None, value) if *list == DataType::Utf8 => value.clone(),
                (None, value) if *list == DataType::Null => value.clone(),
                _ => return None,
            };
            return Some(vec![common.clone(), list_of(common)]);
        }
        if matches!(self.kind, Kind::Contains | Kind::Overlaps) {
            let [one, other] = given else { return None };
            let common = match (element_of(one), element_of(other)) {
                (Some(one), Some(other)) if one == other => one.clone(),
                (Some(one), Some(other)) => comparison_coercion(one, other)?,
                // A literal that stands for an array.
                (Some(element), None) if is_untyped(other) => element.clone(),
                (None, Some(element)) if is_untyped(one) => element.clone(),
                _ => return None,
            };
            return Some(vec![list_of(common.clone()), list_of(common)]);
        }
        let (list, rest) = given.split_first()?;
        let element = match element_of(list) {
            Some(element) => element.clone(),
            None if list.is_null() => DataType::Int32,
            None => return None,
        };
        let counts = rest.len() == 1 && rest.iter().all(|one| one.is_integer() || one.is_null());
        let common = |value: &DataType| match value {
            DataType::Null => Some(element.clone()),
            value if *value == element => Some(element.clone()),
            value => comparison_coercion(value, &element),
        };
        match self.kind {
            Kind::Length | Kind::Lower | Kind::Upper | Kind::Trim if counts => {
                Some(vec![list_of(element), DataType::Int64])
            }
            Kind::Cardinality | Kind::Dimensions | Kind::DimensionCount if rest.is_empty() => {
                Some(vec![list_of(element)])
            }
            Kind::Position if rest.len() == 2 => {
                let common = common(&rest[0])?;
                Some(vec![list_of(common.clone()), common, DataType::Int64])
            }
            Kind::Position | Kind::Positions | Kind::Remove if rest.len() == 1 => {
                let common = common(&rest[0])?;
                Some(vec![list_of(common.clone()), common])
            }
            Kind::Replace if rest.len() == 2 => {
                let common = common(&rest[0])?;
                Some(vec![list_of(common.clone()), common.clone(), common])
            }
            _ => None,
        }
    }
}

impl ScalarUDFImpl for ArrayFunction {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, given: &[DataType]) -> Result<Vec<DataType>> {
        self.coerced(given).ok_or_else(|| no_such(plain_name(&self.name), given).into())
    }

    fn return_type(&self, given: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::AnyEqual | Kind::Contains | Kind::Overlaps => DataType::Boolean,
            Kind::Dimensions => DataType::Utf8,
            Kind::Positions => SqlType::Array(Box::new(SqlType::Integer)).to_arrow(),
            Kind::Remove | Kind::Replace | Kind::Trim => given[0].clone(),
            _ => DataType::Int32,
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<_> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        Ok(Arc::new(Field::new(&self.name, self.return_type(&types)?, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let scalar = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        let rows = if scalar { 1 } else { args.number_rows };
        if rows == 0 {
            // A constant list of no rows has its elements still.
            return Ok(ColumnarValue::Array(new_empty_array(args.return_type())));
        }
        let arrays =
            args.args.iter().map(|arg| arg.to_array(rows)).collect::<Result<Vec<ArrayRef>>>()?;
        let keys = |column: &ArrayRef| match (&self.element, column.data_type()) {
            (Some(element), DataType::List(_)) => with_element_keys(column, element),
            (Some(element), _) => order_keys(column, element),
            (None, _) => Ok(Arc::clone(column)),
        };
        let same = |value: &ArrayRef| -> Result<BooleanArray> {
            Ok(same_elements(keys(&arrays[0])?.as_list(), &keys(value)?)?)
        };
        let result = match self.kind {
            Kind::AnyEqual => any_equal(&keys(&arrays[0])?, keys(&arrays[1])?.as_list())?,
            Kind::Contains | Kind::Overlaps => {
                let (one, other) = (keys(&arrays[0])?, keys(&arrays[1])?);
                compared_as_sets(one.as_list(), other.as_list(), self.kind)?
            }
            Kind::Position => {
                let starts = arrays.get(2).map(|starts| starts.as_primitive::<Int64Type>());
                let same = same(&arrays[1])?;
                let place = |row: usize, range: std::ops::Range<usize>| {
                    let start = starts.map_or(1, |starts| starts.value(row));
                    let skipped = usize::try_from(start.saturating_sub(1)).unwrap_or(0);
                    let first = range.start;
                    let mut rest = range.skip(skipped);
                    rest.find(|item| same.value(*item)).map(|item| item - first + 1)
                };
                integers(arrays[0].as_list(), place)
            }
            Kind::Positions => positions(arrays[0].as_list(), &same(&arrays[1])?)?,
            Kind::Remove => {
                let list = arrays[0].as_list();
                let same = same(&arrays[1])?;
                kept(list, |_, item, _| !same.value(item))?
            }
            Kind::Replace => replaced(arrays[0].as_list(), &same(&arrays[1])?, &arrays[2])?,
            Kind::Trim => {
                let list = arrays[0].as_list();
                let counts = arrays[1].as_primitive::<Int64Type>();
                for row in (0..list.len()).filter(|row| list.is_valid(*row)) {
                    let length = i64::from(list.value_length(row));
                    if counts.is_valid(row) && !(0..=length).contains(&counts.value(row)) {
                        let message =
                            format!("number of elements to trim must be between 0 and {length}");
                        return Err(SqlError::new("2202E", message).into());
                    }
                }
                kept(list, |row, item, range| {
                    let count = usize::try_from(counts.value(row)).unwrap_or(0);
                    item + count < range.end
                })?
            }
            Kind::Dimensions => texts_of_dimensions(arrays[0].as_list()),
            kind => {
                let which = arrays.get(1).map(|which| which.as_primitive::<Int64Type>());
                measures(arrays[0].as_list(), kind, which)
            }
        };
        if scalar {
            return Ok(ColumnarValue::Scalar(scalar_of(&result)?));
        }
        Ok(ColumnarValue::Array(result))
    }
}

/// The elements of a row among all elements.
fn range(list: &ListArray, row: usize) -> std::ops::Range<usize> {
    let bound = |at: usize| usize::try_from(list.value_offsets()[at]).unwrap_or(0);
    bound(row)..bound(row + 1)
}

/// For each element of the list, its row's value.
fn beside(list: &ListArray, values: &ArrayRef) -> SqlResult<ArrayRef> {
    let mut rows = vec![0_u32; list.values().len()];
    for (row, index) in (0..list.len()).zip(0_u32..) {
        rows[range(list, row)].fill(index);
    }
    if values.is_empty() {
        return Ok(new_empty_array(values.data_type()));
    }
    Ok(compute::take(values, &UInt32Array::from(rows), None)?)
}

fn refuse_nested(list: &ListArray) -> SqlResult<()> {
    match list.values().data_type().is_nested() {
        true => Err(SqlError::new(
            code::FEATURE_NOT_SUPPORTED,
            "searching for elements in multidimensional arrays is not supported",
        )),
        false => Ok(()),
    }
}

/// Which elements are their row's value; NULL is NULL.
fn same_elements(list: &ListArray, values: &ArrayRef) -> SqlResult<BooleanArray> {
    refuse_nested(list)?;
    Ok(cmp::not_distinct(list.values(), &beside(list, values)?)?)
}

fn any_equal(values: &ArrayRef, list: &ListArray) -> SqlResult<ArrayRef> {
    refuse_nested(list)?;
    let equal = cmp::eq(list.values(), &beside(list, values)?)?;
    let mut results = BooleanBuilder::with_capacity(list.len());
    for row in 0..list.len() {
        let mut unknown = list.is_null(row);
        let mut found = false;
        for item in range(list, row) {
            match equal.is_null(item) {
                true => unknown = true,
                false => found |= equal.value(item),
            }
        }
        match (found, unknown) {
            (true, _) => results.append_value(true),
            (false, true) => results.append_null(),
            (false, false) => results.append_value(false),
        }
    }
    Ok(Arc::new(results.finish()))
}

/// Whether a row's array has all or any of another's elements. NULL is no element's equal.
fn compared_as_sets(list: &ListArray, wanted: &ListArray, kind: Kind) -> SqlResult<ArrayRef> {
    let converter = RowConverter::new(vec![SortField::new(list.value_type())])?;
    let (own, others) = (
        converter.convert_columns(&[Arc::clone(list.values())])?,
        converter.convert_columns(&[Arc::clone(wanted.values())])?,
    );
    let mut results = BooleanBuilder::with_capacity(list.len());
    let mut present = HashSet::new();
    for row in 0..list.len() {
        if list.is_null(row) || wanted.is_null(row) {
            results.append_null();
            continue;
        }
        present.clear();
        let known = range(list, row).filter(|item| list.values().is_valid(*item));
        present.extend(known.map(|item| own.row(item)));
        let is_present =
            |item: usize| wanted.values().is_valid(item) && present.contains(&others.row(item));
        let mut items = range(wanted, row);
        results.append_value(match kind {
            Kind::Contains => items.all(is_present),
            _ => items.any(is_present),
        });
    }
    Ok(Arc::new(results.finish()))
}

fn integers(
    list: &ListArray,
    value: impl Fn(usize, std::ops::Range<usize>) -> Option<usize>,
) -> ArrayRef {
    let values = (0..list.len()).map(|row| {
        let value = if list.is_null(row) { None } else { value(row, range(list, row)) };
        value.and_then(|value| i32::try_from(value).ok())
    });
    Arc::new(values.collect::<Int32Array>())
}

fn positions(list: &ListArray, same: &BooleanArray) -> SqlResult<ArrayRef> {
    let mut results = ListBuilder::new(Int32Builder::new());
    for row in 0..list.len() {
        let found = range(list, row).zip(1..).filter(|(item, _)| same.value(*item));
        for (_, place) in found {
            results.values().append_value(place);
        }
        results.append(list.is_valid(row));
    }
    Ok(Arc::new(results.finish()))
}

/// The lists without the elements that `keep` does not keep, told their row and its range.
fn kept(
    list: &ListArray,
    keep: impl Fn(usize, usize, &std::ops::Range<usize>) -> bool,
) -> SqlResult<ArrayRef> {
    let mut mask = vec![false; list.values().len()];
    let mut offsets = Vec::with_capacity(list.len() + 1);
    let mut count = 0_i32;
    offsets.push(0);
    for row in 0..list.len() {
        let range = range(list, row);
        for item in range.clone() {
            mask[item] = list.is_valid(row) && keep(row, item, &range);
            count += i32::from(mask[item]);
        }
        offsets.push(count);
    }
    let values = compute::filter(list.values(), &BooleanArray::from(mask))?;
    let DataType::List(item) = list.data_type() else {
        return Err(SqlError::internal("a list of no list type"));
    };
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    let nulls = list.nulls().cloned();
    Ok(Arc::new(ListArray::try_new(Arc::clone(item), offsets, values, nulls)?))
}

fn replaced(list: &ListArray, same: &BooleanArray, to: &ArrayRef) -> SqlResult<ArrayRef> {
    let values = zip::zip(same, &beside(list, to)?, list.values())?;
    let (item, offsets, _, nulls) = list.clone().into_parts();
    Ok(Arc::new(ListArray::try_new(item, offsets, values, nulls)?))
}

/// How long each dimension of a row's array is.
fn lengths(list: &ListArray, row: usize) -> Vec<usize> {
    let range = range(list, row);
    let mut lengths = vec![range.len()];
    if let (Some(inner), false) = (list.values().as_list_opt::<i32>(), range.is_empty()) {
        lengths.extend(self::lengths(inner, range.start));
    }
    lengths
}

fn measures(list: &ListArray, kind: Kind, which: Option<&arrow::array::Int64Array>) -> ArrayRef {
    integers(list, |row, _| {
        let lengths = lengths(list, row);
        let empty = lengths[0] == 0;
        match kind {
            Kind::Cardinality if empty => Some(0),
            Kind::Cardinality => Some(lengths.iter().product()),
            _ if empty => None,
            Kind::DimensionCount => Some(lengths.len()),
            kind => {
                let which = which.filter(|which| which.is_valid(row))?.value(row);
                let length = *lengths.get(usize::try_from(which).ok()?.checked_sub(1)?)?;
                Some(if kind == Kind::Lower { 1 } else { length })
            }
        }
    })
}

fn texts_of_dimensions(list: &ListArray) -> ArrayRef {
    let texts = (0..list.len()).map(|row| {
        let lengths = lengths(list, row);
        if list.is_null(row) || lengths[0] == 0 {
            return None;
        }
        Some(lengths.iter().map(|length| format!("[1:{length}]")).collect::<String>())
    });
    Arc::new(texts.collect::<StringArray>())
}
