//! The memory that the limits of this process allow (`ulimit -v`, `ulimit -d`).

use super::Allowance;

/// Bytes of the stack of a thread.
#[cfg(target_os = "linux")]
const STACK: u64 = 2 << 20;
/// Bytes for what is not planned: small allocations, and what the C library keeps. The plan holds within as much.
#[cfg(target_os = "linux")]
const UNPLANNED: u64 = 32 << 20;

/// What the limits on address space and on data allow, with room for the stacks of `threads` threads.
#[cfg(target_os = "linux")]
pub(super) fn allowance(threads: usize) -> Allowance {
    use rustix::process::{Resource, getrlimit};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let used = |key| super::status_bytes(&status, key).unwrap_or(0);
    let space = of(getrlimit(Resource::As).current, used("VmSize:"), threads);
    let data = of(getrlimit(Resource::Data).current, used("VmData:"), threads);
    space.and(data)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn allowance(_: usize) -> Allowance {
    Allowance::UNLIMITED
}

/// Threads beside those of the engine: the writer's, and that of signals.
#[cfg(target_os = "linux")]
const OTHERS: usize = 2;

/// What a limit allows, of which `used` bytes are taken. What is not planned may take two thirds of the rest where that is
/// little, since most renders need much less than [`UNPLANNED`] for it. All threads share an arena (see `arenas`).
#[cfg(target_os = "linux")]
fn of(limit: Option<u64>, used: u64, threads: usize) -> Allowance {
    let Some(all) = limit else { return Allowance::UNLIMITED };
    let stacks = ((threads + OTHERS) as u64).saturating_mul(STACK);
    let left = all.saturating_sub(used).saturating_sub(stacks);
    Allowance { all, left: left.saturating_sub(UNPLANNED).max(left / 3) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn stacks_and_small_allocations_are_left_out_of_what_is_left() {
        const MIB: u64 = 1 << 20;
        let left = |limit: u64, threads| of(Some(limit * MIB), 20 * MIB, threads).left / MIB;
        assert_eq!([left(1000, 2), left(100, 2), left(60, 2), left(100, 100), left(10, 1)], [940, 40, 10, 0, 0]);
        assert_eq!(of(None, 1, 1), Allowance::UNLIMITED);
    }
}
