//! Names of engines.

use dwell::{InputError, Parameter, Problem};
use std::fmt;
use std::str::FromStr;

/// The greatest number of a device.
const MAX_NUMBER: u32 = 1023;

/// Which engine is wanted. Written `auto`, `cpu`, `cuda` (the first device) or `cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineName {
    /// The one that should finish first.
    #[default]
    Auto,
    /// The processors.
    Cpu,
    /// The CUDA device of that number, 0 to 1023.
    Cuda(u32),
}

impl FromStr for EngineName {
    type Err = InputError;

    fn from_str(text: &str) -> Result<Self, InputError> {
        let wrong = |problem: Problem, accepted: &str| {
            InputError::new(problem).about(Parameter::Named("engine")).accepts(accepted.to_owned())
        };
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let unknown = || Problem::Unknown { given: text.to_owned(), nearest: None };
                let number = text.strip_prefix("cuda:").ok_or_else(|| wrong(unknown(), "auto, cpu, cuda, cuda:N"))?;
                let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
                let found = number.parse().ok().filter(|number| is_number && *number <= MAX_NUMBER);
                let problem = || Problem::OutOfRange { given: text.to_owned() };
                found.map(Self::Cuda).ok_or_else(|| wrong(problem(), &format!("cuda:0 to cuda:{MAX_NUMBER}")))
            }
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (text, name, written) in [
            ("auto", EngineName::Auto, "auto"),
            ("cpu", EngineName::Cpu, "cpu"),
            ("cuda", EngineName::Cuda(0), "cuda:0"),
            ("cuda:7", EngineName::Cuda(7), "cuda:7"),
        ] {
            assert_eq!(text.parse::<EngineName>().unwrap(), name);
            assert_eq!(name.to_string(), written);
        }
        for wrong in ["gpu", "cuda:", "cuda:-1", "cuda:1.5", "CUDA", "", "cuda:1024", "cuda:+1"] {
            assert!(wrong.parse::<EngineName>().is_err(), "{wrong}");
        }
    }
}
