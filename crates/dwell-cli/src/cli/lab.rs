//! The flags of `dwell lab`.

use clap::{Args, Subcommand, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  dwell lab list
      The experiments: five publications run again, and our own.
  dwell lab run nvidia --quick
      One experiment with few points; its record is a folder in ./lab-runs.
  dwell lab run all --quick --engine cpu
      Every experiment without a device, in less than ten minutes.
  dwell lab report lab-runs/2026-11-22-my-machine -o report.html
      The record as one page, with plots and a verdict on each claim.
  dwell lab compare before after
      Two records side by side; what became slower beyond noise is marked.
  dwell lab sweep --size 1024x1024,4096x4096 --threads 1..4
      Your own experiment: lists and ranges of any flag of `dwell render`.
  dwell lab run my-experiment.toml --engines my-engines.toml
      An experiment and programs from files; `dwell lab show zhong` prints
      one to start from.";

/// Run published experiments again, checked before they are timed, and report them beside the published figures
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct LabArgs {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// List the experiments
    List,
    /// Print an experiment as a file
    Show(LabShowArgs),
    /// Run experiments and record every sample
    ///
    /// Each variant's field is compared with the plain loop's before it is timed: a variant that claims to be exact and is
    /// wrong gets no time. The record is a folder; a run that was interrupted goes on if it is given the same folder.
    Run(LabRunArgs),
    /// Write the report of a record: HTML, Markdown, CSV or JSON
    Report(LabReportArgs),
    /// Compare two records and mark what became slower or faster beyond noise
    ///
    /// The exit code is 1 if something became slower beyond noise.
    Compare(LabCompareArgs),
    /// Run everything at a small size and check every output, without timing
    ///
    /// The exit code is 1 if a field or a quantity is wrong.
    Check(LabCheckArgs),
    /// Measure your own lists and ranges of any flags of `dwell render`
    Sweep(LabSweepArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LabShowArgs {
    /// Experiment: a built-in name or a file
    #[arg(value_name = "NAME|FILE")]
    pub(crate) what: String,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunArgs {
    /// Experiments: built-in names, files (.toml), or `all`
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) what: Vec<String>,
    /// Run fewer points and fewer samples
    #[arg(long)]
    pub(crate) quick: bool,
    #[command(flatten)]
    pub(crate) running: LabRunningArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabRunningArgs {
    /// auto (everything that this machine can run), cpu, cuda, cuda:N
    ///
    /// With cuda, only what runs on the device is measured.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: String,
    /// Folder of the record [default: ./lab-runs/DATE-MACHINE]
    ///
    /// A folder that holds an interrupted run is gone on with.
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) record: Option<PathBuf>,
    /// File that describes other programs, beside those of `dwell lab show engines`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) engines: Option<PathBuf>,
    /// Seed of the random orders, 0 to 18446744073709551615 [default: by the time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Print no progress and no results, only the folder of the record
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LabReportArgs {
    /// Folder of a record
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    pub(crate) run: PathBuf,
    /// File to write: .html, .md, .csv or .json
    ///
    /// Repeat the flag for several. The default is report.html in the record's folder, with the raw data as CSV and JSON beside
    /// it.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct LabCompareArgs {
    /// Folder of the first record
    #[arg(value_name = "RUN1", value_hint = ValueHint::DirPath)]
    pub(crate) before: PathBuf,
    /// Folder of the second record
    #[arg(value_name = "RUN2", value_hint = ValueHint::DirPath)]
    pub(crate) after: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LabCheckArgs {
    /// Experiments: built-in names or files; all built-in ones if none is named
    #[arg(value_name = "NAME|FILE", value_hint = ValueHint::FilePath)]
    pub(crate) what: Vec<String>,
    /// Engine: auto (everything that this machine can run), cpu, cuda, cuda:N
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub(crate) engine: String,
    /// File that describes other programs
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) engines: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(override_usage = "dwell lab sweep [OPTIONS] --FLAG VALUES [--FLAG VALUES]...")]
pub(crate) struct LabSweepArgs {
    /// Flags of `dwell render`, each with one value, a list or a range
    ///
    /// Values are separated by commas, or by semicolons where a value has commas itself: --bounds "-2,1,-1,1;-1,0,0,1".
    /// Ranges are 1..8, 1..9+2 (steps of 2) and 256..4096*2 (factors of 2). A flag with one value is the same in every
    /// sample. Lists of --strategy, --shortcuts, --schedule, --level, --engine, --gpu-kernel, --precision and --rounding are
    /// compared with each other; the others are the points at which they are compared.
    #[arg(value_name = "FLAG VALUES", trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    pub(crate) flags: Vec<String>,
    /// Samples of each variant at each point, 1 to 1000
    #[arg(long, value_name = "N", default_value = "5")]
    pub(crate) repeats: String,
    #[command(flatten)]
    pub(crate) running: LabSweepRunningArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LabSweepRunningArgs {
    /// Folder of the record [default: ./lab-runs/DATE-MACHINE]
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) record: Option<PathBuf>,
    /// Seed of the random orders [default: by the time]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) seed: Option<String>,
    /// Print no progress and no results, only the folder of the record
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
