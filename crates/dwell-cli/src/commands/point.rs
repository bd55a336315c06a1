//! `dwell point`: prints the dwell of one point in f32, in f64 and in arbitrary precision.

use crate::cli::PointArgs;
use crate::error_text::Failure;
use crate::interrupt::Interrupt;
use crate::{engine, output};
use dwell::truth::{self, ExactMap, Truth};
use dwell::{Cancel, Decimal, Error, Formula, Map, Number, Rational, Settings, naive};
use serde::Serialize;

#[derive(Serialize)]
struct PointReport<'a> {
    re: &'a str,
    im: &'a str,
    formula: &'static str,
    power: u32,
    /// c, where the point is z_1.
    julia: Option<[&'a str; 2]>,
    max_iterations: u32,
    recipe: &'static str,
    /// The same as `recipe`, under the name of the flag.
    rounding: &'static str,
    /// 0 = did not escape.
    f32: u32,
    f64: u32,
    /// Null when the maximum precision does not decide it.
    precise: Option<u32>,
}

pub(crate) fn run(args: &PointArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let [re, im] = engine::decimals("point", &args.point, "RE,IM")?;
    let limit = engine::whole("--max-iter", &args.max_iter, 1, u64::from(u32::MAX))?;
    let formula = engine::formula(args.formula.formula.as_deref(), args.formula.power.as_deref(), Formula::MANDELBROT)?;
    let settings = Settings {
        formula,
        julia: engine::julia(args.formula.julia.as_deref(), None)?,
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        escape_radius: engine::decimal("--escape-radius", &args.escape_radius)?,
        recipe: args.rounding.parse()?,
        ..Settings::default()
    };
    settings.check()?;
    let limit = settings.limit;
    let point = [re.to_rational(), im.to_rational()];
    let f32 = dwell_in::<f32>(&point, &settings, &interrupt.cancel)?;
    let f64 = dwell_in::<f64>(&point, &settings, &interrupt.cancel)?;
    let julia = settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::to_rational));
    let radius = settings.escape_radius.to_rational();
    let precise = match truth::dwell(&ExactMap { formula, julia }, &point, limit, &radius, &interrupt.cancel)? {
        Truth::Dwell(n) => Some(n),
        Truth::Undecided { .. } => None,
    };
    if args.json {
        return output::print_json(&PointReport {
            re: re.text(),
            im: im.text(),
            formula: formula.name(),
            power: formula.power(),
            julia: settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::text)),
            max_iterations: limit,
            recipe: settings.recipe.name(),
            rounding: settings.recipe.name(),
            f32,
            f64,
            precise,
        });
    }
    let line = |name: &str, n: Option<u32>| match n {
        None => format!("{name:<8} not decided\n"),
        Some(0) => format!("{name:<8} did not escape within {limit}\n"),
        Some(n) => format!("{name:<8} escaped at n = {n}\n"),
    };
    output::print(&[line("f32", Some(f32)), line("f64", Some(f64)), line("precise", precise)].concat())
}

fn dwell_in<N: Number>(point: &[Rational; 2], settings: &Settings, cancel: &Cancel) -> Result<u32, Error> {
    let radius = settings.escape_radius.to_rational();
    let rounded = |point: [Rational; 2]| point.map(|part| part.round::<N>());
    let julia = settings.julia.as_ref().map(|c| rounded(c.each_ref().map(Decimal::to_rational)));
    let map = Map { formula: settings.formula, recipe: settings.recipe, julia };
    let radius_squared = radius.times(&radius).round::<N>();
    naive::dwell_until(&map, rounded(point.clone()), settings.limit, radius_squared, cancel.flag())
        .ok_or(Error::Interrupted)
}
