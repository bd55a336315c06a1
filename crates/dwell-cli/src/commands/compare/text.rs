//! Reports for people.

use dwell::compare::{
    Compared, ComparisonReport, Details, DifferingPixel, FieldDifferences, ImageDifferences, PixelCounts, TruthReport,
    WrongPixel,
};
use std::fmt::Write;

/// What two rasters differ in.
pub(super) fn of_rasters(report: &ComparisonReport) -> String {
    let mut text = String::new();
    for (name, side) in [("A", &report.a), ("B", &report.b)] {
        let _ = writeln!(text, "{name}: {} ({}), {} x {}", side.file, side.format, side.width, side.height);
    }
    match &report.compared {
        None => text.push_str("the sizes differ: nothing else was compared\n"),
        Some(compared) => pixels(&mut text, compared, report.kind),
    }
    text
}

fn pixels(text: &mut String, compared: &Compared, kind: &str) {
    let Compared { pixels, differing_pixels: differing, .. } = compared;
    if matches!(&compared.found, Details::Images(images) if images.depths_differ) {
        text.push_str("the depths differ: compared on the scale of 16 bits, 8 bits times 257\n");
    }
    if *differing == 0 {
        let _ = writeln!(text, "the same: all {pixels} pixels of the two {kind}");
        return;
    }
    let _ = writeln!(text, "differing: {differing} of {pixels} pixels ({} of all)", percent(*differing, *pixels));
    if let Some(area) = compared.where_they_lie {
        let _ = writeln!(
            text,
            "where: columns {} to {}, rows {} to {}",
            area.first_column, area.last_column, area.first_row, area.last_row
        );
    }
    map(text, compared);
    match &compared.found {
        Details::Fields(found) => fields(text, found),
        Details::Images(found) => images(text, found),
    }
    text.push_str(if compared.first.len() as u64 == *differing { "all of them:\n" } else { "the first of them:\n" });
    list(text, ["column", "row", "A", "B"], compared.first.iter().map(of_pair));
}

/// A cell for each part of the image: the share of its pixels that differ.
fn map(text: &mut String, compared: &Compared) {
    let (rows, columns) = (compared.map.len() as u64, compared.map.first().map_or(1, Vec::len) as u64);
    for (j, row) in (0_u64..).zip(&compared.map) {
        text.push_str("  |");
        for (i, differing) in (0_u64..).zip(row) {
            let side = |at: u64, cells: u64, side: u32| {
                let first = |at: u64| (at * u64::from(side)).div_ceil(cells);
                first(at + 1) - first(at)
            };
            let pixels = side(i, columns, compared.width) * side(j, rows, compared.height);
            text.push(match differing {
                0 => '.',
                n if n * 1000 <= pixels => '-',
                n if n * 100 <= pixels => '+',
                n if n * 10 <= pixels => '*',
                _ => '#',
            });
        }
        text.push_str("|\n");
    }
    text.push_str("  of the pixels of each part: . none, - up to 0.1 %, + up to 1 %, * up to 10 %, # more\n");
}

fn fields(text: &mut String, found: &FieldDifferences) {
    let FieldDifferences { inside_only_in_a, inside_only_in_b, larger_in_a, larger_in_b, without_difference, .. } =
        found;
    let _ = writeln!(text, "larger in A: {larger_in_a}, larger in B: {larger_in_b}");
    let _ = writeln!(
        text,
        "inside the set in one, escaped in the other: {} (inside in A: {inside_only_in_a}, in B: {inside_only_in_b}); left out below",
        inside_only_in_a + inside_only_in_b
    );
    if *without_difference > 0 {
        let _ = writeln!(text, "infinite or not a number in one: {without_difference}; left out below");
    }
    if let Some(largest) = &found.largest {
        let [column, row, a, b] = of_pair(&largest.pair);
        let _ =
            writeln!(text, "largest difference: {} at column {column}, row {row} (A {a}, B {b})", largest.difference);
        let _ = writeln!(
            text,
            "mean difference: {} over the pixels that differ, {} over all",
            number(found.mean_of_differing),
            number(found.mean_of_all)
        );
    }
}

fn images(text: &mut String, found: &ImageDifferences) {
    if let Some(pair) = &found.largest_at {
        let [column, row, a, b] = of_pair(pair);
        let _ = writeln!(
            text,
            "largest difference of a channel: {} of {} at column {column}, row {row} (A {a}, B {b})",
            found.largest_difference, found.most
        );
    }
    let _ = writeln!(
        text,
        "mean difference of a channel: {} over the pixels that differ, {} over all{}",
        number(found.mean_of_differing),
        number(found.mean_of_all),
        if found.alpha { ", opacity included" } else { "" }
    );
    if let Some(psnr) = found.psnr_db {
        let _ = writeln!(text, "peak signal to noise ratio: {psnr} dB");
    }
}

fn of_pair(pair: &DifferingPixel) -> [String; 4] {
    [pair.column.to_string(), pair.row.to_string(), pair.a.to_string(), pair.b.to_string()]
}

/// A table, numbers to the right.
fn list(text: &mut String, head: [&str; 4], rows: impl Iterator<Item = [String; 4]>) {
    let rows: Vec<_> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let mut widths = [0; 4];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.len().max(*width);
        }
    }
    for row in rows {
        for (width, cell) in widths.iter().zip(&row) {
            let _ = write!(text, "  {cell:>width$}");
        }
        text.push('\n');
    }
}

/// What a field has wrong.
pub(super) fn of_truth(report: &TruthReport) -> String {
    let mut text = String::new();
    let TruthReport { file, format, width, height, pixels, max_iterations, .. } = report;
    let _ = writeln!(text, "{file} ({format}), {width} x {height}, limit {max_iterations}");
    let of = |tally: &PixelCounts| {
        format!("{} of {} wrong ({})", tally.wrong, tally.checked, percent(tally.wrong, tally.checked))
    };
    match (&report.evenly, &report.at_changes) {
        (Some(evenly), Some(at_changes)) => {
            let _ = writeln!(text, "checked: {} of {pixels} pixels", report.total.checked);
            let _ = writeln!(text, "  chosen evenly: {}; this is how much of the field is wrong", of(evenly));
            let _ = writeln!(
                text,
                "  chosen next to a change of the dwell: {}; there are {} such pixels",
                of(at_changes),
                report.pixels_at_changes.unwrap_or(0)
            );
        }
        _ => {
            let _ = writeln!(text, "checked: all {pixels} pixels");
        }
    }
    let _ = writeln!(text, "wrong: {}", of(&report.total).replace(" wrong", ""));
    if report.total.undecided > 0 {
        let _ = writeln!(text, "not decided by the most bits there are: {}", report.total.undecided);
    }
    if report.total.wrong > 0 {
        let _ = writeln!(
            text,
            "  inside the set in one, escaped in the other: {}; too large: {}; too small: {}",
            report.total.wrong_side, report.too_large, report.too_small
        );
        if let Some(WrongPixel { column, row, field, truth }) = report.largest {
            let _ = writeln!(
                text,
                "largest error: {} at column {column}, row {row} (field {field}, truth {truth})",
                field.abs_diff(truth)
            );
        }
        text.push_str(if report.first.len() as u64 == report.total.wrong {
            "all of them:\n"
        } else {
            "the first of them:\n"
        });
        let rows = report.first.iter().map(|wrong| [wrong.column.into(), wrong.row.into(), wrong.field, wrong.truth]);
        list(&mut text, ["column", "row", "field", "truth"], rows.map(|row| row.map(|n| n.to_string())));
    }
    let means = &report.decided_by;
    let _ = writeln!(
        text,
        "proved: {} inside by their place, {} in f64 with a bound on its error, {} in 128 bits, {} in more",
        means.interior, means.f64, means.bits_128, means.many_bits
    );
    text
}

/// A share in percent, with three digits that count, however small it is; 0 and 100 only where that is exact.
fn percent(part: u64, whole: u64) -> String {
    if part == 0 || part >= whole {
        return format!("{} %", if part == 0 { 0 } else { 100 });
    }
    let scaled = |decimals: u32| -> Option<u128> {
        let parts = 10_u128.checked_pow(decimals + 2)?.checked_mul(part.into())?;
        Some(parts.checked_add(u128::from(whole) / 2)? / u128::from(whole))
    };
    // Where that would overflow, the share is not as small as that.
    let enough = |value: u128, decimals: u32| value >= 100 && value < 100 * 10_u128.pow(decimals);
    let found = (2..=24).find_map(|decimals| Some((decimals, scaled(decimals).filter(|v| enough(*v, decimals))?)));
    let (decimals, value) = found.unwrap_or((2, scaled(2).unwrap_or(0)));
    let ten = 10_u128.pow(decimals);
    format!("{}.{:0places$} %", value / ten, value % ten, places = decimals as usize)
}

/// A mean: four digits that count, or as many as a whole number has.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-9..1e15).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let mut decimals = 0;
    let mut scaled = magnitude;
    while scaled < 1000.0 && decimals < 12 {
        scaled *= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares() {
        assert_eq!(percent(0, 10), "0 %");
        assert_eq!(percent(10, 10), "100 %");
        assert_eq!(percent(1, 3), "33.33 %");
        assert_eq!(percent(7559, 1_500_000), "0.504 %");
        assert_eq!(percent(1, 1_000_000_000), "0.000000100 %");
        assert_eq!(percent(999_999_999, 1_000_000_000), "99.9999999 %");
        assert_eq!(percent(1, 1 << 62), "0.0000000000000000217 %");
        assert_eq!(percent((1 << 62) - (1 << 40), 1 << 62), "99.99998 %");
    }

    #[test]
    fn means() {
        assert_eq!(
            [0.0, 12.3456, 0.000_123_46, 98765.4, 1e-12].map(number),
            ["0", "12.35", "0.0001235", "98765", "1.000e-12"]
        );
    }
}
