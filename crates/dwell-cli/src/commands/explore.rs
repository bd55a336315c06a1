//! `dwell explore`: starts the explorer's server and opens its page in the browser.

use super::lab::records::{self, Records};
use crate::choice;
use crate::cli::ExploreArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::machine::Machine;
use crate::{engine, output, scene};
use dwell::{Automatic, ChannelSet, Colouring, Engine, Error, Limits, NumberKind, Strategy, quote};
use dwell_engines::Work;
use dwell_web::{Explorer, Listen, Options, StartError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Pixels of the frames that an engine is chosen for: those of a large screen.
const PIXELS: u64 = 3840 * 2160;

pub(crate) fn run(args: &ExploreArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let listen = listen(args.listen.as_deref())?;
    let mut scene = scene::place(args.what.as_deref(), &args.view, &args.iteration, true)?;
    if args.what.is_none() {
        // The limit and the colours of the whole set were chosen for it alone, and here it is the way to every other place.
        let limit = args.iteration.max_iter.is_none() || scene.automatic.limit;
        let number = args.iteration.precision.is_none() || scene.automatic.number;
        (scene.colouring, scene.automatic) = (Colouring::default(), Automatic { limit, number, ..Automatic::ALL });
    }
    let cpu = engine::engine(&args.engine)?;
    let memory_bytes = match &args.max_memory {
        Some(text) => engine::bytes("--max-memory", text)?,
        None => Machine::planned_bytes(cpu.pool().threads()),
    };
    let channels = ChannelSet::SMOOTH;
    let work = Work { pixels: PIXELS, strategy: Strategy::EveryPixel, channels, number: NumberKind::F64 };
    let (engine, remark) = choice::choose(choice::name(args.engine_choice.engine.as_deref())?, cpu, None, work)?;
    if let Some(remark) = remark {
        output::remark(&remark);
    }
    let folder = args.folder.clone().or_else(usual_folder);
    if folder.is_none() {
        output::remark("note: no bookmarks and posters are kept: name a folder with --folder");
    }
    let options = Options {
        listen,
        engine,
        limits: Limits { memory_bytes },
        scene,
        folder: folder.clone(),
        reports: Some(Arc::new(lab_runs(args)?)),
        partial_files: interrupt.partial_files.clone(),
        is_test: args.test_mode,
    };
    let explorer = Explorer::start(options).map_err(not_started)?;
    if !listen.is_loopback() {
        let folder =
            folder.map_or(String::new(), |folder| format!(", and the folder {}", quote(&folder.to_string_lossy())));
        output::remark(&format!(
            "warning: everybody who reaches this address and knows the link can use this machine's processors{folder}; \
             the connection is not encrypted"
        ));
    }
    let link = explorer.link();
    output::print(&format!("{link}\n"))?;
    output::remark_to_person("Ctrl-C ends the explorer.");
    let opens = !args.no_open;
    explorer.serve(&interrupt.cancel, || open_in_browser(&link, opens)).map_err(not_started)?;
    Err(Error::Interrupted.into())
}

/// Opens a link, where there is a screen to open it on.
fn open_in_browser(link: &str, opens: bool) {
    if opens && has_screen() && open::that_detached(link).is_err() {
        output::remark("note: no browser was found: open the link yourself");
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
fn has_screen() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn has_screen() -> bool {
    true
}

fn listen(flag: Option<&str>) -> Result<Listen, Failure> {
    let Some(text) = flag else { return Ok(Listen::default()) };
    text.parse()
        .map_err(|()| Usage::new("--listen", format!("{} is no address", quote(text))).accepts(Listen::ACCEPTED).into())
}

/// The laboratory's records. Those at the usual place need not exist.
fn lab_runs(args: &ExploreArgs) -> Result<Records, Failure> {
    match &args.lab_runs {
        Some(folder) if folder.is_dir() => Ok(Records::of(folder)),
        Some(path) => {
            let problem = format!("{} is not a folder", quote(&path.to_string_lossy()));
            Err(Usage::new("--lab-runs", problem)
                .hint("`dwell lab run` makes records, each in a folder of its own")
                .into())
        }
        None => Ok(Records::of(Path::new(records::USUAL))),
    }
}

/// The folder for the data of a user's programs.
fn usual_folder() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = var("XDG_DATA_HOME").or_else(|| var("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("dwell/explore"))
}

fn not_started(error: StartError) -> Failure {
    match error {
        StartError::NoFolder(_) => {
            Usage::new("--folder", error.to_string()).hint("name a folder, or a path at which one is created").into()
        }
        StartError::Folder(error) => Failure::from(error).about("--folder"),
        StartError::Listen { ref source, .. } => {
            let hint = match source.kind() {
                io::ErrorKind::AddrInUse => "another program listens there: leave the port out for a free one",
                io::ErrorKind::PermissionDenied => "ports below 1024 are for the system: choose a higher one",
                _ => "127.0.0.1 is an address of every machine",
            };
            Usage::new("--listen", error.to_string()).hint(hint).into()
        }
        error => Error::Internal(error.to_string()).into(),
    }
}
