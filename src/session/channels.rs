//! LISTEN and NOTIFY: word from one session to others, at once and in memory only.
//!
//! ```text
//!  NOTIFY ──> Word of the transaction ──COMMIT, durable──> Mailbox of each listener ──> its client
//!                └── ROLLBACK: nothing was said                    when it has no transaction open
//! ```
//!
//! What must hold: who is told of a transaction sees what it wrote; a transaction's notifications
//! are together and in their order; none is dropped in silence. A listener that does not take them
//! does not hold up who sends: when its mailbox is full its connection ends with an error.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::outcome::Outcome;
use super::session::Session;
use crate::catalog::pg;
use crate::error::{SqlError, SqlResult, code};

/// What a listener may have waiting, and what a transaction may say.
const WAITING_BYTES_MAX: usize = 8 << 20;

/// Bytes that a notification takes besides its texts.
const NOTIFICATION_BYTES: usize = 64;

/// What NOTIFY says.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Note {
    channel: Arc<str>,
    payload: Arc<str>,
}

impl Note {
    fn bytes(&self) -> usize {
        self.channel.len() + self.payload.len() + NOTIFICATION_BYTES
    }
}

/// A notification as its listener gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notification {
    /// The process id of the session that sent it.
    pub sender: i32,
    pub channel: Arc<str>,
    pub payload: Arc<str>,
}

/// Who listens to what.
#[derive(Debug, Default)]
pub(super) struct Channels {
    listeners: Mutex<HashMap<Place, BTreeMap<i32, Arc<Mailbox>>>>,
}

/// A database and a channel in it; who listens there is told apart by process id.
type Place = (String, String);

/// The notifications that a session has not taken yet.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    notifications: VecDeque<Notification>,
    bytes: usize,
    /// There were more than fit: what came is gone.
    overrun: bool,
}

/// What a transaction has said about channels; it counts when the transaction commits.
#[derive(Debug, Default)]
pub(super) struct Word {
    changes: Vec<Change>,
    notes: Vec<Note>,
    /// The same notes: what was said is not said again.
    said: HashSet<Note>,
    bytes: usize,
}

/// How far a transaction's word had come at a savepoint.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordMark {
    changes: usize,
    notes: usize,
}

#[derive(Debug)]
enum Change {
    Listen(String),
    Unlisten(String),
    UnlistenAll,
}

impl Word {
    pub(super) fn mark(&self) -> WordMark {
        WordMark { changes: self.changes.len(), notes: self.notes.len() }
    }

    /// Takes back what was said since `mark`.
    pub(super) fn roll_back_to(&mut self, mark: WordMark) {
        self.changes.truncate(mark.changes);
        for note in self.notes.drain(mark.notes..) {
            self.bytes -= note.bytes();
            self.said.remove(&note);
        }
    }

    /// Whether somebody is to be told.
    pub(super) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    fn say(&mut self, note: Note) -> SqlResult<()> {
        if self.said.contains(&note) {
            return Ok(());
        }
        self.bytes += note.bytes();
        if self.bytes > WAITING_BYTES_MAX {
            return Err(too_many().detail(format!(
                "The transaction's notifications take more than {} MB.",
                WAITING_BYTES_MAX >> 20
            )));
        }
        self.said.insert(note.clone());
        self.notes.push(note);
        Ok(())
    }
}

impl Mailbox {
    /// Takes what is there; an error if more came than could be kept.
    pub(super) fn take(&self) -> SqlResult<VecDeque<Notification>> {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        if !waiting.overrun {
            return Ok(waiting.notifications);
        }
        Err(too_many()
            .detail(format!(
                "More than {} MB of them waited for this session.",
                WAITING_BYTES_MAX >> 20
            ))
            .hint("Read notifications as they come; a session gets none within a transaction."))
    }

    /// Returns when there may be something to take. Cancel-safe.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    fn put(&self, notification: Notification, bytes: usize) {
        let mut waiting = self.waiting.lock();
        waiting.bytes += bytes;
        if waiting.overrun || waiting.bytes > WAITING_BYTES_MAX {
            *waiting = Waiting { overrun: true, ..Waiting::default() };
        } else {
            waiting.notifications.push_back(notification);
        }
        drop(waiting);
        self.arrived.notify_one();
    }
}

impl Channels {
    /// Tells the listeners of `database` what session `sender` has said. All under one lock, so
    /// that every listener sees the same order.
    fn publish(&self, database: &str, sender: i32, notes: Vec<Note>) {
        let listeners = self.listeners.lock();
        for note in notes {
            let place = (database.to_owned(), note.channel.to_string());
            for mailbox in listeners.get(&place).into_iter().flat_map(BTreeMap::values) {
                let Note { channel, payload } = note.clone();
                mailbox.put(Notification { sender, channel, payload }, note.bytes());
            }
        }
    }

    fn listen(&self, database: &str, channel: &str, pid: i32, mailbox: &Arc<Mailbox>) {
        let place = (database.to_owned(), channel.to_owned());
        let mut listeners = self.listeners.lock();
        listeners.entry(place).or_default().insert(pid, Arc::clone(mailbox));
    }

    fn unlisten(&self, database: &str, channel: &str, pid: i32) {
        let place = (database.to_owned(), channel.to_owned());
        let mut listeners = self.listeners.lock();
        if let Some(those) = listeners.get_mut(&place) {
            those.remove(&pid);
            if those.is_empty() {
                listeners.remove(&place);
            }
        }
    }

    /// A session is over.
    pub(super) fn forget(&self, pid: i32) {
        self.listeners.lock().retain(|_, those| {
            those.remove(&pid);
            !those.is_empty()
        });
    }
}

impl Session {
    pub(super) fn listen(&mut self, channel: &str) -> Outcome {
        self.block.word.changes.push(Change::Listen(channel.to_owned()));
        Outcome::Command("LISTEN".to_owned())
    }

    /// UNLISTEN; `None` is all channels.
    pub(super) fn unlisten(&mut self, channel: Option<&str>) -> Outcome {
        let change = match channel {
            Some(channel) => Change::Unlisten(channel.to_owned()),
            None => Change::UnlistenAll,
        };
        self.block.word.changes.push(change);
        Outcome::Command("UNLISTEN".to_owned())
    }

    /// NOTIFY and `pg_notify()`.
    pub(super) fn send_word(&mut self, channel: &str, payload: &str) -> SqlResult<()> {
        pg::check_notification(channel, payload)?;
        self.block.word.say(Note { channel: channel.into(), payload: payload.into() })
    }

    /// A transaction has taken effect, and with it what it has said.
    pub(super) fn announce(&mut self, word: Word) {
        let Word { changes, notes, .. } = word;
        let pid = self.membership.process_id();
        let sessions = Arc::clone(self.membership.sessions());
        let channels = sessions.channels();
        for change in changes {
            match change {
                Change::Listen(channel) => {
                    if !self.listening.contains(&channel) {
                        channels.listen(&self.client.database, &channel, pid, self.mailbox());
                        self.listening.push(channel);
                    }
                }
                Change::Unlisten(channel) => {
                    channels.unlisten(&self.client.database, &channel, pid);
                    self.listening.retain(|one| *one != channel);
                }
                Change::UnlistenAll => {
                    channels.forget(pid);
                    self.listening.clear();
                }
            }
        }
        if !notes.is_empty() {
            channels.publish(&self.client.database, pid, notes);
        }
    }

    /// The same, for those who cannot wait until `durable` says that it has: what concerns the
    /// session itself is at once, others are told then.
    pub(super) fn announce_later(
        &mut self,
        mut word: Word,
        durable: impl Future<Output = SqlResult<()>> + Send + 'static,
    ) {
        let notes = std::mem::take(&mut word.notes);
        self.announce(word);
        if notes.is_empty() {
            return;
        }
        let sessions = Arc::clone(self.membership.sessions());
        let (pid, database) = (self.membership.process_id(), self.client.database.clone());
        crate::task::spawn("notifications of a cancelled wait", async move {
            if durable.await.is_ok() {
                sessions.channels().publish(&database, pid, notes);
            }
        });
    }

    fn mailbox(&self) -> &Arc<Mailbox> {
        self.membership.mailbox()
    }

    /// Notifications for the client. They are given only while no transaction is open.
    pub fn take_notifications(&self) -> SqlResult<VecDeque<Notification>> {
        self.mailbox().take()
    }

    /// Returns when there may be notifications. Cancel-safe.
    pub async fn notified(&self) {
        self.mailbox().arrived().await;
    }
}

fn too_many() -> SqlError {
    SqlError::new(code::PROGRAM_LIMIT_EXCEEDED, "too many notifications in the NOTIFY queue")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(payload: &str) -> Note {
        Note { channel: "c".into(), payload: payload.into() }
    }

    fn payloads(mailbox: &Mailbox) -> Vec<String> {
        let taken = mailbox.take().expect("no overrun");
        taken.iter().map(|notification| notification.payload.to_string()).collect()
    }

    #[test]
    fn what_was_said_is_not_said_again_unless_it_was_taken_back() {
        let mut word = Word::default();
        for payload in ["a", "b", "a"] {
            word.say(note(payload)).expect("fits");
        }
        let (mark, bytes) = (word.mark(), word.bytes);
        for payload in ["b", "c"] {
            word.say(note(payload)).expect("fits");
        }
        assert_eq!(word.notes, [note("a"), note("b"), note("c")]);
        word.roll_back_to(mark);
        assert_eq!((word.notes.len(), word.bytes), (2, bytes));
        word.say(note("c")).expect("fits");
        assert_eq!(word.notes, [note("a"), note("b"), note("c")]);
    }

    #[test]
    fn only_who_listens_is_told_and_only_in_the_same_database() {
        let (channels, one, two) = (Channels::default(), Arc::default(), Arc::default());
        channels.listen("d", "c", 1, &one);
        channels.listen("other", "c", 2, &two);
        channels.publish("d", 7, vec![note("a"), note("b")]);
        assert_eq!(payloads(&one), ["a", "b"]);
        assert_eq!(payloads(&two), [""; 0]);
        channels.unlisten("d", "c", 1);
        channels.forget(2);
        channels.publish("d", 7, vec![note("a")]);
        assert_eq!(payloads(&one), [""; 0]);
        assert!(channels.listeners.lock().is_empty());
    }

    #[test]
    fn a_listener_that_takes_nothing_is_told_so_and_keeps_no_memory() {
        let (channels, mailbox) = (Channels::default(), Arc::default());
        channels.listen("d", "c", 1, &mailbox);
        let large = "x".repeat(8000);
        for _ in 0..=WAITING_BYTES_MAX / 8000 {
            channels.publish("d", 7, vec![note(&large)]);
        }
        assert!(mailbox.waiting.lock().notifications.is_empty());
        let error = mailbox.take().unwrap_err();
        assert_eq!(error.code, code::PROGRAM_LIMIT_EXCEEDED);
        let mut word = Word::default();
        let said = (0..2000).try_for_each(|number| word.say(note(&format!("{large}{number}"))));
        assert_eq!(said.unwrap_err().code, code::PROGRAM_LIMIT_EXCEEDED);
    }
}
