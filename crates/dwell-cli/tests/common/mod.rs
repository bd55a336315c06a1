//! Runs the program in a temporary folder.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    /// Keeps the folder after the test. Returns its path.
    pub(crate) fn keep(self) -> PathBuf {
        self.0.keep()
    }
    /// Writes an input file.
    pub(crate) fn with(self, name: &str, bytes: &[u8]) -> Self {
        #[expect(clippy::disallowed_methods, reason = "an input of a test")]
        std::fs::write(self.join(name), bytes).unwrap();
        self
    }
    /// The names of all files, including hidden ones, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.join(name)).unwrap()
    }
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dwell"));
        command.current_dir(self.path()).env_remove("DWELL_LEVEL").stdin(Stdio::null());
        // Hide CUDA devices, so that the tests behave the same on every machine.
        command.env("CUDA_VISIBLE_DEVICES", "").env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }
    pub(crate) fn run<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Ran {
        Ran::from(self.command().args(args).output().unwrap())
    }
    /// A command that runs a shell script, in which `"$0"` is the program.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_dwell")]).current_dir(self.path()).env_remove("DWELL_LEVEL");
        command.env("CUDA_VISIBLE_DEVICES", "");
        command
    }
    /// Runs the program with the words of a line, and fails the test if it fails.
    pub(crate) fn good(&self, line: &str) -> Ran {
        let ran = self.run(line.split_whitespace());
        assert_eq!(ran.code, 0, "{line}: {}", ran.err);
        ran
    }
    /// The statistics of a render. Fails the test if the render fails.
    pub(crate) fn stats(&self, line: &str) -> serde_json::Value {
        self.good(&format!("render {line} --stats stats.json"));
        serde_json::from_slice(&self.read("stats.json")).unwrap()
    }
}

pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// Interrupts a child. A background job of a shell ignores Ctrl-C, and its children do too, so that the tests then send the
/// signal of termination, which the program treats in the same way.
#[cfg(unix)]
pub(crate) fn interrupt(child: &std::process::Child) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let signal = if ignored & 1 << 1 == 0 { "-INT" } else { "-TERM" };
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}
