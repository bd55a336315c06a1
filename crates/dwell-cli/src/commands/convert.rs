//! `dwell convert`: writes a location as a file of another program, or the file of another program as a location.

use crate::cli::ConvertArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::standard_streams::Stream;
use crate::{output, overlap, scene, toml_text};
use dwell::store::{self, Output};
use dwell::{Control, CpuEngine, Limits, Location, LocationFormat, Progress, UnknownName, quote};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &ConvertArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let path = &args.output;
    let format = format(args)?;
    overlap::check([("WHAT", Location::file(&args.what))], [("-o", path.as_path())])?;
    if store::is_stdout(path) {
        // Before the work, whose result would be lost.
        Stream::Output.check()?;
    }
    let (mut location, _) = scene::location(&args.what)?;
    scene::remark_on(&args.what, &location);
    let of_colours = format == LocationFormat::Kfr && location.scene.automatic.scale;
    if format != LocationFormat::Toml && location.scene.automatic.limit || of_colours {
        // Other programs need numbers.
        let control = Control { cancel: &interrupt.cancel, progress: &Progress::default() };
        let resolved = dwell::resolve(&location.scene, &CpuEngine::default(), &Limits::default(), &control)?;
        location.scene.settings.limit = resolved.scene.settings.limit;
        location.scene.colouring = resolved.scene.colouring;
        (location.scene.automatic.limit, location.scene.automatic.scale) = (false, false);
    }
    let written = location.text_in(format)?;
    // Titles and notes may hold characters that a terminal would not show.
    let text = if format == LocationFormat::Toml { toml_text::escaped(&written.text) } else { written.text };
    let mut output = Output::create(path, args.no_clobber, &interrupt.partial_files)?;
    output.refuse_existing()?;
    output.write_all(text.as_bytes()).map_err(|e| output.error(e))?;
    output.commit()?;
    if !written.left_out.is_empty() {
        let path = quote(&path.to_string_lossy());
        output::remark(&format!("note: {path}: not written: {}", written.left_out.join(", ")));
    }
    Ok(())
}

/// The format of the output: that of the flag, or that of the name's ending.
fn format(args: &ConvertArgs) -> Result<LocationFormat, Failure> {
    if let Some(name) = &args.format {
        let name = name.to_ascii_lowercase();
        // `f3` is shorter than the ending.
        let name = if name == "f3" { LocationFormat::F3.name() } else { &name };
        return name.parse().map_err(|e: UnknownName| Failure::from(e).about("--format"));
    }
    let formats = LocationFormat::ALL.map(|format| format!(".{}", format.name())).join(", ");
    LocationFormat::of_path(&args.output).ok_or_else(|| {
        let shown = quote(&args.output.to_string_lossy());
        let problem = match args.output == Path::new("-") {
            true => "standard output has no ending that selects a format".to_owned(),
            false => format!("the ending of {shown} is no format of locations"),
        };
        Usage::new("-o", problem).accepts(formats).hint("or give --format").into()
    })
}
