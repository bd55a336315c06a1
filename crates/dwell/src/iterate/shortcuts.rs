//! Exact shortcuts: work that an engine may omit without changing a dwell.

use crate::base::error::InputError;
use crate::base::place::Parameter;

/// The exact shortcuts that an engine takes. They change the time that dwells take, and no dwell. All are valid for both
/// recipes and every R >= 2; a shortcut is not taken for a formula for which it is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Points inside the main cardioid or the period-2 disc, by a margin that rounding cannot cross, are not iterated.
    /// Valid for z^2 + c in the parameter plane. See [`dwell_kernels::interior`].
    pub interior: bool,
    /// Iteration of a point ends when its orbit repeats an earlier z. Valid for every formula. See
    /// [`dwell_kernels::escape`].
    pub cycles: bool,
    /// Rows whose imaginary parts are exact negatives are computed once: every operation of a step commutes with
    /// conjugation, rounding to nearest is symmetric, and |z|^2 is the same. Valid where the formula is symmetric under
    /// conjugation (see [`dwell_kernels::Formula::mirrors`]) in views that are not rotated.
    pub symmetry: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::EXACT
    }
}

impl Shortcuts {
    /// No shortcut: every point is iterated until it escapes or reaches the limit.
    pub const NONE: Self = Self { interior: false, cycles: false, symmetry: false };
    /// All exact shortcuts.
    pub const EXACT: Self = Self { interior: true, cycles: true, symmetry: true };
    /// The names of the single shortcuts.
    pub const NAMES: [&'static str; 3] = ["interior", "cycles", "symmetry"];
}

impl std::str::FromStr for Shortcuts {
    type Err = InputError;

    /// Reads a list of `none`, `exact` (all shortcuts) and [`Self::NAMES`], separated by commas.
    ///
    /// # Errors
    /// When a name of the list is not one of these.
    fn from_str(text: &str) -> Result<Self, InputError> {
        let mut shortcuts = Self::NONE;
        for name in text.split(',') {
            match name {
                "none" => {}
                "exact" => shortcuts = Self::EXACT,
                "interior" => shortcuts.interior = true,
                "cycles" => shortcuts.cycles = true,
                "symmetry" => shortcuts.symmetry = true,
                _ => {
                    let known = ["none", "exact"].into_iter().chain(Self::NAMES);
                    return Err(InputError::unknown(name, known).about(Parameter::Named("shortcuts")));
                }
            }
        }
        Ok(shortcuts)
    }
}

impl std::fmt::Display for Shortcuts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::NONE => f.write_str("none"),
            Self::EXACT => f.write_str("exact"),
            _ => {
                let chosen = Self::NAMES.into_iter().zip([self.interior, self.cycles, self.symmetry]);
                f.write_str(&chosen.filter_map(|(name, on)| on.then_some(name)).collect::<Vec<_>>().join(","))
            }
        }
    }
}
