//! `dwell palettes`: what palettes look like, in the terminal or as a picture.

use crate::cli::PalettesArgs;
use crate::interrupt::Interrupt;
use crate::{output, scene};
use dwell::store::Output;
use dwell::{Error, Palette, palette_sheet};
use std::fmt::Write;
use std::io::IsTerminal;

/// Characters of a bar.
const BAR: u32 = 48;

pub(crate) fn run(args: &PalettesArgs, interrupt: &Interrupt) -> Result<(), Error> {
    let palettes: Vec<Palette> = if args.palettes.is_empty() {
        Palette::built_in_names().map(|name| Ok(Palette::built_in(name)?)).collect::<Result<_, Error>>()?
    } else {
        args.palettes.iter().map(|name| scene::palette(name)).collect::<Result<_, Error>>()?
    };
    if let Some(path) = &args.output {
        let file = Output::create(path, false, &interrupt.leftovers)?;
        return palette_sheet(&palettes, file);
    }
    let in_colour = !args.names && std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let widest = palettes.iter().map(|palette| palette.name().chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for palette in &palettes {
        let name = palette.name();
        let line = match (args.names, in_colour) {
            (true, _) => format!("{name}\n"),
            (false, false) => format!("{name:<widest$} {}\n", palette.title()),
            (false, true) => format!("{name:<widest$} {} {}\n", bar(palette), palette.title()),
        };
        text.push_str(&line);
    }
    output::print(&text)
}

/// One turn of a palette in 24-bit colours: two of them in each character, side by side.
fn bar(palette: &Palette) -> String {
    let colour = |at: u32| palette.at((f64::from(at) + 0.5) / f64::from(2 * BAR)).map(|channel| channel / 257);
    let mut text = String::new();
    for at in 0..BAR {
        let ([r, g, b], [right_r, right_g, right_b]) = (colour(2 * at), colour(2 * at + 1));
        // Writing to a text cannot fail.
        let _ = write!(text, "\x1b[38;2;{r};{g};{b}m\x1b[48;2;{right_r};{right_g};{right_b}m\u{258c}");
    }
    text + "\x1b[0m"
}
