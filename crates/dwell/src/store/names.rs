//! Paths: the files that they name, and the names of files in the same folder.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

/// The end of the names of partial files, after the name of the output, a dot and 32 random hexadecimal digits.
const PARTIAL: &str = ".dwell-partial";

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
/// Names of open descriptors are not followed, since the system makes their targets up.
///
/// # Errors
/// When there are too many links, or when a link is another user's in a folder where every user may create files. Linux
/// does not follow such links either (`fs.protected_symlinks`), where it is the one to follow them.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        if is_stdout(&place) || names_a_descriptor(&place) {
            return Ok(place);
        }
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                let folder = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
                check_link(&metadata, &folder.metadata()?)?;
                let next = std::fs::read_link(&place)?;
                // In the folder `.` where the path has none, so that a link to a file named `-` is no standard output.
                place = folder.join(next);
            }
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("too many symbolic links, or a cycle of them"))
}

/// Refuses a link in a folder that is writable by all and sticky (such as `/tmp`), unless it belongs to the user of this
/// process or to the owner of the folder.
#[cfg(unix)]
fn check_link(link: &Metadata, folder: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    const STICKY_AND_WRITABLE: u32 = 0o1002;
    let shared = folder.mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE;
    if shared && link.uid() != folder.uid() && link.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other("it is a symbolic link of another user in a folder that every user may write to"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_link(_: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The canonical path of the file that `path` names, equal for two paths of the same file. The file need not exist;
/// links are followed. Its folder need not exist either, if its path does not go up from missing folders. `-` for standard
/// output; `None` for a path that is not a regular file, which is never replaced.
#[must_use]
pub fn identity(path: &Path) -> Option<PathBuf> {
    let place = end_of_links(path).ok()?;
    if is_stdout(&place) {
        return Some(PathBuf::from("-"));
    }
    if std::fs::metadata(&place).is_ok_and(|m| !m.is_file()) {
        return None;
    }
    let mut names = vec![place.file_name()?];
    let mut folder = place.parent()?;
    loop {
        let existing = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Ok(existing) = std::fs::canonicalize(existing) {
            return Some(existing.iter().chain(names.into_iter().rev()).collect());
        }
        names.push(folder.file_name()?);
        folder = folder.parent()?;
    }
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

/// A name that no other process can guess or choose by accident: 128 random bits, in hex.
pub(super) fn unguessable() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The path of a partial file of an output at `place`.
pub(super) fn partial_beside(place: &Path, random: &str) -> io::Result<PathBuf> {
    beside(place, &format!(".{random}{PARTIAL}"))
}

/// Whether a path can be that of a partial file: its name ends like [`partial_beside`].
pub(super) fn is_partial(path: &Path) -> bool {
    output_of(path).is_some()
}

/// Whether two paths can be those of partial files of one output.
pub(super) fn are_of_one_output(a: &Path, b: &Path) -> bool {
    output_of(a).is_some_and(|output| output_of(b) == Some(output))
}

/// The path of a partial file without the end that [`partial_beside`] adds; `None` for any other path.
fn output_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    let (output, random) = name.strip_suffix(PARTIAL)?.rsplit_once('.')?;
    let is_random = random.len() == 32 && random.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_random.then(|| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).with_file_name(output))
}
