//! What an error is about: the parameter that is wrong, and the place in the input.

use crate::base::quote::name_of;
use std::fmt;
use std::path::PathBuf;

/// A value that can be wrong, by its meaning. A program maps it to the flag or the field that its user gave it with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameter {
    /// Size of a picture, in pixels.
    Size,
    /// Real part of the centre.
    Re,
    /// Imaginary part of the centre.
    Im,
    /// Zoom: the view's height is 4 / zoom.
    Zoom,
    /// Height of the view in the plane.
    Height,
    /// Edges of the view.
    Bounds,
    /// Rotation of the view, in degrees.
    Rotation,
    /// A view as a whole, together with the number that it is computed in.
    View,
    /// Greatest number of iterations.
    MaxIterations,
    /// Escape radius.
    EscapeRadius,
    /// Power of the formula.
    Power,
    /// Samples of a pixel on a side.
    Samples,
    /// Size of a tile, in pixels.
    Tile,
    /// Threads.
    Threads,
    /// Name of a built-in location.
    Location,
    /// Name of a built-in palette.
    Palette,
    /// Name of a gradient in a palette file that has several.
    Gradient,
    /// Positions of a palette's colours.
    Positions,
    /// Density of a colouring.
    Density,
    /// Offset of a colouring.
    Offset,
    /// A colour.
    Colour,
    /// Path of an output.
    Output,
    /// A value of an enumeration or of an engine's options, by the name that the library gives it: `recipe`, `schedule`,
    /// `block`.
    Named(&'static str),
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Size => "size",
            Self::Re => "re",
            Self::Im => "im",
            Self::Zoom => "zoom",
            Self::Height => "height",
            Self::Bounds => "bounds",
            Self::Rotation => "rotation",
            Self::View => "view",
            Self::MaxIterations => "iterations",
            Self::EscapeRadius => "escape radius",
            Self::Power => "power",
            Self::Samples => "samples",
            Self::Tile => "tile",
            Self::Threads => "threads",
            Self::Location => "location",
            Self::Palette => "palette",
            Self::Gradient => "gradient",
            Self::Positions => "positions",
            Self::Density => "density",
            Self::Offset => "offset",
            Self::Colour => "colour",
            Self::Output => "output",
            Self::Named(name) => name,
        })
    }
}

/// A place in the input. An error has a chain of them, from the outside in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A part of a file, in words: `header`, `the last segment`.
    Part(String),
    /// A line, from 1.
    Line(u64),
    /// A key, as it is written; control characters are escaped, and a long one is cut.
    Key(String),
    /// A pixel, from 0 at the top left.
    Pixel {
        /// Its column.
        column: u64,
        /// Its row.
        row: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.write_str(&name_of(path)),
            Self::Part(part) => f.write_str(part),
            Self::Line(line) => write!(f, "line {line}"),
            Self::Key(key) => f.write_str(key),
            Self::Pixel { column, row } => write!(f, "column {column}, row {row}"),
        }
    }
}

/// The line of a key, from 1, and the key as [`Place::Key`] has it.
#[cfg(feature = "toml")]
pub(crate) type KeyPlace = (u64, String);
