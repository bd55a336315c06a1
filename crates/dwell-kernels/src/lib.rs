//! CPU kernels of `dwell`: code that iterates spans of points and knows numbers and slices, nothing else.
//!
//! Every kernel is written once over a vector ([`real::Real`], `vector.rs`) and runs on every [`Level`]. The order of
//! roundings stands in [`recipe`] alone; [`naive`] is the plain loop over the same recipe, and the oracle that every
//! other kernel is tested against, bit for bit.
//!
//! | file | what it holds |
//! |---|---|
//! | [`formula`] | what is iterated |
//! | [`recipe`] | every rounding of every formula |
//! | [`naive`] | the plain loop: one point at a time, tested every step |
//! | [`grid`] | where the points of a block are |
//! | [`escape`] | dwells of a block of points, fast |
//! | [`interior`] | which points never escape, whatever the rounding |
//! | [`terms`] | what the proofs come down to, for engines elsewhere |
//! | [`smooth`] | smooth values of a block of escaped points |
//! | [`distance`] | how far escaped points are from the set |
//! | [`log2`] | the one logarithm that reaches pixels |
//! | [`peak`] | the limit of a formula on this machine: its operations and nothing else |
//! | [`level`] | which instruction set, as a value that proves the machine has it |
//! | [`number`], [`real`], `vector.rs` | f32 and f64, alone and in vectors |
//! | `kernels.rs` | [`Kernels`]: all of that for f32 and f64, the face of this crate |

pub mod distance;
pub mod escape;
pub mod formula;
pub mod grid;
pub mod interior;
mod kernels;
pub mod level;
pub mod log2;
pub mod naive;
pub mod number;
pub mod peak;
pub mod real;
pub mod recipe;
pub mod smooth;
pub mod terms;
mod vector;

pub use formula::{Fold, Formula, Map};
pub use grid::Grid;
pub use kernels::Kernels;
pub use level::{Level, LevelName};
pub use number::Number;
pub use recipe::Recipe;
