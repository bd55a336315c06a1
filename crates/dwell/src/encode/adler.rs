//! Adler-32 checksums of consecutive pieces, combined without their bytes (RFC 1950).

/// The largest prime below 2^16.
const MODULUS: u64 = 65521;

/// The Adler-32 of some bytes and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adler {
    pub(crate) value: u32,
    pub(crate) length: u64,
}

impl Default for Adler {
    /// The checksum of no bytes.
    fn default() -> Self {
        Self { value: 1, length: 0 }
    }
}

impl Adler {
    /// The checksum of these bytes followed by those of `next`: the low half is 1 + the sum of the bytes, the high half
    /// the sum of the low halves after each byte.
    pub(crate) fn then(self, next: Self) -> Self {
        let halves = |value: u32| (u64::from(value & 0xffff), u64::from(value >> 16));
        let ((a, b), (next_a, next_b)) = (halves(self.value), halves(next.value));
        let sum = (a + next_a + MODULUS - 1) % MODULUS;
        let sums = (b + next_b + next.length % MODULUS * (a + MODULUS - 1)) % MODULUS;
        #[expect(clippy::cast_possible_truncation, reason = "both halves are under 2^16")]
        let value = (sums << 16 | sum) as u32;
        Self { value, length: self.length + next.length }
    }
}
