//! Renders the pictures of README.md and docs/ with the library.

use crate::{Done, root};
use dwell::store::{Output, PartialFiles};
use dwell::{
    Cancel, Control, CpuEngine, Format, Limits, Location, Look, Number, Paint, Plan, Progress, Request, Samples, Scene,
    Scratch, Size, View, bits_needed,
};
use std::path::Path;
use std::process::Command;

/// File, location, size in pixels.
const PICTURES: [(&str, &str, (u32, u32)); 1] = [("docs/seahorse.png", "shallow-seahorse", (1200, 675))];

/// File, location and look of the pictures of looks, and their size in pixels.
const LOOKS: [(&str, &str, Look); 4] = [
    ("docs/look-relief.png", "shallow-minibrot", Look::Relief),
    ("docs/look-petals.png", "shallow-home", Look::Petals),
    ("docs/look-cells.png", "burning-ship", Look::Cells),
    ("docs/look-night.png", "julia-rabbit", Look::Night),
];
const LOOK_SIZE: Size = Size { width: 480, height: 270 };

/// The contact sheet: pictures per row, size of each and gap between them in pixels, samples per pixel along each axis.
const ACROSS: u32 = 5;
const EACH: Size = Size { width: 320, height: 180 };
const GAP: u32 = 4;
const SAMPLES: u32 = 4;

pub(crate) fn write() -> Done {
    for (file, location, (width, height)) in PICTURES {
        let mut scene = Location::built_in(location)?.scene;
        scene.view.size = Size::new(width, height)?;
        render(&scene, &root().join(file))?;
        println!("{file}");
    }
    for (file, location, look) in LOOKS {
        let mut scene = Location::built_in(location)?.scene;
        scene.view.size = LOOK_SIZE;
        scene.samples = Samples::Auto;
        scene.colouring = look.of(scene.colouring);
        render(&scene, &root().join(file))?;
        println!("{file}");
    }
    contact_sheet(&root().join("docs/gallery.png"))?;
    println!("docs/gallery.png");
    // The sheet of palettes is drawn by the program.
    let mut sheet = Command::new(env!("CARGO"));
    sheet.current_dir(root()).args(["run", "--quiet", "--release", "--", "palettes", "-o", "docs/palettes.png"]);
    if !sheet.status()?.success() {
        return Err("`dwell palettes` failed".into());
    }
    println!("docs/palettes.png");
    Ok(())
}

fn render(scene: &Scene, path: &Path) -> Done {
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, &Limits::default())?;
    let text = scene.text(plan.warnings());
    let (engine, control) =
        (CpuEngine::default(), Control { cancel: &Cancel::default(), progress: &Progress::default() });
    let request = Request::new(&plan, &engine, Paint::of(scene, &text), control);
    let output = Output::create(path, false, &PartialFiles::default())?;
    dwell::render(&request, vec![(Format::Png, output)], &mut Scratch::default())?;
    Ok(())
}

/// Renders every built-in location that f64 resolves into one picture.
fn contact_sheet(path: &Path) -> Done {
    let (engine, mut scratch) = (CpuEngine::default(), Scratch::default());
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let mut pictures = Vec::new();
    for name in Location::built_in_names() {
        let mut scene = Location::built_in(name)?.scene;
        if bits_needed(&scene.view.clone().sized(View::DEFAULT_SIZE)) > i64::from(f64::SIGNIFICAND_BITS) {
            continue;
        }
        scene.view.size = EACH;
        scene.samples = Samples::Fixed(SAMPLES);
        let picture = scratch.picture(&scene, &engine, &Limits::default(), &control)?;
        pictures.push(picture.bytes().to_vec());
    }
    let down = u32::try_from(pictures.len())?.div_ceil(ACROSS);
    let (width, height) = (ACROSS * (EACH.width + GAP) - GAP, down * (EACH.height + GAP) - GAP);
    let mut sheet = vec![16_u8; (width * height * 3) as usize];
    for (i, picture) in (0..).zip(&pictures) {
        let (left, top) = (i % ACROSS * (EACH.width + GAP), i / ACROSS * (EACH.height + GAP));
        for (row, line) in (0..).zip(picture.chunks(EACH.width as usize * 3)) {
            let at = (((top + row) * width + left) * 3) as usize;
            sheet[at..at + line.len()].copy_from_slice(line);
        }
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::High);
    encoder.write_header()?.write_image_data(&sheet)?;
    let mut output = Output::create(path, false, &PartialFiles::default())?;
    std::io::Write::write_all(&mut output, &bytes)?;
    output.commit()?;
    Ok(())
}
