//! Renders the pictures of README.md and docs/ with the library.

use crate::{Done, root};
use dwell::store::{Output, PartialFiles};
use dwell::{
    Automatic, Cancel, Control, CpuEngine, Format, Limits, Location, Look, Paint, Plan, Progress, Request, Samples,
    Scene, Scratch, Settings, Size, View,
};
use std::path::Path;
use std::process::Command;

/// File, location, size in pixels.
const PICTURES: [(&str, &str, (u32, u32)); 2] =
    [("docs/seahorse.png", "shallow-seahorse", (1200, 675)), ("docs/deep.png", "rf-flake", (640, 360))];

/// File, location and look of the pictures of looks, and their size in pixels.
const LOOKS: [(&str, &str, Look); 4] = [
    ("docs/look-relief.png", "shallow-minibrot", Look::Relief),
    ("docs/look-petals.png", "shallow-home", Look::Petals),
    ("docs/look-cells.png", "burning-ship", Look::Cells),
    ("docs/look-night.png", "julia-rabbit", Look::Night),
];
const LOOK_SIZE: Size = Size { width: 480, height: 270 };

/// Contact sheets: the gap between pictures in pixels, and for each sheet pictures per row and the size of each.
const GAP: u32 = 4;
const GALLERY: (u32, Size) = (6, Size { width: 320, height: 180 });
const PLACES: (u32, Size) = (6, Size { width: 240, height: 135 });

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
        scene.colouring = look.of(scene.colouring);
        render(&scene, &root().join(file))?;
        println!("{file}");
    }
    for (file, scenes, (across, each)) in [
        ("docs/gallery.png", gallery()?, GALLERY),
        ("docs/places.png", places()?, PLACES),
        ("docs/places-plain.png", places()?.into_iter().map(plain).collect(), PLACES),
    ] {
        contact_sheet(&root().join(file), scenes, across, each)?;
        println!("{file}");
    }
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
    let engine = CpuEngine::default();
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let scene = &dwell::resolve(scene, &engine, &Limits::default(), &control)?.scene;
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, &Limits::default())?;
    let text = scene.text(plan.warnings());
    let request = Request::new(&plan, &engine, Paint::of(scene, &text), control);
    let output = Output::create(path, false, &PartialFiles::default())?;
    dwell::render(&request, vec![(Format::Png, output)], &mut Scratch::default())?;
    Ok(())
}

/// Every built-in location but those that take hours.
fn gallery() -> Result<Vec<Scene>, Box<dyn std::error::Error>> {
    let locations = Location::built_in_names().map(Location::built_in).collect::<Result<Vec<_>, _>>()?;
    Ok(locations.into_iter().filter(|location| !location.takes_hours()).map(|location| location.scene).collect())
}

/// The places of docs/places.csv: a name, a centre in quotes and a zoom.
fn places() -> Result<Vec<Scene>, Box<dyn std::error::Error>> {
    let table = std::fs::read_to_string(root().join("docs/places.csv"))?;
    let mut scenes = Vec::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(['"', ',']).filter(|field| !field.is_empty()).collect();
        let [_, re, im, zoom] = fields[..] else { return Err(format!("not a place: {line}").into()) };
        scenes.push(Scene { view: View::centred(re, im, zoom)?, ..Scene::default() });
    }
    Ok(scenes)
}

/// The same place with nothing found from the view: a limit of 1000, the scale `root`, and one sample per pixel.
fn plain(scene: Scene) -> Scene {
    let settings = Settings { limit: 1000, ..scene.settings };
    Scene { settings, automatic: Automatic::NONE, samples: Samples::Fixed(1), dither: false, ..scene }
}

/// Renders scenes into one picture.
fn contact_sheet(path: &Path, scenes: Vec<Scene>, across: u32, each: Size) -> Done {
    let (engine, mut scratch) = (CpuEngine::default(), Scratch::default());
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let down = u32::try_from(scenes.len())?.div_ceil(across);
    let (width, height) = (across * (each.width + GAP) - GAP, down * (each.height + GAP) - GAP);
    let mut sheet = vec![16_u8; (width * height * 3) as usize];
    for (i, mut scene) in (0..).zip(scenes) {
        scene.view.size = each;
        let picture = scratch.picture(&scene, &engine, &Limits::default(), &control)?;
        let (left, top) = (i % across * (each.width + GAP), i / across * (each.height + GAP));
        for (row, line) in (0..).zip(picture.bytes().chunks(each.width as usize * 3)) {
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
