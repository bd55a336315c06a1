//! Archives, `.tar.gz`: written with bytes that depend on their entries alone, and read.

use flate2::Compression;
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::{self, Read};

/// A regular file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its content.
    pub(crate) bytes: Vec<u8>,
    /// Whether it is a program.
    pub(crate) executable: bool,
}

/// The entries of an archive by path, `/` between folders.
pub(crate) type Entries = BTreeMap<String, Entry>;

/// Packs entries in the order of their paths. Each has the time `time` (seconds since 1970), owner and group 0 and the
/// mode 755 or 644. The gzip header holds no time, no name and no operating system.
pub(crate) fn pack(entries: &Entries, time: u64) -> io::Result<Vec<u8>> {
    let gzip = flate2::GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(gzip);
    for (path, entry) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(if entry.executable { 0o755 } else { 0o644 });
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(time);
        header.set_size(entry.bytes.len() as u64);
        archive.append_data(&mut header, path, entry.bytes.as_slice())?;
    }
    archive.into_inner()?.finish()
}

/// Unpacks an archive in memory.
///
/// # Errors
/// When it is damaged or has an entry that is not a regular file.
pub(crate) fn unpack(archive: &[u8]) -> io::Result<Entries> {
    let mut entries = Entries::new();
    for entry in tar::Archive::new(GzDecoder::new(archive)).entries()? {
        let mut entry = entry?;
        let path = entry.path()?.to_string_lossy().into_owned();
        if entry.header().entry_type() != tar::EntryType::Regular {
            return Err(io::Error::other(format!("{path} is not a regular file")));
        }
        let executable = entry.header().mode()? & 0o111 != 0;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        entries.insert(path, Entry { bytes, executable });
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: u64 = 1_700_000_000;

    fn entries(names: &[&str]) -> Entries {
        let entry = |name: &str| Entry { bytes: name.repeat(100).into_bytes(), executable: name.ends_with("program") };
        names.iter().map(|name| ((*name).to_owned(), entry(name))).collect()
    }

    #[test]
    fn entries_survive_packing() {
        let entries = entries(&["a/program", "a/text", "b"]);
        assert_eq!(unpack(&pack(&entries, TIME).unwrap()).unwrap(), entries);
    }

    #[test]
    fn bytes_depend_on_entries_and_time_alone() {
        let first = pack(&entries(&["a/program", "a/text", "b"]), TIME).unwrap();
        assert_eq!(first, pack(&entries(&["b", "a/text", "a/program"]), TIME).unwrap());
        assert_ne!(first, pack(&entries(&["a/program", "a/text", "b"]), TIME + 1).unwrap());
        // No time, no name, operating system 255 ("unknown"): RFC 1952, section 2.3.
        assert_eq!(first[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
        assert_eq!(first[9], 255);
    }

    #[test]
    fn headers_hold_neither_user_nor_present_time() {
        let packed = pack(&entries(&["a/program", "b"]), TIME).unwrap();
        for entry in tar::Archive::new(GzDecoder::new(packed.as_slice())).entries().unwrap() {
            let entry = entry.unwrap();
            let header = entry.header();
            let mode = if entry.path().unwrap().ends_with("program") { 0o755 } else { 0o644 };
            assert_eq!(header.mode().unwrap(), mode);
            assert_eq!((header.uid().unwrap(), header.gid().unwrap(), header.mtime().unwrap()), (0, 0, TIME));
            assert!(header.username_bytes().unwrap_or_default().is_empty());
        }
    }

    #[test]
    fn a_damaged_archive_is_an_error() {
        let packed = pack(&entries(&["a", "b"]), TIME).unwrap();
        assert!(unpack(&packed[..packed.len() / 2]).is_err());
    }
}
