//! What the fuzz targets share: the checks of each reader, and the budget of time and memory.

pub mod budget;
pub mod targets;
