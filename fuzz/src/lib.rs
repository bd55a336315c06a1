//! What the fuzz targets share: the checks of each reader, and the budget of time and memory.

#![forbid(unsafe_code)]

pub mod budget;
pub mod laboratory;
pub mod targets;
