//! Files of named entries, as Fractint's and Ultra Fractal's: gradients (`.ugr`) and parameters (`.upr`, `.par`).
//!
//! ```text
//! ; a comment
//! NAME {
//!   key=value key="a text" ; a comment
//!   long=12345\
//!     6789
//! }
//! ```
//!
//! A backslash at the end of a line joins a word with the next line.

use crate::base::error::InputError;
use crate::base::names::{nearest, short_list};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::quote::{escape, quote};
use std::borrow::Cow;

/// What the entries of a file are, for messages.
pub(crate) struct Kind {
    /// What one is: `gradient`.
    pub(crate) what: &'static str,
    /// The form of one: `NAME { gradient: ... }`.
    pub(crate) form: &'static str,
    /// The parameter that an unknown name is about.
    pub(crate) parameter: Parameter,
}

/// The text of one entry in a file.
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    /// From the name to the closing brace.
    pub(crate) text: &'a str,
    /// The text between the braces.
    body: &'a str,
    /// The line, from 1, on which the body begins.
    line: usize,
}

impl<'a> Entry<'a> {
    /// The words of the entry.
    pub(crate) fn words(&self) -> Scanner<'a> {
        Scanner { text: self.body, at: 0, line: self.line }
    }
}

/// The entry of the wanted name; without a name, the first entry. Entries that `counts` refuses are passed over.
pub(crate) fn choose<'a>(
    text: &'a str,
    wanted: Option<&str>,
    kind: &Kind,
    counts: impl Fn(&Entry<'_>) -> bool,
) -> Result<Entry<'a>, InputError> {
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rest = Scanner { text, at: 0, line: 1 };
    let mut names = Vec::new();
    while let Some(entry) = rest.entry(kind)? {
        if !counts(&entry) {
            continue;
        }
        if wanted.is_none_or(|wanted| wanted == entry.name) {
            return Ok(entry);
        }
        names.push(entry.name);
    }
    let Some(wanted) = wanted.filter(|_| !names.is_empty()) else {
        return Err(InputError::malformed(format!("holds no {}", kind.what)).accepts(kind.form));
    };
    let short = |name: &&str| escape(&name.chars().take(32).collect::<String>());
    let shown: Vec<String> = names.iter().map(short).collect();
    let problem = Problem::Unknown { given: wanted.to_owned(), nearest: nearest(wanted, names).map(str::to_owned) };
    let list = short_list(shown.iter().map(String::as_str));
    Err(InputError::new(problem).about(kind.parameter.clone()).accepts(list))
}

/// A value without its quotes and as one line: a backslash at the end of a line joins it with the next.
pub(crate) fn unquoted(value: &str) -> String {
    let mut lines = value.trim_matches('"').lines();
    let mut joined = lines.next().unwrap_or("").to_owned();
    for line in lines {
        if joined.ends_with('\\') {
            joined.pop();
        }
        joined += line.trim_start();
    }
    joined
}

/// A reader at a place in a text.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Consumes so many bytes and returns them.
    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + bytes];
        self.at += bytes;
        self.line += taken.bytes().filter(|b| *b == b'\n').count();
        taken
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            self.take(space);
            if !self.rest().starts_with(';') {
                return;
            }
            self.take(self.rest().find('\n').unwrap_or(self.rest().len()));
        }
    }

    /// The quoted text that begins here, with its quotes.
    fn quoted(&mut self) -> Result<&'a str, InputError> {
        match self.rest()[1..].find('"') {
            Some(length) => Ok(self.take(length + 2)),
            None => Err(InputError::malformed("a quotation mark is not closed").at_line(self.line as u64)),
        }
    }

    /// The length of a backslash, the line end after it, and the white space that begins the next line; 0 if none is
    /// here.
    fn continuation(&self) -> usize {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix('\\') else { return 0 };
        let line = after.strip_prefix('\r').unwrap_or(after);
        let Some(next) = line.strip_prefix('\n') else { return 0 };
        rest.len() - next.trim_start_matches([' ', '\t']).len()
    }

    /// The next word and its line. A word ends at white space or a comment outside quotes.
    pub(crate) fn word(&mut self) -> Result<Option<(u64, Cow<'a, str>)>, InputError> {
        loop {
            self.skip_space_and_comments();
            if self.rest().is_empty() {
                return Ok(None);
            }
            let line = self.line as u64;
            let word = self.joined()?;
            // Nothing but a backslash at the end of a line is no word.
            if !word.is_empty() {
                return Ok(Some((line, word)));
            }
        }
    }

    /// The characters up to white space or a comment outside quotes, without backslashes at the ends of lines.
    fn joined(&mut self) -> Result<Cow<'a, str>, InputError> {
        let mut start = self.at;
        // The parts of a word of several lines.
        let mut joined = String::new();
        while let Some(next) = self.rest().chars().next().filter(|c| !c.is_whitespace() && *c != ';') {
            if next == '"' {
                self.quoted()?;
                continue;
            }
            match self.continuation() {
                0 => drop(self.take(next.len_utf8())),
                length => {
                    joined.push_str(&self.text[start..self.at]);
                    self.take(length);
                    start = self.at;
                }
            }
        }
        let last = &self.text[start..self.at];
        Ok(if joined.is_empty() { Cow::Borrowed(last) } else { Cow::Owned(joined + last) })
    }

    /// The next entry; none at the end of the text.
    fn entry(&mut self, kind: &Kind) -> Result<Option<Entry<'a>>, InputError> {
        self.skip_space_and_comments();
        let (start, named_on) = (self.at, self.line);
        if self.rest().is_empty() {
            return Ok(None);
        }
        let wrong = |problem: String| Err(InputError::malformed(problem).accepts(kind.form).at_line(named_on as u64));
        let Some(length) = self.rest().find(['{', '}']).filter(|at| self.rest()[*at..].starts_with('{')) else {
            let line = self.rest().lines().next().unwrap_or("").trim();
            return wrong(format!("{} begins no {}", quote(line), kind.what));
        };
        let name = self.take(length).trim();
        if name.contains('\n') {
            return wrong(format!("{} begins no {}", quote(name), kind.what));
        }
        self.take(1);
        let (body, line) = (self.at, self.line);
        loop {
            match self.rest().find(['}', '"', ';']) {
                None => return wrong(format!("{} {} is not closed", kind.what, quote(name))),
                Some(at) => self.take(at),
            };
            match self.rest().as_bytes().first() {
                Some(b'"') => drop(self.quoted()?),
                Some(b';') => self.skip_space_and_comments(),
                _ => break,
            }
        }
        let body = &self.text[body..self.at];
        self.take(1);
        Ok(Some(Entry { name, text: &self.text[start..self.at], body, line }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { what: "entry", form: "NAME { ... }", parameter: Parameter::Named("entry") };

    #[test]
    fn a_backslash_at_the_end_of_a_line_joins_words() {
        let text = "one {\n a=12\\\r\n\t 34\\\n5 b=\"x; }\" \\c=\\\n \\\n\n d }\n";
        let entry = choose(text, None, &KIND, |_| true).unwrap();
        let mut words = entry.words();
        let mut found = Vec::new();
        while let Some((line, word)) = words.word().unwrap() {
            found.push((line, word.into_owned()));
        }
        let expected =
            [(2, "a=12345"), (4, "b=\"x; }\""), (4, "\\c="), (7, "d")].map(|(line, word)| (line, word.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn entries_that_do_not_count_are_passed_over() {
        let text = "frm:a { x }\nb { }\nc { }\n";
        let counts = |entry: &Entry<'_>| !entry.name.starts_with("frm:");
        assert_eq!(choose(text, None, &KIND, counts).unwrap().name, "b");
        assert_eq!(choose(text, Some("c"), &KIND, counts).unwrap().name, "c");
        let error = choose(text, Some("frm:a"), &KIND, counts).err().unwrap().to_string();
        assert!(error.ends_with("(accepted: b, c)"), "{error}");
    }
}
