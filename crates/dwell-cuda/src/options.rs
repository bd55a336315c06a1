//! Which kernel iterates, and how it is launched.

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum GpuKernel {
    /// The fastest that is exact.
    #[default]
    Tuned,
    /// The plain loop, a thread a pixel, in blocks of any shape.
    PerPixel,
    /// The plain loop, a block a row.
    RowPerBlock,
    /// The plain loop, a grid of fixed size that strides over the image.
    GridStride,
    /// Mariani-Silver, level by level, with lists of rectangles.
    Levels,
    /// Mariani-Silver in tiles of 64 x 64, each within a block's shared memory.
    Block,
    /// Mariani-Silver by kernels that launch kernels.
    DeviceLaunches,
}

impl GpuKernel {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Tuned,
        Self::PerPixel,
        Self::RowPerBlock,
        Self::GridStride,
        Self::Levels,
        Self::Block,
        Self::DeviceLaunches,
    ];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tuned => "tuned",
            Self::PerPixel => "per-pixel",
            Self::RowPerBlock => "row-per-block",
            Self::GridStride => "grid-stride",
            Self::Levels => "mariani-silver-levels",
            Self::Block => "mariani-silver-block",
            Self::DeviceLaunches => "mariani-silver-cdp",
        }
    }

    /// Whether every dwell is that of the plain loop, by construction.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Levels | Self::Block | Self::DeviceLaunches)
    }

    /// Whether it is the plain loop, which takes no shortcut.
    pub(crate) fn is_plain(self) -> bool {
        matches!(self, Self::PerPixel | Self::RowPerBlock | Self::GridStride | Self::DeviceLaunches)
    }

    /// Threads of its blocks, across and down, unless others are asked for: those of the published programs.
    pub(crate) fn usual_block(self) -> [u32; 2] {
        match self {
            Self::PerPixel | Self::DeviceLaunches => [64, 4],
            Self::RowPerBlock => [128, 1],
            Self::GridStride => [16, 16],
            Self::Tuned | Self::Levels | Self::Block => [256, 1],
        }
    }
}

/// Threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockShape {
    /// Across and down; 1 to [`MOST_THREADS`] in all.
    Threads([u32; 2]),
    /// What the driver says keeps a multiprocessor busiest.
    Occupancy,
}

/// The most threads of a block, on every device.
pub const MOST_THREADS: u32 = 1024;

/// How Mariani-Silver divides; the names are those of the published program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// `INIT_SUBDIV`: rectangles of the first level, across and down.
    pub initial: u32,
    /// `SUBDIV`: children of a rectangle, across and down.
    pub parts: u32,
    /// `MAX_DEPTH`: levels at most, less one.
    pub max_depth: u32,
    /// `MIN_SIZE`: a rectangle is divided when its children's shorter side is longer than this.
    pub min_size: u32,
}

impl Default for Division {
    fn default() -> Self {
        Self { initial: 32, parts: 4, max_depth: 4, min_size: 32 }
    }
}

/// How long points fly before those that still do go on a list. See `kernels/tuned.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Steps after the head, in the first kernel.
    pub first: u32,
    /// Each stage has so many times the steps of the one before.
    pub growth: u32,
}

impl Default for Stages {
    fn default() -> Self {
        Self { first: 64, growth: 2 }
    }
}

/// All that can be chosen of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Which kernel.
    pub kernel: GpuKernel,
    /// The shape of blocks, for the kernels of the published programs.
    pub block: Option<BlockShape>,
    /// For Mariani-Silver.
    pub division: Division,
    /// For the tuned kernel.
    pub stages: Stages,
    /// Bytes of the device's memory to get by with, if they are free.
    pub memory_bytes: u64,
}

impl Default for Options {
    /// The tuned kernel, and all memory that is free.
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
