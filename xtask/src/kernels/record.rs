//! `compiled/record.toml`: the sources, the compiler and the resources of the compiled kernels.

use super::compiler::Toolchain;
use super::ptxas::Usage;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// BLAKE3 in hexadecimal digits, by file name.
pub(super) type Digests = BTreeMap<String, String>;

/// A function on every architecture, in the order of [`Toolchain::machine_code`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Columns")]
pub(super) struct Row(pub(super) Vec<Usage>);

/// Functions by module and name.
pub(super) type Kernels = BTreeMap<String, BTreeMap<String, Row>>;

/// The contents of the file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) toolchain: Toolchain,
    pub(super) sources: Digests,
    pub(super) outputs: Digests,
    pub(super) kernels: Kernels,
}

/// A row as it is written: columns that are 0 everywhere are left out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct Columns {
    registers: Vec<u32>,
    spill_stores: Vec<u32>,
    spill_loads: Vec<u32>,
    stack: Vec<u32>,
    shared: Vec<u32>,
}

impl Row {
    /// A function that uses nothing on any of so many architectures.
    pub(super) fn empty(architectures: usize) -> Self {
        Self(vec![Usage::default(); architectures])
    }
}

impl TryFrom<Columns> for Row {
    type Error = String;

    fn try_from(columns: Columns) -> Result<Self, String> {
        let Columns { registers, spill_stores, spill_loads, stack, shared } = columns;
        let all = [registers, spill_stores, spill_loads, stack, shared];
        let length = all.iter().map(Vec::len).max().unwrap_or(0);
        if all.iter().any(|column| !column.is_empty() && column.len() != length) {
            return Err("a function has numbers for some architectures only".to_owned());
        }
        let at = |column: usize, i: usize| all[column].get(i).copied().unwrap_or(0);
        let usage = |i| Usage {
            registers: at(0, i),
            spill_stores: at(1, i),
            spill_loads: at(2, i),
            stack: at(3, i),
            shared: at(4, i),
        };
        Ok(Self((0..length).map(usage).collect()))
    }
}

/// The name of a column, and its number of a function.
type Column = (&'static str, fn(&Usage) -> u32);

/// Columns; more of the first three is worse.
const COLUMNS: [Column; 5] = [
    ("registers", |usage| usage.registers),
    ("spill_stores", |usage| usage.spill_stores),
    ("spill_loads", |usage| usage.spill_loads),
    ("stack", |usage| usage.stack),
    ("shared", |usage| usage.shared),
];
const WORSE: usize = 3;

impl FromStr for Record {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut record: Self = toml::from_str(text).map_err(|e| e.to_string())?;
        let count = record.toolchain.machine_code.len();
        for (module, rows) in &mut record.kernels {
            for (function, row) in rows {
                match row.0.len() {
                    // A function that uses nothing has no numbers.
                    0 => *row = Row::empty(count),
                    n if n == count => {}
                    n => return Err(format!("{module}, {function}: {n} numbers for {count} architectures")),
                }
            }
        }
        Ok(record)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Toolchain { packages, nvcc, fatbinary, relocatable, machine_code, ptx } = &self.toolchain;
        writeln!(
            out,
            "# Written by `cargo xtask kernels`, compared with the sources by `cargo xtask kernels --check`."
        )?;
        writeln!(out, "\n[toolchain]")?;
        for (name, words) in
            [("packages", packages), ("nvcc", nvcc), ("fatbinary", fatbinary), ("relocatable", relocatable)]
        {
            let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
            writeln!(out, "{name} = [{}]", words.join(", "))?;
        }
        writeln!(out, "machine_code = {machine_code:?}")?;
        writeln!(out, "ptx = {ptx}")?;
        for (name, digests) in [("sources", &self.sources), ("outputs", &self.outputs)] {
            writeln!(out, "\n# BLAKE3\n[{name}]")?;
            for (file, digest) in digests {
                writeln!(out, "{} = {}", quoted(file), quoted(digest))?;
            }
        }
        writeln!(
            out,
            "\n# Registers of a thread; bytes: of instructions that spill, of stack of a thread, of shared memory"
        )?;
        writeln!(out, "# of a block. Numbers by architecture, as in machine_code; none where all are 0.")?;
        writeln!(out, "[kernels]")?;
        for (module, rows) in &self.kernels {
            writeln!(out, "\n[kernels.{}]", key(module))?;
            for (function, row) in rows {
                let columns = COLUMNS.iter().map(|(name, of)| (name, row.0.iter().map(of).collect::<Vec<_>>()));
                let columns = columns.filter(|(_, numbers)| numbers.iter().any(|&number| number > 0));
                let columns: Vec<_> = columns.map(|(name, numbers)| format!("{name} = {numbers:?}")).collect();
                writeln!(out, "{} = {{ {} }}", key(function), columns.join(", "))?;
            }
        }
        Ok(())
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// Names of C need no quotes; clones that the compiler makes of a function have a `$` in theirs.
fn key(name: &str) -> String {
    let bare = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if bare { name.to_owned() } else { quoted(name) }
}

/// The differences between the tree and the record, a line each, without compiling.
pub(super) fn stale(record: &Record, toolchain: &Toolchain, sources: &Digests, outputs: &Digests) -> Vec<String> {
    let mut complaints = Vec::new();
    if record.toolchain != *toolchain {
        complaints.push("compiler, flags or architectures changed since the kernels were compiled".to_owned());
    }
    for name in names(&record.sources, sources) {
        complaints.extend(match (record.sources.get(name), sources.get(name)) {
            (Some(then), Some(now)) if then == now => None,
            (Some(_), Some(_)) => Some(format!("{name} changed since the kernels were compiled")),
            (Some(_), None) => Some(format!("{name} no longer exists, but its output does")),
            _ => Some(format!("{name} was never compiled")),
        });
    }
    for name in names(&record.outputs, outputs) {
        complaints.extend(match (record.outputs.get(name), outputs.get(name)) {
            (Some(then), Some(now)) if then == now => None,
            (Some(_), Some(_)) => Some(format!("compiled/{name} changed since it was compiled")),
            (Some(_), None) => Some(format!("compiled/{name} is missing")),
            _ => Some(format!("compiled/{name} has no source")),
        });
    }
    complaints
}

/// The names in either map.
fn names<'a, T>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> BTreeSet<&'a String> {
    a.keys().chain(b.keys()).collect()
}

/// A number that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    module: String,
    function: String,
    architecture: u32,
    /// Index into [`COLUMNS`].
    column: usize,
    before: u32,
    after: u32,
}

impl Difference {
    /// Whether the change may cost speed: more registers leave room for fewer threads, spills are memory traffic.
    pub(super) fn is_worse(&self) -> bool {
        self.column < WORSE && self.after > self.before
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, function, architecture, column, before, after } = self;
        let what = COLUMNS[*column].0;
        write!(out, "{module}: {function} on sm_{architecture}: {what} {after}, recorded {before}")
    }
}

/// Every number in which two records differ, for the functions and architectures that both have.
pub(super) fn differences(before: &Record, after: &Record) -> Vec<Difference> {
    let place = |architecture| before.toolchain.machine_code.iter().position(|&a| a == architecture);
    let mut found = Vec::new();
    for (module, rows) in &after.kernels {
        for (function, row) in rows {
            let Some(old) = before.kernels.get(module).and_then(|rows| rows.get(function)) else { continue };
            for (&architecture, new) in after.toolchain.machine_code.iter().zip(&row.0) {
                let Some(old) = place(architecture).and_then(|i| old.0.get(i)) else { continue };
                for (column, (_, of)) in COLUMNS.iter().enumerate() {
                    let (before, after) = (of(old), of(new));
                    if before != after {
                        let (module, function) = (module.clone(), function.clone());
                        found.push(Difference { module, function, architecture, column, before, after });
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(registers: u32, spills: u32, shared: u32) -> Usage {
        Usage { registers, spill_stores: spills, spill_loads: spills, shared, ..Usage::default() }
    }

    fn record() -> Record {
        let mut toolchain = Toolchain::here();
        toolchain.machine_code = vec![75, 90];
        let digests = |names: &[&str]| names.iter().map(|&n| (n.to_owned(), format!("digest of {n}"))).collect();
        let rows = [
            ("dwells_f32", Row(vec![usage(17, 0, 256), usage(18, 0, 256)])),
            ("_Z5heavyPdj$1", Row(vec![usage(0, 0, 0), usage(0, 8, 0)])),
            ("_Z5lightv", Row::empty(2)),
        ];
        Record {
            toolchain,
            sources: digests(&["number.cuh", "tuned.cu"]),
            outputs: digests(&["tuned.fatbin"]),
            kernels: [("tuned".to_owned(), rows.map(|(name, row)| (name.to_owned(), row)).into())].into(),
        }
    }

    #[test]
    fn a_record_reads_back_from_its_text() {
        let text = record().to_string();
        assert_eq!(text.parse::<Record>().unwrap(), record(), "{text}");
        assert!(text.contains("\ndwells_f32 = { registers = [17, 18], shared = [256, 256] }\n"), "{text}");
        assert!(text.contains("\n\"_Z5heavyPdj$1\" = { spill_stores = [0, 8], spill_loads = [0, 8] }\n"), "{text}");
    }

    #[test]
    fn numbers_for_other_architectures_are_refused() {
        let text = record().to_string();
        let error = text.replace("machine_code = [75, 90]", "machine_code = [75]").parse::<Record>().unwrap_err();
        assert!(error.contains("2 numbers for 1 architectures"), "{error}");
        let error = text.replace("[17, 18]", "[17]").parse::<Record>().unwrap_err();
        assert!(error.contains("some architectures only"), "{error}");
        assert!(text.replace("shared", "shred").parse::<Record>().is_err());
    }

    #[test]
    fn changed_files_are_named() {
        let record = record();
        let Record { toolchain, sources, outputs, .. } = record.clone();
        assert!(stale(&record, &toolchain, &sources, &outputs).is_empty());
        let mut other = toolchain.clone();
        other.nvcc.push("--use_fast_math".to_owned());
        let mut changed = sources.clone();
        changed.insert("number.cuh".to_owned(), "another".to_owned());
        changed.insert("new.cu".to_owned(), "new".to_owned());
        changed.remove("tuned.cu");
        let stray = [("old.fatbin".to_owned(), "old".to_owned())].into();
        let complaints = stale(&record, &other, &changed, &stray);
        let expected = [
            "compiler, flags or architectures changed since the kernels were compiled",
            "new.cu was never compiled",
            "number.cuh changed since the kernels were compiled",
            "tuned.cu no longer exists, but its output does",
            "compiled/old.fatbin has no source",
            "compiled/tuned.fatbin is missing",
        ];
        assert_eq!(complaints, expected);
        let mut edited = outputs;
        edited.insert("tuned.fatbin".to_owned(), "edited".to_owned());
        assert_eq!(
            stale(&record, &toolchain, &sources, &edited),
            ["compiled/tuned.fatbin changed since it was compiled"]
        );
    }

    #[test]
    fn more_registers_and_spills_are_worse() {
        let before = record();
        let mut after = before.clone();
        assert!(differences(&before, &after).is_empty());
        let rows = after.kernels.get_mut("tuned").unwrap();
        rows.insert("dwells_f32".to_owned(), Row(vec![usage(16, 0, 512), usage(20, 4, 256)]));
        let (worse, other): (Vec<_>, Vec<_>) = differences(&before, &after).into_iter().partition(|d| d.is_worse());
        let text = |found: Vec<Difference>| found.iter().map(ToString::to_string).collect::<Vec<_>>();
        let expected = [
            "tuned: dwells_f32 on sm_90: registers 20, recorded 18",
            "tuned: dwells_f32 on sm_90: spill_stores 4, recorded 0",
            "tuned: dwells_f32 on sm_90: spill_loads 4, recorded 0",
        ];
        assert_eq!(text(worse), expected);
        let expected = [
            "tuned: dwells_f32 on sm_75: registers 16, recorded 17",
            "tuned: dwells_f32 on sm_75: shared 512, recorded 256",
        ];
        assert_eq!(text(other), expected);
    }

    #[test]
    fn architectures_and_functions_may_come_and_go() {
        let before = record();
        let mut after = before.clone();
        after.toolchain.machine_code = vec![90, 120];
        let rows = after.kernels.get_mut("tuned").unwrap();
        rows.remove("_Z5lightv");
        rows.insert("new".to_owned(), Row(vec![usage(99, 0, 0), usage(99, 0, 0)]));
        rows.insert("dwells_f32".to_owned(), Row(vec![usage(20, 0, 256), usage(99, 0, 256)]));
        rows.insert("_Z5heavyPdj$1".to_owned(), Row(vec![usage(0, 8, 0), usage(0, 99, 0)]));
        let found: Vec<_> = differences(&before, &after).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["tuned: dwells_f32 on sm_90: registers 20, recorded 18"]);
    }
}
