//! What is to be asked of a foreign key: keys that rows came to refer to, and keys that went.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};

use super::link::{Link, Refers, Wanted};
use super::{Gone, gather};
use crate::engine::dml::context::Context;
use crate::engine::dml::environment::blocking;
use crate::engine::dml::transaction::{Sight, Transaction};
use crate::error::SqlResult;

/// The questions that one foreign key leaves.
#[derive(Debug)]
pub(super) struct Pending {
    link: Arc<Link>,
    /// Rows of the child that came to refer to something.
    rows: Vec<RecordBatch>,
    /// The keys that they refer to, and the first row that does.
    came: HashMap<Vec<u8>, (usize, usize)>,
    gone: Vec<Gone>,
    /// Whether a key that went must not be referred to even if another row has it now.
    at_once: bool,
}

impl Pending {
    pub(super) fn new(link: Arc<Link>) -> Self {
        let (rows, came, gone) = (Vec::new(), HashMap::new(), Vec::new());
        Self { link, rows, came, gone, at_once: false }
    }

    pub(super) fn of_parent(link: Arc<Link>, gone: Gone) -> Self {
        Self { gone: vec![gone], ..Self::new(link) }
    }

    /// The same asked now: RESTRICT.
    pub(super) fn at_once(self) -> Self {
        Self { at_once: true, ..self }
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    /// Rows of the child came; those for which `is_new` is false referred to the same before.
    pub(super) fn refers(
        &mut self,
        rows: &RecordBatch,
        is_new: impl Fn(usize, &Refers) -> bool,
    ) -> SqlResult<()> {
        if self.link.key.full && self.link.half(rows).is_some() {
            return Err(self.link.mixes_nulls());
        }
        let batch = self.rows.len();
        for (row, refers) in self.link.refers(rows)?.into_iter().enumerate() {
            if !is_new(row, &refers) {
                continue;
            }
            match refers {
                Refers::Nothing => {}
                Refers::Nowhere => return Err(self.link.not_present(rows, row)),
                Refers::Key(key) => {
                    self.came.entry(key).or_insert((batch, row));
                }
            }
        }
        self.rows.push(rows.clone());
        Ok(())
    }

    pub(super) fn merge(&mut self, other: Self) {
        let before = self.rows.len();
        self.rows.extend(other.rows);
        for (key, (batch, row)) in other.came {
            self.came.entry(key).or_insert((before + batch, row));
        }
        self.gone.extend(other.gone);
    }

    /// Answers, with what the transaction sees now. May block for the disk. `late`: rows may have
    /// gone again since they came.
    pub(super) fn check(&self, parent: &Sight, child: &Sight, late: bool) -> SqlResult<()> {
        self.check_came(parent, child, late)?;
        for gone in &self.gone {
            let keys: Vec<Vec<u8>> = gone.places.iter().map(|(key, _)| key.clone()).collect();
            let back = match self.at_once {
                true => vec![false; keys.len()],
                false => self.link.present(parent, &keys)?,
            };
            let wanted = gone.wanted(&self.link, |index| !back[index])?;
            let found = self.link.find(child, &wanted, true)?;
            let refers: HashSet<Vec<u8>> = self.referred(&found.rows)?;
            let still = gone.places.iter().find(|(key, _)| refers.contains(key));
            if let Some((_, (batch, row))) = still {
                return Err(self.link.still_referenced(&gone.rows[*batch], *row));
            }
        }
        Ok(())
    }

    fn check_came(&self, parent: &Sight, child: &Sight, late: bool) -> SqlResult<()> {
        let (keys, places): (Vec<Vec<u8>>, Vec<(usize, usize)>) =
            self.came.iter().map(|(key, place)| (key.clone(), *place)).unzip();
        let present = self.link.present(parent, &keys)?;
        let missing = keys.into_iter().zip(places).zip(present);
        let missing = missing.filter(|(_, present)| !present).map(|(missing, _)| missing);
        let mut missing: Vec<(Vec<u8>, (usize, usize))> = missing.collect();
        missing.sort_unstable_by_key(|(_, place)| *place);
        if late && !missing.is_empty() {
            let at: Vec<(usize, usize)> = missing.iter().map(|(_, place)| *place).collect();
            let keys = missing.iter().map(|(key, _)| key.clone()).collect();
            let wanted = Wanted { keys, values: self.parent_values(&at)? };
            let refers = self.referred(&self.link.find(child, &wanted, true)?.rows)?;
            missing.retain(|(key, _)| refers.contains(key));
        }
        match missing.first() {
            Some((_, (batch, row))) => Err(self.link.not_present(&self.rows[*batch], *row)),
            None => Ok(()),
        }
    }

    /// The values that rows of the child refer to, as the parent would have them.
    fn parent_values(&self, at: &[(usize, usize)]) -> SqlResult<Vec<ArrayRef>> {
        let values = self.rows.iter().map(|rows| self.link.referred(rows));
        gather(&values.collect::<SqlResult<Vec<_>>>()?, at)
    }

    fn referred(&self, rows: &[RecordBatch]) -> SqlResult<HashSet<Vec<u8>>> {
        let mut keys = HashSet::new();
        for rows in rows {
            let refers = self.link.refers(rows)?.into_iter();
            keys.extend(refers.filter_map(|refers| match refers {
                Refers::Key(key) => Some(key),
                _ => None,
            }));
        }
        Ok(keys)
    }
}

impl Transaction {
    /// Answers what is pending of a foreign key now.
    pub(super) async fn check_pending(&self, context: &Context, pending: Pending) -> SqlResult<()> {
        self.check_of(context, pending, false).await
    }

    pub(super) async fn check_of(
        &self,
        context: &Context,
        pending: Pending,
        late: bool,
    ) -> SqlResult<()> {
        let parent = self.sight(context, &pending.link.parent)?;
        let child = self.sight(context, &pending.link.child)?;
        blocking(move || pending.check(&parent, &child, late)).await
    }
}
