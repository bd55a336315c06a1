//! The identity of a render in its journal: a text in TOML. The identities of two renders are equal exactly if one can resume
//! from the journal of the other. This file writes lists and finds keys without a TOML parser.

use crate::base::quote::quote;

/// Writes texts as a list in TOML.
pub(super) fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Writes a text as a string in TOML: a literal string where that avoids escapes.
fn quoted(text: &str) -> String {
    let has_controls = text.contains(|c: char| c.is_ascii_control());
    if text.contains(['"', '\\']) && !text.contains('\'') && !has_controls {
        return format!("'{text}'");
    }
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_ascii_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// The keys of an identity, prefixed with the names of their tables, and their values as messages show them.
fn values(text: &str) -> Vec<(String, String)> {
    let mut values = Vec::new();
    let mut table = String::new();
    let mut listed = 0;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("[[").and_then(|line| line.strip_suffix("]]")) {
            // The tables of a list are numbered from 1; a scene has one list.
            listed += 1;
            table = format!("{name} {listed}.");
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            table = format!("{name}.");
        } else if let Some((key, value)) = line.split_once(" = ") {
            let mut value = value.to_owned();
            if let Some(quotes) = ["\"\"\"", "'''"].into_iter().find(|quotes| value.starts_with(quotes)) {
                // A string of several lines continues up to the line that ends with the same quotes.
                while value.len() < 2 * quotes.len() || !value.ends_with(quotes) {
                    let Some(line) = lines.next() else { break };
                    value.push('\n');
                    value.push_str(line);
                }
            }
            values.push((format!("{table}{key}"), shown(&value)));
        }
    }
    values
}

/// Describes the difference between two TOML texts: the first few keys that differ, with their values before and now.
pub(super) fn difference(before: &str, now: &str) -> String {
    const SHOWN: usize = 5;
    /// Keys that are listed last, since the others are more informative.
    const MINOR: [&str; 3] = ["title", "source", "dwell"];
    let (before, now) = (values(before), values(now));
    let mut keys: Vec<&String> = before.iter().chain(&now).map(|(key, _)| key).collect();
    keys.sort_by_key(|key| (MINOR.contains(&key.as_str()), key.starts_with("colour."), *key));
    keys.dedup();
    let of = |values: &[(String, String)], key: &String| {
        values.iter().find(|(k, _)| k == key).map_or_else(|| "not given".to_owned(), |(_, value)| value.clone())
    };
    let differing: Vec<String> = keys
        .into_iter()
        .map(|key| (key, of(&before, key), of(&now, key)))
        .filter(|(_, before, now)| before != now)
        .map(|(key, before, now)| format!("{key} was {before} and is {now} now"))
        .collect();
    let more = differing.len().saturating_sub(SHOWN);
    let mut text = differing.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(", and {more} more"));
    }
    text
}

/// A value for messages: the content of a string, shortened, in quotes; any other value as written.
fn shown(value: &str) -> String {
    let content = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find_map(|quotes| value.strip_prefix(quotes).and_then(|rest| rest.strip_suffix(quotes)));
    content.map_or_else(|| value.to_owned(), |text| quote(text.strip_prefix('\n').unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_quoted_as_in_toml() {
        let names =
            ["png a b.png", "csv \"q\" \\.csv", "npy \u{e9}'s.npy", "ppm '\".ppm", "ppm \n.ppm"].map(str::to_owned);
        let text = list(&names);
        let expected =
            "[\"png a b.png\", 'csv \"q\" \\.csv', \"npy \u{e9}'s.npy\", \"ppm '\\\".ppm\", \"ppm \\u000A.ppm\"]";
        assert_eq!(text, expected);
        #[cfg(feature = "toml")]
        {
            let read: toml::Table = format!("names = {text}").parse().unwrap();
            assert_eq!(read["names"], toml::Value::from(names.to_vec()));
            // Names without control characters, or both kinds of quotes, are written as the crate toml writes them.
            assert_eq!(list(&names[..3]), toml::Value::from(names[..3].to_vec()).to_string());
        }
    }

    #[test]
    fn differing_keys_and_their_values_are_listed() {
        let a = "size = \"4x4\"\n[scene]\nzoom = \"1\"\nre = \"0\"\n";
        let b = "size = \"4x4\"\n[scene]\nzoom = \"2\"\nre = \"0\"\nim = \"1\"\n";
        assert_eq!(difference(a, b), "scene.im was not given and is \"1\" now, scene.zoom was \"1\" and is \"2\" now");
        let many: String = (0..9).map(|i| format!("k{i} = {i}\n")).collect();
        assert!(difference("", &many).ends_with("k4 was not given and is 4 now, and 4 more"));
    }

    #[test]
    fn the_tables_of_a_list_are_told_apart() {
        let a =
            "[[scene.layer]]\nwhat = \"slope\"\nopacity = 1.0\n\n[[scene.layer]]\nwhat = \"outline\"\nopacity = 1.0\n";
        let b = a.replace("what = \"outline\"\nopacity = 1.0", "what = \"outline\"\nopacity = 0.5");
        assert_eq!(difference(a, &b), "scene.layer 2.opacity was 1.0 and is 0.5 now");
    }

    #[test]
    fn a_string_of_several_lines_is_one_value() {
        let text = "verify = false\ntitle = 'a \"b\"'\n[colour]\npalette_text = \"\"\"\na {\n[x]\ny = 1\n}\"\"\"\n\
            by = \"smooth\"\ne = \"\"\nempty = \"\"\"\n\"\"\"\n";
        let expected = [
            ("verify", "false"),
            ("title", "\"a \\\"b\\\"\""),
            ("colour.palette_text", "\"a {\\n[x]\\ny = 1\\n}\""),
            ("colour.by", "\"smooth\""),
            ("colour.e", "\"\""),
            ("colour.empty", "\"\""),
        ];
        assert_eq!(values(text), expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
    }
}
