//! EXPLAIN ANALYZE MATERIALIZED VIEW: the view's job, and what each of its operators does.
//!
//! Actors count the rows of whole batches and tell them with each epoch; here they are looked at
//! twice, a second apart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use crate::catalog::Object;
use crate::checkpoint::status::JobState;
use crate::clock;
use crate::dataflow::report::NodeRows;
use crate::error::{SqlError, SqlResult};
use crate::graph::NodeKind;
use crate::planner;
use crate::state::Snapshot;
use crate::task;
use crate::types::{ObjectId, TableId};

/// Between the two looks.
const LOOKED_FOR: Duration = Duration::from_secs(1);

/// Entries that are counted; of more only the bytes are shown.
const COUNTED_MAX: usize = 100_000;

/// What nodes have taken and given so far, by fragment and node.
type Rows = HashMap<(usize, usize), NodeRows>;

/// Entries, if they were counted, and bytes of an operator's state, by its number.
type States = HashMap<u16, (Option<usize>, u64)>;

impl Engine {
    /// What the job of `view` is and does, a line each; takes a second.
    pub async fn analyze_view(self: &Arc<Self>, view: &Arc<Object>) -> SqlResult<Vec<String>> {
        let catalog = self.catalog();
        let job = planner::plan_stored_view(&catalog, view).await?;
        let (before, begun) = (self.rows_of_nodes(view.id), clock::moment());
        tokio::time::sleep(LOOKED_FOR).await;
        let (after, seconds) = (self.rows_of_nodes(view.id), begun.elapsed().as_secs_f64());
        let (engine, id) = (Arc::clone(self), view.id);
        let states =
            task::spawn_blocking(move || engine.states(&engine.snapshot(), id)).await.map_err(
                |panic| SqlError::internal(format!("looking at state panicked: {panic}")),
            )??;
        let facts = |fragment: usize, node: usize| {
            let place = (fragment, node);
            let now = after.get(&place).copied().unwrap_or_default();
            let then = before.get(&place).copied().unwrap_or_default();
            let rows = |now: u64, then: u64| {
                let rate = now.saturating_sub(then) as f64 / seconds;
                format!("{now} rows, {rate:.0}/s")
            };
            let mut text = format!(
                "in: {}; out: {}",
                rows(now.rows_in, then.rows_in),
                rows(now.rows_out, then.rows_out)
            );
            let node = &job.fragments[fragment].nodes[node];
            let number = match node.kind {
                NodeKind::Materialize(_) => TableId::CONTENTS,
                _ => node.id,
            };
            if let Some((entries, bytes)) = states.get(&number) {
                let entries = entries.map_or(format!("more than {COUNTED_MAX}"), |n| n.to_string());
                text.push_str(&format!("; state: {entries} entries, {bytes} bytes in files"));
            }
            Some(text)
        };
        let mut lines = vec![self.standing(view)];
        lines.extend(planner::explain_running(&job, &catalog, &facts));
        Ok(lines)
    }

    /// How the job is as a whole.
    fn standing(&self, view: &Object) -> String {
        let newest = self.store().epoch();
        let state = match self.coordinator.status().job(view.id) {
            Some(JobState::Detached { rows, done, .. }) => format!(
                "catching up, {rows} rows read, at epoch {}, {} behind",
                done.0,
                newest.0.saturating_sub(done.0)
            ),
            Some(JobState::Suspended { error }) => format!("suspended: {}", error.message),
            Some(JobState::Attached) | None => format!("attached, at epoch {}, 0 behind", newest.0),
        };
        let actors = self.coordinator.status().actors();
        let own = actors.iter().filter(|(actor, _)| actor.object == view.id);
        let cached: usize = own.map(|(_, record)| record.last.cached_bytes).sum();
        format!("Materialized view {}: {state}; {cached} bytes cached", view.name.name)
    }

    fn rows_of_nodes(&self, object: ObjectId) -> Rows {
        let mut rows = Rows::new();
        for (actor, record) in self.coordinator.status().actors() {
            if actor.object != object {
                continue;
            }
            for (index, node) in record.nodes.iter().enumerate() {
                let sum = rows.entry((actor.fragment, index)).or_default();
                sum.rows_in += node.rows_in;
                sum.rows_out += node.rows_out;
            }
        }
        rows
    }

    fn states(&self, snapshot: &Snapshot, object: ObjectId) -> SqlResult<States> {
        let mut states = States::new();
        for table in snapshot.tables(object)? {
            let entries = snapshot.count(table, COUNTED_MAX)?;
            let bytes = self.store().table_size(table);
            let state = states.entry(table.operator).or_insert((Some(0), 0));
            state.0 = state.0.zip(entries).map(|(sum, entries)| sum + entries);
            state.1 += bytes;
        }
        Ok(states)
    }
}
