//! `dwell convert`, and files of other programs where a location is named.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

const KFR: &[u8] =
    b"Re: -0.75\r\nIm: 0.1\r\nZoom: 20\r\nIterations: 300\r\nSmoothMethod: 1\r\nSlopes: 1\r\nImagPointsUp: 1\r\n";

#[test]
fn a_file_of_another_program_is_rendered_and_shown() {
    let folder = Folder::new().with("a.kfr", KFR).with("b.txt", KFR);
    let ran = folder.good("render a.kfr -o a.png --size 64x36");
    assert!(ran.err.contains("note: \"a.kfr\": not used: SmoothMethod, Slopes\n"), "{}", ran.err);
    // The same from standard input and with another ending, and as flags.
    let shown = |line: &str| folder.good(line).text();
    assert_eq!(shown("show a.kfr").replace("name = \"a\"\n", ""), shown("show b.txt").replace("name = \"b\"\n", ""));
    let stats = folder.stats("a.kfr --size 64x36");
    let flags = folder.stats("--center -0.75,0.1 --zoom 20 --max-iter 300 --size 64x36");
    assert_eq!(stats["field_blake3"], flags["field_blake3"]);
    assert!(stats["field_blake3"].is_string());
}

#[test]
fn locations_are_converted_in_both_directions() {
    let folder = Folder::new().with("a.kfr", KFR);
    folder.good("convert a.kfr -o a.toml");
    for format in ["kfr", "f3.toml", "upr", "par", "xpf"] {
        let ran = folder.good(&format!("convert a.toml -o b.{format}"));
        assert!(ran.err.starts_with(&format!("note: \"b.{format}\": not written: ")), "{}", ran.err);
        let back = folder.good(&format!("convert b.{format} -o - --format toml")).text();
        for line in ["re = \"-0.75\"", "im = \"0.1\"", "iterations = 300"] {
            assert!(back.contains(line), "{format}: {line}: {back}");
        }
    }
    assert_eq!(
        folder.good("convert a.toml -o - --format f3").text(),
        String::from_utf8_lossy(&folder.read("b.f3.toml"))
    );
    let kept = folder.run(["convert", "a.kfr", "-o", "b.par", "--no-clobber"]);
    assert_eq!((kept.code, kept.err.contains("b.par\" exists already")), (2, true), "{}", kept.err);
    // A picture remembers its place.
    folder.good("render a.toml -o a.png --size 64x36");
    folder.good("convert a.png -o c.kfr");
    assert!(String::from_utf8_lossy(&folder.read("c.kfr")).contains("Zoom: 20\r\n"));
    assert!(folder.names().iter().all(|name| !name.contains("partial")), "{:?}", folder.names());
}

#[test]
fn deep_places_are_converted() {
    let folder = Folder::new();
    let text = folder.good("convert kf-1e1086 -o - --format upr").text();
    assert!(text.contains("magn=7.5e1085"), "{text}");
}

#[test]
fn hidden_characters_of_files_are_escaped_in_notes() {
    let folder = Folder::new().with("a.kfr", &[KFR, b"a\x1b[31m\xe2\x80\xae: 1\n".as_slice()].concat());
    let ran = folder.good("show a.kfr");
    assert!(!ran.err.contains('\u{1b}') && ran.err.contains("a\\u{1b}[31m\\u{202e}"), "{}", ran.err);
}

#[test]
fn palettes_of_one_line_and_of_other_programs() {
    let folder = Folder::new()
        .with("sea.gpl", b"GIMP Palette\nName: Sea\n0 0 40 deep\n250 240 200\n")
        .with("sea.kfp", b"Colors: 40,0,0,200,240,250,\r\nIterDiv: 0.1\r\n");
    for palette in ["#001,#fff,#fa0", "#001@0,#fff@0.3", "sea.gpl", "sea.kfp"] {
        folder.good(&format!("palettes {palette}"));
        folder.good(&format!("render -o a.png --size 64x36 --palette {palette}"));
        // The picture holds the palette, so that it is rendered again without the file.
        folder.good("check a.png");
    }
    assert!(folder.good("palettes sea.gpl").text().contains("Sea"));
}
