//! Heat maps: a cell for each pair of swept values, with its value.

use super::{drawing, line, rectangle, short, text, unit, width};
use crate::report::markup::Markup;

/// A cell.
#[derive(Clone, Debug)]
pub(in crate::report) struct Cell {
    /// The measured value.
    pub(in crate::report) value: Option<f64>,
    /// It as text, or why there is none.
    pub(in crate::report) words: String,
    /// The published value as text.
    pub(in crate::report) published: Option<String>,
}

/// A heat map.
#[derive(Clone, Debug)]
pub(in crate::report) struct HeatMap {
    /// What it shows.
    pub(in crate::report) title: String,
    /// The same in a sentence.
    pub(in crate::report) description: String,
    /// Titles of the axes.
    pub(in crate::report) titles: [String; 2],
    /// Labels of the columns and of the rows, the lowest first.
    pub(in crate::report) labels: [Vec<String>; 2],
    /// Rows of cells, the lowest first.
    pub(in crate::report) rows: Vec<Vec<Cell>>,
    /// Whether the least value is the best.
    pub(in crate::report) least_is_best: bool,
}

/// The room for the key and the title of the rows, which is above them: few rows have no room for a turned one.
const TOP: f64 = 48.0;

impl HeatMap {
    /// The heat map.
    pub(in crate::report) fn draw(&self) -> Markup {
        let left = self.labels[1].iter().map(|label| width(label)).fold(20.0, f64::max) + 12.0;
        let columns = self.labels[0].len().max(1) as f64;
        let has_published = self.rows.iter().flatten().any(|cell| cell.published.is_some());
        let wide = ((super::WIDTH - left - 4.0) / columns).min(110.0);
        let high = if has_published { 40.0 } else { 32.0 };
        let bottom = TOP + self.rows.len() as f64 * high;
        let values = || self.rows.iter().flatten().filter_map(|cell| cell.value);
        let least = values().fold(f64::INFINITY, f64::min);
        let greatest = values().fold(0.0, f64::max);
        drawing(bottom + 48.0, &self.title, &self.description, |svg| {
            let words = if has_published { "measured above, published below" } else { "median" };
            let framed = if self.least_is_best { "the least" } else { "the greatest" };
            text(svg, 0.0, 14.0, "small", &format!("In each cell: {words}. Framed: {framed} of this map."));
            for (i, (cells, label)) in self.rows.iter().zip(&self.labels[1]).enumerate() {
                // The lowest row is drawn last.
                let y = TOP + (self.rows.len() - 1 - i) as f64 * high;
                text(svg, left - 8.0, y + high / 2.0 + 4.0, "tick end", label);
                for (column, cell) in cells.iter().enumerate() {
                    let x = left + column as f64 * wide;
                    let best = if self.least_is_best { least } else { greatest };
                    let place = Place { x, y, wide, high, best: least < greatest && cell.value == Some(best) };
                    place.draw(svg, cell, shade(cell.value, least, greatest));
                }
            }
            for (column, label) in self.labels[0].iter().enumerate() {
                let x = left + (column as f64 + 0.5) * wide;
                line(svg, (x, bottom), (x, bottom + 4.0), "axis");
                text(svg, x, bottom + 18.0, "tick middle", &short(label, (wide / 6.5) as usize));
            }
            text(svg, left + columns * wide / 2.0, bottom + 38.0, "title middle", &self.titles[0]);
            text(svg, 0.0, TOP - 8.0, "title", &self.titles[1]);
        })
    }
}

/// Where a cell is.
struct Place {
    x: f64,
    y: f64,
    wide: f64,
    high: f64,
    best: bool,
}

impl Place {
    fn draw(&self, svg: &mut Markup, cell: &Cell, shade: Option<f64>) {
        let Self { x, y, wide, high, best } = *self;
        svg.element("g", &[("class", "cell")], |g| {
            g.leaf("title", &[], &cell.words);
            match shade {
                Some(shade) => {
                    let (fill, _) = cividis(shade);
                    let (x, y, w, h) = (unit(x + 1.0), unit(y + 1.0), unit(wide - 2.0), unit(high - 2.0));
                    g.void("rect", &[("x", &x), ("y", &y), ("width", &w), ("height", &h), ("fill", &fill)]);
                }
                None => rectangle(g, (x + 1.0, y + 1.0), (wide - 2.0, high - 2.0), "none"),
            }
            if best && shade.is_some() {
                rectangle(g, (x + 2.5, y + 2.5), (wide - 5.0, high - 5.0), "best");
            }
            let ink = match shade.map(cividis) {
                Some((_, true)) => "ink dark",
                Some((_, false)) => "ink pale",
                None => "ink faint",
            };
            // Units are left out where the cell is narrow: the title of the plot names them.
            let most = ((wide - 4.0) / 5.6) as usize;
            let words = if cell.value.is_some() { cell.words.clone() } else { "–".to_owned() };
            let words = if words.chars().count() > most {
                words.split('\u{202f}').next().unwrap_or("").to_owned()
            } else {
                words
            };
            let middle = x + wide / 2.0;
            match &cell.published {
                Some(published) => {
                    text(g, middle, y + high / 2.0 - 2.0, ink, &words);
                    text(g, middle, y + high / 2.0 + 13.0, &format!("{ink} italic"), &short(published, most));
                }
                None => text(g, middle, y + high / 2.0 + 4.0, ink, &words),
            }
        });
    }
}

/// Where a value lies between two others, logarithmically where they are far apart.
fn shade(value: Option<f64>, least: f64, greatest: f64) -> Option<f64> {
    let value = value?;
    let logarithmic = least > 0.0 && greatest > 10.0 * least;
    let scale = |value: f64| if logarithmic { value.log10() } else { value };
    let span = scale(greatest) - scale(least);
    Some(if span > 0.0 { ((scale(value) - scale(least)) / span).clamp(0.0, 1.0) } else { 0.5 })
}

/// A colour from dark blue to yellow, which is read alike with every kind of colour vision (seven steps of the map cividis,
/// J. Nunez, C. Anderton, R. Renslow, 2018), and whether dark text is legible on it.
fn cividis(share: f64) -> (String, bool) {
    const STEPS: [[f64; 3]; 7] = [
        [0.0, 32.0, 76.0],
        [45.0, 64.0, 108.0],
        [87.0, 92.0, 109.0],
        [124.0, 123.0, 120.0],
        [165.0, 156.0, 116.0],
        [211.0, 193.0, 100.0],
        [255.0, 233.0, 69.0],
    ];
    let at = share.clamp(0.0, 1.0) * 6.0;
    let low = (at as usize).min(5);
    let part = at - low as f64;
    let channel = |i: usize| (STEPS[low][i] + part * (STEPS[low + 1][i] - STEPS[low][i])).round();
    (format!("rgb({} {} {})", channel(0), channel(1), channel(2)), share > 0.52)
}
