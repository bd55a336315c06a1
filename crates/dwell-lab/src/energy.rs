//! Energy that the machine tells: counters of the processor package (RAPL, through Linux's powercap files, which often only
//! the superuser may read) and of NVIDIA devices (NVML).

use nvml_wrapper::Nvml;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Counters of energy.
pub struct Meter {
    packages: Vec<Package>,
    nvml: Option<Nvml>,
    /// What is read, or why nothing is.
    described: String,
}

/// The counter of one processor package.
struct Package {
    file: PathBuf,
    /// The count at which it begins again at 0, in microjoules.
    wraps_at: u64,
}

/// Counts at one moment.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Microjoules of each package.
    packages: Vec<u64>,
    /// Millijoules of the device.
    device: Option<u64>,
}

impl Meter {
    /// Finds the counters of this machine.
    #[must_use]
    pub fn find() -> Self {
        let (packages, no_package) = packages(Path::new("/sys/class/powercap"));
        let found = Nvml::init();
        let no_device = found.as_ref().err().map(ToString::to_string);
        let processors = no_package.unwrap_or_else(|| "RAPL".to_owned());
        let devices = no_device.unwrap_or_else(|| "NVML".to_owned());
        let described = format!("processors: {processors}; devices: {devices}");
        Self { packages, nvml: found.ok(), described }
    }

    /// What is read, or why nothing is.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.described
    }

    /// Whether a run on the processors, or on the device of that number, has a counter.
    #[must_use]
    pub fn counts(&self, device: Option<u32>) -> bool {
        let of_device = self.device(device).is_some_and(|device| device.total_energy_consumption().is_ok());
        of_device || !self.packages.is_empty()
    }

    /// The counts now; those of the device of that number, if one is used.
    #[must_use]
    pub fn read(&self, device: Option<u32>) -> Reading {
        let packages = self.packages.iter().filter_map(|package| number_in(&package.file)).collect();
        let device = self.device(device).and_then(|device| device.total_energy_consumption().ok());
        Reading { packages, device }
    }

    /// Joules between two readings, by source.
    #[must_use]
    pub fn joules(&self, before: &Reading, after: &Reading) -> BTreeMap<String, f64> {
        let mut joules = BTreeMap::new();
        let complete =
            |reading: &Reading| !reading.packages.is_empty() && reading.packages.len() == self.packages.len();
        if complete(before) && complete(after) {
            let counts = before.packages.iter().zip(&after.packages).zip(&self.packages);
            let sum: u64 = counts.map(|((from, to), package)| since(*from, *to, package.wraps_at)).sum();
            joules.insert("package".to_owned(), sum as f64 / 1e6);
        }
        if let Some((from, to)) = before.device.zip(after.device) {
            joules.insert("device".to_owned(), to.saturating_sub(from) as f64 / 1e3);
        }
        joules
    }

    /// The clock of a device's multiprocessors in MHz.
    #[must_use]
    pub fn device_clock_mhz(&self, device: Option<u32>) -> Option<f64> {
        let clock = self.device(device)?.clock_info(nvml_wrapper::enum_wrappers::device::Clock::SM).ok()?;
        Some(f64::from(clock))
    }

    fn device(&self, device: Option<u32>) -> Option<nvml_wrapper::Device<'_>> {
        self.nvml.as_ref()?.device_by_index(device?).ok()
    }
}

/// The count between two readings of a counter that may have begun again.
fn since(from: u64, to: u64, wraps_at: u64) -> u64 {
    if to >= from { to - from } else { to + wraps_at.saturating_sub(from) }
}

/// The counters of packages, and why there is none.
fn packages(folder: &Path) -> (Vec<Package>, Option<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return (Vec::new(), Some("there is no RAPL".to_owned())) };
    let mut packages = Vec::new();
    let mut hidden = false;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // Packages are intel-rapl:0, intel-rapl:1; their parts intel-rapl:0:0.
        if !name.strip_prefix("intel-rapl:").is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit())) {
            continue;
        }
        let file = entry.path().join("energy_uj");
        match number_in(&file) {
            Some(_) => {
                let wraps_at = number_in(&entry.path().join("max_energy_range_uj")).unwrap_or(u64::MAX);
                packages.push(Package { file, wraps_at });
            }
            None => hidden = true,
        }
    }
    let why = match (packages.is_empty(), hidden) {
        (false, _) => None,
        (true, true) => Some("RAPL cannot be read by this user".to_owned()),
        (true, false) => Some("there is no RAPL".to_owned()),
    };
    (packages, why)
}

fn number_in(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::store::{PartialFiles, write_text};

    #[test]
    fn counters_are_read_and_may_begin_again() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().join("intel-rapl:0");
        let part = folder.path().join("intel-rapl:0:0");
        for (folder, energy) in [(&package, "999"), (&part, "7")] {
            std::fs::create_dir(folder).unwrap();
            write_text(&folder.join("energy_uj"), energy, &PartialFiles::default()).unwrap();
            write_text(&folder.join("max_energy_range_uj"), "1000\n", &PartialFiles::default()).unwrap();
        }
        let (packages, why) = packages(folder.path());
        assert_eq!((packages.len(), why), (1, None));
        let meter = Meter { packages, nvml: None, described: String::new() };
        let before = meter.read(None);
        write_text(&package.join("energy_uj"), "500999", &PartialFiles::default()).unwrap();
        assert_eq!(meter.joules(&before, &meter.read(None))["package"], 0.5);
        assert_eq!(since(999, 4, 1000), 5);
        assert!(super::packages(&folder.path().join("none")).1.is_some());
    }
}
