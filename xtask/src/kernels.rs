//! CUDA kernels, compiled ahead of time and committed: building `dwell` needs no CUDA toolkit, and running it needs the
//! driver only.
//!
//! `generated.cuh` is written first, from the constants and structs that `dwell-cuda` shares with the kernels. Then
//! every `.cu` of `crates/dwell-cuda/kernels` is compiled to one file of `compiled/`: machine code for every
//! architecture and PTX for later ones. `compiled/record.toml` records the sources, the compiler and the use of
//! registers. The compiler gives the same bytes in every folder (sources are named relative to theirs), so that
//! `--check` compares all of it.

mod build;
mod compiler;
mod ptxas;
mod record;

use crate::{Done, root, target};
use build::{Built, Files, build};
use compiler::{Compiler, Toolchain};
use dwell::store::{self, Output, PartialFiles};
use record::{Digests, Record, differences, stale};
use std::io::Write;
use std::path::Path;

/// The folder of the sources, relative to the root of the workspace.
const FOLDER: &str = "crates/dwell-cuda/kernels";

/// The header with the constants and struct layouts that Rust and the kernels share.
const HEADER: &str = "generated.cuh";

const RECORD: &str = "record.toml";

/// Writes the shared header, compiles every kernel and writes the files to commit; prints which functions use more or
/// less than before.
pub(crate) fn write() -> Done {
    let folder = root().join(FOLDER);
    let compiled = folder.join("compiled");
    store::write_text(&folder.join(HEADER), &dwell_cuda::header(), &PartialFiles::default())?;
    let sources = sources(&folder)?;
    let Some(modules) = modules(&sources, &compiled) else { return Ok(()) };
    let built = build(&Compiler::install()?, &folder, &modules, &target().join("cuda-kernels"))?;
    std::fs::create_dir_all(&compiled)?;
    for (name, bytes) in &built.outputs {
        let mut output = Output::create(&compiled.join(name), false, &PartialFiles::default())?;
        output.write_all(bytes).map_err(|e| output.error(e))?;
        output.commit()?;
    }
    let outputs = digests(&built);
    for name in outputs_on_disk(&compiled)?.into_keys().filter(|name| !outputs.contains_key(name)) {
        std::fs::remove_file(compiled.join(&name)).map_err(|e| format!("{name}: {e}"))?;
        println!("{name} removed: its source no longer exists");
    }
    let record = Record { toolchain: Toolchain::here(), sources, outputs, kernels: built.kernels };
    // A record that cannot be read is replaced, without a comparison.
    if let Ok(before) = read_record(&compiled) {
        for difference in differences(&before, &record) {
            println!("{difference}");
        }
    }
    store::write_text(&compiled.join(RECORD), &record.to_string(), &PartialFiles::default())?;
    for (name, bytes) in &built.outputs {
        println!("{FOLDER}/compiled/{name}: {} bytes", bytes.len());
    }
    Ok(())
}

/// Compares the committed files with their sources: the header with Rust, then digests, then by compiling again.
pub(crate) fn check() -> Done {
    let folder = root().join(FOLDER);
    let compiled = folder.join("compiled");
    let sources = sources(&folder)?;
    let header = std::fs::read_to_string(folder.join(HEADER)).unwrap_or_default();
    if header.replace("\r\n", "\n") != dwell_cuda::header() {
        return Err(format!("{FOLDER}/{HEADER} is stale: run `cargo xtask kernels`").into());
    }
    let Some(modules) = modules(&sources, &compiled) else { return Ok(()) };
    let record = read_record(&compiled)?;
    let complaints = stale(&record, &Toolchain::here(), &sources, &outputs_on_disk(&compiled)?);
    if !complaints.is_empty() {
        let complaints = listed(&complaints);
        return Err(format!("the compiled kernels are stale: run `cargo xtask kernels`:{complaints}").into());
    }
    let built = build(&Compiler::install()?, &folder, &modules, &target().join("cuda-kernels"))?;
    let outputs = digests(&built);
    let fresh = Record { toolchain: Toolchain::here(), sources, outputs, kernels: built.kernels };
    let worse: Vec<_> = differences(&record, &fresh).into_iter().filter(|d| d.is_worse()).collect();
    if !worse.is_empty() {
        return Err(format!("kernels use more than {RECORD} says:{}", listed(&worse)).into());
    }
    let mut complaints = Vec::new();
    for (name, digest) in &fresh.outputs {
        if record.outputs.get(name) != Some(digest) {
            complaints.push(format!("{name}: the compiled bytes differ from the committed ones"));
        }
    }
    if record.kernels != fresh.kernels {
        complaints.push(format!("the use of registers, stack or shared memory differs from {RECORD}"));
    }
    if !complaints.is_empty() {
        return Err(format!(
            "sources and flags are unchanged, but the compiler's output differs (headers of this machine's C++ compiler?):{}",
            listed(&complaints)
        )
        .into());
    }
    let functions: usize = record.kernels.values().map(std::collections::BTreeMap::len).sum();
    println!(
        "{} files of CUDA code with {functions} functions equal the output of their sources",
        record.outputs.len()
    );
    Ok(())
}

/// The names of the modules, without `.cu`. None where there is nothing to compile, with a message.
fn modules(sources: &Digests, compiled: &Path) -> Option<Vec<String>> {
    let modules: Vec<_> = sources.keys().filter_map(|name| name.strip_suffix(".cu")).map(str::to_owned).collect();
    if modules.is_empty() && !compiled.exists() {
        println!("no kernels to compile: {FOLDER} has no .cu file");
        return None;
    }
    Some(modules)
}

/// Digests of the sources with line ends as committed: a checkout with other line ends has the same digests.
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

/// The files of a folder; none if the folder does not exist.
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
    text.parse().map_err(|e| format!("{}: {e}; `cargo xtask kernels` replaces it", path.display()).into())
}

fn listed(lines: &[impl std::fmt::Display]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}
