//! Any text as a palette file of every format: an accepted palette has a colour at every position, and its stored text
//! parses to the same palette.
#![no_main]

use dwell::{Palette, PaletteFormat, PaletteSource};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for format in PaletteFormat::ALL {
        let Ok(palette) = Palette::from_text(format, text, "fuzz") else { continue };
        assert_eq!(palette.table().len(), 8192);
        let _ = [0.0, -0.3, 1.0, 1e300].map(|position| palette.at(position));
        let PaletteSource::Text { format, text } = palette.source() else { panic!("a palette without its text") };
        let again = Palette::from_text(*format, text, "fuzz");
        assert!(again.is_ok_and(|again| again.table() == palette.table()));
    }
});
