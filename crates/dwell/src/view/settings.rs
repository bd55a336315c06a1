//! How a view is computed: number, recipe, limit, escape radius.

use crate::base::error::{InputError, quote, unknown_name};
use crate::exact::decimal::Decimal;
use crate::exact::rational::Rational;
use dwell_kernels::{Formula, Number, Recipe};

/// The machine number that points are iterated in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NumberKind {
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    #[default]
    F64,
}

impl NumberKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// Its name as users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => f32::NAME,
            Self::F64 => f64::NAME,
        }
    }
}

/// How points are iterated. The default: z^2 + c, 1000 iterations, R = 2, f64, recipe `fused`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is iterated.
    pub formula: Formula,
    /// c, for the Julia set of the formula: the view then shows z_1. Otherwise c is the pixel.
    pub julia: Option<[Decimal; 2]>,
    /// The greatest n tried, 1 to 2^32 - 1.
    pub limit: u32,
    /// The escape radius R, 2 to 10^9; less in f32 from the fifth power on, see [`Self::most_escape_radius`].
    pub escape_radius: Decimal,
    /// The number.
    pub number: NumberKind,
    /// The order of roundings.
    pub recipe: Recipe,
    /// Draw views that the number does not resolve.
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

/// The formula of a name and a power, either of which may be left out: then it is `otherwise`, or has the power that the
/// name usually has.
///
/// # Errors
/// [`InputError`] about `"formula"` or `"power"`.
pub fn formula(name: Option<&str>, power: Option<u32>, otherwise: Formula) -> Result<Formula, InputError> {
    let usual = match name {
        None => otherwise,
        Some(name) => Formula::named(name).ok_or_else(|| unknown_name("formula", name, Formula::NAMES))?,
    };
    let Some(power) = power else { return Ok(usual) };
    let is_the_set = usual == Formula::MANDELBROT;
    if is_the_set && power != 2 {
        return Err(InputError::new("power", format!("the Mandelbrot set has power 2, not {power}"))
            .hint("the formula multibrot has any from 2 to 16"));
    }
    Formula::new(usual.fold(), power).ok_or_else(|| {
        InputError::new("power", format!("{power} is out of range")).accepted(format!("2 to {}", Formula::MOST_POWER))
    })
}

/// The greatest escape radius.
const MAX_ESCAPE_RADIUS: i64 = 1_000_000_000;

impl Settings {
    /// The greatest escape radius: 10^9, or less where R^(2N), near which |z_n|^2 is at an escape, would not be finite by
    /// a wide margin (2^120 in f32, 2^1000 in f64) for the power N.
    #[must_use]
    pub fn most_escape_radius(&self) -> i64 {
        let finite = match self.number {
            NumberKind::F32 => 120,
            NumberKind::F64 => 1000,
        };
        // 2^(finite / 2N), cut to whole bits.
        let bits = finite / (2 * self.formula.power());
        if bits >= 30 { MAX_ESCAPE_RADIUS } else { 1 << bits }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// Which value is out of range.
    pub fn check(&self) -> Result<(), InputError> {
        if self.limit == 0 {
            return Err(InputError::new("limit", "0 is out of range").accepted("1 to 4294967295"));
        }
        let radius = self.escape_radius.to_rational();
        let most = self.most_escape_radius();
        if radius < Rational::whole(2) || radius > Rational::whole(most) {
            return Err(InputError::new(
                "escape radius",
                format!("{} is out of range", quote(self.escape_radius.text())),
            )
            .accepted(match most {
                MAX_ESCAPE_RADIUS => "2 to 1e9".to_owned(),
                most => format!("2 to {most} for the power {} in {}", self.formula.power(), self.number.name()),
            }));
        }
        Ok(())
    }
}
