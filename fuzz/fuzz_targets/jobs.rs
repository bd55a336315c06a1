//! See `dwell_fuzz::targets::jobs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dwell_fuzz::budget::check(bytes, dwell_fuzz::targets::jobs));
