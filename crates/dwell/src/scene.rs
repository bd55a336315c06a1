//! A scene: everything that a picture depends on, and nothing else. Two renders of one scene have the same bytes.

pub(crate) mod location;

use crate::base::error::InputError;
use crate::colour::{Colouring, Depth};
use crate::exact::decimal::Decimal;
use crate::iterate::engine::Shortcuts;
use crate::iterate::strategy::Strategy;
use crate::iterate::tiles::TileSize;
use crate::view::settings::Settings;
use crate::view::{Frame, MAX_SIDE, Magnification, Sample, Size, View};

/// Everything that a picture depends on. The default is the whole Mandelbrot set as it comes.
#[derive(Clone, Debug)]
pub struct Scene {
    /// A title for people; may be empty.
    pub title: String,
    /// Where the coordinates come from; may be empty.
    pub source: String,
    /// What is looked at; its size is that of the picture.
    pub view: View,
    /// How points are iterated.
    pub settings: Settings,
    /// Which colours they have.
    pub colouring: Colouring,
    /// Samples of a pixel on a side, averaged in linear light.
    pub samples: u32,
    /// Bits of a channel.
    pub depth: Depth,
    /// How pixels are asked for.
    pub strategy: Strategy,
    /// Exact shortcuts: of no effect with an exact strategy.
    pub shortcuts: Shortcuts,
    /// Pixels of a tile, if they are asked for: of no effect with an exact strategy.
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
            samples: 1,
            depth: Depth::Eight,
            strategy: Strategy::EveryPixel,
            shortcuts: Shortcuts::EXACT,
            tile: None,
        }
    }
}

impl Scene {
    /// The view of the samples: the same, with [`Self::samples`] times as many pixels each way.
    ///
    /// # Errors
    /// When a side is then longer than [`MAX_SIDE`].
    pub fn sample_view(&self) -> Result<View, InputError> {
        let Size { width, height } = self.view.size;
        let times = |side: u32| side.checked_mul(self.samples).filter(|side| *side <= MAX_SIDE);
        match times(width).zip(times(height)) {
            Some((width, height)) => Ok(self.view.clone().sized(Size { width, height })),
            None => Err(InputError::new(
                "samples",
                format!("{} on a side of each of {width} x {height} pixels are too many", self.samples),
            )
            .accepted("at most 2147483647 samples across and down")),
        }
    }
}
