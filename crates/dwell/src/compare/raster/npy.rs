//! Two-dimensional NumPy arrays, format versions 1.0, 2.0 and 3.0, in C order: unsigned and signed integers of 1, 2, 4
//! and 8 bytes and floating point numbers of 4 and 8 bytes, little and big endian.

use super::{Bytes, Cells, Content, Opened, RasterInput, at_end, read_exact, size};
use crate::base::error::InputError;
use crate::base::limits::resize;
use crate::base::place::Place;
use crate::base::quote::quote;
use crate::compare::value::Value;
use crate::input::open::unreadable;
use crate::view::Size;

/// The most bytes of a header. A header with a shape and a type has about a hundred.
const MOST_HEADER: usize = 1 << 20;
/// The accepted types, for error messages.
const TYPES: &str = "u1, u2, u4, u8, i1, i2, i4, i8, f4, f8 with < or > before them";

/// The kind of a number type.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

/// The number type of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Type {
    kind: Kind,
    bytes: usize,
    big_endian: bool,
}

impl Type {
    fn parse(text: &str) -> Result<Self, InputError> {
        let wrong = || InputError::malformed(format!("its numbers are of the type {}", quote(text))).accepts(TYPES);
        let (order, code) = match text.as_bytes() {
            [order @ (b'<' | b'>' | b'|' | b'='), code @ ..] => (*order, code),
            code => (b'=', code),
        };
        let (kind, bytes) = match code {
            [b'u', bytes @ (b'1' | b'2' | b'4' | b'8')] => (Kind::Unsigned, bytes),
            [b'i', bytes @ (b'1' | b'2' | b'4' | b'8')] => (Kind::Signed, bytes),
            [b'f', bytes @ (b'4' | b'8')] => (Kind::Float, bytes),
            _ => return Err(wrong()),
        };
        let bytes = usize::from(bytes - b'0');
        // The result must not depend on the reading machine, so an unspecified byte order is little endian.
        if order == b'|' && bytes > 1 {
            return Err(wrong());
        }
        Ok(Self { kind, bytes, big_endian: order == b'>' })
    }

    fn name(self) -> String {
        let kind = match self.kind {
            Kind::Unsigned => "uint",
            Kind::Signed => "int",
            Kind::Float => "float",
        };
        format!("{kind}{}{}", 8 * self.bytes, if self.big_endian && self.bytes > 1 { ", big endian" } else { "" })
    }

    /// The number in `self.bytes` bytes.
    fn value(self, bytes: &[u8]) -> Value {
        let mut wide = [0; 8];
        for (place, byte) in bytes.iter().enumerate() {
            wide[if self.big_endian { bytes.len() - 1 - place } else { place }] = *byte;
        }
        let bits = u64::from_le_bytes(wide);
        let unused = 64 - 8 * u32::try_from(bytes.len()).unwrap_or(8);
        match self.kind {
            Kind::Unsigned => Value::Whole(i128::from(bits)),
            Kind::Signed => Value::Whole(i128::from((bits << unused).cast_signed() >> unused)),
            Kind::Float if bytes.len() == 8 => Value::Real(f64::from_bits(bits)),
            Kind::Float => Value::Real(f32::from_bits(u32::try_from(bits).unwrap_or(0)).into()),
        }
    }
}

/// A reader of an array, positioned after its header.
struct Npy {
    bytes: Box<dyn Bytes>,
    kind: Type,
    size: Size,
    pixel: u64,
    raw: Vec<u8>,
}

pub(super) fn open(mut input: RasterInput) -> Result<Opened, InputError> {
    let bytes = &mut input.bytes;
    let mut fixed = [0; 8];
    let short = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => InputError::malformed("is cut short: it ends in its header"),
        _ => unreadable(&e),
    };
    bytes.read_exact(&mut fixed).map_err(short)?;
    let mut length = [0; 4];
    let before = match fixed[6..] {
        [1, 0] => {
            bytes.read_exact(&mut length[..2]).map_err(short)?;
            10
        }
        [2 | 3, 0] => {
            bytes.read_exact(&mut length).map_err(short)?;
            12
        }
        [major, minor, ..] => {
            let problem = format!("is a NumPy array of format {major}.{minor}");
            return Err(InputError::malformed(problem).accepts("1.0, 2.0, 3.0"));
        }
        _ => return Err(InputError::malformed("is cut short: it ends in its header")),
    };
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    if length > MOST_HEADER {
        return Err(InputError::malformed(format!("has a header of {length} bytes")).accepts("up to 1048576"));
    }
    let mut header = Vec::new();
    resize(&mut header, length, 0, "a header")?;
    bytes.read_exact(&mut header).map_err(short)?;
    let (kind, size) =
        parse(&String::from_utf8_lossy(&header)).map_err(|e| e.within(Place::Part("header".to_owned())))?;
    let data = u128::from(size.pixels()) * kind.bytes as u128;
    input.holds(data + before + length as u128, "its header and numbers")?;
    let npy = Npy { bytes: input.bytes, kind, size, pixel: 0, raw: Vec::new() };
    let format = format!("npy, {}", kind.name());
    Ok(Opened { format, size, content: Content::Field(Box::new(npy)), memory_bytes: 0 })
}

impl Cells for Npy {
    fn read(&mut self, into: &mut [Value]) -> Result<(), InputError> {
        resize(&mut self.raw, into.len() * self.kind.bytes, 0, "a piece of a row")?;
        read_exact(&mut self.bytes, &mut self.raw, self.pixel, self.size)?;
        for (value, raw) in into.iter_mut().zip(self.raw.chunks_exact(self.kind.bytes)) {
            *value = self.kind.value(raw);
        }
        self.pixel += into.len() as u64;
        Ok(())
    }
    fn finish(&mut self) -> Result<(), InputError> {
        at_end(&mut self.bytes)
    }
}

/// Parses a header: a Python dictionary of `descr`, `fortran_order` and `shape`, in any order.
fn parse(text: &str) -> Result<(Type, Size), InputError> {
    let wrong = |problem: String| InputError::malformed(problem);
    let mut scanner = Scanner { text, at: 0 };
    let (mut kind, mut fortran, mut shape) = (None, None, None);
    scanner.expect('{')?;
    while !scanner.accept('}') {
        let key = scanner.string()?;
        scanner.expect(':')?;
        match key {
            "descr" => kind = Some(Type::parse(scanner.string()?)?),
            "fortran_order" => fortran = Some(scanner.boolean()?),
            "shape" => shape = Some(scanner.tuple()?),
            other => {
                return Err(wrong(format!("{} is not known", quote(other))).accepts("descr, fortran_order, shape"));
            }
        }
        if !scanner.accept(',') {
            scanner.expect('}')?;
            break;
        }
    }
    let missing = |key: &str| wrong(format!("says no {key}"));
    let kind = kind.ok_or_else(|| missing("descr"))?;
    if fortran.ok_or_else(|| missing("fortran_order"))? {
        return Err(wrong("the array is stored column by column (fortran_order)".to_owned())
            .accepts("row by row, as numpy.ascontiguousarray makes it"));
    }
    let shape = shape.ok_or_else(|| missing("shape"))?;
    let [height, width] = shape[..] else {
        return Err(wrong(format!("the array has {} dimensions", shape.len())).accepts("2: rows and columns"));
    };
    Ok((kind, size(width, height)?))
}

/// A scanner of the Python literals in a header: strings, booleans, tuples of integers.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn wrong(&mut self, wanted: &str) -> InputError {
        let rest: String = self.rest().chars().take(20).collect();
        InputError::malformed(format!("has {} where {wanted} should be", quote(rest.trim_end())))
    }

    fn accept(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), InputError> {
        if self.accept(wanted) { Ok(()) } else { Err(self.wrong(&format!("\"{wanted}\""))) }
    }

    fn string(&mut self) -> Result<&'a str, InputError> {
        let rest = self.rest();
        let quoted = ['\'', '"'].into_iter().find_map(|q| rest.strip_prefix(q)?.split_once(q));
        let Some((inside, _)) = quoted else {
            let list = rest.starts_with('[');
            let error = self.wrong("a text in quotes");
            return Err(if list { error.accepts("arrays of numbers; arrays of records are not read") } else { error });
        };
        self.at += inside.len() + 2;
        Ok(inside)
    }

    fn boolean(&mut self) -> Result<bool, InputError> {
        for (word, value) in [("True", true), ("False", false)] {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<u64>, InputError> {
        self.expect('(')?;
        let mut numbers = Vec::new();
        while !self.accept(')') {
            let rest = self.rest();
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let number = rest[..digits].parse().map_err(|_| self.wrong("a whole number"))?;
            self.at += digits;
            // The suffix of long integers in Python 2.
            self.accept('L');
            if numbers.len() > 32 {
                return Err(
                    InputError::malformed("the array has more than 32 dimensions").accepts("2: rows and columns")
                );
            }
            numbers.push(number);
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_type_are_read() {
        let value = |descr: &str, bytes: &[u8]| Type::parse(descr).unwrap().value(bytes);
        assert_eq!(value("|u1", &[200]), Value::Whole(200));
        assert_eq!(value("|i1", &[200]), Value::Whole(-56));
        assert_eq!(value("<u2", &[1, 2]), Value::Whole(513));
        assert_eq!(value(">u2", &[1, 2]), Value::Whole(258));
        assert_eq!(value(">i4", &[0xff, 0xff, 0xff, 0xfe]), Value::Whole(-2));
        assert_eq!(value("<u8", &[0xff; 8]), Value::Whole(i128::from(u64::MAX)));
        assert_eq!(value(">i8", &[0x80, 0, 0, 0, 0, 0, 0, 0]), Value::Whole(i128::from(i64::MIN)));
        assert_eq!(value("<f4", &1.5_f32.to_le_bytes()), Value::Real(1.5));
        assert_eq!(value(">f8", &(-0.1_f64).to_be_bytes()), Value::Real(-0.1));
        for descr in ["", "u4x", "<c8", "<U3", "|u4", "|O", "<f2", "b1", "<M8[s]"] {
            assert!(Type::parse(descr).is_err(), "{descr}");
        }
    }

    #[test]
    fn headers_are_parsed_or_rejected() {
        let good = Size { width: 3, height: 2 };
        for text in [
            "{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), }          \n",
            "{\"shape\":(2L,3L),\"descr\":\"<u4\",\"fortran_order\":False}",
            " { 'fortran_order' : False , 'shape' : ( 2 , 3 , ) , 'descr' : '<u4' } ",
        ] {
            assert_eq!(parse(text).unwrap(), (Type::parse("<u4").unwrap(), good), "{text}");
        }
        for (text, expected) in [
            ("", "\"{\""),
            ("{}", "descr"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (2,)}", "1 dimensions"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': ()}", "0 dimensions"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (1, 2, 3)}", "3 dimensions"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (0, 3)}", "3 x 0 pixels"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (-1, 3)}", "whole number"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}", "whole number"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "pixels"),
            ("{'descr': '<u4', 'fortran_order': True, 'shape': (2, 3)}", "fortran_order"),
            ("{'descr': '<u4', 'fortran_order': 0, 'shape': (2, 3)}", "True or False"),
            ("{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (2, 3)}", "quotes"),
            ("{'descr': '<u4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "\"x\""),
            ("{'descr': '<u4' 'fortran_order': False, 'shape': (2, 3)}", "\"}\""),
            ("{'descr': '<u4", "quotes"),
        ] {
            let error = parse(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
