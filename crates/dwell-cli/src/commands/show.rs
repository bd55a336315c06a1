//! `dwell show`: what a picture or a location is, as a location file with every key.

use crate::cli::ShowArgs;
use crate::{output, scene};
use dwell::{Error, Location};

pub(crate) fn run(args: &ShowArgs) -> Result<(), Error> {
    // Read as a location in any case: what cannot be rendered again is an error here, too.
    let location = scene::location(&args.what)?;
    let text = Location::text_in_picture(&args.what)?.unwrap_or_else(|| location.text());
    output::print(&text)
}
