//! The plan of a render bounds its memory: the peak of the process differs from the planned bytes by at most a tenth and
//! 32 MiB.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

/// Renders of many sizes, formats and colourings. `DWELL_GIGAPIXEL=1` adds [`LARGE`], which takes minutes.
const RENDERS: [&str; 22] = [
    "--size 1x1 -o a.png",
    "--size 64x64 --threads 16 -o a.ppm",
    "--size 1920x1080 -o a.png",
    "--size 1920x1080 --color-by banded --threads 1 -o a.png",
    "--size 1920x1080 --scale histogram -o a.png",
    "--size 1920x1080 --aa 3 -o a.png",
    "--size 1000x1000 --aa 4 --depth 16 --color-by distance -o a.png",
    "--size 3000x2000 --shortcuts none --max-iter 50 -o a.npy",
    "--size 3000x2000 --max-iter 50 -o a.csv -o a.png",
    "--size 4000x4000 --max-iter 100 --threads 3 -o a.png",
    "--size 4000x4000 --max-iter 100 --strategy mariani-silver -o a.npy",
    "--size 4000x4000 --max-iter 100 --strategy boundary-trace --tile 1024x1024 --color-by banded -o a.png",
    "--size 4000x3000 --max-iter 100 --precision f32 --rotate 30 --threads 8 -o a.ppm",
    "--size 4000x3000 --max-iter 100 --scale histogram --color-by banded -o a.png",
    "--size 4000x3000 --max-iter 60 --verify -o a.npy",
    "--size 100000x100 --zoom 0.001 --max-iter 50 -o a.png",
    "--size 100x100000 --zoom 0.1 --max-iter 50 -o a.png",
    "--size 2000000x3 --zoom 1e-6 --max-iter 50 -o a.png",
    "--size 9000x4000 --max-iter 30 --color-by banded -o a.png",
    "--size 9000x4000 --max-iter 30 --max-memory 90M -o a.png",
    "--size 5000x5000 --max-iter 30 --scale histogram --max-memory 120M -o a.png",
    "--size 4096x4096 --max-iter 64 --formula burning-ship --sync-interval 0.1 -o a.png",
];

const LARGE: [&str; 2] = [
    "--size 32768x32768 --max-iter 256 -o a.png",
    "--size 32768x32768 --max-iter 256 --color-by banded --max-memory 128M -o a.png",
];

#[test]
#[cfg(target_os = "linux")]
fn peak_memory_matches_the_plan() {
    const SLACK: u64 = 32 << 20;
    let folder = Folder::new();
    let large = std::env::var_os("DWELL_GIGAPIXEL").is_some();
    println!("| render | planned MiB | peak MiB |\n|---|---|---|");
    for line in RENDERS.into_iter().chain(LARGE.into_iter().filter(|_| large)) {
        // The plan includes a journal, but short renders write none.
        let journal = if line.contains("--sync-interval") { "" } else { "--sync-interval off" };
        let stats = folder.stats(&format!("{line} {journal}"));
        let [planned, peak] = ["planned_memory_bytes", "peak_memory_bytes"].map(|key| stats[key].as_u64().unwrap());
        println!("| `{line}` | {} | {} |", planned >> 20, peak >> 20);
        assert!(peak <= planned + planned / 10 + SLACK, "{line}: {planned} planned, {peak} taken");
        assert!(planned <= peak + peak / 10 + SLACK, "{line}: {planned} planned, only {peak} taken");
        if let Some((_, most)) = line.split_once("--max-memory ") {
            let most: u64 = most.split_once('M').unwrap().0.parse().unwrap();
            assert!(planned <= most << 20, "{line}: {planned} planned");
        }
    }
}

#[test]
fn too_small_a_memory_limit_is_an_immediate_error() {
    let folder = Folder::new();
    for line in [
        "--size 100000x100000 --max-memory 16M -o a.png",
        "--size 2147483647x2147483647 --zoom 1e-9 --max-memory 1G -o a.png",
        "--size 4000x4000 --threads 64 --tile 1024x1024 --max-memory 64M -o a.png",
    ] {
        let began = std::time::Instant::now();
        let ran = folder.run(format!("render {line}").split(' '));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("--max-memory") && ran.err.contains("MiB"), "{}", ran.err);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{line}");
    }
    assert!(folder.names().is_empty());
}
