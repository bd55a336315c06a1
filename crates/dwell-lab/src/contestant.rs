//! What computes a field: an engine, the whole path to a file, a reference loop, or another program. Each run gives its times
//! by stage, and shows what it computed.

use crate::axes;
use crate::convention::Convention;
use crate::experiment::{Flags, Stage, Variant};
use crate::loops::ReferenceLoop;
use crate::program::{Program, Programs};
use crate::setup::{FlagReader, Setup, Unusable};
use dwell::store::Output;
use dwell::{
    Cancel, ChannelSet, Control, DeviceReport, Error, InputError, Paint, Plan, Progress, Request, Scratch, Task,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

/// Something that computes the field of a plan.
pub(crate) struct Contestant<'a> {
    pub(crate) plan: Plan,
    pub(crate) setup: Setup,
    kind: Kind<'a>,
    scratch: Scratch,
    /// Where flags are read again before each run, so that each run starts with a new engine.
    cold: Option<(&'a dyn FlagReader, Flags)>,
}

enum Kind<'a> {
    Field,
    Picture,
    Loop { reference_loop: ReferenceLoop, dwells: Vec<u32> },
    Program { program: &'a Program, folder: &'a Path },
}

/// What a run computed.
pub(crate) enum Computed<'a> {
    /// The dwells.
    Field(&'a [u32]),
    /// The BLAKE3 hash of the dwells.
    Hash(String),
}

/// How a field has to agree with the reference.
#[derive(Clone, Copy)]
pub(crate) enum Promise<'a> {
    /// Every count is equal.
    Exact,
    /// Some counts may be wrong; they are counted.
    Heuristic,
    /// It rounds in an order of its own: see [`crate::rounding::check`].
    OtherRounding,
    /// As the description of the program says.
    Program(&'a Program),
}

/// What a run took, and facts about it.
pub(crate) struct Timed {
    pub(crate) seconds: BTreeMap<String, f64>,
    pub(crate) facts: BTreeMap<String, String>,
}

/// Why there is no contestant, or why a run of it failed.
pub(crate) enum Trouble {
    /// The machine does not have what it needs.
    NotHere(String),
    /// It failed; others may not.
    Failed(String),
    /// The run of the laboratory has to stop.
    Stop(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Interrupted => Self::Stop(error),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<InputError> for Trouble {
    fn from(error: InputError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Unusable> for Trouble {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::NotHere(why) => Self::NotHere(why),
            Unusable::Wrong(why) => Self::Failed(why),
        }
    }
}

/// What contestants are made from.
#[derive(Clone, Copy)]
pub(crate) struct Workshop<'a> {
    pub(crate) flags: &'a dyn FlagReader,
    pub(crate) programs: &'a Programs,
    /// A folder for the files of programs.
    pub(crate) folder: &'a Path,
}

impl<'a> Contestant<'a> {
    /// The contestant of a variant with these flags.
    pub(crate) fn new(
        variant: &Variant,
        flags: &Flags,
        convention: &Convention,
        workshop: Workshop<'a>,
    ) -> Result<Self, Trouble> {
        let setup = workshop.flags.setup(flags)?;
        let plan = axes::plan(&setup.scene, convention, &setup.limits)?;
        let kind = match (&variant.reference_loop, &variant.program, variant.stage) {
            (Some(name), _, _) => {
                let reference_loop = name.parse::<ReferenceLoop>().map_err(|e| Trouble::Failed(e.to_string()))?;
                let bytes = plan.size().pixels().saturating_mul(4);
                setup.limits.reserve("the field of a loop", bytes)?;
                Kind::Loop { reference_loop, dwells: Vec::new() }
            }
            (None, Some(name), _) => {
                let known = || Trouble::Failed(format!("the program {name} is not described"));
                let program = workshop.programs.get(name).ok_or_else(known)?;
                program.available().map_err(Trouble::NotHere)?;
                Kind::Program { program, folder: workshop.folder }
            }
            (None, None, Stage::Field) => Kind::Field,
            (None, None, Stage::Picture) => Kind::Picture,
        };
        let cold = variant.cold.then(|| (workshop.flags, flags.clone()));
        Ok(Self { plan, setup, kind, scratch: Scratch::default(), cold })
    }

    /// Whether every count must be that of the reference, by its strategy.
    fn is_exact(&self) -> bool {
        match self.kind {
            Kind::Field | Kind::Picture => self.setup.scene.strategy.is_exact(),
            Kind::Loop { .. } | Kind::Program { .. } => true,
        }
    }

    /// How its field has to agree with the reference; `exact` overrides what its kind says.
    pub(crate) fn promise(&self, exact: Option<bool>) -> Promise<'a> {
        match &self.kind {
            Kind::Program { program, .. } => Promise::Program(program),
            Kind::Loop { .. } => Promise::OtherRounding,
            _ if exact.unwrap_or_else(|| self.is_exact()) => Promise::Exact,
            _ => Promise::Heuristic,
        }
    }

    /// Whether it is an engine of ours, whose rate can be compared with the measured peak.
    pub(crate) fn has_peak(&self) -> bool {
        matches!(self.kind, Kind::Field | Kind::Picture)
    }

    /// Whether a run is so cheap to repeat that short ones may be batched.
    pub(crate) fn may_be_batched(&self) -> bool {
        !matches!(self.kind, Kind::Program { .. }) && self.cold.is_none()
    }

    /// Computes the field once. `look` sees it after the clock has stopped.
    pub(crate) fn run(
        &mut self,
        with_hash: bool,
        cancel: &Cancel,
        look: &mut dyn FnMut(Computed<'_>),
    ) -> Result<Timed, Trouble> {
        if let Some((reader, flags)) = &self.cold {
            self.setup = reader.setup(flags)?;
            self.scratch = Scratch::default();
        }
        match &mut self.kind {
            Kind::Field => self.run_field(cancel, look),
            Kind::Picture => self.run_picture(with_hash, cancel, look),
            Kind::Loop { reference_loop, dwells } => {
                #[expect(clippy::cast_possible_truncation, reason = "the memory was reserved")]
                dwells.resize(self.plan.size().pixels() as usize, 0);
                let began = Instant::now();
                let (threads, schedule) = (self.setup.threads, self.setup.schedule);
                let computing = reference_loop.run(&self.plan, threads, schedule, dwells, cancel)?;
                let total = began.elapsed().as_secs_f64();
                look(Computed::Field(dwells));
                let seconds = times([("total", total), ("compute", computing.as_secs_f64())]);
                let facts = facts([("loop", reference_loop.name().to_owned()), ("threads", threads.to_string())]);
                Ok(Timed { seconds, facts })
            }
            Kind::Program { program, folder } => {
                let run = program.run(&self.plan, folder, cancel);
                cancel.check()?;
                let run = run.map_err(Trouble::Failed)?;
                look(Computed::Field(&run.dwells));
                Ok(Timed { seconds: run.seconds, facts: facts([("program", program.title().to_owned())]) })
            }
        }
    }

    fn run_field(&mut self, cancel: &Cancel, look: &mut dyn FnMut(Computed<'_>)) -> Result<Timed, Trouble> {
        let strategy = self.setup.scene.strategy;
        let task = Task { plan: &self.plan, strategy, channels: ChannelSet::NONE };
        let control = Control { cancel, progress: &Progress::default() };
        let began = Instant::now();
        let engine = self.setup.engine.as_ref();
        let (field, outcome) = self.scratch.field(&task, engine, &self.setup.limits, &control)?;
        let total = began.elapsed().as_secs_f64();
        look(Computed::Field(field.dwell()));
        let mut seconds = times([("total", total), ("compute", outcome.times.iterate.as_secs_f64())]);
        let info = engine.info();
        let mut facts = facts([("level", info.level), ("threads", self.setup.threads.to_string())]);
        if let Some(device) = outcome.notes.device {
            add_device(&device, &mut seconds, &mut facts);
        }
        Ok(Timed { seconds, facts })
    }

    fn run_picture(
        &mut self,
        with_hash: bool,
        cancel: &Cancel,
        look: &mut dyn FnMut(Computed<'_>),
    ) -> Result<Timed, Trouble> {
        let (scene, engine) = (&self.setup.scene, self.setup.engine.as_ref());
        let progress = Progress::default();
        let control = Control { cancel, progress: &progress };
        let request = Request::new(&self.plan, engine, Paint::of(scene, ""), control)
            .with_strategy(scene.strategy)
            .with_hash(with_hash)
            .with_limits(self.setup.limits);
        let outputs = self.setup.formats.iter().map(|format| (*format, Output::discarding())).collect();
        let report = dwell::render(&request, outputs, &mut self.scratch)?;
        if let Some(hash) = report.field_blake3 {
            look(Computed::Hash(hash));
        }
        let of = report.seconds;
        let mut seconds = times([
            ("total", of.total),
            ("compute", of.iterate),
            ("colour", of.colour),
            ("encode", of.encode),
            ("write", of.write),
            ("plan", of.plan),
        ]);
        let mut facts = facts([("level", report.level), ("threads", report.threads.to_string())]);
        if let Some(device) = report.device {
            add_device(&device, &mut seconds, &mut facts);
        }
        Ok(Timed { seconds, facts })
    }
}

fn times<const N: usize>(pairs: [(&str, f64); N]) -> BTreeMap<String, f64> {
    pairs.into_iter().map(|(name, seconds)| (name.to_owned(), seconds)).collect()
}

fn facts<const N: usize>(pairs: [(&str, String); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(name, fact)| (name.to_owned(), fact)).collect()
}

/// Adds what a device did.
fn add_device(device: &DeviceReport, seconds: &mut BTreeMap<String, f64>, facts: &mut BTreeMap<String, String>) {
    for (name, value) in [
        ("kernel", device.kernel_seconds),
        ("copy", device.copy_seconds),
        ("allocate", device.allocate_seconds),
        ("paint", device.paint_seconds),
        ("context", device.context_seconds),
        ("load", device.load_seconds),
    ] {
        seconds.insert(name.to_owned(), value);
    }
    facts.insert("device".to_owned(), device.name.clone());
    facts.insert("kernel".to_owned(), device.kernel.clone());
    facts.insert("theoretical occupancy".to_owned(), format!("{:.2}", device.theoretical_occupancy));
    if let Some(written) = device.written_pixels {
        facts.insert("written pixels".to_owned(), written.to_string());
    }
    if let Some(proved) = device.proved_pixels {
        facts.insert("proved pixels".to_owned(), proved.to_string());
    }
    if device.rows_on_cpu > 0 {
        facts.insert("rows computed by the processors".to_owned(), device.rows_on_cpu.to_string());
    }
}
