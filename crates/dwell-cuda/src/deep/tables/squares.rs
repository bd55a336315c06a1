//! The reference of z^2 + c with the blocks of a tier.

use super::writer::Device;
use crate::deep::layout::{self, DeepOrigin, DeepTiny, DeepView, WideBlock};
use crate::driver::{Buffer, ConstAddress, Fault};
use crate::pool::Reservation;
use dwell::DeepTable;
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::mantissa::Mantissa;
use dwell_kernels::deep::orbit::Setting;

/// What is loaded.
pub(super) struct Loaded {
    high: Buffer<f64>,
    low: Buffer<f64>,
    tiny: Buffer<DeepTiny>,
    origins: Buffer<DeepOrigin>,
    radii: Buffer<f64>,
    blocks: Buffer<f64>,
    higher: Buffer<f64>,
    from_zero: Buffer<u32>,
    wide_numbers: Buffer<u32>,
    wide: Buffer<WideBlock>,
    // Counts as free once the buffers are.
    _reservation: Reservation,
}

impl Loaded {
    pub(super) fn new<T: Mantissa>(
        setting: &Setting<'_>,
        table: &Table<T>,
        device: &mut Device<'_>,
    ) -> Result<Self, Fault> {
        let reference = setting.reference;
        let [high, low] = reference.pairs();
        let (count, doubles) = table.blocks();
        let values = if T::PARTS == 2 { 2 * low.len() } else { 0 };
        let (tiny, wide) = (reference.tiny.len(), table.wide_blocks().len());
        let higher = 8 * table.higher_lines().len();
        let bytes = 8 * (2 * high.len() + values + count * doubles + higher + table.radii().len())
            + size_of::<DeepTiny>() * tiny
            + size_of::<DeepOrigin>() * table.origins().len()
            + 4 * table.wide_numbers().len()
            + size_of::<WideBlock>() * wide;
        let reservation = device.memory.reserve(bytes as u64)?;
        let loaded = Self {
            high: device.buffer(2 * high.len())?,
            low: device.buffer(values)?,
            tiny: device.buffer(tiny)?,
            origins: device.buffer(table.origins().len())?,
            radii: device.buffer(table.radii().len())?,
            blocks: device.buffer(count * doubles)?,
            higher: device.buffer(higher)?,
            from_zero: device.buffer(table.steps_from_zero().len())?,
            wide_numbers: device.buffer(table.wide_numbers().len())?,
            wide: device.buffer(wide)?,
            _reservation: reservation,
        };
        device.copy(&loaded.high, bytemuck::cast_slice(high))?;
        if T::PARTS == 2 {
            device.copy(&loaded.low, bytemuck::cast_slice(low))?;
        }
        device.fill(&loaded.tiny, layout::tiny(reference))?;
        device.fill(&loaded.origins, layout::origins(table))?;
        device.copy(&loaded.radii, table.radii())?;
        let mut blocks = device.writer(&loaded.blocks);
        table.lines().try_for_each(|line| blocks.write(line))?;
        blocks.flush()?;
        let mut terms = device.writer(&loaded.higher);
        table.higher_lines().try_for_each(|line| terms.write(line))?;
        terms.flush()?;
        device.fill(&loaded.from_zero, layout::steps_from_zero(table))?;
        device.copy(&loaded.wide_numbers, table.wide_numbers())?;
        device.fill(&loaded.wide, layout::wide_blocks(table))?;
        Ok(loaded)
    }

    pub(super) fn view(&self, setting: &Setting<'_>, table: &DeepTable) -> DeepView<'_> {
        match table {
            DeepTable::InF64(table) => self.view_of(setting, table),
            DeepTable::InPairs(table) => self.view_of(setting, table),
        }
    }

    fn view_of<T: Mantissa>(&self, setting: &Setting<'_>, table: &Table<T>) -> DeepView<'_> {
        let has_wide = !table.wide_numbers().is_empty();
        let is_quartic = table.higher_lines().len() > 0;
        DeepView {
            high: self.high.address().read_only(),
            low: self.low.address().read_only(),
            tiny: self.tiny.address().read_only(),
            origins: self.origins.address().read_only(),
            radii: self.radii.address().read_only(),
            blocks: self.blocks.address().read_only(),
            higher: if is_quartic { self.higher.address().read_only() } else { ConstAddress::NULL },
            from_zero: self.from_zero.address().read_only(),
            wide_numbers: if has_wide { self.wide_numbers.address().read_only() } else { ConstAddress::NULL },
            wide: self.wide.address().read_only(),
            ..layout::view(table, setting)
        }
    }
}
