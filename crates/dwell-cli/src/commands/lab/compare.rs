//! `dwell lab compare`: two records side by side.

use super::failure;
use crate::cli::LabCompareArgs;
use crate::error_text::Failure;
use crate::output;
use dwell_lab::compare::Comparison;
use dwell_lab::record;

/// Prints the comparison. Returns 1 if something became slower beyond noise.
pub(super) fn run(args: &LabCompareArgs) -> Result<u8, Failure> {
    let before = record::read_run(&args.before).map_err(failure)?;
    let after = record::read_run(&args.after).map_err(failure)?;
    let comparison = Comparison::new(&before, &after);
    output::print(&comparison.table())?;
    Ok(u8::from(comparison.has_regressions()))
}
