//! Buffers, streams and events of a session: all that is allocated when it is opened, and used by one plan after another.

use crate::driver::{Buffer, Context, Event, Fault, Pinned, Stream};
use crate::launch::Counted;
use crate::lists::Lists;
use crate::needs::{Capacity, Shape};
use crate::session::{Content, SLOTS};
use crate::task::{DeviceAxes, DeviceField};
use dwell_kernels::Kernels;
use std::sync::Arc;

/// Words of 32 bits after a slot's data in pinned memory: a picture's two totals of 64 bits, then the outcome of
/// kernels that count: pixels written (64 bits), failed launches, and the last error.
pub(crate) const NOTES: usize = 8;
/// The word at which the outcome begins.
pub(crate) const OUTCOME: usize = 4;

/// What a session has on a device.
pub(crate) struct Workspace<N> {
    pub(crate) compute: Stream,
    pub(crate) copy: Stream,
    pub(crate) slots: [Slot; SLOTS],
    /// Dwells of the whole image, or of the rows in each slot.
    pub(crate) field: DeviceField<N>,
    pub(crate) lists: Lists<N>,
    pub(crate) axes: DeviceAxes<N>,
}

/// The memory and events of rows in progress.
pub(crate) struct Slot {
    pub(crate) values: Option<Buffer<f64>>,
    pub(crate) picture: Option<Buffer<u8>>,
    pub(crate) notes: Buffer<u32>,
    pub(crate) pinned: Pinned,
    /// Bytes of the two parts of the delivered rows.
    pub(crate) bytes: [usize; 2],
    pub(crate) began: Event,
    pub(crate) iterated: Event,
    pub(crate) painted: Event,
    pub(crate) copying: Event,
    /// What kernels count.
    pub(crate) counted: Counted,
}

impl<N: Kernels> Workspace<N> {
    /// Allocates it.
    pub(crate) fn new(context: &Arc<Context>, shape: &Shape, room: &Capacity) -> Result<Self, Fault> {
        let (compute, copy) = (Stream::new(context)?, Stream::new(context)?);
        let slot = || Slot::new(context, shape, room, &compute);
        let slots = [slot()?, slot()?];
        Ok(Self {
            slots,
            field: DeviceField::new(context, room.field_pixels, shape.with_smooth)?,
            lists: Lists::new(context, room)?,
            axes: DeviceAxes::new(context, room.coordinates)?,
            compute,
            copy,
        })
    }
}

impl Slot {
    fn new(context: &Arc<Context>, shape: &Shape, room: &Capacity, compute: &Stream) -> Result<Self, Fault> {
        let notes = Buffer::new(context, NOTES)?;
        notes.clear(0..NOTES, compute)?;
        Ok(Self {
            values: if shape.with_smooth { Some(Buffer::new(context, room.slot_pixels)?) } else { None },
            picture: if room.picture_bytes > 0 { Some(Buffer::new(context, room.picture_bytes)?) } else { None },
            notes,
            pinned: Pinned::new(context, room.delivered_bytes(shape.content) + 4 * NOTES)?,
            bytes: [0; 2],
            began: Event::new(context)?,
            iterated: Event::new(context)?,
            painted: Event::new(context)?,
            copying: Event::new(context)?,
            counted: Counted::Nothing,
        })
    }

    /// Queues the copies of the delivered rows: of the picture, of so many bytes, or of `pixels` of the field from the
    /// element `from` on.
    pub(crate) fn copy_out(
        &mut self,
        content: Content,
        (dwell, from): (&Buffer<u32>, usize),
        pixels: usize,
        picture_bytes: usize,
        stream: &Stream,
    ) -> Result<(), Fault> {
        self.bytes = match (content, &self.picture) {
            (Content::Picture, Some(picture)) => {
                picture.copy_to(0..picture_bytes, &mut self.pinned, 0, stream)?;
                [picture_bytes, 0]
            }
            _ => {
                dwell.copy_to(from..from + pixels, &mut self.pinned, 0, stream)?;
                match &self.values {
                    Some(values) if content == Content::SmoothValues => {
                        values.copy_to(0..pixels, &mut self.pinned, pixels * 4, stream)?;
                        [pixels * 4, pixels * 8]
                    }
                    _ => [pixels * 4, 0],
                }
            }
        };
        self.notes.copy_to(0..NOTES, &mut self.pinned, self.bytes[0] + self.bytes[1], stream)
    }

    /// Two words after the delivered rows, once they are copied.
    pub(crate) fn note(&self, word: usize) -> u64 {
        let at = self.bytes[0] + self.bytes[1] + 4 * word;
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.pinned.bytes()[at..at + 8]);
        u64::from_ne_bytes(bytes)
    }
}
