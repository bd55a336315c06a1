//! Jobs from a table: each row is parsed as the flags of `dwell render` that it stands for, after those of the command line.

use crate::cli::RenderArgs;
use crate::error_text::{Failure, Usage};
use clap::{Arg, ArgAction, Args, Command, FromArgMatches};
use dwell::{InputError, Location, Row, quote};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Flags of the whole batch, which no row has.
const OF_BATCH: [&str; 5] = ["jobs", "skip-existing", "dry-run", "quiet", "help"];
/// Columns whose values are paths, relative to the folder of the table.
const PATHS: [&str; 3] = ["output", "stats", "palette"];

/// A job as a row describes it.
pub(super) struct Draft {
    /// The name that its column `name` gives.
    pub(super) name: Option<String>,
    /// Its place in the table.
    pub(super) place: String,
    /// Its flags, or what is wrong with the row.
    pub(super) args: Result<RenderArgs, Failure>,
}

/// The jobs of a table. `words` are the flags of the command line, from which `base` was parsed.
pub(super) fn drafts(path: &Path, base: &RenderArgs, words: &[OsString]) -> Result<Vec<Draft>, Failure> {
    if base.what.len() > 1 {
        return Err(Usage::new("--jobs", "WHAT is named several times as well")
            .accepts("one WHAT, for the rows that name none, or no WHAT")
            .into());
    }
    let folder = path.parent().filter(|_| path != Path::new("-")).unwrap_or(Path::new(""));
    let reader = Reader { base, words, folder, command: command() };
    let file = quote(&path.to_string_lossy()).to_string();
    if path.to_str().is_some_and(|text| text.parse::<u32>().is_ok()) && !path.exists() {
        return Err(Usage::new("--jobs", format!("there is no table of the name {file}"))
            .hint("--threads N is the number of threads")
            .into());
    }
    let rows = Row::read_all(path)?;
    Ok(rows.iter().map(|row| reader.draft(row, format!("{file}, line {}", row.line))).collect())
}

/// A command with the flags of `dwell render`, of which a later one replaces an earlier one.
fn command() -> Command {
    RenderArgs::augment_args(Command::new("job").no_binary_name(true).args_override_self(true))
}

struct Reader<'a> {
    base: &'a RenderArgs,
    words: &'a [OsString],
    folder: &'a Path,
    command: Command,
}

impl Reader<'_> {
    fn draft(&self, row: &Row, place: String) -> Draft {
        let name = row.cells.iter().find(|(column, _)| column == "name").map(|(_, values)| values.join(" "));
        Draft { name, place, args: self.args(row) }
    }

    /// The flags of a row.
    fn args(&self, row: &Row) -> Result<RenderArgs, Failure> {
        let (mut what, mut outputs) = (None, 0);
        // Positional arguments of the command line may follow `--`.
        let mut words: Vec<OsString> = self.words.iter().take_while(|word| *word != "--").cloned().collect();
        for (column, values) in &row.cells {
            let column = column.replace('_', "-");
            match column.as_str() {
                "name" => {}
                "what" => what = Some(self.what(&values.join(","))),
                "output" => {
                    outputs += values.len();
                    words.extend(values.iter().map(|value| self.word(&column, value)));
                }
                _ => words.extend(self.flag(&column, values)?),
            }
        }
        let matches = self.command.clone().try_get_matches_from(words);
        let mut args =
            matches.and_then(|matches| RenderArgs::from_arg_matches(&matches)).map_err(|error| wrong(&error))?;
        args.what = what.map_or_else(|| self.base.what.clone(), |what| vec![what]);
        if outputs > 0 {
            args.output.drain(..self.base.output.len());
        }
        (args.jobs, args.skip_existing) = (None, false);
        Ok(args)
    }

    /// The word of a flag that a column stands for; none of a switch that is off.
    fn flag(&self, column: &str, values: &[String]) -> Result<Option<OsString>, Failure> {
        let is_of_row = |arg: &&Arg| arg.get_long().is_some_and(|long| !OF_BATCH.contains(&long));
        let arg = self.command.get_arguments().filter(is_of_row).find(|arg| {
            arg.get_long() == Some(column) || arg.get_all_aliases().is_some_and(|all| all.contains(&column))
        });
        let Some(arg) = arg else {
            let known = self.command.get_arguments().filter(is_of_row).filter_map(Arg::get_long);
            let known: Vec<&str> = known.chain(["what", "name"]).collect();
            return Err(Failure::from(InputError::unknown(column, known)).about("column"));
        };
        let value = values.join(",");
        let switch = match value.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => Some(true),
            "false" | "no" | "0" => Some(false),
            _ => None,
        };
        match (arg.get_action(), switch) {
            (ArgAction::SetTrue, Some(on)) => Ok(on.then(|| format!("--{column}").into())),
            (ArgAction::SetTrue, None) => {
                Err(Usage::new(format!("--{column}"), format!("{} is neither on nor off", quote(&value)))
                    .accepts("true, false")
                    .into())
            }
            // A flag of yes or no.
            (_, Some(on)) if arg.get_num_args().is_some_and(|range| range.min_values() == 0) => {
                Ok(Some(format!("--{column}={}", if on { "yes" } else { "no" }).into()))
            }
            _ => Ok(Some(self.word(column, &value))),
        }
    }

    /// A flag with its value, which is relative to the folder of the table if it is a path.
    fn word(&self, column: &str, value: &str) -> OsString {
        let is_palette_name = column == "palette" && !value.contains(['/', '\\', '.']);
        let mut word = OsString::from(format!("--{column}="));
        if PATHS.contains(&column) && value != "-" && !is_palette_name {
            word.push(self.folder.join(value));
        } else {
            word.push(value);
        }
        word
    }

    /// The location that a row names.
    fn what(&self, value: &str) -> PathBuf {
        let path = self.folder.join(value);
        let is_built_in = Location::built_in_names().any(|name| name == value);
        if !is_built_in && value != "-" && (path.exists() || value.contains(['/', '\\', '.'])) {
            path
        } else {
            value.into()
        }
    }
}

/// An error of the parser of flags, in one line.
fn wrong(error: &clap::Error) -> Failure {
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    Usage::new("flags", first.strip_prefix("error: ").unwrap_or(first).to_owned()).into()
}
