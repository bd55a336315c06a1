//! `--max-iter auto`: a limit that settles the picture, found by a probe that is the same on every machine.

use crate::base::cancel::Cancel;
use crate::base::error::Error;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::field::{Extras, Field};
use crate::iterate::engine::Engine;
use crate::iterate::strategy::Strategy;
use crate::plan::Plan;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{Size, View};

/// The first limit tried; each next one is twice the last.
const FIRST: u32 = 100;
/// The last: 100 * 2^25, below 2^32.
const DOUBLINGS: u32 = 25;
/// Columns of the probe.
const PROBE_WIDTH: u32 = 256;
/// The most rows of the probe, for images much taller than wide.
const PROBE_MAX_HEIGHT: u32 = 4096;
/// A limit at which nothing at all has escaped is taken as settled only when it has been doubled this often: a deep
/// view without a single escape at 100 is not black, it is late.
const DOUBLINGS_WITHOUT_ESCAPE: u32 = 10;

/// The smallest 100 * 2^k at which doubling it changes fewer than 0.1 % of the pixels of a probe: the view in f64, 256
/// pixels wide, as high as the image's shape asks (1 to 4096 rows). A limit at which no pixel has escaped yet counts
/// only if none escapes up to 102,400 either; the answer is then 100.
///
/// The settings' recipe and escape radius are used, its number and limit are not.
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
        field.prepare(&plan, 0..height, Extras::NONE)?;
        engine.iterate(&plan, Strategy::EveryPixel, field.whole(), cancel, &Progress::default())?;
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
    fn follows_its_definition() {
        // Counted with the plain loop, pixel by pixel.
        let limit = auto("-0.75", "0", "1.5");
        let view = View::centred("-0.75", "0", "1.5").unwrap().sized(Size::new(256, 144).unwrap());
        let plan = Plan::new(&view, &Settings::default(), &Limits::default()).unwrap();
        let crate::plan::Coordinates::F64(points) = plan.coordinates() else { panic!("f64") };
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
    fn a_view_that_is_late_to_escape_is_not_black() {
        // Nothing escapes here within 300, nearly everything within 3000.
        assert!(auto("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e9") >= 1600);
    }

    #[test]
    fn a_view_inside_the_set_takes_the_first() {
        assert_eq!(auto("-0.1", "0", "1e3"), 100);
    }
}
