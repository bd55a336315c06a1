//! What a location says that other programs can say as well: the place, the limit, the formula.

use super::numbers::{MORE_DIGITS, near};
use super::translation::not_drawn;
use crate::base::error::InputError;
use crate::exact::decimal::Decimal;
use crate::exact::roots::quotient;
use crate::scene::Scene;
use crate::view::settings::NumberKind;
use crate::view::{Frame, Magnification, Sample};
use dwell_kernels::Recipe;

/// A location to be written.
pub(super) struct Outline<'a> {
    pub(super) scene: &'a Scene,
    pub(super) iterations: u64,
    /// A name without white space, braces and other marks of the formats.
    pub(super) name: String,
    pub(super) re: Decimal,
    pub(super) im: Decimal,
    magnification: Magnification,
    /// What cannot be expressed.
    pub(super) left_out: Vec<String>,
}

impl<'a> Outline<'a> {
    pub(super) fn of(scene: &'a Scene, name: &str, iterations: u64) -> Result<Self, InputError> {
        let (re, im, magnification) = match &scene.view.frame {
            Frame::Centred { re, im, magnification } => (re.clone(), im.clone(), magnification.clone()),
            Frame::Bounds { xmin, xmax, ymin, ymax } => {
                (xmin.midpoint(xmax)?, ymin.midpoint(ymax)?, Magnification::Height(ymax.minus(ymin)?))
            }
        };
        let mut left_out = Vec::new();
        let mut unless = |usual: bool, name: &str| {
            if !usual {
                left_out.push(name.to_owned());
            }
        };
        unless(scene.view.sample == Sample::Centre, "sample position");
        unless(scene.settings.number == NumberKind::F64, "precision");
        unless(scene.settings.recipe == Recipe::Fused, "recipe");
        let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
        let name: String = name.chars().take(64).map(plain).collect();
        let name = if name.is_empty() { "location".to_owned() } else { name };
        Ok(Self { scene, iterations, name, re, im, magnification, left_out })
    }

    /// 4 / height.
    pub(super) fn zoom(&mut self) -> Result<Decimal, InputError> {
        match self.magnification.clone() {
            Magnification::Zoom(zoom) => Ok(zoom),
            Magnification::Height(height) => self.quotient(&height),
        }
    }

    /// The height of the view.
    pub(super) fn height(&mut self) -> Result<Decimal, InputError> {
        match self.magnification.clone() {
            Magnification::Zoom(zoom) => self.quotient(&zoom),
            Magnification::Height(height) => Ok(height),
        }
    }

    /// 4 / `by`, which is above 0; noted where it has no finite decimal.
    fn quotient(&mut self, by: &Decimal) -> Result<Decimal, InputError> {
        let (found, exact) = quotient(4, by, by.digits() + MORE_DIGITS)?;
        if !exact {
            self.left_out.push(format!("digits of the magnification after {}", by.digits() + MORE_DIGITS));
        }
        Ok(found)
    }

    /// The edges of the view, if it has them and is not rotated or flipped.
    pub(super) fn edges(&self) -> Option<[&Decimal; 4]> {
        let view = &self.scene.view;
        match &view.frame {
            Frame::Bounds { xmin, xmax, ymin, ymax } if !view.flip && view.rotation.to_rational().is_zero() => {
                Some([xmin, xmax, ymin, ymax])
            }
            _ => None,
        }
    }

    /// Notes pixels that are not square, which the format cannot express.
    pub(super) fn only_square_pixels(&mut self) -> Result<(), InputError> {
        let half = self.scene.view.exact().half_pixel;
        if half[0] != half[1] {
            self.left_out.push("pixels that are not square".to_owned());
        }
        Ok(())
    }

    /// Fails for a Julia set, which the program does not draw.
    pub(super) fn no_julia(&self, program: &str) -> Result<(), InputError> {
        match self.scene.settings.julia {
            None => Ok(()),
            Some(_) => Err(not_drawn(format!("a Julia set in {program}"))),
        }
    }

    /// R^2.
    pub(super) fn squared_radius(&self) -> Result<Decimal, InputError> {
        let radius = self.scene.settings.escape_radius.to_rational();
        near(&radius.times(&radius), 2 * self.scene.settings.escape_radius.digits())
    }
}
