//! Rows of groups in an order, as their state tables hold them. A key is
//!
//! ```text
//!  vnode | group | entry          entry:  order | other columns
//! ```
//!
//! so that a group is one range, in its order, and rows that are equal by the order (peers) begin
//! with the same bytes, and come in the order of their other columns.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;

use super::batch::batch_of;
use crate::graph::Order;
use crate::types::key::{KeyCodec, vnode};

/// How rows lie.
pub(super) struct OrderedRows {
    pub(super) schema: SchemaRef,
    pub(super) group: KeyCodec,
    /// The order's columns, then all others but the group's.
    pub(super) entry: KeyCodec,
    /// The order's columns.
    pub(super) order: KeyCodec,
    /// Of whole rows.
    pub(super) row: KeyCodec,
    /// Whence each column comes, in a group's columns followed by an entry's.
    places: Vec<usize>,
}

impl OrderedRows {
    /// For rows with `schema`, grouped by columns `group`, in the order `order`.
    pub(super) fn new(
        schema: &SchemaRef,
        group: &[usize],
        order: &[Order],
    ) -> Result<Self, ArrowError> {
        let ascending = SortOptions { descending: false, nulls_first: false };
        let mut entry: Vec<(usize, SortOptions)> = Vec::new();
        for order in order {
            let known = entry.iter().any(|(column, _)| *column == order.column);
            if !known && !group.contains(&order.column) {
                entry.push((order.column, options_of(order)));
            }
        }
        let ordered = entry.len();
        for column in 0..schema.fields().len() {
            let known = entry.iter().any(|(known, _)| *known == column);
            if !known && !group.contains(&column) {
                entry.push((column, ascending));
            }
        }
        let columns: Vec<usize> = entry.iter().map(|(column, _)| *column).collect();
        let place = |column| group.iter().chain(&columns).position(|stored| *stored == column);
        Ok(Self {
            schema: Arc::clone(schema),
            group: KeyCodec::new(schema, group)?,
            entry: codec(schema, &entry)?,
            order: codec(schema, &entry[..ordered])?,
            row: KeyCodec::of_row(schema)?,
            // Every column is the group's or an entry's.
            places: (0..schema.fields().len()).filter_map(place).collect(),
        })
    }

    /// Another codec of the columns of an order.
    pub(super) fn order_codec(&self, order: &[Order]) -> Result<KeyCodec, ArrowError> {
        let columns: Vec<_> = order.iter().map(|order| (order.column, options_of(order))).collect();
        codec(&self.schema, &columns)
    }

    /// The vnode of an encoded group.
    pub(super) fn share(group: &[u8]) -> u8 {
        // The key of no columns is in vnode 0.
        if group.is_empty() { 0 } else { vnode(group) }
    }

    /// What the keys of an encoded group begin with.
    pub(super) fn prefix(group: &[u8]) -> Vec<u8> {
        [&[Self::share(group)], group].concat()
    }

    /// Whole rows again, from encoded groups and entries.
    pub(super) fn assemble<'a>(
        &self,
        groups: impl IntoIterator<Item = &'a [u8]>,
        entries: impl IntoIterator<Item = &'a [u8]>,
        rows: usize,
    ) -> Result<RecordBatch, ArrowError> {
        let mut stored = self.group.decode(groups)?;
        stored.extend(self.entry.decode(entries)?);
        let columns = self.places.iter().map(|&place| Arc::clone(&stored[place])).collect();
        batch_of(&self.schema, columns, rows)
    }
}

fn options_of(order: &Order) -> SortOptions {
    SortOptions { descending: order.descending, nulls_first: order.nulls_first }
}

fn codec(schema: &SchemaRef, columns: &[(usize, SortOptions)]) -> Result<KeyCodec, ArrowError> {
    let typed = |&(column, options): &(usize, SortOptions)| {
        (schema.field(column).data_type().clone(), options)
    };
    let indexes = columns.iter().map(|(column, _)| *column).collect();
    KeyCodec::ordered(indexes, columns.iter().map(typed))
}
