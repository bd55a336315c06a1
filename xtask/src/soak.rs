//! Long tests of reliability: random kills, lost power, gigapixels, mutated inputs.
//!
//! Every random choice follows from one seed, which is printed. A failure prints how to repeat it. `--record` writes the
//! results into the table of docs/reliability.md.

mod fuzz;

use crate::{Done, cargo, root, target};
use dwell::store::{self, PartialFiles};
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The table of results in docs/reliability.md is between these lines.
const TABLE_BEGIN: &str = "<!-- soak: results -->\n";
const TABLE_END: &str = "<!-- soak: end -->\n";
const TABLE_HEAD: &str = "| date | processor | commit | seed | what | result |\n|---|---|---|---|---|---|\n";

/// Bytes by which the peak memory may exceed the plan, besides a tenth of the plan.
const SLACK: u64 = 32 << 20;

/// A row of the table, without the columns that all rows of a run share.
struct Row {
    what: String,
    result: String,
}

/// The amount of each test; 0 leaves it out.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Amounts {
    kills: u64,
    power: u64,
    gigapixels: u64,
    fuzz: u64,
}

/// The amounts without flags.
const USUAL: Amounts = Amounts { kills: 1000, power: 20, gigapixels: 100, fuzz: 10_000_000 };

/// The flags.
#[derive(Debug, PartialEq)]
struct Options<'a> {
    amounts: Amounts,
    seed: u64,
    record: bool,
    /// The only fuzz target that is run, if given.
    target: Option<&'a str>,
}

impl<'a> Options<'a> {
    fn parse(words: &[&'a str]) -> Result<Self, String> {
        let amounts = Amounts { kills: 0, power: 0, gigapixels: 0, fuzz: 0 };
        let mut options = Self { amounts, seed: 1, record: false, target: None };
        let mut words = words.iter();
        while let Some(flag) = words.next() {
            let amounts = &mut options.amounts;
            let value = match *flag {
                "--record" => {
                    options.record = true;
                    continue;
                }
                "--target" => {
                    options.target = Some(words.next().ok_or("soak: --target needs the name of a fuzz target")?);
                    continue;
                }
                "--kills" => &mut amounts.kills,
                "--power" => &mut amounts.power,
                "--gigapixels" => &mut amounts.gigapixels,
                "--fuzz" => &mut amounts.fuzz,
                "--seed" => &mut options.seed,
                other => return Err(format!("soak: {other} is not known; `cargo xtask` lists the flags")),
            };
            let text = words.next().ok_or_else(|| format!("soak: {flag} needs a number"))?;
            *value = text.parse().map_err(|_| format!("soak: {flag} {text} is no whole number"))?;
        }
        if options.amounts == (Amounts { kills: 0, power: 0, gigapixels: 0, fuzz: 0 }) {
            options.amounts = USUAL;
        }
        Ok(options)
    }
}

/// Runs the tests that the flags select.
pub(crate) fn run(words: &[&str]) -> Done {
    if let ["--input", name, path] = words {
        return fuzz::run_stored(name, Path::new(path));
    }
    let Options { amounts, seed, record, target } = Options::parse(words)?;
    // Read before the tests, which are built first: the files may be edited while they run.
    let commit = commit()?;
    println!("seed {seed}");
    let mut rows = Vec::new();
    if amounts.fuzz > 0 {
        let row = fuzz::run(amounts.fuzz, seed, target)?;
        // The table comes after a build of the program, which names the processor.
        println!("{}: {}", row.what, row.result);
        rows.push(row);
    }
    if amounts.kills > 0 {
        let settings = [("DWELL_KILLS", amounts.kills), ("DWELL_SEED", seed)];
        let result = test(&["-p", "dwell-cli", "--test", "kills"], &settings)?;
        rows.push(Row { what: "random SIGKILLs of renders that share outputs".to_owned(), result });
    }
    if amounts.power > 0 {
        let result = test(&["-p", "dwell", "--lib", "survival"], &[("DWELL_SOAK", amounts.power)])?;
        rows.push(Row {
            what: format!("lost power and failing operations, {} times the choices", amounts.power),
            result,
        });
    }
    if amounts.gigapixels > 0 {
        for format in ["png", "npy"] {
            rows.push(gigapixels(amounts.gigapixels, format)?);
        }
    }
    let table = table(&rows, seed, &commit)?;
    print!("{TABLE_HEAD}{table}");
    if record { write(&table) } else { Ok(()) }
}

/// The commit, with a mark if a file other than the record itself is changed.
fn commit() -> Result<String, Box<dyn std::error::Error>> {
    let commit = output_of(Command::new("git").args(["rev-parse", "--short", "HEAD"]))?;
    let changed =
        output_of(Command::new("git").args(["status", "--porcelain", "-uno", "--", ".", ":!docs/reliability.md"]))?;
    Ok(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

/// Runs tests of a release build. Returns the texts that they print after `soak: `.
fn test(what: &[&str], settings: &[(&str, u64)]) -> Result<String, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut command = cargo();
    command.args(["test", "--release", "--locked"]).args(what).args(["--", "--nocapture"]).current_dir(root());
    for (name, value) in settings {
        command.env(name, value.to_string());
    }
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut results = Vec::new();
    if let Some(out) = child.stdout.take() {
        for line in BufReader::new(out).lines() {
            let line = line?;
            println!("{line}");
            results.extend(line.split_once("soak: ").map(|(_, result)| result.to_owned()));
        }
    }
    if !child.wait()?.success() {
        let settings: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        return Err(format!("{} cargo test --release {} failed", settings.join(" "), what.join(" ")).into());
    }
    results.push(format!("{:.0} s", began.elapsed().as_secs_f64()));
    Ok(results.join("; "))
}

/// The program of a release build.
fn program() -> Result<Command, Box<dyn std::error::Error>> {
    let status = cargo().args(["build", "--release", "--locked", "-p", "dwell-cli"]).current_dir(root()).status()?;
    if !status.success() {
        return Err("the release build failed".into());
    }
    Ok(Command::new(target().join("release/dwell")))
}

/// Renders an image of so many gigapixels into /dev/null and compares its memory with the plan.
fn gigapixels(count: u64, format: &str) -> Result<Row, Box<dyn std::error::Error>> {
    let folder = target().join("soak");
    std::fs::create_dir_all(&folder)?;
    let stats = folder.join(format!("{format}.json"));
    let size = format!("32768x{}", count * 32_768);
    let mut command = program()?;
    command.args(["render", "--bounds", "-2,1,-1,1", "--size", &size, "--max-iter", "64", "--engine", "cpu", "-q"]);
    command.args(["--format", format, "-o", "/dev/null", "--stats"]).arg(&stats);
    println!("{command:?}");
    if !command.status()?.success() {
        return Err(format!("{command:?} failed").into());
    }
    let stats: serde_json::Value = serde_json::from_slice(&std::fs::read(&stats)?)?;
    let bytes = |key: &str| stats[key].as_u64().ok_or_else(|| format!("the statistics have no {key}"));
    let (planned, peak) = (bytes("planned_memory_bytes")?, bytes("peak_memory_bytes")?);
    if peak > planned + planned / 10 + SLACK {
        return Err(format!("{command:?} took {peak} bytes of memory, planned were {planned}").into());
    }
    let seconds = stats["seconds"]["total"].as_f64().unwrap_or(0.0);
    let result = format!("{} MiB of memory at most, {} MiB planned; {seconds:.0} s", peak >> 20, planned >> 20);
    Ok(Row { what: format!("gigapixels into /dev/null as {format}: {count}"), result })
}

/// Peak memory of this process in MiB, where the system reports it.
fn peak_mebibytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().strip_suffix(" kB")?;
    Some(kib.trim().parse::<u64>().ok()? >> 10)
}

/// The output of a program, without the end of its line.
fn output_of(command: &mut Command) -> Result<String, Box<dyn std::error::Error>> {
    let output = command.current_dir(root()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed").into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// The rows of a run.
fn table(rows: &[Row], seed: u64, commit: &str) -> Result<String, Box<dyn std::error::Error>> {
    let date = output_of(Command::new("date").args(["-u", "+%F"]))?;
    let info: serde_json::Value = serde_json::from_str(&output_of(program()?.args(["info", "--json"]))?)?;
    let processor = info["processor"].as_str().unwrap_or("unknown");
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut table = String::new();
    for Row { what, result } in rows {
        writeln!(table, "| {date} | {processor}, {threads} threads | {commit} | {seed} | {what} | {result} |")?;
    }
    Ok(table)
}

/// Writes the rows into docs/reliability.md. A row of an earlier run of the same test is replaced.
fn write(rows: &str) -> Done {
    let path = root().join("docs/reliability.md");
    let text = std::fs::read_to_string(&path)?;
    let text = with_rows(&text, rows).ok_or("docs/reliability.md has no table of results between its markers")?;
    store::write_text(&path, &text, &PartialFiles::default())?;
    println!("wrote {}", path.display());
    Ok(())
}

/// A text with rows in its table.
fn with_rows(text: &str, rows: &str) -> Option<String> {
    /// What a row is about, without its amounts.
    fn test(row: &str) -> Option<String> {
        Some(row.split(" | ").nth(4)?.chars().filter(|c| !c.is_ascii_digit()).collect())
    }
    let (before, rest) = text.split_once(TABLE_BEGIN)?;
    let (old, after) = rest.split_once(TABLE_END)?;
    let renewed: Vec<_> = rows.lines().filter_map(test).collect();
    let kept = old.lines().skip(2).filter(|row| test(row).is_some_and(|test| !renewed.contains(&test)));
    let kept: String = kept.flat_map(|row| [row, "\n"]).collect();
    Some(format!("{before}{TABLE_BEGIN}{TABLE_HEAD}{kept}{rows}{TABLE_END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_select_tests_and_none_selects_all() {
        let parse = Options::parse;
        assert_eq!(parse(&[]).unwrap(), Options { amounts: USUAL, seed: 1, record: false, target: None });
        let some = parse(&["--kills", "7", "--record", "--seed", "3", "--target", "palette"]).unwrap();
        let amounts = Amounts { kills: 7, power: 0, gigapixels: 0, fuzz: 0 };
        assert_eq!(some, Options { amounts, seed: 3, record: true, target: Some("palette") });
        assert!(parse(&["--target"]).is_err());
        assert!(parse(&["--kills"]).is_err() && parse(&["--kills", "x"]).is_err() && parse(&["--kill", "7"]).is_err());
    }

    #[test]
    fn rows_replace_those_of_the_same_test() {
        let row = |what: &str, result: &str| format!("| d | p | c | 1 | {what} | {result} |\n");
        let table = |rows: &str| format!("a\n{TABLE_BEGIN}{TABLE_HEAD}{rows}{TABLE_END}b\n");
        let (one, two) = (row("5 gigapixels as png", "x"), row("kills", "y"));
        let first = with_rows(&table(""), &format!("{one}{two}")).unwrap();
        assert_eq!(first, table(&format!("{one}{two}")));
        let new = row("90 gigapixels as png", "z");
        assert_eq!(with_rows(&first, &new).unwrap(), table(&format!("{two}{new}")));
        assert_eq!(with_rows("a\n", &new), None);
    }

    #[test]
    fn the_document_has_the_table() {
        let text = std::fs::read_to_string(root().join("docs/reliability.md")).unwrap();
        assert!(with_rows(&text, "").is_some());
    }
}
