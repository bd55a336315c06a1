//! Horizontal bars in groups.

use super::lines::Mark;
use super::{Axis, colour, drawing, key, line, mark, rectangle, short, text, width, wrap};
use crate::report::markup::Markup;

/// A bar.
#[derive(Clone, Debug)]
pub(in crate::report) struct Bar {
    /// What it is.
    pub(in crate::report) label: String,
    /// Its colour.
    pub(in crate::report) colour: usize,
    /// The measured value; its `x` has no meaning.
    pub(in crate::report) measured: Option<Mark>,
    /// The published value.
    pub(in crate::report) published: Option<f64>,
    /// The value as text, or why there is none.
    pub(in crate::report) words: String,
}

/// Bars under a heading, which may be empty.
#[derive(Clone, Debug)]
pub(in crate::report) struct BarGroup {
    /// The heading.
    pub(in crate::report) heading: String,
    /// The bars.
    pub(in crate::report) bars: Vec<Bar>,
}

/// A plot of bars.
#[derive(Clone, Debug)]
pub(in crate::report) struct BarChart {
    /// What it shows.
    pub(in crate::report) title: String,
    /// The same in a sentence.
    pub(in crate::report) description: String,
    /// The axis of the values.
    pub(in crate::report) axis: Axis,
    /// The bars.
    pub(in crate::report) groups: Vec<BarGroup>,
}

const TOP: f64 = 30.0;
/// The height of a bar with its space, and that of each further line of its label.
const ROW: f64 = 24.0;
const LINE: f64 = 14.0;
const HEADING: f64 = 26.0;
/// Most characters of a line of a label.
const LABEL: usize = 28;
/// The room for the value of a bar behind it.
const VALUE: f64 = 130.0;

impl BarChart {
    /// The plot.
    pub(in crate::report) fn draw(&self) -> Markup {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let rows = || bars().flat_map(|bar| wrap(&bar.label, LABEL));
        let left = rows().map(|row| width(&row)).fold(60.0, f64::max) + 14.0;
        let lines = bars().map(|bar| wrap(&bar.label, LABEL).len()).max().unwrap_or(1).max(1);
        let row = ROW + (lines - 1) as f64 * LINE;
        let headings = self.groups.iter().filter(|group| !group.heading.is_empty()).count() as f64;
        let bottom = TOP + bars().count() as f64 * row + headings * HEADING;
        let right = super::WIDTH - VALUE;
        drawing(bottom + 48.0, &self.title, &self.description, |svg| {
            let measured = bars().any(|bar| bar.measured.is_some()).then_some("median and extremes");
            key(svg, 0.0, 14.0, measured, bars().any(|bar| bar.published.is_some()));
            for (at, label) in self.axis.clear_ticks(right - left) {
                line(svg, (left + at, TOP), (left + at, bottom), "grid");
                text(svg, left + at, bottom + 16.0, "tick middle", label);
            }
            let mut y = TOP;
            for group in &self.groups {
                let top = if group.heading.is_empty() { y } else { y + HEADING };
                line(svg, (left, top), (left, top + group.bars.len() as f64 * row), "axis");
                if !group.heading.is_empty() {
                    text(svg, 0.0, y + 17.0, "heading", &group.heading);
                    y += HEADING;
                }
                for bar in &group.bars {
                    self.bar(svg, bar, (left, right), y + row / 2.0);
                    y += row;
                }
            }
            text(svg, left.midpoint(right), bottom + 38.0, "title middle", &self.axis.title);
        })
    }

    fn bar(&self, svg: &mut Markup, bar: &Bar, (left, right): (f64, f64), middle: f64) {
        let at = |value: f64| left + self.axis.share(value) * (right - left);
        svg.element("g", &[("class", "row")], |g| {
            g.leaf("title", &[], &format!("{}: {}", bar.label, bar.words));
            let rows = wrap(&bar.label, LABEL);
            let first = middle + 4.0 - 0.5 * LINE * (rows.len() as f64 - 1.0);
            for (i, row) in rows.iter().enumerate() {
                text(g, left - 8.0, first + i as f64 * LINE, "tick end", row);
            }
        });
        let mut end = left;
        if let Some(measured) = &bar.measured {
            end = at(measured.y);
            if self.axis.is_logarithmic() {
                // The length of a bar has no meaning on a logarithmic axis: a mark stands for it.
                line(svg, (left, middle), (end, middle), "grid");
                mark(svg, (end, middle), bar.colour, "mark", "");
            } else {
                let class = format!("bar {}", colour(bar.colour));
                rectangle(svg, (left, middle - 7.0), (end - left, 14.0), &class);
            }
            let (low, high) = (at(measured.extremes.0), at(measured.extremes.1));
            if high - low > 1.0 {
                line(svg, (low, middle), (high, middle), "extremes");
                line(svg, (low, middle - 3.0), (low, middle + 3.0), "extremes");
                line(svg, (high, middle - 3.0), (high, middle + 3.0), "extremes");
            }
            end = end.max(high);
        }
        if let Some(published) = bar.published {
            mark(svg, (at(published), middle), 0, "hollow strong", "published");
            // The value does not cover the mark behind the bar.
            if at(published) > end - 4.0 && at(published) < end + 8.0 + width(&bar.words) {
                end = end.max(at(published) + 4.0);
            }
        }
        let class = if bar.measured.is_some() { "value" } else { "value faint" };
        text(svg, end + 6.0, middle + 4.0, class, &short(&bar.words, 30));
    }
}
