//! `dwell gallery`: renders built-in locations and writes an HTML page of the pictures.

use crate::choice;
use crate::cli::GalleryArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::{engine, output, progress_bar, scene};
use dwell::store::{self, Output};
use dwell::{
    Cancel, ChannelSet, Control, Engine, Error, Format, Frame, Limits, Location, Magnification, Number, NumberKind,
    Paint, Plan, Problem, Progress, Request, Resolved, Samples, Scene, Scratch, Settings, Size, Strategy, bits_needed,
    quote,
};
use dwell_engines::Work;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// Maximum number of characters of a coordinate on the page.
const DIGITS: usize = 22;
/// A tag near the start of every page that this command writes. Only a page that contains it is replaced.
const MARK: &str = "<meta name=\"generator\" content=\"dwell ";
/// Bytes at the start of an existing page that are searched for [`MARK`].
const HEAD: u64 = 4096;

pub(crate) fn run(args: &GalleryArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let size: Size = scene::size(&args.size)?;
    let samples = scene::samples(&args.aa)?;
    let cpu = engine::engine(&args.engine)?;
    let asked = choice::name(args.engine_choice.engine.as_deref())?;
    let limits = Limits { memory_bytes: Machine::planned_bytes(cpu.pool().threads()) };
    let (folder, index) = (&args.output, args.output.join("index.html"));
    let names: Vec<&str> = if args.names.is_empty() {
        Location::built_in_names().collect()
    } else {
        args.names.iter().map(String::as_str).collect()
    };
    let locations = names.iter().map(|name| Ok(at_size(Location::built_in(name)?, size, samples)));
    let locations = locations.collect::<Result<Vec<_>, Failure>>()?;
    // A location that takes hours is drawn where it is asked for by name, and otherwise listed.
    let is_drawn = |location: &Location| !args.names.is_empty() || !location.takes_hours();

    // Every check comes before the first write.
    let mut pixels = 0;
    for location in locations.iter().filter(|location| is_drawn(location)) {
        let (view, settings) = (location.scene.sample_view()?, &location.scene.settings);
        let settings = Settings { number: location.scene.number(), ..settings.clone() };
        Plan::new(&view, &settings, &limits).map_err(|e| Failure::from(e).about("--size"))?;
        pixels += view.size.pixels();
    }
    check_page(&index)?;
    let work = Work { pixels, strategy: Strategy::EveryPixel, channels: ChannelSet::SMOOTH, number: NumberKind::F64 };
    let (engine, remark) = choice::choose(asked, cpu, None, work)?;
    if let Some(remark) = remark.filter(|_| !args.quiet) {
        output::remark(&remark);
    }
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.clone(), source })?;

    let mut scratch = Scratch::default();
    let (mut figures, mut listed) = (String::new(), String::new());
    let (mut drawn, mut left_out) = (0, 0);
    for (i, location) in locations.iter().enumerate() {
        if !is_drawn(location) {
            left_out += 1;
            listed.push_str(&not_drawn(location));
            continue;
        }
        let name = &location.name;
        let file = format!("{name}.png");
        let output = Output::create(&folder.join(&file), false, &interrupt.partial_files)?;
        let progress = Progress::default();
        let what = format!("{name} ({} of {})", i + 1, locations.len());
        let drawn_now = progress_bar::during(progress_bar::wanted(args.quiet), &what, &progress, || {
            draw(&location.scene, engine.as_ref(), &limits, output, &interrupt.cancel, &progress, &mut scratch)
        });
        match drawn_now {
            // A long reference orbit may not fit where the other locations do.
            Err(Error::Input(error)) if matches!(error.problem(), Problem::Memory { .. }) => {
                left_out += 1;
                listed.push_str(&not_drawn(location));
                continue;
            }
            drawn_now => drawn_now?,
        }
        drawn += 1;
        figures.push_str(&figure(location, &file, size));
    }
    let page = page(&figures, &listed);
    store::write_text(&index, &page, &interrupt.partial_files)?;
    if !args.quiet {
        let rest = if left_out > 0 {
            format!("; {left_out} locations were listed only, which take hours or more memory than is allowed")
        } else {
            String::new()
        };
        output::remark_to_person(&format!("wrote {}: {drawn} pictures{rest}", index.display()));
    }
    Ok(())
}

/// A location at a size with samples: where f64 resolves one sample for each pixel, with as many as it resolves.
fn at_size(mut location: Location, size: Size, samples: Samples) -> Location {
    location.scene.view = location.view(size);
    let tried = (1..=samples.side()).rev().map(|side| match samples {
        Samples::Fixed(_) => Samples::Fixed(side),
        Samples::Auto => Samples::Auto,
    });
    let is_resolved = |samples: &Samples| {
        let scene = Scene { samples: *samples, ..location.scene.clone() };
        scene.sample_view().is_ok_and(|view| bits_needed(&view) <= i64::from(f64::SIGNIFICAND_BITS))
    };
    location.scene.samples = tried.into_iter().find(is_resolved).unwrap_or(samples);
    location
}

/// Fails if the folder holds an `index.html` that this command has not written.
fn check_page(index: &Path) -> Result<(), Failure> {
    let Ok(metadata) = std::fs::metadata(index) else { return Ok(()) };
    let write = |source| Error::Write { path: index.to_owned(), source };
    if metadata.is_dir() {
        return Err(write(std::io::Error::other("it is a directory")).into());
    }
    let mut head = Vec::new();
    std::fs::File::open(index).and_then(|file| file.take(HEAD).read_to_end(&mut head)).map_err(write)?;
    if head.is_empty() || String::from_utf8_lossy(&head).contains(MARK) {
        return Ok(());
    }
    let problem = format!("{} was not written by dwell", quote(&index.to_string_lossy()));
    Err(Usage::new("-o", problem).hint("choose another folder, or move that page").into())
}

fn draw(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    output: Output,
    cancel: &Cancel,
    progress: &Progress,
    scratch: &mut Scratch,
) -> Result<(), Error> {
    let Resolved { scene, .. } = &dwell::resolve(scene, engine, limits, &Control { cancel, progress })?;
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, limits)?;
    let text = scene.text(plan.warnings());
    let request = Request::new(&plan, engine, Paint::of(scene, &text), Control { cancel, progress })
        .with_strategy(scene.strategy)
        .with_limits(*limits)
        .with_observer(true);
    dwell::render(&request, vec![(Format::Png, output)], scratch)?;
    Ok(())
}

/// Text with the characters that HTML reserves replaced by entities.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number, cut to [`DIGITS`] characters.
fn short(number: &str) -> String {
    if number.len() <= DIGITS { number.to_owned() } else { format!("{}&hellip;", &number[..DIGITS]) }
}

/// The caption of a location: formula, constant, centre, magnification, limit and colouring.
fn description(location: &Location) -> String {
    let settings = &location.scene.settings;
    let mut text = settings.formula.name().to_owned();
    if settings.formula.power() != 2 {
        let _ = write!(text, " of power {}", settings.formula.power());
    }
    if let Some([re, im]) = &settings.julia {
        let _ = write!(text, ", Julia set of {}, {}", re.text(), im.text());
    }
    if let Frame::Centred { re, im, magnification } = &location.scene.view.frame {
        let _ = write!(text, " &middot; centre {}, {}", short(re.text()), short(im.text()));
        match magnification {
            Magnification::Zoom(zoom) => {
                let _ = write!(text, " &middot; zoom {}", short(zoom.text()));
            }
            Magnification::Height(height) => {
                let _ = write!(text, " &middot; height {}", short(height.text()));
            }
        }
    }
    let colouring = &location.scene.colouring;
    let _ = write!(
        text,
        " &middot; limit {} &middot; {}, {}, {} scale",
        location.iterations().map_or_else(|| "auto".to_owned(), |iterations| iterations.to_string()),
        escaped(colouring.palette.name()),
        colouring.by.name(),
        colouring.scale.name()
    );
    text
}

/// The HTML of a rendered location.
fn figure(location: &Location, file: &str, size: Size) -> String {
    let (name, title) = (escaped(&location.name), escaped(&location.scene.title));
    format!(
        "<figure id=\"{name}\">\n<a href=\"{file}\"><img src=\"{file}\" width=\"{}\" height=\"{}\" loading=\"lazy\" \
alt=\"{title}\"></a>\n<figcaption><h2>{title}</h2><p>{}</p><code>dwell render {name} -o {name}.png</code></figcaption>\n\
</figure>\n",
        size.width,
        size.height,
        description(location)
    )
}

/// The list item of a location that is not drawn.
fn not_drawn(location: &Location) -> String {
    let zoom = match &location.scene.view.frame {
        Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => zoom.to_rational().scientific(),
        _ => String::new(),
    };
    let (name, title) = (escaped(&location.name), escaped(&location.scene.title));
    format!("<li><b>{title}</b> <code>{name}</code>, zoom {zoom}</li>\n")
}

/// The page: rendered locations, then those that are not drawn.
fn page(figures: &str, listed: &str) -> String {
    let listed = if listed.is_empty() {
        String::new()
    } else {
        format!(
            "<section>\n<h2>Not drawn: these take hours, or more memory than was allowed</h2>\n<ul>\n{listed}</ul>\n</section>\n"
        )
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
{MARK}{}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>dwell: gallery</title>\n<style>\n{STYLE}</style>\n\
</head>\n<body>\n<header>\n<h1>dwell</h1>\n<p>Each picture stores what it shows: <code>dwell show FILE.png</code> prints it, \
<code>dwell render FILE.png --size 8000x8000 -o poster.png</code> renders it again.</p>\n</header>\n<main>\n{figures}</main>\n\
{listed}</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

const STYLE: &str = "\
:root { color-scheme: dark; }
body { margin: 0; background: #101014; color: #e6e4dc; font: 16px/1.5 system-ui, sans-serif; }
header, section { padding: 2.5rem 1.5rem 1rem; }
h1 { margin: 0; font-weight: 300; font-size: 2.6rem; letter-spacing: 0.08em; }
h2 { margin: 0.6rem 0 0; font-weight: 500; font-size: 1.1rem; }
p { margin: 0.2rem 0; color: #a9a79f; font-size: 0.9rem; overflow-wrap: anywhere; }
code { color: #d9b36c; font-size: 0.85rem; overflow-wrap: anywhere; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(30rem, 100%), 1fr)); gap: 2rem 1.5rem; padding: 1.5rem; }
figure { margin: 0; }
img { display: block; width: 100%; height: auto; border-radius: 4px; }
a:focus-visible img, a:hover img { outline: 2px solid #d9b36c; }
";
