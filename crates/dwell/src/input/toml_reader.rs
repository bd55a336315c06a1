//! TOML, key by key: common code of the readers of locations and palettes.
//!
//! Keys are read in the order of the text, so the error reported is the first in the file. Each error names the key as
//! written and its line, in terms of the file, not of the parser.

use crate::base::error::InputError;
use crate::base::names::nearest;
use crate::base::place::KeyPlace;
use crate::base::problem::Problem;
use crate::base::quote::{escape, quote};
use crate::exact::decimal::Decimal;
use crate::input::source::of_another_kind;
use std::ops::Range;
use std::str::FromStr;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Most characters of a number or a key that an error repeats.
const MOST_DIGITS: usize = 40;
/// The most tokens of a text: words, texts in quotes, signs, comments, line ends, and the spaces between them. The parser
/// takes about a hundred bytes of memory for each. A palette of 4096 colours, each with its position and a comment in a
/// line of its own, has about 50,000.
const MOST_TOKENS: usize = 1 << 18;
/// The tokens that a dot or an opening bracket counts for: it may begin a table, for which the parser takes more than a
/// thousand bytes.
const TOKENS_OF_TABLE: usize = 16;
/// The greatest depth of lists and tables within one another.
const MOST_DEPTH: usize = 64;
/// The problem of a text that is deeper.
const TOO_DEEP: &str = "lists or tables are nested too deeply";

/// The names of the keys of a table.
pub(crate) struct Names {
    /// What the table describes, for messages: `a palette`.
    pub(crate) of: &'static str,
    /// Every key.
    pub(crate) keys: &'static [&'static str],
    /// Aliases, each with its key.
    pub(crate) aliases: &'static [(&'static str, &'static str)],
}

impl Names {
    /// The key of that name or alias.
    fn find(&self, name: &str) -> Option<&'static str> {
        let alias = self.aliases.iter().find(|(alias, _)| *alias == name).map(|(_, key)| *key);
        alias.or_else(|| self.keys.iter().copied().find(|key| *key == name))
    }
}

/// A parsed TOML text.
pub(crate) struct Document<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl<'a> Document<'a> {
    /// Parses a text.
    ///
    /// # Errors
    /// The place where the text is not TOML; more than [`MOST_TOKENS`] tokens.
    pub(crate) fn parse(text: &'a str) -> Result<Self, InputError> {
        check_toml(text)?;
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

/// Checks that a text has at most 262,144 tokens, a dot and a bracket counting as 16, and lists and tables within one another at
/// most 64 deep. The lexer is lazy, so this stops at the first too many. The parser recurses for each opening brace even where
/// it reports an error, so that a long run of them overflows the stack.
///
/// # Errors
/// The line with too many or too deep tokens.
pub fn check_toml(text: &str) -> Result<(), InputError> {
    let (mut tokens, mut depth) = (0, 0_usize);
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket => depth += 1,
            TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MOST_DEPTH {
            return Err(InputError::malformed(TOO_DEEP).at_line(line_of(text, token.span().start())));
        }
        tokens += match token.kind() {
            TokenKind::Dot | TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket => TOKENS_OF_TABLE,
            _ => 1,
        };
        if tokens > MOST_TOKENS {
            return Err(InputError::malformed("has too many keys, values, signs and lines")
                .accepts(format!("up to {MOST_TOKENS} of them; a dot or a bracket counts as {TOKENS_OF_TABLE}"))
                .at_line(line_of(text, token.span().start())));
        }
    }
    Ok(())
}

/// The keys of a table.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
}

impl<'a> Keys<'a> {
    /// The value of a key, if it is present and a text.
    pub(crate) fn peek(&self, name: &str) -> Option<&'a str> {
        self.table.iter().find(|(key, _)| key.get_ref() == name).and_then(|(_, value)| value.get_ref().as_str())
    }

    /// Every key in the order of the text, whatever its name.
    pub(crate) fn each(&self) -> Vec<Key<'a>> {
        let mut keys: Vec<_> =
            self.table.iter().map(|(name, value)| (name.span().start, name.get_ref().as_ref(), value)).collect();
        keys.sort_unstable_by_key(|(start, ..)| *start);
        let (mut at, mut line) = (0, 1);
        let key = |(start, name, value)| {
            line += line_ends(self.text, at..start);
            at = start;
            Key { text: self.text, name, line, value }
        };
        keys.into_iter().map(key).collect()
    }

    /// Every key in the order of the text, with the name in `names` that it stands for; an error in place of a key that
    /// is unknown or was given before under another name. An error is built when the iteration reaches it, so that the
    /// time of a reader that stops at the first does not grow with their number.
    pub(crate) fn in_order<'n>(&self, names: &'n Names) -> InOrder<'a, 'n> {
        let mut keys: Vec<_> =
            self.table.iter().map(|(name, value)| (name.span().start, name.get_ref().as_ref(), value)).collect();
        keys.sort_unstable_by_key(|(start, ..)| *start);
        InOrder { text: self.text, names, keys: keys.into_iter(), at: 0, line: 1, taken: Vec::new() }
    }
}

/// The line of a table, from 1, and the names of its keys, each with its values as texts.
pub(crate) type RowOfTexts = (u64, Vec<(String, Vec<String>)>);

impl Keys<'_> {
    /// The tables of a list, the only key in `names`, in the order of the text; `wanted` describes them in messages.
    pub(crate) fn rows(&self, names: &Names, wanted: &str) -> Result<Vec<RowOfTexts>, InputError> {
        let mut list = None;
        for key in self.in_order(names) {
            let (_, key) = key?;
            let DeValue::Array(tables) = key.value.get_ref() else { return Err(key.of_another_type(wanted)) };
            list = Some((key, tables));
        }
        let Some((key, tables)) = list else {
            return Err(InputError::new(Problem::Missing(format!("has no {wanted}"))));
        };
        // The lines are counted once, since tables and their keys stand in the order of the text.
        let (mut at, mut line) = (0, 1);
        let mut line_at = |start: usize| {
            line += line_ends(self.text, at..start.max(at));
            at = at.max(start);
            line
        };
        let mut rows = Vec::new();
        for value in tables {
            let DeValue::Table(table) = value.get_ref() else { return Err(key.has_another(value, "a table")) };
            let mut cells: Vec<_> = table.iter().collect();
            cells.sort_unstable_by_key(|(name, _)| name.span().start);
            let begins = line_at(value.span().start);
            let mut row = Vec::new();
            for (name, value) in cells {
                let key = Key { text: self.text, name: name.get_ref(), line: line_at(name.span().start), value };
                row.push((key.name.to_owned(), key.written_texts()?));
            }
            rows.push((begins, row));
        }
        Ok(rows)
    }
}

/// The keys of a table in the order of the text: see [`Keys::in_order`].
pub(crate) struct InOrder<'a, 'n> {
    text: &'a str,
    names: &'n Names,
    /// The place, the name and the value of each key that is left.
    keys: std::vec::IntoIter<(usize, &'a str, &'a Spanned<DeValue<'a>>)>,
    /// A place in the text, and its line: the text is counted through once.
    at: usize,
    line: u64,
    /// The keys so far, at most as many as there are names.
    taken: Vec<(&'static str, Key<'a>)>,
}

impl<'a> Iterator for InOrder<'a, '_> {
    type Item = Result<(&'static str, Key<'a>), InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (start, name, value) = self.keys.next()?;
        self.line += line_ends(self.text, self.at..start);
        self.at = start;
        let key = Key { text: self.text, name, line: self.line, value };
        let Some(name) = self.names.find(key.name) else { return Some(Err(key.unknown(self.names))) };
        if let Some((_, first)) = self.taken.iter().find(|(known, _)| *known == name) {
            let problem = format!("is given twice: it is {} in line {}", first.name, first.line);
            return Some(Err(key.wrong(InputError::new(Problem::Conflict(problem)))));
        }
        self.taken.push((name, key));
        Some(Ok((name, key)))
    }
}

/// A key and its value.
#[derive(Clone, Copy)]
pub(crate) struct Key<'a> {
    text: &'a str,
    name: &'a str,
    /// Its line, from 1.
    line: u64,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Key<'a> {
    /// Its name.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    /// Its value as it is written: of a number, every digit.
    pub(crate) fn written(&self) -> &'a str {
        self.text.get(self.value.span()).unwrap_or("").trim()
    }

    /// Its value as a list of tables; one table is a list of one.
    pub(crate) fn list_of_tables(&self) -> Result<Vec<Keys<'a>>, InputError> {
        let text = self.text;
        let table = |value: &'a DeValue<'a>| match value {
            DeValue::Table(table) => Some(Keys { text, table }),
            _ => None,
        };
        let tables = match self.value.get_ref() {
            DeValue::Array(list) => list.iter().map(|value| table(value.get_ref())).collect(),
            value => table(value).map(|table| vec![table]),
        };
        tables.ok_or_else(|| self.of_another_type("a list of tables"))
    }

    /// Its line and name, for errors.
    pub(crate) fn place(&self) -> KeyPlace {
        let name: String = self.name.chars().take(MOST_DIGITS).collect();
        (self.line, escape(&name))
    }

    /// The error as one about this key's value.
    pub(crate) fn wrong(&self, error: InputError) -> InputError {
        error.at_key(&self.place())
    }

    fn unknown(&self, names: &Names) -> InputError {
        let known = names.keys.iter().chain(names.aliases.iter().map(|(alias, _)| alias)).copied();
        let nearest = nearest(self.name, known).map(str::to_owned);
        let list = nearest.is_none().then(|| names.keys.join(", "));
        let error = InputError::new(Problem::UnknownKey { given: self.name.to_owned(), of: names.of, nearest });
        list.into_iter().fold(error, InputError::accepts).at_line(self.line)
    }

    /// The value as it is written, shortened.
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
        self.wrong(of_another_kind(is, wanted))
    }

    /// The value if it is a text.
    pub(crate) fn as_text(&self) -> Option<&'a str> {
        self.value.get_ref().as_str()
    }

    /// The value as a text.
    pub(crate) fn text(&self) -> Result<&'a str, InputError> {
        self.value.get_ref().as_str().ok_or_else(|| self.of_another_type("text in quotes"))
    }

    /// The value as a text that `FromStr` reads.
    pub(crate) fn parsed<T: FromStr<Err: Into<InputError>>>(&self) -> Result<T, InputError> {
        self.text()?.parse().map_err(|e: T::Err| self.wrong(e.into()))
    }

    /// The value as a decimal number in quotes.
    pub(crate) fn decimal(&self) -> Result<Decimal, InputError> {
        if matches!(self.value.get_ref(), DeValue::Integer(_) | DeValue::Float(_)) {
            return Err(self.wrong(InputError::new(Problem::UnquotedNumber { written: self.as_written() })));
        }
        self.parsed()
    }

    /// A list of `N` decimal numbers, in quotes.
    pub(crate) fn decimals<const N: usize>(&self) -> Result<[Decimal; N], InputError> {
        let wanted = format!("a list of {N} texts in quotes");
        let texts = self.texts(&wanted)?;
        let count = texts.len();
        let values = texts.into_iter().map(|text| text.parse().map_err(|e| self.wrong(e)));
        let values: Vec<Decimal> = values.collect::<Result<_, _>>()?;
        values.try_into().map_err(|_| {
            let problem = format!("has {count} number{}, not {N}", if count == 1 { "" } else { "s" });
            self.wrong(InputError::malformed(problem))
        })
    }

    /// The value as a list of texts.
    pub(crate) fn texts(&self, wanted: &str) -> Result<Vec<&'a str>, InputError> {
        let DeValue::Array(list) = self.value.get_ref() else { return Err(self.of_another_type(wanted)) };
        list.iter().map(|text| text.get_ref().as_str().ok_or_else(|| self.has_another(text, wanted))).collect()
    }

    /// The value as a list of numbers.
    pub(crate) fn numbers(&self) -> Result<Vec<f64>, InputError> {
        let wanted = "a list of numbers";
        let DeValue::Array(list) = self.value.get_ref() else { return Err(self.of_another_type(wanted)) };
        list.iter().map(|value| number(value.get_ref()).ok_or_else(|| self.has_another(value, wanted))).collect()
    }

    /// The value as a text, or those of a list: numbers as they are written.
    fn written_texts(&self) -> Result<Vec<String>, InputError> {
        const WANTED: &str = "a text, a number, true or false, or a list of these";
        let written = |value: &Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(_) | DeValue::Float(_) => self.text.get(value.span()).map(|text| text.replace('_', "")),
            DeValue::Boolean(value) => Some(value.to_string()),
            _ => None,
        };
        match self.value.get_ref() {
            DeValue::Array(list) => {
                list.iter().map(|value| written(value).ok_or_else(|| self.has_another(value, WANTED))).collect()
            }
            _ => written(self.value).map(|text| vec![text]).ok_or_else(|| self.of_another_type(WANTED)),
        }
    }

    /// The error for a value of another type in a list.
    fn has_another(&self, value: &Spanned<DeValue<'a>>, wanted: &str) -> InputError {
        let written = shortened(self.text.get(value.span()).unwrap_or("").trim(), MOST_DIGITS);
        self.wrong(InputError::malformed(format!("has {}: it is to be {wanted}", quote(&written))))
    }

    /// A number, rounded to f64.
    pub(crate) fn number(&self) -> Result<f64, InputError> {
        number(self.value.get_ref()).ok_or_else(|| self.of_another_type("a number"))
    }

    /// A whole number from `least` to `most`; `accepted` describes the range in messages.
    pub(crate) fn whole(&self, least: u64, most: u64, accepted: &str) -> Result<u64, InputError> {
        let DeValue::Integer(digits) = self.value.get_ref() else {
            let error = self.of_another_type("a whole number");
            return Err(error.accepts(accepted));
        };
        let value = u64::from_str_radix(digits.as_str(), digits.radix()).ok();
        value
            .filter(|value| (least..=most).contains(value))
            .ok_or_else(|| self.wrong(InputError::out_of_range(self.as_written()).accepts(accepted)))
    }

    /// True or false.
    pub(crate) fn flag(&self) -> Result<bool, InputError> {
        match self.value.get_ref() {
            DeValue::Boolean(value) => Ok(*value),
            _ => Err(self.of_another_type("true or false")),
        }
    }

    /// The value as a table.
    pub(crate) fn table(&self) -> Result<Keys<'a>, InputError> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(Keys { text: self.text, table }),
            _ => Err(self.of_another_type("a table")),
        }
    }

    /// The value as a list of tables, `[[name]]`, each with its line.
    pub(crate) fn tables(&self) -> Result<Vec<(u64, Keys<'a>)>, InputError> {
        let wanted = format!("a list of tables, [[{}]]", self.place().1);
        let DeValue::Array(list) = self.value.get_ref() else { return Err(self.of_another_type(&wanted)) };
        let table = |value: &'a Spanned<DeValue<'a>>| match value.get_ref() {
            DeValue::Table(table) => Ok((line_of(self.text, value.span().start), Keys { text: self.text, table })),
            _ => Err(self.has_another(value, &wanted)),
        };
        list.iter().map(table).collect()
    }
}

/// The value of an integer or a float.
fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(digits) => digits.as_str().parse().ok(),
        DeValue::Integer(digits) if digits.radix() == 10 => digits.as_str().parse().ok(),
        _ => None,
    }
}

/// The line, from 1, of the byte `at`.
fn line_of(text: &str, at: usize) -> u64 {
    line_ends(text, 0..at) + 1
}

/// The line ends in a part of a text.
fn line_ends(text: &str, part: Range<usize>) -> u64 {
    let part = text.as_bytes().get(part.start..part.end.min(text.len())).unwrap_or(&[]);
    part.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// `text` if it has at most `most` characters, otherwise its first 24 characters and its length.
fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    text.chars().take(24).chain(format!("... ({length} characters)").chars()).collect()
}

/// A syntax error as one line of text: its place, the problem, and the offending line.
fn syntax_error(text: &str, error: &toml::de::Error) -> InputError {
    let message = error.message().trim().replace('\n', "; ");
    let span = error.span();
    let spanned = span.clone().and_then(|span| text.get(span)).unwrap_or("");
    if message == "duplicate key" {
        let line = line_of(text, span.map_or(0, |span| span.start));
        return InputError::malformed(format!("the key {} is given twice", quote(spanned))).at_line(line);
    }
    let message = if message.contains("recur") {
        TOO_DEEP.to_owned()
    } else {
        // The message quotes parts of the text, of any length, between backquotes.
        message.split('`').map(|piece| escape(&shortened(piece, 80))).collect::<Vec<_>>().join("`")
    };
    let Some(span) = span else { return InputError::malformed(message) };
    let number = line_of(text, span.start);
    let line = text.get(..span.start).unwrap_or("").rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(line..).and_then(|rest| rest.lines().next()).unwrap_or("").trim();
    let shown = if line.is_empty() { String::new() } else { format!(", in {}", quote(line)) };
    InputError::malformed(format!("{message}{shown}")).at_line(number)
}
