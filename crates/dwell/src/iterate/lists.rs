//! Lists of scattered points of a deep view, computed at once by an engine that takes them.

use crate::base::control::Control;
use crate::base::error::Error;
use crate::field::FieldRowsMut;
use crate::field::channels::{ChannelBuffers, ChannelSet};
use crate::iterate::engine::{Engine, Notes, Task};
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::plan::points::Points;

/// Points in a row of a list: a tile of it has neighbours.
const WIDTH: u32 = 128;

/// How many lists of points of a plan's view, with these channels, an engine computes at once; 0 where it takes none.
pub(crate) fn at_once(engine: &dyn Engine, plan: &Plan, channels: ChannelSet) -> usize {
    let task = Task { plan, strategy: Strategy::EveryPixel, channels };
    if matches!(plan.points(), Points::Deep(_)) { engine.lists_at_once(&task) } else { 0 }
}

/// Upper bound of the bytes of memory for so many points, beside what the engine takes for as many pixels.
pub(crate) fn bytes(points: u64, channels: ChannelSet) -> u64 {
    let points = points + u64::from(WIDTH);
    points * (2 * size_of::<(u32, u32)>() + 2 * size_of::<i64>()) as u64 + channels.bytes(points)
}

/// Upper bound of the bytes that the engine takes for a list of so many points beside what it takes for one that is computed at the same time.
pub(crate) fn bytes_beside_another(engine: &dyn Engine, task: &Task<'_>, points: u64) -> u64 {
    // The reference and the blocks are shared. Threads that wait for an orbit of one list keep their buffers, while others take some for the other list.
    let of_view = match task.plan.points() {
        Points::Deep(points) => points.shared.bytes(task.plan.limit()),
        _ => 0,
    };
    let rows = points.div_ceil(u64::from(task.plan.size().width));
    let of_list = engine.requirements(task, u32::try_from(rows).unwrap_or(u32::MAX));
    of_list.host_bytes.saturating_sub(of_view)
}

/// Computes points, at least one, given by columns and rows of `points`, which are of the view of a plan. Returns the values of each in order, with some more at the end, and what was noted.
///
/// # Errors
/// As [`Engine::run`].
pub(crate) fn compute(
    engine: &dyn Engine,
    (plan, points): (&Plan, &Points),
    mut places: Vec<(u32, u32)>,
    channels: ChannelSet,
    control: &Control<'_>,
) -> Result<(ChannelBuffers, Notes), Error> {
    let list = plan.of_list(points, WIDTH, &mut places)?.ok_or_else(|| points.unsupported_by("a list"))?;
    drop(places);
    let (mut values, size) = (ChannelBuffers::default(), list.size());
    values.resize(size.width as usize * size.height as usize, channels)?;
    let task = Task { plan: &list, strategy: Strategy::EveryPixel, channels };
    let rows = FieldRowsMut::new(size.width, 0..size.height, values.slices_mut())?;
    let outcome = engine.run(&task, rows, control)?;
    Ok((values, outcome.notes.beside_pixels()))
}
