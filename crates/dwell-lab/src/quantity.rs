//! Quantities of an experiment: exact numbers that are computed by this library and not timed, the same on every machine.
//!
//! A [`Quantity`] names one of [`Kind::ALL`], a workload as flags, a convention and numbers that the kind needs:
//!
//! | kinds | parameters | value |
//! |---|---|---|
//! | `mean-iterations`, `iterations` | | n of each escaped point and the limit of each other one: mean or sum |
//! | `mean-bodies` | `extra` | loop bodies that the convention's loop executes for a pixel; those of an interior pixel plus `extra` |
//! | `bodies-with-tests` | `cardioid`, `bulb` | the same for a loop that ends after the limit and one more body, with none in points that a test finds |
//! | `interior-percent` | | pixels that do not escape |
//! | `differing`, `differing-percent` | | pixels whose dwell differs between the flags and the flags with `other`; the first with a picture |
//! | `ties` | | pixels whose dwell differs between the tests > 4 and >= 4 |
//! | `merged` | | escaped pixels for which the value of interior ones is recorded |
//! | `unwritten-tiles` | `tile` | pixels that no whole tile covers |
//! | `unwritten-adaptive`, `outside-writes` | layout | pixels of the image that no kernel writes; pixels written outside it |
//! | `device-launches`, `recursion-depth` | layout | kernels launched from the device; levels of tiles, 1 without recursion |
//! | `leaf-percent` | layout | pixels that are computed one by one |
//! | `borders-per-pixel` | layout | points of borders that are computed, over the pixels |
//! | `work-ratio` | layout | loop bodies of all pixels over those of the borders and leaves |
//! | `reduction-wrong` | layout | wrong pixels in filled tiles |
//! | `uniform-wrong` | layout but `block` | the same if the whole border were compared |
//! | `lane-waste-percent`, `lane-waste-vectors` | `lanes` | iterations of vectors that go on after every lane has escaped |
//!
//! A layout is `initial` (tiles on a side at first), `parts` (parts of a side of a divided tile), `min-size` (a tile is divided
//! if its parts have a side greater than this), `max-depth` (and if its depth, from 1, plus 1 is less than this) and `block`
//! (threads that compare a border, 256 if it is not given). Every division truncates: tiles are squares whose side comes from
//! the width alone, and the threads are halved in number until one is left, so that values are dropped where a number is odd.
//!
//! The fields of `differing` and `differing-percent` may also be those of reference loops, and of two conventions.

mod adaptive;
mod bands;
mod bodies;
mod difference;
mod lanes;
mod parameters;

use crate::experiment::Quantity;
use crate::setup::FlagReader;
use adaptive::{Border, Census, Inside, Layout};
use bands::Workload;
use difference::Side;
use dwell::{Cancel, Size};
use dwell_kernels::with_standard_floats;
use parameters::Parameters;

/// A quantity that was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// Its value.
    pub value: f64,
    /// A PNG that shows it, if there is one.
    pub picture: Option<Vec<u8>>,
}

/// What is computed. See the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// n of each escaped point, the limit of each other one: the mean.
    MeanIterations,
    /// The same: the sum.
    Iterations,
    /// Pixels that do not escape, in percent.
    InteriorPercent,
    /// Pixels whose dwell differs between two workloads.
    Differing,
    /// The same in percent of all pixels.
    DifferingPercent,
    /// Pixels whose dwell differs between the tests > 4 and >= 4.
    Ties,
    /// Escaped pixels for which the value of interior ones is recorded.
    Merged,
    /// Pixels that no whole tile covers.
    UnwrittenTiles,
    /// Pixels that the adaptive algorithm leaves out.
    UnwrittenAdaptive,
    /// Pixels that the adaptive algorithm writes outside the image.
    OutsideWrites,
    /// Kernels that the adaptive algorithm launches from the device.
    DeviceLaunches,
    /// Its levels of tiles.
    RecursionDepth,
    /// Pixels that it computes one by one, in percent.
    LeafPercent,
    /// Points of borders that it computes, over the pixels.
    BordersPerPixel,
    /// Loop bodies of all pixels over those that it executes.
    WorkRatio,
    /// Its wrong pixels where a reduction of a border drops values.
    ReductionWrong,
    /// Its wrong pixels where the whole border is compared.
    UniformWrong,
    /// Iterations of vectors after every lane has escaped, in percent of those before.
    LaneWastePercent,
    /// Vectors with such iterations.
    LaneWasteVectors,
    /// Mean loop bodies of a pixel where tests find interior points.
    BodiesWithTests,
    /// Mean loop bodies of a pixel.
    MeanBodies,
}

dwell_kernels::named!(
    Kind, "quantity":
    MeanIterations => "mean-iterations",
    Iterations => "iterations",
    InteriorPercent => "interior-percent",
    Differing => "differing",
    DifferingPercent => "differing-percent",
    Ties => "ties",
    Merged => "merged",
    UnwrittenTiles => "unwritten-tiles",
    UnwrittenAdaptive => "unwritten-adaptive",
    OutsideWrites => "outside-writes",
    DeviceLaunches => "device-launches",
    RecursionDepth => "recursion-depth",
    LeafPercent => "leaf-percent",
    BordersPerPixel => "borders-per-pixel",
    WorkRatio => "work-ratio",
    ReductionWrong => "reduction-wrong",
    UniformWrong => "uniform-wrong",
    LaneWastePercent => "lane-waste-percent",
    LaneWasteVectors => "lane-waste-vectors",
    BodiesWithTests => "bodies-with-tests",
    MeanBodies => "mean-bodies",
);

impl Kind {
    /// The names of its parameters.
    #[must_use]
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::UnwrittenTiles => &["tile"],
            Self::UnwrittenAdaptive
            | Self::OutsideWrites
            | Self::DeviceLaunches
            | Self::RecursionDepth
            | Self::LeafPercent
            | Self::BordersPerPixel
            | Self::WorkRatio
            | Self::ReductionWrong => &["initial", "parts", "min-size", "max-depth", "block"],
            Self::UniformWrong => &["initial", "parts", "min-size", "max-depth"],
            Self::LaneWastePercent | Self::LaneWasteVectors => &["lanes"],
            Self::BodiesWithTests => &["cardioid", "bulb"],
            Self::MeanBodies => &["extra"],
            _ => &[],
        }
    }

    /// Whether it compares the workload with another.
    #[must_use]
    pub fn has_other(self) -> bool {
        matches!(self, Self::Differing | Self::DifferingPercent)
    }
}

/// Computes a quantity.
///
/// # Errors
/// In words: when its kind is unknown, a parameter is missing, unknown or out of range, its flags are wrong or cannot be used
/// here, memory is exhausted, or `cancel` was cancelled.
pub fn compute(quantity: &Quantity, flags: &dyn FlagReader, cancel: &Cancel) -> Result<Computed, String> {
    with_standard_floats(|| computed(quantity, flags, cancel))
}

fn computed(quantity: &Quantity, flags: &dyn FlagReader, cancel: &Cancel) -> Result<Computed, String> {
    let kind: Kind = quantity.compute.parse().map_err(|error: dwell::UnknownName| error.to_string())?;
    let parameters = Parameters::read(&quantity.params, kind)?;
    let Quantity { other, other_convention, reference_loop, other_loop, .. } = quantity;
    let has_other = !other.is_empty() || other_convention.is_some() || reference_loop.is_some() || other_loop.is_some();
    if has_other && !kind.has_other() {
        return Err(format!("{kind} compares no fields, but another workload or a loop is given"));
    }
    let workload = Workload::of(&quantity.flags, &quantity.convention, flags)?;
    let pixels = workload.size().pixels() as f64;
    let value = match kind {
        Kind::MeanIterations => bodies::iterations(&workload, cancel)? as f64 / pixels,
        Kind::Iterations => bodies::iterations(&workload, cancel)? as f64,
        Kind::MeanBodies => bodies::bodies(&workload, parameters.flag("extra")?.into(), cancel)? as f64 / pixels,
        Kind::BodiesWithTests => {
            let tests = [parameters.flag("cardioid")?, parameters.flag("bulb")?];
            bodies::with_tests(&workload, tests, cancel)? as f64 / pixels
        }
        Kind::InteriorPercent => 100.0 * workload.count(|n| n == 0, cancel)? as f64 / pixels,
        Kind::Merged => workload.count(|n| workload.is_merged(n), cancel)? as f64,
        Kind::Differing | Kind::DifferingPercent => {
            let mut all = quantity.flags.clone();
            all.extend(other.clone());
            let other = Workload::of(&all, &other_convention.unwrap_or(quantity.convention), flags)?;
            let first = Side::of(&workload, reference_loop.as_deref(), cancel)?;
            let second = Side::of(&other, other_loop.as_deref(), cancel)?;
            let (differing, picture) = difference::pictured(&first, &second, cancel)?;
            // The percentage is of the same picture, which a report shows once.
            return Ok(match kind {
                Kind::Differing => Computed { value: differing as f64, picture: Some(picture) },
                _ => Computed { value: 100.0 * differing as f64 / pixels, picture: None },
            });
        }
        Kind::Ties => difference::ties(&workload, cancel)? as f64,
        Kind::UnwrittenTiles => unwritten_tiles(workload.size(), parameters.whole("tile", 1..=1 << 16)?) as f64,
        Kind::LaneWastePercent => lanes::waste(&workload, parameters.whole("lanes", 1..=64)?, cancel)?.percent(),
        Kind::LaneWasteVectors => lanes::waste(&workload, parameters.whole("lanes", 1..=64)?, cancel)?.vectors as f64,
        adaptive => of_adaptive(adaptive, &workload, &parameters, cancel)?,
    };
    Ok(Computed { value, picture: None })
}

/// Threads of a block in both publications: 64 x 4.
const PUBLISHED_BLOCK: u32 = 256;

/// A quantity of the published Mariani-Silver algorithm.
fn of_adaptive(kind: Kind, workload: &Workload, parameters: &Parameters<'_>, cancel: &Cancel) -> Result<f64, String> {
    let layout = Layout::read(parameters)?;
    let border = match kind {
        Kind::UniformWrong => Border::Whole,
        _ => Border::Halved { threads: parameters.whole_or("block", PUBLISHED_BLOCK, 1..=1 << 16)? },
    };
    let inside = match kind {
        Kind::WorkRatio => Inside::Leaves,
        Kind::UniformWrong | Kind::ReductionWrong => Inside::Fills,
        _ => Inside::Nothing,
    };
    let Census { launches, depth, border_points, border_bodies, leaf_pixels, leaf_bodies, inside, outside, wrong } =
        adaptive::census(workload, layout, inside, border, cancel)?;
    let pixels = workload.size().pixels();
    Ok(match kind {
        Kind::DeviceLaunches => launches as f64,
        Kind::RecursionDepth => f64::from(depth),
        Kind::LeafPercent => 100.0 * leaf_pixels as f64 / pixels as f64,
        Kind::BordersPerPixel => border_points as f64 / pixels as f64,
        Kind::WorkRatio => bodies::bodies(workload, 0, cancel)? as f64 / (border_bodies + leaf_bodies) as f64,
        Kind::UnwrittenAdaptive => (pixels - inside) as f64,
        Kind::OutsideWrites => outside as f64,
        _ => wrong as f64,
    })
}

/// Pixels of an image that no whole tile covers.
fn unwritten_tiles(Size { width, height }: Size, tile: u32) -> u64 {
    let covered = |side: u32| u64::from(side / tile * tile);
    u64::from(width) * u64::from(height) - covered(width) * covered(height)
}
