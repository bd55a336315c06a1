//! Flags that choose an engine, and the readers of small values that several commands share.

use crate::answers;
use crate::cli::{EngineArgs, KernelArgs};
use crate::error_text::{Failure, Usage};
use crate::machine;
use dwell::{
    CpuEngine, Decimal, Formula, InputError, Journaling, Level, LevelName, Parameter, Strategy, UnknownName, quote,
};
use dwell_cuda::{GpuKernel, Options};
use std::borrow::Cow;
use std::time::Duration;

/// Most threads that `--threads` accepts.
const MAX_THREADS: u64 = 4096;
/// The environment variable that names the level where `--level` does not.
const LEVEL_VARIABLE: &str = "DWELL_LEVEL";

/// The level and the number of threads that flags, environment or defaults give.
pub(crate) fn level_and_threads(args: &EngineArgs) -> Result<(Level, usize), Failure> {
    let threads = match &args.threads {
        None => machine::processors(),
        Some(text) => usize::try_from(whole("--threads", text, 1, MAX_THREADS)?).unwrap_or(1),
    };
    Ok((level(args.level.as_deref())?, threads))
}

/// The CPU engine with that level and those threads.
pub(crate) fn engine(args: &EngineArgs) -> Result<CpuEngine, Failure> {
    let (level, threads) = level_and_threads(args)?;
    Ok(CpuEngine::new(level, threads))
}

/// The value of DWELL_LEVEL, if it is set and not empty.
pub(crate) fn level_from_environment() -> Option<String> {
    std::env::var_os(LEVEL_VARIABLE).map(|v| v.to_string_lossy().into_owned()).filter(|v| !v.is_empty())
}

/// The formula that the flags name, `otherwise` where they name none.
pub(crate) fn formula(name: Option<&str>, power: Option<&str>, otherwise: Formula) -> Result<Formula, Failure> {
    let power = match power {
        None => None,
        Some(text) => Some(u32::try_from(whole("--power", text, 2, u64::from(Formula::MAX_POWER))?).unwrap_or(2)),
    };
    Ok(dwell::formula(name, power, otherwise)?)
}

/// The constant of a Julia set that the flag names, `otherwise` where it names none.
pub(crate) fn julia(text: Option<&str>, otherwise: Option<[Decimal; 2]>) -> Result<Option<[Decimal; 2]>, Failure> {
    match text {
        None => Ok(otherwise),
        Some("none") => Ok(None),
        Some(text) => decimals("--julia", text, "RE,IM").map(Some),
    }
}

/// The strategy of that name, or of the kernel of that name.
pub(crate) fn strategy(text: &str) -> Result<Strategy, Failure> {
    if inferring_kernel(text).is_some() {
        return Ok(Strategy::MarianiSilver);
    }
    text.parse().map_err(|_| {
        let kernels = GpuKernel::ALL.into_iter().filter(|kernel| !kernel.is_exact()).map(GpuKernel::name);
        let known = Strategy::ALL.map(Strategy::name).into_iter().chain(kernels);
        InputError::unknown(text, known).about(Parameter::Named("strategy")).into()
    })
}

/// The kernel of that name, if it infers pixels.
fn inferring_kernel(name: &str) -> Option<GpuKernel> {
    name.parse().ok().filter(|kernel: &GpuKernel| !kernel.is_exact())
}

/// The launch options that flags give for CUDA kernels; `None` where they give none.
pub(crate) fn kernel(args: &KernelArgs, strategy: Option<&str>) -> Result<Option<Options>, Failure> {
    let KernelArgs { gpu_kernel, block, gpu_memory, init_subdiv, subdiv, max_depth, min_size } = args;
    let mut options = Options::default();
    let mut chosen = false;
    let of_strategy = strategy.and_then(inferring_kernel);
    if let Some(kernel) = of_strategy {
        (options.kernel, chosen) = (kernel, true);
    }
    if let Some(text) = gpu_kernel {
        let kernel: GpuKernel = text.parse()?;
        let infers = strategy.map_or(!kernel.is_exact(), |text| text.starts_with("mariani-silver"));
        if of_strategy.is_some_and(|other| other != kernel) || infers == kernel.is_exact() {
            let strategy = strategy.unwrap_or_default();
            return Err(Usage::new("--gpu-kernel", format!("{} is no kernel for --strategy {strategy}", quote(text)))
                .hint("leave one of the two out")
                .into());
        }
        (options.kernel, chosen) = (kernel, true);
    }
    if let Some(text) = block {
        options.block = Some(text.parse()?);
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
                return Err(Usage::new(flag, format!("the kernel {} does not divide", options.kernel.name()))
                    .accepts("with mariani-silver-levels or mariani-silver-cdp")
                    .into());
            }
        }
    }
    Ok(chosen.then_some(options))
}

/// Checks that a kernel has a formula.
pub(crate) fn check_kernel(options: Options, formula: Formula) -> Result<(), Failure> {
    if options.kernel == GpuKernel::DeviceLaunches && formula != Formula::MANDELBROT {
        let kernel = options.kernel.name();
        return Err(Usage::new("--gpu-kernel", format!("{kernel} does not have {}", formula.name()))
            .accepts("z^2 + c")
            .hint("the other kernels have every formula")
            .into());
    }
    Ok(())
}

/// The level that the flag names, else the environment, else the widest of this machine.
pub(crate) fn level(flag: Option<&str>) -> Result<Level, Failure> {
    let from_environment = level_from_environment();
    let (what, name) = match (flag, &from_environment) {
        (Some(name), _) => ("--level", name),
        (None, Some(name)) => (LEVEL_VARIABLE, name.as_str()),
        (None, None) => return Ok(Level::best()),
    };
    let wanted: LevelName = name.parse().map_err(|e: UnknownName| Failure::from(e).about(what))?;
    Level::get(wanted).ok_or_else(|| {
        let here: Vec<_> = Level::available().into_iter().map(|level| level.name().name()).collect();
        Usage::new(what, format!("this machine does not have {wanted}")).accepts(here.join(", ")).into()
    })
}

/// The digits of a number with an exponent, such as 1e5 or 2.5e3, if it is whole and has at most 20 zeros.
fn without_exponent(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix('+').unwrap_or(exponent);
    // With more than 20 zeros it is beyond every range.
    let zeros = exponent.parse::<usize>().ok().filter(|e| *e <= 20)?.checked_sub(fraction.len())?;
    (!whole.is_empty() && exponent.bytes().all(|b| b.is_ascii_digit()))
        .then(|| [whole, fraction, &"0".repeat(zeros)].concat())
}

/// A whole number within a range.
pub(crate) fn whole(what: &'static str, text: &str, least: u64, most: u64) -> Result<u64, Usage> {
    let accepted = format!("{least} to {most}");
    let in_full = without_exponent(text);
    let digits = in_full.as_deref().unwrap_or(text);
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let negative = text.strip_prefix('-').is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    let remedy = |usage: Usage| match answers::value(what, text).map(Cow::into_owned).or_else(|| answers::whole(text)) {
        Some(remedy) => usage.hint(remedy),
        None => usage,
    };
    if !negative && (digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit())) {
        return Err(remedy(Usage::new(what, format!("{} is not a whole number", quote(text))).accepts(accepted)));
    }
    let value = digits.parse().ok().filter(|v| (least..=most).contains(v));
    value.ok_or_else(|| Usage::new(what, format!("{} is out of range", quote(text))).accepts(accepted))
}

/// Bytes, as a whole number that K, M or G may follow.
pub(crate) fn bytes(what: &'static str, text: &str) -> Result<u64, Usage> {
    let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
    let upper = text.to_ascii_uppercase();
    let bare = upper.strip_suffix("IB").or_else(|| upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) =
        units.iter().find_map(|(unit, shift)| Some((bare.strip_suffix(unit)?, *shift))).unwrap_or((bare, 0));
    let value = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()));
    value.and_then(|value| value.checked_mul(1 << shift)).ok_or_else(|| {
        Usage::new(what, format!("{} is no number of bytes", quote(text))).accepts("such as 512M, 4G or 1073741824")
    })
}

/// Unfinished work of another render that took less time is dropped with a warning; more is dropped by `--fresh` only.
const PROTECTED: Duration = Duration::from_secs(60);

/// How the journal is kept.
pub(crate) fn journaling(interval: &str, fresh: bool) -> Result<Journaling, Usage> {
    let seconds = match interval {
        "off" => None,
        _ => Some(interval.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds)).ok_or_else(
            || {
                Usage::new("--sync-interval", format!("{} is no time between entries", quote(interval)))
                    .accepts("0.1 to 86400 seconds, or off")
            },
        )?),
    };
    Ok(Journaling { interval: seconds.map(Duration::from_secs_f64), fresh, protected: PROTECTED })
}

/// A decimal number.
pub(crate) fn decimal(what: impl Into<Cow<'static, str>>, text: &str) -> Result<Decimal, Failure> {
    text.parse().map_err(|e: InputError| Failure::from(e).about(what))
}

/// So many decimal numbers, separated by commas; `form` shows how.
pub(crate) fn decimals<const N: usize>(
    what: &'static str,
    text: &str,
    form: &'static str,
) -> Result<[Decimal; N], Failure> {
    let parts: Vec<&str> = text.split(',').collect();
    let names: Vec<&str> = form.split(',').collect();
    if parts.len() != N {
        // Without commas at the right places the parts are no numbers.
        let are_numbers = parts.iter().all(|part| part.trim().parse::<Decimal>().is_ok());
        let problem = match parts.len() {
            1 if are_numbers => format!("{} has 1 number, not {N}", quote(text)),
            count if are_numbers => format!("{} has {count} numbers, not {N}", quote(text)),
            _ => format!("{} is not {N} numbers with commas between them", quote(text)),
        };
        let error = Usage::new(what, problem);
        let error = error.accepts(form);
        let such = if N == 2 { "-0.5,0.1" } else { "-2,1,-1,1" };
        let remedy = answers::list_of_numbers(text, N, form);
        return Err(error.hint(remedy.unwrap_or_else(|| format!("write {form}, such as {such}"))).into());
    }
    let values: Vec<Decimal> = parts
        .iter()
        .zip(&names)
        .map(|(part, name)| decimal(format!("{what} {name}"), part))
        .collect::<Result<_, _>>()
        .map_err(|failure| match answers::list_of_numbers(text, N, form) {
            Some(remedy) => failure.remedy(remedy),
            None => failure,
        })?;
    values.try_into().map_err(|_| Usage::new(what, "has another count of numbers").into())
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
