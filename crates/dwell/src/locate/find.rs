//! The search for the least period in a region.

use super::{Means, Region, Sought, Wanted};
use crate::base::error::{Error, InputError};
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::base::progress::Phase;
use crate::exact::limbs::fixed;
use crate::scene::Scene;
use dwell_kernels::deep::Watch;
use dwell_kernels::deep::extended::Extended;
use dwell_kernels::deep::mantissa::Dd;
use dwell_kernels::deep::reference::NoReference;
use dwell_kernels::deep::roots::search::{self, Found, NotFound};

/// The greatest index of a z that orbits have.
const MOST_PERIOD: u64 = u32::MAX as u64 - 1;
/// Limbs that are added when the bits did not suffice, at most so many times.
const MORE_LIMBS: usize = 2;
const MOST_ATTEMPTS: usize = 8;
/// How often a region is divided into quarters where nothing is found from its centre.
const MOST_DIVISIONS: usize = 3;

/// The region in which something was found, and what.
pub(super) fn found(scene: &Scene, wanted: &Wanted, means: Means<'_>) -> Result<(Region, Found), Error> {
    let mut last = NotFound::Limit;
    for region in Region::of(&scene.view, &wanted.within)? {
        let mut parts = vec![region];
        for division in 0..=MOST_DIVISIONS {
            let mut best: Option<(Region, Found)> = None;
            let mut whys = Vec::new();
            for part in &parts {
                match in_one(part, wanted, means)? {
                    Ok(found) => {
                        let order = |found: &Found| (found.equation.last(), found.equation.period());
                        if best.as_ref().is_none_or(|(_, best)| order(&found) < order(best)) {
                            best = Some((part.clone(), Found { is_least: found.is_least && division == 0, ..found }));
                        }
                    }
                    Err(why) => whys.push(why),
                }
            }
            if let Some(best) = best {
                return Ok(best);
            }
            last = overall(&whys);
            // Without a boundary, or a period up to the limit, there is none in the parts either.
            if matches!(last, NotFound::Inside | NotFound::Limit) {
                break;
            }
            parts = parts.iter().flat_map(Region::quarters).collect();
        }
    }
    Err(nothing(last, wanted).into())
}

/// Why nothing is in any of some regions.
fn overall(whys: &[NotFound]) -> NotFound {
    let others = || whys.iter().copied().filter(|why| *why != NotFound::Inside);
    others().find(|why| *why != NotFound::Limit).or_else(|| others().next()).unwrap_or(NotFound::Inside)
}

/// What is in one region, from its centre.
fn in_one(region: &Region, wanted: &Wanted, means: Means<'_>) -> Result<Result<Found, NotFound>, Error> {
    let Means { level, control, .. } = means;
    let mut limbs = 1 + region.bits().div_ceil(64);
    let limit = if wanted.most_period == 0 { MOST_PERIOD } else { wanted.most_period.min(MOST_PERIOD) };
    for _ in 0..MOST_ATTEMPTS {
        let phase = control.progress.begin(Phase::Period, 0);
        let [x, y] = region.centre.each_ref().map(|part| fixed(part, limbs));
        let kernel = search::Region {
            level,
            centre: [&x, &y],
            radius: region.radius(),
            limit,
            most: means.most_entries(),
            watch: Watch { stop: control.cancel.flag(), done: phase.steps() },
        };
        let contains = |delta: Extended<Dd>| region.contains(delta);
        let result = match wanted.sought {
            Sought::Minibrot => search::nucleus(&kernel, contains),
            Sought::Misiurewicz => search::misiurewicz(&kernel, contains),
        };
        match result {
            Ok((found, _)) => return Ok(Ok(found)),
            Err(NotFound::NoOrbit(NoReference::TooFewBits)) => limbs += MORE_LIMBS,
            Err(NotFound::NoOrbit(NoReference::Stopped)) => return Err(Error::Interrupted),
            Err(NotFound::NoOrbit(NoReference::Memory)) => return Err(too_long(means).into()),
            Err(why) => return Ok(Err(why)),
        }
    }
    Ok(Err(NotFound::Undecided))
}

/// An orbit of more entries than memory is allowed for.
pub(super) fn too_long(means: Means<'_>) -> InputError {
    let allowed_bytes = Some(means.limits.memory_bytes);
    let needed_bytes = means.limits.memory_bytes.saturating_mul(2);
    let problem = Problem::Memory { what: "the orbit of the search".to_owned(), needed_bytes, allowed_bytes };
    let accepted = format!("at most {} here", crate::base::quote::allowed_bytes(means.limits.memory_bytes));
    InputError::new(problem).about(Parameter::MaxIterations).accepts(accepted)
}

/// The error that nothing was found.
fn nothing(why: NotFound, wanted: &Wanted) -> InputError {
    let what = match wanted.sought {
        Sought::Minibrot => "no minibrot",
        Sought::Misiurewicz => "no Misiurewicz point",
    };
    let problem = match why {
        NotFound::Inside => format!("{what} is here: every point stays bounded, within one component"),
        NotFound::Limit => format!("{what} of a period up to {} is here", wanted.most_period),
        _ => format!("{what} was found here: the boundary of the set may not be in it"),
    };
    InputError::new(Problem::Unsupported(problem))
        .about(Parameter::View)
        .accepts("a region across the boundary of the set")
}
