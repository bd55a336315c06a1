//! The journal of a long render: its state on disk, from which the render resumes after it was killed.
//!
//! The journal is stored beside the first output as `NAME.dwell-journal`, and the finished part of each output beside that
//! output as `NAME.dwell-partial`. A journal describes the whole state and is replaced whole: it has the length of each
//! partial file up to which its bytes are valid, the state that encoding them left (checksums, counts, the hash so far), and
//! the rows that were computed but not yet encoded. The following holds at every moment, so that a kill or a loss of power
//! at any moment loses no file:
//!
//! 1. A journal is renamed into place only after the bytes that it describes, and then the journal itself, were synced.
//! 2. Bytes of a partial file beyond the length in the journal are cut off. Bytes within that length are never written again.
//! 3. When every byte is in the partial files and synced, a journal is saved that marks the render as complete. Only then are
//!    the partial files renamed, so that from then on a missing partial file is one that has been renamed.
//! 4. The journal is removed last.
//!
//! The file consists of a line that identifies the format; the length of the identity; the identity, a text that describes
//! what is rendered, to be compared with that of the request; the state (`write`), computed rows included; and the BLAKE3
//! hash of all of that.

use crate::base::error::{Error, InputError};
use crate::base::problem::Problem;
use crate::encode::Adler;
use crate::field::channels::Channel;
use crate::field::{Field, FieldRows};
use crate::plan::Plan;
use crate::render::identity::values;
use crate::render::record::{Reader, Record};
use crate::render::tally::Tally;
use crate::store::{Disk, JOURNAL, beside};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a render keeps its journal.
#[derive(Clone, Debug)]
pub struct Journaling {
    /// The time from one entry to the next, and from the start to the first entry.
    pub interval: Duration,
    /// Whether to remove an existing journal and start from the beginning.
    pub fresh: bool,
}

/// The suffix of a new journal while it is written, after the name of the first output.
const NEW_SUFFIX: &str = ".dwell-journal-new";
/// The first bytes of a journal.
const MAGIC: &[u8; 16] = b"dwell journal 1\n";
/// Bytes of a BLAKE3 hash.
const HASH: usize = 32;
/// Maximum size of a journal in bytes. The rows in it are at most those of a band or of a kept field.
const MAX_BYTES: u64 = 1 << 30;

/// The journal of a render.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    new_path: PathBuf,
    identity: String,
}

/// The state of a render, as a journal stores it.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether every byte is in the partial files.
    pub(crate) complete: bool,
    /// Whether the counting pass is complete, if colours need one.
    pub(crate) counted: bool,
    /// Rows of samples before this one are in the files, or counted.
    pub(crate) row: u32,
    /// For each output, the number of valid bytes in its partial file, and their checksum.
    pub(crate) files: Vec<(u64, Adler)>,
    /// Sums over the rows before `row`.
    pub(crate) tally: Tally,
    /// The counts of the counting pass, as the painter writes them.
    pub(crate) counts: Vec<u8>,
    /// Rows from `row` on that are computed.
    pub(crate) computed: ComputedRows,
}

/// Computed rows as bytes: those of the dwells, then those of each channel.
#[derive(Debug, Default)]
pub(crate) struct ComputedRows {
    rows: u32,
    bytes: [Vec<u8>; 1 + Channel::COUNT],
}

impl ComputedRows {
    /// A copy of some rows.
    ///
    /// # Errors
    /// When the system has not enough memory.
    pub(crate) fn of(rows: FieldRows<'_>) -> Result<Self, InputError> {
        let count = rows.dwell().len() / rows.width().max(1) as usize;
        Ok(Self { rows: count as u32, bytes: rows.channels().to_bytes()? })
    }

    /// The bytes of the rows.
    fn pieces(&self) -> &[Vec<u8>] {
        &self.bytes
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Copies the rows into a field from `row` on. Returns false if they do not fit.
    pub(crate) fn restore(&self, field: &mut Field, row: u32) -> bool {
        let Some(end) = row.checked_add(self.rows).filter(|end| *end <= field.rows().end) else { return false };
        field.rows_mut(row..end).channels_mut().copy_from_bytes(&self.bytes)
    }
}

impl Journal {
    /// The journal of a render whose first output will be at `place`. `identity` is everything that the bytes of the outputs
    /// depend on, as TOML.
    pub(crate) fn beside(disk: Arc<dyn Disk>, place: &Path, identity: String) -> io::Result<Self> {
        Ok(Self { disk, path: beside(place, JOURNAL)?, new_path: beside(place, NEW_SUFFIX)?, identity })
    }

    /// The path of the journal.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The state that an earlier run stored; `None` if there is no journal.
    ///
    /// # Errors
    /// When the file cannot be read, is not a journal or damaged, or is the journal of a render with other parameters.
    pub(crate) fn find(&self, plan: &Plan) -> Result<Option<State>, Error> {
        let refused = |problem: Problem| InputError::new(problem).in_file(&self.path);
        let unreadable = |e: io::Error| refused(Problem::JournalUnreadable { why: e.to_string() });
        let bytes = self.disk.read(&self.path, MAX_BYTES).map_err(unreadable)?;
        let Some(bytes) = bytes else {
            // An earlier run may have stopped before it renamed its first journal.
            let removed = self.disk.remove(&self.new_path);
            removed.map_err(|source| Error::Write { path: self.new_path.clone(), source })?;
            return Ok(None);
        };
        if !bytes.starts_with(MAGIC) {
            return Err(refused(Problem::NotAJournal).into());
        }
        let damaged = || refused(Problem::JournalDamaged);
        let (body, hash) = bytes.split_last_chunk::<HASH>().ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() != hash {
            return Err(damaged().into());
        }
        let mut reader = Reader(&body[MAGIC.len()..]);
        let identity = reader.bytes().map(String::from_utf8_lossy).ok_or_else(damaged)?;
        if identity != self.identity {
            let differing = difference(&identity, &self.identity);
            return Err(refused(Problem::JournalOfAnotherRender { differing }).into());
        }
        let state = read(&mut reader).filter(|state| state.row <= plan.size().height);
        Ok(Some(state.ok_or_else(damaged)?))
    }

    /// Replaces the journal by one with this state.
    pub(crate) fn save(&self, state: &State) -> Result<(), Error> {
        let mut record = Record(MAGIC.to_vec());
        record.bytes(self.identity.as_bytes());
        write(state, &mut record);
        let mut hasher = blake3::Hasher::new();
        let saved = self.disk.open(&self.new_path).and_then(|mut file| {
            file.truncate(0)?;
            // The rows are most of the bytes, so they are written without another copy.
            for bytes in std::iter::once(&record.0).chain(state.computed.pieces()) {
                hasher.update(bytes);
                file.append(bytes)?;
            }
            file.append(hasher.finalize().as_bytes())?;
            file.sync()?;
            self.disk.rename(&self.new_path, &self.path, true)?;
            self.disk.sync_folder(&self.path)
        });
        saved.map_err(|source| {
            let _ = self.disk.remove(&self.new_path);
            Error::Write { path: self.path.clone(), source }
        })
    }

    /// Removes the journal. The render cannot be resumed afterwards.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        let removed = self.disk.remove(&self.new_path).and_then(|()| self.disk.remove(&self.path));
        let removed = removed.and_then(|()| self.disk.sync_folder(&self.path));
        removed.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// Writes the state without the bytes of the computed rows, which follow in the file.
fn write(state: &State, record: &mut Record) {
    record.u32(u32::from(state.complete) | u32::from(state.counted) << 1);
    record.u32(state.row);
    record.u32(state.files.len() as u32);
    for (length, sum) in &state.files {
        record.u64(*length);
        record.u32(sum.value);
        record.u64(sum.length);
    }
    state.tally.write(record);
    record.bytes(&state.counts);
    record.u32(state.computed.rows);
    record.u32(state.computed.pieces().len() as u32);
    for piece in state.computed.pieces() {
        record.u64(piece.len() as u64);
    }
}

fn read(reader: &mut Reader<'_>) -> Option<State> {
    let flags = reader.u32()?;
    let row = reader.u32()?;
    let files = (0..reader.u32()?).map(|_| {
        let length = reader.u64()?;
        Some((length, Adler { value: reader.u32()?, length: reader.u64()? }))
    });
    let files = files.collect::<Option<Vec<_>>>()?;
    let tally = Tally::read(reader)?;
    let counts = reader.bytes()?.to_vec();
    let rows = reader.u32()?;
    if reader.u32()? as usize != 1 + Channel::COUNT {
        return None;
    }
    let mut lengths = [0; 1 + Channel::COUNT];
    for length in &mut lengths {
        *length = reader.u64()?;
    }
    let mut computed = ComputedRows { rows, ..ComputedRows::default() };
    for (bytes, length) in computed.bytes.iter_mut().zip(lengths) {
        *bytes = reader.take_bytes(length)?.to_vec();
    }
    let (complete, counted) = (flags & 1 != 0, flags & 2 != 0);
    (flags < 4 && reader.0.is_empty()).then_some(State { complete, counted, row, files, tally, counts, computed })
}

/// Describes the difference between two TOML texts: the first few keys that differ, with their values before and now.
fn difference(before: &str, now: &str) -> String {
    const SHOWN: usize = 5;
    /// Keys that are listed last, since the others are more informative.
    const MINOR: [&str; 3] = ["title", "source", "dwell"];
    let (before, now) = (values(before), values(now));
    let mut keys: Vec<&String> = before.iter().chain(&now).map(|(key, _)| key).collect();
    keys.sort_by_key(|key| (MINOR.contains(&key.as_str()), key.starts_with("colour."), *key));
    keys.dedup();
    let of = |values: &[(String, String)], key: &String| {
        values.iter().find(|(k, _)| k == key).map_or_else(|| "not given".to_owned(), |(_, value)| value.clone())
    };
    let differing: Vec<String> = keys
        .into_iter()
        .map(|key| (key, of(&before, key), of(&now, key)))
        .filter(|(_, before, now)| before != now)
        .map(|(key, before, now)| format!("{key} was {before} and is {now} now"))
        .collect();
    let more = differing.len().saturating_sub(SHOWN);
    let mut text = differing.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(", and {more} more"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_keys_and_their_values_are_listed() {
        let a = "size = \"4x4\"\n[scene]\nzoom = \"1\"\nre = \"0\"\n";
        let b = "size = \"4x4\"\n[scene]\nzoom = \"2\"\nre = \"0\"\nim = \"1\"\n";
        assert_eq!(difference(a, b), "scene.im was not given and is \"1\" now, scene.zoom was \"1\" and is \"2\" now");
        let many: String = (0..9).map(|i| format!("k{i} = {i}\n")).collect();
        assert!(difference("", &many).ends_with("k4 was not given and is 4 now, and 4 more"));
    }

    #[test]
    fn states_are_read_back_and_shortened_records_are_refused() {
        let mut hasher = crate::render::field_hash::FieldHasher::default();
        hasher.update(&[7; 200_000]);
        let tally = Tally { iterations: u128::MAX / 3, hasher: Some(hasher), ..Tally::default() };
        let state = State {
            complete: true,
            counted: false,
            row: 77,
            files: vec![(5, Adler { value: 6, length: 7 }), (8, Adler::default())],
            tally,
            counts: vec![1, 2, 3],
            computed: ComputedRows { rows: 1, bytes: std::array::from_fn(|i| vec![i as u8; 8 * i]) },
        };
        let mut record = Record::default();
        write(&state, &mut record);
        state.computed.pieces().iter().for_each(|piece| record.0.extend_from_slice(piece));
        let again = read(&mut Reader(&record.0)).unwrap();
        assert_eq!(format!("{state:?}"), format!("{again:?}"));
        for cut in 0..record.0.len() {
            assert!(read(&mut Reader(&record.0[..cut])).is_none(), "{cut}");
        }
    }
}
