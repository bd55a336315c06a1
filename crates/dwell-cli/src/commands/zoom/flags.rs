//! The values of the flags of a zoom, and what identifies it.

use super::encoder::Encoding;
use super::record::Identity;
use crate::cli::ZoomArgs;
use crate::engine;
use crate::error_text::{Failure, Usage};
use dwell::{Course, Decimal, Easing, Frame, Magnification, Method, Rational, Scene, Shared, quote};

/// What `--from`, `--frames`, `--fps` and `--crf` are where they are not given.
const FROM: &str = "1";
const FRAMES: u64 = 300;
const FPS: f64 = 30.0;
const CRF: u64 = 17;
/// The most frames and the greatest rate.
const MOST_FRAMES: u64 = 1_000_000;
const MOST_CRF: u64 = 51;
const RATES: std::ops::RangeInclusive<f64> = 1.0..=240.0;
/// Digits of a zoom that is computed from the height of a view.
const DIGITS: usize = 20;

/// The number of frames.
pub(super) fn frames(args: &ZoomArgs) -> Result<u32, Failure> {
    let frames = match &args.frames {
        Some(text) => engine::whole("--frames", text, 2, MOST_FRAMES)?,
        None => FRAMES,
    };
    Ok(u32::try_from(frames).unwrap_or(2))
}

/// How a film is encoded.
pub(super) fn encoding(args: &ZoomArgs) -> Result<Encoding, Failure> {
    let crf = match &args.crf {
        Some(text) => engine::whole("--crf", text, 0, MOST_CRF)?,
        None => CRF,
    };
    Ok(Encoding { fps: fps(args.fps.as_deref())?, crf })
}

/// The zoom of each frame, as flags and the view give it.
pub(super) fn course(args: &ZoomArgs, scene: &Scene, frames: u32) -> Result<Course, Failure> {
    let from = engine::decimal("--from", args.from.as_deref().unwrap_or(FROM))?;
    let to = match &args.to {
        Some(text) => engine::decimal("--to", text)?,
        None if args.what.is_none()
            && args.view.zoom.is_none()
            && args.view.view_height.is_none()
            && args.view.bounds.is_none() =>
        {
            return Err(Usage::new("--to", "the zoom of the last frame is not given")
                .hint("give a place, such as kf-1e50, or a centre and a zoom: --center RE,IM --to 1e12")
                .into());
        }
        None => zoom_of(scene)?,
    };
    let easing = args.easing.as_deref().map_or(Ok(Easing::default()), str::parse)?;
    Ok(Course::new(from, to, frames, easing)?)
}

/// The zoom of a scene's view.
fn zoom_of(scene: &Scene) -> Result<Decimal, Failure> {
    match scene.view.frame.with_square_pixels()? {
        Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => Ok(zoom),
        Frame::Centred { magnification: Magnification::Height(height), .. } => {
            Ok(Decimal::rounded(&Rational::whole(4).over(&height.to_rational()), DIGITS)?)
        }
        Frame::Bounds { .. } => Ok(Decimal::from(1)),
    }
}

/// Frames a second.
fn fps(text: Option<&str>) -> Result<f64, Usage> {
    let Some(text) = text else { return Ok(FPS) };
    text.parse::<f64>().ok().filter(|fps| RATES.contains(fps)).ok_or_else(|| {
        Usage::new("--fps", format!("{} is no number of frames a second", quote(text))).accepts("1 to 240")
    })
}

/// What identifies a zoom: the version, the course, and the scene without what is found.
pub(super) fn identity(scene: &Scene, course: &Course, shared: Shared, method: Method) -> Identity {
    let [from, to] = course.ends().map(|zoom| zoom.text().to_owned());
    let automatic = [(scene.automatic.limit, "limit"), (scene.automatic.scale, "scale")];
    let automatic: Vec<&str> = automatic.into_iter().filter(|(is, _)| *is).map(|(_, name)| name).collect();
    let own = [
        ("from", from),
        ("to", to),
        ("frames", course.frames().to_string()),
        ("easing", course.easing().name().to_owned()),
        ("method", method.name().to_owned()),
        ("fit", shared.name().to_owned()),
        ("automatic", automatic.join(" ")),
    ];
    let mut identity: Identity = own.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // Keys of a location file. A key of several layers is there several times.
    let text = scene.text(&[]);
    for (number, line) in text.lines().enumerate() {
        let (name, value) = line.split_once(" = ").unwrap_or((line, ""));
        let is_found = match name {
            "zoom" | "view_height" => true,
            "iterations" => scene.automatic.limit,
            _ => false,
        };
        if !is_found && !name.is_empty() {
            let is_new = identity.iter().all(|(known, _)| known != name);
            let name = if is_new { name.to_owned() } else { format!("{name}, line {}", number + 1) };
            identity.push((name, value.to_owned()));
        }
    }
    identity
}
