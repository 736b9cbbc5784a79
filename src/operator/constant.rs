//! Constant rows: given once in the job's life. What comes in only brings the barriers.

use arrow::array::RecordBatch;

use super::batch::emit_chunks;
use super::{EpochEnd, Operator, OperatorError, Output};
use crate::graph;
use crate::state::{Store, Table};
use crate::types::{Delta, ObjectId, TableId};

/// Rows that are always there.
pub struct Constant {
    rows: RecordBatch,
    /// Has an entry since the rows were given.
    table: Table,
    given: bool,
}

/// The entry of the state table: `vnode 0`, and nothing else.
const GIVEN: &[u8] = &[0];

impl Constant {
    /// For operator `operator` of `object`'s job.
    pub fn new(
        constant: &graph::Constant,
        (object, operator): (ObjectId, u16),
        store: &Store,
    ) -> Self {
        let table = store.table(TableId::of_operator(object, operator, 0));
        Self { rows: constant.rows.clone(), table, given: false }
    }
}

impl Operator for Constant {
    fn process(
        &mut self,
        _port: usize,
        _delta: Delta,
        _output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        Ok(())
    }

    fn flush(&mut self, _: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(());
        }
        let stored = self.table.get_many(&[GIVEN])?;
        if stored.iter().all(Option::is_none) {
            self.table.put(GIVEN, &[]);
            emit_chunks(&Delta::inserts(self.rows.clone()), output)?;
        }
        Ok(())
    }

    fn tables(&mut self) -> Vec<&mut Table> {
        vec![&mut self.table]
    }
}
