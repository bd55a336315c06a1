//! Numbers as text: three significant digits, thin spaces between thousands, units.

use crate::experiment::Unit;
use crate::statistics::Estimate;

/// A narrow space that does not break.
const THIN: char = '\u{202f}';
/// What stands for a number that is not finite.
const NONE: &str = "–";

/// A number with three significant digits: `0.0123`, `1.23`, `123`, `12 300`, `1.23 × 10⁹`.
#[must_use]
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // The exponent after rounding: 999.6 is 1.00e3.
    let text = format!("{value:.2e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    match exponent {
        -3..=1 => {
            let decimals = usize::try_from(2 - exponent).unwrap_or(0);
            minus(&format!("{value:.decimals$}"))
        }
        2..=6 => {
            let unit = 10.0_f64.powi(exponent - 2);
            minus(&group(&format!("{:.0}", (value / unit).round() * unit)))
        }
        _ => minus(&format!("{digits}{THIN}×{THIN}10{}", superscript(exponent))),
    }
}

/// A whole number with thin spaces between thousands.
#[must_use]
pub fn whole(value: u64) -> String {
    group(&value.to_string())
}

/// A number that is whole in full up to 15 digits, and with three significant digits otherwise.
#[must_use]
pub fn exact(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e15 {
        return minus(&group(&format!("{value:.0}")));
    }
    // Computed quantities have digits worth reading: five of them.
    if value.is_finite() && (1e-3..1e5).contains(&value.abs()) {
        let text = format!("{value:.4e}");
        let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok()).unwrap_or(0);
        let decimals = usize::try_from(4 - exponent).unwrap_or(0);
        let text = format!("{value:.decimals$}");
        return minus(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text });
    }
    significant(value)
}

/// Seconds with a fitting prefix: `1.23 ms`.
#[must_use]
pub fn seconds(value: f64) -> String {
    let scale = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    let fits = |(factor, _): &&(f64, &str)| value.abs() >= 0.9995 * factor;
    let (factor, unit) = scale.iter().find(fits).copied().unwrap_or((1e-9, "ns"));
    let (factor, unit) = if value == 0.0 { (1.0, "s") } else { (factor, unit) };
    if value.is_finite() { format!("{}{THIN}{unit}", significant(value / factor)) } else { NONE.to_owned() }
}

/// A share of 1 in percent: `12.3 %`.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{}{THIN}%", significant(share * 100.0))
}

/// The name of a unit, for an axis or behind a number.
#[must_use]
pub fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "s",
        Unit::MegapixelsPerSecond => "Mpixel/s",
        Unit::GigaiterationsPerSecond => "G iterations/s",
        Unit::SpeedUp => "times as fast",
        Unit::PeakShare => "of the peak",
        Unit::Efficiency => "efficiency",
    }
}

/// What a unit measures, for the title of an axis. The ticks of a time have their own units.
#[must_use]
pub fn axis_title(unit: Unit) -> &'static str {
    match unit {
        Unit::Seconds => "time",
        Unit::MegapixelsPerSecond => "rate (Mpixel/s)",
        Unit::GigaiterationsPerSecond => "rate (G iterations/s)",
        Unit::SpeedUp => "speed-up (times)",
        Unit::PeakShare => "share of the measured peak (%)",
        Unit::Efficiency => "efficiency (%)",
    }
}

/// A value in a unit, with the unit.
#[must_use]
pub fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Seconds => seconds(value),
        Unit::SpeedUp => format!("{}{THIN}×", significant(value)),
        Unit::PeakShare | Unit::Efficiency => percent(value),
        _ => format!("{}{THIN}{}", significant(value), unit_name(unit)),
    }
}

/// The figure of a verdict: its value with the unit that the verdict names.
#[must_use]
pub fn in_words(value: f64, unit: &str) -> String {
    match unit {
        "s" => seconds(value),
        "times as fast" | "times the time" => format!("{}{THIN}×", significant(value)),
        "of the peak" | "of the time" | "efficiency" => percent(value),
        "" | "exponent" => exact_or_short(value, unit),
        "pixels" => format!("{}{THIN}pixels", exact(value)),
        unit => format!("{}{THIN}{unit}", significant(value)),
    }
}

fn exact_or_short(value: f64, unit: &str) -> String {
    if unit.is_empty() { exact(value) } else { significant(value) }
}

/// The interval of an estimate in words: `95 % interval 1.2 to 1.3`; how many samples it has, if they are few.
#[must_use]
pub fn interval_words(estimate: &Estimate, unit: &str) -> String {
    match estimate.samples {
        0 if estimate.low == estimate.high => "exact".to_owned(),
        1 => "one sample: its noise is unknown".to_owned(),
        samples => {
            let few = if estimate.level < 0.9 { format!(", {samples} samples") } else { String::new() };
            let (low, high) = (in_words(estimate.low, unit), in_words(estimate.high, unit));
            format!("{:.0}{THIN}% interval {low} to {high}{few}", (estimate.level * 100.0).floor())
        }
    }
}

/// Puts thin spaces between thousands of a text of digits.
fn group(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut grouped = String::from(sign);
    // Four digits are read without a space.
    let wide = digits.len() > 4;
    for (i, digit) in digits.chars().enumerate() {
        if wide && i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(THIN);
        }
        grouped.push(digit);
    }
    grouped
}

fn minus(text: &str) -> String {
    text.replacen('-', "−", usize::from(text.starts_with('-')))
}

fn superscript(number: i32) -> String {
    let raise = |digit| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(u32::from(digit) - u32::from('0') + u32::from('⁰')).unwrap_or(digit),
    };
    number.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (0.012_345, "0.0123"),
            (9.996, "10.0"),
            (99.96, "100"),
            (1234.0, "1230"),
            (56_789.0, "56\u{202f}800"),
            (-12.34, "−12.3"),
            (1.234e9, "1.23\u{202f}×\u{202f}10⁹"),
            (4.567e-7, "4.57\u{202f}×\u{202f}10⁻⁷"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(significant(value), expected);
        }
    }

    #[test]
    fn times_have_prefixes_and_whole_numbers_all_digits() {
        assert_eq!(seconds(0.004_5), "4.50\u{202f}ms");
        assert_eq!(seconds(0.999_9), "1.00\u{202f}s");
        assert_eq!(seconds(2.5e-10), "0.250\u{202f}ns");
        assert_eq!(seconds(75.0), "75.0\u{202f}s");
        assert_eq!(exact(2_864_452.0), "2\u{202f}864\u{202f}452");
        assert_eq!(exact(103.6), "103.6");
        assert_eq!(exact(3.531_2), "3.5312");
        assert_eq!(percent(0.5), "50.0\u{202f}%");
        assert_eq!(whole(7559), "7559");
    }
}
