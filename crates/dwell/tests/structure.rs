//! The folders of the library stand in one order, and code imports only from folders that stand before its own.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders, each after everything that it may import from. ARCHITECTURE.md describes them in this order.
const ORDER: [&str; 14] = [
    "base", "exact", "input", "view", "plan", "field", "colour", "iterate", "encode", "scene", "store", "render",
    "truth", "compare",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Names that follow `crate::` outside comments and tests.
fn imports(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines
        .flat_map(|line| line.split("crate::").skip(1))
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
        .collect()
}

#[test]
fn imports_never_run_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let mut checked = 0;
    for file in files {
        let name = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let folder = name.split('/').next().unwrap().trim_end_matches(".rs").to_owned();
        // `lib.rs` exports from everywhere, and a file of tests alone imports from everywhere.
        if folder == "lib" || name == "render/survival.rs" {
            continue;
        }
        let own = ORDER.iter().position(|known| *known == folder);
        let own = own.unwrap_or_else(|| panic!("{name} is in no folder of the order: add {folder} to it"));
        for import in imports(&fs::read_to_string(&file).unwrap()) {
            let other = ORDER.iter().position(|known| *known == import);
            assert!(other.is_some_and(|other| other <= own), "{name} imports crate::{import}, which comes later");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} imports were found");
}
