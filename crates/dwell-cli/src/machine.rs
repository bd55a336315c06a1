//! The processor and memory of this machine.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod arenas;
mod control_groups;
mod process_limits;

use std::path::Path;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The processor of this machine, and the memory that this process may use: that of the machine, or less where a control
/// group (a container, a batch system, a service) or a limit of the process allows less.
pub(crate) struct Machine {
    /// The processor's brand, or `unknown`.
    pub(crate) processor: String,
    /// Bytes of memory in all.
    pub(crate) memory_bytes: u64,
    /// Bytes of memory that are available.
    pub(crate) available_bytes: u64,
}

/// Bytes of memory assumed where the system does not report them: 4 GiB.
const SMALL: u64 = 4 << 30;

/// Bytes of memory that something allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Allowance {
    /// In all.
    all: u64,
    /// Those that are not in use.
    left: u64,
}

impl Allowance {
    /// No limit.
    const UNLIMITED: Self = Self { all: u64::MAX, left: u64::MAX };

    /// What both allow.
    fn and(self, other: Self) -> Self {
        Self { all: self.all.min(other.all), left: self.left.min(other.left) }
    }
}

impl Machine {
    /// Looks at the machine, for a process that is to start a thread for each processor.
    pub(crate) fn look() -> Self {
        let memory = memory(processors());
        Self { processor: processor(), memory_bytes: memory.all, available_bytes: memory.left }
    }

    /// The bytes that a command plans for where it is given no limit, and is to start `threads` threads.
    pub(crate) fn planned_bytes(threads: usize) -> u64 {
        memory(threads).left / 10 * 9
    }
}

/// The processor's brand, or `unknown`.
pub(crate) fn processor() -> String {
    let system = System::new_with_specifics(RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing()));
    let brand = system.ok().and_then(|system| Some(system.cpus().first()?.brand().trim().to_owned()));
    brand.filter(|brand| !brand.is_empty()).unwrap_or_else(|| "unknown".to_owned())
}

/// The memory that a process may use which is to start `threads` threads.
fn memory(threads: usize) -> Allowance {
    let limits = control_groups::allowance(Path::new("/")).and(process_limits::allowance(threads));
    let kinds = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let all = System::new_with_specifics(kinds)
        .map(|system| Allowance { all: system.total_memory(), left: system.available_memory() });
    // Where the system reports nothing, little memory is assumed. Where /proc/meminfo cannot be opened (too few file descriptors are left, or it is not
    // mounted), it is all 0.
    let all = all.ok().filter(|memory| memory.all > 0).unwrap_or(Allowance { all: SMALL, left: SMALL });
    all.and(limits)
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    dwell::ThreadPool::processors()
}

/// Peak resident memory of this process in bytes, where the system reports it (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    status_bytes(&std::fs::read_to_string("/proc/self/status").ok()?, "VmHWM:")
}

/// The bytes of a line of `/proc/self/status`.
fn status_bytes(status: &str, key: &str) -> Option<u64> {
    let kib = status.lines().find_map(|line| line.strip_prefix(key))?.trim().strip_suffix(" kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}
