//! The memory that the limits of this process allow (`ulimit -v`, `ulimit -d`).

use super::Allowance;

/// Bytes of the stack of a thread.
#[cfg(target_os = "linux")]
const STACK: u64 = 2 << 20;
/// Address space that the C library reserves for the small allocations of a thread, where there is room for it.
#[cfg(target_os = "linux")]
const ARENA: u64 = 64 << 20;

/// What the limits on address space and on data allow, with room for the stacks of `threads` threads.
#[cfg(target_os = "linux")]
pub(super) fn allowance(threads: usize) -> Allowance {
    use rustix::process::{Resource, getrlimit};
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let used = |key| super::status_bytes(&status, key).unwrap_or(0);
    let space = of(getrlimit(Resource::As).current, used("VmSize:"), threads, ARENA);
    let data = of(getrlimit(Resource::Data).current, used("VmData:"), threads, 0);
    space.and(data)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn allowance(_: usize) -> Allowance {
    Allowance::UNLIMITED
}

/// Threads beside those of the engine: the writer's, and that of signals.
#[cfg(target_os = "linux")]
const OTHERS: usize = 2;

/// What a limit allows, of which `used` bytes are taken. Arenas may take two thirds of the rest: the C library does without
/// those for which there is no room.
#[cfg(target_os = "linux")]
fn of(limit: Option<u64>, used: u64, threads: usize, arena: u64) -> Allowance {
    let Some(all) = limit else { return Allowance::UNLIMITED };
    let threads = (threads + OTHERS) as u64;
    let left = all.saturating_sub(used).saturating_sub(threads.saturating_mul(STACK));
    Allowance { all, left: left.saturating_sub(threads.saturating_mul(arena)).max(left / 3) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn stacks_and_arenas_are_left_out_of_what_is_left() {
        const MIB: u64 = 1 << 20;
        let left = |limit: u64, threads| of(Some(limit * MIB), 20 * MIB, threads, ARENA).left / MIB;
        assert_eq!([left(1000, 2), left(100, 2), left(100, 100), left(10, 1)], [716, 24, 0, 0]);
        assert_eq!(of(None, 1, 1, 1), Allowance::UNLIMITED);
    }
}
