//! A colouring: the rule by which pixels get their colours.

use super::layers::{Layer, MOST_LAYERS};
use super::mapping::{By, MOST_TURNS, Scale};
use super::palette::Palette;
use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::quote::shown_number;
use crate::field::channels::ChannelSet;

/// The rule by which pixels are coloured.
///
/// A pixel that did not escape has the palette's interior colour. An escaped pixel has the colour at position
///
/// ```text
/// offset + density * scale(v)    turns of the palette
/// ```
///
/// where v is the quantity ([`By`]) and scale(v) is
/// 0.11 (sqrt(v) - 1) (`root`), v / 256 (`linear`), log2(v) / 4 (`log`), v / limit (`limit`), or the share of the
/// image's escaped samples whose v is smaller (`histogram`).
///
/// The default scale `root` keeps both the wide bands far from the set and the dense ones at its boundary readable, at
/// any depth, and does not depend on the rest of the image. Points far from the set have the palette's first colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Colouring {
    /// The palette.
    pub palette: Palette,
    /// The quantity v.
    pub by: By,
    /// The scale.
    pub scale: Scale,
    /// Factor of the scale, above 0, at most [`Self::MOST`]: at 2 the palette repeats twice as often.
    pub density: f64,
    /// Turns by which the palette is shifted, -[`Self::MOST`] to [`Self::MOST`].
    pub offset: f64,
    /// What is drawn over these colours, in this order: at most [`MOST_LAYERS`].
    pub layers: Vec<Layer>,
}

impl Default for Colouring {
    fn default() -> Self {
        Self::of(Palette::default())
    }
}

impl Colouring {
    /// The greatest density, and the greatest magnitude of an offset.
    pub const MOST: f64 = MOST_TURNS;

    /// The colouring that a palette suggests for itself.
    #[must_use]
    pub fn of(palette: Palette) -> Self {
        let suggestion = *palette.suggestion();
        let by = suggestion.by.unwrap_or_default();
        Self {
            by,
            scale: suggestion.scale.unwrap_or(by.usual_scale()),
            density: suggestion.density.unwrap_or(1.0),
            offset: suggestion.offset.unwrap_or(0.0),
            palette,
            layers: Vec::new(),
        }
    }

    /// The same colouring by another quantity, on that quantity's usual scale. The scale stays if the quantity does.
    #[must_use]
    pub fn by(self, by: By) -> Self {
        let scale = if by == self.by { self.scale } else { by.usual_scale() };
        Self { by, scale, ..self }
    }

    /// The same colouring with another palette and the same layers. Density and offset become those of the new palette, since they were
    /// chosen for the old one. Quantity and scale do too, unless they differ from what the old palette suggests and the
    /// new one suggests neither. An interior colour other than the old palette's stays.
    #[must_use]
    pub fn in_colours_of(self, palette: Palette) -> Self {
        let palette = match self.palette.chosen_interior() {
            Some(interior) => palette.with_interior(interior),
            None => palette,
        };
        let chosen = Self::of(self.palette);
        let (suggestion, new) = (*palette.suggestion(), Self { layers: self.layers, ..Self::of(palette) });
        if suggestion.by.is_some() || suggestion.scale.is_some() {
            return new;
        }
        let new = if self.by == chosen.by { new } else { new.by(self.by) };
        if self.scale == chosen.scale { new } else { Self { scale: self.scale, ..new } }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// When a value is out of range, or the scale does not go with the quantity.
    pub fn check(&self) -> Result<(), InputError> {
        let in_range = self.density > 0.0 && self.density <= Self::MOST;
        if !in_range {
            return Err(InputError::out_of_range(shown_number(self.density))
                .about(Parameter::Density)
                .accepts("above 0, at most 1000000"));
        }
        if self.offset.is_nan() || self.offset.abs() > Self::MOST {
            return Err(InputError::out_of_range(shown_number(self.offset))
                .about(Parameter::Offset)
                .accepts("-1000000 to 1000000"));
        }
        if self.by == By::Distance && self.scale == Scale::Limit {
            return Err(Scale::limit_of_distances());
        }
        if self.layers.len() > MOST_LAYERS {
            let problem = format!("there are {} layers", self.layers.len());
            return Err(InputError::malformed(problem).accepts(format!("at most {MOST_LAYERS}")));
        }
        self.layers.iter().try_for_each(Layer::check)
    }

    /// The channels that a field needs besides the dwells.
    #[must_use]
    pub fn channels(&self) -> ChannelSet {
        let of_base = self.by.channel().into_iter().fold(ChannelSet::NONE, ChannelSet::with);
        self.layers.iter().fold(of_base, |set, layer| set.and(layer.channels()))
    }

    /// Whether all pixels must be counted before the first can be coloured.
    #[must_use]
    pub fn needs_counts(&self) -> bool {
        self.scale == Scale::Histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused() {
        let good = Colouring::default();
        assert!(good.check().is_ok());
        for bad in [
            Colouring { density: 0.0, ..good.clone() },
            Colouring { density: f64::NAN, ..good.clone() },
            Colouring { density: 1e7, ..good.clone() },
            Colouring { offset: f64::INFINITY, ..good.clone() },
            Colouring { offset: f64::NAN, ..good.clone() },
            Colouring { by: By::Distance, scale: Scale::Limit, ..good.clone() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn another_palette_replaces_what_the_old_one_suggested() {
        let palette = |name: &str| Palette::built_in(name).unwrap();
        let toader = Colouring::of(palette("toader")).in_colours_of(palette("ember"));
        assert_eq!((toader.by, toader.scale, toader.density), (By::Smooth, Scale::Root, 1.0));
        let chosen = Colouring { density: 3.0, ..Colouring::of(palette("ember")).by(By::Distance) };
        assert_eq!(chosen.scale, Scale::Log);
        let kept = chosen.clone().in_colours_of(palette("glacier"));
        assert_eq!((kept.by, kept.scale, kept.density), (By::Distance, Scale::Log, 1.0));
        let ink = chosen.in_colours_of(palette("ink"));
        assert_eq!((ink.by, ink.scale), (By::Distance, Scale::Root));
        let even = Colouring { scale: Scale::Histogram, ..Colouring::default() }.in_colours_of(palette("magma"));
        assert_eq!((even.by, even.scale), (By::Smooth, Scale::Histogram));
        let own = Colouring::of(palette("ink")).in_colours_of(palette("ember"));
        assert_eq!(own.palette.interior(), palette("ember").interior());
        let white = Colouring::of(palette("ink").with_interior([65535; 3])).in_colours_of(palette("ember"));
        assert_eq!(white.palette.interior(), [65535; 3]);
    }

    #[test]
    fn a_palette_suggests_quantity_scale_and_density() {
        let toader = Colouring::of(Palette::built_in("toader").unwrap());
        assert_eq!((toader.by, toader.scale, toader.density, toader.offset), (By::Banded, Scale::Linear, 16.0, 0.0));
    }
}
