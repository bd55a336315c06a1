//! `dwell render`: flags, formats and statistics.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::Folder;

fn csv(folder: &Folder, name: &str) -> Vec<Vec<u32>> {
    let text = String::from_utf8(folder.read(name)).unwrap();
    text.lines().map(|line| line.split(',').map(|n| n.parse().unwrap()).collect()).collect()
}

fn npy(bytes: &[u8]) -> (usize, usize, Vec<u32>) {
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    assert!((10 + length) % 64 == 0 && header.ends_with('\n'));
    assert!(header.contains("'descr': '<u4'") && header.contains("'fortran_order': False"));
    let shape = header.split("'shape': (").nth(1).unwrap().split(')').next().unwrap();
    let (height, width) = shape.split_once(", ").unwrap();
    let values = bytes[10 + length..].chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    (height.parse().unwrap(), width.parse().unwrap(), values)
}

fn decode_png(bytes: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.color_type, info.bit_depth), (png::ColorType::Rgb, png::BitDepth::Eight));
    (info.width, info.height, pixels)
}

#[test]
fn all_formats_hold_the_same_render() {
    let folder = Folder::new();
    let stats = folder.stats("--size 61x37 --max-iter 300 -o a.png -o a.ppm -o a.npy -o a.csv");
    let (height, width, dwells) = npy(&folder.read("a.npy"));
    assert_eq!((height, width, dwells.len()), (37, 61, 61 * 37));
    let table = csv(&folder, "a.csv");
    assert_eq!(table.concat(), dwells);
    assert!(table.len() == 37 && table.iter().all(|row| row.len() == 61));
    let (w, h, pixels) = decode_png(&folder.read("a.png"));
    assert_eq!((w, h), (61, 37));
    let ppm = folder.read("a.ppm");
    assert_eq!(&ppm[..13], b"P6\n61 37\n255\n");
    assert_eq!(&ppm[13..], pixels);

    let bytes: Vec<u8> = dwells.iter().flat_map(|n| n.to_le_bytes()).collect();
    assert_eq!(stats["field_blake3"], blake3::hash(&bytes).to_hex().as_str());
    let iterations: u64 = dwells.iter().map(|n| u64::from(if *n == 0 { 300 } else { *n })).sum();
    assert_eq!(stats["iterations"], iterations);
    assert_eq!(stats["interior_pixels"], dwells.iter().filter(|n| **n == 0).count());
    assert_eq!(stats["pixels"], 61 * 37);
    for (key, value) in [
        ("width", "61"),
        ("height", "37"),
        ("max_iterations", "300"),
        ("formula", "\"mandelbrot\""),
        ("number", "\"f64\""),
        ("precision", "\"f64\""),
        ("recipe", "\"fused\""),
        ("rounding", "\"fused\""),
        ("engine", "\"cpu\""),
        ("strategy", "\"every-pixel\""),
        ("exact", "true"),
    ] {
        assert_eq!(stats[key].to_string(), value, "{key}");
    }
    let seconds = &stats["seconds"];
    for key in ["plan", "iterate", "colour", "encode", "write", "hash", "total"] {
        assert!(seconds[key].as_f64().unwrap() >= 0.0, "{key}");
    }
    let rate = stats["iterations"].as_f64().unwrap() / seconds["iterate"].as_f64().unwrap();
    assert!((stats["iterations_per_second"].as_f64().unwrap() / rate - 1.0).abs() < 1e-9);
    assert!(stats["level"].is_string() && stats["threads"].as_u64().unwrap() >= 1 && stats["shortcuts"].is_string());
}

#[test]
fn only_interior_pixels_are_black() {
    let folder = Folder::new();
    folder.good("render --size 160x90 --aa 1 --dither no -o a.png -o a.csv");
    let (_, _, pixels) = decode_png(&folder.read("a.png"));
    let dwells = csv(&folder, "a.csv").concat();
    for (n, rgb) in dwells.iter().zip(pixels.chunks(3)) {
        assert_eq!(*n == 0, rgb == [0, 0, 0]);
    }
    let colours: std::collections::HashSet<&[u8]> = pixels.chunks(3).collect();
    assert!(colours.len() > 300, "smooth, not {} bands", colours.len());
}

#[test]
fn default_views_show_the_whole_set() {
    let folder = Folder::new();
    for what in ["", "tricorn", "--formula tricorn", "--formula multibrot", "julia-cathedral", "multibrot-5"] {
        folder.good(&format!("render {what} --size 160x90 -o a.csv"));
        let table = csv(&folder, "a.csv");
        let edges = table[0].iter().chain(&table[89]).chain(table.iter().flat_map(|row| [&row[0], &row[159]]));
        let latest = edges.map(|n| if *n == 0 { u32::MAX } else { *n }).max();
        assert!(latest < Some(9), "{what}: {latest:?}");
    }
}

#[test]
fn row_0_is_the_top_row() {
    let folder = Folder::new();
    // The centres of the rows are at 1.25i, outside the set, and 0.25i, which crosses it.
    folder.good("render --bounds -0.5,0.5,-0.25,1.75 --size 3x2 --max-iter 200 -o a.csv");
    let table = csv(&folder, "a.csv");
    assert!(table[0].iter().all(|n| *n > 0) && table[1].contains(&0), "{table:?}");
}

#[test]
fn levels_threads_and_runs_give_the_same_bytes() {
    let folder = Folder::new();
    let line = "shallow-elephant --size 211x97 --max-iter 700 -o a.png -o a.npy";
    let reference = folder.stats(line)["field_blake3"].clone();
    let picture = folder.read("a.png");
    for level in ["scalar", "avx2", "avx512"] {
        if folder.run(["peak", "--level", level, "--threads", "x"]).err.contains("does not have") {
            continue;
        }
        let info = folder.good("info --json").text();
        if !info.contains(&format!("\"{level}\"")) {
            continue;
        }
        for threads in [1, 2, 3, 8] {
            let stats = folder.stats(&format!("{line} --level {level} --threads {threads}"));
            assert_eq!(stats["field_blake3"], reference, "{level} {threads}");
            assert_eq!((stats["level"].as_str().unwrap(), stats["threads"].as_u64().unwrap()), (level, threads));
            assert_eq!(folder.read("a.png"), picture, "{level} {threads}");
        }
    }
}

#[test]
fn the_level_flag_overrides_the_environment() {
    let folder = Folder::new();
    let level = |flag: &[&str]| {
        let mut command = folder.command();
        command.args(["render", "--size", "8x8", "--stats", "s.json"]).args(flag).env("DWELL_LEVEL", "scalar");
        assert!(command.status().unwrap().success());
        serde_json::from_slice::<serde_json::Value>(&folder.read("s.json")).unwrap()["level"].clone()
    };
    assert_eq!(level(&[]), "scalar");
    let info = folder.good("info --json").text();
    if info.contains("avx2") {
        assert_eq!(level(&["--level", "avx2"]), "avx2");
    }
}

#[test]
fn flags_override_the_location() {
    let folder =
        Folder::new().with("here.toml", b"re = \"-0.5\"\nim = \"0.25\"\nview_height = \"2\"\niterations = 50\n");
    let hash = |line: &str| folder.stats(line)["field_blake3"].clone();
    let here = hash("here.toml --size 40x20");
    assert_eq!(here, hash("--center -0.5,0.25 --view-height 2 --max-iter 50 --size 40x20"));
    assert_eq!(here, hash("--centre=-0.5,0.25 --zoom 2 --max-iter 50 --size 40x20"));
    assert_eq!(here, hash("shallow-seahorse --center -5e-1,.25 --zoom 2.0 --max-iter 50 --size 40x20"));
    assert_eq!(here, hash("--bounds -2.5,1.5,-0.75,1.25 --max-iter 50 --size 40x20"));
    assert_eq!(here, hash("here.toml --size 40x20 --rotate 360 --sample center"));
    for other in [
        "--rotate 1",
        "--sample corner",
        "--max-iter 20",
        "--zoom 2.1",
        "--escape-radius 3",
        "--center -0.5,0.26",
        "--rotate -90",
    ] {
        assert_ne!(here, hash(&format!("here.toml --size 40x20 {other}")), "{other}");
    }
    assert_eq!(hash("--size 40x20"), hash("shallow-home --size 40x20"));
}

#[test]
fn precisions_and_roundings_give_different_dwells() {
    let folder = Folder::new();
    let mut seen = std::collections::HashSet::new();
    for number in ["f32", "f64"] {
        for recipe in ["fused", "separate"] {
            let stats = folder.stats(&format!(
                "shallow-minibrot --size 200x150 --max-iter 2000 --precision {number} --rounding {recipe}"
            ));
            assert_eq!((stats["number"].as_str(), stats["recipe"].as_str()), (Some(number), Some(recipe)));
            seen.insert(stats["field_blake3"].to_string());
        }
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn the_auto_limit_is_reported_and_does_not_depend_on_the_size() {
    let folder = Folder::new();
    let limit = |line: &str| {
        let stats = folder.stats(&format!("{line} --max-iter auto"));
        assert_eq!(stats["automatic"]["limit"], stats["max_iterations"]);
        assert!(stats["automatic"]["points"].as_u64() >= stats["automatic"]["escaped"].as_u64());
        stats["max_iterations"].as_u64().unwrap()
    };
    let small = limit("--size 32x18");
    assert_eq!(small, limit("--size 320x180 --threads 3 --level scalar"));
    assert_eq!(limit("--center 5,5 --size 16x9"), 1000);
    assert_eq!(folder.stats("--size 32x18 --max-iter Auto")["max_iterations"], small);
    let plan = folder.good("render --size 32x18 --max-iter auto --dry-run").text();
    assert!(plan.contains(&format!("limit {small} (auto)")) && plan.contains("points escaped"), "{plan}");
    assert_eq!(folder.stats("--size 8x8 --max-iter 1.5e3")["max_iterations"], 1500);
    assert!(folder.run("render --max-iter auto --size 32x18 -o a.png --quiet".split(' ')).err.is_empty());
}

#[test]
fn force_renders_views_that_f64_does_not_resolve() {
    let folder = Folder::new();
    folder.good("render shallow-seahorse-1e13 --size 64x36 --max-iter 2000 -o a.png");
    let ran = folder.good("render kf-1e14 --size 64x36 --max-iter 500 -o b.png --force");
    assert!(!ran.err.contains("bits would be needed"), "few pixels are far apart: {}", ran.err);
    let ran = folder.good("render kf-1e50 --size 64x36 --max-iter 500 -o b.png --force");
    assert!(ran.err.starts_with("warning: ") && ran.err.contains("bits would be needed"), "{}", ran.err);
    let stats = folder.stats("kf-1e50 --size 8x8 --max-iter 500 --force");
    assert!(stats["warnings"][0].as_str().unwrap().contains("bits would be needed"), "{stats}");
}

#[test]
fn schedules_tiles_and_shortcuts_change_no_byte() {
    let folder = Folder::new();
    let line = "--bounds -2,1,-1,1 --size 150x100 --max-iter 500 --threads 2";
    let plain = folder.stats(&format!("{line} --shortcuts none -o plain.png"));
    assert_eq!((plain["schedule"].as_str(), plain["tile"].as_str()), (Some("work-stealing"), Some("150x4")));
    assert_eq!((plain["strategy"].as_str(), plain["exact"].as_bool()), (Some("every-pixel"), Some(true)));
    for way in [
        "--schedule static",
        "--schedule dynamic:3",
        "--schedule guided --tile 7x5",
        "--schedule work-stealing --tile 16x16",
        "--tile 1x1",
        "--tile 1024x1024",
        "--shortcuts symmetry",
        "--shortcuts cycles,interior",
        "--threads 5 --tile 10x10",
    ] {
        let stats = folder.stats(&format!("{line} {way} -o other.png").replace("--threads 2 --threads", "--threads"));
        assert_eq!(stats["field_blake3"], plain["field_blake3"], "{way}");
        assert_eq!(folder.read("other.png"), folder.read("plain.png"), "{way}");
        let words: Vec<&str> = way.split(' ').collect();
        for pair in words.chunks(2).filter(|pair| pair[0] != "--threads" && pair[1] != "cycles,interior") {
            assert_eq!(stats[&pair[0][2..]], pair[1], "{way}");
        }
    }
}

#[test]
fn heuristics_are_reported_as_inexact_and_verify_counts_their_errors() {
    let folder = Folder::new();
    let line = "--bounds -2,1,-1,1 --size 300x200 --max-iter 500 --shortcuts none";
    let exact = folder.stats(&format!("{line} -o exact.npy --verify"));
    assert_eq!((exact["exact"].as_bool(), exact["differing_pixels"].as_u64()), (Some(true), Some(0)));
    let (_, _, exact) = npy(&folder.read("exact.npy"));
    for strategy in ["mariani-silver", "boundary-trace"] {
        let line = format!("{line} --strategy {strategy}");
        let stats = folder.stats(&format!("{line} --verify -o other.npy"));
        assert_eq!((stats["strategy"].as_str(), stats["exact"].as_bool()), (Some(strategy), Some(false)));
        let (_, _, other) = npy(&folder.read("other.npy"));
        let differing = exact.iter().zip(&other).filter(|(a, b)| a != b).count();
        assert_eq!(stats["differing_pixels"], differing, "{strategy}");
        assert!(differing < 300, "{strategy}: {differing}");
        assert!(folder.stats(&line)["differing_pixels"].is_null(), "only with --verify");
    }
}

#[test]
fn mirrored_rows_of_an_image_of_several_bands() {
    // A band holds a million pixels: rows are kept from one band to the next, and bands are cut where the mirrored rows
    // begin and end. The axis is in the upper third, so rows without a mirror image follow.
    let folder = Folder::new();
    let line = "--bounds -2,1,-2,1 --size 1100x1500 --max-iter 60";
    let plain = folder.stats(&format!("{line} --shortcuts none -o plain.ppm"));
    let mirrored = folder.stats(&format!("{line} --shortcuts symmetry -o mirrored.ppm"));
    assert_eq!(plain["field_blake3"], mirrored["field_blake3"]);
    assert_eq!(plain["iterations"], mirrored["iterations"]);
    assert_eq!(folder.read("plain.ppm"), folder.read("mirrored.ppm"));
}

#[test]
fn shortcuts_change_no_dwell() {
    let folder = Folder::new();
    for line in [
        "shallow-minibrot --size 120x67",
        "shallow-feigenbaum --size 90x50 --max-iter 5000 --precision f32 --rounding separate --force",
    ] {
        let [none, exact] = ["none", "exact"].map(|s| folder.stats(&format!("{line} --shortcuts {s}")));
        assert_eq!((none["shortcuts"].as_str(), exact["shortcuts"].as_str()), (Some("none"), Some("exact")));
        assert_eq!(none["field_blake3"], exact["field_blake3"]);
        assert_eq!(none["iterations"], exact["iterations"]);
    }
}

#[test]
fn repeat_reports_medians_and_writes_once() {
    let folder = Folder::new();
    let once = folder.stats("--size 64x64 -o a.png");
    let bytes = folder.read("a.png");
    let stats = folder.stats("--size 64x64 --repeat 5 -o a.png");
    assert_eq!((stats["repeats"].as_u64(), once["repeats"].as_u64()), (Some(5), Some(1)));
    assert_eq!(stats["field_blake3"], once["field_blake3"]);
    assert_eq!(folder.read("a.png"), bytes);
}

#[test]
fn palettes_by_name_and_file() {
    let folder = Folder::new()
        .with("mine.toml", b"colors = [\"#ff0000\", \"#00ff00\"]\ninterior = \"#0000ff\"\n")
        .with("mine.map", b"255 0 0\n0 255 0\n");
    let mut seen = std::collections::HashSet::new();
    for palette in ["twilight", "ember", "glacier", "verdigris", "graphite", "spectrum", "mine.toml", "./mine.map"] {
        folder.good(&format!("render --size 32x32 -o a.ppm --palette {palette}"));
        seen.insert(folder.read("a.ppm"));
    }
    assert_eq!(seen.len(), 8);
    let picture = |flags: &str| {
        folder.good(&format!("render --size 32x32 -o a.ppm {flags}"));
        folder.read("a.ppm")
    };
    let usual = picture("");
    assert_eq!(usual, picture("shallow-home --max-iter auto"), "the whole set, in its colours");
    let flags = "--palette twilight --scale root --density 2.6 --offset 0.72";
    assert_eq!(usual, picture(flags), "the same as flags");
    let elsewhere = picture("--center -0.5,0 --zoom 1");
    assert_eq!(elsewhere, picture("--center -0.5,0 --zoom 1 --palette twilight"), "another place: the plain palette");
}

#[test]
fn the_limit_of_a_location_holds_for_its_own_place_and_formula() {
    let folder = Folder::new()
        .with("open.toml", b"re = \"-0.75\"\nim = \"0.1\"\nzoom = \"20\"\n")
        .with("auto.toml", b"re = \"-0.75\"\nim = \"0.1\"\nzoom = \"20\"\niterations = \"auto\"\n")
        .with("given.toml", b"re = \"-0.75\"\nim = \"0.1\"\nzoom = \"20\"\niterations = 77\n");
    let is_found = |line: &str| {
        let stats = folder.stats(&format!("{line} --size 32x18"));
        !stats["automatic"]["limit"].is_null()
    };
    for line in [
        "open.toml",
        "auto.toml",
        "given.toml --zoom 30",
        "given.toml --center -0.7,0.1",
        "given.toml --bounds -1,1,-1,1",
        "given.toml --formula tricorn",
        "given.toml --julia -0.8,0.156",
        "given.toml --max-iter auto",
        "--center -0.7,0.1",
        "--power 5 --formula multibrot",
        "shallow-seahorse --zoom 1e4",
        "",
    ] {
        assert!(is_found(line), "{line}");
    }
    for line in [
        "shallow-home",
        "given.toml",
        "given.toml --rotate 30 --palette fire",
        "given.toml --zoom 30 --max-iter 80",
        "open.toml --max-iter 80",
        "shallow-seahorse",
        "--formula burning-ship",
    ] {
        assert!(!is_found(line), "{line}");
    }
}

#[test]
fn a_limit_that_is_too_low_gets_a_warning_on_every_kind_of_standard_error() {
    let folder = Folder::new();
    let late = "render --center -0.743643887037158704752191506114774,0.131825904205311970493132056385139 --zoom 1e9 --size 32x18";
    let low = folder.good(&format!("{late} -o a.png --max-iter 500"));
    assert!(low.err.contains("--max-iter auto chooses "), "{}", low.err);
    for quiet in ["--max-iter 500 --quiet", "--max-iter auto", ""] {
        assert!(folder.good(&format!("{late} -o a.png {quiet}")).err.is_empty(), "{quiet}");
    }
}

#[test]
fn an_automatic_scale_is_stored_as_what_was_found() {
    let folder = Folder::new();
    let place = "--center -0.7436438870371587,0.1318259042053119 --zoom 1e5 --size 48x27";
    folder.good(&format!("render {place} -o a.png"));
    let shown = folder.good("show a.png").text();
    let key = |key: &str| {
        let line =
            shown.lines().find(|line| line.starts_with(&format!("{key} = "))).unwrap_or_else(|| panic!("{shown}"));
        line.split_once(" = ").unwrap().1.trim_matches('"').to_owned()
    };
    assert_eq!(key("scale"), "root");
    let again = format!(
        "render {place} -o b.png --max-iter {} --scale root --density {} --offset {}",
        key("iterations"),
        key("density"),
        key("offset")
    );
    folder.good(&again);
    assert_eq!(folder.read("a.png"), folder.read("b.png"));
    assert!(folder.good("check a.png").text().contains("all 1296 pixels"));
    folder.good(&format!("render {place} -o c.png --scale auto --density 2"));
    assert_ne!(folder.read("a.png"), folder.read("c.png"));
    let twice = folder.good("show c.png").text();
    let density = |text: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with("density = ")).unwrap();
        line.trim_start_matches("density = ").parse().unwrap()
    };
    assert_eq!(density(&twice), 2.0 * density(&shown));
}

#[test]
fn negative_values_need_no_equals_sign() {
    let folder = Folder::new();
    folder.good("render --center -0.5,-0.5 --size 4x4 --rotate -30 -o a.png");
    folder.good("render --bounds -2,-1,-1,-0.5 --size 4x4 -o a.png");
    folder.good("point -0.5,-0.5");
}

#[test]
fn images_of_one_pixel_and_of_one_row() {
    let folder = Folder::new();
    for size in ["1x1", "1x300", "300x1", "7x3", "5000x1"] {
        let stats = folder.stats(&format!("--size {size} --max-iter 50 -o a.png"));
        let (w, h, _) = decode_png(&folder.read("a.png"));
        assert_eq!(format!("{w}x{h}"), size);
        assert_eq!(stats["pixels"], w * h);
    }
}

#[test]
fn a_row_of_an_image_of_several_bands_equals_a_separate_render() {
    // More than 2^20 pixels are rendered in bands.
    let folder = Folder::new();
    folder.good("render --bounds -2,1,-1.5,1.5 --size 1100x1000 --max-iter 40 -o all.npy");
    folder.good("render --bounds -2,1,-1.5,-1.497 --size 1100x1 --max-iter 40 -o last.npy");
    let (_, _, all) = npy(&folder.read("all.npy"));
    let (_, _, last) = npy(&folder.read("last.npy"));
    assert_eq!(all[1100 * 999..], last);
}

#[test]
fn every_format_can_be_written_to_standard_output() {
    let folder = Folder::new();
    folder.good("render --size 16x9 -o a.png");
    assert_eq!(folder.good("render --size 16x9 -o -").out, folder.read("a.png"));
    let ppm = folder.good("render --size 16x9 -o - --format ppm");
    assert!(ppm.out.starts_with(b"P6\n16 9\n255\n") && ppm.err.is_empty());
    assert_eq!(folder.good("render --size 16x9 -o - --format csv").text().lines().count(), 9);
    assert!(folder.good("render --size 16x9 -o - --format npy --stats -").err.contains("\"field_blake3\""));
}
