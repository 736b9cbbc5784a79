//! From filters to the part of the key space that has to be read.
//!
//! ```text
//!  every key column fixed (=, IN)        keys    one get a row, the filters are used up
//!  leading key columns fixed, the next   ranges  in a row's own share of the key space if the
//!    one bounded (=, IN, <, >, BETWEEN)          distribution is fixed, in each of 256 otherwise
//!  otherwise                             all
//! ```
//!
//! What must hold: no row that satisfies the filters lies outside what is read. All filters are
//! evaluated again above the scan: the optimizer may write a filter anew after it was offered here
//! and before the scan is made, and then it may be of a form that is not understood any more.

use std::collections::BTreeSet;
use std::fmt::Write;

use arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator, TableProviderFilterPushDown};

use crate::error::SqlResult;
use crate::state::RowLayout;
use crate::types::key::{KeyCodec, VNODES, vnode};

/// More keys than this are not looked up one by one.
const KEYS_MAX: usize = 1000;
/// More ranges than this are not read one by one.
const RANGES_MAX: usize = 4 * VNODES;

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Access {
    /// These storage keys (`vnode | key`), each once.
    Keys(Vec<Vec<u8>>),
    /// These ranges of storage keys, apart from each other.
    Ranges(Vec<KeyRange>),
    All,
}

/// `[from, to)`; no end: to the end of the table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct KeyRange {
    pub(super) from: Vec<u8>,
    pub(super) to: Option<Vec<u8>>,
}

/// A decision, and what becomes of each filter.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) access: Access,
    pub(super) filters: Vec<TableProviderFilterPushDown>,
    /// How many leading key columns are fixed or bounded.
    pub(super) bound: usize,
    /// For EXPLAIN: the conditions that were used.
    pub(super) description: String,
}

/// What a filter asks of one column.
#[derive(Debug, Clone, PartialEq)]
enum Test {
    /// Equal to one of these. NULLs are left out: nothing equals them.
    OneOf(Vec<ScalarValue>),
    From {
        value: ScalarValue,
        inclusive: bool,
    },
    To {
        value: ScalarValue,
        inclusive: bool,
    },
    Both(Box<Test>, Box<Test>),
}

/// What all filters together ask of one column.
#[derive(Debug, Default)]
struct Bounds {
    values: Option<Vec<ScalarValue>>,
    from: Option<(ScalarValue, bool)>,
    to: Option<(ScalarValue, bool)>,
}

/// A part of the key space.
struct Narrowed {
    access: Access,
    /// The columns whose bounds made it.
    used: Vec<usize>,
    /// How many of them lead the key.
    bound: usize,
}

/// Chooses how to read rows that lie as `layout` says and satisfy all `filters`.
pub(super) fn choose(layout: &RowLayout, filters: &[&Expr]) -> SqlResult<Choice> {
    let tests: Vec<Option<(usize, Test)>> =
        filters.iter().map(|filter| test_of(layout, filter)).collect();
    let mut bounds: Vec<Bounds> =
        layout.schema().fields().iter().map(|_| Bounds::default()).collect();
    for (column, test) in tests.iter().flatten() {
        bounds[*column].add(test);
    }
    let plan = match keys(layout, &bounds)? {
        Some(access) => {
            let used = layout.key_columns().to_vec();
            Some(Narrowed { access, bound: used.len(), used })
        }
        None => ranges(layout, &bounds)?,
    };
    let Some(Narrowed { access, used, bound }) = plan else {
        let filters = vec![TableProviderFilterPushDown::Unsupported; filters.len()];
        let description = "full".to_owned();
        return Ok(Choice { access: Access::All, filters, bound: 0, description });
    };
    let marks = tests.iter().map(|test| match test {
        Some((column, _)) if used.contains(column) => TableProviderFilterPushDown::Inexact,
        _ => TableProviderFilterPushDown::Unsupported,
    });
    let filters = marks.collect();
    let description = describe(layout, &bounds, &used, &access);
    Ok(Choice { access, filters, bound, description })
}

/// One key for each combination of values, if every key column has values.
fn keys(layout: &RowLayout, bounds: &[Bounds]) -> SqlResult<Option<Access>> {
    let columns = layout.key_columns();
    if columns.is_empty() || !layout.distribution_columns().iter().all(|c| columns.contains(c)) {
        return Ok(None);
    }
    let Some(rows) = combinations(columns, bounds, KEYS_MAX) else {
        return Ok(None);
    };
    let encoded = encode(layout, columns, &rows)?;
    let shares = shares(layout, columns, &rows)?;
    let distinct: BTreeSet<Vec<u8>> = shares
        .into_iter()
        .zip(encoded)
        .map(|(vnode, key)| [&[vnode], key.as_slice()].concat())
        .collect();
    Ok(Some(Access::Keys(distinct.into_iter().collect())))
}

/// Ranges by the leading key columns, and the columns that narrowed them. A multiset's key is the
/// whole row.
fn ranges(layout: &RowLayout, bounds: &[Bounds]) -> SqlResult<Option<Narrowed>> {
    let all: Vec<usize> = (0..layout.schema().fields().len()).collect();
    let order = if layout.is_keyed() { layout.key_columns() } else { &all };
    let fixed = |column: &usize| bounds[*column].values.as_ref().is_some_and(|v| v.len() == 1);

    let mut prefix: Vec<usize> = order.iter().copied().take_while(|column| fixed(column)).collect();
    let next = order.get(prefix.len()).copied();
    if let Some(column) = next
        && bounds[column].values.is_some()
    {
        prefix.push(column);
    }
    let bounded = next.filter(|column| {
        let bounds = &bounds[*column];
        bounds.values.is_none() && (bounds.from.is_some() || bounds.to.is_some())
    });
    let bound = prefix.len() + usize::from(bounded.is_some());

    let distribution = layout.distribution_columns();
    if distribution.is_empty() && bound == 0 {
        // Everything is in one share anyway.
        return Ok(None);
    }
    let by_prefix = distribution.iter().all(|column| prefix.contains(column));
    let shares_of = |rows: &[Vec<ScalarValue>]| -> SqlResult<Option<Vec<Vec<u8>>>> {
        Ok(if by_prefix {
            // Each row's own.
            let own = shares(layout, &prefix, rows)?;
            Some(own.into_iter().map(|vnode| vec![vnode]).collect())
        } else if distribution.iter().all(fixed) {
            let Some(values) = combinations(distribution, bounds, 1) else { return Ok(None) };
            Some(vec![shares(layout, distribution, &values)?; rows.len()])
        } else if bound > 0 {
            Some(vec![(0..=u8::MAX).collect(); rows.len()])
        } else {
            None
        })
    };
    let in_one = by_prefix || distribution.iter().all(fixed);
    let rows_max = if in_one { RANGES_MAX } else { RANGES_MAX / VNODES };
    let Some(rows) = combinations(&prefix, bounds, rows_max) else {
        return Ok(None);
    };
    let Some(shares) = shares_of(&rows)? else { return Ok(None) };
    let mut found = BTreeSet::new();
    for (row, vnodes) in rows.iter().zip(shares) {
        let (from, to) = match bounded {
            Some(column) => bounded_range(layout, &prefix, row, column, &bounds[column])?,
            None => {
                let from =
                    encode(layout, &prefix, std::slice::from_ref(row))?.pop().unwrap_or_default();
                let to = successor(&from);
                (from, to)
            }
        };
        found.extend(vnodes.into_iter().filter_map(|vnode| {
            let to = match &to {
                Some(to) => Some([&[vnode], to.as_slice()].concat()),
                None => vnode.checked_add(1).map(|next| vec![next]),
            };
            let range = KeyRange { from: [&[vnode], from.as_slice()].concat(), to };
            range.to.as_ref().is_none_or(|to| range.from < *to).then_some(range)
        }));
    }
    let mut used = prefix;
    used.extend(bounded);
    if in_one {
        used.extend(distribution);
    }
    Ok(Some(Narrowed { access: Access::Ranges(found.into_iter().collect()), used, bound }))
}

/// The keys that start with `row` in columns `prefix` and lie within the bounds of `column`.
fn bounded_range(
    layout: &RowLayout,
    prefix: &[usize],
    row: &[ScalarValue],
    column: usize,
    bounds: &Bounds,
) -> SqlResult<(Vec<u8>, Option<Vec<u8>>)> {
    let start = encode(layout, prefix, &[row.to_vec()])?.pop().unwrap_or_default();
    let columns = [prefix, &[column]].concat();
    let with = |value: &ScalarValue| -> SqlResult<Vec<u8>> {
        let row = [row, std::slice::from_ref(value)].concat();
        Ok(encode(layout, &columns, &[row])?.pop().unwrap_or_default())
    };
    let from = match &bounds.from {
        None => start.clone(),
        Some((value, true)) => with(value)?,
        Some((value, false)) => {
            let value = with(value)?;
            // No key is greater than one that has no successor.
            successor(&value).unwrap_or(value)
        }
    };
    let to = match &bounds.to {
        None => successor(&start),
        Some((value, true)) => successor(&with(value)?),
        Some((value, false)) => Some(with(value)?),
    };
    Ok((from, to))
}

/// Every combination of the values of `columns`, unless there are more than `rows_max` or a column
/// has none said.
fn combinations(
    columns: &[usize],
    bounds: &[Bounds],
    rows_max: usize,
) -> Option<Vec<Vec<ScalarValue>>> {
    let mut rows = vec![Vec::new()];
    for column in columns {
        let values = bounds[*column].values.as_ref()?;
        if rows.len() * values.len() > rows_max {
            return None;
        }
        rows = rows
            .iter()
            .flat_map(|row| {
                values.iter().map(move |value| {
                    let mut row = row.clone();
                    row.push(value.clone());
                    row
                })
            })
            .collect();
    }
    Some(rows)
}

/// The ordered encoding of `rows`, whose values are those of `columns`. The encoding of leading
/// columns is a prefix of that of all.
fn encode(
    layout: &RowLayout,
    columns: &[usize],
    rows: &[Vec<ScalarValue>],
) -> SqlResult<Vec<Vec<u8>>> {
    if columns.is_empty() || rows.is_empty() {
        return Ok(vec![Vec::new(); rows.len()]);
    }
    let arrays = (0..columns.len())
        .map(|index| ScalarValue::iter_to_array(rows.iter().map(|row| row[index].clone())))
        .collect::<Result<Vec<ArrayRef>, _>>()?;
    let codec = KeyCodec::new(layout.schema(), columns)?;
    let encoded = codec.encode_columns(&arrays, rows.len())?;
    Ok(encoded.iter().map(|row| row.as_ref().to_vec()).collect())
}

/// The share of the key space of each of `rows`, which have `columns`: the distribution's are among
/// them.
fn shares(layout: &RowLayout, columns: &[usize], rows: &[Vec<ScalarValue>]) -> SqlResult<Vec<u8>> {
    let distribution = layout.distribution_columns();
    if distribution.is_empty() {
        return Ok(vec![0; rows.len()]);
    }
    let positions: Vec<usize> = distribution
        .iter()
        .filter_map(|wanted| columns.iter().position(|column| column == wanted))
        .collect();
    let rows: Vec<Vec<ScalarValue>> = rows
        .iter()
        .map(|row| positions.iter().map(|&position| row[position].clone()).collect())
        .collect();
    Ok(encode(layout, distribution, &rows)?.iter().map(|key| vnode(key)).collect())
}

/// The least byte string after all that start with `prefix`; none if there is no such.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let keep = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut next = prefix[..=keep].to_vec();
    next[keep] += 1;
    Some(next)
}

impl Bounds {
    fn add(&mut self, test: &Test) {
        match test {
            Test::OneOf(values) => match &mut self.values {
                Some(known) => known.retain(|value| values.contains(value)),
                None => self.values = Some(values.clone()),
            },
            Test::From { value, inclusive } => {
                let tighter = match &self.from {
                    None => true,
                    Some((known, known_inclusive)) => match value.partial_cmp(known) {
                        Some(order) => order.is_gt() || (order.is_eq() && *known_inclusive),
                        None => false,
                    },
                };
                if tighter {
                    self.from = Some((value.clone(), *inclusive));
                }
            }
            Test::To { value, inclusive } => {
                let tighter = match &self.to {
                    None => true,
                    Some((known, known_inclusive)) => match value.partial_cmp(known) {
                        Some(order) => order.is_lt() || (order.is_eq() && *known_inclusive),
                        None => false,
                    },
                };
                if tighter {
                    self.to = Some((value.clone(), *inclusive));
                }
            }
            Test::Both(one, other) => {
                self.add(one);
                self.add(other);
            }
        }
    }
}

/// What `filter` asks of a column, if it is of a form that is understood.
fn test_of(layout: &RowLayout, filter: &Expr) -> Option<(usize, Test)> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            // The optimizer writes short IN lists as a chain of ORs.
            match (test_of(layout, left)?, test_of(layout, right)?) {
                ((left, Test::OneOf(mut values)), (right, Test::OneOf(more))) if left == right => {
                    values.extend(more);
                    Some((left, Test::OneOf(values)))
                }
                _ => None,
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(value, _)) => {
                comparison(layout, &column.name, *op, value)
            }
            (Expr::Literal(value, _), Expr::Column(column)) => {
                comparison(layout, &column.name, op.swap()?, value)
            }
            _ => None,
        },
        Expr::InList(InList { expr, list, negated: false }) => {
            let Expr::Column(column) = &**expr else { return None };
            let values = list
                .iter()
                .map(|item| match item {
                    Expr::Literal(value, _) => Some(value),
                    _ => None,
                })
                .collect::<Option<Vec<_>>>()?;
            let (index, data_type) = column_of(layout, &column.name)?;
            let values = values
                .into_iter()
                .filter(|value| !value.is_null())
                .map(|value| literal(value, data_type))
                .collect::<Option<Vec<_>>>()?;
            Some((index, Test::OneOf(values)))
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            match (&**expr, &**low, &**high) {
                (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) => {
                    let (index, low) = comparison(layout, &column.name, Operator::GtEq, low)?;
                    let (_, high) = comparison(layout, &column.name, Operator::LtEq, high)?;
                    Some((index, Test::Both(Box::new(low), Box::new(high))))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn comparison(
    layout: &RowLayout,
    column: &str,
    operator: Operator,
    value: &ScalarValue,
) -> Option<(usize, Test)> {
    let (index, data_type) = column_of(layout, column)?;
    if value.is_null() {
        // Comparing with NULL is never true.
        let compares = matches!(
            operator,
            Operator::Eq | Operator::Gt | Operator::GtEq | Operator::Lt | Operator::LtEq
        );
        return compares.then(|| (index, Test::OneOf(Vec::new())));
    }
    let value = literal(value, data_type)?;
    let test = match operator {
        Operator::Eq => Test::OneOf(vec![value]),
        Operator::Gt => Test::From { value, inclusive: false },
        Operator::GtEq => Test::From { value, inclusive: true },
        Operator::Lt => Test::To { value, inclusive: false },
        Operator::LtEq => Test::To { value, inclusive: true },
        _ => return None,
    };
    Some((index, test))
}

fn column_of<'a>(
    layout: &'a RowLayout,
    name: &str,
) -> Option<(usize, &'a arrow::datatypes::DataType)> {
    let (index, field) = layout.schema().column_with_name(name)?;
    Some((index, field.data_type()))
}

/// `value` as the column stores it, if nothing is lost by that.
fn literal(value: &ScalarValue, data_type: &arrow::datatypes::DataType) -> Option<ScalarValue> {
    let cast = if value.data_type() == *data_type {
        value.clone()
    } else {
        let cast = value.cast_to(data_type).ok()?;
        if cast.cast_to(&value.data_type()).ok()? != *value {
            return None;
        }
        cast
    };
    Some(match cast {
        ScalarValue::Float32(Some(float)) => {
            ScalarValue::Float32(Some(if float.is_nan() { f32::NAN } else { float + 0.0 }))
        }
        ScalarValue::Float64(Some(float)) => {
            ScalarValue::Float64(Some(if float.is_nan() { f64::NAN } else { float + 0.0 }))
        }
        other => other,
    })
}

/// `keys=[id = 1]`, `ranges=[a = 1, b > 5] in 1 share`.
fn describe(layout: &RowLayout, bounds: &[Bounds], used: &[usize], access: &Access) -> String {
    const SHOWN_MAX: usize = 5;
    let mut conditions = Vec::new();
    let mut seen = BTreeSet::new();
    for &column in used.iter().filter(|column| seen.insert(**column)) {
        let name = layout.schema().field(column).name();
        let bounds = &bounds[column];
        match bounds.values.as_deref() {
            Some([value]) => conditions.push(format!("{name} = {value}")),
            Some(values) => {
                let shown: Vec<String> =
                    values.iter().take(SHOWN_MAX).map(ToString::to_string).collect();
                let dots = if values.len() > SHOWN_MAX { ", ..." } else { "" };
                conditions.push(format!("{name} IN ({}{dots})", shown.join(", ")));
            }
            None => {
                if let Some((value, inclusive)) = &bounds.from {
                    conditions
                        .push(format!("{name} >{} {value}", if *inclusive { "=" } else { "" }));
                }
                if let Some((value, inclusive)) = &bounds.to {
                    conditions
                        .push(format!("{name} <{} {value}", if *inclusive { "=" } else { "" }));
                }
            }
        }
    }
    let conditions = conditions.join(", ");
    let mut text = String::new();
    let written = match access {
        Access::Keys(_) => write!(text, "keys=[{conditions}]"),
        Access::Ranges(ranges) => {
            let shares: BTreeSet<Option<&u8>> =
                ranges.iter().map(|range| range.from.first()).collect();
            write!(text, "ranges=[{conditions}] in {} of {VNODES} shares", shares.len())
        }
        Access::All => write!(text, "full"),
    };
    written.expect("a String takes all");
    text
}
