//! One arena for all threads where the address space is limited (`ulimit -v`).
//!
//! The GNU C library gives each thread an arena of its own for small allocations. To create one it maps 64 or 128 MiB of
//! address space, if only for a moment where there is no room for it. An allocation of another thread fails in that moment, and
//! a failed small allocation aborts the program: under `ulimit -v 100000`, 1 render in 12 was aborted and 3 were refused
//! half-way. The number of arenas is read from the environment when a process starts, so the program starts
//! itself again, in the same process, with that variable set.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// The variable by which the C library limits the number of arenas.
const VARIABLE: &str = "MALLOC_ARENA_MAX";

// Before `main`, since the runtime then has not changed the standard descriptors yet, which `standard_streams` examines. The
// arguments and the environment are available to constructors, and no other thread runs.
ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn limit_arenas() {
        if is_limited() && std::env::var_os(VARIABLE).is_none() {
            start_again();
        }
    }
}

/// Whether the address space of this process is limited.
fn is_limited() -> bool {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current.is_some()
}

/// Replaces this process by the same program with the same arguments and one arena. It returns only if that fails; the program
/// then runs with more arenas.
fn start_again() {
    let Ok(program) = std::env::current_exe() else { return };
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_else(|| program.clone().into_os_string());
    let _ = Command::new(program).arg0(name).args(arguments).env(VARIABLE, "1").exec();
}
