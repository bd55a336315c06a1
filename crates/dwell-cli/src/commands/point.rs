//! `dwell point`: one point's dwell, in f32, in f64 and in truth.

use crate::cli::PointArgs;
use crate::interrupt::Interrupt;
use crate::{engine, output};
use dwell::precise::{self, Truth};
use dwell::{Cancel, Error, Number, Rational, Recipe, Settings, naive};
use serde::Serialize;

#[derive(Serialize)]
struct PointReport<'a> {
    re: &'a str,
    im: &'a str,
    max_iterations: u32,
    recipe: &'static str,
    /// 0 = did not escape.
    f32: u32,
    f64: u32,
    /// Null when even the most bits did not decide it.
    precise: Option<u32>,
}

pub(crate) fn run(args: &PointArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let [re, im] = engine::decimals("point", &args.point, "RE,IM")?;
    let limit = engine::whole("--max-iter", &args.max_iter, 1, u64::from(u32::MAX))?;
    let settings = Settings {
        limit: u32::try_from(limit).unwrap_or(u32::MAX),
        escape_radius: engine::decimal("--escape-radius", &args.escape_radius)?,
        recipe: engine::recipe(&args.recipe)?,
        ..Settings::default()
    };
    settings.check().map_err(|e| e.named("--escape-radius"))?;
    let (limit, recipe) = (settings.limit, settings.recipe);
    let (a, b, radius) = (re.to_rational(), im.to_rational(), settings.escape_radius.to_rational());
    let f32 = dwell_in::<f32>(&a, &b, &radius, recipe, limit, &interrupt.cancel)?;
    let f64 = dwell_in::<f64>(&a, &b, &radius, recipe, limit, &interrupt.cancel)?;
    let precise = match precise::dwell(&a, &b, limit, &radius, &interrupt.cancel)? {
        Truth::Dwell(n) => Some(n),
        Truth::Undecided { .. } => None,
    };
    if args.json {
        return output::print_json(&PointReport {
            re: re.text(),
            im: im.text(),
            max_iterations: limit,
            recipe: recipe.name(),
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

fn dwell_in<N: Number>(
    a: &Rational,
    b: &Rational,
    radius: &Rational,
    recipe: Recipe,
    limit: u32,
    cancel: &Cancel,
) -> Result<u32, Error> {
    let radius_squared = radius.times(radius).round::<N>();
    let found = naive::dwell_until(recipe, a.round::<N>(), b.round(), limit, radius_squared, cancel.flag());
    found.ok_or(Error::Interrupted)
}
