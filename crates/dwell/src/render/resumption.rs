//! A render and its journal: what an earlier run has left, made ready to go on with, and the end.

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::encode::Format;
use crate::render::journal::{Journal, State};
use crate::render::layout::Layout;
use crate::render::pipeline::Writer;
use crate::render::request::Request;
use crate::store::Output;

/// The journal of a render, if it is to have one and every output is a file.
pub(super) fn journal(request: &Request<'_>, formats: &[Format], outputs: &[Output]) -> Result<Option<Journal>, Error> {
    let Some(first) = outputs.first().filter(|_| request.journaling.is_some()) else { return Ok(None) };
    let places: Option<Vec<_>> = outputs.iter().map(Output::place).collect();
    let Some((place, disk)) = places.as_ref().and_then(|places| places.first()) else { return Ok(None) };
    let names: Vec<String> = formats
        .iter()
        .zip(places.iter().flatten())
        .map(|(format, (place, _))| {
            format!("{} {}", format.name(), place.file_name().unwrap_or_default().to_string_lossy())
        })
        .collect();
    let identity = format!(
        "program = \"dwell {}\"\noutputs = {}\nverify = {}\n{}",
        env!("CARGO_PKG_VERSION"),
        toml::Value::from(names),
        request.verify,
        request.paint.text
    );
    Journal::beside((*disk).clone(), place, identity).map(Some).map_err(|e| first.error(e))
}

/// What an earlier run has left to go on with, its outputs made ready for that.
pub(super) fn found(
    journal: &Journal,
    request: &Request<'_>,
    layout: &Layout,
    outputs: &mut Vec<Output>,
) -> Result<Option<State>, Error> {
    if request.journaling.as_ref().is_some_and(|journaling| journaling.fresh) {
        journal.remove()?;
        return Ok(None);
    }
    // Whatever is wrong with a journal, what it speaks of is not to be lost by that.
    outputs.iter_mut().for_each(Output::keep);
    let state = match journal.find(request.plan) {
        Ok(Some(state)) => state,
        none => {
            outputs.iter_mut().filter(|output| none.is_ok() || output.is_empty()).for_each(Output::abandon);
            return none;
        }
    };
    if state.files.len() != outputs.len() || !state.row.is_multiple_of(layout.part_rows) && !state.complete {
        return Err(damaged(Some(journal)));
    }
    let mut there = Vec::new();
    for (output, (length, _)) in outputs.iter_mut().zip(&state.files) {
        there.push(output.go_on_at(*length)?);
    }
    let mut published = Vec::new();
    for output in outputs.iter().filter(|_| state.complete) {
        published.push(output.is_published()?);
    }
    if state.complete && there.iter().zip(&published).all(|(there, published)| *there || *published) {
        // Those that are missing have their names already.
        let mut there = there.into_iter();
        outputs.retain_mut(|output| {
            let there = there.next().unwrap_or(false);
            if !there {
                output.abandon();
            }
            there
        });
        return Ok(Some(state));
    }
    if state.complete || there.contains(&false) {
        outputs.iter_mut().for_each(Output::abandon);
        journal.remove()?;
        return Ok(None);
    }
    Ok(Some(state))
}

/// Completes outputs that have all their bytes, all of them or, at the very first, none.
pub(super) fn publish(writer: &mut Writer<'_>, cancel: &Cancel) -> Result<(), Error> {
    for output in &mut writer.outputs {
        output.secure()?;
    }
    cancel.check()?;
    for output in &mut writer.outputs {
        output.publish()?;
    }
    match writer.journal.filter(|_| writer.journaled) {
        Some(journal) => journal.remove(),
        None => Ok(()),
    }
}

pub(super) fn damaged(journal: Option<&Journal>) -> Error {
    let path = journal.map_or_else(String::new, |journal| journal.path().to_string_lossy().into_owned());
    InputError::new(path, "does not fit what it is a journal of").hint("--fresh starts over").into()
}
