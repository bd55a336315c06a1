//! A scene: everything that a picture depends on, and nothing else. Two renders of one scene have the same bytes.

#[cfg(feature = "toml")]
pub(crate) mod foreign;
#[cfg(feature = "toml")]
pub(crate) mod location;

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::colour::{Colouring, Depth, Samples};
use crate::exact::decimal::Decimal;
use crate::iterate::shortcuts::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::plan::resolution;
use crate::view::settings::{MOST_COUNT, NumberKind, Settings};
use crate::view::{Frame, MAX_SIDE, Magnification, Sample, Size, View};

/// What of a scene is to be found from its view. [`resolve`](crate::resolve) finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Automatic {
    /// The limit on iterations. [`Settings::limit`] has no effect.
    pub limit: bool,
    /// The scale, with a density and an offset that fit the view. The scale of the colouring has no effect; its density
    /// multiplies the one found, and its offset is added.
    pub scale: bool,
    /// The number: exact arithmetic in place of f64 where f64 does not resolve the view. See [`Scene::number`].
    pub number: bool,
}

impl Automatic {
    /// Everything is to be found.
    pub const ALL: Self = Self { limit: true, scale: true, number: true };
    /// Nothing is: the scene is complete.
    pub const NONE: Self = Self { limit: false, scale: false, number: false };
}

/// Everything that a picture depends on. The default is the whole Mandelbrot set with default settings, whose limit
/// and scale are found from the view.
#[derive(Clone, Debug)]
pub struct Scene {
    /// A title for display; may be empty.
    pub title: String,
    /// Where the coordinates come from; may be empty.
    pub source: String,
    /// The view; its size is that of the picture.
    pub view: View,
    /// The formula, its limit, and the arithmetic.
    pub settings: Settings,
    /// The rule by which pixels are coloured.
    pub colouring: Colouring,
    /// What is to be found from the view, instead of taken from `settings` and `colouring`.
    pub automatic: Automatic,
    /// The samples of each pixel, averaged in linear light.
    pub samples: Samples,
    /// Whether a picture of 8 bits is dithered, so that slow gradients show no contours.
    pub dither: bool,
    /// Bits of each channel.
    pub depth: Depth,
    /// Which pixels of a tile are computed and which are inferred.
    pub strategy: Strategy,
    /// The exact shortcuts. They have no effect on the picture with an exact strategy.
    pub shortcuts: Shortcuts,
    /// The size of tiles, if given. It has no effect on the picture with an exact strategy.
    pub tile: Option<TileSize>,
}

impl Default for Scene {
    fn default() -> Self {
        let zero = || Decimal::from(0);
        Self {
            title: String::new(),
            source: String::new(),
            view: View {
                frame: Frame::Centred { re: zero(), im: zero(), magnification: Magnification::Zoom(Decimal::from(1)) },
                rotation: zero(),
                size: View::DEFAULT_SIZE,
                sample: Sample::Centre,
                flip: false,
            },
            settings: Settings::default(),
            colouring: Colouring::default(),
            automatic: Automatic::ALL,
            samples: Samples::Auto,
            dither: true,
            depth: Depth::Eight,
            strategy: Strategy::Auto,
            shortcuts: Shortcuts::EXACT,
            tile: None,
        }
    }
}

impl Scene {
    /// The number that the scene is computed in: that of its settings, or exact arithmetic in place of f64 where the number is left
    /// to be found, f64 does not resolve the view or does not count to the limit, and exact arithmetic supports the rest of the settings.
    #[must_use]
    pub fn number(&self) -> NumberKind {
        if !self.automatic.number || self.settings.number != NumberKind::F64 {
            return self.settings.number;
        }
        let exact = Settings { number: NumberKind::Exact, ..self.settings.clone() };
        // Points beyond the range of f64 escape at once: that is no depth.
        let is_deep = |view: View| {
            let error = resolution::check::<f64>(&view, NumberKind::F64).err();
            error.is_some_and(|error| !matches!(error.problem(), Problem::TooFar { .. }))
                || resolution::is_lost_by_a_step(&view, &self.settings)
        };
        let is_deep = self.sample_view().is_ok_and(is_deep);
        let is_beyond = !self.automatic.limit && self.settings.limit > MOST_COUNT;
        if (is_deep || is_beyond) && exact.check().is_ok() { NumberKind::Exact } else { NumberKind::F64 }
    }

    /// Checks the settings, as [`Settings::check`]; but not whether the number counts to the limit while the number is left to be found.
    ///
    /// # Errors
    /// When a setting is out of range.
    pub fn check_settings(&self) -> Result<(), InputError> {
        let is_open = self.automatic.number && self.settings.limit <= Settings::MOST_LIMIT;
        let limit = if is_open { self.settings.limit.min(MOST_COUNT) } else { self.settings.limit };
        Settings { limit, ..self.settings.clone() }.check()
    }

    /// The view of the field's samples: the same view with [`Samples::side`] times as many pixels across and down.
    ///
    /// # Errors
    /// When a side would have more than [`MAX_SIDE`] samples.
    pub fn sample_view(&self) -> Result<View, InputError> {
        let Size { width, height } = self.view.size;
        let times = |side: u32| side.checked_mul(self.samples.side()).filter(|side| *side <= MAX_SIDE);
        match times(width).zip(times(height)) {
            Some((width, height)) => Ok(self.view.clone().sized(Size { width, height })),
            None => {
                let problem = format!("{} on a side of each of {width} x {height} pixels are too many", self.samples);
                Err(InputError::malformed(problem)
                    .about(Parameter::Samples)
                    .accepts("at most 2147483647 samples across and down"))
            }
        }
    }
}
