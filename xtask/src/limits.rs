//! Measures the automatic limit: how many pixels of random views it draws falsely black, and what it costs.

use crate::random::Random;
use crate::{Done, root};
use dwell::store::{self, PartialFiles};
use dwell::{
    Automatic, Cancel, ChannelSet, Control, CpuEngine, Decimal, Fold, Formula, Limits, Map, Plan, Progress, Recipe,
    Scene, Settings, Size, Strategy, Task, View, naive,
};
use std::fmt::Write;
use std::time::Instant;

/// Random views.
const VIEWS: u32 = 200;
const SEED: u64 = 20_261_122;
/// How often each view is timed.
const TIMES: u32 = 9;
/// The size of the views whose pixels are counted, and of those that are timed.
const SIZE: Size = Size { width: 320, height: 180 };
const TIMED_SIZE: Size = Size { width: 1920, height: 1080 };
/// The limit that tells which pixels are falsely black, as a multiple of the automatic one.
const HIGHER: u64 = 64;
/// Views that are timed: a name, the centre, the zoom.
const TIMED: [(&str, [&str; 3]); 8] = [
    ("the whole set", ["-0.75", "0", "1.4"]),
    ("outside", ["0.5", "0.7", "10"]),
    ("inside the cardioid", ["-0.1", "0", "100"]),
    ("inside a disc of period 4", ["-1.3107", "0", "100"]),
    ("seahorses", ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e5"]),
    ("deep", ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e11"]),
    ("deeper", ["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e13"]),
    ("a small copy", ["-1.768778833", "0.001738996", "1e6"]),
];
/// Where docs/defaults.md has the results.
const BEGIN: &str = "<!-- limits -->\n";
const END: &str = "<!-- end of limits -->\n";

/// A formula, the constant of a Julia set, and their name. Half are the Mandelbrot set.
fn formula(random: &mut Random) -> (String, Formula, Option<[f64; 2]>) {
    let of = |fold, power| Formula::new(fold, power).unwrap_or_default();
    let c = [[-0.8, 0.156], [-0.123, 0.745], [0.285, 0.01], [-0.745, 0.113], [-1.2, 0.2], [0.3, 0.5]];
    match random.below(12) {
        0 | 1 => ("multibrot 3".to_owned(), of(Fold::None, 3), None),
        2 => ("burning-ship".to_owned(), of(Fold::Absolute, 2), None),
        3 => ("tricorn".to_owned(), of(Fold::Conjugate, 2), None),
        4 | 5 => {
            let c = c[random.below(c.len())];
            (format!("julia {}, {}", c[0], c[1]), Formula::MANDELBROT, Some(c))
        }
        _ => ("mandelbrot".to_owned(), Formula::MANDELBROT, None),
    }
}

/// A point at the boundary of a set: between one that escapes soon and one that does not escape, if there is one; otherwise
/// a point that escapes late.
fn boundary_point(random: &mut Random, map: &Map<f64>) -> [f64; 2] {
    const LIMIT: u32 = 20_000;
    let dwell = |p: [f64; 2]| match naive::dwell(map, p, LIMIT, 4.0) {
        0 => LIMIT + 1,
        n => n,
    };
    let mut point = |centre: [f64; 2], radius: f64| centre.map(|part| part + random.between(-radius, radius));
    let points: Vec<[f64; 2]> = (0..400).map(|_| point([0.0; 2], 1.8)).collect();
    let inside = points.iter().find(|p| dwell(**p) > LIMIT);
    let outside = points.iter().find(|p| dwell(**p) < 20);
    if let (Some(inside), Some(outside)) = (inside, outside) {
        let (mut inside, mut outside) = (*inside, *outside);
        for _ in 0..60 {
            let middle = [0, 1].map(|part| f64::midpoint(inside[part], outside[part]));
            if dwell(middle) > LIMIT { inside = middle } else { outside = middle }
        }
        return outside;
    }
    let (mut best, mut radius) = ([0.0; 2], 1.8);
    for _ in 0..60 {
        let tried = (0..60).map(|_| point(best, radius)).max_by_key(|p| dwell(*p)).unwrap_or(best);
        if dwell(tried) >= dwell(best) {
            best = tried;
        }
        radius *= 0.6;
    }
    best
}

/// The dwells of a scene at a limit, and the seconds that they took.
fn dwells(scene: &Scene, limit: u64, engine: &CpuEngine) -> Result<(Vec<u64>, f64), Box<dyn std::error::Error>> {
    let settings = Settings { limit, force: true, ..scene.settings.clone() };
    let began = Instant::now();
    let plan = Plan::new(&scene.view, &settings, &Limits::default())?;
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
    let field = dwell::field(&task, engine, &Limits::default(), &Cancel::default())?;
    Ok((field.all_rows().dwells().collect(), began.elapsed().as_secs_f64()))
}

/// A random view: half of them are at the boundary at zooms of 1 to 9e12, the others anywhere at zooms of 1 to 9e3.
fn random_scene(random: &mut Random) -> Result<(String, Scene), Box<dyn std::error::Error>> {
    let (name, formula, julia) = formula(random);
    let map = Map { formula, recipe: Recipe::Fused, julia };
    let at_boundary = random.below(2) == 0;
    let point = if at_boundary { boundary_point(random, &map) } else { [0; 2].map(|_| random.between(-1.8, 1.8)) };
    let point = point.map(|part| format!("{part:.17}"));
    let zoom = format!("{}e{}", random.below(9) + 1, random.below(if at_boundary { 13 } else { 4 }));
    let mut scene = Scene {
        view: View::centred(&point[0], &point[1], &zoom)?.sized(SIZE),
        automatic: Automatic { scale: false, ..Automatic::ALL },
        ..Scene::default()
    };
    scene.settings.formula = formula;
    scene.settings.julia = match julia {
        Some([re, im]) => Some([re.to_string().parse::<Decimal>()?, im.to_string().parse()?]),
        None => None,
    };
    Ok((format!("{name} {}, {} zoom {zoom}", point[0], point[1]), scene))
}

/// What the random views showed.
#[derive(Default)]
struct Total {
    /// Pixels, and those that are falsely black: of formulas without a fold, and with one.
    pixels: [u64; 2],
    falsely_black: [u64; 2],
    views_with_some: u64,
    /// Seconds at the automatic limit, and at the least of its grid at which no pixel would be falsely black.
    seconds: [f64; 2],
}

/// Looks at the random views of which `chosen` names the numbers, or at all.
fn views(count: u32, chosen: &[u32], engine: &CpuEngine) -> Result<Total, Box<dyn std::error::Error>> {
    let mut total = Total::default();
    let mut random = Random::new(SEED);
    for number in 0..count {
        let (name, scene) = random_scene(&mut random)?;
        if !chosen.is_empty() && !chosen.contains(&number) {
            continue;
        }
        let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
        let began = Instant::now();
        let scene = dwell::resolve(&scene, engine, &Limits::default(), &control)?.scene;
        let search = began.elapsed().as_secs_f64();
        let limit = scene.settings.limit;
        let (field, _) = dwells(&scene, limit.saturating_mul(HIGHER).min(u64::from(u32::MAX - 1)), engine)?;
        let falsely_black = field.iter().filter(|n| **n > limit).count() as u64;
        let latest = field.iter().copied().max().unwrap_or(0);
        let least = [1, 2, 5].into_iter().flat_map(|f| (2..9).map(move |power| f * 10_u64.pow(power)));
        let least = least.filter(|limit| *limit >= latest).min().unwrap_or(limit);
        let kind = usize::from(scene.settings.formula.fold() != Fold::None);
        total.pixels[kind] += field.len() as u64;
        total.falsely_black[kind] += falsely_black;
        total.views_with_some += u64::from(falsely_black > 0);
        let seconds = [dwells(&scene, limit, engine)?.1, dwells(&scene, least, engine)?.1];
        total.seconds.iter_mut().zip(seconds).for_each(|(total, seconds)| *total += seconds);
        println!(
            "{number:3}: limit {limit:9}, latest {latest:9}, {falsely_black:5} falsely black, search {search:.3} s, render {:.3} s, {:.0} % more than at {least}; {name}",
            seconds[0],
            100.0 * (seconds[0] / seconds[1] - 1.0)
        );
    }
    Ok(total)
}

/// Times the search beside the render of some views, as rows of a table.
fn costs(engine: &CpuEngine) -> Result<String, Box<dyn std::error::Error>> {
    let mut rows = String::new();
    for (name, [re, im, zoom]) in TIMED {
        let scene = Scene { view: View::centred(re, im, zoom)?.sized(TIMED_SIZE), ..Scene::default() };
        let (mut search, mut render) = (f64::INFINITY, f64::INFINITY);
        let mut limit = 0;
        for _ in 0..TIMES {
            let began = Instant::now();
            let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
            let found = dwell::resolve(&scene, engine, &Limits::default(), &control)?.scene;
            search = search.min(began.elapsed().as_secs_f64());
            let began = Instant::now();
            dwell::picture(&found, engine, &Limits::default(), &Cancel::default())?;
            render = render.min(began.elapsed().as_secs_f64());
            limit = found.settings.limit;
        }
        let share = 100.0 * search / render;
        let row = format!(
            "| {name} | {re}, {im} | {zoom} | {limit} | {:.1} ms | {:.0} ms | {share:.1} % |",
            1e3 * search,
            1e3 * render
        );
        println!("{row}");
        writeln!(rows, "{row}")?;
    }
    Ok(rows)
}

/// Runs both measurements. `words` are the flags of the command.
pub(crate) fn run(words: &[&str]) -> Done {
    let (count, chosen, record) = match words {
        [] => (VIEWS, vec![], false),
        ["--record"] => (VIEWS, vec![], true),
        ["--views", count] => (count.parse()?, vec![], false),
        ["--only", numbers] => {
            let chosen: Vec<u32> = numbers.split(',').map(str::parse).collect::<Result<_, _>>()?;
            (chosen.iter().max().map_or(0, |last| last + 1), chosen, false)
        }
        _ => return Err("the flags of limits are --views N, --only K,L,... and --record".into()),
    };
    let engine = CpuEngine::default();
    let total = views(count, &chosen, &engine)?;
    if !chosen.is_empty() {
        return Ok(());
    }
    let per_100_000 = |black: u64, pixels: u64| 1e5 * black as f64 / (pixels as f64).max(1.0);
    let (all, all_pixels) = (total.falsely_black.iter().sum::<u64>(), total.pixels.iter().sum::<u64>());
    let share = per_100_000(all, all_pixels);
    let [without, with] = [0, 1].map(|kind| per_100_000(total.falsely_black[kind], total.pixels[kind]));
    let summary = format!(
        "{count} views of {SIZE} pixels (seed {SEED}): {all} of {all_pixels} pixels are falsely black, {share:.2} in 100,000, in \
         {} views. Of the formulas without a fold it is {without:.2} in 100,000, of those with one {with:.2}. The renders at \
         the automatic limits took {:.2} times as long as at the least limits of the same grid at which none would be.",
        total.views_with_some,
        total.seconds[0] / total.seconds[1].max(f64::MIN_POSITIVE)
    );
    println!("{summary}");
    let costs = costs(&engine)?;
    if record {
        let table = format!(
            "\n{summary}\n\n| view | centre | zoom | limit | search | render at {TIMED_SIZE} | share |\n|---|---|---|---|---|---|---|\n{costs}\n"
        );
        let path = root().join("docs/defaults.md");
        let text = std::fs::read_to_string(&path)?;
        let text = with_results(&text, &table).ok_or("docs/defaults.md has no place for the results")?;
        store::write_text(&path, &text, &PartialFiles::default())?;
    }
    if share > 1.0 { Err("more than 1 pixel in 100,000 is falsely black".into()) } else { Ok(()) }
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
        let text = std::fs::read_to_string(root().join("docs/defaults.md")).unwrap();
        let again = with_results(&text, "\nx\n").unwrap();
        assert!(again.contains("\nx\n") && again.starts_with("# "));
        assert_eq!(with_results("a\n", ""), None);
    }
}
