//! Reads the flags of an experiment as those of `dwell render`.

use crate::cli::RenderArgs;
use crate::error_text::Failure;
use crate::machine::{self, Machine};
use crate::scene;
use crate::{choice, engine};
use clap::Parser;
use dwell::{Cancel, ChannelSet, Control, Format, Level, LevelName, Limits, Progress, Samples, Strategy, peak};
use dwell_engines::{EngineName, Work};
use dwell_lab::experiment::Flags;
use dwell_lab::{FlagReader, Setup, Unusable};

/// A line of flags.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(flatten)]
    render: RenderArgs,
}

/// Reads flags by the parser of `dwell render`.
pub(super) struct RenderFlags;

impl FlagReader for RenderFlags {
    fn setup(&self, flags: &Flags) -> Result<Setup, Unusable> {
        let words = flags.iter().flat_map(|(name, value)| match name.as_str() {
            "what" => vec![value.0.clone()],
            _ => vec![format!("--{name}={}", value.0)],
        });
        let line = Line::try_parse_from(words).map_err(|error| {
            let text = error.render().to_string();
            let first = text.lines().next().unwrap_or_default();
            Unusable::Wrong(first.strip_prefix("error: ").unwrap_or(first).to_owned())
        })?;
        let level = line.render.engine.level.as_deref().and_then(|name| name.parse::<LevelName>().ok());
        if let Some(level) = level.filter(|level| Level::get(*level).is_none()) {
            return Err(Unusable::NotHere(format!("this machine does not have {level}")));
        }
        setup(&line.render).map_err(|failure| match failure {
            Failure::Engine(_) => Unusable::NotHere(failure.message()),
            _ => Unusable::Wrong(failure.message()),
        })
    }

    fn peak(&self, setup: &Setup, cancel: &Cancel) -> Result<f64, Unusable> {
        let settings = &setup.scene.settings;
        let (formula, number, recipe) = (settings.formula, settings.number, settings.recipe);
        match setup.device {
            Some(device) => dwell_cuda::peak(device, formula, number, recipe)
                .map(|peak| peak.peak_iterations_per_second)
                .map_err(|fault| Unusable::NotHere(fault.to_string())),
            None => {
                let threads = setup.threads.min(machine::processors());
                peak::measure(formula, number, recipe, setup.level, threads, cancel)
                    .map(|peak| peak.peak_iterations_per_second)
                    .map_err(|error| Unusable::NotHere(error.to_string()))
            }
        }
    }
}

/// What the flags describe, as `dwell render` would run it.
fn setup(args: &RenderArgs) -> Result<Setup, Failure> {
    let mut scene = scene::scene(args)?;
    // Unless flags say otherwise, a picture has one sample per pixel, so that its time is that of the same work everywhere.
    if args.picture.aa.is_none() {
        scene.samples = Samples::Fixed(1);
    }
    scene.dither &= args.picture.dither.is_some();
    let options = engine::kernel(&args.kernel, args.strategy.as_deref())?;
    if let Some(options) = options {
        engine::check_kernel(options, scene.settings.formula)?;
        if args.strategy.is_none() && args.kernel.gpu_kernel.is_some() {
            scene.strategy = if options.kernel.is_exact() { Strategy::EveryPixel } else { Strategy::MarianiSilver };
        }
    }
    // What is compared does not choose by its own times: proofs are a variant that is named.
    if scene.strategy == Strategy::Auto {
        scene.strategy = Strategy::EveryPixel;
    }
    let schedule = args.schedule.parse()?;
    let (level, threads) = engine::level_and_threads(&args.engine)?;
    let cpu =
        engine::engine(&args.engine)?.with_schedule(schedule).with_shortcuts(scene.shortcuts).with_tile(scene.tile);
    let formats = match &args.format {
        Some(format) => vec![format.parse::<Format>()?],
        None => vec![Format::Png],
    };
    let memory_bytes = match &args.max_memory {
        Some(text) => engine::bytes("--max-memory", text)?,
        None => Machine::planned_bytes(threads),
    };
    let limits = Limits { memory_bytes };
    let name = choice::name(args.engine_choice.engine.as_deref())?;
    let work = Work {
        pixels: scene.sample_view()?.size.pixels(),
        strategy: scene.strategy,
        channels: ChannelSet::NONE,
        number: scene.settings.number,
    };
    let (engine, _) = choice::choose(name, cpu, options, work)?;
    let control = Control { cancel: &Cancel::default(), progress: &Progress::default() };
    scene = dwell::resolve(&scene, engine.as_ref(), &limits, &control)?.scene;
    let device = match name {
        Some(EngineName::Cuda(number)) => Some(number),
        _ if engine.info().name != "cpu" => Some(0),
        _ => None,
    };
    Ok(Setup { scene, engine, device, level, threads, schedule, formats, limits })
}
