//! Limits on what a render may take, checked before anything large is allocated.

use crate::error::InputError;

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
