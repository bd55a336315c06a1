//! In tests, the kernels' own code, compiled for the host.

#![expect(unsafe_code, reason = "a shared library is loaded")]

use libloading::Library;
use std::io::Write;
use std::process::{Command, Stdio};

/// Compiles a C++ source that includes headers of the kernels after `host/operations.hpp`. `None` where there is no C++ compiler.
pub(crate) fn compiled(name: &str, source: &[u8]) -> Option<Library> {
    let folder = std::env::temp_dir().join(format!("dwell-cuda-host-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("host.so");
    let [kernels, sources] = ["/kernels", "/src"].map(|folder| format!("{}{folder}", env!("CARGO_MANIFEST_DIR")));
    let compiler = Command::new("c++")
        .args(["-std=c++17", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-I", &kernels, "-I", &sources, "-o"])
        .arg(&path)
        .args(["-x", "c++", "-"])
        .stdin(Stdio::piped())
        .spawn();
    let Ok(mut compiler) = compiler else {
        eprintln!("skipped: there is no C++ compiler");
        return None;
    };
    compiler.stdin.take().unwrap().write_all(source).unwrap();
    assert!(compiler.wait().unwrap().success(), "the kernels do not compile for the host");
    // SAFETY: compiled from this project's sources; it has no initialisers.
    let library = unsafe { Library::new(&path) }.unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    Some(library)
}
