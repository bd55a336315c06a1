//! CSV as in RFC 4180.

use crate::base::error::InputError;
use crate::base::quote::quote;
use crate::input::toml_reader::RowOfTexts;
use std::iter::Peekable;
use std::str::Chars;

/// The most characters of a value that an error repeats.
const SHOWN: usize = 24;

/// The rows below the line of columns, with at most `most` values.
pub(super) fn rows(text: &str, most: usize) -> Result<Vec<RowOfTexts>, InputError> {
    let mut lines =
        Lines { rest: text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable(), line: 1, left: most, most };
    let Some((line, columns)) = lines.next()? else {
        return Err(InputError::malformed("has no line of columns").accepts("such as what,size,output"));
    };
    check(&columns).map_err(|e| e.at_line(line))?;
    let mut rows = Vec::new();
    while let Some((line, values)) = lines.next()? {
        if values.len() > columns.len() {
            let problem = format!("has {} values for {} columns", values.len(), columns.len());
            return Err(InputError::malformed(problem)
                .accepts("a value that holds a comma stands in double quotes, such as \"-0.75,0.1\"")
                .at_line(line));
        }
        let cells = columns.iter().zip(values).filter(|(_, value)| !value.is_empty());
        rows.push((line, cells.map(|(column, value)| (column.clone(), vec![value])).collect()));
    }
    Ok(rows)
}

/// The error of a table with more values than are read.
pub(super) fn too_many_values(most: usize) -> InputError {
    InputError::malformed("has too many values").accepts(format!("at most {most}"))
}

/// Checks the names of columns.
fn check(columns: &[String]) -> Result<(), InputError> {
    if let [only] = columns
        && only.contains(';')
    {
        return Err(InputError::malformed("the columns are separated by semicolons").accepts("commas"));
    }
    for (i, column) in columns.iter().enumerate() {
        if column.is_empty() {
            return Err(InputError::malformed(format!("column {} has no name", i + 1)));
        }
        if columns[..i].contains(column) {
            return Err(InputError::malformed(format!("the column {} is given twice", quote(column))));
        }
    }
    Ok(())
}

/// The lines of a text that are not empty. A value in quotes may hold line ends.
struct Lines<'a> {
    rest: Peekable<Chars<'a>>,
    /// The line of the next character, from 1.
    line: u64,
    /// The values that may still be read.
    left: usize,
    most: usize,
}

impl Lines<'_> {
    /// The next line's number and values.
    fn next(&mut self) -> Result<Option<(u64, Vec<String>)>, InputError> {
        while self.line_end() {}
        if self.rest.peek().is_none() {
            return Ok(None);
        }
        let (line, mut values) = (self.line, Vec::new());
        loop {
            self.left = self.left.checked_sub(1).ok_or_else(|| too_many_values(self.most))?;
            values.push(self.value().map_err(|e| e.at_line(line))?);
            if self.rest.next_if_eq(&',').is_none() {
                self.line_end();
                return Ok(Some((line, values)));
            }
        }
    }

    /// Takes a line end, if there is one.
    fn line_end(&mut self) -> bool {
        let returned = self.rest.next_if_eq(&'\r').is_some();
        let ended = self.rest.next_if_eq(&'\n').is_some();
        self.line += u64::from(ended);
        returned || ended
    }

    /// Takes a value, up to a comma or a line end.
    fn value(&mut self) -> Result<String, InputError> {
        let mut value = String::new();
        if self.rest.next_if_eq(&'"').is_none() {
            while let Some(c) = self.rest.next_if(|c| !matches!(c, ',' | '\r' | '\n')) {
                if c == '"' {
                    return Err(InputError::malformed("a quote stands inside a value")
                        .accepts("a value in double quotes, in which a quote is doubled"));
                }
                value.push(c);
            }
            return Ok(value.trim().to_owned());
        }
        loop {
            match self.rest.next() {
                None => return Err(InputError::malformed("a value in quotes has no end")),
                Some('"') if self.rest.next_if_eq(&'"').is_none() => break,
                Some(c) => {
                    self.line += u64::from(c == '\n');
                    value.push(c);
                }
            }
        }
        match self.rest.peek() {
            None | Some(',' | '\r' | '\n') => Ok(value),
            Some(_) => {
                let after: String =
                    self.rest.clone().take_while(|c| !matches!(c, ',' | '\r' | '\n')).take(SHOWN).collect();
                Err(InputError::malformed(format!("{} follows a value in quotes", quote(&after))).accepts("a comma"))
            }
        }
    }
}
