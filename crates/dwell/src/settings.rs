//! How a view is computed: number, recipe, limit, escape radius.

use crate::decimal::Decimal;
use crate::error::{InputError, quote};
use dwell_kernels::{Number, Recipe};

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

/// How points are iterated. The default: 1000 iterations, R = 2, f64, recipe `fused`.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The greatest n tried, 1 to 2^32 - 1.
    pub limit: u32,
    /// The escape radius R, 2 to 10^9.
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
            limit: 1000,
            escape_radius: Decimal::from(2),
            number: NumberKind::F64,
            recipe: Recipe::Fused,
            force: false,
        }
    }
}

/// The greatest escape radius: R^4, which bounds |z_n|^2 at the escape, is finite in f32.
pub(crate) const MAX_ESCAPE_RADIUS: i64 = 1_000_000_000;

impl Settings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Which value is out of range.
    pub fn check(&self) -> Result<(), InputError> {
        if self.limit == 0 {
            return Err(InputError::new("limit", "0 is out of range").accepted("1 to 4294967295"));
        }
        let radius = self.escape_radius.to_rational();
        let (least, most) = (Decimal::from(2).to_rational(), Decimal::from(MAX_ESCAPE_RADIUS).to_rational());
        if radius < least || radius > most {
            return Err(InputError::new(
                "escape radius",
                format!("{} is out of range", quote(self.escape_radius.text())),
            )
            .accepted("2 to 1e9"));
        }
        Ok(())
    }
}
