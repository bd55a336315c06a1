//! References and blocks on the device: copied when an attempt first needs them, and kept for as long as the host has them.

use super::layout::{self, DeepOrigin, DeepTiny, DeepView, WideBlock};
use crate::driver::{Buffer, ConstAddress, Context, Fault, Pinned, Stream};
use crate::pool::{Reservation, SessionPool};
use bytemuck::Pod;
use dwell::{DeepAttempt, DeepTable};
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::mantissa::{Dd, Mantissa};
use std::sync::{Arc, Weak};

/// Bytes of pinned memory through which values are copied.
const STAGING_BYTES: usize = 8 << 20;

/// Which blocks are loaded.
enum Key {
    InF64(Weak<Table<f64>>),
    InPairs(Weak<Table<Dd>>),
}

impl Key {
    fn of(table: &DeepTable) -> Self {
        match table {
            DeepTable::InF64(table) => Self::InF64(Arc::downgrade(table)),
            DeepTable::InPairs(table) => Self::InPairs(Arc::downgrade(table)),
        }
    }

    /// The weak reference keeps the address from being used again.
    fn is_of(&self, table: &DeepTable) -> bool {
        match (self, table) {
            (Self::InF64(own), DeepTable::InF64(table)) => std::ptr::eq(own.as_ptr(), Arc::as_ptr(table)),
            (Self::InPairs(own), DeepTable::InPairs(table)) => std::ptr::eq(own.as_ptr(), Arc::as_ptr(table)),
            _ => false,
        }
    }

    fn is_dropped(&self) -> bool {
        match self {
            Self::InF64(own) => own.strong_count() == 0,
            Self::InPairs(own) => own.strong_count() == 0,
        }
    }
}

/// A reference with the blocks of a tier.
pub(super) struct Loaded {
    key: Key,
    high: Buffer<f64>,
    low: Buffer<f64>,
    tiny: Buffer<DeepTiny>,
    origins: Buffer<DeepOrigin>,
    radii: Buffer<f64>,
    blocks: Buffer<f64>,
    from_zero: Buffer<u32>,
    wide_numbers: Buffer<u32>,
    wide: Buffer<WideBlock>,
    // Counts as free once the buffers are.
    _reservation: Reservation,
}

/// What is loaded, the last used one at the end.
pub(super) struct Tables {
    loaded: Vec<Loaded>,
    staging: Pinned,
    context: Arc<Context>,
}

/// Writes values to a buffer, one after the other.
struct Writer<'a, T> {
    to: &'a Buffer<T>,
    staging: &'a mut Pinned,
    stream: &'a Stream,
    /// Values that are copied, and that wait in the pinned memory.
    done: usize,
    waiting: usize,
}

impl<'a, T: Pod> Writer<'a, T> {
    fn new(to: &'a Buffer<T>, staging: &'a mut Pinned, stream: &'a Stream) -> Self {
        Self { to, staging, stream, done: 0, waiting: 0 }
    }

    /// Writes values, which are fewer than the pinned memory has room for.
    fn write(&mut self, values: &[T]) -> Result<(), Fault> {
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

    fn flush(&mut self) -> Result<(), Fault> {
        if self.waiting > 0 {
            self.to.copy_part_in(self.done..self.done + self.waiting, self.staging, self.stream)?;
            self.staging.wait()?;
        }
        self.done += self.waiting;
        self.waiting = 0;
        Ok(())
    }
}

/// Copies values that are made one at a time.
fn fill<T: Pod>(
    to: &Buffer<T>,
    values: impl Iterator<Item = T>,
    staging: &mut Pinned,
    stream: &Stream,
) -> Result<(), Fault> {
    let mut writer = Writer::new(to, staging, stream);
    values.into_iter().try_for_each(|value| writer.write(&[value]))?;
    writer.flush()
}

/// Copies values.
fn copy<T: Pod>(to: &Buffer<T>, values: &[T], staging: &mut Pinned, stream: &Stream) -> Result<(), Fault> {
    let mut writer = Writer::new(to, staging, stream);
    writer.write_all(values)?;
    writer.flush()
}

impl Tables {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let staging = Pinned::new(context, STAGING_BYTES)?;
        Ok(Self { loaded: Vec::new(), staging, context: Arc::clone(context) })
    }

    /// What kernels are given for an attempt, whose reference and blocks are copied unless they are there.
    pub(super) fn view(
        &mut self,
        attempt: &DeepAttempt<'_>,
        memory: &SessionPool,
        stream: &Stream,
    ) -> Result<DeepView<'_>, Fault> {
        self.loaded.retain(|loaded| !loaded.key.is_dropped());
        match self.loaded.iter().position(|loaded| loaded.key.is_of(&attempt.table)) {
            Some(place) => {
                let loaded = self.loaded.remove(place);
                self.loaded.push(loaded);
            }
            None => {
                let loaded = match &attempt.table {
                    DeepTable::InF64(table) => self.load(table, attempt, memory, stream),
                    DeepTable::InPairs(table) => self.load(table, attempt, memory, stream),
                }?;
                self.loaded.push(loaded);
            }
        }
        let Some(loaded) = self.loaded.last() else { return Err(Fault::Memory) };
        Ok(match &attempt.table {
            DeepTable::InF64(table) => loaded.view(table, attempt),
            DeepTable::InPairs(table) => loaded.view(table, attempt),
        })
    }

    /// Copies a table; frees those that were used longest ago until there is memory for it.
    fn load<T: Mantissa>(
        &mut self,
        table: &Table<T>,
        attempt: &DeepAttempt<'_>,
        memory: &SessionPool,
        stream: &Stream,
    ) -> Result<Loaded, Fault> {
        loop {
            match self.try_load(table, attempt, memory, stream) {
                Err(Fault::Memory) if !self.loaded.is_empty() => drop(self.loaded.remove(0)),
                Err(Fault::Memory) if memory.clear() => {}
                loaded => return loaded,
            }
        }
    }

    fn try_load<T: Mantissa>(
        &mut self,
        table: &Table<T>,
        attempt: &DeepAttempt<'_>,
        memory: &SessionPool,
        stream: &Stream,
    ) -> Result<Loaded, Fault> {
        let reference = attempt.setting.reference;
        let [high, low] = reference.pairs();
        let (count, doubles) = table.blocks();
        let values = if T::PARTS == 2 { 2 * low.len() } else { 0 };
        let (tiny, wide) = (reference.tiny.len(), table.wide_blocks().len());
        let bytes = 8 * (2 * high.len() + values + count * doubles + table.radii().len())
            + size_of::<DeepTiny>() * tiny
            + size_of::<DeepOrigin>() * table.origins().len()
            + 4 * table.wide_numbers().len()
            + size_of::<WideBlock>() * wide;
        let reservation = memory.reserve(bytes as u64)?;
        let context = &self.context;
        let loaded = Loaded {
            key: Key::of(&attempt.table),
            high: Buffer::new(context, 2 * high.len())?,
            low: Buffer::new(context, values)?,
            tiny: Buffer::new(context, tiny)?,
            origins: Buffer::new(context, table.origins().len())?,
            radii: Buffer::new(context, table.radii().len())?,
            blocks: Buffer::new(context, count * doubles)?,
            from_zero: Buffer::new(context, table.steps_from_zero().len())?,
            wide_numbers: Buffer::new(context, table.wide_numbers().len())?,
            wide: Buffer::new(context, wide)?,
            _reservation: reservation,
        };
        let staging = &mut self.staging;
        copy(&loaded.high, bytemuck::cast_slice(high), staging, stream)?;
        if T::PARTS == 2 {
            copy(&loaded.low, bytemuck::cast_slice(low), staging, stream)?;
        }
        fill(&loaded.tiny, layout::tiny(reference), staging, stream)?;
        fill(&loaded.origins, layout::origins(table), staging, stream)?;
        copy(&loaded.radii, table.radii(), staging, stream)?;
        let mut blocks = Writer::new(&loaded.blocks, staging, stream);
        table.lines().try_for_each(|line| blocks.write(line))?;
        blocks.flush()?;
        fill(&loaded.from_zero, layout::steps_from_zero(table), staging, stream)?;
        copy(&loaded.wide_numbers, table.wide_numbers(), staging, stream)?;
        fill(&loaded.wide, layout::wide_blocks(table), staging, stream)?;
        Ok(loaded)
    }
}

impl Loaded {
    fn view<T: Mantissa>(&self, table: &Table<T>, attempt: &DeepAttempt<'_>) -> DeepView<'_> {
        let has_wide = !table.wide_numbers().is_empty();
        DeepView {
            high: self.high.address().read_only(),
            low: self.low.address().read_only(),
            tiny: self.tiny.address().read_only(),
            origins: self.origins.address().read_only(),
            radii: self.radii.address().read_only(),
            blocks: self.blocks.address().read_only(),
            from_zero: self.from_zero.address().read_only(),
            wide_numbers: if has_wide { self.wide_numbers.address().read_only() } else { ConstAddress::NULL },
            wide: self.wide.address().read_only(),
            ..layout::view(table, &attempt.setting)
        }
    }
}
