//! The image of the differences in a build without the feature `png`: it cannot be made.

use super::raster::Pixel;
use super::tally::Change;
use super::value::Value;
use crate::base::error::{Error, InputError};
use crate::base::problem::Problem;
use crate::store::Output;
use crate::view::Size;

/// The image of the differences. The type has no values.
pub(super) enum DifferenceImage {}

impl DifferenceImage {
    /// 0, since it cannot be made.
    pub(super) fn memory_bytes(_: Size) -> u64 {
        0
    }

    /// Fails.
    pub(super) fn start(_: Output, _: Size) -> Result<Self, Error> {
        Err(InputError::new(Problem::LeftOut { what: "an image of the differences", feature: "png" }).into())
    }

    pub(super) fn fields(&mut self, _: &[Value], _: &[Change]) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn images(&mut self, _: &[Pixel], _: &[Pixel], _: &[u16]) -> Result<(), Error> {
        match *self {}
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        match self {}
    }
}
