//! Experiments and programs by name or file.

use super::unreadable;
use crate::error_text::{Failure, Usage};
use dwell::{Error, InputError, quote};
use dwell_lab::EngineFilter;
use dwell_lab::Experiment;
use dwell_lab::program::Programs;
use dwell_lab::{catalogue, experiment};
use std::io::Read;
use std::path::Path;

/// Most bytes of a file.
const MOST_BYTES: u64 = 1 << 20;

/// The experiments that words name; `all` is every built-in one.
pub(super) fn named(words: &[String]) -> Result<Vec<Experiment>, Failure> {
    let mut experiments: Vec<Experiment> = Vec::new();
    for word in words {
        let more = match word.as_str() {
            "all" => all()?,
            _ => vec![one(word)?.0],
        };
        for experiment in more {
            if experiments.iter().any(|other| other.name == experiment.name) {
                return Err(Usage::new("NAME|FILE", format!("{} is named twice", quote(&experiment.name))).into());
            }
            experiments.push(experiment);
        }
    }
    Ok(experiments)
}

/// Every built-in experiment.
pub(super) fn all() -> Result<Vec<Experiment>, Failure> {
    let read = |(name, text): &(&str, &str)| experiment::read(name, name, text).map_err(|e| unreadable(&e));
    catalogue::built_in().iter().map(read).collect()
}

/// An experiment and its text: a built-in name or a file.
pub(super) fn one(word: &str) -> Result<(Experiment, String), Failure> {
    if let Some((name, text)) = catalogue::built_in().iter().find(|(name, _)| *name == word) {
        return Ok((experiment::read(name, name, text).map_err(|e| unreadable(&e))?, (*text).to_owned()));
    }
    let path = Path::new(word);
    if !word.contains(['/', '\\', '.']) && !path.exists() {
        let error = InputError::unknown(word, catalogue::names());
        return Err(Failure::from(error)
            .about("experiment")
            .hint("`dwell lab list` lists the experiments; a file's name ends in .toml"));
    }
    let text = text_of(path)?;
    let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().to_lowercase());
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let experiment = experiment::read(word, &name, &text).map_err(|e| unreadable(&e))?;
    Ok((experiment, text))
}

/// The text of a file.
fn text_of(path: &Path) -> Result<String, Failure> {
    let wrong = |problem: String| Usage::new(path.to_string_lossy().into_owned(), problem);
    let file = std::fs::File::open(path).map_err(|e| wrong(e.to_string()))?;
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| wrong(e.to_string()))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("it is too large; accepted: at most {MOST_BYTES} bytes")).into());
    }
    Ok(text)
}

/// The built-in programs, and those of a file.
pub(super) fn programs(file: Option<&Path>) -> Result<Programs, Failure> {
    let built_in = Programs::built_in().map_err(|e| unreadable(&e))?;
    let Some(path) = file else { return Ok(built_in) };
    let others = Programs::read(&path.to_string_lossy(), &text_of(path)?).map_err(|e| unreadable(&e))?;
    Ok(built_in.with(others))
}

/// The variants that `--engine` selects.
pub(super) fn filter(name: &str) -> Result<EngineFilter, Failure> {
    crate::choice::name(Some(name))?;
    EngineFilter::named(name).ok_or_else(|| Error::Internal(format!("the engine {name} is not known")).into())
}
