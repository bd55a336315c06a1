//! What a comparison finds: plain values, ready to be written as JSON.

use super::value::{Difference, Value};
use serde::Serialize;

/// One of the two files.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// Its path, or `standard input`.
    pub file: String,
    /// What it is.
    pub format: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// What two rasters differ in.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `fields` or `images`.
    pub kind: &'static str,
    /// The first.
    pub a: Side,
    /// The second.
    pub b: Side,
    /// Whether every pixel is the same.
    pub same: bool,
    /// Whether the two have different sizes; then nothing else was compared.
    pub sizes_differ: bool,
    /// Pixel by pixel.
    #[serde(flatten)]
    pub compared: Option<Compared>,
}

/// What was found pixel by pixel.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Columns times rows.
    pub pixels: u64,
    /// Pixels that differ in anything.
    pub differing_pixels: u64,
    /// Of 100 pixels of the whole image.
    pub differing_percent: f64,
    /// The smallest rectangle that holds them all; null where none differs.
    pub where_they_lie: Option<Area>,
    /// How many differ in each cell of a grid over the image, rows of cells from the top.
    pub map: Vec<Vec<u64>>,
    /// The first few, row by row from the top.
    pub first: Vec<Pair>,
    /// What only fields or only images have.
    #[serde(flatten)]
    pub found: Found,
}

/// A rectangle of pixels, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Area {
    /// Leftmost column, from 0.
    pub first_column: u32,
    /// Rightmost column.
    pub last_column: u32,
    /// Topmost row, from 0.
    pub first_row: u32,
    /// Lowest row.
    pub last_row: u32,
}

/// A pixel that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// From the left, from 0.
    pub column: u32,
    /// From the top, from 0.
    pub row: u32,
    /// In the first file.
    pub a: Shown,
    /// In the second.
    pub b: Shown,
}

/// What stands at a pixel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Shown {
    /// In a field.
    Value(Value),
    /// In an image: red, green, blue, and opacity if one of the two images has it, up to [`Images::most`].
    Channels(Vec<u16>),
}

/// What only fields or only images have.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// Of two fields.
    Fields(Fields),
    /// Of two images.
    Images(Images),
}

/// What was found in two fields. A point that did not escape (0) in one and did in the other has no difference worth a
/// number, since 0 stands for "never": such pairs are counted apart, and differences and means are without them.
#[derive(Clone, Debug, Serialize)]
pub struct Fields {
    /// 0 in the first, not in the second.
    pub inside_only_in_a: u64,
    /// 0 in the second, not in the first.
    pub inside_only_in_b: u64,
    /// Others, greater in the first.
    pub larger_in_a: u64,
    /// Others, greater in the second.
    pub larger_in_b: u64,
    /// Others, one of the two infinite or not a number.
    pub without_difference: u64,
    /// Where the difference is largest; the first such pixel.
    pub largest: Option<Largest>,
    /// Over the pixels that differ and have a difference.
    pub mean_of_differing: f64,
    /// Over these and those that are the same.
    pub mean_of_all: f64,
}

/// The largest difference of two fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Largest {
    /// Without its sign.
    pub difference: Difference,
    /// Where, and the two values.
    #[serde(flatten)]
    pub pair: Pair,
}

/// What was found in two images, channel by channel: red, green, blue, and opacity if one of the two has it (an image
/// without is opaque).
#[derive(Clone, Debug, Serialize)]
pub struct Images {
    /// The greatest value of a channel, in which differences are given: 255, or 65535 where one of the two has more than 8
    /// bits, an 8-bit channel then being taken 257 times.
    pub most: u16,
    /// Whether the two have different depths.
    pub depths_differ: bool,
    /// Whether opacity is compared.
    pub alpha: bool,
    /// The largest difference of a channel.
    pub largest_difference: u16,
    /// Where it is; the first such pixel.
    pub largest_at: Option<Pair>,
    /// Over all channels of the pixels that differ.
    pub mean_of_differing: f64,
    /// Over all channels of all pixels.
    pub mean_of_all: f64,
    /// Peak signal to noise ratio in decibels, over all channels; null where nothing differs.
    pub psnr_db: Option<f64>,
}
