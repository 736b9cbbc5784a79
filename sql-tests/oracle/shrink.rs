//! From a case that fails to a small one that fails alike.
//!
//! Parts are left out one at a time, and what still fails in the same way is kept, until nothing
//! more can go or the time is over. What PostgreSQL refuses is not tried.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::case::{Bench, Case, Failure, Wrong};
use super::schema::{Batch, Statement};
use super::tree::Tree;

/// The smallest case found, how it fails, and whether the failure came again at all.
pub(super) struct Shrunk {
    pub(super) case: Case,
    pub(super) failure: Failure,
    pub(super) again: bool,
}

pub(super) async fn shrink(
    bench: &mut Bench,
    case: &Case,
    failure: &Failure,
    limit: Duration,
) -> Result<Shrunk> {
    let counts = bench.counts;
    let end = Instant::now() + limit;
    let mut shrinking =
        Shrinking { bench, end, case: case.clone(), failure: failure.clone(), again: false };
    shrinking.views().await?;
    if shrinking.again {
        shrinking.batches().await?;
        let mut before = String::new();
        while before != script(&shrinking.case) && Instant::now() < end {
            before = script(&shrinking.case);
            shrinking.queries().await?;
            shrinking.rows().await?;
            shrinking.tables().await?;
        }
    }
    let Shrinking { case, failure, again, .. } = shrinking;
    bench.counts = counts;
    Ok(Shrunk { case, failure, again })
}

struct Shrinking<'a> {
    bench: &'a mut Bench,
    end: Instant,
    case: Case,
    failure: Failure,
    again: bool,
}

impl Shrinking<'_> {
    /// Takes `case` if it fails in the same way.
    async fn attempt(&mut self, case: Case) -> Result<bool> {
        if Instant::now() > self.end || !self.bench.accepts(&case).await? {
            return Ok(false);
        }
        let failures = self.bench.run(&case).await?;
        let same = failures
            .into_iter()
            .find(|other| other.wrong == self.failure.wrong && other.kind == self.failure.kind);
        let Some(same) = same else { return Ok(false) };
        self.failure = same;
        self.case = case;
        self.again = true;
        Ok(true)
    }

    /// The view alone, with those that it reads.
    async fn views(&mut self) -> Result<()> {
        let whole = self.case.clone();
        let suspects = whole.views.iter().filter(|view| {
            self.failure.view.is_none() || self.failure.view.as_ref() == Some(&view.name)
        });
        for suspect in suspects.cloned().collect::<Vec<_>>() {
            let mut case = whole.clone();
            case.views
                .retain(|view| view.name == suspect.name || suspect.reads.contains(&view.name));
            if self.attempt(case).await? {
                return Ok(());
            }
        }
        if self.failure.view.is_none() && self.attempt(whole).await? {
            self.fewer_views().await?;
        }
        Ok(())
    }

    /// It takes several views: fewer and fewer of them.
    async fn fewer_views(&mut self) -> Result<()> {
        let mut count = self.case.views.len() / 2;
        while count > 0 {
            self.each(|case, place| {
                let start = place * count;
                if start >= case.views.len() {
                    return None;
                }
                let mut case = case.clone();
                let end = (start + count).min(case.views.len());
                let gone: Vec<String> =
                    case.views.drain(start..end).map(|view| view.name).collect();
                case.views.retain(|view| !gone.iter().any(|name| view.reads.contains(name)));
                Some(case)
            })
            .await?;
            count /= 2;
        }
        Ok(())
    }

    /// No batch after the failure, no kill, no second copy, no transaction.
    async fn batches(&mut self) -> Result<()> {
        let mut case = self.case.clone();
        case.batches.clear();
        // A kill comes after a batch.
        if self.failure.wrong != Wrong::Plan && self.attempt(case).await? {
            return Ok(());
        }
        let mut case = self.case.clone();
        case.batches.truncate(self.failure.batch + 1);
        if self.failure.wrong != Wrong::State {
            self.attempt(case).await?;
        }
        let mut case = self.case.clone();
        case.batches.iter_mut().for_each(|batch| batch.kill = false);
        if self.failure.wrong != Wrong::Plan {
            self.attempt(case).await?;
        }
        if self.failure.wrong != Wrong::LateView {
            let case = Case { late_after: usize::MAX, ..self.case.clone() };
            self.attempt(case).await?;
        }
        let mut case = self.case.clone();
        case.batches.iter_mut().for_each(|batch| batch.transaction = false);
        self.attempt(case).await?;
        Ok(())
    }

    async fn rows(&mut self) -> Result<()> {
        self.each(|case, place| {
            let batch = place < case.batches.len();
            batch.then(|| {
                let mut case = case.clone();
                case.batches.remove(place);
                case.late_after -= usize::from(place < case.late_after && case.late_after < 1000);
                case
            })
        })
        .await?;
        self.each(|case, place| {
            let (batch, statement) = nth(case, place, |batch| batch.statements.len())?;
            let mut case = case.clone();
            case.batches[batch].statements.remove(statement);
            Some(case)
        })
        .await?;
        // Half of the rows of a statement, then single ones.
        for parts in [2, 4, usize::MAX] {
            self.each(|case, place| {
                let (batch, mut row) = nth(case, place, rows_of)?;
                let mut case = case.clone();
                for statement in &mut case.batches[batch].statements {
                    if let Statement::Insert { rows, .. } = statement {
                        if row < rows.len() {
                            let count = (rows.len() / parts).max(1);
                            let end = (row + count).min(rows.len());
                            // The statement as a whole is not ours to take out.
                            if rows.len() > end - row {
                                rows.drain(row..end);
                            }
                            return Some(case);
                        }
                        row -= rows.len();
                    }
                }
                None
            })
            .await?;
        }
        Ok(())
    }

    async fn queries(&mut self) -> Result<()> {
        for view in (0..self.case.views.len()).rev() {
            let mut place = 0;
            loop {
                let current = self.case.views[view].query.clone();
                let smaller: Vec<Tree> = current.smaller();
                if smaller.is_empty() || place >= smaller.len() || Instant::now() > self.end {
                    break;
                }
                let mut taken = false;
                for candidate in &smaller[place..] {
                    let mut case = self.case.clone();
                    case.views[view].query = candidate.clone();
                    if self.attempt(case).await? {
                        taken = true;
                        break;
                    }
                    place += 1;
                }
                if !taken && place >= smaller.len() {
                    break;
                }
            }
        }
        Ok(())
    }

    async fn tables(&mut self) -> Result<()> {
        self.each(|case, place| {
            (place < case.tables.len() && case.tables.len() > 1).then(|| {
                let mut case = case.clone();
                let table = case.tables.remove(place);
                let about = format!(" {} ", table.name);
                for batch in &mut case.batches {
                    batch.statements.retain(|one| !one.to_string().contains(&about));
                }
                case
            })
        })
        .await?;
        self.each(|case, place| {
            let mut column = place;
            let table = case.tables.iter().position(|table| {
                let inside = column < table.columns.len();
                column -= if inside { 0 } else { table.columns.len() };
                inside
            })?;
            let mut case = case.clone();
            let name = case.tables[table].name.clone();
            if case.tables[table].columns.len() == 1 {
                return Some(case);
            }
            case.tables[table].columns.remove(column);
            case.tables[table].keyed &= column != 0;
            for statement in case.batches.iter_mut().flat_map(|batch| &mut batch.statements) {
                match statement {
                    Statement::Insert { table, rows, .. } if *table == name => {
                        rows.iter_mut().for_each(|row| _ = row.remove(column));
                    }
                    _ => {}
                }
            }
            Some(case)
        })
        .await
    }

    /// Tries `without(case, place)` for each place until there are no more.
    async fn each(&mut self, without: impl Fn(&Case, usize) -> Option<Case>) -> Result<()> {
        let mut place = 0;
        while let Some(case) = without(&self.case, place) {
            if Instant::now() > self.end {
                break;
            }
            if script(&case) == script(&self.case) || !self.attempt(case).await? {
                place += 1;
            }
        }
        Ok(())
    }
}

fn rows_of(batch: &Batch) -> usize {
    let rows = batch.statements.iter().map(|statement| match statement {
        Statement::Insert { rows, .. } => rows.len(),
        Statement::Other(_) => 0,
    });
    rows.sum()
}

/// In which batch the `place`th of all is, and where there.
fn nth(case: &Case, place: usize, count: impl Fn(&Batch) -> usize) -> Option<(usize, usize)> {
    let mut left = place;
    for (number, batch) in case.batches.iter().enumerate() {
        if left < count(batch) {
            return Some((number, left));
        }
        left -= count(batch);
    }
    None
}

/// The case as SQL.
pub(super) fn script(case: &Case) -> String {
    let mut lines: Vec<String> =
        case.tables.iter().map(|table| format!("{};", table.create())).collect();
    for view in &case.views {
        lines.push(format!("CREATE MATERIALIZED VIEW {} AS {};", view.name, view.query));
    }
    for (number, batch) in case.batches.iter().enumerate() {
        if number == case.late_after {
            for view in &case.views {
                let (name, query) = (&view.name, &view.query);
                lines.push(format!("CREATE MATERIALIZED VIEW {name}_late AS {query};"));
            }
        }
        lines.extend(batch.sql().into_iter().map(|sql| format!("{sql};")));
        if batch.kill {
            lines.push("-- kill -9".to_string());
        }
    }
    lines.join("\n")
}
