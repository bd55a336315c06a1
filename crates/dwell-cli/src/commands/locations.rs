//! `dwell locations`: lists the built-in locations.

use crate::error_text::Failure;
use crate::output;
use dwell::{Frame, Location, Magnification, Number, Rational, View, bits_needed};

pub(crate) fn run() -> Result<(), Failure> {
    let over = |height: Rational| Rational::whole(4).over(&height).scientific();
    let mut text = format!("{:<22} {:>10} {:>13}  {:<9} {}\n", "NAME", "ZOOM", "ITERATIONS", "NEEDS", "TITLE");
    for name in Location::built_in_names() {
        let location = Location::built_in(name)?;
        let zoom = match &location.scene.view.frame {
            Frame::Centred { magnification: Magnification::Zoom(zoom), .. } => zoom.to_rational().scientific(),
            Frame::Centred { magnification: Magnification::Height(height), .. } => over(height.to_rational()),
            Frame::Bounds { ymin, ymax, .. } => over(ymax.to_rational().minus(&ymin.to_rational())),
        };
        let bits = bits_needed(&location.view(View::DEFAULT_SIZE));
        let needs = match bits {
            ..=24 => "f32".to_owned(),
            b if b <= i64::from(f64::SIGNIFICAND_BITS) => "f64".to_owned(),
            _ => format!("{bits} bits"),
        };
        text.push_str(&format!(
            "{name:<22} {zoom:>10} {:>13}  {needs:<9} {}\n",
            location.iterations.map_or_else(|| "auto".to_owned(), |iterations| iterations.to_string()),
            location.scene.title
        ));
    }
    text.push_str(
        "\nNEEDS is for 1920x1080; views that need more than f64 (53 bits) are rendered only with --force.\n",
    );
    output::print(&text)
}
