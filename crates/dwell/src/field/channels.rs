//! Channels are the values that a field holds for each pixel.
//!
//! Every pixel has a dwell (`u32`; for greater ones see [`Channel::Overflow`]). Each [`Channel`] adds one `f64` where a [`ChannelSet`] includes it. [`Channels`] is the
//! one container for all of them; its type parameters say how the values are stored (vectors, slices, rows of a tile), so
//! that code that copies, cuts, mirrors or saves pixels does not depend on the list of channels. A new channel is a variant of [`Channel`],
//! the code that computes it (an engine) and the code that reads it (a colouring).

use crate::base::error::InputError;
use crate::base::limits::{collected, copied, reserved, resize_zeroed};
use crate::view::settings::MOST_COUNT;
use dwell_kernels::Fold;
use std::borrow::Cow;
use std::ops::{Index, IndexMut, Range};

/// A value that a field can hold for each pixel beside its dwell.
///
/// Channels of escaped points are 0.0 where the dwell is 0, and [those of the interior](Self::is_of_interior) are 0.0
/// everywhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Channel {
    /// The smooth value, a continuous dwell. See [`dwell_kernels::smooth`].
    Smooth,
    /// The estimated distance to the set, in heights of the view. See [`dwell_kernels::distance`].
    Distance,
    /// The component to the right of the direction in the picture, of length 1, in which |z| grows fastest: the normal
    /// for shading by slope. See [`dwell_kernels::distance`].
    SlopeRight,
    /// The component upwards of the same direction.
    SlopeUp,
    /// What does not fit into the 32 bits of a dwell, in fields whose limit is greater than 2^32 - 1: with the count n that is
    /// stored in their place, which is 0 only for points that have not escaped, the dwell is n + overflow (2^32 - 1). A whole number below 2^32.
    Overflow,
    /// The period of the attracting cycle; 0.0 where none was found. See [`dwell_kernels::attractor`].
    Period,
    /// The real part of the cycle's multiplier.
    MultiplierRe,
    /// The imaginary part of the cycle's multiplier, without its sign.
    MultiplierIm,
    /// The real part of the point of the cycle to which z_p, z_2p, ... converges, for the period p.
    FinalRe,
    /// The imaginary part of that point.
    FinalIm,
}

/// A dwell as it is stored: its count, and its [`Channel::Overflow`].
pub(crate) fn stored(dwell: u64) -> (u32, f64) {
    let Some(before) = dwell.checked_sub(1) else { return (0, 0.0) };
    // Exact: both quotient and remainder have at most 32 bits.
    ((before % MOST_COUNT + 1) as u32, (before / MOST_COUNT) as f64)
}

/// The dwell that is stored so.
#[inline]
pub(crate) fn dwell_of(count: u32, overflow: f64) -> u64 {
    u64::from(count) + overflow as u64 * MOST_COUNT
}

impl Channel {
    /// Every channel, in the order in which journals store them.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Smooth,
        Self::Distance,
        Self::SlopeRight,
        Self::SlopeUp,
        Self::Overflow,
        Self::Period,
        Self::MultiplierRe,
        Self::MultiplierIm,
        Self::FinalRe,
        Self::FinalIm,
    ];

    /// The number of channels.
    pub const COUNT: usize = 10;

    /// Whether its value at the conjugate of a point has the opposite sign, for a formula of that fold whose dwells are
    /// symmetric. Otherwise both values are the same.
    pub(crate) fn is_odd(self, fold: Fold) -> bool {
        match self {
            Self::SlopeUp => true,
            // The fold of the Burning Ship drops the sign, so both points have the same orbit.
            Self::FinalIm => fold != Fold::Absolute,
            _ => false,
        }
    }

    /// Whether it is computed for points that have not escaped, instead of those that have.
    #[must_use]
    pub fn is_of_interior(self) -> bool {
        match self {
            Self::Smooth | Self::Distance | Self::SlopeRight | Self::SlopeUp | Self::Overflow => false,
            Self::Period | Self::MultiplierRe | Self::MultiplierIm | Self::FinalRe | Self::FinalIm => true,
        }
    }

    /// The name used in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Smooth => "smooth values",
            Self::Distance => "distances",
            Self::SlopeRight | Self::SlopeUp => "slopes",
            Self::Period => "periods",
            Self::MultiplierRe | Self::MultiplierIm => "multipliers",
            Self::FinalRe | Self::FinalIm => "final points",
            Self::Overflow => "dwells beyond 32 bits",
        }
    }
}

/// Which channels a field holds beside the dwells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ChannelSet(u16);

impl ChannelSet {
    /// Dwells alone.
    pub const NONE: Self = Self(0);
    /// Every channel.
    pub const ALL: Self = Self((1 << Channel::COUNT) - 1);
    /// Dwells and smooth values.
    pub const SMOOTH: Self = Self::NONE.with(Channel::Smooth);
    /// What dwells up to a limit consist of beside their counts: [`Channel::Overflow`] above 2^32 - 1.
    #[must_use]
    pub const fn of_dwells(limit: u64) -> Self {
        if limit > MOST_COUNT { Self::NONE.with(Channel::Overflow) } else { Self::NONE }
    }

    /// Dwells and distances.
    pub const DISTANCE: Self = Self::NONE.with(Channel::Distance);

    /// This set and one more channel.
    #[must_use]
    pub const fn with(self, channel: Channel) -> Self {
        Self(self.0 | 1 << channel as u8)
    }

    /// Whether the set includes a channel.
    #[must_use]
    pub const fn contains(self, channel: Channel) -> bool {
        self.0 & 1 << channel as u8 != 0
    }

    /// Whether the set includes every channel of another.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Every channel of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a channel of the set is computed for points that have not escaped.
    #[must_use]
    pub fn has_interior(self) -> bool {
        self.iter().any(Channel::is_of_interior)
    }

    /// Whether the field holds dwells alone.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The channels of the set, in the order of [`Channel::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Channel> {
        Channel::ALL.into_iter().filter(move |channel| self.contains(*channel))
    }

    /// Bytes of memory for the dwells and these channels of `pixels` pixels; saturates at `u64::MAX`.
    #[must_use]
    pub fn bytes(self, pixels: u64) -> u64 {
        let each = size_of::<u32>() + size_of::<f64>() * self.iter().count();
        pixels.saturating_mul(each as u64)
    }
}

/// Dwells stored as `D`, and the values of each channel stored as `V`: empty for a channel that is not in the set.
#[derive(Clone, Debug, Default)]
pub struct Channels<D, V> {
    /// The dwell of each pixel.
    pub dwell: D,
    values: [V; Channel::COUNT],
}

/// Channels that own their memory.
pub type ChannelBuffers = Channels<Vec<u32>, Vec<f64>>;
/// Channels to read.
pub type ChannelSlices<'a> = Channels<&'a [u32], &'a [f64]>;
/// Channels to write.
pub type ChannelSlicesMut<'a> = Channels<&'a mut [u32], &'a mut [f64]>;
/// The rows of a tile to write: one slice for each row, and no slices for a channel that is not in the set.
pub(crate) type ChannelRowsMut<'a> = Channels<Vec<&'a mut [u32]>, Vec<&'a mut [f64]>>;

impl<D, V> Index<Channel> for Channels<D, V> {
    type Output = V;
    fn index(&self, channel: Channel) -> &V {
        &self.values[channel as usize]
    }
}

impl<D, V> IndexMut<Channel> for Channels<D, V> {
    fn index_mut(&mut self, channel: Channel) -> &mut V {
        &mut self.values[channel as usize]
    }
}

impl<D, V> Channels<D, V> {
    /// The dwells, and the values of all channels in the order of [`Channel::ALL`].
    pub(crate) fn parts_mut(&mut self) -> (&mut D, &mut [V; Channel::COUNT]) {
        (&mut self.dwell, &mut self.values)
    }

    /// Dwells, and values made for each channel.
    pub fn from_fn(dwell: D, values: impl FnMut(Channel) -> V) -> Self {
        Self { dwell, values: Channel::ALL.map(values) }
    }
}

fn set_of(is_present: impl Fn(Channel) -> bool) -> ChannelSet {
    Channel::ALL.into_iter().filter(|channel| is_present(*channel)).fold(ChannelSet::NONE, ChannelSet::with)
}

impl ChannelBuffers {
    /// Resizes the buffers to `pixels` pixels of the channels in `set` and empties the other channels. Existing values are
    /// kept; new ones are 0.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn resize(&mut self, pixels: usize, set: ChannelSet) -> Result<(), InputError> {
        resize_zeroed(&mut self.dwell, pixels, "the dwells")?;
        for channel in Channel::ALL {
            let pixels = if set.contains(channel) { pixels } else { 0 };
            resize_zeroed(&mut self[channel], pixels, channel.name())?;
        }
        Ok(())
    }

    /// Keeps the first `pixels` pixels.
    pub(crate) fn truncate(&mut self, pixels: usize) {
        self.dwell.truncate(pixels);
        self.values.iter_mut().for_each(|values| values.truncate(pixels));
    }

    /// All pixels, to read.
    #[must_use]
    pub fn slices(&self) -> ChannelSlices<'_> {
        Channels { dwell: &self.dwell, values: self.values.each_ref().map(Vec::as_slice) }
    }

    /// All pixels, to write.
    pub fn slices_mut(&mut self) -> ChannelSlicesMut<'_> {
        Channels { dwell: &mut self.dwell, values: self.values.each_mut().map(Vec::as_mut_slice) }
    }
}

impl<'a> ChannelSlices<'a> {
    /// Dwells alone.
    #[must_use]
    pub fn of_dwells(dwell: &'a [u32]) -> Self {
        Self { dwell, values: Default::default() }
    }

    /// The channels whose slices are not empty.
    #[must_use]
    pub fn set(&self) -> ChannelSet {
        set_of(|channel| !self[channel].is_empty())
    }

    /// The dwell of each pixel in full.
    pub fn dwells(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut overflows = self[Channel::Overflow].iter();
        self.dwell.iter().map(move |count| dwell_of(*count, overflows.next().copied().unwrap_or(0.0)))
    }

    /// The dwells as little-endian bytes: 4 for each pixel, 8 with [`Channel::Overflow`].
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn dwell_bytes(&self) -> Result<Cow<'a, [u8]>, InputError> {
        if self[Channel::Overflow].is_empty() {
            return Ok(count_bytes(self.dwell));
        }
        let mut bytes = reserved(8 * self.dwell.len(), "the bytes of the dwells")?;
        bytes.extend(self.dwells().flat_map(u64::to_le_bytes));
        Ok(bytes.into())
    }

    /// A range of the pixels.
    ///
    /// # Panics
    /// When the range exceeds the pixels.
    #[must_use]
    pub fn slice(&self, pixels: Range<usize>) -> Self {
        let cut = |values: &'a [f64]| if values.is_empty() { values } else { &values[pixels.clone()] };
        Self { dwell: &self.dwell[pixels.clone()], values: self.values.map(cut) }
    }

    /// Little-endian bytes: of the dwells, then of each channel; none for a channel that is not in the set.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn to_bytes(self) -> Result<[Vec<u8>; 1 + Channel::COUNT], InputError> {
        const WHAT: &str = "a copy of the rows";
        let mut bytes: [Vec<u8>; 1 + Channel::COUNT] = Default::default();
        bytes[0] = copied(&count_bytes(self.dwell), WHAT)?;
        for channel in Channel::ALL {
            let bytes = &mut bytes[1 + channel as usize];
            *bytes = reserved(size_of_val(self[channel]), WHAT)?;
            bytes.extend(self[channel].iter().flat_map(|value| value.to_le_bytes()));
        }
        Ok(bytes)
    }
}

impl Copy for ChannelSlices<'_> {}

impl<'a> ChannelSlicesMut<'a> {
    /// Dwells alone.
    pub fn of_dwells(dwell: &'a mut [u32]) -> Self {
        Self::from_fn(dwell, |_| &mut [])
    }

    /// The channels whose slices are not empty.
    #[must_use]
    pub fn set(&self) -> ChannelSet {
        set_of(|channel| !self[channel].is_empty())
    }

    /// The same pixels, borrowed from these slices.
    pub fn reborrow(&mut self) -> ChannelSlicesMut<'_> {
        Channels { dwell: self.dwell, values: self.values.each_mut().map(|values| &mut **values) }
    }

    /// A range of the pixels.
    ///
    /// # Panics
    /// When the range exceeds the pixels.
    #[must_use]
    pub fn slice(self, pixels: Range<usize>) -> Self {
        let cut = |values: &'a mut [f64]| if values.is_empty() { values } else { &mut values[pixels.clone()] };
        Self { dwell: &mut self.dwell[pixels.clone()], values: self.values.map(cut) }
    }

    /// Removes the first `pixels` pixels and returns them.
    pub(crate) fn take_front(&mut self, pixels: usize) -> Self {
        fn cut<'a, T>(slice: &mut &'a mut [T], at: usize) -> &'a mut [T] {
            let (front, rest) = std::mem::take(slice).split_at_mut(at);
            *slice = rest;
            front
        }
        let values = self.values.each_mut().map(|values| {
            let at = if values.is_empty() { 0 } else { pixels };
            cut(values, at)
        });
        Self { dwell: cut(&mut self.dwell, pixels), values }
    }

    /// The pixels as rows of `width` columns.
    ///
    /// # Errors
    /// When the system has not enough memory for the list of rows.
    pub(crate) fn into_rows(self, width: usize) -> Result<ChannelRowsMut<'a>, InputError> {
        let mut rows = ChannelRowsMut { dwell: collected(self.dwell.chunks_mut(width), ROWS)?, ..Default::default() };
        for (rows, values) in rows.values.iter_mut().zip(self.values) {
            *rows = collected(values.chunks_mut(width), ROWS)?;
        }
        Ok(rows)
    }

    /// Copies the values of as many pixels with the same channels.
    ///
    /// # Panics
    /// When the numbers of pixels or the channels differ.
    pub fn copy_from(&mut self, other: ChannelSlices<'_>) {
        self.dwell.copy_from_slice(other.dwell);
        for (to, from) in self.values.iter_mut().zip(other.values) {
            to.copy_from_slice(from);
        }
    }

    /// Copies the values of as many pixels with the same channels, as those of their mirror images for a formula of that
    /// fold.
    ///
    /// # Panics
    /// When the numbers of pixels differ, or a channel is missing on one side.
    pub(crate) fn copy_mirrored_from(&mut self, other: ChannelSlices<'_>, fold: Fold) {
        self.copy_from(other);
        for (_, values) in Channel::ALL.into_iter().zip(&mut self.values).filter(|(channel, _)| channel.is_odd(fold)) {
            // 0 stays 0, without a sign, as kernels compute it.
            values.iter_mut().for_each(|value| *value = 0.0 - *value);
        }
    }

    /// The inverse of [`ChannelSlices::to_bytes`]. Returns false and changes nothing if the lengths do not fit.
    pub(crate) fn copy_from_bytes(&mut self, bytes: &[Vec<u8>; 1 + Channel::COUNT]) -> bool {
        let [dwell, values @ ..] = bytes;
        let fits = |own: &[f64], bytes: &[u8]| bytes.len() == size_of_val(own);
        if dwell.len() != size_of_val(self.dwell) || !self.values.iter().zip(values).all(|(own, v)| fits(own, v)) {
            return false;
        }
        for (value, bytes) in self.dwell.iter_mut().zip(dwell.as_chunks().0) {
            *value = u32::from_le_bytes(*bytes);
        }
        for (own, values) in self.values.iter_mut().zip(values) {
            for (value, bytes) in own.iter_mut().zip(values.as_chunks().0) {
                *value = f64::from_le_bytes(*bytes);
            }
        }
        true
    }
}

/// The name of a list of rows, for messages.
const ROWS: &str = "the rows of a tile";

impl<'a> ChannelRowsMut<'a> {
    /// Removes the first `columns` columns of every row and returns them.
    ///
    /// # Errors
    /// When the system has not enough memory for the list of rows.
    pub(crate) fn take_left(&mut self, columns: usize) -> Result<Self, InputError> {
        fn cut<'a, T>(rows: &mut [&'a mut [T]], columns: usize) -> Result<Vec<&'a mut [T]>, InputError> {
            let left = rows.iter_mut().map(|row| {
                let (left, rest) = std::mem::take(row).split_at_mut(columns);
                *row = rest;
                left
            });
            collected(left, ROWS)
        }
        let mut left = Self { dwell: cut(&mut self.dwell, columns)?, ..Self::default() };
        for (left, rows) in left.values.iter_mut().zip(&mut self.values) {
            *left = cut(rows, columns)?;
        }
        Ok(left)
    }

    /// Whether there are rows for dwells alone.
    pub(crate) fn is_dwells_alone(&self) -> bool {
        self.values.iter().all(Vec::is_empty)
    }

    /// The channels whose slices are not empty.
    pub(crate) fn set(&self) -> ChannelSet {
        set_of(|channel| !self[channel].is_empty())
    }
}

/// Counts as little-endian bytes, without a copy on a little-endian machine.
fn count_bytes(dwell: &[u32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        bytemuck::cast_slice(dwell).into()
    } else {
        dwell.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_contain_the_channels_that_were_added() {
        let both = ChannelSet::SMOOTH.with(Channel::Distance);
        assert!(both.iter().eq([Channel::Smooth, Channel::Distance]) && ChannelSet::NONE.is_empty());
        assert!(both.contains(Channel::Smooth) && !ChannelSet::DISTANCE.contains(Channel::Smooth));
        assert_eq!([ChannelSet::NONE.bytes(3), both.bytes(3), both.bytes(u64::MAX)], [12, 60, u64::MAX]);
    }

    #[test]
    fn dwells_of_more_than_32_bits_are_stored_as_two_numbers() {
        for dwell in
            [0, 1, 2, MOST_COUNT - 1, MOST_COUNT, MOST_COUNT + 1, 2 * MOST_COUNT, 2 * MOST_COUNT + 1, i64::MAX as u64]
        {
            let (count, overflow) = stored(dwell);
            assert_eq!(dwell_of(count, overflow), dwell);
            assert_eq!(count == 0, dwell == 0, "{dwell}");
            assert_eq!(overflow == 0.0, dwell <= MOST_COUNT, "{dwell}");
            let (count, overflow) = ([count], [overflow]);
            let mut slices = ChannelSlices::of_dwells(&count);
            slices[Channel::Overflow] = &overflow;
            assert_eq!(slices.dwell_bytes().unwrap(), dwell.to_le_bytes().as_slice());
        }
        assert_eq!(ChannelSlices::of_dwells(&[7]).dwell_bytes().unwrap(), [7, 0, 0, 0].as_slice());
    }

    #[test]
    fn bytes_are_read_back_and_wrong_lengths_are_refused() {
        let set = ChannelSet::DISTANCE;
        let mut buffers = ChannelBuffers::default();
        buffers.resize(4, set).unwrap();
        buffers.dwell.copy_from_slice(&[1, 2, 3, u32::MAX]);
        buffers[Channel::Distance].copy_from_slice(&[0.5, -1.0, 2.0, f64::MAX]);
        let bytes = buffers.slices().slice(1..4).to_bytes().unwrap();
        let mut other = ChannelBuffers::default();
        other.resize(3, set).unwrap();
        assert!(other.slices_mut().copy_from_bytes(&bytes));
        assert_eq!((other.dwell.as_slice(), other[Channel::Distance][2]), ([2, 3, u32::MAX].as_slice(), f64::MAX));
        assert_eq!(other.slices().set(), set);
        other.resize(3, ChannelSet::SMOOTH).unwrap();
        assert!(!other.slices_mut().copy_from_bytes(&bytes), "another channel");
        other.resize(2, set).unwrap();
        assert!(!other.slices_mut().copy_from_bytes(&bytes), "fewer pixels");
    }
}
