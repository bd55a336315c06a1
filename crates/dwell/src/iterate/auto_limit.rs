//! `--max-iter auto`: the lowest limit beyond which the picture hardly changes, found by a probe that gives the same answer
//! on every machine.

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::field::Field;
use crate::field::channels::ChannelSet;
use crate::iterate::engine::{Control, Engine, Task};
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{Size, View};

/// The first limit tried. Each later one is twice the one before.
const FIRST: u32 = 100;
/// Maximum number of doublings: the last limit, 100 * 2^25, is below 2^32.
const DOUBLINGS: u32 = 25;
/// Columns of the probe.
const PROBE_WIDTH: u32 = 256;
/// The maximum number of rows of the probe, for images much taller than wide.
const PROBE_MAX_HEIGHT: u32 = 4096;
/// A limit at which no pixel has escaped is accepted only after this many doublings: in a deep view every point may need
/// more than 100 iterations to escape, so that no escape at 100 does not mean that the view lies inside the set.
const DOUBLINGS_WITHOUT_ESCAPE: u32 = 10;

/// The smallest limit 100 * 2^k, 0 <= k <= 25, such that doubling it changes fewer than 0.1 % of the pixels of a probe. The
/// probe is the view in f64, 256 pixels wide, with the aspect ratio of the image (1 to 4096 rows). A limit at which no pixel
/// has escaped is accepted only if none escapes up to 102,400 either; the result is then 100. If no limit satisfies this, it is 100 * 2^25.
///
/// The formula, recipe and escape radius of the settings are used; the number and the limit are not.
///
/// # Errors
/// As [`Plan::new`] for the probe, and [`Error::Interrupted`].
pub fn auto_limit(view: &View, settings: &Settings, engine: &dyn Engine, cancel: &Cancel) -> Result<u32, Error> {
    let (wide, high) = (u64::from(view.size.width), u64::from(view.size.height));
    let rows = (u64::from(PROBE_WIDTH) * high + wide / 2) / wide;
    let height = u32::try_from(rows).unwrap_or(u32::MAX).clamp(1, PROBE_MAX_HEIGHT);
    let probe = view.clone().sized(Size { width: PROBE_WIDTH, height });
    let mut field = Field::default();
    let mut dwells_up_to = |limit: u32| -> Result<Field, Error> {
        let settings = Settings { limit, number: NumberKind::F64, force: true, ..settings.clone() };
        let plan = Plan::new(&probe, &settings, &Limits::default())?;
        field.prepare(PROBE_WIDTH, 0..height, ChannelSet::NONE)?;
        let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::NONE };
        engine.run(&task, field.all_rows_mut(), &Control { cancel, progress: &Progress::default() })?;
        Ok(std::mem::take(&mut field))
    };
    for k in 0..DOUBLINGS {
        let limit = FIRST << k;
        let doubled = dwells_up_to(2 * limit)?;
        let pixels = doubled.dwell().len();
        let changed = doubled.dwell().iter().filter(|n| **n > limit).count();
        let interior = doubled.dwell().iter().filter(|n| **n == 0).count();
        let escaped = pixels - interior - changed;
        if changed * 1000 < pixels {
            if escaped > 0 {
                return Ok(limit);
            }
            if k >= DOUBLINGS_WITHOUT_ESCAPE {
                return Ok(FIRST);
            }
        }
    }
    Ok(FIRST << DOUBLINGS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iterate::cpu::CpuEngine;

    fn auto(re: &str, im: &str, zoom: &str) -> u32 {
        let view = View::centred(re, im, zoom).unwrap().sized(Size::new(96, 54).unwrap());
        auto_limit(&view, &Settings::default(), &CpuEngine::default(), &Cancel::default()).unwrap()
    }

    #[test]
    fn the_limit_is_the_smallest_that_satisfies_the_definition() {
        // Counted with the plain loop, pixel by pixel.
        let limit = auto("-0.75", "0", "1.5");
        let view = View::centred("-0.75", "0", "1.5").unwrap().sized(Size::new(256, 144).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let crate::plan::points::Points::F64(points) = plan.points() else { panic!("f64") };
        let grid = points.axes.grid(0..256, 0..144);
        let changed = |limit: u32| {
            let late = |i: &usize| {
                let [a, b] = grid.point(i % 256, i / 256);
                dwell_kernels::naive::dwell(&points.map, [a, b], 2 * limit, 4.0) > limit
            };
            (0..256 * 144).filter(late).count()
        };
        assert!(changed(limit) * 1000 < 256 * 144);
        assert!(limit == 100 || changed(limit / 2) * 1000 >= 256 * 144);
    }

    #[test]
    fn a_view_whose_points_escape_late_gets_a_high_limit() {
        // No point of this view escapes within 300 iterations, nearly all within 3000.
        assert!(auto("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e9") >= 1600);
    }

    #[test]
    fn a_view_inside_the_set_gets_the_first_limit() {
        assert_eq!(auto("-0.1", "0", "1e3"), 100);
    }
}
