//! `dwell show`: prints a location, or what a PNG shows, as a location file with every key.

use crate::cli::ShowArgs;
use crate::error_text::Failure;
use crate::{output, scene, toml_text};

pub(crate) fn run(args: &ShowArgs) -> Result<(), Failure> {
    // Parse the text of a picture as well, so that one that cannot be rendered again is an error.
    let (location, text) = scene::location(&args.what)?;
    scene::remark_on(&args.what, &location);
    output::print(&toml_text::escaped(&text.unwrap_or_else(|| location.text())))
}
