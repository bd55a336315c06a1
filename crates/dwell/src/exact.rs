//! Exact numbers: decimals as typed, rationals, and sines and cosines as intervals between rationals.

pub(crate) mod decimal;
pub(crate) mod limbs;
pub(crate) mod rational;
#[cfg(feature = "toml")]
pub(crate) mod roots;
pub(crate) mod trig;
