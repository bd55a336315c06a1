//! Measures the variants of a series at one point of its sweep: each is checked, then all are timed in rounds. In a round
//! every variant is run once, in random order, so that the samples of a round are pairs.

use crate::check;
use crate::contestant::{Contestant, Timed, Trouble, Workshop};
use crate::engine_filter::EngineFilter;
use crate::experiment::{Flags, Point, Series, Variant};
use crate::laboratory::Laboratory;
use crate::machine;
use crate::random::Random;
use crate::record::{CaseEntry, Entry, RunError, SampleEntry, Sink, Status};
use crate::session::Session;
use crate::workload;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// The least time of a sample: shorter runs are repeated within it.
const LEAST_SAMPLE: Duration = Duration::from_millis(20);
/// The least time of a sample whose energy is recorded: counters of energy move in steps of up to a tenth of a second.
const LEAST_ENERGY_SAMPLE: Duration = Duration::from_millis(1000);
/// Most runs in a sample.
const MOST_BATCH: u32 = 1000;
/// Most runs in a sample whose energy is recorded.
const MOST_ENERGY_BATCH: u32 = 100_000;
/// Rounds that every point gets, whatever its budget.
const FEWEST_ROUNDS: u32 = 2;

/// A series at a point.
pub(crate) struct Measurement<'m> {
    pub(crate) series: &'m Series,
    pub(crate) point: &'m Point,
    /// Rounds that are in the record already, by variant.
    pub(crate) recorded: &'m BTreeMap<String, BTreeSet<u32>>,
    /// Rounds to take; none in a check.
    pub(crate) rounds: u32,
    /// The time after which no further round begins. Without one, samples of the last round are long enough for their energy.
    pub(crate) budget: Option<Duration>,
}

/// A variant that passed its check.
struct Runner<'l> {
    contestant: Contestant<'l>,
    entry: CaseEntry,
    /// Runs of a sample.
    batch: u32,
    /// Seconds of the first run.
    first: f64,
}

impl Measurement<'_> {
    /// Checks every variant, and takes samples in rounds.
    pub(crate) fn take<'l>(
        &self,
        lab: &Laboratory<'l>,
        session: &mut Session,
        random: &mut Random,
        sink: &mut dyn Sink,
    ) -> Result<(), RunError> {
        let mut runners = Vec::new();
        session.references.clear();
        for variant in &self.series.variants {
            lab.cancel.check()?;
            let (entry, runner) = self.check(variant, lab, session, sink)?;
            lab.observer.checked(&entry);
            sink.add(Entry::Case(entry.clone()))?;
            runners.extend(runner.filter(|runner| runner.entry.status.is_timed() && self.rounds > 0));
        }
        session.references.clear();
        let began = Instant::now();
        for round in 0..self.rounds {
            if round >= FEWEST_ROUNDS && self.budget.is_some_and(|budget| began.elapsed() > budget) {
                break;
            }
            random.shuffle(&mut runners);
            if self.budget.is_none() && round + 1 == self.rounds {
                runners.iter_mut().for_each(|runner| runner.lengthen(lab));
            }
            let mut i = 0;
            while i < runners.len() {
                let runner = &mut runners[i];
                let is_recorded = self.recorded.get(&runner.entry.variant).is_some_and(|of| of.contains(&round));
                match if is_recorded { Ok(None) } else { runner.sample(round, lab).map(Some) } {
                    Ok(None) => i += 1,
                    Ok(Some(sample)) => {
                        sink.add(Entry::Sample(sample))?;
                        i += 1;
                    }
                    Err(Trouble::Stop(error)) => return Err(error.into()),
                    Err(Trouble::Failed(why) | Trouble::NotHere(why)) => {
                        let Runner { entry, .. } = runners.remove(i);
                        let entry = CaseEntry { status: Status::Failed { why }, ..entry };
                        lab.observer.checked(&entry);
                        sink.add(Entry::Case(entry))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Runs a variant once and compares its field with the reference. Returns what the check says, and the variant if it ran.
    fn check<'l>(
        &self,
        variant: &Variant,
        lab: &Laboratory<'l>,
        session: &mut Session,
        sink: &mut dyn Sink,
    ) -> Result<(CaseEntry, Option<Runner<'l>>), RunError> {
        let flags = workload::flags(self.series, variant, self.point, session.extent, &session.engine);
        let mut entry = self.entry(variant, &flags);
        let workshop = Workshop { flags: lab.flags, programs: lab.programs, folder: lab.folder };
        let made = match EngineFilter::of(variant, &flags).is_left_out(&session.engine) {
            Some(why) => Err(Trouble::NotHere(why)),
            None => Contestant::new(variant, &flags, &self.series.convention, workshop),
        };
        let checked = made.and_then(|mut contestant| {
            let first = check_run(&mut contestant, variant, &mut entry, lab, session, sink)?;
            Ok((contestant, first))
        });
        match checked {
            Ok((contestant, first)) => {
                let batch = if contestant.may_be_batched() { batch(first, LEAST_SAMPLE, MOST_BATCH) } else { 1 };
                Ok((entry.clone(), Some(Runner { contestant, entry, batch, first })))
            }
            Err(Trouble::Stop(error)) => Err(error.into()),
            Err(Trouble::NotHere(why)) => Ok((CaseEntry { status: Status::NotRun { why }, ..entry }, None)),
            Err(Trouble::Failed(why)) => Ok((CaseEntry { status: Status::Failed { why }, ..entry }, None)),
        }
    }

    /// An entry about a variant of which nothing is known.
    fn entry(&self, variant: &Variant, flags: &Flags) -> CaseEntry {
        CaseEntry {
            series: self.series.name.clone(),
            point: self.point.clone(),
            variant: variant.name.clone(),
            flags: flags.clone(),
            status: Status::NotRun { why: String::new() },
            pixels: 0,
            iterations: 0,
            interior: 0,
            reference: String::new(),
            peak: String::new(),
            facts: BTreeMap::new(),
        }
    }
}

/// Runs a contestant for the first time and fills in its entry. Returns the seconds of the run.
fn check_run(
    contestant: &mut Contestant<'_>,
    variant: &Variant,
    entry: &mut CaseEntry,
    lab: &Laboratory<'_>,
    session: &mut Session,
    sink: &mut dyn Sink,
) -> Result<f64, Trouble> {
    let key = workload::key(&contestant.plan);
    let reference = session.reference(&key, contestant, lab)?;
    entry.pixels = reference.dwells.len() as u64;
    (entry.iterations, entry.interior) = (reference.iterations, reference.interior);
    entry.reference.clone_from(&reference.hash);
    let promise = contestant.promise(variant.exact);
    let plan = contestant.plan.clone();
    let mut status = Ok(Status::Equal);
    let timed = contestant.run(true, lab.cancel, &mut |computed| {
        status = check::status(&plan, promise, reference, &computed, lab.cancel);
    })?;
    entry.status = status?;
    entry.facts.clone_from(&timed.facts);
    if session.rounds > 0 && contestant.has_peak() && entry.status.is_timed() {
        entry.peak = session.peak(contestant, &entry.flags, lab, sink)?;
    }
    Ok(timed.seconds.get("total").copied().unwrap_or(0.0))
}

/// Runs of a sample of at least this time and at most so many runs, if one run takes so many seconds.
fn batch(seconds: f64, least: Duration, most: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturating and clamped")]
    let runs = (least.as_secs_f64() / seconds.max(1e-9)).ceil() as u32;
    runs.clamp(1, most)
}

impl Runner<'_> {
    /// Makes samples long enough for their energy, where the machine tells it.
    fn lengthen(&mut self, lab: &Laboratory<'_>) {
        if self.contestant.may_be_batched() && lab.meter.counts(self.contestant.setup.device) {
            self.batch = self.batch.max(batch(self.first, LEAST_ENERGY_SAMPLE, MOST_ENERGY_BATCH));
        }
    }

    /// Runs the contestant as often as a sample needs.
    fn sample(&mut self, round: u32, lab: &Laboratory<'_>) -> Result<SampleEntry, Trouble> {
        let device = self.contestant.setup.device;
        let (before, began) = (lab.meter.read(device), Instant::now());
        let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
        for _ in 0..self.batch {
            let Timed { seconds: of_run, .. } = self.contestant.run(false, lab.cancel, &mut |_| {})?;
            for (stage, time) in of_run {
                *seconds.entry(stage).or_default() += time;
            }
        }
        let runs = f64::from(self.batch);
        let is_long = began.elapsed() >= LEAST_ENERGY_SAMPLE.mul_f64(0.5);
        let mut joules = if is_long { lab.meter.joules(&before, &lab.meter.read(device)) } else { BTreeMap::new() };
        seconds.values_mut().chain(joules.values_mut()).for_each(|value| *value /= runs);
        Ok(SampleEntry {
            series: self.entry.series.clone(),
            point: self.entry.point.clone(),
            variant: self.entry.variant.clone(),
            round,
            batch: self.batch,
            seconds,
            joules,
            clock_mhz: if device.is_some() { lab.meter.device_clock_mhz(device) } else { machine::clock_mhz() },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_batched() {
        let runs = |seconds: f64| batch(seconds, LEAST_SAMPLE, MOST_BATCH);
        assert_eq!((runs(1.0), runs(0.02), runs(0.003), runs(0.0)), (1, 1, 7, 1000));
    }
}
