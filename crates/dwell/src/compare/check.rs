//! Comparison of a field with the true dwells: all of its pixels or a sample are iterated at their exact points without
//! rounding error.

use super::Controls;
use super::raster::{Cells, Content, PIECE, Raster};
use super::value::Value;
use crate::base::error::{Error, InputError};
use crate::base::limits::resize;
use crate::base::place::{Parameter, Place};
use crate::base::problem::Problem;
use crate::base::schedule::Schedule;
use crate::base::thread_pool::ThreadPool;
use crate::truth::{Method, TrueDwells, Truth};
use crate::view::settings::Settings;
use crate::view::{Size, View};
use dwell_kernels::with_standard_floats;
use serde::Serialize;

/// The pixels to be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All pixels.
    All,
    /// A random sample. Half of it is drawn uniformly from the whole field, half from the pixels whose dwell differs
    /// from that of a neighbour (left, right, above, below), where most errors are. If the field has no more pixels
    /// than the sample, all are checked.
    Sample {
        /// The number of pixels of the sample.
        pixels: u64,
        /// The seed of the random numbers; equal seeds draw equal samples.
        seed: u64,
    },
}

/// The result of a comparison with the true dwells.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TruthReport {
    /// The path of the field, or `standard input`.
    pub file: String,
    /// The format of the file, such as `npy, uint32`.
    pub format: String,
    /// The width in pixels.
    pub width: u32,
    /// The height in pixels.
    pub height: u32,
    /// The number of pixels, width times height.
    pub pixels: u64,
    /// The iteration limit.
    pub max_iterations: u64,
    /// Whether every pixel was checked.
    pub all: bool,
    /// The seed of the sample; null if every pixel was checked.
    pub seed: Option<u64>,
    /// The counts of all checked pixels.
    #[serde(flatten)]
    pub total: PixelCounts,
    /// The wrong pixels as a percentage of the checked pixels, 0 to 100.
    pub wrong_percent: f64,
    /// The counts of the pixels drawn uniformly from the whole field: their share of wrong pixels is an estimate for
    /// the field. Null if every pixel was checked.
    pub evenly: Option<PixelCounts>,
    /// The counts of the pixels drawn from those whose dwell differs from a neighbour's. They are not representative of
    /// the field. Null if every pixel was checked.
    pub at_changes: Option<PixelCounts>,
    /// The number of pixels of the field whose dwell differs from a neighbour's; null if every pixel was checked.
    pub pixels_at_changes: Option<u64>,
    /// Wrong pixels that escape in the field and in truth, whose dwell in the field is too large.
    pub too_large: u64,
    /// Wrong pixels that escape in the field and in truth, whose dwell in the field is too small.
    pub too_small: u64,
    /// The pixel with the largest error among those that escape in the field and in truth; of equal errors the first,
    /// row by row from the top.
    pub largest: Option<WrongPixel>,
    /// The first wrong pixels, at most 10, row by row from the top.
    pub first: Vec<WrongPixel>,
    /// The number of pixels determined by each method.
    pub decided_by: MethodCounts,
}

/// Counts of checked pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PixelCounts {
    /// Checked pixels.
    pub checked: u64,
    /// Pixels with the true dwell.
    pub right: u64,
    /// Pixels with another dwell.
    pub wrong: u64,
    /// Wrong pixels whose dwell is 0 either in the field or in truth, but not in both.
    pub wrong_side: u64,
    /// Pixels whose true dwell 2^20 bits did not decide.
    pub undecided: u64,
}

/// A pixel whose dwell is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WrongPixel {
    /// The column, counted from 0 at the left.
    pub column: u32,
    /// The row, counted from 0 at the top.
    pub row: u32,
    /// The dwell in the field.
    pub field: u64,
    /// The true dwell.
    pub truth: u64,
}

/// The number of pixels that each [`Method`] determined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MethodCounts {
    /// [`Method::Interior`].
    pub interior: u64,
    /// [`Method::F64`].
    pub f64: u64,
    /// [`Method::Bits128`].
    pub bits_128: u64,
    /// [`Method::ManyBits`], including undecided pixels.
    pub many_bits: u64,
}

/// The most wrong pixels that are listed.
const LISTED: usize = 10;
/// The number of pixels that are read before they are checked.
const BAND: usize = 1 << 18;
/// The most pixels of one piece of work, and the pieces for each thread where there are few: one pixel that stays for many iterations can cost as much as a
/// million that escape early, and at depth each may take seconds.
const MOST_OF_PIECE: usize = 64;
const PIECES_PER_THREAD: usize = 4;

/// The flag of a pixel drawn uniformly.
const EVENLY: u8 = 1;
/// The flag of a pixel drawn from those whose dwell differs from a neighbour's.
const AT_CHANGES: u8 = 2;

/// A pixel to be checked.
#[derive(Clone, Copy, Debug)]
struct ChosenPixel {
    column: u32,
    row: u32,
    dwell: u64,
    /// [`EVENLY`], [`AT_CHANGES`] or both; 0 if every pixel is checked.
    chosen: u8,
}

/// Compares pixels of a field of dwells with the true dwells of a view. Of the settings only formula, Julia constant,
/// limit and escape radius are used.
///
/// # Errors
/// [`Error::Input`] when the raster is an image, holds numbers other than integers from 0 to 2^63 - 1, has another
/// size than the view, or its file is damaged; [`Error::Interrupted`] after the stop flag was set.
pub fn check(
    field: Raster,
    view: &View,
    settings: &Settings,
    selection: Selection,
    threads: &ThreadPool,
    controls: Controls<'_>,
) -> Result<TruthReport, Error> {
    with_standard_floats(|| checked(field, view, settings, selection, threads, controls))
}

fn checked(
    field: Raster,
    view: &View,
    settings: &Settings,
    selection: Selection,
    threads: &ThreadPool,
    controls: Controls<'_>,
) -> Result<TruthReport, Error> {
    let Size { width, height } = view.size;
    let name = field.name().to_owned();
    let format = field.format().to_owned();
    let (found, reader) = (field.size(), field.memory_bytes());
    let wrong = |problem: Problem| InputError::new(problem).in_file(&name);
    let Content::Field(cells) = field.content else {
        let (found, wanted) = (format!("an image ({format})"), "a field of dwells".to_owned());
        return Err(wrong(Problem::WrongKind { found, wanted }).accepts("npy, csv").into());
    };
    if found != view.size {
        let [found, view] = [found, view.size].map(|size| [size.width, size.height]);
        return Err(wrong(Problem::SizesDiffer { found, view }).into());
    }
    let mut rows = Rows { cells, name, row: 0, piece: vec![Value::Whole(0); PIECE.min(width as usize)] };
    let work = Checker { true_dwells: TrueDwells::new(view, settings), threads, controls };
    let pixels = view.size.pixels();
    let selection = match selection {
        Selection::Sample { pixels: wanted, .. } if wanted >= pixels => Selection::All,
        selection => selection,
    };
    let mut states = Vec::new();
    let (mut seed, mut pixels_at_changes) = (None, None);
    match selection {
        Selection::All => {
            controls.progress.start(pixels, Vec::new());
            let band = (BAND / width as usize).clamp(1, height as usize);
            let band_bytes = (band as u64 * u64::from(width)).saturating_mul(20);
            controls.limits.reserve("a band of the field", band_bytes.saturating_add(reader))?;
            let (mut dwells, mut chosen_pixels) = (Vec::new(), Vec::new());
            resize(&mut dwells, width as usize, 0, "a row of the field")?;
            for row in 0..height {
                rows.next(&mut dwells)?;
                chosen_pixels.try_reserve(dwells.len()).map_err(|_| no_memory_for(dwells.len()))?;
                let columns = 0..width;
                chosen_pixels.extend(columns.zip(&dwells).map(|(column, dwell)| ChosenPixel {
                    column,
                    row,
                    dwell: *dwell,
                    chosen: 0,
                }));
                if chosen_pixels.len() >= band * width as usize || row + 1 == height {
                    states.append(&mut work.check(&chosen_pixels)?);
                    chosen_pixels.clear();
                }
            }
        }
        Selection::Sample { pixels: wanted, seed: given } => {
            seed = Some(given);
            let (chosen_pixels, at_changes) = sample(&mut rows, view.size, wanted, given, reader, controls)?;
            pixels_at_changes = Some(at_changes);
            controls.progress.start(chosen_pixels.len() as u64, Vec::new());
            states = work.check(&chosen_pixels)?;
        }
    }
    rows.cells.finish().map_err(|e| e.in_file(&rows.name))?;
    let all = selection == Selection::All;
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
        decided_by: found.methods,
    };
    report.first.truncate(LISTED);
    Ok(report)
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

/// The system has no memory for more pixels to be checked.
fn no_memory_for(pixels: usize) -> InputError {
    let needed_bytes = (pixels * size_of::<ChosenPixel>()) as u64;
    let what = "the pixels to be checked".to_owned();
    InputError::new(Problem::Memory { what, needed_bytes, allowed_bytes: None }).about(Parameter::Size)
}

/// The error of a value that is no dwell.
pub(super) fn no_dwell(value: Value, column: u32, row: u32) -> InputError {
    InputError::malformed(format!("{value} is no dwell"))
        .accepts("whole numbers from 0 to 2^63 - 1; 0 = did not escape")
        .within(Place::Pixel { column: column.into(), row: row.into() })
}

/// The rows of a field of dwells, from the top.
struct Rows {
    cells: Box<dyn Cells>,
    name: String,
    row: u32,
    piece: Vec<Value>,
}

impl Rows {
    /// Reads the next row into `dwells`, which has the width of the field.
    fn next(&mut self, dwells: &mut [u64]) -> Result<(), InputError> {
        for (index, dwells) in dwells.chunks_mut(PIECE).enumerate() {
            let piece = &mut self.piece[..dwells.len()];
            self.cells.read(piece).map_err(|e| e.in_file(&self.name))?;
            for (place, (dwell, value)) in dwells.iter_mut().zip(piece).enumerate() {
                let column = (index * PIECE + place) as u32;
                *dwell = value.dwell().ok_or_else(|| no_dwell(*value, column, self.row).in_file(&self.name))?;
            }
        }
        self.row += 1;
        Ok(())
    }
}

/// The random number generator splitmix64 (Steele, Lea and Flood, 2014), which returns the same numbers on every
/// machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to n - 1, for n > 0. The probabilities differ from 1/n by less than n / 2^64 in relative terms.
    fn below(&mut self, n: u64) -> u64 {
        u64::try_from((u128::from(self.next()) * u128::from(n)) >> 64).unwrap_or(0)
    }
}

/// Draws a sample in one pass over the field, whose reader takes `reader` bytes of memory. Returns it, and the number of pixels whose dwell differs from a
/// neighbour's.
fn sample(
    rows: &mut Rows,
    size: Size,
    wanted: u64,
    seed: u64,
    reader: u64,
    controls: Controls<'_>,
) -> Result<(Vec<ChosenPixel>, u64), Error> {
    let Size { width, height } = size;
    let mut random = Random(seed);
    let at_changes_wanted = usize::try_from(wanted / 2).unwrap_or(usize::MAX);
    let evenly_wanted = wanted - wanted / 2;
    let bytes = wanted.saturating_mul(64).saturating_add(u64::from(width).saturating_mul(16));
    controls.limits.reserve("the sample", bytes.saturating_add(reader))?;
    // The uniform half: distinct indices of pixels in ascending order.
    let mut evenly = std::collections::BTreeSet::new();
    while (evenly.len() as u64) < evenly_wanted {
        evenly.insert(random.below(size.pixels()));
    }
    let mut evenly = evenly.into_iter().peekable();
    let mut chosen: Vec<ChosenPixel> = Vec::new();
    // The half at changes: reservoir sampling (Waterman's algorithm R). After k pixels were seen, each of them is in
    // the reservoir with the same probability.
    let mut kept: Vec<ChosenPixel> = Vec::new();
    let mut seen = 0_u64;
    let mut window: [Vec<u64>; 3] = Default::default();
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
                chosen.push(ChosenPixel { column, row, dwell, chosen: EVENLY });
            }
            if changes {
                seen += 1;
                let pixel = ChosenPixel { column, row, dwell, chosen: AT_CHANGES };
                if kept.len() < at_changes_wanted {
                    kept.push(pixel);
                } else if let Ok(place) = usize::try_from(random.below(seen))
                    && let Some(place) = kept.get_mut(place)
                {
                    *place = pixel;
                }
            }
        }
        std::mem::swap(above, here);
        std::mem::swap(here, below);
        controls.cancel.check()?;
    }
    // A pixel in both halves is checked once and counted in both.
    chosen.append(&mut kept);
    chosen.sort_unstable_by_key(|pixel| (pixel.row, pixel.column));
    chosen.dedup_by(|later, earlier| {
        let same = (later.row, later.column) == (earlier.row, earlier.column);
        earlier.chosen |= if same { later.chosen } else { 0 };
        same
    });
    Ok((chosen, seen))
}

/// The check of pixels on all threads.
struct Checker<'a> {
    true_dwells: TrueDwells,
    threads: &'a ThreadPool,
    controls: Controls<'a>,
}

impl Checker<'_> {
    /// Checks pixels; returns the findings of each thread.
    fn check(&self, chosen_pixels: &[ChosenPixel]) -> Result<Vec<Findings>, Error> {
        let size = (chosen_pixels.len() / (PIECES_PER_THREAD * self.threads.threads())).clamp(1, MOST_OF_PIECE);
        let pieces = 0..chosen_pixels.len().div_ceil(size);
        self.threads.for_each(
            Schedule::default(),
            pieces,
            || Ok(Findings::default()),
            |found, piece| {
                let first = piece * size;
                let chosen_pixels = &chosen_pixels[first..chosen_pixels.len().min(first + size)];
                for pixel in chosen_pixels {
                    let (truth, method) = self.true_dwells.dwell(pixel.column, pixel.row, self.controls.cancel)?;
                    found.add(*pixel, truth, method);
                }
                self.controls.progress.add(chosen_pixels.len() as u64);
                Ok(())
            },
        )
    }
}

/// The findings of one thread.
#[derive(Default)]
struct Findings {
    total: PixelCounts,
    evenly: PixelCounts,
    at_changes: PixelCounts,
    too_large: u64,
    too_small: u64,
    largest: Option<WrongPixel>,
    first: Vec<WrongPixel>,
    methods: MethodCounts,
}

impl WrongPixel {
    fn error(&self) -> u64 {
        self.field.abs_diff(self.truth)
    }
    fn place(&self) -> (u32, u32) {
        (self.row, self.column)
    }
}

impl PixelCounts {
    fn add(&mut self, dwell: u64, truth: Truth) {
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
    fn add(&mut self, pixel: ChosenPixel, truth: Truth, method: Method) {
        self.total.add(pixel.dwell, truth);
        if pixel.chosen & EVENLY != 0 {
            self.evenly.add(pixel.dwell, truth);
        }
        if pixel.chosen & AT_CHANGES != 0 {
            self.at_changes.add(pixel.dwell, truth);
        }
        *match method {
            Method::Interior => &mut self.methods.interior,
            Method::F64 => &mut self.methods.f64,
            Method::Bits128 => &mut self.methods.bits_128,
            Method::ManyBits => &mut self.methods.many_bits,
        } += 1;
        let Truth::Dwell(truth) = truth else { return };
        if truth == pixel.dwell {
            return;
        }
        let wrong = WrongPixel { column: pixel.column, row: pixel.row, field: pixel.dwell, truth };
        if truth > 0 && pixel.dwell > 0 {
            self.too_large += u64::from(pixel.dwell > truth);
            self.too_small += u64::from(pixel.dwell < truth);
            self.update_largest(wrong);
        }
        self.first.push(wrong);
        // Sorting and truncating only every few additions keeps both the list and the cost small.
        if self.first.len() >= 8 * LISTED {
            self.shorten();
        }
    }

    fn update_largest(&mut self, wrong: WrongPixel) {
        // Of equal errors the first pixel, regardless of the thread that found it.
        let rank = |wrong: &WrongPixel| (wrong.error(), std::cmp::Reverse(wrong.place()));
        if self.largest.as_ref().is_none_or(|largest| rank(&wrong) > rank(largest)) {
            self.largest = Some(wrong);
        }
    }

    fn shorten(&mut self) {
        self.first.sort_unstable_by_key(WrongPixel::place);
        self.first.truncate(LISTED);
    }

    fn join(&mut self, o: Self) {
        self.total.join(o.total);
        self.evenly.join(o.evenly);
        self.at_changes.join(o.at_changes);
        self.too_large += o.too_large;
        self.too_small += o.too_small;
        if let Some(largest) = o.largest {
            self.update_largest(largest);
        }
        self.first.extend(o.first);
        self.shorten();
        let MethodCounts { interior, f64, bits_128, many_bits } = o.methods;
        self.methods.interior += interior;
        self.methods.f64 += f64;
        self.methods.bits_128 += bits_128;
        self.methods.many_bits += many_bits;
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

    /// The true dwells as a table, with 1 added to some of them.
    fn table(spoiled: &[(u32, u32)]) -> String {
        let (view, settings) = view();
        let true_dwells = TrueDwells::new(&view, &settings);
        let mut text = String::new();
        for row in 0..64 {
            for column in 0..96 {
                let Truth::Dwell(n) = true_dwells.dwell(column, row, &Cancel::default()).unwrap().0 else {
                    panic!("decided")
                };
                text += &format!("{},", n + u64::from(spoiled.contains(&(column, row))));
            }
            text.push('\n');
        }
        text
    }

    fn checked(text: String, selection: Selection, threads: usize) -> Result<TruthReport, Error> {
        let (view, settings) = view();
        let (limits, cancel, progress) = (Limits::default(), Cancel::default(), Progress::default());
        let controls = Controls { limits: &limits, cancel: &cancel, progress: &progress };
        let field = Raster::from_bytes(text.into_bytes(), "x", &limits)?;
        check(field, &view, &settings, selection, &ThreadPool::new(threads), controls)
    }

    #[test]
    fn reports_exactly_the_wrong_pixels() {
        let report = checked(table(&[]), Selection::All, 3).unwrap();
        let expected = PixelCounts { checked: 6144, right: 6144, ..PixelCounts::default() };
        assert_eq!((report.total, report.largest, report.first.len()), (expected, None, 0));
        let spoiled = [(0, 0), (48, 32), (95, 63), (3, 20), (50, 32)];
        for threads in [1, 2, 5] {
            let report = checked(table(&spoiled), Selection::All, threads).unwrap();
            assert_eq!((report.total.wrong, report.total.undecided), (5, 0));
            let places: Vec<_> = report.first.iter().map(|wrong| (wrong.column, wrong.row)).collect();
            assert_eq!(places, [(0, 0), (3, 20), (48, 32), (50, 32), (95, 63)]);
            assert_eq!((report.total.wrong_side, report.too_large), (2, 3), "two of them are interior");
            assert_eq!(report.largest.map(|wrong| wrong.place()), Some((0, 0)), "of equal errors the first");
        }
    }

    #[test]
    fn equal_seeds_give_equal_samples_with_separate_counts() {
        let text = table(&[]);
        let sample = |pixels, seed| checked(text.clone(), Selection::Sample { pixels, seed }, 2).unwrap();
        let report = sample(200, 7);
        let (evenly, at_changes) = (report.evenly.unwrap(), report.at_changes.unwrap());
        assert_eq!((evenly.checked, at_changes.checked, report.total.wrong), (100, 100, 0));
        assert!((150..=200).contains(&report.total.checked), "some pixels are in both halves");
        let changes = report.pixels_at_changes.unwrap();
        assert!((500..3000).contains(&changes), "{changes}");
        assert_eq!(sample(200, 7).decided_by, report.decided_by);
        assert_ne!(sample(200, 8).decided_by, report.decided_by);
        assert!(sample(6144, 7).all && !sample(6143, 7).all);
        assert_eq!(sample(1, 7).total.checked, 1);
        // The half is larger than the number of pixels at changes, so it contains all of them.
        assert_eq!(sample(6143, 7).at_changes.unwrap().checked, changes);
    }

    #[test]
    fn rasters_that_are_no_field_of_the_view_are_errors() {
        let text = table(&[]);
        let wrong = |text: String| checked(text, Selection::All, 1).unwrap_err().to_string();
        assert!(wrong(text.replacen(',', ".5,", 1)).contains("x, column 0, row 0: 1.5 is no dwell"));
        assert!(wrong(text.replacen(',', "0000000000000000000,", 1)).contains("is no dwell"));
        assert!(wrong("1,2\n".to_owned()).contains("has 2 x 1 pixels, and the view 96 x 64"));
        assert!(wrong("P5 2 1 255 xx".to_owned()).contains("not a field of dwells"));
    }
}
