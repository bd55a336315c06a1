//! Exact numbers: decimals as typed, fractions, and sines and cosines enclosed between fractions.

pub(crate) mod decimal;
pub(crate) mod rational;
pub(crate) mod trig;
