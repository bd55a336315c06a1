//! Compares the speed of renders with the peak rate of the machine and writes docs/speed.md. All figures are ratios within
//! one run: machines are shared, and a time alone says little about another one.
//!
//! The levels and the latencies have a section for each processor that was measured. Only the own one is replaced; the other sections are of the
//! machine of the last complete run.

mod latency;

use crate::{Done, root};
use dwell::store::{self, PartialFiles};
use dwell::{
    Cancel, Colouring, Control, CpuEngine, Decimal, Depth, Fold, Formula, Frame, Level, LevelName, Limits, NumberKind,
    Paint, Plan, Progress, Recipe, Report, Request, Samples, Scratch, Settings, Shortcuts, Size, Strategy, View, peak,
};
use std::fmt::Write;

/// A view by its bounds (xmin, xmax, ymin, ymax), its size in pixels and the limit.
struct Workload {
    name: &'static str,
    bounds: [&'static str; 4],
    size: (u32, u32),
    limit: u64,
}

/// A formula with its whole set in view, or a Julia set with a large interior.
struct OfFormula {
    name: &'static str,
    formula: (Fold, u32),
    julia: Option<[&'static str; 2]>,
}

const fn of(name: &'static str, fold: Fold, power: u32) -> OfFormula {
    OfFormula { name, formula: (fold, power), julia: None }
}

const FORMULAS: [OfFormula; 11] = [
    of("z^2 + c", Fold::None, 2),
    of("z^3 + c", Fold::None, 3),
    of("z^4 + c", Fold::None, 4),
    of("z^5 + c", Fold::None, 5),
    of("z^7 + c", Fold::None, 7),
    of("z^16 + c", Fold::None, 16),
    of("Burning Ship", Fold::Absolute, 2),
    of("Burning Ship of power 3", Fold::Absolute, 3),
    of("Tricorn", Fold::Conjugate, 2),
    of("Tricorn of power 3", Fold::Conjugate, 3),
    OfFormula { name: "Julia set of -0.1226 + 0.7449i", formula: (Fold::None, 2), julia: Some(["-0.1226", "0.7449"]) },
];

/// The view of every formula.
const FORMULA_VIEW: Workload = Workload {
    name: "[-2.25,2.25]x[-1.5,1.5] 1500x1000",
    bounds: ["-2.25", "2.25", "-1.5", "1.5"],
    size: (1500, 1000),
    limit: 1000,
};

/// At the first limit the ends of orbits take a large part of the time, at the second the steps do.
const FORMULA_LIMITS: [u64; 2] = [1000, 10_000];

const WORKLOADS: [Workload; 4] = [
    Workload {
        name: "[-2,1]x[-1,1] 3000x2000 limit 1000",
        bounds: ["-2", "1", "-1", "1"],
        size: (3000, 2000),
        limit: 1000,
    },
    Workload {
        name: "[-1.5,0.5]x[-1,1] 4096x4096 limit 512",
        bounds: ["-1.5", "0.5", "-1", "1"],
        size: (4096, 4096),
        limit: 512,
    },
    Workload { name: "[-2,2]^2 2048x2048 limit 256", bounds: ["-2", "2", "-2", "2"], size: (2048, 2048), limit: 256 },
    Workload { name: "[-2,2]^2 2048x2048 limit 32", bounds: ["-2", "2", "-2", "2"], size: (2048, 2048), limit: 32 },
];

/// Views with almost no interior: they show what the shortcuts cost where they gain nothing.
const WITHOUT_INTERIOR: [Workload; 3] = [
    Workload {
        name: "[-0.7483,-0.7443]x[0.1082,0.1122] 1024x1024 limit 5000",
        bounds: ["-0.7483", "-0.7443", "0.1082", "0.1122"],
        size: (1024, 1024),
        limit: 5000,
    },
    Workload {
        name: "[-0.80,-0.79]x[0.17,0.18] 1024x1024 limit 1000",
        bounds: ["-0.80", "-0.79", "0.17", "0.18"],
        size: (1024, 1024),
        limit: 1000,
    },
    Workload {
        name: "[-1.2,-1.1]x[0.4,0.5] 1024x1024 limit 1000",
        bounds: ["-1.2", "-1.1", "0.4", "0.5"],
        size: (1024, 1024),
        limit: 1000,
    },
];

/// Renders of each workload. The first is not counted.
const REPEATS: u32 = 8;
const REPEATS_OF_SCALAR: u32 = 3;

/// Renders a workload without any output and reports medians.
fn measure(
    workload: &Workload,
    number: NumberKind,
    engine: &CpuEngine,
    strategy: Strategy,
    repeats: u32,
) -> Result<Report, Box<dyn std::error::Error>> {
    let settings = Settings { limit: workload.limit, number, ..Settings::default() };
    measure_with(workload, &settings, engine, strategy, repeats)
}

/// [`measure`] with any settings.
fn measure_with(
    workload: &Workload,
    settings: &Settings,
    engine: &CpuEngine,
    strategy: Strategy,
    repeats: u32,
) -> Result<Report, Box<dyn std::error::Error>> {
    let [xmin, xmax, ymin, ymax] = workload.bounds.map(str::parse::<Decimal>);
    let frame = Frame::Bounds { xmin: xmin?, xmax: xmax?, ymin: ymin?, ymax: ymax? };
    let view = View { frame, ..View::centred("0", "0", "1")?.sized(Size::new(workload.size.0, workload.size.1)?) };
    let plan = Plan::new(&view, settings, &Limits::default())?;
    let (cancel, progress, colouring) = (Cancel::default(), Progress::default(), Colouring::default());
    let (samples, depth) = (Samples::Fixed(1), Depth::Eight);
    let paint = Paint { colouring: &colouring, samples, dither: false, depth, text: "" };
    let request = Request::new(&plan, engine, paint, Control { cancel: &cancel, progress: &progress })
        .with_strategy(strategy)
        .with_verification(repeats == 1);
    let mut scratch = Scratch::default();
    let mut reports = Vec::new();
    for _ in 0..repeats {
        reports.push(dwell::render(&request, Vec::new(), &mut scratch)?);
    }
    Report::median(&reports).ok_or_else(|| "no render was measured".into())
}

fn per_second(report: &Report) -> f64 {
    report.iterations_per_second
}

/// The processor's name, where the system tells it.
fn processor() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}

/// The title of the sections of the levels.
const LEVELS: &str = "\n## Shortcuts off: iterations a second / peak, ";

/// The processor with the number of its threads, as the titles of its sections have it.
fn machine() -> String {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {threads} threads", processor())
}

/// Writes docs/speed.md, or with `--levels` or `--latency` one section on this machine alone.
pub(crate) fn run(words: &[&str]) -> Done {
    let path = root().join("docs/speed.md");
    let page = std::fs::read_to_string(&path)?;
    let Page { mut levels, mut others, mut latencies } = Page::of(&page);
    let (own_levels, own_latency);
    let rewritten;
    let measured = match words {
        [] => [true; 3],
        ["--levels"] => [true, false, false],
        ["--latency"] => [false, false, true],
        _ => return Err("the flags of speed are --levels and --latency".into()),
    };
    if measured[0] {
        own_levels = self::levels()?;
        replace(&mut levels, &own_levels);
    }
    if measured[1] {
        rewritten = self::others()?;
        others = vec![&rewritten];
    }
    if measured[2] {
        own_latency = latency::section()?;
        replace(&mut latencies, &own_latency);
    }
    let text = [HEAD].into_iter().chain(levels).chain(others).chain(latencies).collect::<String>();
    store::write_text(&path, &text, &PartialFiles::default())?;
    print!("{text}");
    Ok(())
}

/// What the page begins with.
const HEAD: &str = "# Speed\n\n\
    Written by `cargo run --release -p xtask -- speed`. Every figure is a ratio within one run, because machines are shared and noisy, but for the\n\
    last sections. *Peak* is the rate of the recipe's operations alone (`dwell peak`) on as many threads, measured just before the renders.\n";

/// The sections of the page, each from the line break before its title.
#[derive(Debug)]
struct Page<'a> {
    /// The levels of each machine.
    levels: Vec<&'a str>,
    others: Vec<&'a str>,
    /// The latencies of each machine.
    latencies: Vec<&'a str>,
}

impl<'a> Page<'a> {
    fn of(page: &'a str) -> Self {
        let starts: Vec<usize> = page.match_indices("\n## ").map(|(at, _)| at).collect();
        let ends = starts.iter().skip(1).copied().chain([page.len()]);
        let sections = starts.iter().zip(ends).map(|(start, end)| &page[*start..end]);
        let mut parts = Self { levels: Vec::new(), others: Vec::new(), latencies: Vec::new() };
        for section in sections {
            let part = match section {
                section if section.starts_with(LEVELS) => &mut parts.levels,
                section if section.starts_with(latency::TITLE) => &mut parts.latencies,
                _ => &mut parts.others,
            };
            part.push(section);
        }
        parts
    }
}

/// Puts a section in the place of the one with its title, or after the others.
fn replace<'a>(sections: &mut Vec<&'a str>, own: &'a str) {
    let title = |section: &str| section.trim_start().lines().next().map(str::to_owned);
    match sections.iter_mut().find(|section| title(section) == title(own)) {
        Some(section) => *section = own,
        None => sections.push(own),
    }
}

/// The section of the levels on this machine.
fn levels() -> Result<String, Box<dyn std::error::Error>> {
    let mut text = format!("{LEVELS}{}\n\n", machine());
    writeln!(text, "| level | number | threads | peak / one thread | {} |", WORKLOADS.map(|w| w.name).join(" | "))?;
    writeln!(text, "|---|---|---|---|{}", "---|".repeat(WORKLOADS.len()))?;
    let available = std::thread::available_parallelism().map_or(1, usize::from);
    let mut threads: Vec<usize> =
        std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n < available).collect();
    threads.push(available);
    for level in Level::available().into_iter().rev() {
        let repeats = if level.name() == LevelName::Scalar { REPEATS_OF_SCALAR } else { REPEATS };
        for number in NumberKind::DIRECT {
            let mut of_one = 0.0;
            for threads in &threads {
                let (map, cancel) = (Formula::MANDELBROT, Cancel::default());
                let peak =
                    peak::measure(map, number, Recipe::Fused, level, *threads, &cancel)?.peak_iterations_per_second;
                if *threads == 1 {
                    of_one = peak;
                }
                let engine = CpuEngine::new(level, *threads).with_shortcuts(Shortcuts::NONE);
                write!(text, "| {} | {} | {threads} | {:.2} |", level.name(), number.name(), peak / of_one)?;
                for workload in &WORKLOADS {
                    let report = measure(workload, number, &engine, Strategy::EveryPixel, repeats)?;
                    write!(text, " {:.2} |", per_second(&report) / peak)?;
                }
                writeln!(text)?;
            }
        }
    }
    Ok(text)
}

/// The sections of one thread of this machine.
fn others() -> Result<String, Box<dyn std::error::Error>> {
    let mut text = String::new();
    let engine = |shortcuts| CpuEngine::new(Level::best(), 1).with_shortcuts(shortcuts);
    let (off, on) = (engine(Shortcuts::NONE), engine(Shortcuts::EXACT));
    let singles = [
        Shortcuts { interior: true, ..Shortcuts::NONE },
        Shortcuts { cycles: true, ..Shortcuts::NONE },
        Shortcuts { symmetry: true, ..Shortcuts::NONE },
    ]
    .map(|shortcuts| (shortcuts, engine(shortcuts)));
    writeln!(text, "\n## Shortcuts: times faster than without, one thread, {}\n", Level::best().name())?;
    writeln!(text, "This section and those of strategies and of other formulas are of: {}.\n", machine())?;
    writeln!(text, "| view | number | exact | {} |", singles.each_ref().map(|(s, _)| s.to_string()).join(" | "))?;
    writeln!(text, "|---|---|---|{}", "---|".repeat(singles.len()))?;
    for workload in WORKLOADS.iter().chain(&WITHOUT_INTERIOR) {
        for number in NumberKind::DIRECT {
            let rate =
                |engine| measure(workload, number, engine, Strategy::EveryPixel, REPEATS).map(|r| per_second(&r));
            // Alternate the two, so that a machine that becomes slower affects both.
            let (mut plain, mut all) = (rate(&off)?, rate(&on)?);
            plain = plain.max(rate(&off)?);
            all = all.max(rate(&on)?);
            write!(text, "| {} | {} | {:.2} |", workload.name, number.name(), all / plain)?;
            for (_, engine) in &singles {
                write!(text, " {:.2} |", rate(engine)? / plain)?;
            }
            writeln!(text)?;
        }
    }

    writeln!(
        text,
        "\n## Heuristic strategies: times faster than every pixel (shortcuts off), and pixels with a wrong dwell\n"
    )?;
    writeln!(text, "| view | number | strategy | faster | pixels that differ |\n|---|---|---|---|---|")?;
    for workload in &WORKLOADS[..2] {
        for number in NumberKind::DIRECT {
            let plain = per_second(&measure(workload, number, &off, Strategy::EveryPixel, REPEATS)?);
            for strategy in [Strategy::MarianiSilver, Strategy::BoundaryTrace] {
                let rate = per_second(&measure(workload, number, &off, strategy, REPEATS)?);
                let verified = measure(workload, number, &off, strategy, 1)?;
                let differing = verified.differing_pixels.unwrap_or_default();
                writeln!(
                    text,
                    "| {} | {} | {} | {:.2} | {differing} of {} |",
                    workload.name,
                    number.name(),
                    strategy.name(),
                    rate / plain,
                    verified.pixels
                )?;
            }
        }
    }
    formulas(&mut text)?;
    Ok(text)
}

/// Compares each formula with the rate that its operations allow, at a limit where the ends of orbits take a large part of
/// the time and at one where the steps do.
fn formulas(text: &mut String) -> Done {
    writeln!(
        text,
        "\n## Other formulas: iterations a second / what their operations allow, shortcuts off, one thread, {}\n\n\
         View: {}. The operations allow the peak of z^2 + c, measured beside each row, times its four operations a step\n\
         divided by those of the formula (a squaring and a product take four each; folds are not counted). Where most points\n\
         escape after few steps, as around the Tricorn, tests and the ends of orbits take a larger part of the time. Each\n\
         formula is therefore measured at a low and at a high limit.\n",
        Level::best().name(),
        FORMULA_VIEW.name
    )?;
    let [low, high] = FORMULA_LIMITS;
    writeln!(
        text,
        "| formula | operations | f32, limit {low} | f64, limit {low} | mean iterations | f32, limit {high} | f64, limit {high} | mean iterations |\n\
         |---|---|---|---|---|---|---|---|"
    )?;
    let engine = CpuEngine::new(Level::best(), 1).with_shortcuts(Shortcuts::NONE);
    for OfFormula { name, formula: (fold, power), julia } in FORMULAS {
        let formula = Formula::new(fold, power).ok_or("the power must be from 2 to 16")?;
        let julia = match julia {
            Some([re, im]) => Some([re.parse::<Decimal>()?, im.parse()?]),
            None => None,
        };
        let allowed = f64::from(Formula::MANDELBROT.operations()) / f64::from(formula.operations());
        write!(text, "| {name} | {} |", formula.operations())?;
        for limit in FORMULA_LIMITS {
            let mut mean = 0.0;
            for number in NumberKind::DIRECT {
                let cancel = Cancel::default();
                let peak = peak::measure(Formula::MANDELBROT, number, Recipe::Fused, Level::best(), 1, &cancel)?;
                let settings = Settings { formula, julia: julia.clone(), limit, number, ..Settings::default() };
                let report = measure_with(&FORMULA_VIEW, &settings, &engine, Strategy::EveryPixel, REPEATS)?;
                write!(text, " {:.2} |", per_second(&report) / (peak.peak_iterations_per_second * allowed))?;
                mean = report.iterations as f64 / report.pixels as f64;
            }
            write!(text, " {mean:.0} |")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_of_a_machine_is_replaced_and_others_are_kept() {
        let section = |title: &str, name: &str, value: u32| format!("{title}{name}\n\n| {value} |\n");
        let of = |name, value| section(LEVELS, name, value);
        let (shortcuts, latency) = ("\n## Shortcuts: x\n", section(latency::TITLE, "a", 7));
        let page = format!("# Speed\n{}{}{shortcuts}{latency}", of("a", 1), of("b", 2));
        let Page { levels, others, latencies } = Page::of(&page);
        assert_eq!((levels.concat(), others, latencies), (of("a", 1) + &of("b", 2), vec![shortcuts], vec![&*latency]));
        for (own, after) in
            [(of("a", 3), of("a", 3) + &of("b", 2)), (of("c", 3), of("a", 1) + &of("b", 2) + &of("c", 3))]
        {
            let mut levels = levels.clone();
            replace(&mut levels, &own);
            assert_eq!(levels.concat(), after);
        }
        let page = std::fs::read_to_string(root().join("docs/speed.md")).unwrap();
        let Page { levels, others, .. } = Page::of(&page);
        assert!(!levels.is_empty() && others.iter().any(|section| section.starts_with("\n## Shortcuts: ")));
    }
}
