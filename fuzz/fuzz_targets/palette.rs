//! Palette files: any text, in both formats.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = dwell::Palette::parse(text, "fuzz");
    let _ = dwell::Palette::parse_map(text, "fuzz");
});
