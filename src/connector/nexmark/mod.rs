//! Nexmark: people put things up for auction, and people bid. The benchmark's event stream, made
//! here, deterministic by event number.
//!
//! Of every 50 events one is a person, three are auctions and 46 are bids. Everything about event
//! *k* follows from *k* and the options alone: no clock, no state, no random stream that is handed
//! on. So a seek costs nothing, and after a crash the same events come again.
//!
//! [`event`] says what event numbers decide (kinds, ids, times), `person`, `auction` and `bid`
//! make a column each from many event numbers, and [`source`] walks the numbers.

mod auction;
mod bid;
mod column;
mod event;
pub mod options;
mod person;
pub mod source;

#[cfg(test)]
mod tests;
