//! `dwell check`: files that are what their record says, and files that are not.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use serde_json::{Value, json};
use std::path::Path;

/// The place of the data of the first chunk of a kind.
fn data(png: &[u8], kind: &[u8; 4]) -> usize {
    png.windows(4).position(|window| window == kind).unwrap() + 4
}

/// The same picture with another text of the same length in its record, and with right checksums.
fn edited(png: &[u8], from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = png.to_vec();
    let at = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
    bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    let start = data(&bytes, b"iTXt") - 8;
    let length = u32::from_be_bytes(bytes[start..start + 4].try_into().unwrap()) as usize;
    let end = start + 8 + length;
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes[start + 4..end]);
    bytes[end..end + 4].copy_from_slice(&checksum.finalize().to_be_bytes());
    bytes
}

/// Statistics with the hashes of these files as their outputs.
fn statistics(folder: Folder, name: &str, files: &[&str]) -> Folder {
    let mut stats: Value = serde_json::from_slice(&folder.read("stats.json")).unwrap();
    let record = |file: &&str| {
        let bytes = folder.read(file);
        json!({"path": file, "bytes": bytes.len(), "xxh3_128": format!("{:032x}", twox_hash::XxHash3_128::oneshot(&bytes))})
    };
    stats["outputs"] = files.iter().map(record).collect();
    folder.with(name, stats.to_string().as_bytes())
}

fn check(folder: &Folder, line: &str) -> Ran {
    folder.run(["check", "--threads", "2", "--engine", "cpu"].into_iter().chain(line.split_whitespace()))
}

/// Asserts the exit code of a check and a part of its text.
fn expect(folder: &Folder, line: &str, code: i32, said: &str) -> Ran {
    let ran = check(folder, line);
    let text = format!("{}{}", ran.text(), ran.err);
    assert_eq!(ran.code, code, "{line}: {text}");
    assert!(text.contains(said), "{line}: {text}");
    ran
}

#[test]
fn pictures_of_every_kind_are_those_of_their_text() {
    let folder = Folder::new();
    for (name, flags) in [
        ("plain.png", ""),
        ("deep.png", "--depth 16 --color-by distance --palette ink"),
        ("samples.png", "--aa 3 --scale histogram"),
        ("refined.png", "--aa auto --scale histogram --depth 16 --color-by banded"),
        ("single.png", "--aa 1 --dither no"),
        ("heuristic.png", "--strategy mariani-silver --tile 40x30 --max-iter 500"),
        ("rotated.png", "--rotate 33.3 --formula burning-ship --palette fire"),
        ("julia.png", "--julia -0.8,0.156 --precision f32 --rounding separate --shortcuts none"),
        ("blocks.png", "--center -0.75,0.1 --zoom 1e18 --force"),
        ("one.png", "--size 1x1"),
    ] {
        let size = if flags.contains("--size") { "" } else { "--size 161x90" };
        folder.good(&format!("render {size} {flags} -o {name} --engine cpu"));
        let pixels = if flags.contains("--size") { 1 } else { 161 * 90 };
        let said = format!("{name}: all {pixels} pixels are those of its record (cpu, ");
        expect(&folder, name, 0, &said);
    }
    assert_eq!(folder.names().len(), 10, "nothing is written: {:?}", folder.names());
    let quiet = expect(&folder, "plain.png deep.png -q --max-memory 64M", 0, "");
    assert!(quiet.out.is_empty() && quiet.err.is_empty(), "{}", quiet.err);
    expect(&folder, "plain.png --max-memory 1M", 2, "--max-memory");
    expect(&folder, "plain.png --threads 0", 2, "--threads");
    expect(&folder, "plain.png --engine warp", 2, "--engine");
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let folder = Folder::new();
    folder.good("render --size 64x48 -o whole.png");
    let mut folder = folder;
    let whole = folder.read("whole.png");
    let end = whole.len() - 1;
    for (place, said) in [
        (data(&whole, b"IDAT") + 1, "chunk IDAT at byte"),
        (data(&whole, b"iTXt") + 30, "chunk iTXt at byte"),
        (data(&whole, b"tEXt") + 12, "chunk tEXt at byte"),
        (data(&whole, b"IHDR") + 3, "chunk IHDR at byte"),
        (end, "chunk IEND at byte"),
        (end - 5, "chunk IEN"),
        (0, "does not begin with the signature"),
    ] {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        folder = folder.with("flipped.png", &bytes);
        let ran = check(&folder, "flipped.png");
        let text = ran.text();
        assert_eq!(ran.code, 1, "byte {place}: {text}{}", ran.err);
        assert!(text.starts_with("flipped.png: damaged: ") && (place == end - 5 || text.contains(said)), "{text}");
    }
    for length in [0, 5, 40, whole.len() / 2, whole.len() - 12, whole.len() - 1] {
        folder = folder.with("cut.png", &whole[..length]);
        expect(&folder, "cut.png", 1, "cut.png: damaged: ");
        expect(&folder, "cut.png", 1, "is cut short: it ends at byte");
    }
    let folder = folder.with("longer.png", &[whole.as_slice(), b"x"].concat());
    expect(&folder, "longer.png", 1, "goes on after its last chunk");
    // Of several files, the exit code is the highest.
    expect(&folder, "whole.png longer.png", 1, "whole.png: all 3072 pixels");
    expect(&folder, "whole.png longer.png missing.png", 2, "missing.png");
}

#[test]
fn a_picture_with_another_record_differs() {
    let folder = Folder::new();
    folder.good("render --size 64x48 --zoom 1.5 --center -0.5,0 --max-iter 100 -o a.png");
    let whole = folder.read("a.png");
    let folder = folder
        .with("zoom.png", &edited(&whole, "zoom = \"1.5\"", "zoom = \"1.6\""))
        .with("size.png", &edited(&whole, "64x48", "32x99"))
        .with("newer.png", &edited(&whole, "dwell = \"0.1.0\"", "dwell = \"9.9.9\""))
        .with("wrong.png", &edited(&whole, "iterations = 100", "iterations = abc"));
    expect(&folder, "zoom.png", 1, "of 3072 pixels differ from its record, the first at column 0, row 0");
    expect(&folder, "size.png", 1, "has 64 x 48 pixels, and its record 32 x 99");
    let newer = expect(&folder, "newer.png", 0, "all 3072 pixels");
    assert!(newer.err.contains("written by dwell 9.9.9, which is newer"), "{}", newer.err);
    expect(&folder, "wrong.png", 2, "wrong.png");

    let reports: Value = serde_json::from_slice(&check(&folder, "a.png zoom.png --json").out).unwrap();
    assert_eq!((&reports[0]["verdict"], &reports[0]["differing_pixels"]), (&json!("same"), &json!(0)));
    assert_eq!((&reports[0]["file"], &reports[0]["record"]), (&json!("a.png"), &json!("text")));
    let zoom = &reports[1];
    assert_eq!((&zoom["verdict"], &zoom["pixels"]), (&json!("different"), &json!(3072)));
    assert!(zoom["differing_pixels"].as_u64().unwrap() > 0 && zoom["first"][0]["a"].is_array(), "{zoom}");
}

/// A picture of the same pixels by another program, which kept the text.
fn rewritten(png: &[u8], change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    change(&mut pixels);
    let info = reader.info();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, info.width, info.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.add_itxt_chunk("dwell".to_owned(), info.utf8_text[0].get_text().unwrap()).unwrap();
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    bytes
}

#[test]
fn a_single_wrong_pixel_is_found_and_other_compression_is_not_an_error() {
    let folder = Folder::new();
    folder.good("render --size 300x200 -o a.png");
    let whole = folder.read("a.png");
    let folder = folder
        .with("same.png", &rewritten(&whole, |_| {}))
        .with("other.png", &rewritten(&whole, |pixels| pixels[(77 * 300 + 123) * 3 + 1] ^= 1));
    expect(&folder, "same.png", 0, "all 60000 pixels");
    expect(&folder, "other.png", 1, "1 of 60000 pixels differ from its record, the first at column 123, row 77");
    // The checksum of the pixels is wrong, that of the chunk is right.
    let mut bytes = folder.read("same.png");
    let end = bytes.windows(4).position(|window| window == b"IEND").unwrap() - 4;
    bytes[end - 5] ^= 1;
    let start = bytes.windows(4).rposition(|window| window == b"IDAT").unwrap();
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&bytes[start..end - 4]);
    bytes[end - 4..end].copy_from_slice(&checksum.finalize().to_be_bytes());
    expect(&folder.with("sum.png", &bytes), "sum.png", 1, "sum.png: damaged: ");
}

#[test]
fn files_without_a_record_are_refused_with_a_hint() {
    let folder = Folder::new();
    folder.good("render --size 8x8 -o a.npy -o a.ppm -o a.png");
    let bare = {
        let mut bytes = Vec::new();
        let encoder = png::Encoder::new(&mut bytes, 1, 1);
        encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
        bytes
    };
    let folder = folder.with("bare.png", &bare).with("text.txt", b"re = \"0\"\n");
    for name in ["a.npy", "a.ppm", "text.txt", "bare.png"] {
        let ran = expect(&folder, name, 2, name);
        assert!(ran.err.contains("hint: ") && ran.err.contains("--stats"), "{}", ran.err);
    }
    std::fs::create_dir(folder.join("folder.png")).unwrap();
    expect(&folder, "folder.png", 2, "is a directory");
    expect(&folder, "-", 2, "regular file");
    expect(&folder, "missing.png", 2, "cannot be read");
    expect(&folder, "", 2, "FILE");
    let ran = check(&folder, "a.png a.npy --json");
    let reports: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!((ran.code, &reports[1]["verdict"]), (2, &json!("unchecked")));
}

#[test]
fn files_are_checked_against_statistics() {
    let folder = Folder::new();
    folder.good("render --size 50x40 --max-iter 60 -o a.npy -o a.png --stats stats.json");
    let folder = statistics(folder, "two.json", &["a.npy", "a.png"]);
    expect(&folder, "a.npy a.png --stats two.json", 0, "a.npy: its 8128 bytes are those of its record");
    let (npy, png) = (folder.read("a.npy"), folder.read("a.png"));

    // Other bytes, other lengths, and a record of another run.
    let flip = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let folder = folder.with("a.png", &flip(&png, png.len() - 1));
    expect(&folder, "a.png --stats two.json", 1, "have another hash");
    let folder = folder.with("a.png", &png[..png.len() - 1]);
    expect(&folder, "a.png --stats two.json", 1, "bytes, recorded are");
    let folder = folder.with("a.npy", &flip(&npy, npy.len() - 4));
    expect(&folder, "a.npy --stats two.json", 1, "and so have its dwells");
    folder.good("render --size 50x40 --max-iter 200 -o a.npy -o a.png");
    let ran = expect(&folder, "a.npy a.png --stats two.json", 1, "a.png: differs from its record");
    assert!(ran.text().contains("a.npy: differs from its record"), "{}", ran.text());

    // A field of another name may be converted; a picture of another name has no record among several.
    folder.good("render --size 50x40 --max-iter 60 -o converted.csv -o other.png");
    expect(&folder, "converted.csv --stats two.json", 0, "all 2000 dwells are those of its record");
    expect(&folder, "other.png --stats two.json", 2, "which have a.npy, a.png");
    folder.good("render --size 50x40 --max-iter 200 -o converted.csv");
    expect(&folder, "converted.csv --stats two.json", 1, "its dwells have another hash");

    // The only output may have another name.
    let folder = statistics(folder.with("renamed.png", &png).with("b.npy", &npy), "one.json", &["b.npy"]);
    expect(&folder.with("renamed.npy", &npy), "renamed.npy --stats one.json", 0, "its 8128 bytes");
}

#[test]
fn statistics_that_cannot_be_used_are_errors() {
    let folder = Folder::new();
    folder.good("render --size 8x8 -o a.npy --stats stats.json");
    let both = json!({"outputs": [
        {"path": "x/a.npy", "bytes": 1, "xxh3_128": ""}, {"path": "y/a.npy", "bytes": 1, "xxh3_128": ""}]});
    let folder = folder
        .with("empty.json", b"{}")
        .with("list.json", b"[1")
        .with("bad.json", b"{\"outputs\": [{\"path\": \"a.npy\"}]}")
        .with("both.json", both.to_string().as_bytes());
    for (name, said) in [
        ("empty.json", "neither the hash of a file nor that of the dwells"),
        ("list.json", "is not the statistics of a render"),
        ("bad.json", "missing field"),
        ("none.json", "cannot be read"),
        ("both.json", "2 outputs in the statistics have this name: x/a.npy, y/a.npy"),
    ] {
        expect(&folder, &format!("a.npy --stats {name}"), 2, said);
    }
    assert!(Path::new(&folder.join("a.npy")).exists());
}
