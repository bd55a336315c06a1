//! The attracting cycle of a point that stays, at any depth: its period, its multiplier and one of its points. See [`crate::attractor`], of which this has the method, by deltas
//! and blocks.
//!
//! 1. The orbit is followed by operations, which are blocks or steps, in windows that double in length. Each w_n after a rebase that is nearer to the first one of the window than
//!    any before gives a candidate j for the period, the number of steps between. Where there are no rebases, those after any operation do.
//! 2. Newton's method solves F(w) = w for F = j steps, with the derivative of F along the way: 2 w for a step, A + S c + 2 Q z for a block.
//! 3. Where the multiplier has a modulus below 1, the period is the least divisor of j after which w returns.
//!
//! Values are not proved. They are computed by one orbit at a time, in the same order everywhere, from blocks with a tolerance of 2^-60 or less, and rounded to 24 bits, so that
//! neither levels nor threads change them.

use super::blocks::Table;
use super::extended::{Bound, Extended, power_of_two};
use super::mantissa::{Complex, Mantissa};
use super::orbit::Setting;
use std::sync::atomic::Ordering;

/// An attracting cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// The period.
    pub period: u64,
    /// The multiplier: its real part, and its imaginary part without the sign.
    pub multiplier: [f64; 2],
    /// The point to which z_p, z_2p, ... converges for the period p. Below 2^-900 it is multiplied by a power of two, so that its direction remains.
    pub point: [f64; 2],
}

/// Operations of the first window, and of all.
const FIRST_WINDOW: u32 = 8;
const MOST_OPERATIONS: u32 = 1 << 14;
/// The share of |w| within which a value has nearly returned: 2^-2.
const NEAR: i32 = -2;
/// The longest period that is tried from a value that is not small.
const MOST_STEPS: u64 = 1 << 12;
/// A derivative from which a cycle is not near: 2^20.
const STEEP: i32 = 20;
/// Iterations of Newton's method.
const NEWTON_STEPS: u32 = 16;
/// The share of |w| by which its last correction is smaller, and a point that has returned nearer: 2^-50 and 2^-30.
const CONVERGED: i32 = -50;
const RETURNED: i32 = -30;
/// The greatest prime factor by which a period is divided.
const MOST_FACTOR: u64 = 1 << 20;
/// Significant bits of results.
const BITS: i32 = 24;
/// The exponent below which points are scaled.
const SMALLEST: i32 = -900;

/// Finds cycles of the pixels of a view.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a, T: Mantissa> {
    setting: &'a Setting<'a>,
    table: &'a Table<T>,
}

/// A point of an orbit: its delta at m.
#[derive(Clone, Copy)]
struct At<T> {
    z: Extended<T>,
    m: usize,
}

impl<'a, T: Mantissa> Search<'a, T> {
    /// A search with the blocks of a view.
    #[must_use]
    pub fn new(setting: &'a Setting<'a>, table: &'a Table<T>) -> Self {
        Self { setting, table }
    }

    /// The cycle that attracts the orbit of 0 for c in units of 2^scale, if one is found before the flag of the setting is set.
    #[must_use]
    pub fn cycle(&self, c: Complex<T>) -> Option<Cycle> {
        let c = Extended::new(c, 0);
        let (mut at, mut n) = (At { z: c.times(Extended { e: self.setting.scale, ..Extended::one() }), m: 1 }, 1);
        let (mut window, mut operations) = (FIRST_WINDOW, 0);
        while operations < MOST_OPERATIONS {
            let (mut start, mut least) = (None, None);
            for _ in 0..window {
                let is_rebased = self.rebase(&mut at);
                let w = self.value(at);
                if w.e > 8 || self.setting.stop.load(Ordering::Relaxed) {
                    return None;
                }
                match start {
                    Some((before, since, of_rebase)) if of_rebase == is_rebased => {
                        let distance = Bound::modulus(w.minus(before));
                        // No block is valid at a value that is not small, where few steps are tried.
                        let may_return = distance.below(Bound::modulus(w).times(Bound::new(1.0, NEAR)))
                            && (is_rebased || n - since <= MOST_STEPS);
                        if may_return && least.is_none_or(|least| distance.below(least)) {
                            least = Some(distance);
                            if let Some(found) = self.candidate(w, c, n - since, n) {
                                return Some(found);
                            }
                        }
                    }
                    Some((_, _, true)) => {}
                    // Values after rebases are small and known best: the others count where there are none.
                    _ => (start, least) = (Some((w, n, is_rebased)), None),
                }
                n += self.operation(&mut at, c, u64::MAX >> 2, &mut Extended::one());
            }
            operations += window;
            window *= 2;
        }
        None
    }

    /// The value of the orbit.
    fn value(&self, at: At<T>) -> Extended<T> {
        self.setting.reference.extended::<T>(at.m).plus(at.z)
    }

    /// Rebases where the orbit is smaller than its delta, or the reference ends. Whether it did.
    fn rebase(&self, at: &mut At<T>) -> bool {
        let w = self.value(*at);
        let is_rebased = at.m == self.setting.reference.last() || Bound::modulus(w).below(Bound::modulus(at.z));
        if is_rebased {
            *at = At { z: w, m: 0 };
        }
        is_rebased
    }

    /// The next operation, of at most so many steps; how many it had, and the derivative after it.
    fn operation(&self, at: &mut At<T>, c: Extended<T>, most: u64, derivative: &mut Extended<f64>) -> u64 {
        let At { z, m } = *at;
        let reach = Bound::modulus(z).by(1.0 + 1e-12);
        let most_steps = usize::try_from(most).unwrap_or(usize::MAX);
        if let Some((block, steps)) = self.table.longest_of_either(m, most_steps, reach) {
            let q_z = block.q.times(z);
            let linear = block.a.plus(block.s.times(c)).plus(q_z);
            let free = block.b.plus(block.t.times(c)).times(c);
            *derivative = derivative.times(linear.plus(q_z).in_f64());
            *at = At { z: linear.times(z).plus(free), m: m + steps };
            return steps as u64;
        }
        let exact = self.setting.reference.extended::<T>(m);
        let of_c = Extended { m: c.m, e: c.e.saturating_add(self.setting.scale) };
        *derivative = derivative.times(exact.plus(z).in_f64().doubled());
        *at = At { z: exact.doubled().plus(z).times(z).plus(of_c), m: m + 1 };
        1
    }

    /// F(w) for so many steps, and its derivative; `None` where the orbit leaves.
    fn after(&self, w: Extended<T>, c: Extended<T>, steps: u64) -> Option<(Extended<T>, Extended<f64>)> {
        let (mut at, mut derivative, mut left) = (At { z: w, m: 0 }, Extended::one(), steps);
        while left > 0 {
            self.rebase(&mut at);
            left -= self.operation(&mut at, c, left, &mut derivative);
            if at.z.e > 8 || derivative.e > 4 * STEEP || self.setting.stop.load(Ordering::Relaxed) {
                return None;
            }
        }
        Some((self.value(at), derivative))
    }

    /// The attracting cycle that Newton's method finds from w = z_n for so many steps.
    fn candidate(&self, mut w: Extended<T>, c: Extended<T>, steps: u64, n: u64) -> Option<Cycle> {
        let mut is_found = false;
        for _ in 0..NEWTON_STEPS {
            let (end, derivative) = self.after(w, c, steps)?;
            if derivative.e > STEEP {
                return None;
            }
            let correction = end.minus(w).over(Extended::one().minus(derivative));
            w = w.plus(correction);
            let (size, of_w) = (Bound::modulus(correction), Bound::modulus(w));
            if size.is_zero() || !of_w.times(Bound::new(1.0, CONVERGED)).below(size) {
                is_found = true;
                break;
            }
            if !size.below(Bound::of(4.0)) {
                return None;
            }
        }
        let period = if is_found { self.least_period(w, c, steps)? } else { return None };
        let (_, multiplier) = self.after(w, c, period)?;
        if !Bound::modulus(multiplier).below(Bound::ONE) {
            return None;
        }
        let (point, _) = self.after(w, c, (period - n % period) % period)?;
        let [re, im] = rounded(multiplier);
        Some(Cycle { period, multiplier: [re, im.abs()], point: rounded(point.in_f64()) })
    }

    /// The least divisor of a number of steps after which w returns.
    fn least_period(&self, w: Extended<T>, c: Extended<T>, steps: u64) -> Option<u64> {
        let (mut period, mut rest, mut factor) = (steps, steps, 2);
        while rest > 1 {
            if factor > MOST_FACTOR || factor.saturating_mul(factor) > rest {
                factor = rest;
            }
            if rest % factor != 0 {
                factor += 1;
                continue;
            }
            rest /= factor;
            let (end, _) = self.after(w, c, period / factor)?;
            let off = Bound::modulus(end.minus(w));
            if !Bound::modulus(w).times(Bound::new(1.0, RETURNED)).below(off) {
                period /= factor;
            }
        }
        Some(period)
    }
}

/// The parts, to so many bits of the larger one.
fn rounded(z: Extended<f64>) -> [f64; 2] {
    let unit = power_of_two(BITS);
    let part = |x: f64| {
        // The same for 0 and -0.
        let rounded = (x * unit).round_ties_even() / unit + 0.0;
        rounded * power_of_two(z.e.clamp(SMALLEST, 900))
    };
    [part(z.m.re), part(z.m.im)]
}

#[cfg(test)]
mod tests {
    use super::super::blocks::FIRST;
    use super::super::extended::Extended;
    use super::super::fixed_orbit::FixedOrbit;
    use super::super::mantissa::Dd;
    use super::super::tests::{Place, place_at, place_at_a_nucleus, plus};
    use super::super::{Degree, TableSetting, Watch, table};
    use super::*;
    use crate::level::Level;
    use crate::test_random::Random;
    use std::sync::atomic::AtomicBool;

    /// What a search in a place finds for some pixels.
    fn cycles(place: &Place, pixels: &[Complex<Dd>]) -> Vec<Option<Cycle>> {
        let stop = AtomicBool::new(false);
        let Place { reference, scale, .. } = place;
        let of_table = TableSetting {
            reference,
            scale: *scale,
            escape_radius: 2.0,
            tolerance: 2_f64.powi(-60),
            degree: Degree::Second,
            first_level: FIRST,
            threads: 1,
            watch: Watch::unseen(&stop),
        };
        let table = table::<Dd>(Level::best(), of_table).unwrap();
        let setting = Setting {
            reference,
            scale: *scale,
            escape_radius: 2.0,
            escape: 4.0,
            limit: 1 << 40,
            smooth: false,
            units: None,
            stop: &stop,
        };
        pixels.iter().map(|pixel| Search::new(&setting, &table).cycle(*pixel)).collect()
    }

    /// Period, multiplier and final point by plain steps in f64.
    fn plainly([a, b]: [f64; 2]) -> Cycle {
        let step = |[x, y]: [f64; 2]| [x * x - y * y + a, 2.0 * x * y + b];
        let settled = (0..1 << 16).fold([0.0; 2], |z, _| step(z));
        let mut z = settled;
        let mut multiplier = Complex { re: 1.0, im: 0.0 };
        for period in 1..100 {
            multiplier = multiplier * Complex { re: 2.0 * z[0], im: 2.0 * z[1] };
            z = step(z);
            if (z[0] - settled[0]).hypot(z[1] - settled[1]) < 1e-9 {
                let further = (period - (1 << 16) % period) % period;
                let point = (0..further).fold(z, |z, _| step(z));
                return Cycle { period, multiplier: [multiplier.re, multiplier.im.abs()], point };
            }
        }
        panic!("no cycle");
    }

    #[test]
    fn cycles_are_those_of_plain_steps() {
        let mut random = Random(51);
        let mut found = 0;
        for (x, y, scale) in [
            (-0.1, 0.1, -4),
            (0.2, 0.3, -5),
            (-1.0, 0.05, -4),
            (-0.125, 0.745, -6),
            (-1.755, 0.0, -8),
            (-1.310_7, 0.0, -7),
            (0.282, 0.53, -7),
            (-0.504_3, 0.562_8, -8),
            (-1.625_4, 0.0, -11),
        ] {
            let place = place_at(&mut random, [x, y], scale, 10_000);
            let pixels: Vec<Complex<Dd>> = (0..8)
                .map(|_| Complex { re: Dd::whole(random.unit() - 0.5), im: Dd::whole(random.unit() - 0.5) })
                .collect();
            for (pixel, cycle) in pixels.iter().zip(cycles(&place, &pixels)) {
                let Some(cycle) = cycle else { continue };
                let unit = 2_f64.powi(scale);
                let expected = plainly([x + pixel.re.hi * unit, y + pixel.im.hi * unit]);
                assert_eq!(cycle.period, expected.period, "{x} {y}");
                let near = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).hypot(a[1] - b[1]) < 1e-6;
                assert!(near(cycle.multiplier, expected.multiplier), "{x} {y}: {cycle:?}, {expected:?}");
                assert!(near(cycle.point, expected.point), "{x} {y}: {cycle:?}, {expected:?}");
                found += 1;
            }
        }
        assert!(found > 40, "{found}");
    }

    #[test]
    fn deep_cycles_are_those_of_orbits_in_fixed_point() {
        let mut random = Random(52);
        let mut checked = 0;
        for _ in 0..12 {
            let place = place_at_a_nucleus(&mut random);
            // Within the copy of the set, of which the view is some thousand times the size, but where it is smaller.
            let mut part = || Dd::whole((random.unit() - 0.5) * 2e-5);
            let pixel = Complex { re: part(), im: part() };
            let period = place.reference.last() as u64;
            let Some(cycle) = cycles(&place, &[pixel])[0] else { continue };
            checked += 1;
            assert_eq!(cycle.period, period);
            let [x, y] = place.parts.clone();
            let c = [plus(x, pixel.re, place.scale), plus(y, pixel.im, place.scale)];
            let mut orbit = FixedOrbit::new(Level::best(), [&c[0], &c[1]], 4.0);
            let mut multiplier = Extended::new(Complex { re: 1.0, im: 0.0 }, 0);
            // From z_1; after some periods the orbit is near the cycle.
            for step in 1..=12 * period {
                let z = Extended::<f64>::of(orbit.leading());
                if step > 11 * period {
                    multiplier = multiplier.times(z.doubled());
                }
                orbit.step();
            }
            let [re, im] = [multiplier.m.re, multiplier.m.im.abs()].map(|part| part * 2_f64.powi(multiplier.e));
            let [found_re, found_im] = cycle.multiplier;
            let size = re.hypot(im);
            assert!((re - found_re).hypot(im - found_im) < 1e-6 * size, "{cycle:?}, {re} {im}");
            assert!(size > 1e-6 && size < 0.5, "{size}");
        }
        assert!(checked > 5, "{checked}");
    }
}
