//! The result of a comparison: plain values that serialize to JSON.

use super::value::{Difference, Value};
use serde::Serialize;
use std::fmt;

/// A compared file.
#[derive(Clone, Debug, Serialize)]
pub struct FileInfo {
    /// The path, or `standard input`.
    pub file: String,
    /// The format of the file, such as `png, RGB, 8 bits`.
    pub format: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
}

/// The differences of two rasters.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonReport {
    /// `fields` or `images`.
    pub kind: &'static str,
    /// The first file.
    pub a: FileInfo,
    /// The second file.
    pub b: FileInfo,
    /// Whether the sizes and all pixels are equal.
    pub same: bool,
    /// Whether the sizes differ; pixels are not compared then.
    pub sizes_differ: bool,
    /// The differences of the pixels; `None` if the sizes differ.
    #[serde(flatten)]
    pub compared: Option<Compared>,
}

/// The differences of the pixels of two rasters of equal size.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The number of pixels, width times height.
    pub pixels: u64,
    /// The number of pixels that differ in any value or channel.
    pub differing_pixels: u64,
    /// The differing pixels as a percentage of all pixels, 0 to 100.
    pub differing_percent: f64,
    /// The smallest rectangle that contains all differing pixels; null if none differs.
    pub where_they_lie: Option<Area>,
    /// The number of differing pixels in each cell of a grid over the image, rows of cells from the top: 12 rows of 32
    /// cells, or fewer if the image has fewer rows or columns of pixels.
    pub map: Vec<Vec<u64>>,
    /// The first differing pixels, at most 10, row by row from the top.
    pub first: Vec<DifferingPixel>,
    /// The values that exist only for fields or only for images.
    #[serde(flatten)]
    pub found: Details,
}

/// A rectangle of pixels; both ends of each range are included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Area {
    /// The leftmost column, counted from 0.
    pub first_column: u32,
    /// The rightmost column.
    pub last_column: u32,
    /// The topmost row, counted from 0.
    pub first_row: u32,
    /// The lowest row.
    pub last_row: u32,
}

/// A differing pixel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferingPixel {
    /// The column, counted from 0 at the left.
    pub column: u32,
    /// The row, counted from 0 at the top.
    pub row: u32,
    /// The value in the first file.
    pub a: PixelValue,
    /// The value in the second file.
    pub b: PixelValue,
}

/// The value of a pixel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PixelValue {
    /// The number of a pixel of a field.
    Value(Value),
    /// The channels of a pixel of an image: red, green, blue, and opacity if one of the two images has it, each 0 to
    /// [`ImageDifferences::most`].
    Channels(Vec<u16>),
}

impl fmt::Display for PixelValue {
    /// The number, or the channels separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Channels(channels) => {
                let channels: Vec<_> = channels.iter().map(u16::to_string).collect();
                f.write_str(&channels.join(","))
            }
        }
    }
}

/// The values that exist only for fields or only for images.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// The values of two fields.
    Fields(FieldDifferences),
    /// The values of two images.
    Images(ImageDifferences),
}

/// The differences of two fields. A pixel with 0 (not escaped) in one field and another number in the other has no
/// meaningful numeric difference, since 0 means "never". Such pixels are counted separately and excluded from
/// differences and means.
#[derive(Clone, Debug, Serialize)]
pub struct FieldDifferences {
    /// The number of pixels that are 0 only in the first field.
    pub inside_only_in_a: u64,
    /// The number of pixels that are 0 only in the second field.
    pub inside_only_in_b: u64,
    /// The number of other pixels whose value is greater in the first field.
    pub larger_in_a: u64,
    /// The number of other pixels whose value is greater in the second field.
    pub larger_in_b: u64,
    /// The number of other differing pixels, of which a value is infinite or NaN.
    pub without_difference: u64,
    /// The pixel with the largest difference; of equal differences the first, row by row from the top.
    pub largest: Option<LargestDifference>,
    /// The mean absolute difference of the pixels that have a numeric difference.
    pub mean_of_differing: f64,
    /// The mean absolute difference of these pixels and the equal ones.
    pub mean_of_all: f64,
}

/// The largest difference of two fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestDifference {
    /// The absolute difference.
    pub difference: Difference,
    /// The pixel with its two values.
    #[serde(flatten)]
    pub pair: DifferingPixel,
}

/// The differences of two images by channel: red, green, blue, and opacity if one of the two has it (an image without
/// is opaque).
#[derive(Clone, Debug, Serialize)]
pub struct ImageDifferences {
    /// The channel value of full intensity to which values and differences are scaled: 255, or 65535 if one of the
    /// images has more than 8 bits per channel; 8-bit channels are then multiplied by 257.
    pub most: u16,
    /// Whether the bit depths of the files differ.
    pub depths_differ: bool,
    /// Whether opacity is compared.
    pub alpha: bool,
    /// The largest absolute difference of a channel.
    pub largest_difference: u16,
    /// The pixel with the largest difference; of equal differences the first, row by row from the top.
    pub largest_at: Option<DifferingPixel>,
    /// The mean absolute difference of all channels of the differing pixels.
    pub mean_of_differing: f64,
    /// The mean absolute difference of all channels of all pixels.
    pub mean_of_all: f64,
    /// The peak signal-to-noise ratio of all channels in decibels, 10 log10(65535^2 / mean squared difference) with
    /// channels scaled to 65535, rounded to hundredths; null if no pixel differs.
    pub psnr_db: Option<f64>,
}
