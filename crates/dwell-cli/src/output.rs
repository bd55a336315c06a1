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

/// What to say of a picture of which more has not escaped than has, if it is one: its limit may be too low.
pub(crate) fn limit_too_low(inside: u64, pixels: u64, limit: u32) -> Option<String> {
    (inside > pixels / 2).then(|| {
        format!(
            "more than half of the pixels have not escaped within the limit {limit}; --max-iter auto finds one that \
settles the picture"
        )
    })
}

/// Text of somebody else's as it may stand in a line: control characters escaped, cut to so many characters.
pub(crate) fn tame(text: &str, most: usize) -> String {
    // What follows a cut is not looked at, however long it is.
    let mut start = text.chars().take(most + 1).collect::<Vec<char>>();
    let cut = start.len() > most;
    start.truncate(if cut { most.saturating_sub(3) } else { most });
    let mut tame: String =
        start.into_iter().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect();
    if cut {
        tame.push_str("...");
    }
    tame
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_tamed() {
        assert_eq!(tame("bl\u{e4}u", 12), "bl\u{e4}u");
        assert_eq!(tame("a\u{1b}[31m\n\u{9b}", 12), "a\\u{1b}[31m\\n\\u{9b}");
        assert_eq!(tame(&"x".repeat(1 << 20), 12), "xxxxxxxxx...");
        assert_eq!(tame(&"x".repeat(12), 12), "x".repeat(12));
    }

    #[test]
    fn a_limit_is_too_low_when_most_is_inside() {
        assert!(limit_too_low(51, 100, 1000).unwrap().contains("within the limit 1000"));
        assert_eq!(limit_too_low(50, 100, 1000), None);
    }
}
