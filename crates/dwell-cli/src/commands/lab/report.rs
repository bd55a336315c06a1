//! `dwell lab report`: writes the report of a record.

use super::failure;
use crate::cli::LabReportArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::output;
use dwell::quote;
use dwell::store::{self, PartialFiles};
use dwell_lab::record::{self, Run};
use dwell_lab::report::{Report, Surroundings};
use std::path::Path;

/// Most bytes of a picture in a page.
const MOST_BYTES: u64 = 1 << 22;

pub(super) fn run(args: &LabReportArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let run = record::read_run(&args.run).map_err(failure)?;
    if args.output.is_empty() {
        write_all(&run, &args.run)?;
        return output::print(&format!("{}\n", args.run.join("report.html").display()));
    }
    let report = Report::new(&run);
    let mut texts = Vec::new();
    // Data of the same name beside the page are linked in it.
    let data = args.output.first().and_then(|path| path.file_stem()).map(|stem| stem.to_string_lossy().into_owned());
    let has = |wanted: &str| args.output.iter().any(|path| path.extension().is_some_and(|ending| ending == wanted));
    let data = data.filter(|_| has("csv") && has("json"));
    let file = reader(&args.run);
    let surroundings = Surroundings { file: &file, data: data.as_deref() };
    for path in &args.output {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        texts.push(match ending.as_str() {
            "html" | "htm" => report.html(&surroundings),
            "md" => report.markdown(),
            "csv" => report.csv(),
            "json" => report.json(),
            _ => {
                let problem = format!("{} has no known ending", quote(&path.to_string_lossy()));
                return Err(Usage::new("--output", problem).accepts(".html, .md, .csv or .json").into());
            }
        });
    }
    for (path, text) in args.output.iter().zip(texts) {
        store::write_text(path, &text, &interrupt.partial_files)?;
    }
    Ok(())
}

/// Writes the report in every form into the folder of the record.
pub(super) fn write_all(run: &Run, folder: &Path) -> Result<(), Failure> {
    let report = Report::new(run);
    let file = reader(folder);
    let texts = [
        ("report.html", report.html(&Surroundings { file: &file, data: Some("report") })),
        ("report.md", report.markdown()),
        ("report.csv", report.csv()),
        ("report.json", report.json()),
    ];
    for (name, text) in texts {
        store::write_text(&folder.join(name), &text, &PartialFiles::default())?;
    }
    for picture in report.plots() {
        let path = folder.join(format!("{}.svg", picture.name));
        store::write_text(&path, &picture.svg, &PartialFiles::default())?;
    }
    Ok(())
}

/// Reads small files of a record's folder, such as its pictures.
pub(super) fn reader(folder: &Path) -> impl Fn(&str) -> Option<Vec<u8>> {
    move |name| {
        // Names come from the record, so they are not paths.
        let is_name = !name.contains(['/', '\\']) && !name.starts_with('.');
        let path = folder.join(name);
        let is_small = || path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
        if is_name && is_small() { std::fs::read(&path).ok() } else { None }
    }
}
