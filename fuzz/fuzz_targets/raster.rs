//! Fields and images of any bytes: they are read or refused, and what is read is the same as itself.
#![no_main]

use dwell::compare::{Raster, Watch, compare};
use dwell::{Cancel, Limits, Progress};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = Limits { memory_bytes: 64 << 20 };
    let open = || Raster::from_bytes(bytes.to_vec(), "fuzz", &limits);
    let (Ok(a), Ok(b)) = (open(), open()) else { return };
    let watch = Watch { limits: &limits, cancel: &Cancel::default(), progress: &Progress::default() };
    if let Ok(report) = compare(a, b, None, watch) {
        assert!(report.same);
    }
});
