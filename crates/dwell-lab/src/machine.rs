//! What a run records of its machine, and the state of its processors.

use crate::record::Machine;
use std::path::Path;
use std::time::SystemTime;

/// A time in UTC: `2026-11-22T06:00:00Z`.
#[must_use]
pub fn date(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

/// Adds what the system tells: its version, the frequency governor and the load.
pub fn complete(machine: &mut Machine) {
    let text = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    // What follows the version names a distribution's or a provider's build.
    let release = text("/proc/sys/kernel/osrelease");
    let version = release.split(['-', '+']).next().unwrap_or_default();
    machine.system = [std::env::consts::OS, std::env::consts::ARCH, version].join(" ").trim().to_owned();
    machine.governor = text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    machine.load = text("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok());
}

/// The mean clock of the processors in MHz, where the system tells it.
#[must_use]
pub fn clock_mhz() -> Option<f64> {
    mean_clock(&std::fs::read_to_string(Path::new("/proc/cpuinfo")).ok()?)
}

fn mean_clock(cpuinfo: &str) -> Option<f64> {
    let clocks = cpuinfo.lines().filter(|line| line.starts_with("cpu MHz"));
    let clocks: Vec<f64> = clocks.filter_map(|line| line.split_once(':')?.1.trim().parse().ok()).collect();
    let sum: f64 = clocks.iter().sum();
    (!clocks.is_empty()).then(|| sum / clocks.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_the_mean_of_the_processors() {
        assert_eq!(mean_clock("cpu MHz\t\t: 2000.0\nflags: x\ncpu MHz : 3000.5\n"), Some(2500.25));
        assert_eq!(mean_clock(""), None);
    }
}
