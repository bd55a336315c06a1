//! Histogram equalisation: the share of all samples with a smaller value.
//!
//! Octave k contains the values from 2^k up to 2^(k + 1). It is divided into 2^16 bins of equal width, at most 2^-16 of
//! the values in them: so narrow that neighbouring pixels of a deep view, whose dwells are nearly equal, still differ.
//! Only the number of values in each bin is stored; within a bin they are taken as evenly distributed. Counts are whole
//! numbers, so they do not depend on the order of the samples or on the threads. Memory is half a mebibyte for each
//! octave with values, and as much again for the sums.

use crate::base::error::InputError;
use crate::base::limits::{collected, filled, reserve};

/// The number of bits of an f64 below its exponent.
const SIGNIFICAND_BITS: u32 = 52;
/// The upper bits of the significand are the number of the bin within the octave. This is how many of them there are.
const BIN_BITS: u32 = 16;
/// The number of bits below those: the place of the value within its bin.
const REST_BITS: u32 = SIGNIFICAND_BITS - BIN_BITS;
/// The number of bins of an octave.
const BINS: usize = 1 << BIN_BITS;
/// Octaves are numbered below this: an f64 has 11 bits of exponent.
const MAX_OCTAVES: usize = 1 << 11;
/// The biased exponent of 1.
const EXPONENT_OF_ONE: u64 = 1023;
/// Bytes of the number of a bin and its count in [`Ranks::to_bytes`].
const BIN_BYTES: usize = size_of::<u16>() + size_of::<u64>();

/// The name of the counts, for messages.
const WHAT: &str = "the counts for the colours";

/// Counts of values of at least 1, by bin. After [`Self::finish`] also the number of values below each bin.
#[derive(Debug, Default)]
pub(super) struct Ranks {
    /// By octave: the counts of its bins, `None` until a value is counted in it.
    octaves: Vec<Option<Vec<u64>>>,
    /// By octave: the number of values below the octave, and by bin, the number of values of the octave that are below
    /// the bin. Empty until [`Self::finish`].
    below: Vec<(u64, Vec<u64>)>,
    /// The number of values. 0 until [`Self::finish`].
    total: u64,
}

/// The octave of a value of at least 1 and the bin in it, from the bits of the f64.
#[inline]
fn octave_and_bin(value: f64) -> (usize, usize) {
    let bits = value.to_bits();
    let octave = (bits >> SIGNIFICAND_BITS).saturating_sub(EXPONENT_OF_ONE) as usize;
    (octave, (bits >> REST_BITS) as usize & (BINS - 1))
}

impl Ranks {
    /// Counts a value, which is at least 1 and finite.
    ///
    /// # Errors
    /// When the system has not enough memory.
    #[inline]
    pub(super) fn count(&mut self, value: f64) -> Result<(), InputError> {
        let (octave, bin) = octave_and_bin(value);
        if let Some(Some(bins)) = self.octaves.get_mut(octave) {
            bins[bin] += 1;
            return Ok(());
        }
        self.bins(octave)?[bin] += 1;
        Ok(())
    }

    /// The bins of an octave, all 0 if no value was counted in it.
    fn bins(&mut self, octave: usize) -> Result<&mut Vec<u64>, InputError> {
        if octave >= self.octaves.len() {
            self.octaves.resize_with(octave + 1, || None);
        }
        let bins = &mut self.octaves[octave];
        match bins {
            Some(bins) => Ok(bins),
            None => Ok(bins.insert(filled(BINS, 0, WHAT)?)),
        }
    }

    /// Adds the counts of `other`.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn add(&mut self, other: &Self) -> Result<(), InputError> {
        for (octave, other) in other.octaves.iter().enumerate() {
            let Some(other) = other else { continue };
            for (own, other) in self.bins(octave)?.iter_mut().zip(other) {
                *own += other;
            }
        }
        Ok(())
    }

    /// The counts as bytes: for each octave with values its number and the number of its bins with values, 4 bytes
    /// each, and for each of these bins its number in 2 bytes and its count in 8, all little-endian.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        for (octave, bins) in (0_u32..).zip(&self.octaves) {
            let Some(bins) = bins else { continue };
            let filled = bins.iter().filter(|count| **count > 0).count() as u32;
            reserve(&mut bytes, 2 * size_of::<u32>() + filled as usize * BIN_BYTES, WHAT)?;
            bytes.extend_from_slice(&octave.to_le_bytes());
            bytes.extend_from_slice(&filled.to_le_bytes());
            for (bin, count) in (0..=u16::MAX).zip(bins).filter(|(_, count)| **count > 0) {
                bytes.extend_from_slice(&bin.to_le_bytes());
                bytes.extend_from_slice(&count.to_le_bytes());
            }
        }
        Ok(bytes)
    }

    /// The counts from the bytes of [`Self::to_bytes`]; `None` if the bytes do not have that format or the system has not
    /// enough memory.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut ranks = Self::default();
        while let Some((octave, rest)) = bytes.split_first_chunk() {
            let octave = usize::try_from(u32::from_le_bytes(*octave)).ok().filter(|octave| *octave < MAX_OCTAVES)?;
            let (filled, rest) = rest.split_first_chunk()?;
            let (filled, rest) =
                rest.split_at_checked(usize::try_from(u32::from_le_bytes(*filled)).ok()?.checked_mul(BIN_BYTES)?)?;
            let bins = ranks.bins(octave).ok()?;
            for [low, high, count @ ..] in filled.as_chunks::<BIN_BYTES>().0 {
                bins[usize::from(u16::from_le_bytes([*low, *high]))] = u64::from_le_bytes(*count);
            }
            bytes = rest;
        }
        bytes.is_empty().then_some(ranks)
    }

    /// Computes the sums that [`Self::rank`] needs. Must be called once, after all values are counted.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(super) fn finish(&mut self) -> Result<(), InputError> {
        let mut below = 0;
        for bins in &self.octaves {
            let first = below;
            let sums = bins.iter().flatten().map(|count| {
                let sum = below - first;
                below += count;
                sum
            });
            let sums = collected(sums, WHAT)?;
            self.below.push((first, sums));
        }
        self.total = below;
        Ok(())
    }

    /// The share of counted values that are smaller than `value`, 0 to 1, interpolated within a bin. 1 if no values are
    /// counted. Needs [`Self::finish`].
    #[inline]
    pub(super) fn rank(&self, value: f64) -> f64 {
        let (octave, bin) = octave_and_bin(value);
        // Beyond the last octave with values all are smaller. An octave without values has no sums.
        let Some((first, sums)) = self.below.get(octave) else { return 1.0 };
        let Some(sum) = sums.get(bin) else { return *first as f64 / self.total.max(1) as f64 };
        let count = self.octaves[octave].as_ref().map_or(0, |bins| bins[bin]);
        let within = (value.to_bits() & ((1 << REST_BITS) - 1)) as f64 / (1_u64 << REST_BITS) as f64;
        ((first + sum) as f64 + within * count as f64) / self.total.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_shares_and_increase() {
        let values: Vec<f64> = (0..10_000).map(|i| 1.0 + f64::from(i * i % 7919) * 0.37).collect();
        let mut ranks = Ranks::default();
        let (mut even, mut odd) = (Ranks::default(), Ranks::default());
        for (i, value) in values.iter().enumerate() {
            ranks.count(*value).unwrap();
            if i % 2 == 0 { &mut even } else { &mut odd }.count(*value).unwrap();
        }
        odd.add(&even).unwrap();
        ranks.finish().unwrap();
        odd.finish().unwrap();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let mut last = 0.0;
        for value in &sorted {
            let expected = sorted.partition_point(|v| v < value) as f64 / sorted.len() as f64;
            let rank = ranks.rank(*value);
            assert!((rank - expected).abs() < 0.002 && rank >= last, "{value}: {rank} {expected}");
            assert_eq!(rank.to_bits(), odd.rank(*value).to_bits());
            last = rank;
        }
        assert_eq!(ranks.rank(1e300), 1.0);
        assert_eq!(ranks.rank(1.0), 0.0);
    }

    #[test]
    fn close_values_have_different_ranks() {
        let mut ranks = Ranks::default();
        for i in 0..1000 {
            ranks.count(1e6 + f64::from(i)).unwrap();
        }
        ranks.finish().unwrap();
        let share = |i: i32| ranks.rank(1e6 + f64::from(i));
        assert!(share(0) < 0.02 && (share(500) - 0.5).abs() < 0.02 && share(999) > 0.98);
        assert!((1..1000).all(|i| share(i) > share(i - 1)));
        // No value was counted, or none as small.
        let mut none = Ranks::default();
        none.finish().unwrap();
        assert_eq!(none.rank(5.0), 1.0);
        assert_eq!(ranks.rank(2.0), 0.0);
    }
}
