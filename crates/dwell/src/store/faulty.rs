//! A disk in memory that loses power or fails at a chosen operation.
//!
//! It stores the state that the program sees separately from the durable state. Contents are durable after their file
//! is synced, names after their folder is. Of unsynced changes, any subset may survive a power loss, in any order and
//! with partial writes; [`FaultyDisk::reboot`] chooses it at random.

use super::disk::{Disk, DiskFile, FileId, Replaced};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The fault to simulate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Power is lost before this operation, counted from 0: it and all later operations fail.
    Power(u64),
    /// Operation `at`, counted from 0, fails with this kind of error, and with `lasting` all later operations too. A
    /// failing write stores half of its bytes.
    Error { at: u64, lasting: bool, kind: io::ErrorKind },
}

/// What a file is that another program made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file of this user with one name.
    #[default]
    Own,
    /// A link, a FIFO, a file of another user or with several names.
    Foreign,
}

#[derive(Debug, Default)]
struct State {
    fault: Fault,
    /// Whether the file system has no locks.
    lockless: bool,
    operations: u64,
    /// The file of each name, as an index into `files`: as the program sees it, and the durable state.
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since the folder was synced: a name and its new file. A rename is one entry of two changes.
    renamed: Vec<Vec<(PathBuf, Option<usize>)>>,
    files: Vec<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Changes since the last sync of the file.
    changes: Vec<Change>,
    open: bool,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Change {
    Truncate(usize),
    Write(usize, Vec<u8>),
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Truncate(length) => bytes.truncate(*length),
        Change::Write(at, written) => {
            // Contents of a lost write before this one are zeros.
            if bytes.len() < at + written.len() {
                bytes.resize(at + written.len(), 0);
            }
            bytes[*at..at + written.len()].copy_from_slice(written);
        }
    }
}

/// The disk. Clones share its state.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<State>>);

impl FaultyDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the fault and starts counting operations from 0.
    pub(crate) fn set(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.operations) = (fault, 0);
    }

    /// The number of operations since [`Self::set`], [`Self::reboot`] or [`Self::restart`].
    pub(crate) fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Restores power. A random part of the unsynced changes survives; `random` returns numbers below its argument.
    pub(crate) fn reboot(&self, mut random: impl FnMut(usize) -> usize) {
        let mut state = self.state();
        let state = &mut *state;
        for file in &mut state.files {
            for change in std::mem::take(&mut file.changes) {
                match (random(3), change) {
                    (0, _) => {}
                    (1, Change::Write(at, mut bytes)) => {
                        bytes.truncate(random(bytes.len() + 1));
                        apply(&mut file.durable, &Change::Write(at, bytes));
                    }
                    (_, change) => apply(&mut file.durable, &change),
                }
            }
            file.now.clone_from(&file.durable);
            file.open = false;
        }
        for change in std::mem::take(&mut state.renamed) {
            if random(2) == 0 {
                continue;
            }
            for (name, file) in change {
                match file {
                    Some(file) => drop(state.durable_names.insert(name, file)),
                    None => drop(state.durable_names.remove(&name)),
                }
            }
        }
        state.names.clone_from(&state.durable_names);
        (state.fault, state.operations) = (Fault::None, 0);
    }

    /// Ends the process but not the power: all written data remain.
    pub(crate) fn restart(&self) {
        let mut state = self.state();
        state.files.iter_mut().for_each(|file| file.open = false);
        (state.fault, state.operations) = (Fault::None, 0);
    }

    /// The contents of a file.
    pub(crate) fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|file| state.files[*file].now.clone())
    }

    /// The names of all files.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        self.state().names.keys().cloned().collect()
    }

    /// The identity of the file of this name.
    pub(crate) fn id(&self, path: &Path) -> FileId {
        id_of(self.state().names[path])
    }

    /// Makes the file system one without locks.
    pub(crate) fn without_locks(&self) {
        self.state().lockless = true;
    }

    /// Adds a durable file, in place of one that has this name.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
        self.put_kind(path, bytes, Kind::Own);
    }

    /// Adds a durable file that may be foreign.
    pub(crate) fn put_kind(&self, path: &Path, bytes: &[u8], kind: Kind) {
        let mut state = self.state();
        let file = state.files.len();
        state.files.push(Contents { now: bytes.to_vec(), durable: bytes.to_vec(), kind, ..Contents::default() });
        state.names.insert(path.to_owned(), file);
        state.durable_names.insert(path.to_owned(), file);
    }
}

impl State {
    /// Counts an operation and returns its simulated result.
    fn operate(&mut self) -> io::Result<()> {
        let number = self.operations;
        self.operations += 1;
        match self.fault {
            Fault::Power(at) if number >= at => Err(io::Error::other("no power")),
            Fault::Error { at, lasting, kind } if number == at || lasting && number > at => Err(kind.into()),
            _ => Ok(()),
        }
    }

    fn rename(&mut self, changes: Vec<(PathBuf, Option<usize>)>) {
        for (name, file) in &changes {
            match file {
                Some(file) => drop(self.names.insert(name.clone(), *file)),
                None => drop(self.names.remove(name)),
            }
        }
        self.renamed.push(changes);
    }
}

impl Disk for FaultyDisk {
    fn create(&self, path: &Path, _: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.operate()?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.files.push(Contents { open: true, ..Contents::default() });
        let file = state.files.len() - 1;
        state.rename(vec![(path.to_owned(), Some(file))]);
        Ok(Box::new(FaultyFile { disk: self.clone(), file }))
    }

    fn open(&self, path: &Path) -> io::Result<Option<Box<dyn DiskFile>>> {
        let mut state = self.state();
        state.operate()?;
        let Some(file) = state.names.get(path).copied() else { return Ok(None) };
        if state.files[file].kind == Kind::Foreign {
            return Ok(None);
        }
        if std::mem::replace(&mut state.files[file].open, true) && !state.lockless {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Some(Box::new(FaultyFile { disk: self.clone(), file })))
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Option<(FileId, Vec<u8>)>> {
        let mut state = self.state();
        state.operate()?;
        let Some(file) = state.names.get(path).copied() else { return Ok(None) };
        let contents = &state.files[file];
        if contents.kind == Kind::Foreign {
            return Err(io::Error::other("it is not a regular file"));
        }
        Ok(Some((id_of(file), contents.now.iter().copied().take(most as usize).collect())))
    }

    fn open_published(&self, path: &Path) -> io::Result<Option<Box<dyn io::Read>>> {
        self.state().operate()?;
        Ok(self.contents(path).map(|bytes| -> Box<dyn io::Read> { Box::new(io::Cursor::new(bytes)) }))
    }

    fn rename(&self, from: &Path, to: &Path, replaced: Replaced) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        let file = *state.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        let may_replace = match (replaced, state.names.get(to)) {
            (Replaced::File, _) | (Replaced::Nothing, None) => true,
            (Replaced::Only(id), Some(old)) => id_of(*old) == id,
            (Replaced::Nothing, Some(_)) | (Replaced::Only(_), None) => false,
        };
        if !may_replace {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.rename(vec![(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    fn remove(&self, path: &Path, id: FileId) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        if state.names.get(path).is_some_and(|file| id_of(*file) == id) {
            state.rename(vec![(path.to_owned(), None)]);
        }
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        state.renamed.clear();
        state.durable_names = state.names.clone();
        Ok(())
    }
}

fn id_of(file: usize) -> FileId {
    FileId(1, file as u64)
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    file: usize,
}

impl FaultyFile {
    fn change(&self, change: Change) -> io::Result<()> {
        let mut state = self.disk.state();
        let result = state.operate();
        let change = match (&result, change) {
            (Ok(()), change) => change,
            // A failing write stores half of its bytes.
            (Err(_), Change::Write(at, mut bytes)) if state.fault != Fault::None => {
                bytes.truncate(bytes.len() / 2);
                Change::Write(at, bytes)
            }
            _ => return result,
        };
        let file = &mut state.files[self.file];
        apply(&mut file.now, &change);
        file.changes.push(change);
        result
    }
}

impl DiskFile for FaultyFile {
    fn id(&self) -> FileId {
        id_of(self.file)
    }

    fn is_locked(&self) -> bool {
        !self.disk.state().lockless
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.operate()?;
        let rest = state.files[self.file].now.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(bytes.len());
        bytes[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn take_permissions(&self, path: &Path) -> io::Result<()> {
        let mut state = self.disk.state();
        state.operate()?;
        let is_foreign = state.names.get(path).is_some_and(|file| state.files[*file].kind == Kind::Foreign);
        if is_foreign { Err(io::Error::other("it is not a regular file any more")) } else { Ok(()) }
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.change(Change::Truncate(length as usize))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let at = self.disk.state().files[self.file].now.len();
        self.change(Change::Write(at, bytes.to_vec()))
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.disk.state();
        state.operate()?;
        let file = &mut state.files[self.file];
        file.durable.clone_from(&file.now);
        file.changes.clear();
        Ok(())
    }
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        self.disk.state().files[self.file].open = false;
    }
}
