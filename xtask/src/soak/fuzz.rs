//! Runs the fuzz targets on seeded mutations of their corpora, without libFuzzer and on every thread.
//!
//! A target fails by a panic, or by taking more than 1 s and 1 s for each MiB of its input: time of a processor where the
//! system reports that of a thread (Linux), so that other programs do not count. Every input follows from the
//! seed and its number. The input of a failure is stored, and `cargo xtask soak --input TARGET FILE` runs it again.

use super::Row;
use crate::random::Random;
use crate::{Done, root, target};
use dwell::store::{Output, PartialFiles};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[allow(clippy::panic, reason = "a fuzz target fails by a panic; the lint does not fire in tests")]
#[expect(unreachable_pub, reason = "the functions are public in the crate of the fuzz targets")]
#[path = "../../../fuzz/src/targets.rs"]
mod targets;

#[allow(clippy::panic, reason = "a fuzz target fails by a panic; the lint does not fire in tests")]
#[expect(unreachable_pub, reason = "the functions are public in the crate of the fuzz targets")]
#[path = "../../../fuzz/src/laboratory.rs"]
mod laboratory;

/// A fuzz target by its name.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 8] = [
    ("decimal", targets::decimal),
    ("foreign", targets::foreign),
    ("jobs", targets::jobs),
    ("laboratory", laboratory::laboratory),
    ("location", targets::location),
    ("palette", targets::palette),
    ("picture", targets::picture),
    ("raster", targets::raster),
];

/// Inputs of the target `decimal`, which has no corpus.
const DECIMALS: [&str; 6] =
    ["0", "-0.7436438870371587", "+12.5E+7", "1e-300", ".5", "1234567890123456789012345678901e-40"];
/// The longest input, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Time between looks at the running inputs.
const TICK: Duration = Duration::from_millis(100);

/// The most time that an input of so many bytes may take.
fn allowed(bytes: usize) -> Duration {
    Duration::from_secs_f64(1.0 + bytes as f64 / f64::from(1 << 20))
}

/// The committed inputs of a target.
fn seeds(name: &str) -> Result<Vec<Vec<u8>>, Box<dyn std::error::Error>> {
    let mut folders = vec![root().join("fuzz/corpus").join(name)];
    if name == "location" {
        folders.push(root().join("crates/dwell/locations"));
    }
    let mut paths: Vec<PathBuf> = Vec::new();
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            paths.push(entry?.path());
        }
    }
    // The order must not depend on the file system.
    paths.sort();
    let mut seeds = paths.iter().map(std::fs::read).collect::<Result<Vec<_>, _>>()?;
    if name == "decimal" {
        seeds.extend(DECIMALS.map(|text| text.as_bytes().to_vec()));
    }
    if seeds.is_empty() { Err(format!("the fuzz target {name} has no corpus").into()) } else { Ok(seeds) }
}

/// An input: a seed with 1 to 8 mutations.
fn mutated(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    const WORDS: [&[u8]; 12] = [
        b"\0",
        b"\xff",
        b"\n",
        b"-1",
        b"0",
        b"999999999999999999999",
        b"1e1000000",
        b"nan",
        b"[[",
        b"\"\"\"",
        b"\xff\xff\xff\xff",
        b"\x7f\xff\xff\xff",
    ];
    let mut bytes = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(64)).min(bytes.len());
        match random.below(8) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(at..end)),
            4 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..(at + word.len() * random.below(2)).min(bytes.len()), word.iter().copied());
            }
            5 => {
                let most = if random.below(50) == 0 { 4096 } else { 8 };
                let repeated = bytes[at..end].repeat(1 + random.below(most));
                bytes.splice(at..at, repeated);
            }
            6 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                bytes.splice(at..end, other[from..].iter().copied());
            }
            _ => bytes.insert(at, b"0123456789.,-+eE#= \n\"[]{}"[random.below(25)]),
        }
        bytes.truncate(MOST_BYTES);
    }
    if random.below(2) == 0 {
        seal(&mut bytes);
    }
    bytes
}

/// Gives the chunks of a PNG their checksums, so that readers do not stop there.
fn seal(bytes: &mut [u8]) {
    let mut at = 8;
    while bytes.starts_with(b"\x89PNG") && at + 12 <= bytes.len() {
        let Some(Ok(length)) = bytes.get(at..at + 4).map(<[u8; 4]>::try_from) else { return };
        let end = (at + 8).saturating_add(u32::from_be_bytes(length) as usize);
        if end + 4 > bytes.len() {
            return;
        }
        let mut checksum = flate2::Crc::new();
        checksum.update(&bytes[at + 4..end]);
        bytes[end..end + 4].copy_from_slice(&checksum.sum().to_be_bytes());
        at = end + 4;
    }
}

/// The most wall time of an input, as a multiple of [`allowed`]: an input that waits takes no processor time.
const MOST_WAITING: u32 = 60;

/// The processor time of a thread of this process.
struct ThreadTime(Option<PathBuf>);

impl ThreadTime {
    /// That of the calling thread.
    fn of_this_thread() -> Self {
        let thread = std::fs::read_link("/proc/thread-self").ok();
        Self(thread.map(|thread| Path::new("/proc").join(thread).join("schedstat")).filter(|path| path.is_file()))
    }

    /// The time so far, if the system reports it.
    fn so_far(&self) -> Option<Duration> {
        let text = std::fs::read_to_string(self.0.as_ref()?).ok()?;
        Some(Duration::from_nanos(text.split_whitespace().next()?.parse().ok()?))
    }
}

/// The input that a thread runs.
#[derive(Clone)]
struct Started {
    at: Instant,
    /// The processor time of the thread before it.
    before: Option<Duration>,
    name: &'static str,
    bytes: Vec<u8>,
}

impl Started {
    /// The time that the input has taken so far.
    fn taken(&self, time: &ThreadTime) -> Duration {
        let wall = self.at.elapsed();
        match (self.before, time.so_far()) {
            (Some(before), Some(now)) => wall.min(now.saturating_sub(before)),
            _ => wall,
        }
    }

    fn is_late(&self, time: &ThreadTime) -> bool {
        let allowed = allowed(self.bytes.len());
        // The wall time first, since it needs no file of the system.
        self.at.elapsed() > allowed && (self.taken(time) > allowed || self.at.elapsed() > allowed * MOST_WAITING)
    }
}

/// A thread and the input that it runs.
type Running = Mutex<(ThreadTime, Option<Started>)>;

/// The targets that a flag selects: that of the name, or all.
fn selected(name: Option<&str>) -> Result<Vec<Target>, String> {
    let targets: Vec<Target> =
        TARGETS.into_iter().filter(|(known, _)| name.is_none_or(|name| name == *known)).collect();
    if targets.is_empty() {
        return Err(no_target(name.unwrap_or("")));
    }
    Ok(targets)
}

fn no_target(name: &str) -> String {
    format!("{name} is no fuzz target (accepted: {})", TARGETS.map(|(known, _)| known).join(", "))
}

/// Runs `inputs` inputs on every thread: of the target of that name, or of all in turn.
pub(super) fn run(inputs: u64, seed: u64, name: Option<&str>) -> Result<Row, Box<dyn std::error::Error>> {
    let selected = selected(name)?;
    let seeds = selected.iter().map(|(name, _)| seeds(name)).collect::<Result<Vec<_>, _>>()?;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let running: Vec<Running> = (0..threads).map(|_| Mutex::new((ThreadTime(None), None))).collect();
    let (next, slowest, began) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
    let failure: Mutex<Option<String>> = Mutex::new(None);
    let stop = AtomicBool::new(false);
    let work = |running: &Running| {
        lock(running).0 = ThreadTime::of_this_thread();
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= inputs {
                return;
            }
            let which = (number % selected.len() as u64) as usize;
            let (name, target) = selected[which];
            let bytes = mutated(&seeds[which], &mut Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ number));
            {
                let (time, started) = &mut *lock(running);
                *started = Some(Started { at: Instant::now(), before: time.so_far(), name, bytes: bytes.clone() });
            }
            let panicked = std::panic::catch_unwind(|| target(&bytes)).is_err();
            {
                let (time, started) = &mut *lock(running);
                let taken = started.take().map_or(Duration::ZERO, |started| started.taken(time));
                slowest.fetch_max(taken.as_micros() as u64, Ordering::Relaxed);
            }
            if panicked {
                stop.store(true, Ordering::Relaxed);
                *lock(&failure) = Some(stored(name, &bytes, "panics"));
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = running.iter().map(|running| scope.spawn(|| work(running))).collect();
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(TICK);
            let late = running.iter().find_map(|running| {
                let (time, started) = &*lock(running);
                started.clone().filter(|started| started.is_late(time))
            });
            if let Some(Started { name, bytes, .. }) = late {
                // The thread cannot be stopped, so the program ends here.
                let seconds = allowed(bytes.len()).as_secs_f64();
                eprintln!("error: {}", stored(name, &bytes, &format!("takes more than {seconds:.1} s")));
                std::process::exit(1);
            }
        }
    });
    if let Some(failure) = lock(&failure).take() {
        return Err(failure.into());
    }
    let result = format!(
        "no panic; the slowest took {} ms; {} MiB of memory at most; {:.0} s on {threads} threads",
        slowest.load(Ordering::Relaxed) / 1000,
        super::peak_mebibytes().map_or_else(|| "?".to_owned(), |peak| peak.to_string()),
        began.elapsed().as_secs_f64()
    );
    let of = match name {
        Some(name) => format!("the fuzz target {name}"),
        None => format!("{} fuzz targets", selected.len()),
    };
    Ok(Row { what: format!("{inputs} mutated inputs of {of}"), result })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores the input of a failure. Returns the message.
fn stored(name: &str, bytes: &[u8], what: &str) -> String {
    let path = target().join(format!("soak/{name}-{}", &blake3::hash(bytes).to_hex()[..16]));
    let write = || -> Done {
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
        let mut output = Output::create(&path, false, &PartialFiles::default())?;
        output.write_all(bytes)?;
        output.commit()?;
        Ok(())
    };
    let place = write().map_or_else(|e| format!("cannot be stored: {e}"), |()| format!("is {}", path.display()));
    format!(
        "the fuzz target {name} {what}; the input {place}\nto repeat it: cargo xtask soak --input {name} {}",
        path.display()
    )
}

/// Runs one stored input.
pub(super) fn run_stored(name: &str, path: &Path) -> Done {
    let target = TARGETS.iter().find(|(known, _)| *known == name);
    let (_, target) = target.ok_or_else(|| no_target(name))?;
    let bytes = std::fs::read(path)?;
    let began = Instant::now();
    target(&bytes);
    println!("{name}: {} bytes in {:.3} s", bytes.len(), began.elapsed().as_secs_f64());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_committed_target_is_run() {
        let mut names: Vec<_> = std::fs::read_dir(root().join("fuzz/fuzz_targets"))
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, TARGETS.map(|(name, _)| name));
    }

    #[test]
    fn mutations_follow_from_the_seed_and_keep_checksums_right() {
        let seeds = seeds("picture").unwrap();
        let inputs = |seed| {
            let mut random = Random::new(seed);
            (0..50).map(|_| mutated(&seeds, &mut random)).collect::<Vec<_>>()
        };
        assert!(inputs(1) == inputs(1) && inputs(1) != inputs(2));
        let mut picture = seeds.iter().find(|seed| seed.starts_with(b"\x89PNG")).unwrap().clone();
        let whole = picture.clone();
        let end = picture.len() - 1;
        picture[end] ^= 1;
        seal(&mut picture);
        assert!(picture == whole);
    }

    #[test]
    fn some_mutated_inputs_run() {
        assert!(run(200, 1, None).unwrap().result.starts_with("no panic"));
    }
}
