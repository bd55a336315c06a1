//! Fingerprints of files: 128 bits of XXH3, by which damage and mistakes are found. They do not protect
//! against a file that is made to have the same fingerprint; that takes the right to write to the partial file, and so to
//! the output.
//!
//! A cryptographic hash would take three times as long, which shows in renders that write a gigabyte a second.

use std::fmt;
use twox_hash::XxHash3_128;

/// The fingerprint of some bytes. It is shown in hex, as `xxhsum -H2` prints it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint(u128);

impl Fingerprint {
    pub(crate) fn from_u128(value: u128) -> Self {
        Self(value)
    }

    pub(crate) fn to_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The state of a fingerprint.
#[derive(Clone)]
pub(crate) struct Fingerprinter {
    state: Box<XxHash3_128>,
    /// The number of bytes so far.
    length: u64,
}

impl Fingerprinter {
    pub(crate) fn new() -> Self {
        Self { state: Box::new(XxHash3_128::new()), length: 0 }
    }

    /// Adds bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.state.write(bytes);
        self.length += bytes.len() as u64;
    }

    /// The number of bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The fingerprint of the bytes so far.
    pub(crate) fn value(&self) -> Fingerprint {
        Fingerprint(self.state.finish_128())
    }
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprinter({} after {} bytes)", self.value(), self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_xxhsum() {
        let of = |bytes: &[u8]| {
            let mut state = Fingerprinter::new();
            bytes.chunks(7).for_each(|piece| state.update(piece));
            (state.value().to_string(), state.length())
        };
        // Of the reference implementation, for no bytes.
        assert_eq!(of(b""), ("99aa06d3014798d86001c324468d497f".to_owned(), 0));
        let long: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(of(&long).0, format!("{:032x}", XxHash3_128::oneshot(&long)));
    }
}
