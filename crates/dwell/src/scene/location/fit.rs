//! How the view of a location is adapted to other sizes than its own.

use crate::view::View;
use crate::view::settings::Settings;

/// Whether the view of a location is adapted to other sizes and rotations than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fit {
    /// The frame is the same at every size.
    #[default]
    Never,
    /// The frame is replaced by a fitted one ([`View::fitted`]) where it would cut the set.
    WhereCut,
    /// The frame is fitted: the location gives no place.
    Always,
}

impl Fit {
    /// A view of another size, rotation or formula, with its frame adapted.
    #[must_use]
    pub fn adapted(self, view: View, settings: &Settings) -> View {
        match self {
            Self::Never => view,
            Self::WhereCut => view.kept_whole(settings),
            Self::Always => view.fitted(settings),
        }
    }
}
