//! A disk in memory that loses power, or fails at an operation of one's choice.
//!
//! It keeps what the program sees and what would survive apart. Bytes survive once their file is synced, names once their
//! folder is; of what was not, any part may survive, in any order and torn: a loss of power takes a random choice of it.

use super::disk::{Disk, DiskFile};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Before the n-th operation, from 0, power is lost: it and all later ones fail.
    Power(u64),
    /// The n-th operation fails, once or from then on, as this kind of error; a write may have written some of its bytes.
    Error { at: u64, lasting: bool, kind: io::ErrorKind },
}

#[derive(Debug, Default)]
struct World {
    fault: Fault,
    operations: u64,
    /// What each name means, as the program sees it and as it would survive.
    names: BTreeMap<PathBuf, usize>,
    durable_names: BTreeMap<PathBuf, usize>,
    /// Changes of names since the folder was synced: a name and what it means from then on, together for a renaming.
    renamed: Vec<Vec<(PathBuf, Option<usize>)>>,
    files: Vec<Bytes>,
}

#[derive(Debug, Default)]
struct Bytes {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Changes since the file was synced.
    changes: Vec<Change>,
    open: bool,
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
            // What was to be in between never came: zeros.
            if bytes.len() < at + written.len() {
                bytes.resize(at + written.len(), 0);
            }
            bytes[*at..at + written.len()].copy_from_slice(written);
        }
    }
}

/// The disk. Clones are the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<World>>);

impl FaultyDisk {
    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this goes wrong; operations are counted from here.
    pub(crate) fn set(&self, fault: Fault) {
        let mut world = self.world();
        (world.fault, world.operations) = (fault, 0);
    }

    /// Operations since then.
    pub(crate) fn operations(&self) -> u64 {
        self.world().operations
    }

    /// Power comes back: what had not been synced survives by chance. `random` gives numbers below its argument.
    pub(crate) fn reboot(&self, mut random: impl FnMut(usize) -> usize) {
        let mut world = self.world();
        let world = &mut *world;
        for file in &mut world.files {
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
        for change in std::mem::take(&mut world.renamed) {
            if random(2) == 0 {
                continue;
            }
            for (name, file) in change {
                match file {
                    Some(file) => drop(world.durable_names.insert(name, file)),
                    None => drop(world.durable_names.remove(&name)),
                }
            }
        }
        world.names.clone_from(&world.durable_names);
        (world.fault, world.operations) = (Fault::None, 0);
    }

    /// The process ends, and nothing else does: all that it wrote is there.
    pub(crate) fn restart(&self) {
        let mut world = self.world();
        world.files.iter_mut().for_each(|file| file.open = false);
        (world.fault, world.operations) = (Fault::None, 0);
    }

    /// What is there under a name.
    pub(crate) fn contents(&self, path: &Path) -> Option<Vec<u8>> {
        let world = self.world();
        world.names.get(path).map(|file| world.files[*file].now.clone())
    }

    /// All names.
    pub(crate) fn names(&self) -> Vec<PathBuf> {
        self.world().names.keys().cloned().collect()
    }

    /// Puts a file there, safe and sound.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8]) {
        let mut world = self.world();
        let file = world.files.len();
        world.files.push(Bytes { now: bytes.to_vec(), durable: bytes.to_vec(), ..Bytes::default() });
        world.names.insert(path.to_owned(), file);
        world.durable_names.insert(path.to_owned(), file);
    }
}

impl World {
    /// An operation: whether it goes well.
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
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut world = self.world();
        world.operate()?;
        let file = match world.names.get(path) {
            Some(file) => *file,
            None => {
                world.files.push(Bytes::default());
                let file = world.files.len() - 1;
                world.rename(vec![(path.to_owned(), Some(file))]);
                file
            }
        };
        if std::mem::replace(&mut world.files[file].open, true) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(FaultyFile { disk: self.clone(), file }))
    }

    fn read(&self, path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.world().operate()?;
        Ok(self.contents(path).map(|bytes| bytes.into_iter().take(most as usize).collect()))
    }

    fn rename(&self, from: &Path, to: &Path, replace: bool) -> io::Result<()> {
        let mut world = self.world();
        world.operate()?;
        let file = *world.names.get(from).ok_or(io::ErrorKind::NotFound)?;
        if !replace && world.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        world.rename(vec![(from.to_owned(), None), (to.to_owned(), Some(file))]);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.operate()?;
        if world.names.contains_key(path) {
            world.rename(vec![(path.to_owned(), None)]);
        }
        Ok(())
    }

    fn sync_folder(&self, _: &Path) -> io::Result<()> {
        let mut world = self.world();
        world.operate()?;
        world.renamed.clear();
        world.durable_names = world.names.clone();
        Ok(())
    }
}

#[derive(Debug)]
struct FaultyFile {
    disk: FaultyDisk,
    file: usize,
}

impl FaultyFile {
    fn change(&self, change: Change) -> io::Result<()> {
        let mut world = self.disk.world();
        let fine = world.operate();
        let change = match (&fine, change) {
            (Ok(()), change) => change,
            // A failing write has written something all the same.
            (Err(_), Change::Write(at, mut bytes)) if world.fault != Fault::None => {
                bytes.truncate(bytes.len() / 2);
                Change::Write(at, bytes)
            }
            _ => return fine,
        };
        let file = &mut world.files[self.file];
        apply(&mut file.now, &change);
        file.changes.push(change);
        fine
    }
}

impl DiskFile for FaultyFile {
    fn length(&self) -> io::Result<u64> {
        let mut world = self.disk.world();
        world.operate()?;
        Ok(world.files[self.file].now.len() as u64)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.change(Change::Truncate(length as usize))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let at = self.disk.world().files[self.file].now.len();
        self.change(Change::Write(at, bytes.to_vec()))
    }

    fn sync(&self) -> io::Result<()> {
        let mut world = self.disk.world();
        world.operate()?;
        let file = &mut world.files[self.file];
        file.durable.clone_from(&file.now);
        file.changes.clear();
        Ok(())
    }
}

impl Drop for FaultyFile {
    fn drop(&mut self) {
        self.disk.world().files[self.file].open = false;
    }
}
