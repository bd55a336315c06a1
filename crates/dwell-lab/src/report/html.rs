//! The report as one page without any other file.

use super::markup::{Markup, data_address, inline, markdown};
use super::number::{exact, whole};
use super::table::{self, Table};
use super::{Picture, Report, Section, Surroundings, plots, roofline, summary};
use crate::experiment::{Claim, ClaimKind};
use crate::figures::SeriesFigures;
use crate::record::Header;
use crate::verdict::{Outcome, Verdict, describe};

const STYLE: &str = include_str!("page.css");
/// The style of plots, which a plot as a file of its own needs too.
const PLOT_STYLE: &str = include_str!("plot.css");
/// Most rows of a table that is open at first.
const OPEN_ROWS: usize = 16;
/// The bytes with which a PNG file begins.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The page.
pub(super) fn page(report: &Report<'_>, surroundings: &Surroundings<'_>) -> String {
    let mut html = Markup::default();
    html.element("html", &[("lang", "en-GB")], |html| {
        html.element("head", &[], |head| {
            head.void("meta", &[("charset", "utf-8")]);
            head.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
            head.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
            head.leaf("title", &[], &format!("Laboratory report: {}", report.run.name));
            head.style(STYLE);
            head.style(PLOT_STYLE);
        });
        html.element("body", &[], |body| {
            contents(body, report);
            body.element("main", &[], |main| {
                front(main, report);
                for section in &report.sections {
                    experiment(main, section, surroundings);
                }
                roofs(main, report);
                machine_and_method(main, &report.run.header);
                data(main, surroundings);
            });
        });
    });
    format!("<!DOCTYPE html>\n{}", html.finish())
}

/// Every plot as a file of its own.
pub(super) fn pictures(report: &Report<'_>) -> Vec<Picture> {
    let mut pictures = Vec::new();
    let alone = |svg: &Markup| {
        let mut style = Markup::default();
        style.style(PLOT_STYLE);
        // The style stands behind the start tag, whose attributes hold no `>`.
        svg.clone().finish().replacen('>', &format!(">{}", style.finish()), 1)
    };
    for section in &report.sections {
        for series in &section.series {
            for (i, drawing) in plots::of_series(series).iter().enumerate() {
                let name = format!("{}-{}-{}", section.name(), series.series.name, i + 1);
                pictures.push(Picture { name, svg: alone(&drawing.svg) });
            }
        }
    }
    for (i, roof) in roofline::roofs(report).iter().enumerate() {
        pictures.push(Picture { name: format!("peak-{}", i + 1), svg: alone(&roof.plot.draw()) });
    }
    pictures
}

fn anchor(section: &Section<'_>) -> String {
    format!("experiment-{}", section.name())
}

fn link(out: &mut Markup, to: &str, text: &str) {
    out.leaf("a", &[("href", &format!("#{to}"))], text);
}

fn contents(body: &mut Markup, report: &Report<'_>) {
    body.element("nav", &[("aria-label", "Contents")], |nav| {
        nav.leaf("p", &[("class", "nav-title")], "Contents");
        nav.element("ol", &[], |list| {
            list.element("li", &[], |li| link(li, "summary", "Summary"));
            for section in &report.sections {
                list.element("li", &[], |li| {
                    link(li, &anchor(section), section.name());
                });
            }
            list.element("li", &[], |li| link(li, "rates", "Rates and peaks"));
            list.element("li", &[], |li| link(li, "machine", "Machine"));
            list.element("li", &[], |li| link(li, "method", "Method"));
            list.element("li", &[], |li| link(li, "data", "Data"));
        });
    });
}

/// Title and summary.
fn front(main: &mut Markup, report: &Report<'_>) {
    let header = &report.run.header;
    main.element("header", &[], |top| {
        top.leaf("p", &[("class", "over")], "dwell laboratory");
        top.leaf("h1", &[], &report.run.name);
        let (machine, began) = (&header.machine, header.began.replace('T', " ").replace('Z', " UTC"));
        let devices = if machine.devices.is_empty() { "no device".to_owned() } else { machine.devices.join("; ") };
        let line = format!(
            "{}, {} processors; {devices}. {} run of version {}, begun {began}.",
            machine.processor,
            machine.processors,
            first_upper(&header.extent),
            header.version
        );
        top.leaf("p", &[("class", "lead")], &line);
    });
    main.element("section", &[("id", "summary")], |section| {
        section.leaf("h2", &[], "Summary");
        counts(section, report);
        section.element("ul", &[("class", "sentences")], |list| {
            for sentence in summary::sentences(report) {
                list.leaf("li", &[], &sentence);
            }
        });
        if report.sections.iter().any(|one| !one.run.finished) {
            section.leaf(
                "p",
                &[("class", "notice")],
                "This run was interrupted: figures are missing, and the run can go on.",
            );
        }
        let links: Vec<Option<String>> = report.sections.iter().map(|one| Some(anchor(one))).collect();
        write_table(section, &table::of_experiments(report), &links);
    });
}

/// The number of verdicts of each kind, as a bar of parts and as words.
fn counts(out: &mut Markup, report: &Report<'_>) {
    let counts = report.counts();
    let all: usize = counts.values().sum();
    if all == 0 {
        return;
    }
    out.element("div", &[("class", "counts"), ("aria-hidden", "true")], |bar| {
        for (outcome, count) in &counts {
            let share = format!("flex-grow:{count}");
            bar.leaf("span", &[("class", class(*outcome)), ("style", &share)], &count.to_string());
        }
    });
    out.element("p", &[], |p| {
        p.text(&format!("Of {all} claims and defects of the publications, "));
        for (i, (outcome, count)) in counts.iter().enumerate() {
            p.text(if i == 0 {
                ""
            } else if i + 1 == counts.len() {
                " and "
            } else {
                ", "
            });
            p.leaf("strong", &[], &count.to_string());
            p.text(&format!(" {}", summary::outcome_words(*outcome, *count)));
        }
        p.text(".");
    });
}

fn class(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "badge holds",
        Outcome::DoesNotHold => "badge fails",
        Outcome::WithinNoise => "badge noise",
        Outcome::NotTested => "badge untested",
        Outcome::Explained => "badge explained",
    }
}

fn experiment(main: &mut Markup, section: &Section<'_>, surroundings: &Surroundings<'_>) {
    let experiment = &section.run.experiment;
    main.element("section", &[("id", &anchor(section)), ("class", "experiment")], |out| {
        out.leaf("p", &[("class", "over")], section.name());
        out.leaf("h2", &[], &experiment.title);
        if !section.run.finished {
            out.leaf("p", &[("class", "notice")], "The run of this experiment was interrupted: figures are missing.");
        }
        markdown(out, &experiment.about);
        if let Some(publication) = &experiment.publication {
            out.element("dl", &[("class", "publication")], |list| {
                let year = publication.year.to_string();
                let facts = [
                    ("Publication", &publication.citation),
                    ("Year", &year),
                    ("Hardware", &publication.hardware),
                    ("Figures", &publication.note),
                ];
                for (what, text) in facts.into_iter().filter(|(_, text)| !text.is_empty()) {
                    list.leaf("dt", &[], what);
                    list.element("dd", &[], |dd| inline(dd, text));
                }
            });
        }
        claims(out, section);
        for series in &section.series {
            series_part(out, series);
        }
        quantities(out, section, surroundings);
        without_time(out, section);
    });
}

fn claims(out: &mut Markup, section: &Section<'_>) {
    if section.verdicts.is_empty() {
        return;
    }
    out.leaf("h3", &[], "Verdicts");
    out.element("ul", &[("class", "claims")], |list| {
        for (claim, verdict) in &section.verdicts {
            list.element("li", &[("id", &format!("claim-{}-{}", section.name(), claim.name))], |li| {
                one_claim(li, claim, verdict);
            });
        }
    });
}

fn one_claim(li: &mut Markup, claim: &Claim, verdict: &Verdict) {
    li.element("div", &[("class", "judgement")], |div| {
        div.leaf("span", &[("class", class(verdict.outcome))], verdict.outcome.words(claim.kind));
        if claim.kind == ClaimKind::Defect {
            div.leaf("span", &[("class", "kind")], "defect");
        }
    });
    li.element("div", &[], |body| {
        body.element("p", &[("class", "says")], |p| inline(p, &claim.says));
        body.element("dl", &[("class", "against")], |list| {
            list.leaf("dt", &[], "Published");
            let published = claim.published.as_deref().map_or(String::new(), |text| format!("{text}; "));
            list.leaf("dd", &[], &format!("{published}{}", claim.source));
            let finding = summary::finding(verdict);
            if !finding.is_empty() {
                list.leaf("dt", &[], if verdict.figure.is_some() { "Here" } else { "Not tested" });
                list.leaf("dd", &[], &finding);
            }
            if let Some(condition) = &claim.holds {
                list.leaf("dt", &[], "Condition");
                list.leaf("dd", &[], &summary::condition(condition));
            }
            if !claim.explained.is_empty() {
                list.leaf("dt", &[], "Explanation");
                list.element("dd", &[], |dd| inline(dd, &claim.explained));
            }
        });
    });
}

fn series_part(out: &mut Markup, series: &SeriesFigures<'_>) {
    out.leaf("h3", &[], &series.series.title);
    markdown(out, &series.series.about);
    for drawing in plots::of_series(series) {
        figure(out, &drawing.svg, &drawing.title);
    }
    if let Some(means) = table::of_means(series) {
        let baseline = series.baseline().map_or("", super::title);
        out.leaf("h4", &[], &format!("Speed-up against “{baseline}” over all points"));
        write_table(out, &means, &[]);
    }
    let figures = table::of_series(series);
    if figures.rows.is_empty() {
        out.leaf("p", &[("class", "notice")], "No variant of this series has a field here; the reasons are below.");
        return;
    }
    let open: &[(&str, &str)] = if figures.rows.len() <= OPEN_ROWS { &[("open", "open")] } else { &[] };
    out.element("details", open, |details| {
        details.leaf("summary", &[], &format!("Figures: {} rows", whole(figures.rows.len() as u64)));
        write_table(details, &figures, &[]);
    });
}

fn figure(out: &mut Markup, svg: &Markup, caption: &str) {
    out.element("figure", &[], |figure| {
        figure.leaf("figcaption", &[], caption);
        figure.element("div", &[("class", "scroll")], |div| div.add(svg));
    });
}

fn quantities(out: &mut Markup, section: &Section<'_>, surroundings: &Surroundings<'_>) {
    let Some(table) = table::of_quantities(section) else { return };
    out.leaf("h3", &[], "Computed quantities");
    out.leaf("p", &[], "These numbers are computed, not timed: they are the same on every machine.");
    write_table(out, &table, &[]);
    out.element("div", &[("class", "pictures")], |div| {
        for entry in &section.run.quantities {
            let Some(name) = &entry.picture else { continue };
            let quantity = section.run.experiment.quantities.iter().find(|quantity| quantity.name == entry.name);
            let title = quantity.map_or(entry.name.as_str(), |quantity| &quantity.title);
            let value = entry.value.as_ref().ok().map_or(String::new(), |value| format!(": {}", exact(*value)));
            div.element("figure", &[], |figure| {
                match (surroundings.file)(name).filter(|bytes| bytes.starts_with(PNG)) {
                    Some(bytes) => {
                        figure.void("img", &[("src", &data_address("image/png", &bytes)), ("alt", title)]);
                    }
                    None => figure.leaf("p", &[("class", "notice")], &format!("The picture {name} cannot be read.")),
                }
                figure.leaf("figcaption", &[], &format!("{title}{value}"));
            });
        }
    });
}

/// What was not run, and what is wrong.
fn without_time(out: &mut Markup, section: &Section<'_>) {
    let not_run = section.not_run();
    if !not_run.is_empty() {
        out.leaf("h3", &[], "Not run, and why");
        out.element("dl", &[("class", "reasons")], |list| {
            for (why, cases, variants) in not_run {
                list.leaf("dt", &[], &first_upper(&why));
                let cases = if cases == 1 { "One case".to_owned() } else { format!("{} cases", whole(cases as u64)) };
                list.leaf("dd", &[], &format!("{cases}. {}", variants.join("; ")));
            }
        });
    }
    if section.wrong().next().is_none() {
        return;
    }
    out.leaf("h3", &[], "Wrong counts: no time");
    let rows = section.wrong().map(|(case, pixels, why)| {
        let place = describe(&case.entry.point);
        vec![case.entry.series.clone(), section.title(case).to_owned(), place, whole(pixels), why.to_owned()]
    });
    let table = Table {
        head: vec!["series", "variant", "point", "wrong pixels", "what is wrong"],
        rows: rows.collect(),
        words: vec![0, 1, 2, 4],
        flags: Vec::new(),
    };
    write_table(out, &table.without_empty(), &[]);
}

fn roofs(main: &mut Markup, report: &Report<'_>) {
    main.element("section", &[("id", "rates"), ("class", "experiment")], |out| {
        out.leaf("h2", &[], "Rates and peaks");
        let roofs = roofline::roofs(report);
        if roofs.is_empty() {
            out.leaf("p", &[("class", "notice")], "No variant has both a time and a measured peak.");
            return;
        }
        out.leaf(
            "p",
            &[],
            "Each mark is a variant at a point. Iterations are those of the plain loop for the same field, so shortcuts, \
             which skip iterations, can lie above the peak. With few iterations per pixel, storing and distributing pixels \
             limits the rate; with many, the arithmetic of the iteration does.",
        );
        for roof in roofs {
            figure(out, &roof.plot.draw(), &format!("Iteration rates: {}", roof.plot.name));
            let open: &[(&str, &str)] = if roof.table.rows.len() <= OPEN_ROWS { &[("open", "open")] } else { &[] };
            out.element("details", open, |details| {
                details.leaf("summary", &[], &format!("Best share of the peak, by variant: {}", roof.plot.name));
                write_table(details, &roof.table, &[]);
            });
        }
    });
}

/// The facts of the machine and the run, as names and texts.
pub(super) fn machine(header: &Header) -> Vec<(&'static str, String)> {
    let machine = &header.machine;
    let unknown = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let devices = match (&machine.no_device, machine.devices.is_empty()) {
        (Some(why), _) => format!("none: {why}"),
        (None, true) => "none".to_owned(),
        (None, false) => machine.devices.join("; "),
    };
    vec![
        ("Processor", format!("{}; {} processors used", unknown(&machine.processor), machine.processors)),
        ("Instruction sets", unknown(&machine.levels.join(", "))),
        (
            "Memory",
            format!("{}\u{202f}GiB", super::number::significant(machine.memory_bytes as f64 / 1024.0_f64.powi(3))),
        ),
        ("Devices", devices),
        ("System", unknown(&machine.system)),
        ("Governor of the clock", unknown(&machine.governor)),
        ("Load at the start", machine.load.map_or("unknown".to_owned(), |load| format!("{load:.2}"))),
        ("Energy", unknown(&machine.energy)),
        ("Version", unknown(&header.version)),
        ("Begun", header.began.clone()),
        ("Extent", header.extent.clone()),
        ("Engine", header.engine.clone()),
        ("Seed of the orders", header.seed.to_string()),
    ]
}

fn machine_and_method(main: &mut Markup, header: &Header) {
    main.element("section", &[("id", "machine"), ("class", "experiment")], |out| {
        out.leaf("h2", &[], "Machine");
        out.element("dl", &[("class", "facts")], |list| {
            for (what, text) in machine(header) {
                list.leaf("dt", &[], what);
                list.leaf("dd", &[], &text);
            }
        });
    });
    main.element("section", &[("id", "method"), ("class", "experiment")], |out| {
        out.leaf("h2", &[], "Method");
        summary::METHOD.iter().for_each(|paragraph| out.leaf("p", &[], paragraph));
    });
}

fn data(main: &mut Markup, surroundings: &Surroundings<'_>) {
    main.element("section", &[("id", "data"), ("class", "experiment")], |out| {
        out.leaf("h2", &[], "Data");
        let Some(stem) = surroundings.data else {
            let words = "The folder of the run holds the log of each experiment (NAME.jsonl), its text (NAME.toml) and run.json.";
            out.leaf("p", &[], words);
            return;
        };
        out.element("p", &[], |p| {
            p.text("Every sample: ");
            let (csv, json) = (format!("{stem}.csv"), format!("{stem}.json"));
            p.leaf("a", &[("href", &format!("./{}", address(&csv)))], &csv);
            p.text(". Everything, with cases, figures, quantities, peaks and verdicts: ");
            p.leaf("a", &[("href", &format!("./{}", address(&json)))], &json);
            p.text(".");
        });
    });
}

/// The name of a file as a part of an address: every byte that is not plain is escaped.
fn address(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~');
    name.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn first_upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// A table. `links` are the anchors that the first cells of the rows lead to.
fn write_table(out: &mut Markup, table: &Table, links: &[Option<String>]) {
    let class = |column: usize| match column {
        flag if flag < table.flags.len() => "flag",
        words if table.words.contains(&words) => "words",
        _ => "number",
    };
    out.element("div", &[("class", "scroll")], |div| {
        // Tables of figures need room for the titles of variants.
        let kind: &[(&str, &str)] = if table.head.contains(&"samples") { &[("class", "figures")] } else { &[] };
        div.element("table", kind, |html| {
            html.element("thead", &[], |head| {
                head.element("tr", &[], |row| {
                    for (i, text) in table.heads().enumerate() {
                        row.leaf("th", &[("scope", "col"), ("class", class(i))], text);
                    }
                });
            });
            html.element("tbody", &[], |body| {
                for (i, cells) in table.rows.iter().enumerate() {
                    body.element("tr", &[], |row| {
                        for (j, text) in cells.iter().enumerate() {
                            row.element("td", &[("class", class(j))], |cell| {
                                match links.get(i).and_then(Option::as_ref).filter(|_| j == 0) {
                                    Some(to) => link(cell, to, text),
                                    None => cell.text(text),
                                }
                            });
                        }
                    });
                }
            });
        });
    });
}
