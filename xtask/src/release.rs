//! The release archive, `dwell-VERSION-TARGET.tar.gz`: the program, manual pages, completions, licences.
//!
//! It is reproducible: the same commit, compiler and target give the same bytes in every folder.
//! - Only committed files are built, and the time of every entry is the commit's.
//! - `--remap-path-prefix` replaces the folders of the checkout, the crates and the compiled files, and the finished
//!   program is searched for them.
//! - Flags and profile settings in the environment are ignored.

mod licences;
mod metadata;

use crate::archive::{Entries, Entry, pack};
use crate::{Done, cargo, root, target};
use dwell::store::{Output, PartialFiles};
use metadata::Metadata;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The completion script of each shell, under the name that the shell expects.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "completions/dwell.bash"),
    ("elvish", "completions/dwell.elv"),
    ("fish", "completions/dwell.fish"),
    ("powershell", "completions/_dwell.ps1"),
    ("zsh", "completions/_dwell"),
];

/// Files of the checkout: where each is, and its name in the archive.
const FILES: [(&str, &str); 6] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("NOTICE", "NOTICE"),
    ("crates/dwell/NOTICE.md", "NOTICE-PALETTES.md"),
];

/// An archive and what it is called.
struct Archive {
    name: String,
    bytes: Vec<u8>,
}

/// Builds the archive and writes it into `out`, or into `target/release-archive`.
pub(crate) fn write(out: Option<&str>) -> Done {
    let archive = build(&root(), &target().join("release-build"))?;
    let out = out.map_or_else(|| target().join("release-archive"), PathBuf::from);
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let path = out.join(&archive.name);
    let mut output = Output::create(&path, false, &PartialFiles::default())?;
    output.write_all(&archive.bytes).map_err(|e| output.error(e))?;
    output.commit()?;
    println!("{}: {} bytes, BLAKE3 {}", path.display(), archive.bytes.len(), blake3::hash(&archive.bytes));
    Ok(())
}

/// Builds the archive twice from nothing, here and in a clone in another folder, and compares the bytes.
pub(crate) fn check() -> Done {
    let folder = target().join("release-check");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder)?;
    // Of another length and depth, so that a path anywhere in the archive shows.
    let clone = folder.join("a/clone in another folder");
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--shared"]).arg(root()).arg(&clone);
    output(&mut git)?;
    let [here, there] =
        [build(&root(), &folder.join("target"))?, build(&clone, &folder.join("a/target of the clone"))?];
    if here.bytes != there.bytes {
        return Err(format!("{} has other bytes when it is built in another folder", here.name).into());
    }
    println!("{}: {} bytes, the same from two folders", here.name, here.bytes.len());
    Ok(())
}

/// Builds the program of a checkout with its compiled files in `target`, and packs the archive.
fn build(checkout: &Path, target: &Path) -> Result<Archive> {
    let git = |args: &[&str]| output(Command::new("git").args(args).current_dir(checkout));
    if !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
        return Err("the checkout has changes that are not committed: a release is built from a commit".into());
    }
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => time.parse::<u64>().map_err(|e| format!("SOURCE_DATE_EPOCH is {time:?}: {e}"))?,
        Err(_) => git(&["log", "-1", "--format=%ct"])?.trim().parse()?,
    };
    let compiler = output(Command::new("rustc").arg("-vV").current_dir(checkout))?;
    let host = compiler.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let sysroot =
        PathBuf::from(output(Command::new("rustc").args(["--print", "sysroot"]).current_dir(checkout))?.trim());
    let metadata = Metadata::of(checkout, host)?;

    let hidden = hidden_folders(&metadata, checkout, target);
    let program = compile(checkout, target, &hidden)?;
    let bytes = std::fs::read(&program).map_err(|e| format!("{}: {e}", program.display()))?;
    let folders = hidden.iter().map(|(folder, _)| folder.as_path()).chain([sysroot.as_path()]);
    if let Some(folder) = folders.into_iter().find(|folder| contains(&bytes, folder)) {
        return Err(format!("the program holds the path {}", folder.display()).into());
    }

    let mut files = Entries::new();
    let mut add = |path: &str, bytes, executable| files.insert(path.to_owned(), Entry { bytes, executable });
    let suffix = std::env::consts::EXE_SUFFIX;
    add(&format!("dwell{suffix}"), bytes, true);
    for (from, to) in FILES {
        add(to, std::fs::read(checkout.join(from)).map_err(|e| format!("{from}: {e}"))?, false);
    }
    for (shell, path) in COMPLETIONS {
        let script = output(Command::new(&program).args(["completions", shell]))?;
        add(path, script.into_bytes(), false);
    }
    for (page, text) in manual_pages(&program, &target.join("man"))? {
        add(&format!("man/man1/{page}"), text, false);
    }
    let licences = licences::text(&metadata, &checkout.join("LICENSE-APACHE"))?;
    add("THIRD-PARTY-LICENSES", licences.into_bytes(), false);
    add("RUST-STANDARD-LIBRARY.html", licences::standard_library(&sysroot)?, false);

    let folder = format!("dwell-{}-{host}", metadata.version_of("dwell-cli")?);
    let entries = files.into_iter().map(|(path, entry)| (format!("{folder}/{path}"), entry)).collect();
    Ok(Archive { name: format!("{folder}.tar.gz"), bytes: pack(&entries, time)? })
}

/// The folders that must not be named in the program, and what `--remap-path-prefix` writes for each. The last that
/// matches is taken, and the folder of compiled files may be inside the checkout.
fn hidden_folders(metadata: &Metadata, checkout: &Path, target: &Path) -> Vec<(PathBuf, &'static str)> {
    let registries = metadata.registry_folders().into_iter().map(|folder| (folder, "/crates"));
    registries.chain([(checkout.to_owned(), "/dwell"), (target.to_owned(), "/target")]).collect()
}

/// Compiles the program; returns its path.
fn compile(checkout: &Path, target: &Path, hidden: &[(PathBuf, &str)]) -> Result<PathBuf> {
    let flags: Vec<_> =
        hidden.iter().map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display())).collect();
    let mut build = cargo();
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text == "RUSTFLAGS" || text.starts_with("CARGO_PROFILE_") || text.starts_with("CARGO_BUILD_") {
            build.env_remove(&name);
        }
    }
    // Unlike RUSTFLAGS, this allows spaces in paths.
    build.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    build.args(["build", "--release", "--locked", "--package", "dwell-cli", "--target-dir"]).arg(target);
    let status = build.current_dir(checkout).status().map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err(format!("cargo build failed: {status}").into());
    }
    Ok(target.join("release").join(format!("dwell{}", std::env::consts::EXE_SUFFIX)))
}

/// The manual pages, by file name.
fn manual_pages(program: &Path, folder: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let _ = std::fs::remove_dir_all(folder);
    output(Command::new(program).args(["man", "--output-dir"]).arg(folder))?;
    let mut pages = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        pages.push((file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path())?));
    }
    Ok(pages)
}

/// Whether the bytes contain the path.
fn contains(bytes: &[u8], path: &Path) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    !path.is_empty() && bytes.windows(path.len()).any(|window| window == path)
}

/// What a command prints.
///
/// # Errors
/// When it fails or prints what is not UTF-8.
fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !output.status.success() {
        return Err(format!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_in_bytes() {
        assert!(contains(b"\0/home/a/src/main.rs\0", Path::new("/home/a")));
        assert!(!contains(b"\0/dwell/src/main.rs\0", Path::new("/home/a")));
        assert!(!contains(b"/home", Path::new("/home/a")));
    }
}
