//! `dwell show`: what a picture or a location is, as a location file with every key.

use crate::cli::ShowArgs;
use crate::{output, scene};
use dwell::Error;

pub(crate) fn run(args: &ShowArgs) -> Result<(), Error> {
    // Read as a location in any case: what cannot be rendered again is an error here, too.
    let (location, text) = scene::location(&args.what)?;
    scene::warn_if_newer(&args.what, &location);
    output::print(&text.unwrap_or_else(|| location.text()))
}
