//! Deep zoom on the processors: dwells of exact arithmetic at the exact points of pixels, each proved.
//!
//! `points.rs` describes the pixels of a view as offsets from its centre. `prepared.rs` has what all pixels of a view share: the reference
//! orbit and the tables of blocks, computed when they are first needed (`tier_blocks.rs`), and `kept.rs` those of earlier views. `tiers.rs` decides lists of pixels, by the cheapest
//! method that proves each and pays by what was measured (`measured.rs`), `formulas.rs` has the orbits, blocks and attempts of other formulas and of Julia sets, `rest.rs` puts what is left of many lists together, of which pixels wait for those of later rows (`pending.rs`), and `values.rs` writes the results into channels. docs/deep.md tells all of it.

pub(crate) mod fixed_bits;
mod formulas;
pub(crate) mod kept;
mod measured;
pub(crate) mod pending;
pub(crate) mod points;
mod prepared;
pub(crate) mod report;
pub(crate) mod rest;
mod tier_blocks;
pub(crate) mod tiers;
pub(crate) mod values;
mod view_cells;
