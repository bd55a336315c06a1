//! Paths: what they lead to, and the names beside them.

use std::io;
use std::path::{Path, PathBuf};

/// Whether a path is standard output, under any of its names.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether a path names an open file of this process: it is written to as it is open, never replaced.
pub(super) fn names_a_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// The most links followed from one to the next.
const MOST_LINKS: usize = 40;

/// Where a path leads through links, also to what does not exist yet: renaming over a link would cut it.
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
    Err(io::Error::other("too many links, or a circle of them"))
}

/// What tells whether two paths are the same file, whether or not it exists: its name in its folder, both with links
/// followed. `None` for what is never replaced.
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

/// Bytes of the longest name that file systems allow.
const LONGEST_NAME: usize = 255;

/// The file beside `place` whose name is that of `place` and `ending`, shortened where it would be too long.
pub(crate) fn beside(place: &Path, ending: &str) -> io::Result<PathBuf> {
    let name = place.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
    let mut whole = name.to_os_string();
    whole.push(ending);
    if whole.len() > LONGEST_NAME {
        // Long names that begin alike must not share.
        let hash = blake3::hash(name.as_encoded_bytes()).to_hex();
        let start: String = name.to_string_lossy().chars().take(40).collect();
        whole = format!("{start}-{}{ending}", &hash[..16]).into();
    }
    Ok(place.with_file_name(whole))
}
