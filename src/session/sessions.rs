//! All sessions of the server: who they are, what they do, and how to interrupt them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;

use super::channels::{Channels, Mailbox};
use super::interrupt::{Interrupt, Interrupts};
use crate::catalog::pg::{Activities, Activity};
use crate::clock::{self, WallTime};

/// The open sessions by process id.
#[derive(Debug)]
pub struct Sessions {
    /// When the server started, near enough.
    started: WallTime,
    members: Mutex<Members>,
    channels: Channels,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { started: clock::wall(), members: Mutex::default(), channels: Channels::default() }
    }
}

#[derive(Debug, Default)]
struct Members {
    last_id: i32,
    by_id: BTreeMap<i32, Member>,
}

#[derive(Debug)]
struct Member {
    interrupts: Arc<Interrupts>,
    activity: Activity,
}

/// A session's place among the others, for as long as it is open.
#[derive(Debug)]
pub struct Membership {
    sessions: Arc<Sessions>,
    process_id: i32,
    peer: Option<SocketAddr>,
    interrupts: Arc<Interrupts>,
    mailbox: Arc<Mailbox>,
}

impl Sessions {
    /// Adds a session, and gives it a process id that no other has.
    pub fn join(self: &Arc<Self>, peer: Option<SocketAddr>) -> Membership {
        let interrupts = Arc::new(Interrupts::default());
        let mut members = self.members.lock();
        let mut process_id = members.last_id;
        loop {
            process_id = process_id.checked_add(1).unwrap_or(1);
            if !members.by_id.contains_key(&process_id) {
                break;
            }
        }
        members.last_id = process_id;
        let activity = Activity {
            pid: process_id,
            user: String::new(),
            database: String::new(),
            application_name: String::new(),
            client: peer.map(|peer| (peer.ip(), peer.port())),
            backend_start: clock::wall(),
            transaction_start: None,
            query_start: None,
            state_change: None,
            state: "idle",
            query: String::new(),
        };
        members.by_id.insert(process_id, Member { interrupts: Arc::clone(&interrupts), activity });
        drop(members);
        Membership {
            sessions: Arc::clone(self),
            process_id,
            peer,
            interrupts,
            mailbox: Arc::default(),
        }
    }

    /// Who listens to what.
    pub(super) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// How many sessions the user has.
    pub(super) fn count_of(&self, user: &str) -> usize {
        let members = self.members.lock();
        members.by_id.values().filter(|member| member.activity.user == user).count()
    }

    pub(super) fn started(&self) -> WallTime {
        self.started
    }

    /// Interrupts a session, if there is one of that id.
    pub(super) fn raise(&self, process_id: i32, interrupt: Interrupt) {
        if let Some(member) = self.members.lock().by_id.get(&process_id) {
            member.interrupts.raise(interrupt);
        }
    }
}

impl Activities for Sessions {
    fn list(&self) -> Vec<Activity> {
        self.members.lock().by_id.values().map(|member| member.activity.clone()).collect()
    }
}

impl Membership {
    pub fn process_id(&self) -> i32 {
        self.process_id
    }

    /// The session's interrupts.
    pub fn interrupts(&self) -> &Arc<Interrupts> {
        &self.interrupts
    }

    pub(super) fn client(&self) -> Option<(IpAddr, u16)> {
        self.peer.map(|peer| (peer.ip(), peer.port()))
    }

    /// Where the session's notifications wait for it.
    pub(super) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    pub(super) fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// Changes what is shown of the session.
    pub(super) fn update(&self, change: impl FnOnce(&mut Activity)) {
        if let Some(member) = self.sessions.members.lock().by_id.get_mut(&self.process_id) {
            change(&mut member.activity);
        }
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        // In this order: once the id is free another session may have it.
        self.sessions.channels.forget(self.process_id);
        self.sessions.members.lock().by_id.remove(&self.process_id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_sessions_leave() {
        let sessions = Arc::new(Sessions::default());
        let (one, two) = (sessions.join(None), sessions.join(None));
        assert_ne!(one.process_id(), two.process_id());
        two.update(|activity| activity.user = "weir".to_owned());
        drop(one);
        let users: Vec<String> =
            sessions.list().into_iter().map(|activity| activity.user).collect();
        assert_eq!(users, ["weir"]);
    }

    #[test]
    fn another_session_can_be_ended() {
        let sessions = Arc::new(Sessions::default());
        let one = sessions.join(None);
        sessions.raise(one.process_id(), Interrupt::Shutdown);
        sessions.raise(one.process_id() + 1, Interrupt::Shutdown);
        assert_eq!(one.interrupts().raised(), Some(Interrupt::Shutdown));
    }
}
