//! Graph to actors: the run loop, channels, exchange, alignment, backfill.

pub mod inbox;
