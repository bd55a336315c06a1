//! Levels: which instruction set a kernel runs on. A [`Level`] is a value that proves that the machine has it.

use fearless_simd::{Fallback, Simd};
use std::fmt;
use std::str::FromStr;

/// The name of a level, whether or not this machine has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelName {
    /// One number at a time, no vector instructions. Uses the machine's scalar fused multiply-add where there is one
    /// and a correctly rounded software one elsewhere; the bits are the same.
    Scalar,
    /// 256-bit vectors: x86-64 with AVX2 and FMA.
    Avx2,
    /// 512-bit vectors: x86-64 with AVX-512 as of Ice Lake or Zen 4.
    Avx512,
    /// 128-bit vectors: `AArch64`. Comes by the vector library; this project has not run it.
    Neon,
}

impl LevelName {
    /// Every name.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Avx2, Self::Avx512, Self::Neon];

    /// As users write it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }
}

impl fmt::Display for LevelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for LevelName {
    type Err = ();
    fn from_str(s: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|l| l.as_str() == s).ok_or(())
    }
}

/// An instruction set that this machine has.
#[derive(Clone, Copy, Debug)]
pub struct Level(Token);

#[derive(Clone, Copy, Debug)]
enum Token {
    Scalar,
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx2(fearless_simd::x86::Avx2),
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    Avx512(fearless_simd::x86::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(fearless_simd::aarch64::Neon),
}

impl Level {
    /// The level of that name, if this machine has it.
    #[must_use]
    pub fn get(name: LevelName) -> Option<Self> {
        let found = fearless_simd::Level::new();
        let token = match name {
            LevelName::Scalar => Some(Token::Scalar),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            LevelName::Avx2 => found.as_avx2().map(Token::Avx2),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            LevelName::Avx512 => found.as_avx512().map(Token::Avx512),
            #[cfg(target_arch = "aarch64")]
            LevelName::Neon => found.as_neon().map(Token::Neon),
            #[allow(unreachable_patterns, reason = "the levels of other architectures")]
            _ => {
                let _ = found;
                None
            }
        };
        token.map(Self)
    }

    /// Every level of this machine, the slowest (scalar) first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        LevelName::ALL.into_iter().filter_map(Self::get).collect()
    }

    /// The widest level of this machine.
    #[must_use]
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self(Token::Scalar))
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> LevelName {
        match self.0 {
            Token::Scalar => LevelName::Scalar,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx2(_) => LevelName::Avx2,
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx512(_) => LevelName::Avx512,
            #[cfg(target_arch = "aarch64")]
            Token::Neon(_) => LevelName::Neon,
        }
    }

    /// Runs a kernel compiled for this level.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // A fuzzer is after what reads texts: kernels with coverage of every branch take minutes and gigabytes to build.
        #[cfg(fuzzing)]
        return run_scalar(kernel);
        #[cfg(not(fuzzing))]
        match self.0 {
            Token::Scalar => run_scalar(kernel),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx2(simd) => simd.vectorize(
                #[inline(always)]
                || kernel.run::<_, 1>(simd),
            ),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Token::Avx512(simd) => simd.vectorize(
                #[inline(always)]
                || kernel.run::<_, 2>(simd),
            ),
            #[cfg(target_arch = "aarch64")]
            Token::Neon(simd) => simd.vectorize(
                #[inline(always)]
                || kernel.run::<_, 2>(simd),
            ),
        }
    }
}

/// A kernel's body, compiled once for each level. Everything under `run` must be `#[inline(always)]`, or it is compiled
/// without the level's instructions.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// `REGISTERS` is the number of vector registers in units of 16: it rules how many vectors may be in flight.
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output;
}

/// The scalar level with the machine's fused multiply-add instruction where it has one: without it each fma is a call
/// into the C library, ten times slower for the same bits.
#[allow(unsafe_code, reason = "one call of a function compiled for a feature that was just detected")]
fn run_scalar<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the machine has just been found to have FMA, the one feature that the function needs.
        return unsafe { run_scalar_with_fma(kernel) };
    }
    kernel.run::<_, 1>(Fallback::new())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
fn run_scalar_with_fma<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<_, 1>(Fallback::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for name in LevelName::ALL {
            assert_eq!(name.as_str().parse(), Ok(name));
        }
        assert_eq!("sse9".parse::<LevelName>(), Err(()));
    }

    #[test]
    fn scalar_is_always_there_and_best_is_the_last() {
        let levels = Level::available();
        assert_eq!(levels[0].name(), LevelName::Scalar);
        assert_eq!(levels[levels.len() - 1].name(), Level::best().name());
    }
}
