//! Lines over a swept value, with their spread and published figures.

use super::{Axis, colour, drawing, key, line, mark, path, text, unit, width, wrap};
use crate::report::markup::Markup;

/// A measured point.
#[derive(Clone, Debug)]
pub(in crate::report) struct Mark {
    /// The swept value.
    pub(in crate::report) x: f64,
    /// The median.
    pub(in crate::report) y: f64,
    /// The quartiles.
    pub(in crate::report) quartiles: (f64, f64),
    /// The least and the greatest sample.
    pub(in crate::report) extremes: (f64, f64),
    /// What is shown under the pointer.
    pub(in crate::report) note: String,
}

/// A line.
#[derive(Clone, Debug)]
pub(in crate::report) struct Line {
    /// What it is.
    pub(in crate::report) label: String,
    /// Its colour.
    pub(in crate::report) colour: usize,
    /// Measured points in the order of x.
    pub(in crate::report) marks: Vec<Mark>,
    /// Published points in the order of x, with what is shown under the pointer.
    pub(in crate::report) published: Vec<(f64, f64, String)>,
}

/// A plot of lines.
#[derive(Clone, Debug)]
pub(in crate::report) struct LineChart {
    /// What it shows.
    pub(in crate::report) title: String,
    /// The same in a sentence.
    pub(in crate::report) description: String,
    /// The horizontal axis.
    pub(in crate::report) x: Axis,
    /// The vertical axis.
    pub(in crate::report) y: Axis,
    /// The lines.
    pub(in crate::report) lines: Vec<Line>,
}

const LEFT: f64 = 80.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 48.0;
/// The height of a line of a label.
const ROW: f64 = 14.0;
/// Most characters of a line of a label.
const LABEL: usize = 22;

impl LineChart {
    /// The plot.
    pub(in crate::report) fn draw(&self) -> Markup {
        let rows: Vec<String> = self.lines.iter().flat_map(|line| wrap(&line.label, LABEL)).collect();
        let right = super::WIDTH - rows.iter().map(|row| width(row)).fold(0.0, f64::max) - 22.0;
        let high = (300.0_f64).max((rows.len() as f64 + 0.3 * self.lines.len() as f64) * ROW + 20.0);
        let frame = Frame { left: LEFT, right, top: TOP, bottom: TOP + high };
        drawing(frame.bottom + BOTTOM, &self.title, &self.description, |svg| {
            let published = self.lines.iter().any(|line| !line.published.is_empty());
            let measured = self.lines.iter().any(|line| !line.marks.is_empty());
            key(svg, LEFT, 14.0, measured.then_some("median, quartiles (band), extremes (bars)"), published);
            frame.draw(svg, &self.x, &self.y);
            for line in &self.lines {
                self.draw_line(svg, &frame, line);
            }
            self.labels(svg, &frame);
        })
    }

    fn draw_line(&self, svg: &mut Markup, frame: &Frame, one: &Line) {
        let class = |kind: &str| format!("{kind} {}", colour(one.colour));
        let at = |x: f64, y: f64| frame.at(self.x.share(x), self.y.share(y));
        if one.marks.len() > 1 {
            let lower = one.marks.iter().map(|mark| at(mark.x, mark.quartiles.0));
            let upper = one.marks.iter().rev().map(|mark| at(mark.x, mark.quartiles.1));
            path(svg, &lower.chain(upper).collect::<Vec<_>>(), true, &class("band"));
        }
        let published: Vec<(f64, f64)> = one.published.iter().map(|(x, y, _)| at(*x, *y)).collect();
        if published.len() > 1 {
            path(svg, &published, false, &class("published"));
        }
        for ((_, _, note), place) in one.published.iter().zip(&published) {
            mark(svg, *place, one.colour, "hollow", note);
        }
        if one.marks.len() > 1 {
            let medians: Vec<(f64, f64)> = one.marks.iter().map(|mark| at(mark.x, mark.y)).collect();
            path(svg, &medians, false, &class("line"));
        }
        for measured in &one.marks {
            let (low, high) = (at(measured.x, measured.extremes.0), at(measured.x, measured.extremes.1));
            if low.1 - high.1 > 1.0 {
                line(svg, low, high, &class("whisker"));
            }
            mark(svg, at(measured.x, measured.y), one.colour, "mark", &measured.note);
        }
    }

    /// Labels at the ends of the lines, moved apart where they would overlap.
    fn labels(&self, svg: &mut Markup, frame: &Frame) {
        let end = |line: &Line| {
            let measured = line.marks.last().map(|mark| (mark.x, mark.y));
            measured.or(line.published.last().map(|(x, y, _)| (*x, *y)))
        };
        let mut labels: Vec<Label<'_>> = Vec::new();
        for line in &self.lines {
            if let Some((x, y)) = end(line) {
                let end = frame.at(self.x.share(x), self.y.share(y));
                labels.push(Label { y: end.1, end, rows: wrap(&line.label, LABEL), line });
            }
        }
        labels.sort_by(|a, b| a.y.total_cmp(&b.y));
        spread(&mut labels, frame.top, frame.bottom);
        for label in labels {
            let (x, y, end, class) = (frame.right + 10.0, label.y, label.end, colour(label.line.colour));
            path(svg, &[(end.0 + 5.0, end.1), (frame.right + 1.0, y), (x - 2.0, y)], false, &format!("leader {class}"));
            svg.element("g", &[("class", &format!("label {class}"))], |g| {
                g.leaf("title", &[], &label.line.label);
                let first = y + 4.0 - 0.5 * ROW * (label.rows.len() as f64 - 1.0);
                for (i, row) in label.rows.iter().enumerate() {
                    text(g, x, first + i as f64 * ROW, "", row);
                }
            });
        }
    }
}

/// A label at the end of a line.
struct Label<'a> {
    /// The middle of the label.
    y: f64,
    /// The end of the line.
    end: (f64, f64),
    rows: Vec<String>,
    line: &'a Line,
}

impl Label<'_> {
    /// Half of its height, with half of the space between labels.
    fn half(&self) -> f64 {
        0.5 * ROW * (self.rows.len() as f64 + 0.3)
    }
}

/// Moves labels, which are in ascending order, apart and between two ends.
fn spread(labels: &mut [Label<'_>], top: f64, bottom: f64) {
    let mut least = top;
    for label in labels.iter_mut() {
        label.y = label.y.max(least + label.half());
        least = label.y + label.half();
    }
    let mut greatest = bottom;
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(greatest - label.half());
        greatest = label.y - label.half();
    }
}

/// The rectangle of the data.
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// The place of two shares of the axes.
    pub(super) fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top))
    }

    /// Axes, grid, labels and titles.
    pub(super) fn draw(&self, svg: &mut Markup, x: &Axis, y: &Axis) {
        for (value, label) in &y.ticks {
            let place = self.at(0.0, y.share(*value));
            line(svg, place, (self.right, place.1), "grid");
            text(svg, self.left - 8.0, place.1 + 4.0, "tick end", label);
        }
        for (at, label) in x.clear_ticks(self.right - self.left) {
            let x = self.left + at;
            line(svg, (x, self.bottom), (x, self.bottom + 4.0), "axis");
            text(svg, x, self.bottom + 18.0, "tick middle", label);
        }
        line(svg, (self.left, self.bottom), (self.right, self.bottom), "axis");
        text(svg, self.left.midpoint(self.right), self.bottom + 38.0, "title middle", &x.title);
        let (x, middle) = (14.0, self.top.midpoint(self.bottom));
        let turn = format!("rotate(-90 {} {})", unit(x), unit(middle));
        let attributes = [("x", unit(x)), ("y", unit(middle)), ("transform", turn)];
        let attributes = attributes.each_ref().map(|(key, value)| (*key, value.as_str()));
        let all: Vec<(&str, &str)> = attributes.into_iter().chain([("class", "title middle")]).collect();
        svg.leaf("text", &all, &y.title);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_moved_apart_within_the_frame() {
        let line = Line { label: String::new(), colour: 0, marks: Vec::new(), published: Vec::new() };
        let label = |y: f64, rows: usize| Label { y, end: (0.0, y), rows: vec![String::new(); rows], line: &line };
        let mut labels = [label(50.0, 1), label(51.0, 2), label(99.0, 1), label(100.0, 1)];
        spread(&mut labels, 0.0, 100.0);
        for pair in labels.windows(2) {
            assert!(pair[1].y - pair[0].y >= pair[0].half() + pair[1].half() - 1e-9);
        }
        assert!(labels.iter().all(|label| label.y - label.half() >= 0.0 && label.y + label.half() <= 100.0));
    }
}
