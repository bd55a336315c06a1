//! Plots as SVG. Colours come from the style of the page, so that a plot follows its light or dark scheme.

mod axis;
mod bars;
mod heatmap;
mod lines;
mod scatter;

pub(super) use axis::Axis;
pub(super) use axis::positions;
pub(super) use bars::{Bar, BarChart, BarGroup};
pub(super) use heatmap::{Cell, HeatMap};
pub(super) use lines::{Line, LineChart, Mark};
pub(super) use scatter::{Dot, Roofline};

use super::markup::Markup;

/// The width of a plot in its own units, which are pixels at full size.
const WIDTH: f64 = 760.0;
/// The width of a character of a label: that of a wide font in bold, since the font of the reader is not known.
const CHARACTER: f64 = 7.7;
/// The number of colours; further lines repeat them with other marks.
const COLOURS: usize = 8;

/// A number of a drawing, in hundredths.
fn unit(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    // A zero has no sign.
    format!("{}", rounded + 0.0)
}

/// The class of a colour.
fn colour(index: usize) -> String {
    format!("c{}", index % COLOURS)
}

/// A text with at most `most` characters; the end of a longer one is cut off.
fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.truncate(short.trim_end().len());
    short.push('…');
    short
}

/// The width of a text in a label.
fn width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// The element `svg` with a title and a description for programs that read the page aloud.
fn drawing(height: f64, title: &str, description: &str, content: impl FnOnce(&mut Markup)) -> Markup {
    let mut svg = Markup::default();
    let view = format!("0 0 {} {}", unit(WIDTH), unit(height));
    let (wide, high) = (unit(WIDTH), unit(height));
    let attributes = [
        ("xmlns", "http://www.w3.org/2000/svg"),
        ("viewBox", view.as_str()),
        ("width", wide.as_str()),
        ("height", high.as_str()),
        ("role", "img"),
        ("class", "plot"),
    ];
    svg.element("svg", &attributes, |svg| {
        svg.leaf("title", &[], title);
        svg.leaf("desc", &[], description);
        content(svg);
    });
    svg
}

fn text(svg: &mut Markup, x: f64, y: f64, class: &str, content: &str) {
    svg.leaf("text", &[("x", &unit(x)), ("y", &unit(y)), ("class", class)], content);
}

fn line(svg: &mut Markup, from: (f64, f64), to: (f64, f64), class: &str) {
    let (x1, y1, x2, y2) = (unit(from.0), unit(from.1), unit(to.0), unit(to.1));
    svg.void("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("class", class)]);
}

fn rectangle(svg: &mut Markup, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
    let (x, y, width, height) = (unit(x), unit(y), unit(width.max(0.0)), unit(height.max(0.0)));
    svg.void("rect", &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("class", class)]);
}

/// A path through points; closed if it bounds an area.
fn path(svg: &mut Markup, points: &[(f64, f64)], closed: bool, class: &str) {
    let mut d = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        d.push(if i == 0 { 'M' } else { 'L' });
        d.push_str(&format!("{} {}", unit(*x), unit(*y)));
    }
    if closed {
        d.push('Z');
    }
    svg.void("path", &[("d", &d), ("class", class)]);
}

/// A mark whose form depends on the colour, so that colour is not the only difference. `note` is shown under the pointer.
fn mark(svg: &mut Markup, (x, y): (f64, f64), index: usize, class: &str, note: &str) {
    const R: f64 = 3.6;
    let class = format!("{class} {}", colour(index));
    svg.element("g", &[("class", &class)], |g| {
        if !note.is_empty() {
            g.leaf("title", &[], note);
        }
        match index % 4 {
            0 => g.void("circle", &[("cx", &unit(x)), ("cy", &unit(y)), ("r", &unit(R))]),
            1 => rectangle(g, (x - 3.2, y - 3.2), (6.4, 6.4), ""),
            2 => path(g, &[(x, y - 4.6), (x + 4.6, y), (x, y + 4.6), (x - 4.6, y)], true, ""),
            _ => path(g, &[(x, y - 4.4), (x + 4.2, y + 3.4), (x - 4.2, y + 3.4)], true, ""),
        }
    });
}

/// A text in lines of at most `most` characters, broken at spaces; at most three lines.
fn wrap(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let full = lines.len() == 3;
        match lines.last_mut() {
            Some(line) if full || line.chars().count() + 1 + word.chars().count() <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| short(line, most)).collect()
}

/// What the forms of a plot mean, in a line at `y`. `spread` is what a measured mark shows; none if nothing was measured.
fn key(svg: &mut Markup, x: f64, y: f64, spread: Option<&str>, published: bool) {
    svg.element("g", &[("class", "key")], |g| {
        let mut x = x;
        if let Some(spread) = spread {
            line(g, (x, y - 4.0), (x + 22.0, y - 4.0), "line c0");
            mark(g, (x + 11.0, y - 4.0), 0, "mark", "");
            let words = format!("measured: {spread}");
            text(g, x + 28.0, y, "small", &words);
            x += 36.0 + 0.9 * width(&words);
        }
        if published {
            line(g, (x, y - 4.0), (x + 22.0, y - 4.0), "published c0");
            mark(g, (x + 11.0, y - 4.0), 0, "hollow", "");
            text(g, x + 28.0, y, "small", if spread.is_some() { "published" } else { "published; not measured here" });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn texts_are_broken_at_spaces() {
        assert_eq!(wrap("one thread a pixel, blocks of 16", 20), ["one thread a pixel,", "blocks of 16"]);
        assert_eq!(wrap("a b c d", 1), ["a", "b", "…"]);
        assert_eq!(wrap("immeasurable", 5), ["imme…"]);
        assert!(wrap(" ", 5).is_empty());
    }
}
