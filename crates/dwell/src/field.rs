//! A field holds the dwell of every pixel of some rows of an image, and the channels that were requested.
//!
//! The dwell of a point is the least n from 1 with |z_n| > R, the escape radius, or 0 if there is none up to the limit.
//! [`Field`] owns its memory; [`FieldRowsMut`] and [`FieldRows`] borrow theirs, from a field or from a caller of the
//! library. Pixels are stored row by row from the top. A row has the same number in a part of an image as in the image.

pub(crate) mod channels;

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::view::settings::MOST_COUNT;
use channels::{Channel, ChannelBuffers, ChannelSet, ChannelSlices, ChannelSlicesMut};
use std::borrow::Cow;
use std::ops::Range;

/// Rows of an image, row by row from the top, that own their memory.
#[derive(Clone, Debug, Default)]
pub struct Field {
    width: u32,
    rows: Range<u32>,
    channels: ChannelBuffers,
}

/// Rows of an image, row by row from the top, for an engine to write. The memory is borrowed.
#[derive(Debug)]
pub struct FieldRowsMut<'a> {
    width: u32,
    rows: Range<u32>,
    channels: ChannelSlicesMut<'a>,
}

/// Rows of an image, row by row from the top, to read. The memory is borrowed. Unlike the other types it does not hold
/// which rows of the image they are.
#[derive(Clone, Copy, Debug)]
pub struct FieldRows<'a> {
    width: u32,
    channels: ChannelSlices<'a>,
}

/// The indices of the pixels of `rows` in a buffer that begins with the row `first`.
fn pixels(rows: &Range<u32>, first: u32, width: u32) -> Range<usize> {
    let at = |row: u32| (row - first) as usize * width as usize;
    at(rows.start)..at(rows.end)
}

impl Field {
    /// Makes the field hold these rows of an image of `width` columns, with the channels in `set`, and reuses its
    /// buffers. Every value is 0 or left over from earlier rows until an engine has written it.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn prepare(&mut self, width: u32, rows: Range<u32>, set: ChannelSet) -> Result<(), InputError> {
        self.channels.resize(width as usize * rows.len(), set)?;
        self.width = width;
        self.rows = rows;
        Ok(())
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The numbers of these rows in the image; 0 is the top row.
    #[must_use]
    pub fn rows(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// The dwell of each pixel, row by row from the top: n from 1, or 0 for a point that did not escape within the limit.
    #[must_use]
    pub fn dwell(&self) -> &[u32] {
        &self.channels.dwell
    }

    /// The values of a channel, one for each pixel; empty if the channel was not requested.
    #[must_use]
    pub fn channel(&self, channel: Channel) -> &[f64] {
        &self.channels[channel]
    }

    /// The smooth value of each pixel, 0.0 where the dwell is 0; empty if smooth values were not requested.
    #[must_use]
    pub fn smooth(&self) -> &[f64] {
        self.channel(Channel::Smooth)
    }

    /// The estimated distance of each pixel to the set, in heights of the view, 0.0 where the dwell is 0; empty if distances
    /// were not requested.
    #[must_use]
    pub fn distance(&self) -> &[f64] {
        self.channel(Channel::Distance)
    }

    /// Some rows of the field to write, numbered as in the image.
    ///
    /// # Panics
    /// When `rows` is not within the rows of the field.
    pub(crate) fn rows_mut(&mut self, rows: Range<u32>) -> FieldRowsMut<'_> {
        let channels = self.channels.slices_mut().slice(pixels(&rows, self.rows.start, self.width));
        FieldRowsMut { width: self.width, rows, channels }
    }

    /// Copies rows, numbered as in the image, from another field of the same image with the same channels.
    ///
    /// # Panics
    /// When `rows` is not empty and is not within the rows of both fields, or the channels differ.
    pub(crate) fn copy_rows(&mut self, other: &Self, rows: Range<u32>) {
        if !rows.is_empty() {
            self.rows_mut(rows.clone()).channels.copy_from(other.some_rows(rows).channels);
        }
    }

    /// All rows of the field to write.
    pub(crate) fn all_rows_mut(&mut self) -> FieldRowsMut<'_> {
        self.rows_mut(self.rows.clone())
    }

    /// All rows of the field to read.
    #[must_use]
    pub fn all_rows(&self) -> FieldRows<'_> {
        FieldRows { width: self.width, channels: self.channels.slices() }
    }

    /// Some rows of the field to read, numbered as in the image.
    ///
    /// # Panics
    /// When `rows` is not within the rows of the field.
    #[must_use]
    pub fn some_rows(&self, rows: Range<u32>) -> FieldRows<'_> {
        let channels = self.channels.slices().slice(pixels(&rows, self.rows.start, self.width));
        FieldRows { width: self.width, channels }
    }

    /// The number of pixels that did not escape within the limit: those with dwell 0.
    #[must_use]
    pub fn interior_pixels(&self) -> u64 {
        self.all_rows().interior_pixels()
    }
}

impl<'a> FieldRowsMut<'a> {
    /// Rows `rows` of an image of `width` columns, in slices of the caller: `width * rows.len()` dwells, and for each
    /// channel as many values, or an empty slice if the channel is not to be computed.
    ///
    /// # Errors
    /// When a slice has another length.
    pub fn new(width: u32, rows: Range<u32>, channels: ChannelSlicesMut<'a>) -> Result<Self, InputError> {
        let pixels = width as usize * rows.len();
        check_lengths(pixels, channels.dwell.len(), |channel| channels[channel].len())?;
        Ok(Self { width, rows, channels })
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The numbers of these rows in the image; 0 is the top row.
    #[must_use]
    pub fn rows(&self) -> Range<u32> {
        self.rows.clone()
    }

    /// The channels to compute beside the dwells.
    #[must_use]
    pub fn set(&self) -> ChannelSet {
        self.channels.set()
    }

    /// The slices, for as long as their memory is borrowed from its owner.
    #[must_use]
    pub fn into_channels(self) -> ChannelSlicesMut<'a> {
        self.channels
    }

    /// The slices, for as long as these rows are borrowed.
    pub fn channels_mut(&mut self) -> ChannelSlicesMut<'_> {
        self.channels.reborrow()
    }

    /// Removes the first `count` rows, at most all, and returns them.
    pub(crate) fn take_top(&mut self, count: u32) -> Self {
        let middle = self.rows.end.min(self.rows.start.saturating_add(count));
        let rows = self.rows.start..middle;
        let channels = self.channels.take_front(self.width as usize * rows.len());
        self.rows.start = middle;
        Self { width: self.width, rows, channels }
    }

    /// Some of these rows, numbered as in the image.
    ///
    /// # Panics
    /// When `rows` is not within these rows.
    pub fn some_rows_mut(&mut self, rows: Range<u32>) -> FieldRowsMut<'_> {
        let channels = self.channels.reborrow().slice(pixels(&rows, self.rows.start, self.width));
        FieldRowsMut { width: self.width, rows, channels }
    }

    /// Writes the values of points, given by columns and rows of the image that are within these rows, in order.
    pub(crate) fn write_points(&mut self, places: &[(u32, u32)], values: ChannelSlices<'_>) {
        let (width, top) = (self.width as usize, self.rows.start);
        let set = values.set();
        for (number, (column, row)) in places.iter().enumerate() {
            let pixel = (row - top) as usize * width + *column as usize;
            self.channels.dwell[pixel] = values.dwell[number];
            for channel in set.iter() {
                self.channels[channel][pixel] = values[channel][number];
            }
        }
    }

    /// These rows, to read.
    #[must_use]
    pub fn as_rows(&self) -> FieldRows<'_> {
        let channels = ChannelSlices::from_fn(&*self.channels.dwell, |channel| &*self.channels[channel]);
        FieldRows { width: self.width, channels }
    }
}

/// Checks that there are `pixels` dwells, and for each channel `pixels` values or none. `of_channel` is the number of
/// values of a channel.
fn check_lengths(pixels: usize, dwells: usize, of_channel: impl Fn(Channel) -> usize) -> Result<(), InputError> {
    let wrong = |what: &str, found: usize| {
        InputError::malformed(format!("{found} {what} for {pixels} pixels"))
            .about(Parameter::Named("field"))
            .accepts("one for each pixel")
    };
    if dwells != pixels {
        return Err(wrong("dwells", dwells));
    }
    let found = |channel| (channel, of_channel(channel));
    match Channel::ALL.map(found).into_iter().find(|(_, found)| *found != 0 && *found != pixels) {
        Some((channel, found)) => Err(wrong(channel.name(), found)),
        None => Ok(()),
    }
}

impl<'a> FieldRows<'a> {
    /// Whole rows of an image of `width` columns, in slices of the caller: a dwell for each pixel, and for each channel a
    /// value for each pixel or an empty slice.
    ///
    /// # Errors
    /// When the number of dwells is not a multiple of `width` (with `width` 0: is not 0), or a channel has values but
    /// not one for each pixel.
    pub fn new(width: u32, channels: ChannelSlices<'a>) -> Result<Self, InputError> {
        let dwells = channels.dwell.len();
        // The pixels of the whole rows. If the last row is incomplete, `dwells` differs from it, which is an error.
        let pixels = if width == 0 { 0 } else { dwells / width as usize * width as usize };
        check_lengths(pixels, dwells, |channel| channels[channel].len())?;
        Ok(Self { width, channels })
    }

    /// Some whole rows of these, by their pixels.
    ///
    /// # Panics
    /// When the range exceeds the pixels.
    pub(crate) fn some_pixels(&self, pixels: Range<usize>) -> Self {
        Self { width: self.width, channels: self.channels.slice(pixels) }
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// The dwell of each pixel, row by row; where [`Channel::Overflow`] is held, its count.
    #[must_use]
    pub fn dwell(&self) -> &'a [u32] {
        self.channels.dwell
    }

    /// The values of a channel, one for each pixel; empty if the field does not hold the channel.
    #[must_use]
    pub fn channel(&self, channel: Channel) -> &'a [f64] {
        self.channels[channel]
    }

    /// The slices of the dwells and of all channels.
    #[must_use]
    pub fn channels(&self) -> ChannelSlices<'a> {
        self.channels
    }

    /// The dwell of each pixel in full, row by row, also where [`Self::dwell`] has only the counts of [`Channel::Overflow`].
    pub fn dwells(&self) -> impl Iterator<Item = u64> + use<'a> {
        self.channels.dwells()
    }

    /// The dwells as little-endian bytes: 4 for each pixel, 8 with [`Channel::Overflow`].
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub fn dwell_bytes(&self) -> Result<Cow<'a, [u8]>, InputError> {
        self.channels.dwell_bytes()
    }

    /// Iterations that a loop without shortcuts needs for these pixels: its dwell for a pixel that escaped, and `limit`
    /// for any other.
    #[must_use]
    pub fn iterations(&self, limit: u64) -> u128 {
        if limit > MOST_COUNT {
            return self.dwells().map(|n| u128::from(if n == 0 { limit } else { n })).sum();
        }
        // The sum of 2^16 values of u32 fits in u64, so only the sums of chunks are added in u128.
        let each = |n: &u32| if *n == 0 { limit } else { u64::from(*n) };
        self.dwell().chunks(1 << 16).map(|chunk| u128::from(chunk.iter().map(each).sum::<u64>())).sum()
    }

    /// The number of pixels that did not escape within the limit: those with dwell 0.
    #[must_use]
    pub fn interior_pixels(&self) -> u64 {
        self.dwell().iter().filter(|n| **n == 0).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_wrong_length_are_refused() {
        let (mut dwell, mut smooth) = (vec![0; 12], vec![0.0; 12]);
        let mut rows = |dwells: usize, values: usize| {
            let mut channels = ChannelSlicesMut::of_dwells(&mut dwell[..dwells]);
            channels[Channel::Smooth] = &mut smooth[..values];
            FieldRowsMut::new(4, 7..10, channels).map(|rows| rows.set())
        };
        assert_eq!(rows(12, 0).unwrap(), ChannelSet::NONE);
        assert_eq!(rows(12, 12).unwrap(), ChannelSet::SMOOTH);
        assert!(rows(11, 0).is_err() && rows(12, 11).is_err());
        assert!(FieldRows::new(4, ChannelSlices::of_dwells(&[0; 11])).is_err());
        assert!(FieldRows::new(0, ChannelSlices::of_dwells(&[0; 1])).is_err());
    }
}
