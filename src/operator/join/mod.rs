//! Inner join on equal keys, bilinear:
//!
//! ```text
//!  Δ(L ⋈ R) = ΔL ⋈ R + L ⋈ ΔR + ΔL ⋈ ΔR
//! ```
//!
//! A side's delta is joined with all that the other side holds by then, and is added to its own
//! side afterwards: so each pair of rows meets once, whichever comes later, and the last term needs
//! no work of its own. Both sides are one body: one is `sides[side]`, the other `sides[1 − side]`.
//!
//! `operator` takes deltas and probes; `side` is what a side keeps; `packed` is how the rows of a
//! key lie together; `pairs` turns matches into output, a chunk at a time, however many a key has.

mod operator;
mod packed;
mod pairs;
mod side;
#[cfg(test)]
mod tests;

pub use operator::Join;
