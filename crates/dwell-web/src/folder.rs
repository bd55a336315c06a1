//! The user's folder: bookmarks as location files, and posters with what they are made from. No path leads out of it: names have
//! letters, digits and `-` alone.

use crate::bounds::MOST_BOOKMARKS;
use crate::failure::Failure;
use crate::token::Token;
use axum::http::StatusCode;
use dwell::store::{self, PartialFiles};
use dwell::{Error, Location};
use std::io;
use std::path::{Path, PathBuf};

/// The file of the link: port and token.
const LINK: &str = "link.txt";
/// The folder of posters.
const POSTERS: &str = "posters";
/// Most characters of a name.
const MOST_CHARACTERS: usize = 64;

/// The folder of a user.
#[derive(Clone)]
pub(crate) struct Folder {
    path: PathBuf,
    partial_files: PartialFiles,
}

/// A name of a file, without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

impl Name {
    /// A name as given.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if text.is_empty() || text.len() > MOST_CHARACTERS || text.starts_with('-') || !text.bytes().all(is_plain) {
            let error = format!("a name has 1 to {MOST_CHARACTERS} lower-case letters, digits and \"-\"");
            return Err(Failure::unprocessable(error));
        }
        Ok(Self(text.to_owned()))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A bookmark in a list.
#[derive(serde::Serialize)]
pub(crate) struct Bookmark {
    name: String,
    title: String,
}

impl Folder {
    /// The folder of a path, which need not exist.
    pub(crate) fn at(path: PathBuf, partial_files: &PartialFiles) -> Self {
        Self { path, partial_files: partial_files.clone() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path is that of something else.
    pub(crate) fn is_no_folder(&self) -> bool {
        self.path.exists() && !self.path.is_dir()
    }

    /// Creates what is missing, for its owner alone.
    ///
    /// # Errors
    /// When that fails.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let created = create(&self.path).and_then(|()| create(&self.posters()));
        created.map_err(|source| Error::Write { path: self.path.clone(), source })
    }

    /// The folder of posters.
    pub(crate) fn posters(&self) -> PathBuf {
        self.path.join(POSTERS)
    }

    /// Port and token of the server before.
    pub(crate) fn last_link(&self) -> Option<(u16, Token)> {
        let text = std::fs::read_to_string(self.path.join(LINK)).ok()?;
        let (port, token) = text.trim_end().split_once(' ')?;
        Some((port.parse().ok()?, Token::parse(token)?))
    }

    /// Keeps port and token for the next server.
    pub(crate) fn keep_link(&self, port: u16, token: &Token) -> Result<(), Error> {
        let path = self.path.join(LINK);
        store::write_text(&path, &format!("{port} {}\n", token.text()), &self.partial_files)?;
        owned(&path).map_err(|source| Error::Write { path, source })
    }

    fn bookmark(&self, name: &Name) -> PathBuf {
        self.path.join(format!("{}.toml", name.0))
    }

    fn names(&self) -> io::Result<Vec<Name>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?.file_name();
            let name = entry.to_str().and_then(|file| file.strip_suffix(".toml"));
            names.extend(name.and_then(|name| Name::parse(name).ok()));
        }
        names.sort_by(|a, b| a.0.cmp(&b.0));
        names.truncate(MOST_BOOKMARKS);
        Ok(names)
    }

    /// The bookmarks. A file that is no location is listed under its name.
    pub(crate) fn bookmarks(&self) -> Result<Vec<Bookmark>, Failure> {
        let names = self.names().map_err(|error| unreadable(&error))?;
        let title =
            |name: &Name| Location::read(&self.bookmark(name)).map(|location| location.scene.title).unwrap_or_default();
        Ok(names.iter().map(|name| Bookmark { name: name.0.clone(), title: title(name) }).collect())
    }

    /// A bookmark.
    pub(crate) fn read(&self, name: &Name) -> Result<Location, Failure> {
        let path = self.bookmark(name);
        if !path.is_file() {
            return Err(Failure::not_found("bookmark of that name"));
        }
        Ok(Location::read(&path)?)
    }

    /// Keeps a bookmark, in place of one of that name.
    pub(crate) fn write(&self, name: &Name, location: &Location) -> Result<(), Failure> {
        let path = self.bookmark(name);
        if !path.exists() && self.names().map_err(|error| unreadable(&error))?.len() >= MOST_BOOKMARKS {
            return Err(Failure::unprocessable(format!("there are {MOST_BOOKMARKS} bookmarks already")));
        }
        Ok(store::write_text(&path, &location.text(), &self.partial_files)?)
    }

    /// Removes a bookmark.
    pub(crate) fn remove(&self, name: &Name) -> Result<(), Failure> {
        std::fs::remove_file(self.bookmark(name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Failure::not_found("bookmark of that name"),
            _ => unreadable(&error),
        })
    }
}

fn unreadable(error: &io::Error) -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the folder cannot be read: {error}"))
}

/// Creates a folder that its owner alone reads.
fn create(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Lets the owner alone read a file.
#[cfg(unix)]
fn owned(path: &Path) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

#[cfg(not(unix))]
fn owned(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::at(dir.path().join("explorer"), &PartialFiles::default());
        folder.create().unwrap();
        (dir, folder)
    }

    #[test]
    fn names_lead_nowhere_else() {
        for good in ["a", "kf-1e50", "0", &"a".repeat(64)] {
            assert!(Name::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "../a",
            "a/b",
            "/etc/passwd",
            "a\\b",
            "a.toml",
            "A",
            "a b",
            "a\0",
            "-a",
            "%2e%2e",
            "ä",
            "a\n",
            "~",
            "link.txt",
            "c:",
            "nul\u{202e}",
            &"a".repeat(65),
        ] {
            assert!(Name::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn bookmarks_are_location_files() {
        let (dir, folder) = folder();
        let name = Name::parse("here").unwrap();
        assert_eq!(folder.read(&name).unwrap_err().status, StatusCode::NOT_FOUND);
        let location = Location::built_in("kf-1e50").unwrap();
        folder.write(&name, &location).unwrap();
        assert_eq!(folder.read(&name).unwrap().text(), location.text());
        assert!(dir.path().join("explorer/here.toml").is_file());
        assert_eq!(folder.bookmarks().unwrap().len(), 1);
        folder.remove(&name).unwrap();
        assert_eq!(folder.remove(&name).unwrap_err().status, StatusCode::NOT_FOUND);
        assert!(folder.bookmarks().unwrap().is_empty());
    }

    #[test]
    fn the_link_of_the_server_before_is_kept() {
        let (_dir, folder) = folder();
        assert!(folder.last_link().is_none());
        let token = Token::random().unwrap();
        folder.keep_link(8080, &token).unwrap();
        let (port, kept) = folder.last_link().unwrap();
        assert!(port == 8080 && kept.is(token.text()));
        store::write_text(&folder.path.join(LINK), "x", &PartialFiles::default()).unwrap();
        assert!(folder.last_link().is_none());
    }
}
