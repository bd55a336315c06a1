//! Limits on what a render may take, checked before anything large is allocated.

use crate::base::error::InputError;

/// How much memory a render may plan for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes for coordinates and bands together.
    pub memory_bytes: u64,
}

impl Default for Limits {
    /// 4 GiB.
    fn default() -> Self {
        Self { memory_bytes: 4 << 30 }
    }
}

impl Limits {
    /// Checks that `bytes` for `what` may be taken.
    ///
    /// # Errors
    /// When they are more than the limit.
    pub fn reserve(&self, what: &str, bytes: u64) -> Result<(), InputError> {
        if bytes <= self.memory_bytes {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        Err(InputError::new("size", format!("{what} would take {} MiB of memory", mib(bytes)))
            .accepted(format!("at most {} MiB here", mib(self.memory_bytes)))
            .hint("draw fewer pixels"))
    }
}

/// Bytes that a pixel of the rows at hand takes at most: dwell, smooth value, three channels.
pub(crate) const BYTES_PER_PIXEL: u64 = 4 + 8 + 3;

/// Makes `buffer` hold `len` elements, the new ones `filler`, if the system has the memory.
///
/// # Errors
/// When it has not: the limit was set higher than what can be had.
pub(crate) fn resize<T: Clone>(buffer: &mut Vec<T>, len: usize, filler: T, what: &str) -> Result<(), InputError> {
    let more = len.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| {
        let mib = (len.saturating_mul(size_of::<T>()) as u64).div_ceil(1 << 20);
        InputError::new("size", format!("the system has no {mib} MiB of memory for {what}")).hint("draw fewer pixels")
    })?;
    buffer.resize(len, filler);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_there_is_is_an_error_not_an_abort() {
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
