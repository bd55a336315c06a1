//! What publications record for a point, from our dwells and back.

use crate::convention::Counts;

/// What a recorded value says of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical {
    /// It escaped at this n, from 1.
    Dwell(u32),
    /// It did not escape within the limit.
    Interior,
    /// It did not escape within the limit, or it escaped so near to it that the same value is recorded.
    Merged,
}

/// What a publication records for a point with this dwell (0: did not escape within `limit`).
#[must_use]
pub fn recorded(dwell: u32, limit: u32, counts: Counts) -> u32 {
    match (counts, dwell) {
        (Counts::Dwell, n) => n,
        (Counts::FromZero | Counts::Lagging, 0) => limit,
        (Counts::FromZero, n) => n - 1,
        (Counts::Lagging, n) => n.saturating_add(1).min(limit),
        (Counts::Byte, n) => {
            if n < limit {
                n
            } else {
                0
            }
        }
    }
}

/// What a recorded value says; `None` for a value that the convention never records.
///
/// ```
/// use dwell_lab::counts::{Canonical, canonical};
/// use dwell_lab::convention::Counts;
///
/// assert_eq!(canonical(0, 100, Counts::FromZero), Some(Canonical::Dwell(1)));
/// assert_eq!(canonical(100, 100, Counts::Lagging), Some(Canonical::Merged));
/// assert_eq!(canonical(101, 100, Counts::Dwell), None);
/// ```
#[must_use]
pub fn canonical(recorded: u32, limit: u32, counts: Counts) -> Option<Canonical> {
    match counts {
        Counts::Dwell if recorded == 0 => Some(Canonical::Interior),
        Counts::Dwell => (recorded <= limit).then_some(Canonical::Dwell(recorded)),
        Counts::FromZero if recorded == limit => Some(Canonical::Interior),
        Counts::FromZero => (recorded < limit).then(|| Canonical::Dwell(recorded + 1)),
        Counts::Lagging if recorded == limit => Some(Canonical::Merged),
        Counts::Lagging => (2..limit).contains(&recorded).then(|| Canonical::Dwell(recorded - 1)),
        Counts::Byte if recorded == 0 => Some(Canonical::Merged),
        Counts::Byte => (recorded < limit).then_some(Canonical::Dwell(recorded)),
    }
}

/// Whether an escaped point with this dwell (from 1) has the recorded value of an interior one.
#[must_use]
pub fn is_merged(dwell: u32, limit: u32, counts: Counts) -> bool {
    dwell != 0 && recorded(dwell, limit, counts) == recorded(0, limit, counts)
}

/// Values of an image of `width` columns with rows and columns exchanged: the result has as many columns as `values` has rows.
/// Values beyond the last whole row are left out.
#[must_use]
pub fn transpose<T: Copy>(values: &[T], width: usize) -> Vec<T> {
    let rows = values.chunks_exact(width.max(1));
    (0..width).flat_map(|column| rows.clone().map(move |row| row[column])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Counts; 4] = [Counts::Dwell, Counts::FromZero, Counts::Lagging, Counts::Byte];

    #[test]
    fn recorded_values_are_those_of_the_publications() {
        for (counts, values) in [
            (Counts::Dwell, [0, 1, 2, 254, 255]),
            (Counts::FromZero, [255, 0, 1, 253, 254]),
            (Counts::Lagging, [255, 2, 3, 255, 255]),
            (Counts::Byte, [0, 1, 2, 254, 0]),
        ] {
            assert_eq!([0, 1, 2, 254, 255].map(|dwell| recorded(dwell, 255, counts)), values, "{counts:?}");
        }
        assert_eq!(recorded(u32::MAX, u32::MAX, Counts::Lagging), u32::MAX);
    }

    #[test]
    fn a_recorded_value_is_read_back_or_known_to_be_ambiguous() {
        for counts in ALL {
            for limit in [1, 2, 3, 255, 1000] {
                let mut merged = 0;
                for dwell in 0..=limit {
                    let read = canonical(recorded(dwell, limit, counts), limit, counts);
                    merged += u32::from(is_merged(dwell, limit, counts));
                    match read.unwrap() {
                        Canonical::Dwell(n) => assert_eq!(n, dwell, "{counts:?} {limit}"),
                        Canonical::Interior => assert_eq!(dwell, 0, "{counts:?} {limit}"),
                        Canonical::Merged => assert!(dwell == 0 || is_merged(dwell, limit, counts)),
                    }
                }
                let expected = match counts {
                    Counts::Dwell | Counts::FromZero => 0,
                    Counts::Lagging => limit.min(2),
                    Counts::Byte => 1,
                };
                assert_eq!(merged, expected, "{counts:?} {limit}");
                assert_eq!(canonical(limit + 1, limit, counts), None, "{counts:?} {limit}");
            }
        }
        // No point has these values.
        assert_eq!(canonical(1, 100, Counts::Lagging), None);
        assert_eq!(canonical(255, 255, Counts::Byte), None);
    }

    #[test]
    fn transposing_twice_is_the_identity() {
        let values: Vec<u32> = (0..6).collect();
        assert_eq!(transpose(&values, 3), [0, 3, 1, 4, 2, 5]);
        assert_eq!(transpose(&transpose(&values, 3), 2), values);
        assert!(transpose(&values[..0], 0).is_empty());
    }
}
