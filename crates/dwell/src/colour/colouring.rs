//! A colouring: which colour a pixel has, as a rule.

use super::mapping::{By, Scale};
use super::palette::Palette;
use crate::base::error::{InputError, shown_number};
use crate::field::Extras;

/// The rule by which pixels are coloured.
///
/// A pixel that did not escape has the palette's interior colour. One that did is at position
///
/// ```text
/// offset + density * scale(v)    turns of the palette
/// ```
///
/// where v is its dwell (`banded`), its smooth value, at least 1 (`smooth`), or 1 + its distance to the set in
/// thousandths of the view's height (`distance`), so that a picture looks the same at every size; and scale(v) is 0.11 (sqrt(v) - 1) (`root`), v / 256 (`linear`), log2(v) / 4 (`log`), v / limit
/// (`limit`), or the share of the image's escaped samples whose v is smaller (`histogram`).
///
/// The root, which is the default, keeps the wide bands around the set and the dense ones at its boundary both readable,
/// at any depth, without knowing the rest of the image; the far surroundings have the palette's first colour.
#[derive(Clone, Debug)]
pub struct Colouring {
    /// The colours.
    pub palette: Palette,
    /// What is coloured.
    pub by: By,
    /// On which scale.
    pub scale: Scale,
    /// How often the palette repeats: 1 is as the scale has it. Above 0, at most [`Self::MOST`].
    pub density: f64,
    /// Turns by which the palette is moved, at most [`Self::MOST`] either way.
    pub offset: f64,
}

impl Default for Colouring {
    fn default() -> Self {
        Self::of(Palette::default())
    }
}

impl Colouring {
    /// The greatest density and offset.
    pub const MOST: f64 = 1e6;

    /// The colouring that a palette suggests for itself.
    #[must_use]
    pub fn of(palette: Palette) -> Self {
        let suggestion = *palette.suggestion();
        let by = suggestion.by.unwrap_or_default();
        Self {
            by,
            scale: suggestion.scale.unwrap_or(usual_scale(by)),
            density: suggestion.density.unwrap_or(1.0),
            offset: suggestion.offset.unwrap_or(0.0),
            palette,
        }
    }

    /// The same colouring by something else: on the scale that is usual for it, if it was by another.
    #[must_use]
    pub fn by(self, by: By) -> Self {
        let scale = if by == self.by { self.scale } else { usual_scale(by) };
        Self { by, scale, ..self }
    }

    /// The same in the colours of another palette. Density and offset were chosen for the old one: they are the new
    /// one's. So are the scale and what is coloured, unless they were not what the old one suggested and the new one
    /// suggests nothing of the kind. A colour for the inside of the set that was not the old one's stays.
    #[must_use]
    pub fn in_colours_of(self, palette: Palette) -> Self {
        let palette = match self.palette.chosen_interior() {
            Some(interior) => palette.with_interior(interior),
            None => palette,
        };
        let chosen = Self::of(self.palette);
        let (suggestion, new) = (*palette.suggestion(), Self::of(palette));
        if suggestion.by.is_some() || suggestion.scale.is_some() {
            return new;
        }
        let new = if self.by == chosen.by { new } else { new.by(self.by) };
        if self.scale == chosen.scale { new } else { Self { scale: self.scale, ..new } }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// Which value is out of range.
    pub fn check(&self) -> Result<(), InputError> {
        let in_range = self.density > 0.0 && self.density <= Self::MOST;
        if !in_range {
            return Err(InputError::new("density", format!("{} is out of range", shown_number(self.density)))
                .accepted("above 0, at most 1000000"));
        }
        if self.offset.is_nan() || self.offset.abs() > Self::MOST {
            return Err(InputError::new("offset", format!("{} is out of range", shown_number(self.offset)))
                .accepted("-1000000 to 1000000"));
        }
        if self.by == By::Distance && self.scale == Scale::Limit {
            return Err(Scale::limit_of_distances());
        }
        Ok(())
    }

    /// What a field has to hold of each pixel, beside its dwell, to be coloured so.
    #[must_use]
    pub fn extras(&self) -> Extras {
        match self.by {
            By::Banded => Extras::NONE,
            By::Smooth => Extras::SMOOTH,
            By::Distance => Extras::DISTANCE,
        }
    }

    /// Whether the whole image has to be known before the first pixel can be coloured.
    #[must_use]
    pub fn needs_counts(&self) -> bool {
        self.scale == Scale::Histogram
    }
}

/// The scale that suits what is coloured.
fn usual_scale(by: By) -> Scale {
    if by == By::Distance { Scale::Log } else { Scale::Root }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
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
    fn another_palette_brings_its_own_choices_and_keeps_those_of_others() {
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
    fn a_palette_may_suggest_the_rest() {
        let toader = Colouring::of(Palette::built_in("toader").unwrap());
        assert_eq!((toader.by, toader.scale, toader.density, toader.offset), (By::Banded, Scale::Linear, 16.0, 0.0));
    }
}
