//! Whether standard output and standard error could be written when the program was started.
//!
//! Before `main`, Rust's runtime opens /dev/null in place of each standard descriptor that is closed, and the standard library
//! takes a write to a descriptor that is not open for writing as done. So a result would be lost without an error. A
//! descriptor that the user directed to /dev/null looks the same from `main` on, and is right. Therefore the descriptors are
//! examined by a constructor of the executable, which runs before the runtime.

use dwell::Error;
use std::io;
use std::path::PathBuf;

/// Standard output or standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Output,
    Error,
}

impl Stream {
    /// The name of the stream as the path of an error.
    fn path(self) -> PathBuf {
        PathBuf::from(match self {
            Self::Output => "-",
            Self::Error => "standard error",
        })
    }

    /// The error of a write to this stream.
    pub(crate) fn error(self, source: io::Error) -> Error {
        Error::Write { path: self.path(), source }
    }

    /// Fails if the stream was closed, or open for reading only, when the program was started. A result that is written
    /// to such a stream is lost.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub(crate) fn check(self) -> Result<(), Error> {
        match at_start::state(self) {
            State::Writable => Ok(()),
            State::Closed => Err(self.error(io::Error::other("it is closed"))),
            State::ReadOnly => Err(self.error(io::Error::other("it is not open for writing"))),
        }
    }
}

/// What a descriptor was when the program was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Writable,
    Closed,
    ReadOnly,
}

#[cfg(unix)]
mod at_start {
    use super::{State, Stream};
    use rustix::fs::{OFlags, fcntl_getfl};
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::{AtomicU8, Ordering};

    /// The states of standard output and of standard error, in that order, as `State as u8`.
    static STATES: [AtomicU8; 2] = [AtomicU8::new(State::Writable as u8), AtomicU8::new(State::Writable as u8)];

    // The function calls the system and stores two bytes. It does not use what the runtime prepares before `main`.
    ctor::declarative::ctor! {
        #[ctor(unsafe)]
        fn examine() {
            let streams = [rustix::stdio::stdout(), rustix::stdio::stderr()];
            for (state, stream) in STATES.iter().zip(streams) {
                state.store(examined(stream) as u8, Ordering::Relaxed);
            }
        }
    }

    fn examined(stream: BorrowedFd<'_>) -> State {
        match fcntl_getfl(stream) {
            Ok(flags) if flags.intersects(OFlags::WRONLY | OFlags::RDWR) => State::Writable,
            Ok(_) => State::ReadOnly,
            Err(_) => State::Closed,
        }
    }

    pub(super) fn state(stream: Stream) -> State {
        let state = STATES[match stream {
            Stream::Output => 0,
            Stream::Error => 1,
        }]
        .load(Ordering::Relaxed);
        [State::Writable, State::Closed, State::ReadOnly]
            .into_iter()
            .find(|s| *s as u8 == state)
            .unwrap_or(State::Writable)
    }
}

/// Other systems give a program no closed descriptors.
#[cfg(not(unix))]
mod at_start {
    use super::{State, Stream};

    pub(super) fn state(_: Stream) -> State {
        State::Writable
    }
}
