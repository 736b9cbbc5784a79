//! Ids: newtypes, so that one cannot be taken for another.

use serde::{Deserialize, Serialize};

/// A stretch of the stream between two barriers. Numbered from 1, never reused; 0 is "nothing yet".
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Epoch(pub u64);

/// A catalog object: its PostgreSQL OID. User objects start at 16384. The job behind a table, a
/// materialized view, a source or an index has the object's id.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct ObjectId(pub u32);

/// A state table: `object | operator in the job's plan | role within the operator`. Stable over
/// restarts because plans number their operators the same way for the same SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId {
    pub object: ObjectId,
    pub operator: u16,
    pub role: u16,
}

impl TableId {
    /// The operator number of an object's own rows.
    pub const CONTENTS: u16 = 0;

    /// The rows of a table or a materialized view.
    pub fn contents(object: ObjectId) -> Self {
        Self { object, operator: Self::CONTENTS, role: 0 }
    }

    /// What fails in a materialized view: see `state::StandingErrors`.
    pub fn standing_errors(object: ObjectId) -> Self {
        Self { object, operator: Self::CONTENTS, role: 1 }
    }

    /// The keys that are taken of a unique index.
    pub fn guard(object: ObjectId) -> Self {
        Self { object, operator: Self::CONTENTS, role: 2 }
    }

    /// A table of operator `operator` (from 1) of `object`'s job.
    pub fn of_operator(object: ObjectId, operator: u16, role: u16) -> Self {
        Self { object, operator, role }
    }

    /// Key prefix on disk: big-endian, so that an object's tables lie together.
    pub fn to_bytes(self) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes[..4].copy_from_slice(&self.object.0.to_be_bytes());
        bytes[4..6].copy_from_slice(&self.operator.to_be_bytes());
        bytes[6..].copy_from_slice(&self.role.to_be_bytes());
        bytes
    }

    /// The inverse of [`TableId::to_bytes`].
    pub fn from_bytes(bytes: [u8; 8]) -> Self {
        let [a, b, c, d, e, f, g, h] = bytes;
        Self {
            object: ObjectId(u32::from_be_bytes([a, b, c, d])),
            operator: u16::from_be_bytes([e, f]),
            role: u16::from_be_bytes([g, h]),
        }
    }
}
