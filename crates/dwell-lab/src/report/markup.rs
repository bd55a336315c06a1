//! A writer of HTML and SVG that closes every element and escapes every text.

/// Markup in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Markup {
    text: String,
    open: Vec<&'static str>,
}

/// Attributes of an element.
pub(super) type Attributes<'a> = &'a [(&'a str, &'a str)];

impl Markup {
    /// An element around what `content` writes.
    pub(super) fn element(&mut self, name: &'static str, attributes: Attributes<'_>, content: impl FnOnce(&mut Self)) {
        self.start(name, attributes);
        self.text.push('>');
        self.open.push(name);
        content(self);
        if let Some(name) = self.open.pop() {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
        if matches!(name, "p" | "tr" | "li" | "section" | "table" | "figure" | "svg" | "div" | "h1" | "h2" | "h3" | "g")
        {
            self.text.push('\n');
        }
    }

    /// An element around a text.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes<'_>, text: &str) {
        self.element(name, attributes, |inside| inside.text(text));
    }

    /// An element without content: `<br/>`, `<path .../>`.
    pub(super) fn void(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.text.push_str("/>");
    }

    fn start(&mut self, name: &str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(name);
        for (key, value) in attributes {
            self.text.push(' ');
            self.text.push_str(key);
            self.text.push_str("=\"");
            escape(&mut self.text, value);
            self.text.push('"');
        }
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str) {
        escape(&mut self.text, text);
    }

    /// Markup that was written by another writer.
    pub(super) fn add(&mut self, other: &Self) {
        self.text.push_str(&other.text);
    }

    /// The rules of the page, which hold no `<`.
    pub(super) fn style(&mut self, rules: &'static str) {
        self.text.push_str("<style>");
        self.text.push_str(rules);
        self.text.push_str("</style>\n");
    }

    /// What was written.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

/// Appends a text so that it is no markup. Control characters, which XML forbids, become the replacement character.
fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
}

/// Paragraphs, lists, `code`, *emphasis* and **strong** of Markdown; everything else is text.
pub(super) fn markdown(out: &mut Markup, text: &str) {
    for block in text.replace("\r\n", "\n").split("\n\n").map(str::trim).filter(|block| !block.is_empty()) {
        let is_item = |line: &str| line.starts_with("* ") || line.starts_with("- ");
        if !block.lines().next().is_some_and(is_item) {
            out.element("p", &[], |p| inline(p, block));
            continue;
        }
        let mut items: Vec<String> = Vec::new();
        for line in block.lines() {
            match (is_item(line), items.last_mut()) {
                (false, Some(item)) => {
                    item.push(' ');
                    item.push_str(line.trim());
                }
                _ => items.push(line.get(2..).unwrap_or_default().trim().to_owned()),
            }
        }
        out.element("ul", &[], |list| items.iter().for_each(|item| list.element("li", &[], |li| inline(li, item))));
    }
}

/// Text with `code`, *emphasis* and **strong**.
pub(super) fn inline(out: &mut Markup, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*']) {
        let (mark, tag) = match &rest[at..] {
            marked if marked.starts_with('`') => ("`", "code"),
            marked if marked.starts_with("**") => ("**", "strong"),
            _ => ("*", "em"),
        };
        let after = &rest[at + mark.len()..];
        // A mark before a space or without its partner is a character.
        let end = after.find(mark).filter(|end| *end > 0 && !after.starts_with(' '));
        out.text(&rest[..at]);
        match end {
            Some(end) => {
                out.leaf(tag, &[], &after[..end]);
                rest = &after[end + mark.len()..];
            }
            None => {
                out.text(mark);
                rest = after;
            }
        }
    }
    out.text(rest);
}

/// Bytes as a `data:` address.
pub(super) fn data_address(kind: &str, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!("data:{kind};base64,");
    text.reserve(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i) & 63) as usize];
            text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_escaped_and_elements_closed() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", "a\"<b>")], |p| p.text("x < y & 'z' \u{1}"));
        assert_eq!(markup.finish(), "<p title=\"a&quot;&lt;b&gt;\">x &lt; y &amp; &#39;z&#39; \u{fffd}</p>\n");
    }

    #[test]
    fn base64_is_padded() {
        for (bytes, expected) in [("", ""), ("M", "TQ=="), ("Ma", "TWE="), ("Man", "TWFu"), ("light w", "bGlnaHQgdw==")]
        {
            assert_eq!(data_address("a/b", bytes.as_bytes()), format!("data:a/b;base64,{expected}"));
        }
    }

    #[test]
    fn markdown_has_paragraphs_lists_and_marks() {
        let mut markup = Markup::default();
        markdown(&mut markup, "a *b* `c<d` 2 * 3\n\n* one\n  more\n* **two**");
        let expected = "<p>a <em>b</em> <code>c&lt;d</code> 2 * 3</p>\n\
                        <ul><li>one more</li>\n<li><strong>two</strong></li>\n</ul>";
        assert_eq!(markup.finish(), expected);
    }
}
