//! `dwell point`: prints the dwell of one point in f32, in f64 and in arbitrary precision.

use crate::cli::PointArgs;
use crate::error_text::Failure;
use crate::interrupt::Interrupt;
use crate::{engine, output};
use dwell::truth::{self, ExactMap, Truth};
use dwell::{
    Cancel, ChannelSet, CpuEngine, Decimal, Error, Formula, Limits, Map, Number, NumberKind, Plan, Rational, Recipe,
    Settings, Size, Strategy, Task, View, naive,
};
use serde::Serialize;

/// Iterations that are computed one by one.
const DIRECTLY: u64 = 100_000;
/// The zoom of the view of a point: nothing else is near.
const ZOOM: &str = "1e60";

#[derive(Serialize)]
struct PointReport<'a> {
    re: &'a str,
    im: &'a str,
    formula: &'static str,
    power: u32,
    /// c, where the point is z_1.
    julia: Option<[&'a str; 2]>,
    max_iterations: u64,
    recipe: &'static str,
    /// The same as `recipe`, under the name of the flag.
    rounding: &'static str,
    /// 0 = did not escape.
    f32: u32,
    f64: u32,
    /// Null when the maximum precision does not decide it.
    precise: Option<u64>,
}

pub(crate) fn run(args: &PointArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let [re, im] = engine::decimals("point", &args.point, "RE,IM")?;
    let limit = engine::whole("--max-iter", &args.max_iter, 1, Settings::MOST_LIMIT)?;
    let formula = engine::formula(args.formula.formula.as_deref(), args.formula.power.as_deref(), Formula::MANDELBROT)?;
    let settings = Settings {
        formula,
        julia: engine::julia(args.formula.julia.as_deref(), None)?,
        limit,
        escape_radius: engine::decimal("--escape-radius", &args.escape_radius)?,
        recipe: args.rounding.parse()?,
        ..Settings::default()
    };
    Settings { limit: settings.direct_limit().into(), ..settings.clone() }.check()?;
    let limit = settings.limit;
    let point = [re.to_rational(), im.to_rational()];
    let f32 = dwell_in::<f32>(NumberKind::F32, [&re, &im], &settings, &interrupt.cancel)?;
    let f64 = dwell_in::<f64>(NumberKind::F64, [&re, &im], &settings, &interrupt.cancel)?;
    let julia = settings.julia.as_ref().map(|c| c.each_ref().map(Decimal::to_rational));
    let map = ExactMap { formula, julia };
    let precise = match precise(&map, &point, [&re, &im], &settings, &interrupt.cancel)? {
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
    let line = |name: &str, n: Option<u64>, limit: u64| match n {
        None => format!("{name:<8} not decided\n"),
        Some(0) => format!("{name:<8} did not escape within {limit}\n"),
        Some(n) => format!("{name:<8} escaped at n = {n}\n"),
    };
    let direct = u64::from(settings.direct_limit());
    let lines =
        [line("f32", Some(f32.into()), direct), line("f64", Some(f64.into()), direct), line("precise", precise, limit)];
    output::print(&lines.concat())
}

/// The true dwell. Beyond [`DIRECTLY`] iterations it is that of a deep view of one pixel, which proves in
/// few iterations that most points inside the set never escape; where that takes more memory than there is, the orbit is iterated.
fn precise(
    map: &ExactMap,
    point: &[Rational; 2],
    [re, im]: [&Decimal; 2],
    settings: &Settings,
    cancel: &Cancel,
) -> Result<Truth, Error> {
    let radius = settings.escape_radius.to_rational();
    let truth = |limit: u64| truth::dwell(map, point, limit, &radius, cancel);
    let soon = truth(settings.limit.min(DIRECTLY))?;
    if soon != Truth::Dwell(0) || settings.limit <= DIRECTLY {
        return Ok(soon);
    }
    let settings = Settings { number: NumberKind::Exact, recipe: Recipe::Fused, ..settings.clone() };
    if settings.check().is_err() {
        return truth(settings.limit);
    }
    match of_one_pixel([re, im], &settings, cancel) {
        Ok(dwell) => Ok(Truth::Dwell(dwell)),
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(_) => truth(settings.limit),
    }
}

/// The dwell in f32 or f64, up to the limit that they count to. Beyond [`DIRECTLY`] iterations it is that of a view of one pixel, whose shortcuts
/// end orbits that return to a former z.
fn dwell_in<N: Number>(
    number: NumberKind,
    point: [&Decimal; 2],
    settings: &Settings,
    cancel: &Cancel,
) -> Result<u32, Error> {
    let radius = settings.escape_radius.to_rational();
    let rounded = |point: [&Decimal; 2]| point.map(|part| part.to_rational().round::<N>());
    let julia = settings.julia.as_ref().map(|c| rounded(c.each_ref()));
    let map = Map { formula: settings.formula, recipe: settings.recipe, julia };
    let radius_squared = radius.times(&radius).round::<N>();
    let limit = settings.limit.min(DIRECTLY);
    let soon = naive::dwell_until(&map, rounded(point), limit as u32, radius_squared, cancel.flag())
        .ok_or(Error::Interrupted)?;
    if soon > 0 || settings.limit <= DIRECTLY {
        return Ok(soon);
    }
    let settings = Settings { number, limit: settings.direct_limit().into(), ..settings.clone() };
    Ok(of_one_pixel(point, &settings, cancel)? as u32)
}

/// The dwell of a point as the one pixel of a view.
fn of_one_pixel([re, im]: [&Decimal; 2], settings: &Settings, cancel: &Cancel) -> Result<u64, Error> {
    let view = View::centred(re.text(), im.text(), ZOOM)?.sized(Size::new(1, 1)?);
    let settings = Settings { force: settings.number != NumberKind::Exact, ..settings.clone() };
    let limits = Limits::default();
    let plan = Plan::new(&view, &settings, &limits)?;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::of_dwells(settings.limit) };
    let field = dwell::field(&task, &CpuEngine::default(), &limits, cancel)?;
    Ok(field.all_rows().dwells().next().unwrap_or(0))
}
