//! Kernels, compiled ahead (`cargo xtask kernels`) and loaded when first wanted.

use crate::driver::{Context, Fault, Function, Module};
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Aligned as loaders want it.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

macro_rules! compiled {
    ($name:literal) => {{
        static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!("../kernels/compiled/", $name)));
        &IMAGE.0
    }};
}

/// Where code for device-side launches is: PTX with calls that the device runtime's library answers.
const DEVICE_LAUNCHES: &str = concat!(include_str!("../kernels/compiled/cdp.ptx"), "\0");
/// That library. It comes with CUDA's toolkit, and with the package `nvidia-cuda-runtime` from PyPI.
const LIBRARY: &str = "libcudadevrt.a";

/// A source file's worth of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Tuned,
    PerPixel,
    Levels,
    Paint,
    Peak,
    DeviceLaunches,
}

/// Kernels that are loaded.
#[derive(Debug)]
pub(crate) struct Modules {
    context: Arc<Context>,
    loaded: HashMap<Source, Module>,
    pub(crate) seconds: f64,
}

impl Modules {
    pub(crate) fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), loaded: HashMap::new(), seconds: 0.0 }
    }

    /// A kernel by name.
    pub(crate) fn function(&mut self, source: Source, name: &str) -> Result<Function, Fault> {
        let begun = Instant::now();
        if !self.loaded.contains_key(&source) {
            let module = match source {
                Source::Tuned => Module::load(compiled!("tuned.fatbin"))?,
                Source::PerPixel => Module::load(compiled!("per_pixel.fatbin"))?,
                Source::Levels => Module::load(compiled!("levels.fatbin"))?,
                Source::Paint => Module::load(compiled!("paint.fatbin"))?,
                Source::Peak => Module::load(compiled!("peak.fatbin"))?,
                Source::DeviceLaunches => self.device_launches()?,
            };
            self.loaded.insert(source, module);
        }
        let Some(module) = self.loaded.get(&source) else { return Err(Fault::Lost("no kernels".to_owned())) };
        let function = module.function(name);
        self.seconds += begun.elapsed().as_secs_f64();
        function
    }

    fn device_launches(&self) -> Result<Module, Fault> {
        let library = library().map_err(Fault::Lost)?;
        let ptx = CStr::from_bytes_with_nul(DEVICE_LAUNCHES.as_bytes())
            .map_err(|_| Fault::Lost("kernels with a 0 in them".to_owned()))?;
        self.context.enter()?;
        Module::link(ptx, &library)
    }
}

/// The device runtime's library, wherever it is on this machine. NVIDIA's terms let it be used but not put into a
/// repository like this one: see NOTICE.
pub fn library() -> Result<PathBuf, String> {
    let mut looked = Vec::new();
    let mut look = |path: PathBuf| {
        let found = path.is_file();
        looked.push(path.clone());
        found.then_some(path)
    };
    if let Some(named) = std::env::var_os("DWELL_CUDADEVRT") {
        return look(PathBuf::from(&named))
            .ok_or_else(|| format!("DWELL_CUDADEVRT names no file: {}", named.display()));
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let homes: Vec<PathBuf> = homes.chain([PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")]).collect();
    for home in homes {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib"] {
            if let Some(found) = look(home.join(folder).join(LIBRARY)) {
                return Ok(found);
            }
        }
    }
    Err(format!(
        "kernels that launch kernels need {LIBRARY}, of CUDA's toolkit or the PyPI package nvidia-cuda-runtime; set \
         DWELL_CUDADEVRT to it, or CUDA_HOME"
    ))
}
