//! Parsers on text that nobody meant: seeded mutations of good files. No panic, no hang, and errors that stay short. The
//! same entry points are fuzz targets (see fuzz/).

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

mod common;

use common::Random;
use dwell::{Decimal, Location, Palette, Size};

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
fn locations() {
    let deep =
        format!("re = \"-1.{}\"\nim = \"1e-9\"\nzoom = \"1e300\"\niterations = 50000000000\n", "1234567890".repeat(30));
    check(&[LOCATION, &deep], |text| Location::parse(text, "x"));
}

#[test]
fn palettes() {
    let seeds =
        ["colours = [\"#04082b\", \"#0b2f8a\", \"#2a7fd4\"]\npositions = [0.0, 0.25, 0.5]\ninterior = \"#000000\"\n"];
    check(&seeds, |text| Palette::parse(text, "x"));
    check(&["0 0 0 black\n12 34 56\n255 255 255\n; comment\n"], |text| Palette::parse_map(text, "x"));
}

#[test]
fn decimals_and_sizes() {
    check(&["-0.743643887037158704752191506114774", "1.5E+9", "1e-300", ".5", "+7."], Decimal::parse);
    check(&["1920x1080", "1x1", "2147483647x3"], Size::parse);
}

#[test]
fn the_seed_is_good() {
    assert!(Location::parse(LOCATION, "x").is_ok());
}
