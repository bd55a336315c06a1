//! Measures `--aa auto` and dithering over the built-in locations and writes the tables of docs/colour.md.

use crate::{Done, root};
use dwell::store::{Output, PartialFiles};
use dwell::{
    Cancel, Control, CpuEngine, Depth, Format, Level, Limits, Location, Number, Paint, Plan, Progress, Report, Request,
    Samples, Scene, Scratch, Size, bits_needed,
};
use std::fmt::Write;
use std::time::Instant;

/// The size at which pictures are compared, and the size at which they are timed.
const COMPARED: Size = Size { width: 960, height: 540 };
const TIMED: Size = Size { width: 1920, height: 1080 };
/// Renders of which the shortest time counts.
const ROUNDS: usize = 3;
/// The lines of docs/colour.md between which the tables are.
const BEGIN: &str = "<!-- written by `cargo run --release -p xtask -- samples` -->\n";
const END: &str = "<!-- end -->\n";

/// A measured location.
struct Row {
    name: &'static str,
    /// Time with `auto` / time with one sample.
    ratio: f64,
    /// The share of pixels that are refined, and samples per pixel, the field's own included.
    refined: f64,
    samples: f64,
    /// Mean and 99.9th percentile of the greatest difference of a pixel's channels from 4 x 4 samples, of 255: with one
    /// sample, and with `auto`.
    one: [f64; 2],
    auto: [f64; 2],
    /// Bytes of the PNG with dithering / without, both with `auto`.
    bytes: f64,
}

pub(crate) fn write() -> Done {
    let mut rows = Vec::new();
    for name in Location::built_in_names() {
        let scene = Location::built_in(name)?.scene;
        // Those whose 4 x 4 samples f64 resolves.
        let finest = Size { width: 4 * COMPARED.width, height: 4 * COMPARED.height };
        if bits_needed(&scene.view.clone().sized(finest)) <= i64::from(f64::SIGNIFICAND_BITS) {
            let row = measure(name, &scene)?;
            println!("{}", line(&row));
            rows.push(row);
        }
    }
    let mut text = String::from(
        "| location | time / one sample | refined pixels | samples per pixel | one sample: mean, 99.9 % | auto: mean, 99.9 % | bytes dithered / not |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in &rows {
        writeln!(text, "{}", line(row))?;
    }
    let median = |of: fn(&Row) -> f64| {
        let mut all: Vec<f64> = rows.iter().map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
    };
    writeln!(
        text,
        "| median | {:.2} | {:.1} % | {:.2} | {:.2}, {:.0} | {:.2}, {:.0} | {:.2} |",
        median(|row| row.ratio),
        100.0 * median(|row| row.refined),
        median(|row| row.samples),
        median(|row| row.one[0]),
        median(|row| row.one[1]),
        median(|row| row.auto[0]),
        median(|row| row.auto[1]),
        median(|row| row.bytes),
    )?;
    let path = root().join("docs/colour.md");
    let page = std::fs::read_to_string(&path)?;
    let (before, rest) = page.split_once(BEGIN).ok_or("docs/colour.md has no place for the tables")?;
    let (_, after) = rest.split_once(END).ok_or("docs/colour.md has no end of the tables")?;
    dwell::store::write_text(&path, &format!("{before}{BEGIN}\n{text}\n{END}{after}"), &PartialFiles::default())?;
    println!("docs/colour.md");
    Ok(())
}

fn line(row: &Row) -> String {
    let Row { name, ratio, refined, samples, one, auto, bytes } = row;
    format!(
        "| {name} | {ratio:.2} | {:.1} % | {samples:.2} | {:.2}, {:.0} | {:.2}, {:.0} | {bytes:.2} |",
        100.0 * refined,
        one[0],
        one[1],
        auto[0],
        auto[1]
    )
}

fn measure(name: &'static str, scene: &Scene) -> Result<Row, Box<dyn std::error::Error>> {
    let engine = CpuEngine::new(Level::best(), 1);
    let mut scratch = Scratch::default();
    let mut of = |size: Size, samples, dither, format| {
        let mut scene = Scene { samples, dither, depth: Depth::Eight, ..scene.clone() };
        scene.view.size = size;
        render(&scene, &engine, format, &mut scratch)
    };
    let four = of(COMPARED, Samples::Fixed(4), false, Format::Ppm)?.0;
    let one = of(COMPARED, Samples::Fixed(1), false, Format::Ppm)?.0;
    let (auto, report, _) = of(COMPARED, Samples::Auto, false, Format::Ppm)?;
    let pixels = COMPARED.pixels() as f64;
    let refined = report.refined_pixels.unwrap_or(0) as f64;
    let samples = report.refined_samples.unwrap_or(0) as f64;
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (least, samples) in least.iter_mut().zip([Samples::Fixed(1), Samples::Auto]) {
            *least = least.min(of(TIMED, samples, true, Format::Png)?.2);
        }
    }
    let bytes = |(bytes, ..): (Vec<u8>, Report, f64)| bytes.len() as f64;
    let dithered = bytes(of(TIMED, Samples::Auto, true, Format::Png)?);
    let plain = bytes(of(TIMED, Samples::Auto, false, Format::Png)?);
    Ok(Row {
        name,
        ratio: least[1] / least[0],
        refined: refined / pixels,
        samples: 1.0 + samples / pixels,
        one: difference(&one, &four),
        auto: difference(&auto, &four),
        bytes: dithered / plain,
    })
}

/// The file of a scene, its report, and the seconds from the scene to the last byte.
fn render(
    scene: &Scene,
    engine: &CpuEngine,
    format: Format,
    scratch: &mut Scratch,
) -> Result<(Vec<u8>, Report, f64), Box<dyn std::error::Error>> {
    let began = Instant::now();
    let plan = Plan::new(&scene.sample_view()?, &scene.settings, &Limits::default())?;
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    let request = Request::new(&plan, engine, Paint::of(scene, ""), control);
    let (output, file) = Output::in_memory("a");
    let report = dwell::render(&request, vec![(format, output)], scratch)?;
    let seconds = began.elapsed().as_secs_f64();
    Ok((file.bytes().to_vec(), report, seconds))
}

/// Mean and 99.9th percentile of the greatest difference of the channels of two pictures of [`COMPARED`], 8 bits each.
fn difference(a: &[u8], b: &[u8]) -> [f64; 2] {
    let length = COMPARED.pixels() as usize * 3;
    let pixels = |file: &[u8]| file[file.len() - length..].to_vec();
    let (a, b) = (pixels(a), pixels(b));
    let of_pixel = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
    let mut all: Vec<u8> = a.chunks(3).zip(b.chunks(3)).map(of_pixel).collect();
    all.sort_unstable();
    let mean = all.iter().map(|off| f64::from(*off)).sum::<f64>() / all.len() as f64;
    [mean, f64::from(all[all.len() * 999 / 1000])]
}
