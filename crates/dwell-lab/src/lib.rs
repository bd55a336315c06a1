//! The laboratory: experiments as data, run on this machine, checked before they are timed, and reported beside published
//! figures.
//!
//! An [`Experiment`] is a file: series of measurements, each a workload, a sweep over flags and variants; quantities, which
//! are computed, not timed; and claims of a publication, each with the measure that decides it. A run is a folder of
//! records ([`record`]), to which each sample is appended as it is taken. A report is a function of a run.

#![forbid(unsafe_code)]

pub mod axes;
pub mod catalogue;
mod check;
pub mod compare;
mod contestant;
pub mod convention;
pub mod counts;
pub mod energy;
mod engine_filter;
pub mod experiment;
pub mod figures;
mod laboratory;
pub mod loops;
pub mod machine;
mod measure;
pub mod program;
pub mod quantity;
mod random;
pub mod record;
mod reference;
pub mod report;
pub mod rounding;
pub mod run;
mod session;
pub mod setup;
pub mod statistics;
pub mod verdict;
mod workload;

pub use convention::Convention;
pub use engine_filter::EngineFilter;
pub use experiment::Experiment;
pub use laboratory::{Laboratory, Observer};
pub use setup::{FlagReader, Setup, Unusable};
