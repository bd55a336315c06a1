//! The README's commands work as printed.
//!
//! Every line of a ```` ```sh ```` block is run by `sh` in a scratch folder that holds a link to the checkout's files;
//! the built program is on the path. The test command, the line that starts with `cargo test`, is the one that the
//! checks themselves run.

use crate::{Done, root, target};
use std::process::Command;

/// Lines of the README's `sh` blocks, comments and blank lines left out.
fn commands() -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(root().join("README.md"))?;
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

/// The README's one test command.
pub(crate) fn test_command() -> Result<String, Box<dyn std::error::Error>> {
    let mut found = commands()?.into_iter().filter(|c| c.starts_with("cargo test"));
    match (found.next(), found.next()) {
        (Some(command), None) => Ok(command),
        _ => Err("README.md has not exactly one line that starts with `cargo test`".into()),
    }
}

/// Runs every other command of the README.
pub(crate) fn check() -> Done {
    let root = root();
    let target = target();
    let scratch = target.join("readme-check");
    let _ = std::fs::remove_dir_all(&scratch);
    std::fs::create_dir_all(&scratch)?;
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", target.join("release").display());
    let mut ran = 0;
    for command in commands()? {
        if command.starts_with("cargo test") || command.starts_with("cargo install") || command.starts_with("git clone")
        {
            continue;
        }
        println!("$ {command}");
        // Commands of cargo belong to the checkout; those of the program run anywhere.
        let folder = if command.starts_with("cargo ") { &root } else { &scratch };
        let status = Command::new("sh").args(["-ec", &command]).current_dir(folder).env("PATH", &path).status()?;
        if !status.success() {
            return Err(format!("`{command}` ended with {status}").into());
        }
        for word in command.split_whitespace().filter(|w| w.ends_with(".png") || w.ends_with(".npy")) {
            if command.contains("--dry-run") {
                if folder.join(word).exists() {
                    return Err(format!("`{command}` left {word}").into());
                }
                continue;
            }
            let size =
                std::fs::metadata(folder.join(word)).map_err(|e| format!("`{command}` left no {word}: {e}"))?.len();
            if size < 1000 {
                return Err(format!("`{command}` left {word} with only {size} bytes").into());
            }
        }
        ran += 1;
    }
    println!("{ran} commands of README.md work as printed");
    if ran < 4 { Err("README.md has fewer commands than it should".into()) } else { Ok(()) }
}
