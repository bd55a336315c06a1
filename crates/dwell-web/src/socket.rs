//! The WebSocket of a page: the page sends the view that it shows, and gets its pixels as they are computed. A new view ends the work on the
//! one before; so does the end of the connection.

use crate::admission::{CancelOnDrop, Turn};
use crate::body::parsed;
use crate::bounds::{self, MOST_BODY};
use crate::failure::{Failure, Told};
use crate::jobs::Job;
use crate::scene_json::{self, SceneJson};
use crate::stages::{Complete, Done, Stages, Wanted, complete};
use crate::state::{Page, Shared};
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use dwell::{Cancel, Control, Error, NumberKind, Progress, Scratch};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

/// Messages that wait for a page to read them.
const MOST_UNREAD: usize = 8;
/// How long a page may take to read one. It then gets no more of the view: a page that does not read must not keep a turn.
const LONGEST_READ: Duration = Duration::from_secs(5);
/// How long a view may take.
const LONGEST_VIEW: Duration = Duration::from_secs(3600);
/// The time between two reports of progress.
const REPORT: Duration = Duration::from_millis(250);
/// The time after which a page that says nothing is asked whether it is there, and half of that in which it has to answer.
const QUIET: Duration = Duration::from_secs(20);

/// What a page says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Said {
    /// It shows this view.
    View {
        id: u32,
        scene: SceneJson,
        width: u32,
        height: u32,
        /// Whether the view rests, so that its picture is wanted.
        #[serde(default)]
        rest: bool,
        /// Who paints.
        #[serde(default)]
        paint: Paints,
    },
    /// It needs nothing now.
    Stop,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Paints {
    #[default]
    Page,
    Server,
}

/// What a page is told.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Answer<'a> {
    Scene(Box<Shown>),
    Progress {
        id: u32,
        phase: &'static str,
        fraction: Option<f64>,
    },
    Done {
        id: u32,
        #[serde(flatten)]
        done: &'a Done,
    },
    Error {
        id: u32,
        #[serde(flatten)]
        told: &'a Told,
    },
    Jobs {
        jobs: &'a [Job],
    },
}

/// How a view is computed and painted.
#[derive(Serialize)]
struct Shown {
    id: u32,
    scene: SceneJson,
    paints: Paints,
    tables: Tables,
    number: &'static str,
    warnings: Vec<String>,
    automatic: Automatic,
}

/// What a page paints with; the colours are those of `POST tables`.
#[derive(Serialize)]
struct Tables {
    by: &'static str,
    scale: &'static str,
    density: f64,
    offset: f64,
    limit: f64,
}

/// What was found, and not given.
#[derive(Serialize)]
struct Automatic {
    limit: bool,
    scale: bool,
}

impl Answer<'_> {
    fn message(&self) -> Message {
        // Every value can be serialised.
        Message::text(serde_json::to_string(self).unwrap_or_default())
    }
}

/// A page connects.
pub(crate) async fn connect(State(shared): State<Arc<Shared>>, upgrade: WebSocketUpgrade) -> Result<Response, Failure> {
    let page = shared.connect()?;
    Ok(upgrade
        .max_message_size(MOST_BODY)
        .max_frame_size(MOST_BODY)
        .on_upgrade(move |socket| serve(socket, shared, page)))
}

/// Serves a page until it goes.
async fn serve(mut socket: WebSocket, shared: Arc<Shared>, page: Page) {
    let (send, mut unread) = mpsc::channel::<Message>(MOST_UNREAD);
    let (newest, views) = watch::channel::<Option<Arc<View>>>(None);
    let worker = tokio::spawn(show(shared.clone(), views, send.clone()));
    let mut jobs = shared.jobs.watch();
    let mut is_asked = false;
    loop {
        tokio::select! {
            // What is computed has room to go out before the page says more.
            biased;
            message = unread.recv() => {
                let Some(message) = message else { break };
                if tokio::time::timeout(LONGEST_READ, socket.send(message)).await.is_ok_and(|sent| sent.is_ok()) { continue }
                break
            }
            said = tokio::time::timeout(QUIET, socket.recv()) => {
                let message = match said {
                    Ok(Some(Ok(message))) => message,
                    Ok(Some(Err(_)) | None) => break,
                    Err(_) if is_asked => break,
                    Err(_) => {
                        is_asked = true;
                        if socket.send(Message::Ping(Bytes::new())).await.is_err() { break }
                        continue
                    }
                };
                is_asked = false;
                if let Message::Text(text) = message && let Err((id, failure)) = heard(text.as_bytes(), &newest) {
                    let answer = Answer::Error { id, told: &failure.told }.message();
                    if socket.send(answer).await.is_err() { break }
                }
            }
            Some(all) = changed(&mut jobs) => {
                if socket.send(Answer::Jobs { jobs: &all }.message()).await.is_err() { break }
            }
        }
    }
    // Ends the work on the view: its turn is free within milliseconds.
    if let Some(view) = newest.borrow().as_ref() {
        view.cancel.cancel();
    }
    worker.abort();
    drop(page);
}

/// The posters after their next change.
async fn changed(jobs: &mut Option<watch::Receiver<Vec<Job>>>) -> Option<Vec<Job>> {
    match jobs {
        Some(watched) => watched.changed().await.ok().map(|()| watched.borrow_and_update().clone()),
        None => std::future::pending().await,
    }
}

/// A view that a page wants.
struct View {
    wanted: Wanted,
    cancel: Cancel,
}

/// Takes a message of a page: a new view in place of the one before. An error is about a view, or about none, which is 0.
fn heard(text: &[u8], newest: &watch::Sender<Option<Arc<View>>>) -> Result<(), (u32, Failure)> {
    let said: Said = parsed(text).map_err(|failure| (0, failure))?;
    if let Some(view) = newest.borrow().as_ref() {
        view.cancel.cancel();
    }
    let view = match said {
        Said::Stop => None,
        Said::View { id, scene, width, height, rest, paint } => {
            let of_view = |failure: Failure| (id, failure);
            let size = bounds::picture(width, height).map_err(of_view)?;
            let scene = scene_json::read(&scene, size).map_err(of_view)?;
            let wanted = Wanted { id, scene, page_paints: paint == Paints::Page, rests: rest };
            Some(Arc::new(View { wanted, cancel: Cancel::default() }))
        }
    };
    newest.send_replace(view);
    Ok(())
}

/// Computes the newest view, again and again.
async fn show(shared: Arc<Shared>, mut views: watch::Receiver<Option<Arc<View>>>, send: mpsc::Sender<Message>) {
    let scratch = Arc::new(Mutex::new(Scratch::default()));
    while views.changed().await.is_ok() {
        let Some(view) = views.borrow_and_update().clone() else { continue };
        let id = view.wanted.id;
        let shown = stages(&shared, view.clone(), &scratch, &send).await;
        if let Err(failure) = shown
            && !view.cancel.is_cancelled()
            && send.send(Answer::Error { id, told: &failure.told }.message()).await.is_err()
        {
            return;
        }
    }
}

/// Computes a view in its stages.
async fn stages(
    shared: &Arc<Shared>,
    view: Arc<View>,
    scratch: &Arc<Mutex<Scratch>>,
    send: &mpsc::Sender<Message>,
) -> Result<(), Failure> {
    let _guard = CancelOnDrop::new(view.cancel.clone());
    let (id, cancel) = (view.wanted.id, view.cancel.clone());
    let teller = Teller::of(send);

    let (first, of_first) = (view.clone(), shared.clone());
    let (teller_of_first, progress) = (teller.clone(), Arc::new(Progress::default()));
    let watched = progress.clone();
    let coarse = move |cancel: &Cancel| {
        let (wanted, control) = (&first.wanted, Control { cancel, progress: &progress });
        let mut found = complete(wanted, &*of_first.engine, &of_first.limits, &control)?;
        teller_of_first.tell(&Answer::Scene(Box::new(shown(wanted, &found)?)))?;
        let done = stages_of(&of_first, wanted, &found, control).coarse(&mut |bytes| teller_of_first.send(bytes))?;
        teller_of_first.tell(&Answer::Done { id, done: &done })?;
        found.expect(&done);
        Ok(found)
    };
    let running = shared.admission.run(Turn::Coarse, LONGEST_VIEW, cancel.clone(), coarse);
    let found = reported(id, "probe", &watched, send, running).await?;

    let (of_full, scratch, progress) = (shared.clone(), scratch.clone(), Arc::new(Progress::default()));
    let watched = progress.clone();
    let full = move |cancel: &Cancel| {
        let (wanted, control) = (&view.wanted, Control { cancel, progress: &progress });
        let mut scratch = scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut told = |done: Done| teller.tell(&Answer::Done { id, done: &done });
        let stages = stages_of(&of_full, wanted, &found, control);
        Ok(stages.full(wanted.rests, &mut scratch, &mut |bytes| teller.send(bytes), &mut told)?)
    };
    let running = shared.admission.run(Turn::View, LONGEST_VIEW, cancel, full);
    reported(id, "pixels", &watched, send, running).await
}

fn stages_of<'a>(shared: &'a Shared, wanted: &Wanted, complete: &'a Complete, control: Control<'a>) -> Stages<'a> {
    let Shared { engine, limits, .. } = shared;
    Stages { id: wanted.id, complete, engine: &**engine, limits, control }
}

/// What a page is told of a view before its pixels.
fn shown(wanted: &Wanted, Complete { resolved, on_page, .. }: &Complete) -> Result<Shown, Failure> {
    let scene = &resolved.scene;
    let colouring = &scene.colouring;
    let found = resolved.found.as_ref();
    Ok(Shown {
        id: wanted.id,
        scene: scene_json::of_scene(scene.clone())?,
        paints: if *on_page { Paints::Page } else { Paints::Server },
        tables: Tables {
            by: colouring.by.name(),
            scale: colouring.scale.name(),
            density: colouring.density,
            offset: colouring.offset,
            limit: scene.settings.limit as f64,
        },
        number: if scene.settings.number == NumberKind::Exact { "exact" } else { scene.settings.number.name() },
        warnings: found.map(|found| found.warnings.clone()).unwrap_or_default(),
        automatic: Automatic { limit: wanted.scene.automatic.limit, scale: wanted.scene.automatic.scale },
    })
}

/// Tells a page, from a thread that computes.
#[derive(Clone)]
struct Teller {
    send: mpsc::Sender<Message>,
    runtime: Handle,
}

impl Teller {
    fn of(send: &mpsc::Sender<Message>) -> Self {
        Self { send: send.clone(), runtime: Handle::current() }
    }

    /// Tells something, when the page has read what it was told before.
    ///
    /// # Errors
    /// When the page has gone or does not read.
    fn message(&self, message: Message) -> Result<(), Error> {
        let sent = self.runtime.block_on(async { tokio::time::timeout(LONGEST_READ, self.send.send(message)).await });
        if matches!(sent, Ok(Ok(()))) { Ok(()) } else { Err(Error::Interrupted) }
    }

    fn tell(&self, answer: &Answer<'_>) -> Result<(), Error> {
        self.message(answer.message())
    }

    fn send(&self, bytes: Vec<u8>) -> Result<(), Error> {
        self.message(Message::binary(bytes))
    }
}

/// Waits for work and tells a page of its progress, under the name `usual` where it has no phase of its own.
async fn reported<T>(
    id: u32,
    usual: &'static str,
    progress: &Progress,
    send: &mpsc::Sender<Message>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut work = std::pin::pin!(work);
    loop {
        match tokio::time::timeout(REPORT, &mut work).await {
            Ok(done) => return done,
            Err(_) => {
                let (phase, fraction) = match progress.phase() {
                    Some((phase, done, all)) => (phase.name(), all.map(|all| done as f64 / all as f64)),
                    None => (usual, Some(progress.fraction())),
                };
                // A page that has not read what it was told needs no report.
                let _ = send.try_send(Answer::Progress { id, phase, fraction }.message());
            }
        }
    }
}
