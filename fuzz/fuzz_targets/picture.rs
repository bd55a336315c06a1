//! The location in a PNG: any bytes as a PNG, and any text as the location in a valid PNG. An accepted location is
//! written as text that parses to the same location.
#![no_main]

use dwell::Location;
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
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
});
