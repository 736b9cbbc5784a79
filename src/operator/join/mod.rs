//! Joins on equal keys. Pairs are bilinear:
//!
//! ```text
//!  Δ(L ⋈ R) = ΔL ⋈ R + L ⋈ ΔR + ΔL ⋈ ΔR
//! ```
//!
//! A side's delta is joined with all that the other side holds by then, and is added to its own
//! side afterwards: so each pair of rows meets once, whichever comes later, and the last term needs
//! no work of its own. Both sides are one body: one is `sides[side]`, the other `sides[1 − side]`.
//!
//! Rows with or without a match (outer, semi, anti) are a function of two facts by key, the rows of
//! one side and whether the other has some, `[R]`, 0 or 1:
//!
//! ```text
//!  Δ(L ▷ R) = ΔL · (1 − [R]) − L · Δ[R]        Δ(L ⋉ R) = ΔL · [R] + L · Δ[R]
//! ```
//!
//! `operator` takes deltas and probes; `pairs` turns matches into output, a chunk at a time,
//! however many a key has; `singles` gives rows of one side by themselves.

mod operator;
mod pairs;
mod singles;
#[cfg(test)]
mod tests;

pub use operator::Join;
