//! Opens the outputs of a render, resumes an earlier run from its journal, and publishes complete outputs.

use crate::base::cancel::Cancel;
use crate::base::error::{Error, InputError};
use crate::base::problem::Problem;
use crate::encode::{Adler, Format};
use crate::render::identity::list;
use crate::render::journal::{ComputedRows, Journal, State};
use crate::render::layout::Layout;
use crate::render::pipeline::Writer;
use crate::render::request::Request;
use crate::render::tally::Tally;
use crate::store::Output;
use std::sync::Arc;

/// A render whose outputs are open.
pub(super) struct Opened {
    pub(super) writer: Writer,
    /// The start of the render; `None` if every byte is in the partial files already.
    pub(super) start: Option<Start>,
    pub(super) warnings: Vec<String>,
}

/// The start of a render: the top of the image, or the state in which an earlier run was stopped.
#[derive(Debug, Default)]
pub(super) struct Start {
    /// Rows before this one are in the files, or counted.
    pub(super) row: u32,
    /// Whether the counting pass is complete.
    pub(super) counted: bool,
    /// The counts of the counting pass.
    pub(super) counts: Vec<u8>,
    /// Rows from `row` on that are computed.
    pub(super) computed: ComputedRows,
    /// For each output, the number of bytes in its partial file; empty at the top of the image.
    pub(super) lengths: Vec<u64>,
}

/// Opens the outputs of a render: empty, or at the end of the bytes that an earlier run of the same render stored.
pub(super) fn open(
    layout: &Layout,
    request: &Request<'_>,
    formats: &[Format],
    mut outputs: Vec<Output>,
) -> Result<Opened, Error> {
    let journal = journal(request, formats, &outputs)?.map(Arc::new);
    let found = match &journal {
        Some(journal) => load_state(journal, request, layout, &mut outputs)?,
        None => None,
    };
    let Some(mut state) = found else {
        for output in &mut outputs {
            output.resume_at(0)?;
        }
        let tally = Tally { hasher: request.hash.then(Default::default), ..Tally::default() };
        let sums = vec![Adler::default(); formats.len()];
        let writer = Writer { outputs, sums, tally, journal, journaled: false };
        return Ok(Opened { writer, start: Some(Start::default()), warnings: Vec::new() });
    };
    let mut warnings = Vec::new();
    state.tally.resumes += 1;
    if !request.hash {
        // No hash is wanted any more, and the engine may now return painted rows, which have no dwells to hash.
        state.tally.hasher = None;
    }
    if request.hash && state.tally.hasher.is_none() {
        warnings.push("resumed from a run that computed no hash: the dwells have no hash".to_owned());
    }
    let State { complete, counted, row, files, tally, counts, computed } = state;
    let (lengths, sums) = files.into_iter().unzip();
    let writer = Writer { outputs, sums, tally, journal, journaled: true };
    let start = (!complete).then_some(Start { row, counted, counts, computed, lengths });
    Ok(Opened { writer, start, warnings })
}

/// The journal of a render, if one was requested and every output is a file.
fn journal(request: &Request<'_>, formats: &[Format], outputs: &[Output]) -> Result<Option<Journal>, Error> {
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
        list(&names),
        request.verify,
        request.paint.text
    );
    Journal::beside((*disk).clone(), place, identity).map(Some).map_err(|e| first.error(e))
}

/// The state that an earlier run stored. The outputs are then open at the end of their valid bytes.
fn load_state(
    journal: &Journal,
    request: &Request<'_>,
    layout: &Layout,
    outputs: &mut Vec<Output>,
) -> Result<Option<State>, Error> {
    if request.journaling.as_ref().is_some_and(|journaling| journaling.fresh) {
        journal.remove()?;
        return Ok(None);
    }
    // An error in the journal must not remove the partial files that it describes.
    outputs.iter_mut().for_each(Output::keep);
    let state = match journal.find(request.plan) {
        Ok(Some(state)) => state,
        no_state => {
            outputs.iter_mut().filter(|output| no_state.is_ok() || output.is_empty()).for_each(Output::abandon);
            return no_state;
        }
    };
    if state.files.len() != outputs.len() || !state.row.is_multiple_of(layout.chunk_rows) && !state.complete {
        return Err(damaged(Some(journal)));
    }
    let mut resumed = Vec::new();
    for (output, (length, _)) in outputs.iter_mut().zip(&state.files) {
        resumed.push(output.resume_at(*length)?);
    }
    let mut published = Vec::new();
    for output in outputs.iter().filter(|_| state.complete) {
        published.push(output.is_published()?);
    }
    if state.complete && resumed.iter().zip(&published).all(|(resumed, published)| *resumed || *published) {
        // Outputs without a partial file have been renamed already.
        let mut resumed = resumed.into_iter();
        outputs.retain_mut(|output| {
            let is_partial = resumed.next().unwrap_or(false);
            if !is_partial {
                output.abandon();
            }
            is_partial
        });
        return Ok(Some(state));
    }
    if state.complete || resumed.contains(&false) {
        outputs.iter_mut().for_each(Output::abandon);
        journal.remove()?;
        return Ok(None);
    }
    Ok(Some(state))
}

/// Publishes complete outputs by renaming them. A failure before the first rename leaves all files as they were.
pub(super) fn publish(writer: &mut Writer, cancel: &Cancel) -> Result<(), Error> {
    for output in &mut writer.outputs {
        output.sync()?;
    }
    cancel.check()?;
    for output in &mut writer.outputs {
        output.publish()?;
    }
    match writer.journal.as_ref().filter(|_| writer.journaled) {
        Some(journal) => journal.remove(),
        None => Ok(()),
    }
}

/// The error for a journal whose state does not fit the render.
pub(super) fn damaged(journal: Option<&Journal>) -> Error {
    let error = InputError::new(Problem::JournalDoesNotFit);
    journal.into_iter().fold(error, |error, journal| error.in_file(journal.path())).into()
}
