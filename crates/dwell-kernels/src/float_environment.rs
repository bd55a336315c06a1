//! The floating-point environment of a thread: rounding mode, flush-to-zero and denormals-are-zero.
//!
//! Rust compiles arithmetic for the environment that a process starts with: round to nearest, keep subnormal numbers, trap
//! nothing. A host process may have changed it (`-ffast-math` in a library that it loads does), and with it every result
//! below. [`with_standard_floats`] computes in the standard environment and leaves the caller's as it was.
//!
//! The kernels of this crate compute in the environment of the calling thread. The crate `dwell` sets the standard one at
//! its entry points and on its threads. On processors other than x86-64 and AArch64 nothing is changed.

#![cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(
        unsafe_code,
        reason = "the control register is read and written by instructions; each block says why it is sound"
    )
)]

use control::{hostile, is_standard, read, standard, write};

/// Calls `work` in the standard floating-point environment. Afterwards, and after a panic, the control register of the thread
/// is what it was before the call. Where the environment is the standard one already, this takes two instructions.
pub fn with_standard_floats<R>(work: impl FnOnce() -> R) -> R {
    let before = read();
    if is_standard(before) {
        return work();
    }
    let _restore = Restore(before);
    write(standard());
    apart(work)
}

/// Sets the standard floating-point environment for the rest of this thread, which the caller has started: a thread inherits
/// the environment of the thread that starts it on some systems.
pub fn keep_standard_floats() {
    if !is_standard(read()) {
        write(standard());
    }
}

/// Calls `work` in an environment that changes results: rounding upwards, with subnormal numbers flushed to zero. A test
/// shows with it that a caller's environment does not matter. `work` must do no arithmetic of its own.
#[doc(hidden)]
pub fn with_hostile_floats<R>(work: impl FnOnce() -> R) -> R {
    let _restore = Restore(read());
    write(hostile());
    apart(work)
}

/// The bits of the control register of this thread without its status flags: equal values are equal environments.
#[doc(hidden)]
#[must_use]
pub fn control_bits() -> u64 {
    control::without_flags(read())
}

/// Calls `work` as a function of its own, so that the compiler moves none of its arithmetic to before or after the writes to
/// the control register, which it does not know to be related.
#[inline(never)]
fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Writes a value of the control register when dropped.
struct Restore(u64);

impl Drop for Restore {
    fn drop(&mut self) {
        write(self.0);
    }
}

/// MXCSR: exception flags in bits 0 to 5, denormals-are-zero in 6, exception masks in 7 to 12, rounding in 13 and 14,
/// flush-to-zero in 15.
#[cfg(target_arch = "x86_64")]
mod control {
    use std::arch::asm;

    const FLAGS: u64 = 0x3f;

    pub(super) fn without_flags(word: u64) -> u64 {
        word & !FLAGS
    }

    /// All exceptions masked, round to nearest.
    pub(super) fn standard() -> u64 {
        0x1f80
    }

    /// All exceptions masked, round upwards, denormals-are-zero, flush-to-zero.
    pub(super) fn hostile() -> u64 {
        0x1f80 | 1 << 6 | 0b10 << 13 | 1 << 15
    }

    pub(super) fn is_standard(word: u64) -> bool {
        without_flags(word) == standard()
    }

    pub(super) fn read() -> u64 {
        let mut word = 0_u32;
        // SAFETY: every x86-64 processor has `stmxcsr`, which writes four bytes, to a variable of four bytes.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        u64::from(word)
    }

    /// `word` is a value that was read from the register, or one of the two above.
    pub(super) fn write(word: u64) {
        #[expect(clippy::cast_possible_truncation, reason = "the register has 32 bits")]
        let word = word as u32;
        // SAFETY: every x86-64 processor has `ldmxcsr`, which reads four bytes, from a variable of four bytes. It faults only
        // for reserved bits, which no value of the register has. Memory is not touched. Arithmetic that the compiler may
        // assume to be in the standard environment runs with another value only if the caller's environment was another one
        // before, or in the test that asks for one.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

/// FPCR: 0 is round to nearest, no flushing, no traps. Status flags are in another register.
#[cfg(target_arch = "aarch64")]
mod control {
    use std::arch::asm;

    pub(super) fn without_flags(word: u64) -> u64 {
        word
    }

    pub(super) fn standard() -> u64 {
        0
    }

    /// Round upwards (bits 22 and 23), flush-to-zero (bit 24).
    pub(super) fn hostile() -> u64 {
        1 << 22 | 1 << 24
    }

    pub(super) fn is_standard(word: u64) -> bool {
        word == standard()
    }

    pub(super) fn read() -> u64 {
        let word: u64;
        // SAFETY: programs may read FPCR; the instruction touches no memory.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    /// `word` is a value that was read from the register, or one of the two above.
    pub(super) fn write(word: u64) {
        // SAFETY: programs may write FPCR, and every value is one that was read from it or has defined bits only. Memory is
        // not touched. Arithmetic that the compiler may assume to be in the standard environment runs with another value only
        // if the caller's environment was another one before, or in the test that asks for one.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

/// Other processors: the environment is left alone.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod control {
    pub(super) fn without_flags(word: u64) -> u64 {
        word
    }

    pub(super) fn standard() -> u64 {
        0
    }

    pub(super) fn hostile() -> u64 {
        0
    }

    pub(super) fn is_standard(_: u64) -> bool {
        true
    }

    pub(super) fn read() -> u64 {
        0
    }

    pub(super) fn write(_: u64) {}
}
