//! Tables of texts, a row for each job of a batch: TOML with a table `[[job]]` for each row, or CSV with a line of columns
//! first.

mod csv;

use crate::base::error::{Error, InputError};
use crate::input::source::{self, Input, of_another_kind};
use crate::input::toml_reader::{Document, Names, RowOfTexts};
use std::path::Path;

/// The most bytes of a file.
const MOST_BYTES: u64 = 8 << 20;
/// The most values of all rows together.
const MOST_VALUES: usize = 1 << 16;

/// The only key of a table in TOML.
const NAMES: Names = Names { of: "a table of jobs", keys: &["job"], aliases: &[] };

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line of the file where it begins, from 1.
    pub line: u64,
    /// The names of its columns, in the order of the file, each with its values: several where TOML has a list. A column
    /// without a value is left out.
    pub cells: Vec<(String, Vec<String>)>,
}

impl Row {
    /// Reads the rows of a file: CSV if its name ends in `.csv`, otherwise TOML. `-` is standard input.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 8 MiB, is not of its form, or has no row or more than 65,536 values.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, Error> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let is_csv = ending.is_some_and(|ending| ending == "csv");
        let read = || {
            let input = Input::open(path)?;
            if let Some(kind) = input.kind() {
                return Err(of_another_kind(kind, "a table of jobs").accepts("TOML with [[job]] tables, or CSV"));
            }
            let text = source::text(input.bytes(MOST_BYTES)?)?;
            if is_csv { Self::parse_csv(&text) } else { Self::parse_toml(&text) }
        };
        read().map_err(|e| e.in_file(path).into())
    }

    /// Reads the rows of a TOML text: the tables of the list `job`. A value is a text, a number as it is written, true or
    /// false, or a list of these.
    ///
    /// # Errors
    /// The problem and its line.
    pub fn parse_toml(text: &str) -> Result<Vec<Self>, InputError> {
        let rows = Document::parse(text)?.keys().rows(&NAMES, "[[job]] tables")?;
        bounded(rows)
    }

    /// Reads the rows of a CSV text as in RFC 4180: values are separated by commas, and one that holds a comma, a quote or
    /// a line end stands in double quotes, in which a quote is doubled. The first line names the columns. Empty lines are
    /// skipped.
    ///
    /// # Errors
    /// The problem and its line.
    pub fn parse_csv(text: &str) -> Result<Vec<Self>, InputError> {
        bounded(csv::rows(text, MOST_VALUES)?)
    }
}

/// The rows, if there are any and they are not too many.
fn bounded(rows: Vec<RowOfTexts>) -> Result<Vec<Row>, InputError> {
    let rows: Vec<_> = rows.into_iter().map(|(line, cells)| Row { line, cells }).collect();
    let values: usize = rows.iter().flat_map(|row| &row.cells).map(|(_, values)| values.len()).sum();
    if rows.is_empty() {
        return Err(
            InputError::malformed("has no jobs").accepts("[[job]] tables in TOML, or lines of CSV below the columns")
        );
    }
    if values > MOST_VALUES {
        return Err(csv::too_many_values(MOST_VALUES));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: u64, cells: &[(&str, &[&str])]) -> Row {
        let cells = cells
            .iter()
            .map(|(name, values)| ((*name).to_owned(), values.iter().map(|value| (*value).to_owned()).collect()));
        Row { line, cells: cells.collect() }
    }

    #[test]
    fn toml_and_csv_give_the_same_rows() {
        let toml = "[[job]]\nwhat = \"a.toml\"\nsize = \"4k\"\naa = 2\n\n[[job]]\nwhat = \"b\"\nzoom = 1.50e2\n\
output = [\"b.png\", \"b.npy\"]\nforce = true\n";
        let read = Row::parse_toml(toml).unwrap();
        assert_eq!(
            read,
            [
                row(1, &[("what", &["a.toml"]), ("size", &["4k"]), ("aa", &["2"])]),
                row(
                    6,
                    &[("what", &["b"]), ("zoom", &["1.50e2"]), ("output", &["b.png", "b.npy"]), ("force", &["true"])]
                ),
            ]
        );
        let csv = "\u{feff}what,size,center\r\na.toml,4k,\r\n\r\n\"b \"\"c\"\"\",,\"-0.75,0.1\"\r\n";
        assert_eq!(
            Row::parse_csv(csv).unwrap(),
            [
                row(2, &[("what", &["a.toml"]), ("size", &["4k"])]),
                row(4, &[("what", &["b \"c\""]), ("center", &["-0.75,0.1"])])
            ]
        );
    }

    #[test]
    fn wrong_tables_are_refused() {
        for (text, said) in [
            ("", "has no [[job]] tables"),
            ("job = 3", "line 1, job: is the number 3, not [[job]] tables"),
            ("job = [1]", "line 1, job: has \"1\": it is to be a table"),
            ("jobs = []", "\"jobs\" is no key of a table of jobs"),
            ("job = []", "has no jobs"),
            ("[[job]]\nwhat = {}", "line 2, what: is a table, not a text"),
            ("[[job]]\nwhat = 1979-05-27", "line 2, what: is a date"),
            ("[[job]]\nwhat = [[1]]", "line 2, what: has"),
        ] {
            let error = Row::parse_toml(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        for (text, said) in [
            ("", "has no line of columns"),
            ("what\n", "has no jobs"),
            ("what,what\na,b", "line 1: the column \"what\" is given twice"),
            ("what,\na,b", "line 1: column 2 has no name"),
            ("what;size\na;4k", "separated by semicolons"),
            ("what,center\na,-0.7,0.1", "line 2: has 3 values for 2 columns"),
            ("what\n\"a", "line 2: a value in quotes has no end"),
            ("what,size\n\n\"a\nb\"c,4k", "line 3: \"c\" follows a value in quotes"),
            ("what\na\"b", "line 2: a quote stands inside a value"),
        ] {
            let error = Row::parse_csv(text).unwrap_err().to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
        let many = format!("what\n{}", "a\n".repeat(MOST_VALUES + 1));
        assert!(Row::parse_csv(&many).unwrap_err().to_string().contains("too many values"));
    }
}
