//! Encoding: the frames go through a pipe to the system's ffmpeg, which writes a file beside them; that file is then published as outputs
//! are, whole or not at all.

use super::target::{Kind, Target};
use crate::error_text::{Failure, Usage};
use dwell::store::{Output, PartialFiles};
use dwell::{Cancel, Error, Progress, escape, quote};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The program.
const FFMPEG: &str = "ffmpeg";
/// Bytes of what it says that are kept.
const KEPT: u64 = 4096;
/// Characters of that in a message.
const SHOWN: usize = 300;

/// How a film is encoded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encoding {
    /// Frames a second, as `N` or `N.NN`.
    pub(super) fps: f64,
    pub(super) crf: u64,
}

/// Checks that ffmpeg is there, before any work.
pub(super) fn check(film: &Path) -> Result<(), Usage> {
    let mut command = Command::new(FFMPEG);
    command.arg("-version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let why = match command.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(_) => "which fails here".to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => "which is not installed".to_owned(),
        Err(error) => format!("which cannot be started: {error}"),
    };
    let name = quote(&film.to_string_lossy()).to_string();
    Err(Usage::new("-o", format!("{name} is encoded by ffmpeg, {why}"))
        .hint("install ffmpeg, or give a folder for the frames alone: -o FOLDER"))
}

/// The arguments of ffmpeg for a film: PNGs on standard input, the colours of sRGB pictures as those of high-definition video.
fn arguments(kind: Kind, encoding: Encoding) -> Vec<String> {
    let Encoding { fps, crf } = encoding;
    let mut all = words("-hide_banner -loglevel error -y -f image2pipe -c:v png");
    all.extend(["-framerate".to_owned(), fps.to_string()]);
    all.extend(words("-i pipe:0 -an -vf scale=out_color_matrix=bt709:out_range=tv,format=yuv420p"));
    all.extend(words(match kind {
        Kind::Webm => "-c:v libvpx-vp9 -b:v 0 -row-mt 1",
        Kind::Mp4 | Kind::Mkv | Kind::Mov => "-c:v libx264 -preset medium",
    }));
    all.extend(["-crf".to_owned(), crf.to_string()]);
    all.extend(words("-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv"));
    if matches!(kind, Kind::Mp4 | Kind::Mov) {
        all.extend(words("-movflags +faststart"));
    }
    all
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Encodes all frames of a target into its film.
///
/// # Errors
/// [`Error::Write`] when ffmpeg fails or the film cannot be written, [`Error::Interrupted`].
pub(super) fn encode(
    target: &Target,
    (path, kind): &(PathBuf, Kind),
    frames: u32,
    encoding: Encoding,
    cancel: &Cancel,
    progress: &Progress,
    partial_files: &PartialFiles,
) -> Result<(), Failure> {
    let encoded = target.encoded(*kind);
    let failed = |why: String| Error::Write { path: path.clone(), source: io::Error::other(why) };
    let mut command = Command::new(FFMPEG);
    command.args(arguments(*kind, encoding)).arg(&encoded);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    // In a group of its own, so that Ctrl-C reaches this program alone, which ends it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| failed(format!("ffmpeg cannot be started: {error}")))?;
    let said = child.stderr.take().map(|stream| std::thread::spawn(move || last_words(stream)));
    let fed = feed(&mut child, target, frames, cancel, progress);
    if fed.is_err() {
        // It may have ended already.
        _ = child.kill();
    }
    let status = child.wait().map_err(|error| failed(format!("ffmpeg is lost: {error}")))?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    match fed {
        Err(Fed::Error(error)) => return Err(error.into()),
        Ok(()) if status.success() => {}
        Ok(()) | Err(Fed::Refused) => {
            let why = if said.is_empty() { String::new() } else { format!(": {}", escape(&said)) };
            let kept = format!("the frames are complete in {}", target.folder.display());
            return Err(Failure::from(failed(format!("ffmpeg failed{why}"))).hint(kept));
        }
    }
    progress.add(1);
    let mut film = std::fs::File::open(&encoded).map_err(|error| failed(format!("ffmpeg wrote no film: {error}")))?;
    let mut output = Output::create(path, false, partial_files)?;
    io::copy(&mut film, &mut output).map_err(|error| output.error(error))?;
    cancel.check()?;
    output.commit()?;
    // The published copy counts; a file that cannot be removed does no harm.
    _ = std::fs::remove_file(&encoded);
    Ok(())
}

/// Why frames were not passed on.
enum Fed {
    /// The program does not read them: it has failed.
    Refused,
    Error(Error),
}

/// Writes the frames to the standard input of a child, and closes it.
fn feed(child: &mut Child, target: &Target, frames: u32, cancel: &Cancel, progress: &Progress) -> Result<(), Fed> {
    let Some(mut pipe) = child.stdin.take() else { return Err(Fed::Refused) };
    progress.start(u64::from(frames) + 1, Vec::new());
    for frame in 0..frames {
        cancel.check().map_err(Fed::Error)?;
        let path = target.frame(frame);
        let bytes = std::fs::read(&path).map_err(|source| Fed::Error(Error::Write { path, source }))?;
        pipe.write_all(&bytes).map_err(|_| Fed::Refused)?;
        progress.add(1);
    }
    Ok(())
}

/// The end of what a program says, on one line.
fn last_words(stream: impl Read) -> String {
    let (mut kept, mut stream) = (Vec::new(), stream);
    // An error ends the stream.
    _ = stream.by_ref().take(KEPT).read_to_end(&mut kept);
    _ = io::copy(&mut stream, &mut io::sink());
    let said = String::from_utf8_lossy(&kept);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    said.chars().skip(said.chars().count().saturating_sub(SHOWN)).collect()
}
