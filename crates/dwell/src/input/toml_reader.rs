//! TOML, key by key: what the readers of locations and of palettes share.
//!
//! A key is read when its turn comes in the text, so the first error reported is the first in the file; and each names
//! the key as it was written and its line, in words that need no knowledge of who parses.

use crate::base::error::{InputError, nearest, quote};
use crate::exact::decimal::Decimal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most characters of a number that an error repeats.
const MOST_DIGITS: usize = 40;

/// The names of the keys of a table.
pub(crate) struct Names {
    /// What the table is of, for people.
    pub(crate) of: &'static str,
    /// Every key.
    pub(crate) keys: &'static [&'static str],
    /// Other names, and the key that each stands for.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
}

impl Names {
    /// The key that a name stands for.
    fn find(&self, name: &str) -> Option<&'static str> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, key)| *key);
        alias.or_else(|| self.keys.iter().copied().find(|key| *key == name))
    }
}

/// A text that is TOML.
pub(crate) struct Document<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl<'a> Document<'a> {
    /// Parses a text.
    ///
    /// # Errors
    /// Where it is no TOML.
    pub(crate) fn parse(text: &'a str) -> Result<Self, InputError> {
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { text, table: table.into_inner() }),
            Err(e) => Err(syntax_error(text, &e)),
        }
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> Keys<'_> {
        Keys { text: self.text, table: &self.table }
    }
}

/// The keys of a table.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
}

impl<'a> Keys<'a> {
    /// The text of a key, if it is there and is one.
    pub(crate) fn peek(&self, name: &str) -> Option<&'a str> {
        self.table.iter().find(|(key, _)| key.get_ref() == name).and_then(|(_, value)| value.get_ref().as_str())
    }

    /// Each key in the order of the text, with the name that it goes by; an error in its place for one that is unknown, or
    /// given before under another name.
    pub(crate) fn in_order(&self, names: &Names) -> Vec<Result<(&'static str, Key<'a>), InputError>> {
        let mut keys: Vec<Key<'a>> = self
            .table
            .iter()
            .map(|(name, value)| Key { text: self.text, name: name.get_ref(), start: name.span().start, value })
            .collect();
        keys.sort_by_key(|key| key.start);
        let mut taken: Vec<(&'static str, Key<'a>)> = Vec::new();
        keys.into_iter()
            .map(|key| {
                let Some(name) = names.find(key.name) else { return Err(key.unknown(names)) };
                if let Some((_, first)) = taken.iter().find(|(known, _)| *known == name) {
                    let problem = format!("is given twice: it is {} in line {}", first.name, first.line());
                    return Err(key.wrong(InputError::new("", problem)));
                }
                taken.push((name, key));
                Ok((name, key))
            })
            .collect()
    }
}

/// A key and its value.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    text: &'a str,
    name: &'a str,
    start: usize,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Key<'a> {
    /// The line, from 1, in which it stands.
    fn line(&self) -> usize {
        line_of(self.text, self.start)
    }

    /// Where it stands, for an error about it.
    pub(crate) fn place(&self) -> String {
        let name: String = self.name.chars().take(MOST_DIGITS).flat_map(char::escape_debug).collect();
        format!("line {}, {name}", self.line())
    }

    /// An error about the value, whatever it was about.
    pub(crate) fn wrong(&self, error: InputError) -> InputError {
        error.nameless().within(&self.place())
    }

    fn unknown(&self, names: &Names) -> InputError {
        let problem = format!("{} is no key of {}", quote(self.name), names.of);
        let error = InputError::new(format!("line {}", self.line()), problem);
        let known = names.keys.iter().copied();
        match nearest(self.name, known.chain(names.aliases.iter().map(|(alias, _)| *alias))) {
            Some(name) => error.hint(format!("did you mean {name}?")),
            None => error.hint(format!("its keys are {}", names.keys.join(", "))),
        }
    }

    /// The value as it stands in the text, shortened.
    fn as_written(&self) -> String {
        let span = self.value.span();
        shortened(self.text.get(span).unwrap_or("").trim(), MOST_DIGITS)
    }

    fn of_another_type(&self, wanted: &str) -> InputError {
        let is = match self.value.get_ref() {
            DeValue::String(text) => format!("the text {}", quote(text)),
            DeValue::Integer(_) | DeValue::Float(_) => format!("the number {}", self.as_written()),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date or a time".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        self.wrong(InputError::new("", format!("is {is}, not {wanted}")))
    }

    /// A text.
    pub(crate) fn text(&self) -> Result<&'a str, InputError> {
        self.value.get_ref().as_str().ok_or_else(|| self.of_another_type("text in quotes"))
    }

    /// A text of which `parse` makes something.
    pub(crate) fn parsed<T>(&self, parse: impl FnOnce(&str) -> Result<T, InputError>) -> Result<T, InputError> {
        parse(self.text()?).map_err(|e| self.wrong(e))
    }

    /// A decimal number, in quotes.
    pub(crate) fn decimal(&self) -> Result<Decimal, InputError> {
        if matches!(self.value.get_ref(), DeValue::Integer(_) | DeValue::Float(_)) {
            let error = self.of_another_type("text in quotes");
            let hint =
                format!("write it in quotes, so that every digit is kept: {} = \"{}\"", self.name, self.as_written());
            return Err(error.hint(hint));
        }
        self.parsed(Decimal::parse)
    }

    /// So many decimal numbers, in quotes.
    pub(crate) fn decimals<const N: usize>(&self) -> Result<[Decimal; N], InputError> {
        let wanted = format!("a list of {N} texts in quotes");
        let texts = self.texts(&wanted)?;
        let count = texts.len();
        let values = texts.into_iter().map(|text| Decimal::parse(text).map_err(|e| self.wrong(e)));
        let values: Vec<Decimal> = values.collect::<Result<_, _>>()?;
        values.try_into().map_err(|_| {
            let problem = format!("has {count} number{}, not {N}", if count == 1 { "" } else { "s" });
            self.wrong(InputError::new("", problem))
        })
    }

    /// A list of texts.
    pub(crate) fn texts(&self, wanted: &str) -> Result<Vec<&'a str>, InputError> {
        let DeValue::Array(list) = self.value.get_ref() else { return Err(self.of_another_type(wanted)) };
        list.iter().map(|text| text.get_ref().as_str().ok_or_else(|| self.has_another(text, wanted))).collect()
    }

    /// A list of numbers.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>, InputError> {
        let wanted = "a list of numbers";
        let DeValue::Array(list) = self.value.get_ref() else { return Err(self.of_another_type(wanted)) };
        list.iter().map(|value| number(value.get_ref()).ok_or_else(|| self.has_another(value, wanted))).collect()
    }

    /// An error about one value of a list.
    fn has_another(&self, value: &Spanned<DeValue<'a>>, wanted: &str) -> InputError {
        let written = shortened(self.text.get(value.span()).unwrap_or("").trim(), MOST_DIGITS);
        self.wrong(InputError::new("", format!("has {}: it is to be {wanted}", quote(&written))))
    }

    /// A number that need not be exact.
    pub(crate) fn number(&self) -> Result<f64, InputError> {
        number(self.value.get_ref()).ok_or_else(|| self.of_another_type("a number"))
    }

    /// A whole number in a range, which `accepted` describes.
    pub(crate) fn whole(&self, least: u64, most: u64, accepted: &str) -> Result<u64, InputError> {
        let DeValue::Integer(digits) = self.value.get_ref() else {
            let error = self.of_another_type("a whole number");
            return Err(error.accepted(accepted));
        };
        let value = u64::from_str_radix(digits.as_str(), digits.radix()).ok();
        value.filter(|value| (least..=most).contains(value)).ok_or_else(|| {
            self.wrong(InputError::new("", format!("{} is out of range", self.as_written())).accepted(accepted))
        })
    }

    /// Yes or no.
    pub(crate) fn flag(&self) -> Result<bool, InputError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.of_another_type("true or false")),
        }
    }

    /// A table.
    pub(crate) fn table(&self) -> Result<Keys<'a>, InputError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Keys { text: self.text, table }),
            _ => Err(self.of_another_type("a table")),
        }
    }
}

/// A number, whole or not.
fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().parse().ok(),
        _ => None,
    }
}

/// The line, from 1, of a byte.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at.min(text.len())).unwrap_or("").matches('\n').count() + 1
}

/// `text` if it has at most so many characters, else its beginning and its length.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    text.chars().take(24).chain(format!("... ({length} characters)").chars()).collect()
}

/// What is no TOML, as one line: where, what, and the offending line if it is short.
fn syntax_error(text: &str, error: &toml::de::Error) -> InputError {
    let message = error.message().trim().replace('\n', "; ");
    let span = error.span();
    let spanned = span.clone().and_then(|span| text.get(span)).unwrap_or("");
    if message == "duplicate key" {
        let line = line_of(text, span.map_or(0, |span| span.start));
        return InputError::new(format!("line {line}"), format!("the key {} is given twice", quote(spanned)));
    }
    let message = if message.contains("recur") {
        "lists or tables are nested too deeply".to_owned()
    } else {
        // What it repeats of the text stands between backquotes, however long it is.
        message.split('`').map(|piece| shortened(piece, 80)).collect::<Vec<_>>().join("`")
    };
    let Some(span) = span else { return InputError::new("", message) };
    let number = line_of(text, span.start);
    let line = text.lines().nth(number - 1).unwrap_or("").trim();
    let shown = if line.is_empty() { String::new() } else { format!(", in {}", quote(line)) };
    InputError::new(format!("line {number}"), format!("{message}{shown}"))
}
