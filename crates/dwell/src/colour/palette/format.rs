//! The formats of palette files.

/// The largest palette, in bytes of its text: a picture stores all of it.
pub(super) const MAX_BYTES: u64 = 1 << 20;
/// The largest file of many gradients, of which one is chosen, in bytes.
const MAX_COLLECTION_BYTES: u64 = 16 << 20;

/// A format of palette files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaletteFormat {
    /// This project's own format, read with the Cargo feature `toml`: see `Palette::parse`.
    Toml,
    /// Fractint's format: a line of red, green and blue, 0 to 255, for each colour of a cycle.
    Map,
    /// GIMP's gradients. They are sequential, unless their first and last colours are equal.
    Ggr,
    /// Ultra Fractal's gradients: cycles, several in a file.
    Ugr,
    /// GIMP's palettes: a list of colours, here a smooth cycle.
    Gpl,
    /// The colours of Kalles Fraktaler, in a palette file or a location: a cycle with its scale, density and offset.
    Kfp,
    /// Colours in one line, as [`crate::Palette::inline`] reads them. There are no files of this format.
    Inline,
}

dwell_kernels::named!(PaletteFormat, "palette format":
    Toml => "toml",
    Map => "map",
    Ggr => "ggr",
    Ugr => "ugr",
    Gpl => "gpl",
    Kfp => "kfp",
    Inline => "inline",
);

impl PaletteFormat {
    /// The largest file of this format that is read, in bytes.
    pub(super) fn most_bytes(self) -> u64 {
        if self == Self::Ugr { MAX_COLLECTION_BYTES } else { MAX_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        assert!(PaletteFormat::ALL.into_iter().all(|format| format.name().parse() == Ok(format)));
    }
}
