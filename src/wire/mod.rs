//! The PostgreSQL wire: from an accepted socket to statements for a [`session`](crate::session),
//! and from rows back to bytes.
//!
//! The codec's messages are pgwire's; its loops are not. Its own loops gather a whole result
//! before the first row goes out, cannot be cancelled while rows are made, do not notice a client
//! that is gone, and let one message abort the process. What must hold here:
//!
//! - Nothing is done for a client that has not proved who it is (`hba`, `authentication`), and
//!   little is read of it.
//! - Nothing a client sends panics, and nothing it declares is allocated before it has arrived.
//! - Rows leave as they come: at 64 KiB, or as soon as the statement pauses; a client that does
//!   not read stops the statement (backpressure), it does not fill memory.
//! - While a statement runs, the socket is watched: a cancel request, a vanished client and a
//!   shutdown all end it within the second.
//! - After an error in the extended protocol, everything is skipped until Sync.

mod authentication;
mod cancel;
mod connection;
mod copy;
mod extended;
mod frontend;
mod hba;
mod listener;
mod reader;
mod report;
mod rows;
mod simple;
mod socket;
mod startup;
mod throttle;
mod tls;
mod unix;
mod writer;

pub use hba::Rules;
pub use listener::{Listener, Settings, serve};
pub use tls::{Tls, TlsFiles};
