//! The image of the differences in a build without the feature `png`: it cannot be made.

use super::raster::Pixel;
use super::tally::Change;
use super::value::Value;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::problem::Problem;
use crate::store::Output;
use crate::view::Size;

/// The image of the differences. The type has no values.
pub(super) enum DifferenceImage {}

impl DifferenceImage {
    /// Fails.
    pub(super) fn start(_: Output, _: Size, _: &Limits) -> Result<Self, Error> {
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
