//! Flags that choose who iterates, and small values shared by several commands.

use crate::cli::{EngineArgs, KernelArgs};
use crate::machine;
use dwell::{
    CpuEngine, Decimal, Formula, InputError, Journaling, Level, LevelName, NumberKind, Recipe, Schedule, Shortcuts,
    Strategy, quote, unknown_name,
};
use dwell_cuda::{BlockShape, GpuKernel, MOST_THREADS, Options};
use std::time::Duration;

/// The most threads that can be asked for.
const MAX_THREADS: u64 = 4096;
/// The most tiles that a thread may be told to take at once.
const MAX_CHUNK: u64 = 1_000_000_000;
/// The environment variable that names the level where the flag does not. Read here and nowhere else.
const LEVEL_VARIABLE: &str = "DWELL_LEVEL";

/// The level and the number of threads asked for.
pub(crate) fn level_and_threads(args: &EngineArgs) -> Result<(Level, usize), InputError> {
    let threads = match &args.threads {
        None => machine::processors(),
        Some(text) => usize::try_from(whole("--threads", text, 1, MAX_THREADS)?).unwrap_or(1),
    };
    Ok((level(args.level.as_deref())?, threads))
}

/// The engine asked for.
pub(crate) fn engine(args: &EngineArgs) -> Result<CpuEngine, InputError> {
    let (level, threads) = level_and_threads(args)?;
    Ok(CpuEngine::new(level, threads))
}

/// What the environment asks for, if anything.
pub(crate) fn level_from_environment() -> Option<String> {
    std::env::var_os(LEVEL_VARIABLE).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
}

/// The formula that the flags name, `otherwise` where they name none.
pub(crate) fn formula(name: Option<&str>, power: Option<&str>, otherwise: Formula) -> Result<Formula, InputError> {
    let power = match power {
        None => None,
        Some(text) => Some(u32::try_from(whole("--power", text, 2, u64::from(Formula::MOST_POWER))?).unwrap_or(2)),
    };
    dwell::formula(name, power, otherwise).map_err(|e| e.as_flag())
}

/// The constant of a Julia set that the flag names, `otherwise` where it names none.
pub(crate) fn julia(text: Option<&str>, otherwise: Option<[Decimal; 2]>) -> Result<Option<[Decimal; 2]>, InputError> {
    match text {
        None => Ok(otherwise),
        Some("none") => Ok(None),
        Some(text) => decimals("--julia", text, "RE,IM").map(Some),
    }
}

/// The shortcuts of these names.
pub(crate) fn shortcuts(text: &str) -> Result<Shortcuts, InputError> {
    Shortcuts::parse(text).map_err(|name| {
        let known = ["none", "exact"].into_iter().chain(Shortcuts::NAMES);
        unknown_name("--shortcuts", name, known)
    })
}

/// The strategy of that name, or of the kernel of that name.
pub(crate) fn strategy(text: &str) -> Result<Strategy, InputError> {
    let found = Strategy::ALL.into_iter().find(|s| s.name() == text);
    if found.is_none() && inferring_kernels().any(|kernel| kernel.name() == text) {
        return Ok(Strategy::MarianiSilver);
    }
    let known = Strategy::ALL.map(Strategy::name).into_iter().chain(inferring_kernels().map(GpuKernel::name));
    found.ok_or_else(|| unknown_name("--strategy", text, known))
}

fn inferring_kernels() -> impl Iterator<Item = GpuKernel> + Clone {
    GpuKernel::ALL.into_iter().filter(|kernel| !kernel.is_exact())
}

/// What flags choose of CUDA kernels; none where they choose nothing.
pub(crate) fn kernel(args: &KernelArgs, strategy: Option<&str>) -> Result<Option<Options>, InputError> {
    let KernelArgs { gpu_kernel, block, gpu_memory, init_subdiv, subdiv, max_depth, min_size } = args;
    let mut options = Options::default();
    let mut chosen = false;
    let named = |what: &str, text: &str| {
        let found = GpuKernel::ALL.into_iter().find(|kernel| kernel.name() == text);
        found.ok_or_else(|| unknown_name(what, text, GpuKernel::ALL.map(GpuKernel::name)))
    };
    let of_strategy = strategy.and_then(|text| inferring_kernels().find(|kernel| kernel.name() == text));
    if let Some(kernel) = of_strategy {
        (options.kernel, chosen) = (kernel, true);
    }
    if let Some(text) = gpu_kernel {
        let kernel = named("--gpu-kernel", text)?;
        let infers = strategy.map_or(!kernel.is_exact(), |text| text.starts_with("mariani-silver"));
        if of_strategy.is_some_and(|other| other != kernel) || infers == kernel.is_exact() {
            let strategy = strategy.unwrap_or_default();
            return Err(InputError::new(
                "--gpu-kernel",
                format!("{} is no kernel for --strategy {strategy}", quote(text)),
            )
            .hint("leave one of the two out"));
        }
        (options.kernel, chosen) = (kernel, true);
    }
    if let Some(text) = block {
        options.block = Some(match text.as_str() {
            "occupancy" => BlockShape::Occupancy,
            _ => {
                let (across, down) = text.split_once('x').unwrap_or((text, "1"));
                let part = |part: &str| {
                    whole("--block", part, 1, u64::from(MOST_THREADS)).map(|n| u32::try_from(n).unwrap_or(1))
                };
                BlockShape::Threads([part(across)?, part(down)?])
            }
        });
        chosen = true;
    }
    if let Some(text) = gpu_memory {
        (options.memory_bytes, chosen) = (bytes("--gpu-memory", text)?, true);
    }
    let divides = [init_subdiv, subdiv, max_depth, min_size].into_iter().any(Option::is_some);
    if divides && gpu_kernel.is_none() && strategy == Some(Strategy::MarianiSilver.name()) {
        options.kernel = GpuKernel::Levels;
    }
    let division = &mut options.division;
    for (flag, text, value, least, most) in [
        ("--init-subdiv", init_subdiv, &mut division.initial, 1, 1024),
        ("--subdiv", subdiv, &mut division.parts, 2, 16),
        ("--max-depth", max_depth, &mut division.max_depth, 1, 20),
        ("--min-size", min_size, &mut division.min_size, 1, 65_536),
    ] {
        if let Some(text) = text {
            *value = u32::try_from(whole(flag, text, least, most)?).unwrap_or(1);
            chosen = true;
            if options.kernel.is_exact() {
                return Err(InputError::new(flag, format!("the kernel {} does not divide", options.kernel.name()))
                    .accepted("with mariani-silver-levels or mariani-silver-cdp"));
            }
        }
    }
    Ok(chosen.then_some(options))
}

/// Schedules as users write them.
const SCHEDULES: &str = "static, dynamic[:CHUNK], guided, work-stealing";

/// Whether a kernel knows a formula.
pub(crate) fn check_kernel(options: Options, formula: Formula) -> Result<(), InputError> {
    if options.kernel == GpuKernel::DeviceLaunches && formula != Formula::MANDELBROT {
        let kernel = options.kernel.name();
        return Err(InputError::new("--gpu-kernel", format!("{kernel} does not know {}", formula.name()))
            .accepted("z^2 + c")
            .hint("the other kernels know every formula"));
    }
    Ok(())
}

/// The schedule of that name, with its chunk.
pub(crate) fn schedule(text: &str) -> Result<Schedule, InputError> {
    let (name, chunk) = text.split_once(':').map_or((text, None), |(name, chunk)| (name, Some(chunk)));
    let schedule = match name {
        "static" => Schedule::Static,
        "dynamic" => {
            let chunk = chunk.map_or(Ok(1), |chunk| whole("--schedule dynamic:CHUNK", chunk, 1, MAX_CHUNK))?;
            return Ok(Schedule::Dynamic { chunk: usize::try_from(chunk).unwrap_or(usize::MAX) });
        }
        "guided" => Schedule::Guided,
        "work-stealing" => Schedule::WorkStealing,
        _ => return Err(unknown_name("--schedule", name, Schedule::NAMES).accepted(SCHEDULES)),
    };
    match chunk {
        None => Ok(schedule),
        Some(_) => Err(InputError::new("--schedule", format!("{} takes no chunk", quote(name))).accepted(SCHEDULES)),
    }
}

/// The level asked for by the flag, else by the environment, else the widest.
fn level(flag: Option<&str>) -> Result<Level, InputError> {
    let from_environment = level_from_environment();
    let (what, name) = match (flag, &from_environment) {
        (Some(name), _) => ("--level", name),
        (None, Some(name)) => (LEVEL_VARIABLE, name.as_str()),
        (None, None) => return Ok(Level::best()),
    };
    let known = LevelName::ALL.map(LevelName::as_str);
    let wanted: LevelName = name.parse().map_err(|()| unknown_name(what, name, known))?;
    Level::get(wanted).ok_or_else(|| {
        let here: Vec<_> = Level::available().into_iter().map(|l| l.name().as_str()).collect();
        InputError::new(what, format!("this machine does not have {wanted}")).accepted(here.join(", "))
    })
}

/// A number written with an exponent, such as 1e5 or 2.5e3, as digits alone, if it is whole and not too large to be.
fn without_exponent(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    // More than 20 digits are beyond every range.
    let zeros = exponent.parse::<usize>().ok().filter(|e| *e <= 20)?.checked_sub(fraction.len())?;
    (!whole.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit()))
        .then(|| [whole, fraction, &"0".repeat(zeros)].concat())
}

/// A whole number within a range.
pub(crate) fn whole(what: &str, text: &str, least: u64, most: u64) -> Result<u64, InputError> {
    let accepted = format!("{least} to {most}");
    let in_full = without_exponent(text);
    let digits = in_full.as_deref().unwrap_or(text);
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let negative = text.strip_prefix('-').is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    if !negative && (digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit())) {
        return Err(InputError::new(what, format!("{} is not a whole number", quote(text))).accepted(accepted));
    }
    let value = digits.parse().ok().filter(|v| (least..=most).contains(v));
    value.ok_or_else(|| InputError::new(what, format!("{} is out of range", quote(text))).accepted(accepted))
}

/// Bytes, as a whole number that K, M or G may follow.
pub(crate) fn bytes(what: &str, text: &str) -> Result<u64, InputError> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) =
        units.iter().find_map(|(unit, shift)| Some((bare.strip_suffix(unit)?, *shift))).unwrap_or((bare, 0));
    let value = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    value.and_then(|value| value.checked_mul(1 << shift)).ok_or_else(|| {
        InputError::new(what, format!("{} is no number of bytes", quote(text)))
            .accepted("such as 512M, 4G or 1073741824")
    })
}

/// How to keep a journal.
pub(crate) fn journaling(interval: &str, fresh: bool) -> Result<Option<Journaling>, InputError> {
    if interval == "off" {
        return Ok(None);
    }
    let seconds = interval.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    let seconds = seconds.ok_or_else(|| {
        InputError::new("--sync-interval", format!("{} is no time between entries", quote(interval)))
            .accepted("0.1 to 86400 seconds, or off")
    })?;
    Ok(Some(Journaling { interval: Duration::from_secs_f64(seconds), fresh }))
}

/// The number of that name.
pub(crate) fn number(text: &str) -> Result<NumberKind, InputError> {
    let found = NumberKind::ALL.into_iter().find(|n| n.name() == text);
    found.ok_or_else(|| unknown_name("--number", text, NumberKind::ALL.map(NumberKind::name)))
}

/// The recipe of that name.
pub(crate) fn recipe(text: &str) -> Result<Recipe, InputError> {
    let found = Recipe::ALL.into_iter().find(|r| r.name() == text);
    found.ok_or_else(|| unknown_name("--recipe", text, Recipe::ALL.map(Recipe::name)))
}

/// A decimal number.
pub(crate) fn decimal(what: &str, text: &str) -> Result<Decimal, InputError> {
    Decimal::parse(text).map_err(|e| e.named(what))
}

/// So many decimal numbers, separated by commas; `form` shows how.
pub(crate) fn decimals<const N: usize>(what: &str, text: &str, form: &str) -> Result<[Decimal; N], InputError> {
    let parts: Vec<&str> = text.split(',').collect();
    let names: Vec<&str> = form.split(',').collect();
    if parts.len() != N {
        let s = if parts.len() == 1 { "" } else { "s" };
        let error = InputError::new(what, format!("{} has {} number{s}, not {N}", quote(text), parts.len()));
        let error = error.accepted(form);
        return Err(if N == 2 { error.hint(format!("write {form}, such as -0.5,0.1")) } else { error });
    }
    let values: Vec<Decimal> = parts
        .iter()
        .zip(&names)
        .map(|(part, name)| Decimal::parse(part).map_err(|e| e.named(&format!("{what} {name}"))))
        .collect::<Result<_, _>>()?;
    values.try_into().map_err(|_| InputError::new(what, "wrong count"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_an_exponent() {
        let read = |text: &str| whole("--max-iter", text, 1, u64::from(u32::MAX)).ok();
        for (text, value) in
            [("100000", 100_000), ("1e5", 100_000), ("+1E+5", 100_000), ("2.5e3", 2500), ("1.50e2", 150), ("7e0", 7)]
        {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for text in
            ["1e", "e5", ".e5", "1e-3", "1.5e0", "1.5", "1e10", "1e99", "1e5e5", "-1e5", "1e+-5", "1 e5", "0e5", "xe5"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
