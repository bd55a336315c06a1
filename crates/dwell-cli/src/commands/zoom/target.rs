//! Where the frames of a zoom and its film go.

use crate::error_text::{Failure, Usage};
use dwell::{Error, Location, quote};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The fewest digits of a frame's number.
const DIGITS: usize = 4;
/// The last bytes of a complete PNG.
const END_OF_PNG: &[u8; 12] = b"\0\0\0\0IEND\xae\x42\x60\x82";
/// Where they begin, from the end.
const TO_END: i64 = -12;
/// What is added to a film's name for the folder of its frames.
const FRAMES: &str = ".frames";
/// Endings of pictures and films that cannot be written here, so that a folder of that name is not meant.
const OTHERS: [&str; 12] = ["png", "ppm", "npy", "csv", "jpg", "jpeg", "gif", "webp", "apng", "avi", "m4v", "y4m"];

/// The kind of a film by the ending of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Mp4,
    Webm,
    Mkv,
    Mov,
}

impl Kind {
    const ALL: [(&'static str, Self); 4] =
        [("mp4", Self::Mp4), ("webm", Self::Webm), ("mkv", Self::Mkv), ("mov", Self::Mov)];

    pub(super) fn ending(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(ending, _)| ending)
    }
}

/// The folder of the frames, and the film that is made of them, if one is wanted.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) folder: PathBuf,
    pub(super) film: Option<(PathBuf, Kind)>,
    digits: usize,
}

impl Target {
    /// The target that `-o` names, for so many frames.
    pub(super) fn of(output: Option<&Path>, frames: u32) -> Result<Self, Usage> {
        let accepted = "a folder, or a film: .mp4, .webm, .mkv, .mov";
        let Some(path) = output else {
            return Err(Usage::new("-o", "no output is named")
                .hint("give a film or a folder, such as -o zoom.mp4 or -o frames"));
        };
        if path.as_os_str().is_empty() || path == Path::new("-") {
            return Err(Usage::new("-o", format!("{} is no film and no folder", quote(&path.to_string_lossy())))
                .accepts(accepted));
        }
        let digits = frames.to_string().len().max(DIGITS);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let is_folder = path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/');
        let kind = ending.as_deref().and_then(|ending| Kind::ALL.iter().find(|(known, _)| *known == ending));
        match (kind, ending) {
            (Some((_, kind)), _) if !is_folder => {
                let mut name = OsString::from(path);
                name.push(FRAMES);
                Ok(Self { folder: name.into(), film: Some((path.to_owned(), *kind)), digits })
            }
            (_, Some(ending)) if !is_folder && OTHERS.contains(&ending.as_str()) => {
                let problem = format!("the ending {} is no film's", quote(&format!(".{ending}")));
                Err(Usage::new("-o", problem).accepts(accepted).hint("a folder holds the frames as PNGs"))
            }
            _ => Ok(Self { folder: path.to_owned(), film: None, digits }),
        }
    }

    /// The file of a frame, from 0.
    pub(super) fn frame(&self, frame: u32) -> PathBuf {
        self.folder.join(format!("frame-{:0digits$}.png", u64::from(frame) + 1, digits = self.digits))
    }

    /// The file that describes the zoom.
    pub(super) fn record(&self) -> PathBuf {
        self.folder.join("zoom.json")
    }

    /// The file that ffmpeg writes before it is published.
    pub(super) fn encoded(&self, kind: Kind) -> PathBuf {
        self.folder.join(format!("film.{}", kind.ending()))
    }

    /// What the user named.
    pub(super) fn name(&self) -> &Path {
        self.film.as_ref().map_or(&self.folder, |(path, _)| path)
    }

    /// The files in the folder that have the name of a frame, in any order.
    pub(super) fn frames_there(&self) -> io::Result<Vec<PathBuf>> {
        if !self.folder.exists() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.folder)? {
            let entry = entry?;
            let name = entry.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("frame-")?.strip_suffix(".png"));
            if number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())) {
                found.push(entry.path());
            }
        }
        Ok(found)
    }

    /// Creates the folder if it does not exist.
    pub(super) fn create_folder(&self) -> Result<(), Error> {
        std::fs::create_dir_all(&self.folder).map_err(|source| Error::Write { path: self.folder.clone(), source })
    }
}

/// The text stored in a complete picture of dwell; `None` if nothing has the name, or the picture is cut off.
///
/// # Errors
/// When something else has the name: it is not replaced.
pub(super) fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|_| in_the_way(path))?,
    };
    let text = Location::read_with_text(path).ok().and_then(|(_, text)| text).ok_or_else(|| in_the_way(path))?;
    let mut end = [0; END_OF_PNG.len()];
    let read = file.seek(SeekFrom::End(TO_END)).and_then(|_| file.read_exact(&mut end));
    Ok((read.is_ok() && end == *END_OF_PNG).then_some(text))
}

/// The error of a file that has a frame's name and is none of this zoom's.
pub(super) fn in_the_way(path: &Path) -> Failure {
    let source = io::Error::other("it is in the way: it is no frame of this zoom");
    Failure::from(Error::Write { path: path.to_owned(), source }).hint("move it, or give another -o")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_a_film_or_a_folder() {
        let of = |name: &str, frames| Target::of(Some(Path::new(name)), frames);
        let film = of("a/b.MP4", 300).unwrap();
        assert_eq!(film.film, Some(("a/b.MP4".into(), Kind::Mp4)));
        assert_eq!(film.frame(0), Path::new("a/b.MP4.frames/frame-0001.png"));
        for name in ["frames", "frames.v2", "frames.mp4/", "."] {
            let folder = of(name, 100_000).unwrap();
            assert!(folder.film.is_none() && folder.frame(99_999).ends_with("frame-100000.png"), "{name}");
        }
        assert!(["", "-", "a.png", "a.avi", "a.GIF"].iter().all(|name| of(name, 9).is_err()));
        assert!(Target::of(None, 9).is_err());
    }
}
