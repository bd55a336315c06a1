//! All text output: results on standard output, errors and remarks on standard error.

use crate::answers;
use crate::error_text::Failure;
use crate::standard_streams::Stream;
use dwell::{Error, escape, needs_escape};
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

/// Prints a result to standard output. A closed pipe and a closed descriptor are write errors, exit code 4.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Ok(write_result(Stream::Output, io::stdout().lock(), text)?)
}

/// Writes a result to one of the standard streams.
fn write_result(stream: Stream, mut to: impl Write, text: &str) -> Result<(), Error> {
    stream.check()?;
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(|source| stream.error(source))
}

/// Prints a value as JSON, indented.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&format!("{}\n", json(value)))
}

/// A value as JSON, indented. Characters of foreign text that [`needs_escape`] are written as escapes, which JSON readers
/// turn back.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Serialization fails only for maps whose keys are not strings, and no report has one.
    let json = serde_json::to_string_pretty(value).unwrap_or_else(|e| format!("{{\"error\": \"{e}\"}}"));
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        // Such characters are in texts only, except for the line breaks between values.
        if c == '\n' || !needs_escape(c) {
            escaped.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        }
    }
    escaped
}

/// Prints a value as JSON on standard error. It is a result, so a failed write is an error.
pub(crate) fn json_to_stderr(value: &impl serde::Serialize) -> Result<(), Failure> {
    Ok(write_result(Stream::Error, io::stderr().lock(), &format!("{}\n", json(value)))?)
}

/// Prints a remark on standard error in one line, with the characters escaped that [`needs_escape`]. A failed write is
/// ignored.
pub(crate) fn remark(text: &str) {
    let _ = writeln!(io::stderr(), "{}", escape(text));
}

/// Prints a remark only when standard error is a terminal.
pub(crate) fn remark_to_person(text: &str) {
    if io::stderr().is_terminal() {
        remark(text);
    }
}

/// A number of bytes as text, in powers of 1024.
pub(crate) fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1 << 10 {
        return format!("{bytes} bytes");
    }
    let unit = (bytes.ilog2() / 10).min(5);
    let value = bytes as f64 / (1_u64 << (10 * unit)) as f64;
    format!("{value:.1} {}", units[unit as usize - 1])
}

/// Foreign text for one line: cut to `most` characters, and those escaped that [`needs_escape`].
pub(crate) fn tame(text: &str, most: usize) -> String {
    // Only the first characters are examined, however long the text is.
    let cut = text.chars().take(most + 1).count() > most;
    let start: String = text.chars().take(if cut { most.saturating_sub(3) } else { most }).collect();
    let mut tame = escape(&start);
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
        let typed: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        match answers::usage(error, &typed) {
            Some(usage) => failure(&usage.into()),
            // `arg_required_else_help` reports the help as an error too.
            None => drop(error.print()),
        }
        return ExitCode::from(2);
    }
    let print = || match error.print().and_then(|()| io::stdout().flush()) {
        // A help text is no result: a reader such as `head` has seen what it wanted.
        Err(source) if source.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    };
    match Stream::Output.check().and_then(|()| print().map_err(|source| Stream::Output.error(source))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let error = Failure::from(error);
            failure(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_escaped_and_cut() {
        assert_eq!(tame("bl\u{e4}u", 12), "bl\u{e4}u");
        assert_eq!(tame("a\u{1b}[31m\n\u{9b}", 12), "a\\u{1b}[31m\\n\\u{9b}");
        assert_eq!(tame("a\u{202e}b", 12), "a\\u{202e}b");
        assert_eq!(tame(&"x".repeat(1 << 20), 12), "xxxxxxxxx...");
        assert_eq!(tame(&"x".repeat(12), 12), "x".repeat(12));
    }

    #[test]
    fn json_holds_the_same_text_without_hidden_characters() {
        let text = "\u{9b}\u{202e}\u{e0041}\"\u{1b}\n\u{e4}".to_owned();
        let json = json(&[&text]);
        assert!(!json.chars().any(|c| c != '\n' && needs_escape(c)), "{json:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), [text]);
    }

    #[test]
    fn bytes_have_a_unit() {
        let texts = [0, 1023, 1024, 1 << 20, 3 << 29, u64::MAX].map(bytes);
        assert_eq!(texts, ["0 bytes", "1023 bytes", "1.0 KiB", "1.0 MiB", "1.5 GiB", "16384.0 PiB"]);
    }
}
