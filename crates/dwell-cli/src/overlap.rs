//! Checks that no output is written over another output or over an input.

use crate::error_text::Usage;
use dwell::store::identity;
use dwell::{Palette, quote};
use std::path::{Path, PathBuf};

/// The file that a palette is read from, if it is one.
pub(crate) fn palette_file(name: &str) -> PathBuf {
    Palette::file(Path::new(name))
}

/// Checks that the outputs are different files and none of the inputs, each with the flag that names it. Inputs that are
/// no regular files are ignored: they are names of built-in locations and palettes.
pub(crate) fn check<'a>(
    inputs: impl IntoIterator<Item = (&'static str, PathBuf)>,
    outputs: impl IntoIterator<Item = (&'static str, &'a Path)>,
) -> Result<(), Usage> {
    let mut taken: Vec<(&str, PathBuf)> = inputs
        .into_iter()
        .filter_map(|(what, path)| path.is_file().then(|| identity(&path)).flatten().map(|found| (what, found)))
        .collect();
    for (what, path) in outputs {
        let Some(found) = identity(path) else { continue };
        if let Some((other, _)) = taken.iter().find(|(_, i)| *i == found) {
            let problem = format!("{} is the file of {other} as well", quote(&path.to_string_lossy()));
            return Err(Usage::new(what, problem).hint("give each a file of its own"));
        }
        taken.push((what, found));
    }
    Ok(())
}
