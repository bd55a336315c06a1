//! Runs experiments: every series at every point of its sweep in random order, and every quantity.

use crate::engine_filter::EngineFilter;
use crate::experiment::{Experiment, Extent, Flags, Point, Quantity, Series, Variant, expand};
use crate::laboratory::Laboratory;
use crate::measure::Measurement;
use crate::quantity;
use crate::random::Random;
use crate::record::{Entry, PeakEntry, QuantityEntry, RunError, Sink};
use crate::session::Session;
use crate::workload;
use dwell::store::{Output, PartialFiles};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Most rounds of a quick run.
const QUICK_ROUNDS: u32 = 5;
/// The time after which a quick run begins no further round at a point.
const QUICK_BUDGET: Duration = Duration::from_millis(1500);

/// How much of an experiment is run.
#[derive(Clone, Debug)]
pub struct Amount {
    /// Which values of the sweeps.
    pub extent: Extent,
    /// Which variants.
    pub engine: EngineFilter,
    /// The seed of random orders.
    pub seed: u64,
}

/// How much an experiment takes, in no particular unit: for progress.
#[must_use]
pub fn weight(experiment: &Experiment, amount: &Amount) -> u64 {
    let of = |series: &Series| {
        let points = expand(series, amount.extent).unwrap_or_default();
        points.iter().map(|point| weight_of(series, point, amount.extent)).sum::<u64>()
    };
    experiment.series.iter().map(of).sum()
}

/// How much a point of a series takes: a part for each variant, and a part that grows with pixels and limit.
fn weight_of(series: &Series, point: &Point, extent: Extent) -> u64 {
    let of = |variant: &Variant| {
        let flags = workload::flags(series, variant, point, extent, &EngineFilter::Any);
        let sides = flags.get("size").and_then(|size| size.0.split_once('x'));
        let side = |text: &str| text.parse::<f64>().unwrap_or(1000.0);
        let pixels = sides.map_or(2e6, |(width, height)| side(width) * side(height));
        let limit = flags.get("max-iter").and_then(|limit| limit.0.parse::<f64>().ok()).unwrap_or(1000.0);
        // A quick run ends a point by its time, at the latest after the first two rounds.
        let work = pixels * (limit / 4.0) / 1e8;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, saturating")]
        let weight = (4.0 + if extent == Extent::Quick { work.min(100.0) } else { work }) as u64;
        weight
    };
    series.variants.iter().map(of).sum()
}

impl Laboratory<'_> {
    /// Runs an experiment. What `earlier` entries of the same run hold is not measured again. `pictures` is the folder for
    /// pictures of quantities, if they are kept.
    ///
    /// # Errors
    /// When the run was interrupted, or an entry cannot be kept. What a variant does wrong is an entry, not an error.
    pub fn run(
        &self,
        experiment: &Experiment,
        amount: &Amount,
        earlier: &[Entry],
        sink: &mut dyn Sink,
        pictures: Option<&Path>,
    ) -> Result<(), RunError> {
        if earlier.contains(&Entry::Finished) {
            return Ok(());
        }
        let mut session = Session {
            extent: amount.extent,
            engine: amount.engine.clone(),
            rounds: 0,
            references: BTreeMap::new(),
            peaks: earlier.iter().filter_map(peak_of).collect(),
        };
        for (number, series) in experiment.series.iter().enumerate() {
            let mut random = Random::new(amount.seed.wrapping_add(number as u64));
            self.series(experiment, series, &mut session, &mut random, earlier, sink)?;
        }
        self.measure_peaks_again(&session, sink)?;
        for quantity in &experiment.quantities {
            let wanted = match amount.extent {
                Extent::Whole => true,
                Extent::Quick => quantity.quick,
                Extent::Check => quantity.check,
            };
            let is_there = |entry: &Entry| matches!(entry, Entry::Quantity(entry) if entry.name == quantity.name);
            let on_processors = !matches!(amount.engine, EngineFilter::Device(_));
            if !wanted || !on_processors || earlier.iter().any(is_there) {
                continue;
            }
            let entry = self.quantity(experiment, quantity, pictures)?;
            self.observer.quantity(experiment, &entry);
            sink.add(Entry::Quantity(entry))?;
        }
        sink.add(Entry::Finished)
    }

    /// Measures every peak of this session a second time. Other work on the machine can only lower a peak, so the greater one
    /// counts.
    fn measure_peaks_again(&self, session: &Session, sink: &mut dyn Sink) -> Result<(), RunError> {
        for (name, flags) in &session.peaks {
            let setup = flags.as_ref().and_then(|flags| self.flags.setup(flags).ok());
            let measured = setup.and_then(|setup| self.flags.peak(&setup, self.cancel).ok());
            self.cancel.check()?;
            if let Some(rate) = measured {
                sink.add(Entry::Peak(PeakEntry { name: name.clone(), iterations_per_second: rate }))?;
            }
        }
        Ok(())
    }

    fn series(
        &self,
        experiment: &Experiment,
        series: &Series,
        session: &mut Session,
        random: &mut Random,
        earlier: &[Entry],
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        let points = expand(series, session.extent).map_err(|e| RunError::Defect(e.to_string()))?;
        let (rounds, budget) = match session.extent {
            Extent::Whole => (series.repeats, None),
            Extent::Quick => (series.repeats.min(QUICK_ROUNDS), Some(QUICK_BUDGET)),
            Extent::Check => (0, None),
        };
        session.rounds = rounds;
        self.observer.series(experiment, series, points.len());
        let mut order: Vec<usize> = (0..points.len()).collect();
        random.shuffle(&mut order);
        for i in order {
            let point = &points[i];
            let Earlier { recorded, is_complete } = Earlier::of(earlier, series, point, rounds, budget.is_some());
            if !is_complete {
                Measurement { series, point, recorded: &recorded, rounds, budget }.take(self, session, random, sink)?;
            }
            self.observer.point(weight_of(series, point, session.extent), point);
        }
        Ok(())
    }

    fn quantity(
        &self,
        experiment: &Experiment,
        quantity: &Quantity,
        pictures: Option<&Path>,
    ) -> Result<QuantityEntry, RunError> {
        let computed = quantity::compute(quantity, self.flags, self.cancel);
        self.cancel.check()?;
        let mut picture = None;
        if let (Some(folder), Ok(Some(png))) = (pictures, computed.as_ref().map(|computed| &computed.picture)) {
            let name = format!("{}-{}.png", experiment.name, quantity.name);
            let mut output = Output::create(&folder.join(&name), false, &PartialFiles::default())?;
            output.write_all(png).map_err(|e| output.error(e))?;
            output.commit()?;
            picture = Some(name);
        }
        Ok(QuantityEntry { name: quantity.name.clone(), value: computed.map(|computed| computed.value), picture })
    }
}

/// What earlier entries hold of a point.
struct Earlier {
    /// Rounds by variant.
    recorded: BTreeMap<String, BTreeSet<u32>>,
    /// Whether nothing is left to do.
    is_complete: bool,
}

impl Earlier {
    fn of(earlier: &[Entry], series: &Series, point: &Point, rounds: u32, may_stop_early: bool) -> Self {
        let mut recorded: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        let mut timed: BTreeMap<&str, bool> = BTreeMap::new();
        // Whether a later point of this series was begun: then this one is done, even with fewer rounds.
        let mut was_left = false;
        for entry in earlier {
            match entry {
                Entry::Case(case) if case.series == series.name && case.point == *point => {
                    timed.insert(&case.variant, case.status.is_timed());
                    was_left = false;
                }
                Entry::Case(_) => was_left = !timed.is_empty(),
                Entry::Sample(sample) if sample.series == series.name && sample.point == *point => {
                    recorded.entry(sample.variant.clone()).or_default().insert(sample.round);
                }
                _ => {}
            }
        }
        let has_all = |variant: &Variant| match timed.get(variant.name.as_str()) {
            None => false,
            Some(false) => true,
            Some(true) => recorded.get(&variant.name).is_some_and(|of| (0..rounds).all(|round| of.contains(&round))),
        };
        let is_complete =
            series.variants.iter().all(has_all) || (may_stop_early && was_left && timed.len() == series.variants.len());
        Self { recorded, is_complete }
    }
}

fn peak_of(entry: &Entry) -> Option<(String, Option<Flags>)> {
    match entry {
        Entry::Peak(peak) => Some((peak.name.clone(), None)),
        _ => None,
    }
}
