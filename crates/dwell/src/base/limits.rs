//! Limits on the memory of a render, checked before every large allocation.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::allowed_bytes;
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

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
        let allowed = format!("at most {} here", allowed_bytes(self.memory_bytes));
        Err(InputError::new(problem).about(Parameter::Size).accepts(allowed))
    }
}

/// The most bytes per pixel of the rows in memory: 4 for the dwell, 8 for the smooth value, 3 for the colour channels.
pub(crate) const BYTES_PER_PIXEL: u64 = 4 + 8 + 3;

/// The error of an allocation of `bytes` for `what` that failed: the limit was set higher than the memory of the system.
pub(crate) fn exhausted(bytes: usize, what: &str) -> InputError {
    let problem = Problem::Memory { what: what.to_owned(), needed_bytes: bytes as u64, allowed_bytes: None };
    InputError::new(problem).about(Parameter::Size)
}

/// Makes space in `buffer` for `more` further elements. The space grows by doubling, as that of [`Vec::push`] does.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn reserve<T>(buffer: &mut Vec<T>, more: usize, what: &str) -> Result<(), InputError> {
    let failed = buffer.try_reserve(more).is_err();
    let bytes = buffer.len().saturating_add(more).saturating_mul(size_of::<T>());
    if failed { Err(exhausted(bytes, what)) } else { Ok(()) }
}

/// An empty vector with space for exactly `len` elements.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn reserved<T>(len: usize, what: &str) -> Result<Vec<T>, InputError> {
    let mut buffer = Vec::new();
    match buffer.try_reserve_exact(len) {
        Ok(()) => Ok(buffer),
        Err(_) => Err(exhausted(len.saturating_mul(size_of::<T>()), what)),
    }
}

/// `len` elements, each equal to `filler`.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn filled<T: Clone>(len: usize, filler: T, what: &str) -> Result<Vec<T>, InputError> {
    let mut buffer = Vec::new();
    resize(&mut buffer, len, filler, what)?;
    Ok(buffer)
}

/// Appends an element.
///
/// # Errors
/// When an allocation fails.
#[inline]
pub(crate) fn push<T>(buffer: &mut Vec<T>, item: T, what: &str) -> Result<(), InputError> {
    if buffer.len() == buffer.capacity() {
        reserve(buffer, 1, what)?;
    }
    buffer.push(item);
    Ok(())
}

/// Appends the items of an iterator.
///
/// # Errors
/// When an allocation fails.
pub(crate) fn extend<T>(buffer: &mut Vec<T>, items: impl IntoIterator<Item = T>, what: &str) -> Result<(), InputError> {
    let items = items.into_iter();
    reserve(buffer, items.size_hint().0, what)?;
    for item in items {
        push(buffer, item, what)?;
    }
    Ok(())
}

/// The items of an iterator.
///
/// # Errors
/// When an allocation fails.
pub(crate) fn collected<T>(items: impl IntoIterator<Item = T>, what: &str) -> Result<Vec<T>, InputError> {
    let items = items.into_iter();
    let mut buffer = reserved(items.size_hint().0, what)?;
    extend(&mut buffer, items, what)?;
    Ok(buffer)
}

/// A copy of a slice.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn copied<T: Copy>(slice: &[T], what: &str) -> Result<Vec<T>, InputError> {
    let mut buffer = reserved(slice.len(), what)?;
    buffer.extend_from_slice(slice);
    Ok(buffer)
}

/// Resizes `buffer` to `len` elements, new ones equal to `filler`, and reports a failed allocation as an error.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn resize<T: Clone>(buffer: &mut Vec<T>, len: usize, filler: T, what: &str) -> Result<(), InputError> {
    let more = len.saturating_sub(buffer.len());
    if buffer.try_reserve_exact(more).is_err() {
        return Err(exhausted(len.saturating_mul(size_of::<T>()), what));
    }
    buffer.resize(len, filler);
    Ok(())
}

/// Resizes `buffer` to `len` elements, new ones 0. An empty buffer gets memory that the system zeroes when it is first
/// accessed, by the thread that accesses it: one thread alone takes 14 ms to access the 25 MB of a picture of 1920 x 1080.
///
/// # Errors
/// When the allocation fails.
pub(crate) fn resize_zeroed<T: Zeroable + Clone>(
    buffer: &mut Vec<T>,
    len: usize,
    what: &str,
) -> Result<(), InputError> {
    if buffer.is_empty() && buffer.capacity() < len {
        // Freed first, so that there are not both.
        *buffer = Vec::new();
        *buffer = try_zeroed_vec(len).map_err(|()| exhausted(len.saturating_mul(size_of::<T>()), what))?;
        return Ok(());
    }
    resize(buffer, len, T::zeroed(), what)
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
        assert!(reserved::<u64>(usize::MAX / 16, "a test").is_err());
        assert!(reserve(&mut vec![1_u64], usize::MAX / 16, "a test").is_err());
        assert!(filled(usize::MAX / 16, 0_u64, "a test").is_err());
        assert_eq!(copied(&[1, 2], "a test").unwrap(), [1, 2]);
        assert_eq!(collected((0..9).filter(|n| n % 4 == 0), "a test").unwrap(), [0, 4, 8]);
        assert!(Limits { memory_bytes: 10 }.reserve("a test", 11).is_err());
        assert!(Limits { memory_bytes: 10 }.reserve("a test", 10).is_ok());
    }
}
