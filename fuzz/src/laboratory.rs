//! The readers of the laboratory: experiments and descriptions of other programs.

use dwell_lab::experiment::{Extent, expand, read};
use dwell_lab::program::Programs;

/// Any text as an experiment and as descriptions of programs. The sweeps of an accepted experiment can be expanded, and its
/// written text is accepted again.
pub fn laboratory(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = Programs::read("fuzz.toml", text);
    let Ok(experiment) = read("fuzz.toml", "fuzz", text) else { return };
    for series in &experiment.series {
        for extent in [Extent::Whole, Extent::Quick, Extent::Check] {
            assert!(expand(series, extent).is_ok());
        }
    }
    let written = toml::to_string(&experiment);
    assert!(written.is_ok_and(|text| read("written.toml", "fuzz", &text).is_ok()));
}
