//! Copies values to buffers of the device through pinned memory.

use crate::driver::{Buffer, Context, Fault, Pinned, Stream};
use crate::pool::SessionPool;
use bytemuck::Pod;
use std::sync::Arc;

/// Bytes of pinned memory through which values are copied.
pub(super) const STAGING_BYTES: usize = 8 << 20;

/// Where buffers are allocated, and how they are filled.
pub(super) struct Device<'a> {
    pub(super) context: &'a Arc<Context>,
    pub(super) memory: &'a SessionPool,
    pub(super) staging: &'a mut Pinned,
    pub(super) stream: &'a Stream,
}

/// Writes values to a buffer, one after the other.
pub(super) struct Writer<'a, T> {
    to: &'a Buffer<T>,
    staging: &'a mut Pinned,
    stream: &'a Stream,
    /// Values that are copied, and that wait in the pinned memory.
    done: usize,
    waiting: usize,
}

impl Device<'_> {
    pub(super) fn buffer<T>(&self, len: usize) -> Result<Buffer<T>, Fault> {
        Buffer::new(self.context, len)
    }

    /// Begins to write to a buffer.
    pub(super) fn writer<'b, T: Pod>(&'b mut self, to: &'b Buffer<T>) -> Writer<'b, T> {
        Writer { to, staging: self.staging, stream: self.stream, done: 0, waiting: 0 }
    }

    /// Copies values that are made one at a time.
    pub(super) fn fill<T: Pod>(&mut self, to: &Buffer<T>, values: impl Iterator<Item = T>) -> Result<(), Fault> {
        let mut writer = self.writer(to);
        values.into_iter().try_for_each(|value| writer.write(&[value]))?;
        writer.flush()
    }

    /// Copies values.
    pub(super) fn copy<T: Pod>(&mut self, to: &Buffer<T>, values: &[T]) -> Result<(), Fault> {
        let mut writer = self.writer(to);
        writer.write_all(values)?;
        writer.flush()
    }
}

impl<T: Pod> Writer<'_, T> {
    /// Writes values, which are fewer than the pinned memory has room for.
    pub(super) fn write(&mut self, values: &[T]) -> Result<(), Fault> {
        if (self.waiting + values.len()) * size_of::<T>() > self.staging.len() {
            self.flush()?;
        }
        self.staging.write(self.waiting * size_of::<T>(), values);
        self.waiting += values.len();
        Ok(())
    }

    fn write_all(&mut self, values: &[T]) -> Result<(), Fault> {
        values.chunks(STAGING_BYTES / size_of::<T>().max(1) / 2).try_for_each(|values| self.write(values))
    }

    /// Has what waits copied.
    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        if self.waiting > 0 {
            self.to.copy_part_in(self.done..self.done + self.waiting, self.staging, self.stream)?;
            self.staging.wait()?;
        }
        self.done += self.waiting;
        self.waiting = 0;
        Ok(())
    }
}
