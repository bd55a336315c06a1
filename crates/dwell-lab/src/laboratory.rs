//! What a laboratory works with, and the interface by which it says what happens.

use crate::energy::Meter;
use crate::experiment::{Experiment, Point, Series};
use crate::program::Programs;
use crate::record::{CaseEntry, QuantityEntry};
use crate::setup::FlagReader;
use dwell::Cancel;
use std::path::Path;

/// What a laboratory works with.
pub struct Laboratory<'l> {
    /// Reads flags.
    pub flags: &'l dyn FlagReader,
    /// Other programs.
    pub programs: &'l Programs,
    /// Stops the run.
    pub cancel: &'l Cancel,
    /// Is told what happens.
    pub observer: &'l dyn Observer,
    /// A folder for the files of programs.
    pub folder: &'l Path,
    /// Reads energy.
    pub meter: &'l Meter,
}

/// Is told what happens in a run.
pub trait Observer {
    /// A series begins, with so many points.
    fn series(&self, experiment: &Experiment, series: &Series, points: usize);
    /// A point of it is done, or was done before: so much of [`crate::run::weight`].
    fn point(&self, weight: u64, point: &Point);
    /// A variant was checked, or failed.
    fn checked(&self, entry: &CaseEntry);
    /// A quantity was computed.
    fn quantity(&self, experiment: &Experiment, entry: &QuantityEntry);
}
