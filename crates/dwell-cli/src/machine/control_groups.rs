//! The memory that Linux control groups allow: those of containers, batch systems and services.
//!
//! A process is in one group of each hierarchy, and every ancestor of the group limits it too. A process with a namespace of
//! its own sees a part of the hierarchy; limits above that part cannot be read.

use super::Allowance;
use std::fs;
use std::path::{Path, PathBuf};

/// The names of a version's files and the values in them.
struct Version {
    /// Files with a limit in bytes, `max` for none.
    limits: &'static [&'static str],
    /// The file with the bytes in use.
    usage: &'static str,
    /// The key in `memory.stat` of the bytes of file contents that the kernel drops where memory is short.
    reclaimable: &'static str,
}

const TWO: Version =
    Version { limits: &["memory.max", "memory.high"], usage: "memory.current", reclaimable: "inactive_file" };
const ONE: Version =
    Version { limits: &["memory.limit_in_bytes"], usage: "memory.usage_in_bytes", reclaimable: "total_inactive_file" };

/// What a group of version 1 without a limit has as its limit, or less: 2^63 - 1 rounded down to pages, of at most 64 KiB.
const NO_LIMIT: u64 = (1 << 63) - (1 << 16);

/// The smallest limit of the control groups of this process, and the least that is left of one. `root` is the folder in
/// which `/proc` and `/sys` are.
pub(super) fn allowance(root: &Path) -> Allowance {
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap_or_default();
    let (groups, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    let mut allowance = Allowance::UNLIMITED;
    for (mount, version) in mounts.lines().filter_map(Mount::read) {
        let Some(group) = groups.lines().find_map(|line| group_of(line, &version)) else { continue };
        let top = below(root, &mount.point);
        // The root of the mount is a part of the group's path, unless the group is outside of what is mounted.
        let inner = group.strip_prefix(&mount.root).unwrap_or(Path::new(""));
        let group = top.join(inner);
        for folder in group.ancestors().take_while(|folder| folder.starts_with(&top)) {
            allowance = allowance.and(of_group(folder, &version));
        }
    }
    allowance
}

/// Where a hierarchy is mounted.
struct Mount {
    /// The part of the hierarchy that is mounted.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// Reads a line of `mountinfo`; `None` if it is not about a hierarchy that limits memory.
    fn read(line: &str) -> Option<(Self, Version)> {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup2" => TWO,
            "cgroup" if kind.nth(1)?.split(',').any(|option| option == "memory") => ONE,
            _ => return None,
        };
        let mut place = place.split(' ').skip(3);
        Some((Self { root: unescaped(place.next()?), point: unescaped(place.next()?) }, version))
    }
}

/// A path as `mountinfo` writes it: a space is `\040`.
fn unescaped(path: &str) -> PathBuf {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\").into()
}

/// The group of a line `number:controllers:path` of `/proc/self/cgroup`, if it is of the hierarchy of that version.
fn group_of(line: &str, version: &Version) -> Option<PathBuf> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    let fits = if version.usage == TWO.usage {
        controllers.is_empty()
    } else {
        controllers.split(',').any(|controller| controller == "memory")
    };
    fits.then(|| path.into())
}

/// An absolute path below `root`.
fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// What one group allows.
fn of_group(folder: &Path, version: &Version) -> Allowance {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let number = |name: &str| read(name).trim().parse::<u64>().ok();
    let limits = version.limits.iter().filter_map(|name| number(name)).filter(|limit| *limit < NO_LIMIT);
    // Without a limit the use does not matter: the system takes up to milliseconds to sum it up.
    let Some(limit) = limits.min() else { return Allowance::UNLIMITED };
    let stat = read("memory.stat");
    let reclaimable = stat.lines().find_map(|line| line.strip_prefix(version.reclaimable)?.strip_prefix(' '));
    let reclaimable = reclaimable.and_then(|bytes| bytes.trim().parse::<u64>().ok()).unwrap_or(0);
    let used = number(version.usage).unwrap_or(0).saturating_sub(reclaimable);
    Allowance { all: limit, left: limit.saturating_sub(used) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, with its content where it is not empty.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            #[expect(clippy::disallowed_methods, reason = "an input of a test")]
            fs::write(path, text).unwrap();
        }
        root
    }

    const MIB: u64 = 1 << 20;
    const MOUNT_TWO: &str = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn every_ancestor_of_a_group_limits_it() {
        let group = "sys/fs/cgroup/slurm/job 7/step";
        let root = folder(&[
            ("proc/self/cgroup", "0::/slurm/job 7/step\n"),
            ("proc/self/mountinfo", MOUNT_TWO),
            (&format!("{group}/memory.max"), "max\n"),
            (&format!("{group}/memory.high"), "max\n"),
            ("sys/fs/cgroup/slurm/job 7/memory.max", "134217728\n"),
            ("sys/fs/cgroup/slurm/job 7/memory.high", "max\n"),
            ("sys/fs/cgroup/slurm/job 7/memory.current", "73400320\n"),
            ("sys/fs/cgroup/slurm/job 7/memory.stat", "anon 1\ninactive_file 20971520\nactive_file 3\n"),
            ("sys/fs/cgroup/slurm/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/slurm/memory.current", "4211081216\n"),
        ]);
        // 128 MiB for the job, of which 70 are used, 20 of them reclaimable; the parent has 80 MiB left.
        assert_eq!(allowance(root.path()), Allowance { all: 128 * MIB, left: 78 * MIB });
    }

    #[test]
    fn a_soft_limit_counts_and_usage_beyond_the_limit_leaves_nothing() {
        let root = folder(&[
            ("proc/self/cgroup", "0::/\n"),
            ("proc/self/mountinfo", MOUNT_TWO),
            ("sys/fs/cgroup/memory.max", "1073741824"),
            ("sys/fs/cgroup/memory.high", "536870912"),
            ("sys/fs/cgroup/memory.current", "600000000"),
        ]);
        assert_eq!(allowance(root.path()), Allowance { all: 512 * MIB, left: 0 });
    }

    #[test]
    fn groups_of_the_first_version_and_mounted_parts_are_read() {
        let root = folder(&[
            ("proc/self/cgroup", "12:cpu,cpuacct:/x\n9:memory:/docker/abc/inner\n0::/\n"),
            (
                "proc/self/mountinfo",
                "31 24 0:27 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n\
                 32 24 0:28 / /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n",
            ),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "268435456"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "67108864"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 5\ntotal_inactive_file 33554432\n"),
            ("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "9223372036854771712"),
            ("sys/fs/cgroup/memory/inner/memory.usage_in_bytes", "67108864"),
        ]);
        assert_eq!(allowance(root.path()), Allowance { all: 256 * MIB, left: 224 * MIB });
    }

    #[test]
    fn a_system_without_groups_has_no_limit() {
        assert_eq!(allowance(folder(&[]).path()), Allowance::UNLIMITED);
        let root = folder(&[("proc/self/cgroup", "nonsense\n0::"), ("proc/self/mountinfo", "nonsense\n - cgroup2\n")]);
        assert_eq!(allowance(root.path()), Allowance::UNLIMITED);
    }
}
