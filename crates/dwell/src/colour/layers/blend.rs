//! Blend modes: how a layer's light is combined with the light below.

/// How the light b of a layer is combined with the light a below, both 0 to 1, in each of red, green and blue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlendMode {
    /// b.
    #[default]
    Normal,
    /// a b: darker.
    Multiply,
    /// 1 - (1 - a) (1 - b): brighter.
    Screen,
    /// 2 a b where a is at most 1/2, otherwise 1 - 2 (1 - a) (1 - b): darker where b is below 1/2, brighter above it.
    Overlay,
    /// a^2 (1 - 2 b) + 2 a b: weaker than `overlay`.
    SoftLight,
    /// a + b, at most 1.
    Add,
    /// The greater one.
    Lighten,
    /// The smaller one.
    Darken,
}

dwell_kernels::named!(BlendMode, "blend":
    Normal => "normal",
    Multiply => "multiply",
    Screen => "screen",
    Overlay => "overlay",
    SoftLight => "soft-light",
    Add => "add",
    Lighten => "lighten",
    Darken => "darken",
);

impl BlendMode {
    /// Replaces the light of each sample by its combination with `top`, weighted by its `alpha`, 0 to 1.
    pub(super) fn apply(self, below: &mut [[f64; 3]], top: &[[f64; 3]], alpha: &[f64]) {
        match self {
            Self::Normal => combine(below, top, alpha, |_, b| b),
            Self::Multiply => combine(below, top, alpha, |a, b| a * b),
            Self::Screen => combine(below, top, alpha, |a, b| 1.0 - (1.0 - a) * (1.0 - b)),
            Self::Overlay => {
                combine(
                    below,
                    top,
                    alpha,
                    |a, b| {
                        if a <= 0.5 { 2.0 * a * b } else { 1.0 - 2.0 * (1.0 - a) * (1.0 - b) }
                    },
                )
            }
            Self::SoftLight => combine(below, top, alpha, |a, b| a * a * (1.0 - 2.0 * b) + 2.0 * a * b),
            Self::Add => combine(below, top, alpha, |a, b| (a + b).min(1.0)),
            Self::Lighten => combine(below, top, alpha, f64::max),
            Self::Darken => combine(below, top, alpha, f64::min),
        }
    }
}

/// Combines each part by `blend`, an expression that no compiler contracts, so that it has the same bits everywhere.
#[inline(always)]
fn combine(below: &mut [[f64; 3]], top: &[[f64; 3]], alpha: &[f64], blend: impl Fn(f64, f64) -> f64) {
    for ((below, top), alpha) in below.iter_mut().zip(top).zip(alpha) {
        for (a, b) in below.iter_mut().zip(top) {
            *a += alpha * (blend(*a, *b) - *a);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blended(mode: BlendMode, a: f64, b: f64, alpha: f64) -> f64 {
        let mut below = [[a; 3]];
        mode.apply(&mut below, &[[b; 3]], &[alpha]);
        below[0][1]
    }

    #[test]
    fn modes_are_as_computed_by_hand() {
        for (mode, dark, bright) in [
            (BlendMode::Normal, 0.25, 0.25),
            (BlendMode::Multiply, 0.125, 0.1875),
            (BlendMode::Screen, 0.625, 0.8125),
            (BlendMode::Overlay, 0.25, 0.625),
            (BlendMode::SoftLight, 0.375, 0.656_25),
            (BlendMode::Add, 0.75, 1.0),
            (BlendMode::Lighten, 0.5, 0.75),
            (BlendMode::Darken, 0.25, 0.25),
        ] {
            assert_eq!(blended(mode, 0.5, 0.25, 1.0), dark, "{mode:?}");
            assert_eq!(blended(mode, 0.75, 0.25, 1.0), bright, "{mode:?}");
            assert_eq!(blended(mode, 0.5, 0.25, 0.5), 0.5 * (0.5 + dark), "{mode:?}");
            assert_eq!(blended(mode, 0.3, 0.9, 0.0), 0.3, "{mode:?}");
        }
    }

    #[test]
    fn light_stays_in_its_range_and_half_light_is_neutral_for_shading() {
        for mode in BlendMode::ALL {
            for i in 0..=20 {
                for j in 0..=20 {
                    let result = blended(mode, f64::from(i) / 20.0, f64::from(j) / 20.0, 0.7);
                    assert!((-1e-12..=1.0 + 1e-12).contains(&result), "{mode:?} {i} {j}: {result}");
                }
            }
        }
        for i in 0..=20 {
            let a = f64::from(i) / 20.0;
            assert!((blended(BlendMode::Overlay, a, 0.5, 1.0) - a).abs() < 1e-15);
            assert!((blended(BlendMode::SoftLight, a, 0.5, 1.0) - a).abs() < 1e-15);
        }
    }
}
