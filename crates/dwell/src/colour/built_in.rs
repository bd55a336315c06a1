//! The palettes that come with the library, each a TOML file in `palettes/`.

macro_rules! built_in {
    ($($name:literal)*) => {
        /// Name and text of every built-in palette, the default first.
        pub(super) const BUILT_IN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../palettes/", $name, ".toml")))),*];
    };
}
// For the eye first; then maps that measure, whose lightness is even; then those of the published systems.
built_in!(
    "twilight" "ember" "classic" "glacier" "verdigris" "sunset" "lagoon" "opal" "fire" "ice" "electric" "forest"
    "copper" "candy" "neon" "graphite" "ink" "spectrum"
    "viridis" "magma" "inferno" "plasma" "cividis" "turbo" "batlow" "oslo" "lapaz" "hawaii" "romaO"
    "zhong" "hybridizer" "genova" "nvidia" "toader"
);
