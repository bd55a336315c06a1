//! The driver, in types that release what they allocate: the only file that calls it.
//!
//! It is loaded when it is first used. Where there is none, [`count`] and [`Context::new`] say so, and nothing else can
//! be called. The context must be current on the calling thread: call [`Context::enter`] first on every thread that a
//! [`Context`] is taken to.

#![expect(unsafe_code, reason = "the driver's interface is C; every block says why it is sound")]

use crate::kernel::Arguments;
use bytemuck::Pod;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use std::ffi::{CStr, CString, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Why an operation of a device failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Its memory, or the memory that can be pinned, is full. The operation may succeed with less memory.
    #[error("its memory is full")]
    Memory,
    /// Any other fault. The context is not used again: after many of these faults every call on it fails.
    #[error("{0}")]
    Lost(String),
}

/// The oldest driver that loads the compiled kernels, as CUDA's version times 1000.
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

/// Number of devices, or why none can be used.
pub(crate) fn count() -> Result<u32, String> {
    // SAFETY: only tests whether the library can be loaded.
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
    // SAFETY: writes one integer, which stays 0 where the call fails.
    let _ = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    version
}

/// Facts about a device, read without a context on it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Device {
    /// The driver's number of it, as in `cuda:0`.
    pub number: u32,
    /// The driver's name of it.
    pub name: String,
    /// Compute capability: major and minor.
    pub capability: (u32, u32),
    /// Bytes of its memory.
    pub memory_bytes: u64,
    /// Number of multiprocessors.
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

/// Reads the facts about a device.
pub(crate) fn device(number: u32) -> Result<Device, Fault> {
    use sys::CUdevice_attribute_enum as A;
    let raw =
        result::device::get(c_int::try_from(number).unwrap_or(c_int::MAX)).map_err(fault("selecting the device"))?;
    // SAFETY: `raw` comes from the driver.
    let attribute = |which| unsafe { result::device::get_attribute(raw, which) }.map_err(fault("reading an attribute"));
    let positive = |which| attribute(which).map(|value| u32::try_from(value).unwrap_or(0));
    let version = version();
    Ok(Device {
        number,
        name: result::device::get_name(raw).map_err(fault("reading its name"))?,
        capability: (
            positive(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            positive(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        // SAFETY: `raw` comes from the driver.
        memory_bytes: unsafe { result::device::total_mem(raw) }.map_err(fault("reading its memory size"))? as u64,
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

// SAFETY: a context may be current on any number of threads, and the driver's calls on it are thread-safe.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    /// Retains the primary context of a device, and makes it current.
    pub(crate) fn new(number: u32) -> Result<Arc<Self>, Fault> {
        let device = result::device::get(c_int::try_from(number).unwrap_or(c_int::MAX))
            .map_err(fault("selecting the device"))?;
        // SAFETY: `device` comes from the driver; the context is released once, when this is dropped.
        let raw = unsafe { result::primary_ctx::retain(device) }.map_err(fault("creating a context"))?;
        let context = Arc::new(Self { device, raw });
        context.enter()?;
        Ok(context)
    }

    /// Makes the context current on the calling thread.
    pub(crate) fn enter(&self) -> Result<(), Fault> {
        // SAFETY: the context is retained as long as this lives.
        unsafe { result::ctx::set_current(self.raw) }.map_err(fault("entering the context"))
    }

    /// Raises the number of device-side launches that may be pending.
    pub(crate) fn allow_pending_launches(&self, count: usize) -> Result<(), Fault> {
        let limit = sys::CUlimit_enum::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
        result::ctx::set_limit(limit, count).map_err(fault("raising the limit of pending launches"))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: retained once in `new`. A context that failed cannot be released, and need not be.
        let _ = unsafe { result::primary_ctx::release(self.device) };
    }
}

/// The address of values in a device's memory, from which a kernel reads and to which it writes. It borrows the buffer
/// that it is of, so that the buffer is there when a launch is queued; freeing it later waits for the launch.
#[repr(transparent)]
pub(crate) struct Address<'a, T> {
    address: sys::CUdeviceptr,
    buffer: PhantomData<&'a ()>,
    values: PhantomData<fn() -> T>,
}

/// The same for a kernel that only reads.
#[repr(transparent)]
pub(crate) struct ConstAddress<'a, T>(Address<'a, T>);

impl<T> Clone for Address<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Address<'_, T> {}

impl<T> std::fmt::Debug for Address<'_, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:#x}", self.address)
    }
}

impl<T> Clone for ConstAddress<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ConstAddress<'_, T> {}

impl<T> std::fmt::Debug for ConstAddress<'_, T> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(out)
    }
}

impl<'a, T> Address<'a, T> {
    /// No memory.
    pub(crate) const NULL: Self = Self::new(0);

    const fn new(address: sys::CUdeviceptr) -> Self {
        Self { address, buffer: PhantomData, values: PhantomData }
    }

    /// The address of values of the host, for code of kernels that runs there.
    #[cfg(test)]
    pub(crate) fn of_host(values: &'a [T]) -> Self {
        Self::new(values.as_ptr() as u64)
    }

    /// The same for code that writes them.
    #[cfg(test)]
    pub(crate) fn of_host_mut(values: &'a mut [T]) -> Self {
        Self::new(values.as_mut_ptr() as u64)
    }

    /// The same for a kernel that only reads.
    pub(crate) fn read_only(self) -> ConstAddress<'a, T> {
        ConstAddress(self)
    }

    /// The address from which the element `index` is this one: for kernels that count from another row than the buffer.
    pub(crate) fn as_element(self, index: usize) -> Self {
        Self { address: self.address.wrapping_sub((index * size_of::<T>()) as u64), ..self }
    }
}

impl<T> ConstAddress<'_, T> {
    /// No memory.
    pub(crate) const NULL: Self = Self(Address::NULL);
}

/// Memory of a device, for values of one type.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    address: sys::CUdeviceptr,
    len: usize,
    context: Arc<Context>,
    values: PhantomData<fn() -> T>,
}

impl<T> Buffer<T> {
    /// Allocates so many values, of any content.
    pub(crate) fn new(context: &Arc<Context>, len: usize) -> Result<Self, Fault> {
        let bytes = len.checked_mul(size_of::<T>()).ok_or(Fault::Memory)?;
        // SAFETY: the host reads the content only where any bytes are a value. At least one byte: the driver refuses
        // none.
        let address = unsafe { result::malloc_sync(bytes.max(1)) }.map_err(fault("allocating device memory"))?;
        Ok(Self { address, len, context: Arc::clone(context), values: PhantomData })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Its address.
    pub(crate) fn address(&self) -> Address<'_, T> {
        Address::new(self.address)
    }

    /// Its address from a value on.
    ///
    /// # Panics
    /// When that is beyond its end.
    pub(crate) fn at(&self, index: usize) -> Address<'_, T> {
        Address::new(self.byte_address(index..self.len))
    }

    /// The address of values within the buffer.
    fn byte_address(&self, values: Range<usize>) -> sys::CUdeviceptr {
        assert!(values.start <= values.end && values.end <= self.len, "within the buffer");
        self.address + (values.start * size_of::<T>()) as u64
    }

    /// Sets some values to 0, in a stream's order.
    pub(crate) fn clear(&self, values: Range<usize>, stream: &Stream) -> Result<(), Fault> {
        let bytes = values.len() * size_of::<T>();
        // SAFETY: within the buffer.
        unsafe { result::memset_d8_async(self.byte_address(values), 0, bytes, stream.raw) }
            .map_err(fault("clearing memory"))
    }

    /// Copies the first `count` values of another buffer to an index of this one, in a stream's order.
    pub(crate) fn copy_from(&self, at: usize, other: &Self, count: usize, stream: &Stream) -> Result<(), Fault> {
        let (to, from) = (self.byte_address(at..at + count), other.byte_address(0..count));
        // SAFETY: within both buffers.
        unsafe { result::memcpy_dtod_async(to, from, count * size_of::<T>(), stream.raw) }
            .map_err(fault("copying on the device"))
    }
}

impl<T: Pod> Buffer<T> {
    /// Its values, once all queued work is done.
    pub(crate) fn read(&self) -> Result<Vec<T>, Fault> {
        let mut values = vec![T::zeroed(); self.len];
        // SAFETY: as many bytes as the values have, and any bytes are a value.
        unsafe { result::memcpy_dtoh_sync(&mut values, self.address) }.map_err(fault("copying from the device"))?;
        Ok(values)
    }

    /// The address of one value of another type that begins at an index.
    ///
    /// # Panics
    /// When it is not aligned, or not within the buffer.
    pub(crate) fn view<U>(&self, index: usize) -> Address<'_, U> {
        self.values(index, 1)
    }

    /// The address of values of another type that begin at an index.
    ///
    /// # Panics
    /// When they are not aligned, or not within the buffer.
    pub(crate) fn values<U>(&self, index: usize, count: usize) -> Address<'_, U> {
        let address = self.byte_address(index..index + (count * size_of::<U>()).div_ceil(size_of::<T>()));
        assert!(address.is_multiple_of(align_of::<U>() as u64), "aligned");
        Address::new(address)
    }

    /// Copies some values to a byte offset of pinned memory, in a stream's order.
    pub(crate) fn copy_to(
        &self,
        values: Range<usize>,
        pinned: &mut Pinned,
        to: usize,
        stream: &Stream,
    ) -> Result<(), Fault> {
        let bytes = values.len() * size_of::<T>();
        let from = self.byte_address(values);
        pinned.copying(to..to + bytes, stream, |place| {
            // SAFETY: within the buffer, and as many bytes as the place has, which is not read before the copy is done (see
            // `Pinned`).
            unsafe { result::memcpy_dtoh_async(place, from, stream.raw) }.map_err(fault("copying from the device"))
        })
    }
}

impl<T: Pod> Buffer<T> {
    /// Copies the beginning of pinned memory to some values, in a stream's order.
    pub(crate) fn copy_part_in(&self, values: Range<usize>, pinned: &mut Pinned, stream: &Stream) -> Result<(), Fault> {
        let bytes = values.len() * size_of::<T>();
        let to = self.byte_address(values);
        pinned.copying(0..bytes, stream, |place| {
            // SAFETY: within the buffer, and as many bytes as the place has, which is not written before the copy is done
            // (see `Pinned`).
            unsafe { result::memcpy_htod_async(to, place, stream.raw) }.map_err(fault("copying to the device"))
        })
    }
}

impl Buffer<u8> {
    /// Copies the first bytes of pinned memory to its beginning, in a stream's order.
    pub(crate) fn copy_in(&self, pinned: &mut Pinned, bytes: usize, stream: &Stream) -> Result<(), Fault> {
        let to = self.byte_address(0..bytes);
        pinned.copying(0..bytes, stream, |place| {
            // SAFETY: within the buffer, and as many bytes as the place has, which is not written before the copy is done
            // (see `Pinned`).
            unsafe { result::memcpy_htod_async(to, place, stream.raw) }.map_err(fault("copying to the device"))
        })
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: allocated once in `new`, and freeing waits for the work that uses it. A context that failed has no
        // memory left to free.
        let _ = unsafe { result::free_sync(self.address) };
    }
}

/// Memory of the host that the device copies from and into without the processors.
///
/// The host's side of it, [`Pinned::bytes`] and [`Pinned::write`], can be used only when no copy is under way: the type
/// keeps an event behind the last copy, and [`Pinned::wait`] waits for it.
#[derive(Debug)]
pub(crate) struct Pinned {
    address: *mut u8,
    bytes: usize,
    copies: Copies,
    /// Recorded behind the last copy.
    copied: Event,
    context: Arc<Context>,
}

/// Copies from or to pinned memory.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Copies {
    /// None is under way.
    Done,
    /// Some are queued on a stream, without an event behind the last.
    Queued(sys::CUstream),
    /// Some are queued on a stream, and the event is recorded behind them.
    Recorded(sys::CUstream),
}

// SAFETY: plain memory with one owner, and a stream's handle, usable on any thread.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates so many bytes, at least 1, all 0.
    pub(crate) fn new(context: &Arc<Context>, bytes: usize) -> Result<Self, Fault> {
        let bytes = bytes.max(1);
        let copied = Event::new(context)?;
        // SAFETY: ordinary cacheable memory (flags 0): write-combined memory is slow to read. Initialised at once.
        let address = unsafe { result::malloc_host(bytes, 0) }.map_err(fault("pinning memory"))?.cast::<u8>();
        // SAFETY: as many bytes as were allocated.
        unsafe { address.write_bytes(0, bytes) };
        Ok(Self { address, bytes, copies: Copies::Done, copied, context: Arc::clone(context) })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Queues a copy from or to some of the bytes, and records the event behind it.
    ///
    /// # Panics
    /// When the bytes are not within the memory, or copies are under way on another stream, behind which the event would
    /// not be.
    fn copying(
        &mut self,
        bytes: Range<usize>,
        stream: &Stream,
        queue: impl FnOnce(&mut [u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        assert!(bytes.start <= bytes.end && bytes.end <= self.bytes, "within the pinned memory");
        let same_stream = match self.copies {
            Copies::Done => true,
            Copies::Queued(other) | Copies::Recorded(other) => other == stream.raw,
        };
        assert!(same_stream, "copies on one stream");
        self.copies = Copies::Queued(stream.raw);
        // SAFETY: within the memory, which the host neither reads nor writes before the copy is done.
        queue(unsafe { std::slice::from_raw_parts_mut(self.address.add(bytes.start), bytes.len()) })?;
        self.copied.record(stream)?;
        self.copies = Copies::Recorded(stream.raw);
        Ok(())
    }

    /// Waits until no copy is under way.
    pub(crate) fn wait(&mut self) -> Result<(), Fault> {
        match self.copies {
            Copies::Done => return Ok(()),
            Copies::Queued(_) => return Err(Fault::Lost("a copy was queued without an event behind it".to_owned())),
            Copies::Recorded(_) => self.copied.wait()?,
        }
        self.copies = Copies::Done;
        Ok(())
    }

    /// The event behind the last copy.
    pub(crate) fn copied(&self) -> &Event {
        &self.copied
    }

    /// Its bytes.
    ///
    /// # Panics
    /// When a copy is under way.
    pub(crate) fn bytes(&self) -> &[u8] {
        assert!(self.copies == Copies::Done, "no copy under way");
        // SAFETY: initialised, and not written by the device, since no copy is under way.
        unsafe { std::slice::from_raw_parts(self.address, self.bytes) }
    }

    /// Writes numbers from a byte on.
    ///
    /// # Panics
    /// When they do not fit, or a copy is under way.
    pub(crate) fn write_numbers<N: dwell_kernels::Kernels>(&mut self, at: usize, values: &[N]) {
        // SAFETY: f32 or f64, the only numbers, whose bytes are all initialised.
        unsafe { self.write_values(at, values) };
    }

    /// Writes values from a byte on.
    ///
    /// # Panics
    /// When they do not fit, or a copy is under way.
    pub(crate) fn write<T: Pod>(&mut self, at: usize, values: &[T]) {
        // SAFETY: all bytes of such values are initialised.
        unsafe { self.write_values(at, values) };
    }

    /// # Safety
    /// All bytes of the values are initialised.
    unsafe fn write_values<T>(&mut self, at: usize, values: &[T]) {
        assert!(self.copies == Copies::Done, "no copy under way");
        let bytes = size_of_val(values);
        assert!(at <= self.bytes && bytes <= self.bytes - at, "within the pinned memory");
        // SAFETY: within the memory, which nothing else uses; values of the caller do not overlap it.
        unsafe { self.address.add(at).copy_from_nonoverlapping(values.as_ptr().cast(), bytes) };
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = self.context.enter();
        if self.wait().is_err() {
            // A context that failed copies no more.
            let _ = result::ctx::synchronize();
        }
        // SAFETY: allocated once in `new`.
        let _ = unsafe { result::free_host(self.address.cast()) };
    }
}

/// A queue of work that the device does in order.
#[derive(Debug)]
pub(crate) struct Stream {
    raw: sys::CUstream,
    context: Arc<Context>,
}

// SAFETY: streams may be used from any thread.
unsafe impl Send for Stream {}

impl Stream {
    /// Creates a stream that does not wait for any other.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let raw =
            result::stream::create(result::stream::StreamKind::NonBlocking).map_err(fault("creating a stream"))?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Holds later work back until an event has occurred.
    pub(crate) fn after(&self, event: &Event) -> Result<(), Fault> {
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: both are of this context.
        unsafe { result::stream::wait_event(self.raw, event.raw, flags) }.map_err(fault("waiting for an event"))
    }

    /// Launches a kernel.
    ///
    /// # Safety
    /// The arguments have the types of the kernel's parameters, in their order, and every address among them stays
    /// valid until the launch has finished.
    pub(crate) unsafe fn launch<A: Arguments>(
        &self,
        function: Function,
        grid: [u32; 2],
        block: [u32; 2],
        mut arguments: A,
    ) -> Result<(), Fault> {
        let (grid, block) = ((grid[0], grid[1], 1), (block[0], block[1], 1));
        arguments.with_pointers(|pointers| {
            // SAFETY: by the caller's promise; the function's module is never unloaded.
            unsafe { result::launch_kernel(function.0, grid, block, 0, self.raw, pointers) }
                .map_err(fault("launching a kernel"))
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: created once in `new`.
        let _ = unsafe { result::stream::destroy(self.raw) };
    }
}

/// A point in a stream's work.
#[derive(Debug)]
pub(crate) struct Event {
    raw: sys::CUevent,
    context: Arc<Context>,
}

// SAFETY: events may be used from any thread.
unsafe impl Send for Event {}

impl Event {
    /// Creates an event that can be timed.
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        let raw = result::event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(fault("creating an event"))?;
        Ok(Self { raw, context: Arc::clone(context) })
    }

    /// Records it behind the work queued on a stream.
    pub(crate) fn record(&self, stream: &Stream) -> Result<(), Fault> {
        // SAFETY: both are of this context.
        unsafe { result::event::record(self.raw, stream.raw) }.map_err(fault("recording an event"))
    }

    /// Waits until it has occurred.
    pub(crate) fn wait(&self) -> Result<(), Fault> {
        // SAFETY: of this context.
        unsafe { result::event::synchronize(self.raw) }.map_err(fault("waiting for the device"))
    }

    /// Whether it has occurred.
    pub(crate) fn has_occurred(&self) -> Result<bool, Fault> {
        // SAFETY: of this context.
        match unsafe { result::event::query(self.raw) } {
            Ok(()) => Ok(true),
            Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            Err(error) => Err(fault("waiting for the device")(error)),
        }
    }

    /// Waits until it has occurred. Seconds since an event that was recorded before it on the same stream.
    ///
    /// A caller that has waited for a copy before this event need not have waited for the event: the time between the two is some
    /// microseconds, and once in some hundred pictures the driver answered "not ready".
    pub(crate) fn seconds_since(&self, earlier: &Self) -> Result<f64, Fault> {
        self.wait()?;
        // SAFETY: both were recorded, and both have occurred: events of a stream occur in order.
        unsafe { result::event::elapsed(earlier.raw, self.raw) }
            .map(|milliseconds| f64::from(milliseconds) / 1e3)
            .map_err(fault("timing an event"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let _ = self.context.enter();
        // SAFETY: created once in `new`.
        let _ = unsafe { result::event::destroy(self.raw) };
    }
}

/// A kernel's code. Modules stay loaded as long as their context, so this is a plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: a handle, usable on any thread.
unsafe impl Send for Function {}

/// The blocks of a kernel that a multiprocessor can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Occupancy {
    /// Blocks of one shape that a multiprocessor can hold at once.
    pub blocks: u32,
    /// Their threads divided by those of a multiprocessor, 0 to 1.
    pub part: f64,
}

impl Function {
    /// The block size that keeps a multiprocessor busiest.
    pub(crate) fn best_block(self) -> Result<u32, Fault> {
        let (mut grid, mut block) = (0, 0);
        // SAFETY: writes two integers; the function exists, and takes no dynamic shared memory.
        unsafe { sys::cuOccupancyMaxPotentialBlockSize(&raw mut grid, &raw mut block, self.0, None, 0, 0) }
            .result()
            .map_err(fault("reading the occupancy"))?;
        Ok(u32::try_from(block).unwrap_or(1).max(1))
    }

    /// The blocks of so many threads that fit on a multiprocessor.
    pub(crate) fn occupancy(self, threads: u32, device: &Device) -> Result<Occupancy, Fault> {
        let threads_int = c_int::try_from(threads).unwrap_or(c_int::MAX);
        // SAFETY: the function exists.
        let blocks = unsafe { result::occupancy::max_active_block_per_multiprocessor(self.0, threads_int, 0) }
            .map_err(fault("reading the occupancy"))?;
        let blocks = u32::try_from(blocks).unwrap_or(0);
        Ok(Occupancy {
            blocks,
            part: f64::from(blocks * threads) / f64::from(device.threads_per_multiprocessor.max(1)),
        })
    }
}

/// A loaded module. It is never unloaded before its context is released.
#[derive(Debug)]
pub(crate) struct Module(sys::CUmodule);

// SAFETY: a handle, usable on any thread.
unsafe impl Send for Module {}

impl Module {
    /// Loads machine code or code that the driver compiles: a fat binary, a cubin, or PTX that ends in a 0 byte.
    pub(crate) fn load(image: &'static [u8]) -> Result<Self, Fault> {
        // SAFETY: a complete image by the compiler (`cargo xtask kernels --check` compares the embedded bytes with it).
        unsafe { result::module::load_data(image.as_ptr().cast()) }.map(Self).map_err(fault("loading kernels"))
    }

    /// Links PTX, which ends in a 0 byte, with a library of device code, and loads the result.
    pub(crate) fn link(ptx: &'static CStr, library: &std::path::Path) -> Result<Self, Fault> {
        let no_path = |_| Fault::Lost("the library's path contains a 0 byte".to_owned());
        let library = CString::new(library.to_string_lossy().as_bytes()).map_err(no_path)?;
        let bytes = ptx.to_bytes_with_nul();
        let mut state = std::ptr::null_mut();
        let (mut image, mut size) = (std::ptr::null_mut(), 0);
        let (data, file) = (sys::CUjitInputType::CU_JIT_INPUT_PTX, sys::CUjitInputType::CU_JIT_INPUT_LIBRARY);
        let none = (0, std::ptr::null_mut(), std::ptr::null_mut());
        let failed = fault("linking kernels");
        // SAFETY: the state is created, used and destroyed here; the PTX and the path live as long; the image belongs
        // to the state and is loaded before the state is destroyed.
        unsafe {
            sys::cuLinkCreate_v2(none.0, none.1, none.2, &raw mut state).result().map_err(&failed)?;
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
            linked.map(Self).map_err(failed)
        }
    }

    /// The kernel with a name.
    pub(crate) fn function(&self, name: &str) -> Result<Function, Fault> {
        let c_name = CString::new(name).map_err(|_| Fault::Lost("a kernel's name contains a 0 byte".to_owned()))?;
        // SAFETY: the module is loaded.
        unsafe { result::module::get_function(self.0, c_name) }
            .map(Function)
            .map_err(fault(&format!("looking up the kernel {name}")))
    }
}
