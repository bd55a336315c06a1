//! What can go wrong, as values. Each kind has its exit code in the program (see [`Error::exit_code`]).

use std::fmt;
use std::io;
use std::path::PathBuf;

/// Anything that stops a render.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Something in what was given: a flag, a name, a file, a size, a view that is too deep.
    #[error(transparent)]
    Input(#[from] InputError),
    /// An output could not be written: disk full, a directory, a closed pipe.
    #[error("cannot write {}: {source}", quote(&path.to_string_lossy()))]
    Write {
        /// The output, `-` for standard output.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An engine that was asked for by name is not available.
    #[error(transparent)]
    Engine(InputError),
    /// Told to stop: see [`crate::Cancel`].
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The program's exit code for it: 2, 4, 5 or 130.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Write { .. } => 4,
            Self::Engine(_) => 5,
            Self::Interrupted => 130,
        }
    }
}

/// One thing wrong in what was given: what, the offending text or its place, the accepted range and a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    what: String,
    problem: String,
    accepted: Option<String>,
    hint: Option<String>,
}

impl InputError {
    /// `what` names the flag, file or field; `problem` says what is wrong with it, the offending text included.
    pub fn new(what: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { what: what.into(), problem: problem.into(), accepted: None, hint: None }
    }

    /// The accepted range or form.
    #[must_use]
    pub fn accepted(mut self, accepted: impl Into<String>) -> Self {
        self.accepted = Some(accepted.into());
        self
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// More to do about it, after what the hint says already.
    #[must_use]
    pub fn and_hint(self, more: &str) -> Self {
        match &self.hint {
            Some(hint) => {
                let joint = if hint.ends_with('?') { "" } else { ";" };
                Self { hint: Some(format!("{hint}{joint} {more}")), ..self }
            }
            None => self.hint(more),
        }
    }

    /// The same with the thing named more closely: `line 3, zoom` becomes `view.toml, line 3, zoom`.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.what = if self.what.is_empty() { outer.to_owned() } else { format!("{outer}, {}", self.what) };
        self
    }

    /// The same about a thing of another name: a flag instead of the value it gives.
    #[must_use]
    pub fn named(mut self, what: &str) -> Self {
        what.clone_into(&mut self.what);
        self
    }

    /// The same about a flag of the program instead of the value of that name: `escape radius` becomes
    /// `--escape-radius`.
    #[must_use]
    pub fn as_flag(mut self) -> Self {
        self.what = format!("--{}", self.what.replace(' ', "-"));
        self
    }

    /// What is wrong, without saying with what.
    #[must_use]
    pub(crate) fn nameless(mut self) -> Self {
        self.what.clear();
        self
    }

    /// The hint, for a program that shows it on a line of its own.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.what.is_empty() {
            write!(f, "{}: ", self.what)?;
        }
        f.write_str(&self.problem)?;
        if let Some(accepted) = &self.accepted {
            write!(f, " (accepted: {accepted})")?;
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// The longest text that an error repeats whole, in characters.
const LONGEST_QUOTE: usize = 60;

/// `text` in quotes if it is short; its beginning and length if it is long. Control characters are escaped.
#[must_use]
pub fn quote(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST_QUOTE {
        return format!("\"{}\"", text.escape_debug());
    }
    let start: String = text.chars().take(24).collect();
    format!("\"{}...\" ({length} characters)", start.escape_debug())
}

/// A number as it may be shown: with an exponent where it would be long without.
pub(crate) fn shown_number(value: f64) -> String {
    let plain = value == 0.0 || (1e-6..1e9).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// A path as it may be shown: control characters are escaped.
pub(crate) fn shown(path: &std::path::Path) -> String {
    path.to_string_lossy()
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
}

/// What stands at the character `at` (from 0) of `text`, for text too long to repeat: `"x" at character 501 (after
/// "...12345")`; short texts are repeated whole.
#[must_use]
pub(crate) fn quote_place(text: &str, at: usize) -> String {
    let Some(c) = text.chars().nth(at) else {
        return format!("{} ends too early", quote(text));
    };
    let c: String = c.escape_debug().collect();
    if text.chars().count() <= LONGEST_QUOTE {
        return format!("\"{c}\" at character {} of {}", at + 1, quote(text));
    }
    let place = format!("\"{c}\" at character {} of {}", at + 1, quote(text));
    if at == 0 {
        return place;
    }
    let before: String = text.chars().skip(at.saturating_sub(8)).take(at.min(8)).collect();
    format!("{place}, after \"{}\"", before.escape_debug())
}

/// The name in `known` nearest to `given`, if one is near enough to be a slip of the finger.
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    if given.chars().count() > LONGEST_QUOTE {
        return None;
    }
    known
        .into_iter()
        .map(|name| {
            let alike = strsim::jaro_winkler(&given, &name.to_lowercase());
            let slip = strsim::osa_distance(&given, &name.to_lowercase()) <= 1;
            let inside = !given.is_empty() && name.split('-').any(|part| part == given);
            (if inside || slip { alike.max(0.9) } else { alike }, name)
        })
        .filter(|(alike, _)| *alike > 0.75)
        // Of equals the shortest: it adds least to what was typed.
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.len().cmp(&a.1.len())))
        .map(|(_, name)| name)
}

/// An error for a name that is none of `known`, with the nearest as a hint.
#[must_use]
pub fn unknown_name<'a>(what: &str, given: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> InputError {
    let list: Vec<&str> = known.clone().into_iter().collect();
    let error = InputError::new(what, format!("{} is not known", quote(given))).accepted(list.join(", "));
    match nearest(given, known) {
        Some(name) => error.hint(format!("did you mean \"{name}\"?")),
        None => error,
    }
}

/// Names of very many that an error lists.
const LISTED: usize = 8;

/// The same for very many names: one that is near is enough, and of others the first stand for all. `lists` says where
/// they are.
pub(crate) fn unknown_among_many<'a>(
    what: &str,
    given: &str,
    known: impl IntoIterator<Item = &'a str> + Clone,
    lists: &str,
) -> InputError {
    let error = InputError::new(what, format!("{} is not known", quote(given)));
    if let Some(name) = nearest(given, known.clone()) {
        return error.hint(format!("did you mean \"{name}\"? {lists}"));
    }
    let names: Vec<&str> = known.into_iter().collect();
    let mut list = names.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    if names.len() > LISTED {
        list += &format!(" and {} more", names.len() - LISTED);
    }
    error.accepted(list).hint(lists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_not_repeated() {
        let long = format!("0.{}x{}", "1".repeat(5000), "2".repeat(4000));
        let shown = quote_place(&long, 5002);
        assert!(shown.len() < 160 && shown.contains("\"x\" at character 5003"), "{shown}");
        assert_eq!(quote("a\nb"), "\"a\\nb\"");
    }

    #[test]
    fn slips_of_the_finger() {
        let known = ["shallow-home", "shallow-seahorse", "kf-1e50"];
        assert_eq!(nearest("shalow-home", known), Some("shallow-home"));
        assert_eq!(nearest("seahorse", known), Some("shallow-seahorse"));
        assert_eq!(nearest("zzz", known), None);
    }
}
