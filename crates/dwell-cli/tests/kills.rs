//! Random kills of renders that share outputs: no command that ends with exit code 0 leaves wrong bytes.
//!
//! A trial kills a render with SIGKILL at random moments. In half of the trials another render shares one of its outputs,
//! before it, at the same time or between a kill and the resumption, or a bit is flipped in a partial file or in the journal.
//! Then every command runs to its end. The environment sets the number of kills (`DWELL_KILLS`, 40 by default) and the seed
//! of all random choices (`DWELL_SEED`, 1); `DWELL_TRIAL` runs one trial only. `cargo xtask soak --kills N` runs this test
//! on a release build and records its last line.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The commands, each of about 0.3 s on two threads, and their outputs, of which each shares one with others. Little memory
/// makes several bands, so that partial files grow during the render.
const COMMANDS: [(&str, &[&str]); 9] = [
    ("--size 1600x1201 --max-iter 10000 --max-memory 40M", &["a.png"]),
    ("--size 1400x1000 --max-iter 20000 --center -0.5,0.1 --max-memory 40M", &["b.npy", "c.csv"]),
    ("--size 1400x901 --max-iter 14000 --zoom 0.9 --max-memory 40M", &["a.png", "b.npy"]),
    ("--size 700x701 --max-iter 36000 --scale histogram", &["a.png"]),
    ("--size 900x901 --max-iter 60000 --strategy mariani-silver --tile 96x64", &["b.npy", "a.png"]),
    ("--size 350x350 --max-iter 36000 --aa 2 --depth 16", &["a.png"]),
    ("--size 1600x1201 --max-iter 10001 --max-memory 40M", &["c.csv", "a.png"]),
    ("kf-1e14 --size 640x361 --max-memory 64M", &["a.png", "c.csv"]),
    ("kf-1e14 --size 640x360 --max-iter 9223372036854775807 --rotate 20 --aa 1 --max-memory 64M", &["b.npy", "a.png"]),
];
/// The times between journal entries, in seconds.
const INTERVALS: [&str; 4] = ["0.1", "0.15", "0.3", "1"];
/// The most kills of one trial.
const MOST_KILLS: u64 = 3;

/// A value from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The generator splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// What happens besides the kills.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Disturbance {
    None,
    /// Another render that shares an output was killed before.
    RivalBefore,
    /// Another render that shares an output runs between the kill and the resumption, to its end or to a kill.
    RivalBetween,
    /// Another render that shares an output runs at the same time.
    RivalAlongside,
    /// A bit is flipped in a partial file.
    FlipInPartial,
    /// A bit is flipped in a journal.
    FlipInJournal,
}

const DISTURBANCES: [Disturbance; 5] = [
    Disturbance::RivalBefore,
    Disturbance::RivalBetween,
    Disturbance::RivalAlongside,
    Disturbance::FlipInPartial,
    Disturbance::FlipInJournal,
];

/// The result of an undisturbed run.
struct Expected {
    time: Duration,
    files: Vec<Vec<u8>>,
    field_blake3: String,
}

/// The number of each outcome.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, u64>);

impl Counts {
    fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
    fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or(0)
    }
}

fn stats_name(command: usize) -> String {
    format!("{command}.json")
}

fn words(command: usize, threads: usize, interval: &str) -> Vec<String> {
    let (flags, outputs) = COMMANDS[command];
    let outputs: String = outputs.iter().map(|name| format!(" -o {name}")).collect();
    let line = format!(
        "render {flags} --shortcuts none --engine cpu --threads {threads} --sync-interval {interval} -q --stats {}{outputs}",
        stats_name(command)
    );
    line.split(' ').map(str::to_owned).collect()
}

fn field_blake3(folder: &Folder, command: usize) -> String {
    let stats: serde_json::Value = serde_json::from_slice(&folder.read(&stats_name(command))).unwrap();
    stats["field_blake3"].to_string()
}

fn undisturbed(command: usize) -> Expected {
    let folder = Folder::new();
    let began = Instant::now();
    let ran = folder.run(words(command, 2, "off"));
    let time = began.elapsed();
    assert_eq!(ran.code, 0, "{}", ran.err);
    let files = COMMANDS[command].1.iter().map(|name| folder.read(name)).collect();
    Expected { time, files, field_blake3: field_blake3(&folder, command) }
}

/// A started command.
struct Run {
    child: Child,
    command: usize,
    started: Instant,
    /// The time from its start at which it is to be killed.
    moment: Duration,
}

/// A trial in a folder of its own.
struct Trial<'a> {
    folder: Folder,
    random: Random,
    expected: &'a [Expected],
    counts: &'a mut Counts,
    /// For each output, the command that ended last with exit code 0 and wrote it.
    owners: BTreeMap<&'static str, usize>,
    /// What was done, for the message of a failure.
    log: Vec<String>,
}

impl Trial<'_> {
    fn start(&mut self, command: usize, more: &[&str]) -> Run {
        let (threads, interval) = (1 + self.random.below(2), self.random.one_of(&INTERVALS));
        let mut words = words(command, threads, interval);
        words.extend(more.iter().map(|word| (*word).to_owned()));
        self.log.push(words.join(" "));
        let mut start = self.folder.command();
        let child = start.args(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let moment = self.expected[command].time.mul_f64(self.random.fraction() * 2.0 / threads as f64);
        Run { child, command, started: Instant::now(), moment }
    }

    /// Kills a run at its moment. True if it was still running; otherwise its end is checked.
    fn kill(&mut self, mut run: Run, alone: bool) -> Result<bool, String> {
        while run.started.elapsed() < run.moment && run.child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if run.child.try_wait().unwrap().is_none() {
            run.child.kill().unwrap();
            // The render may have ended before the signal.
            if run.child.wait().unwrap().code().is_none() {
                self.log.push(format!("  killed after {:?}", run.started.elapsed()));
                self.counts.add("kills");
                return Ok(true);
            }
        }
        self.ended(run, alone)?;
        Ok(false)
    }

    /// Checks the end of a run. True if it ended with exit code 0; false after a refusal that says what to do.
    fn ended(&mut self, run: Run, alone: bool) -> Result<bool, String> {
        let command = run.command;
        let ran = Ran::from(run.child.wait_with_output().unwrap());
        self.log.push(format!("  exit code {} {}", ran.code, ran.err.trim_end()));
        match ran.code {
            0 => self.right_bytes(command, alone).map(|()| true),
            4 if !alone && ran.err.contains("another process") => {
                self.counts.add("refused: another process writes the output");
                Ok(false)
            }
            2 | 4 if ran.err.contains("--fresh") => {
                self.counts.add("refused: --fresh is needed");
                Ok(false)
            }
            4 if ran.err.contains("no journal of dwell") && ran.err.contains("hint: move it") => {
                self.counts.add("refused: the journal must be removed");
                Ok(false)
            }
            code => Err(format!("exit code {code}: {}", ran.err)),
        }
    }

    /// Checks the outputs of a command that ended with exit code 0. Unless it was alone, another command may have ended since
    /// then, and a shared output is that of the other.
    fn right_bytes(&mut self, command: usize, alone: bool) -> Result<(), String> {
        self.counts.add("ended with code 0 and the right bytes");
        for name in COMMANDS[command].1 {
            let found = std::fs::read(self.folder.join(name)).unwrap_or_default();
            let is_of = |command: &usize| {
                let outputs = COMMANDS[*command].1.iter().zip(&self.expected[*command].files);
                outputs.into_iter().any(|(output, expected)| output == name && found == *expected)
            };
            let others = (0..COMMANDS.len()).filter(|other| !alone && *other != command);
            let Some(owner) = std::iter::once(command).chain(others).find(is_of) else {
                return Err(format!("exit code 0 and wrong bytes in {name}"));
            };
            self.owners.insert(name, owner);
        }
        let found = field_blake3(&self.folder, command);
        if found != self.expected[command].field_blake3 {
            return Err(format!("the hash of the dwells is {found}"));
        }
        Ok(())
    }

    /// Runs a command to its end. If it is refused, it is run with `--fresh`, and then after the journal and the partial
    /// files were removed, as the hints say.
    fn finish(&mut self, command: usize) -> Result<(), String> {
        let run = self.start(command, &[]);
        if self.ended(run, true)? {
            return Ok(());
        }
        let run = self.start(command, &["--fresh"]);
        if self.ended(run, true)? {
            return Ok(());
        }
        for name in self.folder.names() {
            if [".dwell-journal", ".dwell-partial"].iter().any(|ending| name.ends_with(ending)) {
                std::fs::remove_file(self.folder.join(&name)).unwrap();
            }
        }
        let run = self.start(command, &[]);
        if self.ended(run, true)? { Ok(()) } else { Err("refused without a journal".to_owned()) }
    }

    /// Flips a random bit of a random file with this ending, if there is one that is not empty.
    fn flip(&mut self, ending: &str) {
        let names: Vec<_> = self.folder.names().into_iter().filter(|name| name.ends_with(ending)).collect();
        if names.is_empty() {
            return;
        }
        let name = names[self.random.below(names.len())].clone();
        let mut file = std::fs::File::options().read(true).write(true).open(self.folder.join(&name)).unwrap();
        let length = file.metadata().unwrap().len() as usize;
        if length == 0 {
            return;
        }
        let (at, bit) = (self.random.below(length), self.random.below(8));
        let mut byte = [0];
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte[0] ^ 1 << bit]).unwrap();
        self.counts.add("flipped bits");
        self.log.push(format!("  bit {bit} of byte {at} of {length} of {name} flipped"));
    }

    /// Starts another command that shares an output, and kills it or waits for its end.
    fn run_rival(&mut self, rival: usize) -> Result<(), String> {
        self.counts.add("rivals");
        let run = self.start(rival, &[]);
        if self.random.below(2) == 0 { self.ended(run, true).map(drop) } else { self.kill(run, true).map(drop) }
    }

    fn run(&mut self, disturbance: Disturbance) -> Result<(), String> {
        let command = self.random.below(COMMANDS.len());
        let shares = |rival: &usize| COMMANDS[*rival].1.iter().any(|name| COMMANDS[command].1.contains(name));
        let rivals: Vec<usize> = (0..COMMANDS.len()).filter(|rival| *rival != command).filter(shares).collect();
        let rival = self.random.one_of(&rivals);
        if disturbance == Disturbance::RivalBefore {
            self.run_rival(rival)?;
        }
        for kill in 0..=self.random.below(MOST_KILLS as usize) {
            let run = self.start(command, &[]);
            let is_first = kill == 0;
            if is_first && disturbance == Disturbance::RivalAlongside {
                std::thread::sleep(run.moment.mul_f64(self.random.fraction()));
                let other = self.start(rival, &[]);
                self.counts.add("rivals");
                let of_command = self.kill(run, false);
                let of_rival = self.kill(other, false);
                of_command.and(of_rival)?;
                continue;
            }
            let was_killed = self.kill(run, true)?;
            match disturbance {
                Disturbance::RivalBetween if is_first => self.run_rival(rival)?,
                Disturbance::FlipInPartial if was_killed => self.flip(".dwell-partial"),
                Disturbance::FlipInJournal if was_killed => self.flip(".dwell-journal"),
                _ => {}
            }
        }
        let had_rival =
            disturbance != Disturbance::None && self.log.iter().any(|line| line.contains(&stats_name(rival)));
        // Both run to their ends, in either order.
        let mut unfinished = if had_rival { vec![command, rival] } else { vec![command] };
        if self.random.below(2) == 0 {
            unfinished.reverse();
        }
        unfinished.into_iter().try_for_each(|command| self.finish(command))?;
        self.check_folder()
    }

    /// Checks all files after every command has ended with exit code 0.
    fn check_folder(&mut self) -> Result<(), String> {
        for (name, command) in &self.owners {
            let (_, outputs) = COMMANDS[*command];
            let at = outputs.iter().position(|output| output == name).unwrap();
            if self.folder.read(name) != self.expected[*command].files[at] {
                return Err(format!("{name} is not that of the last command that ended with exit code 0"));
            }
        }
        let stats: Vec<String> = (0..COMMANDS.len()).map(stats_name).collect();
        for name in self.folder.names() {
            if self.owners.contains_key(name.as_str()) || stats.contains(&name) {
                continue;
            }
            // A kill before the first journal entry leaves partial files that no journal names.
            // A damaged journal no longer names the partial files, nor the journal that was being written.
            if ![".dwell-partial", ".journal-new"].iter().any(|ending| name.ends_with(ending)) {
                return Err(format!("{name} is left"));
            }
            self.counts.add("partial files left");
        }
        Ok(())
    }
}

#[test]
fn no_kill_leaves_wrong_bytes_with_exit_code_0() {
    let (kills, seed) = (setting("DWELL_KILLS").unwrap_or(40), setting("DWELL_SEED").unwrap_or(1));
    let only = setting("DWELL_TRIAL");
    let expected: Vec<Expected> = (0..COMMANDS.len()).map(undisturbed).collect();
    let mut counts = Counts::default();
    for number in only.unwrap_or(0).. {
        if counts.of("kills") >= kills || only.is_some_and(|only| only != number) {
            break;
        }
        let mut random = Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(number));
        let disturbance = if random.below(2) == 0 { Disturbance::None } else { random.one_of(&DISTURBANCES) };
        counts.add("trials");
        let mut trial = Trial {
            folder: Folder::new(),
            random,
            expected: &expected,
            counts: &mut counts,
            owners: BTreeMap::new(),
            log: Vec::new(),
        };
        if let Err(error) = trial.run(disturbance) {
            let log = trial.log.join("\n");
            let folder = trial.folder.keep();
            panic!(
                "{error}\ntrial {number}, {disturbance:?}, in {}:\n{log}\nto repeat it: DWELL_SEED={seed} \
                 DWELL_TRIAL={number} cargo test -p dwell-cli --test kills",
                folder.display()
            );
        }
    }
    let counts: Vec<String> = counts.0.iter().map(|(what, count)| format!("{what} {count}")).collect();
    println!("soak: {}", counts.join(", "));
}
