//! Errors that stand: for a view made with `on_error = 'fail'`, how often each of its expressions
//! fails, and with which error, on rows that are there now.
//!
//! A state table of the job, so that it commits with the rows it is about, in the same epoch:
//!
//! ```text
//! key    0 u8 | hash of expression, code and message u128 | fragment u16 | actor u16
//! value  weight i64 | the error as JSON
//! ```
//!
//! Weights add up like all weights: an entry whose weight comes to 0 is deleted, and an error
//! stands while the sum over all actors is above 0. So the count is exact, and as large as the
//! number of different errors, not of rows.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{Snapshot, StateError, Store, Table, TableChange};
use crate::error::{SqlError, code};
use crate::types::{ObjectId, TableId};

/// Entries read at a time when looking for one that stands.
const PAGE_ENTRIES: usize = 256;

/// Bytes of a key that say which error it is.
const KIND_BYTES: usize = 17;

/// An actor's share of the standing errors of its job.
pub struct StandingErrors {
    table: Table,
    actor: [u8; 4],
    /// This epoch's changes, by key.
    changes: BTreeMap<Vec<u8>, (i64, Stored)>,
}

/// An error as it lies in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stored {
    expression: String,
    code: String,
    message: String,
    detail: Option<String>,
    hint: Option<String>,
}

/// An error that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub expression: String,
    pub error: SqlError,
    /// Rows that fail so.
    pub rows: i64,
}

impl StandingErrors {
    /// The share of the actor that runs as number `actor` of the job's fragment `fragment`.
    pub fn new(store: &Store, object: ObjectId, fragment: usize, actor: usize) -> Self {
        let short =
            |number: usize| u16::try_from(number).expect("a job has at most 65,535 of both");
        let [a, b] = short(fragment).to_be_bytes();
        let [c, d] = short(actor).to_be_bytes();
        let table = store.table(TableId::standing_errors(object));
        Self { table, actor: [a, b, c, d], changes: BTreeMap::new() }
    }

    /// `expression` fails with `error` on `weight` more rows.
    pub fn add(&mut self, expression: &str, error: &SqlError, weight: i64) {
        let kind = [expression, error.code, &error.message].join("\0");
        let key = [&[0], xxh3_128(kind.as_bytes()).to_be_bytes().as_slice(), &self.actor].concat();
        let (sum, _) =
            self.changes.entry(key).or_insert_with(|| (0, Stored::new(expression, error)));
        *sum += weight;
    }

    /// Ends the epoch: the net change, to be committed.
    pub fn freeze(&mut self) -> Result<Option<TableChange>, StateError> {
        let changes = std::mem::take(&mut self.changes);
        let changes: Vec<_> = changes.into_iter().filter(|(_, (sum, _))| *sum != 0).collect();
        let keys: Vec<&Vec<u8>> = changes.iter().map(|(key, _)| key).collect();
        let before = self.table.get_many(&keys)?;
        for ((key, (change, stored)), before) in changes.iter().zip(before) {
            let before = match before {
                Some(value) => decode(&value)?.0,
                None => 0,
            };
            match before + change {
                0 => self.table.delete(key),
                sum => self.table.put(key, &encode(sum, stored)),
            }
        }
        Ok(self.table.freeze())
    }
}

impl Stored {
    fn new(expression: &str, error: &SqlError) -> Self {
        Self {
            expression: expression.to_owned(),
            code: error.code.to_owned(),
            message: error.message.clone(),
            detail: error.detail.clone(),
            hint: error.hint.clone(),
        }
    }

    fn standing(self, rows: i64) -> Standing {
        let mut error = SqlError::new(code::of(&self.code), self.message);
        error.detail = self.detail;
        error.hint = self.hint;
        Standing { expression: self.expression, error, rows }
    }
}

/// An error that stands in `object` at the snapshot's epoch, always the same one while it does.
pub fn standing_error(
    snapshot: &Snapshot,
    object: ObjectId,
) -> Result<Option<Standing>, StateError> {
    let table = TableId::standing_errors(object);
    let mut from: Option<Vec<u8>> = None;
    // Entries of one error are beside each other, on two pages perhaps.
    let mut current: Option<(Vec<u8>, i64, Stored)> = None;
    loop {
        let bound = from.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let page = snapshot.page(table, bound, None, PAGE_ENTRIES)?;
        for (key, value) in page.entries() {
            let kind = key.get(..KIND_BYTES).unwrap_or(key);
            let (weight, stored) = decode(value)?;
            match &mut current {
                Some((same, sum, _)) if same == kind => *sum += weight,
                Some((_, 1.., _)) => break,
                _ => current = Some((kind.to_vec(), weight, stored)),
            }
        }
        match page.last_key() {
            Some(last) if page.more && current.as_ref().is_none_or(|(_, sum, _)| *sum <= 0) => {
                from = Some(last.to_vec());
            }
            _ => break,
        }
    }
    Ok(current.filter(|(_, sum, _)| *sum > 0).map(|(_, sum, stored)| stored.standing(sum)))
}

fn encode(weight: i64, stored: &Stored) -> Vec<u8> {
    let mut value = weight.to_be_bytes().to_vec();
    serde_json::to_writer(&mut value, stored).expect("plain data has a JSON form");
    value
}

fn decode(value: &[u8]) -> Result<(i64, Stored), StateError> {
    let corrupt = |reason: String| StateError::Corrupt { place: "standing errors".into(), reason };
    let (weight, stored) =
        value.split_first_chunk().ok_or_else(|| corrupt("less than 8 bytes".to_owned()))?;
    let stored = serde_json::from_slice(stored).map_err(|error| corrupt(error.to_string()))?;
    Ok((i64::from_be_bytes(*weight), stored))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::state::{Commit, StoreOptions};

    const OBJECT: ObjectId = ObjectId(7);

    fn store(folder: &tempfile::TempDir) -> Store {
        Store::open(
            folder.path(),
            StoreOptions { cache_bytes: 1 << 20, epoch_bytes_max: usize::MAX },
        )
        .expect("opens")
    }

    fn commit(store: &Store, errors: &mut [StandingErrors]) {
        let frozen = errors.iter_mut().filter_map(|errors| errors.freeze().expect("freezes"));
        let changes = frozen.collect();
        store.commit(Commit { changes, ..Commit::default() }).expect("commits");
    }

    fn standing(store: &Store) -> Option<(String, i64)> {
        let found = standing_error(&store.snapshot(), OBJECT).expect("reads");
        found.map(|found| (found.error.message, found.rows))
    }

    #[test]
    fn an_error_stands_while_the_sum_over_all_actors_is_above_zero() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(&folder);
        let division = SqlError::new(code::DIVISION_BY_ZERO, "division by zero");
        let cast = |text: usize| {
            let message = format!("invalid input syntax for type integer: \"{text}\"");
            SqlError::new(code::INVALID_TEXT_REPRESENTATION, message)
        };
        let mut actors: Vec<_> =
            (0..2).map(|actor| StandingErrors::new(&store, OBJECT, 1, actor)).collect();
        assert_eq!(standing(&store), None);
        actors[0].add("1 / x", &division, 3);
        actors[0].add("1 / x", &division, -1);
        commit(&store, &mut actors);
        assert_eq!(standing(&store), Some(("division by zero".to_owned(), 2)));
        // Rows may go by another actor than they came by.
        actors[1].add("1 / x", &division, -2);
        commit(&store, &mut actors);
        assert_eq!(standing(&store), None);
        // Many that cancel, over several pages, before and after the one that stands.
        for text in 0..2000 {
            actors[0].add("x", &cast(text), 1);
            actors[1].add("x", &cast(text), if text == 77 { 4 } else { -1 });
        }
        commit(&store, &mut actors);
        assert_eq!(standing(&store), Some((cast(77).message, 5)));
        for text in 0..2000 {
            actors[0].add("x", &cast(text), -1);
            actors[1].add("x", &cast(text), if text == 77 { -4 } else { 1 });
        }
        commit(&store, &mut actors);
        assert_eq!(standing(&store), None);
        let table = TableId::standing_errors(OBJECT);
        assert_eq!(store.snapshot().count(table, 10).expect("counts"), Some(2));
    }

    #[test]
    fn entries_have_the_bytes_of_format_1() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = store(&folder);
        let mut errors = StandingErrors::new(&store, OBJECT, 2, 3);
        let division = SqlError::new(code::DIVISION_BY_ZERO, "by 0");
        errors.add("x", &division, 5);
        commit(&store, std::slice::from_mut(&mut errors));
        let table = TableId::standing_errors(OBJECT);
        let page = store.snapshot().page(table, Bound::Unbounded, None, 2).expect("reads");
        let (weight, stored) = page.value(0).split_at(8);
        expect![[r#"
            004b284b84d7808f1bb9aee6ab00a3648a00020003
            0000000000000005
            {"expression":"x","code":"22012","message":"by 0","detail":null,"hint":null}"#]]
        .assert_eq(&format!(
            "{}\n{}\n{}",
            hex::encode(page.key(0)),
            hex::encode(weight),
            String::from_utf8_lossy(stored)
        ));
    }
}
