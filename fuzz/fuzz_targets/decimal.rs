//! Any text as a decimal number: every accepted number rounds to f64 without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(decimal) = text.parse::<dwell::Decimal>() {
        let _ = decimal.to_rational().round::<f64>();
        let _ = decimal.to_rational().scientific();
    }
});
