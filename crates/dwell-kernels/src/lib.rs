//! CPU kernels of `dwell`: they compute blocks of points given as slices of numbers and depend on no other crate of the
//! project.
//!
//! Every kernel is written once over a vector type ([`arithmetic::Arithmetic`], `vector.rs`) and compiled for every
//! [`Level`]. The order of roundings is defined in [`recipe`] alone. [`naive`] is the plain loop over the same recipe;
//! every other kernel is tested against it, bit for bit.
//!
//! | file | contents |
//! |---|---|
//! | [`formula`] | the iterated formulas |
//! | [`recipe`] | every rounding of every formula |
//! | [`naive`] | the plain loop: one point at a time, tested after every step |
//! | [`grid`] | the coordinates of the points of a block |
//! | [`escape`] | the fast kernel: dwells of a block of points |
//! | [`blocks`] | proofs that all points of a block have one dwell |
//! | `enclosure.rs`, `returns.rs` | what proofs about discs and cells share: bounds on roundings, and guesses at periods |
//! | [`trapping_region`] | proofs that no pixel of a rectangle escapes, for chaotic orbits of folded maps |
//! | [`cycle`] | whether the orbit of one point returns to an earlier z |
//! | [`deep`] | dwells of deep views, with proofs, from deltas to a reference orbit |
//! | [`interior`] | a test for points that never escape, whatever the rounding, with its proof |
//! | [`shortcut_constants`] | the constants of the exact shortcuts, for engines that do not run on the CPU |
//! | [`smooth`] | smooth values of a block of escaped points |
//! | [`distance`] | estimated distances of escaped points from the set, and slopes for shading |
//! | [`attractor`] | the attracting cycles of points that do not escape |
//! | [`log2`] | the base-2 logarithm used for smooth values, distances and colours |
//! | [`peak`] | the peak rate of a formula on this machine: its operations without tests, loads and stores |
//! | [`level`] | instruction sets, as values that prove that the machine has them |
//! | [`float_environment`] | the rounding mode and the treatment of subnormal numbers that all of it is computed in |
//! | `named.rs` | names of enumerations, as users write them |
//! | [`number`], [`arithmetic`], `vector.rs` | f32 and f64, alone and in vectors |
//! | `kernels.rs` | [`Kernels`]: the public entry points, for f32 and f64 |

pub mod arithmetic;
pub mod attractor;
pub mod blocks;
pub mod cycle;
pub mod deep;
pub mod distance;
mod enclosure;
pub mod escape;
pub mod float_environment;
pub mod formula;
pub mod grid;
pub mod interior;
mod kernels;
pub mod level;
pub mod log2;
pub mod map;
pub mod naive;
mod named;
pub mod number;
pub mod peak;
mod prefetch;
pub mod recipe;
mod returns;
pub mod shortcut_constants;
pub mod smooth;
#[cfg(test)]
mod test_random;
pub mod trapping_region;
mod vector;

pub use float_environment::{keep_standard_floats, with_standard_floats};
pub use formula::{Fold, Formula};
pub use grid::Grid;
pub use kernels::Kernels;
pub use level::{Level, LevelName};
pub use map::Map;
pub use named::UnknownName;
pub use number::Number;
pub use recipe::Recipe;

/// Compiles and runs the example in the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
