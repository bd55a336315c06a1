//! Proofs that a disc has exactly one root of an equation, and that its period is no smaller.
//!
//! Let f be the left side of the equation, c_0 the centre of a disc of radius rho, and D the computed derivative of f at c_0. N(c) = c - f(c) / D has the roots of f as its fixed points. With
//!
//! ```text
//! eta >= |f(c_0)| / |D|,     q >= |f'(c) - D| / |D| for all c of the disc
//! ```
//!
//! eta + q rho <= rho and q < 1, N maps the disc into itself and contracts it: f has exactly one root there, which is within eta / (1 - q) of c_0 (the interval Newton method in the form of Krawczyk, 1969, with discs).
//! |f'(c) - D| is at most the error of D plus rho times a bound on |f''|, from bounds S_n on |z_n''| over the disc: with w_n = |D_n| rho + S_n rho^2 / 2 >= |z_n(c) - z_n(c_0)|,
//!
//! ```text
//! S_1 = 0,   S_(n+1) = 2 (|z_n| + w_n) S_n + 2 (|D_n| + S_n rho)^2
//! ```
//!
//! where |D_n| stands for |z_n'(c_0)|. The root of f does not solve another equation g of these if |g(c_0)| > |g'(c_0)| e + S e^2 / 2 with e = eta / (1 - q), which is how smaller periods are excluded.
//!
//! Rounding: z_n and its error come from the reference orbit, D_n has a running bound (`derivative.rs`), and bounds are multiplied by more than their roundings can take away.

use super::Equation;
use crate::deep::Watch;
use crate::deep::derivative::WideDerivative;
use crate::deep::extended::{Bound, Extended};
use crate::deep::mantissa::Dd;
use crate::deep::reference::Reference;

/// For the roundings of a step of a bound: it has fewer than 30 operations, each within 2^-52.
const UP: f64 = 1.0 + 1e-13;
/// A bound on the error of z_n, relative to it, where the orbit goes on.
const OF_Z: i32 = -100;
/// w above which a disc is too large: orbits of its points may differ by more than the set is wide.
const WIDEST: i32 = 4;
/// The first disc is that in which f' changes by about this part, and others are smaller by the second number, at most so many times.
const FIRST: f64 = 0.25;
const SMALLER: f64 = 1.0 / 16.0;
const MOST_DISCS: usize = 6;
/// The largest disc, where f' is constant.
const LARGEST: f64 = 0.5;

/// What is proved of a disc.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// The root is within this distance of the centre.
    pub within: Bound,
    /// The disc about the centre with this radius has no other root of the equation.
    pub alone_within: Bound,
    /// Whether no equation of [`Equation::degenerate`] has this root: its period is exactly that of the equation.
    pub is_exact: bool,
}

/// Why nothing is proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoProof {
    /// The disc of any radius that was tried may hold no root, or more than one.
    Refused,
    /// The flag was set.
    Stopped,
}

/// An equation at the centre of a disc, with bounds for the disc.
#[derive(Clone, Copy, Debug)]
struct Bounded {
    /// At least, and at most |f(c_0)|.
    value: [Bound; 2],
    derivative: WideDerivative,
    second: Bound,
}

/// z_n at the centre of a disc, with bounds for the disc.
#[derive(Clone, Copy, Debug)]
struct State {
    z: Extended<Dd>,
    error: Bound,
    derivative: WideDerivative,
    second: Bound,
}

/// Proves that the equation has one root near the centre c_0 of the orbit, which ends at the last z of the equation. `rounding` is a bound on the distance of c_0 from the point that the proof is about.
///
/// # Errors
/// When it is not proved, and when the flag is set.
pub fn prove(reference: &Reference, equation: Equation, rounding: Bound, watch: Watch<'_>) -> Result<Proof, NoProof> {
    let at_centre = states(reference, equation, Bound::ZERO, watch)?.ok_or(NoProof::Refused)?;
    let Bounded { derivative, second, .. } = bounded(&at_centre, equation).ok_or(NoProof::Refused)?;
    let mut radius = Bound::of(LARGEST);
    if !second.is_zero() {
        let natural = Bound::modulus(derivative.d).over(second).by(FIRST);
        radius = if natural.below(radius) { natural } else { radius };
    }
    for _ in 0..MOST_DISCS {
        if let Some(Proof { within, alone_within, is_exact }) = prove_in(reference, equation, radius, watch)? {
            // The disc about the point is in that about c_0.
            let within = within.plus(rounding).by(UP);
            if within.below(alone_within) && rounding.below(alone_within) {
                return Ok(Proof { within, alone_within: difference(alone_within, rounding), is_exact });
            }
        }
        radius = radius.by(SMALLER);
    }
    Err(NoProof::Refused)
}

/// The proof for the disc of one radius, if it succeeds.
///
/// # Errors
/// When the flag is set.
pub fn prove_in(
    reference: &Reference,
    equation: Equation,
    radius: Bound,
    watch: Watch<'_>,
) -> Result<Option<Proof>, NoProof> {
    let Some(states) = states(reference, equation, radius, watch)? else { return Ok(None) };
    let Some(Bounded { value: [_, value], derivative, second }) = bounded(&states, equation) else { return Ok(None) };
    let size = Bound::modulus(derivative.d).by(2.0 - UP);
    let varies = derivative.off.plus(second.times(radius)).by(UP);
    let eta = value.over(size).by(UP);
    // In units of which 1 is the radius: eta / rho + q <= 1.
    let share = varies.over(size).by(UP);
    if !share.below(Bound::ONE) || !eta.plus(share.times(radius)).by(UP).below(radius) {
        return Ok(None);
    }
    let within = eta.over(Bound::of((1.0 - share.to_f64()) * (2.0 - UP))).by(UP);
    let is_excluded = |other: Equation| {
        bounded(&states, other).is_some_and(|Bounded { value: [value, _], derivative, second }| {
            let moves = Bound::modulus(derivative.d).plus(derivative.off).times(within);
            moves.plus(second.times(within).times(within)).by(UP).below(value)
        })
    };
    let is_exact = equation.degenerate().into_iter().all(is_excluded);
    Ok(Some(Proof { within, alone_within: radius, is_exact }))
}

/// The left side of an equation, from the z in it.
fn bounded(states: &[(u64, State)], equation: Equation) -> Option<Bounded> {
    let at = |n: u64| states.binary_search_by_key(&n, |(n, _)| *n).ok().map(|place| states[place].1);
    let last = at(equation.last())?;
    let earlier = match equation.earlier() {
        None => State { z: Extended::ZERO, error: Bound::ZERO, derivative: WideDerivative::NONE, second: Bound::ZERO },
        Some(n) => at(n)?,
    };
    let sum = last.z.plus(earlier.z);
    // The sum of two pairs is within 2^-100 of their moduli.
    let of_sum = Bound::modulus(last.z).plus(Bound::modulus(earlier.z)).times(Bound::new(1.0, OF_Z));
    let error = last.error.plus(earlier.error).plus(of_sum).by(UP);
    let modulus = Bound::modulus(sum);
    let least = if error.below(modulus) { difference(modulus.by(2.0 - UP), error) } else { Bound::ZERO };
    let d = last.derivative.d.plus(earlier.derivative.d);
    let of_d = Bound::modulus(last.derivative.d).plus(Bound::modulus(earlier.derivative.d)).times(Bound::new(1.0, -50));
    let off = last.derivative.off.plus(earlier.derivative.off).plus(of_d).by(UP);
    Some(Bounded {
        value: [least, modulus.plus(error).by(UP)],
        derivative: WideDerivative { d, off },
        second: last.second.plus(earlier.second).by(UP),
    })
}

/// A lower bound on a - b, for a > b.
fn difference(a: Bound, b: Bound) -> Bound {
    let share = b.over(a).to_f64();
    a.by((1.0 - share * UP - 1e-15).max(0.0))
}

/// The z that are in the equation and in those that are excluded, in the order of n, with bounds for the disc of a radius; `None` where the disc is too large.
fn states(
    reference: &Reference,
    equation: Equation,
    radius: Bound,
    watch: Watch<'_>,
) -> Result<Option<Vec<(u64, State)>>, NoProof> {
    let equations = equation.degenerate().into_iter().chain([equation]);
    let mut wanted: Vec<u64> = equations.flat_map(|of| [Some(of.last()), of.earlier()]).flatten().collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = Vec::with_capacity(wanted.len());
    let mut wanted = wanted.into_iter().peekable();
    let (mut derivative, mut second) = (WideDerivative::first(0), Bound::ZERO);
    for n in 1..=equation.last() {
        if n & 0xfff == 0 && watch.is_stopped() {
            return Err(NoProof::Stopped);
        }
        let z = reference.extended::<Dd>(n as usize);
        let modulus = Bound::modulus(z);
        let error =
            if n as usize == reference.last() { reference.end_error } else { modulus.times(Bound::new(1.0, OF_Z)) };
        if wanted.next_if_eq(&n).is_some() {
            found.push((n, State { z, error, derivative, second }));
        }
        let of_derivative = Bound::modulus(derivative.d).plus(derivative.off);
        let moves = of_derivative.times(radius);
        let bends = second.times(radius);
        let w = moves.plus(bends.times(radius)).by(UP);
        if w.exponent() >= WIDEST {
            return Ok(None);
        }
        let size = modulus.plus(error).plus(w).by(2.0);
        let greatest = of_derivative.plus(bends).by(UP);
        second = size.times(second).plus(greatest.times(greatest).by(2.0)).by(UP);
        derivative = derivative.stepped(Extended::<f64>::of(z), error, 0);
    }
    Ok(Some(found))
}
