//! The listener, the connections, and their end.

use crate::address::Listen;
use crate::admission::SHARES;
use crate::failure::Failure;
use crate::folder::Folder;
use crate::guard::{Guard, secured};
use crate::jobs::Jobs;
use crate::reports::Reports;
use crate::state::Shared;
use crate::token::Token;
use crate::{routes, scene_json};
use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use dwell::store::PartialFiles;
use dwell::{Cancel, Engine, Limits, Scene};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// How long a client may take to send the head of a request.
const LONGEST_HEAD: Duration = Duration::from_secs(10);
/// Bytes of the head of a request.
const MOST_HEAD: usize = 32 << 10;
/// Connections at the same time; more wait.
const MOST_CONNECTIONS: usize = 512;
/// The time between two looks at whether the server is to end.
const LOOK: Duration = Duration::from_millis(20);
/// Threads that serve connections; the engine has its own.
const THREADS: usize = 2;

/// What a server is started with.
pub struct Options {
    /// Where it listens.
    pub listen: Listen,
    /// Computes.
    pub engine: Arc<dyn Engine>,
    /// The memory that all work together may take.
    pub limits: Limits,
    /// The scene that a page begins with.
    pub scene: Scene,
    /// The folder of bookmarks and posters, which is created; `None` for none of them.
    pub folder: Option<PathBuf>,
    /// Recorded runs of the laboratory, whose reports the page opens.
    pub reports: Option<Arc<dyn Reports>>,
    /// Partial files of posters, for a program that ends at once.
    pub partial_files: PartialFiles,
    /// Whether pages offer what tests need.
    pub is_test: bool,
}

/// Why a server was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// What is named as the folder is something else.
    #[error("{} is not a folder", dwell::quote(&.0.to_string_lossy()))]
    NoFolder(PathBuf),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(dwell::Error),
    /// The scene cannot be shown.
    #[error("{0}")]
    Scene(String),
    /// The system gave no random numbers or no threads.
    #[error("cannot start: {0}")]
    System(String),
}

/// A server that listens.
pub struct Explorer {
    listener: TcpListener,
    guard: Guard,
    shared: Arc<Shared>,
}

impl Explorer {
    /// Listens. With a folder, the port and the token are those of the server before, so that its pages connect again.
    ///
    /// # Errors
    /// See [`StartError`].
    pub fn start(options: Options) -> Result<Self, StartError> {
        let Options { listen, engine, limits, scene, folder, reports, partial_files, is_test } = options;
        let start = scene_json::of_scene(scene).map_err(|failure: Failure| StartError::Scene(failure.to_string()))?;
        let folder = folder.map(|path| Folder::at(path, &partial_files));
        if let Some(folder) = folder.as_ref().filter(|folder| folder.is_no_folder()) {
            return Err(StartError::NoFolder(folder.path().to_owned()));
        }
        let last = folder.as_ref().and_then(Folder::last_link);
        let listener = listener(listen, last.as_ref().map(|(port, _)| *port))?;
        let address = listener.local_addr().map_err(|source| StartError::Listen { address: listen.0, source })?;
        let system = |error: &dyn std::fmt::Display| StartError::System(error.to_string());
        let token = match last.filter(|(port, _)| *port == address.port()) {
            Some((_, token)) => token,
            None => Token::random().map_err(|error| system(&error))?,
        };
        if let Some(folder) = &folder {
            folder.create().map_err(StartError::Folder)?;
            folder.keep_link(address.port(), &token).map_err(StartError::Folder)?;
        }
        let limits = Limits { memory_bytes: limits.memory_bytes / SHARES };
        let jobs =
            Jobs::start(folder.as_ref(), engine.clone(), limits, partial_files).map_err(|error| system(&error))?;
        let shared = Arc::new(Shared::new(engine, limits, start, folder, jobs, reports, is_test));
        Ok(Self { listener, guard: Guard { address, token }, shared })
    }

    /// The link to the page, with the token.
    #[must_use]
    pub fn link(&self) -> String {
        let address = self.guard.address;
        // A browser opens the machine's own address, not that of every interface.
        let host = match address.ip() {
            ip if !ip.is_unspecified() => SocketAddr::new(ip, address.port()).to_string(),
            _ => format!("localhost:{}", address.port()),
        };
        format!("http://{host}/{}/", self.guard.token.text())
    }

    /// Serves until it is cancelled; `ready` is called once requests are answered.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn serve(self, cancel: &Cancel, ready: impl FnOnce()) -> Result<(), StartError> {
        let system = |error: std::io::Error| StartError::System(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(64)
            .enable_io()
            .enable_time()
            .build()
            .map_err(system)?;
        self.listener.set_nonblocking(true).map_err(system)?;
        let jobs = self.shared.jobs.clone();
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(system)?;
            let router = routes::router(self.shared);
            ready();
            tokio::select! {
                () = accept(listener, self.guard, router) => {}
                () = cancelled(cancel) => {}
            }
            Ok(())
        });
        jobs.end();
        // Work under way is cancelled with the connections that wait for it.
        runtime.shutdown_timeout(Duration::from_millis(500));
        served
    }
}

/// Listens at an address; where it names no port, on the one before if it is free, and otherwise on any free one.
fn listener(listen: Listen, last: Option<u16>) -> Result<TcpListener, StartError> {
    if let Some(port) = last.filter(|_| !listen.has_port())
        && let Ok(listener) = TcpListener::bind(listen.or_port(port).0)
    {
        return Ok(listener);
    }
    TcpListener::bind(listen.0).map_err(|source| StartError::Listen { address: listen.0, source })
}

async fn cancelled(cancel: &Cancel) {
    while !cancel.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Accepts connections without an end.
async fn accept(listener: tokio::net::TcpListener, guard: Guard, router: Router) {
    let connections = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            // The process has too many open files: some connection has to end first.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        // Rows are sent in small messages, which must not wait for more.
        let _ = stream.set_nodelay(true);
        let (guard, router) = (guard.clone(), router.clone());
        tokio::spawn(async move {
            let service = hyper::service::service_fn(move |request: hyper::Request<Incoming>| {
                let (guard, router) = (guard.clone(), router.clone());
                async move { Ok::<_, Infallible>(answer(&guard, router, request.map(axum::body::Body::new)).await) }
            });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(LONGEST_HEAD).max_buf_size(MOST_HEAD);
            // An error is that of the client, which is gone.
            let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
            drop(permit);
        });
    }
}

async fn answer(guard: &Guard, mut router: Router, request: Request) -> Response {
    let request = match guard.admitted(request) {
        Ok(request) => request,
        Err(failure) => return secured(failure),
    };
    match tower_call(&mut router, request).await {
        Ok(response) => secured(response),
        Err(never) => match never {},
    }
}

/// Calls the router, which is always ready.
async fn tower_call(router: &mut Router, request: Request) -> Result<Response, Infallible> {
    use hyper::service::Service as _;
    let service = hyper_util::service::TowerToHyperService::new(router.clone());
    service.call(request).await
}

/// The answer where there is no route.
pub(crate) async fn no_route() -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "there is nothing at this address")
        .hint("GET api/v1/openapi.json describes what there is")
}
