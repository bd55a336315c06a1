//! The plan of a render bounds its memory: the peak of the process differs from the planned bytes by at most a tenth and
//! 32 MiB; it may be less where there are more threads than processors.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
#[cfg(target_os = "linux")]
use std::io::Write;

/// Renders of many sizes, formats and colourings. `DWELL_GIGAPIXEL=1` adds [`LARGE`], which takes minutes.
const RENDERS: [&str; 43] = [
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
    "--size 4000x4000 --max-iter 100 --strategy proven --threads 4 -o a.npy",
    "--size 4000x4000 --max-iter 100 --strategy boundary-trace --tile 1024x1024 --color-by banded -o a.png",
    "--size 4000x3000 --max-iter 100 --precision f32 --rotate 30 --threads 8 -o a.ppm",
    "--size 4000x3000 --max-iter 100 --scale histogram --color-by banded -o a.png",
    "--size 4000x3000 --max-iter 60 --verify -o a.npy",
    "--size 100000x100 --zoom 0.001 --max-iter 50 -o a.png",
    "--size 100x100000 --zoom 0.1 --max-iter 50 -o a.png",
    "--size 2000000x3 --zoom 1e-6 --max-iter 50 --aa 1 -o a.png",
    "--size 9000x4000 --max-iter 30 --color-by banded -o a.png",
    "--size 9000x4000 --max-iter 30 --max-memory 90M -o a.png",
    "--size 5000x5000 --max-iter 30 --scale histogram --max-memory 120M -o a.png",
    "--size 4096x4096 --max-iter 64 --formula burning-ship --sync-interval 0.1 -o a.png",
    // Tiles from one pixel up, in every schedule.
    "--size 2500000x4 --zoom 1e-6 --max-iter 20 --tile 1x1 --aa 1 -o a.png",
    "--size 2000x1500 --max-iter 30 --tile 1x1 --threads 4 -o a.npy",
    "--size 2000x1500 --max-iter 30 --tile 2x2 --schedule guided --threads 2 --color-by distance -o a.png",
    "--size 3000x2000 --max-iter 30 --tile 4096x1 --threads 16 -o a.png -o b.ppm",
    "--size 3000x2000 --max-iter 30 --tile 16x16 --schedule work-stealing --threads 8 -o a.csv",
    "--size 3000x2000 --max-iter 30 --tile 1x4096 --schedule static --threads 3 --depth 16 -o a.png",
    "--size 4000x2000 --max-iter 30 --tile 1024x1024 --threads 16 --aa 1 -o a.png",
    "--size 6000x4000 --max-iter 30 --tile 64x1 --max-memory 64M -o a.png",
    "--size 3000x2000 --julia=-0.8,0.156 --max-iter 50 --precision f32 --tile 8x8 -o a.ppm",
    // Samples, ranks, strategies, verification and several outputs, with few threads and many.
    "--size 2000x1500 --max-iter 50 --depth 16 --aa 2 --threads 16 -o a.png -o b.ppm",
    "--size 500x400 --aa 16 --max-iter 20 -o a.png",
    "--size 3000x2000 --max-iter 40 --scale histogram --threads 8 --aa 1 -o a.png",
    "--size 2000x2000 --max-iter 60 --strategy boundary-trace --threads 16 -o a.npy",
    "--size 3000x3000 --max-iter 60 --strategy mariani-silver --verify --threads 4 -o a.npy -o b.csv",
    "--size 3000x3000 --max-iter 60 --strategy mariani-silver --tile 4096x256 --threads 8 -o a.png",
    "--size 4000x4000 --max-iter 30 -o a.png -o b.ppm -o c.npy -o d.csv",
    "--size 4000x4000 --max-iter 30 --sync-interval 0.1 --scale histogram -o a.png",
    "--size 5000x5000 --max-iter 30 --scale histogram --max-memory 150M --sync-interval 0.1 -o a.png",
    "--size 1x1000000 --zoom 1e-5 --max-iter 30 -o a.png",
    "--size 1000000x1 --zoom 1e-5 --max-iter 30 -o a.csv",
];

const LARGE: [&str; 2] = [
    "--size 32768x32768 --max-iter 256 -o a.png",
    "--size 32768x32768 --max-iter 256 --color-by banded --max-memory 128M -o a.png",
];

#[test]
#[cfg(target_os = "linux")]
fn peak_memory_matches_the_plan() {
    const SLACK: u64 = 32 << 20;
    // Threads beyond the processors seldom have their buffers at the same time.
    const SLACK_PER_WAITING_THREAD: u64 = 2 << 20;
    const MOST_RUNS: u32 = 5;
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let folder = Folder::new();
    let large = std::env::var_os("DWELL_GIGAPIXEL").is_some();
    let mut wrong = Vec::new();
    println!("| render | planned MiB | peak MiB |\n|---|---|---|");
    for (number, line) in RENDERS.into_iter().chain(LARGE.into_iter().filter(|_| large)).enumerate() {
        // Every second line is rendered with automatic samples as well.
        let samples: &[&str] = match line.contains("--aa") {
            true => &[""],
            false if number % 2 == 1 => &["--aa 1", ""],
            false => &["--aa 1"],
        };
        let threads = line.split_once("--threads ").map_or("1", |(_, rest)| rest.split(' ').next().unwrap());
        let waiting = threads.parse::<u64>().unwrap().saturating_sub(processors);
        let slack_below = SLACK + waiting * SLACK_PER_WAITING_THREAD;
        for samples in samples {
            // The plan includes a journal, but short renders write none.
            let journal = if line.contains("--sync-interval") { "" } else { "--sync-interval off" };
            // How many of the planned bands are under way at the same time depends on when threads wake up, so the greatest
            // peak of some runs is compared with the plan from below.
            let mut greatest = 0;
            for run in 1..=MOST_RUNS {
                let stats = folder.stats(&format!("{line} {samples} {journal}"));
                // How many pixels get more samples, and on how many threads, is not known in advance.
                let is_refined = stats["refined_pixels"].is_u64();
                let [planned, peak] =
                    ["planned_memory_bytes", "peak_memory_bytes"].map(|key| stats[key].as_u64().unwrap());
                greatest = peak.max(greatest);
                println!("| `{line} {samples}` | {} | {} |", planned >> 20, peak >> 20);
                // Nor is what entries of a journal take: they are made by the clock.
                let is_known = !is_refined && !line.contains("--sync-interval");
                let too_much = planned > greatest + greatest / 10 + slack_below && is_known;
                if peak > planned + planned / 10 + SLACK || too_much && run == MOST_RUNS {
                    wrong.push(format!("{line} {samples}: {} MiB planned, {} MiB taken", planned >> 20, peak >> 20));
                }
                if let Some((_, most)) = line.split_once("--max-memory ") {
                    let most: u64 = most.split_once('M').unwrap().0.parse().unwrap();
                    assert!(planned <= most << 20, "{line}: {planned} planned");
                }
                if !too_much {
                    break;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Renders that take less memory where less is allowed.
#[cfg(target_os = "linux")]
const ELASTIC: [&str; 4] = [
    "--size 4000x3000 --max-iter 30 --threads 2 -o a.png",
    "--size 4000x3000 --max-iter 30 --threads 16 --scale histogram -o a.png",
    "--size 3000x2000 --max-iter 30 --threads 4 --tile 8x8 -o a.npy -o b.csv",
    "--size 1000x1000 --max-iter 30 --threads 2 --aa 4 --depth 16 -o a.png",
];

/// A render under a limit on memory ends well, or with an error about memory that names an amount.
#[cfg(target_os = "linux")]
fn check_under_limit(ran: &Ran, what: &str) {
    let about_memory = ran.err.contains("memory") && ran.err.contains("iB");
    assert!(ran.code == 0 || (ran.code == 2 && about_memory), "{what}: exit code {}: {}", ran.code, ran.err);
}

/// Threads that start at the same time must not take the address space from each other, not even for a moment.
#[test]
#[cfg(target_os = "linux")]
fn a_render_that_fits_a_limit_on_address_space_never_fails() {
    let folder = Folder::new();
    for _ in 0..30 {
        let script = format!("ulimit -v 106000 && exec \"$0\" render {} -q", ELASTIC[2]);
        let ran = Ran::from(folder.shell(&script).output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_limit_on_address_space_or_data_is_kept() {
    let folder = Folder::new();
    for line in ELASTIC {
        let mut ended = Vec::new();
        for limit in ["-v 60000", "-v 100000", "-v 200000", "-v 400000", "-v 1500000", "-d 60000", "-d 200000"] {
            let script = format!("ulimit {limit} && exec \"$0\" render {line} -q");
            let ran = Ran::from(folder.shell(&script).output().unwrap());
            check_under_limit(&ran, &format!("ulimit {limit}: {line}"));
            ended.push(ran.code);
        }
        println!("{line}: {ended:?}");
        assert_eq!(ended[4], 0, "{line}: 1.5 GB are enough");
    }
    let ran = folder.shell("ulimit -v 300000 && exec \"$0\" info --json").output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(info["memory_bytes"].as_u64().unwrap() <= 300_000 << 10, "{info}");
    assert!(info["available_bytes"].as_u64().unwrap() < 300_000 << 10, "{info}");
}

/// A control group inside that of this process, with a limit on memory; removed when dropped.
#[cfg(target_os = "linux")]
struct Group(std::path::PathBuf);

#[cfg(target_os = "linux")]
impl Group {
    /// The reason where this process may not create one.
    fn new(bytes: u64) -> Result<Self, String> {
        let groups = std::fs::read_to_string("/proc/self/cgroup").map_err(|why| why.to_string())?;
        let mut reasons = String::new();
        let path = |prefix: &str| groups.lines().find_map(|line| line.split_once(prefix)).map(|(_, path)| path);
        let places = [
            (path(":memory:"), "/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            (path("0::"), "/sys/fs/cgroup", "memory.max"),
        ];
        for (path, mount, limit) in places {
            let Some(path) = path else { continue };
            let folder = format!("{mount}{}/dwell-test-{}", path.trim_end_matches('/'), std::process::id());
            let group = Self(folder.into());
            let set = std::fs::create_dir(&group.0).and_then(|()| {
                std::fs::OpenOptions::new()
                    .write(true)
                    .open(group.0.join(limit))?
                    .write_all(bytes.to_string().as_bytes())
            });
            match set {
                Ok(()) => return Ok(group),
                Err(why) => reasons.push_str(&format!("no control group below {mount}{path}: {why}\n")),
            }
        }
        Err(reasons)
    }
}

#[cfg(target_os = "linux")]
impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_control_group_limits_memory() {
    let group = match Group::new(128 << 20) {
        Ok(group) => group,
        Err(why) => {
            println!("skipped: {why}");
            return;
        }
    };
    let folder = Folder::new();
    let inside = |what: &str| {
        let script = format!("echo $$ > '{}/cgroup.procs' && exec \"$0\" {what}", group.0.display());
        Ran::from(folder.shell(&script).output().unwrap())
    };
    let ran = inside("info --json");
    let info: serde_json::Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(info["memory_bytes"].as_u64(), Some(128 << 20), "{info}");
    for line in ELASTIC {
        let ran = inside(&format!("render {line} -q"));
        check_under_limit(&ran, line);
        println!("{line}: {}", ran.code);
    }
}

#[test]
fn too_small_a_memory_limit_is_an_immediate_error() {
    let folder = Folder::new();
    for line in [
        "--size 100000x100000 --max-memory 16M -o a.png",
        "--size 2147483647x2147483647 --zoom 1e-9 --max-memory 1G -o a.png",
        "--size 4000x4000 --threads 64 --tile 1024x1024 --max-memory 13M -o a.png",
    ] {
        let began = std::time::Instant::now();
        let ran = folder.run(format!("render {line}").split(' '));
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.err.contains("--max-memory") && ran.err.contains("iB of memory"), "{}", ran.err);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{line}");
    }
    assert!(folder.names().is_empty());
}
