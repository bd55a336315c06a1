//! The time and the memory that an input may take. A run that takes more fails, and the fuzzer keeps the input.

use std::time::{Duration, Instant};

/// The time that any input may take, and again for each MiB of it, in an optimised build without a sanitizer.
const TIME: Duration = Duration::from_secs(1);
/// The bytes of memory that any input may take.
const MEMORY: u64 = 64 << 20;
/// The bytes of memory that an input may take for each of its own.
const MEMORY_PER_BYTE: u64 = 16;

/// Runs a target on an input.
///
/// # Panics
/// When the target does, or takes more time or memory than the budget.
pub fn check(input: &[u8], target: impl FnOnce(&[u8])) {
    let began = Instant::now();
    // Allocations of this thread; every reader works on the thread that calls it.
    let allocated = allocation_counter::measure(|| target(input));
    let (took, length) = (began.elapsed(), input.len() as u64);
    let most = TIME.mul_f64(1.0 + length as f64 / f64::from(1 << 20));
    assert!(took <= most, "{length} bytes took {took:?}, more than {most:?}");
    let most = MEMORY + MEMORY_PER_BYTE * length;
    assert!(
        allocated.bytes_max <= most,
        "{length} bytes took {} bytes of memory, more than {most}",
        allocated.bytes_max
    );
}
