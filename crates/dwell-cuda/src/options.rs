//! Which kernel computes dwells, and how it is launched.

use crate::shared::{BLOCK_THREADS, MOST_BLOCK_THREADS, MOST_PARTS, PROVEN_THREADS};
use dwell::{InputError, Parameter, Problem};
use std::fmt;
use std::str::FromStr;

/// A kernel that computes dwells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GpuKernel {
    /// The fastest exact kernel.
    #[default]
    Tuned,
    /// Blocks of pixels of which a dwell is proved, and the tuned kernel for the rest. Exact; dwells alone.
    Proven,
    /// The plain loop, one thread for each pixel, in blocks of any shape.
    PerPixel,
    /// The plain loop, one block for each row.
    RowPerBlock,
    /// The plain loop in a grid of fixed size that strides over the image.
    GridStride,
    /// Mariani-Silver, level by level, with lists of rectangles.
    Levels,
    /// Mariani-Silver in tiles of 64 x 64, each within a block's shared memory.
    Block,
    /// Mariani-Silver by kernels that launch kernels.
    DeviceLaunches,
}

dwell_kernels::named!(GpuKernel, "gpu-kernel":
    Tuned => "tuned",
    Proven => "proven",
    PerPixel => "per-pixel",
    RowPerBlock => "row-per-block",
    GridStride => "grid-stride",
    Levels => "mariani-silver-levels",
    Block => "mariani-silver-block",
    DeviceLaunches => "mariani-silver-cdp",
);

impl GpuKernel {
    /// Whether every dwell equals that of the plain loop, by construction.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Levels | Self::Block | Self::DeviceLaunches)
    }

    /// Whether the kernel is a plain loop without shortcuts.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::PerPixel | Self::RowPerBlock | Self::GridStride | Self::DeviceLaunches)
    }

    /// Default threads of its blocks, across and down: those of the published programs.
    pub(crate) fn usual_block(self) -> [u32; 2] {
        match self {
            Self::PerPixel | Self::DeviceLaunches => [64, 4],
            Self::RowPerBlock => [128, 1],
            Self::GridStride => [16, 16],
            Self::Proven => [PROVEN_THREADS, 1],
            Self::Tuned | Self::Levels | Self::Block => [BLOCK_THREADS, 1],
        }
    }
}

/// The shape of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockShape {
    /// Threads across and down; 1 to [`MOST_THREADS`] in all.
    Threads([u32; 2]),
    /// The shape that keeps a multiprocessor busiest, by the driver's calculation.
    Occupancy,
}

impl FromStr for BlockShape {
    type Err = InputError;

    /// Reads `occupancy`, `ACROSS` or `ACROSSxDOWN`.
    fn from_str(text: &str) -> Result<Self, InputError> {
        if text == "occupancy" {
            return Ok(Self::Occupancy);
        }
        let (across, down) = text.split_once('x').unwrap_or((text, "1"));
        let side = |text: &str| text.parse().ok().filter(|side| (1..=MOST_THREADS).contains(side));
        match side(across).zip(side(down)) {
            Some((across, down)) => Ok(Self::Threads([across, down])),
            None => Err(InputError::out_of_range(text)
                .about(Parameter::Named("block"))
                .accepts(format!("occupancy, or threads as WxH, each 1 to {MOST_THREADS}"))),
        }
    }
}

impl fmt::Display for BlockShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads([across, down]) => write!(f, "{across}x{down}"),
            Self::Occupancy => f.write_str("occupancy"),
        }
    }
}

/// The most threads of a block, on every device.
pub const MOST_THREADS: u32 = MOST_BLOCK_THREADS;

/// How Mariani-Silver divides rectangles. The names in capitals are those of the published program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// `INIT_SUBDIV`: rectangles of the first level, across and down; 1 to 1024.
    pub initial: u32,
    /// `SUBDIV`: children of a rectangle, across and down; 2 to 16.
    pub parts: u32,
    /// `MAX_DEPTH`: the most levels, plus one; 1 to 20.
    pub max_depth: u32,
    /// `MIN_SIZE`: a rectangle is divided when the shorter side of its children is longer than this; 1 to 65,536
    /// pixels.
    pub min_size: u32,
}

impl Default for Division {
    fn default() -> Self {
        Self { initial: 32, parts: 4, max_depth: 4, min_size: 32 }
    }
}

/// Steps before surviving points are moved to a list. See `kernels/tuned.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Steps after the prologue, in the first kernel.
    pub first: u32,
    /// Each stage has this many times the steps of the stage before.
    pub growth: u32,
}

impl Default for Stages {
    fn default() -> Self {
        Self { first: 64, growth: 2 }
    }
}

/// Which kernel computes dwells, and how it is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The kernel.
    pub kernel: GpuKernel,
    /// The shape of blocks, for the kernels of the published programs.
    pub block: Option<BlockShape>,
    /// Of the Mariani-Silver kernels.
    pub division: Division,
    /// Of the tuned kernel.
    pub stages: Stages,
    /// Bytes of device memory the engine may use, where they are free.
    pub memory_bytes: u64,
}

impl Default for Options {
    /// The tuned kernel, and all free memory.
    fn default() -> Self {
        Self {
            kernel: GpuKernel::default(),
            block: None,
            division: Division::default(),
            stages: Stages::default(),
            memory_bytes: u64::MAX,
        }
    }
}

impl Options {
    /// Refuses values that are out of range or do not go with the kernel.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        if let Some(BlockShape::Threads([across, down])) = self.block {
            let threads = u64::from(across) * u64::from(down);
            let most = u64::from(MOST_THREADS);
            if !(1..=most).contains(&threads) || down > 1024 {
                return Err(InputError::out_of_range(format!("{across}x{down}"))
                    .about(Parameter::Named("block"))
                    .accepts(format!("1 to {most} threads")));
            }
        }
        let chosen = self.block.is_some();
        if chosen && matches!(self.kernel, GpuKernel::Tuned | GpuKernel::Proven | GpuKernel::Levels | GpuKernel::Block)
        {
            return Err(InputError::new(Problem::Conflict(format!("the kernel {} has its own", self.kernel)))
                .about(Parameter::Named("block"))
                .accepts("with per-pixel, row-per-block, grid-stride or mariani-silver-cdp"));
        }
        let division = self.division;
        let within = |what: &'static str, value: u32, least: u32, most: u32| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(InputError::out_of_range(value.to_string())
                .about(Parameter::Named(what))
                .accepts(format!("{least} to {most}")))
        };
        within("init-subdiv", division.initial, 1, 1024)?;
        within("subdiv", division.parts, 2, MOST_PARTS)?;
        within("max-depth", division.max_depth, 1, 20)?;
        within("min-size", division.min_size, 1, 65_536)
    }

    /// The kernel and its launch, in words.
    pub(crate) fn described(&self) -> String {
        let kernel = self.kernel;
        let [across, down] = match self.block {
            Some(BlockShape::Occupancy) => return format!("{}, blocks by occupancy", kernel.name()),
            Some(BlockShape::Threads(block)) => block,
            None => kernel.usual_block(),
        };
        format!("{}, blocks of {across}x{down}", kernel.name())
    }
}
