//! Compares what a variant computed with the reference, before anything of it is timed.

use crate::contestant::{Computed, Promise};
use crate::convention::Counts;
use crate::record::Status;
use crate::reference::Reference;
use crate::rounding;
use dwell::{Cancel, Error, Plan};

/// The pixels of which one may differ in the field of a reference loop. On the real axis rounding decides nearly every count
/// of a loop that does not keep the imaginary part at 0, and the axis is a large part of a small image.
const ONE_IN: u64 = 100;

/// What the comparison says.
pub(crate) fn status(
    plan: &Plan,
    promise: Promise<'_>,
    reference: &Reference,
    computed: &Computed<'_>,
    cancel: &Cancel,
) -> Result<Status, Error> {
    let dwells = match (computed, promise) {
        (Computed::Field(dwells), _) => *dwells,
        // A picture of a heuristic has no field; its wrong pixels are those of the same variant without the picture.
        (Computed::Hash(_), Promise::Heuristic) => return Ok(Status::Heuristic { wrong: 0 }),
        (Computed::Hash(hash), _) if *hash == reference.hash => return Ok(Status::Equal),
        (Computed::Hash(hash), _) => {
            let why = format!("the hash of its field is {hash}, not {}", reference.hash);
            return Ok(Status::Wrong { wrong: 0, why });
        }
    };
    if dwells.len() != reference.dwells.len() {
        let why = format!("it has {} pixels, not {}", dwells.len(), reference.dwells.len());
        return Ok(Status::Wrong { wrong: reference.dwells.len() as u64, why });
    }
    match promise {
        Promise::OtherRounding => rounding::check(plan, &reference.dwells, dwells, Counts::Dwell, ONE_IN, cancel),
        Promise::Program(program) => program.check(plan, &reference.dwells, dwells, cancel),
        Promise::Exact => Ok(equality(plan, reference, dwells)),
        Promise::Heuristic => Ok(match equality(plan, reference, dwells) {
            Status::Wrong { wrong, .. } => Status::Heuristic { wrong },
            _ => Status::Heuristic { wrong: 0 },
        }),
    }
}

/// Whether every count is equal.
fn equality(plan: &Plan, reference: &Reference, dwells: &[u32]) -> Status {
    let mut pairs = dwells.iter().zip(&reference.dwells).enumerate();
    let Some((first, (dwell, right))) = pairs.find(|(_, (dwell, right))| dwell != right) else {
        return Status::Equal;
    };
    let wrong = 1 + pairs.filter(|(_, (dwell, right))| dwell != right).count() as u64;
    let width = plan.size().width as usize;
    let (column, row) = (first % width, first / width);
    let count = dwells.len();
    let why =
        format!("{wrong} of {count} counts differ; the first is at column {column}, row {row}: {dwell}, not {right}");
    Status::Wrong { wrong, why }
}
