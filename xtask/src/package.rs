//! The packages as `cargo publish` would upload them: what they contain, and that they compile outside this checkout.

use crate::archive::{self, Entries};
use crate::{Done, cargo, root, target};
use dwell::store::{self, Output, PartialFiles};
use std::io::Write;
use std::path::Path;

/// The packages, each after those that it depends on.
const PACKAGES: [&str; 7] =
    ["dwell-kernels", "dwell", "dwell-cuda", "dwell-engines", "dwell-lab", "dwell-web", "dwell-cli"];

/// Files that every package holds and that are not empty.
const REQUIRED: [&str; 4] = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// The registry refuses larger packages: 10 MB compressed.
const MOST_BYTES: usize = 10_000_000;

/// Packs every package, checks its files, and compiles all of them from what was packed.
///
/// `cargo package` would verify each package by a separate build, with all dependencies. Instead, one `cargo check` covers
/// all packages, in a workspace with the profiles of this one, so that it uses the dependencies that are already compiled:
/// 8 s on two cores.
pub(crate) fn check() -> Done {
    let folder = target().join("package-check");
    let _ = std::fs::remove_dir_all(&folder);
    let mut pack = cargo();
    pack.args(["package", "--quiet", "--locked", "--no-verify", "--allow-dirty", "--target-dir"]).arg(&folder);
    pack.args(PACKAGES.iter().flat_map(|name| ["--package", *name]));
    run(pack.current_dir(root()), "cargo package")?;

    let version = env!("CARGO_PKG_VERSION");
    let unpacked = folder.join("unpacked");
    for name in PACKAGES {
        let file = folder.join(format!("package/{name}-{version}.crate"));
        let packed = std::fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let entries = archive::unpack(&packed).map_err(|e| format!("{}: {e}", file.display()))?;
        check_files(&entries, &format!("{name}-{version}"))?;
        if packed.len() > MOST_BYTES {
            return Err(
                format!("{name} is packed into {} bytes, at most {MOST_BYTES} are accepted", packed.len()).into()
            );
        }
        write(&entries, &unpacked)?;
        println!("{name}: {} files, {} bytes compressed", entries.len(), packed.len());
    }

    let manifest = workspace(&std::fs::read_to_string(root().join("Cargo.toml"))?, version)?;
    store::write_text(&unpacked.join("Cargo.toml"), &manifest, &PartialFiles::default())?;
    std::fs::copy(root().join("Cargo.lock"), unpacked.join("Cargo.lock"))?;
    let mut compile = cargo();
    // Cargo.lock changes, since this workspace lacks xtask, so `--locked` would fail. Offline, no version can be added.
    compile.args(["check", "--quiet", "--offline", "--workspace", "--target-dir"]).arg(target());
    run(compile.current_dir(&unpacked), "cargo check of the packages")?;
    println!("{} packages compile outside the checkout", PACKAGES.len());
    Ok(())
}

fn run(command: &mut std::process::Command, what: &str) -> Done {
    let status = command.status().map_err(|e| format!("{what}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{what} failed: {status}").into()) }
}

/// Checks the files of one package, all of which are in `folder`.
fn check_files(entries: &Entries, folder: &str) -> Done {
    for required in REQUIRED {
        match entries.get(&format!("{folder}/{required}")) {
            Some(entry) if !entry.bytes.is_empty() => {}
            Some(_) => return Err(format!("{required} of {folder} is empty").into()),
            None => return Err(format!("{folder} lacks {required}").into()),
        }
    }
    match entries.keys().find(|path| !path.starts_with(&format!("{folder}/"))) {
        Some(path) => Err(format!("{path} is outside the folder {folder}").into()),
        None => Ok(()),
    }
}

/// Writes the entries below `folder`.
fn write(entries: &Entries, folder: &Path) -> Done {
    for (path, entry) in entries {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let mut output = Output::create(&path, false, &PartialFiles::default())?;
        output.write_all(&entry.bytes).map_err(|e| output.error(e))?;
        output.commit()?;
    }
    Ok(())
}

/// The manifest of a workspace of the unpacked packages. They depend on one another by version, as on a registry, and
/// `patch` replaces the registry by the unpacked folders. The profiles are those of the checkout, so that compiled
/// dependencies are used again.
fn workspace(root: &str, version: &str) -> Result<String, Box<dyn std::error::Error>> {
    let folders = PACKAGES.map(|name| (name, format!("{name}-{version}")));
    let mut manifest = toml::Table::new();
    let members = folders.iter().map(|(_, folder)| toml::Value::from(folder.as_str())).collect::<Vec<_>>();
    let patches = folders.iter().map(|(name, folder)| {
        let path = toml::Table::from_iter([("path".to_owned(), toml::Value::from(folder.as_str()))]);
        ((*name).to_owned(), toml::Value::from(path))
    });
    let table = |entries: Vec<(&str, toml::Value)>| {
        toml::Value::from(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<toml::Table>())
    };
    manifest.insert("workspace".to_owned(), table(vec![("resolver", "3".into()), ("members", members.into())]));
    let patches = toml::Value::from(patches.collect::<toml::Table>());
    manifest.insert("patch".to_owned(), table(vec![("crates-io", patches)]));
    let mut root: toml::Table = root.parse()?;
    manifest.insert("profile".to_owned(), root.remove("profile").ok_or("Cargo.toml has no profiles")?);
    Ok(manifest.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::Entry;

    fn package(missing: &str, empty: &str) -> Entries {
        let files = REQUIRED.iter().filter(|name| **name != missing).map(|name| {
            let bytes = if *name == empty { Vec::new() } else { b"text".to_vec() };
            (format!("p-1.0.0/{name}"), Entry { bytes, executable: false })
        });
        files.collect()
    }

    #[test]
    fn a_package_without_a_licence_is_refused() {
        assert!(check_files(&package("", ""), "p-1.0.0").is_ok());
        let error = |missing, empty| check_files(&package(missing, empty), "p-1.0.0").unwrap_err().to_string();
        assert_eq!(error("LICENSE-MIT", ""), "p-1.0.0 lacks LICENSE-MIT");
        assert_eq!(error("", "LICENSE-APACHE"), "LICENSE-APACHE of p-1.0.0 is empty");
    }

    #[test]
    fn a_file_outside_the_folder_is_refused() {
        let mut entries = package("", "");
        entries.insert("other/file".to_owned(), Entry { bytes: Vec::new(), executable: false });
        let error = check_files(&entries, "p-1.0.0").unwrap_err().to_string();
        assert_eq!(error, "other/file is outside the folder p-1.0.0");
    }

    #[test]
    fn the_workspace_of_packages_has_this_profile() {
        let manifest = workspace("[profile.dev]\nopt-level = 1\n", "1.0.0").unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        assert_eq!(manifest["profile"]["dev"]["opt-level"].as_integer(), Some(1));
        assert_eq!(manifest["workspace"]["members"].as_array().unwrap().len(), PACKAGES.len());
        assert_eq!(manifest["patch"]["crates-io"]["dwell"]["path"].as_str(), Some("dwell-1.0.0"));
    }
}
