//! Axes: where a value lies, and which values are labelled.

use super::super::number::significant;
use crate::experiment::Unit;

/// An axis.
#[derive(Clone, Debug)]
pub(in crate::report) struct Axis {
    /// Its title, with the unit.
    pub(in crate::report) title: String,
    /// The labelled values.
    pub(in crate::report) ticks: Vec<(f64, String)>,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis of figures in a unit. A linear one begins at 0; a logarithmic one spans the values, which are above 0.
    pub(in crate::report) fn of_figures(unit: Unit, values: &[f64], logarithmic: bool) -> Self {
        let title = super::super::number::axis_title(unit);
        Self::new(title, values, logarithmic, |tick| label(tick, unit))
    }

    /// An axis of plain numbers.
    pub(in crate::report) fn of_numbers(title: &str, values: &[f64], logarithmic: bool) -> Self {
        Self::new(title, values, logarithmic, plain)
    }

    fn new(title: &str, values: &[f64], logarithmic: bool, label: impl Fn(f64) -> String) -> Self {
        let usable = |value: &&f64| value.is_finite() && (!logarithmic || **value > 0.0);
        let least = values.iter().filter(usable).copied().fold(f64::INFINITY, f64::min);
        let greatest = values.iter().filter(usable).copied().fold(f64::NEG_INFINITY, f64::max);
        let (least, greatest) = if least <= greatest { (least, greatest) } else { (0.1, 1.0) };
        let (low, high, ticks) = if logarithmic { decades(least, greatest) } else { steps(least, greatest) };
        let ticks = ticks.into_iter().map(|tick| (tick, label(tick))).collect();
        Self { title: title.to_owned(), ticks, logarithmic, low, high }
    }

    /// An axis that labels the values of a sweep themselves. Values that are no numbers, or that are logarithmic and not
    /// above 0, are at equal distances: see [`positions`].
    pub(in crate::report) fn of_values(title: &str, values: &[(f64, String)], logarithmic: bool) -> Self {
        let logarithmic = logarithmic && values.iter().all(|(value, _)| *value > 0.0);
        let scale = |value: f64| if logarithmic { value.log10() } else { value };
        let low = values.iter().map(|(value, _)| scale(*value)).fold(f64::INFINITY, f64::min);
        let high = values.iter().map(|(value, _)| scale(*value)).fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        // Marks keep off the frame.
        let margin = if high > low { 0.03 * (high - low) } else { 0.5 };
        let (low, high) = (low - margin, high + margin);
        let back = |value: f64| if logarithmic { pow10(value) } else { value };
        let mut ticks = values.to_vec();
        ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
        ticks.dedup_by(|a, b| a.0 == b.0);
        Self { title: title.to_owned(), ticks, logarithmic, low: back(low), high: back(high) }
    }

    /// Whether equal distances are equal ratios.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// Where a value lies: 0 at the beginning, 1 at the end.
    pub(in crate::report) fn share(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let (low, high) = (scale(self.low), scale(self.high));
        if high > low { ((scale(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// The ticks whose labels fit side by side on `length` units: the first, and each that is clear of the one before.
    pub(super) fn clear_ticks(&self, length: f64) -> Vec<(f64, &str)> {
        let mut kept: Vec<(f64, &str)> = Vec::new();
        let mut end = f64::NEG_INFINITY;
        for (value, label) in &self.ticks {
            let (at, half) = (self.share(*value) * length, super::width(label) / 2.0 + 4.0);
            if at - half >= end {
                kept.push((at, label));
                end = at + half;
            }
        }
        kept
    }
}

/// The positions of the values of a flag on an axis: their numbers, or 0, 1, 2, ... where one of them is none.
pub(in crate::report) fn positions(values: &[String]) -> Vec<f64> {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| crate::figures::number(value)).collect();
    numbers.unwrap_or_else(|| (0..values.len()).map(|i| i as f64).collect())
}

#[expect(clippy::disallowed_methods, reason = "a position in a drawing: no pixel of a picture depends on it")]
fn pow10(exponent: f64) -> f64 {
    10.0_f64.powf(exponent)
}

/// From 0 to a round number, in steps of 1, 2 or 5 times a power of ten.
fn steps(least: f64, greatest: f64) -> (f64, f64, Vec<f64>) {
    let (low, high) = (least.min(0.0), greatest.max(0.0));
    let span = if high > low { high - low } else { 1.0 };
    let power = 10.0_f64.powi((span / 5.0).log10().floor() as i32);
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| span / step <= 5.5).unwrap_or(power);
    let (first, last) = ((low / step).floor() as i64, ((low + span) / step - 1e-9).ceil() as i64);
    (first as f64 * step, last as f64 * step, (first..=last).map(|i| i as f64 * step).collect())
}

/// From one of 1, 2, 5 times a power of ten to another one, with the powers as ticks and the others where there is room.
fn decades(least: f64, greatest: f64) -> (f64, f64, Vec<f64>) {
    let first = least.log10().floor() as i32 - 1;
    let last = greatest.log10().ceil() as i32 + 1;
    let candidates: Vec<f64> =
        (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10.0_f64.powi(power))).collect();
    // A value at an end keeps off the frame by a tenth.
    let low = candidates.iter().rev().copied().find(|value| *value <= least / 1.1).unwrap_or(least);
    let high = candidates.iter().copied().find(|value| *value >= greatest * 1.1).unwrap_or(greatest);
    let within: Vec<f64> = candidates.into_iter().filter(|value| (low..=high).contains(value)).collect();
    let is_power = |value: &f64| (value.log10() - value.log10().round()).abs() < 1e-9;
    let powers: Vec<f64> = within.iter().copied().filter(is_power).collect();
    let ticks = if within.len() <= 9 || powers.len() < 3 { within } else { powers };
    (low, high, ticks)
}

/// The label of a tick: no more digits than it needs.
fn label(tick: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds if tick == 0.0 => "0".to_owned(),
        Unit::Seconds => {
            let scale = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
            let fits = |(factor, _): &&(f64, &str)| tick.abs() >= 0.999 * factor;
            let (factor, name) = scale.iter().find(fits).copied().unwrap_or((1e-9, "ns"));
            format!("{}\u{202f}{name}", plain(tick / factor))
        }
        Unit::PeakShare | Unit::Efficiency => format!("{}\u{202f}%", plain(tick * 100.0)),
        _ => plain(tick),
    }
}

/// A number without trailing zeros.
fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let text = significant(value);
    if text.contains('.') && !text.contains('×') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text.replace("1.00\u{202f}×\u{202f}", "").replace(".00\u{202f}×", "\u{202f}×")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_axes_begin_at_zero_and_end_at_a_round_number() {
        let axis = Axis::of_numbers("n", &[3.0, 4190.0], false);
        assert_eq!(
            axis.ticks.iter().map(|tick| tick.1.as_str()).collect::<Vec<_>>(),
            ["0", "1000", "2000", "3000", "4000", "5000"]
        );
        assert!((axis.share(2500.0) - 0.5).abs() < 1e-12);
        let none = Axis::of_numbers("n", &[], false);
        assert!(none.share(0.5).is_finite());
        let zero = Axis::of_numbers("n", &[0.0], false);
        assert!(zero.share(0.0).abs() < 1e-12);
    }

    #[test]
    fn logarithmic_axes_span_the_values() {
        let axis = Axis::of_figures(Unit::Seconds, &[0.003, 0.4], true);
        assert!(axis.share(0.003) > 0.0 && axis.share(0.4) < 1.0);
        let labels: Vec<&str> = axis.ticks.iter().map(|tick| tick.1.as_str()).collect();
        assert_eq!(labels.first(), Some(&"2\u{202f}ms"));
        assert!(labels.contains(&"100\u{202f}ms"));
    }

    #[test]
    fn values_of_a_sweep_are_ticks_and_labels_do_not_overlap() {
        let values: Vec<(f64, String)> = (1..=40).map(|i| (f64::from(i), format!("{i}0000"))).collect();
        let axis = Axis::of_values("n", &values, false);
        let clear = axis.clear_ticks(400.0);
        assert!(clear.len() > 3 && clear.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 6.0 * super::super::CHARACTER));
        assert_eq!(positions(&["a".to_owned(), "2".to_owned()]), [0.0, 1.0]);
        assert_eq!(positions(&["2x3".to_owned(), "2".to_owned()]), [6.0, 2.0]);
    }
}
