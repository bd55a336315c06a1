//! The scenes of a film's frames.
//!
//! What a frame by itself would have found from its view is found for the film: at *stations*, views on the way at most
//! [`OCTAVES_OF_STATION`] doublings apart.
//!
//! - The limit of a frame is the greater of those of the two stations around it, each of which leaves about one pixel of 200,000 of its
//!   view black that would have a colour. It changes at stations only, where it can change so few pixels. (A limit that never falls
//!   would carry that of the one view with late escapes to all deeper frames: on the way to kf-1e50, 5 * 10^7 from 1e10 on, where 20,000
//!   suffices at 2e13, at 30 times the time.)
//! - The colours of the film have one scale, with one density and one offset: a point keeps its colour from frame to frame. The density is
//!   the median of those that fit the stations, and the first colour is that of the largest view ([`Fit::common`]).

use super::course::Course;
use super::findings::{FilmColours, FilmFindings, Method, RESAMPLED, Shared};
use crate::base::control::Control;
use crate::base::error::{Error, InputError};
use crate::base::limits::Limits;
use crate::base::problem::Problem;
use crate::colour::{Colouring, Fit, Samples};
use crate::encode::Format;
use crate::iterate::engine::Engine;
use crate::plan::Plan;
use crate::render::automatic::{resolve, suitable};
use crate::render::journal::Journaling;
use crate::render::report::Report;
use crate::render::request::{Paint, Request};
use crate::render::scratch::Scratch;
use crate::scene::Scene;
use crate::scene::location::Location;
use crate::store::Output;
use crate::view::{Frame, Magnification, Sample, Size, View};

/// The most doublings from a station to the next.
const OCTAVES_OF_STATION: f64 = 2.0;

/// What frames are rendered with.
#[derive(Clone)]
pub struct Means<'a> {
    /// Computes the dwells.
    pub engine: &'a dyn Engine,
    /// The limits on memory.
    pub limits: Limits,
    /// Cancels the work and observes its progress.
    pub control: Control<'a>,
    /// How a frame that takes long keeps a journal; `None` for no journal.
    pub journaling: Option<Journaling>,
}

/// The frames of a zoom.
///
/// ```
/// use dwell::{Cancel, Control, Course, CpuEngine, Easing, Film, Progress, Scene, Shared, Size, View};
///
/// let view = View::centred("-0.7436438870371587", "0.1318259042053119", "1")?.sized(Size::new(96, 54)?);
/// let course = Course::new("1".parse()?, "1e5".parse()?, 60, Easing::Linear)?;
/// let mut film = Film::new(Scene { view, ..Scene::default() }, course, Shared::Film)?;
/// let (engine, cancel, progress) = (CpuEngine::default(), Cancel::default(), Progress::default());
/// film.find(&engine, &Default::default(), &Control { cancel: &cancel, progress: &progress }, |_| ())?;
/// // All frames have the same colours.
/// let [first, last] = [film.scene(0), film.scene(59)];
/// assert!(first.colouring == last.colouring && !last.automatic.limit);
/// # Ok::<(), dwell::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Film {
    scene: Scene,
    course: Course,
    shared: Shared,
    findings: Option<FilmFindings>,
}

impl Film {
    /// The film of a scene along a course. The zoom of the scene's view has no effect. What the scene leaves to be found is found by
    /// [`Self::find`].
    ///
    /// # Errors
    /// When the centre of the view cannot be expressed as a decimal, or a colour of the scene is out of range.
    pub fn new(scene: Scene, course: Course, shared: Shared) -> Result<Self, InputError> {
        let mut scene = scene;
        scene.view.frame = scene.view.frame.with_square_pixels()?;
        scene.colouring.check()?;
        Ok(Self { scene, course, shared, findings: None })
    }

    /// The zoom of each frame.
    #[must_use]
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// Whether the colours of each frame are found for it alone.
    pub(super) fn finds_colours_of_frames(&self) -> bool {
        self.scene.automatic.scale && self.shared == Shared::Frame
    }

    /// What was found for the whole film.
    #[must_use]
    pub fn findings(&self) -> Option<&FilmFindings> {
        self.findings.as_ref()
    }

    /// The number of stations, at least two.
    #[must_use]
    pub fn stations(&self) -> usize {
        let octaves = self.course.octaves() / OCTAVES_OF_STATION;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most two million")]
        let intervals = octaves.ceil().clamp(1.0, 2e6) as usize;
        intervals + 1
    }

    /// The scene at a station.
    fn station(&self, station: usize) -> Scene {
        let last = self.stations() - 1;
        let zoom = match station {
            0 => self.course.shallowest().clone(),
            station if station >= last => self.course.deepest().clone(),
            station => self.course.zoom_at(self.course.octaves() * station as f64 / last as f64),
        };
        self.at(Magnification::Zoom(zoom))
    }

    /// The scene at a zoom, with what it leaves to be found.
    fn at(&self, zoom: Magnification) -> Scene {
        let mut scene = self.scene.clone();
        if let Frame::Centred { magnification, .. } = &mut scene.view.frame {
            *magnification = zoom;
        }
        scene
    }

    /// Finds what the scene leaves to be found for the whole film, by a probe of each station. `found` is called with the seconds that
    /// each took, from the largest view on: what its frames will take grows with them.
    ///
    /// # Errors
    /// As [`crate::resolve`].
    pub fn find(
        &mut self,
        engine: &dyn Engine,
        limits: &Limits,
        control: &Control<'_>,
        mut found: impl FnMut(f64),
    ) -> Result<(), Error> {
        let (mut station_limits, mut fits) = (Vec::new(), Vec::new());
        for station in 0..self.stations() {
            control.cancel.check()?;
            let mut scene = self.station(station);
            scene.automatic.scale &= self.shared == Shared::Film;
            let began = std::time::Instant::now();
            let suitable = suitable(&scene, engine, limits, *control)?;
            station_limits.extend(suitable.limit);
            fits.extend(suitable.fit);
            found(began.elapsed().as_secs_f64());
        }
        let colours = Fit::common(&fits).map(|fit| {
            let Colouring { scale, density, offset, .. } = fit.applied_to(self.scene.colouring.clone());
            FilmColours { scale, density, offset }
        });
        self.findings = Some(FilmFindings { limits: station_limits, colours });
        Ok(())
    }

    /// The same film with what was found for it before.
    ///
    /// # Errors
    /// When it is not what would be found for such a film: limits and colours where they are given, or of another number of stations.
    pub fn with_findings(self, findings: FilmFindings) -> Result<Self, InputError> {
        let stations = if self.scene.automatic.limit { self.stations() } else { 0 };
        let has_colours = self.scene.automatic.scale && self.shared == Shared::Film;
        if findings.limits.len() != stations || findings.colours.is_some() != has_colours {
            let problem = "what was found is not of this film";
            return Err(InputError::new(Problem::Conflict(problem.to_owned())));
        }
        Ok(Self { findings: Some(findings), ..self })
    }

    /// The limit at a depth: the greater of those of the stations around it. `None` where it is not found, but given.
    fn limit_at(&self, depth: f64) -> Option<u64> {
        let limits = &self.findings.as_ref()?.limits;
        let at = depth / self.course.octaves() * limits.len().checked_sub(1)? as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to the number of stations")]
        let around = [at.floor() as usize, at.ceil() as usize];
        around.iter().filter_map(|station| limits.get(*station)).max().copied()
    }

    /// The scene of a frame, from 0, with what was found. Its scale is left to be found where that is done for each frame, and so is its
    /// limit before [`Self::find`].
    #[must_use]
    pub fn scene(&self, frame: u32) -> Scene {
        let scene = self.at(Magnification::Zoom(self.course.zoom(frame)));
        self.completed(scene, self.limit_at(self.course.depth(frame)))
    }

    /// The scene of a frame at a depth, with so many pixels and one sample for each, and the limit that suffices down to another depth.
    pub(super) fn finer_scene(&self, [depth, until]: [f64; 2], size: Size) -> Scene {
        let mut scene = self.at(Magnification::Zoom(self.course.zoom_at(depth)));
        scene.view = View { sample: Sample::Centre, ..scene.view.sized(size) };
        scene.samples = Samples::Fixed(1);
        let limits = [depth, until.min(self.course.octaves())].map(|depth| self.limit_at(depth));
        self.completed(scene, limits.into_iter().flatten().max())
    }

    /// A scene with what was found.
    fn completed(&self, mut scene: Scene, limit: Option<u64>) -> Scene {
        if let Some(limit) = limit {
            scene.settings.limit = limit;
            scene.automatic.limit = false;
        }
        let colours = self.findings.as_ref().and_then(|findings| findings.colours);
        if let Some(FilmColours { scale, density, offset }) = colours {
            scene.colouring = Colouring { scale, density, offset, ..scene.colouring };
            scene.automatic.scale = false;
        }
        scene.settings.number = scene.number();
        scene.automatic.number = false;
        scene
    }

    /// Whether a picture with this stored text is a frame of this film, made by this method.
    ///
    /// # Errors
    /// As [`Plan::new`] for the frame.
    pub fn is_frame(&self, frame: u32, text: &str, method: Method, limits: &Limits) -> Result<bool, InputError> {
        let mut scene = self.scene(frame);
        if scene.automatic.scale {
            // What was found for the frame alone is in its text only.
            let Ok(location) = Location::parse(text, "") else { return Ok(false) };
            let Colouring { scale, density, offset, .. } = location.scene.colouring;
            scene.colouring = Colouring { scale, density, offset, ..scene.colouring };
            scene.automatic.scale = false;
        }
        // Only a view that is rendered by force has warnings.
        let warnings = match method {
            Method::Exponential => vec![RESAMPLED.to_owned()],
            Method::Direct if scene.settings.force => {
                Plan::new(&scene.sample_view()?, &scene.settings, limits)?.warnings().to_vec()
            }
            Method::Direct => Vec::new(),
        };
        Ok(scene.text(&warnings) == text)
    }

    /// Renders a frame into a PNG: the bytes of a picture of its scene. While a [`crate::KeepReferences`] exists, frames that follow one
    /// another use the same reference orbits where that is faster.
    ///
    /// # Errors
    /// As [`crate::resolve`], [`Plan::new`] and [`crate::render()`].
    pub fn render(
        &self,
        frame: u32,
        means: &Means<'_>,
        output: Output,
        scratch: &mut Scratch,
    ) -> Result<Report, Error> {
        let Means { engine, limits, control, journaling } = means;
        let scene = resolve(&self.scene(frame), *engine, limits, control)?.scene;
        let plan = Plan::new(&scene.sample_view()?, &scene.settings, limits)?;
        let text = scene.text(plan.warnings());
        let request = Request::new(&plan, *engine, Paint::of(&scene, &text), *control)
            .with_strategy(scene.strategy)
            .with_limits(*limits)
            .with_journal(journaling.clone());
        crate::render::render(&request, vec![(Format::Png, output)], scratch)
    }
}
