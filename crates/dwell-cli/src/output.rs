//! All text output: results on standard output, errors and remarks on standard error.

use crate::error_text::Failure;
use dwell::Error;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Prints to standard output. A closed pipe is a write error, exit code 4.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|source| Error::Write { path: PathBuf::from("-"), source }.into())
}

/// Prints a value as JSON, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&format!("{}\n", json(value)))
}

/// A value as JSON, indented.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Serialization fails only for maps whose keys are not strings, and no report has one.
    serde_json::to_string_pretty(value).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"))
}

/// Prints a value as JSON on standard error. It is a result, so a failed write is an error.
pub(crate) fn json_to_stderr(value: &impl serde::Serialize) -> Result<(), Failure> {
    let fail = |source| Error::Write { path: PathBuf::from("standard error"), source }.into();
    writeln!(io::stderr(), "{}", json(value)).map_err(fail)
}

/// Prints a remark on standard error; a failed write is ignored.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a remark only when standard error is a terminal.
pub(crate) fn remark_to_person(text: &str) {
    if io::stderr().is_terminal() {
        remark(text);
    }
}

/// A remark if more than half of the pixels have not escaped: the limit may be too low.
pub(crate) fn limit_too_low(inside: u64, pixels: u64, limit: u32) -> Option<String> {
    (inside > pixels / 2).then(|| {
        format!(
            "more than half of the pixels have not escaped within the limit {limit}; --max-iter auto finds one that \
settles the picture"
        )
    })
}

/// Foreign text for one line: control characters escaped, cut to `most` characters.
pub(crate) fn tame(text: &str, most: usize) -> String {
    // Only the first characters are examined, however long the text is.
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

/// Prints an error, and its hints on a second line.
pub(crate) fn failure(failure: &Failure) {
    remark(&format!("error: {}", failure.message()));
    if let Some(hints) = failure.hints() {
        remark(&format!("  hint: {hints}"));
    }
}

/// Prints a message of clap: help and version on standard output, anything else as a usage error.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    if error.use_stderr() {
        // `arg_required_else_help` reports the help as an error too.
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
    fn foreign_text_is_escaped_and_cut() {
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
