//! The floating-point environment of a thread, set and restored.

#![cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]

use dwell_kernels::float_environment::{control_bits, with_hostile_floats};
use dwell_kernels::{keep_standard_floats, with_standard_floats};
use std::hint::black_box;

/// A third, and half of the least normal number. Not inlined, so that the environment of the call applies.
#[inline(never)]
fn results() -> [u64; 2] {
    [black_box(1.0_f64) / black_box(3.0), black_box(f64::MIN_POSITIVE) / black_box(2.0)].map(f64::to_bits)
}

#[test]
fn results_are_those_of_the_standard_environment_and_the_callers_is_restored() {
    let expected = results();
    let before = control_bits();
    let (inside, outside, word) = with_hostile_floats(|| {
        let word = control_bits();
        let inside = with_standard_floats(results);
        let panicked = std::panic::catch_unwind(|| with_standard_floats(|| panic!("a test")));
        assert!(panicked.is_err() && control_bits() == word);
        (inside, results(), word)
    });
    assert_eq!(inside, expected);
    assert!(outside[0] != expected[0] && outside[1] != expected[1], "the environment is hostile");
    assert!(word != before && control_bits() == before);
    let kept = with_hostile_floats(|| std::thread::spawn(|| (keep_standard_floats(), results())).join().unwrap().1);
    assert_eq!(kept, expected);
}
