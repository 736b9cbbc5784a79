//! One client: its variables, transaction, prepared statements and portals; and each statement
//! handed to those who do it: queries to serving, writes to the engine's DML, the rest to the
//! engine.
//!
//! The wire drives a session and sends what it gives; a session knows no bytes. What must hold:
//!
//! - Both protocols and SQL's own PREPARE and DECLARE share one store of statements and portals.
//! - A statement is judged by its tree, never by its text.
//! - A write is acknowledged after its epoch is committed, unless `synchronous_commit` is off.
//! - Whatever waits here heeds the connection's [`Interrupts`].

mod channels;
mod constraints;
mod context;
mod copy;
mod cursor;
mod ddl;
mod discard;
mod dispatch;
mod explain;
mod identity;
mod interrupt;
mod locking;
mod notice;
mod outcome;
mod parameter;
mod plan_text;
mod portal;
mod prepared;
mod progress;
mod query;
mod savepoint;
mod scroll;
mod session;
mod sessions;
mod set;
mod setting;
mod show;
mod start_values;
mod subscribe;
mod temporary;
mod transaction;
mod variables;
mod waits;
mod write;

pub use channels::Notification;
pub use copy::{CopyIn, CopyOut};
pub use interrupt::{Interrupt, Interrupts};
pub use notice::{Notice, Remarks, Severity};
pub use outcome::{Description, Executed, Format, Outcome, ResultColumn, Rows};
pub use portal::Binding;
pub use session::{Client, Session};
pub use sessions::{Membership, Sessions};
pub use transaction::TransactionState;
pub use variables::{Scope, Variables};

pub use crate::planner::Statement;
