//! Foreign keys that are looked at when the transaction commits: DEFERRABLE ones, as their
//! definitions and SET CONSTRAINTS say.
//!
//! What is pending is asked of the rows that there are then: a row that came and went again, or a
//! key that went and came again, is none.

use std::collections::BTreeMap;

use super::pending::Pending;
use crate::catalog::constraint::{Checked, ForeignKey};
use crate::engine::dml::context::Context;
use crate::engine::dml::transaction::Transaction;
use crate::error::SqlResult;
use crate::types::ObjectId;

/// What a transaction leaves for its end.
#[derive(Debug, Default)]
pub(in crate::engine::dml) struct Late {
    /// What SET CONSTRAINTS ALL said last: whether they are looked at late.
    all: Option<bool>,
    /// What it said of single ones since.
    named: BTreeMap<ObjectId, bool>,
    pending: BTreeMap<ObjectId, Pending>,
}

/// Which constraints SET CONSTRAINTS means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constraints {
    All,
    Named(Vec<ObjectId>),
}

impl Late {
    /// Whether a foreign key is looked at when the transaction commits.
    pub(super) fn is_late(&self, key: &ForeignKey) -> bool {
        let said = self.named.get(&key.id).copied().or(self.all);
        match key.checked {
            Checked::Always => false,
            Checked::Immediately => said.unwrap_or(false),
            Checked::Late => said.unwrap_or(true),
        }
    }

    pub(super) fn add(&mut self, pending: Pending) {
        match self.pending.get_mut(&pending.link().key.id) {
            Some(known) => known.merge(pending),
            None => {
                self.pending.insert(pending.link().key.id, pending);
            }
        }
    }
}

impl Transaction {
    /// SET CONSTRAINTS: from now on these are looked at `late`, or at the end of each statement;
    /// what is pending of them is looked at now then.
    pub async fn set_constraints(
        &mut self,
        context: &Context,
        which: &Constraints,
        late: bool,
    ) -> SqlResult<()> {
        let own = self.late();
        match which {
            Constraints::All => {
                own.all = Some(late);
                own.named.clear();
            }
            Constraints::Named(ids) => own.named.extend(ids.iter().map(|id| (*id, late))),
        }
        match (late, which) {
            (true, _) => Ok(()),
            (false, Constraints::All) => self.check_late(context, None).await,
            (false, Constraints::Named(ids)) => self.check_late(context, Some(ids)).await,
        }
    }

    /// Looks at what is pending, of all foreign keys or of `some`.
    pub(in crate::engine::dml) async fn check_late(
        &mut self,
        context: &Context,
        some: Option<&[ObjectId]>,
    ) -> SqlResult<()> {
        let mut pending = std::mem::take(&mut self.late().pending);
        if let Some(some) = some {
            let (wanted, others) = pending.into_iter().partition(|(key, _)| some.contains(key));
            self.late().pending = others;
            pending = wanted;
        }
        for pending in pending.into_values() {
            self.check_of(context, pending, true).await?;
        }
        Ok(())
    }
}
