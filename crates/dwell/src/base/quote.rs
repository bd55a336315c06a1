//! Foreign text as messages show it: short, in one line, without control characters.

use std::path::Path;

/// The longest text that a message repeats whole, in characters.
pub(crate) const LONGEST: usize = 60;

/// `text` in quotes if it is short; its beginning and length if it is long. Control characters are escaped.
#[must_use]
pub fn quote(text: &str) -> String {
    let length = text.chars().count();
    if length <= LONGEST {
        return format!("\"{}\"", text.escape_debug());
    }
    let start: String = text.chars().take(24).collect();
    format!("\"{}...\" ({length} characters)", start.escape_debug())
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

/// A path as it may be shown: control characters are escaped.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect()
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
    let c: String = c.escape_debug().collect();
    let place = format!("\"{c}\" at character {} of {}", at + 1, quote(text));
    if at == 0 || text.chars().count() <= LONGEST {
        return place;
    }
    let before: String = text.chars().skip(at.saturating_sub(8)).take(at.min(8)).collect();
    format!("{place}, after \"{}\"", before.escape_debug())
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
    fn numbers_need_no_quotes() {
        assert_eq!(
            ["-1", "1.5e-9", "1x", "", "-", "nan"].map(value),
            ["-1", "1.5e-9", "\"1x\"", "\"\"", "\"-\"", "\"nan\""]
        );
    }
}
