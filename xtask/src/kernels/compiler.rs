//! NVIDIA's compiler from its Python packages: a pinned version on any Linux machine, without installing into the
//! system.

use crate::target;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The packages of `nvcc`. The driver that loads its code must be as new as the toolkit: 580.
const PACKAGES: [&str; 5] = [
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
];

/// Dwells are exact because of IEEE arithmetic, rounded operation by operation: every switch that could change it is
/// explicit. A launch bound that ptxas ignores is a warning, hence an error.
const NVCC: [&str; 7] =
    ["-O3", "-std=c++17", "--fmad=false", "-ftz=false", "-prec-div=true", "-prec-sqrt=true", "-Werror=all-warnings"];

/// Compression to a fifth of the bytes, unpacked once when the driver loads a module. PTX records its compiler options.
const FATBINARY: [&str; 3] = ["-64", "--compress-mode=size", "--cmdline=--fmad false"];

/// Modules that launch kernels from kernels: PTX only, which is linked with the user's own copy of the device runtime
/// (see NOTICE).
const RELOCATABLE: [&str; 1] = ["cdp"];

/// Turing, Ampere twice, Ada, Hopper, Blackwell twice. Code also runs on later minor versions of its major version.
const MACHINE_CODE: [u32; 7] = [75, 80, 86, 89, 90, 100, 120];

/// The lowest version that CUDA 13 compiles for: the driver compiles this PTX for all devices without machine code.
const PTX: u32 = 75;

/// Everything that compiled kernels depend on besides the sources.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Toolchain {
    pub(super) packages: Vec<String>,
    pub(super) nvcc: Vec<String>,
    pub(super) fatbinary: Vec<String>,
    /// Names of modules.
    pub(super) relocatable: Vec<String>,
    /// Compute capabilities, times ten.
    pub(super) machine_code: Vec<u32>,
    pub(super) ptx: u32,
}

impl Toolchain {
    /// The toolchain of this version of the workspace.
    pub(super) fn here() -> Self {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Self {
            packages: owned(&PACKAGES),
            nvcc: owned(&NVCC),
            fatbinary: owned(&FATBINARY),
            relocatable: owned(&RELOCATABLE),
            machine_code: MACHINE_CODE.to_vec(),
            ptx: PTX,
        }
    }
}

/// The installed compiler.
pub(super) struct Compiler {
    bin: PathBuf,
}

impl Compiler {
    /// Installs the compiler below the target folder, unless it is installed.
    pub(super) fn install() -> Result<Self, Box<dyn std::error::Error>> {
        run(Command::new("gcc").arg("--version"), "the CUDA compiler preprocesses with gcc; install it")?;
        let home = target().join("cuda-compiler");
        if let Some(bin) = installed(&home) {
            return Ok(Self { bin });
        }
        println!("installing the CUDA compiler into {}", home.display());
        run(
            Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home),
            "the CUDA compiler comes from Python packages; install python3 with venv (Debian: python3-venv)",
        )?;
        run(
            Command::new(home.join("bin/python"))
                .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
                // The list is complete, and no package is built here.
                .args(["--no-deps", "--only-binary", ":all:"])
                .args(PACKAGES),
            "pip could not install the CUDA compiler",
        )?;
        let bin = installed(&home).ok_or_else(|| format!("pip left no CUDA compiler in {}", home.display()))?;
        Ok(Self { bin })
    }

    /// Runs `nvcc` in the folder of the sources and returns its messages.
    pub(super) fn nvcc(&self, folder: &Path, args: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
        let mut command = Command::new(self.bin.join("nvcc"));
        // Flags and host compilers of the environment are not in the record.
        for name in ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN", "CPATH", "CPLUS_INCLUDE_PATH"] {
            command.env_remove(name);
        }
        let output = run(command.current_dir(folder).args(NVCC).args(args), "nvcc failed")?;
        Ok(String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout))
    }

    /// Packs images (`kind=ptx|elf,sm=NUMBER,file=PATH`) into one file.
    pub(super) fn pack(&self, images: &[String], into: &Path) -> Result<(), Box<dyn std::error::Error>> {
        let mut command = Command::new(self.bin.join("fatbinary"));
        command.args(FATBINARY).arg(format!("--create={}", into.display()));
        run(command.args(images.iter().map(|image| format!("--image3={image}"))), "fatbinary failed")?;
        Ok(())
    }
}

/// The folder of the compiler's programs, if every package is installed in its version.
fn installed(home: &Path) -> Option<PathBuf> {
    let pythons = std::fs::read_dir(home.join("lib")).ok()?.filter_map(Result::ok);
    pythons.map(|python| python.path().join("site-packages")).find_map(|packages| {
        let there = |package: &str| {
            let name = package.replace("==", "-");
            // The version has no hyphen.
            let (name, version) = name.rsplit_once('-')?;
            packages.join(format!("{}-{version}.dist-info", name.replace('-', "_"))).is_dir().then_some(())
        };
        PACKAGES.iter().all(|package| there(package).is_some()).then(|| packages.join("nvidia/cu13/bin"))
    })
}

/// Runs a command to its end; an error contains its output.
fn run(command: &mut Command, advice: &str) -> Result<Output, Box<dyn std::error::Error>> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{advice}: {program}: {e}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let messages = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).trim().to_owned());
    Err(format!("{advice}: {program} ended with {}\n{}", output.status, messages.join("\n").trim()).into())
}
