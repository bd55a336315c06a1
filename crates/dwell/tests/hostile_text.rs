//! Parsers on seeded mutations of valid files: they neither panic nor hang, and their errors are short. The same entry points
//! are fuzz targets (see fuzz/).

#![cfg(all(feature = "png", feature = "toml"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{Decimal, Location, Palette, PaletteFormat, PaletteSource, Size};

/// Mutations of each kind of text.
const ROUNDS: u64 = 20_000;

fn mutate(random: &mut Random, seeds: &[&str]) -> String {
    let mut bytes = random.one_of(seeds).as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        let at = usize::try_from(random.below(bytes.len() as u64 + 1)).unwrap();
        let end = (at + usize::try_from(random.below(12)).unwrap()).min(bytes.len());
        match random.below(7) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.insert(at, *random.one_of(b"0123456789.,-+eE\"#=[]\n\\ \t\0xnaif\xc3")),
            2 => bytes.truncate(at),
            3 => {
                let piece = bytes[at..end].to_vec();
                for _ in 0..random.below(40) {
                    bytes.splice(at..at, piece.iter().copied());
                }
            }
            4 => bytes.iter_mut().skip(at).take(3).for_each(|b| *b = b.wrapping_add(1)),
            5 => {
                let other = random.one_of(seeds).as_bytes();
                let from = usize::try_from(random.below(other.len() as u64 + 1)).unwrap();
                bytes.splice(at..end, other[from..].iter().copied().take(80));
            }
            _ => bytes.splice(at..at, b"99999999999999999999".iter().copied()).for_each(drop),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn check<T>(seeds: &[&str], parse: impl Fn(&str) -> Result<T, dwell::InputError>) {
    let mut refused = 0;
    for seed in 0..ROUNDS {
        let text = mutate(&mut Random::new(seed), seeds);
        if let Err(error) = parse(&text) {
            refused += 1;
            let error = error.to_string();
            assert!(error.chars().count() < 700, "seed {seed}: {error}");
        }
    }
    assert!(refused > ROUNDS / 10 && refused < ROUNDS, "{refused}");
}

const LOCATION: &str = "# A place\nname = \"x\"\ntitle = \"A place\"\nzoom = \"1.5E+9\"\nview_height = \"2.666E-9\"\niterations = 5000\n\
source = \"s\"\nnotes = \"n\"\nre = \"-0.743643887037158704752191506114774\"\nim = \"0.1318\"\n";

#[test]
fn deep_texts_are_refused_before_the_parser_recurses() {
    for text in ["a={".to_owned() + &"{".repeat(15_000), "a=".to_owned() + &"[{a=".repeat(5000)] {
        let error = Location::parse(&text, "x").err().unwrap().to_string();
        assert!(error.contains("nested too deeply"), "{error}");
    }
    let lists = format!("a = {}{}", "[".repeat(60), "]".repeat(60));
    assert!(dwell::check_toml(&format!("{lists}\nb = {{ c = \"[[[[\" }}\n[[d]]\n[[d]]\n")).is_ok());
}

#[test]
fn locations() {
    let deep =
        format!("re = \"-1.{}\"\nim = \"1e-9\"\nzoom = \"1e300\"\niterations = 50000000000\n", "1234567890".repeat(30));
    check(&[LOCATION, &deep], |text| Location::parse(text, "x"));
}

/// A location with every key.
const FULL: &str = "dwell = \"0.1.0\"\nname = \"x\"\ntitle = \"t\"\nsource = \"s\"\nnotes = \"n\"\nformula = \"burning-ship\"\npower = 3\n\
julia = [\"-0.8\", \"0.156\"]\nbounds = [\"-2\", \"1\", \"-1.5\", \"1.5\"]\nrotation = \"30\"\nflip = true\nsample = \"corner\"\n\
size = \"64x36\"\nsamples = 3\ndepth = 16\niterations = 500\nescape_radius = \"2.5\"\nnumber = \"f32\"\nrecipe = \"separate\"\nforce = true\n\
strategy = \"mariani-silver\"\nshortcuts = \"interior,cycles\"\ntile = \"64x32\"\nwarnings = [\"w\"]\n\n[colour]\npalette = \"mine\"\n\
by = \"distance\"\nscale = \"histogram\"\ndensity = 2.5\noffset = -0.25\ninterior = \"#123\"\npalette_format = \"map\"\n\
palette_text = \"1 2 3\\n4 5 6\\n\"\n";

/// Parses a location and checks that its written text parses to the same location.
fn round_trip(text: &str) -> Result<Location, dwell::InputError> {
    let location = Location::parse(text, "x")?;
    let written = location.text();
    let again = Location::parse(&written, "y").unwrap_or_else(|e| panic!("{text}\n{written}: {e}"));
    assert_eq!(again.text(), written);
    Ok(location)
}

#[test]
fn locations_with_every_key() {
    check(&[FULL, LOCATION], round_trip);
}

/// A PNG with a location text.
fn picture(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.add_text_chunk("Software".to_owned(), "dwell".to_owned()).unwrap();
    encoder.add_itxt_chunk("dwell".to_owned(), text.to_owned()).unwrap();
    encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
    bytes
}

#[test]
fn pictures_with_any_text_and_any_bytes() {
    let read = |bytes: &[u8]| Location::from_png(std::io::Cursor::new(bytes), "x");
    assert!(read(&picture(FULL)).is_ok());
    check(&[FULL, LOCATION], |text| read(&picture(text)));
    // Changed, removed and added bytes, and truncation: an error, or a location.
    let whole = picture(FULL);
    for seed in 0..ROUNDS {
        let mut random = Random::new(seed);
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
            match random.below(4) {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.below(8),
                2 => drop(bytes.drain(at..(at + 5).min(bytes.len()))),
                _ => bytes.splice(at..at, [0xff; 3]).for_each(drop),
            }
            if bytes.is_empty() {
                break;
            }
        }
        if let Err(error) = read(&bytes) {
            assert!(error.to_string().chars().count() < 700, "seed {seed}: {error}");
        }
    }
}

/// Valid palette files, by format.
const PALETTES: [(PaletteFormat, &[&str]); 7] = [
    (
        PaletteFormat::Toml,
        &[
            "colours = [\"#04082b\", \"#0b2f8a\", \"#2a7fd4\"]\npositions = [0.0, 0.25, 0.5]\ninterior = \"#000000\"\n",
            "name = \"n\"\ntitle = \"t\"\ncolors = [\"#123\", \"#fff\", \"#0123456789ab\"]\npositions = [0, 0.5, 1.0]\n\
            cyclic = false\nblend = \"light\"\nby = \"distance\"\nscale = \"histogram\"\ndensity = 2.5\noffset = -0.5e-3\n",
            "colours = [\"#000\", \"#f00\"]\nblend = \"step\"\nby = \"banded\"\nscale = \"limit\"\n",
        ],
    ),
    (PaletteFormat::Map, &["0 0 0 black\n12 34 56\n255 255 255\n; comment\n"]),
    (
        PaletteFormat::Ggr,
        &[
            "GIMP Gradient\nName: Two\n2\n\
            0.000000 0.100000 0.500000 1.0 0.0 0.0 1.0 0.0 1.0 0.0 0.5 1 0 0 0\n\
            0.500000 0.750000 1.000000 0.0 1.0 0.0 1.0 0.0 0.0 1.0 1.0 2 1 0 0\n",
            "GIMP Gradient\n1\n0 0.5 1 0.2 0.3 0.4 1 0.2 0.3 0.4 1 3 2\n",
            "GIMP Gradient\n1\n0 0 1 0.2 0.3 0.4 1 1 0 0 1 4 2 1 3\n",
        ],
    ),
    (
        PaletteFormat::Ugr,
        &[
            "; a comment\nBlues {\ngradient:\n  title=\"Blues; {gold}\" smooth=yes rotation=1 index=0 color=6555392\n  \
            index=64 color=13331232 index=-3 color=43775\nopacity:\n  smooth=no index=0 opacity=255\n}\n",
            "a { gradient: smooth=no index=0 color=255 index=900 color=65280 }\nb { gradient: index=1 color=1 }",
        ],
    ),
    (PaletteFormat::Gpl, &["GIMP Palette\nName: Sea\nColumns: 2\n# c\n  0 10 40 deep\n250 240 200\n"]),
    (
        PaletteFormat::Kfp,
        &[
            "Colors: 0,0,40,255,200,0,\r\nIterDiv: 0.25\r\nColorMethod: 1\r\nColorOffset: 9\r\nFlat: 1\r\nInteriorColor: 1,2,3,\r\n",
        ],
    ),
    (PaletteFormat::Inline, &["#001,#fff,#fa0", "#001@0,#2a7fd4@0.3,#fffa00001111@0.75"]),
];

#[test]
fn palettes() {
    for (format, seeds) in PALETTES {
        for seed in seeds {
            assert!(Palette::from_text(format, seed, "x").is_ok(), "{seed}");
        }
        check(seeds, |text| {
            let palette = Palette::from_text(format, text, "x")?;
            assert_eq!(palette.table().len(), 8192);
            // Its source text gives the same palette: pictures store it.
            let PaletteSource::Text { format, text } = palette.source() else { panic!("{text}") };
            let again = Palette::from_text(*format, text, "x").unwrap_or_else(|e| panic!("{text}: {e}"));
            assert!(again.table() == palette.table() && again.name() == palette.name(), "{text}");
            Ok(palette)
        });
    }
}

#[test]
fn colours() {
    check(&["#0a2463", "#0af", "#0123456789ab"], dwell::parse_colour);
}

#[test]
fn decimals_and_sizes() {
    check(&["-0.743643887037158704752191506114774", "1.5E+9", "1e-300", ".5", "+7."], str::parse::<Decimal>);
    check(&["1920x1080", "1x1", "2147483647x3"], str::parse::<Size>);
}

#[test]
fn the_unmutated_location_parses() {
    assert!(Location::parse(LOCATION, "x").is_ok());
}
