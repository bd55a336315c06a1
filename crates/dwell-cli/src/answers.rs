//! Remedies: what to type instead of what was typed, where that can be told.

mod flags;
mod locations;
mod numbers;
mod parsing;
mod values;

pub(crate) use locations::like as locations_like;
pub(crate) use numbers::{apart, list as list_of_numbers, number, size, whole};
pub(crate) use parsing::{missing_value, usage};
pub(crate) use values::{ending, key, value};
