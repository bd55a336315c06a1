//! The licences of all that is linked into the program.

use super::metadata::{Metadata, Package};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// How the names of licence files begin, in lower case.
const LICENCES: [&str; 4] = ["license", "licence", "copying", "unlicense"];
/// How the names of files with further notices begin.
const NOTICES: [&str; 2] = ["notice", "copyright"];

/// The licence files of every crate linked into the program, each text once, with the crates that hold it.
///
/// # Errors
/// When a crate has no licence file and is not offered under Apache-2.0, whose text is the same for all.
pub(super) fn text(metadata: &Metadata, apache: &Path) -> super::Result<String> {
    let packages = metadata.linked_into("dwell-cli")?;
    let apache = read(apache)?;
    let mut text = String::from(
        "Licences of the crates that are linked into the program `dwell`\n\
         ================================================================\n\n\
         The licence of the Rust standard library is in RUST-STANDARD-LIBRARY.html. For each crate: its version, the SPDX\n\
         expression of its licences, its authors and where its sources are published. The texts follow.\n\n",
    );
    // By text, and the crates in the order of their names.
    let mut holders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let name = format!("{} {}", package.name, package.version);
        let expression = package.license.as_deref().unwrap_or("licence file");
        writeln!(text, "{name}: {expression}")?;
        for author in &package.authors {
            writeln!(text, "    {author}")?;
        }
        if let Some(repository) = &package.repository {
            writeln!(text, "    {repository}")?;
        }
        for licence in texts_of(package, &apache)? {
            holders.entry(licence).or_default().insert(name.clone());
        }
    }
    // In the order of the crates, so that an update moves as little as possible.
    let mut holders: Vec<_> = holders.into_iter().map(|(licence, names)| (names, licence)).collect();
    holders.sort();
    for (names, licence) in holders {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        write!(text, "\n{}\n{names}\n{}\n\n{licence}\n", "=".repeat(80), "-".repeat(80))?;
    }
    Ok(text)
}

/// The texts of a crate's licence files and notices.
fn texts_of(package: &Package, apache: &str) -> super::Result<Vec<String>> {
    let folder = package.folder();
    let mut names = BTreeSet::new();
    let mut licensed = false;
    for file in std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))? {
        let file = file?;
        let name = file.file_name().to_string_lossy().to_lowercase();
        let begins = |with: &[&str]| with.iter().any(|start| name.starts_with(start));
        if file.path().is_file() && (begins(&LICENCES) || begins(&NOTICES)) {
            licensed |= begins(&LICENCES);
            names.insert(file.path());
        }
    }
    if let Some(file) = &package.license_file {
        licensed = true;
        names.insert(folder.join(file));
    }
    let mut texts = names.iter().map(|name| read(name)).collect::<super::Result<Vec<_>>>()?;
    if !licensed {
        let expression = package.license.as_deref().unwrap_or_default();
        if !offers_apache(expression) {
            return Err(format!("{} has no licence file and is licensed under {expression:?}", package.name).into());
        }
        texts.push(apache.to_owned());
    }
    Ok(texts)
}

/// Whether the expression lets a user choose Apache-2.0 alone: `MIT OR Apache-2.0`, or `MIT/Apache-2.0` in the form of
/// before SPDX.
fn offers_apache(expression: &str) -> bool {
    !expression.contains('(')
        && expression.split('/').flat_map(|part| part.split(" OR ")).any(|one| one.trim() == "Apache-2.0")
}

/// A text with line ends as `\n` and no blanks at the ends of lines: the same licence is then the same text.
fn read(path: &Path) -> super::Result<String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_matches(['\u{feff}', '\n', '\r']).lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

/// The licences of the Rust standard library and all that it contains, as the toolchain states them.
pub(super) fn standard_library(sysroot: &Path) -> super::Result<Vec<u8>> {
    let path = sysroot.join("share/doc/rust/COPYRIGHT-library.html");
    Ok(std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn apache_must_be_offered_alone() {
        for expression in ["Apache-2.0", "MIT OR Apache-2.0", "MIT/Apache-2.0", "Zlib OR Apache-2.0 OR MIT"] {
            assert!(offers_apache(expression), "{expression}");
        }
        for expression in
            ["MIT", "MIT AND Apache-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(!offers_apache(expression), "{expression}");
        }
    }

    #[test]
    fn the_licences_of_linked_crates_are_found() {
        let checkout = crate::root();
        let host = super::super::output(std::process::Command::new("rustc").arg("-vV")).unwrap();
        let host = host.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        let metadata = Metadata::of(&checkout, host).unwrap();
        let text = text(&metadata, &checkout.join("LICENSE-APACHE")).unwrap();
        for expected in
            ["\nclap 4.", "\npng 0.", "\ndashu-base 0.", "Permission is hereby granted", "END OF TERMS AND CONDITIONS"]
        {
            assert!(text.contains(expected), "{expected:?}");
        }
        // Not linked: a procedural macro, a dependency of a build script, one of tests.
        for missing in ["\nclap_derive ", "\ncc 1.", "\nfiletime "] {
            assert!(!text.contains(missing), "{missing:?}");
        }
    }
}
