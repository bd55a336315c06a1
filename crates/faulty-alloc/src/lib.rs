//! Makes allocations and starts of threads of a program fail, so that tests see what the program does then.
//!
//! The library is loaded into a program by `LD_PRELOAD` (Linux with glibc) and takes the place of `malloc`, `calloc`,
//! `realloc`, `posix_memalign`, `aligned_alloc` and `pthread_create`. The program is the one that users run, unchanged.
//!
//! It reads these environment variables:
//!
//! - `FAULTY_ALLOCATION=N`: the N-th allocation of at least 64 KiB fails, counted from 1 over all threads.
//! - `FAULTY_THREAD=N`: the N-th start of a thread fails.
//! - `FAULTY_LASTING=1`: all later ones fail too.
//! - `FAULTY_LOG=PATH`: the file is created when the first failure is injected.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(unsafe_code, reason = "takes the place of functions of the C library")]

use std::ffi::{c_char, c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Smaller allocations never fail.
const LARGE: usize = 64 << 10;
/// `ENOMEM` and `EAGAIN` of Linux.
const OUT_OF_MEMORY: c_int = 12;
const TRY_AGAIN: c_int = 11;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_memalign(alignment: usize, size: usize) -> *mut c_void;
    fn __errno_location() -> *mut c_int;
    fn getenv(name: *const c_char) -> *const c_char;
    fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    fn close(file: c_int) -> c_int;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// A kind of operation that fails.
struct Faults {
    /// The environment variable with the number of the operation that fails.
    variable: &'static std::ffi::CStr,
    /// Operations so far.
    count: AtomicUsize,
    /// The number of the operation that fails, [`NEVER`], or [`UNREAD`].
    failing: AtomicUsize,
}

/// No operation fails.
const NEVER: usize = 0;
/// The environment is not read yet.
const UNREAD: usize = usize::MAX;

static ALLOCATIONS: Faults = Faults::new(c"FAULTY_ALLOCATION");
static THREADS: Faults = Faults::new(c"FAULTY_THREAD");

impl Faults {
    const fn new(variable: &'static std::ffi::CStr) -> Self {
        Self { variable, count: AtomicUsize::new(0), failing: AtomicUsize::new(UNREAD) }
    }

    /// Counts an operation. Whether it fails.
    fn strike(&self) -> bool {
        let mut failing = self.failing.load(Ordering::Relaxed);
        if failing == UNREAD {
            failing = number(self.variable);
            self.failing.store(failing, Ordering::Relaxed);
        }
        if failing == NEVER {
            return false;
        }
        let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let strikes = count == failing || (count > failing && number(c"FAULTY_LASTING") == 1);
        if strikes {
            log();
        }
        strikes
    }
}

/// The number in an environment variable; [`NEVER`] if it is not set.
fn number(variable: &std::ffi::CStr) -> usize {
    // SAFETY: the name ends with a 0. The program sets no environment variable, so the text stays valid.
    let text = unsafe { getenv(variable.as_ptr()) };
    if text.is_null() {
        return NEVER;
    }
    // SAFETY: a text of the environment ends with a 0.
    let text = unsafe { std::ffi::CStr::from_ptr(text) };
    text.to_bytes()
        .iter()
        .fold(0, |number: usize, digit| number.wrapping_mul(10).wrapping_add(usize::from(digit.wrapping_sub(b'0'))))
}

/// Creates the file of `FAULTY_LOG`. Allocates nothing.
fn log() {
    const WRITE_AND_CREATE: c_int = 0o101;
    // SAFETY: the name ends with a 0, and so does a text of the environment. The third argument is the mode of the file.
    unsafe {
        let path = getenv(c"FAULTY_LOG".as_ptr());
        if !path.is_null() {
            let file = open(path, WRITE_AND_CREATE, 0o644);
            if file >= 0 {
                close(file);
            }
        }
    }
}

/// Whether an allocation of `size` bytes fails; then `errno` is set.
fn fails(size: usize) -> bool {
    let fails = size >= LARGE && ALLOCATIONS.strike();
    if fails {
        // SAFETY: the address of this thread's `errno`.
        unsafe { *__errno_location() = OUT_OF_MEMORY };
    }
    fails
}

/// `malloc` of the C library, or null.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    if fails(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the arguments of the caller.
    unsafe { __libc_malloc(size) }
}

/// `calloc` of the C library, or null.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    if fails(count.saturating_mul(size)) {
        return std::ptr::null_mut();
    }
    // SAFETY: the arguments of the caller.
    unsafe { __libc_calloc(count, size) }
}

/// `realloc` of the C library, or null, where the block stays as it is.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    if fails(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the arguments of the caller.
    unsafe { __libc_realloc(block, size) }
}

/// `posix_memalign` of the C library, or `ENOMEM`.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(block: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    if fails(size) {
        return OUT_OF_MEMORY;
    }
    // SAFETY: the arguments of the caller; `block` is valid for a write.
    unsafe {
        let found = __libc_memalign(alignment, size);
        if found.is_null() {
            return OUT_OF_MEMORY;
        }
        *block = found;
    }
    0
}

/// `aligned_alloc` of the C library, or null.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    if fails(size) {
        return std::ptr::null_mut();
    }
    // SAFETY: the arguments of the caller.
    unsafe { __libc_memalign(alignment, size) }
}

/// The type of `pthread_create`.
type Create = unsafe extern "C" fn(
    *mut c_void,
    *const c_void,
    unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    *mut c_void,
) -> c_int;

/// `pthread_create` of the C library, or `EAGAIN`.
///
/// # Safety
/// As the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut c_void,
    attributes: *const c_void,
    start: unsafe extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    /// The next library in the order of search, `RTLD_NEXT`.
    const NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);
    if THREADS.strike() {
        return TRY_AGAIN;
    }
    // SAFETY: the name ends with a 0; the function of that name in the C library has this type, and gets the arguments of
    // the caller.
    unsafe {
        let create = dlsym(NEXT, c"pthread_create".as_ptr());
        if create.is_null() {
            return TRY_AGAIN;
        }
        std::mem::transmute::<*mut c_void, Create>(create)(thread, attributes, start, argument)
    }
}
