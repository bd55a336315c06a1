//! Names of outputs with placeholders: `{name}-{size}.png`.

use crate::error_text::Usage;
use dwell::quote;

/// The placeholders.
const NAMES: [&str; 4] = ["name", "index", "size", "palette"];

/// What the placeholders stand for in a job.
pub(super) struct Values {
    /// The name of the job.
    pub(super) name: String,
    /// Its number, from 1, with leading zeros.
    pub(super) index: String,
    /// The size of its picture.
    pub(super) size: String,
    /// The name of its palette.
    pub(super) palette: String,
}

/// Whether a name has a placeholder. Other names with braces are names.
pub(super) fn has_any(text: &str) -> bool {
    NAMES.iter().any(|name| text.contains(&format!("{{{name}}}")))
}

/// The name that a pattern gives: `{{` and `}}` are braces.
pub(super) fn filled(flag: &'static str, pattern: &str, values: &Values) -> Result<String, Usage> {
    let wrong = |problem: String| {
        Err(Usage::new(flag, problem).accepts("{name}, {index}, {size}, {palette}; {{ and }} for braces"))
    };
    let (mut text, mut rest) = (String::new(), pattern);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        let Some((name, after)) = rest.split_once('}').filter(|_| brace == "{") else {
            return wrong(format!("{} has a single brace", quote(pattern)));
        };
        text.push_str(&match name {
            "name" => part_of_name(&values.name),
            "index" => values.index.clone(),
            "size" => values.size.clone(),
            "palette" => part_of_name(&values.palette),
            _ => return wrong(format!("{} has an unknown placeholder {}", quote(pattern), quote(name))),
        });
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// A text as a part of a file name: characters that separate folders or are invisible become `_`.
fn part_of_name(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '/' | '\\' | ':') || c.is_control() { '_' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_filled_or_refused() {
        let values = Values {
            name: "a/b".to_owned(),
            index: "07".to_owned(),
            size: "64x36".to_owned(),
            palette: "ember".to_owned(),
        };
        let fill = |pattern| filled("-o", pattern, &values);
        assert_eq!(fill("p/{name}-{index}_{size}.{palette}.png").unwrap(), "p/a_b-07_64x36.ember.png");
        assert_eq!(fill("{{name}}}}{index}").unwrap(), "{name}}07");
        assert_eq!(fill("plain").unwrap(), "plain");
        for pattern in ["{nam}", "{", "a}b", "{name", "{}", "{{name}"] {
            assert!(fill(pattern).is_err(), "{pattern}");
        }
        assert!(has_any("x{index}") && !has_any("{x}") && !has_any("name"));
    }
}
