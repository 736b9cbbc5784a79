//! Privileges, and who gave which to whom: PostgreSQL's access control lists.

use std::collections::BTreeSet;
use std::ops::{BitAnd, BitOr, Not};

use serde::{Deserialize, Serialize};

use crate::types::ObjectId;

/// A set of privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Privileges(u16);

/// Name and letter of each privilege, in the order in which PostgreSQL shows them.
const SHOWN: [(Privileges, &str, char); 12] = [
    (Privileges::INSERT, "INSERT", 'a'),
    (Privileges::SELECT, "SELECT", 'r'),
    (Privileges::UPDATE, "UPDATE", 'w'),
    (Privileges::DELETE, "DELETE", 'd'),
    (Privileges::TRUNCATE, "TRUNCATE", 'D'),
    (Privileges::REFERENCES, "REFERENCES", 'x'),
    (Privileges::TRIGGER, "TRIGGER", 't'),
    (Privileges::EXECUTE, "EXECUTE", 'X'),
    (Privileges::USAGE, "USAGE", 'U'),
    (Privileges::CREATE, "CREATE", 'C'),
    (Privileges::TEMPORARY, "TEMPORARY", 'T'),
    (Privileges::CONNECT, "CONNECT", 'c'),
];

impl Privileges {
    pub const NONE: Self = Self(0);
    pub const INSERT: Self = Self(1);
    pub const SELECT: Self = Self(1 << 1);
    pub const UPDATE: Self = Self(1 << 2);
    pub const DELETE: Self = Self(1 << 3);
    pub const TRUNCATE: Self = Self(1 << 4);
    pub const REFERENCES: Self = Self(1 << 5);
    pub const TRIGGER: Self = Self(1 << 6);
    pub const EXECUTE: Self = Self(1 << 7);
    pub const USAGE: Self = Self(1 << 8);
    pub const CREATE: Self = Self(1 << 9);
    pub const TEMPORARY: Self = Self(1 << 10);
    pub const CONNECT: Self = Self(1 << 11);

    /// All that relations have.
    pub const OF_RELATION: Self = Self(0b111_1111);
    /// All that sequences have.
    pub const OF_SEQUENCE: Self = Self(1 << 1 | 1 << 2 | 1 << 8);
    /// All that schemas have.
    pub const OF_SCHEMA: Self = Self(1 << 8 | 1 << 9);
    /// All that databases have.
    pub const OF_DATABASE: Self = Self(1 << 9 | 1 << 10 | 1 << 11);

    /// The privilege of this name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        if name.eq_ignore_ascii_case("temp") {
            return Some(Self::TEMPORARY);
        }
        SHOWN.iter().find(|(_, shown, _)| shown.eq_ignore_ascii_case(name)).map(|(one, ..)| *one)
    }

    /// The name of the privilege that `aclitem` shows by this letter.
    pub fn name_of_letter(letter: char) -> Option<&'static str> {
        SHOWN.iter().find(|(.., own)| *own == letter).map(|(_, name, _)| *name)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `wanted` are among these.
    pub fn contains(self, wanted: Self) -> bool {
        self.0 & wanted.0 == wanted.0
    }

    /// Whether any of `wanted` is among these.
    pub fn intersects(self, wanted: Self) -> bool {
        self.0 & wanted.0 != 0
    }

    /// Each of them with its name.
    pub fn each(self) -> impl Iterator<Item = (Self, &'static str)> {
        SHOWN
            .iter()
            .filter(move |(one, ..)| self.contains(*one))
            .map(|(one, name, _)| (*one, *name))
    }

    /// The letters by which `aclitem` shows them, those that may be granted on with a star.
    fn letters(self, grantable: Self) -> String {
        let mut text = String::new();
        for (one, _, letter) in SHOWN.iter().filter(|(one, ..)| self.contains(*one)) {
            text.push(*letter);
            if grantable.contains(*one) {
                text.push('*');
            }
        }
        text
    }
}

impl BitOr for Privileges {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Privileges {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for Privileges {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0 & 0b1111_1111_1111)
    }
}

/// What one role gave to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `None` is PUBLIC: everybody.
    pub grantee: Option<ObjectId>,
    pub grantor: ObjectId,
    pub privileges: Privileges,
    /// Those of them that the grantee may give on.
    pub grantable: Privileges,
}

/// Who may do what with an object. The owner's own rights stand in it too, but that it may grant
/// and revoke anything goes without saying.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Acl(Vec<Entry>);

/// That a REVOKE would leave privileges that rest on what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependent;

impl Acl {
    /// Of an object on which nothing was granted yet: everything is its owner's, and `public`
    /// everybody's.
    pub fn initial(owner: ObjectId, all: Privileges, public: Privileges) -> Self {
        let mut acl = Self::default();
        acl.grant(None, owner, public, Privileges::NONE);
        acl.grant(Some(owner), owner, all, Privileges::NONE);
        acl
    }

    pub fn entries(&self) -> &[Entry] {
        &self.0
    }

    /// What any of `roles` may do.
    pub fn held_by(&self, roles: &BTreeSet<ObjectId>) -> Privileges {
        let held = self.0.iter().filter(|entry| match entry.grantee {
            Some(grantee) => roles.contains(&grantee),
            None => true,
        });
        held.fold(Privileges::NONE, |sum, entry| sum | entry.privileges)
    }

    /// What `role` itself may give on.
    pub fn grantable_by(&self, role: ObjectId) -> Privileges {
        let held = self.0.iter().filter(|entry| entry.grantee == Some(role));
        held.fold(Privileges::NONE, |sum, entry| sum | entry.grantable)
    }

    /// Whether it names the role at all.
    pub fn mentions(&self, role: ObjectId) -> bool {
        self.0.iter().any(|entry| entry.grantee == Some(role) || entry.grantor == role)
    }

    /// Adds to what `grantor` gave to `grantee`.
    pub fn grant(
        &mut self,
        grantee: Option<ObjectId>,
        grantor: ObjectId,
        privileges: Privileges,
        grantable: Privileges,
    ) {
        if privileges.is_empty() {
            return;
        }
        let old = self.0.iter_mut().find(|e| e.grantee == grantee && e.grantor == grantor);
        match old {
            Some(entry) => {
                entry.privileges = entry.privileges | privileges;
                entry.grantable = entry.grantable | grantable;
            }
            None => self.0.push(Entry { grantee, grantor, privileges, grantable }),
        }
    }

    /// Takes `privileges`, or only the right to give them on, from what `grantor` gave. What the
    /// grantee gave on because of it goes too, if `cascade`; else that is an error. `owner` may
    /// always give.
    pub fn revoke(
        &mut self,
        grantee: Option<ObjectId>,
        grantor: ObjectId,
        privileges: Privileges,
        only_option: bool,
        owner: ObjectId,
        cascade: bool,
    ) -> Result<(), Dependent> {
        let old = self.0.iter_mut().find(|e| e.grantee == grantee && e.grantor == grantor);
        let Some(entry) = old else { return Ok(()) };
        entry.grantable = entry.grantable & !privileges;
        if !only_option {
            entry.privileges = entry.privileges & !privileges;
        }
        self.0.retain(|entry| !entry.privileges.is_empty());
        let Some(grantee) = grantee.filter(|grantee| *grantee != owner) else { return Ok(()) };
        // What rested on it, and rests on nothing else.
        let lost = privileges & !self.grantable_by(grantee);
        let resting: Vec<Entry> = self
            .0
            .iter()
            .filter(|entry| entry.grantor == grantee && entry.privileges.intersects(lost))
            .cloned()
            .collect();
        if !resting.is_empty() && !cascade {
            return Err(Dependent);
        }
        for entry in resting {
            self.revoke(entry.grantee, grantee, lost, false, owner, true)?;
        }
        Ok(())
    }

    /// With another owner: what the old one gave, and had as such, is the new one's.
    pub fn with_owner(&self, old: ObjectId, new: ObjectId) -> Self {
        let put = |role: ObjectId| if role == old { new } else { role };
        let mut acl = Self::default();
        for entry in &self.0 {
            let grantee = entry.grantee.map(put);
            acl.grant(grantee, put(entry.grantor), entry.privileges, entry.grantable);
        }
        acl
    }

    /// In the order of grantees, everybody first: as PostgreSQL keeps default privileges.
    pub fn sorted(mut self) -> Self {
        self.0.sort_by_key(|entry| (entry.grantee, entry.grantor));
        self
    }

    /// Without anything that the role was given or gave.
    pub fn without(&self, role: ObjectId) -> Self {
        let others = self.0.iter();
        Self(
            others
                .filter(|entry| entry.grantee != Some(role) && entry.grantor != role)
                .cloned()
                .collect(),
        )
    }

    /// Each entry as `aclitem` shows it: `grantee=privileges/grantor`.
    pub fn items(&self, name: impl Fn(ObjectId) -> String) -> impl Iterator<Item = String> {
        self.0.iter().map(move |entry| {
            let grantee = entry.grantee.map(&name).unwrap_or_default();
            let letters = entry.privileges.letters(entry.grantable);
            format!("{grantee}={letters}/{}", name(entry.grantor))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: ObjectId = ObjectId(10);
    const ANN: ObjectId = ObjectId(20);
    const BOB: ObjectId = ObjectId(30);

    fn shown(acl: &Acl) -> Vec<String> {
        acl.items(|role| role.0.to_string()).collect()
    }

    #[test]
    fn what_was_given_on_goes_only_with_cascade() {
        let select = Privileges::SELECT;
        let mut acl = Acl::initial(OWNER, Privileges::OF_RELATION, Privileges::NONE);
        acl.grant(Some(ANN), OWNER, select | Privileges::INSERT, select);
        acl.grant(Some(BOB), ANN, select, Privileges::NONE);
        assert_eq!(shown(&acl), ["10=arwdDxt/10", "20=ar*/10", "30=r/20"]);
        let refused = acl.clone().revoke(Some(ANN), OWNER, select, true, OWNER, false);
        assert_eq!(refused, Err(Dependent));
        let mut left = acl.clone();
        assert_eq!(left.revoke(Some(ANN), OWNER, select, true, OWNER, true), Ok(()));
        assert_eq!(shown(&left), ["10=arwdDxt/10", "20=ar/10"]);
        assert_eq!(acl.revoke(Some(ANN), OWNER, Privileges::INSERT, false, OWNER, false), Ok(()));
        assert_eq!(shown(&acl), ["10=arwdDxt/10", "20=r*/10", "30=r/20"]);
        assert_eq!(acl.held_by(&BTreeSet::from([BOB])), select);
    }

    #[test]
    fn what_everybody_has_each_has() {
        let mut acl = Acl::initial(OWNER, Privileges::OF_SCHEMA, Privileges::USAGE);
        assert_eq!(shown(&acl), ["=U/10", "10=UC/10"]);
        assert_eq!(acl.held_by(&BTreeSet::from([BOB])), Privileges::USAGE);
        acl.revoke(None, OWNER, Privileges::USAGE, false, OWNER, false)
            .expect("nothing rests on it");
        assert_eq!(acl.held_by(&BTreeSet::from([BOB])), Privileges::NONE);
        assert_eq!(shown(&acl.with_owner(OWNER, ANN)), ["20=UC/20"]);
    }
}
