//! Hidden aliases: former names of flags and keys of location files give the same bytes as the flags, and no help shows them.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;
use serde_json::Value;

/// A flag of `dwell render` with its value, and the same under every other accepted name.
const RENDER: &[(&str, &[&str])] = &[
    ("--precision f32", &["--number f32"]),
    ("--rounding separate", &["--recipe separate"]),
    ("--color-by distance", &["--by distance", "--colour-by distance", "--color_by distance"]),
    ("--view-height 0.5", &["--height 0.5", "--view_height 0.5"]),
    ("--center -0.6,0.4", &["--centre -0.6,0.4"]),
    ("--rotate 30", &["--rotation 30"]),
    ("--max-iter 77", &["--iterations 77", "--max_iter 77"]),
    ("--escape-radius 16", &["--escape_radius 16"]),
    ("--aa 2", &["--samples 2"]),
];

/// Every key of a location file that has a flag, with a value, and the flag of the same name.
const KEYS: &[(&str, &str)] = &[
    ("formula = \"tricorn\"", "--formula tricorn"),
    ("formula = \"multibrot\"\npower = 4", "--formula multibrot --power 4"),
    ("julia = [\"-0.8\", \"0.156\"]", "--julia -0.8,0.156"),
    ("rotation = \"30\"", "--rotation 30"),
    ("flip = true", "--flip=yes"),
    ("sample = \"corner\"", "--sample corner"),
    ("size = \"30x40\"", "--size 30x40"),
    ("samples = 3", "--samples 3"),
    ("depth = 16", "--depth 16"),
    ("iterations = 77", "--iterations 77"),
    ("escape_radius = \"16\"", "--escape_radius 16"),
    ("number = \"f32\"", "--number f32"),
    ("recipe = \"separate\"", "--recipe separate"),
    ("force = true", "--force"),
    ("strategy = \"mariani-silver\"", "--strategy mariani-silver"),
    ("strategy = \"mariani-silver\"\ntile = \"64x64\"", "--strategy mariani-silver --tile 64x64"),
    ("strategy = \"mariani-silver\"\nshortcuts = \"none\"", "--strategy mariani-silver --shortcuts none"),
    ("[colour]\npalette = \"ember\"", "--palette ember"),
    ("[colour]\nby = \"banded\"", "--by banded"),
    ("[colour]\nscale = \"log\"", "--scale log"),
    ("[colour]\ndensity = 3.0", "--density 3"),
    ("[colour]\noffset = 0.25", "--offset 0.25"),
    ("[colour]\ninterior = \"#123456\"", "--interior #123456"),
];

/// Names that are accepted and not shown. `samples` is missing: `dwell compare --samples` is another flag.
const HIDDEN: [&str; 12] = [
    "number",
    "recipe",
    "by",
    "colour-by",
    "color_by",
    "height",
    "view_height",
    "centre",
    "rotation",
    "iterations",
    "max_iter",
    "escape_radius",
];

/// The bytes of a picture, and the statistics without times and memory.
fn rendered(folder: &Folder, line: &str) -> (Vec<u8>, Value) {
    let mut stats = folder.stats(&format!("{line} -o picture.png"));
    let fields = stats.as_object_mut().unwrap();
    for key in ["date", "seconds", "iterations_per_second", "pixels_per_second", "peak_memory_bytes"] {
        fields.remove(key);
    }
    if let Some(automatic) = fields.get_mut("automatic").and_then(Value::as_object_mut) {
        automatic.remove("seconds");
    }
    (folder.read("picture.png"), stats)
}

#[test]
fn aliases_of_render_give_the_same_picture_and_statistics() {
    let folder = Folder::new();
    let base = "shallow-elephant --size 40x30";
    let (unchanged, _) = rendered(&folder, base);
    for (flag, aliases) in RENDER {
        let expected = rendered(&folder, &format!("{base} {flag}"));
        assert!(expected.0 != unchanged, "{flag} changes nothing");
        for alias in *aliases {
            assert!(rendered(&folder, &format!("{base} {alias}")) == expected, "{alias}");
        }
    }
}

#[test]
fn keys_of_location_files_are_flags() {
    let place = "re = \"-0.6\"\nim = \"0.4\"\n";
    let head = format!("{place}zoom = \"2\"\n");
    let mut folder = Folder::new().with("base.toml", format!("iterations = 50\n{head}").as_bytes());
    let of_view = [
        (place, "zoom = \"5\"", "--zoom 5"),
        (place, "view_height = \"0.75\"", "--view_height 0.75"),
        (place, "view_height = \"0.75\"", "--view-height 0.75"),
        ("", "bounds = [\"-2\", \"1\", \"-1\", \"1\"]", "--bounds -2,1,-1,1"),
    ];
    for (head, keys, flags) in KEYS.iter().map(|(keys, flags)| (head.as_str(), *keys, *flags)).chain(of_view) {
        // Flags that change the place or the formula leave the limit of the file.
        let (limit, max_iter) =
            if keys.contains("iterations") { ("", "") } else { ("iterations = 50\n", "--max-iter 50") };
        folder = folder.with("place.toml", format!("{limit}{head}{keys}\n").as_bytes());
        let size = if flags.contains("--size") { "" } else { "--size 40x30" };
        let from_file = rendered(&folder, &format!("place.toml {size}"));
        assert!(rendered(&folder, &format!("base.toml {size} {flags} {max_iter}")) == from_file, "{flags}");
    }
}

#[test]
fn aliases_of_the_other_commands_give_the_same_output() {
    let folder = Folder::new();
    folder.good("render --size 40x30 --precision f32 --max-iter 50 --view-height 2 -o a.npy");
    for (line, alias) in [
        ("point 0.3,0.5 --json --max-iter 9", "point 0.3,0.5 --json --iterations 9"),
        ("point 0.3,0.5 --json --max-iter 9", "point 0.3,0.5 --json --max_iter 9"),
        ("point 0.3,0.5 --json --escape-radius 9", "point 0.3,0.5 --json --escape_radius 9"),
        ("point 0.3,0.5 --json --rounding separate", "point 0.3,0.5 --json --recipe separate"),
        (
            "compare --truth a.npy --all --json --size 40x30 --max-iter 50 --view-height 2 --precision f32",
            "compare --truth a.npy --all --json --size 40x30 --iterations 50 --height 2 --number f32",
        ),
    ] {
        let [expected, found] = [line, alias].map(|line| folder.run(line.split(' ')));
        assert!(expected.code < 2, "{line}: {}", expected.err);
        assert_eq!((found.code, found.text()), (expected.code, expected.text()), "{alias}");
    }
    let line = "peak --number f32 --recipe separate --threads 1 --json";
    let peak: Value = serde_json::from_slice(&folder.good(line).out).unwrap();
    assert_eq!((&peak["number"], &peak["recipe"]), (&"f32".into(), &"separate".into()));
    assert_eq!((&peak["precision"], &peak["rounding"]), (&"f32".into(), &"separate".into()));
    folder.good("gallery -o one shallow-home --size 24x14 --aa 1 -q");
    folder.good("gallery -o other shallow-home --size 24x14 --samples 1 -q");
    assert!(folder.read("one/shallow-home.png") == folder.read("other/shallow-home.png"));
}

#[test]
fn statistics_hold_the_old_and_the_new_names() {
    let folder = Folder::new();
    let stats = folder.stats("--size 8x8 --precision f32 --rounding separate --view-height 2.5");
    for (old, new, value) in [
        (&stats["number"], &stats["precision"], "f32"),
        (&stats["recipe"], &stats["rounding"], "separate"),
        (&stats["view"]["height"], &stats["view"]["view_height"], "2.5"),
    ] {
        assert_eq!((old.as_str(), new.as_str()), (Some(value), Some(value)), "{stats}");
    }
    let point: Value = serde_json::from_slice(&folder.good("point 1,0 --json").out).unwrap();
    assert_eq!((&point["recipe"], &point["rounding"]), (&"fused".into(), &"fused".into()));
}

#[test]
fn no_help_completion_or_manual_page_shows_an_alias() {
    let folder = Folder::new();
    folder.good("man --output-dir .");
    let mut texts: Vec<(String, String)> = Vec::new();
    for name in folder.names() {
        // The pages escape hyphens.
        texts.push((name.clone(), String::from_utf8(folder.read(&name)).unwrap().replace("\\-", "-")));
    }
    for command in ["render", "compare", "point", "peak", "gallery", "palettes", "show", "info"] {
        for help in ["-h", "--help"] {
            let line = format!("{command} {help}");
            texts.push((line.clone(), folder.good(&line).text()));
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        texts.push((shell.to_owned(), folder.good(&format!("completions {shell}")).text()));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    for (name, text) in texts {
        // The help of `render` mentions that keys are accepted as flags, with this example.
        let text = text.replace("--iterations 5000", "");
        for hidden in HIDDEN {
            // Completions for fish write `-l NAME`.
            for flag in [format!("--{hidden}"), format!(" -l {hidden}")] {
                let shown = text.match_indices(&flag).any(|(at, _)| !text[at + flag.len()..].starts_with(is_name));
                assert!(!shown, "{name} shows {flag}");
            }
        }
    }
}
