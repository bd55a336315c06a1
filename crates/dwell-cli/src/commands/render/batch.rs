//! Several jobs, one after the other, in the same buffers. All are checked before the first begins; after a failure the rest
//! go on.

use super::job_table::{self, Draft};
use super::placeholders::{self, Values};
use super::{Part, check, files, one};
use crate::cli::RenderArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::progress_bar::{self, Span};
use crate::{output, scene};
use dwell::store::{self, Output};
use dwell::{Report, Scratch, quote};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The exit code of an interrupted program.
const INTERRUPTED: u8 = 130;

/// A job of a batch.
struct Entry {
    /// Its name and number: `seahorse (2 of 5)`.
    label: String,
    args: RenderArgs,
    /// Its expected cost, by which its share of the progress is estimated.
    cost: f64,
}

/// What became of a batch.
#[derive(Default)]
struct Outcome {
    done: usize,
    failed: usize,
    code: u8,
    /// The statistics of each job that was run, or its error.
    statistics: Vec<Value>,
}

/// Whether the flags describe a batch: several locations, a table, or a pattern for names.
pub(super) fn is_wanted(args: &RenderArgs) -> bool {
    let is_pattern = |path: &PathBuf| placeholders::has_any(&path.to_string_lossy());
    args.what.len() > 1
        || args.jobs.is_some()
        || args.skip_existing
        || args.output.iter().chain(&args.stats).any(is_pattern)
}

/// Renders a batch. Returns the highest exit code of its jobs.
pub(super) fn run(args: &RenderArgs, interrupt: &Interrupt) -> Result<u8, Failure> {
    let drafts = drafts(args)?;
    let (mut entries, code) = checked(drafts, interrupt)?;
    if code > 0 {
        return Ok(code);
    }
    let collects = collects(args);
    check_names(&entries, collects)?;
    let all = entries.len();
    if args.skip_existing {
        entries.retain(|entry| !is_complete(&entry.args));
    }
    let began = Instant::now();
    let outcome = rendered(&entries, interrupt, began, collects);
    if let Some(path) = args.stats.as_deref().filter(|_| collects && !args.dry_run) {
        write_statistics(path, &outcome.statistics, args, interrupt)?;
    }
    if !args.quiet && !args.dry_run && !to_stderr(args) {
        remark_on(&outcome, all, all - entries.len(), began);
    }
    Ok(outcome.code)
}

/// Whether the statistics of all jobs are one array: their file's name has no placeholder.
fn collects(args: &RenderArgs) -> bool {
    args.stats.as_ref().is_some_and(|path| !placeholders::has_any(&path.to_string_lossy()))
}

/// Whether statistics go to standard error, and nothing else.
fn to_stderr(args: &RenderArgs) -> bool {
    args.stats.as_deref() == Some(Path::new("-"))
}

/// The jobs of the table, or one for each location that is named.
fn drafts(args: &RenderArgs) -> Result<Vec<Draft>, Failure> {
    if let Some(table) = &args.jobs {
        let words: Vec<OsString> = std::env::args_os().skip(1).skip_while(|word| word != "render").skip(1).collect();
        return job_table::drafts(table, args, &words);
    }
    let job = |what: Option<&PathBuf>| {
        let place = what.map_or_else(String::new, |what| quote(&what.to_string_lossy()).to_string());
        let args =
            RenderArgs { what: what.cloned().into_iter().collect(), jobs: None, skip_existing: false, ..args.clone() };
        Draft { name: None, place, args: Ok(args) }
    };
    if args.what.is_empty() {
        return Ok(vec![job(None)]);
    }
    Ok(args.what.iter().map(|what| job(Some(what))).collect())
}

/// The jobs with the names of their outputs, after all checks, and the highest exit code of those that are refused, each with
/// a line on standard error.
fn checked(drafts: Vec<Draft>, interrupt: &Interrupt) -> Result<(Vec<Entry>, u8), Failure> {
    let (count, mut code) = (drafts.len(), 0);
    let mut entries = Vec::new();
    for (number, draft) in drafts.into_iter().enumerate() {
        let place = if draft.place.is_empty() { "the whole set".to_owned() } else { draft.place.clone() };
        match entry(draft, number + 1, count, interrupt) {
            Ok(entry) => entries.push(entry),
            Err(failure) => {
                interrupt.cancel.check().map_err(Failure::from)?;
                output::remark(&line(&format!("job {} of {count}, {place}", number + 1), &failure));
                code = code.max(failure.exit_code());
            }
        }
    }
    Ok((entries, code))
}

/// A job with the names of its outputs, after all checks.
fn entry(draft: Draft, number: usize, count: usize, interrupt: &Interrupt) -> Result<Entry, Failure> {
    let mut args = draft.args?;
    if args.what() == Some(Path::new("-")) {
        return Err(Usage::new(
            "WHAT",
            "standard input can be read once, and a batch reads each location before it starts",
        )
        .accepts("files and built-in locations")
        .into());
    }
    let scene = scene::scene(&args)?;
    let stem = |what: &Path| what.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let unnamed = || args.what().and_then(stem).unwrap_or_else(|| "mandelbrot".to_owned());
    let values = Values {
        name: draft.name.unwrap_or_else(unnamed),
        index: format!("{number:0>width$}", width = count.to_string().len()),
        size: scene.view.size.to_string(),
        palette: scene.colouring.palette.name().to_owned(),
    };
    let filled = |flag, path: &mut PathBuf| -> Result<(), Failure> {
        let has_pattern = |text: &&str| text.contains(['{', '}']) && (count > 1 || placeholders::has_any(text));
        if let Some(pattern) = path.to_str().filter(has_pattern) {
            let name = placeholders::filled(flag, pattern, &values)?;
            *path = name.into();
        }
        Ok(())
    };
    args.output.iter_mut().try_for_each(|path| filled("-o", path))?;
    if let Some(path) = args.stats.as_mut().filter(|path| placeholders::has_any(&path.to_string_lossy())) {
        filled("--stats", path)?;
    }
    let cost = check(&args, interrupt)?;
    let label = if count > 1 { format!("{} ({number} of {count})", values.name) } else { values.name };
    Ok(Entry { label, args, cost })
}

/// An error as one line.
fn line(job: &str, failure: &Failure) -> String {
    let hints = failure.hints().map_or_else(String::new, |hints| format!(" ({hints})"));
    format!("error: {job}: {}{hints}", failure.message())
}

/// Checks that no two jobs write one file, and that none writes a file that another reads.
fn check_names(entries: &[Entry], collects: bool) -> Result<(), Usage> {
    let mut taken: Vec<(PathBuf, &str)> = Vec::new();
    for Entry { label, args, .. } in entries {
        let stats = args.stats.iter().filter(|_| !collects);
        for path in args.output.iter().chain(stats) {
            let Some(found) = store::identity(path) else { continue };
            if let Some((_, other)) = taken.iter().find(|(known, _)| *known == found) {
                let problem = format!("{} is an output of both {other} and {label}", quote(&path.to_string_lossy()));
                return Err(Usage::new("-o", problem)
                    .hint("name the outputs by a pattern, such as -o '{name}.png' or -o '{index}-{name}.png'"));
            }
            taken.push((found, label));
        }
    }
    for Entry { label, args, .. } in entries {
        let Some(read) = args.what().filter(|what| what.is_file()).and_then(store::identity) else { continue };
        if let Some((_, other)) = taken.iter().find(|(written, _)| *written == read) {
            let what = quote(&args.what().unwrap_or(Path::new("")).to_string_lossy()).to_string();
            return Err(Usage::new("-o", format!("{what} is the location of {label} and an output of {other}"))
                .hint("give each a file of its own"));
        }
    }
    Ok(())
}

/// Whether the outputs of a job are there. An output gets its name when it is complete; a journal beside it is of a render
/// that replaces it.
fn is_complete(args: &RenderArgs) -> bool {
    !args.output.is_empty()
        && args.output.iter().all(|path| path.is_file())
        && args.output.first().is_some_and(|first| store::journal_of(first).is_none())
}

/// Renders the jobs.
fn rendered(entries: &[Entry], interrupt: &Interrupt, began: Instant, collects: bool) -> Outcome {
    let total: f64 = entries.iter().map(|entry| entry.cost).sum();
    let (mut scratch, mut outcome, mut before) = (Scratch::default(), Outcome::default(), 0.0);
    for (number, Entry { label, args, cost }) in entries.iter().enumerate() {
        if !args.quiet && !to_stderr(args) {
            interrupt.set_remark(Some(remark_on_rest(&entries[number..])));
        }
        let share = cost / total.max(1.0);
        let span = Span::of(began, before, share);
        let part = Part { label: label.clone(), span, reports_to_batch: collects };
        before += share;
        let result = heading(args, label).and_then(|()| one(args, interrupt, part, &mut scratch));
        match result {
            Ok(report) => {
                outcome.done += 1;
                outcome.statistics.extend(report.map(|report| statistics(label, &report)));
            }
            Err(failure) => {
                outcome.code = outcome.code.max(failure.exit_code());
                if failure.exit_code() == INTERRUPTED {
                    interrupt.print_remark();
                    return outcome;
                }
                outcome.failed += 1;
                if !(collects && to_stderr(args)) {
                    output::remark(&line(label, &failure));
                }
                outcome.statistics.push(json!({ "job": label, "error": failure.message() }));
            }
        }
    }
    interrupt.set_remark(None);
    outcome
}

/// What an interrupted batch leaves, and how to go on.
fn remark_on_rest(rest: &[Entry]) -> String {
    let labels: Vec<&str> = rest.iter().map(|entry| entry.label.as_str()).collect();
    format!(
        "interrupted; the same command with --skip-existing renders the rest: {}",
        output::tame(&labels.join(", "), 400)
    )
}

/// The line above the plan of a job in a dry run.
fn heading(args: &RenderArgs, label: &str) -> Result<(), Failure> {
    if args.dry_run { output::print(&format!("{:<10} {}\n", "job", output::tame(label, 200))) } else { Ok(()) }
}

/// The statistics of a job with its name.
fn statistics(label: &str, report: &Report) -> Value {
    let mut value = json!({ "job": label });
    if let (Value::Object(all), Ok(Value::Object(of_job))) = (&mut value, serde_json::to_value(report)) {
        all.extend(of_job);
    }
    value
}

/// Writes the statistics of all jobs as one array.
fn write_statistics(
    path: &Path,
    statistics: &[Value],
    args: &RenderArgs,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        return output::json_to_stderr(&statistics);
    }
    files::create_folder(path, args.quiet)?;
    let mut file = Output::create(path, args.no_clobber, &interrupt.partial_files)?;
    let text = format!("{}\n", output::json(&statistics));
    file.write_all(text.as_bytes()).map_err(|e| file.error(e))?;
    file.commit()?;
    Ok(())
}

/// The report at the end of a batch.
fn remark_on(outcome: &Outcome, all: usize, skipped: usize, began: Instant) {
    let &Outcome { done, failed, .. } = outcome;
    let mut parts = vec![format!("{done} of {all} jobs done")];
    let counted = [(failed, "failed"), (skipped, "skipped (their outputs exist)")];
    parts.extend(counted.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    output::remark(&format!("{} in {}", parts.join(", "), progress_bar::duration(began.elapsed().as_secs_f64())));
}
