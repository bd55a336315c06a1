//! The table of a palette's colours: computed from stops and a blend, or from any function of the position.

use crate::colour::rgb::{FULL, Rgb16, channel};
use crate::colour::srgb::{linear_from_srgb, srgb_from_linear};

/// The entries of a table, a power of two: between stops at least 1/32 of the table apart, neighbouring entries differ
/// by less than one step of an 8-bit channel.
pub(in crate::colour) const TABLE: usize = 8192;

/// The entry of a position in entries, which may be negative: its floor, modulo [`TABLE`].
#[inline]
pub(in crate::colour) fn index(position: f64) -> usize {
    // Positions are below 2^63; the mask bounds any other.
    let cut = position as i64;
    let floor = cut.wrapping_sub(i64::from(cut as f64 > position));
    // Two's complement, masked.
    floor as usize & (TABLE - 1)
}

/// A position in turns, 0 to below 1 in a cycle, 0 to 1 in a sequence, and its colour.
pub(super) type Stop = (f64, Rgb16);

/// The colours between two stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Blend {
    /// In each channel a monotone cubic through the stops (Fritsch and Carlson, 1980): no channel overshoots and no
    /// stop shows as a crease.
    #[default]
    Smooth,
    /// Straight lines in encoded values.
    Linear,
    /// Each stop's colour continues up to the next stop.
    Step,
    /// Straight lines in linear light.
    Light,
}

dwell_kernels::named!(Blend, "blend": Smooth => "smooth", Linear => "linear", Step => "step", Light => "light");

/// The table of at least one stop, in increasing order.
///
/// In a cycle the last stop is followed by the first. In a sequence, positions before the first stop and after the last
/// have the colour of that stop.
pub(super) fn from_stops(stops: &[Stop], blend: Blend, cyclic: bool) -> Vec<Rgb16> {
    if blend == Blend::Step {
        return steps(stops, cyclic);
    }
    let encode = |value: f64| if blend == Blend::Light { srgb_from_linear(value / FULL) * FULL } else { value };
    let decode = |value: f64| if blend == Blend::Light { linear_from_srgb(value / FULL) * FULL } else { value };
    let points = points(stops, cyclic, decode);
    let curve = (blend == Blend::Smooth).then(|| tangents(&points));
    let mut right = 0;
    from_function(cyclic, |at| {
        // Positions ascend.
        right += points[right..].iter().take_while(|p| p.0 <= at).count();
        let exactly = match right {
            0 => points.first(),
            _ if right == points.len() => points.last(),
            _ => None,
        };
        if let Some((_, colour)) = exactly {
            return colour.map(|value| channel(encode(value)));
        }
        let (a, b) = (points[right - 1], points[right]);
        let width = b.0 - a.0;
        let t = (at - a.0) / width;
        std::array::from_fn(|c| {
            let value = match &curve {
                None => (b.1[c] - a.1[c]).mul_add(t, a.1[c]),
                Some(tangents) => {
                    let (m0, m1) = (tangents[right - 1][c] * width, tangents[right][c] * width);
                    let (t2, t3) = (t * t, t * t * t);
                    (2.0 * t3 - 3.0 * t2 + 1.0) * a.1[c]
                        + (t3 - 2.0 * t2 + t) * m0
                        + (3.0 * t2 - 2.0 * t3) * b.1[c]
                        + (t3 - t2) * m1
                }
            };
            channel(encode(value))
        })
    })
}

/// The table of a function of the position: over one turn of a cycle, 0 to below 1; or forth and back through a
/// sequence, 0 to 1 (at `TABLE` / 2) and back, so that it repeats without a seam. The function is asked for ascending positions.
pub(super) fn from_function(cyclic: bool, mut colour: impl FnMut(f64) -> Rgb16) -> Vec<Rgb16> {
    if cyclic {
        return (0..TABLE).map(|i| colour(i as f64 / TABLE as f64)).collect();
    }
    let there = (0..=TABLE / 2).map(|i| colour(i as f64 / (TABLE / 2) as f64)).collect();
    and_back(there)
}

fn and_back(mut there: Vec<Rgb16>) -> Vec<Rgb16> {
    there.extend_from_within(1..TABLE / 2);
    there[TABLE / 2 + 1..].reverse();
    there
}

/// The table of stops with the blend `Step`: a stop's colour starts at the entry that contains its position, so that
/// the position itself has the stop's colour even between two entries.
fn steps(stops: &[Stop], cyclic: bool) -> Vec<Rgb16> {
    let entries = if cyclic { TABLE } else { TABLE / 2 };
    let colour = |i: usize| {
        let next = stops.partition_point(|s| s.0 * (entries as f64) < (i + 1) as f64);
        // Before the first stop of a cycle, its last stop continues.
        let stop = if next > 0 {
            next - 1
        } else if cyclic {
            stops.len() - 1
        } else {
            0
        };
        stops[stop].1
    };
    if cyclic { (0..TABLE).map(colour).collect() } else { and_back((0..=TABLE / 2).map(colour).collect()) }
}

/// Positions that give all colours equal shares of a cycle, or of a sequence of steps. The blended colours of a
/// sequence reach from its start to its end.
pub(super) fn even_positions(count: usize, cyclic: bool, blend: Blend) -> Vec<f64> {
    let shares = if cyclic || blend == Blend::Step { count } else { (count - 1).max(1) };
    (0..count).map(|i| i as f64 / shares as f64).collect()
}

type Point = (f64, [f64; 3]);

/// The stops with decoded channels; in a cycle with two more on each side, the neighbours of its ends.
fn points(stops: &[Stop], cyclic: bool, decode: impl Fn(f64) -> f64) -> Vec<Point> {
    let count = stops.len().cast_signed();
    let beyond = if cyclic { 2 } else { 0 };
    let point = |i: isize| {
        let (position, colour) = stops[i.rem_euclid(count).unsigned_abs()];
        (position + i.div_euclid(count) as f64, colour.map(|value| decode(f64::from(value))))
    };
    (-beyond..count + beyond).map(point).collect()
}

/// The slope of each channel at each point, such that the cubic between two points is monotone.
fn tangents(points: &[Point]) -> Vec<[f64; 3]> {
    // Stops may be closer together than two entries. The least width keeps slopes finite and has no visible effect.
    const LEAST_WIDTH: f64 = 1e-9;
    let width = |i: usize| (points[i + 1].0 - points[i].0).max(LEAST_WIDTH);
    let slope = |i: usize, c: usize| (points[i + 1].1[c] - points[i].1[c]) / width(i);
    // The harmonic mean of the slopes on both sides, 0 at an extremum: at most twice the smaller slope.
    let inside = |a: f64, b: f64| if a * b <= 0.0 { 0.0 } else { 2.0 * a * b / (a + b) };
    // At an end: the slope there of the parabola through three points, limited so that the curve stays monotone.
    let end = |near: usize, far: usize, c: usize| {
        let (a, b) = (slope(near, c), slope(far, c));
        let tangent = a + width(near) / (width(near) + width(far)) * (a - b);
        if tangent * a <= 0.0 { 0.0 } else { tangent.clamp(-3.0 * a.abs(), 3.0 * a.abs()) }
    };
    let last = points.len() - 1;
    let at = |i: usize, c: usize| match i {
        _ if last == 0 => 0.0,
        _ if last == 1 => slope(0, c),
        0 => end(0, 1, c),
        _ if i == last => end(last - 1, last - 2, c),
        _ => inside(slope(i - 1, c), slope(i, c)),
    };
    (0..points.len()).map(|i| std::array::from_fn(|c| at(i, c))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: Rgb16 = [0; 3];
    const WHITE: Rgb16 = [65535; 3];

    #[test]
    fn colours_without_positions_have_equal_shares() {
        assert_eq!(even_positions(4, true, Blend::Smooth), [0.0, 0.25, 0.5, 0.75]);
        assert_eq!(even_positions(3, false, Blend::Light), [0.0, 0.5, 1.0]);
        assert_eq!(even_positions(2, false, Blend::Step), [0.0, 0.5]);
        assert_eq!(even_positions(1, false, Blend::Smooth), [0.0]);
    }

    #[test]
    fn every_blend_passes_through_its_stops() {
        let stops = [(0.0, [9, 8, 7]), (0.25, [65535, 40000, 0]), (0.5, WHITE), (0.75, [100, 65535, 3])];
        for blend in Blend::ALL {
            for cyclic in [true, false] {
                let table = from_stops(&stops, blend, cyclic);
                assert_eq!(table.len(), TABLE);
                for (at, colour) in stops {
                    let entry = at * TABLE as f64 / if cyclic { 1.0 } else { 2.0 };
                    let found = table[entry as usize];
                    assert!((0..3).all(|c| found[c].abs_diff(colour[c]) <= 1), "{blend:?} {found:?} {colour:?}");
                }
                assert_eq!(table[0], stops[0].1);
                if !cyclic {
                    assert_eq!(table[TABLE / 2], stops[3].1);
                    assert!((1..TABLE / 2).all(|i| table[i] == table[TABLE - i]));
                }
            }
            assert_eq!(from_stops(&[(0.5, [1, 2, 3])], blend, true), [[1, 2, 3]; TABLE]);
            assert_eq!(from_stops(&[(0.5, [1, 2, 3])], blend, false), [[1, 2, 3]; TABLE]);
        }
    }

    #[test]
    fn middles_are_as_computed_by_hand() {
        let middle = |blend| from_stops(&[(0.0, BLACK), (1.0, WHITE)], blend, false)[TABLE / 4];
        assert_eq!(middle(Blend::Linear), [32768; 3]);
        assert_eq!(middle(Blend::Smooth), [32768; 3]);
        // Half the light is 0.735357 of the encoded range.
        assert_eq!(middle(Blend::Light), [48192; 3]);
        assert_eq!(middle(Blend::Step), BLACK);
    }

    #[test]
    fn a_step_starts_at_its_position() {
        let stops: Vec<Stop> = (0..10).map(|i| (f64::from(i) / 10.0, [i as u16; 3])).collect();
        let table = from_stops(&stops, Blend::Step, true);
        for (at, colour) in &stops {
            assert_eq!(table[(at * TABLE as f64) as usize], *colour);
        }
        assert_eq!(table[TABLE - 1], [9; 3]);
        assert_eq!(from_stops(&[(0.5, BLACK), (0.6, WHITE)], Blend::Step, true)[0], WHITE);
        assert_eq!(from_stops(&[(0.5, WHITE), (0.6, BLACK)], Blend::Step, false)[0], WHITE);
    }

    #[test]
    fn no_channel_overshoots() {
        let stops: Vec<Stop> =
            (0..40).map(|i: u16| (f64::from(i) / 41.0, [i * 1600, i * i * 40 + 9, (i % 7) * 9000])).collect();
        for cyclic in [true, false] {
            let table = from_stops(&stops, Blend::Smooth, cyclic);
            for pair in stops.windows(2) {
                let entry = |at: f64| at * if cyclic { TABLE as f64 } else { (TABLE / 2) as f64 };
                for found in &table[entry(pair[0].0).ceil() as usize..entry(pair[1].0) as usize] {
                    for ((a, b), c) in pair[0].1.iter().zip(&pair[1].1).zip(found) {
                        assert!((a.min(b)..=a.max(b)).contains(&c));
                    }
                }
            }
        }
    }

    #[test]
    fn stops_almost_at_one_position_are_accepted() {
        let stops = [(0.0, WHITE), (5e-324, BLACK), (1e-300, WHITE), (0.5, WHITE), (0.5 + 1e-16, WHITE)];
        for blend in Blend::ALL {
            let table = from_stops(&stops, blend, true);
            assert!(table[1..].iter().all(|c| c.iter().all(|c| *c > 65000)), "{blend:?}");
        }
    }
}
