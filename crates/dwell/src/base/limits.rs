//! Limits on the memory of a render, checked before every large allocation.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;

/// The most memory that a render may plan for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of coordinates and bands together.
    pub memory_bytes: u64,
}

impl Default for Limits {
    /// 4 GiB.
    fn default() -> Self {
        Self { memory_bytes: 4 << 30 }
    }
}

impl Limits {
    /// Checks that `bytes` for `what` (for the message) are within the limit. Earlier calls are not added up.
    ///
    /// # Errors
    /// When `bytes` exceeds the limit.
    pub fn reserve(&self, what: &str, bytes: u64) -> Result<(), InputError> {
        if bytes <= self.memory_bytes {
            return Ok(());
        }
        let problem =
            Problem::Memory { what: what.to_owned(), needed_bytes: bytes, allowed_bytes: Some(self.memory_bytes) };
        let allowed = format!("at most {} MiB here", self.memory_bytes.div_ceil(1 << 20));
        Err(InputError::new(problem).about(Parameter::Size).accepts(allowed))
    }
}

/// The most bytes per pixel of the rows in memory: 4 for the dwell, 8 for the smooth value, 3 for the colour channels.
pub(crate) const BYTES_PER_PIXEL: u64 = 4 + 8 + 3;

/// Resizes `buffer` to `len` elements, new ones equal to `filler`, and reports a failed allocation as an error.
///
/// # Errors
/// When the allocation fails: the limit was set higher than the memory of the system.
pub(crate) fn resize<T: Clone>(buffer: &mut Vec<T>, len: usize, filler: T, what: &str) -> Result<(), InputError> {
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| {
        let needed_bytes = len.saturating_mul(size_of::<T>()) as u64;
        let problem = Problem::Memory { what: what.to_owned(), needed_bytes, allowed_bytes: None };
        InputError::new(problem).about(Parameter::Size)
    })?;
    buffer.resize(len, filler);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_allocation_is_an_error_not_an_abort() {
        assert!(resize(&mut Vec::new(), usize::MAX / 16, 0_u64, "a test").is_err());
        let mut buffer = vec![1_u8; 3];
        resize(&mut buffer, 5, 7, "a test").unwrap();
        assert_eq!(buffer, [1, 1, 1, 7, 7]);
        resize(&mut buffer, 1, 7, "a test").unwrap();
        assert_eq!(buffer, [1]);
        assert!(Limits { memory_bytes: 10 }.reserve("a test", 11).is_err());
        assert!(Limits { memory_bytes: 10 }.reserve("a test", 10).is_ok());
    }
}
