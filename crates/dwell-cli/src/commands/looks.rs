//! `dwell looks`: lists the looks.

use crate::error_text::Failure;
use crate::output;
use dwell::Look;

pub(crate) fn run() -> Result<(), Failure> {
    let widest = Look::ALL.into_iter().map(|look| look.name().len()).max().unwrap_or(0);
    let lines = Look::ALL.into_iter().map(|look| format!("{:<widest$} {}\n", look.name(), look.title()));
    let last =
        "\nUse one as `dwell render --look NAME`, with any location; `dwell show` prints its layers from a picture.\n";
    output::print(&lines.chain([last.to_owned()]).collect::<String>())
}
