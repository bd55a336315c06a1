//! Posters: renders to files in the user's folder, one after the other, beside everything else. A poster is a file `ID.json` that says what
//! it is, its picture, and while it is rendered the journal of the render, by which it goes on after a pause, a crash or the
//! end of the server.

use crate::bounds::MOST_JOBS;
use crate::failure::Failure;
use crate::folder::{Folder, Name};
use crate::scene_json::{self, SceneJson};
use dwell::store::{self, Output, PartialFiles};
use dwell::{
    Automatic, Cancel, Control, Engine, Error, Format, Journaling, Limits, Paint, Plan, Progress, Request, Samples,
    Scene, Scratch, Size,
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The time between two entries of a journal.
const ENTRY: Duration = Duration::from_secs(10);
/// The time between two looks at the progress.
const LOOK: Duration = Duration::from_millis(250);

/// How far a poster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    Waiting,
    Running,
    Paused,
    Done,
    Failed,
}

/// What a poster is made from, as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    name: String,
    scene: SceneJson,
    width: u32,
    height: u32,
    format: String,
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// A poster as pages see it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Job {
    pub(crate) id: String,
    name: String,
    width: u32,
    height: u32,
    format: String,
    pub(crate) state: State,
    /// The share of its work that is done, 0 to 1.
    fraction: f64,
    eta_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Bytes of the finished file.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

/// What is asked for.
#[derive(Debug, Deserialize)]
pub(crate) struct Ordered {
    pub(crate) scene: SceneJson,
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// `auto`, or samples on a side of a pixel; those of the scene where absent.
    #[serde(default)]
    pub(crate) samples: Option<serde_json::Value>,
    #[serde(default)]
    pub(crate) format: Option<String>,
    #[serde(default)]
    pub(crate) name: Option<String>,
}

/// A poster in memory.
struct Poster {
    id: Name,
    kept: Kept,
    fraction: f64,
    begun: Option<Instant>,
    /// Ends the render.
    cancel: Cancel,
    is_removed: bool,
}

#[derive(Default)]
struct Posters {
    all: Vec<Poster>,
    has_ended: bool,
}

/// The posters of a folder; none without a folder.
#[derive(Clone)]
pub(crate) struct Jobs(Option<Arc<Inner>>);

struct Inner {
    folder: PathBuf,
    engine: Arc<dyn Engine>,
    limits: Limits,
    partial_files: PartialFiles,
    posters: Mutex<Posters>,
    /// Tells the thread that renders of new work.
    changed: Condvar,
    /// Tells pages of changes.
    told: watch::Sender<Vec<Job>>,
}

impl Jobs {
    /// Reads the posters of a folder and goes on with those that were under way.
    pub(crate) fn start(
        folder: Option<&Folder>,
        engine: Arc<dyn Engine>,
        limits: Limits,
        partial_files: PartialFiles,
    ) -> std::io::Result<Self> {
        let Some(folder) = folder.map(Folder::posters) else { return Ok(Self(None)) };
        let posters = Posters { all: read(&folder)?, has_ended: false };
        let (told, _) = watch::channel(Vec::new());
        let inner = Inner {
            folder,
            engine,
            limits,
            partial_files,
            posters: Mutex::new(posters),
            changed: Condvar::new(),
            told,
        };
        let inner = Arc::new(inner);
        inner.tell(&inner.lock());
        let worker = inner.clone();
        std::thread::Builder::new().name("posters".to_owned()).spawn(move || worker.work())?;
        Ok(Self(Some(inner)))
    }

    fn inner(&self) -> Result<&Inner, Failure> {
        let none =
            || Failure::unprocessable("there is no folder for posters").hint("start dwell explore with --folder");
        self.0.as_deref().ok_or_else(none)
    }

    /// The posters, now and after each change; none without a folder.
    pub(crate) fn watch(&self) -> Option<watch::Receiver<Vec<Job>>> {
        self.0.as_ref().map(|inner| inner.told.subscribe())
    }

    /// All posters.
    pub(crate) fn all(&self) -> Vec<Job> {
        self.0.as_ref().map(|inner| inner.jobs(&inner.lock())).unwrap_or_default()
    }

    /// Adds a poster.
    pub(crate) fn order(&self, ordered: Ordered, size: Size) -> Result<Job, Failure> {
        let inner = self.inner()?;
        let mut scene = ordered.scene;
        scene.extend(ordered.samples.map(|samples| ("samples".to_owned(), samples)));
        // What is wrong is told now, not by a job that fails.
        let checked = scene_json::read(&scene, size)?;
        checked.sample_view()?;
        let format = ordered.format.unwrap_or_else(|| Format::Png.name().to_owned());
        let known = Format::ALL.into_iter().find(|known| known.name() == format);
        let known = known.ok_or_else(|| Failure::unprocessable(format!("format: {format:.20} is not known")))?;
        if !known.is_picture() && checked.samples.side() > 1 {
            return Err(Failure::unprocessable(format!(
                "samples: a .{format} file holds dwells, which have no average"
            )));
        }
        let kept = Kept {
            name: ordered.name.unwrap_or_default().chars().filter(|c| !c.is_control()).take(100).collect(),
            scene,
            width: size.width,
            height: size.height,
            format,
            state: State::Waiting,
            error: None,
        };
        let mut posters = inner.lock();
        if posters.all.len() >= MOST_JOBS {
            let error = format!("there are {MOST_JOBS} posters already");
            return Err(Failure::unprocessable(error).hint("remove some of them"));
        }
        let id = (1_u64..).map(|number| format!("poster-{number}"));
        let is_free = |id: &String| posters.all.iter().all(|poster| poster.id.text() != id);
        let id = id.into_iter().find(is_free).map_or_else(|| Name::parse("poster"), |id| Name::parse(&id))?;
        let poster = Poster { id, kept, fraction: 0.0, begun: None, cancel: Cancel::default(), is_removed: false };
        inner.keep(&poster)?;
        let job = inner.job(&poster);
        posters.all.push(poster);
        inner.tell(&posters);
        inner.changed.notify_all();
        Ok(job)
    }

    /// Ends the render of a poster until it is resumed.
    pub(crate) fn pause(&self, id: &str) -> Result<Job, Failure> {
        self.change(id, |poster| {
            if matches!(poster.kept.state, State::Waiting | State::Running) {
                poster.kept.state = State::Paused;
                poster.cancel.cancel();
            }
        })
    }

    /// Goes on with a poster that was paused or has failed.
    pub(crate) fn resume(&self, id: &str) -> Result<Job, Failure> {
        self.change(id, |poster| {
            if matches!(poster.kept.state, State::Paused | State::Failed) {
                (poster.kept.state, poster.kept.error) = (State::Waiting, None);
            }
        })
    }

    fn change(&self, id: &str, change: impl FnOnce(&mut Poster)) -> Result<Job, Failure> {
        let inner = self.inner()?;
        let mut posters = inner.lock();
        let poster = posters.all.iter_mut().find(|poster| poster.id.text() == id && !poster.is_removed);
        let poster = poster.ok_or_else(no_poster)?;
        change(poster);
        inner.keep(poster)?;
        let job = inner.job(poster);
        inner.tell(&posters);
        inner.changed.notify_all();
        Ok(job)
    }

    /// Removes a poster with its files.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Failure> {
        let inner = self.inner()?;
        let mut posters = inner.lock();
        let at = posters.all.iter().position(|poster| poster.id.text() == id).ok_or_else(no_poster)?;
        let poster = &mut posters.all[at];
        poster.cancel.cancel();
        poster.is_removed = true;
        if poster.begun.is_none() {
            inner.erase(&posters.all.remove(at));
        }
        // One that is being rendered is erased by the thread that renders it.
        inner.tell(&posters);
        Ok(())
    }

    /// The finished file of a poster, and its name.
    pub(crate) fn file(&self, id: &str) -> Result<(PathBuf, String), Failure> {
        let inner = self.inner()?;
        let posters = inner.lock();
        let poster = posters.all.iter().find(|poster| poster.id.text() == id).ok_or_else(no_poster)?;
        if poster.kept.state != State::Done {
            return Err(Failure::not_found("file before the poster is done"));
        }
        let file = inner.picture(poster);
        Ok((file, format!("{}.{}", poster.id.text(), poster.kept.format)))
    }

    /// Ends the thread that renders; what it was doing goes on with the next server.
    pub(crate) fn end(&self) {
        let Some(inner) = &self.0 else { return };
        let mut posters = inner.lock();
        posters.has_ended = true;
        posters.all.iter().filter(|poster| poster.begun.is_some()).for_each(|poster| poster.cancel.cancel());
        inner.changed.notify_all();
    }
}

fn no_poster() -> Failure {
    Failure::not_found("poster of that name")
}

/// The posters that a folder holds. Those that were being rendered wait again.
fn read(folder: &std::path::Path) -> std::io::Result<Vec<Poster>> {
    let mut posters = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let id = path.file_stem().and_then(|name| Name::parse(name.to_str()?).ok());
        let (Some(id), Some("json")) = (id, path.extension().and_then(|ending| ending.to_str())) else { continue };
        let kept = std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let Some(mut kept) = kept else { continue };
        if kept.state == State::Running {
            kept.state = State::Waiting;
        }
        posters.push(Poster { id, kept, fraction: 0.0, begun: None, cancel: Cancel::default(), is_removed: false });
    }
    posters.sort_by_key(|poster| (poster.id.text().len(), poster.id.text().to_owned()));
    posters.truncate(MOST_JOBS);
    Ok(posters)
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, Posters> {
        self.posters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn picture(&self, poster: &Poster) -> PathBuf {
        self.folder.join(format!("{}.{}", poster.id.text(), poster.kept.format))
    }

    /// Writes what a poster is.
    fn keep(&self, poster: &Poster) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(&poster.kept).map_err(|error| Error::Internal(error.to_string()))?;
        let path = self.folder.join(format!("{}.json", poster.id.text()));
        store::write_text(&path, &text, &self.partial_files)
    }

    /// Removes the files of a poster. What is left of an unfinished one is found by its name.
    fn erase(&self, poster: &Poster) {
        let prefix = format!("{}.", poster.id.text());
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_its = name.to_str().is_some_and(|name| name.trim_start_matches('.').starts_with(&prefix));
            if is_its {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    fn job(&self, poster: &Poster) -> Job {
        let Kept { name, width, height, format, state, error, .. } = poster.kept.clone();
        let is_done = state == State::Done;
        let fraction = if is_done { 1.0 } else { poster.fraction };
        let remaining = |begun: Instant| begun.elapsed().as_secs_f64() * (1.0 - fraction) / fraction;
        let eta_seconds = poster.begun.filter(|_| state == State::Running && fraction > 0.01).map(remaining);
        let bytes = is_done.then(|| std::fs::metadata(self.picture(poster)).ok().map(|file| file.len())).flatten();
        Job { id: poster.id.text().to_owned(), name, width, height, format, state, fraction, eta_seconds, error, bytes }
    }

    fn jobs(&self, posters: &Posters) -> Vec<Job> {
        posters.all.iter().filter(|poster| !poster.is_removed).map(|poster| self.job(poster)).collect()
    }

    fn tell(&self, posters: &Posters) {
        self.told.send_replace(self.jobs(posters));
    }

    /// Renders posters until the end.
    fn work(&self) {
        loop {
            let mut posters = self.lock();
            let poster = loop {
                if posters.has_ended {
                    return;
                }
                match posters.all.iter_mut().find(|poster| poster.kept.state == State::Waiting && !poster.is_removed) {
                    Some(poster) => break poster,
                    None => posters = self.changed.wait(posters).unwrap_or_else(PoisonError::into_inner),
                }
            };
            poster.kept.state = State::Running;
            (poster.cancel, poster.begun) = (Cancel::default(), Some(Instant::now()));
            let (id, kept, cancel) = (poster.id.clone(), poster.kept.clone(), poster.cancel.clone());
            let path = self.folder.join(format!("{}.{}", id.text(), kept.format));
            let _ = self.keep(poster);
            self.tell(&posters);
            drop(posters);
            let rendered = self.watched(&id, |progress| self.render(&kept, path, &cancel, progress));
            self.finish(&id, rendered);
        }
    }

    /// Does work and tells pages of its progress.
    fn watched(&self, id: &Name, work: impl FnOnce(&Progress) -> Result<(), Failure> + Send) -> Result<(), Failure> {
        let progress = Progress::default();
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| work(&progress));
            while !worker.is_finished() {
                std::thread::park_timeout(LOOK);
                let mut posters = self.lock();
                if let Some(poster) = posters.all.iter_mut().find(|poster| poster.id == *id) {
                    poster.fraction = progress.fraction().clamp(0.0, 1.0);
                }
                self.tell(&posters);
            }
            worker.join().unwrap_or_else(|_| Err(Failure::unprocessable("internal error: a thread panicked")))
        })
    }

    fn finish(&self, id: &Name, rendered: Result<(), Failure>) {
        let mut posters = self.lock();
        let has_ended = posters.has_ended;
        let Some(at) = posters.all.iter().position(|poster| poster.id == *id) else { return };
        let poster = &mut posters.all[at];
        poster.begun = None;
        if poster.is_removed {
            self.erase(&posters.all.remove(at));
        } else {
            match rendered {
                Ok(()) => poster.kept.state = State::Done,
                // Paused or ended: the state is what it was made, or goes on with the next server.
                Err(_) if poster.cancel.is_cancelled() => {}
                Err(failure) => (poster.kept.state, poster.kept.error) = (State::Failed, Some(failure.to_string())),
            }
            if !has_ended || poster.kept.state != State::Running {
                let _ = self.keep(poster);
            }
        }
        self.tell(&posters);
    }

    /// Renders a poster, or goes on with it.
    fn render(&self, kept: &Kept, path: PathBuf, cancel: &Cancel, progress: &Progress) -> Result<(), Failure> {
        let size = Size::new(kept.width, kept.height)?;
        let scene = scene_json::read(&kept.scene, size)?;
        let control = Control { cancel, progress };
        let mut scene = dwell::resolve(&scene, &*self.engine, &self.limits, &control)?.scene;
        scene.automatic = Automatic::NONE;
        let format: Format = Format::of_path(&path)?;
        if !format.is_picture() {
            scene.samples = Samples::Fixed(1);
        }
        let plan = Plan::new(&scene.sample_view()?, &scene.settings, &self.limits)?;
        let text = Scene::text(&scene, plan.warnings());
        let journaling = Journaling { interval: Some(ENTRY), fresh: false, protected: Duration::ZERO };
        let request = Request::new(&plan, &*self.engine, Paint::of(&scene, &text), control)
            .with_strategy(scene.strategy)
            .with_limits(self.limits)
            .with_observer(true)
            .with_journal(Some(journaling));
        let output = Output::create(&path, false, &self.partial_files)?;
        dwell::render(&request, vec![(format, output)], &mut Scratch::default())?;
        Ok(())
    }
}
