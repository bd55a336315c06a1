//! What a scene leaves to be found: the limit on iterations, and the scale of its colours. Both come from one probe of the
//! view (`probe.rs`) by a rule each (`limit.rs`, [`crate::colour::Fit`]).

mod bound;
mod deep;
mod late_orbits;
mod limit;
mod list;
mod nominal;
mod points;
mod probe;
mod ranking;
mod sample;
mod stages;

use super::contained;
use crate::base::control::Control;
use crate::base::error::Error;
use crate::base::limits::Limits;
#[cfg(all(feature = "png", feature = "toml"))]
use crate::colour::Fit;
use crate::iterate::engine::Engine;
use crate::plan::Plan;
use crate::scene::{Automatic, Scene};
use crate::view::settings::{NumberKind, Settings};
use dwell_kernels::{Fold, with_standard_floats};
use points::Search;
use probe::{Findings, Probe};
use serde::Serialize;
use std::time::Instant;

/// A scene with nothing left to be found, and how that was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Resolved {
    /// The scene: its limit, scale, density and offset are those to render with.
    pub scene: Scene,
    /// How they were found; `None` if nothing was left to be found.
    pub found: Option<Found>,
}

/// How the automatic values of a scene were found, for statistics.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// The limit, if it was left to be found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// Whether the scale was left to be found.
    pub scale: bool,
    /// Points of the probe, without those that others stand for.
    pub points: u64,
    /// Those of them that escaped.
    pub escaped: u64,
    /// The greatest dwell of a point of the probe; 0 if none escaped.
    pub latest: u64,
    /// Wall time in seconds.
    pub seconds: f64,
    /// Sentences for the user about problems that are not errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a limit that was given leaves undecided, by a probe of the view.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LimitCheck {
    /// The share of the view, 0 to 1, that has not escaped at the limit and is known to escape beyond it: within four times as many
    /// iterations at least.
    pub changing: f64,
    /// The limit that is chosen automatically for this view; `None` in exact arithmetic and for formulas with a fold, for which it is not
    /// searched, since that may take much longer than the picture.
    pub automatic: Option<u64>,
    /// The limit within which no point escapes, while some are not proved to stay, where no automatic limit is searched.
    pub black_until: Option<u64>,
}

impl LimitCheck {
    /// The share of the view above which a limit is too low to be left without a remark: two pixels in a thousand.
    pub const MOST_CHANGING: f64 = 0.002;

    /// Whether so many pixels change with a higher limit that the user is to be told.
    #[must_use]
    pub fn is_too_low(&self) -> bool {
        self.changing > Self::MOST_CHANGING || self.black_until.is_some()
    }
}

/// Finds what a scene leaves to be found ([`Scene::automatic`]): the number, the limit, and the scale with its density and offset. A
/// density and an offset of the scene are applied to what is found: the density multiplies, the offset adds.
///
/// The result depends on the view (on its size only through the ratio of its sides, as far as that rounds to the same
/// nominal picture of 1920 x 1080 pixels), the formula, the number, the recipe and the escape radius, and on nothing else:
/// it is the same for every engine, level and number of threads. The processors compute it, on the threads of the engine.
/// It costs nothing where nothing is left to be found.
///
/// The limit is at least 1000, at most 5 * 10^8, and 1, 2 or 5 times a power of ten. It is found from the latest escapes of
/// some 25,000 points, most of which lie where points escape late, and a tail of the dwells beyond them that is as heavy as
/// those of the Mandelbrot set. About one pixel in 200,000 escapes beyond it, and more of them in views where many orbits
/// neither escape nor enter a cycle: there the limit is such that these take no more than 500,000 iterations, or three times the mean dwell, as a mean over
/// all pixels. With a fold it is the greatest at which it costs no more than 10^9 iterations to spare one more pixel, and they take no more than
/// 1,000,000 iterations (50,000 in exact arithmetic, where chaotic orbits take no more time than some 0.13 ms a pixel or have a limit of 1000).
///
/// # Errors
/// As [`Plan::new`] for the view, which need not be resolved by its number; [`Error::Interrupted`] when it was
/// cancelled; [`Error::Internal`] when a thread panicked.
pub fn resolve(scene: &Scene, engine: &dyn Engine, limits: &Limits, control: &Control<'_>) -> Result<Resolved, Error> {
    with_standard_floats(|| resolved(scene, engine, limits, *control))
}

fn resolved(scene: &Scene, engine: &dyn Engine, limits: &Limits, control: Control<'_>) -> Result<Resolved, Error> {
    let Automatic { limit, scale, .. } = scene.automatic;
    if !limit && !scale {
        let mut scene = scene.clone();
        scene.settings.number = scene.number();
        scene.automatic.number = false;
        return Ok(Resolved { scene, found: None });
    }
    let began = Instant::now();
    let (mut scene, findings) = probed(scene, engine, limits, control)?;
    let mut found = Found {
        limit: None,
        scale,
        points: findings.points,
        escaped: findings.escaped,
        latest: findings.latest,
        seconds: 0.0,
        warnings: Vec::new(),
    };
    if let Some(limit) = findings.limit {
        scene.settings.limit = limit;
        found.limit = Some(limit);
    }
    found.warnings.extend(findings.warning(!limit));
    if let Some(fit) = findings.fit {
        scene.colouring = fit.applied_to(scene.colouring);
    }
    found.seconds = began.elapsed().as_secs_f64();
    Ok(Resolved { scene, found: Some(found) })
}

/// Probes the view of a scene for what the scene leaves to be found. Returns the scene in its number with nothing left to be found, to
/// which the findings are still to be applied.
fn probed(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    control: Control<'_>,
) -> Result<(Scene, Findings), Error> {
    let Automatic { limit, scale, .. } = scene.automatic;
    let mut scene = scene.clone();
    scene.settings.number = scene.number();
    scene.automatic = Automatic::NONE;
    scene.colouring.check()?;
    let search = Search {
        fixed_limit: (!limit).then_some(scene.settings.limit),
        checked: None,
        most_points: usize::MAX,
        by: scale.then_some(scene.colouring.by),
    };
    let findings = contained(|| probe(&scene, engine, limits, control, search))?;
    Ok((scene, findings))
}

/// The limit and the fit of the colours that suit a view by themselves, for a sequence of views that are to share them.
#[cfg(all(feature = "png", feature = "toml"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suitable {
    /// The limit, if the scene leaves it to be found.
    pub(crate) limit: Option<u64>,
    /// The fit, if the scene leaves its scale to be found.
    pub(crate) fit: Option<Fit>,
}

/// Finds what suits the view of a scene, of what the scene leaves to be found: see [`resolve`].
#[cfg(all(feature = "png", feature = "toml"))]
pub(crate) fn suitable(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    control: Control<'_>,
) -> Result<Suitable, Error> {
    with_standard_floats(|| {
        let Automatic { limit, scale, .. } = scene.automatic;
        if !limit && !scale {
            return Ok(Suitable { limit: None, fit: None });
        }
        let (_, findings) = probed(scene, engine, limits, control)?;
        Ok(Suitable { limit: findings.limit, fit: findings.fit })
    })
}

/// The fewest points of a check whether a limit is too low: of two pixels in a thousand of the view there are four.
const LEAST_CHECKED: usize = 2000;

/// Finds out whether the limit of a scene is too low for its view. The limit must have been given: an automatic one is not
/// too low.
///
/// # Errors
/// As [`resolve()`].
pub fn check_limit(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    control: &Control<'_>,
) -> Result<LimitCheck, Error> {
    let limit = scene.settings.limit;
    let next = limit.saturating_mul(4).min(Settings::MOST_LIMIT);
    let is_long = scene.number() == NumberKind::Exact || scene.settings.formula.fold() != Fold::None;
    let search = if is_long {
        // Points that are iterated four times as far as those of the picture take a tenth of its time.
        let most = usize::try_from(scene.view.size.pixels() / 40).unwrap_or(usize::MAX);
        Search { fixed_limit: Some(next), checked: Some(limit), most_points: most.max(LEAST_CHECKED), by: None }
    } else {
        Search { fixed_limit: None, checked: Some(limit), most_points: usize::MAX, by: None }
    };
    let findings = with_standard_floats(|| contained(|| probe(scene, engine, limits, *control, search)))?;
    Ok(LimitCheck {
        changing: findings.changing,
        automatic: findings.limit,
        black_until: findings.undecided_at.filter(|_| is_long),
    })
}

/// Probes the view of a scene.
fn probe(
    scene: &Scene,
    engine: &dyn Engine,
    limits: &Limits,
    control: Control<'_>,
    search: Search,
) -> Result<Findings, Error> {
    limits.reserve("the probe", Probe::BYTES)?;
    let view = scene.view.clone().sized(nominal::size(scene.view.size));
    // A view that the number does not resolve is probed all the same; rendering it is refused or not by its own plan.
    let force = scene.number() != NumberKind::Exact;
    let settings = Settings { number: scene.number(), force, ..scene.settings.clone() };
    let plan = Plan::new(&view, &settings, limits)?;
    let probe = Probe { size: view.size, pool: engine.pool(), level: engine.processor_level(), control, search };
    plan.points().visit(probe).ok_or_else(|| plan.points().unsupported_by("the probe"))?
}
