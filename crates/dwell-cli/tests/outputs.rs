//! Outputs that are links, descriptors or files of others; the permissions of replaced files.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

const SMALL: &str = "render --size 40x30 --max-iter 50";

/// The bytes of a small picture.
fn expected() -> Vec<u8> {
    Folder::new().good(&format!("{SMALL} --format png -o -")).out
}

#[test]
fn descriptors_and_links_to_standard_output_are_written() {
    let folder = Folder::new();
    symlink("/dev/stdout", folder.join("link.png")).unwrap();
    symlink("link.png", folder.join("second.png")).unwrap();
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link.png", "second.png"] {
        let ran = folder.good(&format!("{SMALL} --format png -o {path}"));
        assert!(ran.out == expected(), "{path}: {}", ran.err);
    }
    let script = format!("\"$0\" {SMALL} --format png -o /dev/fd/3 3>third.png");
    assert_eq!(Ran::from(folder.shell(&script).output().unwrap()).code, 0);
    assert!(folder.read("third.png") == expected());
    let script = format!("{{ \"$0\" {SMALL} --format png -o /dev/fd/3 3>&1 >/dev/null; }} | cat > piped.png");
    assert_eq!(Ran::from(folder.shell(&script).output().unwrap()).code, 0);
    assert!(folder.read("piped.png") == expected());
    assert_eq!(folder.names(), ["link.png", "piped.png", "second.png", "third.png"]);
    // A file with the name of standard output is a file.
    symlink("-", folder.join("dash.png")).unwrap();
    folder.good(&format!("{SMALL} -o dash.png"));
    assert!(folder.read("-") == expected());
}

#[test]
fn process_substitution_is_written() {
    let folder = Folder::new();
    let script = format!("\"$0\" {SMALL} --format png -o >(cat > out.png); sleep 0.3");
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", &script, env!("CARGO_BIN_EXE_dwell")]).current_dir(folder.path()).env("CUDA_VISIBLE_DEVICES", "");
    let Ok(output) = bash.output() else {
        println!("there is no bash here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.read("out.png") == expected());
}

#[test]
fn a_replaced_file_gives_its_permissions_and_keeps_its_other_names() {
    let folder = Folder::new().with("a.png", b"old");
    let mode = |bits| std::fs::set_permissions(folder.join("a.png"), PermissionsExt::from_mode(bits)).unwrap();
    let bits = || std::fs::metadata(folder.join("a.png")).unwrap().permissions().mode() & 0o7777;
    for (given, kept) in [(0o640, 0o640), (0o600, 0o600), (0o444, 0o444), (0o4755, 0o755), (0o777, 0o777)] {
        mode(given);
        folder.good(&format!("{SMALL} -o a.png"));
        assert_eq!(bits(), kept, "{given:o}");
        assert!(folder.read("a.png") == expected());
    }
    std::fs::remove_file(folder.join("a.png")).unwrap();
    let folder = folder.with("a.png", b"old");
    std::fs::hard_link(folder.join("a.png"), folder.join("b.png")).unwrap();
    folder.good(&format!("{SMALL} -o a.png"));
    assert_eq!(folder.read("b.png"), b"old");
    assert!(folder.read("a.png") == expected());
    // Owner and group are kept where the process may set them.
    let is_privileged = std::os::unix::fs::chown(folder.join("a.png"), Some(12_345), Some(54_321)).is_ok();
    if is_privileged {
        folder.good(&format!("{SMALL} -o a.png"));
        let metadata = std::fs::metadata(folder.join("a.png")).unwrap();
        assert_eq!((metadata.uid(), metadata.gid()), (12_345, 54_321));
    } else {
        println!("this user may not change the owner of a file");
    }
}

#[test]
fn links_of_others_in_shared_folders_are_not_followed() {
    let folder = Folder::new().with("victim.png", b"precious");
    let shared = folder.join("shared");
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o1777)).unwrap();
    symlink("../victim.png", shared.join("own.png")).unwrap();
    symlink("../victim.png", shared.join("theirs.png")).unwrap();
    if std::os::unix::fs::lchown(shared.join("theirs.png"), Some(12_345), None).is_err() {
        println!("this user may not change the owner of a link");
        return;
    }
    let ran = folder.run(format!("{SMALL} -o shared/theirs.png").split(' '));
    assert!(ran.code == 4 && ran.err.contains("a symbolic link of another user"), "{} {}", ran.code, ran.err);
    assert_eq!(folder.read("victim.png"), b"precious");
    folder.good(&format!("{SMALL} -o shared/own.png"));
    assert!(folder.read("victim.png") == expected());
    // A journal of another user is in the way.
    let folder = folder.with("x.png.dwell-journal", b"dwell journal 3\nand more");
    std::os::unix::fs::chown(folder.join("x.png.dwell-journal"), Some(12_345), None).unwrap();
    let ran = folder.run(format!("{SMALL} -o x.png --fresh").split(' '));
    assert!(ran.code == 4 && ran.err.contains("belongs to another user"), "{} {}", ran.code, ran.err);
}

#[test]
fn two_of_three_outputs_published_are_finished_by_the_next_run() {
    let folder = Folder::new();
    let line = format!("{SMALL} -o a.png -o b.npy -o c/c.csv");
    std::fs::create_dir(folder.join("c")).unwrap();
    let ran = folder.good(&line);
    let whole = [folder.read("a.png"), folder.read("b.npy"), folder.read("c/c.csv")];
    assert_eq!(folder.names(), ["a.png", "b.npy", "c"], "{}", ran.err);
    for name in ["a.png", "b.npy", "c/c.csv"] {
        std::fs::remove_file(folder.join(name)).unwrap();
    }
    let long = format!("{} -o a.png -o b.npy -o c/c.csv", SMALL.replace("40x30", "1200x900"));
    let mut child = folder.command().args(long.split(' ')).spawn().unwrap();
    // A folder in the way of the third output appears, in most runs after the outputs are opened: its rename fails.
    std::thread::sleep(std::time::Duration::from_millis(30));
    std::fs::create_dir(folder.join("c/c.csv")).unwrap();
    let status = child.wait().unwrap();
    if status.code() == Some(4) && folder.names().contains(&"a.png".to_owned()) {
        // Two are published; the journal and the third partial file are there.
        std::fs::remove_dir(folder.join("c/c.csv")).unwrap();
        folder.good(&long);
    } else {
        // The folder was there before the output was opened, or after it was published.
        assert!(matches!(status.code(), Some(0 | 4)));
        let _ = std::fs::remove_dir(folder.join("c/c.csv"));
        folder.good(&long);
    }
    assert_eq!(folder.names(), ["a.png", "b.npy", "c"]);
    folder.good(&line);
    assert!([folder.read("a.png"), folder.read("b.npy"), folder.read("c/c.csv")] == whole);
}
