//! `dwell compare`: fields, images, --truth, and malformed files.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};
use serde_json::Value;
#[cfg(unix)]
use std::process::Stdio;
#[cfg(unix)]
use std::time::{Duration, Instant};

/// The bytes of a NumPy array of format 1.0.
fn npy(descr: &str, width: usize, height: usize, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({height}, {width}), }}\n");
    npy_with(&header, data)
}

fn npy_with(header: &str, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header.as_bytes(), data].concat()
}

fn png(colour: png::ColorType, depth: png::BitDepth, (width, height): (u32, u32), data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    bytes
}

fn rgb8(size: (u32, u32), data: &[u8]) -> Vec<u8> {
    png(png::ColorType::Rgb, png::BitDepth::Eight, size, data)
}

/// The exit code and the JSON report of a comparison.
fn compared(folder: &Folder, line: &str) -> (i32, Value) {
    let ran = folder.run(format!("compare {line} --json").split_whitespace());
    assert!(ran.code < 2, "{line}: {}", ran.err);
    (ran.code, serde_json::from_slice(&ran.out).unwrap())
}

fn differing(folder: &Folder, line: &str) -> u64 {
    let (code, report) = compared(folder, line);
    let differing = report["differing_pixels"].as_u64().unwrap();
    assert_eq!((code, report["same"].as_bool()), (i32::from(differing > 0), Some(differing == 0)), "{line}");
    differing
}

const VIEW: &str = "--bounds -2,1,-1,1 --size 120x80 --max-iter 200";

#[test]
fn one_render_is_the_same_in_every_format() {
    let folder = Folder::new();
    folder.good(&format!("render {VIEW} -o a.npy -o a.csv -o a.png -o a.ppm"));
    folder.good(&format!("render {VIEW} -o b.npy"));
    for line in ["a.npy b.npy", "a.npy a.npy", "a.csv a.npy", "a.npy a.csv", "a.png a.ppm", "a.ppm a.png"] {
        assert_eq!(differing(&folder, line), 0, "{line}");
    }
    let text = folder.good("compare a.csv a.npy").text();
    assert!(text.contains("A: a.csv (csv), 120 x 80") && text.contains("the same: all 9600 pixels"), "{text}");
}

#[test]
fn a_single_differing_pixel_is_located() {
    let folder = Folder::new();
    folder.good(&format!("render {VIEW} -o a.npy -o a.csv"));
    let array = folder.read("a.npy");
    let start = array.len() - 4 * 120 * 80;
    for (column, row) in [(0_usize, 0_usize), (119, 0), (0, 79), (119, 79), (7, 33)] {
        let mut spoiled = array.clone();
        let at = start + 4 * (row * 120 + column);
        let was = u32::from_le_bytes(spoiled[at..at + 4].try_into().unwrap());
        assert!(was > 0, "escaped");
        spoiled[at..at + 4].copy_from_slice(&(was + 1000).to_le_bytes());
        let folder = Folder::new().with("b.npy", &spoiled).with("a.csv", &folder.read("a.csv"));
        let (code, report) = compared(&folder, "a.csv b.npy");
        assert_eq!((code, report["differing_pixels"].as_u64()), (1, Some(1)));
        assert!((report["differing_percent"].as_f64().unwrap() - 100.0 / 9600.0).abs() < 1e-12);
        let place = |of: &Value| (of["column"].as_u64().unwrap() as usize, of["row"].as_u64().unwrap() as usize);
        assert_eq!(place(&report["first"][0]), (column, row));
        assert_eq!(place(&report["largest"]), (column, row));
        assert_eq!((report["largest"]["difference"].as_u64(), report["larger_in_b"].as_u64()), (Some(1000), Some(1)));
        assert!((report["mean_of_all"].as_f64().unwrap() - 1000.0 / 9600.0).abs() < 1e-12);
        let area = &report["where_they_lie"];
        assert_eq!(area["first_column"], area["last_column"]);
        assert_eq!(area["first_row"].as_u64(), Some(row as u64));
        let text = folder.run(["compare", "a.csv", "b.npy"]).text();
        assert!(text.contains("differing: 1 of 9600 pixels (0.0104 % of all)"), "{text}");
        assert!(text.contains(&format!("where: columns {column} to {column}, rows {row} to {row}")), "{text}");
        assert_eq!(text.matches('*').count(), 2, "one cell of the map, and the legend: {text}");
    }
}

#[test]
fn inside_and_escaped_have_no_difference() {
    let folder = Folder::new().with("a.csv", b"0,5,0,9\n1,2,3,4\n").with("b.csv", b"7,0,0,4\n1,2,3,5\n");
    let (code, report) = compared(&folder, "a.csv b.csv");
    assert_eq!((code, report["differing_pixels"].as_u64()), (1, Some(4)));
    assert_eq!((report["inside_only_in_a"].as_u64(), report["inside_only_in_b"].as_u64()), (Some(1), Some(1)));
    assert_eq!((report["larger_in_a"].as_u64(), report["larger_in_b"].as_u64()), (Some(1), Some(1)));
    assert_eq!((report["largest"]["difference"].as_u64(), report["largest"]["column"].as_u64()), (Some(5), Some(3)));
    // Means over the two pixels that differ, and over these and the four that are the same.
    assert_eq!((report["mean_of_differing"].as_f64(), report["mean_of_all"].as_f64()), (Some(3.0), Some(1.0)));
}

#[test]
fn different_sizes_are_a_difference_and_different_kinds_an_error() {
    let folder = Folder::new()
        .with("a.csv", b"1,2\n3,4\n")
        .with("b.csv", b"1,2,3\n")
        .with("a.png", &rgb8((2, 2), &[0; 12]))
        .with("b.ppm", b"P6 3 1 255\n123123123");
    for line in ["a.csv b.csv", "a.png b.ppm"] {
        let (code, report) = compared(&folder, line);
        assert_eq!((code, report["sizes_differ"].as_bool()), (1, Some(true)), "{line}");
        assert!(report.get("differing_pixels").is_none());
        let ran = folder.run(format!("compare {line} -o d.png").split(' '));
        assert_eq!(ran.code, 1);
        assert!(ran.text().contains("the sizes differ") && ran.err.contains("no picture"), "{}", ran.err);
    }
    let ran = folder.run(["compare", "a.csv", "a.png", "-o", "d.png"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a.csv is a field (csv), and a.png is an image (png, RGB, 8 bits)"), "{}", ran.err);
    assert_eq!(folder.names(), ["a.csv", "a.png", "b.csv", "b.ppm"]);
}

#[test]
fn arrays_of_every_type_and_byte_order() {
    let values = [0_i16, 1, 2, 3, 500, 1000];
    let bytes = |each: &dyn Fn(i16) -> Vec<u8>| values.iter().flat_map(|n| each(*n)).collect::<Vec<u8>>();
    let wide = |n: i16| i64::from(n);
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("<u2", bytes(&|n| n.to_le_bytes().to_vec())),
        (">u2", bytes(&|n| n.to_be_bytes().to_vec())),
        (">i4", bytes(&|n| i32::from(n).to_be_bytes().to_vec())),
        ("<i8", bytes(&|n| wide(n).to_le_bytes().to_vec())),
        (">u8", bytes(&|n| wide(n).to_be_bytes().to_vec())),
        ("<f4", bytes(&|n| f32::from(n).to_le_bytes().to_vec())),
        (">f8", bytes(&|n| f64::from(n).to_be_bytes().to_vec())),
        ("=i2", bytes(&|n| n.to_le_bytes().to_vec())),
    ];
    for (descr, data) in files {
        let folder =
            Folder::new().with("a.npy", &npy(descr, 3, 2, &data)).with("b.csv", b"0, 1, 2,\r\n3, 500, 1000,\r\n");
        assert_eq!(differing(&folder, "a.npy b.csv"), 0, "{descr}");
        let folder = folder.with("b.csv", b"0,1,2\n3,500,999\n");
        assert_eq!(differing(&folder, "a.npy b.csv"), 1, "{descr}");
    }
    // Headers of formats 2.0 and 3.0, whose length takes four bytes.
    for version in [2, 3] {
        let header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2)}";
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        let file = [b"\x93NUMPY", &[version, 0][..], &length, header.as_bytes(), &[5, 6]].concat();
        let folder = Folder::new().with("a.npy", &file).with("b.csv", b"5,6");
        assert_eq!(differing(&folder, "a.npy b.csv"), 0, "{version}");
    }
}

#[test]
fn images_of_every_kind() {
    use png::{BitDepth, ColorType};
    let folder = Folder::new()
        .with("eight.png", &rgb8((2, 1), &[1, 2, 3, 255, 254, 0]))
        .with(
            "sixteen.png",
            &png(ColorType::Rgb, BitDepth::Sixteen, (2, 1), &[1, 1, 2, 2, 3, 3, 255, 255, 254, 254, 0, 0]),
        )
        .with("off.png", &png(ColorType::Rgb, BitDepth::Sixteen, (2, 1), &[1, 1, 2, 2, 3, 4, 255, 255, 254, 254, 0, 0]))
        .with("opaque.png", &png(ColorType::Rgba, BitDepth::Eight, (2, 1), &[1, 2, 3, 255, 255, 254, 0, 255]))
        .with("clear.png", &png(ColorType::Rgba, BitDepth::Eight, (2, 1), &[1, 2, 3, 255, 255, 254, 0, 250]))
        .with("wide.ppm", b"P6\n# two pixels\n2 1\n65535\n\x01\x01\x02\x02\x03\x03\xff\xff\xfe\xfe\x00\x00")
        .with("grey.pgm", b"P5 2 1 255\n\x07\x09")
        .with("grey.png", &png(ColorType::Grayscale, BitDepth::Eight, (2, 1), &[7, 9]))
        .with("grey-as-rgb.png", &rgb8((2, 1), &[7, 7, 7, 9, 9, 9]));
    for line in [
        "eight.png sixteen.png",
        "eight.png opaque.png",
        "opaque.png sixteen.png",
        "wide.ppm eight.png",
        "grey.pgm grey.png",
        "grey.pgm grey-as-rgb.png",
    ] {
        assert_eq!(differing(&folder, line), 0, "{line}");
    }
    let text = folder.good("compare eight.png sixteen.png").text();
    assert!(text.contains("the depths differ: compared on the scale of 16 bits"), "{text}");
    let (_, report) = compared(&folder, "eight.png off.png");
    assert_eq!((report["largest_difference"].as_u64(), report["most"].as_u64()), (Some(1), Some(65535)));
    assert_eq!((&report["depths_differ"], report["mean_of_all"].as_f64()), (&Value::Bool(true), Some(1.0 / 6.0)));
    let (_, report) = compared(&folder, "eight.png clear.png");
    assert_eq!((report["largest_difference"].as_u64(), report["alpha"].as_bool()), (Some(5), Some(true)));
    assert_eq!(report["first"][0]["b"], serde_json::json!([255, 254, 0, 250]));
    let (_, report) = compared(&folder, "grey.png eight.png");
    assert_eq!(report["largest_difference"].as_u64(), Some(246));
    // (6^2 + 5^2 + 4^2 + 246^2 + 245^2 + 9^2) / 6 = 20116.5; 10 log10(255^2 / that).
    assert_eq!(report["psnr_db"].as_f64(), Some(5.1));
}

#[test]
fn an_interlaced_image_is_decoded() {
    // 3 x 2 grey pixels, interlaced (Adam7): 10 20 30 / 40 50 60.
    let interlaced: &[u8] = &[
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 3, 0, 0, 0, 2,
        8, 0, 0, 0, 1,
    ];
    // The passes of Adam7 for 3 x 2 pixels: pixel 0; none; none; pixel 2 of row 0; none; pixel 1 of row 0; row 1.
    let passes = [0, 10, 0, 30, 0, 20, 0, 40, 50, 60];
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
        })
    };
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        [&u32::try_from(data.len()).unwrap().to_be_bytes(), body.as_slice(), &crc(&body).to_be_bytes()].concat()
    };
    let (low, high) = passes.iter().fold((1_u32, 0_u32), |(a, b), byte| ((a + byte) % 65521, (b + a + byte) % 65521));
    let passes: Vec<u8> = passes.iter().map(|byte| u8::try_from(*byte).unwrap()).collect();
    let stored = [&[0x78, 1, 1, 10, 0, 0xf5, 0xff], passes.as_slice(), &(high << 16 | low).to_be_bytes()].concat();
    let file = [
        interlaced,
        &crc(&interlaced[12..29]).to_be_bytes(),
        chunk(b"IDAT", &stored).as_slice(),
        chunk(b"IEND", &[]).as_slice(),
    ]
    .concat();
    let folder = Folder::new().with("a.png", &file).with("b.pgm", b"P5 3 2 255\n\x0a\x14\x1e\x28\x32\x3c");
    assert_eq!(differing(&folder, "a.png b.pgm"), 0);
}

#[test]
fn one_of_the_two_may_be_standard_input() {
    let folder = Folder::new();
    folder.good(&format!("render {VIEW} -o a.npy -o a.csv -o a.png -o a.ppm"));
    for (from, with) in [("a.npy", "a.csv"), ("a.csv", "a.npy"), ("a.png", "a.ppm"), ("a.ppm", "a.png")] {
        for script in
            [format!("\"$0\" compare - {with} < {from}"), format!("cat {from} | \"$0\" compare {with} - -o d.png")]
        {
            let ran = Ran::from(folder.shell(&script).output().unwrap());
            assert_eq!(ran.code, 0, "{script}: {}", ran.err);
            assert!(ran.text().contains("standard input ("), "{}", ran.text());
        }
    }
    let ran = Ran::from(
        folder
            .shell("cat a.csv | \"$0\" compare --truth - --bounds -2,1,-1,1 --size 120x80 --max-iter 200 --samples 50")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// The pixels of an RGB picture.
fn pixels(file: &[u8]) -> (u32, u32, Vec<[u8; 3]>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut data).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width, info.height, data.chunks(3).map(|p| [p[0], p[1], p[2]]).collect())
}

#[test]
fn the_picture_shows_what_differs() {
    // The same inside and escaped; larger in A, larger in B, by more; inside in one.
    let folder = Folder::new()
        .with("a.csv", b"0,5,500\n9,5,5\n0,5,1\n")
        .with("b.csv", b"0,5,500\n8,6,5000\n4,0,1\n")
        .with("a.ppm", b"P6 2 1 255\n\xff\xff\xff\x10\x20\x30")
        .with("b.ppm", b"P6 2 1 255\n\xff\xff\xff\x10\x20\x31")
        .with("d.png", b"old");
    assert_eq!(folder.run("compare a.csv b.csv -o d.png".split(' ')).code, 1);
    let (width, height, shown) = pixels(&folder.read("d.png"));
    assert_eq!((width, height), (3, 3));
    let bright = |pixel: [u8; 3]| *pixel.iter().max().unwrap();
    for same in [0, 1, 2, 8] {
        let [red, green, blue] = shown[same];
        assert!(red == green && green == blue && red < 100, "{same}: {:?}", shown[same]);
    }
    assert!(shown[0] == [0; 3] && bright(shown[1]) < bright(shown[2]), "{shown:?}");
    for (at, more_red) in [(3, true), (4, false), (5, false)] {
        assert!(bright(shown[at]) > 170 && (shown[at][0] > shown[at][2]) == more_red, "{at}: {:?}", shown[at]);
    }
    assert!(bright(shown[5]) > bright(shown[4]), "by 4995 and by 1");
    assert!(shown[6] == shown[7] && shown[6] != shown[3] && bright(shown[6]) > 200);
    folder.run("compare a.ppm b.ppm -o e.png".split(' '));
    let (_, _, shown) = pixels(&folder.read("e.png"));
    assert!(bright(shown[0]) < 100 && bright(shown[1]) > 170);
    // One pixel of a row longer than what is read at once.
    let mut row = vec![b'7'; 79_999];
    (0..79_999).filter(|i| i % 2 == 1).for_each(|i| row[i] = b',');
    let mut other = row.clone();
    other[2 * 33_333] = b'8';
    let folder = folder.with("a.csv", &row).with("b.csv", &other);
    folder.run("compare a.csv b.csv -o d.png".split(' '));
    let (width, _, shown) = pixels(&folder.read("d.png"));
    assert_eq!(width, 40_000);
    assert!((0..40_000).all(|i| (bright(shown[i]) > 100) == (i == 33_333)));
}

/// The exit code and the report of `--truth` on a field; `view` holds the flags that it was rendered with.
fn truth(folder: &Folder, field: &str, view: &str) -> (i32, Value) {
    compared(folder, &format!("--truth {field} {view}"))
}

#[test]
fn truth_accepts_a_field_and_finds_five_changed_pixels() {
    let folder = Folder::new();
    folder.good(&format!("render {VIEW} -o a.npy"));
    let (code, report) = truth(&folder, "a.npy", &format!("{VIEW} --all"));
    assert_eq!((code, report["checked"].as_u64(), report["right"].as_u64()), (0, Some(9600), Some(9600)), "{report}");
    let (code, report) = truth(&folder, "a.npy", &format!("{VIEW} --samples 300 --seed 5"));
    assert_eq!((code, report["wrong"].as_u64()), (0, Some(0)));
    assert_eq!(
        (report["evenly"]["checked"].as_u64(), report["at_changes"]["checked"].as_u64()),
        (Some(150), Some(150))
    );
    let again = truth(&folder, "a.npy", &format!("{VIEW} --samples 300 --seed 5")).1;
    assert_eq!(again, report, "the same seed");

    let mut array = folder.read("a.npy");
    let start = array.len() - 4 * 120 * 80;
    let spoiled = [(0, 0), (60, 40), (119, 79), (3, 17), (100, 17)];
    for (column, row) in spoiled {
        let at = start + 4 * (row * 120 + column);
        let was = u32::from_le_bytes(array[at..at + 4].try_into().unwrap());
        array[at..at + 4].copy_from_slice(&(was + 3).to_le_bytes());
    }
    let folder = folder.with("b.npy", &array);
    let (code, report) = truth(&folder, "b.npy", &format!("{VIEW} --all"));
    assert_eq!((code, report["wrong"].as_u64(), report["right"].as_u64()), (1, Some(5), Some(9595)));
    let found: Vec<_> = report["first"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["column"].as_u64().unwrap(), w["row"].as_u64().unwrap()))
        .collect();
    assert_eq!(found, [(0, 0), (3, 17), (100, 17), (60, 40), (119, 79)]);
    assert_eq!((report["wrong_side"].as_u64(), report["too_large"].as_u64()), (Some(1), Some(4)));
    assert_eq!(report["largest"]["field"].as_u64(), report["largest"]["truth"].as_u64().map(|n| n + 3));
    let text = folder.run(format!("compare --truth b.npy {VIEW} --all").split(' ')).text();
    assert!(text.contains("checked: all 9600 pixels\nwrong: 5 of 9600 (0.0521 %)"), "{text}");
}

#[test]
fn truth_supports_every_kind_of_view() {
    let folder = Folder::new();
    for view in [
        "--size 60x40 --max-iter 100",
        "--size 60x41 --max-iter 150 --center -0.7,0 --zoom 1",
        "--size 50x40 --max-iter 150 --rotate 30",
        "--size 50x40 --max-iter 150 --rotate 90 --sample corner",
        "--size 50x40 --max-iter 120 --center -0.75,0.1 --zoom 40 --flip",
        "--size 60x40 --max-iter 120 --julia -0.8,0.156",
        "--size 60x40 --max-iter 120 --julia -0.8,0.156 --rotate 12.5",
        "--size 60x40 --max-iter 25 --formula burning-ship",
        "--size 60x40 --max-iter 120 --formula burning-ship --julia 0.5,0.25 --power 3",
        "--size 60x40 --max-iter 120 --formula tricorn",
        "--size 60x40 --max-iter 100 --formula multibrot --power 7",
        "--size 60x40 --max-iter 100 --escape-radius 1000",
        "--size 60x40 --max-iter 100 --precision f32 --bounds -9,9,-7,7",
        "shallow-seahorse --size 40x30 --max-iter 300 --zoom 1e4",
        "--size 40x30 --max-iter auto",
    ] {
        folder.good(&format!("render {view} -o a.npy"));
        let (code, report) = truth(&folder, "a.npy", &format!("{view} --all"));
        assert_eq!(
            (code, report["wrong"].as_u64(), report["undecided"].as_u64()),
            (0, Some(0), Some(0)),
            "{view}: {report}"
        );
        assert!(report["right"].as_u64() > Some(0));
    }
    // Folds make orbits chaotic far from the boundary: f64 is wrong after a hundred steps. Arithmetic with
    // 300 decimal digits gives these dwells, too.
    let view = "--size 60x40 --max-iter 120 --formula burning-ship";
    folder.good(&format!("render {view} -o a.npy"));
    let (_, report) = truth(&folder, "a.npy", &format!("{view} --all"));
    let found = |column: u64, row: u64| {
        let wrong = report["first"].as_array().unwrap();
        let here = wrong.iter().find(|w| w["column"].as_u64() == Some(column) && w["row"].as_u64() == Some(row));
        here.map(|w| w["truth"].as_u64().unwrap())
    };
    for (column, row, n) in [(22, 14, 92), (30, 14, 99), (31, 14, 90), (27, 16, 115), (16, 23, 0)] {
        assert_eq!(found(column, row), Some(n), "{column} {row}");
    }
    // A picture of the same render gives the view; another view gives other dwells.
    folder.good("render --size 60x40 --max-iter 100 --rotate 20 -o a.npy -o a.png");
    assert_eq!(truth(&folder, "a.npy", "a.png --all").0, 0);
    assert_eq!(truth(&folder, "a.npy", "--size 60x40 --max-iter 100 --all").0, 1);
    // At the end of its resolution f32 is often wrong.
    let view = "--center -0.743643887,0.131825904 --zoom 3000 --size 64x36 --max-iter 1000";
    folder.good(&format!("render {view} --precision f32 -o a.npy"));
    let (code, report) = truth(&folder, "a.npy", &format!("{view} --all"));
    assert!(code == 1 && report["wrong"].as_u64() > Some(20), "{report}");
}

/// Malformed files, and the text that the error must contain.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn malformed() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n")
    };
    let good = npy("<u4", 2, 2, &[1; 16]);
    let sound = rgb8((8, 8), &(0..192).map(|i: u8| i.wrapping_mul(37)).collect::<Vec<_>>());
    let mut files: Vec<(&'static str, Vec<u8>, &'static str)> = Vec::new();
    // NumPy arrays.
    for (shape, said) in [
        ("(2, 3)", "cut short"),
        ("(2147483647, 2147483647)", "cut short"),
        ("(4294967296, 4294967296)", "a side"),
        ("(1, 2147483648)", "a side"),
        ("(18446744073709551616, 1)", "whole number"),
        ("(0, 2)", "a side"),
        ("(4,)", "1 dimensions"),
        ("()", "0 dimensions"),
        ("(1, 2, 2)", "3 dimensions"),
        ("(-2, 2)", "whole number"),
        ("(2.0, 2)", "header"),
        ("[2, 2]", "header"),
        ("(2, 2", "header"),
        ("(1, 1)", "goes on"),
    ] {
        files.push(("a.npy", npy_with(&header("<u4", "False", shape), &[1; 16]), said));
    }
    for descr in ["<c8", "<f2", "|O", "<U4", "u3", "", "<u16", "|u4", "<i"] {
        files.push(("a.npy", npy_with(&header(descr, "False", "(2, 2)"), &[1; 16]), "type"));
    }
    files.push(("a.npy", npy_with(&header("<u4", "True", "(2, 2)"), &[1; 16]), "fortran_order"));
    files.push(("a.npy", npy_with(&header("<u4", "Maybe", "(2, 2)"), &[1; 16]), "True or False"));
    files.push((
        "a.npy",
        npy_with("{'descr': [('a', '<u4')], 'fortran_order': False, 'shape': (2, 2)}", &[1; 16]),
        "records",
    ));
    files.push(("a.npy", npy_with("", &[]), "header"));
    files.push(("a.npy", npy_with("\n", &[]), "header"));
    files.push(("a.npy", npy_with(&"(".repeat(60_000), &[]), "header"));
    files.push(("a.npy", npy_with(&format!("{{'shape': ({})}}", "1,".repeat(9000)), &[]), "dimensions"));
    files.push(("a.npy", npy_with("{'descr': '<u4', 'fortran_order': False}", &[1; 16]), "shape"));
    files.push(("a.npy", npy_with("{'x': 1}", &[1; 16]), "\"x\""));
    files.push(("a.npy", npy_with("\u{e9}\u{e9}", &[1; 16]), "header"));
    files.push(("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "header of 4294967295 bytes"));
    files.push(("a.npy", b"\x93NUMPY\x09\x00\x10\x00".to_vec(), "format 9.0"));
    files.push(("a.npy", b"\x93NUMPY\x01".to_vec(), "cut short"));
    files.push(("a.npy", b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "cut short"));
    files.push(("a.npy", good[..good.len() - 1].to_vec(), "cut short"));
    files.push(("a.npy", [good.as_slice(), b"x"].concat(), "goes on"));
    // Tables.
    for (text, said) in [
        ("1,2\n3\n", "line 2: has 1 values"),
        ("1,2\n3,4,5\n", "line 2: has 3 values"),
        ("1,2\n3,four\n", "line 2: value 2, \"four\""),
        ("1,2\n\n3,4\n", "line 2: is empty"),
        ("1,2\n3,,\n", "line 2"),
        (",\n", "neither"),
        ("1 2\n3 4\n", "separated by commas"),
        ("1;2\n3;4\n", "separated by commas"),
        ("1,2\n1,0x2\n", "no number"),
        ("1,2\n1,--2\n", "no number"),
        ("1,2\n3,\u{663}\n", "no number"),
        ("column,row\n", "neither"),
    ] {
        files.push(("a.csv", text.as_bytes().to_vec(), said));
    }
    files.push(("a.csv", format!("1,2\n1,{}\n", "9".repeat(1_000_000)).into_bytes(), "longer than 64"));
    files.push(("a.csv", b"1,2\n3,\x00\n".to_vec(), "neither"));
    files.push(("a.csv", b"1,2\n300,40\x00\n".to_vec(), "no number"));
    // Images.
    let huge = |at: usize| {
        let mut file = sound.clone();
        file[at..at + 4].copy_from_slice(&0x7fff_ffff_u32.to_be_bytes());
        file
    };
    for file in [
        huge(16),
        huge(20),
        sound[..sound.len() / 2].to_vec(),
        sound[..sound.len() - 12].to_vec(),
        sound[..33].to_vec(),
        sound[..8].to_vec(),
        [&sound[..60], b"spoiled", &sound[67..]].concat(),
    ] {
        files.push(("a.png", file, ""));
    }
    for (text, said) in [
        (&b"P6 8 8 255\n"[..], "cut short"),
        (b"P6 2147483647 2147483647 65535\n", "cut short"),
        (b"P6 99999999999 1 255\n", "a side"),
        (b"P6 0 8 255\n", "a side"),
        (b"P6 8 8 0\n", "1 to 65535"),
        (b"P6 8 8 70000\n", "1 to 65535"),
        (b"P6 8 x 255\n", "header"),
        (b"P6 8", "cut short"),
        (b"P6 1 1 255\n1234", "goes on"),
        (b"P3 1 1 255\n1 2 3\n", "P3"),
        (b"P1 1 1\n1\n", "P1"),
        (b"P7 1 1\n", "P7"),
    ] {
        files.push(("a.ppm", text.to_vec(), said));
    }
    files.push(("a.ppm", [b"P5 8 8 9\n".as_slice(), &[0x0a; 64]].concat(), "up to 9"));
    files.push(("a.ppm", [b"P6 #".as_slice(), &[b'#'; 200_000]].concat(), "header"));
    // Others.
    files.push(("a.npy", Vec::new(), "is empty"));
    files.push(("a.png", b"GIF89a\x01\x00".to_vec(), "neither"));
    files.push(("a.npy", b"PK\x03\x04\x14\x00".to_vec(), "neither"));
    files.push(("a.csv", b"\xff\xfe1\x00,\x002\x00".to_vec(), "neither"));
    files.push(("a.npy", vec![0; 4096], "neither"));
    files
}

#[test]
fn every_malformed_file_is_one_clear_error() {
    let files = malformed();
    assert!(files.len() > 60, "{}", files.len());
    for (name, bytes, said) in files {
        let shown = String::from_utf8_lossy(&bytes).chars().take(80).collect::<String>();
        let other = if name == "a.png" || name == "a.ppm" { "b.png" } else { "b.csv" };
        let folder =
            Folder::new().with(name, &bytes).with("b.png", &rgb8((8, 8), &[7; 192])).with("b.csv", b"1,2\n3,4\n");
        let cases = [
            Ran::from(
                folder.shell(&format!("ulimit -v 3000000; \"$0\" compare {name} {other} -o d.png")).output().unwrap(),
            ),
            Ran::from(
                folder.shell(&format!("ulimit -v 3000000; cat {name} | \"$0\" compare {other} -")).output().unwrap(),
            ),
        ];
        for (case, ran) in cases.into_iter().enumerate() {
            // A difference in size may be found before the damage.
            if case == 1 && ran.code == 1 {
                assert!(ran.text().contains("sizes differ"), "{shown:?}");
                continue;
            }
            if case == 0 && ran.code == 1 && said.is_empty() {
                continue;
            }
            assert_eq!(ran.code, 2, "{name} {case} {shown:?}: {}{}", ran.text(), ran.err);
            assert!(ran.err.starts_with("error: ") && ran.err.lines().count() <= 2, "{shown:?}: {}", ran.err);
            let names = if case == 0 { name } else { "standard input" };
            assert!(ran.err.contains(names) && ran.err.contains(said), "{said:?} in {shown:?}: {}", ran.err);
            assert!(ran.err.len() < 400 && ran.out.is_empty(), "{}", ran.err);
        }
        assert!(!folder.names().iter().any(|name| name.starts_with("d.png") || name.contains("tmp")), "{shown:?}");
    }
}

#[test]
fn bad_flags() {
    let folder = Folder::new().with("a.csv", b"1,2\n").with("b.csv", b"1,3\n").with("a.png", &rgb8((1, 1), &[0; 3]));
    std::fs::create_dir(folder.join("folder")).unwrap();
    std::fs::create_dir(folder.join("folder.png")).unwrap();
    for (line, code, said) in [
        ("compare", 2, "A|WHAT and B are missing"),
        ("compare a.csv", 2, "B is missing"),
        ("compare a.csv nowhere.csv", 2, "nowhere.csv: cannot be read"),
        ("compare a.csv folder", 2, "folder: is a directory"),
        ("compare - -", 2, "standard input is A already"),
        ("compare a.csv b.csv -o a.csv", 2, "-o"),
        ("compare a.png a.png -o a.png", 2, "the file of A as well"),
        ("compare a.csv b.csv -o ./folder/../b.csv", 2, "-o"),
        ("compare a.csv b.csv -o -", 2, "standard output"),
        ("compare a.csv b.csv -o d.jpg", 2, "no PNG by its name"),
        ("compare a.csv b.csv -o folder.png", 4, "directory"),
        ("compare a.csv b.csv -o nowhere/d.png", 4, "cannot write"),
        ("compare a.csv b.csv --zoom 5", 2, "--zoom: is about --truth"),
        ("compare a.csv b.csv --force", 2, "--force"),
        ("compare a.csv b.csv --all", 2, "--all: is about --truth"),
        ("compare a.csv b.csv --samples 5", 2, "--samples: is about --truth"),
        ("compare --truth a.csv", 2, "has 2 x 1 pixels, and the view 1920 x 1080"),
        ("compare --truth a.csv x y", 2, "--truth"),
        ("compare --truth a.csv --size 2x1 -o d.png", 2, "--truth"),
        ("compare --truth a.csv --size 2x1 --samples 0", 2, "1 to 10000000"),
        ("compare --truth a.csv --size 2x1 --samples 1.5", 2, "whole number"),
        ("compare --truth a.csv --size 2x1 --seed -1", 2, "--seed"),
        ("compare --truth a.csv --size 2x1 --samples 5 --all", 2, "--all"),
        ("compare --truth a.csv --size 2x1 --max-iter 0", 2, "--max-iter"),
        ("compare --truth a.csv shalow-home", 2, "shallow-home"),
        ("compare --truth a.png --size 1x1", 2, "not a field of dwells"),
        ("compare --truth folder --size 1x1", 2, "is a directory"),
        ("compare --truth a.csv rf-e8000 --size 2x1 --max-iter 9223372036854775808", 2, "--max-iter"),
    ] {
        let ran = folder.run(line.split(' '));
        assert_eq!(ran.code, code, "{line}: {}{}", ran.text(), ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
        assert!(ran.out.is_empty(), "{line}");
    }
    let folder = folder.with("c.csv", b"1,-2\n");
    let ran = folder.run("compare --truth c.csv --size 2x1".split(' '));
    assert!(ran.code == 2 && ran.err.contains("c.csv, column 1, row 0: -2 is no dwell"), "{}", ran.err);
    assert_eq!(folder.names(), ["a.csv", "a.png", "b.csv", "c.csv", "folder", "folder.png"]);
}

#[test]
#[cfg(unix)]
fn full_disks_closed_pipes_and_ctrl_c() {
    let folder = Folder::new().with("a.csv", b"1,2\n").with("b.csv", b"1,3\n");
    if std::path::Path::new("/dev/full").exists() {
        let ran = Ran::from(folder.shell("\"$0\" compare a.csv b.csv > /dev/full").output().unwrap());
        assert_eq!(ran.code, 4, "{}", ran.err);
    }
    // A picture larger than the limit on file sizes.
    folder.good("render --size 800x600 --max-iter 50 -o big.npy");
    folder.good("render --size 800x600 --max-iter 60 -o other.npy");
    let ran = Ran::from(folder.shell("ulimit -f 1; \"$0\" compare big.npy other.npy -o d.png").output().unwrap());
    assert_eq!(ran.code, 4, "{}", ran.err);
    assert!(!folder.names().iter().any(|name| name.contains("d.png")));
    // Every pixel of a view whose orbits are long.
    folder.good("render --center -0.1225,0.7448 --zoom 100 --size 640x360 --max-iter 100 -o late.npy");
    let line = "compare --truth late.npy --center -0.1225,0.7448 --zoom 100 --size 640x360 --max-iter 4294967295 --all";
    stops_at_once(&folder, line);
    // 2^28 pixels in 300 kB, decoded whole.
    stops_at_once(&folder.with("i.png", &interlaced(16_384)), "compare i.png i.png");
}

/// Checks that a command stops at Ctrl-C. The target is 100 ms; a loaded machine may delay `kill` and the notice of the
/// end.
#[cfg(unix)]
fn stops_at_once(folder: &Folder, line: &str) {
    let child = folder.command().args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let began = Instant::now();
    common::interrupt(&child);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 130, "{line}: {}", ran.err);
    assert!(ran.out.is_empty() && began.elapsed() < Duration::from_millis(1000), "{line}: {:?}", began.elapsed());
}

#[test]
fn the_examples_of_the_help_succeed() {
    let folder = Folder::new();
    folder.good("render --bounds -2,1,-1,1 --size 1500x1000 -o a.npy -o ours.csv -o old.png");
    folder.good("render shallow-seahorse -o b.npy --max-iter 50 --size 60x40");
    folder.good("render --bounds -2,1,-1,1 --size 1500x1000 --precision f32 -o b.npy -o new.png");
    let help = folder.good("compare --help").text();
    let lines: Vec<_> = help.lines().filter_map(|l| l.trim().strip_prefix("dwell compare ")).collect();
    assert!(lines.len() >= 4, "{help}");
    for line in lines.iter().filter(|line| !line.contains("shallow-seahorse")) {
        let ran = folder.run(format!("compare {line}").split(' '));
        assert!(ran.code < 2 && ran.err.is_empty(), "{line}: {}", ran.err);
    }
    assert_eq!(folder.run("compare a.npy ours.csv".split(' ')).code, 0);
}

/// A black interlaced PNG, which is small for its size. The encoder of the png crate does not interlace, so the header says
/// it, and the rows of all passes, which are zeros, are those of another image.
fn interlaced(side: u32) -> Vec<u8> {
    let passes = [(0, 8, 0, 8), (4, 8, 0, 8), (0, 4, 4, 8), (2, 4, 0, 4), (0, 2, 2, 4), (1, 2, 0, 2), (0, 1, 1, 2)];
    let count = |from: u32, step: u32| side.saturating_sub(from).div_ceil(step);
    let bytes: u32 = passes.map(|(x, dx, y, dy)| count(y, dy) * (1 + count(x, dx))).iter().sum();
    // A row has a byte for its filter and one for each pixel.
    let row = (2..=1 << 16).rev().find(|row| bytes.is_multiple_of(*row)).unwrap();
    let (width, height) = (row - 1, bytes / row);
    let mut plain = Vec::new();
    let mut encoder = png::Encoder::new(&mut plain, width, height);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&vec![0; (width * height) as usize]).unwrap();
    let data = plain.windows(4).position(|w| w == b"IDAT").unwrap() - 4;
    let side = side.to_be_bytes();
    let header = [b"IHDR", side.as_slice(), &side, &[8, 0, 0, 0, 1]].concat();
    let mut sum = crc32fast::Hasher::new();
    sum.update(&header);
    [&plain[..8], &[0, 0, 0, 13], &header, &sum.finalize().to_be_bytes(), &plain[data..]].concat()
}

#[test]
fn memory_is_limited_before_it_is_taken() {
    let folder = Folder::new().with("i.png", &interlaced(4096)).with("t.csv", b"1,2,3\n4,5,6\n");
    assert_eq!(differing(&folder, "i.png i.png --max-memory 64M"), 0);
    let refused = |line: &str, said: &str| {
        let ran = folder.run(format!("compare {line}").split(' '));
        assert_eq!((ran.code, ran.out.len()), (2, 0), "{line}: {}", ran.err);
        assert!(ran.err.contains(said), "{line}: {}", ran.err);
    };
    // 16 MiB each, and buffers.
    refused("i.png i.png --max-memory 16M", "--max-memory: i.png, size: an interlaced image needs 16.");
    refused("i.png i.png --max-memory 24M", "(accepted: at most");
    refused("t.csv t.csv --max-memory 1K", "--max-memory: t.csv, size: reading it needs ");
    refused("t.csv t.csv --max-memory x", "--max-memory: \"x\" is no number of bytes");
    assert_eq!(differing(&folder, "t.csv t.csv --max-memory 4M"), 0);
}

#[cfg(unix)]
#[test]
fn tables_from_pipes_are_stored_only_while_they_can_be_equal() {
    let folder =
        Folder::new().with("t.csv", b"1,2,3\n4,5,6\n").with("long.csv", "1,2,3\n".repeat(2_000_000).as_bytes());
    let ran = |script: &str| Ran::from(folder.shell(script).output().unwrap());
    for script in ["cat t.csv | \"$0\" compare - t.csv", "cat t.csv | \"$0\" compare t.csv -"] {
        assert_eq!(ran(script).code, 0, "{script}");
    }
    // 12 MB of text, of which 8 MiB may be stored: the size is known all the same.
    for script in [
        "cat long.csv | \"$0\" compare - t.csv --json --max-memory 8M",
        "cat long.csv | \"$0\" compare t.csv - --json --max-memory 8M",
    ] {
        let ran = ran(script);
        let report: Value = serde_json::from_slice(&ran.out).unwrap_or_else(|_| panic!("{script}: {}", ran.err));
        assert_eq!((ran.code, report["sizes_differ"].as_bool()), (1, Some(true)), "{script}");
        let heights = [&report["a"]["height"], &report["b"]["height"]].map(|height| height.as_u64().unwrap());
        assert_eq!((heights[0].min(heights[1]), heights[0].max(heights[1])), (2, 2_000_000), "{script}");
    }
    let stored = ran("cat long.csv | \"$0\" compare - long.csv --max-memory 8M");
    assert!(stored.code == 2 && stored.err.contains("standard input: goes on after 7 MiB"), "{}", stored.err);
}

#[cfg(unix)]
#[test]
fn a_named_pipe_without_a_writer_is_an_error() {
    let folder = Folder::new().with("t.csv", b"1\n");
    for name in ["pipe.toml", "pipe.map", "pipe.csv"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.join(name)).status().unwrap().success());
    }
    let start = |line: &str| {
        let mut command = folder.command();
        command.args(line.split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        (line.to_owned(), command.spawn().unwrap())
    };
    let lines = ["render pipe.toml -o x.png", "render -o x.png --palette pipe.map", "compare t.csv pipe.csv"];
    // All at once, since each waits for five seconds.
    for (line, child) in lines.map(start) {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(ran.code == 2 && ran.err.contains("cannot be read: no process writes to it"), "{line}: {}", ran.err);
    }
    // A writer that comes late, and writes slowly.
    let script = "(sleep 1; (printf 1; sleep 6; echo) > pipe.csv) & \"$0\" compare pipe.csv t.csv";
    let ran = Ran::from(folder.shell(script).output().unwrap());
    assert_eq!(ran.code, 0, "{}", ran.err);
}
