//! The flags of a picture: samples and colours.

use clap::Args;

// Shared by the commands that make pictures. (A doc comment here would become the description of the command.)
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PictureArgs {
    /// Samples per side of a pixel, or auto [default: auto]
    ///
    /// auto, unless the location says otherwise, computes one sample per pixel, and up to 16 more where the colours of
    /// neighbouring pixels differ visibly; statistics and dwells are those of one sample per pixel. N, 1 to 16, computes N x N
    /// samples in each pixel; statistics are those of the samples. Samples are averaged in linear light. Dwells have no
    /// average, so npy and csv outputs accept auto and 1 only.
    #[arg(long, alias = "samples", value_name = "N|auto", allow_hyphen_values = true, help_heading = "View")]
    pub(crate) aa: Option<String>,

    /// Palette, palette file, or colours: #001,#fff,#fa0
    ///
    /// `dwell palettes` shows the built-in palettes. A file is .toml, .map, .ggr or .gpl (GIMP), .ugr (Ultra Fractal)
    /// or .kfp (Kalles Fraktaler); a .ugr file may hold several gradients: file.ugr#NAME. Colours may have positions in
    /// the cycle: #001@0,#fff@0.3. The default is the location's palette, or twilight. A palette sets its own density and
    /// offset, and --color-by and --scale if it suggests them; otherwise those two stay as the location has them. An
    /// interior colour chosen in the location stays, except that of a built-in location.
    #[arg(long, value_name = "NAME|FILE", help_heading = "Colour")]
    pub(crate) palette: Option<String>,
    /// smooth, banded or distance [default: smooth]
    ///
    /// The value of a point that selects its colour. smooth is the dwell made continuous, without steps. banded is the
    /// dwell itself. distance is the estimated distance to the set. A palette may suggest another default.
    #[arg(long, aliases = ["by", "colour-by", "color_by"], value_name = "VALUE", help_heading = "Colour")]
    pub(crate) color_by: Option<String>,
    /// auto, root, linear, log, limit or histogram
    ///
    /// How colours follow from values. The default is auto. auto is root (for distances log) with a density and an offset that fit the values of
    /// the view; --density multiplies and --offset is added. root turns the palette 0.11 times per unit of the value's
    /// square root, linear once per 256, log once per 4 octaves, limit once up to the iteration limit. histogram uses
    /// every colour equally often. A palette may suggest another default.
    #[arg(long, value_name = "SCALE", help_heading = "Colour")]
    pub(crate) scale: Option<String>,
    /// Repetitions of the palette, above 0 [default: 1]
    ///
    /// Relative to the scale, at most 1000000: 2 repeats the palette twice as often as the scale does. A palette may
    /// suggest another default.
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) density: Option<String>,
    /// Shift of the palette in turns [default: 0]
    ///
    /// -1000000 to 1000000: 0.5 begins in the middle of the palette. A palette may suggest another default.
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) offset: Option<String>,
    /// Colour inside the set, such as #000 or #102030
    ///
    /// The colour of points that did not escape: #rgb, #rrggbb or #rrrrggggbbbb. The default is the palette's.
    #[arg(long, value_name = "COLOUR", help_heading = "Colour")]
    pub(crate) interior: Option<String>,
    /// A palette and layers by name: `dwell looks`
    ///
    /// Such as relief. It replaces the layers of the location. --palette and the other colours are applied to it. A location file gives any
    /// other combination of layers.
    #[arg(long, value_name = "NAME", help_heading = "Colour")]
    pub(crate) look: Option<String>,
    /// Shading by slope, light from DEG [default: 45]
    ///
    /// The direction of the light, --shade=DEG, is in degrees counter-clockwise from the right, -360 to 360.
    /// The slope is that of the distance to the set, from the derivative of the orbit. The layer is drawn over the
    /// colours, and replaces the shading of the location or the look.
    #[arg(long, value_name = "DEG", num_args = 0..=1, require_equals = true, default_missing_value = "", help_heading = "Colour")]
    pub(crate) shade: Option<String>,
    /// Height of the light of the shading, 0.1 to 100; a higher light shades less [default: 1.5]
    #[arg(long, value_name = "H", allow_hyphen_values = true, hide_short_help = true, help_heading = "Colour")]
    pub(crate) shade_height: Option<String>,
    /// Strength of the shading, 0 to 1 [default: 1]
    #[arg(long, value_name = "S", allow_hyphen_values = true, hide_short_help = true, help_heading = "Colour")]
    pub(crate) shade_strength: Option<String>,
    /// Inside by period, multiplier, angle or final-z
    ///
    /// Colours of points that did not escape, in the palette --interior-palette. period is that of the attracting cycle; multiplier the modulus of the cycle's multiplier, which rises from 0 at the
    /// centre of a component to 1 at its boundary; angle the angle of that multiplier; final-z the angle of the point
    /// to which orbits converge. The layer is drawn over the colours, and replaces that of the location or the look.
    #[arg(long, value_name = "VALUE", help_heading = "Colour")]
    pub(crate) interior_by: Option<String>,
    /// Palette of --interior-by [default: spectrum]
    #[arg(long, value_name = "NAME|FILE", requires = "interior_by", hide_short_help = true, help_heading = "Colour")]
    pub(crate) interior_palette: Option<String>,
    /// Bits per channel of the picture: 8, 16 [default: 8]
    #[arg(long, value_name = "BITS", allow_hyphen_values = true, help_heading = "Colour")]
    pub(crate) depth: Option<String>,
    /// Dither pictures of 8 bits: yes or no [default: yes]
    ///
    /// Dithering spreads the values between two steps of 8 bits over neighbouring pixels, so that slow gradients show no
    /// contours. It depends on the column and the row of a pixel alone, and leaves colours that 8 bits hold exactly as they
    /// are.
    #[arg(long, value_name = "yes|no", help_heading = "Colour")]
    pub(crate) dither: Option<String>,
}

impl PictureArgs {
    /// The first flag of colours that is given, which changes no file of dwells.
    pub(crate) fn of_colours(&self) -> Option<&'static str> {
        let flags = [
            ("--palette", &self.palette),
            ("--color-by", &self.color_by),
            ("--scale", &self.scale),
            ("--density", &self.density),
            ("--offset", &self.offset),
            ("--interior", &self.interior),
            ("--look", &self.look),
            ("--shade", &self.shade),
            ("--interior-by", &self.interior_by),
        ];
        flags.into_iter().find(|(_, value)| value.is_some()).map(|(flag, _)| flag)
    }
}
