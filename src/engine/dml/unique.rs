//! Unique indexes: whether what a statement changes leaves each key once.
//!
//! Asked of the end of the statement, as of the primary key: with `n` rows of a key before it, `+`
//! that came and `-` that went, `n + came - went` must not be more than one.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, RecordBatch};
use hashbrown::HashMap;

use crate::dataflow::guard::Guard;
use crate::error::{About, SqlError, SqlResult, code};
use crate::expr::text_of;
use crate::serving::Overlay;
use crate::state::{RowLayout, TableReader};
use crate::types::text::TextStyle;
use crate::types::{Delta, ObjectId, SqlType};

/// What a transaction did to the keys of guards, by index.
pub(super) type Taken = BTreeMap<ObjectId, Overlay>;

/// What a statement does to a key.
#[derive(Default)]
struct Net {
    rows: i64,
    /// The first row that came with it, and the last: their deltas, and where they are in those.
    came: Option<(usize, usize)>,
    last: Option<(usize, usize)>,
}

/// What a statement that changes `deltas` adds to what its transaction has `taken`, or the error of
/// a key that is there twice then.
/// May block for the disk.
pub(super) fn check(
    guards: &[(Arc<Guard>, TableReader)],
    taken: &Taken,
    deltas: &[Delta],
    layout: &RowLayout,
) -> SqlResult<Taken> {
    let mut changes = Taken::new();
    // The storage keys of each delta's rows, which say who has a key.
    let mut holders: Vec<Vec<Vec<u8>>> = Vec::with_capacity(deltas.len());
    for delta in deltas {
        holders.push(layout.keys(delta.batch())?);
    }
    for (guard, reader) in guards {
        let mut nets: HashMap<Vec<u8>, Net> = HashMap::new();
        for (index, delta) in deltas.iter().enumerate() {
            for (row, key) in guard.keys(delta.batch())?.into_iter().enumerate() {
                let Some(key) = key else {
                    if guard.required && delta.weight(row) > 0 {
                        return Err(null_in_key(guard, delta.batch(), row));
                    }
                    continue;
                };
                let net = nets.entry(key).or_default();
                net.rows += delta.weight(row);
                if delta.weight(row) > 0 {
                    net.came.get_or_insert((index, row));
                    net.last = Some((index, row));
                }
            }
        }
        let own = taken.get(&guard.index);
        let keys: Vec<&Vec<u8>> = nets.keys().collect();
        let stored = reader.get_many(&keys)?;
        let mut twice = None;
        let mut changed = Overlay::new();
        for (key, stored) in keys.into_iter().zip(stored) {
            let own = own.and_then(|own| own.get(key.as_slice()));
            let holder = own.map_or(stored.as_deref(), |own| own.as_deref());
            let before = holder.is_some();
            let net = &nets[key];
            let after = i64::from(before) + net.rows;
            if after > 1 {
                twice = [twice, net.came].into_iter().flatten().min();
            } else if after == 1 {
                // A row that keeps its key and its place changes nothing.
                let new = net.last.map(|(delta, row)| holders[delta][row].as_slice());
                if let Some(new) = new.filter(|new| holder != Some(*new)) {
                    changed.insert(key.clone().into_boxed_slice(), Some(Box::from(new)));
                }
            } else if before {
                changed.insert(key.clone().into_boxed_slice(), None);
            }
        }
        if let Some((delta, row)) = twice {
            return Err(violation(guard, deltas[delta].batch(), row));
        }
        changes.insert(guard.index, changed);
    }
    Ok(changes)
}

/// A NULL that comes from a statement that began before there was the primary key.
fn null_in_key(guard: &Guard, rows: &RecordBatch, row: usize) -> SqlError {
    let schema = rows.schema();
    let null = guard.columns().iter().find(|column| rows.column(**column).is_null(row));
    let column = null.map_or("", |column| schema.field(*column).name().as_str());
    let message = format!("null value in column \"{column}\" violates not-null constraint");
    SqlError::new(code::NOT_NULL_VIOLATION, message)
        .about(About { column: Some(column.to_owned()), ..About::default() })
}

fn violation(guard: &Guard, rows: &RecordBatch, row: usize) -> SqlError {
    let message = format!("duplicate key value violates unique constraint \"{}\"", guard.name);
    let about = About { constraint: Some(guard.name.clone()), ..About::default() };
    let error = SqlError::new(code::UNIQUE_VIOLATION, message).about(about);
    match key_text(guard, rows, row) {
        Ok(key) => error.detail(format!("Key {key} already exists.")),
        Err(_) => error,
    }
}

/// `(a, b)=(1, x)`.
pub(in crate::engine) fn key_text(
    guard: &Guard,
    rows: &RecordBatch,
    row: usize,
) -> SqlResult<String> {
    let schema = rows.schema();
    let mut names = Vec::new();
    let mut values = Vec::new();
    for &column in guard.columns() {
        let field = schema.field(column);
        names.push(field.name().clone());
        let text =
            text_of(&SqlType::of_field(field), rows.column(column), row, &TextStyle::default())?;
        values.push(text.unwrap_or_else(|| "null".to_owned()));
    }
    Ok(format!("({})=({})", names.join(", "), values.join(", ")))
}
