//! Layers and looks from the command line: they are stored, shown, rendered again and checked.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;
use dwell::Look;

const SMALL: &str = "--size 64x36 --max-iter 300 --quiet";

#[test]
fn a_picture_with_layers_renders_to_the_same_bytes_again() {
    let folder = Folder::new().with("mine.map", b"255 0 0\n0 255 0\n0 0 255\n");
    for (i, flags) in [
        "--shade",
        "--shade=200 --shade-height 0.7 --shade-strength 0.25 --palette fire",
        "--interior-by final-z --interior-palette ./mine.map --look night",
        "burning-ship --look cells --aa 2",
        "--julia -0.123,0.745 --look petals --depth 16 --scale histogram",
    ]
    .into_iter()
    .enumerate()
    {
        let (first, second, third) = (format!("a{i}.png"), format!("b{i}.png"), format!("c{i}.png"));
        folder.good(&format!("render {flags} {SMALL} -o {first}"));
        folder.good(&format!("render {first} --quiet -o {second} --threads 3"));
        assert!(folder.read(&first) == folder.read(&second), "{flags}");
        let shown = folder.good(&format!("show {first}"));
        assert!(shown.text().contains("[[layer]]\nwhat = "), "{flags}: {}", shown.text());
        let folder_with_text = Folder::new().with("place.toml", &shown.out);
        folder_with_text.good("render place.toml --quiet -o picture.png");
        assert!(folder_with_text.read("picture.png") == folder.read(&first), "{flags}");
        folder.good(&format!("check {first}"));
        // Without its layers it is another picture.
        folder.good(&format!("render {first} --look plain --quiet -o {third}"));
        assert!(folder.read(&third) != folder.read(&first), "{flags}");
        assert!(!folder.good(&format!("show {third}")).text().contains("[[layer]]"));
    }
}

#[test]
fn flags_replace_the_layer_of_their_kind() {
    let folder = Folder::new();
    folder.good(&format!("render --look petals --shade=10 --interior-by period {SMALL} -o a.png"));
    let shown = folder.good("show a.png").text();
    assert_eq!(shown.matches("what = \"slope\"").count(), 1, "{shown}");
    assert!(shown.contains("angle = 10.0\n") && shown.contains("what = \"period\""), "{shown}");
    assert!(!shown.contains("final-z") && !shown.contains("look ="), "{shown}");
    // The strength alone keeps the light.
    folder.good("render a.png --shade-strength 0.5 --quiet -o b.png");
    let shown = folder.good("show b.png").text();
    assert!(shown.contains("angle = 10.0\n") && shown.contains("opacity = 0.5\n"), "{shown}");
}

#[test]
fn a_look_in_a_file_is_that_of_the_flag_and_layers_follow_it() {
    let place = "re = \"-0.7\"\nim = \"0\"\nzoom = \"1.5\"\niterations = 300\nsize = \"64x36\"\n";
    let folder = Folder::new()
        .with("plain.toml", place.as_bytes())
        .with("look.toml", format!("{place}[colour]\nlook = \"relief\"\n").as_bytes())
        .with("more.toml", format!("{place}[colour]\nlook = \"relief\"\n[[layer]]\nwhat = \"outline\"\n").as_bytes());
    folder.good("render plain.toml --look relief --quiet -o a.png");
    folder.good("render look.toml --quiet -o b.png");
    assert!(folder.read("a.png") == folder.read("b.png"));
    let shown = folder.good("show more.toml").text();
    let order: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("what = ")).collect();
    assert_eq!(order, ["\"slope\"", "\"outline\""]);
}

#[test]
fn looks_are_listed() {
    let listed = Folder::new().good("looks").text();
    assert!(Look::ALL.into_iter().all(|look| listed.contains(&format!("{} ", look.name()))), "{listed}");
}
