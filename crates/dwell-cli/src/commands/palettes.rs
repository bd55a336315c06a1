//! `dwell palettes`: the built-in palettes.

use crate::output;
use dwell::{Error, Palette};

pub(crate) fn run() -> Result<(), Error> {
    let mut text = String::new();
    for name in Palette::built_in_names() {
        let palette = Palette::built_in(name)?;
        text.push_str(&format!("{name:<12} {}\n", palette.title()));
    }
    output::print(&text)
}
