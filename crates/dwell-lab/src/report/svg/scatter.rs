//! Iteration rates over the work of a pixel, under the roof of a measured peak.

use super::lines::Frame;
use super::{Axis, colour, drawing, line, mark, short, text, width};
use crate::report::markup::Markup;

/// A case: a variant at a point.
#[derive(Clone, Debug)]
pub(in crate::report) struct Dot {
    /// Mean iterations of a pixel.
    pub(in crate::report) x: f64,
    /// Thousands of millions of iterations per second.
    pub(in crate::report) y: f64,
    /// Its colour: the index of its experiment.
    pub(in crate::report) colour: usize,
    /// What is shown under the pointer.
    pub(in crate::report) note: String,
}

/// The rates of one processor or device in one number.
#[derive(Clone, Debug)]
pub(in crate::report) struct Roofline {
    /// The name of the peak.
    pub(in crate::report) name: String,
    /// The measured peak in thousands of millions of iterations per second.
    pub(in crate::report) peak: f64,
    /// The cases.
    pub(in crate::report) dots: Vec<Dot>,
    /// The experiments: colour and name.
    pub(in crate::report) legend: Vec<(usize, String)>,
}

impl Roofline {
    /// The plot.
    pub(in crate::report) fn draw(&self) -> Markup {
        let xs: Vec<f64> = self.dots.iter().map(|dot| dot.x).collect();
        let ys: Vec<f64> = self.dots.iter().map(|dot| dot.y).chain([self.peak]).collect();
        let x = Axis::of_numbers("mean iterations of the plain loop per pixel", &xs, true);
        let y = Axis::of_numbers("rate (G iterations/s)", &ys, true);
        let names = self.legend.iter().map(|(_, name)| width(&short(name, 22))).fold(0.0, f64::max);
        let frame = Frame { left: 80.0, right: super::WIDTH - names - 30.0, top: 16.0, bottom: 320.0 };
        let title = format!("Iteration rates under the peak of {}", self.name);
        let description = format!(
            "{} cases; horizontal: mean iterations per pixel; vertical: iterations per second; the line is the peak.",
            self.dots.len()
        );
        drawing(frame.bottom + 48.0, &title, &description, |svg| {
            frame.draw(svg, &x, &y);
            let roof = frame.at(0.0, y.share(self.peak));
            line(svg, roof, (frame.right, roof.1), "roof");
            for dot in &self.dots {
                mark(svg, frame.at(x.share(dot.x), y.share(dot.y)), dot.colour, "mark dot", &dot.note);
            }
            let words = format!("measured peak, {}", self.name);
            // The label is above the line unless the line is at the top.
            let label = if roof.1 - frame.top > 14.0 { roof.1 - 6.0 } else { roof.1 + 14.0 };
            text(svg, frame.left + 6.0, label, "small strong", &words);
            for (i, (index, name)) in self.legend.iter().enumerate() {
                let y = frame.top + 12.0 + i as f64 * 18.0;
                mark(svg, (frame.right + 16.0, y - 4.0), *index, "mark", "");
                svg.element("g", &[("class", &format!("label {}", colour(*index)))], |g| {
                    text(g, frame.right + 26.0, y, "", &short(name, 22));
                });
            }
        })
    }
}
