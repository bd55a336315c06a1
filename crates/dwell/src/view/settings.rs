//! The settings of an iteration: formula, limit, escape radius, number type, recipe.

use crate::base::error::InputError;
use crate::base::place::Parameter;
use crate::base::problem::Problem;
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use dwell_kernels::{Formula, Number, Recipe};

/// The number type in which points are iterated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NumberKind {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    #[default]
    F64,
    /// Exact arithmetic: each dwell is that of the exact point of its pixel, proved, at any depth. The recipe has no effect.
    Exact,
}

dwell_kernels::named!(NumberKind, "number": F32 => f32::NAME, F64 => f64::NAME, Exact => "exact");

impl NumberKind {
    /// The numbers that points are iterated in directly, each step in the order of roundings of a recipe.
    pub const DIRECT: [Self; 2] = [Self::F32, Self::F64];
}

/// The settings of an iteration. The default: z^2 + c, limit 1000, R = 2, f64, recipe `fused`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The iterated formula.
    pub formula: Formula,
    /// The constant c of a Julia set of the formula, for which each pixel is z_1; `None`: each pixel is c.
    pub julia: Option<[Decimal; 2]>,
    /// The greatest number of iterations, 1 to 2^32 - 1, in exact arithmetic to 2^63 - 1. Points that have not escaped at the limit have dwell 0.
    pub limit: u64,
    /// The escape radius R, 2 to 10^9; in f32 the maximum is smaller from the power 5 on, see
    /// [`Self::most_escape_radius`].
    pub escape_radius: Decimal,
    /// The number type.
    pub number: NumberKind,
    /// The order of operations in a step, and thereby of its roundings.
    pub recipe: Recipe,
    /// Whether a view that the number type does not resolve is computed instead of rejected.
    pub force: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            formula: Formula::MANDELBROT,
            julia: None,
            limit: 1000,
            escape_radius: Decimal::from(2),
            number: NumberKind::F64,
            recipe: Recipe::Fused,
            force: false,
        }
    }
}

/// The formula with a name and a power, 2 to [`Formula::MAX_POWER`]. Without a name, it is `otherwise` with the given
/// power; without a power, it has the default power of the name.
///
/// # Errors
/// When the name is unknown, the power is out of range, or the formula is the Mandelbrot set and the power is not 2.
pub fn formula(name: Option<&str>, power: Option<u32>, otherwise: Formula) -> Result<Formula, InputError> {
    let usual = match name {
        None => otherwise,
        Some(name) => name.parse::<Formula>()?,
    };
    let Some(power) = power else { return Ok(usual) };
    let is_the_set = usual == Formula::MANDELBROT;
    if is_the_set && power != 2 {
        let problem = Problem::Conflict(format!("the Mandelbrot set has power 2, not {power}"));
        return Err(InputError::new(problem)
            .about(Parameter::Power)
            .accepts("2; the formula multibrot has powers from 2 to 16"));
    }
    Formula::new(usual.fold(), power).ok_or_else(|| {
        InputError::out_of_range(power.to_string())
            .about(Parameter::Power)
            .accepts(format!("2 to {}", Formula::MAX_POWER))
    })
}

/// The greatest limit of f32 and f64, and the greatest dwell that fits into 32 bits.
pub(crate) const MOST_COUNT: u64 = u32::MAX as u64;
/// The greatest escape radius.
const MAX_ESCAPE_RADIUS: i64 = 1_000_000_000;

impl Settings {
    /// The greatest limit, that of exact arithmetic: 2^63 - 1.
    pub const MOST_LIMIT: u64 = i64::MAX.cast_unsigned();

    /// The limit as f32 and f64 have it, at most 2^32 - 1.
    #[must_use]
    pub fn direct_limit(&self) -> u32 {
        u32::try_from(self.limit).unwrap_or(u32::MAX)
    }

    /// The greatest escape radius: the smaller of 10^9 and the greatest power of two R for which R^(2N) is at most
    /// 2^120 in f32 and 2^1000 in f64, where N is the power of the formula. |z_n|^2 is near R^(2N) at an escape and
    /// must be finite by a wide margin.
    #[must_use]
    pub fn most_escape_radius(&self) -> i64 {
        let finite = match self.number {
            NumberKind::F32 => 120,
            NumberKind::F64 | NumberKind::Exact => 1000,
        };
        // The exponent of 2^(finite / 2N), rounded down.
        let bits = finite / (2 * self.formula.power());
        if bits >= 30 { MAX_ESCAPE_RADIUS } else { 1 << bits }
    }

    /// Checks that limit and escape radius are in range.
    ///
    /// # Errors
    /// When one is not; the message names it and its range.
    pub fn check(&self) -> Result<(), InputError> {
        let most = if self.number == NumberKind::Exact { Self::MOST_LIMIT } else { MOST_COUNT };
        if !(1..=most).contains(&self.limit) {
            let accepted = match self.number {
                NumberKind::Exact => format!("1 to {most}"),
                number => format!("1 to {most} in {number}; up to {} in exact arithmetic", Self::MOST_LIMIT),
            };
            return Err(InputError::out_of_range(self.limit.to_string())
                .about(Parameter::MaxIterations)
                .accepts(accepted));
        }
        let radius = self.escape_radius.to_rational();
        let most = self.most_escape_radius();
        if radius < Rational::whole(2) || radius > Rational::whole(most) {
            let accepted = match most {
                MAX_ESCAPE_RADIUS => "2 to 1e9".to_owned(),
                most => format!("2 to {most} for the power {} in {}", self.formula.power(), self.number),
            };
            return Err(InputError::out_of_range(self.escape_radius.text())
                .about(Parameter::EscapeRadius)
                .accepts(accepted));
        }
        self.check_exact()
    }

    /// Checks what exact arithmetic does not support.
    fn check_exact(&self) -> Result<(), InputError> {
        if self.number != NumberKind::Exact {
            return Ok(());
        }
        let conflict = |problem: &str, about: Parameter, accepted: &str| {
            Err(InputError::new(Problem::Conflict(problem.to_owned())).about(about).accepts(accepted.to_owned()))
        };
        if self.recipe != Recipe::Fused {
            let problem = "exact arithmetic rounds nothing";
            return conflict(problem, Parameter::Named("recipe"), "no other than the default with exact arithmetic");
        }
        if self.force {
            let problem = "exact arithmetic resolves every view";
            return conflict(problem, Parameter::Named("force"), "f32, f64 with force");
        }
        Ok(())
    }
}
