//! The plots of a series: from its figures to drawings.

use super::markup::Markup;
use super::number::in_unit;
use super::svg::{Axis, Bar, BarChart, BarGroup, Cell, HeatMap, Line, LineChart, Mark};
use super::table::label;
use super::title;
use crate::experiment::{Plot, PlotKind, Point, Unit, Variant};
use crate::figures::{Figure, SeriesFigures, number};
use crate::verdict::describe;
use std::collections::BTreeSet;

/// Most lines of a plot; more are drawn in a plot for each value of the other flags.
const MOST_LINES: usize = 8;
/// Most drawings of a plot.
const MOST_DRAWINGS: usize = 24;

/// A drawing with its title.
pub(super) struct Drawing {
    /// What it shows.
    pub(super) title: String,
    /// The drawing.
    pub(super) svg: Markup,
}

/// The drawings of a series; none where there is neither a measured nor a published figure.
pub(super) fn of_series(series: &SeriesFigures<'_>) -> Vec<Drawing> {
    let plain = [Plot {
        title: format!("{}: time", series.series.title),
        measure: Unit::Seconds,
        x: None,
        y: None,
        kind: if series.series.sweep.is_empty() { PlotKind::Bars } else { PlotKind::Lines },
        log_x: true,
        log_y: true,
    }];
    let plots = if series.series.plots.is_empty() { &plain[..] } else { &series.series.plots };
    plots.iter().flat_map(|plot| Source::new(series, plot).drawings()).collect()
}

/// A plot with the data it is drawn from.
struct Source<'a> {
    series: &'a SeriesFigures<'a>,
    plot: &'a Plot,
    /// The points that were run and those of the whole sweep, for which figures were published.
    points: Vec<&'a Point>,
}

/// The values of flags other than those on the axes.
type Others = Vec<(String, String)>;

impl<'a> Source<'a> {
    fn new(series: &'a SeriesFigures<'a>, plot: &'a Plot) -> Self {
        let mut points: Vec<&Point> = series.whole().iter().collect();
        let whole: BTreeSet<&Point> = points.iter().copied().collect();
        points.extend(series.points.iter().filter(|point| !whole.contains(*point)));
        Self { series, plot, points }
    }

    fn x_flag(&self) -> Option<&str> {
        let first = self.series.series.sweep.first().map(|axis| &axis.flag);
        self.plot.x.as_ref().or(first).map(String::as_str)
    }

    fn y_flag(&self) -> Option<&str> {
        let x = self.x_flag();
        let second = self.series.series.sweep.iter().map(|axis| axis.flag.as_str()).find(|flag| Some(*flag) != x);
        self.plot.y.as_deref().or(second)
    }

    fn figure(&self, point: &Point, variant: &Variant) -> Option<Figure> {
        let figure = self.series.figure(point, variant, self.plot.measure).ok()?;
        // A logarithmic axis has no place for 0.
        (!self.plot.log_y || figure.summary.minimum > 0.0).then_some(figure)
    }

    fn published(&self, point: &Point, variant: &Variant) -> Option<f64> {
        let value = self.series.published_as(point, &variant.name, self.plot.measure);
        value.filter(|value| !self.plot.log_y || *value > 0.0)
    }

    /// Whether a point has a figure of a variant, measured or published.
    fn has(&self, point: &Point, variant: &Variant) -> bool {
        self.figure(point, variant).is_some() || self.published(point, variant).is_some()
    }

    /// The values of a flag at points with figures, in the order of the points.
    fn values(&self, flag: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for point in &self.points {
            let Some(value) = point.get(flag).filter(|value| !values.contains(&value.0)) else { continue };
            if self.series.series.variants.iter().any(|variant| self.has(point, variant)) {
                values.push(value.0.clone());
            }
        }
        values
    }

    /// The combinations of values of the flags that are not on an axis.
    fn others(&self, axes: &[&str]) -> Vec<Others> {
        let mut all: Vec<Others> = Vec::new();
        for point in &self.points {
            let others = others(point, axes);
            if !all.contains(&others) {
                all.push(others);
            }
        }
        all
    }

    fn drawings(&self) -> Vec<Drawing> {
        let mut drawings = match (self.plot.kind, self.x_flag()) {
            (PlotKind::Bars, _) | (PlotKind::Lines, None) => self.bars().into_iter().collect(),
            (PlotKind::Lines, Some(x)) if self.values(x).len() < 2 => self.bars().into_iter().collect(),
            (PlotKind::Lines, Some(x)) => self.lines(x),
            (PlotKind::Heatmap, x) => match (x, self.y_flag()) {
                (Some(x), Some(y)) => self.maps(x, y),
                _ => self.bars().into_iter().collect(),
            },
        };
        drawings.truncate(MOST_DRAWINGS);
        drawings
    }

    fn description(&self) -> String {
        let names: Vec<&str> = self.series.series.variants.iter().map(title).collect();
        let over = self.x_flag().map_or(String::new(), |flag| format!(" over {flag}"));
        format!(
            "{}{over}, for: {}. The table below has the figures.",
            super::number::axis_title(self.plot.measure),
            names.join("; ")
        )
    }

    fn lines(&self, x: &str) -> Vec<Drawing> {
        let others = self.others(&[x]);
        let values = self.values(x);
        let positions = super::svg::positions(&values);
        let mut lines: Vec<(usize, Line)> = Vec::new();
        for (i, variant) in self.series.series.variants.iter().enumerate() {
            for (j, other) in others.iter().enumerate() {
                let mut line = self.line(x, &values, &positions, variant, other);
                if line.marks.is_empty() && line.published.is_empty() {
                    continue;
                }
                line.colour = i;
                lines.push((j, line));
            }
        }
        let apart = lines.len() > MOST_LINES && others.len() > 1;
        let groups: Vec<(String, Vec<Line>)> = if apart {
            let of = |j: usize| lines.iter().filter(|(group, _)| *group == j).map(|(_, line)| line.clone()).collect();
            others.iter().enumerate().map(|(j, other)| (words(other), of(j))).collect()
        } else {
            let named = lines.into_iter().enumerate().map(|(i, (j, line))| match words(&others[j]) {
                other if other.is_empty() => line,
                other => Line { label: format!("{}, {other}", line.label), colour: i, ..line },
            });
            vec![(String::new(), named.collect())]
        };
        let ticks: Vec<(f64, String)> =
            positions.iter().copied().zip(values.iter().map(|value| label(value))).collect();
        let drawn = groups.into_iter().filter(|(_, lines)| !lines.is_empty()).map(|(suffix, lines)| {
            let title = titled(&self.plot.title, &suffix);
            let heights = lines.iter().flat_map(|line| {
                let measured = line.marks.iter().flat_map(|mark| [mark.extremes.0, mark.extremes.1]);
                measured.chain(line.published.iter().map(|published| published.1))
            });
            let y = Axis::of_figures(self.plot.measure, &heights.collect::<Vec<_>>(), self.plot.log_y);
            let x = Axis::of_values(&axis_title(x), &ticks, self.plot.log_x);
            let chart = LineChart { title: title.clone(), description: self.description(), x, y, lines };
            Drawing { title, svg: chart.draw() }
        });
        drawn.collect()
    }

    fn line(&self, x: &str, values: &[String], positions: &[f64], variant: &Variant, other: &Others) -> Line {
        let mut line = Line { label: title(variant).to_owned(), colour: 0, marks: Vec::new(), published: Vec::new() };
        for point in self.points.iter().filter(|point| others(point, &[x]) == *other) {
            let value = point.get(x).and_then(|value| values.iter().position(|one| *one == value.0));
            let Some(x) = value.and_then(|at| positions.get(at).copied()) else { continue };
            let note = format!("{}, {}", title(variant), describe(point));
            if let Some(figure) = self.figure(point, variant) {
                let mark = measured(&figure, x, format!("{note}: {}", self.words(&figure)));
                line.marks.push(mark);
            }
            if let Some(value) = self.published(point, variant) {
                line.published.push((x, value, format!("{note}: published {}", in_unit(value, self.plot.measure))));
            }
        }
        line.marks.sort_by(|a, b| a.x.total_cmp(&b.x));
        line.published.sort_by(|a, b| a.0.total_cmp(&b.0));
        line
    }

    fn words(&self, figure: &Figure) -> String {
        in_unit(figure.estimate.value, self.plot.measure)
    }

    fn bars(&self) -> Option<Drawing> {
        let mut groups = Vec::new();
        let mut values = Vec::new();
        for point in &self.points {
            let mut bars = Vec::new();
            for (colour, variant) in self.series.series.variants.iter().enumerate() {
                let (figure, published) = (self.figure(point, variant), self.published(point, variant));
                if figure.is_none() && published.is_none() {
                    continue;
                }
                let words = figure.as_ref().map_or_else(|| "not measured here".to_owned(), |figure| self.words(figure));
                values.extend(figure.iter().flat_map(|figure| [figure.summary.minimum, figure.summary.maximum]));
                values.extend(published);
                let measured = figure.map(|figure| measured(&figure, 0.0, String::new()));
                bars.push(Bar { label: title(variant).to_owned(), colour, measured, published, words });
            }
            if !bars.is_empty() {
                groups.push(BarGroup { heading: labelled(point), bars });
            }
        }
        if groups.is_empty() {
            return None;
        }
        // Bars in place of lines with one point begin at 0.
        let logarithmic = self.plot.log_y && self.plot.kind == PlotKind::Bars;
        let axis = Axis::of_figures(self.plot.measure, &values, logarithmic);
        let title = self.plot.title.clone();
        let chart = BarChart { title: title.clone(), description: self.description(), axis, groups };
        Some(Drawing { title, svg: chart.draw() })
    }

    /// A heat map for each variant and each value of the other flags.
    fn maps(&self, x: &str, y: &str) -> Vec<Drawing> {
        let sorted = |flag: &str| {
            let mut values = self.values(flag);
            if values.iter().all(|value| number(value).is_some()) {
                values.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
            }
            values
        };
        let (columns, rows) = (sorted(x), sorted(y));
        let mut drawings = Vec::new();
        let baseline = self.series.baseline().filter(|_| self.plot.measure == Unit::SpeedUp);
        for variant in &self.series.series.variants {
            // The speed-up of the baseline is 1 in each cell.
            if baseline.is_some_and(|baseline| baseline.name == variant.name) {
                continue;
            }
            for other in self.others(&[x, y]) {
                let cells: Vec<Vec<Cell>> = rows
                    .iter()
                    .map(|row| columns.iter().map(|column| self.cell(variant, &other, (x, column), (y, row))).collect())
                    .collect();
                if cells.iter().flatten().all(|cell| cell.value.is_none() && cell.published.is_none()) {
                    continue;
                }
                let name = match words(&other) {
                    other if other.is_empty() => title(variant).to_owned(),
                    other => format!("{}, {other}", title(variant)),
                };
                let map = HeatMap {
                    title: titled(&self.plot.title, &name),
                    description: self.description(),
                    titles: [axis_title(x), axis_title(y)],
                    labels: [&columns, &rows].map(|values| values.iter().map(|value| label(value)).collect()),
                    rows: cells,
                    least_is_best: self.plot.measure == Unit::Seconds,
                };
                drawings.push(Drawing { title: map.title.clone(), svg: map.draw() });
            }
        }
        drawings
    }

    fn cell(&self, variant: &Variant, other: &Others, x: (&str, &String), y: (&str, &String)) -> Cell {
        let is_here = |point: &&&Point| {
            point.get(x.0).is_some_and(|value| value.0 == *x.1)
                && point.get(y.0).is_some_and(|value| value.0 == *y.1)
                && others(point, &[x.0, y.0]) == *other
        };
        let Some(point) = self.points.iter().find(is_here) else {
            return Cell { value: None, words: "no such point".to_owned(), published: None };
        };
        let published = self.published(point, variant).map(|value| in_unit(value, self.plot.measure));
        match self.series.figure(point, variant, self.plot.measure) {
            Ok(figure) => Cell { value: Some(figure.estimate.value), words: self.words(&figure), published },
            Err(why) => Cell { value: None, words: why, published },
        }
    }
}

/// A figure as a mark.
fn measured(figure: &Figure, x: f64, note: String) -> Mark {
    let summary = &figure.summary;
    Mark {
        x,
        y: summary.median,
        quartiles: (summary.lower_quartile, summary.upper_quartile),
        extremes: (summary.minimum, summary.maximum),
        note,
    }
}

/// The values of a point that are not on an axis.
fn others(point: &Point, axes: &[&str]) -> Others {
    let other = point.iter().filter(|(flag, _)| !axes.contains(&flag.as_str()));
    other.map(|(flag, value)| (flag.clone(), value.0.clone())).collect()
}

fn words(others: &Others) -> String {
    let words: Vec<String> = others.iter().map(|(flag, value)| format!("{flag} {}", label(value))).collect();
    words.join(", ")
}

fn labelled(point: &Point) -> String {
    words(&others(point, &[]))
}

fn titled(title: &str, suffix: &str) -> String {
    if suffix.is_empty() { title.to_owned() } else { format!("{title} ({suffix})") }
}

/// The title of the axis of a flag.
fn axis_title(flag: &str) -> String {
    match flag {
        "max-iter" => "limit of iterations (max-iter)".to_owned(),
        "size" => "size of the picture in pixels (size)".to_owned(),
        "threads" => "threads".to_owned(),
        flag => flag.to_owned(),
    }
}
