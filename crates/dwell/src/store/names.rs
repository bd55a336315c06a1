//! Paths: the files that they name, and the names of files in the same folder.

use std::io;
use std::path::{Path, PathBuf};

/// The ending that is added to the name of an output for its partial file.
pub(super) const PARTIAL: &str = ".dwell-partial";

/// Whether a path is standard output: `-`, `/dev/stdout`, `/dev/fd/1` or `/proc/self/fd/1`.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether a path names an open file descriptor of this process, which is written in place and never replaced.
pub(super) fn names_a_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// The most symbolic links in a chain.
const MOST_LINKS: usize = 40;

/// The target of a path after following symbolic links; it need not exist. A rename over a link would replace the link.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::symlink_metadata(&place) {
            Ok(metadata) if metadata.is_symlink() => {
                let next = std::fs::read_link(&place)?;
                place = place.parent().unwrap_or(Path::new("")).join(next);
            }
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("too many symbolic links, or a cycle of them"))
}

/// The canonical path of the file that `path` names, equal for two paths of the same file. The file need not exist;
/// links are followed. `-` for standard output; `None` for a path that is not a regular file, which is never replaced,
/// and for a path in a missing folder.
#[must_use]
pub fn identity(path: &Path) -> Option<PathBuf> {
    if is_stdout(path) {
        return Some(PathBuf::from("-"));
    }
    let place = end_of_links(path).ok()?;
    if std::fs::metadata(&place).is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let folder = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(std::fs::canonicalize(folder).ok()?.join(place.file_name()?))
}

/// The most bytes of a file name on common file systems.
const LONGEST_NAME: usize = 255;

/// The path in the folder of `place` whose name is that of `place` followed by `ending`. A name above 255 bytes is
/// replaced by its first 40 characters and a hash.
pub(crate) fn beside(place: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = place.file_name().ok_or_else(|| io::Error::other("the path has no file name"))?;
    let mut beside = name.to_os_string();
    beside.push(ending);
    if beside.len() > LONGEST_NAME {
        // The hash distinguishes long names with the same beginning.
        let hash = blake3::hash(name.as_encoded_bytes()).to_hex();
        let start: String = name.to_string_lossy().chars().take(40).collect();
        beside = format!("{start}-{}{ending}", &hash[..16]).into();
    }
    Ok(place.with_file_name(beside))
}
