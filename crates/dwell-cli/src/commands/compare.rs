//! `dwell compare`: two rasters, or a field and the truth.

mod text;

use crate::cli::{CompareArgs, FormulaArgs, IterationArgs, ViewArgs};
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::scene::{self, MaxIter};
use crate::{engine, output, progress_bar};
use dwell::compare::{self, Raster, Report, TruthReport, Watch, Which};
use dwell::store::{self, Output};
use dwell::{Engine, Error, InputError, Limits, Progress, auto_limit, quote};
use std::path::Path;

/// What the program's exit code says.
pub(crate) enum Verdict {
    /// Nothing differs, nothing is wrong: 0.
    Same,
    /// Something is: 1.
    Different,
}

/// Pixels of a sample if nobody says how many, and the most.
const SAMPLES: u64 = 1000;
const MOST_SAMPLES: u64 = 10_000_000;
const SEED: u64 = 1;

pub(crate) fn run(args: &CompareArgs, interrupt: &Interrupt) -> Result<Verdict, Error> {
    let limits = Limits { memory_bytes: Machine::look().available_bytes / 10 * 9 };
    let progress = Progress::default();
    let watch = Watch { limits: &limits, cancel: &interrupt.cancel, progress: &progress };
    match (&args.truth, &args.a, &args.b) {
        (Some(field), what, _) => {
            let report = truth(args, field, what.as_deref(), watch)?;
            if args.json {
                output::print_json(&report)?
            } else {
                output::print(&text::of_truth(&report))?
            }
            Ok(if report.total.wrong == 0 { Verdict::Same } else { Verdict::Different })
        }
        (None, Some(a), Some(b)) => {
            let report = rasters(args, a, b, interrupt, watch)?;
            if args.json {
                output::print_json(&report)?
            } else {
                output::print(&text::of_rasters(&report))?
            }
            Ok(if report.same { Verdict::Same } else { Verdict::Different })
        }
        // The parser of flags asks for both already.
        _ => Err(InputError::new("dwell compare", "two files are needed").accepted("A B, or --truth FIELD").into()),
    }
}

/// Two files.
fn rasters(args: &CompareArgs, a: &Path, b: &Path, interrupt: &Interrupt, watch: Watch<'_>) -> Result<Report, Error> {
    // The parser of flags does not see it: that a flag needs --truth is nothing to it where B forbids --truth.
    let of_truth = [("--samples", args.samples.is_some()), ("--seed", args.seed.is_some()), ("--all", args.all)];
    let of_truth = of_truth.into_iter().find_map(|(flag, given)| given.then_some(flag));
    if let Some(flag) = of_truth.or_else(|| first_of_view(&args.view, &args.iteration)) {
        return Err(InputError::new(flag, "is about --truth, and two files are compared as they are")
            .hint("`dwell compare --truth FIELD` checks one field of dwells; see `dwell compare --help`")
            .into());
    }
    let is_stdin = |path: &Path| path == Path::new("-");
    if is_stdin(a) && is_stdin(b) {
        return Err(InputError::new("B", "standard input is A already").hint("give one of the two as a file").into());
    }
    check_overlap(args, a, b)?;
    let (a, b) = (Raster::open(a, watch.limits)?, Raster::open(b, watch.limits)?);
    // Refused before a file is touched, and not begun where nothing would be in it.
    let alike = a.is_field() == b.is_field() && a.size() == b.size();
    let picture = match &args.output {
        Some(path) if alike => Some(Output::create(path, false, &interrupt.leftovers)?),
        _ => None,
    };
    let no_picture = args.output.is_some() && a.size() != b.size();
    let watched = progress_bar::wanted(args.quiet);
    let report = progress_bar::during(watched, "comparing", watch.progress, || compare::compare(a, b, picture, watch))?;
    if no_picture {
        output::remark("no picture was written: the sizes differ");
    }
    Ok(report)
}

/// Refuses to write over an input.
fn check_overlap(args: &CompareArgs, a: &Path, b: &Path) -> Result<(), InputError> {
    let Some(path) = &args.output else { return Ok(()) };
    if path.as_os_str().is_empty() {
        return Err(InputError::new("-o", "the name is empty").accepted("a file, or - for standard output"));
    }
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if ending.is_some_and(|ending| ending != "png") {
        return Err(InputError::new("-o", format!("{} is no PNG by its name", quote(&path.to_string_lossy())))
            .accepted("a name that ends in .png, or has no ending"));
    }
    if store::is_stdout(path) {
        return Err(InputError::new("-o", "standard output is where the report goes").hint("give a file"));
    }
    let Some(identity) = store::identity(path) else { return Ok(()) };
    for (name, input) in [("A", a), ("B", b)] {
        if input != Path::new("-") && store::identity(input).is_some_and(|input| input == identity) {
            let problem = format!("{} is the file of {name} as well", quote(&path.to_string_lossy()));
            return Err(InputError::new("-o", problem).hint("give each a file of its own"));
        }
    }
    Ok(())
}

/// A field and the truth about the view that it shows.
fn truth(args: &CompareArgs, field: &Path, what: Option<&Path>, watch: Watch<'_>) -> Result<TruthReport, Error> {
    let which = if args.all {
        Which::All
    } else {
        let number = |flag, text: &Option<String>, least, most, usual| match text {
            Some(text) => engine::whole(flag, text, least, most),
            None => Ok(usual),
        };
        Which::Sample {
            pixels: number("--samples", &args.samples, 1, MOST_SAMPLES, SAMPLES)?,
            seed: number("--seed", &args.seed, 0, u64::MAX, SEED)?,
        }
    };
    let (mut scene, max_iter) = scene::place(what, &args.view, &args.iteration, true)?;
    let engine = engine::engine(&args.engine)?;
    let field = Raster::open(field, watch.limits)?;
    match max_iter {
        MaxIter::Given => {}
        MaxIter::TooMany(iterations) => {
            return Err(InputError::new("--max-iter", format!("the location asks for {iterations} iterations"))
                .accepted("1 to 4294967295")
                .hint("give the limit that the field was rendered with")
                .into());
        }
        MaxIter::Auto => {
            scene.settings.limit = auto_limit(&scene.view, &scene.settings, &engine, watch.cancel)?;
        }
    }
    let watched = progress_bar::wanted(args.quiet);
    progress_bar::during(watched, "checking", watch.progress, || {
        compare::check(field, &scene.view, &scene.settings, which, engine.team(), watch)
    })
}

/// The first of the flags about a view that was given.
fn first_of_view(view: &ViewArgs, iteration: &IterationArgs) -> Option<&'static str> {
    let ViewArgs { center, zoom, height, bounds, size, rotate, flip, sample } = view;
    let IterationArgs { formula, max_iter, escape_radius, number, recipe, force } = iteration;
    let FormulaArgs { formula, power, julia } = formula;
    let given = [
        ("--center", center),
        ("--zoom", zoom),
        ("--height", height),
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
        ("--number", number),
        ("--recipe", recipe),
    ];
    let given = given.into_iter().find_map(|(flag, value)| value.is_some().then_some(flag));
    given.or(force.then_some("--force"))
}
