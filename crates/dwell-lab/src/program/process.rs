//! A command that is run with bounds: on its time, on the size of its output, and on what is kept of what it prints.
//!
//! On Unix it has a process group of its own, so that its children end with it. Standard input is empty.

use dwell::Cancel;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
#[cfg(unix)]
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// What is run, and where.
pub(super) struct Command {
    /// The program and its arguments. No shell reads them.
    pub(super) arguments: Vec<String>,
    /// The working directory.
    pub(super) folder: PathBuf,
}

/// The bounds of a command.
#[derive(Clone, Copy)]
pub(super) struct Bounds<'a> {
    /// The time that it may take.
    pub(super) timeout: Duration,
    /// A file that it writes, and the most bytes of this file: the command is ended when it has more.
    pub(super) output: Option<(&'a Path, u64)>,
}

/// A command that succeeded.
pub(super) struct Ended {
    /// From before it was started until it ended.
    pub(super) seconds: f64,
    /// The end of what it wrote to standard output.
    pub(super) printed: String,
}

/// Bytes kept of each stream that a command writes.
const KEPT: usize = 4096;
/// Characters of them in a message.
const SHOWN: usize = 300;
/// The time between two looks at the stop flag and the size of the output.
const LOOK: Duration = Duration::from_millis(10);
/// The time for which streams are read after the command has ended: a process outside of its group may hold them open.
const STREAMS_END: Duration = Duration::from_secs(1);

/// Runs a command to its end.
///
/// # Errors
/// When it cannot be started, fails, is ended by a signal or exceeds a bound, or `cancel` was set.
pub(super) fn run(command: &Command, bounds: Bounds<'_>, cancel: &Cancel) -> Result<Ended, String> {
    let Some((program, arguments)) = command.arguments.split_first() else {
        return Err("the command is empty".to_owned());
    };
    let mut builder = std::process::Command::new(program);
    builder.args(arguments).current_dir(&command.folder);
    builder.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut builder, 0);
    let start = Instant::now();
    let mut child = builder.spawn().map_err(|error| format!("{program} cannot be started: {error}"))?;
    let followed = Followed::of(&mut child);
    let Followed { exit, streams } = match followed {
        Ok(followed) => followed,
        Err(error) => {
            end_group(&mut child);
            _ = child.wait();
            return Err(format!("{program} was ended, since no thread can be started: {error}"));
        }
    };
    let (ended, stopped) = wait(&mut child, &exit, start, bounds, cancel)?;
    let [printed, complained] = streams.map(|stream| stream.map_or_else(String::new, Tail::end));
    if let Some(why) = stopped {
        return Err(why);
    }
    let (status, seconds) = ended;
    if !status.success() {
        let said = if complained.trim().is_empty() { &printed } else { &complained };
        return Err(format!("{program} failed: {}{}", reason(status), last_words(said)));
    }
    Ok(Ended { seconds, printed })
}

/// What tells of a running child: its end, and the ends of its standard output and standard error.
struct Followed {
    exit: Exit,
    streams: [Option<Tail>; 2],
}

impl Followed {
    fn of(child: &mut Child) -> io::Result<Self> {
        let output = child.stdout.take().map(Tail::of).transpose()?;
        let error = child.stderr.take().map(Tail::of).transpose()?;
        Ok(Self { exit: Exit::of(child)?, streams: [output, error] })
    }
}

/// Waits until a child ends or a bound is exceeded, and ends its process group. Returns its status and seconds, and why it
/// was stopped, if it was.
fn wait(
    child: &mut Child,
    exit: &Exit,
    start: Instant,
    bounds: Bounds<'_>,
    cancel: &Cancel,
) -> Result<((ExitStatus, f64), Option<String>), String> {
    let stopped = loop {
        if exit.within(child, LOOK) {
            break None;
        }
        if cancel.is_cancelled() {
            break Some("interrupted".to_owned());
        }
        if start.elapsed() > bounds.timeout {
            break Some(format!("it was ended after {} seconds, its time limit", bounds.timeout.as_secs()));
        }
        if let Some((path, most)) = bounds.output {
            let bytes = std::fs::symlink_metadata(path).map_or(0, |about| about.len());
            if bytes > most {
                break Some(format!("it was ended when its output had {bytes} bytes; accepted: at most {most}"));
            }
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    end_group(child);
    let status = child.wait().map_err(|error| format!("its end cannot be awaited: {error}"))?;
    Ok(((status, seconds), stopped))
}

/// Tells when a child has ended. The child is not reaped, so that the number of its process group still belongs to it.
#[cfg(unix)]
struct Exit(Receiver<()>);

#[cfg(unix)]
impl Exit {
    fn of(child: &Child) -> io::Result<Self> {
        use rustix::io::Errno;
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let (sender, receiver) = channel();
        let pid = group_of(child);
        Builder::new().spawn(move || {
            let wait = |pid| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            while pid.is_some_and(|pid| wait(pid).is_err_and(|error| error == Errno::INTR)) {}
            // The receiver is gone if the child was stopped.
            _ = sender.send(());
        })?;
        Ok(Self(receiver))
    }

    /// Waits for the end, at most so long, and returns whether it has come.
    fn within(&self, _: &mut Child, time: Duration) -> bool {
        !matches!(self.0.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }
}

#[cfg(unix)]
fn group_of(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}

/// Ends a child and its children.
#[cfg(unix)]
fn end_group(child: &mut Child) {
    if let Some(group) = group_of(child) {
        // An error says that no process of the group is left.
        _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Tells when a child has ended.
#[cfg(not(unix))]
struct Exit;

#[cfg(not(unix))]
impl Exit {
    fn of(_: &Child) -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the end, at most so long, and returns whether it has come.
    fn within(&self, child: &mut Child, time: Duration) -> bool {
        let start = Instant::now();
        loop {
            match child.try_wait() {
                Ok(None) if start.elapsed() < time => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

/// Ends a child.
#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    // An error says that it has ended.
    _ = child.kill();
}

/// The end of what a stream delivers, read by a thread of its own.
struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    ended: Receiver<()>,
}

impl Tail {
    fn of(mut stream: impl Read + Send + 'static) -> io::Result<Self> {
        let kept = Arc::new(Mutex::new(VecDeque::with_capacity(2 * KEPT)));
        let (sender, ended) = channel();
        let own = Arc::clone(&kept);
        Builder::new().spawn(move || {
            let mut piece = [0; KEPT];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                let mut kept = own.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&piece[..count]);
                let surplus = kept.len().saturating_sub(KEPT);
                kept.drain(..surplus);
            }
            // The receiver is gone if the time for this has passed.
            _ = sender.send(());
        })?;
        Ok(Self { kept, ended })
    }

    /// The last bytes as text.
    fn end(self) -> String {
        // Whether it ended in time or not, what has come is returned.
        _ = self.ended.recv_timeout(STREAMS_END);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let (front, back) = kept.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }
}

/// How a command failed.
fn reason(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("ended by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => status.to_string(),
    }
}

/// The last words of a command for a message, on one line.
fn last_words(said: &str) -> String {
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let surplus = said.chars().count().saturating_sub(SHOWN);
    let last: String = said.chars().skip(surplus).collect();
    if last.is_empty() { String::new() } else { format!("; it said: {}", dwell::escape(&last)) }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ran(script: &str) -> Result<Ended, String> {
        let arguments = ["sh", "-c", script].map(str::to_owned).to_vec();
        let command = Command { arguments, folder: std::env::temp_dir() };
        run(&command, Bounds { timeout: Duration::from_secs(60), output: None }, &Cancel::default())
    }

    #[test]
    fn the_end_of_a_stream_is_kept() {
        let printed = ran("head -c 20000000 /dev/zero | tr '\\0' x; echo end").unwrap().printed;
        assert!(printed.len() == KEPT && printed.ends_with("xend\n"), "{}", printed.len());
        let error = ran("head -c 20000000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 2").err().unwrap();
        assert!(error.ends_with("xxend") && error.chars().count() < SHOWN + 60, "{error}");
    }

    #[test]
    fn standard_input_is_empty_and_a_stream_held_open_is_left() {
        assert_eq!(ran("cat; echo read").unwrap().printed, "read\n");
        // A process outside of the group holds standard output for longer than the command runs.
        let start = Instant::now();
        let printed = ran("echo first; setsid sleep 20 & exit 0").unwrap().printed;
        assert!(printed == "first\n" && start.elapsed() < Duration::from_secs(10));
    }
}
