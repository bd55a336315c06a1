//! What the machine has.

use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// Processor and memory.
pub(crate) struct Machine {
    pub(crate) processor: String,
    pub(crate) memory_bytes: u64,
    pub(crate) available_bytes: u64,
}

/// Memory assumed where the system does not say: 4 GiB.
const SMALL: u64 = 4 << 30;

impl Machine {
    pub(crate) fn look() -> Self {
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        // A system that cannot say is taken to be small.
        let Ok(system) = System::new_with_specifics(kinds) else {
            return Self { processor: "unknown".to_owned(), memory_bytes: SMALL, available_bytes: SMALL };
        };
        let processor = system.cpus().first().map_or("", |cpu| cpu.brand()).trim();
        // A container may have less than the machine.
        let (mut memory_bytes, mut available_bytes) = (system.total_memory(), system.available_memory());
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

/// Processors that this process may use.
pub(crate) fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The most memory that this process has had at once, where the system tells.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    kib.trim().parse::<u64>().ok()?.checked_mul(1024)
}
