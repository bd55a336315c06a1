//! `dwell palettes`: shows palettes in the terminal or as a PNG.

use crate::cli::PalettesArgs;
use crate::error_text::{Failure, Usage};
use crate::interrupt::Interrupt;
use crate::palette_sheet::palette_sheet;
use crate::standard_streams::Stream;
use crate::{output, overlap, scene};
use dwell::store::{self, Output};
use dwell::{Palette, quote};
use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

/// Width of a bar in characters.
const BAR: u32 = 48;
/// Maximum number of characters of a name.
const NAME: usize = 24;
/// Maximum number of characters of a title.
const TITLE: usize = 80;

pub(crate) fn run(args: &PalettesArgs, interrupt: &Interrupt) -> Result<(), Failure> {
    let palettes: Vec<Palette> = if args.palettes.is_empty() {
        Palette::built_in_names().map(|name| Ok(Palette::built_in(name)?)).collect::<Result<_, Failure>>()?
    } else {
        args.palettes.iter().map(|name| scene::palette("palette", name)).collect::<Result<_, Failure>>()?
    };
    if let Some(path) = &args.output {
        check_output(path)?;
        let inputs = args.palettes.iter().map(|name| ("a palette", overlap::palette_file(name)));
        overlap::check(inputs, [("-o", path.as_path())])?;
        if store::is_stdout(path) {
            Stream::Output.check()?;
        }
        let file = Output::create(path, false, &interrupt.partial_files)?;
        return Ok(palette_sheet(&palettes, file)?);
    }
    let in_colour = !args.names && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    // Names come from files and may hold control characters.
    let names: Vec<String> = palettes.iter().map(|palette| output::tame(palette.name(), NAME)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (palette, name) in palettes.iter().zip(&names) {
        let title = output::tame(palette.title(), TITLE);
        let line = match (args.names, in_colour) {
            (true, _) => format!("{name}\n"),
            (false, false) => format!("{name:<widest$} {title}\n"),
            (false, true) => format!("{name:<widest$} {} {title}\n", bar(palette)),
        };
        text.push_str(&line);
    }
    output::print(&text)
}

/// Fails if the name's ending stands for another format: the sheet is a PNG.
fn check_output(path: &Path) -> Result<(), Usage> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if ending.as_deref().is_none_or(|ending| ending == "png")
        || store::is_stdout(path)
        || store::identity(path).is_none()
    {
        return Ok(());
    }
    let problem = format!("{} does not end in .png, and the sheet is a PNG", quote(&path.to_string_lossy()));
    Err(Usage::new("-o", problem).accepts("a name that ends in .png, or has no ending"))
}

/// One turn of a palette in 24-bit colours, two side by side in each character.
fn bar(palette: &Palette) -> String {
    let colour = |at: u32| palette.at((f64::from(at) + 0.5) / f64::from(2 * BAR)).map(|channel| channel / 257);
    let mut text = String::new();
    for at in 0..BAR {
        let ([r, g, b], [right_r, right_g, right_b]) = (colour(2 * at), colour(2 * at + 1));
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\x1b[38;2;{r};{g};{b}m\x1b[48;2;{right_r};{right_g};{right_b}m\u{258c}");
    }
    text + "\x1b[0m"
}
