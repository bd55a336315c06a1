//! The committed inputs of the fuzz targets (see fuzz/README.md), each through the function that its target runs.

#![cfg(all(feature = "png", feature = "toml"))]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail that way")]

#[expect(unreachable_pub, reason = "the functions are public in the crate of the fuzz targets")]
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::path::Path;

/// The bytes that the largest of these small inputs may take: more than one with a limit of its own needs.
const MOST_MEMORY: u64 = 80 << 20;

/// Runs a target on its committed inputs, of which there are at least `least`.
fn replay(name: &str, least: usize, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let seeds = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let seeds: Vec<_> = seeds.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("seed-")).collect();
    assert!(seeds.len() >= least, "{name}: {} inputs", seeds.len());
    for path in seeds {
        let bytes = std::fs::read(&path).unwrap();
        let allocated = allocation_counter::measure(|| target(&bytes));
        assert!(allocated.bytes_max <= MOST_MEMORY, "{}: {} bytes of memory", path.display(), allocated.bytes_max);
    }
}

#[test]
fn decimals() {
    replay("decimal", 3, targets::decimal);
}

#[test]
fn locations() {
    replay("location", 8, targets::location);
}

#[test]
fn palettes() {
    replay("palette", 9, targets::palette);
}

#[test]
fn pictures() {
    replay("picture", 4, targets::picture);
}

#[test]
fn tables_of_jobs() {
    replay("jobs", 3, targets::jobs);
}

#[test]
fn rasters() {
    replay("raster", 14, targets::raster);
}
