//! The report as Markdown: the same in short.

use super::number::whole;
use super::summary;
use super::table::{self, Table};
use super::{Report, Section, roofline};
use crate::verdict::{Outcome, describe};
use std::fmt::Write as _;

/// The text.
pub(super) fn text(report: &Report<'_>) -> String {
    let header = &report.run.header;
    let mut text = String::new();
    let _ = writeln!(text, "# Laboratory report: {}\n", escape(&report.run.name));
    let _ = writeln!(
        text,
        "{}; {} run of {}, begun {}.\n",
        escape(&header.machine.processor),
        escape(&header.extent),
        escape(&header.version),
        escape(&header.began)
    );
    let counts = report.counts();
    let words = Outcome::ALL.into_iter().filter_map(|outcome| {
        counts.get(&outcome).map(|count| format!("{count} {}", summary::outcome_words(outcome, *count)))
    });
    let words = words.collect::<Vec<_>>().join(", ");
    if !words.is_empty() {
        let _ = writeln!(text, "Of all claims and defects, {words}.\n");
    }
    for sentence in summary::sentences(report) {
        let _ = writeln!(text, "- {}", escape(&sentence));
    }
    text.push('\n');
    write_table(&mut text, &table::of_experiments(report));
    for section in &report.sections {
        experiment(&mut text, section);
    }
    for roof in roofline::roofs(report) {
        let _ = writeln!(text, "## Rates under the peak of {}\n", escape(&roof.plot.name));
        let _ = writeln!(text, "Measured peak: {} G iterations/s.\n", super::number::significant(roof.plot.peak));
        write_table(&mut text, &roof.table);
    }
    text.push_str("## Machine\n\n");
    for (what, value) in super::html::machine(header) {
        let _ = writeln!(text, "- {what}: {}", escape(&value));
    }
    text.push_str("\n## Method\n\n");
    for paragraph in summary::METHOD {
        let _ = writeln!(text, "- {paragraph}");
    }
    text
}

fn experiment(text: &mut String, section: &Section<'_>) {
    let experiment = &section.run.experiment;
    let _ = writeln!(text, "## {}: {}\n", escape(section.name()), escape(&experiment.title));
    if !section.run.finished {
        text.push_str("The run of this experiment was interrupted: figures are missing.\n\n");
    }
    if let Some(publication) = &experiment.publication {
        let _ = writeln!(
            text,
            "Publication: {} ({}), on {}.\n",
            escape(&publication.citation),
            publication.year,
            escape(&publication.hardware)
        );
    }
    if let Some(table) = table::of_claims(section) {
        text.push_str("### Verdicts\n\n");
        write_table(text, &table);
    }
    for series in &section.series {
        let _ = writeln!(text, "### {}\n", escape(&series.series.title));
        let figures = table::of_series(series);
        if figures.rows.is_empty() {
            text.push_str("No variant could be run.\n\n");
            continue;
        }
        write_table(text, &figures);
        if let Some(means) = table::of_means(series) {
            text.push_str("Speed-ups against the baseline over all points:\n\n");
            write_table(text, &means);
        }
    }
    if let Some(table) = table::of_quantities(section) {
        text.push_str("### Computed quantities\n\n");
        write_table(text, &table);
    }
    let not_run = section.not_run();
    if !not_run.is_empty() {
        text.push_str("### Not run\n\n");
        for (why, cases, variants) in not_run {
            let cases = if cases == 1 { "one case".to_owned() } else { format!("{} cases", whole(cases as u64)) };
            let _ = writeln!(text, "- {} ({cases}): {}", escape(&why), escape(&variants.join("; ")));
        }
        text.push('\n');
    }
    if section.wrong().next().is_some() {
        text.push_str("### Wrong counts: no time\n\n");
        for (case, pixels, why) in section.wrong() {
            let place = describe(&case.entry.point);
            let _ = writeln!(
                text,
                "- {}, {}: {} wrong pixels. {}",
                escape(section.title(case)),
                escape(&place),
                whole(pixels),
                escape(why)
            );
        }
        text.push('\n');
    }
}

fn write_table(text: &mut String, table: &Table) {
    let heads: Vec<String> = table.heads().map(escape).collect();
    let _ = writeln!(text, "| {} |", heads.join(" | "));
    let rule = (0..heads.len()).map(|column| if table.words.contains(&column) { "---" } else { "---:" });
    let _ = writeln!(text, "|{}|", rule.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text.push('\n');
}

/// A text on one line that is no HTML, no cell and no emphasis.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '[' | ']' | '\\' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_whitespace() && c != '\u{202f}' || c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
