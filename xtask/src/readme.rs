//! Checks that the commands of README.md and of the pages that it leads to first work as printed.
//!
//! `sh` runs every line of a ```` ```sh ```` block: commands of cargo in the checkout, all others in a folder with the
//! release build on the path. The folder is empty at the start, and the pages are read in order, so that a command may use
//! the files of those before it. Lines that start with `cargo test`, `cargo install` or `git clone` are skipped. The line
//! that starts with `cargo test` is the test command of `.ci/run`.

use crate::{Done, cargo, root, target};
use std::path::Path;
use std::process::Command;

/// The pages whose commands are run.
const PAGES: [&str; 3] = ["README.md", "docs/pictures.md", "docs/making.md"];

/// The lines of the `sh` blocks of a page, without comments and blank lines.
fn commands(page: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(root().join(page)).map_err(|e| format!("{page}: {e}"))?;
    let mut commands = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && !line.trim().is_empty() && !line.starts_with('#') {
            commands.push(line.split("  #").next().unwrap_or(line).trim().to_owned());
        }
    }
    Ok(commands)
}

/// The only test command of README.md.
pub(crate) fn test_command() -> Result<String, Box<dyn std::error::Error>> {
    let mut found = commands("README.md")?.into_iter().filter(|c| c.starts_with("cargo test"));
    match (found.next(), found.next()) {
        (Some(command), None) => Ok(command),
        _ => Err("README.md has not exactly one line that starts with `cargo test`".into()),
    }
}

/// Runs the other commands of the pages and checks the pictures and arrays that they write.
pub(crate) fn check() -> Done {
    let scratch = target().join("readme-check");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    if !cargo().args(["build", "--release", "--locked", "--workspace"]).current_dir(root()).status()?.success() {
        return Err("the program was not built".into());
    }
    for page in PAGES {
        check_page(page, &scratch)?;
    }
    Ok(())
}

/// Runs the commands of a page, those of cargo in the checkout and all others in `scratch`.
fn check_page(page: &str, scratch: &Path) -> Done {
    let root = root();
    let target = target();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", target.join("release").display());
    let mut ran = 0;
    for command in commands(page)? {
        if command.starts_with("cargo test") || command.starts_with("cargo install") || command.starts_with("git clone")
        {
            continue;
        }
        println!("$ {command}");
        // Commands of cargo need the checkout.
        let folder = if command.starts_with("cargo ") { root.as_path() } else { scratch };
        let status = Command::new("sh").args(["-ec", &command]).current_dir(folder).env("PATH", &path).status()?;
        if !status.success() {
            return Err(format!("`{command}` failed: {status}").into());
        }
        for word in command.split_whitespace().filter(|w| w.ends_with(".png") || w.ends_with(".npy")) {
            if command.contains("--dry-run") {
                if folder.join(word).exists() {
                    return Err(format!("`{command}` is a dry run but wrote {word}").into());
                }
                continue;
            }
            let size =
                std::fs::metadata(folder.join(word)).map_err(|e| format!("`{command}` wrote no {word}: {e}"))?.len();
            if size < 1000 {
                return Err(format!("`{command}` wrote only {size} bytes to {word}").into());
            }
        }
        ran += 1;
    }
    println!("{ran} commands of {page} work as printed");
    if ran < 4 { Err(format!("{page} has {ran} commands, at least 4 are expected").into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use crate::root;

    /// The ```` ```rust ```` block of a file.
    fn example(path: &str) -> String {
        let text = std::fs::read_to_string(root().join(path)).unwrap();
        let (_, after) = text.split_once("```rust\n").unwrap();
        after.split_once("```").unwrap().0.to_owned()
    }

    /// The example of the library's README is a documentation test; this one is the same text.
    #[test]
    fn the_example_of_the_readme_is_that_of_the_library() {
        assert_eq!(example("README.md"), example("crates/dwell/README.md"));
    }
}
