//! Space for encoded bytes: where the system has not enough memory, encoding fails instead of ending the program.

use crate::base::error::{Error, InputError};
use crate::base::limits::reserve;
use std::io;
#[cfg(feature = "png")]
use std::io::Write;
use std::path::PathBuf;

/// The name of encoded bytes, for messages.
pub(super) const WHAT: &str = "the encoded rows";

/// A failed allocation as an error of writing; [`error_of_writing`] is the inverse.
pub(crate) fn out_of_memory(error: InputError) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, error)
}

/// Makes space for `more` further bytes.
///
/// # Errors
/// When the allocation fails.
pub(super) fn make_space(out: &mut Vec<u8>, more: usize) -> io::Result<()> {
    reserve(out, more, WHAT).map_err(out_of_memory)
}

/// The error of an encoder or an output: an [`Error::Input`] if an allocation failed, otherwise an [`Error::Write`] of
/// `path`.
pub(crate) fn error_of_writing(path: PathBuf, source: io::Error) -> Error {
    match source.downcast::<InputError>() {
        Ok(error) => error.into(),
        Err(source) => Error::Write { path, source },
    }
}

/// A vector to write into.
#[cfg(feature = "png")]
pub(super) struct Growing(pub(super) Vec<u8>);

#[cfg(feature = "png")]
impl Write for Growing {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.0.capacity() - self.0.len() < bytes.len() {
            make_space(&mut self.0, bytes.len())?;
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_allocation_is_an_error_about_memory() {
        let source = make_space(&mut Vec::new(), usize::MAX / 2).unwrap_err();
        assert!(
            matches!(error_of_writing("a".into(), source), Error::Input(error) if error.to_string().contains(WHAT))
        );
        let error = error_of_writing("a".into(), io::Error::other("full"));
        assert!(matches!(error, Error::Write { path, .. } if path.as_os_str() == "a"));
    }
}
