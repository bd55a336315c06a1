//! The flags of `dwell zoom`.

use super::{EngineArgs, EngineChoiceArgs, IterationArgs, PictureArgs, ViewArgs};
use clap::{Args, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  dwell zoom kf-1e50 -o deep.mp4
      300 frames from the whole set into a built-in location, encoded by
      ffmpeg, 30 frames a second.
  dwell zoom kf-1e50 -o frames --from 1 --to 1e50 --frames 1500
      The frames as PNGs in a folder, without ffmpeg.
  dwell zoom --center -0.7436438870371587,0.1318259042053119 --to 1e12 \\
      -o seahorse.webm --size 720p --frames 900 --easing smooth
      Any place, slowly at both ends.
  dwell zoom kf-1e50 -o out.mp4 --from 1e50 --to 1
      Out of the place.
  dwell zoom kf-1e50 -o deep.mp4 --dry-run
      What it would take.

After a kill, Ctrl-C or a full disk the same command goes on: frames that
are complete stay. Each frame is a picture that stores what it shows:
  dwell render frames/frame-0200.png -o poster.png --size 8k";

#[derive(Debug, Clone, Args)]
#[command(after_help = "`dwell zoom --help` describes every flag, with examples.")]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ZoomArgs {
    /// Built-in location, file, or PNG of dwell
    ///
    /// What `dwell render` takes. Its own zoom is that of the last frame, unless --to gives another. Without it, --center gives the place.
    pub(crate) what: Option<PathBuf>,

    /// Film (.mp4, .webm, .mkv, .mov), or folder
    ///
    /// A film is encoded by the system's ffmpeg; its frames are kept in a folder beside it, NAME.frames, until it is complete. A folder
    /// gets the frames as PNGs and needs no ffmpeg. A folder that does not exist is created.
    #[arg(short, long, value_name = "FILM|FOLDER", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// Zoom of the first frame, above 0 [default: 1]
    ///
    /// A decimal with or without an exponent of ten: 1e50, at most 1e1000000. 1 shows the whole Mandelbrot set with a margin.
    #[arg(long, value_name = "Z", allow_hyphen_values = true, help_heading = "Zoom")]
    pub(crate) from: Option<String>,
    /// Zoom of the last frame [default: that of the view]
    ///
    /// The view is that of WHAT, or of --zoom. The zoom may be below that of the first frame: the film then leaves the place.
    #[arg(long, value_name = "Z", allow_hyphen_values = true, help_heading = "Zoom")]
    pub(crate) to: Option<String>,
    /// Number of frames, 2 to 1000000 [default: 300]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Zoom")]
    pub(crate) frames: Option<String>,
    /// linear, or smooth at both ends [default: linear]
    ///
    /// linear zooms by the same factor from each frame to the next.
    #[arg(long, value_name = "HOW", help_heading = "Zoom")]
    pub(crate) easing: Option<String>,
    /// direct, or exponential: faster [default: direct]
    ///
    /// direct renders each frame, with the bytes of `dwell render`. exponential computes a strip of samples around the place, each once,
    /// and resamples the frames in linear light: several times faster where a film has many frames for each doubling, and slightly
    /// softer. docs/zoom.md has figures of both.
    #[arg(long, value_name = "METHOD", help_heading = "Zoom")]
    pub(crate) method: Option<String>,
    /// Colours that fit film or frame [default: film]
    ///
    /// What --scale auto fits. film finds one scale with one density and offset, so that a point keeps its colour from frame to frame.
    /// frame colours each frame as a picture alone, so that colours change on the way. A scale that is given is kept in either case.
    #[arg(long, value_name = "film|frame", help_heading = "Zoom")]
    pub(crate) fit: Option<String>,
    /// Frames a second of a film, 1 to 240 [default: 30]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Zoom")]
    pub(crate) fps: Option<String>,
    /// Constant rate factor of a film, 0 to 51: smaller is better and larger [default: 17]
    ///
    /// The factor of the encoder: x264 for .mp4, .mkv and .mov, VP9 for .webm.
    #[arg(long, value_name = "Q", allow_hyphen_values = true, hide_short_help = true, help_heading = "Zoom")]
    pub(crate) crf: Option<String>,
    /// Keep the frames of a film when it is complete
    #[arg(long, help_heading = "Zoom")]
    pub(crate) keep_frames: bool,

    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    #[command(flatten)]
    pub(crate) iteration: IterationArgs,

    /// Print the plan, time and space, and write nothing
    #[arg(long, help_heading = "Running")]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) engine_choice: EngineChoiceArgs,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    /// Memory limit, such as 4G [default: 90 % of free]
    ///
    /// Bytes, or with a suffix K, M, G or T, powers of 1024.
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, help_heading = "Running")]
    pub(crate) max_memory: Option<String>,
    /// Seconds between journal entries of a frame, 0.1 to 86400, or `off` for no journal
    ///
    /// A frame that takes longer keeps a journal, as a picture of `dwell render` does, and goes on within the frame.
    #[arg(
        long,
        value_name = "SECONDS|off",
        allow_hyphen_values = true,
        default_value = "5",
        hide_short_help = true,
        help_heading = "Running"
    )]
    pub(crate) sync_interval: String,
    /// Replace the frames of another zoom, and start over
    #[arg(long, hide_short_help = true, help_heading = "Running")]
    pub(crate) fresh: bool,
    /// Print no progress and no summary
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}
