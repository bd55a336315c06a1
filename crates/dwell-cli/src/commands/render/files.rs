//! The outputs of `dwell render`.

use crate::cli::RenderArgs;
use crate::error_text::{Failure, Usage};
use crate::overlap;
use crate::standard_streams::Stream;
use dwell::{Format, Location, store};
use std::io::IsTerminal;
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

/// Checks that no output is written over another output or over an input.
pub(super) fn check_overlap(args: &RenderArgs, files: &[File]) -> Result<(), Usage> {
    let what = args.what.iter().map(|path| ("WHAT", Location::file(path)));
    let palette = args.palette.iter().map(|name| ("--palette", overlap::palette_file(name)));
    let stats = args.stats.iter().filter(|p| *p != Path::new("-")).map(|p| ("--stats", p.as_path()));
    overlap::check(what.chain(palette), files.iter().map(|(path, _)| ("-o", path.as_path())).chain(stats))
}
