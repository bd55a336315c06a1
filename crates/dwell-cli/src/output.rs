//! Everything the program says: text on standard output, errors and remarks on standard error.

use dwell::Error;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints to standard output. A closed pipe is an error like any other: exit code 4.
pub(crate) fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| Error::Write { path: PathBuf::from("-"), source })
}

/// Prints a value as JSON, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Error> {
    print(&format!("{}\n", json(value)))
}

/// A value as JSON, indented.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Fails only for maps with keys that are no text, of which there are none.
    serde_json::to_string_pretty(value).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
}

/// Prints a value as JSON on standard error, as what was asked for and not as a remark: failing is an error.
pub(crate) fn json_to_stderr(value: &impl serde::Serialize) -> Result<(), Error> {
    let fail = |source| Error::Write { path: PathBuf::from("standard error"), source };
    writeln!(io::stderr(), "{}", json(value)).map_err(fail)
}

/// A remark on standard error. Nobody reads it if that is closed.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// A remark for a person: only when standard error is a terminal.
pub(crate) fn remark_to_person(text: &str) {
    if io::stderr().is_terminal() {
        remark(text);
    }
}

/// An error, and its hint on a line of its own.
pub(crate) fn error(error: &Error) {
    remark(&format!("error: {error}"));
    if let Error::Input(input) = error
        && let Some(hint) = input.hint_text()
    {
        remark(&format!("  hint: {hint}"));
    }
}

/// What clap has to say: help and version on standard output, anything else an error of usage.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // `arg_required_else_help` shows the help as an error: nothing was asked for.
        let _ = error.print();
        return ExitCode::from(2);
    }
    match error.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(4),
    }
}
