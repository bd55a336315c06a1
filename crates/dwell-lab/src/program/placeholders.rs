//! What stands for the plan in the arguments and files of a program: `{width}`, `{limit}` and others.

use dwell::store::{Output, PartialFiles};
use dwell::{DirectPoints, Formula, Kernels, Plan, PointsVisitor, Rational, Sample};
use dwell_kernels::Number;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// Every placeholder and what stands for it.
pub(super) const ALL: [&str; 20] = [
    "width",
    "height",
    "limit",
    "precision",
    "output",
    "here",
    "threads",
    // The edges, the centre and the extent of the rectangle whose pixels have the plan's points.
    "xmin",
    "xmax",
    "ymin",
    "ymax",
    "re",
    "im",
    "span-x",
    "span-y",
    // R and R^2.
    "radius",
    "radius-squared",
    // The files of the coordinates of columns and rows, and the bytes of a coordinate.
    "columns",
    "rows",
    "bytes",
];

/// Checks that a text has no placeholders but these.
pub(super) fn check(text: &str, accepted: &[&str]) -> Result<(), String> {
    match names(text).find(|name| !accepted.contains(name)) {
        None => Ok(()),
        Some(name) => Err(format!("{{{name}}} is no placeholder; accepted: {}", accepted.join(", "))),
    }
}

/// What looks like a placeholder: lower-case letters and hyphens in braces.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{')
        .skip(1)
        .filter_map(|part| part.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// The values of placeholders.
pub(super) struct Values(BTreeMap<&'static str, String>);

impl Values {
    /// The values for a plan. `sample` is where in its pixels the program samples, `precision` its name of the number.
    pub(super) fn of(plan: &Plan, sample: Sample, precision: &str) -> Result<Self, String> {
        if plan.formula() != Formula::MANDELBROT || plan.julia().is_some() {
            return Err("it computes the Mandelbrot set only".to_owned());
        }
        let frame = Frame::of(plan, sample)?;
        let radius = plan.escape_radius().to_rational().round::<f64>();
        let bytes = if plan.number() == dwell::NumberKind::F32 { 4 } else { 8 };
        let threads = dwell::ThreadPool::processors();
        let radius_squared = plan.points().visit(RadiusSquared).unwrap_or(radius * radius);
        let mut values = Self(BTreeMap::new());
        for (name, value) in [("xmin", &frame.min[0]), ("xmax", &frame.max[0]), ("re", &frame.centre(0))]
            .into_iter()
            .chain([("ymin", &frame.min[1]), ("ymax", &frame.max[1]), ("im", &frame.centre(1))])
            .chain([("span-x", &frame.span(0)), ("span-y", &frame.span(1))])
        {
            values.insert(name, value.round::<f64>().to_string());
        }
        values.insert("width", plan.size().width.to_string());
        values.insert("height", plan.size().height.to_string());
        values.insert("limit", plan.direct_limit().to_string());
        values.insert("precision", precision.to_owned());
        values.insert("threads", threads.to_string());
        values.insert("radius", radius.to_string());
        values.insert("radius-squared", radius_squared.to_string());
        values.insert("bytes", bytes.to_string());
        Ok(values)
    }

    /// Sets the value of a placeholder.
    pub(super) fn insert(&mut self, name: &'static str, value: String) {
        self.0.insert(name, value);
    }

    /// The text with the values of its placeholders. Values are not searched for placeholders again.
    pub(super) fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            filled.push_str(before);
            let name = from[1..].split_once('}').map(|(name, _)| name);
            rest = match name.and_then(|name| self.0.get(name).map(|value| (name, value))) {
                Some((name, value)) => {
                    filled.push_str(value);
                    &from[name.len() + 2..]
                }
                None => {
                    filled.push('{');
                    &from[1..]
                }
            };
        }
        filled.push_str(rest);
        filled
    }
}

/// The rectangle whose pixels, sampled as the program does it, have the points of a plan.
struct Frame {
    min: [Rational; 2],
    max: [Rational; 2],
}

impl Frame {
    fn of(plan: &Plan, sample: Sample) -> Result<Self, String> {
        let (view, size) = (plan.view(), plan.size());
        let refused = || "it computes views that are neither rotated nor flipped".to_owned();
        // One pixel further than the last, where a side has a single one.
        let point = |column, row| view.plane_from_pixel(column, row).ok_or_else(refused);
        let [left, top] = point(0, 0)?;
        let [right, bottom] = point(1, 1)?;
        if view.flip {
            return Err(refused());
        }
        let step = [right.minus(&left), top.minus(&bottom)];
        let near = |at: f64, exact: &Rational, step: &Rational| {
            Rational::from_f64(at).minus(exact).magnitude().times_whole(4) < *step
        };
        let [re, im] = plan.points().visit(FirstPoint).ok_or("it needs coordinates, and the plan has none")?;
        if !near(re, &left, &step[0]) || !near(im, &top, &step[1]) {
            return Err("it computes the points of the view, and the plan has others".to_owned());
        }
        let sides = [size.width, size.height].map(i64::from);
        let half = Rational::whole(1).over(&Rational::whole(2));
        // The lowest row is the last one.
        let lowest = top.minus(&step[1].times_whole(sides[1] - 1));
        let first = [left, lowest];
        let min = std::array::from_fn(|i| match sample {
            Sample::Centre => first[i].minus(&step[i].times(&half)),
            Sample::Corner => first[i].clone(),
        });
        let max = std::array::from_fn(|i: usize| {
            let min: &[Rational; 2] = &min;
            min[i].plus(&step[i].times_whole(sides[i]))
        });
        Ok(Self { min, max })
    }

    fn centre(&self, i: usize) -> Rational {
        self.min[i].plus(&self.max[i]).over(&Rational::whole(2))
    }

    fn span(&self, i: usize) -> Rational {
        self.max[i].minus(&self.min[i])
    }
}

/// The coordinates of the first column and the first row.
struct FirstPoint;

impl PointsVisitor for FirstPoint {
    type Output = [f64; 2];

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> [f64; 2] {
        points.axes.grid(0..1, 0..1).point(0, 0).map(Number::to_f64)
    }
}

/// R^2 as the plan has it.
struct RadiusSquared;

impl PointsVisitor for RadiusSquared {
    type Output = f64;

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> f64 {
        points.radius_squared.to_f64()
    }
}

/// Writes the coordinates of the columns (real parts) and of the rows from the top (imaginary parts), in the plan's number,
/// the least significant byte first, and sets their placeholders.
pub(super) fn write_coordinates(
    plan: &Plan,
    folder: &Path,
    values: &mut Values,
    partial_files: &PartialFiles,
) -> Result<(), String> {
    let [columns, rows] = plan.points().visit(Coordinates).ok_or("it needs coordinates, and the plan has none")?;
    for (name, bytes) in [("columns", columns), ("rows", rows)] {
        let path = folder.join(format!("{name}.raw"));
        let mut output = Output::create(&path, true, partial_files).map_err(|error| error.to_string())?;
        output.write_all(&bytes).map_err(|error| output.error(error).to_string())?;
        output.commit().map_err(|error| error.to_string())?;
        values.insert(name, path.to_string_lossy().into_owned());
    }
    Ok(())
}

/// The coordinates of columns and rows as bytes.
struct Coordinates;

impl PointsVisitor for Coordinates {
    type Output = [Vec<u8>; 2];

    fn direct<N: Kernels>(self, points: &DirectPoints<N>) -> Self::Output {
        let [re_of_column, _, _, im_of_row] = points.axes.arrays();
        [re_of_column, im_of_row].map(|axis| {
            let bytes = |value: &N| {
                let value = value.to_f64();
                // Exact: a coordinate in f32 is one in f64.
                if size_of::<N>() == 4 { (value as f32).to_le_bytes().to_vec() } else { value.to_le_bytes().to_vec() }
            };
            axis.iter().flat_map(bytes).collect()
        })
    }
}
