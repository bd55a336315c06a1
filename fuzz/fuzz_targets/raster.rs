//! Any bytes as a field or an image: they are rejected, or read as a raster that is equal to itself.
#![no_main]

use dwell::compare::{Controls, Raster, compare};
use dwell::{Cancel, Limits, Progress};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { memory_bytes: 64 << 20 };
    let open = || Raster::from_bytes(bytes.to_vec(), "fuzz", &limits);
    let (Ok(a), Ok(b)) = (open(), open()) else { return };
    let controls = Controls { limits: &limits, cancel: &Cancel::default(), progress: &Progress::default() };
    if let Ok(report) = compare(a, b, None, controls) {
        assert!(report.same);
    }
});
