//! The processor and memory of this machine.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The processor and the memory of this machine, or of the container that the program runs in.
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

impl Machine {
    pub(crate) fn look() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        // Assume little memory where the system reports nothing.
        let Ok(system) = System::new_with_specifics(kinds) else {
            return Self { processor: "unknown".to_owned(), memory_bytes: SMALL, available_bytes: SMALL };
        };
        let processor = system.cpus().first().map_or("", |cpu| cpu.brand()).trim();
        // The control group of a container may allow less memory than the machine has.
        let (mut memory_bytes, mut available_bytes) = match (system.total_memory(), system.available_memory()) {
            // The file that says it could not be opened: too few file descriptors are left, or /proc is not mounted.
            (0, _) => (SMALL, SMALL),
            of_system => of_system,
        };
        if let Some(group) = system.cgroup_limits() {
            memory_bytes = memory_bytes.min(group.total_memory);
            available_bytes = available_bytes.min(group.free_memory);
        }
        Self {
            processor: if processor.is_empty() { "unknown".to_owned() } else { processor.to_owned() },
            memory_bytes,
            available_bytes,
        }
    }
}

/// Number of processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Peak resident memory of this process in bytes, where the system reports it (Linux).
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}
