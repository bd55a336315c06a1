//! Tables of numbers as text: one line per row, values separated by commas. Spaces, a comma at the end of a line, empty
//! lines at the end of the file and the line ends of any system are accepted, since tables come from other programs
//! too.

use super::stored_text::StoredText;
use super::{BUFFERS, Bytes, Cells, Content, Opened, RasterInput, Unseekable, size};
use crate::base::error::InputError;
use crate::base::limits::Limits;
use crate::base::quote::quote;
use crate::compare::value::Value;
use crate::input::open::unreadable;
use crate::view::{MAX_SIDE, Size};

/// The most characters of a value.
const MOST_CHARACTERS: usize = 64;

/// Whether a file with these first bytes may be a table: text that begins like a number.
pub(super) fn may_begin(first: &[u8]) -> bool {
    let text = first.strip_prefix(b"\xef\xbb\xbf").unwrap_or(first).trim_ascii_start();
    let number = matches!(text, [b'0'..=b'9' | b'+' | b'-' | b'.', ..]);
    let word = text.get(..3).is_some_and(|w| w.eq_ignore_ascii_case(b"nan") || w.eq_ignore_ascii_case(b"inf"));
    (number || word) && !text.iter().any(|b| b.is_ascii_control() && !b.is_ascii_whitespace())
}

/// A reader of a table, from its first line.
struct Csv {
    words: Words,
    width: u32,
    column: u32,
}

pub(super) fn open(input: RasterInput, other: Option<Size>, limits: &Limits) -> Result<Opened, InputError> {
    let seekable = input.seekable;
    // What the limit leaves beside the buffers and, of a store, the piece that it has begun.
    let most = limits.memory_bytes.saturating_sub(BUFFERS);
    let mut store = (!seekable).then(|| StoredText::new(most));
    // The first pass determines the size and finds all errors; the second pass returns the numbers.
    let mut words = Words::new(input.bytes)?;
    let (mut width, mut height, mut column) = (0_u64, 0_u64, 0_u64);
    loop {
        match words.next()? {
            Word::Value => {
                column += 1;
                words.value(column)?;
                if column > u64::from(MAX_SIDE) {
                    return Err(words.wrong(format!("has more than {MAX_SIDE} values")));
                }
                if let Some(store) = &mut store {
                    store.add(words.trimmed(), b',')?;
                }
            }
            Word::LineEnd => {
                if height == 0 {
                    width = column;
                }
                if column != width {
                    return Err(words.other_length(column, width));
                }
                (height, column) = (height + 1, 0);
                if height > u64::from(MAX_SIDE) {
                    return Err(InputError::malformed(format!("has more than {MAX_SIDE} rows")));
                }
                if let Some(store) = &mut store {
                    store.add(b"", b'\n')?;
                }
            }
            Word::End => break,
        }
        // A table of another size is not compared, so only its size is needed.
        let differs = |other: Size| {
            column > other.width.into() || height > other.height.into() || (height > 0 && width != other.width.into())
        };
        if other.is_some_and(differs) {
            store = None;
        }
    }
    let size = size(width, height)?;
    let opened = |content, memory_bytes| Opened { format: "csv".to_owned(), size, content, memory_bytes };
    let mut bytes = words.bytes;
    let mut memory_bytes = 0;
    match store {
        _ if seekable => bytes.rewind().map_err(|e| unreadable(&e))?,
        Some(store) => {
            memory_bytes = store.allocated();
            bytes = Box::new(Unseekable(store.into_reader()));
        }
        None => return Ok(opened(Content::Field(Box::new(NotStored)), 0)),
    }
    let csv = Csv { words: Words::new(bytes)?, width: size.width, column: 0 };
    Ok(opened(Content::Field(Box::new(csv)), memory_bytes))
}

/// A table from a pipe that was not stored, since it is larger or has other rows than the raster to compare it with.
struct NotStored;

impl Cells for NotStored {
    fn read(&mut self, _: &mut [Value]) -> Result<(), InputError> {
        Err(InputError::malformed("is a table from a pipe of another size than the raster to compare it with"))
    }
    fn finish(&mut self) -> Result<(), InputError> {
        Ok(())
    }
}

impl Cells for Csv {
    fn read(&mut self, into: &mut [Value]) -> Result<(), InputError> {
        for value in into {
            match self.words.next()? {
                Word::Value => {}
                // Possible only if the file has changed since the first pass.
                Word::LineEnd | Word::End => {
                    return Err(self.words.other_length(u64::from(self.column), u64::from(self.width)));
                }
            }
            self.column += 1;
            *value = self.words.value(self.column.into())?;
        }
        if self.column == self.width {
            self.column = 0;
            if !matches!(self.words.next()?, Word::LineEnd) {
                return Err(InputError::malformed("is longer than it was").at_line(self.words.line));
            }
        }
        Ok(())
    }
    fn finish(&mut self) -> Result<(), InputError> {
        match self.words.next()? {
            Word::End => Ok(()),
            _ => Err(InputError::malformed("is longer than it was")),
        }
    }
}

/// A token of a table.
enum Word {
    /// A value, stored in [`Words::text`].
    Value,
    /// The end of a line with values.
    LineEnd,
    /// The end of the file.
    End,
}

/// A text, split into values and line ends.
struct Words {
    bytes: Box<dyn Bytes>,
    /// The number of the current line, from 1.
    line: u64,
    /// Whether the current line has values.
    values: bool,
    /// The number of the first empty line, after which values are an error.
    empty_line: Option<u64>,
    /// The characters of the current value.
    text: [u8; MOST_CHARACTERS],
    length: usize,
}

impl Words {
    fn new(mut bytes: Box<dyn Bytes>) -> Result<Self, InputError> {
        let marked = bytes.fill_buf().map_err(|e| unreadable(&e))?.starts_with(b"\xef\xbb\xbf");
        bytes.consume(if marked { 3 } else { 0 });
        Ok(Self { bytes, line: 1, values: false, empty_line: None, text: [0; MOST_CHARACTERS], length: 0 })
    }

    /// The characters of the current value without spaces at its ends.
    fn trimmed(&self) -> &[u8] {
        self.text[..self.length].trim_ascii()
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.text[..self.length]).trim().to_owned()
    }

    fn wrong(&self, problem: String) -> InputError {
        InputError::malformed(problem).at_line(self.line)
    }

    /// The error of a line that has ended with another number of values than the first line.
    fn other_length(&self, values: u64, first: u64) -> InputError {
        let line = self.line - u64::from(!self.values);
        InputError::malformed(format!("has {values} values, and the first line has {first}")).at_line(line)
    }

    /// Reads to the end of a value or of a line.
    fn next(&mut self) -> Result<Word, InputError> {
        self.length = 0;
        let mut something = false;
        loop {
            let buffer = self.bytes.fill_buf().map_err(|e| unreadable(&e))?;
            let ended = buffer.is_empty();
            let byte = buffer.first().copied().unwrap_or(b'\n');
            match byte {
                b',' | b'\n' => {
                    if something {
                        // The line end is not consumed: it is the next word.
                        self.bytes.consume(usize::from(byte == b','));
                        self.values = true;
                        return Ok(Word::Value);
                    }
                    if byte == b',' {
                        return Err(
                            self.wrong(format!("value {} is empty", if self.values { "after a comma" } else { "1" }))
                        );
                    }
                    self.bytes.consume(usize::from(!ended));
                    if self.values {
                        self.line += 1;
                        self.values = false;
                        return Ok(Word::LineEnd);
                    }
                    if ended {
                        return Ok(Word::End);
                    }
                    self.empty_line.get_or_insert(self.line);
                    self.line += 1;
                }
                b' ' | b'\t' | b'\r' => {
                    self.bytes.consume(1);
                    if something && self.length < MOST_CHARACTERS {
                        self.text[self.length] = b' ';
                        self.length += 1;
                    }
                }
                _ => {
                    if let Some(empty) = self.empty_line {
                        return Err(InputError::malformed("is empty, and others follow").at_line(empty));
                    }
                    something = true;
                    if self.length == MOST_CHARACTERS {
                        let start = quote(&self.text().chars().take(24).collect::<String>());
                        return Err(self.wrong(format!(
                            "a value is longer than {MOST_CHARACTERS} characters: it begins with {start}"
                        )));
                    }
                    self.text[self.length] = byte;
                    self.length += 1;
                    self.bytes.consume(1);
                }
            }
        }
    }

    /// The current value as a number; `column`, from 1, is for the error message.
    fn value(&self, column: u64) -> Result<Value, InputError> {
        let text = self.trimmed();
        // The common case: 1 to 18 digits.
        if (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
            return Ok(Value::Whole(text.iter().fold(0, |n, digit| 10 * n + i128::from(digit - b'0'))));
        }
        let text = self.text();
        // An integer beyond 64 bits is read as a floating point number.
        let whole = text.parse::<i128>().ok().filter(|n| (i64::MIN.into()..=u64::MAX.into()).contains(n));
        if let Some(whole) = whole {
            return Ok(Value::Whole(whole));
        }
        text.parse().map(Value::Real).map_err(|_| {
            let error = self.wrong(format!("value {column}, {}, is no number", quote(&text)));
            if text.contains([' ', ';', '\t']) { error.accepts("values separated by commas") } else { error }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::raster::{Raster, tests_support::cells};

    fn read(text: &str) -> Result<Vec<Value>, InputError> {
        cells(Raster::from_bytes(text.as_bytes().to_vec(), "x", &Limits::default())?)
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        let expected: Vec<Value> = [1, 20, 3, 4, 0, -6].map(Value::Whole).to_vec();
        for text in [
            "1,20,3\n4,0,-6\n",
            "1,20,3\n4,0,-6",
            "1,20,3,\n4,0,-6,\n",
            "1, 20, 3\r\n4, 0, -6\r\n",
            " 1 ,\t20,3 \n +4,000,-6\n\n \r\n",
            "\u{feff}1,20,3,\r\n4,0,-6, \r\n",
        ] {
            assert_eq!(read(text).unwrap(), expected, "{text:?}");
        }
        let reals = [Value::Real(1.5), Value::Real(2e3), Value::Real(f64::INFINITY), Value::Whole(u64::MAX.into())];
        assert_eq!(read("1.5,2e3\ninf,18446744073709551615\n").unwrap(), reals);
    }

    /// The size, the memory and the numbers of a table from a pipe.
    fn piped(
        bytes: impl std::io::Read + Send + 'static,
        other: Option<Size>,
        most: u64,
    ) -> Result<(Size, u64), InputError> {
        let limits = Limits { memory_bytes: BUFFERS + most };
        let raster = Raster::of(RasterInput::one_way(bytes), other, &limits)?;
        let (size, memory) = (raster.size(), raster.memory_bytes());
        if other.is_none_or(|other| other == size) {
            let expected: Vec<Value> = (0..size.pixels()).map(|i| Value::Whole(i.into())).collect();
            assert!(cells(raster)? == expected);
        }
        Ok((size, memory))
    }

    #[test]
    fn tables_from_pipes_are_stored_within_the_limit() {
        let table = |rows: u64| {
            let row = |row: u64| (0..40).map(|i| format!("{}, ", row * 40 + i)).collect::<String>() + "\r\n";
            (0..rows).map(row).collect::<String>().into_bytes()
        };
        let size = |height| Size { width: 40, height };
        for other in [None, Some(size(30_000))] {
            let (found, memory) = piped(std::io::Cursor::new(table(30_000)), other, 16 << 20).unwrap();
            assert_eq!(found, size(30_000));
            assert!((8 << 20..10 << 20).contains(&memory), "8.2 MB of digits and commas: {memory}");
            let error = piped(std::io::Cursor::new(table(30_000)), other, 4 << 20).unwrap_err();
            assert!(error.to_string().contains("goes on after"), "{error}");
        }
        // Of another size, by rows or by columns: counted to the end and not stored.
        for other in [size(2), Size { width: 39, height: 30_000 }, Size { width: 41, height: 30_000 }] {
            let (found, memory) = piped(std::io::Cursor::new(table(30_000)), Some(other), 4 << 20).unwrap();
            assert_eq!((found, memory), (size(30_000), BUFFERS), "{other}");
        }
        // One endless line, and an endless table.
        for text in ["1,", "1,2,3\n"] {
            let endless = std::iter::repeat_n(text, (64 << 20) / text.len()).collect::<String>();
            let error = piped(std::io::Cursor::new(endless), None, 4 << 20).unwrap_err();
            assert!(error.to_string().contains("goes on after"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        for (text, expected) in [
            ("1,2\n3\n", "line 2: has 1 values, and the first line has 2"),
            ("1,2\n3,4,5\n6,7\n", "line 2: has 3 values"),
            ("1,2\n\n3,4\n", "line 2: is empty"),
            ("1,,2\n", "line 1: value after a comma is empty"),
            ("1,2\n,3\n", "line 2: value 1 is empty"),
            ("1,x\n", "line 1: value 2, \"x\", is no number"),
            ("1,2\n3,4 5\n", "separated by commas"),
            ("1;2\n", "separated by commas"),
            ("1,0x10\n", "is no number"),
            ("1,2\n3,\u{661}\n", "is no number"),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with("x, line ") || error.starts_with("line "), "{error}");
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let long = format!("1,{}\n", "7".repeat(100_000));
        assert!(read(&long).unwrap_err().to_string().contains("longer than 64 characters"));
    }
}
