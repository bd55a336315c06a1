//! Errors of the parser of flags in the form of all others: one line that says what is wrong, one with the remedy.

use super::{flags, locations};
use crate::cli::Cli;
use crate::error_text::Usage;
use crate::output::tame;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory};
use dwell::{Decimal, quote};
use std::path::Path;

/// The most characters of a command line that is repeated in a hint.
const LINE: usize = 100;
/// Commands of other programs and the command that does the same here.
const COMMANDS: [(&[&str], &str); 9] = [
    (&["draw", "generate", "gen", "image", "picture", "paint", "plot", "make", "create", "run"], "render"),
    (&["location", "places", "place", "list", "ls", "presets", "bookmarks"], "locations"),
    (&["colors", "colours", "palette", "colormaps", "gradients"], "palettes"),
    (&["print", "describe", "inspect", "identify", "metadata", "dump", "params"], "show"),
    (&["diff", "cmp"], "compare"),
    (&["verify", "validate", "test"], "check"),
    (&["bench", "benchmark", "speed"], "peak"),
    (&["experiment", "experiments", "laboratory"], "lab"),
    (&["devices", "machine", "gpu", "cpu", "system"], "info"),
];

/// An error of the parser, for the words `typed` behind the name of the program. `None` where the parser prints a help text.
pub(crate) fn usage(error: &clap::Error, typed: &[String]) -> Option<Usage> {
    let mut program = Cli::command();
    program.build();
    let (command, words) = command_of(&program, typed);
    let context = Context { error, command, words, typed };
    Some(match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument => context.unknown_argument(&program),
        ErrorKind::InvalidSubcommand => context.unknown_command(),
        ErrorKind::MissingRequiredArgument => context.missing_argument(),
        ErrorKind::MissingSubcommand => {
            Usage::new(context.name(), "a command is missing").hint(context.see_help("the commands"))
        }
        ErrorKind::InvalidValue => context.invalid_value(),
        ErrorKind::ArgumentConflict => context.conflict(),
        ErrorKind::TooManyValues => {
            let problem = format!("takes no value, and {} was given", quote(&context.one(ContextKind::InvalidValue)));
            Usage::new(context.argument(), problem).hint(context.see_help("the flags"))
        }
        ErrorKind::InvalidUtf8 => {
            Usage::new(context.name(), "an argument is not UTF-8").hint("only names of files may be of other bytes")
        }
        _ => Usage::new(context.name(), first_line(error)).hint(context.see_help("the flags")),
    })
}

/// The value of a flag that is missing, so that the parser took the next flag for it.
pub(crate) fn missing_value(matches: &ArgMatches) -> Option<Usage> {
    let mut program = Cli::command();
    program.build();
    let (mut command, mut matches) = (&program, matches);
    while let Some((name, inner)) = matches.subcommand() {
        (command, matches) = (command.find_subcommand(name)?, inner);
    }
    let is_flag = |text: &str| {
        let name = text.split('=').next().unwrap_or(text);
        command.get_arguments().any(|arg| {
            arg.get_long().is_some_and(|long| name.strip_prefix("--") == Some(long))
                || arg.get_short().is_some_and(|short| name.strip_prefix('-').is_some_and(|n| n == short.to_string()))
        })
    };
    command.get_arguments().filter(|arg| !arg.is_positional()).find_map(|arg| {
        let long = arg.get_long()?;
        let mut values = matches.try_get_raw(arg.get_id().as_str()).ok()??;
        let next = values.find_map(|value| value.to_str().filter(|text| is_flag(text)))?;
        Some(without_value(&format!("--{long}"), Some(next), arg))
    })
}

/// The error of a flag without a value.
fn without_value(flag: &str, next: Option<&str>, arg: &clap::Arg) -> Usage {
    let form = arg.get_value_names().map(|names| names.join(" ")).unwrap_or_default();
    let place = next.map(|next| format!(" before {}", tame(next, 24))).unwrap_or_default();
    let usage = Usage::new(flag.to_owned(), format!("its value is missing{place}")).accepts(form);
    match arg.get_long().and_then(flags::example) {
        Some(example) => usage.hint(format!("such as {flag} {example}")),
        None => usage,
    }
}

/// The innermost command that is typed, and the words of its name.
fn command_of<'a>(program: &'a Command, typed: &[String]) -> (&'a Command, Vec<String>) {
    let (mut command, mut words) = (program, vec!["dwell".to_owned()]);
    for word in typed {
        let Some(inner) = command.find_subcommand(word) else { break };
        (command, _) = (inner, words.push(word.clone()));
    }
    (command, words)
}

/// What the parser says without its prefix, in one line.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// A name without the brackets and the form of its value: `--output <FILE>` is --output, `<RE,IM>` is RE,IM.
fn bare(name: &str) -> String {
    let name = name.trim_end_matches('.');
    let first = name.split([' ', '=']).next().unwrap_or(name);
    first.trim_matches(['<', '>', '[', ']', '.']).to_owned()
}

/// An error of the parser with the command that it is about.
struct Context<'a> {
    error: &'a clap::Error,
    command: &'a Command,
    /// The name of the command, word by word.
    words: Vec<String>,
    /// Everything that was typed behind the name of the program.
    typed: &'a [String],
}

impl Context<'_> {
    fn name(&self) -> String {
        self.words.join(" ")
    }

    fn see_help(&self, what: &str) -> String {
        format!("`{} --help` lists {what}", self.name())
    }

    /// The texts of a kind that the error has.
    fn all(&self, kind: ContextKind) -> Vec<String> {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => vec![text.clone()],
            Some(ContextValue::Strings(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    fn one(&self, kind: ContextKind) -> String {
        self.all(kind).into_iter().next().unwrap_or_default()
    }

    /// The argument that the error is about.
    fn argument(&self) -> String {
        bare(&self.one(ContextKind::InvalidArg))
    }

    /// Whether a command has a flag of that long name.
    fn has(command: &Command, flag: &str) -> bool {
        command.get_arguments().any(|arg| arg.get_long() == Some(flag))
    }

    fn unknown_argument(&self, program: &Command) -> Usage {
        let given = self.one(ContextKind::InvalidArg);
        if !given.starts_with('-') || given.parse::<Decimal>().is_ok() {
            return self.further_argument(&given);
        }
        let usage = Usage::new(tame(&given, 40), format!("is no flag of `{}`", self.name()));
        if self.words.len() == 1 {
            return usage.hint(self.flag_without_command(program, &given));
        }
        let remedies: Vec<_> = flags::meant_by(&given).collect();
        if let Some((_, remedy)) = remedies.iter().find(|(flag, _)| Self::has(self.command, flag)) {
            return usage.hint(*remedy);
        }
        if let Some(suggested) = self.all(ContextKind::SuggestedArg).first() {
            return usage.hint(format!("did you mean {}?", bare(suggested)));
        }
        let name = given.trim_start_matches('-');
        if let Some(other) = program.get_subcommands().find(|other| Self::has(other, name)) {
            return usage.hint(format!(
                "`dwell {}` has it; {}",
                other.get_name(),
                self.see_help("the flags of this one")
            ));
        }
        let of_render = program.find_subcommand("render");
        match remedies.iter().find(|(flag, _)| of_render.is_some_and(|render| Self::has(render, flag))) {
            Some((_, remedy)) => {
                usage.hint(format!("for `dwell render`: {remedy}; {}", self.see_help("the flags of this one")))
            }
            None => usage.hint(self.see_help("the flags")),
        }
    }

    /// A remedy for a flag of a command that was typed without the command.
    fn flag_without_command(&self, program: &Command, given: &str) -> String {
        if given == "-v" {
            return "-V or --version prints the version; `dwell render --stats -` prints statistics".to_owned();
        }
        let render = program.find_subcommand("render");
        let short = |arg: &clap::Arg| arg.get_short().is_some_and(|short| given == format!("-{short}"));
        let name = given.trim_start_matches('-');
        let of_render = render.is_some_and(|render| Self::has(render, name) || render.get_arguments().any(short));
        let line = format!("dwell render {}", self.typed.join(" "));
        match flags::meant_by(given).next() {
            _ if of_render && line.chars().count() <= LINE => format!("a command comes first: {line}"),
            _ if of_render => format!("a command comes first: dwell render {given}"),
            Some((_, remedy)) => format!("for `dwell render`: {remedy}"),
            None => {
                "a command comes first, such as `dwell render -o mandelbrot.png`; `dwell --help` lists them".to_owned()
            }
        }
    }

    /// The error of an argument after the last that the command takes.
    fn further_argument(&self, given: &str) -> Usage {
        let usage = Usage::new(quote(given), format!("is one argument too many for `{}`", self.name()));
        let before = self.typed.iter().position(|word| word == given).and_then(|at| self.typed.get(at.checked_sub(1)?));
        let apart = before.and_then(|before| super::apart(&self.name(), before, given, ','));
        match apart {
            Some(remedy) if self.name() == "dwell point" => usage.hint(remedy),
            _ => usage.hint(self.see_help("what it takes")),
        }
    }

    fn unknown_command(&self) -> Usage {
        let given = self.one(ContextKind::InvalidSubcommand);
        let usage = Usage::new(quote(&given), format!("is no command of `{}`", self.name()));
        if self.words.len() > 1 {
            return self.with_suggestion(usage);
        }
        let command = COMMANDS.iter().find(|(names, _)| names.contains(&given.to_lowercase().as_str()));
        if let Some((_, command)) = command {
            return usage.hint(format!("did you mean `dwell {command}`?"));
        }
        let shown = tame(&given, 60);
        if Path::new(&given).is_file() {
            return usage
                .hint(format!("a command comes first: dwell render {shown} -o NAME.png, or dwell show {shown}"));
        }
        if Path::new(&given).extension().is_some_and(|ending| ending == "png") {
            return usage.hint(format!("a command comes first: dwell render -o {shown}"));
        }
        match locations::like(&given).as_slice() {
            [] => self.with_suggestion(usage),
            [best, others @ ..] => {
                let others = if others.is_empty() { String::new() } else { format!("; or {}", others.join(", ")) };
                usage.hint(format!("to render a location: dwell render {best} -o {best}.png{others}"))
            }
        }
    }

    /// With the command that is spelled alike.
    fn with_suggestion(&self, usage: Usage) -> Usage {
        match self.all(ContextKind::SuggestedSubcommand).first() {
            Some(suggested) => usage.hint(format!("did you mean `{} {suggested}`?", self.name())),
            None => usage.hint(self.see_help("the commands")),
        }
    }

    fn missing_argument(&self) -> Usage {
        let missing: Vec<String> = self.all(ContextKind::InvalidArg).iter().map(|name| bare(name)).collect();
        let s = if missing.len() == 1 { "is" } else { "are" };
        let usage = Usage::new(self.name(), format!("{} {s} missing", missing.join(" and ")));
        let hint = match self.words[1..].join(" ").as_str() {
            "show" => "such as `dwell show seahorse.png`, or `dwell show shallow-seahorse`",
            "completions" => "such as `dwell completions bash`; bash, elvish, fish, powershell and zsh are known",
            "point" => "such as `dwell point -0.75,0.1`",
            "compare" => {
                "`dwell compare A B` compares two files, and `dwell compare --truth FIELD` one with arbitrary precision"
            }
            "convert" => "such as `dwell convert kf-1e50.kfr -o kf-1e50.toml`",
            "check" => "such as `dwell check seahorse.png`",
            "gallery" => "such as `dwell gallery -o gallery`",
            "lab report" => "such as `dwell lab report lab-runs/2026-11-22-my-machine`",
            "lab compare" => "`dwell lab compare RUN1 RUN2` takes two folders of records",
            "lab show" => "such as `dwell lab show nvidia`; `dwell lab list` lists the experiments",
            _ => return usage.hint(self.see_help("what it takes")),
        };
        usage.hint(hint)
    }

    fn invalid_value(&self) -> Usage {
        let (name, given) = (self.argument(), self.one(ContextKind::InvalidValue));
        let arg =
            self.command.get_arguments().find(|arg| arg.get_long().is_some_and(|long| name == format!("--{long}")));
        match arg {
            Some(arg) if given.is_empty() => without_value(&name, None, arg),
            _ if given.is_empty() => Usage::new(name, "is empty").hint(self.see_help("what it takes")),
            _ => {
                let usage = Usage::new(name, format!("{} is not known", quote(&given)));
                usage.accepts(self.all(ContextKind::ValidValue).join(", "))
            }
        }
    }

    fn conflict(&self) -> Usage {
        let (name, prior) = (self.argument(), self.all(ContextKind::PriorArg));
        let prior: Vec<String> = prior.iter().map(|prior| bare(prior)).collect();
        if prior.is_empty() || prior.contains(&name) {
            return Usage::new(name, "is given more than once").hint("give it once");
        }
        Usage::new(name, format!("cannot be given together with {}", prior.join(" and "))).hint("leave one of them out")
    }
}
