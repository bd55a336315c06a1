//! Levels: the instruction sets that kernels are compiled for. A [`Level`] is a value that proves that the machine has
//! the instruction set.

use crate::vector::Vector;
use fearless_simd::{Fallback, Simd};

/// The name of a level, whether or not this machine has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LevelName {
    /// One number at a time, without vector instructions. Uses the scalar fused multiply-add of the machine if there is
    /// one and a correctly rounded software implementation otherwise; the results are the same.
    Scalar,
    /// 256-bit vectors: x86-64 with AVX2 and FMA.
    Avx2,
    /// 512-bit vectors: x86-64 with AVX-512 as of Ice Lake or Zen 4.
    Avx512,
    /// 128-bit vectors: `AArch64`. Provided by the vector library; this project has not run it.
    Neon,
}

crate::named!(LevelName, "level": Scalar => "scalar", Avx2 => "avx2", Avx512 => "avx512", Neon => "neon");

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
    /// The level of this name, or `None` if this machine does not have it.
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
            _ => {
                let _ = found;
                None
            }
        };
        token.map(Self)
    }

    /// Every level of this machine, from the slowest (scalar) to the fastest.
    #[must_use]
    pub fn available() -> Vec<Self> {
        LevelName::ALL.into_iter().filter_map(Self::get).collect()
    }

    /// The level with the widest vectors of this machine.
    #[must_use]
    pub fn best() -> Self {
        Self::available().pop().unwrap_or(Self(Token::Scalar))
    }

    /// The name of the level.
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

    /// Runs `kernel` compiled for this level.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        // Fuzz targets test parsers: kernels instrumented for branch coverage take minutes and gigabytes to build.
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

/// The body of a kernel, compiled once for each level. Every function that `run` calls must be `#[inline(always)]` or
/// run in `Simd::vectorize` or, where it computes, in [`separately`]; otherwise it is compiled without the instructions of the
/// level.
pub(crate) trait Kernel {
    /// The type of the result.
    type Output;
    /// Runs the kernel. `REGISTERS` is the number of vector registers in units of 16, which limits the number of
    /// vectors in flight; 0 for the scalar level.
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output;
}

/// Runs a part of a kernel, which must be `#[inline(always)]`, as a function of its own with the instructions of the level.
///
/// This is `Simd::vectorize` but for the scalar level, whose parts the vector library compiles without the fused multiply-add
/// of the machine: each fma was a call, and the level ran at 0.03 of its peak. Builds with debug assertions, as for tests, stay
/// with the calls, which have the same bits: their second variant of every loop took the compiler minutes and 7 GB. Tests of
/// release builds compare all levels as well. Parts that do not iterate stay in `vectorize` for the same reason.
///
/// Which of both it is, is known before code is generated: asked of `simd`, each level was compiled with two more variants of every part, which it never calls.
#[inline(always)]
pub(crate) fn separately<S: Simd, R>(simd: S, part: impl FnOnce() -> R) -> R {
    if const { !cfg!(debug_assertions) && has_shortest_vectors::<S>() } { scalar(part) } else { simd.vectorize(part) }
}

/// Whether vectors are as short as those of the scalar level, 128 bits. Of the levels of x86-64 that is the scalar one alone; elsewhere `scalar` and `vectorize` are the same.
const fn has_shortest_vectors<S: Simd>() -> bool {
    Vector::<S, f64>::LEN < 4
}

/// Runs a kernel at the scalar level.
pub(crate) fn run_scalar<K: Kernel>(kernel: K) -> K::Output {
    scalar(
        #[inline(always)]
        || kernel.run::<_, 0>(Fallback::new()),
    )
}

/// Calls a function of the scalar level, compiled with the fused multiply-add instruction of the machine if it has one:
/// without it each fma is a call into the C library, ten times slower for the same bits. A kernel that runs another one in
/// this way calls a function of its own, which costs about a nanosecond. Builds with debug assertions have the calls alone ([`separately`]).
#[allow(unsafe_code, reason = "one call of a function compiled for a feature that was just detected")]
#[inline(always)]
fn scalar<R>(part: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if !cfg!(debug_assertions) && std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: FMA, the only feature that the function needs, has just been detected on this machine.
        return unsafe { scalar_with_fma(part) };
    }
    scalar_without_fma(part)
}

#[inline(never)]
fn scalar_without_fma<R>(part: impl FnOnce() -> R) -> R {
    part()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma")]
#[inline(never)]
fn scalar_with_fma<R>(part: impl FnOnce() -> R) -> R {
    part()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_vectors_are_those_of_the_scalar_level() {
        assert!(has_shortest_vectors::<Fallback>());
        #[cfg(target_arch = "x86_64")]
        assert!(
            !has_shortest_vectors::<fearless_simd::x86::Avx2>()
                && !has_shortest_vectors::<fearless_simd::x86::Avx512>()
        );
    }

    #[test]
    fn scalar_is_first_and_best_is_last() {
        let levels = Level::available();
        assert_eq!(levels[0].name(), LevelName::Scalar);
        assert_eq!(levels[levels.len() - 1].name(), Level::best().name());
    }
}
