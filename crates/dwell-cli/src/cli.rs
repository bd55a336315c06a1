//! The flags of every command.
//!
//! The first paragraph of a doc comment is the text of `-h`; all of it is the text of `--help`. `-h` fits one screen (60
//! lines), so first paragraphs are short, and flags for measurements and for rare cases are hidden there. Values are
//! kept as text and read by the command, for two reasons: they may be long decimals, and the command's errors name the
//! accepted range. Hidden aliases are the former names of flags and the keys of location files.

mod lab;
mod picture;
mod values;
mod zoom;

pub(crate) use lab::{
    LabArgs, LabCheckArgs, LabCommand, LabCompareArgs, LabReportArgs, LabRunArgs, LabRunningArgs, LabShowArgs,
    LabSweepArgs, LabSweepRunningArgs,
};
pub(crate) use picture::PictureArgs;
pub(crate) use values::{NamesAndFiles, with_values};
pub(crate) use zoom::ZoomArgs;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::{Path, PathBuf};

/// What to type first.
macro_rules! start {
    () => {
        "Start with:
  dwell render -o mandelbrot.png
      The whole set, 1920x1080. `dwell render -h` lists the flags.
  dwell locations
      Places to render: dwell render shallow-seahorse -o seahorse.png
  dwell palettes
      Colours: dwell render seahorse.png -o other.png --palette ember
  dwell explore
      Everything at once, in the browser."
    };
}

const EXIT_CODES: &str = concat!(
    start!(),
    "

Exit codes:
  0    success
  1    `dwell compare` or `dwell check` found a difference, or `dwell lab`
       a wrong result or a regression
  2    invalid input
  4    an output could not be written
  5    the engine named by --engine is not available
  101  a defect of dwell
  130  interrupted"
);

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

/// Render images of the Mandelbrot set and its relatives, exactly
///
/// The dwell of a point is the number of iterations after which its orbit leaves a disc around 0: what a picture colours.
#[derive(Debug, Parser)]
#[command(name = "dwell", version, long_version = LONG_VERSION, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = start!(), after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render a view as a picture, or as an array of dwells
    ///
    /// Without WHAT and flags, the view is the whole Mandelbrot set. A PNG stores everything that it depends on, so that it
    /// can be rendered again, larger or in other colours: `dwell render old.png -o new.png --size 3840x2160`.
    Render(Box<RenderArgs>),
    /// List the built-in locations
    ///
    /// Prints the name, zoom, iteration limit and title of each, and the precision that it needs at 1920x1080 pixels.
    Locations(LocationsArgs),
    /// Show palettes in the terminal or as a PNG
    Palettes(PalettesArgs),
    /// List the looks of --look
    ///
    /// A look is a palette and layers, such as shading by slope, with a name.
    Looks,
    /// Print what a PNG made by dwell shows, as a location file
    ///
    /// A built-in location or a location file is printed with every key.
    Show(ShowArgs),
    /// Find the minibrot nearest a point or in a box of a view, with a proof
    ///
    /// Prints its period, size, orientation and all digits of its centre, to any depth, and writes a location that shows it: `dwell locate
    /// WHAT -o mini.toml`, then `dwell render mini.toml -o mini.png`.
    Locate(Box<LocateArgs>),
    /// Write a location as a file of another program, or the other way round
    Convert(ConvertArgs),
    /// Make a film that zooms into a place, or out of it
    ///
    /// The frames are PNGs in a folder, or a film that ffmpeg encodes: -o zoom.mp4. Colours are the same in all frames, and what was
    /// computed for one frame is used for the next. After a kill or Ctrl-C the same command goes on.
    Zoom(Box<ZoomArgs>),
    /// Render the built-in locations into an HTML page
    Gallery(GalleryArgs),
    /// Explore in the browser, at any depth
    ///
    /// Starts a server on this machine, prints its link and opens it in the browser. Wheel, drag, touch and keys move; colours change
    /// without iterating; what rests on the screen is the picture that `dwell render` gives. Ctrl-C ends it.
    Explore(Box<ExploreArgs>),
    /// Compare two files, or a field with arbitrary precision
    ///
    /// Two fields of dwells or two images are compared pixel by pixel. With --truth, the dwells of a field are compared
    /// with the true ones.
    Compare(Box<CompareArgs>),
    /// Check that pictures are what their own text describes
    ///
    /// The scene that the text describes is rendered again, and every pixel is compared. With --stats, files of any
    /// format are checked against the statistics of their render, and nothing is rendered.
    Check(CheckArgs),
    /// Print the dwell of one point in f32, f64 and arbitrary precision
    Point(PointArgs),
    /// Measure the highest iteration rate that this machine can reach
    ///
    /// Runs the arithmetic of the iteration and nothing else. Compare the result with `iterations_per_second` of
    /// `dwell render --stats` with --shortcuts none.
    Peak(PeakArgs),
    /// Run published experiments again, checked before they are timed
    ///
    /// Five published systems and our own measurements as data: workloads, variants, published figures and claims. A report
    /// gives a verdict on each claim.
    Lab(LabArgs),
    /// Print the processor, memory and CUDA devices
    Info(InfoArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print the manual page of the program or of a command
    Man(ManArgs),
}

const RENDER_EXAMPLES: &str = "Examples:
  dwell render -o mandelbrot.png
      The whole set, 1920x1080.
  dwell render shallow-seahorse -o seahorse.png --size 4k --palette ember
      A built-in location, anti-aliased, in another palette.
  dwell render -o a.png --center -0.7436,0.1318 --zoom 1e3
      Any place, with an iteration limit chosen by a probe.
  dwell render a.png -o poster.png --size 8000x8000
      The view of an earlier picture, larger.
  dwell render --formula burning-ship -o ship.png --palette ember
      Another formula.
  dwell render --julia -0.8,0.156 -o julia.png --palette ink
      A Julia set; this palette colours by the distance to the set.
  dwell render -o counts.npy --bounds -2,1,-1,1 --size 3000x2000 --stats -
      The dwells of a rectangle as a NumPy array, and statistics.
  dwell render my-place.toml -o - --format ppm | display
      A location file, piped to another program.
  dwell render --strategy mariani-silver --verify --stats -
      The pixels that a published heuristic gets wrong, and its time.

Location files:
  They are TOML, and `dwell show WHAT` prints one with every key.
    re = \"-0.7436438870371587\"   # in quotes, so that every digit is kept
    im = \"0.1318259042053119\"
    zoom = \"1e9\"                 # the view is 4 / zoom high
    iterations = 5000
    [colour]                     # optional, as are the keys not shown here
    palette = \"ember\"            # or a file beside this one: \"./my.ggr\"
  The keys are accepted as flags, too: --iterations 5000.

Palette files:
  They are TOML, .map (a line of red, green and blue, 0 to 255, for each
  colour), .ggr or .gpl (GIMP), .ugr (Ultra Fractal) or .kfp (Kalles
  Fraktaler).
    colours = [\"#04082b\", \"#2a7fd4\", \"#fff8dc\"]   # a cycle
    # positions = [0.0, 0.2, 0.7]    # of the colours in the cycle
    interior = \"#000000\"
    # cyclic = false                 # forwards, then backwards
    # blend = \"step\"               # or linear, light, smooth (the default)
    # by, scale, density, offset: the defaults that the palette suggests";

#[derive(Debug, Clone, Args)]
#[command(after_help = "`dwell render --help` describes every flag and file format, with examples.")]
#[command(after_long_help = RENDER_EXAMPLES)]
pub(crate) struct RenderArgs {
    /// Built-in location, file, or PNG of dwell [default: the whole set]
    ///
    /// Files of Kalles Fraktaler (.kfr), Fraktaler 3 (.f3.toml), Ultra Fractal (.upr, .upr#NAME), Fractint (.par,
    /// .par#NAME) and XaoS (.xpf) are location files, too. `dwell locations` lists the built-in locations. A PNG made
    /// by dwell stores everything that the picture depends on. `-` reads a location file or a PNG from standard input.
    /// Flags override what the location says. Several are rendered one after the other, to outputs named by a pattern:
    /// -o '{name}.png'.
    pub(crate) what: Vec<PathBuf>,

    /// File to write: .png, .ppm, .npy or .csv
    ///
    /// The ending selects the format, and a name without an ending gets a PNG; `-` is standard output. Repeat the flag to
    /// write one render in several formats. A folder that does not exist is created. In the names of a batch, {name},
    /// {index}, {size} and {palette} stand for those of each job, and {{ and }} for braces.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,
    /// Format, whatever the file's ending: png, ppm, npy, csv
    ///
    /// png is an sRGB picture that stores everything it depends on as text. ppm is the same picture, uncompressed and
    /// without the text. npy is a NumPy array of dwells, uint32 of shape (height, width). csv holds the dwells as text, one
    /// line per row. A dwell of 0 means that the point did not escape within the limit.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Fail instead of replacing an existing file
    #[arg(long, hide_short_help = true)]
    pub(crate) no_clobber: bool,
    /// Render every job of a table (.csv, or TOML)
    ///
    /// One after the other. Columns are what, output, name and the long flags of this command. In TOML each job is a table [[job]]. Paths in the
    /// table are relative to its folder. Flags apply to every job that does not set them.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) jobs: Option<PathBuf>,
    /// Skip jobs whose outputs exist and have no journal
    ///
    /// Goes on with a batch that was interrupted.
    #[arg(long)]
    pub(crate) skip_existing: bool,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,

    #[command(flatten)]
    pub(crate) iteration: IterationArgs,

    /// Print the plan, memory and time, and write nothing
    #[arg(long, help_heading = "Running")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Memory limit, such as 4G [default: 90 % of free]
    ///
    /// Bytes, or with a suffix K, M, G or T, powers of 1024. Less memory means smaller bands of the image. A limit that
    /// is too small is an error before anything is written.
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Seconds between journal entries, 0.1 to 86400, or `off` for no journal
    ///
    /// A render that takes longer keeps a journal beside its first output. After a kill, Ctrl-C, a full disk or a loss of
    /// power, the same command resumes from the last entry and writes the same bytes. Deep views with points that take long
    /// have fewer entries, at most a minute later.
    #[arg(
        long,
        value_name = "SECONDS|off",
        allow_hyphen_values = true,
        default_value = "5",
        hide_short_help = true,
        help_heading = "Running"
    )]
    pub(crate) sync_interval: String,
    /// Discard an existing journal and start over
    #[arg(long, hide_short_help = true, help_heading = "Running")]
    pub(crate) fresh: bool,
    /// Print no progress and no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,

    /// Write statistics as JSON; `-` is standard error
    ///
    /// Statistics hold the parameters, the number of iterations, a BLAKE3 hash of the dwells, the time of each stage in
    /// seconds, the memory in bytes, and the processor, the version and the date. With `-`, standard error carries nothing
    /// else.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Measuring")]
    pub(crate) stats: Option<PathBuf>,
    /// Compute every pixel as well, and report how many dwells differ
    #[arg(long, hide_short_help = true, help_heading = "Measuring")]
    pub(crate) verify: bool,
    /// Pixels to compute: auto, every-pixel, proven, mariani-silver, boundary-trace [default: auto]
    ///
    /// every-pixel computes every pixel. proven proves the dwells of whole blocks, roundings included, and computes the other
    /// pixels, each up to the proof that it never escapes. auto does so where dwells of a large image are wanted and that is
    /// faster there. All three are exact and give the same bytes.
    /// mariani-silver and boundary-trace compute fewer pixels and infer the rest; a few pixels may be wrong, and --verify
    /// counts them. In pictures coloured by smooth values or distances, no block is proved and only points inside the set are
    /// inferred. The kernels of --gpu-kernel that infer pixels are accepted here, too.
    #[arg(long, value_name = "STRATEGY", hide_short_help = true, help_heading = "Measuring")]
    pub(crate) strategy: Option<String>,
    /// Exact shortcuts: none, exact (all), or a list of interior,cycles,symmetry [default: exact]
    ///
    /// Shortcuts save time and change no dwell. interior skips points that are proved to lie in the main cardioid or in the
    /// disc of period 2. cycles stops orbits that return to an earlier value bit for bit. symmetry copies mirrored rows.
    /// Each is used where it holds for the formula.
    #[arg(long, value_name = "WHICH", hide_short_help = true, help_heading = "Measuring")]
    pub(crate) shortcuts: Option<String>,
    /// Assignment of tiles to threads: static, dynamic[:CHUNK], guided, work-stealing
    ///
    /// CHUNK is the number of tiles that a thread takes at once, 1 to 1000000000. The schedule changes the time only.
    #[arg(
        long,
        value_name = "SCHEDULE",
        default_value = "work-stealing",
        hide_short_help = true,
        help_heading = "Measuring"
    )]
    pub(crate) schedule: String,
    /// Size of a tile in pixels, 1 to 4096 per side and at most 1048576 in all
    ///
    /// The default is about 16384 pixels, as wide as the image where that is at most 4096 pixels wide; and 256x256 for the
    /// strategies that infer pixels.
    #[arg(long, value_name = "WxH", allow_hyphen_values = true, hide_short_help = true, help_heading = "Measuring")]
    pub(crate) tile: Option<String>,
    /// Render N times in one process, 1 to 100000, and report median times [default: 1]
    ///
    /// The first of several renders is not counted. Only the last is written.
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, help_heading = "Measuring")]
    pub(crate) repeat: Option<String>,

    #[command(flatten)]
    pub(crate) kernel: KernelArgs,
}

impl RenderArgs {
    /// The only location that is named; `None` for the whole set.
    pub(crate) fn what(&self) -> Option<&Path> {
        self.what.first().map(PathBuf::as_path)
    }
}

// The view, shared by the commands that show one. (A doc comment here would become the description of the command.)
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ViewArgs {
    /// Centre of the view, such as -0.7436,0.1318
    ///
    /// The real and the imaginary part, with a comma and no space between them: decimal numbers of any length, kept
    /// exactly.
    #[arg(long, alias = "centre", value_name = "RE,IM", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) center: Option<String>,
    /// Magnification, above 0: the view is 4 / Z high
    ///
    /// 1.5 shows the whole Mandelbrot set. An exponent is accepted: 1e9 is a thousand million.
    #[arg(long, value_name = "Z", allow_hyphen_values = true, conflicts_with = "view_height", help_heading = "View")]
    pub(crate) zoom: Option<String>,
    /// Height of the view in the complex plane, above 0
    #[arg(long, aliases = ["height", "view_height"], value_name = "H", allow_hyphen_values = true, hide_short_help = true, help_heading = "View")]
    pub(crate) view_height: Option<String>,
    /// XMIN,XMAX,YMIN,YMAX, in place of --center and --zoom
    ///
    /// Edges of the view in the complex plane, kept exactly. Pixels need not be square.
    #[arg(long, value_name = "EDGES", allow_hyphen_values = true, conflicts_with_all = ["center", "zoom", "view_height"], help_heading = "View")]
    pub(crate) bounds: Option<String>,
    /// Width and height in pixels, or a name such as 4k [default: 1920x1080]
    ///
    /// 1 to 2147483647 each; the default is that of the location, if it has one. Names are 720p or hd (1280x720), 1080p or
    /// fhd (1920x1080), 1440p, qhd or desktop (2560x1440), 4k or uhd (3840x2160), 8k (7680x4320), ultrawide (3440x1440),
    /// square (2048x2048), tablet (2732x2048), phone (1170x2532), and paper: a0 to a6, letter (8.5 x 11 inches) and poster
    /// (24 x 36 inches), at 300 dots per inch or as in a4@150dpi. Each may be followed by -portrait or -landscape. A
    /// whole set is fitted to the size. With --bounds alone, the image has the shape of the bounds.
    #[arg(long, value_name = "WxH|NAME", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) size: Option<String>,
    /// Rotation in degrees, counter-clockwise [default: 0]
    ///
    /// Turns the view about its centre, by -1000000 to 1000000 degrees.
    #[arg(long, alias = "rotation", value_name = "DEG", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) rotate: Option<String>,
    /// Upside down; --flip=no for the right way up
    ///
    /// The Burning Ship is usually shown upside down: --formula burning-ship flips the view unless a location is named.
    #[arg(long, value_name = "yes|no", num_args = 0..=1, require_equals = true, default_missing_value = "yes", hide_short_help = true, help_heading = "View")]
    pub(crate) flip: Option<String>,
    /// Position of the sampled point in its pixel: centre, corner (lower left) [default: centre]
    #[arg(long, value_name = "WHERE", hide_short_help = true, help_heading = "View")]
    pub(crate) sample: Option<String>,
}

// The iteration, shared in the same way.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct IterationArgs {
    /// Iteration limit [default: the location's, or auto]
    ///
    /// 1 to 9223372036854775807, or `auto`. Points that have not escaped at the limit have dwell 0. Exponents are accepted: 1e6
    /// is a million. f32 and f64 count to 4294967295; beyond that `--precision auto` takes exact arithmetic, and NPY files have 64 bits. `auto` probes some 25,000 points of the view and chooses a limit beyond which about one pixel in 200,000
    /// escapes. It is the default where no location gives a limit, and where flags change the location's place or formula.
    #[arg(long, aliases = ["iterations", "max_iter"], value_name = "N|auto", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) max_iter: Option<String>,
    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Escape radius R, 2 to 1e9: a point has escaped when |z| > R [default: 2]
    #[arg(
        long,
        alias = "escape_radius",
        value_name = "R",
        allow_hyphen_values = true,
        hide_short_help = true,
        help_heading = "Iteration"
    )]
    pub(crate) escape_radius: Option<String>,
    /// Arithmetic of the iteration: f32, f64, exact, auto [default: the location's, or auto]
    ///
    /// exact proves the dwell of each pixel in exact arithmetic, at any depth. auto takes it where f64
    /// does not resolve the view, and f64 otherwise.
    #[arg(long, alias = "number", value_name = "TYPE", hide_short_help = true, help_heading = "Iteration")]
    pub(crate) precision: Option<String>,
    /// Rounding of a step: fused (fused multiply-adds), separate (every operation rounds) [default: fused]
    #[arg(long, alias = "recipe", value_name = "ORDER", hide_short_help = true, help_heading = "Iteration")]
    pub(crate) rounding: Option<String>,
    /// Render a view even if the precision does not resolve its pixels
    #[arg(long, hide_short_help = true, help_heading = "Iteration")]
    pub(crate) force: bool,
}

#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FormulaArgs {
    /// mandelbrot, multibrot, burning-ship or tricorn
    ///
    /// The default is the location's formula, or mandelbrot. mandelbrot iterates z^2 + c, multibrot z^N + c,
    /// burning-ship (|x| + i|y|)^N + c and tricorn (x - iy)^N + c, where z = x + iy and N is the power.
    #[arg(long, value_name = "FORMULA", help_heading = "Iteration")]
    pub(crate) formula: Option<String>,
    /// Power of the formula, 2 to 16
    ///
    /// The default is 3 for multibrot, and 2 for the others.
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) power: Option<String>,
    /// Draw the Julia set of a constant, such as -0.8,0.156
    ///
    /// `none` draws the formula's own set. The view of a Julia set shows the starting point z_1 instead of c. `none`
    /// overrides the constant of a location.
    #[arg(long, value_name = "RE,IM", allow_hyphen_values = true, help_heading = "Iteration")]
    pub(crate) julia: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct EngineArgs {
    /// Threads, 1 to 4096 [default: one per processor]
    ///
    /// At most 32 threads per processor are used to render. The number of threads changes no byte of the output.
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) threads: Option<String>,
    /// Instruction set: scalar, avx2, avx512, neon [default: DWELL_LEVEL, or the widest available]
    ///
    /// DWELL_LEVEL is an environment variable. The instruction set changes no byte of the output.
    #[arg(long, value_name = "LEVEL", hide_short_help = true, help_heading = "Running")]
    pub(crate) level: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct EngineChoiceArgs {
    /// auto, cpu, cuda or cuda:N [default: auto]
    ///
    /// The engine that computes the dwells. cuda is device 0, cuda:N the device with that number in `dwell info`. auto
    /// selects the engine that is faster for this picture, from a short measurement that is kept for later runs. All
    /// engines give the same bytes. If a device fails during a render, the processors compute the rest.
    #[arg(long, value_name = "ENGINE", help_heading = "Running")]
    pub(crate) engine: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct KernelArgs {
    /// CUDA kernel, such as tuned, per-pixel or mariani-silver-levels [default: tuned]
    ///
    /// proven proves the dwells of blocks of pixels, where the dwells alone are wanted: --strategy proven takes it, and auto
    /// for large images. per-pixel, row-per-block and grid-stride are plain loops as published. mariani-silver-levels,
    /// mariani-silver-block and mariani-silver-cdp infer pixels, and are accepted by --strategy as well.
    #[arg(long, value_name = "KERNEL", hide_short_help = true, help_heading = "CUDA kernels")]
    pub(crate) gpu_kernel: Option<String>,
    /// Threads of a block, 1 to 1024 in all, or `occupancy`
    ///
    /// For the plain loops and mariani-silver-cdp. `occupancy` takes the size that the driver reports as keeping the device
    /// busiest. The defaults are the published ones: 64x4 for per-pixel and mariani-silver-cdp, 128x1 for row-per-block,
    /// 16x16 for grid-stride.
    #[arg(
        long,
        value_name = "WxH|occupancy",
        allow_hyphen_values = true,
        hide_short_help = true,
        help_heading = "CUDA kernels"
    )]
    pub(crate) block: Option<String>,
    /// Device memory limit in bytes, or with a suffix K, M, G or T [default: the free memory]
    #[arg(
        long,
        value_name = "BYTES",
        allow_hyphen_values = true,
        hide_short_help = true,
        help_heading = "CUDA kernels"
    )]
    pub(crate) gpu_memory: Option<String>,
    /// Rectangles of the first level across and down, 1 to 1024, for mariani-silver kernels [default: 32]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, help_heading = "CUDA kernels")]
    pub(crate) init_subdiv: Option<String>,
    /// Children of a rectangle across and down, 2 to 16, for mariani-silver kernels [default: 4]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, help_heading = "CUDA kernels")]
    pub(crate) subdiv: Option<String>,
    /// Maximum number of levels plus one, 1 to 20, for mariani-silver kernels [default: 4]
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, help_heading = "CUDA kernels")]
    pub(crate) max_depth: Option<String>,
    /// Shorter side in pixels, 1 to 65536, that children of a rectangle must exceed [default: 32]
    ///
    /// For mariani-silver kernels: rectangles whose children would not be longer are not divided.
    #[arg(long, value_name = "N", allow_hyphen_values = true, hide_short_help = true, help_heading = "CUDA kernels")]
    pub(crate) min_size: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  dwell locations seahorse\n  dwell locations --formula burning-ship\n  \
dwell locations --drawable --min-zoom 1e4 --json")]
pub(crate) struct LocationsArgs {
    /// Words that the name, title or notes contain, in upper or lower case [default: every location]
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// Locations of this formula: mandelbrot, multibrot, burning-ship, tricorn
    #[arg(long, value_name = "FORMULA")]
    pub(crate) formula: Option<String>,
    /// Locations that f64 resolves at 1920x1080; the others are drawn in exact arithmetic
    #[arg(long)]
    pub(crate) drawable: bool,
    /// Locations that f64 does not resolve at 1920x1080
    #[arg(long, conflicts_with = "drawable")]
    pub(crate) deep: bool,
    /// Locations of at least this zoom, above 0
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    pub(crate) min_zoom: Option<String>,
    /// Locations of at most this zoom, above 0
    #[arg(long, value_name = "Z", allow_hyphen_values = true)]
    pub(crate) max_zoom: Option<String>,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  dwell palettes\n  dwell palettes my.ggr ember -o sheet.png")]
pub(crate) struct PalettesArgs {
    /// Palettes to show: built-in names, files or colours [default: all]
    ///
    /// Colours are a list such as '#001,#fff,#fa0'.
    #[arg(value_name = "NAME|FILE|COLOURS")]
    pub(crate) palettes: Vec<String>,
    /// Write a PNG with a bar for each palette
    ///
    /// The name ends in .png or has no ending.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Print the names only, one per line
    #[arg(long, conflicts_with = "output")]
    pub(crate) names: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  dwell show seahorse.png\n  dwell show seahorse.png > place.toml\n  \
dwell show shallow-seahorse")]
pub(crate) struct ShowArgs {
    /// PNG made by dwell, built-in location, or location file
    ///
    /// `-` reads a PNG or a location file from standard input.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) what: PathBuf,
}

const LOCATE_EXAMPLES: &str = "Examples:
  dwell locate --center -1.76,0 --zoom 20
      The minibrot of period 3.
  dwell locate shallow-seahorse-1e13 -o mini.toml
      The one of least period in a view, for `dwell render mini.toml`.
  dwell locate --point 0.35,0.09 --zoom-to embedded -o julia.toml
      The embedded Julia set around the one near a point.
  dwell locate --box -0.161,-0.159,1.031,1.033 --zoom-to 1e6 -o place.toml
      The one in a box, at a zoom.
  dwell locate kf-1e50 --kind misiurewicz --json
      The Misiurewicz point of least preperiod and period in a view.";

#[derive(Debug, Args)]
#[command(after_long_help = LOCATE_EXAMPLES)]
pub(crate) struct LocateArgs {
    /// Built-in location, file, or PNG of dwell [default: the whole set]
    ///
    /// The view that is searched: everything that `dwell render` takes. Flags override what the location says.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) what: Option<PathBuf>,
    /// Search a disc about this point, not the whole view
    ///
    /// Its radius is a sixteenth of the height of the view. As long as nothing is found in it, the disc is doubled, until it holds the view.
    #[arg(long, value_name = "RE,IM", allow_hyphen_values = true, conflicts_with = "within", help_heading = "Search")]
    pub(crate) point: Option<String>,
    /// Search between these edges: XMIN,XMAX,YMIN,YMAX
    #[arg(long = "box", id = "within", value_name = "EDGES", allow_hyphen_values = true, help_heading = "Search")]
    pub(crate) within: Option<String>,
    /// minibrot or misiurewicz [default: minibrot]
    ///
    /// minibrot finds the component of least period whose centre is in the region: a minibrot, or a disc that touches a larger component. misiurewicz finds
    /// the Misiurewicz point of least preperiod plus period: a centre of spirals, or a tip or a crossing of filaments.
    #[arg(long, value_name = "KIND", help_heading = "Search")]
    pub(crate) kind: Option<String>,
    /// Greatest period, 1 to 4294967294; of a Misiurewicz point, the greatest preperiod plus period
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Search")]
    pub(crate) max_period: Option<String>,
    /// mini, embedded, or a zoom [default: mini]
    ///
    /// What the location shows: the minibrot, upright; the embedded Julia set around it; or the centre at a zoom. It decides how many digits are found. A
    /// Misiurewicz point is shown at a zoom, by default that of the view.
    #[arg(long, value_name = "mini|embedded|Z", allow_hyphen_values = true, help_heading = "Result")]
    pub(crate) zoom_to: Option<String>,
    /// Location file to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Result")]
    pub(crate) output: Option<PathBuf>,
    /// Fail instead of replacing an existing file
    #[arg(long, help_heading = "Result")]
    pub(crate) no_clobber: bool,
    /// Print the report as JSON
    #[arg(long, help_heading = "Result")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Memory limit, such as 4G [default: 90 % of free]
    ///
    /// Bytes, or with a suffix K, M, G or T, powers of 1024. Half of it is for an orbit.
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Instruction set: scalar, avx2, avx512, neon [default: DWELL_LEVEL, or the widest available]
    #[arg(long, value_name = "LEVEL", hide_short_help = true, help_heading = "Running")]
    pub(crate) level: Option<String>,
    /// Print no progress
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "Examples:\n  dwell convert deep.kfr -o deep.toml\n  dwell convert seahorse.png -o seahorse.upr\n  \
dwell convert old.par#Seahorse -o - --format kfr"
)]
pub(crate) struct ConvertArgs {
    /// Built-in location, location file of any program, or PNG made by dwell; `-` is standard input
    ///
    /// Location files are .toml, .kfr (Kalles Fraktaler), .f3.toml (Fraktaler 3), .upr (Ultra Fractal), .par (Fractint) and
    /// .xpf (XaoS). `file.upr#NAME` and `file.par#NAME` are one of several entries. What is not used is named on standard
    /// error.
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) what: PathBuf,
    /// File to write; its ending selects toml, kfr, f3.toml, upr, par or xpf; `-` is standard output
    ///
    /// What the format cannot express is named on standard error.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Format of the output, whatever the file's ending: toml, kfr, f3.toml, upr, par, xpf
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Fail instead of replacing an existing file
    #[arg(long)]
    pub(crate) no_clobber: bool,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "Examples:\n  dwell gallery -o gallery && open gallery/index.html\n  dwell gallery -o deep kf-1e50 rf-flake rf-e1000"
)]
pub(crate) struct GalleryArgs {
    /// Built-in locations to draw [default: all but two that take hours]
    #[arg(value_name = "LOCATION")]
    pub(crate) names: Vec<String>,
    /// Folder for the page and its pictures
    ///
    /// It is created if it is missing. An existing index.html that dwell has not written is not replaced: that is an error.
    #[arg(short, long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Width and height of each picture in pixels
    ///
    /// 1 to 2147483647 each.
    #[arg(long, value_name = "WxH", allow_hyphen_values = true, default_value = "1280x720")]
    pub(crate) size: String,
    /// Anti-aliasing: auto, or samples on a side of a pixel, 1 to 16
    ///
    /// Locations at the end of f64's resolution take fewer.
    #[arg(long, alias = "samples", value_name = "N|auto", allow_hyphen_values = true, default_value = "auto")]
    pub(crate) aa: String,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    /// Print no progress and no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "Examples:\n  dwell explore\n  dwell explore kf-1e50\n  dwell explore --center -0.7436438870371587,0.1318259042053119 --zoom 1e9\n  \
dwell explore old.png --folder places --no-open\n  dwell explore --listen 127.0.0.1:8080"
)]
pub(crate) struct ExploreArgs {
    /// Built-in location, file, or PNG of dwell to begin with [default: the whole set]
    ///
    /// What `dwell render` takes: a name of `dwell locations`, a location file of dwell or of another program, a PNG made by
    /// dwell, or `-` for standard input. Flags override what the location says. The window
    /// has a size of its own: --size gives the shape that a whole set is fitted to.
    pub(crate) what: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,
    /// Print the link and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Folder of bookmarks and posters [default: ~/.local/share/dwell/explore]
    ///
    /// It is created if it is missing. Bookmarks are location files. A poster that is not finished goes on when the server starts
    /// again with the same folder, and pages that are still open connect again, since the port and the secret in the link are kept there. The
    /// default is $XDG_DATA_HOME/dwell/explore where that is set.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: Option<PathBuf>,
    /// Folder of the laboratory's records, whose reports the page opens [default: ./lab-runs]
    ///
    /// Records are made by `dwell lab run`.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) lab_runs: Option<PathBuf>,
    /// Address to listen on [default: 127.0.0.1 and a free port]
    ///
    /// HOST:PORT, HOST or :PORT, where HOST is an IP address or localhost. With any other address than that of the loopback interface,
    /// everybody who reaches it and knows the link can use the processors and the folder, and the connection is not encrypted.
    #[arg(long, value_name = "ADDRESS", allow_hyphen_values = true)]
    pub(crate) listen: Option<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    /// Memory that all work together may take, such as 2G [default: part of what is available]
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, hide_short_help = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Offer pages what tests need
    #[arg(long, hide = true)]
    pub(crate) test_mode: bool,
}

const COMPARE_EXAMPLES: &str = "Examples:
  dwell compare a.npy b.npy
      The number of differing dwells, their places and their size.
  dwell compare old.png new.png -o diff.png --json
      Two images, a picture of the differences, and the report as JSON.
  other-program | dwell compare - ours.csv
      The counts of another program, compared with a table.
  dwell compare --truth a.npy --bounds -2,1,-1,1 --size 1500x1000
      1000 pixels of a field, compared with iteration without rounding.
  dwell compare --truth b.npy shallow-seahorse --all
      Every pixel of the field of a location.

Exit codes:
  0    no difference, or no wrong pixel
  1    a difference, or a wrong pixel
  2    invalid input
  4    an output could not be written
  130  interrupted";

#[derive(Debug, Args)]
#[command(after_long_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Field (.npy, .csv) or image (.png, .ppm, .pgm)
    ///
    /// `-` is standard input. With --truth, the view that the field shows: a built-in location, a location file or a
    /// PNG made by dwell, as for `dwell render`.
    #[arg(value_name = "A|WHAT", required_unless_present = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) a: Option<PathBuf>,
    /// File of the same kind as A: a field or an image
    #[arg(value_name = "B", required_unless_present = "truth", conflicts_with = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) b: Option<PathBuf>,

    /// Write a picture of the differences (PNG)
    ///
    /// A is shown in dark grey. Pixels are orange where A is greater, blue where B is greater, and yellow where only one of
    /// the two is inside the set. Brighter pixels differ by more.
    #[arg(short, long, value_name = "FILE", conflicts_with = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Compare this field with arbitrary precision
    ///
    /// A .npy or .csv file; `-` is standard input. The flags below describe the view that the field shows: give those
    /// that it was rendered with.
    #[arg(long, value_name = "FIELD", value_hint = ValueHint::FilePath, help_heading = "Truth")]
    pub(crate) truth: Option<PathBuf>,
    /// Number of pixels to check, 1 to 10000000 [default: 1000]
    ///
    /// Half of them are next to a change of the dwell, where most errors are.
    #[arg(
        long,
        value_name = "N",
        requires = "truth",
        conflicts_with = "all",
        allow_hyphen_values = true,
        help_heading = "Truth"
    )]
    pub(crate) samples: Option<String>,
    /// Seed that selects the pixels to check, 0 to 18446744073709551615 [default: 1]
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
    /// Memory limit, such as 4G [default: 90 % of free]
    ///
    /// Bytes, or with a suffix K, M, G or T, powers of 1024. An interlaced image and a table from a pipe are stored
    /// whole; everything else takes a few rows. A limit that is too small is an error before the memory is taken.
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Print no progress
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

const CHECK_EXAMPLES: &str = "Examples:
  dwell check seahorse.png
      The checksums of a picture, then all of its pixels against a second
      render of the scene that its text describes.
  dwell check *.png --engine cpu --json
      Several pictures, on the processors; the reports as JSON.
  dwell render -o a.npy -o a.png --stats a.json
  dwell check a.npy a.png --stats a.json
      Both files of a render against the lengths and hashes in its
      statistics. Nothing is rendered.
  dwell check converted.csv --stats a.json
      The dwells of a field that another program converted.

Exit codes, of several files the highest:
  0    every file is what its record says
  1    a file is damaged or differs from its record
  2    a file has no record, or it or the statistics cannot be read
  130  interrupted";

#[derive(Debug, Args)]
#[command(after_long_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Pictures made by dwell (PNG); with --stats, files of any format
    ///
    /// A PNG made by dwell stores everything that it depends on as text. Its checksums are verified, the scene is rendered
    /// again, and every pixel is compared. Neither picture is kept in memory.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,
    /// Check against the statistics that `dwell render --stats` wrote
    ///
    /// `-` is standard input. A file is compared with the output of the same name, or with the only output, by its
    /// length and BLAKE3 hash. A field of another name (.npy, .csv) is compared by the hash of its dwells, so that it
    /// may have been converted. Nothing is rendered.
    #[arg(long, value_name = "STATS", value_hint = ValueHint::FilePath)]
    pub(crate) stats: Option<PathBuf>,
    /// Print the reports as a JSON array
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    /// Memory limit, such as 4G [default: 90 % of free]
    ///
    /// Bytes, or with a suffix K, M, G or T, powers of 1024. Less memory means smaller bands of the image.
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Print no progress, and only files that are not what their record says
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_long_help = "Examples:\n  dwell point -0.743643887037151,0.131825904205330 --max-iter 5000")]
pub(crate) struct PointArgs {
    /// Point, such as -0.75,0.1
    ///
    /// The real and the imaginary part, with a comma and no space between them: decimal numbers of any length, kept
    /// exactly.
    #[arg(value_name = "RE,IM", allow_hyphen_values = true)]
    pub(crate) point: String,
    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Iteration limit, 1 to 9223372036854775807; f32 and f64 count to 4294967295
    #[arg(long, aliases = ["iterations", "max_iter"], value_name = "N", allow_hyphen_values = true, default_value = "1000")]
    pub(crate) max_iter: String,
    /// Escape radius R, 2 to 1e9: a point has escaped when |z| > R
    #[arg(long, alias = "escape_radius", value_name = "R", allow_hyphen_values = true, default_value = "2")]
    pub(crate) escape_radius: String,
    /// Rounding of a step: fused, separate
    ///
    /// fused computes with fused multiply-adds; with separate, every operation rounds. For f32 and f64.
    #[arg(long, alias = "recipe", value_name = "ORDER", default_value = "fused")]
    pub(crate) rounding: String,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PeakArgs {
    /// Formula: mandelbrot, multibrot, burning-ship, tricorn
    #[arg(long, value_name = "FORMULA", default_value = "mandelbrot")]
    pub(crate) formula: String,
    /// Power of the formula, 2 to 16 [default: 2; multibrot 3]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) power: Option<String>,
    /// Floating point type: f32, f64
    #[arg(long, alias = "number", value_name = "TYPE", default_value = "f64")]
    pub(crate) precision: String,
    /// Rounding of a step: fused, separate
    ///
    /// fused computes with fused multiply-adds; with separate, every operation rounds.
    #[arg(long, alias = "recipe", value_name = "ORDER", default_value = "fused")]
    pub(crate) rounding: String,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_long_help = "Examples:\n  dwell completions bash > ~/.local/share/bash-completion/completions/dwell\n  \
dwell completions zsh > ~/.zfunc/_dwell\n  dwell completions fish > ~/.config/fish/completions/dwell.fish"
)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
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
#[command(
    after_long_help = "Examples:\n  dwell man | man -l -\n  dwell man render | man -l -\n  dwell man lab run | man -l -\n  \
dwell man --output-dir ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Command whose page is printed, such as render or lab run [default: the program]
    #[arg(value_name = "COMMAND", conflicts_with = "output_dir")]
    pub(crate) command: Vec<String>,
    /// Write a page for the program and one for each command into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output_dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
