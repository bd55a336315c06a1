//! Texts of files that hold control characters, marks of direction and other invisible characters: they are printed as
//! escapes, wherever they come from.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

/// Control characters of the second set, marks of direction, separators, invisible characters and tags.
const HIDDEN: &str = "\u{80}\u{85}\u{9b}31m\u{9f}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2066}\u{2069}\u{2028}\u{2029}\u{200b}\
    \u{2060}\u{feff}\u{ad}\u{e0041}\u{fe0f}x";

fn assert_shown(what: &str, text: &str) {
    let found = text.chars().find(|c| *c != '\n' && dwell::needs_escape(*c));
    assert_eq!(found, None, "{what}: {text:?}");
    assert!(!text.is_empty(), "{what}");
}

fn place(more: &str) -> String {
    format!("re = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n{more}\n")
}

#[test]
fn errors_about_files_show_escapes() {
    for (number, text) in [
        place(&format!("title = 5 # {HIDDEN}")),
        place(&format!("\"{HIDDEN}\" = 5")),
        place(&format!("\"{HIDDEN}\" = 5\n\"{HIDDEN}\" = 6")),
        place(&format!("{HIDDEN} = 5")),
        place(&format!("size = '{HIDDEN}'")),
        place(&format!("formula = '{HIDDEN}'")),
        place(&format!("power = '{HIDDEN}'")),
        place(&format!("rotation = \"1{HIDDEN}{}\"", "2".repeat(99))),
        place(&format!("title = \"{HIDDEN}")),
        place(&format!("title = \"\\q{HIDDEN}\"")),
        place(&format!("dwell = '99.0.0-{HIDDEN}'\nshine = 2")),
        place(&format!("[colour]\npalette = '{HIDDEN}'")),
        place(&format!("[colour]\npalette = '{HIDDEN}.toml'")),
        place(&format!("[colour]\ninterior = '{HIDDEN}'")),
        HIDDEN.to_owned(),
    ]
    .iter()
    .enumerate()
    {
        let folder = Folder::new().with("a.toml", text.as_bytes());
        let ran = folder.run(["show", "a.toml"]);
        assert_eq!(ran.code, 2, "{number}: {text:?}: {}", ran.err);
        assert_shown(text, &ran.err);
    }
}

#[test]
fn errors_about_palettes_and_rasters_show_escapes() {
    for (name, text) in [
        ("a.toml", format!("colours = ['{HIDDEN}']")),
        ("a.map", format!("0 0 {HIDDEN}")),
        ("a.ggr", format!("GIMP Gradient\nName: {HIDDEN}\nx{HIDDEN}\n")),
        ("a.ugr", format!("a{HIDDEN} {{\ngradient:\n title=\"{HIDDEN}\" {HIDDEN}=2\n}}\n")),
        ("a.txt", HIDDEN.to_owned()),
    ] {
        let folder = Folder::new().with(name, text.as_bytes());
        let ran = folder.run(["palettes", name]);
        assert_eq!(ran.code, 2, "{name}: {}", ran.err);
        assert_shown(name, &ran.err);
        let ran = folder.run(["palettes".to_owned(), format!("{name}#{HIDDEN}")]);
        assert_shown(name, &ran.err);
    }
    for (name, text) in [("a.csv", format!("1,{HIDDEN}\n")), ("a.pgm", "P5 \u{9b}".to_owned())] {
        let folder = Folder::new().with(name, text.as_bytes());
        let ran = folder.run(["compare", name, name]);
        assert_eq!(ran.code, 2, "{name}: {}", ran.err);
        assert_shown(name, &ran.err);
    }
}

#[test]
fn names_of_files_are_shown_with_escapes() {
    let name = format!("a{HIDDEN}.csv");
    let folder = Folder::new().with(&name, b"1,2\n");
    for line in [
        vec!["compare", &name, &name],
        vec!["compare", &name, &name, "--json"],
        vec!["render", "--size", "8x8", "--dry-run", "-o", &name],
    ] {
        let ran = folder.run(&line);
        assert_eq!(ran.code, 0, "{line:?}: {}", ran.err);
        assert_shown("a name", &ran.text());
        if line.contains(&"--json") {
            let report: serde_json::Value = serde_json::from_slice(&ran.out).unwrap();
            assert!(report["a"]["file"].as_str().unwrap().starts_with("a\\u{80}"), "{report}");
        }
    }
    let unknown = format!("{HIDDEN}.{HIDDEN}");
    for line in [vec!["show", name.as_str()], vec!["show", HIDDEN], vec!["render", "-o", &unknown]] {
        let ran = folder.run(&line);
        assert_eq!(ran.code, 2, "{line:?}");
        assert_shown("a name", &ran.err);
    }
}

#[test]
fn palettes_are_listed_with_escapes() {
    let text = format!("name = \"{HIDDEN}\"\ntitle = \"{HIDDEN}\"\ncolours = [\"#000000\", \"#ffffff\"]\n");
    let folder = Folder::new().with("a.toml", text.as_bytes());
    for line in ["palettes ./a.toml", "palettes ./a.toml --names"] {
        let text = folder.good(line).text();
        assert_shown(line, &text);
        assert!(text.contains("\\u{9b}"), "{text}");
    }
}

#[test]
fn show_prints_a_location_file_of_the_same_texts() {
    let text = place(&format!(
        "# {HIDDEN}\nname = \"{HIDDEN}\"\ntitle = '{HIDDEN}\"\\'\nsource = '''{HIDDEN}\n\"'''\nnotes = \"\"\"\n{HIDDEN}\\u202E\"\"\""
    ));
    let folder = Folder::new().with("a.toml", text.as_bytes());
    let texts = |text: &str| {
        let location = dwell::Location::parse(text, "x").unwrap();
        [location.name, location.notes, location.scene.title, location.scene.source]
    };
    let shown = folder.good("show a.toml").text();
    assert_shown("show", &shown);
    assert_eq!(texts(&shown), texts(&text));
    // The text in a picture is kept as it is; only what is printed is escaped.
    folder.good("render a.toml --size 8x8 -q -o a.png");
    let shown = folder.good("show a.png").text();
    assert_shown("show", &shown);
    assert_eq!(texts(&shown)[2..], texts(&text)[2..]);
}
