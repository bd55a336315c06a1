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
        Self::look_for(processors())
    }

    /// Looks at the machine, for a process that is to start `threads` threads.
    fn look_for(threads: usize) -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let limits = control_groups::allowance(Path::new("/")).and(process_limits::allowance(threads));
        // Assume little memory where the system reports nothing.
        let (processor, memory) = match System::new_with_specifics(kinds) {
            Ok(system) => {
                let processor = system.cpus().first().map_or("", |cpu| cpu.brand()).trim().to_owned();
                (processor, Allowance { all: system.total_memory(), left: system.available_memory() })
            }
            Err(_) => (String::new(), Allowance { all: SMALL, left: SMALL }),
        };
        // Where /proc/meminfo cannot be opened (too few file descriptors are left, or it is not mounted), it is all 0.
        let memory = if memory.all == 0 { Allowance { all: SMALL, left: SMALL } } else { memory };
        let memory = memory.and(limits);
        Self {
            processor: if processor.is_empty() { "unknown".to_owned() } else { processor },
            memory_bytes: memory.all,
            available_bytes: memory.left,
        }
    }

    /// The bytes that a command plans for where it is given no limit.
    pub(crate) fn planned_bytes(threads: usize) -> u64 {
        Self::look_for(threads).available_bytes / 10 * 9
    }
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
