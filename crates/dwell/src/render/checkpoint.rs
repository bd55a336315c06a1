//! Checkpoints: states of a render that are consistent with the bytes in its partial files, from which it can continue.

use crate::encode::Adler;
use crate::render::record::{Reader, Record};
use crate::render::tally::Tally;
use crate::store::{Fingerprint, Fingerprinter};

/// The most checkpoints of a journal, of which each may have 66 kB.
const MOST: usize = 16;

/// A state of a render at the end of a band: everything before `row` is in the partial files.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoint {
    /// Rows of samples before this one are in the files, or counted.
    pub(crate) row: u32,
    /// For each output, its first bytes, which encode these rows.
    pub(crate) files: Vec<FilePrefix>,
    /// Sums over these rows.
    pub(crate) tally: Tally,
}

/// The first bytes of a partial file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FilePrefix {
    pub(crate) length: u64,
    pub(crate) fingerprint: Fingerprint,
    /// The checksum of the encoded rows among them.
    pub(crate) sum: Adler,
}

impl FilePrefix {
    /// Whether bytes with this state of the fingerprint are the prefix.
    pub(crate) fn is_that_of(&self, state: &Fingerprinter) -> bool {
        state.length() == self.length && state.value() == self.fingerprint
    }
}

impl Checkpoint {
    /// Whether the files have no bytes yet.
    fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.length == 0)
    }

    fn write(&self, record: &mut Record) {
        record.u32(self.row);
        record.u32(self.files.len() as u32);
        for file in &self.files {
            record.u64(file.length);
            record.u128(file.fingerprint.to_u128());
            record.u32(file.sum.value);
            record.u64(file.sum.length);
        }
        self.tally.write(record);
    }

    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let row = reader.u32()?;
        let files = (0..reader.u32()?).map(|_| {
            let (length, fingerprint) = (reader.u64()?, Fingerprint::from_u128(reader.u128()?));
            Some(FilePrefix { length, fingerprint, sum: Adler { value: reader.u32()?, length: reader.u64()? } })
        });
        let files = files.collect::<Option<_>>()?;
        Some(Self { row, files, tally: Tally::read(reader)? })
    }
}

/// The checkpoints of a render in their order. Their number stays small: they are about evenly spaced, so that a damaged byte
/// costs an eighth of the rows before the last checkpoint, and all rows after the byte.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoints(Vec<Checkpoint>);

impl Checkpoints {
    /// Adds the latest checkpoint. It replaces those without bytes in the files, and one with the same bytes.
    pub(crate) fn push(&mut self, checkpoint: Checkpoint) {
        self.0.retain(|other| !other.is_empty() && other.files != checkpoint.files);
        self.0.push(checkpoint);
        if self.0.len() > MOST {
            // Without this one, the gap between its neighbours is the smallest.
            let row = |number: usize| number.checked_sub(1).map_or(0, |before| self.0[before].row);
            if let Some(least) = (0..MOST).min_by_key(|number| row(number + 2) - row(*number)) {
                self.0.remove(least);
            }
        }
    }

    /// Forgets the checkpoints after the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.0.truncate(count);
    }

    pub(crate) fn last(&self) -> Option<&Checkpoint> {
        self.0.last()
    }

    pub(crate) fn all(&self) -> &[Checkpoint] {
        &self.0
    }

    /// Upper bound of the bytes that [`Self::write`] appends.
    pub(super) fn record_bytes(&self) -> usize {
        const NUMBERS: usize = 1 << 10;
        self.0
            .iter()
            .map(|checkpoint| {
                NUMBERS + size_of::<FilePrefix>() * checkpoint.files.len() + checkpoint.tally.record_bytes()
            })
            .sum()
    }

    pub(super) fn write(&self, record: &mut Record) {
        record.u32(self.0.len() as u32);
        self.0.iter().for_each(|checkpoint| checkpoint.write(record));
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let checkpoints = (0..reader.u32()?).map(|_| Checkpoint::read(reader));
        checkpoints.collect::<Option<_>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(length: u64) -> Checkpoint {
        let fingerprint = Fingerprint::from_u128(length.into());
        let files = vec![FilePrefix { length, fingerprint, sum: Adler::default() }];
        Checkpoint { row: length as u32, files, ..Checkpoint::default() }
    }

    #[test]
    fn checkpoints_are_few_and_old_ones_are_far_apart() {
        let mut checkpoints = Checkpoints::default();
        for length in 0..10_000 {
            checkpoints.push(at(length));
            checkpoints.push(at(length));
            let lengths: Vec<u64> = checkpoints.all().iter().map(|c| c.files[0].length).collect();
            assert!(lengths.len() <= MOST && lengths.is_sorted() && *lengths.last().unwrap() == length);
            assert!(length == 0 || lengths[0] > 0);
            let mut gaps = lengths.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.all(|gap| gap <= 1 + length / 7), "{lengths:?}");
            assert!(lengths[0] <= 1 + length / 7, "{lengths:?}");
        }
    }
}
