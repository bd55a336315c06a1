//! Looks: colourings with a name. A look is a palette, or none, and layers; what a picture stores is what the look
//! consists of, so that a look may change without changing pictures.

use super::colouring::Colouring;
use super::layers::{BlendMode, Coverage, Layer, LayerContent, Quantity};
use super::palette::Palette;

/// A colouring with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// No layers.
    Plain,
    /// Shading by slope over the palette.
    Relief,
    /// Grey shading alone.
    Plaster,
    /// Pale colours with a dark outline.
    InkLines,
    /// Strong shading with highlights, and an interior shaded like glass.
    Glass,
    /// An interior coloured by period, with a dark outline.
    Cells,
    /// A bright outline in the dark.
    Night,
    /// An interior coloured by the angle of its final points.
    Petals,
}

dwell_kernels::named!(Look, "look":
    Plain => "plain",
    Relief => "relief",
    Plaster => "plaster",
    InkLines => "ink-lines",
    Glass => "glass",
    Cells => "cells",
    Night => "night",
    Petals => "petals",
);

const WHITE: [u16; 3] = [0xffff; 3];

/// A colour of 8 bits each.
const fn colour(red: u8, green: u8, blue: u8) -> [u16; 3] {
    [red as u16 * 257, green as u16 * 257, blue as u16 * 257]
}

/// A built-in palette.
fn palette(name: &str) -> Palette {
    // A test looks up all that are named here.
    Palette::built_in(name).unwrap_or_default()
}

impl Look {
    /// One line that describes it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Plain => "the palette alone, without layers",
            Self::Relief => "the palette, lit from the upper right as a relief",
            Self::Plaster => "white plaster, lit from the upper left",
            Self::InkLines => "pale colours on paper with an ink line around the set",
            Self::Glass => "strong light on the slopes, and an interior of dark glass",
            Self::Cells => "an interior coloured by period, with dark lines, in a quiet surrounding",
            Self::Night => "a glowing line around the set in the dark",
            Self::Petals => "an interior coloured by the point that its orbits converge to, with soft relief outside",
        }
    }

    /// The name of the palette that it sets, if it sets one.
    fn palette(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Relief | Self::Glass => None,
            Self::Plaster => Some("graphite"),
            Self::InkLines => Some("opal"),
            Self::Cells => Some("glacier"),
            Self::Night => Some("twilight"),
            Self::Petals => Some("lagoon"),
        }
    }

    /// Its layers.
    fn layers(self) -> Vec<Layer> {
        let outline = |width, colour| Layer::of(LayerContent::Outline { width, colour });
        let slope = |angle, height| Layer::of(LayerContent::Slope { angle, height });
        let flat = |colour, over, opacity| Layer { opacity, ..Layer::of(LayerContent::Flat { colour, over }) };
        let gradient = |of, name| Layer::of(LayerContent::gradient(of, palette(name)));
        match self {
            Self::Plain => Vec::new(),
            Self::Relief => vec![slope(Layer::ANGLE, Layer::HEIGHT)],
            Self::Plaster => vec![
                flat(colour(0xf1, 0xec, 0xe2), Coverage::All, 1.0),
                slope(135.0, 1.2),
                flat(colour(0x2a, 0x26, 0x22), Coverage::Interior, 1.0),
            ],
            Self::InkLines => vec![
                flat(WHITE, Coverage::Escaped, 0.6),
                flat(colour(0xfb, 0xf7, 0xec), Coverage::Interior, 1.0),
                outline(1.6, colour(0x1b, 0x1d, 0x2e)),
            ],
            Self::Glass => vec![
                slope(45.0, 0.8),
                Layer { blend: BlendMode::Screen, opacity: 0.5, ..gradient(Quantity::Multiplier, "oslo") },
            ],
            Self::Cells => vec![
                flat(WHITE, Coverage::Escaped, 0.4),
                gradient(Quantity::Period, "spectrum"),
                outline(1.2, colour(0x14, 0x12, 0x1a)),
            ],
            Self::Night => vec![
                Layer { blend: BlendMode::Multiply, ..flat(colour(0x30, 0x38, 0x60), Coverage::Escaped, 0.9) },
                Layer { blend: BlendMode::Add, ..outline(6.0, colour(0x60, 0x30, 0x08)) },
                Layer { blend: BlendMode::Add, ..outline(1.5, colour(0xff, 0xc8, 0x70)) },
            ],
            Self::Petals => vec![Layer { opacity: 0.8, ..slope(45.0, 1.5) }, gradient(Quantity::FinalZ, "spectrum")],
        }
    }

    /// A colouring in this look: with its layers in place of the old ones, and its palette, if it sets one.
    #[must_use]
    pub fn of(self, colouring: Colouring) -> Colouring {
        let coloured = match self.palette() {
            Some(name) => colouring.in_colours_of(palette(name)),
            None => colouring,
        };
        Colouring { layers: self.layers(), ..coloured }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_is_within_the_ranges_and_names_palettes_that_exist() {
        for look in Look::ALL {
            assert_eq!(look.name().parse(), Ok(look));
            let colouring = look.of(Colouring::default());
            assert!(colouring.check().is_ok(), "{look:?}");
            assert_eq!(colouring.layers.is_empty(), look == Look::Plain);
            let expected = look.palette().unwrap_or_else(|| Colouring::default().palette.name().to_owned().leak());
            assert_eq!(colouring.palette.name(), expected);
            assert!(look.palette().is_none_or(|name| Palette::built_in(name).is_ok()));
        }
        for name in ["oslo", "spectrum"] {
            assert!(Palette::built_in(name).is_ok());
        }
    }
}
