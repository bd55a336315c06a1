//! Files that appear whole or not at all.
//!
//! A regular file is written under a temporary name in its own folder, synced, and renamed over the old one; then the
//! folder is synced, so that the new name survives a power loss too. An output that exists and is no regular file (a
//! device, a FIFO) and standard output are written in place: there is nothing to rename.

use crate::error::{Error, InputError, quote};
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The temporary files of outputs under way. A program that must leave at once removes them by [`Leftovers::remove`];
/// in every other case they are gone when their output is dropped.
#[derive(Clone, Debug, Default)]
pub struct Leftovers(Arc<Mutex<Vec<PathBuf>>>);

impl Leftovers {
    /// Removes what is left.
    pub fn remove(&self) {
        for path in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn note(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
    }

    fn forget(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|p| p != path);
    }
}

/// A file being written.
#[derive(Debug)]
pub struct Output {
    path: PathBuf,
    target: Target,
    spent: Duration,
    leftovers: Leftovers,
}

#[derive(Debug)]
enum Target {
    /// Complete under a temporary name, then renamed.
    Replace {
        temporary: BufWriter<tempfile::NamedTempFile>,
        place: PathBuf,
        no_clobber: bool,
    },
    /// Written where it is.
    InPlace(BufWriter<File>),
    Stdout(BufWriter<io::Stdout>),
    /// Nowhere: for runs that are only timed.
    Nowhere,
}

/// Bytes gathered before the system is asked to write.
const BUFFER: usize = 1 << 20;

impl Output {
    /// Opens an output at `path`, `-` being standard output. With `no_clobber`, one that exists is an error now, and
    /// again if it has come to exist by the time this one is complete.
    ///
    /// # Errors
    /// [`Error::Input`] when it exists and `no_clobber` is set; [`Error::Write`] when it cannot be written there.
    pub fn create(path: &Path, no_clobber: bool, leftovers: &Leftovers) -> Result<Self, Error> {
        let fail = |source: io::Error| Error::Write { path: path.to_owned(), source };
        let target = if is_stdout(path) {
            Target::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()))
        } else {
            let place = end_of_links(path).map_err(fail)?;
            match std::fs::metadata(&place) {
                Ok(metadata) if metadata.is_dir() => return Err(fail(io::Error::other("it is a directory"))),
                Ok(_) if no_clobber => {
                    return Err(exists_already(path).into());
                }
                Ok(metadata) if !metadata.is_file() || names_a_descriptor(path) => {
                    // Appending is where a shell's `>>` would have it, and nothing else for what has no place in it.
                    let file = File::options().append(true).open(path).map_err(fail)?;
                    Target::InPlace(BufWriter::with_capacity(BUFFER, file))
                }
                found => {
                    let temporary = temporary(&place, found.ok().map(|m| m.permissions())).map_err(fail)?;
                    leftovers.note(temporary.path());
                    Target::Replace { temporary: BufWriter::with_capacity(BUFFER, temporary), place, no_clobber }
                }
            }
        };
        Ok(Self { path: path.to_owned(), target, spent: Duration::ZERO, leftovers: leftovers.clone() })
    }

    /// An output that is read by nobody.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { path: PathBuf::new(), target: Target::Nowhere, spent: Duration::ZERO, leftovers: Leftovers::default() }
    }

    /// Where it will be, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What an error in writing this output is reported as.
    #[must_use]
    pub fn error(&self, source: io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    /// Wall time spent in handing bytes to the system so far.
    #[must_use]
    pub fn spent(&self) -> Duration {
        self.spent
    }

    /// Completes the file: from now on it is there, whole. Returns the time spent in writing, this included.
    ///
    /// # Errors
    /// [`Error::Write`]; what was there before is untouched then.
    pub fn commit(mut self) -> Result<Duration, Error> {
        let began = Instant::now();
        let target = std::mem::replace(&mut self.target, Target::Nowhere);
        let path = self.path.clone();
        let no_clobber = matches!(target, Target::Replace { no_clobber: true, .. });
        self.complete(target).map_err(|source| {
            // It has come to exist since this output was opened.
            if no_clobber && source.kind() == io::ErrorKind::AlreadyExists {
                return Error::Input(exists_already(&path));
            }
            Error::Write { path, source }
        })?;
        Ok(self.spent + began.elapsed())
    }

    fn complete(&self, target: Target) -> io::Result<()> {
        match target {
            Target::Replace { temporary, place, no_clobber } => {
                let file = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.as_file().sync_all()?;
                let noted = file.path().to_owned();
                let persisted = if no_clobber { file.persist_noclobber(&place) } else { file.persist(&place) };
                self.leftovers.forget(&noted);
                persisted.map_err(|e| e.error)?;
                sync_folder(&place);
                Ok(())
            }
            Target::InPlace(mut file) => file.flush(),
            Target::Stdout(mut out) => out.flush(),
            Target::Nowhere => Ok(()),
        }
    }
}

/// What is refused under `--no-clobber`.
fn exists_already(path: &Path) -> InputError {
    InputError::new("--no-clobber", format!("{} exists already", quote(&path.to_string_lossy())))
        .hint("leave --no-clobber out to replace it")
}

/// Whether a path is standard output, under any of its names.
#[must_use]
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether a path names an open file of this process: it is written to as it is open, never replaced.
fn names_a_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// The most links followed from one to the next.
const MOST_LINKS: usize = 40;

/// Where a path leads through links, also to what does not exist yet: renaming over a link would cut it.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
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

/// A temporary file beside `place`, with the permissions of the file it will replace, or those of any new file.
fn temporary(place: &Path, permissions: Option<std::fs::Permissions>) -> io::Result<tempfile::NamedTempFile> {
    let folder = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = place.file_name().ok_or_else(|| io::Error::other("it names no file"))?.to_string_lossy();
    // A name as long as the longest allowed leaves no room for more: only its beginning is used.
    let name: String = name.chars().take(40).collect();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    let permissions = permissions.or_else(|| {
        use std::os::unix::fs::PermissionsExt;
        // What the system's mask leaves of it is decided at creation, as for every new file.
        Some(std::fs::Permissions::from_mode(0o666))
    });
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    // The library's own text names the temporary file, which means nothing to anybody.
    builder.tempfile_in(folder).map_err(|e| io::Error::from(e.kind()))
}

/// Makes a rename in the folder of `place` durable. A system that cannot sync folders has its own way.
fn sync_folder(place: &Path) {
    let folder = place.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let began = Instant::now();
        let written = match &mut self.target {
            Target::Replace { temporary, .. } => temporary.write(bytes),
            Target::InPlace(file) => file.write(bytes),
            Target::Stdout(out) => out.write(bytes),
            Target::Nowhere => Ok(bytes.len()),
        };
        self.spent += began.elapsed();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        let began = Instant::now();
        let flushed = match &mut self.target {
            Target::Replace { temporary, .. } => temporary.flush(),
            Target::InPlace(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
            Target::Nowhere => Ok(()),
        };
        self.spent += began.elapsed();
        flushed
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.target, Target::Nowhere) {
            Target::Replace { temporary, .. } => {
                // The temporary file goes with the handle; what is buffered is not worth writing.
                let (file, _) = temporary.into_parts();
                self.leftovers.forget(file.path());
            }
            Target::InPlace(file) => drop(file.into_parts()),
            Target::Stdout(out) => drop(out.into_parts()),
            Target::Nowhere => {}
        }
    }
}

/// An output that an encoder writes to while somebody else will commit it.
#[derive(Clone)]
pub(crate) struct Shared(Rc<RefCell<Output>>);

impl Shared {
    pub(crate) fn new(output: Output) -> Self {
        Self(Rc::new(RefCell::new(output)))
    }

    /// The output, once no encoder holds it any more.
    pub(crate) fn into_output(self) -> Option<Output> {
        Rc::into_inner(self.0).map(RefCell::into_inner)
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Writes a small text whole or not at all.
///
/// # Errors
/// As [`Output::create`] and [`Output::commit`].
pub fn write_text(path: &Path, text: &str, leftovers: &Leftovers) -> Result<(), Error> {
    let mut output = Output::create(path, false, leftovers)?;
    output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    output.commit().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn appears_when_committed_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let leftovers = Leftovers::default();
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"new").unwrap();
        assert!(!path.exists());
        output.commit().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"half").unwrap();
        drop(output);
        assert_eq!((std::fs::read(&path).unwrap().as_slice(), names(folder.path()).len()), (b"new".as_slice(), 1));
        let mut output = Output::create(&path, false, &leftovers).unwrap();
        output.write_all(b"half").unwrap();
        leftovers.remove();
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn no_clobber_keeps_what_is_there_and_what_comes_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let leftovers = Leftovers::default();
        let mut output = Output::create(&path, true, &leftovers).unwrap();
        write_text(&path, "first", &leftovers).unwrap();
        output.write_all(b"second").unwrap();
        assert_eq!(output.commit().unwrap_err().exit_code(), 2);
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(Output::create(&path, true, &leftovers).unwrap_err().exit_code(), 2);
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    #[cfg(unix)]
    fn follows_links_and_keeps_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_text(&file, "old", &Leftovers::default()).unwrap();
        assert_ne!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o044,
            0,
            "readable by others, as any new file"
        );
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_text(&link, "new", &Leftovers::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    #[cfg(unix)]
    fn links_to_what_does_not_exist_yet_are_followed_and_circles_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("later", &link).unwrap();
        write_text(&link, "new", &Leftovers::default()).unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read(folder.path().join("later")).unwrap(), b"new");
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::os::unix::fs::symlink(&b, &a).unwrap();
        std::os::unix::fs::symlink(&a, &b).unwrap();
        assert_eq!(Output::create(&a, false, &Leftovers::default()).unwrap_err().exit_code(), 4);
        assert_eq!(identity(&link), identity(&folder.path().join("./later")));
        assert_ne!(identity(&link), identity(&a));
        assert_eq!(identity(Path::new("/dev/stdout")), identity(Path::new("-")));
    }

    #[test]
    fn directories_and_missing_folders_are_write_errors() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("none/a.png")] {
            assert_eq!(Output::create(&path, false, &Leftovers::default()).unwrap_err().exit_code(), 4);
        }
    }
}
