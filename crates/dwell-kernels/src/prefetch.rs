//! Hints that memory will be read soon.

/// Begins to load the cache line in which a value begins, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<V>(value: &V) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the instruction is part of every x86-64 processor. It changes nothing that a program can see, and does not fault at any address.
    #[expect(unsafe_code, reason = "the only way to a prefetch instruction")]
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
