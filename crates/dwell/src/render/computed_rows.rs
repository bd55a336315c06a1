//! Rows that are computed but not yet encoded, as a journal stores them.

use crate::base::error::InputError;
use crate::field::channels::Channel;
use crate::field::{Field, FieldRows};
use crate::render::record::{Reader, Record};

/// Computed rows as bytes: those of the dwells, then those of each channel.
#[derive(Debug, Default)]
pub(crate) struct ComputedRows {
    pub(super) rows: u32,
    pub(super) bytes: [Vec<u8>; 1 + Channel::COUNT],
}

impl ComputedRows {
    /// A copy of some rows.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn of(rows: FieldRows<'_>) -> Result<Self, InputError> {
        let count = rows.dwell().len() / rows.width().max(1) as usize;
        Ok(Self { rows: count as u32, bytes: rows.channels().to_bytes()? })
    }

    /// The bytes of the rows, which follow the record of [`Self::write`] in a journal.
    pub(super) fn pieces(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Copies the rows into a field from `row` on. Returns false if they do not fit.
    pub(crate) fn restore(&self, field: &mut Field, row: u32) -> bool {
        let Some(end) = row.checked_add(self.rows).filter(|end| *end <= field.rows().end) else { return false };
        field.rows_mut(row..end).channels_mut().copy_from_bytes(&self.bytes)
    }

    /// Writes the number of rows and the lengths of their bytes.
    pub(super) fn write(&self, record: &mut Record) {
        record.u32(self.rows);
        record.u32(self.pieces().len() as u32);
        for piece in self.pieces() {
            record.u64(piece.len() as u64);
        }
    }

    /// The inverse of [`Self::write`] followed by the bytes.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let rows = reader.u32()?;
        if reader.u32()? as usize != 1 + Channel::COUNT {
            return None;
        }
        let mut lengths = [0; 1 + Channel::COUNT];
        for length in &mut lengths {
            *length = reader.u64()?;
        }
        let mut computed = Self { rows, ..Self::default() };
        for (bytes, length) in computed.bytes.iter_mut().zip(lengths) {
            *bytes = reader.take_bytes(length)?.to_vec();
        }
        Some(computed)
    }
}
