//! How a publication samples the plane, tests and counts: inputs and adapters of an experiment, so that our own kernels
//! compute what it computed.

use serde::{Deserialize, Serialize};

/// The convention of a publication. The default is our own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Convention {
    /// How coordinates are computed from `bounds` and `size`.
    pub axes: AxisRule,
    /// When a point has escaped.
    pub escape: Escape,
    /// What is recorded for a point.
    pub counts: Counts,
    /// Whether rows are real parts and columns imaginary parts.
    pub transposed: bool,
    /// Whether the first row is the lowest.
    pub upward: bool,
}

/// How coordinates are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisRule {
    /// The exact centre or corner of the pixel, rounded once: [`dwell::Axes`].
    #[default]
    Exact,
    /// min + (i / n) (max - min), every operation rounded in the number: zhong, nvidia.
    Fraction,
    /// i * ((max - min) / n) + min, every operation rounded in the number: hybridizer, genova.
    Step,
    /// The same with one rounding for the product and the sum: genova with fused multiply-adds.
    FusedStep,
    /// (i - n / 2) * ((max - min) / n) + (min + max) / 2, every operation rounded: toader.
    CentredStep,
}

/// When a point has escaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Escape {
    /// |z|^2 > 4.
    #[default]
    Beyond,
    /// |z|^2 >= 4, as the test |z|^2 > the number just below 4.
    AtLeast,
}

/// What is recorded for a point that escapes at n, and for one that does not within the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// n, and 0.
    #[default]
    Dwell,
    /// n - 1, and the limit: zhong, nvidia.
    FromZero,
    /// n + 1 where that is below the limit, and the limit: the test lags one step (hybridizer).
    Lagging,
    /// n where that is below the limit, and 0: one byte that wraps (toader).
    Byte,
}
