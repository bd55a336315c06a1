//! CUDA kernels, compiled ahead of time and committed: who builds `dwell` needs no CUDA toolkit, who runs it only the
//! driver.
//!
//! Every `.cu` of `crates/dwell-cuda/kernels` becomes one file of `compiled/`: machine code of every architecture and
//! PTX for those to come. `compiled/record.toml` says from what, by what and with which use of registers. The compiler
//! gives the same bytes in every folder (sources are named relative to theirs), so that `--check` asks for all of it.

mod build;
mod compiler;
mod ptxas;
mod record;

use crate::{Done, root, target};
use build::{Built, Files, build};
use compiler::{Compiler, Toolchain};
use dwell::store::{self, Leftovers, Output};
use record::{Digests, Record, differences, stale};
use std::io::Write;
use std::path::Path;

/// The sources, relative to the root of the workspace.
const FOLDER: &str = "crates/dwell-cuda/kernels";

const RECORD: &str = "record.toml";

/// Compiles every kernel and writes what is committed; says what uses more or less than before.
pub(crate) fn write() -> Done {
    let folder = root().join(FOLDER);
    let compiled = folder.join("compiled");
    let sources = sources(&folder)?;
    let Some(modules) = modules(&sources, &compiled) else { return Ok(()) };
    let built = build(&Compiler::install()?, &folder, &modules, &target().join("cuda-kernels"))?;
    std::fs::create_dir_all(&compiled)?;
    for (name, bytes) in &built.outputs {
        let mut output = Output::create(&compiled.join(name), false, &Leftovers::default())?;
        output.write_all(bytes).map_err(|e| output.error(e))?;
        output.commit()?;
    }
    let outputs = digests(&built);
    for name in outputs_on_disk(&compiled)?.into_keys().filter(|name| !outputs.contains_key(name)) {
        std::fs::remove_file(compiled.join(&name)).map_err(|e| format!("{name}: {e}"))?;
        println!("{name} removed: its source is gone");
    }
    let record = Record { toolchain: Toolchain::here(), sources, outputs, kernels: built.kernels };
    // A record that cannot be read is replaced; there is nothing to compare with then.
    if let Ok(before) = read_record(&compiled) {
        for difference in differences(&before, &record) {
            println!("{difference}");
        }
    }
    store::write_text(&compiled.join(RECORD), &record.to_string(), &Leftovers::default())?;
    for (name, bytes) in &built.outputs {
        println!("{FOLDER}/compiled/{name}: {} bytes", bytes.len());
    }
    Ok(())
}

/// Holds what is committed against its sources, first by digests, then by compiling anew.
pub(crate) fn check() -> Done {
    let folder = root().join(FOLDER);
    let compiled = folder.join("compiled");
    let sources = sources(&folder)?;
    let Some(modules) = modules(&sources, &compiled) else { return Ok(()) };
    let record = read_record(&compiled)?;
    let complaints = stale(&record, &Toolchain::here(), &sources, &outputs_on_disk(&compiled)?);
    if !complaints.is_empty() {
        let complaints = listed(&complaints);
        return Err(format!("the kernels are to be compiled anew, by `cargo xtask kernels`:{complaints}").into());
    }
    let built = build(&Compiler::install()?, &folder, &modules, &target().join("cuda-kernels"))?;
    let outputs = digests(&built);
    let fresh = Record { toolchain: Toolchain::here(), sources, outputs, kernels: built.kernels };
    let worse: Vec<_> = differences(&record, &fresh).into_iter().filter(|d| d.is_worse()).collect();
    if !worse.is_empty() {
        return Err(format!("kernels need more than their record says:{}", listed(&worse)).into());
    }
    let mut complaints = Vec::new();
    for (name, digest) in &fresh.outputs {
        if record.outputs.get(name) != Some(digest) {
            complaints.push(format!("{name} compiles to other bytes than those committed"));
        }
    }
    if record.kernels != fresh.kernels {
        complaints.push(format!("the use of registers, stack or shared memory is not that of {RECORD}"));
    }
    if !complaints.is_empty() {
        return Err(format!(
            "neither sources nor flags changed, but what they compile to (headers of this machine's C++ compiler?):{}",
            listed(&complaints)
        )
        .into());
    }
    let functions: usize = record.kernels.values().map(std::collections::BTreeMap::len).sum();
    println!(
        "{} files of CUDA code with {functions} functions are what their sources compile to",
        record.outputs.len()
    );
    Ok(())
}

/// The names of the modules, without `.cu`; none where nothing is to be compiled, which is said.
fn modules(sources: &Digests, compiled: &Path) -> Option<Vec<String>> {
    let modules: Vec<_> = sources.keys().filter_map(|name| name.strip_suffix(".cu")).map(str::to_owned).collect();
    if modules.is_empty() && !compiled.exists() {
        println!("there are no kernels to compile: {FOLDER} has no .cu file");
        return None;
    }
    Some(modules)
}

/// Digests of the sources, as committed: a checkout with other line ends has the same.
fn sources(folder: &Path) -> Result<Digests, Box<dyn std::error::Error>> {
    let mut digests = Digests::new();
    for (name, bytes) in files(folder)? {
        if name.ends_with(".cu") || name.ends_with(".cuh") {
            let text = String::from_utf8(bytes).map_err(|e| format!("{FOLDER}/{name}: {e}"))?;
            digests.insert(name, digest(text.replace("\r\n", "\n").as_bytes()));
        }
    }
    Ok(digests)
}

fn outputs_on_disk(compiled: &Path) -> Result<Digests, Box<dyn std::error::Error>> {
    let files = files(compiled)?.into_iter().filter(|(name, _)| name != RECORD);
    Ok(files.map(|(name, bytes)| (name, digest(&bytes))).collect())
}

fn digests(built: &Built) -> Digests {
    built.outputs.iter().map(|(name, bytes)| (name.clone(), digest(bytes))).collect()
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The files of a folder, none if there is no folder.
fn files(folder: &Path) -> Result<Files, Box<dyn std::error::Error>> {
    let mut files = Files::new();
    if !folder.exists() {
        return Ok(files);
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let name = entry.file_name().to_string_lossy().into_owned();
            files.insert(name, std::fs::read(entry.path())?);
        }
    }
    Ok(files)
}

fn read_record(compiled: &Path) -> Result<Record, Box<dyn std::error::Error>> {
    let path = compiled.join(RECORD);
    let text = std::fs::read_to_string(&path)
        .map_err(|e| format!("{}: {e}; `cargo xtask kernels` writes it", path.display()))?;
    text.parse().map_err(|e| format!("{}: {e}; `cargo xtask kernels` writes it anew", path.display()).into())
}

fn listed(lines: &[impl std::fmt::Display]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
