//! The driver, in types that give back what they take: the only file that calls it.
//!
//! It is loaded when first asked for; without one, everything but [`count`] and [`Context::new`] is out of reach, and
//! these say why. Calls must come with the context current on the calling thread: whoever takes a [`Context`] to a thread
//! calls [`Context::enter`] there first.

#![allow(unsafe_code, reason = "the driver's interface is C; every block says why it is sound")]

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::Arc;

/// Why a device did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its memory, or the memory that can be pinned, is full: less of it may do.
    #[error("its memory is full")]
    Memory,
    /// Anything else. The context is not used again: after many of these faults no call on it works.
    #[error("{0}")]
    Lost(String),
}

/// The oldest driver that loads what is compiled here, as CUDA's version times 1000.
const OLDEST: c_int = 13_000;

fn fault(what: &str) -> impl Fn(DriverError) -> Fault + '_ {
    move |error| match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => Fault::Memory,
        code => {
            let text = error.error_string().ok().map(|text| text.to_string_lossy().into_owned());
            Fault::Lost(format!("{what}: {}", text.unwrap_or_else(|| format!("{code:?}"))))
        }
    }
}

/// How many devices there are, or why none can be used.
pub(crate) fn count() -> Result<u32, String> {
    // SAFETY: only looks whether the library can be loaded.
    if !unsafe { sys::is_culib_present() } {
        return Err("there is no NVIDIA driver".to_owned());
    }
    let no = |error: DriverError| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => "the NVIDIA driver finds no device".to_owned(),
        _ => format!("the NVIDIA driver does not start: {}", fault("cuInit")(error)),
    };
    result::init().map_err(no)?;
    let version = version();
    if version < OLDEST {
        let (had, wanted) = ((version / 1000, version % 1000 / 10), OLDEST / 1000);
        return Err(format!(
            "the NVIDIA driver is for CUDA {}.{}; {wanted}.0 is needed (driver 580 or newer)",
            had.0, had.1
        ));
    }
    let count = result::device::get_count().map_err(no)?;
    u32::try_from(count).ok().filter(|count| *count > 0).ok_or_else(|| "the NVIDIA driver finds no device".to_owned())
}

/// The driver's CUDA version, times 1000.
fn version() -> c_int {
    let mut version = 0;
    // SAFETY: writes one integer. Whether it fails shows in the 0 that stays.
    let _ = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    version
}

/// What is known of a device without a context on it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Device {
    /// Its number, as in `cuda:0`.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// Compute capability: major and minor.
    pub capability: (u32, u32),
    /// All of its memory.
    pub memory_bytes: u64,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Threads that can be resident on a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Greatest clock of the multiprocessors, in kHz.
    pub clock_khz: u32,
    /// Greatest clock of the memory, in kHz.
    pub memory_clock_khz: u32,
    /// The driver's CUDA version.
    pub driver: String,
}

/// What there is to know of a device.
pub(crate) fn device(number: u32) -> Result<Device, Fault> {
    use sys::CUdevice_attribute_enum as A;
    let raw = result::device::get(c_int::try_from(number).unwrap_or(c_int::MAX)).map_err(fault("no such device"))?;
    // SAFETY: `raw` comes from the driver.
    let attribute = |which| unsafe { result::device::get_attribute(raw, which) }.map_err(fault("an attribute"));
    let positive = |which| attribute(which).map(|value| u32::try_from(value).unwrap_or(0));
    let version = version();
    Ok(Device {
        number,
        name: result::device::get_name(raw).map_err(fault("its name"))?,
        capability: (
            positive(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            positive(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        // SAFETY: `raw` comes from the driver.
        memory_bytes: unsafe { result::device::total_mem(raw) }.map_err(fault("its memory"))? as u64,
        multiprocessors: positive(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        threads_per_multiprocessor: positive(A::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
        clock_khz: positive(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
        memory_clock_khz: positive(A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE).unwrap_or(0),
        driver: format!("{}.{}", version / 1000, version % 1000 / 10),
    })
}

/// The primary context of a device.
#[derive(Debug)]
pub(crate) struct Context {
    device: sys::CUdevice,
    raw: sys::CUcontext,
}

// SAFETY: contexts may be current on any number of threads; the driver's calls on them are thread-safe.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Takes hold of the context of a device, and makes it current.
    pub(crate) fn new(number: u32) -> Result<Arc<Self>, Fault> {
        let device =
            result::device::get(c_int::try_from(number).unwrap_or(c_int::MAX)).map_err(fault("no such device"))?;
        // SAFETY: `device` comes from the driver; it is released once, when this is dropped.
        let raw = unsafe { result::primary_ctx::retain(device) }.map_err(fault("no context can be made"))?;
        let context = Arc::new(Self { device, raw });
        context.enter()?;
        Ok(context)
    }

    /// Makes it current on the calling thread.
    pub(crate) fn enter(&self) -> Result<(), Fault> {
        // SAFETY: the context is held as long as this lives.
        unsafe { result::ctx::set_current(self.raw) }.map_err(fault("the context is gone"))
    }

    /// Waits until all is done that was asked for on it.
    pub(crate) fn wait(&self) -> Result<(), Fault> {
        self.enter()?;
        result::ctx::synchronize().map_err(fault("the device stopped"))
    }

    /// Bytes of device memory that are free, and all of them.
    pub(crate) fn memory(&self) -> Result<(u64, u64), Fault> {
        let (free, all) = result::mem_get_info().map_err(fault("its memory"))?;
        Ok((free as u64, all as u64))
    }

    /// Raises how many device-side launches may wait.
    pub(crate) fn allow_pending_launches(&self, count: usize) -> Result<(), Fault> {
        let limit = sys::CUlimit_enum::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
        result::ctx::set_limit(limit, count).map_err(fault("the limit of pending launches"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: taken once in `new`. A context that died cannot be released, which is as good.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// Memory of a device.
#[derive(Debug)]
pub(crate) struct Buffer {
    address: sys::CUdeviceptr,
    bytes: usize,
    context: Arc<Context>,
}

impl Buffer {
    /// Takes so many bytes, at least 1; they hold anything.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, Fault> {
        let bytes = bytes.max(1);
        // SAFETY: what it holds is never read before a kernel or a copy wrote it.
        let address = unsafe { result::malloc_sync(bytes) }.map_err(fault("taking memory"))?;
        Ok(Self { address, bytes, context: Arc::clone(context) })
    }

    /// A copy of these values.
    pub(crate) fn of<T: Copy>(context: &Arc<Context>, values: &[T]) -> Result<Self, Fault> {
        let buffer = Self::new(context, size_of_val(values))?;
        // SAFETY: as many bytes as there are values.
        unsafe { result::memcpy_htod_sync(buffer.address, values) }.map_err(fault("copying to the device"))?;
        Ok(buffer)
    }

    /// Its words of 8 bytes, once all is done that was begun.
    pub(crate) fn read_words(&self) -> Result<Vec<u64>, Fault> {
        let mut words = vec![0_u64; self.bytes / 8];
        // SAFETY: as many bytes as there are words.
        unsafe { result::memcpy_dtoh_sync(&mut words, self.address) }.map_err(fault("copying from the device"))?;
        Ok(words)
    }

    /// Bytes of it.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes as u64
    }

    /// Its address from a byte on, for a kernel.
    ///
    /// # Panics
    /// When that is beyond its end.
    pub(crate) fn at(&self, offset: usize) -> u64 {
        assert!(offset <= self.bytes, "within the buffer");
        self.address + offset as u64
    }

    /// Sets its first bytes to 0, in a stream's order.
    pub(crate) fn clear(&self, bytes: usize, stream: &Stream) -> Result<(), Fault> {
        assert!(bytes <= self.bytes, "within the buffer");
        // SAFETY: within the buffer.
        unsafe { result::memset_d8_async(self.address, 0, bytes, stream.raw) }.map_err(fault("clearing memory"))
    }

    /// Sets 4 of its bytes to 0, in a stream's order.
    pub(crate) fn clear_word(&self, offset: usize, stream: &Stream) -> Result<(), Fault> {
        assert!(offset + 4 <= self.bytes, "within the buffer");
        // SAFETY: within the buffer.
        unsafe { result::memset_d8_async(self.address + offset as u64, 0, 4, stream.raw) }
            .map_err(fault("clearing memory"))
    }

    /// Copies the first bytes of another into it, in a stream's order.
    pub(crate) fn take(&self, offset: usize, other: &Self, bytes: usize, stream: &Stream) -> Result<(), Fault> {
        assert!(offset + bytes <= self.bytes && bytes <= other.bytes, "within both");
        // SAFETY: within both.
        unsafe { result::memcpy_dtod_async(self.address + offset as u64, other.address, bytes, stream.raw) }
            .map_err(fault("copying on the device"))
    }

    /// Copies its bytes from `offset` on, as many as `pinned` has from its own `to` up to `to + bytes`, in a stream's order.
    pub(crate) fn copy_to(
        &self,
        offset: usize,
        pinned: &mut Pinned,
        to: usize,
        bytes: usize,
        stream: &Stream,
    ) -> Result<(), Fault> {
        assert!(offset + bytes <= self.bytes && to + bytes <= pinned.bytes, "within both");
        // SAFETY: within both; the pinned memory is not read before the stream has come by (see `Pinned::bytes`).
        let target = unsafe { std::slice::from_raw_parts_mut(pinned.address.add(to), bytes) };
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(target, self.address + offset as u64, stream.raw) }
            .map_err(fault("copying from the device"))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: taken once in `new`, and freeing waits for what uses it. With a dead context there is nothing to free.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Memory of the host that the device copies into by itself.
#[derive(Debug)]
pub(crate) struct Pinned {
    address: *mut u8,
    bytes: usize,
    context: Arc<Context>,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Takes so many bytes, at least 1.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, Fault> {
        let bytes = bytes.max(1);
        // SAFETY: ordinary cacheable memory (flags 0): write-combined is slow to read. Initialised at once.
        let address = unsafe { result::malloc_host(bytes, 0) }.map_err(fault("pinning memory"))?.cast::<u8>();
        // SAFETY: as many bytes as were taken.
        unsafe { address.write_bytes(0, bytes) };
        Ok(Self { address, bytes, context: Arc::clone(context) })
    }

    /// What was copied into it. The caller has waited for the stream that did so.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: initialised; nobody writes while the caller has waited for the copies (the engine waits for a slot's event
        // before it looks, and starts no copy into it while it does).
        unsafe { std::slice::from_raw_parts(self.address, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: taken once in `new`.
        let _ = unsafe { result::free_host(self.address.cast()) };
    }
}

/// An order in which a device does things.
#[derive(Debug)]
pub(crate) struct Stream {
    raw: sys::CUstream,
    context: Arc<Context>,
}

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}

impl Stream {
    /// A new one, beside all others.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let raw = result::stream::create(result::stream::StreamKind::NonBlocking).map_err(fault("a stream"))?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Goes on only after an event.
    pub(crate) fn after(&self, event: &Event) -> Result<(), Fault> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both are of this context.
        unsafe { result::stream::wait_event(self.raw, event.raw, flags) }.map_err(fault("an event"))
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// `arguments` point to values of the kernel's parameter types, in their order, and every address in them stays valid
    /// until the stream has come by.
    pub(crate) unsafe fn launch(
        &self,
        function: Function,
        grid: [u32; 2],
        block: [u32; 2],
        arguments: &mut [*mut c_void],
    ) -> Result<(), Fault> {
        // SAFETY: by the caller's promise; the function's module is never unloaded.
        unsafe {
            result::launch_kernel(function.0, (grid[0], grid[1], 1), (block[0], block[1], 1), 0, self.raw, arguments)
        }
        .map_err(fault("a launch was refused"))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: made once in `new`.
        let _ = unsafe { result::stream::destroy(self.raw) };
    }
}

/// A moment in a stream.
#[derive(Debug)]
pub(crate) struct Event {
    raw: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    /// A new one, which can be timed.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let raw = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(fault("an event"))?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Is now, in a stream.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Fault> {
        // SAFETY: both are of this context.
        unsafe { result::event::record(self.raw, stream.raw) }.map_err(fault("an event"))
    }

    /// Waits for it.
    pub(crate) fn wait(&self) -> Result<(), Fault> {
        // SAFETY: of this context.
        unsafe { result::event::synchronize(self.raw) }.map_err(fault("the device stopped"))
    }

    /// Whether it has come.
    pub(crate) fn has_come(&self) -> Result<bool, Fault> {
        // SAFETY: of this context.
        match unsafe { result::event::query(self.raw) } {
            Ok(()) => Ok(true),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            Err(error) => Err(fault("the device stopped")(error)),
        }
    }

    /// Seconds since another one; both have come.
    pub(crate) fn seconds_since(&self, earlier: &Self) -> Result<f64, Fault> {
        // SAFETY: both were recorded, and waited for by the caller.
        unsafe { result::event::elapsed(earlier.raw, self.raw) }
            .map(|milliseconds| f64::from(milliseconds) / 1e3)
            .map_err(fault("an event's time"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: made once in `new`.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

/// A kernel. Modules stay loaded as long as their context, so this is a plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: a handle, usable on any thread.
unsafe impl Send for Function {}

/// What a kernel takes and may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Occupancy {
    /// Blocks of this shape that a multiprocessor can hold at once.
    pub blocks: u32,
    /// The part of a multiprocessor's threads that these are.
    pub part: f64,
}

impl Function {
    /// The block size that keeps a multiprocessor busiest.
    pub(crate) fn best_block(self) -> Result<u32, Fault> {
        let (mut grid, mut block) = (0, 0);
        // SAFETY: writes two integers; the function exists, and takes no dynamic shared memory.
        unsafe { sys::cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, self.0, None, 0, 0) }
            .result()
            .map_err(fault("the occupancy"))?;
        Ok(u32::try_from(block).unwrap_or(1).max(1))
    }

    /// How many blocks of so many threads fit.
    pub(crate) fn occupancy(self, threads: u32, device: &Device) -> Result<Occupancy, Fault> {
        let threads_int = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the function exists.
        let blocks = unsafe { result::occupancy::max_active_block_per_multiprocessor(self.0, threads_int, 0) }
            .map_err(fault("the occupancy"))?;
        let blocks = u32::try_from(blocks).unwrap_or(0);
        Ok(Occupancy {
            blocks,
            part: f64::from(blocks * threads) / f64::from(device.threads_per_multiprocessor.max(1)),
        })
    }
}

/// Kernels that were loaded. Never unloaded before the context goes.
#[derive(Debug)]
pub(crate) struct Module(sys::CUmodule);

// SAFETY: a handle, usable on any thread.
unsafe impl Send for Module {}

impl Module {
    /// Loads machine code, or code that the driver compiles: a fat binary, a cubin, or PTX that ends in a 0.
    pub(crate) fn load(image: &'static [u8]) -> Result<Self, Fault> {
        // SAFETY: an image that the compiler made, whole (`cargo xtask kernels --check` holds the bytes built in against it).
        unsafe { result::module::load_data(image.as_ptr().cast()) }.map(Self).map_err(fault("kernels cannot be loaded"))
    }

    /// Links PTX, which ends in a 0, with a library of device code, and loads it.
    pub(crate) fn link(ptx: &'static CStr, library: &std::path::Path) -> Result<Self, Fault> {
        let no_path = |_| Fault::Lost("a path with a 0 in it".to_owned());
        let library = CString::new(library.to_string_lossy().as_bytes()).map_err(no_path)?;
        let bytes = ptx.to_bytes_with_nul();
        let mut state = std::ptr::null_mut();
        let (mut image, mut size) = (std::ptr::null_mut(), 0);
        let (data, file) = (sys::CUjitInputType::CU_JIT_INPUT_PTX, sys::CUjitInputType::CU_JIT_INPUT_LIBRARY);
        let none = (0, std::ptr::null_mut(), std::ptr::null_mut());
        let could_not = fault("kernels cannot be linked");
        // SAFETY: the state is made, used and destroyed here; the PTX and the path live as long; the image belongs to the
        // state and is loaded before that is destroyed.
        unsafe {
            sys::cuLinkCreate_v2(none.0, none.1, none.2, &raw mut state).result().map_err(&could_not)?;
            let linked = sys::cuLinkAddData_v2(
                state,
                data,
                bytes.as_ptr().cast_mut().cast(),
                bytes.len(),
                c"dwell".as_ptr(),
                none.0,
                none.1,
                none.2,
            )
            .result()
            .and_then(|()| sys::cuLinkAddFile_v2(state, file, library.as_ptr(), none.0, none.1, none.2).result())
            .and_then(|()| sys::cuLinkComplete(state, &raw mut image, &raw mut size).result())
            .and_then(|()| result::module::load_data(image));
            let _ = sys::cuLinkDestroy(state);
            linked.map(Self).map_err(could_not)
        }
    }

    /// The kernel of that name.
    pub(crate) fn function(&self, name: &str) -> Result<Function, Fault> {
        let c_name = CString::new(name).map_err(|_| Fault::Lost("a name with a 0 in it".to_owned()))?;
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.0, c_name) }
            .map(Function)
            .map_err(fault(&format!("no kernel {name}")))
    }
}
