//! Reads the description of programs. An error names the line and the column, or the program in it.

use super::{Agreement, File, Precision, Program, Programs, Reads, placeholders};
use crate::convention::Convention;
use crate::experiment::{ReadError, place};
use dwell::{Recipe, Sample};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::Duration;

/// Most bytes of a file.
const MOST_BYTES: usize = 1 << 20;
/// Most seconds of a program.
const MOST_SECONDS: u64 = 86_400;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Descriptions {
    #[serde(default)]
    engine: Vec<Description>,
}

/// A program in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Description {
    name: String,
    title: Option<String>,
    command: Vec<String>,
    available: Vec<String>,
    #[serde(default)]
    install: String,
    #[serde(default, rename = "file")]
    files: Vec<FileDescription>,
    output: String,
    #[serde(default)]
    reads: Reads,
    #[serde(default = "grey")]
    weights: [u32; 3],
    #[serde(default = "both")]
    precision: BTreeMap<Precision, String>,
    #[serde(default = "any")]
    most_limit: u32,
    #[serde(default)]
    sample: SampleName,
    #[serde(default)]
    convention: Convention,
    agreement: AgreementName,
    rounding: Option<RecipeName>,
    #[serde(default = "ten_minutes")]
    timeout: u64,
    seconds_after: Option<String>,
}

fn grey() -> [u32; 3] {
    [1, 0, 0]
}

fn both() -> BTreeMap<Precision, String> {
    [(Precision::F32, "f32"), (Precision::F64, "f64")].map(|(number, name)| (number, name.to_owned())).into()
}

fn any() -> u32 {
    u32::MAX
}

fn ten_minutes() -> u64 {
    600
}

/// A file that the program needs: its text, or one that the laboratory has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileDescription {
    name: String,
    text: Option<String>,
    built_in: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SampleName {
    #[default]
    Centre,
    Corner,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum AgreementName {
    Recipe,
    OtherRounding,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RecipeName {
    Fused,
    Separate,
}

/// The files that the laboratory has.
const BUILT_IN: [(&str, &str); 1] = [("numpy_plain.py", include_str!("../../lab/numpy_plain.py"))];

impl Programs {
    /// Reads the descriptions of programs. `file` names them in errors, and its folder is what `{here}` stands for.
    ///
    /// # Errors
    /// When the text is not TOML, or a key is unknown, missing or out of range.
    pub fn read(file: &str, text: &str) -> Result<Self, ReadError> {
        let wrong = |place, problem: String| ReadError { file: file.to_owned(), place, problem };
        if text.len() > MOST_BYTES {
            return Err(wrong(None, format!("{} bytes are too many; accepted: at most {MOST_BYTES}", text.len())));
        }
        dwell::check_toml(text).map_err(|error| wrong(None, error.to_string()))?;
        let descriptions: Descriptions = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| place(text, span.start));
            wrong(place, error.message().trim().replace('\n', "; "))
        })?;
        let file = std::path::absolute(file).map_err(|error| wrong(None, error.to_string()))?;
        let here = file.parent().unwrap_or(&file).to_string_lossy().into_owned();
        let mut programs = BTreeMap::new();
        for description in descriptions.engine {
            let name = description.name.clone();
            let read =
                program(description, &here).map_err(|problem| wrong(None, format!("engine {name:?}: {problem}")))?;
            if programs.insert(name.clone(), read).is_some() {
                return Err(wrong(None, format!("engine {name:?} is there twice")));
            }
        }
        Ok(Self(programs))
    }
}

fn program(of: Description, here: &str) -> Result<Program, String> {
    if !is_name(&of.name) {
        return Err("a name has 1 to 80 lower-case letters, digits and hyphens".to_owned());
    }
    let commands = [("command", &of.command, &placeholders::ALL[..]), ("available", &of.available, &["here"])];
    for (key, command, accepted) in commands {
        if command.first().is_none_or(String::is_empty) {
            return Err(format!("{key} names no program"));
        }
        for argument in command {
            placeholders::check(argument, accepted).map_err(|problem| format!("{key}: {problem}"))?;
        }
    }
    let agreement = match (of.agreement, of.rounding) {
        (AgreementName::Recipe, Some(RecipeName::Fused)) => Agreement::Recipe(Recipe::Fused),
        (AgreementName::Recipe, Some(RecipeName::Separate)) => Agreement::Recipe(Recipe::Separate),
        (AgreementName::Recipe, None) => {
            return Err("agreement \"recipe\" needs rounding, fused or separate".to_owned());
        }
        (AgreementName::OtherRounding, None) => Agreement::OtherRounding,
        (AgreementName::OtherRounding, Some(_)) => return Err("rounding is for agreement \"recipe\"".to_owned()),
    };
    if of.precision.is_empty() {
        return Err("precision has no number; accepted: f32, f64".to_owned());
    }
    if of.most_limit == 0 || !(1..=MOST_SECONDS).contains(&of.timeout) {
        return Err(format!("accepted: most-limit from 1, timeout from 1 to {MOST_SECONDS} seconds"));
    }
    let files = of.files.into_iter().map(file).collect::<Result<Vec<_>, _>>()?;
    let mut names: Vec<&str> = files.iter().map(|file| file.name.as_str()).chain([of.output.as_str()]).collect();
    names.sort_unstable();
    if let Some(name) = names.iter().find(|name| !is_file_name(name)) {
        return Err(format!("{name:?} is no name of a file: it must not be empty or contain a folder"));
    }
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("two files have the name {:?}", pair[0]));
    }
    Ok(Program {
        title: of.title.unwrap_or_else(|| of.name.clone()),
        name: of.name,
        command: of.command,
        available: of.available,
        install: of.install,
        files,
        output: of.output,
        reads: of.reads,
        weights: of.weights,
        precision: of.precision,
        most_limit: of.most_limit,
        sample: match of.sample {
            SampleName::Centre => Sample::Centre,
            SampleName::Corner => Sample::Corner,
        },
        convention: of.convention,
        agreement,
        timeout: Duration::from_secs(of.timeout),
        seconds_after: of.seconds_after,
        here: here.to_owned(),
    })
}

fn file(of: FileDescription) -> Result<File, String> {
    let FileDescription { name, text, built_in } = of;
    match (text, built_in) {
        (Some(text), None) => {
            placeholders::check(&text, &placeholders::ALL).map_err(|problem| format!("file {name:?}: {problem}"))?;
            Ok(File { name, text, fills: true })
        }
        (None, Some(built_in)) => {
            let found = BUILT_IN.iter().find(|(name, _)| *name == built_in);
            let names = BUILT_IN.map(|(name, _)| name).join(", ");
            let (_, text) = found.ok_or(format!("file {name:?}: {built_in:?} is not built in; accepted: {names}"))?;
            Ok(File { name, text: (*text).to_owned(), fills: false })
        }
        _ => Err(format!("file {name:?}: either text or built-in is needed")),
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=80).contains(&name.len()) && name.bytes().all(is_part)
}

fn is_file_name(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "[[engine]]\nname = \"a\"\ncommand = [\"a\", \"{width}\"]\navailable = [\"a\"]\noutput = \"o\"\n\
                       agreement = \"other-rounding\"\n";

    fn error(text: &str) -> String {
        Programs::read("mine.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn the_laboratorys_programs_are_read() {
        let programs = Programs::built_in().unwrap();
        assert_eq!(programs.iter().map(Program::name).collect::<Vec<_>>(), ["fractalnow", "numpy"]);
        assert_eq!(programs.get("numpy").unwrap().agreement(), Agreement::Recipe(Recipe::Separate));
        assert!(programs.get("none").is_none());
    }

    #[test]
    fn a_users_programs_are_added_and_take_precedence() {
        let own = ONE.replace("name = \"a\"", "name = \"numpy\"\ntitle = \"Mine\"");
        let own = Programs::read("/some/where/mine.toml", &own).unwrap();
        assert_eq!(own.get("numpy").unwrap().here, "/some/where");
        let all = Programs::built_in().unwrap().with(own);
        assert_eq!((all.get("numpy").unwrap().title(), all.iter().count()), ("Mine", 2));
    }

    #[test]
    fn malformed_files_are_errors_with_their_place() {
        assert!(error("[[engine]\n").starts_with("mine.toml, line 1, column 10: "));
        let unknown = error(&ONE.replace("output", "outptu"));
        assert!(unknown.starts_with("mine.toml, line 5, column 1: unknown field `outptu`"), "{unknown}");
        let missing = error(&ONE.replace("output = \"o\"\n", ""));
        assert!(missing.starts_with("mine.toml, line 1, column 1: missing field `output`"), "{missing}");
        let mistyped = error(&ONE.replace("\"other-rounding\"", "\"other\""));
        assert!(mistyped.starts_with("mine.toml, line 6, column 13: unknown variant `other`"), "{mistyped}");
        assert!(error(&"#".repeat(MOST_BYTES + 1)).contains("are too many"));
    }

    #[test]
    fn contradictions_are_errors_with_the_program() {
        for (from, to, said) in [
            ("name = \"a\"", "name = \"A b\"", "a name has 1 to 80"),
            ("{width}", "{widht}", "command: {widht} is no placeholder; accepted: width, "),
            (
                "available = [\"a\"]",
                "available = [\"{width}\"]",
                "available: {width} is no placeholder; accepted: here",
            ),
            ("available = [\"a\"]", "available = []", "available names no program"),
            ("\"other-rounding\"", "\"recipe\"", "needs rounding"),
            ("\"other-rounding\"", "\"other-rounding\"\nrounding = \"fused\"", "rounding is for agreement \"recipe\""),
            ("output = \"o\"", "output = \"../o\"", "\"../o\" is no name of a file"),
            ("output = \"o\"", "output = \"o/\"", "\"o/\" is no name of a file"),
            ("output = \"o\"", "output = \"o\"\ntimeout = 0", "timeout from 1 to"),
            ("output = \"o\"", "output = \"o\"\nmost-limit = 0", "most-limit from 1"),
            ("output = \"o\"", "output = \"o\"\nprecision = {}", "precision has no number"),
            ("other-rounding\"\n", "other-rounding\"\n[[engine.file]]\nname = \"o\"\ntext = \"\"\n", "two files have"),
            ("other-rounding\"\n", "other-rounding\"\n[[engine.file]]\nname = \"p\"\n", "either text or built-in"),
            (
                "other-rounding\"\n",
                "other-rounding\"\n[[engine.file]]\nname = \"p\"\nbuilt-in = \"q\"\n",
                "\"q\" is not built in",
            ),
            (
                "other-rounding\"\n",
                "other-rounding\"\n[[engine.file]]\nname = \"p\"\ntext = \"{no-}\"\n",
                "{no-} is no placeholder",
            ),
        ] {
            let text = ONE.replace(from, to);
            assert_ne!(text, ONE);
            let error = error(&text);
            assert!(error.starts_with("mine.toml: engine ") && error.contains(said), "{error}");
        }
        assert!(error(&ONE.repeat(2)).contains("is there twice"));
    }
}
