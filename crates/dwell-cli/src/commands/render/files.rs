//! The outputs of `dwell render`.

use super::Part;
use crate::cli::RenderArgs;
use crate::error_text::{Failure, Usage};
use crate::standard_streams::Stream;
use crate::{output, overlap};
use dwell::{Error, Format, Location, Request, store};
use std::io::{ErrorKind, IsTerminal};
use std::path::{Path, PathBuf};

/// The path and the format of an output.
pub(super) type File = (PathBuf, Format);

/// The path and format of each output.
pub(super) fn files(args: &RenderArgs) -> Result<Vec<File>, Failure> {
    if args.output.is_empty() && args.stats.is_none() && !args.dry_run {
        return Err(Usage::new("-o", "no output is named")
            .hint("give a file with -o, such as -o mandelbrot.png; or --stats alone")
            .into());
    }
    let format = args.format.as_ref().map(|name| name.to_ascii_lowercase().parse()).transpose()?;
    let mut files: Vec<File> = Vec::new();
    for path in &args.output {
        if path.as_os_str().is_empty() {
            return Err(Usage::new("-o", "the name is empty").accepts("a file, or - for standard output").into());
        }
        let format = match format {
            Some(format) => format,
            None => Format::of_path(path)?,
        };
        if path == Path::new("-") && std::io::stdout().is_terminal() && format != Format::Csv {
            return Err(Usage::new("-o", "standard output is a terminal, which cannot show this")
                .hint("redirect it to a file or another program")
                .into());
        }
        if store::is_stdout(path) && !args.dry_run {
            // Before the work, whose result would be lost.
            Stream::Output.check()?;
        }
        files.push((path.clone(), format));
    }
    Ok(files)
}

/// Creates the folders of outputs that do not exist, and says so.
pub(super) fn create_folders(args: &RenderArgs, files: &[File], part: &Part) -> Result<(), Failure> {
    let stats = args.stats.iter().filter(|_| !part.reports_to_batch);
    for path in files.iter().map(|(path, _)| path).chain(stats).filter(|path| *path != Path::new("-")) {
        create_folder(path, args.quiet)?;
    }
    Ok(())
}

/// Creates the folder of a file if it does not exist, and says so.
pub(super) fn create_folder(path: &Path, quiet: bool) -> Result<(), Failure> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) else {
        return Ok(());
    };
    let is_file = folder.exists();
    let created = if is_file { Err(ErrorKind::NotADirectory.into()) } else { std::fs::create_dir_all(folder) };
    created.map_err(|source| Error::Write { path: path.to_owned(), source })?;
    if !quiet {
        output::remark_to_person(&format!("created the folder {}", folder.display()));
    }
    Ok(())
}

/// Checks that files for which there is certainly not enough space are not begun. What an unfinished render has written
/// already is not counted, so a render that resumes is not checked.
pub(super) fn check_space(request: &Request<'_>, files: &[File]) -> Result<(), Failure> {
    if files.first().is_some_and(|(path, _)| store::journal_of(path).is_some()) {
        return Ok(());
    }
    let (mut least, mut most, mut first) = (0_u64, 0_u64, None);
    for (path, format) in files {
        let Some(free) = free_bytes(path) else { continue };
        (least, most) =
            (least.saturating_add(format.least_bytes(request)), most.saturating_add(format.max_bytes(request)));
        first.get_or_insert((path, free));
    }
    let Some((path, free)) = first.filter(|(_, free)| *free < most) else { return Ok(()) };
    let mut needed = format!("at least {}", output::bytes(least));
    if free >= least {
        // Whether a compressed file fits depends on the picture. The estimate may be wrong by a fifth.
        let formats: Vec<Format> = files.iter().map(|(_, format)| *format).collect();
        let bytes: u64 = dwell::estimate(request, &formats)?.bytes.iter().sum();
        if bytes / 5 * 4 < free {
            return Ok(());
        }
        needed = format!("about {}", output::bytes(bytes));
    }
    let problem = format!("the outputs take {needed}, and {} are free there", output::bytes(free));
    let source = std::io::Error::new(std::io::ErrorKind::StorageFull, problem);
    Err(Error::Write { path: path.clone(), source }.into())
}

/// The free bytes where a regular file goes; `None` for other outputs.
pub(super) fn free_bytes(path: &Path) -> Option<u64> {
    let is_regular = !store::is_stdout(path) && (path.is_file() || !path.exists());
    is_regular.then(|| store::free_bytes(path)).flatten()
}

/// Checks that no output is written over another output or over an input.
pub(super) fn check_overlap(args: &RenderArgs, files: &[File]) -> Result<(), Usage> {
    let what = args.what.iter().map(|path| ("WHAT", Location::file(path)));
    let palette = args.picture.palette.iter().map(|name| ("--palette", overlap::palette_file(name)));
    let stats = args.stats.iter().filter(|p| *p != Path::new("-")).map(|p| ("--stats", p.as_path()));
    overlap::check(what.chain(palette), files.iter().map(|(path, _)| ("-o", path.as_path())).chain(stats))
}
