//! The order of the library's folders and files: imports run in one direction only.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders, each after everything that it may import from. ARCHITECTURE.md describes them in this order.
const ORDER: [&str; 17] = [
    "base", "exact", "input", "view", "field", "truth", "deep", "plan", "colour", "iterate", "encode", "scene",
    "locate", "store", "render", "zoom", "compare",
];

/// Folders whose files are checked for cycles.
const WITHOUT_CYCLES: [&str; 5] = ["colour", "encode", "input", "scene", "store"];

/// The source files and their paths below `src`, with `/`.
fn sources() -> Vec<(String, PathBuf)> {
    fn add(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    add(&root, &mut found);
    let name = |path: &Path| path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
    found.into_iter().map(|path| (name(&path), path)).collect()
}

/// A file's text without comments and without the module of its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let tests = text.find("mod tests {").map_or(text.len(), |at| text[..at].rfind("#[cfg(").unwrap_or(at));
    let lines = text[..tests].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// Names that follow `crate::`.
fn imports(code: &str) -> Vec<String> {
    let names = code.split("crate::").skip(1);
    names.map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()).collect()
}

#[test]
fn imports_never_run_back() {
    let mut checked = 0;
    for (name, path) in sources() {
        let folder = name.split('/').next().unwrap().trim_end_matches(".rs");
        // `lib.rs` exports from every folder, and a file of tests alone imports from every folder.
        if folder == "lib" || name == "render/survival.rs" {
            continue;
        }
        let own = ORDER.iter().position(|known| *known == folder);
        let own = own.unwrap_or_else(|| panic!("{name} is in no folder of the order: add {folder} to it"));
        for import in imports(&code(&path)) {
            let other = ORDER.iter().position(|known| *known == import);
            assert!(other.is_some_and(|other| other <= own), "{name} imports crate::{import}, which comes later");
            checked += 1;
        }
    }
    assert!(checked > 100, "{checked} imports were found");
}

/// Splits `a::{b, c::{d, e as f}}` into `a::b`, `a::c::d`, `a::c::e`.
fn expand(tree: &str, outer: &str, paths: &mut Vec<String>) {
    let Some((path, list)) = tree.split_once('{') else {
        paths.push(format!("{outer}{}", tree.split(" as ").next().unwrap_or(tree).trim()));
        return;
    };
    let outer = format!("{outer}{}", path.trim());
    let (mut depth, mut start) = (0, 0);
    let list = list.trim_end().strip_suffix('}').unwrap();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&list[start..at], &outer, paths);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list[start..].trim().is_empty() {
        expand(&list[start..], &outer, paths);
    }
}

/// The paths that a file uses: those it imports, those that it names in its code, and those it exports again by
/// `pub use` if its code uses them too. A submodule's export alone is not a use.
fn uses(code: &str) -> Vec<String> {
    let (mut imported, mut exported, mut rest) = (Vec::new(), Vec::new(), String::new());
    for statement in code.split_inclusive(';') {
        let text = statement.split('\n').filter(|line| !line.starts_with("#[")).collect::<Vec<_>>().join(" ");
        let text = text.trim().trim_end_matches(';');
        let visibility = text.split("use ").next().unwrap_or_default().trim();
        match text.split_once("use ") {
            Some((_, tree)) if visibility.is_empty() => expand(tree, "", &mut imported),
            Some((_, tree)) if visibility.starts_with("pub") && !visibility.contains('{') => {
                expand(tree, "", &mut exported);
            }
            _ => rest.push_str(statement),
        }
    }
    let words =
        || rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).map(|word| word.trim_matches(':'));
    let named: BTreeSet<&str> = words().flat_map(|path| path.split("::").next()).collect();
    exported.retain(|path| named.contains(path.rsplit("::").next().unwrap()));
    imported.extend(exported);
    imported.extend(words().filter(|word| word.contains("::")).map(str::to_owned));
    imported
}

/// The module of a file: `colour::palette::table` for `colour/palette/table.rs`.
fn module(name: &str) -> String {
    name.trim_end_matches(".rs").replace('/', "::")
}

/// The modules that each file of a folder imports from within the folder.
fn graph(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let files: Vec<_> = sources()
        .into_iter()
        .map(|(name, path)| (module(&name), path))
        .filter(|(module, _)| module.split("::").next() == Some(folder))
        .collect();
    let modules: BTreeSet<String> = files.iter().map(|(module, _)| module.clone()).collect();
    let imported = |module: &str, path: &str| {
        // The absolute path without `crate::`; a path that starts with a submodule is relative to the module.
        let mut from: Vec<&str> = module.split("::").collect();
        let mut rest: Vec<&str> = path.split("::").collect();
        match rest[0] {
            "crate" => from.clear(),
            "self" => {}
            "super" => {}
            first if modules.contains(&format!("{module}::{first}")) => rest.insert(0, "self"),
            _ => return None,
        }
        while rest.first() == Some(&"super") {
            from.pop();
            rest.remove(0);
        }
        if rest.first().is_some_and(|first| ["crate", "self"].contains(first)) {
            rest.remove(0);
        }
        from.extend(rest);
        // The longest prefix that is a module: what follows is an item of it.
        (1..=from.len()).rev().map(|length| from[..length].join("::")).find(|prefix| modules.contains(prefix))
    };
    let imports = |(module, path): &(String, PathBuf)| {
        let imports = uses(&code(path)).into_iter().filter_map(|path| imported(module, &path));
        (module.clone(), imports.filter(|import| import != module).collect())
    };
    files.iter().map(imports).collect()
}

#[test]
fn files_of_a_folder_do_not_import_each_other_in_a_cycle() {
    for folder in WITHOUT_CYCLES {
        let mut graph = graph(folder);
        let edges: usize = graph.values().map(BTreeSet::len).sum();
        assert!(edges > 0 || graph.len() < 4, "no import was found in {folder}");
        // Removes the modules that import none of those left, until none is left or a cycle is.
        while !graph.is_empty() {
            let left: BTreeSet<String> = graph.keys().cloned().collect();
            graph.retain(|_, imports| imports.iter().any(|import| left.contains(import)));
            assert!(graph.len() < left.len(), "imports in a cycle: {graph:?}");
        }
    }
}

#[test]
fn imports_exports_and_paths_are_found() {
    let code = "mod h;\nuse a::{b, c::{d, e as f}, g};\npub use h::{i, l};\n#[cfg(x)]\nuse super::{\n    j,\n    k,\n};\n\
        fn f() -> i {\n    h::m::<u8>(crate::n::o, 1.0, [p])\n}\n";
    let found = ["a::b", "a::c::d", "a::c::e", "a::g", "super::j", "super::k", "h::i", "h::m", "crate::n::o"];
    assert_eq!(uses(code), found);
}
