//! Groups of neighbours against exact steps, from deltas at the edge of what the bounds allow.

use super::super::{Counts, Orbit, Setting, Shortcuts};
use super::{Group, lanes};
use crate::deep::extended::{Bound, Extended};
use crate::deep::lanes::{LANES, Lanes, Reals};
use crate::deep::mantissa::{Complex, Dd, Mantissa};
use crate::deep::orbit::operations::DerivativeLanes;
use crate::deep::orbit::pile::Orbits;
use crate::deep::orbit::tests::{blocks_of, setting};
use crate::deep::reference::Reference;
use crate::deep::tests::{Place, direction, offset, place, place_at_a_nucleus, stepped};
use crate::level::{Kernel, Level};
use crate::test_random::Random;
use fearless_simd::Simd;
use std::sync::atomic::AtomicBool;

/// Deltas of neighbours, in units of 2^unit.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    z: [Complex<Dd>; LANES],
    c: [Complex<Dd>; LANES],
    e: f64,
    unit: i32,
    m: usize,
}

/// A group after it was advanced.
struct After {
    z: [Complex<Dd>; LANES],
    e: [f64; LANES],
    unit: i32,
    m: usize,
    n: u64,
    rebases: u64,
}

/// Advances as many of the neighbours as there are lanes; `None` where they part.
struct Advance<'a> {
    orbit: Orbit<'a, Dd, false>,
    neighbours: Neighbours,
}

impl Kernel for Advance<'_> {
    type Output = Option<After>;
    #[inline(always)]
    fn run<S: Simd, const REGISTERS: usize>(self, simd: S) -> Self::Output {
        let Neighbours { z, c, e, unit, m } = self.neighbours;
        let none = Reals::splat(simd, 0.0);
        let mut group: Group<Dd, S> = Group {
            orbits: Orbits {
                z: lanes(simd, |lane| z[lane]),
                c: lanes(simd, |lane| c[lane]),
                e: Reals::splat(simd, e),
                derivative: DerivativeLanes::none(simd),
                m: none,
                room: none,
                slot: none,
            },
            active: Reals::<S>::first_lanes(simd, LANES),
            unit,
            m,
            n: 100,
            rebases: 0,
            parted: None,
        };
        let mut counts = Counts::default();
        let goes_on = if unit == 0 {
            self.orbit.advance(simd, &mut group, &mut counts)
        } else {
            self.orbit.advance_wide(simd, &mut group, &mut counts)
        };
        let mut parts = [[0.0; LANES]; 5];
        let Group { orbits, unit, m, n, rebases, .. } = group;
        for (list, values) in parts.iter_mut().zip([
            orbits.z.re.part(0),
            orbits.z.re.part(1),
            orbits.z.im.part(0),
            orbits.z.im.part(1),
            orbits.e,
        ]) {
            values.store(list);
        }
        let [re, re_low, im, im_low, e] = parts;
        let pair = |hi, lo| Dd { hi, lo };
        let z =
            std::array::from_fn(|lane| Complex { re: pair(re[lane], re_low[lane]), im: pair(im[lane], im_low[lane]) });
        goes_on.then_some(After { z, e, unit, m, n, rebases })
    }
}

fn plus(z: Complex<Dd>, by: [f64; 2], size: f64) -> Complex<Dd> {
    let [x, y] = by.map(|part| Dd::whole(part * size));
    z + Complex { re: x, im: y }
}

/// Neighbours about a delta of a size in units of 2^unit, an eighth of it from one another, with a bound of a share of it.
fn neighbours(random: &mut Random, z: Complex<Dd>, share: f64, unit: i32, m: usize) -> Neighbours {
    let size = z.size();
    let middle = offset(random);
    Neighbours {
        z: std::array::from_fn(|_| plus(z, direction(random), size / 8.0)),
        c: std::array::from_fn(|_| plus(middle, direction(random), 1e-3)),
        e: size * share,
        unit,
        m,
    }
}

/// What is left over after an exact delta at the edge of the bound, as a share of the bound afterwards: at most 1.
fn shares(random: &mut Random, reference: &Reference, scale: i32, before: &Neighbours, after: &After) -> Vec<f64> {
    let lanes = (0..LANES).filter(|lane| after.e[*lane] > 0.0);
    let mut shares = Vec::new();
    for lane in lanes {
        let edge = Extended::new(plus(before.z[lane], direction(random), before.e * (1.0 - 1e-9)), before.unit);
        let (mut z, mut m) = (edge, before.m);
        if after.rebases > 0 {
            (z, m) = (reference.extended::<Dd>(m).plus(z), 0);
        }
        let steps = (after.n - 100) as usize;
        assert_eq!(m + steps, after.m);
        let exact = stepped(reference, m, steps, z, Extended::new(before.c[lane], scale));
        let found = after.z[lane];
        let minus = Extended::new(Complex { re: -found.re, im: -found.im }, after.unit);
        let off = Bound::modulus(exact.plus(minus));
        let bound = Bound::new(after.e[lane], after.unit);
        assert!(!bound.below(off), "{off:?} of {bound:?} after {steps} steps from {}", before.m);
        shares.push(off.over(bound).to_f64());
    }
    shares
}

/// Does something with the orbits of a place.
fn at<R>(place: &Place, limit: u64, check: impl FnOnce(Orbit<'_, Dd, false>) -> R) -> R {
    let stop = AtomicBool::new(false);
    let setting = Setting { limit, ..setting(&place.reference, place.scale, &stop) };
    let table = blocks_of(&setting);
    check(Orbit::new(&setting, Shortcuts::blocks(&table)))
}

/// The limit of the tests.
const LIMIT: u64 = 9000;

/// What groups did in a test.
#[derive(Debug, Default)]
struct Tally {
    steps: usize,
    blocks: usize,
    rebases: usize,
    parted: usize,
    /// Of all lanes, those of which the bound is less than ten times what is left over.
    lanes: usize,
    near: usize,
}

impl Tally {
    fn advance(&mut self, random: &mut Random, orbit: Orbit<'_, Dd, false>, neighbours: Neighbours) {
        let Setting { reference, scale, .. } = *orbit.setting;
        for level in Level::available() {
            let Some(after) = level.run(Advance { orbit, neighbours }) else {
                self.parted += 1;
                continue;
            };
            *match after.n - 100 {
                _ if after.rebases > 0 => &mut self.rebases,
                0 => continue,
                1 => &mut self.steps,
                _ => &mut self.blocks,
            } += 1;
            let shares = shares(random, reference, scale, &neighbours, &after);
            self.lanes += shares.len();
            self.near += shares.iter().filter(|share| **share > 0.1).count();
        }
    }
}

#[test]
fn groups_are_within_their_bounds_and_need_them() {
    let mut random = Random(51);
    let mut tally = Tally::default();
    for scale in [-60, -90, -200] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        at(&place, LIMIT, |orbit| {
            for _ in 0..300 {
                let m = random.next() as usize % (reference.last() - 40);
                let z = reference.at::<Dd>(m);
                let size = z.size().max(0.1) * 2_f64.powi(-((random.next() % 50) as i32));
                let [x, y] = direction(&mut random).map(|part| Dd::whole(part * size));
                let neighbours = neighbours(&mut random, Complex { re: x, im: y }, 1e-3, 0, m);
                tally.advance(&mut random, orbit, neighbours);
                // Near -Z all are smaller than their deltas.
                if m > 0 {
                    let minus = Complex { re: -z.re, im: -z.im };
                    let neighbours = self::neighbours(&mut random, minus, 1e-3, 0, m);
                    tally.advance(&mut random, orbit, neighbours);
                }
            }
        });
    }
    let Tally { steps, blocks, rebases, lanes, near, .. } = tally;
    assert!(steps > 200 && blocks > 200 && rebases > 100 && near * 4 > lanes, "{tally:?}");
}

#[test]
fn groups_below_the_range_are_within_their_bounds_and_need_them() {
    let mut random = Random(52);
    let mut tally = Tally::default();
    for scale in [-470, -700, -1300] {
        let place = place(&mut random, scale, 4000);
        let reference = &place.reference;
        at(&place, LIMIT, |orbit| {
            for _ in 0..300 {
                // Blocks for such deltas begin where runs do.
                let any = random.next() as usize % (reference.last() - 70);
                let m = if any.is_multiple_of(2) { any } else { 1 + (any & !63) };
                let unit = (scale + (random.next() % 200) as i32).min(-440);
                let [x, y] = direction(&mut random).map(|part| Dd::whole(part * 3.0));
                let neighbours = neighbours(&mut random, Complex { re: x, im: y }, 1e-3, unit, m);
                tally.advance(&mut random, orbit, neighbours);
            }
        });
    }
    // At the end of references that end at a period.
    for _ in 0..10 {
        let place = place_at_a_nucleus(&mut random);
        let unit = -450 - (random.next() % 100) as i32;
        let z = Complex { re: Dd::whole(3.0), im: Dd::ZERO };
        let neighbours = neighbours(&mut random, z, 1e-3, unit, place.reference.last());
        at(&place, LIMIT, |orbit| tally.advance(&mut random, orbit, neighbours));
    }
    let Tally { steps, blocks, rebases, lanes, near, .. } = tally;
    assert!(steps > 200 && blocks > 200 && rebases >= 10 && near * 4 > lanes, "{tally:?}");
}

#[test]
fn neighbours_that_part_are_left_to_themselves() {
    let mut random = Random(53);
    let place = place(&mut random, -60, 4000);
    let reference = &place.reference;
    let m = (1..reference.last()).find(|m| reference.at::<f64>(*m).size() > 0.2).unwrap();
    let mut apart = neighbours(&mut random, Complex { re: Dd::whole(1e-3), im: Dd::ZERO }, 1e-6, 0, m);
    let z = reference.at::<Dd>(m);
    let at_limit = |limit, neighbours| at(&place, limit, |orbit| Level::best().run(Advance { orbit, neighbours }));
    let advance = |neighbours| at_limit(LIMIT, neighbours);
    assert!(advance(apart).is_some());
    let first = apart.z[0];
    // One is smaller than its delta, and the others would lose by a rebase.
    apart.z[0] = Complex { re: -z.re, im: -z.im };
    assert!(advance(apart).is_none());
    // One is beyond R, and one is below the range of f64.
    apart.z[0] = Complex { re: Dd::whole(3.0), im: Dd::ZERO };
    assert!(advance(apart).is_none());
    apart.z[0] = Complex { re: Dd::whole(1e-140), im: Dd::ZERO };
    assert!(advance(apart).is_none());
    apart.z[0] = first;
    assert!(advance(apart).is_some());
    // n is 100.
    assert!(at_limit(100, apart).is_none());
}
