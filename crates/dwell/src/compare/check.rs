//! A field against the truth: some of its pixels, or all, iterated at their exact points without rounding error.

use super::Watch;
use super::raster::{Cells, Content, PIECE, Raster};
use super::value::Value;
use crate::base::error::{Error, InputError};
use crate::base::limits::resize;
use crate::base::thread_pool::{Schedule, Team};
use crate::truth::{By, Oracle, Truth};
use crate::view::settings::Settings;
use crate::view::{Size, View};
use serde::Serialize;

/// Which pixels are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Every one.
    All,
    /// So many, chosen by chance: half of them evenly from the whole field, half from those whose dwell differs from that of
    /// a neighbour (left, right, above, below), where most errors are. All of them, if there are no more.
    Sample {
        /// How many.
        pixels: u64,
        /// The same seed chooses the same pixels.
        seed: u64,
    },
}

/// What was found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TruthReport {
    /// The field.
    pub file: String,
    /// What it is.
    pub format: String,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Columns times rows.
    pub pixels: u64,
    /// The greatest n tried.
    pub max_iterations: u32,
    /// Whether every pixel was checked.
    pub all: bool,
    /// What chose the sample; null where every pixel was checked.
    pub seed: Option<u64>,
    /// All pixels that were checked.
    #[serde(flatten)]
    pub total: Tally,
    /// Of 100 that were checked.
    pub wrong_percent: f64,
    /// Those chosen evenly from the whole field: they say how much of it is wrong. Null where every pixel was checked.
    pub evenly: Option<Tally>,
    /// Those chosen from the pixels whose dwell differs from a neighbour's: they do not stand for the whole field. Null where
    /// every pixel was checked.
    pub at_changes: Option<Tally>,
    /// How many pixels there are whose dwell differs from a neighbour's; null where every pixel was checked.
    pub pixels_at_changes: Option<u64>,
    /// Wrong, between two escapes: the field's dwell is too large, too small.
    pub too_large: u64,
    /// See [`Self::too_large`].
    pub too_small: u64,
    /// The largest error between two escapes; the first such pixel.
    pub largest: Option<Wrong>,
    /// The first few that are wrong, row by row from the top.
    pub first: Vec<Wrong>,
    /// How many were decided by each means.
    pub decided_by: Means,
}

/// Counts of pixels that were checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// How many.
    pub checked: u64,
    /// Their dwell is the true one.
    pub right: u64,
    /// It is another.
    pub wrong: u64,
    /// Of these, the field or the truth has 0 and the other has not.
    pub wrong_side: u64,
    /// Arbitrary precision did not decide them.
    pub undecided: u64,
}

/// A pixel that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Wrong {
    /// From the left, from 0.
    pub column: u32,
    /// From the top, from 0.
    pub row: u32,
    /// The field's dwell.
    pub field: u32,
    /// The true dwell.
    pub truth: u32,
}

/// How many pixels were decided by what: see [`By`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Means {
    /// A proof that the point is inside.
    pub interior: u64,
    /// f64 with a bound on its error.
    pub f64: u64,
    /// 128 bits with a bound on their error.
    pub bits_128: u64,
    /// More bits, or none that were allowed.
    pub many_bits: u64,
}

/// Wrong pixels that are listed.
const LISTED: usize = 10;
/// Pixels of a field that are checked before it is read on.
const BAND: usize = 1 << 18;
/// Pixels that a thread takes at once: few, since one that stays for long may stand for a million that leave at once.
const PIECE_OF_WORK: usize = 64;

/// Chosen evenly.
const EVENLY: u8 = 1;
/// Chosen among those at changes.
const AT_CHANGES: u8 = 2;

/// A pixel to be checked.
#[derive(Clone, Copy, Debug)]
struct Spot {
    column: u32,
    row: u32,
    dwell: u32,
    chosen: u8,
}

/// Checks pixels of a field of dwells against the truth about a view: of the settings, formula, Julia constant, limit and
/// escape radius matter.
///
/// # Errors
/// [`Error::Input`] when it is no field, holds numbers that are no dwells, has another size than the view or is damaged;
/// [`Error::Interrupted`].
pub fn check(
    field: Raster,
    view: &View,
    settings: &Settings,
    which: Which,
    team: &Team,
    watch: Watch<'_>,
) -> Result<TruthReport, Error> {
    let Size { width, height } = view.size;
    let name = field.name().to_owned();
    let format = field.format().to_owned();
    let found = field.size();
    let wrong = |problem: String| InputError::new(&name, problem);
    let Content::Field(cells) = field.content else {
        return Err(wrong(format!("is an image ({format}), which holds no dwells")).accepted("npy, csv").into());
    };
    if found != view.size {
        let problem = format!("has {} x {} pixels, and the view {width} x {height}", found.width, found.height);
        return Err(wrong(problem)
            .hint(format!("give the size it was rendered with: --size {}x{}", found.width, found.height))
            .into());
    }
    let mut rows = Rows { cells, name, row: 0, piece: vec![Value::Whole(0); PIECE.min(width as usize)] };
    let work = Work { oracle: Oracle::new(view, settings), team, watch };
    let pixels = view.size.pixels();
    let which = match which {
        Which::Sample { pixels: wanted, .. } if wanted >= pixels => Which::All,
        which => which,
    };
    let mut states = Vec::new();
    let (mut seed, mut pixels_at_changes) = (None, None);
    match which {
        Which::All => {
            watch.progress.start(pixels, Vec::new());
            let band = (BAND / width as usize).clamp(1, height as usize);
            watch.limits.reserve("a band of the field", (band as u64 * u64::from(width)).saturating_mul(20))?;
            let (mut dwells, mut spots) = (Vec::new(), Vec::new());
            resize(&mut dwells, width as usize, 0, "a row of the field")?;
            for row in 0..height {
                rows.next(&mut dwells)?;
                spots.try_reserve(dwells.len()).map_err(|_| wrong_memory())?;
                let columns = 0..width;
                spots.extend(columns.zip(&dwells).map(|(column, dwell)| Spot {
                    column,
                    row,
                    dwell: *dwell,
                    chosen: 0,
                }));
                if spots.len() >= band * width as usize || row + 1 == height {
                    states.append(&mut work.check(&spots)?);
                    spots.clear();
                }
            }
        }
        Which::Sample { pixels: wanted, seed: given } => {
            seed = Some(given);
            let (spots, at_changes) = sample(&mut rows, view.size, wanted, given, watch)?;
            pixels_at_changes = Some(at_changes);
            watch.progress.start(spots.len() as u64, Vec::new());
            states = work.check(&spots)?;
        }
    }
    rows.cells.finish().map_err(|e| e.within(&rows.name))?;
    let all = which == Which::All;
    let mut found = Findings::default();
    states.into_iter().for_each(|state| found.join(state));
    let mut report = TruthReport {
        file: rows.name,
        format,
        width,
        height,
        pixels,
        max_iterations: settings.limit,
        all,
        seed,
        total: found.total,
        wrong_percent: percent(found.total.wrong, found.total.checked),
        evenly: (!all).then_some(found.evenly),
        at_changes: (!all).then_some(found.at_changes),
        pixels_at_changes,
        too_large: found.too_large,
        too_small: found.too_small,
        largest: found.largest,
        first: found.first,
        decided_by: found.means,
    };
    report.first.truncate(LISTED);
    Ok(report)
}

#[allow(clippy::cast_precision_loss, reason = "a share")]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn wrong_memory() -> InputError {
    InputError::new("size", "the system has no memory for the pixels to be checked")
}

/// The rows of a field of dwells, from the top.
struct Rows {
    cells: Box<dyn Cells>,
    name: String,
    row: u32,
    piece: Vec<Value>,
}

impl Rows {
    /// Reads the next row, as long as the field is wide.
    fn next(&mut self, dwells: &mut [u32]) -> Result<(), InputError> {
        for (index, dwells) in dwells.chunks_mut(PIECE).enumerate() {
            let piece = &mut self.piece[..dwells.len()];
            self.cells.read(piece).map_err(|e| e.within(&self.name))?;
            for (place, (dwell, value)) in dwells.iter_mut().zip(piece).enumerate() {
                *dwell = value.dwell().ok_or_else(|| {
                    let (column, row) = (index * PIECE + place, self.row);
                    InputError::new(&self.name, format!("column {column}, row {row}: {value} is no dwell"))
                        .accepted("whole numbers from 0 to 4294967295; 0 = did not escape")
                })?;
            }
        }
        self.row += 1;
        Ok(())
    }
}

/// splitmix64 (Steele, Lea and Flood, 2014): the same numbers everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below n > 0, each as likely to within n / 2^64.
    fn below(&mut self, n: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(n)) >> 64).unwrap_or(0)
    }
}

/// Chooses pixels, in one pass over the field; and counts those at changes.
fn sample(rows: &mut Rows, size: Size, wanted: u64, seed: u64, watch: Watch<'_>) -> Result<(Vec<Spot>, u64), Error> {
    let Size { width, height } = size;
    let mut random = Random(seed);
    let at_changes_wanted = usize::try_from(wanted / 2).unwrap_or(usize::MAX);
    let evenly_wanted = wanted - wanted / 2;
    watch
        .limits
        .reserve("the sample", wanted.saturating_mul(64).saturating_add(u64::from(width).saturating_mul(16)))?;
    // Evenly: distinct numbers of pixels, in their order.
    let mut evenly = std::collections::BTreeSet::new();
    while (evenly.len() as u64) < evenly_wanted {
        evenly.insert(random.below(size.pixels()));
    }
    let mut evenly = evenly.into_iter().peekable();
    let mut chosen: Vec<Spot> = Vec::new();
    // At changes: each of the first k that were seen is kept as likely (Waterman's reservoir).
    let mut kept: Vec<Spot> = Vec::new();
    let mut seen = 0_u64;
    let mut window: [Vec<u32>; 3] = Default::default();
    for row in &mut window {
        resize(row, width as usize, 0, "a row of the field")?;
    }
    let [above, here, below] = &mut window;
    rows.next(here)?;
    for row in 0..height {
        let (first, last) = (row == 0, row + 1 == height);
        if !last {
            rows.next(below)?;
        }
        for column in 0..width {
            let at = column as usize;
            let dwell = here[at];
            let changes = (at > 0 && here[at - 1] != dwell)
                || here.get(at + 1).is_some_and(|other| *other != dwell)
                || (!first && above[at] != dwell)
                || (!last && below[at] != dwell);
            let number = u64::from(row) * u64::from(width) + u64::from(column);
            if evenly.next_if_eq(&number).is_some() {
                chosen.push(Spot { column, row, dwell, chosen: EVENLY });
            }
            if changes {
                seen += 1;
                let spot = Spot { column, row, dwell, chosen: AT_CHANGES };
                if kept.len() < at_changes_wanted {
                    kept.push(spot);
                } else if let Ok(place) = usize::try_from(random.below(seen))
                    && let Some(place) = kept.get_mut(place)
                {
                    *place = spot;
                }
            }
        }
        std::mem::swap(above, here);
        std::mem::swap(here, below);
        watch.cancel.check()?;
    }
    // A pixel that was chosen twice is checked once and counts for both.
    chosen.append(&mut kept);
    chosen.sort_unstable_by_key(|spot| (spot.row, spot.column));
    chosen.dedup_by(|later, earlier| {
        let same = (later.row, later.column) == (earlier.row, earlier.column);
        earlier.chosen |= if same { later.chosen } else { 0 };
        same
    });
    Ok((chosen, seen))
}

/// Who checks.
struct Work<'a> {
    oracle: Oracle,
    team: &'a Team,
    watch: Watch<'a>,
}

impl Work<'_> {
    /// Checks these pixels; what each thread found.
    fn check(&self, spots: &[Spot]) -> Result<Vec<Findings>, Error> {
        let pieces = spots.chunks(PIECE_OF_WORK).collect();
        let states = self.team.for_each(Schedule::default(), pieces, Findings::default, |found, spots| {
            for spot in spots {
                // What is left undone after an interruption is seen below.
                let Ok((truth, by)) = self.oracle.dwell(spot.column, spot.row, self.watch.cancel) else { return };
                found.add(*spot, truth, by);
            }
            self.watch.progress.add(spots.len() as u64);
        });
        self.watch.cancel.check()?;
        Ok(states)
    }
}

/// What one thread has found.
#[derive(Default)]
struct Findings {
    total: Tally,
    evenly: Tally,
    at_changes: Tally,
    too_large: u64,
    too_small: u64,
    largest: Option<Wrong>,
    first: Vec<Wrong>,
    means: Means,
}

impl Wrong {
    fn error(&self) -> u32 {
        self.field.abs_diff(self.truth)
    }
    fn place(&self) -> (u32, u32) {
        (self.row, self.column)
    }
}

impl Tally {
    fn add(&mut self, dwell: u32, truth: Truth) {
        self.checked += 1;
        match truth {
            Truth::Dwell(n) if n == dwell => self.right += 1,
            Truth::Dwell(n) => {
                self.wrong += 1;
                self.wrong_side += u64::from((n == 0) != (dwell == 0));
            }
            Truth::Undecided { .. } => self.undecided += 1,
        }
    }

    fn join(&mut self, o: Self) {
        self.checked += o.checked;
        self.right += o.right;
        self.wrong += o.wrong;
        self.wrong_side += o.wrong_side;
        self.undecided += o.undecided;
    }
}

impl Findings {
    fn add(&mut self, spot: Spot, truth: Truth, by: By) {
        self.total.add(spot.dwell, truth);
        if spot.chosen & EVENLY != 0 {
            self.evenly.add(spot.dwell, truth);
        }
        if spot.chosen & AT_CHANGES != 0 {
            self.at_changes.add(spot.dwell, truth);
        }
        *match by {
            By::Interior => &mut self.means.interior,
            By::F64 => &mut self.means.f64,
            By::Bits128 => &mut self.means.bits_128,
            By::ManyBits => &mut self.means.many_bits,
        } += 1;
        let Truth::Dwell(truth) = truth else { return };
        if truth == spot.dwell {
            return;
        }
        let wrong = Wrong { column: spot.column, row: spot.row, field: spot.dwell, truth };
        if truth > 0 && spot.dwell > 0 {
            self.too_large += u64::from(spot.dwell > truth);
            self.too_small += u64::from(spot.dwell < truth);
            self.enlarge(wrong);
        }
        self.first.push(wrong);
        // Kept short, but sorted seldom.
        if self.first.len() >= 8 * LISTED {
            self.shorten();
        }
    }

    fn enlarge(&mut self, wrong: Wrong) {
        // Of equals the first, whoever found it.
        let rank = |wrong: &Wrong| (wrong.error(), std::cmp::Reverse(wrong.place()));
        if self.largest.as_ref().is_none_or(|largest| rank(&wrong) > rank(largest)) {
            self.largest = Some(wrong);
        }
    }

    fn shorten(&mut self) {
        self.first.sort_unstable_by_key(Wrong::place);
        self.first.truncate(LISTED);
    }

    fn join(&mut self, o: Self) {
        self.total.join(o.total);
        self.evenly.join(o.evenly);
        self.at_changes.join(o.at_changes);
        self.too_large += o.too_large;
        self.too_small += o.too_small;
        if let Some(largest) = o.largest {
            self.enlarge(largest);
        }
        self.first.extend(o.first);
        self.shorten();
        let Means { interior, f64, bits_128, many_bits } = o.means;
        self.means.interior += interior;
        self.means.f64 += f64;
        self.means.bits_128 += bits_128;
        self.means.many_bits += many_bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cancel, Limits, Progress};

    fn view() -> (View, Settings) {
        let view = View::centred("-0.75", "0", "1").unwrap().sized(Size::new(96, 64).unwrap());
        (view, Settings { limit: 200, ..Settings::default() })
    }

    /// The truth as a table, with some pixels changed by one.
    fn table(spoiled: &[(u32, u32)]) -> String {
        let (view, settings) = view();
        let oracle = Oracle::new(&view, &settings);
        let mut text = String::new();
        for row in 0..64 {
            for column in 0..96 {
                let Truth::Dwell(n) = oracle.dwell(column, row, &Cancel::default()).unwrap().0 else {
                    panic!("decided")
                };
                text += &format!("{},", n + u32::from(spoiled.contains(&(column, row))));
            }
            text.push('\n');
        }
        text
    }

    fn checked(text: String, which: Which, threads: usize) -> Result<TruthReport, Error> {
        let (view, settings) = view();
        let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
        let watch = Watch { limits: &limits, cancel: &cancel, progress: &progress };
        let field = Raster::from_bytes(text.into_bytes(), "x", &limits)?;
        check(field, &view, &settings, which, &Team::new(threads), watch)
    }

    #[test]
    fn finds_what_is_wrong_and_nothing_else() {
        let report = checked(table(&[]), Which::All, 3).unwrap();
        let expected = Tally { checked: 6144, right: 6144, ..Tally::default() };
        assert_eq!((report.total, report.largest, report.first.len()), (expected, None, 0));
        let spoiled = [(0, 0), (48, 32), (95, 63), (3, 20), (50, 32)];
        for threads in [1, 2, 5] {
            let report = checked(table(&spoiled), Which::All, threads).unwrap();
            assert_eq!((report.total.wrong, report.total.undecided), (5, 0));
            let places: Vec<_> = report.first.iter().map(|wrong| (wrong.column, wrong.row)).collect();
            assert_eq!(places, [(0, 0), (3, 20), (48, 32), (50, 32), (95, 63)]);
            assert_eq!((report.total.wrong_side, report.too_large), (2, 3), "two of them are inside");
            assert_eq!(report.largest.map(|wrong| wrong.place()), Some((0, 0)), "of equals the first");
        }
    }

    #[test]
    fn samples_are_the_same_for_a_seed_and_say_what_they_stand_for() {
        let text = table(&[]);
        let sample = |pixels, seed| checked(text.clone(), Which::Sample { pixels, seed }, 2).unwrap();
        let report = sample(200, 7);
        let (evenly, at_changes) = (report.evenly.unwrap(), report.at_changes.unwrap());
        assert_eq!((evenly.checked, at_changes.checked, report.total.wrong), (100, 100, 0));
        assert!((150..=200).contains(&report.total.checked), "some are chosen twice");
        let changes = report.pixels_at_changes.unwrap();
        assert!((500..3000).contains(&changes), "{changes}");
        assert_eq!(sample(200, 7).decided_by, report.decided_by);
        assert_ne!(sample(200, 8).decided_by, report.decided_by);
        assert!(sample(6144, 7).all && !sample(6143, 7).all);
        assert_eq!(sample(1, 7).total.checked, 1);
        // More than there are at changes: all of these.
        assert_eq!(sample(6143, 7).at_changes.unwrap().checked, changes);
    }

    #[test]
    fn what_is_no_field_of_the_view() {
        let text = table(&[]);
        let wrong = |text: String| checked(text, Which::All, 1).unwrap_err().to_string();
        assert!(wrong(text.replacen(',', ".5,", 1)).contains("x: column 0, row 0: 1.5 is no dwell"));
        assert!(wrong(text.replacen(',', "0000000000,", 1)).contains("is no dwell"));
        assert!(wrong("1,2\n".to_owned()).contains("has 2 x 1 pixels, and the view 96 x 64"));
        assert!(wrong("P5 2 1 255 xx".to_owned()).contains("holds no dwells"));
    }
}
