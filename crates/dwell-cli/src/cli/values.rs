//! The values that completions offer.
//!
//! The parser itself has no lists of values: the errors of the commands say more than its own.

use clap::builder::{PossibleValue, PossibleValuesParser};
use dwell::{
    By, Depth, Easing, Format, Formula, LevelName, Location, Method, NumberKind, Palette, Recipe, Sample, Scale,
    Schedule, Shared, Shortcuts, Sought, Strategy,
};
use dwell_cuda::GpuKernel;

/// An argument that takes names and files.
pub(crate) struct NamesAndFiles {
    /// The commands from the program to the one that it belongs to: `["lab", "run"]`.
    pub(crate) path: Vec<String>,
    /// The flag without its dashes; `None` for a positional argument.
    pub(crate) flag: Option<String>,
    pub(crate) names: Vec<&'static str>,
}

/// The command with the values that its arguments take, and the arguments that take files beside them.
pub(crate) fn with_values(command: clap::Command) -> (clap::Command, Vec<NamesAndFiles>) {
    let mut with_files = Vec::new();
    let command = in_command(command, &mut Vec::new(), &mut with_files);
    (command, with_files)
}

/// Adds values to a command below `path`, and to the commands in it.
fn in_command(command: clap::Command, path: &mut Vec<String>, with_files: &mut Vec<NamesAndFiles>) -> clap::Command {
    let ids: Vec<String> = command.get_arguments().map(|arg| arg.get_id().to_string()).collect();
    let mut command = command;
    for id in ids {
        let Some(values) = values_of(path, &id) else { continue };
        command = command.mut_arg(&id, |arg| {
            if values.or_file {
                let flag = arg.get_long().map(str::to_owned);
                with_files.push(NamesAndFiles { path: path.clone(), flag, names: values.names.clone() });
            }
            arg.value_parser(PossibleValuesParser::new(values.names.iter().copied().map(PossibleValue::new)))
        });
    }
    let inner: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    for name in inner {
        command = command.mut_subcommand(&name, |inner| {
            path.push(name.clone());
            let inner = in_command(inner, path, with_files);
            path.pop();
            inner
        });
    }
    command
}

/// What an argument takes.
struct Values {
    names: Vec<&'static str>,
    /// Whether it takes files, too.
    or_file: bool,
}

/// The values of an argument of the command below `path`, if they have names.
fn values_of(path: &[String], id: &str) -> Option<Values> {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let or_file = |names: Vec<&'static str>| Some(Values { names, or_file: true });
    let names: Vec<&'static str> = match (path.as_slice(), id) {
        (["render" | "show" | "zoom" | "locate"], "what") => return or_file(Location::built_in_names().collect()),
        (["lab", _], "what") => {
            return or_file([dwell_lab::catalogue::names(), vec!["all"]].concat());
        }
        (_, "palette" | "palettes") => return or_file(Palette::built_in_names().collect()),
        (_, "format") => Format::ALL.map(Format::name).to_vec(),
        (["locate"], "kind") => Sought::ALL.map(Sought::name).to_vec(),
        (["locate"], "zoom_to") => vec!["mini", "embedded"],
        (_, "sample") => Sample::ALL.map(Sample::name).to_vec(),
        (_, "flip") => vec!["yes", "no"],
        (_, "color_by") => By::ALL.map(By::name).to_vec(),
        (_, "scale") => Scale::ALL.map(Scale::name).to_vec(),
        (_, "depth") => Depth::ALL.map(Depth::name).to_vec(),
        (_, "max_iter") => vec!["auto"],
        (_, "formula") => Formula::ALL.map(Formula::name).to_vec(),
        (["peak"], "precision") => vec![NumberKind::F32.name(), NumberKind::F64.name()],
        (_, "precision") => [vec!["auto"], NumberKind::ALL.map(NumberKind::name).to_vec()].concat(),
        (_, "rounding") => Recipe::ALL.map(Recipe::name).to_vec(),
        (_, "engine") => vec!["auto", "cpu", "cuda"],
        (_, "level") => LevelName::ALL.map(LevelName::name).to_vec(),
        (_, "strategy") => Strategy::ALL.map(Strategy::name).to_vec(),
        (_, "shortcuts") => [["none", "exact"].as_slice(), &Shortcuts::NAMES].concat(),
        (_, "schedule") => Schedule::NAMES.to_vec(),
        (["zoom"], "easing") => Easing::ALL.map(Easing::name).to_vec(),
        (["zoom"], "method") => Method::ALL.map(Method::name).to_vec(),
        (["zoom"], "fit") => Shared::ALL.map(Shared::name).to_vec(),
        (_, "sync_interval") => vec!["off"],
        (_, "gpu_kernel") => GpuKernel::ALL.map(GpuKernel::name).to_vec(),
        (_, "block") => vec!["occupancy"],
        _ => return None,
    };
    Some(Values { names, or_file: false })
}
