//! Opening an input that may be a file, a pipe or a device, so that no call waits for ever.
//!
//! The system's call to open a named pipe waits until a process opens it for writing, and no time limit can be given.
//! So inputs are opened without waiting, and reads wait instead: for a writer of a named pipe at most [`PATIENCE`], and
//! for the bytes of a writer that exists, however slow, as long as it takes.

use crate::base::error::InputError;
use crate::base::problem::Problem;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

/// The time in which a process must open a named pipe for writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// An open input.
pub(crate) enum Opened {
    /// A regular file, positioned at its start, and its length in bytes.
    File(File, u64),
    /// Standard input, a pipe or a device, which is read once.
    Stream(Box<dyn Read + Send>),
}

/// The error when the system cannot read on.
pub(crate) fn unreadable(error: &io::Error) -> InputError {
    InputError::new(Problem::Unreadable { why: error.to_string() })
}

/// Opens a file; `-` is standard input. The error does not name the file.
///
/// # Errors
/// When it cannot be read or is a directory.
pub(crate) fn open(path: &Path) -> Result<Opened, InputError> {
    let wrong = |e: io::Error| unreadable(&e);
    if path == Path::new("-") {
        return Ok(Opened::Stream(standard_input()));
    }
    let file = open_at_once(path).map_err(wrong)?;
    let metadata = file.metadata().map_err(wrong)?;
    if metadata.is_dir() {
        let (found, wanted) = ("a directory".to_owned(), "a file".to_owned());
        return Err(InputError::new(Problem::WrongKind { found, wanted }));
    }
    if metadata.is_file() {
        return Ok(Opened::File(file, metadata.len()));
    }
    Ok(Opened::Stream(stream(file, path, &metadata, PATIENCE)))
}

#[cfg(not(unix))]
fn open_at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(not(unix))]
fn standard_input() -> Box<dyn Read + Send> {
    Box::new(io::stdin())
}

#[cfg(not(unix))]
fn stream(file: File, _: &Path, _: &std::fs::Metadata, _: Duration) -> Box<dyn Read + Send> {
    Box::new(file)
}

#[cfg(unix)]
use unix::{open_at_once, standard_input, stream};

#[cfg(unix)]
mod unix {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::OFlags;
    use rustix::io::Errno;
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::{self, Read};
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
    use std::path::Path;
    use std::time::{Duration, Instant};

    /// Opens a file without waiting for the writer of a named pipe.
    pub(super) fn open_at_once(path: &Path) -> io::Result<File> {
        OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
    }

    pub(super) fn standard_input() -> Box<dyn Read + Send> {
        Box::new(Patient { source: io::stdin(), writer_by: None })
    }

    /// The bytes of a pipe or a device that was opened without waiting.
    pub(super) fn stream(file: File, path: &Path, metadata: &Metadata, patience: Duration) -> Box<dyn Read + Send> {
        // A pipe that is open already, as that of `<(command)`, is at its end once its writers are gone.
        let is_open = ["/dev/fd", "/dev/stdin", "/proc"].iter().any(|names| path.starts_with(names));
        let named = metadata.file_type().is_fifo() && !is_open;
        let writer_by = named.then(|| Instant::now() + patience);
        Box::new(Patient { source: file, writer_by })
    }

    /// A reader that waits for bytes where its source does not.
    struct Patient<R> {
        source: R,
        /// The time by which a named pipe must have a writer; `None` once it has one.
        writer_by: Option<Instant>,
    }

    impl<R: AsFd> Patient<R> {
        /// Waits until there are bytes or the last writer is gone. Returns false where neither is so `within` this time.
        fn wait(&self, within: Option<Duration>) -> io::Result<bool> {
            let mut polled = [PollFd::new(&self.source, PollFlags::IN)];
            let within = within.map(|time| Timespec {
                tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: time.subsec_nanos().into(),
            });
            match poll(&mut polled, within.as_ref()) {
                Ok(ready) => Ok(ready > 0),
                Err(Errno::INTR) => Ok(false),
                Err(e) => Err(e.into()),
            }
        }
    }

    impl<R: Read + AsFd> Read for Patient<R> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            loop {
                match self.source.read(into) {
                    // Without a writer, a named pipe seems to be at its end.
                    Ok(0) if !into.is_empty() => {
                        let Some(writer_by) = self.writer_by else { return Ok(0) };
                        let left = writer_by.saturating_duration_since(Instant::now());
                        if left.is_zero() {
                            return Err(io::Error::new(io::ErrorKind::TimedOut, "no process writes to it"));
                        }
                        if self.wait(Some(left))? {
                            self.writer_by = None;
                        }
                    }
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                        self.writer_by = None;
                        self.wait(None)?;
                    }
                    result => {
                        self.writer_by = None;
                        return result;
                    }
                }
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::Write;
        use std::process::Command;

        fn pipe() -> (tempfile::TempDir, std::path::PathBuf) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("pipe");
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            (folder, path)
        }

        fn read(path: &Path, patience: Duration) -> io::Result<String> {
            let file = open_at_once(path)?;
            let metadata = file.metadata()?;
            let mut text = String::new();
            stream(file, path, &metadata, patience).read_to_string(&mut text).map(|_| text)
        }

        #[test]
        fn a_named_pipe_without_a_writer_is_an_error() {
            let (_folder, path) = pipe();
            let error = read(&path, Duration::from_millis(50)).unwrap_err();
            assert_eq!(
                (error.kind(), error.to_string().as_str()),
                (io::ErrorKind::TimedOut, "no process writes to it")
            );
        }

        #[test]
        fn slow_writers_are_waited_for() {
            let (_folder, path) = pipe();
            let there = path.clone();
            let writer = std::thread::spawn(move || {
                let pause = || std::thread::sleep(Duration::from_millis(150));
                pause();
                let mut file = OpenOptions::new().write(true).open(there).unwrap();
                // Longer than the patience with a pipe that has no writer.
                for part in ["re = ", "\"0\""] {
                    pause();
                    pause();
                    pause();
                    file.write_all(part.as_bytes()).unwrap();
                }
            });
            assert_eq!(read(&path, Duration::from_millis(400)).unwrap(), "re = \"0\"");
            writer.join().unwrap();
        }

        #[test]
        fn a_writer_that_writes_nothing_ends_the_wait() {
            let (_folder, path) = pipe();
            let there = path.clone();
            let writer = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                drop(OpenOptions::new().write(true).open(there).unwrap());
            });
            let began = Instant::now();
            assert_eq!(read(&path, Duration::from_secs(60)).unwrap(), "");
            assert!(began.elapsed() < Duration::from_secs(30));
            writer.join().unwrap();
        }
    }
}
