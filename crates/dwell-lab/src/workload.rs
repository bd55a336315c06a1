//! The flags of a variant at a point, and the identity of what they describe.

use crate::engine_filter::{ENGINE, EngineFilter};
use crate::experiment::{Extent, Flags, Point, Series, Text, Variant, join_parts};
use dwell::Plan;

/// Every flag of a variant: those of the series, of the extent of the run, of the point and of the variant; later ones take
/// precedence. Where none names an engine it is `cpu`, so that a variant does not depend on what else the machine has. A
/// device that was asked for takes the place of another.
pub(crate) fn flags(series: &Series, variant: &Variant, point: &Point, extent: Extent, engine: &EngineFilter) -> Flags {
    let mut flags = series.flags.clone();
    match extent {
        Extent::Whole => {}
        Extent::Quick => flags.extend(series.quick.clone()),
        Extent::Check => flags.extend(series.check.clone()),
    }
    flags.extend(point.clone());
    flags.extend(variant.flags.clone());
    let named = flags.entry(ENGINE.to_owned()).or_insert_with(|| Text::from("cpu"));
    if let (EngineFilter::Device(device), true) = (engine, named.0.starts_with("cuda")) {
        named.0.clone_from(device);
    }
    join_parts(&mut flags);
    flags
}

/// What the dwells of a plan depend on, as text.
pub(crate) fn key(plan: &Plan) -> String {
    let (size, view) = (plan.size(), plan.view());
    let of_settings =
        (plan.direct_limit(), plan.formula(), plan.recipe(), plan.number(), plan.julia(), plan.escape_radius());
    // The convention changes the points; within a series there is one.
    format!("{size:?} {view:?} {of_settings:?}")
}
