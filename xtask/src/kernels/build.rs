//! Compiles sources to the committed bytes: one run of the compiler for each module and architecture, on all cores.

use super::compiler::{Compiler, Toolchain};
use super::ptxas::{self, Functions};
use super::record::{Kernels, Row};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Contents of files by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The compiler's output for all sources.
pub(super) struct Built {
    pub(super) outputs: Files,
    pub(super) kernels: Kernels,
}

/// The output of one run of the compiler.
#[derive(Clone, Copy)]
enum Kind {
    /// Machine code.
    Code(u32),
    Ptx,
    /// PTX that the driver links, and its use of registers on each architecture.
    Relocatable,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(architecture) => write!(out, "sm_{architecture}"),
            Self::Ptx => out.write_str("PTX"),
            Self::Relocatable => out.write_str("relocatable"),
        }
    }
}

/// A module's functions by architecture, or the compiler's error.
type Outcome = Result<Vec<(u32, Functions)>, String>;

/// Compiles the modules in `folder`. Intermediate files stay in `scratch`, an absolute path since the compiler runs in
/// the folder of the sources.
pub(super) fn build(
    compiler: &Compiler,
    folder: &Path,
    modules: &[String],
    scratch: &Path,
) -> Result<Built, Box<dyn std::error::Error>> {
    let toolchain = Toolchain::here();
    let _ = std::fs::remove_dir_all(scratch);
    std::fs::create_dir_all(scratch)?;
    let (relocatable, whole): (Vec<_>, Vec<_>) = modules.iter().partition(|m| toolchain.relocatable.contains(m));
    // The longest runs first.
    let mut pieces: Vec<(&String, Kind)> = relocatable.iter().map(|&module| (module, Kind::Relocatable)).collect();
    for &module in &whole {
        pieces.extend(toolchain.machine_code.iter().map(|&architecture| (module, Kind::Code(architecture))));
        pieces.push((module, Kind::Ptx));
    }
    let outcomes = over_all_cores(&pieces, |&(module, kind)| {
        piece(compiler, &toolchain, folder, module, kind, scratch).map_err(|e| format!("{module}.cu, {kind}: {e}"))
    });
    let mut kernels = Kernels::new();
    // One error for each module: an error on one architecture mostly occurs on all.
    let mut errors = BTreeMap::new();
    for ((module, _), outcome) in pieces.iter().zip(outcomes) {
        match outcome {
            Ok(found) => {
                let rows = kernels.entry((*module).clone()).or_default();
                for (architecture, functions) in found {
                    put(rows, &toolchain.machine_code, architecture, functions);
                }
            }
            Err(error) => {
                errors.entry(module).or_insert(error);
            }
        }
    }
    if !errors.is_empty() {
        return Err(errors.into_values().collect::<Vec<_>>().join("\n").into());
    }
    let mut outputs = Files::new();
    for module in relocatable {
        let name = format!("{module}.ptx");
        let bytes = std::fs::read(scratch.join(&name))?;
        outputs.insert(name, bytes);
    }
    for module in whole {
        let mut images = vec![image("ptx", toolchain.ptx, &scratch.join(format!("{module}.ptx")))];
        let code = toolchain.machine_code.iter();
        images.extend(code.map(|&a| image("elf", a, &scratch.join(format!("{module}.sm_{a}.cubin")))));
        let name = format!("{module}.fatbin");
        compiler.pack(&images, &scratch.join(&name))?;
        let bytes = std::fs::read(scratch.join(&name))?;
        outputs.insert(name, bytes);
    }
    Ok(Built { outputs, kernels })
}

fn image(kind: &str, architecture: u32, file: &Path) -> String {
    format!("kind={kind},sm={architecture},file={}", file.display())
}

fn piece(
    compiler: &Compiler,
    toolchain: &Toolchain,
    folder: &Path,
    module: &str,
    kind: Kind,
    scratch: &Path,
) -> Result<Vec<(u32, Functions)>, Box<dyn std::error::Error>> {
    let source = format!("{module}.cu");
    let ptx = scratch.join(format!("{module}.ptx")).display().to_string();
    let lowest = format!("-arch=compute_{}", toolchain.ptx);
    let code = |source: &str, architecture: u32, more: &[&str]| -> Result<_, Box<dyn std::error::Error>> {
        let into = scratch.join(format!("{module}.sm_{architecture}.cubin")).display().to_string();
        let target = format!("-arch=sm_{architecture}");
        let args = [more, &["-cubin", &target, "-Xptxas=-v", "-o", &into, source]].concat();
        let output = compiler.nvcc(folder, &args)?;
        Ok((architecture, ptxas::parse(&output)?))
    };
    match kind {
        Kind::Code(architecture) => Ok(vec![code(&source, architecture, &[])?]),
        Kind::Ptx => {
            compiler.nvcc(folder, &["-ptx", &lowest, "-o", &ptx, &source])?;
            Ok(Vec::new())
        }
        Kind::Relocatable => {
            compiler.nvcc(folder, &["-rdc=true", "-ptx", &lowest, "-o", &ptx, &source])?;
            toolchain.machine_code.iter().map(|&architecture| code(&ptx, architecture, &["-rdc=true"])).collect()
        }
    }
}

/// Stores the column of an architecture.
fn put(rows: &mut BTreeMap<String, Row>, architectures: &[u32], architecture: u32, functions: Functions) {
    for (function, usage) in functions {
        let row = rows.entry(function).or_insert_with(|| Row::empty(architectures.len()));
        for (cell, _) in row.0.iter_mut().zip(architectures).filter(|(_, a)| **a == architecture) {
            *cell = usage;
        }
    }
}

/// Does the work on every piece. Results are in the order of the pieces.
fn over_all_cores<P: Sync>(pieces: &[P], work: impl Fn(&P) -> Outcome + Sync) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = pieces.get(index) else { return };
                    let outcome = work(piece);
                    done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(index, outcome);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).into_values().collect()
}
