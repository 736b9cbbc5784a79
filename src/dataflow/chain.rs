//! A fragment's tree of operators in one actor: a delta at a port is pushed through to the root
//! before the next is taken, so nothing piles up between operators.

use std::sync::Arc;

use super::report::NodeRows;
use crate::error::SqlResult;
use crate::graph::{Job, NodeKind};
use crate::operator::{self, EpochEnd, Operator, OperatorError, Output, RowError};
use crate::state::{Pending, StandingErrors, Store, TableChange};
use crate::types::Delta;

/// The operators, children before parents, as `graph::Fragment::nodes` has them.
pub struct Chain {
    /// `None` at input nodes, and while the operator runs.
    operators: Vec<Option<Box<dyn Operator>>>,
    /// For each node, who takes its rows, and at which port; `None` at the root.
    parents: Vec<Option<(usize, usize)>>,
    /// The input node of each port.
    entries: Vec<usize>,
    /// Where reading the view fails while one of its rows does.
    standing: Option<StandingErrors>,
    /// What each has taken and given since that was last asked for.
    rows: Vec<NodeRows>,
    pending: Pending,
}

impl Chain {
    /// The operators of actor `actor` of fragment number `number` of `job`.
    pub fn build(job: &Job, number: usize, actor: usize, store: &Store) -> SqlResult<Self> {
        let fragment = &job.fragments[number];
        let mut operators = Vec::with_capacity(fragment.nodes.len());
        let mut parents = vec![None; fragment.nodes.len()];
        let mut entries = vec![0; fragment.inputs.len()];
        for (index, node) in fragment.nodes.iter().enumerate() {
            if let NodeKind::Input(port) = node.kind {
                entries[port] = index;
            }
            for (port, child) in node.inputs.iter().enumerate() {
                parents[*child] = Some((index, port));
            }
            let schemas: Vec<_> = node
                .inputs
                .iter()
                .map(|child| Arc::clone(&fragment.nodes[*child].schema))
                .collect();
            let built = operator::build::build(node, job, &schemas, store);
            operators.push(built.map_err(OperatorError::into_sql)?);
        }
        let standing =
            job.fail_on_error.then(|| StandingErrors::new(store, job.object, number, actor));
        let rows = vec![NodeRows::default(); parents.len()];
        let pending = store.pending().clone();
        Ok(Self { operators, parents, entries, standing, rows, pending })
    }

    /// Pushes a delta that arrived at `port` through the tree.
    pub fn process(
        &mut self,
        port: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let entry = self.entries[port];
        self.rows[entry].rows_in += delta.rows() as u64;
        self.push(entry, delta, output)
    }

    /// What each node has taken and given since the last call.
    pub fn take_rows(&mut self) -> Vec<NodeRows> {
        let none = vec![NodeRows::default(); self.rows.len()];
        std::mem::replace(&mut self.rows, none)
    }

    /// Gives everything held back in the epoch, children first.
    pub fn flush(&mut self, end: &EpochEnd, output: &mut dyn Output) -> Result<(), OperatorError> {
        for index in 0..self.operators.len() {
            self.run(index, output, |operator, output| operator.flush(end, output))?;
        }
        Ok(())
    }

    /// The net change of every state table, and what failed: some of it whole, the rest as one
    /// count for each operator.
    pub fn freeze(&mut self) -> Result<(Vec<TableChange>, Vec<RowError>), OperatorError> {
        self.pending.check()?;
        let mut changes = Vec::new();
        let mut told = Vec::new();
        for operator in self.operators.iter_mut().flatten() {
            changes.extend(operator.tables().into_iter().filter_map(|table| table.freeze()));
            let errors = operator.take_row_errors();
            if let Some(standing) = &mut self.standing {
                for error in &errors {
                    standing.add(&error.expression, &error.error, error.weight);
                }
            }
            tell(errors, &mut told);
        }
        if let Some(standing) = &mut self.standing {
            changes.extend(standing.freeze()?);
        }
        Ok((changes, told))
    }

    pub fn cached_bytes(&self) -> usize {
        self.operators.iter().flatten().map(|operator| operator.cached_bytes()).sum()
    }

    /// Gives up clean cached state until at most `bytes_max` are left, shared evenly.
    pub fn evict(&mut self, bytes_max: usize) {
        let caching =
            self.operators.iter().flatten().filter(|operator| operator.cached_bytes() > 0).count();
        for operator in self.operators.iter_mut().flatten() {
            operator.evict(bytes_max / caching.max(1));
        }
    }

    fn push(
        &mut self,
        from: usize,
        delta: Delta,
        output: &mut dyn Output,
    ) -> Result<(), OperatorError> {
        let rows = delta.rows() as u64;
        self.rows[from].rows_out += rows;
        match self.parents[from] {
            None => output.emit(delta),
            Some((parent, port)) => {
                self.rows[parent].rows_in += rows;
                self.run(parent, output, |operator, output| operator.process(port, delta, output))
            }
        }
    }

    /// Runs one operator, its output going to its parent.
    fn run(
        &mut self,
        index: usize,
        output: &mut dyn Output,
        call: impl FnOnce(&mut dyn Operator, &mut dyn Output) -> Result<(), OperatorError>,
    ) -> Result<(), OperatorError> {
        self.pending.check()?;
        let Some(mut operator) = self.operators[index].take() else { return Ok(()) };
        let result = call(&mut *operator, &mut ToParent { chain: self, index, output });
        self.operators[index] = Some(operator);
        result
    }
}

/// Adds to `told` the errors whose rows are known as text, and one that counts the others.
fn tell(errors: Vec<RowError>, told: &mut Vec<RowError>) {
    let mut more: Option<RowError> = None;
    for error in errors {
        match &mut more {
            _ if error.more == 0 => told.push(error),
            Some(more) => {
                more.more += error.more;
                more.weight = more.weight.max(error.weight);
            }
            None => more = Some(error),
        }
    }
    told.extend(more.map(|more| RowError { row: RowError::counted(more.more), ..more }));
}

struct ToParent<'a> {
    chain: &'a mut Chain,
    index: usize,
    output: &'a mut dyn Output,
}

impl Output for ToParent<'_> {
    fn emit(&mut self, delta: Delta) -> Result<(), OperatorError> {
        debug_assert!((0..delta.rows()).all(|row| delta.weight(row) != 0), "no row of weight 0");
        if delta.is_empty() { Ok(()) } else { self.chain.push(self.index, delta, self.output) }
    }
}
