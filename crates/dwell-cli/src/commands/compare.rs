//! `dwell compare`: compares two rasters, or a field with the true dwells.

mod text;

use crate::cli::{CompareArgs, FormulaArgs, IterationArgs, ViewArgs};
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::{Machine, processors};
use crate::scene;
use crate::{engine, output, progress_bar};
use dwell::compare::{self, ComparisonReport, Controls, Raster, Selection, TruthReport};
use dwell::store::{self, Output};
use dwell::{Automatic, Control, Engine, Limits, Progress, quote};
use std::path::Path;

/// The result of a comparison, as the exit code.
pub(crate) enum Verdict {
    /// Nothing differs, nothing is wrong: 0.
    Same,
    /// Something differs or is wrong: 1.
    Different,
}

/// Pixels of a sample by default, and the most.
const SAMPLES: u64 = 1000;
const MOST_SAMPLES: u64 = 10_000_000;
const SEED: u64 = 1;

pub(crate) fn run(args: &CompareArgs, interrupt: &Interrupt) -> Result<Verdict, Failure> {
    let memory_bytes = match &args.max_memory {
        Some(text) => engine::bytes("--max-memory", text)?,
        None => Machine::planned_bytes(processors()),
    };
    let limits = Limits { memory_bytes };
    let progress = Progress::default();
    let controls = Controls { limits: &limits, cancel: &interrupt.cancel, progress: &progress };
    compare_as_told(args, interrupt, controls).map_err(|failure| match failure.is_about_memory() {
        true => Usage::new("--max-memory", failure.message()).hint("allow more, or close other programs").into(),
        false => failure,
    })
}

fn compare_as_told(args: &CompareArgs, interrupt: &Interrupt, controls: Controls<'_>) -> Result<Verdict, Failure> {
    match (&args.truth, &args.a, &args.b) {
        (Some(field), what, _) => {
            let report = truth(args, field, what.as_deref(), controls)?;
            if args.json {
                output::print_json(&report)?
            } else {
                output::print(&text::of_truth(&report))?
            }
            Ok(if report.total.wrong == 0 { Verdict::Same } else { Verdict::Different })
        }
        (None, Some(a), Some(b)) => {
            let report = rasters(args, a, b, interrupt, controls)?;
            if args.json {
                output::print_json(&report)?
            } else {
                output::print(&text::of_rasters(&report))?
            }
            Ok(if report.same { Verdict::Same } else { Verdict::Different })
        }
        // The parser of flags requires both already.
        _ => Err(Usage::new("dwell compare", "two files are needed").accepts("A B, or --truth FIELD").into()),
    }
}

/// Opens both rasters, each within the memory that the other leaves. The size of the second is known when the first is a
/// pipe, so that of an endless one little is stored.
fn open(a: &Path, b: &Path, limits: &Limits) -> Result<(Raster, Raster), Failure> {
    let beside = |path: &Path, other: &Raster| {
        let memory_bytes = limits.memory_bytes.saturating_sub(other.memory_bytes());
        Raster::open_beside(path, Some(other.size()), &Limits { memory_bytes })
    };
    if is_stdin(a) || (a.exists() && !a.is_file()) {
        let b = Raster::open(b, limits)?;
        return Ok((beside(a, &b)?, b));
    }
    let a = Raster::open(a, limits)?;
    let b = beside(b, &a)?;
    Ok((a, b))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Compares two files.
fn rasters(
    args: &CompareArgs,
    a: &Path,
    b: &Path,
    interrupt: &Interrupt,
    controls: Controls<'_>,
) -> Result<ComparisonReport, Failure> {
    // clap does not check that these flags require --truth where B conflicts with --truth.
    let of_truth = [("--samples", args.samples.is_some()), ("--seed", args.seed.is_some()), ("--all", args.all)];
    let of_truth = of_truth.into_iter().find_map(|(flag, given)| given.then_some(flag));
    if let Some(flag) = of_truth.or_else(|| first_of_view(&args.view, &args.iteration)) {
        return Err(Usage::new(flag, "is about --truth, and two files are compared as they are")
            .hint("`dwell compare --truth FIELD` checks one field of dwells; see `dwell compare --help`")
            .into());
    }
    if is_stdin(a) && is_stdin(b) {
        return Err(Usage::new("B", "standard input is A already").hint("give one of the two as a file").into());
    }
    check_overlap(args, a, b)?;
    let (a, b) = open(a, b, controls.limits)?;
    // Create the picture only after all checks, and only where it will have pixels.
    let alike = a.is_field() == b.is_field() && a.size() == b.size();
    let picture = match &args.output {
        Some(path) if alike => Some(Output::create(path, false, &interrupt.partial_files)?),
        _ => None,
    };
    let no_picture = args.output.is_some() && a.size() != b.size();
    let watched = progress_bar::wanted(args.quiet);
    let report =
        progress_bar::during(watched, "comparing", controls.progress, || compare::compare(a, b, picture, controls))?;
    if no_picture {
        output::remark("no picture was written: the sizes differ");
    }
    Ok(report)
}

/// Checks that the picture is a PNG and is not written over an input.
fn check_overlap(args: &CompareArgs, a: &Path, b: &Path) -> Result<(), Usage> {
    let Some(path) = &args.output else { return Ok(()) };
    if path.as_os_str().is_empty() {
        return Err(Usage::new("-o", "the name is empty").accepts("a file, or - for standard output"));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if ending.is_some_and(|ending| ending != "png") {
        return Err(Usage::new("-o", format!("{} is no PNG by its name", quote(&path.to_string_lossy())))
            .accepts("a name that ends in .png, or has no ending"));
    }
    if store::is_stdout(path) {
        return Err(Usage::new("-o", "standard output is where the report goes").hint("give a file"));
    }
    let Some(identity) = store::identity(path) else { return Ok(()) };
    for (name, input) in [("A", a), ("B", b)] {
        if input != Path::new("-") && store::identity(input).is_some_and(|input| input == identity) {
            let problem = format!("{} is the file of {name} as well", quote(&path.to_string_lossy()));
            return Err(Usage::new("-o", problem).hint("give each a file of its own"));
        }
    }
    Ok(())
}

/// Checks a field against the true dwells of the view that it shows.
fn truth(
    args: &CompareArgs,
    field: &Path,
    what: Option<&Path>,
    controls: Controls<'_>,
) -> Result<TruthReport, Failure> {
    let which = if args.all {
        Selection::All
    } else {
        let number = |flag, text: &Option<String>, least, most, usual| match text {
            Some(text) => engine::whole(flag, text, least, most),
            None => Ok(usual),
        };
        Selection::Sample {
            pixels: number("--samples", &args.samples, 1, MOST_SAMPLES, SAMPLES)?,
            seed: number("--seed", &args.seed, 0, u64::MAX, SEED)?,
        }
    };
    let mut scene = scene::place(what, &args.view, &args.iteration, true)?;
    let engine = engine::engine(&args.engine)?;
    let field = Raster::open_beside(field, Some(scene.view.size), controls.limits)?;
    // Dwells have no colours.
    scene.automatic = Automatic { scale: false, ..scene.automatic };
    let control = Control { cancel: controls.cancel, progress: controls.progress };
    scene = dwell::resolve(&scene, &engine, controls.limits, &control)?.scene;
    let watched = progress_bar::wanted(args.quiet);
    let report = progress_bar::during(watched, "checking", controls.progress, || {
        compare::check(field, &scene.view, &scene.settings, which, engine.pool(), controls)
    })?;
    Ok(report)
}

/// The first of the flags about a view that was given.
fn first_of_view(view: &ViewArgs, iteration: &IterationArgs) -> Option<&'static str> {
    let ViewArgs { center, zoom, view_height, bounds, size, rotate, flip, sample } = view;
    let IterationArgs { formula, max_iter, escape_radius, precision, rounding, force } = iteration;
    let FormulaArgs { formula, power, julia } = formula;
    let given = [
        ("--center", center),
        ("--zoom", zoom),
        ("--view-height", view_height),
        ("--bounds", bounds),
        ("--size", size),
        ("--rotate", rotate),
        ("--flip", flip),
        ("--sample", sample),
        ("--formula", formula),
        ("--power", power),
        ("--julia", julia),
        ("--max-iter", max_iter),
        ("--escape-radius", escape_radius),
        ("--precision", precision),
        ("--rounding", rounding),
    ];
    let given = given.into_iter().find_map(|(flag, value)| value.is_some().then_some(flag));
    given.or(force.then_some("--force"))
}
