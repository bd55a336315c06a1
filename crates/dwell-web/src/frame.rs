//! Binary messages to a page: some rows of a field or of a picture. All numbers are little-endian.
//!
//! ```text
//! 8 u32: magic, view, stage, kind, width, height, first row, rows; then
//! a field:   rows * width u32 dwells, then (unless it is coloured by dwells) rows * width f32 values
//! a picture: rows * width * 3 bytes, red, green and blue
//! ```
//!
//! A value is the smooth value minus the dwell, so that 24 bits of it suffice at any dwell, or the distance.

use dwell::{By, FieldRows, Size};

/// The first number of each message: "DWEL".
pub(crate) const MAGIC: u32 = 0x4c45_5744;

/// How far a view has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// An eighth of the width and height.
    Coarse,
    /// One sample a pixel.
    Full,
    /// The picture that a render of the scene gives.
    Final,
}

impl Stage {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Coarse => "coarse",
            Self::Full => "full",
            Self::Final => "final",
        }
    }
}

/// What a message is about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) view: u32,
    pub(crate) stage: Stage,
    pub(crate) size: Size,
    pub(crate) first_row: u32,
    pub(crate) rows: u32,
}

impl Header {
    fn begin(self, kind: u32, bytes: usize) -> Vec<u8> {
        let mut message = Vec::with_capacity(32 + bytes);
        let Size { width, height } = self.size;
        for number in [MAGIC, self.view, self.stage as u32, kind, width, height, self.first_row, self.rows] {
            message.extend(number.to_le_bytes());
        }
        message
    }
}

/// A message of rows of a field.
pub(crate) fn of_field(header: Header, rows: FieldRows<'_>, by: By) -> Vec<u8> {
    let dwell = rows.dwell();
    let mut message = header.begin(0, 8 * dwell.len());
    message.extend(dwell.iter().flat_map(|dwell| dwell.to_le_bytes()));
    let values = by.channel().map_or(&[][..], |channel| rows.channel(channel));
    #[expect(clippy::cast_possible_truncation, reason = "the page paints with 24 bits")]
    let value = |dwell: u32, value: f64| match by {
        By::Smooth => (value - f64::from(dwell)) as f32,
        _ => value as f32,
    };
    message.extend(dwell.iter().zip(values).flat_map(|(dwell, of)| value(*dwell, *of).to_le_bytes()));
    message
}

/// A message of rows of a picture.
pub(crate) fn of_picture(header: Header, bytes: &[u8]) -> Vec<u8> {
    let mut message = header.begin(1, bytes.len());
    message.extend_from_slice(bytes);
    message
}
