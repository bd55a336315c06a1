//! Kernels, compiled ahead (`cargo xtask kernels`) and loaded when they are first needed.

#![expect(unsafe_code, reason = "a function of a module has no types; each block says which it has")]

use crate::driver::{Context, Fault, Function, Module};
use crate::kernel::{
    CdpDivide, DeepDecide, DeepDecideFormula, Kernel, LevelsBorder, LevelsGrid, LevelsLeaf, Paint, Peak, Proven,
    ProvenLate, ProvenRest, Rows, Signature, SmoothValues, TunedFirst, TunedStage,
};
use dwell_kernels::Kernels;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::CStr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Aligned as loaders require.
#[repr(align(64))]
struct Aligned<T: ?Sized>(T);

macro_rules! compiled {
    ($name:literal) => {{
        static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!("../kernels/compiled/", $name)));
        &IMAGE.0
    }};
}

/// The code for device-side launches: PTX whose calls the device runtime's library implements.
const DEVICE_LAUNCHES: &str = concat!(include_str!("../kernels/compiled/cdp.ptx"), "\0");
/// The file name of that library, which comes with CUDA's toolkit and with the package `nvidia-cuda-runtime` from PyPI.
const LIBRARY: &str = "libcudadevrt.a";

/// The kernels of one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KernelFile {
    Tuned,
    Proven,
    PerPixel,
    Levels,
    Paint,
    Peak,
    Deep,
    DeviceLaunches,
}

/// The loaded modules of a context.
#[derive(Debug)]
pub(crate) struct Modules {
    context: Arc<Context>,
    loaded: HashMap<KernelFile, Module>,
    /// Device-side launches that may be pending, once that was raised.
    pending_launches: Option<usize>,
    /// Wall time spent on loading.
    pub(crate) seconds: f64,
}

/// A kernel of a rule for a number.
fn named<N: Kernels>(kind: &str, rule: &str) -> String {
    format!("{kind}_{rule}_{}", N::NAME)
}

/// The same with the ending of kernels that store z_n, or without.
fn named_with_ends<N: Kernels>(kind: &str, rule: &str, with_ends: bool) -> String {
    named::<N>(kind, rule) + if with_ends { "_ends" } else { "" }
}

impl Modules {
    /// No module is loaded yet.
    pub(crate) fn new(context: &Arc<Context>) -> Self {
        Self { context: Arc::clone(context), loaded: HashMap::new(), pending_launches: None, seconds: 0.0 }
    }

    /// Raises the number of device-side launches that may be pending. The driver waits for the device to do so: once for
    /// a context.
    pub(crate) fn allow_pending_launches(&mut self, count: usize) -> Result<(), Fault> {
        if self.pending_launches != Some(count) {
            self.context.allow_pending_launches(count)?;
            self.pending_launches = Some(count);
        }
        Ok(())
    }

    /// `tuned_first` of tuned.cu.
    pub(crate) fn tuned_first<N: Kernels>(
        &mut self,
        rule: &str,
        with_ends: bool,
    ) -> Result<Kernel<TunedFirst<N>>, Fault> {
        let name = named_with_ends::<N>("tuned_first", rule, with_ends);
        // SAFETY: takes (Task<N> t, Survivors<N> list, unsigned steps); writes the task's rows, and to the list at most
        // a point for each of their pixels.
        unsafe { self.kernel(KernelFile::Tuned, &name) }
    }

    /// `tuned_stage` of tuned.cu.
    pub(crate) fn tuned_stage<N: Kernels>(
        &mut self,
        rule: &str,
        with_ends: bool,
    ) -> Result<Kernel<TunedStage<N>>, Fault> {
        let name = named_with_ends::<N>("tuned_stage", rule, with_ends);
        // SAFETY: takes (Task<N> t, Survivors<N> list, Survivors<N> next, unsigned left, unsigned steps); writes pixels
        // of the task's rows, and to `next` at most the points of `list`.
        unsafe { self.kernel(KernelFile::Tuned, &name) }
    }

    /// A kernel of proven.cu that proves.
    pub(crate) fn proven<N: Kernels>(&mut self, kind: &str, rule: &str) -> Result<Kernel<Proven<N>>, Fault> {
        // SAFETY: takes (Task<N> t, BlockProof f, ProofLists lists); writes dwells of cells of the task's rows, and to each list at
        // most their blocks or cells, each of which once.
        unsafe { self.kernel(KernelFile::Proven, &named::<N>(kind, rule)) }
    }

    /// `proven_rest` of proven.cu.
    pub(crate) fn proven_rest<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<ProvenRest<N>>, Fault> {
        // SAFETY: takes (Task<N> t, BlockProof f, ProofLists lists, Survivors<N> list, unsigned steps); writes pixels of the task's
        // rows, to `late` at most the cells of `bounded`, and to the list at most a point for each pixel of the cells of `left`.
        unsafe { self.kernel(KernelFile::Proven, &named::<N>("proven_rest", rule)) }
    }

    /// `proven_late` of proven.cu.
    pub(crate) fn proven_late<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<ProvenLate<N>>, Fault> {
        // SAFETY: takes (Task<N> t, ProofLists lists, Survivors<N> list, unsigned steps); writes pixels of the task's rows, and to
        // the list at most a point for each pixel of the cells of `late`, none of which is in `left`.
        unsafe { self.kernel(KernelFile::Proven, &named::<N>("proven_late", rule)) }
    }

    /// `per_pixel` of per_pixel.cu.
    pub(crate) fn per_pixel<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<Rows<N>>, Fault> {
        // SAFETY: takes (Task<N> t); writes the task's rows.
        unsafe { self.kernel(KernelFile::PerPixel, &named::<N>("per_pixel", rule)) }
    }

    /// `row_per_block` of per_pixel.cu.
    pub(crate) fn row_per_block<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<Rows<N>>, Fault> {
        // SAFETY: takes (Task<N> t); writes the task's rows.
        unsafe { self.kernel(KernelFile::PerPixel, &named::<N>("row_per_block", rule)) }
    }

    /// `grid_stride` of per_pixel.cu.
    pub(crate) fn grid_stride<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<Rows<N>>, Fault> {
        // SAFETY: takes (Task<N> t); writes the task's rows.
        unsafe { self.kernel(KernelFile::PerPixel, &named::<N>("grid_stride", rule)) }
    }

    /// `block_fill` of levels.cu.
    pub(crate) fn block_fill<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<Rows<N>>, Fault> {
        // SAFETY: takes (Task<N> t); writes the task's rows and its counter.
        unsafe { self.kernel(KernelFile::Levels, &named::<N>("block_fill", rule)) }
    }

    /// `levels_grid` of levels.cu.
    pub(crate) fn levels_grid(&mut self) -> Result<Kernel<LevelsGrid>, Fault> {
        // SAFETY: takes (RectangleList list, unsigned width, unsigned begin, unsigned end, unsigned parts); writes
        // within the list's capacity.
        unsafe { self.kernel(KernelFile::Levels, "levels_grid") }
    }

    /// `levels_border` of levels.cu.
    pub(crate) fn levels_border<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<LevelsBorder<N>>, Fault> {
        // SAFETY: takes (Task<N> t, RectangleList list, RectangleList children, RectangleList leaves, unsigned parts,
        // unsigned min_size, unsigned divides); writes the rectangles of the list, which `levels_grid` made of the
        // task's rows, its counter, and within the lists' capacities.
        unsafe { self.kernel(KernelFile::Levels, &named::<N>("levels_border", rule)) }
    }

    /// `levels_leaf` of levels.cu.
    pub(crate) fn levels_leaf<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<LevelsLeaf<N>>, Fault> {
        // SAFETY: takes (Task<N> t, RectangleList leaves); writes the rectangles of the list, as above.
        unsafe { self.kernel(KernelFile::Levels, &named::<N>("levels_leaf", rule)) }
    }

    /// `cdp_divide` of cdp.cu.
    pub(crate) fn cdp_divide<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<CdpDivide<N>>, Fault> {
        // SAFETY: takes (Task<N> t, LaunchDivision d, Rectangle all, unsigned parts, unsigned depth); writes the pixels
        // of `all`, the task's counter, and the division's.
        unsafe { self.kernel(KernelFile::DeviceLaunches, &named::<N>("cdp_divide", rule)) }
    }

    /// `smooth` of paint.cu.
    pub(crate) fn smooth<N: Kernels>(&mut self, rule: &str) -> Result<Kernel<SmoothValues<N>>, Fault> {
        // SAFETY: takes (Task<N> t, double* values, double per_log2_power); writes a value for each pixel of the task's
        // rows.
        unsafe { self.kernel(KernelFile::Paint, &named::<N>("smooth", rule)) }
    }

    /// `paint_bytes` of paint.cu.
    pub(crate) fn paint_bytes(&mut self) -> Result<Kernel<Paint>, Fault> {
        // SAFETY: takes (PaintTask p); writes a picture of its width and rows, and two totals.
        unsafe { self.kernel(KernelFile::Paint, "paint_bytes") }
    }

    /// `paint_words` of paint.cu.
    pub(crate) fn paint_words(&mut self) -> Result<Kernel<Paint>, Fault> {
        // SAFETY: as of `paint_bytes`.
        unsafe { self.kernel(KernelFile::Paint, "paint_words") }
    }

    /// `paint_averages` of paint.cu.
    pub(crate) fn paint_averages(&mut self) -> Result<Kernel<Paint>, Fault> {
        // SAFETY: as of `paint_bytes`.
        unsafe { self.kernel(KernelFile::Paint, "paint_averages") }
    }

    /// `peak` of peak.cu, with so many orbits at once in a thread.
    pub(crate) fn peak<N: Kernels>(&mut self, rule: &str, orbits: u32) -> Result<Kernel<Peak<N>>, Fault> {
        let name = format!("{}_{orbits}", named::<N>("peak", rule));
        // SAFETY: takes (PeakRule rule, unsigned steps, N* sums, unsigned long long* cycles); writes a sum for each
        // thread and a count for each block.
        unsafe { self.kernel(KernelFile::Peak, &name) }
    }

    /// `deep_f64` or `deep_pairs` of deep.cu, or `_derived` of either.
    pub(crate) fn deep(&mut self, name: &str) -> Result<Kernel<DeepDecide>, Fault> {
        // SAFETY: takes (DeepView v, DeepPixels p, DeepLists l); writes of the pixels of the lists what is kept of each, within the
        // capacity of the pixels, and to the lists at most as many as there are.
        unsafe { self.kernel(KernelFile::Deep, name) }
    }

    /// `deep_formula_f64` or `deep_formula_pairs` of deep.cu, or `_derived` of either.
    pub(crate) fn deep_formula(&mut self, name: &str) -> Result<Kernel<DeepDecideFormula>, Fault> {
        // SAFETY: takes (DeepFormula v, DeepPixels p, DeepLists l); writes as those of `deep`.
        unsafe { self.kernel(KernelFile::Deep, name) }
    }

    /// A kernel by name.
    ///
    /// # Safety
    /// As of [`Kernel::new`].
    unsafe fn kernel<S: Signature>(&mut self, source: KernelFile, name: &str) -> Result<Kernel<S>, Fault> {
        let function = self.function(source, name)?;
        // SAFETY: by the caller's promise.
        Ok(unsafe { Kernel::new(function) })
    }

    fn function(&mut self, source: KernelFile, name: &str) -> Result<Function, Fault> {
        let begun = Instant::now();
        let module = match self.loaded.entry(source) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(match source {
                KernelFile::Tuned => Module::load(compiled!("tuned.fatbin"))?,
                KernelFile::Proven => Module::load(compiled!("proven.fatbin"))?,
                KernelFile::PerPixel => Module::load(compiled!("per_pixel.fatbin"))?,
                KernelFile::Levels => Module::load(compiled!("levels.fatbin"))?,
                KernelFile::Paint => Module::load(compiled!("paint.fatbin"))?,
                KernelFile::Peak => Module::load(compiled!("peak.fatbin"))?,
                KernelFile::Deep => Module::load(compiled!("deep.fatbin"))?,
                KernelFile::DeviceLaunches => link_device_launches(&self.context)?,
            }),
        };
        let function = module.function(name);
        self.seconds += begun.elapsed().as_secs_f64();
        function
    }
}

/// Links the kernels that launch kernels with the device runtime's library.
fn link_device_launches(context: &Context) -> Result<Module, Fault> {
    let library = library().map_err(Fault::Lost)?;
    let ptx = CStr::from_bytes_with_nul(DEVICE_LAUNCHES.as_bytes())
        .map_err(|_| Fault::Lost("the compiled kernels contain a 0 byte".to_owned()))?;
    context.enter()?;
    Module::link(ptx, &library)
}

/// The path of the device runtime's library `libcudadevrt.a` on this machine. NVIDIA's terms allow its use, but not its
/// distribution with this program: see NOTICE.
///
/// # Errors
/// In words for a user, without a final stop: when the file is not found.
pub fn library() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("DWELL_CUDADEVRT") {
        let path = PathBuf::from(named);
        let problem = || format!("DWELL_CUDADEVRT names no file: {}", path.display());
        return if path.is_file() { Ok(path) } else { Err(problem()) };
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    for home in homes.chain([PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")]) {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib"] {
            let path = home.join(folder).join(LIBRARY);
            if path.is_file() {
                return Ok(path);
            }
        }
    }
    Err(format!(
        "kernels that launch kernels need {LIBRARY}, of CUDA's toolkit or the PyPI package nvidia-cuda-runtime; set \
         DWELL_CUDADEVRT to it, or CUDA_HOME"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_that_is_loaded_by_name_is_compiled() {
        let record = include_str!("../kernels/compiled/record.toml");
        let check = |name: &str| assert!(record.contains(&format!("\n{name} = ")), "{name}");
        for name in ["deep_f64", "deep_pairs", "deep_formula_f64", "deep_formula_pairs"] {
            check(name);
            check(&format!("{name}_derived"));
        }
        let squares = ["square_fused", "square_separate"];
        for rule in squares.into_iter().chain(["ship_fused", "tricorn_fused", "power_fused", "power_separate"]) {
            for with_ends in [false, true] {
                for kind in ["tuned_first", "tuned_stage"] {
                    check(&named_with_ends::<f32>(kind, rule, with_ends));
                    check(&named_with_ends::<f64>(kind, rule, with_ends));
                }
            }
            let kinds = ["per_pixel", "row_per_block", "grid_stride", "block_fill", "levels_border", "levels_leaf"];
            let proven = ["proven_blocks", "proven_parts", "proven_rest", "proven_late"];
            for kind in kinds.into_iter().chain(proven).chain(["smooth"]) {
                check(&named::<f32>(kind, rule));
                check(&named::<f64>(kind, rule));
            }
            for orbits in [1, 2] {
                check(&format!("{}_{orbits}", named::<f32>("peak", rule)));
                check(&format!("{}_{orbits}", named::<f64>("peak", rule)));
            }
        }
        for rule in squares {
            check(&named::<f32>("cdp_divide", rule));
            check(&named::<f64>("cdp_divide", rule));
        }
        for name in ["levels_grid", "paint_bytes", "paint_words", "paint_averages"] {
            check(name);
        }
    }
}
