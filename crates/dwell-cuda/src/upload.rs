//! Tables that the host computes and kernels read: pinned memory of the host, and device memory that it is copied to. A
//! copy waits for no other work than that of its stream.

use crate::driver::{Address, Buffer, Context, Fault, Pinned, Stream};
use bytemuck::Pod;
use dwell_kernels::Kernels;
use std::sync::Arc;

/// Each section begins at a multiple of so many bytes: the greatest alignment of what kernels read.
const ALIGNMENT: usize = 16;

/// Sections of values on the device, which are replaced together.
#[derive(Debug)]
pub(crate) struct Upload {
    pinned: Pinned,
    memory: Buffer<u8>,
    context: Arc<Context>,
}

/// Sections that are written one after the other.
pub(crate) struct Sections<'a> {
    pinned: &'a mut Pinned,
    end: usize,
}

impl Upload {
    /// Room for so many bytes.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, Fault> {
        let (pinned, memory) = (Pinned::new(context, bytes)?, Buffer::new(context, bytes)?);
        Ok(Self { pinned, memory, context: Arc::clone(context) })
    }

    /// Bytes of so many values in so many sections, at most.
    pub(crate) fn bytes_of<T>(values: usize, sections: usize) -> usize {
        values * size_of::<T>() + sections * ALIGNMENT
    }

    /// Replaces the sections by those that `write` writes, `bytes` at most, in a stream's order. Allocates only when there
    /// were never so many.
    pub(crate) fn fill(
        &mut self,
        bytes: usize,
        stream: &Stream,
        write: impl FnOnce(&mut Sections<'_>),
    ) -> Result<(), Fault> {
        self.pinned.wait()?;
        if bytes > self.pinned.len() {
            *self = Self::new(&self.context, bytes.next_power_of_two())?;
        }
        let mut sections = Sections { pinned: &mut self.pinned, end: 0 };
        write(&mut sections);
        let end = sections.end;
        self.memory.copy_in(&mut self.pinned, end, stream)
    }

    /// The address of the values of a section.
    pub(crate) fn values<T>(&self, at: usize, count: usize) -> Address<'_, T> {
        self.memory.values(at, count)
    }
}

impl Sections<'_> {
    /// Writes a section of numbers; returns where it begins.
    pub(crate) fn numbers<N: Kernels>(&mut self, values: &[N]) -> usize {
        let at = self.next(size_of_val(values));
        self.pinned.write_numbers(at, values);
        at
    }

    /// Writes a section of values; returns where it begins.
    pub(crate) fn values<T: Pod>(&mut self, values: &[T]) -> usize {
        let at = self.next(size_of_val(values));
        self.pinned.write(at, values);
        at
    }

    fn next(&mut self, bytes: usize) -> usize {
        let at = self.end.next_multiple_of(ALIGNMENT);
        self.end = at + bytes;
        at
    }
}
