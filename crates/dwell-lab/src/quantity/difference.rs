//! Pixels whose dwell differs between two workloads.

use super::bands::Workload;
use crate::axes;
use crate::convention::{Convention, Escape};
use crate::loops::ReferenceLoop;
use dwell::{Cancel, Depth, Plan, Size, png_bytes};
use std::borrow::Cow;
use std::ops::Range;

/// The greatest side of a picture. Larger images are shown in blocks of pixels.
const PICTURE_SIDE: u32 = 2048;
/// Interior pixels, the others, and those that differ.
const COLOURS: [[u8; 3]; 3] = [[70, 78, 96], [20, 22, 28], [255, 176, 0]];

/// A field of a comparison: computed in bands by an engine, or at once by a reference loop.
pub(super) struct Side<'a> {
    workload: &'a Workload,
    plan: Cow<'a, Plan>,
    field: Option<Vec<u32>>,
}

impl<'a> Side<'a> {
    /// The field of a workload by its engine, or by the reference loop of this name.
    pub(super) fn of(workload: &'a Workload, reference_loop: Option<&str>, cancel: &Cancel) -> Result<Self, String> {
        let field = reference_loop.map(|name| by_loop(workload, name, cancel)).transpose()?;
        Ok(Self { workload, plan: Cow::Borrowed(&workload.plan), field })
    }

    /// The field of a workload with another test.
    fn with_escape(workload: &'a Workload, escape: Escape) -> Result<Self, String> {
        let (setup, convention) = (&workload.setup, Convention { escape, ..workload.convention });
        let plan = axes::plan(&setup.scene, &convention, &setup.limits).map_err(|error| error.to_string())?;
        Ok(Self { workload, plan: Cow::Owned(plan), field: None })
    }

    /// Some rows, computed into `buffer` or copied to it.
    fn rows(&self, rows: Range<u32>, buffer: &mut Vec<u32>, cancel: &Cancel) -> Result<(), String> {
        let Some(field) = &self.field else { return self.workload.dwells_of(&self.plan, rows, buffer, cancel) };
        let at = |row: u32| row as usize * self.plan.size().width as usize;
        buffer.clear();
        buffer.extend_from_slice(&field[at(rows.start)..at(rows.end)]);
        Ok(())
    }
}

/// The whole field of a workload by a reference loop.
fn by_loop(workload: &Workload, name: &str, cancel: &Cancel) -> Result<Vec<u32>, String> {
    let reference_loop: ReferenceLoop = name.parse().map_err(|error: dwell::UnknownName| error.to_string())?;
    let (setup, pixels) = (&workload.setup, workload.size().pixels());
    let what = "the field of a reference loop";
    setup.limits.reserve(what, pixels.saturating_mul(4)).map_err(|error| error.to_string())?;
    let mut dwells = Vec::new();
    let reserved = usize::try_from(pixels).ok().and_then(|pixels| dwells.try_reserve_exact(pixels).ok());
    reserved.ok_or_else(|| format!("the system has no memory for {what}"))?;
    dwells.resize(pixels as usize, 0);
    reference_loop
        .run(&workload.plan, setup.threads, setup.schedule, &mut dwells, cancel)
        .map_err(|error| error.to_string())?;
    Ok(dwells)
}

/// Pixels whose dwell changes if the test > 4 becomes >= 4.
pub(super) fn ties(workload: &Workload, cancel: &Cancel) -> Result<u64, String> {
    let beyond = Side::with_escape(workload, Escape::Beyond)?;
    let at_least = Side::with_escape(workload, Escape::AtLeast)?;
    let mut differing = 0;
    for_each_pair([&beyond, &at_least], cancel, |_, [a, b]| differing += u64::from(a != b))?;
    Ok(differing)
}

/// The pixels that differ between two fields of one size, and a PNG of them.
pub(super) fn pictured(first: &Side<'_>, second: &Side<'_>, cancel: &Cancel) -> Result<(u64, Vec<u8>), String> {
    let (size, of_other) = (first.plan.size(), second.plan.size());
    if size != of_other {
        return Err(format!("fields of {size} and {of_other} pixels cannot be compared"));
    }
    let block = size.width.max(size.height).div_ceil(PICTURE_SIDE);
    let shown = Size { width: size.width.div_ceil(block), height: size.height.div_ceil(block) };
    let mut kinds = vec![0_u8; shown.pixels() as usize];
    let mut differing = 0;
    for_each_pair([first, second], cancel, |[column, row], [a, b]| {
        differing += u64::from(a != b);
        let kind = &mut kinds[(row / block) as usize * shown.width as usize + (column / block) as usize];
        // A block with a differing pixel is shown as one, and any other block with an escaped pixel as escaped.
        *kind = (*kind).max(if a != b { 2 } else { u8::from(a != 0) });
    })?;
    let picture: Vec<u8> = kinds.iter().flat_map(|kind| COLOURS[usize::from(*kind)]).collect();
    let png = png_bytes(&picture, shown, Depth::Eight, "", first.workload.setup.engine.pool());
    Ok((differing, png.map_err(|error| error.to_string())?))
}

/// Calls `each` with the place, as column and row, and both dwells of every pixel.
fn for_each_pair(
    [first, second]: [&Side<'_>; 2],
    cancel: &Cancel,
    mut each: impl FnMut([u32; 2], [u32; 2]),
) -> Result<(), String> {
    let width = first.plan.size().width as usize;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for rows in first.workload.bands() {
        first.rows(rows.clone(), &mut a, cancel)?;
        second.rows(rows.clone(), &mut b, cancel)?;
        for (row, (a, b)) in rows.zip(a.chunks_exact(width).zip(b.chunks_exact(width))) {
            for (column, (a, b)) in a.iter().zip(b).enumerate() {
                each([column as u32, row], [*a, *b]);
            }
        }
    }
    Ok(())
}
