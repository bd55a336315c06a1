//! One function for each fuzz target: what holds of a reader for any input. The test `fuzz_seeds` of the library runs them
//! on the committed inputs.

use dwell::compare::{Controls, Raster, compare};
use dwell::{
    Cancel, Decimal, Limits, Location, Palette, PaletteFormat, PaletteSource, Plan, Progress, Row, Settings, Size,
};
use std::io::Cursor;

/// Any text as a decimal number: every accepted number rounds to f64 without a panic.
pub fn decimal(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(decimal) = text.parse::<Decimal>() {
        let _ = decimal.to_rational().round::<f64>();
        let _ = decimal.to_rational().scientific();
    }
}

/// Any text as a location file: it is rejected, or a plan is made or rejected, without a panic.
pub fn location(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(location) = Location::parse(text, "fuzz") {
        let size = Size { width: 16, height: 9 };
        let settings = Settings { force: true, ..Settings::default() };
        let _ = Plan::new(&location.view(size), &settings, &Limits::default());
    }
}

/// Any text as a palette file of every format: an accepted palette has a colour at every position, and its stored text
/// parses to the same palette.
pub fn palette(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in PaletteFormat::ALL {
        let Ok(palette) = Palette::from_text(format, text, "fuzz") else { continue };
        assert_eq!(palette.table().len(), 8192);
        let _ = [0.0, -0.3, 1.0, 1e300].map(|position| palette.at(position));
        let PaletteSource::Text { format, text } = palette.source() else { panic!("a palette without its text") };
        let again = Palette::from_text(*format, text, "fuzz");
        assert!(again.is_ok_and(|again| again.table() == palette.table()));
    }
}

/// The location in a PNG: any bytes as a PNG, and any text as the location in a valid PNG. An accepted location is
/// written as text that parses to the same location.
pub fn picture(bytes: &[u8]) {
    let _ = Location::from_png(Cursor::new(bytes), "fuzz");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let mut picture = Vec::new();
    let mut encoder = png::Encoder::new(&mut picture, 1, 1);
    if encoder.add_itxt_chunk("dwell".to_owned(), text.to_owned()).is_err() {
        return;
    }
    let Ok(mut writer) = encoder.write_header() else { return };
    if writer.write_image_data(&[0]).is_err() || writer.finish().is_err() {
        return;
    }
    if let Ok(location) = Location::from_png(Cursor::new(&picture), "fuzz") {
        let written = location.text();
        let again = Location::parse(&written, "again").map(|again| again.text());
        assert_eq!(again.as_ref(), Ok(&written));
    }
}

/// Any bytes as a field or an image: they are rejected, or read as a raster that is equal to itself. The time of a
/// comparison grows with the pixels, of which a compressed image may have a thousand for each byte, so images of more
/// than [`MOST_PIXELS`] are only opened.
pub fn raster(bytes: &[u8]) {
    let limits = Limits { memory_bytes: 48 << 20 };
    let open = || Raster::from_bytes(bytes.to_vec(), "fuzz", &limits);
    let (Ok(a), Ok(b)) = (open(), open()) else { return };
    if a.size().pixels() > MOST_PIXELS {
        return;
    }
    let controls = Controls { limits: &limits, cancel: &Cancel::default(), progress: &Progress::default() };
    if let Ok(report) = compare(a, b, None, controls) {
        assert!(report.same);
    }
}

/// Any text as a table of jobs, in TOML and in CSV: an accepted table has rows, in the order of their lines.
pub fn jobs(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for rows in [Row::parse_toml(text), Row::parse_csv(text)].into_iter().flatten() {
        assert!(!rows.is_empty() && rows.is_sorted_by_key(|row| row.line));
    }
}

/// The most pixels that are compared.
const MOST_PIXELS: u64 = 1 << 22;
