//! Locations of other programs. Each reader translates a file into the text of a location file, so that there is one
//! format in which values are checked and one meaning of what is left out. Each writer says what it cannot express.
//!
//! The conventions of each program stand in its file, with their sources; docs/formats.md has a table of them.

mod f3;
mod kfr;
mod numbers;
mod outline;
mod palettes;
mod par;
mod par_colours;
mod translation;
mod upr;
mod xpf;

pub(super) use translation::Translation;

use crate::base::error::InputError;
use crate::scene::Scene;
use outline::Outline;
use std::path::{Path, PathBuf};

/// A format of location files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocationFormat {
    /// This project's own format.
    Toml,
    /// Kalles Fraktaler 2 and 2+.
    Kfr,
    /// Fraktaler 3.
    F3,
    /// Ultra Fractal: several entries in a file.
    Upr,
    /// Fractint and its successors: several entries in a file.
    Par,
    /// XaoS.
    Xpf,
}

dwell_kernels::named!(LocationFormat, "location format":
    Toml => "toml",
    Kfr => "kfr",
    F3 => "f3.toml",
    Upr => "upr",
    Par => "par",
    Xpf => "xpf",
);

impl LocationFormat {
    /// The format that the ending of a file's name stands for.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        // `f3.toml` before `toml`, which is its end.
        let formats = [Self::F3, Self::Toml, Self::Kfr, Self::Upr, Self::Par, Self::Xpf];
        formats.into_iter().find(|format| name.strip_suffix(format.name()).is_some_and(|rest| rest.ends_with('.')))
    }

    /// The format of another program that a file is of, by its first bytes or else by its ending. A file that ends in
    /// `.toml` is one of this project's, or of Fraktaler 3. `None` for this project's own.
    #[must_use]
    pub fn of_file(path: &Path, head: &[u8]) -> Option<Self> {
        let (by_path, by_head) = (Self::of_path(path), Self::of_head(head));
        match by_path {
            Some(Self::Toml) => by_head.filter(|format| *format == Self::F3),
            _ => by_head.or(by_path),
        }
    }

    /// The format of another program that the first bytes of a file are of. None of them begins a TOML file, except
    /// those of Fraktaler 3, whose keys no other location has.
    fn of_head(head: &[u8]) -> Option<Self> {
        let head = String::from_utf8_lossy(head);
        let head = head.strip_prefix('\u{feff}').unwrap_or(&head);
        let mut lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
        let first = lines.next()?;
        let begins = |key: &str| first.split('=').next().is_some_and(|before| before.trim() == key);
        if first.starts_with('(') {
            return Some(Self::Xpf);
        }
        if ["location.real", "location.imag", "location.zoom", "[location]", "program"].into_iter().any(begins) {
            return (!begins("program") || first.contains("fraktaler-3")).then_some(Self::F3);
        }
        let before_value = first.split('=').next().unwrap_or("");
        if before_value.contains('{') && !before_value.starts_with(['[', '"', '\'', '{']) {
            let ultra = ["fractal:", "mapping:", "layer:", "::"].into_iter().any(|section| head.contains(section));
            return Some(if ultra { Self::Upr } else { Self::Par });
        }
        let (key, _) = before_value.split_once(':')?;
        (!key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(Self::Kfr)
    }
}

/// Splits `file.upr#NAME` and `file.par#NAME` into the file and the name of an entry. A path that exists is not split.
pub(super) fn split_choice(path: &Path) -> (PathBuf, Option<String>) {
    let whole = || (path.to_owned(), None);
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole() };
    let lower = text.to_ascii_lowercase();
    match lower.find(".upr#").or_else(|| lower.find(".par#")) {
        Some(at) => (PathBuf::from(&text[..at + 4]), Some(text[at + 5..].to_owned())),
        None => whole(),
    }
}

/// The translation of a file of another program; of [`LocationFormat::Toml`] none. `wanted` is the name of an entry.
pub(super) fn translate(
    format: LocationFormat,
    text: &str,
    wanted: Option<&str>,
) -> Result<Option<Translation>, InputError> {
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Ok(Some(match format {
        LocationFormat::Toml => return Ok(None),
        LocationFormat::Kfr => kfr::read(text)?,
        LocationFormat::F3 => f3::read(text)?,
        LocationFormat::Upr => upr::read(text, wanted)?,
        LocationFormat::Par => par::read(text, wanted)?,
        LocationFormat::Xpf => xpf::read(text)?,
    }))
}

/// A location as the text of a file of another program.
#[derive(Clone, Debug)]
pub struct Written {
    /// The text of the file.
    pub text: String,
    /// What the format cannot express, or expresses with fewer digits. Empty if the file says all that the location does.
    pub left_out: Vec<String>,
}

/// A scene as the text of a file of another program; `None` for [`LocationFormat::Toml`].
pub(super) fn write(
    format: LocationFormat,
    scene: &Scene,
    name: &str,
    iterations: u64,
) -> Result<Option<Written>, InputError> {
    let mut outline = Outline::of(scene, name, iterations)?;
    let text = match format {
        LocationFormat::Toml => return Ok(None),
        LocationFormat::Kfr => kfr::write(&mut outline)?,
        LocationFormat::F3 => f3::write(&mut outline)?,
        LocationFormat::Upr => upr::write(&mut outline)?,
        LocationFormat::Par => par::write(&mut outline)?,
        LocationFormat::Xpf => xpf::write(&mut outline)?,
    };
    Ok(Some(Written { text, left_out: outline.left_out }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_name_and_by_content() {
        for (name, format) in [
            ("a.kfr", Some(LocationFormat::Kfr)),
            ("a.F3.toml", Some(LocationFormat::F3)),
            ("f3.toml", Some(LocationFormat::Toml)),
            ("b/a.toml", Some(LocationFormat::Toml)),
            ("a.UPR", Some(LocationFormat::Upr)),
            ("a.par", Some(LocationFormat::Par)),
            ("a.xpf", Some(LocationFormat::Xpf)),
            ("a.png", None),
            ("kfr", None),
        ] {
            assert_eq!(LocationFormat::of_path(Path::new(name)), format, "{name}");
        }
        for (head, format) in [
            ("Re: -0.5\r\nIm: 0\r\n", Some(LocationFormat::Kfr)),
            ("\u{feff}; x\n(initstate)\n", Some(LocationFormat::Xpf)),
            ("location.real = \"0\"\n", Some(LocationFormat::F3)),
            ("program = \"fraktaler-3\"\n", Some(LocationFormat::F3)),
            ("program = \"other\"\n", None),
            ("a { ; comment\n reset=2004 type=mandel\n", Some(LocationFormat::Par)),
            ("a {\nfractal:\n  title=\"a\"\n", Some(LocationFormat::Upr)),
            ("re = \"0\"\n", None),
            ("# re: 0\njulia = [\"0\", \"0\"]\n", None),
            ("colour = { palette = \"ember\" }\n", None),
            ("\"a {\" = 1\n", None),
            ("[colour]\n", None),
            ("", None),
        ] {
            assert_eq!(LocationFormat::of_head(head.as_bytes()), format, "{head}");
        }
    }

    #[test]
    fn the_content_decides_before_the_ending() {
        let of_file = |name: &str, head: &str| LocationFormat::of_file(Path::new(name), head.as_bytes());
        assert_eq!(of_file("a.txt", "Re: 0\n"), Some(LocationFormat::Kfr));
        assert_eq!(of_file("a.kfr", "(view 0 0 1 1)"), Some(LocationFormat::Xpf));
        assert_eq!(of_file("a.kfr", ""), Some(LocationFormat::Kfr));
        assert_eq!(of_file("a.toml", "location.real = \"0\"\n"), Some(LocationFormat::F3));
        // A location file with a slip is still one.
        assert_eq!(of_file("a.toml", "re: 0\n"), None);
        assert_eq!(of_file("-", "re = \"0\"\n"), None);
    }

    #[test]
    fn names_of_entries_are_split_off() {
        let split = |path: &str| split_choice(Path::new(path));
        assert_eq!(split("a.upr#one two"), (PathBuf::from("a.upr"), Some("one two".to_owned())));
        assert_eq!(split("d/A.PAR#x#y"), (PathBuf::from("d/A.PAR"), Some("x#y".to_owned())));
        assert_eq!(split("a.kfr#x"), (PathBuf::from("a.kfr#x"), None));
    }
}
