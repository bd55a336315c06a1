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
    /// Grey metal.
    Steel,
    /// Pale colours with a dark outline.
    InkLines,
    /// Shading by slope, and an interior that is bright at the boundaries of its components.
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
    Steel => "steel",
    InkLines => "ink-lines",
    Glass => "glass",
    Cells => "cells",
    Night => "night",
    Petals => "petals",
);

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
            Self::Plaster => "pale plaster, lit from the upper left",
            Self::Steel => "grey metal, lit from above, with rounded components",
            Self::InkLines => "pale colours on paper with an ink line around the set",
            Self::Glass => "the palette as a relief, and an interior of dark glass with bright edges",
            Self::Cells => "an interior coloured by period, on parchment with brown lines",
            Self::Night => "a glowing line around the set in the dark",
            Self::Petals => "an interior coloured by the point that its orbits converge to, with soft relief outside",
        }
    }

    /// The name of the palette that it sets, if it sets one.
    #[must_use]
    pub fn palette(self) -> Option<&'static str> {
        match self {
            Self::Plain | Self::Relief | Self::Glass => None,
            Self::Plaster | Self::Steel => Some("graphite"),
            Self::InkLines => Some("opal"),
            Self::Cells => Some("copper"),
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
                // Below half the full light in each part, so that the light has one hue.
                flat(colour(0xb9, 0xb5, 0xae), Coverage::All, 1.0),
                slope(135.0, 1.3),
                flat(colour(0x3a, 0x34, 0x2e), Coverage::Interior, 1.0),
            ],
            Self::Steel => {
                let interior = gradient(Quantity::Multiplier, "graphite");
                vec![slope(120.0, 1.3), Layer { opacity: 0.8, ..interior }]
            }
            Self::InkLines => vec![
                flat(colour(0xff, 0xfa, 0xf0), Coverage::Escaped, 0.55),
                flat(colour(0xfb, 0xf7, 0xec), Coverage::Interior, 1.0),
                outline(0.7, colour(0x1b, 0x1d, 0x2e)),
            ],
            Self::Glass => {
                let interior = gradient(Quantity::Multiplier, "oslo");
                vec![slope(45.0, 1.4), Layer { blend: BlendMode::Screen, opacity: 0.6, ..interior }]
            }
            Self::Cells => vec![
                flat(colour(0xf6, 0xec, 0xd4), Coverage::Escaped, 0.75),
                Layer { opacity: 0.8, ..slope(135.0, 2.5) },
                gradient(Quantity::Period, "spectrum"),
                outline(0.5, colour(0x2a, 0x1a, 0x12)),
            ],
            Self::Night => vec![
                Layer { blend: BlendMode::Multiply, ..flat(colour(0x30, 0x38, 0x60), Coverage::Escaped, 0.9) },
                Layer { blend: BlendMode::Add, ..outline(4.0, colour(0x60, 0x30, 0x08)) },
                Layer { blend: BlendMode::Add, ..outline(0.5, colour(0xff, 0xc8, 0x70)) },
            ],
            Self::Petals => vec![Layer { opacity: 0.8, ..slope(45.0, 1.5) }, gradient(Quantity::FinalZ, "opal")],
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
        for name in ["oslo", "spectrum", "graphite", "opal"] {
            assert!(Palette::built_in(name).is_ok());
        }
    }
}
