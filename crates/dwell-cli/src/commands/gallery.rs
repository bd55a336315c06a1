//! `dwell gallery`: every built-in location as a picture, and a page to look at them.

use crate::choice::{self, Asked, Chosen};
use crate::cli::GalleryArgs;
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::{engine, output, progress_bar, scene};
use dwell::store::{self, Output};
use dwell::{
    Buffers, Cancel, Engine, Error, Extras, Format, Frame, InputError, Limits, Location, Magnification, Number, Paint,
    Plan, Progress, Request, Scene, Size, Strategy, bits_needed, quote,
};
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

/// The most digits of a coordinate that the page shows.
const DIGITS: usize = 22;
/// What a page of ours begins with, by which it is known when another is to replace it.
const MARK: &str = "<meta name=\"generator\" content=\"dwell ";
/// Bytes in which the mark is looked for.
const HEAD: u64 = 4096;

pub(crate) fn run(args: &GalleryArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let size = Size::parse(&args.size).map_err(|e| e.named("--size"))?;
    let samples = scene::samples(&args.aa)?;
    let cpu = engine::engine(&args.engine)?;
    let asked = Asked::parse(args.who.engine.as_deref())?;
    let limits = Limits { memory_bytes: Machine::look().available_bytes / 10 * 9 };
    let (folder, index) = (&args.output, args.output.join("index.html"));
    let locations = Location::built_in_names()
        .map(|name| Ok(resolved(Location::built_in(name)?, size, samples)))
        .collect::<Result<Vec<_>, Error>>()?;

    // Everything that can be refused is refused before a file is touched.
    let Some((first, _)) = locations.iter().find(|(_, drawn)| *drawn) else {
        return Err(InputError::new("--size", format!("f64 resolves no location at {}", quote(&args.size)))
            .hint("ask for fewer pixels")
            .into());
    };
    Plan::new(&first.scene.sample_view()?, &first.scene.settings, &limits).map_err(|e| e.named("--size"))?;
    check_page(&index)?;
    let pixels = locations.len() as u64 * first.scene.sample_view()?.size.pixels();
    let work = choice::Work { pixels, strategy: Strategy::EveryPixel, extras: Extras::SMOOTH };
    let Chosen { engine, remark } = choice::choose(asked, cpu, None, work)?;
    if let Some(remark) = remark.filter(|_| !args.quiet) {
        output::remark(&remark);
    }
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.clone(), source })?;

    let mut buffers = Buffers::default();
    let (mut figures, mut waiting) = (String::new(), String::new());
    let (mut drawn, mut deep) = (0, 0);
    for (i, (location, resolved)) in locations.iter().enumerate() {
        if !resolved {
            deep += 1;
            waiting.push_str(&waits(location, bits_needed(&location.view(size))));
            continue;
        }
        let name = &location.name;
        let file = format!("{name}.png");
        let output = Output::create(&folder.join(&file), false, &interrupt.leftovers)?;
        let progress = Progress::default();
        let what = format!("{name} ({} of {})", i + 1, locations.len());
        progress_bar::during(progress_bar::wanted(args.quiet), &what, &progress, || {
            draw(&location.scene, engine.as_ref(), &limits, output, &interrupt.cancel, &progress, &mut buffers)
        })?;
        drawn += 1;
        figures.push_str(&figure(location, &file, size));
    }
    let page = page(&figures, &waiting);
    store::write_text(&index, &page, &interrupt.leftovers)?;
    if !args.quiet {
        output::remark_to_person(&format!(
            "wrote {}: {drawn} pictures; {deep} locations are too deep for f64 and wait",
            index.display()
        ));
    }
    Ok(())
}

/// A location at a size with as many samples as f64 resolves, at most so many; and whether it resolves one.
fn resolved(mut location: Location, size: Size, samples: u32) -> (Location, bool) {
    location.scene.view.size = size;
    let drawn = (1..=samples).rev().any(|samples| {
        location.scene.samples = samples;
        let bits = location.scene.sample_view().map(|view| bits_needed(&view));
        bits.is_ok_and(|bits| bits <= i64::from(f64::SIGNIFICAND_BITS))
    });
    (location, drawn)
}

/// Refuses to replace a page that is not ours.
fn check_page(index: &Path) -> Result<(), Error> {
    let Ok(metadata) = std::fs::metadata(index) else { return Ok(()) };
    let write = |source| Error::Write { path: index.to_owned(), source };
    if metadata.is_dir() {
        return Err(write(std::io::Error::other("it is a directory")));
    }
    let mut head = Vec::new();
    std::fs::File::open(index).and_then(|file| file.take(HEAD).read_to_end(&mut head)).map_err(write)?;
    if head.is_empty() || String::from_utf8_lossy(&head).contains(MARK) {
        return Ok(());
    }
    let problem = format!("{} is a page that dwell has not made", quote(&index.to_string_lossy()));
    Err(InputError::new("-o", problem).hint("name another folder, or move that page away").into())
}

fn draw(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    output: Output,
    cancel: &Cancel,
    progress: &Progress,
    buffers: &mut Buffers,
) -> Result<(), Error> {
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, limits)?;
    let text = scene.text(plan.warnings());
    let request = Request {
        plan: &plan,
        engine,
        strategy: scene.strategy,
        verify: false,
        paint: Paint { colouring: &scene.colouring, samples: scene.samples, depth: scene.depth, text: &text },
        hash: false,
        journaling: None,
        limits: *limits,
        watched: true,
        cancel,
        progress,
    };
    dwell::render(&request, vec![(Format::Png, output)], buffers)?;
    Ok(())
}

/// Text as it stands in a page.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A number cut to what a caption has room for.
fn short(number: &str) -> String {
    if number.len() <= DIGITS { number.to_owned() } else { format!("{}&hellip;", &number[..DIGITS]) }
}

/// What is seen, in a line.
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
        location.iterations,
        escaped(colouring.palette.name()),
        colouring.by.name(),
        colouring.scale.name()
    );
    text
}

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

/// A location that cannot be drawn yet.
fn waits(location: &Location, bits: i64) -> String {
    let zoom = match &location.scene.view.frame {
        Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => zoom.to_rational().scientific(),
        _ => String::new(),
    };
    let (name, title) = (escaped(&location.name), escaped(&location.scene.title));
    format!("<li><b>{title}</b> <code>{name}</code>, zoom {zoom}: needs {bits} bits</li>\n")
}

fn page(figures: &str, waiting: &str) -> String {
    let waiting = if waiting.is_empty() {
        String::new()
    } else {
        format!("<section>\n<h2>Deeper than f64</h2>\n<ul>\n{waiting}</ul>\n</section>\n")
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
{MARK}{}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>dwell: gallery</title>\n<style>\n{STYLE}</style>\n\
</head>\n<body>\n<header>\n<h1>dwell</h1>\n<p>Each picture remembers what it shows: <code>dwell show FILE.png</code> prints it, \
<code>dwell render FILE.png --size 8000x8000 -o poster.png</code> draws it again.</p>\n</header>\n<main>\n{figures}</main>\n\
{waiting}</body>\n</html>\n",
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
