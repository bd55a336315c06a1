//! Foreign text as messages show it: short, in one line, without characters that are invisible or that change how a terminal
//! shows the text around them.

use std::fmt::Write;
use std::path::Path;

/// The longest text that a message repeats whole, in characters.
pub(crate) const LONGEST: usize = 60;

/// Characters beside the control characters that are escaped, as inclusive ranges in ascending order: the code points with the
/// property `Default_Ignorable_Code_Point` of Unicode 16 (invisible, among them the marks, embeddings, overrides and isolates
/// of the bidirectional algorithm, and all variation selectors and tags), the line and paragraph separators, and the
/// annotation characters.
const HIDDEN: [(u32, u32); 18] = [
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x61c, 0x61c),
    (0x115f, 0x1160),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x200b, 0x200f),
    (0x2028, 0x202e),
    (0x2060, 0x206f),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfff8),
    (0xfff9, 0xfffb),
    (0x1_bca0, 0x1_bca3),
    (0x1_d173, 0x1_d17a),
    (0xe_0000, 0xe_0fff),
];

/// Whether a character of foreign text is escaped wherever the text is shown: control characters (C0, DEL and C1), marks that
/// change the direction of text, other invisible characters, and separators of lines and paragraphs. All of them are in no
/// readable text, or change no letter of it.
///
/// ```
/// assert!(dwell::needs_escape('\u{9b}') && dwell::needs_escape('\u{202e}') && dwell::needs_escape('\n'));
/// assert!(!dwell::needs_escape('a') && !dwell::needs_escape('\u{e4}') && !dwell::needs_escape(' '));
/// ```
#[must_use]
pub fn needs_escape(c: char) -> bool {
    let code = u32::from(c);
    c.is_control() || code >= 0xad && HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

/// Appends a character, escaped as in Rust if it [`needs_escape`].
fn push(text: &mut String, c: char) {
    match c {
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        // Writing to a `String` cannot fail.
        c if needs_escape(c) => drop(write!(text, "\\u{{{:x}}}", u32::from(c))),
        c => text.push(c),
    }
}

/// `text` with the characters that [`needs_escape`] escaped: `\n`, `\r`, `\t`, `\u{202e}`. Nothing else is changed, so an
/// escape in the text looks the same as the character that it stands for.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    text.chars().for_each(|c| push(&mut escaped, c));
    escaped
}

/// `text` as it stands between quotation marks: as [`escape`], and with a backslash before `"` and `\`.
fn between_quotes(text: impl IntoIterator<Item = char>) -> String {
    let mut escaped = String::new();
    for c in text {
        if matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        push(&mut escaped, c);
    }
    escaped
}

/// `text` in quotes if it is short; its beginning and length if it is long. Characters that [`needs_escape`] are escaped.
#[must_use]
pub fn quote(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return format!("\"{}\"", between_quotes(text.chars()));
    }
    format!("\"{}...\" ({length} characters)", between_quotes(text.chars().take(24)))
}

/// A value as it was written: a short number as it is, anything else in quotes.
pub(crate) fn value(text: &str) -> String {
    let numeric = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    let is_number =
        text.len() <= LONGEST && text.bytes().all(numeric) && text.bytes().any(|byte| byte.is_ascii_digit());
    if is_number { text.to_owned() } else { quote(text) }
}

/// A number as it may be shown: with an exponent where it would be long without.
pub(crate) fn shown_number(value: f64) -> String {
    let plain = value == 0.0 || (1e-6..1e9).contains(&value.abs());
    if plain { value.to_string() } else { format!("{value:e}") }
}

/// A number of bytes that are needed, rounded up to a tenth of its unit: `1 byte`, `3.2 MiB`.
pub(crate) fn needed_bytes(bytes: u64) -> String {
    shown_bytes(bytes, true)
}

/// A number of bytes that are allowed, rounded down to a tenth of its unit, so that it never looks like a larger number that
/// is needed.
pub(crate) fn allowed_bytes(bytes: u64) -> String {
    shown_bytes(bytes, false)
}

fn shown_bytes(bytes: u64, rounds_up: bool) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let Some((shift, name)) = units.into_iter().find(|(shift, _)| bytes >> shift > 0) else {
        return format!("{bytes} byte{}", if bytes == 1 { "" } else { "s" });
    };
    let (ten, unit) = (u128::from(bytes) * 10, 1_u128 << shift);
    let tenths = if rounds_up { ten.div_ceil(unit) } else { ten / unit };
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// A path as it may be shown, as [`escape`] says.
pub(crate) fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

/// A path as messages name it; `-` is standard input.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { shown(path) }
}

/// What stands at the character `at` (from 0) of `text`: `"x" at character 501 of "0.74..." (902 characters), after
/// "...12345"`; short texts are repeated whole.
#[must_use]
pub(crate) fn quote_place(text: &str, at: usize) -> String {
    let Some(c) = text.chars().nth(at) else {
        return format!("{} ends too early", quote(text));
    };
    let place = format!("\"{}\" at character {} of {}", between_quotes([c]), at + 1, quote(text));
    if at == 0 || text.chars().count() <= LONGEST {
        return place;
    }
    let before = text.chars().skip(at.saturating_sub(8)).take(at.min(8));
    format!("{place}, after \"{}\"", between_quotes(before))
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
    fn hidden_characters_are_escaped_in_every_form() {
        let hidden = "\u{85}\u{9b}\u{ad}\u{61c}\u{115f}\u{180e}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\
            \u{2060}\u{2066}\u{2069}\u{fe0f}\u{feff}\u{fffb}\u{e0041}\u{e0101}\u{7f}\u{1b}\0\n";
        for c in hidden.chars() {
            assert!(needs_escape(c), "{c:?}");
            for shown in [
                quote(&format!("ab{c}")),
                quote(&format!("ab{c}{}", "x".repeat(100))),
                quote_place(&format!("ab{c}{}", "x".repeat(100)), 2),
                quote_place(&format!("{}ab{c}x", "x".repeat(100)), 103),
                shown(Path::new(&format!("ab{c}"))),
                value(&c.to_string()),
            ] {
                assert!(!shown.contains(c) && shown.contains('\\'), "{c:?}: {shown:?}");
            }
        }
        let readable = "a\u{e4}\u{4e2d}\u{5d0}\u{627}\u{301} '";
        assert_eq!(quote(readable), format!("\"{readable}\""));
        assert_eq!(quote("a\"\\"), "\"a\\\"\\\\\"");
        assert_eq!(escape("a\"\\\u{202e}"), "a\"\\\\u{202e}");
    }

    #[test]
    fn the_table_is_in_order() {
        assert!(HIDDEN.windows(2).all(|pair| pair[0].1 < pair[1].0) && HIDDEN.iter().all(|(a, b)| a <= b));
    }

    #[test]
    fn needed_and_allowed_bytes_never_look_the_same() {
        assert_eq!([0, 1, 2, 1023].map(needed_bytes), ["0 bytes", "1 byte", "2 bytes", "1023 bytes"]);
        assert_eq!([1024, 1025, 1_048_577].map(needed_bytes), ["1.0 KiB", "1.1 KiB", "1.1 MiB"]);
        assert_eq!([1025, 1_048_576, 3 << 30].map(allowed_bytes), ["1.0 KiB", "1.0 MiB", "3.0 GiB"]);
        for allowed in [1, 1023, 1024, 1536, 1_048_575, 1_048_576, 1_100_000, 1 << 30, u64::MAX - 1] {
            assert_ne!(needed_bytes(allowed + 1), allowed_bytes(allowed), "{allowed}");
        }
    }

    #[test]
    fn numbers_need_no_quotes() {
        assert_eq!(
            ["-1", "1.5e-9", "1x", "", "-", "nan"].map(value),
            ["-1", "1.5e-9", "\"1x\"", "\"\"", "\"-\"", "\"nan\""]
        );
    }
}
