//! TOML as a terminal may show it: the same values, without raw characters that are invisible or change the order of the
//! text.

use dwell::needs_escape;
use std::iter::Peekable;
use std::str::Chars;

/// The form of a TOML string: basic (`"`) or literal (`'`), on one line or on several.
#[derive(Clone, Copy)]
struct Form {
    quote: char,
    multiline: bool,
}

/// `text`, which is valid TOML, with an escape for each character that [`needs_escape`], except for line breaks and tabs. The
/// result is valid TOML with the same keys and values: a literal string that has such a character becomes a basic one. In a
/// comment, where TOML has no escapes, the character is replaced by the text `\u202E`.
pub(crate) fn escaped(text: &str) -> String {
    if !text.chars().any(is_hidden) {
        return text.to_owned();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '#' => {
                escaped.push(c);
                while let Some(c) = rest.next_if(|c| *c != '\n') {
                    push(&mut escaped, c);
                }
            }
            '"' | '\'' => string(c, &mut rest, &mut escaped),
            // Outside of strings and comments, all characters of valid TOML are ASCII.
            c => escaped.push(c),
        }
    }
    escaped
}

fn is_hidden(c: char) -> bool {
    needs_escape(c) && !matches!(c, '\n' | '\r' | '\t')
}

/// Appends `c`, escaped if needed.
fn push(text: &mut String, c: char) {
    match c {
        c if !is_hidden(c) => text.push(c),
        c if u32::from(c) <= 0xffff => text.push_str(&format!("\\u{:04X}", u32::from(c))),
        c => text.push_str(&format!("\\U{:08X}", u32::from(c))),
    }
}

/// Appends the string whose first quotation mark was just read.
fn string(quote: char, rest: &mut Peekable<Chars<'_>>, escaped: &mut String) {
    let mut marks = 1;
    while marks < 3 && rest.next_if_eq(&quote).is_some() {
        marks += 1;
    }
    if marks == 2 {
        // An empty string.
        escaped.extend([quote, quote]);
        return;
    }
    let form = Form { quote, multiline: marks == 3 };
    let content = content(form, rest);
    let becomes_basic = quote == '\'' && content.chars().any(is_hidden);
    let mark = if becomes_basic { '"' } else { quote };
    escaped.extend(std::iter::repeat_n(mark, marks));
    for c in content.chars() {
        if becomes_basic && matches!(c, '"' | '\\') {
            escaped.push('\\');
        }
        push(escaped, c);
    }
    escaped.extend(std::iter::repeat_n(mark, marks));
}

/// The characters up to the end of a string, as they are written. The closing marks are read and left out.
fn content(form: Form, rest: &mut Peekable<Chars<'_>>) -> String {
    let mut content = String::new();
    while let Some(c) = rest.next() {
        if c == '\\' && form.quote == '"' {
            content.push(c);
            content.extend(rest.next());
        } else if c != form.quote {
            content.push(c);
        } else if !form.multiline {
            break;
        } else {
            let mut marks = 1;
            while marks < 5 && rest.next_if_eq(&form.quote).is_some() {
                marks += 1;
            }
            // Of three to five marks in a row, the last three close the string.
            content.extend(std::iter::repeat_n(c, if marks < 3 { marks } else { marks - 3 }));
            if marks >= 3 {
                break;
            }
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwell::Location;

    const PLACE: &str = "re = '0'\nim = \"0\"\nzoom = '''2'''\niterations = 5\n";

    #[test]
    fn text_without_hidden_characters_is_kept() {
        let text = format!("# \u{e4}\n{PLACE}title = 'a\"\\\t'\r\nnotes = \"\"\"x\n\"y\" \\\" \"\"\"\"\"\n");
        assert_eq!(escaped(&text), text);
    }

    #[test]
    fn hidden_characters_are_escaped_and_values_stay() {
        let bad = "\u{202e}\u{9b}\u{e0041}\u{2028}";
        let written = "\\u202E\\u009B\\U000E0041\\u2028";
        for (string, expected) in [
            (format!("\"a{bad}\\\"#'\""), format!("\"a{written}\\\"#'\"")),
            (format!("'a{bad}\\\"#'"), format!("\"a{written}\\\\\\\"#\"")),
            (format!("\"\"\"\n\"\"a{bad}'''\n#\"\"\"\"\""), format!("\"\"\"\n\"\"a{written}'''\n#\"\"\"\"\"")),
            (format!("'''\n\"\"\"''{bad}\\\n''''"), format!("\"\"\"\n\\\"\\\"\\\"''{written}\\\\\n'\"\"\"")),
            (format!("'' # {bad} 'x\""), format!("'' # {written} 'x\"")),
        ] {
            let (text, expected) = (format!("{PLACE}title = {string}\n"), format!("{PLACE}title = {expected}\n"));
            assert_eq!(escaped(&text), expected);
            let title = |text: &str| Location::parse(text, "x").unwrap().scene.title;
            assert_eq!(title(&text), title(&expected), "{string}");
        }
    }
}
