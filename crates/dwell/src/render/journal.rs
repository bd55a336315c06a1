//! What a long render remembers on disk, so that it goes on after being killed.
//!
//! Beside the first output stands its journal, `NAME.dwell-journal`, and beside each output the part of it that is done,
//! `NAME.dwell-partial`. A journal is a whole picture of the state, replaced whole: it says how many bytes of each partial
//! file count, with what they were made (checksums, counts, the hash so far), and holds the rows that were iterated but
//! not yet encoded. What holds at any moment, so that no moment of a kill or a loss of power matters:
//!
//! 1. A journal is renamed into place only after the bytes of which it speaks, and then itself, were synced.
//! 2. What a partial file has beyond the length in the journal is cut off; what a journal speaks of is never written again.
//! 3. When every byte is in the partial files and synced, the journal says so; only then are they renamed. From then on a
//!    partial file that is missing is one that has its name already.
//! 4. The journal goes last.
//!
//! The file: a line that says what it is; the length of the rest; what is rendered, as text, to be compared with what is
//! asked for; the state (`Journal::save`); and the BLAKE3 of all of that.

use crate::base::error::{Error, InputError, quote};
use crate::encode::Adler;
use crate::field::{Field, FieldRows};
use crate::plan::Plan;
use crate::render::record::{Reader, Record};
use crate::render::report::Tally;
use crate::store::{Disk, JOURNAL, beside};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How a render keeps its journal.
#[derive(Clone, Debug)]
pub struct Journaling {
    /// The time from one entry to the next; the first is made when so much has passed.
    pub interval: Duration,
    /// Whether to start over where there is one.
    pub fresh: bool,
}

/// What follows the name of the first output while a new journal is written.
const NEW: &str = ".dwell-journal-new";
/// What a journal begins with.
const MAGIC: &[u8; 16] = b"dwell journal 1\n";
/// Bytes of a hash.
const HASH: usize = 32;
/// A journal is not larger: its rows are those of a band, or of a field that is kept.
const MOST_BYTES: u64 = 1 << 30;

/// The journal of a render.
#[derive(Debug)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    new: PathBuf,
    identity: String,
}

/// Where a render is.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Whether every byte is in the partial files.
    pub(crate) complete: bool,
    /// Whether the whole field is known to the colours, where they ask for that.
    pub(crate) counted: bool,
    /// The samples' rows before this one are in the files, or counted.
    pub(crate) row: u32,
    /// For each output, the bytes that count, and their checksum.
    pub(crate) files: Vec<(u64, Adler)>,
    /// Sums over those rows.
    pub(crate) tally: Tally,
    /// The counts for the colours, as the painter writes them.
    pub(crate) counts: Vec<u8>,
    /// Rows from `row` on that are iterated.
    pub(crate) ahead: Ahead,
}

/// Rows as bytes.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    rows: u32,
    dwell: Vec<u8>,
    smooth: Vec<u8>,
    distance: Vec<u8>,
}

impl Ahead {
    /// A copy of some rows.
    pub(crate) fn of(rows: FieldRows<'_>) -> Self {
        let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Self {
            rows: (rows.dwell.len() / rows.width.max(1) as usize) as u32,
            dwell: rows.dwell_bytes().into_owned(),
            smooth: bytes(rows.smooth),
            distance: bytes(rows.distance),
        }
    }

    /// Their bytes.
    fn pieces(&self) -> [&[u8]; 3] {
        [&self.dwell, &self.smooth, &self.distance]
    }

    /// How many rows.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Puts them into a field that has room for them from `row` on. False if they do not fit it.
    pub(crate) fn restore(&self, field: &mut Field, row: u32) -> bool {
        let Some(end) = row.checked_add(self.rows).filter(|end| *end <= field.rows().end) else { return false };
        let part = field.part(row..end);
        let fits = self.dwell.len() == 4 * part.dwell.len()
            && self.smooth.len() == 8 * part.smooth.len()
            && self.distance.len() == 8 * part.distance.len();
        if fits {
            for (value, bytes) in part.dwell.iter_mut().zip(self.dwell.as_chunks().0) {
                *value = u32::from_le_bytes(*bytes);
            }
            for (values, bytes) in [(part.smooth, &self.smooth), (part.distance, &self.distance)] {
                for (value, bytes) in values.iter_mut().zip(bytes.as_chunks().0) {
                    *value = f64::from_le_bytes(*bytes);
                }
            }
        }
        fits
    }
}

impl Journal {
    /// The journal of a render whose first output will be at `place`. `identity` is everything that its bytes depend on,
    /// as TOML.
    pub(crate) fn beside(disk: Arc<dyn Disk>, place: &Path, identity: String) -> io::Result<Self> {
        Ok(Self { disk, path: beside(place, JOURNAL)?, new: beside(place, NEW)?, identity })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What an earlier run has left, if it has.
    ///
    /// # Errors
    /// When it cannot be read, is damaged or somebody else's, or of a render with other parameters.
    pub(crate) fn find(&self, plan: &Plan) -> Result<Option<State>, Error> {
        let refused = |problem: String| {
            InputError::new(self.path.to_string_lossy(), problem)
                .hint("--fresh starts over; another -o leaves both alone")
        };
        let bytes = self.disk.read(&self.path, MOST_BYTES).map_err(|e| refused(format!("cannot be read: {e}")))?;
        let Some(bytes) = bytes else {
            // The first one may not have come to its name.
            let removed = self.disk.remove(&self.new);
            removed.map_err(|source| Error::Write { path: self.new.clone(), source })?;
            return Ok(None);
        };
        if !bytes.starts_with(MAGIC) {
            return Err(InputError::new(self.path.to_string_lossy(), "is in the way: it is no journal of dwell's")
                .hint("move it, or give another -o")
                .into());
        }
        let damaged = || refused("is damaged".to_owned());
        let (body, hash) = bytes.split_last_chunk::<HASH>().ok_or_else(damaged)?;
        if blake3::hash(body).as_bytes() != hash {
            return Err(damaged().into());
        }
        let mut reader = Reader(&body[MAGIC.len()..]);
        let identity = reader.bytes().map(String::from_utf8_lossy).ok_or_else(damaged)?;
        if identity != self.identity {
            return Err(refused(format!("is of another render: {}", difference(&identity, &self.identity))).into());
        }
        let state = read(&mut reader).filter(|state| state.row <= plan.size().height);
        Ok(Some(state.ok_or_else(damaged)?))
    }

    /// Replaces it.
    pub(crate) fn save(&self, state: &State) -> Result<(), Error> {
        let mut record = Record(MAGIC.to_vec());
        record.bytes(self.identity.as_bytes());
        write(state, &mut record);
        let mut hasher = blake3::Hasher::new();
        let saved = self.disk.open(&self.new).and_then(|mut file| {
            file.truncate(0)?;
            // The rows are most of it: they are not copied once more.
            for bytes in std::iter::once(record.0.as_slice()).chain(state.ahead.pieces()) {
                hasher.update(bytes);
                file.append(bytes)?;
            }
            file.append(hasher.finalize().as_bytes())?;
            file.sync()?;
            self.disk.rename(&self.new, &self.path, true)?;
            self.disk.sync_folder(&self.path)
        });
        saved.map_err(|source| {
            let _ = self.disk.remove(&self.new);
            Error::Write { path: self.path.clone(), source }
        })
    }

    /// Removes it for good: nothing is left to go on with, and what happens to the files from here on is not its matter.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        let removed = self.disk.remove(&self.new).and_then(|()| self.disk.remove(&self.path));
        let removed = removed.and_then(|()| self.disk.sync_folder(&self.path));
        removed.map_err(|source| Error::Write { path: self.path.clone(), source })
    }
}

/// Everything but the rows, which follow.
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
    record.u32(state.ahead.rows);
    for piece in state.ahead.pieces() {
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
    let lengths = [reader.u64()?, reader.u64()?, reader.u64()?];
    let mut piece = |length: u64| reader.take_bytes(length).map(<[u8]>::to_vec);
    let ahead = Ahead { rows, dwell: piece(lengths[0])?, smooth: piece(lengths[1])?, distance: piece(lengths[2])? };
    let (complete, counted) = (flags & 1 != 0, flags & 2 != 0);
    (flags < 4 && reader.0.is_empty()).then_some(State { complete, counted, row, files, tally, counts, ahead })
}

/// What differs between two texts in TOML: the first few keys, and their values before and now.
fn difference(before: &str, now: &str) -> String {
    const SHOWN: usize = 5;
    /// What people look at last.
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

/// Keys of a TOML text, those in tables with the table's name in front, and their values as text.
fn values(text: &str) -> Vec<(String, String)> {
    fn add(table: &toml::Table, outer: &str, values: &mut Vec<(String, String)>) {
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) => add(inner, &format!("{outer}{key}."), values),
                toml::Value::String(text) => values.push((format!("{outer}{key}"), quote(text))),
                other => values.push((format!("{outer}{key}"), other.to_string())),
            }
        }
    }
    let mut values = Vec::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        add(&table, "", &mut values);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named() {
        let a = "size = \"4x4\"\n[scene]\nzoom = \"1\"\nre = \"0\"\n";
        let b = "size = \"4x4\"\n[scene]\nzoom = \"2\"\nre = \"0\"\nim = \"1\"\n";
        assert_eq!(difference(a, b), "scene.im was not given and is \"1\" now, scene.zoom was \"1\" and is \"2\" now");
        let many: String = (0..9).map(|i| format!("k{i} = {i}\n")).collect();
        assert!(difference("", &many).ends_with("k4 was not given and is 4 now, and 4 more"));
    }

    #[test]
    fn states_are_read_as_they_were_written() {
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
            ahead: Ahead { rows: 1, dwell: vec![1; 8], smooth: vec![2; 16], distance: Vec::new() },
        };
        let mut record = Record::default();
        write(&state, &mut record);
        state.ahead.pieces().into_iter().for_each(|piece| record.0.extend_from_slice(piece));
        let again = read(&mut Reader(&record.0)).unwrap();
        assert_eq!(format!("{state:?}"), format!("{again:?}"));
        for cut in 0..record.0.len() {
            assert!(read(&mut Reader(&record.0[..cut])).is_none(), "{cut}");
        }
    }
}
