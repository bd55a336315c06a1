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
Exit codes: 0 done, 1 what was compared differs, 2 something wrong in what was given, 4 writing failed, 5 an engine asked for by name is not there, 130 interrupted.")]
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
    /// Show the built-in palettes, in the terminal or as a picture
    Palettes(PalettesArgs),
    /// Print what a picture made by dwell shows, or a location: a location file with every key
    Show(ShowArgs),
    /// Render every built-in location into a page to look at
    Gallery(GalleryArgs),
    /// Compare two fields or two images pixel by pixel, or a field with the truth
    Compare(Box<CompareArgs>),
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
  dwell render shallow-seahorse -o seahorse.png --size 3840x2160 --aa 3 --palette ember
      A built-in location, larger, anti-aliased, in other colours.
  dwell render -o here.png --center -0.7436438870,0.1318259042 --zoom 2e5 --max-iter auto
      A place of your own, with a limit that settles the picture.
  dwell render here.png -o poster.png --size 8000x8000
      A picture remembers what it shows: the same again, larger.
  dwell render --formula burning-ship -o ship.png --palette fire --scale histogram
      Another formula, colours spread evenly over the picture.
  dwell render --julia -0.8,0.156 -o julia.png --palette ink
      A Julia set; this palette draws by the distance to it.
  dwell render -o counts.npy --bounds -2,1,-1,1 --size 3000x2000 --stats -
      The dwells of a rectangle as a NumPy array, and statistics.
  dwell render my-place.toml -o - --format ppm | display
      A location file, to another program.
  dwell render --strategy mariani-silver --verify --stats - --size 4096x4096
      How many pixels a published heuristic gets wrong, and how long it takes.

A location file is TOML; `dwell show WHAT` prints one with every key:
  re = \"-0.7436438870371587\"      # quoted, so that every digit is kept
  im = \"0.1318259042053119\"
  zoom = \"1e9\"                    # the view's height is 4 / zoom
  iterations = 5000
  [colour]                        # may be left out, like the other keys
  palette = \"ember\"               # or a palette file, from the folder of this one: \"./my.ggr\"

A palette file is TOML, .map (a line of red, green and blue, 0 to 255, for each colour),
.ggr (GIMP) or .ugr (Ultra Fractal):
  colours = [\"#04082b\", \"#2a7fd4\", \"#fff8dc\"]   # a cycle
  # positions = [0.0, 0.2, 0.7]                   # places them
  interior = \"#000000\"
  # cyclic = false: there and back. blend = \"step\", \"linear\", \"light\" instead of \"smooth\".
  # by, scale, density, offset: what it suggests for itself.";

#[derive(Debug, Args)]
#[command(after_help = RENDER_EXAMPLES)]
pub(crate) struct RenderArgs {
    /// A built-in location (see `dwell locations`), a location file, or a PNG made by dwell, which is rendered again; `-` is
    /// either of these on standard input. Every flag overrides what it says. The whole set if left out
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

    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Anti-aliasing: N x N samples for each pixel, 1 to 16, averaged in linear light. Statistics are those of the samples
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) aa: Option<String>,

    #[command(flatten)]
    pub(crate) iteration: IterationArgs,

    /// Colours: one of `dwell palettes`, or a palette file (.toml, .map, .ggr, .ugr or .ugr#NAME). Density and offset go
    /// with it, and so do what is coloured and the scale if it suggests either; otherwise a location's own choice of these
    /// two stays, and so does an interior colour chosen there [default: the location's, or twilight]
    #[arg(long, value_name = "NAME|FILE", help_heading = "Colour")]
    pub(crate) palette: Option<String>,
    /// What is coloured: smooth (the dwell without its steps), banded (the dwell), distance (to the set)
    /// [default: smooth, or as the palette suggests]
    #[arg(long, value_name = "WHAT", help_heading = "Colour")]
    pub(crate) by: Option<String>,
    /// How fast colours change with it: root (0.11 turns of the palette for each unit of its root), linear (256 a turn), log
    /// (4 octaves a turn), limit (a turn up to the limit), histogram (each colour equally often) [default: root; log for
    /// distance; or as the palette suggests]
    #[arg(long, value_name = "SCALE", help_heading = "Colour")]
    pub(crate) scale: Option<String>,
    /// How often the palette repeats: 2 is twice as often as the scale has it; above 0 [default: 1]
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) density: Option<String>,
    /// Turns by which the palette is moved [default: 0]
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) offset: Option<String>,
    /// Colour of the inside of the set, #rgb, #rrggbb or #rrrrggggbbbb [default: the palette's]
    #[arg(long, value_name = "COLOUR", help_heading = "Colour")]
    pub(crate) interior: Option<String>,
    /// Bits of a channel of the picture: 8, 16 [default: 8]
    #[arg(long, value_name = "BITS", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) depth: Option<String>,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    #[command(flatten)]
    pub(crate) kernel: KernelArgs,

    /// How pixels are asked for: every-pixel; or mariani-silver, boundary-trace, which ask for fewer and infer the rest:
    /// a few pixels may be wrong. Those of `--gpu-kernel` that infer can be named here, too. For a picture by smooth values or distances only the inside of the set is inferred
    /// [default: every-pixel]
    #[arg(long, value_name = "STRATEGY", help_heading = "Running")]
    pub(crate) strategy: Option<String>,
    /// Ask for every pixel as well, and report how many dwells differ
    #[arg(long, help_heading = "Running")]
    pub(crate) verify: bool,
    /// Exact shortcuts, which change no dwell: none, exact (all), or some of interior,cycles,symmetry; each where it holds
    /// for the formula [default: exact]
    #[arg(long, value_name = "WHICH", help_heading = "Running")]
    pub(crate) shortcuts: Option<String>,
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
    /// Print what would be done, in which memory and in about which time, and do nothing
    #[arg(long, help_heading = "Running")]
    pub(crate) dry_run: bool,
    /// Memory to get by with: bytes, or with K, M or G; an error at once if that is too little
    /// [default: nine tenths of what is free]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Seconds between entries of the journal that a render keeps beside its first output, 0.1 to 86400, or `off`. After a
    /// kill or a full disk, the same command goes on where it was
    #[arg(long, value_name = "SECONDS|off", allow_hyphen_values = true, default_value = "5", help_heading = "Running")]
    pub(crate) sync_interval: String,
    /// Start over, even where there is a journal to go on with
    #[arg(long, help_heading = "Running")]
    pub(crate) fresh: bool,
    /// Render N times (up to 100000) in one process, drop the first, report medians; only the last is written
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) repeat: Option<String>,
    /// No progress, no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

// What is looked at: shared by whatever shows a view. (A doc comment here would be the description of the command.)
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
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
    #[arg(long, alias = "rotation", value_name = "DEG", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) rotate: Option<String>,
    /// Turn the picture upside down, as the Burning Ship is usually shown: `--formula burning-ship` does, unless a location
    /// is named; `--flip=no` where that or a location does it
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = "View")]
    pub(crate) flip: Option<String>,
    /// Where in its pixel a point is sampled: centre, corner (the lower left one) [default: centre]
    #[arg(long, value_name = "WHERE", help_heading = "View")]
    pub(crate) sample: Option<String>,
}

// How points are iterated: shared in the same way.
#[derive(Debug, Args)]
pub(crate) struct IterationArgs {
    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Greatest number of iterations, 1 to 4294967295 (1e6 is a million), or `auto` [default: the location's]
    #[arg(long, alias = "iterations", value_name = "N|auto", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) max_iter: Option<String>,
    /// A point has escaped when |z| > R, 2 to 1e9 [default: 2]
    #[arg(long, value_name = "R", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) escape_radius: Option<String>,
    /// Number to iterate in: f32, f64 [default: f64]
    #[arg(long, value_name = "NUMBER", help_heading = "Iteration")]
    pub(crate) number: Option<String>,
    /// Order of roundings: fused, separate [default: fused]
    #[arg(long, value_name = "RECIPE", help_heading = "Iteration")]
    pub(crate) recipe: Option<String>,
    /// Draw a view that the number does not resolve all the same
    #[arg(long, help_heading = "Iteration")]
    pub(crate) force: bool,
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
pub(crate) struct WhoArgs {
    /// Who iterates: cpu; cuda, or cuda:N for the device of that number (see `dwell info`); auto, the faster for this
    /// picture by a short measurement that is kept for next time. All give the same bytes. Where a device fails, processors
    /// go on [default: auto]
    #[arg(long, value_name = "ENGINE", help_heading = "Running")]
    pub(crate) engine: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct KernelArgs {
    /// Which kernel a CUDA device iterates with: tuned; per-pixel, row-per-block, grid-stride, which are plain loops as
    /// published; or mariani-silver-levels, mariani-silver-block, mariani-silver-cdp, which infer (also as --strategy)
    /// [default: tuned]
    #[arg(long, value_name = "KERNEL", help_heading = "CUDA kernels")]
    pub(crate) gpu_kernel: Option<String>,
    /// Threads of a block, 1 to 1024 in all, for the plain loops and mariani-silver-cdp; or `occupancy`, what the driver says
    /// keeps the device busiest [default: as published: 64x4, 128x1, 16x16]
    #[arg(long, value_name = "WxH|occupancy", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) block: Option<String>,
    /// Memory of the device to get by with: bytes, or with K, M or G [default: what is free]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) gpu_memory: Option<String>,
    /// For mariani-silver kernels: rectangles across and down to begin with [default: 32]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) init_subdiv: Option<String>,
    /// The same: children of a rectangle across and down [default: 4]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) subdiv: Option<String>,
    /// The same: levels at most, and one more [default: 4]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) max_depth: Option<String>,
    /// The same: rectangles are divided while their children are longer than this [default: 32]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "CUDA kernels")]
    pub(crate) min_size: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dwell palettes\n  dwell palettes my.ggr ember -o sheet.png")]
pub(crate) struct PalettesArgs {
    /// Built-in palettes or palette files; all the built-in ones if left out
    #[arg(value_name = "NAME|FILE")]
    pub(crate) palettes: Vec<String>,
    /// Draw them into a PNG instead, a bar for each; its name ends in .png or has no ending
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Only the names, one a line
    #[arg(long, conflicts_with = "output")]
    pub(crate) names: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  dwell show seahorse.png\n  dwell show seahorse.png > place.toml\n  \
dwell show shallow-seahorse")]
pub(crate) struct ShowArgs {
    /// A PNG made by dwell, a location file (`-`: either on standard input), or a built-in location
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) what: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  dwell gallery -o gallery && open gallery/index.html")]
pub(crate) struct GalleryArgs {
    /// Folder for the page; made if it is not there. A page there that dwell has not made is left alone: an error
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Pixels of each picture
    #[arg(long, value_name = "WxH", allow_hyphen_values = true, default_value = "1280x720")]
    pub(crate) size: String,
    /// Anti-aliasing: N x N samples for each pixel, 1 to 16
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value = "2")]
    pub(crate) aa: String,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// No progress, no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

const COMPARE_EXAMPLES: &str = "Examples:
  dwell compare a.npy b.npy
      How many dwells differ, where, and by how much.
  dwell compare old.png new.png -o diff.png --json
      Two images, a picture of what differs, and the report as JSON.
  other-program | dwell compare - ours.csv
      The counts of another program, with what they are compared to.
  dwell compare --truth a.npy --bounds -2,1,-1,1 --size 1500x1000
      1000 pixels of a field, iterated at their exact points without rounding.
  dwell compare --truth b.npy shallow-seahorse --all
      Every pixel of the field of a location.

Exit codes: 0 the same, or nothing wrong; 1 something differs, or is wrong; 2 something wrong in what was
given; 4 writing failed; 130 interrupted.";

#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// A field (.npy, .csv) or an image (.png, .ppm, .pgm); `-` is standard input. With --truth: what the field shows, a
    /// built-in location, a location file or a PNG made by dwell, as for `dwell render`
    #[arg(value_name = "A|WHAT", required_unless_present = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) a: Option<PathBuf>,
    /// What it is compared with: a field with a field, an image with an image
    #[arg(value_name = "B", required_unless_present = "truth", conflicts_with = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) b: Option<PathBuf>,

    /// Write a picture (PNG) of the differences: A in dark grey; orange where A is greater, blue where B is, yellow where one
    /// of the two is inside the set; the brighter the more
    #[arg(short, long, value_name = "FILE", conflicts_with = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Check pixels of this field (.npy, .csv; `-` is standard input) against arbitrary precision, for the view that the
    /// flags below describe: give those that it was rendered with
    #[arg(long, value_name = "FIELD", value_hint = ValueHint::FilePath, help_heading = "Truth")]
    pub(crate) truth: Option<PathBuf>,
    /// Check so many pixels, half of them next to a change of the dwell; 1 to 10000000 [default: 1000]
    #[arg(
        long,
        value_name = "N",
        requires = "truth",
        conflicts_with = "all",
        allow_hyphen_values = true,
        help_heading = "Truth"
    )]
    pub(crate) samples: Option<String>,
    /// Choose other pixels, 0 to 18446744073709551615 [default: 1]
    #[arg(
        long,
        value_name = "S",
        requires = "truth",
        conflicts_with = "all",
        allow_hyphen_values = true,
        help_heading = "Truth"
    )]
    pub(crate) seed: Option<String>,
    /// Check every pixel
    #[arg(long, requires = "truth", help_heading = "Truth")]
    pub(crate) all: bool,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// No progress
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
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
    #[command(flatten)]
    pub(crate) who: WhoArgs,
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
