//! The reference orbits of another formula, or of a Julia set, with the blocks of a tier.

use super::writer::Device;
use crate::deep::formula_layout::{self, DeepFormula, DeepTinyParts};
use crate::driver::{Buffer, ConstAddress, Fault};
use crate::pool::Reservation;
use dwell::DeepBlocks;
use dwell_kernels::deep::formulas::Setting;
use dwell_kernels::deep::formulas::blocks::Blocks;
use dwell_kernels::deep::mantissa::Mantissa;

/// What is loaded.
pub(super) struct Loaded {
    entries: Buffer<f64>,
    low: Buffer<f64>,
    errors: Buffer<i32>,
    tiny: Buffer<DeepTinyParts>,
    radii: Buffer<f64>,
    blocks: Buffer<f64>,
    of_c: Buffer<f64>,
    // Counts as free once the buffers are.
    _reservation: Reservation,
}

impl Loaded {
    pub(super) fn new<T: Mantissa>(
        setting: &Setting<'_>,
        blocks: &Blocks<T>,
        device: &mut Device<'_>,
    ) -> Result<Self, Fault> {
        let (orbits, doubles) = (setting.orbits, Blocks::<T>::doubles());
        let (len, tiny) = (orbits.len(), orbits.tiny_parts().len());
        let count: usize = blocks.lists().map(|list| list.radii.len()).sum();
        let of_low = if T::PARTS == 2 { 2 * len } else { 0 };
        let of_c = if blocks.has_terms_of_c() { doubles * count } else { 0 };
        let bytes =
            8 * (4 * len + of_low + count + doubles * count + of_c) + 4 * len + size_of::<DeepTinyParts>() * tiny;
        let reservation = device.memory.reserve(bytes as u64)?;
        let loaded = Self {
            entries: device.buffer(4 * len)?,
            low: device.buffer(of_low)?,
            errors: device.buffer(len)?,
            tiny: device.buffer(tiny)?,
            radii: device.buffer(count)?,
            blocks: device.buffer(doubles * count)?,
            of_c: device.buffer(of_c)?,
            _reservation: reservation,
        };
        let mut entries = device.writer(&loaded.entries);
        orbits.values().try_for_each(|value| entries.write(&value))?;
        entries.flush()?;
        if T::PARTS == 2 {
            device.copy(&loaded.low, bytemuck::cast_slice(orbits.low_parts()))?;
        }
        device.copy(&loaded.errors, orbits.error_exponents())?;
        device.fill(&loaded.tiny, formula_layout::tiny(orbits))?;
        device.fill(&loaded.radii, blocks.lists().flat_map(|list| list.radii).copied())?;
        let mut lines = device.writer(&loaded.blocks);
        blocks.lists().flat_map(|list| list.lines()).try_for_each(|line| lines.write(line))?;
        lines.flush()?;
        let mut terms = device.writer(&loaded.of_c);
        blocks.lists().flat_map(|list| list.terms_of_c()).try_for_each(|line| terms.write(line))?;
        terms.flush()?;
        Ok(loaded)
    }

    pub(super) fn view(&self, setting: &Setting<'_>, blocks: &DeepBlocks) -> DeepFormula<'_> {
        match blocks {
            DeepBlocks::InF64(blocks) => self.view_of(setting, blocks),
            DeepBlocks::InPairs(blocks) => self.view_of(setting, blocks),
        }
    }

    fn view_of<T: Mantissa>(&self, setting: &Setting<'_>, blocks: &Blocks<T>) -> DeepFormula<'_> {
        DeepFormula {
            entries: self.entries.address().read_only(),
            low: self.low.address().read_only(),
            errors: self.errors.address().read_only(),
            tiny: self.tiny.address().read_only(),
            radii: self.radii.address().read_only(),
            blocks: self.blocks.address().read_only(),
            of_c: if blocks.has_terms_of_c() { self.of_c.address().read_only() } else { ConstAddress::NULL },
            ..formula_layout::view(blocks, setting)
        }
    }
}
