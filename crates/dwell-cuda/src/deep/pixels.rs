//! Memory for pixels under way.

use super::layout::{DeepLists, DeepPixels};
use crate::driver::{Address, Buffer, ConstAddress, Context, Fault, Stream};
use crate::pool::{Reservation, SessionPool};
use crate::upload::Upload;
use dwell::{Channel, ChannelSet, DeepPoints, DeepRows};
use std::ops::Range;
use std::sync::Arc;

/// Values of each kind for a pixel.
const OF_ORBIT: usize = 5;
const OF_WORDS: usize = 3;
const OF_TRAP: usize = 10;
const OF_TRAP_WORDS: usize = 5;
const OF_DERIVATIVES: usize = 10;
const OF_DERIVATIVE_UNITS: usize = 2;
/// The values that a pixel may have beside its dwell.
pub(super) const CHANNELS: [Channel; 5] =
    [Channel::Smooth, Channel::Distance, Channel::SlopeRight, Channel::SlopeUp, Channel::Overflow];
/// Lists of pixels: two for those that go on, and two for those that are not decided.
const LISTS: usize = 4;
/// Words of 32 bits of the counters: how many go on, how many are not decided, steps and blocks (two words each).
pub(super) const COUNTERS: usize = 6;

/// All of [`CHANNELS`].
pub(crate) const fn channels() -> ChannelSet {
    let (mut all, mut number) = (ChannelSet::NONE, 0);
    while number < CHANNELS.len() {
        all = all.with(CHANNELS[number]);
        number += 1;
    }
    all
}

/// Bytes of a pixel.
const BYTES: usize = 8 * (OF_ORBIT + OF_TRAP + OF_DERIVATIVES + CHANNELS.len() + 2)
    + 4 * (OF_WORDS + OF_TRAP_WORDS + OF_DERIVATIVE_UNITS + LISTS + 1);

/// Bytes of device memory for so many pixels.
pub(super) fn bytes(pixels: usize) -> u64 {
    (pixels * BYTES) as u64
}

/// Memory for so many pixels.
pub(super) struct Pixels {
    orbits: Buffer<f64>,
    n: Buffer<u64>,
    words: Buffer<u32>,
    traps: Buffer<f64>,
    trap_n: Buffer<u64>,
    trap_words: Buffer<u32>,
    pub(super) dwell: Buffer<u32>,
    derivatives: Buffer<f64>,
    derivative_units: Buffer<i32>,
    /// Of [`CHANNELS`].
    values: [Buffer<f64>; CHANNELS.len()],
    lists: [Buffer<u32>; LISTS],
    pub(super) counters: Buffer<u32>,
    offsets: Upload,
    /// Where the offsets of columns and of rows begin, in bytes, and their numbers.
    axes: [(usize, usize); 2],
    /// Columns and rows of pixels.
    size: [u32; 2],
    is_list: bool,
    frame: [f64; 12],
    // Counts as free once the buffers are.
    _reservation: Reservation,
}

impl Pixels {
    pub(super) fn new(context: &Arc<Context>, pixels: usize, memory: &SessionPool) -> Result<Self, Fault> {
        let reservation = memory.reserve(bytes(pixels))?;
        let (list, values) = (|| Buffer::new(context, pixels), || Buffer::new(context, pixels));
        Ok(Self {
            orbits: Buffer::new(context, OF_ORBIT * pixels)?,
            n: Buffer::new(context, pixels)?,
            words: Buffer::new(context, OF_WORDS * pixels)?,
            traps: Buffer::new(context, OF_TRAP * pixels)?,
            trap_n: Buffer::new(context, pixels)?,
            trap_words: Buffer::new(context, OF_TRAP_WORDS * pixels)?,
            dwell: Buffer::new(context, pixels)?,
            derivatives: Buffer::new(context, OF_DERIVATIVES * pixels)?,
            derivative_units: Buffer::new(context, OF_DERIVATIVE_UNITS * pixels)?,
            values: [values()?, values()?, values()?, values()?, values()?],
            lists: [list()?, list()?, list()?, list()?],
            counters: Buffer::new(context, COUNTERS)?,
            offsets: Upload::new(context, 1 << 16)?,
            axes: [(0, 0); 2],
            size: [0; 2],
            is_list: false,
            frame: [0.0; 12],
            _reservation: reservation,
        })
    }

    pub(super) fn capacity(&self) -> usize {
        self.n.len()
    }

    /// The values of a channel, which is one of [`CHANNELS`].
    pub(super) fn values(&self, channel: Channel) -> &Buffer<f64> {
        let number = CHANNELS.iter().position(|own| *own == channel);
        &self.values[number.unwrap_or(0)]
    }

    /// A list.
    pub(super) fn list(&self, number: usize) -> &Buffer<u32> {
        &self.lists[number]
    }

    /// Takes over where the pixels of rows are.
    pub(super) fn load(&mut self, points: &DeepPoints, rows: Range<u32>, stream: &Stream) -> Result<(), Fault> {
        let DeepRows { width, height, columns, rows, is_list } = points.in_rows(rows);
        assert!(width as usize * height as usize <= self.capacity(), "room for the pixels");
        (self.size, self.is_list) = ([width, height], is_list);
        let bytes = Upload::bytes_of::<i64>(columns.len() + rows.len(), 2);
        self.offsets.fill(bytes, stream, |sections| {
            self.axes = [columns, rows].map(|axis| (sections.values(axis), axis.len()));
        })?;
        for (number, vector) in points.frame().iter().enumerate() {
            let parts = [vector.re.hi, vector.re.lo, vector.im.hi, vector.im.lo];
            self.frame[4 * number..4 * number + 4].copy_from_slice(&parts);
        }
        Ok(())
    }

    /// What kernels are given.
    pub(super) fn task(&self) -> DeepPixels<'_> {
        let [columns, rows] = self.axes.map(|(at, count)| self.offsets.values(at, count).read_only());
        let [width, height] = self.size;
        DeepPixels {
            columns,
            rows,
            orbits: self.orbits.address(),
            n: self.n.address(),
            words: self.words.address(),
            traps: self.traps.address(),
            trap_n: self.trap_n.address(),
            trap_words: self.trap_words.address(),
            dwell: self.dwell.address(),
            derivatives: self.derivatives.address(),
            derivative_units: self.derivative_units.address(),
            smooth: self.values(Channel::Smooth).address(),
            distance: self.values(Channel::Distance).address(),
            slope_right: self.values(Channel::SlopeRight).address(),
            slope_up: self.values(Channel::SlopeUp).address(),
            overflow: self.values(Channel::Overflow).address(),
            frame: self.frame,
            width,
            height,
            capacity: u32::try_from(self.capacity()).unwrap_or(u32::MAX),
            is_list: u32::from(self.is_list),
        }
    }

    /// The pixels of a launch: a list and its length, or all places of whole tiles; and the lists of those that go on and of those that are not decided.
    pub(super) fn lists(&self, from: Option<usize>, count: u32, next: usize, open: usize) -> DeepLists<'_> {
        let address = |number: usize| -> Address<'_, u32> { self.lists[number].address() };
        DeepLists {
            list: from.map_or(ConstAddress::NULL, |from| address(from).read_only()),
            next: address(next),
            open: address(open),
            counts: self.counters.values(0, 2),
            totals: self.counters.values(2, 2),
            count,
            operations: 0,
            begins: 0,
            reserved: 0,
        }
    }
}
