//! Rows made up as the user says: sequences and random values in given bounds, deterministic by
//! row number, for trying things out.

mod column;
pub mod options;
pub mod source;

#[cfg(test)]
mod tests;
