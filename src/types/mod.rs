//! What flows and what it is made of: deltas, epochs, object ids, row keys, PostgreSQL's types.

pub mod delta;
pub mod id;
pub mod key;
pub mod sqltype;

pub use delta::Delta;
pub use id::{Epoch, ObjectId, TableId};
pub use sqltype::SqlType;
