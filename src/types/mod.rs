//! What flows and what it is made of: deltas, epochs, object ids, row keys, PostgreSQL's types,
//! and how their values are written and read.

pub mod delta;
pub mod id;
pub mod key;
pub mod sqltype;

pub(crate) mod calendar;
pub mod zone;

mod column;
pub mod text;

mod builder;
pub mod parse;

pub mod binary;
pub mod copy;

pub use builder::{ColumnBuilder, RowBuilder};
pub(crate) use column::{Column as LaidOut, Values};
pub use delta::{Delta, take_rows};
pub use id::{Epoch, ObjectId, TableId};
pub use parse::{InputStyle, duration, instant};
pub use sqltype::{NUMERIC, SqlType};
pub use zone::Zone;
