//! Flags as the user writes them. Values whose text may be long or wants a good error are kept as text here and read by
//! the command.

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("DWELL_COMMIT"),
    "\nrustc:   ",
    env!("DWELL_RUSTC"),
    "\ntarget:  ",
    env!("DWELL_TARGET"),
    "\nprofile: ",
    env!("DWELL_PROFILE"),
);

/// Mandelbrot images whose every dwell can be trusted: the same on every machine, to the last pixel.
#[derive(Debug, Parser)]
#[command(name = "dwell", version, long_version = LONG_VERSION, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `dwell render -o mandelbrot.png`, then `dwell locations`.\n\n\
Exit codes: 0 done, 2 something wrong in what was given, 4 writing failed, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render a view into a picture (png, ppm) or its dwells into an array (npy, csv)
    Render(Box<RenderArgs>),
    /// List the built-in locations
    Locations,
    /// List the built-in palettes
    Palettes,
    /// The dwell of one point: in f32, in f64 and in truth
    Point(PointArgs),
    /// Measure the machine's limit: the recipe's operations and nothing else
    Peak(PeakArgs),
    /// What this machine has: processor, levels, threads, memory
    Info(InfoArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man(ManArgs),
}

const RENDER_EXAMPLES: &str = "Examples:
  dwell render -o mandelbrot.png
      The whole set, 1920x1080.
  dwell render shallow-seahorse -o seahorse.png --size 3840x2160 --palette ember
      A built-in location, larger, in other colours.
  dwell render -o here.png --center -0.7436438870,0.1318259042 --zoom 2e5 --max-iter auto
      A place of your own, with a limit that settles the picture.
  dwell render -o counts.npy --bounds -2,1,-1,1 --size 3000x2000 --stats -
      The dwells of a rectangle as a NumPy array, and statistics.
  dwell render my-place.toml -o - --format ppm | display
      A location file, to another program.
  dwell render --strategy mariani-silver --verify --stats - --size 4096x4096
      How many pixels a published heuristic gets wrong, and how long it takes.

A location file is TOML:
  re = \"-0.7436438870371587\"      # quoted, so that every digit is kept
  im = \"0.1318259042053119\"
  zoom = \"1e9\"                    # the view's height is 4 / zoom
  iterations = 5000

A palette file is TOML, or a .map file with a line of red, green and blue (0 to 255) for each colour:
  colours = [\"#04082b\", \"#2a7fd4\", \"#fff8dc\"]   # a cycle; positions = [0.0, 0.2, 0.7] places them
  interior = \"#000000\"";

#[derive(Debug, Args)]
#[command(after_help = RENDER_EXAMPLES)]
pub(crate) struct RenderArgs {
    /// A built-in location (see `dwell locations`) or a location file; the whole set if left out
    pub(crate) what: Option<PathBuf>,

    /// File to write; its ending says the format (PNG if it has none); `-` is standard output. Repeat it for several
    /// formats of one render
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,
    /// Format of every output, whatever its ending: png, ppm, npy, csv
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Leave files that exist alone: an error instead
    #[arg(long)]
    pub(crate) no_clobber: bool,

    /// Centre of the view: two decimal numbers of any length, kept exactly
    #[arg(long, alias = "centre", value_name = "RE,IM", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) center: Option<String>,
    /// Zoom: the view's height is 4 / Z
    #[arg(long, value_name = "Z", allow_hyphen_values = true, conflicts_with = "height", help_heading = "View")]
    pub(crate) zoom: Option<String>,
    /// Height of the view in the plane
    #[arg(long, value_name = "H", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) height: Option<String>,
    /// Edges of the view, taken as they stand: pixels need not be square
    #[arg(long, value_name = "XMIN,XMAX,YMIN,YMAX", allow_hyphen_values = true, conflicts_with_all = ["center", "zoom", "height"], help_heading = "View")]
    pub(crate) bounds: Option<String>,
    /// Pixels, 1 to 2147483647 a side [default: 1920x1080]
    #[arg(long, value_name = "WxH", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) size: Option<String>,
    /// Turn the view counter-clockwise about its centre, in degrees
    #[arg(long, value_name = "DEG", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) rotate: Option<String>,
    /// Where in its pixel a point is sampled: centre, corner (the lower left one) [default: centre]
    #[arg(long, value_name = "WHERE", help_heading = "View")]
    pub(crate) sample: Option<String>,

    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Greatest number of iterations, 1 to 4294967295, or `auto` [default: the location's]
    #[arg(long, value_name = "N|auto", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) max_iter: Option<String>,
    /// A point has escaped when |z| > R, 2 to 1e9
    #[arg(long, value_name = "R", allow_hyphen_values = true, default_value = "2", help_heading = "Iteration")]
    pub(crate) escape_radius: String,
    /// Number to iterate in: f32, f64
    #[arg(long, value_name = "NUMBER", default_value = "f64", help_heading = "Iteration")]
    pub(crate) number: String,
    /// Order of roundings: fused, separate
    #[arg(long, value_name = "RECIPE", default_value = "fused", help_heading = "Iteration")]
    pub(crate) recipe: String,
    /// Draw a view that the number does not resolve all the same
    #[arg(long, help_heading = "Iteration")]
    pub(crate) force: bool,

    /// Colours: twilight, ember, glacier, verdigris, graphite, spectrum; or a palette file (.toml, .map) [default:
    /// twilight]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Colour")]
    pub(crate) palette: Option<String>,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,

    /// How pixels are asked for: every-pixel; or mariani-silver, boundary-trace, which ask for fewer and infer the rest:
    /// a few pixels may be wrong. For a picture, which needs smooth values, only the inside of the set is inferred
    #[arg(long, value_name = "STRATEGY", default_value = "every-pixel", help_heading = "Running")]
    pub(crate) strategy: String,
    /// Ask for every pixel as well, and report how many dwells differ
    #[arg(long, help_heading = "Running")]
    pub(crate) verify: bool,
    /// Exact shortcuts, which change no dwell: none, exact (all), or some of interior,cycles,symmetry
    #[arg(long, value_name = "WHICH", default_value = "exact", help_heading = "Running")]
    pub(crate) shortcuts: String,
    /// How tiles are handed out to threads: static, dynamic[:CHUNK], guided, work-stealing
    #[arg(long, value_name = "SCHEDULE", default_value = "dynamic", help_heading = "Running")]
    pub(crate) schedule: String,
    /// Pixels of a tile, 1 to 4096 a side and 1048576 in all [default: about 16384, as wide as the image; 256x256 for the
    /// strategies that infer]
    #[arg(long, value_name = "WxH", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) tile: Option<String>,
    /// Write statistics as JSON; `-` is standard error, which then carries nothing else
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Running")]
    pub(crate) stats: Option<PathBuf>,
    /// Render N times (up to 100000) in one process, drop the first, report medians; only the last is written
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) repeat: Option<String>,
    /// No progress, no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FormulaArgs {
    /// What is iterated: mandelbrot (z^2 + c), multibrot (z^N + c), burning-ship ((|x| + i|y|)^N + c), tricorn
    /// ((x - iy)^N + c) [default: mandelbrot, or the location's]
    #[arg(long, value_name = "FORMULA", help_heading = "Iteration")]
    pub(crate) formula: Option<String>,
    /// The power N, 2 to 16 [default: 3 for multibrot, 2 for the others]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) power: Option<String>,
    /// The Julia set of the formula for this c: the view shows z_1 instead of c; `none` to leave a location's out
    #[arg(long, value_name = "RE,IM", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) julia: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Threads, 1 to 4096, of which at most 32 for each processor are used to render [default: one for each processor]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) threads: Option<String>,
    /// Instruction set: scalar, avx2, avx512, neon [default: DWELL_LEVEL, or the widest here]
    #[arg(long, value_name = "LEVEL", help_heading = "Running")]
    pub(crate) level: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dwell point -0.743643887037151,0.131825904205330 --max-iter 5000")]
pub(crate) struct PointArgs {
    /// The point: two decimal numbers of any length
    #[arg(value_name = "RE,IM", allow_hyphen_values = true)]
    pub(crate) point: String,
    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Greatest number of iterations, 1 to 4294967295
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value = "1000")]
    pub(crate) max_iter: String,
    /// A point has escaped when |z| > R, 2 to 1e9
    #[arg(long, value_name = "R", allow_hyphen_values = true, default_value = "2")]
    pub(crate) escape_radius: String,
    /// Order of roundings in f32 and f64: fused, separate
    #[arg(long, value_name = "RECIPE", default_value = "fused")]
    pub(crate) recipe: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PeakArgs {
    /// What is iterated: mandelbrot, multibrot, burning-ship, tricorn
    #[arg(long, value_name = "FORMULA", default_value = "mandelbrot")]
    pub(crate) formula: String,
    /// The power N, 2 to 16 [default: 3 for multibrot, 2 for the others]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) power: Option<String>,
    /// Number: f32, f64
    #[arg(long, value_name = "NUMBER", default_value = "f64")]
    pub(crate) number: String,
    /// Order of roundings: fused, separate
    #[arg(long, value_name = "RECIPE", default_value = "fused")]
    pub(crate) recipe: String,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dwell completions bash > ~/.local/share/bash-completion/completions/dwell\n  \
dwell completions zsh > ~/.zfunc/_dwell\n  dwell completions fish > ~/.config/fish/completions/dwell.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dwell man | man -l -\n  dwell man --output-dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write a page for the program and each of its commands into this folder instead
    #[arg(long, value_name = "DIR")]
    pub(crate) output_dir: Option<PathBuf>,
}
