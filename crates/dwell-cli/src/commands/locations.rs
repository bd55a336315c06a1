//! `dwell locations`: the built-in locations.

use crate::output;
use dwell::{Error, Location, Magnification, Number, View, bits_needed};

pub(crate) fn run() -> Result<(), Error> {
    let mut text = format!("{:<22} {:>10} {:>13}  {:<9} {}\n", "NAME", "ZOOM", "ITERATIONS", "NEEDS", "TITLE");
    for name in Location::built_in_names() {
        let location = Location::built_in(name)?;
        let zoom = match &location.magnification {
            Magnification::Zoom(zoom) => zoom.to_rational().scientific(),
            Magnification::Height(height) => dwell::Rational::whole(4).over(&height.to_rational()).scientific(),
        };
        let bits = bits_needed(&location.view(View::DEFAULT_SIZE));
        let needs = match bits {
            ..=24 => "f32".to_owned(),
            b if b <= i64::from(f64::SIGNIFICAND_BITS) => "f64".to_owned(),
            _ => format!("{bits} bits"),
        };
        text.push_str(&format!("{name:<22} {zoom:>10} {:>13}  {needs:<9} {}\n", location.iterations, location.title));
    }
    text.push_str(
        "\nNEEDS is for 1920x1080; views that need more than f64 (53 bits) are refused unless --force is given.\n",
    );
    output::print(&text)
}
