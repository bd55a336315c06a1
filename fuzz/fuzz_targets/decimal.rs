//! Numbers as typed; whatever is accepted rounds to f64 without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(decimal) = dwell::Decimal::parse(text) {
        let _ = decimal.to_rational().round::<f64>();
        let _ = decimal.to_rational().scientific();
    }
});
