//! What `dwell render` says at its end.

use super::Part;
use super::files::File;
use crate::cli::RenderArgs;
use crate::{output, scene};
use dwell::{Error, Report, store};

/// Prints a summary in one line, and remarks.
pub(super) fn print(args: &RenderArgs, report: &Report, files: &[File], part: &Part, plan_warnings: &[String]) {
    if args.quiet {
        return;
    }
    let names: Vec<_> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    if report.resumes > 0 {
        output::remark_to_person(&format!("resumed after {} interruption(s)", report.resumes));
    }
    let wrote = if names.is_empty() { "rendered".to_owned() } else { format!("wrote {}", names.join(", ")) };
    output::remark_to_person(&format!(
        "{wrote}: {} x {}, limit {}, {:.2} s, {:.2} G iterations/s on {} thread{} ({})",
        report.width,
        report.height,
        report.max_iterations,
        report.seconds.total,
        report.iterations_per_second / 1e9,
        report.threads,
        if report.threads == 1 { "" } else { "s" },
        report.device.as_ref().map_or(report.level.clone(), |device| format!("{}, {}", device.name, report.level)),
    ));
    for warning in report.warnings.iter().filter(|warning| !plan_warnings.contains(warning)) {
        part.remark(&format!("warning: {warning}"));
    }
    if scene::has_place(&args.view)
        && args.iteration.max_iter.is_none()
        && let Some(remark) = output::limit_too_low(report.interior_pixels, report.pixels, report.max_iterations)
    {
        output::remark_to_person(&remark);
    }
    if let Some(differing) = report.differing_pixels {
        let percent = 100.0 * differing as f64 / report.pixels as f64;
        part.remark(&format!(
            "verified: {differing} of {} pixels differ ({percent:.4} %) from those of every-pixel",
            report.pixels
        ));
    } else if !report.exact {
        output::remark_to_person(&format!(
            "{} is a heuristic: some pixels may be wrong; --verify counts them",
            report.strategy
        ));
    }
}

/// After an error, remarks that a journal keeps the finished part, if there is one.
pub(super) fn remark_on_journal(error: &Error, files: &[File]) {
    if matches!(error, Error::Input(_)) {
        return;
    }
    if let Some(journal) = files.first().and_then(|(path, _)| store::journal_of(path)) {
        output::remark(&format!(
            "the finished part is kept ({}): the same command resumes the render",
            journal.display()
        ));
    }
}
