//! Any text as a location file: it is rejected, or a plan is made or rejected, without a panic.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(location) = dwell::Location::parse(text, "fuzz") {
        let size = dwell::Size { width: 16, height: 9 };
        let _ = dwell::Plan::new(&location.view(size), &dwell::Settings::default(), &dwell::Limits::default());
    }
});
