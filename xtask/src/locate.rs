//! Locates the minibrots of random boxes across the boundary of the set, each with a proof, and times it beside the reference orbit of the box.

use crate::random::Random;
use crate::{Done, median, root};
use dwell::store::{self, PartialFiles};
use dwell::{
    Cancel, ChannelSet, ChannelSlicesMut, Control, CpuEngine, Decimal, Engine, Error, Field, FieldRowsMut, Frame,
    Level, Limits, Located, Magnification, NumberKind, Plan, Progress, Scene, Settings, Size, Special, Strategy, Task,
    View, Wanted, locate,
};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Random boxes, and their seed.
const BOXES: u32 = 200;
const SEED: u64 = 20_261_124;
/// The least exponent of ten of their zooms, and the number of exponents.
const LEAST_ZOOM: usize = 3;
const ZOOMS: usize = 498;
/// The size of the views on the way, each ten times nearer than the one before, and their limit.
const SIZE: Size = Size { width: 12, height: 12 };
const LIMIT: u64 = 1 << 22;
/// The share of the pixels that escape, those that escape last, of which the next centre is one.
const LATEST: f64 = 0.15;
/// The fewest pixels that escape in a view across the boundary.
const LEAST_ESCAPES: usize = 8;
/// Where docs/locate.md has the results.
const BEGIN: &str = "<!-- boxes -->\n";
const END: &str = "<!-- end of boxes -->\n";

type Failure = Box<dyn std::error::Error>;

fn exact(limit: u64) -> Settings {
    Settings { number: NumberKind::Exact, limit, ..Settings::default() }
}

/// A box across the boundary: from the whole set on, always about one of the pixels of a view that escape last.
fn random_view(random: &mut Random, engine: &CpuEngine) -> Result<View, Failure> {
    let end = LEAST_ZOOM + random.below(ZOOMS);
    loop {
        if let Some(view) = walk(end, random, engine)?
            && holds_boundary(&view, engine)?
        {
            return Ok(view);
        }
    }
}

/// A view of [`SIZE`].
fn field(view: &View, channels: ChannelSet, engine: &CpuEngine) -> Result<Field, Failure> {
    let plan = Plan::new(view, &exact(LIMIT), &Limits::default())?;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels };
    Ok(dwell::field(&task, engine, &Limits::default(), &Cancel::default())?)
}

/// A view at the zoom 10^end; `None` where the way has left the boundary.
fn walk(end: usize, random: &mut Random, engine: &CpuEngine) -> Result<Option<View>, Failure> {
    let mut view = View::centred("-0.6", "0", "1")?.sized(SIZE);
    for exponent in 1..=end {
        let field = field(&view, ChannelSet::NONE, engine)?;
        let mut pixels: Vec<(u64, u32)> = field.all_rows().dwells().zip(0..).filter(|(n, _)| *n > 0).collect();
        pixels.sort_unstable();
        let [first, last] = [pixels.first(), pixels.last()].map(|pixel| pixel.map(|(n, _)| *n));
        if pixels.len() < LEAST_ESCAPES || first == last {
            return Ok(None);
        }
        let latest = ((pixels.len() as f64 * LATEST) as usize).max(1);
        let (_, chosen) = pixels[pixels.len() - 1 - random.below(latest)];
        let point = view.plane_from_pixel(chosen % SIZE.width, chosen / SIZE.width).ok_or("the view is rotated")?;
        // Some digits more than the next view resolves.
        let [re, im] = point.map(|part| Decimal::rounded(&part, exponent + 8));
        view = View::centred(re?.text(), im?.text(), &format!("1e{exponent}"))?.sized(SIZE);
    }
    Ok(Some(view))
}

/// Whether a point of the set is within the view for certain: the distance of a pixel from the set is at most twice the estimate, by Koebe's theorem.
fn holds_boundary(view: &View, engine: &CpuEngine) -> Result<bool, Failure> {
    let field = field(view, ChannelSet::DISTANCE, engine)?;
    let from_edge = |at: u32, size: u32| f64::from(at.min(size - 1 - at)) + 0.5;
    Ok(field.dwell().iter().zip(field.distance()).zip(0..).any(|((dwell, distance), pixel)| {
        let [x, y] = [pixel % SIZE.width, pixel / SIZE.width];
        let inwards = from_edge(x, SIZE.width).min(from_edge(y, SIZE.height)) / f64::from(SIZE.height);
        *dwell > 0 && 2.0 * distance < inwards
    }))
}

/// The seconds and the steps of the reference orbit that drawing a view takes.
fn reference(view: &View, engine: &CpuEngine) -> Result<(f64, u64), Failure> {
    let view = view.clone().sized(Size { width: 1, height: 1 });
    let plan = Plan::new(&view, &exact(LIMIT), &Limits::default())?;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let mut dwell = [0];
    let rows = FieldRowsMut::new(1, 0..1, ChannelSlicesMut::of_dwells(&mut dwell))?;
    let outcome = engine.run(&task, rows, &control)?;
    let deep = outcome.notes.deep.ok_or("no reference")?;
    Ok((deep.reference_seconds, deep.reference_length))
}

/// A box and what was found in it.
struct Row {
    zoom: String,
    found: Located,
    seconds: f64,
    reference: f64,
}

/// Searches one box.
fn row(view: &View, engine: &CpuEngine) -> Result<Result<Row, Error>, Failure> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let scene = Scene { view: view.clone(), ..Scene::default() };
    let (reference, _) = reference(view, engine)?;
    let began = Instant::now();
    let found = locate(&scene, &Wanted::default(), Level::best(), &Limits::default(), &control);
    let seconds = began.elapsed().as_secs_f64();
    let zoom = match &view.frame {
        Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => zoom.text().to_owned(),
        _ => String::new(),
    };
    Ok(found.map(|found| Row { zoom, found, seconds, reference }))
}

/// A box, which its number determines, and what was found in it or why nothing was; and the seconds that finding the box took.
fn searched(number: u32, engine: &CpuEngine) -> (Result<Row, String>, f64) {
    let began = Instant::now();
    let view = random_view(&mut Random::new(SEED + u64::from(number)), engine);
    let finding = began.elapsed().as_secs_f64();
    let found = view.map_err(|error| error.to_string()).and_then(|view| {
        let row = row(&view, engine).map_err(|error| error.to_string())?;
        row.map_err(|error| match &view.frame {
            Frame::Centred { re, im, magnification: Magnification::Zoom(zoom) } => {
                format!("--center={},{} --zoom {}: {error}", re.text(), im.text(), zoom.text())
            }
            _ => error.to_string(),
        })
    });
    (found, finding)
}

/// Searches the boxes on all processors, each box on one of them, since finding a box takes longer than searching it. Returns the minibrots
/// and the number of boxes in which nothing was proved.
fn boxes(numbers: Range<u32>) -> (Vec<Row>, u32) {
    let (next, rows, failed) = (AtomicU32::new(numbers.start), Mutex::new(Vec::new()), AtomicU32::new(0));
    let work = || {
        let engine = CpuEngine::new(Level::best(), 1);
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                break;
            }
            let (found, finding) = searched(number, &engine);
            match found {
                Ok(row) => {
                    let Special::Minibrot { period, size, is_cardioid, .. } = &row.found.point else { continue };
                    println!(
                        "{number:3}: zoom {}, period {period}, size {}, {}, {}; {:.4} s, {:.1} times the reference; the box was found in {finding:.1} s",
                        row.zoom,
                        size.to_rational().scientific(),
                        if *is_cardioid { "cardioid" } else { "disc" },
                        if row.found.is_least { "least" } else { "not proved to be the least" },
                        row.seconds,
                        row.seconds / row.reference
                    );
                    rows.lock().unwrap_or_else(PoisonError::into_inner).push(row);
                }
                Err(error) => {
                    failed.fetch_add(1, Ordering::Relaxed);
                    println!("{number:3}: {error}; the box was found in {finding:.1} s");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    (rows.into_inner().unwrap_or_else(PoisonError::into_inner), failed.into_inner())
}

/// Runs the boxes. `words` are the flags of the command.
pub(crate) fn run(words: &[&str]) -> Done {
    let (numbers, record) = match words {
        [] => (0..BOXES, false),
        ["--record"] => (0..BOXES, true),
        ["--boxes", numbers] => {
            let (first, end) = numbers.split_once("..").unwrap_or(("0", numbers));
            (first.parse()?..end.parse()?, false)
        }
        _ => return Err("the flags of locate are --boxes N, --boxes FIRST..END and --record".into()),
    };
    let count = numbers.len();
    let (rows, failed) = boxes(numbers);
    let seconds = median(rows.iter().map(|row| row.seconds));
    let reference = median(rows.iter().map(|row| row.reference));
    let ratio = median(rows.iter().map(|row| row.seconds / row.reference));
    let least = rows.iter().filter(|row| row.found.is_least).count();
    let cardioids =
        rows.iter().filter(|row| matches!(row.found.point, Special::Minibrot { is_cardioid: true, .. })).count();
    let summary = format!(
        "{count} boxes (seeds from {SEED} on, zooms from 1e{LEAST_ZOOM} to 1e{}): a nucleus was found and proved in {}, {cardioids} of them of cardioids; that no smaller period is in the box was proved in {least}. \
         On one thread, the median time was {:.1} ms, that of the reference orbit of the box {:.2} ms; the median of the ratio was {ratio:.1}.",
        LEAST_ZOOM + ZOOMS - 1,
        rows.len(),
        1e3 * seconds,
        1e3 * reference
    );
    println!("{summary}");
    if record {
        let path = root().join("docs/locate.md");
        let text = std::fs::read_to_string(&path)?;
        let text =
            with_results(&text, &format!("\n{summary}\n\n")).ok_or("docs/locate.md has no place for the results")?;
        store::write_text(&path, &text, &PartialFiles::default())?;
    }
    if failed > 0 { Err(format!("nothing was proved in {failed} boxes").into()) } else { Ok(()) }
}

/// A text with these results in their place.
fn with_results(text: &str, results: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{results}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_has_a_place_for_the_results() {
        let text = std::fs::read_to_string(root().join("docs/locate.md")).unwrap();
        let again = with_results(&text, "\nx\n").unwrap();
        assert!(again.contains("\nx\n") && again.starts_with("# "));
        assert_eq!(with_results("a\n", ""), None);
    }
}
