//! Locations of other programs: what they say is the same place here, and what is written there is read again.

#![cfg(feature = "toml")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

use dwell::{
    Automatic, Decimal, Fold, Formula, Frame, Location, LocationFormat, Magnification, Rational, Scene, Size, View,
};

/// The exact centre and height of a view.
fn place(view: &View) -> [Rational; 3] {
    let four = Rational::whole(4);
    match &view.frame {
        Frame::Centred { re, im, magnification: Magnification::Zoom(zoom) } => {
            [re.to_rational(), im.to_rational(), four.over(&zoom.to_rational())]
        }
        Frame::Centred { re, im, magnification: Magnification::Height(height) } => {
            [re.to_rational(), im.to_rational(), height.to_rational()]
        }
        Frame::Bounds { xmin, xmax, ymin, ymax } => {
            let [xmin, xmax, ymin, ymax] = [xmin, xmax, ymin, ymax].map(Decimal::to_rational);
            let half = |a: &Rational, b: &Rational| a.plus(b).over(&Rational::whole(2));
            [half(&xmin, &xmax), half(&ymin, &ymax), ymax.minus(&ymin)]
        }
    }
}

#[test]
fn the_same_deep_place_in_two_programs() {
    for name in ["kf-1e14", "kf-1e50", "kf-5e113", "kf-4e533", "kf-1e1086"] {
        let own = Location::built_in(name).unwrap();
        let Frame::Centred { re, im, magnification: Magnification::Zoom(zoom) } = &own.scene.view.frame else {
            panic!("{name}");
        };
        let kfr = format!(
            "Re: {re}\r\nIm: {im}\r\nZoom: {zoom}\r\nIterations: {}\r\nFractalType: 0\r\nPower: 2\r\n",
            own.iterations().unwrap()
        );
        let f3 = format!(
            "location.real = \"{re}\"\nlocation.imag = \"{im}\"\nlocation.zoom = \"{zoom}\"\nbailout.iterations = {}\n",
            own.iterations().unwrap()
        );
        for (format, text) in [(LocationFormat::Kfr, kfr), (LocationFormat::F3, f3)] {
            let read = Location::from_text(format, &text, None, "x").unwrap();
            assert!(place(&read.scene.view) == place(&own.scene.view), "{name} {format}");
            assert_eq!((read.iterations(), read.unused.len()), (own.iterations(), 0));
            assert_eq!(read.scene.settings.formula, Formula::MANDELBROT);
        }
    }
}

/// Writes a location in a format and reads it.
fn again(location: &Location, format: LocationFormat) -> Location {
    let written = location.text_in(format).unwrap();
    Location::from_text(format, &written.text, None, "x").unwrap_or_else(|e| panic!("{format} {e}: {}", written.text))
}

#[test]
fn built_in_places_are_read_as_they_are_written() {
    let mut written = 0;
    for name in Location::built_in_names() {
        let own = Location::built_in(name).unwrap();
        let [re, im, height] = place(&own.scene.view);
        for format in LocationFormat::ALL {
            let Ok(text) = own.text_in(format) else { continue };
            let read = again(&own, format);
            let [read_re, read_im, read_height] = place(&read.scene.view);
            assert!(re == read_re && im == read_im, "{name} {format}");
            if text.left_out.iter().any(|what| what.starts_with("digits")) {
                let error = read_height.minus(&height).magnitude().over(&height);
                assert!(error < "1e-39".parse::<Decimal>().unwrap().to_rational(), "{name} {format}");
            } else {
                assert!(height == read_height, "{name} {format}: {}", text.text);
            }
            assert_eq!(read.iterations(), own.iterations(), "{name} {format}");
            assert_eq!(read.scene.settings.formula, own.scene.settings.formula, "{name} {format}");
            assert_eq!(read.scene.settings.julia, own.scene.settings.julia, "{name} {format}");
            assert_eq!(read.scene.settings.escape_radius, own.scene.settings.escape_radius, "{name} {format}");
            written += 1;
        }
    }
    assert!(written > 150, "{written}");
}

/// A location with a view of that rotation and flip.
fn turned(rotation: &str, flip: bool) -> Location {
    let mut location = Location::built_in("shallow-seahorse").unwrap();
    location.scene.view.rotation = rotation.parse().unwrap();
    location.scene.view.flip = flip;
    location
}

#[test]
fn rotations_and_reflections_are_kept() {
    for rotation in ["0", "30", "-12.5", "123.456789012345678901234567890"] {
        for flip in [false, true] {
            let own = turned(rotation, flip);
            for format in LocationFormat::ALL {
                let read = again(&own, format);
                let view = &read.scene.view;
                assert_eq!(view.rotation, own.scene.view.rotation, "{format} {rotation} {flip}");
                let expected = match format {
                    // These two have one direction of the imaginary axis.
                    LocationFormat::Xpf => true,
                    LocationFormat::Upr => false,
                    _ => flip,
                };
                assert_eq!(view.flip, expected, "{format} {rotation}");
            }
        }
    }
}

#[test]
fn what_cannot_be_written_is_named() {
    let left_out = |location: &Location, format| location.text_in(format).unwrap().left_out.join(", ");
    let ship = Location::built_in("burning-ship").unwrap();
    assert!(left_out(&ship, LocationFormat::Kfr).contains("size"));
    assert_eq!(left_out(&ship, LocationFormat::F3), "colours");
    for format in [LocationFormat::Upr, LocationFormat::Par, LocationFormat::Xpf] {
        assert!(ship.text_in(format).unwrap_err().to_string().contains("cannot be drawn"), "{format}");
    }
    assert!(left_out(&turned("0", false), LocationFormat::Xpf).contains("points down in XaoS"));
    let mut tall = turned("0", true);
    tall.scene.view.size = Size::new(1000, 3000).unwrap();
    let read = again(&tall, LocationFormat::Xpf);
    assert!(place(&read.scene.view) == place(&tall.scene.view), "a high view decides by its height");
    let view = View::centred("0", "0", "3").unwrap();
    let third = Location { scene: Scene { view, automatic: Automatic::NONE, ..Scene::default() }, ..tall };
    assert!(left_out(&third, LocationFormat::Xpf).contains("digits of the magnification"));
}

#[test]
fn bounds_are_corners_and_colours_come_along() {
    let text = "bounds = [\"-2\", \"1\", \"-1.25\", \"1.25\"]\niterations = 500\nsize = \"1440x1080\"\n[colour]\npalette = \"#001,#fff,#fa0\"\n";
    let own = Location::parse(text, "rectangle").unwrap();
    let par = own.text_in(LocationFormat::Par).unwrap().text;
    assert!(par.contains("corners=-2/1/-1.25/1.25\n"), "{par}");
    let read = Location::from_text(LocationFormat::Par, &par, None, "x").unwrap();
    let Frame::Bounds { xmin, ymax, .. } = &read.scene.view.frame else { panic!("{par}") };
    assert_eq!((xmin.text(), ymax.text()), ("-2", "1.25"));
    // Colour n of Fractint is that of n iterations.
    let palette = &read.scene.colouring.palette;
    let position = |n: f64| n / 256.0 * read.scene.colouring.density + read.scene.colouring.offset;
    assert_eq!(palette.at(position(1.0)), palette.at(position(256.0)));
    assert_ne!(palette.at(position(1.0)), palette.at(position(20.0)));
    // Kalles Fraktaler's colours are kept as they are, at the same places of the cycle.
    let kfr = "Re: 0\nIm: 0\nZoom: 1\nIterations: 9\nColors: 0,0,40,255,200,0,\nIterDiv: 0.5\nColorMethod: 1\nColorOffset: 7\n";
    let first = Location::from_text(LocationFormat::Kfr, kfr, None, "x").unwrap();
    let second = again(&first, LocationFormat::Kfr);
    let (a, b) = (&first.scene.colouring, &second.scene.colouring);
    assert!(a.palette.table() == b.palette.table() && a.scale == b.scale && (a.density - b.density).abs() < 1e-9);
    assert!((a.offset - b.offset).abs() < 1.0 / 1024.0, "{} {}", a.offset, b.offset);
    // A picture stores them.
    let stored = Location::parse(&first.text(), "x").unwrap();
    assert_eq!(stored.scene.colouring.palette.source(), a.palette.source());
    let tricorn = Location::from_text(LocationFormat::Xpf, "(formula 'mbar)", None, "x").unwrap();
    assert_eq!(tricorn.scene.settings.formula, Formula::new(Fold::Conjugate, 2).unwrap());
}

#[test]
fn an_inline_palette_is_stored_with_its_text() {
    let text = "re = \"0\"\nim = \"0\"\nzoom = \"1\"\niterations = 9\n[colour]\npalette = \"#001@0,#fff@0.3\"\n";
    let location = Location::parse(text, "x").unwrap();
    let stored = location.text();
    assert!(stored.contains("palette_format = \"inline\""), "{stored}");
    let again = Location::parse(&stored, "x").unwrap();
    assert!(again.scene.colouring == location.scene.colouring);
    let error = Location::parse(&text.replace("#fff@", "red@"), "x").unwrap_err().to_string();
    assert!(error.starts_with("line 6, palette, colour 2: \"red\" is no colour"), "{error}");
}
