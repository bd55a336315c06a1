//! A painter's tables on a device.

use crate::driver::{Buffer, Context, Fault};
use crate::task::PaintTask;
use dwell::{By, Depth, Painter, Scale};
use std::sync::Arc;

/// What the `paint` kernels take: all but where samples are and where the picture goes.
#[derive(Debug)]
pub(crate) struct Colours {
    pub(crate) task: PaintTask,
    /// Which kernel.
    pub(crate) kernel: &'static str,
    pub(crate) needs_smooth: bool,
    /// What `task` has the addresses of.
    _tables: Vec<Buffer>,
}

/// Whether there are kernels for what a painter does: all but distances, and colours that depend on the whole field.
pub(crate) fn can_paint(painter: &Painter) -> bool {
    let colouring = painter.colouring();
    colouring.by != By::Distance && colouring.scale != Scale::Histogram
}

impl Colours {
    pub(crate) fn new(context: &Arc<Context>, painter: &Painter, limit: u32) -> Result<Self, Fault> {
        let Some(tables) = painter.tables().filter(|_| can_paint(painter)) else {
            return Err(Fault::Lost("colours that no kernel paints".to_owned()));
        };
        let mut buffers = Vec::new();
        let mut put = |buffer: Result<Buffer, Fault>| {
            let buffer = buffer?;
            let address = buffer.at(0);
            buffers.push(buffer);
            Ok::<u64, Fault>(address)
        };
        let code = |c: &[u16; 3]| u64::from(c[0]) | u64::from(c[1]) << 16 | u64::from(c[2]) << 32;
        let palette: Vec<u64> = tables.palette.iter().map(code).collect();
        let bands: Vec<u16> = tables.bands.iter().map(|entry| u16::try_from(*entry).unwrap_or(0)).collect();
        let light: Vec<u32> = tables.light.iter().flatten().copied().collect();
        let entries = u32::try_from(palette.len() - 1).unwrap_or(0);
        let eight = tables.depth == Depth::Eight;
        let mut task = PaintTask {
            palette: put(Buffer::of(context, &palette))?,
            slope: tables.slope,
            start_position: tables.start,
            limit_value: f64::from(limit),
            samples: tables.samples,
            bytes: if eight { 3 } else { 6 },
            scale: match tables.scale {
                Scale::Root => 0,
                Scale::Linear => 1,
                Scale::Log => 2,
                Scale::Limit | Scale::Histogram => 3,
            },
            limit,
            entries,
            ..PaintTask::default()
        };
        if !bands.is_empty() {
            task.bands = put(Buffer::of(context, &bands))?;
        }
        if let Some(encoder) = tables.encoder {
            task.light = put(Buffer::of(context, &light))?;
            task.midpoints = put(Buffer::of(context, encoder.midpoints))?;
            task.start = put(Buffer::of(context, encoder.start))?;
            task.values = u32::try_from(encoder.midpoints.len()).unwrap_or(0);
            task.shift = encoder.shift;
        }
        let kernel = match (tables.samples, eight) {
            (1, true) => "paint_bytes",
            (1, false) => "paint_words",
            _ => "paint_averages",
        };
        Ok(Self { task, kernel, needs_smooth: tables.by == By::Smooth, _tables: buffers })
    }
}
