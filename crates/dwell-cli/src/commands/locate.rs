//! `dwell locate`: finds a minibrot or a Misiurewicz point in a view, and writes a location that shows it.

use crate::cli::{IterationArgs, LocateArgs};
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::standard_streams::Stream;
use crate::{engine, output, overlap, progress_bar, scene, toml_text};
use dwell::store::{self, Output};
use dwell::{
    Colouring, Control, Decimal, Limits, Located, Location, Progress, Sought, Special, Wanted, Within, ZoomTo, locate,
    quote,
};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The greatest period that orbits are searched for.
const MOST_PERIOD: u64 = u32::MAX as u64 - 1;

#[derive(Serialize)]
struct Report<'a> {
    kind: &'static str,
    period: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    preperiod: Option<u64>,
    re: &'a str,
    im: &'a str,
    /// Relative to the whole set.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<&'a str>,
    /// 1 / size.
    #[serde(skip_serializing_if = "Option::is_none")]
    zoom: Option<&'a str>,
    /// cardioid or disc.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<&'static str>,
    /// The modulus of the multiplier of the cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    multiplier: Option<&'a str>,
    /// Degrees, counter-clockwise.
    turned: &'a str,
    proof: ProofReport<'a>,
    seconds: SecondsReport,
    /// Of the orbits, after the point.
    bits: BitsReport,
}

#[derive(Serialize)]
struct ProofReport<'a> {
    within: &'a str,
    alone_within: &'a str,
    exact_period: bool,
    least_period: bool,
}

#[derive(Serialize)]
struct SecondsReport {
    search: f64,
    refinement: f64,
    proof: f64,
}

#[derive(Serialize)]
struct BitsReport {
    search: u64,
    proof: u64,
}

pub(crate) fn run(args: &LocateArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let wanted = wanted(args)?;
    let memory_bytes = match &args.max_memory {
        Some(text) => engine::bytes("--max-memory", text)?,
        None => Machine::planned_bytes(1),
    };
    let limits = Limits { memory_bytes };
    let level = engine::level(args.level.as_deref())?;
    if let (Some(what), Some(output)) = (&args.what, &args.output) {
        overlap::check([("WHAT", Location::file(what))], [("-o", output.as_path())])?;
    }
    Stream::Output.check()?;
    let mut scene = scene::place(args.what.as_deref(), &args.view, &IterationArgs::default(), true)?;
    if args.what.is_none() {
        // The colours of the whole set were chosen for it alone.
        scene.colouring = Colouring::default();
    }
    let mut output = match &args.output {
        Some(path) => {
            let output = Output::create(path, args.no_clobber, &interrupt.partial_files)?;
            output.refuse_existing()?;
            Some(output)
        }
        None => None,
    };
    let progress = Progress::default();
    let control = Control { cancel: &interrupt.cancel, progress: &progress };
    let found = progress_bar::during(progress_bar::wanted(args.quiet), "locate", &progress, || {
        locate(&scene, &wanted, level, &limits, &control)
    })?;
    if let Some(output) = &mut output {
        let text = toml_text::escaped(&found.location(&scene)?.text());
        output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    }
    if let Some(output) = output {
        output.commit()?;
    }
    match args.output.as_deref() {
        Some(path) if store::is_stdout(path) => Ok(()),
        _ if args.json => output::print_json(&report(&found)),
        path => output::print(&text(&found, path)),
    }
}

/// What the flags ask for.
fn wanted(args: &LocateArgs) -> Result<Wanted, Failure> {
    if args.json && args.output.as_deref().is_some_and(store::is_stdout) {
        return Err(Usage::new("--json", "standard output cannot take both a report and a location")
            .hint("write the location to a file: -o FILE")
            .into());
    }
    let sought = match &args.kind {
        None => Sought::default(),
        Some(name) => name.parse().map_err(|e: dwell::UnknownName| Failure::from(e).about("--kind"))?,
    };
    let within = match (&args.point, &args.within) {
        (Some(text), _) => Within::Near(engine::decimals("--point", text, "RE,IM")?),
        (None, Some(text)) => Within::Box(engine::decimals("--box", text, "XMIN,XMAX,YMIN,YMAX")?),
        (None, None) => Within::View,
    };
    let zoom_to = match args.zoom_to.as_deref() {
        None | Some("mini") => ZoomTo::Mini,
        Some("embedded") => ZoomTo::Embedded,
        Some(text) if text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            let problem = format!("{} is not known", quote(text));
            return Err(Usage::new("--zoom-to", problem).accepts("mini, embedded, or a zoom above 0").into());
        }
        Some(text) => ZoomTo::Zoom(engine::decimal("--zoom-to", text)?),
    };
    let most_period = match &args.max_period {
        None => 0,
        Some(text) => engine::whole("--max-period", text, 1, MOST_PERIOD)?,
    };
    Ok(Wanted { sought, within, zoom_to, most_period })
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e6
}

fn report(found: &Located) -> Report<'_> {
    let times = &found.times;
    let (mut preperiod, mut size, mut zoom, mut shape, mut multiplier) = (None, None, None, None, None);
    let (kind, turned) = match &found.point {
        Special::Minibrot { size: of_mini, zoom: of_zoom, turned, is_cardioid, .. } => {
            (size, zoom) = (Some(of_mini.text()), Some(of_zoom.text()));
            shape = Some(if *is_cardioid { "cardioid" } else { "disc" });
            (Sought::Minibrot, turned)
        }
        Special::Misiurewicz { preperiod: k, multiplier: of_cycle, turned, .. } => {
            (preperiod, multiplier) = (Some(*k), Some(of_cycle.text()));
            (Sought::Misiurewicz, turned)
        }
    };
    Report {
        kind: kind.name(),
        period: found.point.period(),
        preperiod,
        re: found.re.text(),
        im: found.im.text(),
        size,
        zoom,
        shape,
        multiplier,
        turned: turned.text(),
        proof: ProofReport {
            within: &found.within,
            alone_within: &found.alone_within,
            exact_period: true,
            least_period: found.is_least,
        },
        seconds: SecondsReport {
            search: seconds(times.search),
            refinement: seconds(times.refinement),
            proof: seconds(times.proof),
        },
        bits: BitsReport { search: times.bits[0], proof: times.bits[1] },
    }
}

/// The report for a person.
fn text(found: &Located, path: Option<&Path>) -> String {
    let mut lines = Vec::new();
    let mut line = |name: &str, value: String| lines.push(format!("{name:<11} {value}\n"));
    let digits = |value: &Decimal, digits: usize| output::tame(value.text(), digits);
    match &found.point {
        Special::Minibrot { period, size, turned, is_cardioid, .. } => {
            let kind = if *is_cardioid { "minibrot" } else { "disc that touches a larger component" };
            line("found", format!("{kind} of period {period}"));
            line("size", format!("{} of the whole set, turned by {} degrees", short(size), digits(turned, 10)));
        }
        Special::Misiurewicz { preperiod, period, multiplier, turned } => {
            line("found", format!("Misiurewicz point of preperiod {preperiod} and period {period}"));
            line("multiplier", format!("{}, turned by {} degrees", short(multiplier), digits(turned, 10)));
        }
    }
    line("re", found.re.text().to_owned());
    line("im", found.im.text().to_owned());
    line(
        "proved",
        format!("within {} of it, the only one within {}; the period is exact", found.within, found.alone_within),
    );
    if found.is_least {
        line("", "none of a smaller period is in the region".to_owned());
    }
    let times = &found.times;
    let [search, refinement, proof] = [times.search, times.refinement, times.proof].map(|time| time.as_secs_f64());
    line("seconds", format!("{search:.3} search, {refinement:.3} digits, {proof:.3} proof"));
    if let Some(path) = path {
        line("written", format!("{}; draw it with `dwell render`", quote(&path.to_string_lossy())));
    }
    lines.concat()
}

/// A number with few digits.
fn short(value: &Decimal) -> String {
    value.to_rational().scientific()
}
