//! Every reader takes time and memory in proportion to its input, however the input was made. Each case is a text that
//! repeats what might be done again for each of its parts. It is read at the sizes n, 2n and 4n.
//!
//! Time is the processor time of the thread, so that other work of the machine does not count. Linear work takes four
//! times as long at 4n as at n, quadratic work sixteen times.

#![cfg(all(feature = "png", feature = "toml"))]
#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::compare::{Controls, Raster, compare};
use dwell::{Cancel, Decimal, Limits, Location, Palette, PaletteFormat, Plan, Progress, Settings, Size, View};
use std::io::Cursor;

/// The memory that any input may take, and the bytes that it may take for each of its own.
const MEMORY: [u64; 2] = [64 << 20, 16];
/// The bytes that may be allocated in all for each byte of input, beside those of an input of no size.
const ALLOCATED: [u64; 2] = [8 << 20, 1000];
/// Seconds that are not distinguished from none.
const NOTHING: f64 = 0.02;
/// The most by which the time may grow from n to 4n.
const MOST_GROWTH: f64 = 9.0;
/// Runs of which the fastest counts.
const RUNS: usize = 3;

/// The processor time of this thread, in seconds.
#[cfg(unix)]
fn seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The time, in seconds since the first call.
#[cfg(not(unix))]
fn seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// Checks a reader on inputs of three sizes, of which the first has about `n` bytes.
fn check(name: &str, n: usize, input: impl Fn(usize) -> Vec<u8>, read: impl Fn(&[u8])) {
    let mut times = Vec::new();
    for times_n in [1, 2, 4] {
        let input = input(times_n * n);
        let length = input.len() as u64;
        let allocated = allocation_counter::measure(|| read(&input));
        let [fixed, each] = MEMORY;
        assert!(allocated.bytes_max <= fixed + each * length, "{name}: {} B of {length}", allocated.bytes_max);
        let [fixed, each] = ALLOCATED;
        assert!(allocated.bytes_total <= fixed + each * length, "{name}: {} B of {length}", allocated.bytes_total);
        let time = |_| {
            let began = seconds();
            read(&input);
            seconds() - began
        };
        let time = (0..RUNS).map(time).fold(f64::INFINITY, f64::min);
        // The budget of an optimised build.
        assert!(cfg!(debug_assertions) || time < 1.0 + length as f64 / f64::from(1 << 20), "{name}: {time} s");
        times.push(time.max(NOTHING));
    }
    assert!(times[2] <= MOST_GROWTH * times[0], "{name}: {times:?} s");
}

/// So many bytes of text, repeated from `part`, which is given the number of its repetition.
fn repeated(bytes: usize, part: impl Fn(usize) -> String) -> Vec<u8> {
    let mut text = String::new();
    for i in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &part(i);
    }
    text.into_bytes()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

const KIB: usize = 1 << 10;
const GOOD: &str = "re = \"0\"\nim = \"0\"\nzoom = \"2\"\niterations = 5\n";

fn location(bytes: &[u8]) {
    let _ = Location::parse(text(bytes), "x");
}

#[test]
fn locations() {
    type Part = fn(usize) -> String;
    let cases: [(&str, &str, Part, &str); 20] = [
        ("unknown keys", GOOD, |i| format!("key{i} = 1\n"), ""),
        ("unknown keys of a table", GOOD, |i| if i == 0 { "[colour]\n".into() } else { format!("key{i} = 1\n") }, ""),
        ("long unknown keys", "", |i| format!("{i:0>4000} = 1\n"), ""),
        ("one long key", "k", |_| "k".into(), " = 1"),
        ("tables", GOOD, |i| format!("[a.b{i}]\n"), ""),
        ("nested tables", GOOD, |i| format!("[a{i}.b.c.d.e.f.g.h]\n"), ""),
        ("lists of tables", GOOD, |_| "[[a]]\n".into(), ""),
        ("dotted keys", GOOD, |i| format!("a.b.c{i}.d = 1\n"), ""),
        ("many dots", "a", |_| ".a".into(), " = 1"),
        ("an inline table", "a = {", |i| format!("k{i} = 1, "), "}"),
        ("a list of numbers", "warnings = [", |_| "1,".into(), "]"),
        ("a list of texts", "warnings = [", |_| "\"\",".into(), "]"),
        ("brackets", "warnings = ", |_| "[".into(), ""),
        ("empty lines", GOOD, |_| "\n".into(), "x = 1"),
        ("spaces", GOOD, |_| " ".into(), "x = 1"),
        ("comments", GOOD, |_| "#\n".into(), "x = 1"),
        ("escapes", "name = \"", |_| "\\n".into(), "\""),
        ("backquotes", "name = `", |_| "`a".into(), "\n"),
        ("a version", "dwell = \"99", |_| ".1".into(), "\""),
        ("one key many times", "", |_| "re = \"0\"\n".into(), ""),
    ];
    for (name, before, part, after) in cases {
        let input = |bytes| [before.as_bytes(), &repeated(bytes, part), after.as_bytes()].concat();
        check(name, 96 * KIB, input, location);
    }
}

#[test]
fn the_first_of_many_unknown_keys_is_reported() {
    let keys = repeated(400 * KIB, |i| format!("key{i} = 1\n"));
    assert!(keys.iter().filter(|byte| **byte == b'\n').count() > 30_000);
    let error = Location::parse(&format!("{GOOD}{}", text(&keys)), "x").unwrap_err().to_string();
    assert!(error.starts_with("line 5: \"key0\" is no key of a location"), "{error}");
    let many = format!("{GOOD}{}", "\n".repeat(300_000));
    let error = Location::parse(&many, "x").unwrap_err().to_string();
    assert!(error.contains("too many keys, values, signs and lines (accepted: up to 262144 of them;"), "{error}");
}

#[test]
fn decimals() {
    let parsed = |bytes: &[u8]| drop(text(bytes).parse::<Decimal>());
    check("digits", 64 * KIB, |bytes| repeated(bytes, |_| "7".into()), parsed);
    check("decimals", 64 * KIB, |bytes| [b"0.".to_vec(), repeated(bytes, |_| "7".into())].concat(), parsed);
    check("zeros", 64 * KIB, |bytes| repeated(bytes, |_| "0".into()), parsed);
    check("an exponent", 64 * KIB, |bytes| [b"1e".to_vec(), repeated(bytes, |_| "7".into())].concat(), parsed);
    check("no number", 64 * KIB, |bytes| [repeated(bytes, |_| "7".into()), b"x".to_vec()].concat(), parsed);
}

/// 1 + 2^-53, which lies halfway between 1 and the next f64.
const MIDPOINT: &str = "1.00000000000000011102230246251565404236316680908203125";

/// A view of 20000 x 1 pixels, drawn whatever it resolves.
fn plan(view: View) {
    let settings = Settings { force: true, ..Settings::default() };
    let size = Size::new(20_000, 1).unwrap();
    drop(Plan::new(&view.sized(size), &settings, &Limits::default()));
}

#[test]
fn coordinates_near_midpoints() {
    // Every column lies just above a midpoint: the step is the spacing of f64, and half a pixel has no part in it.
    let digits = |bytes| [MIDPOINT.as_bytes(), &repeated(bytes, |_| "0".into()), b"1"].concat();
    let near = |bytes: &[u8]| {
        let mut view = View::centred(text(bytes), "0", "4").unwrap();
        view.sample = dwell::Sample::Corner;
        view.frame = match view.frame {
            dwell::Frame::Centred { re, im, .. } => dwell::Frame::Centred {
                re,
                im,
                magnification: dwell::Magnification::Height(
                    "2.220446049250313080847263336181640625e-16".parse().unwrap(),
                ),
            },
            frame => frame,
        };
        plan(view);
    };
    check("digits just above a midpoint", 16 * KIB, digits, near);
    let bounds = |bytes: &[u8]| {
        let digits = text(bytes);
        let number = |sign: &str, whole: &str| format!("{sign}{whole}.{digits}").parse().unwrap();
        let [xmin, xmax, ymin, ymax] = [number("-", "2"), number("", "1"), number("-", "1"), number("", "1")];
        let frame = dwell::Frame::Bounds { xmin, xmax, ymin, ymax };
        plan(View { frame, ..View::centred("0", "0", "1").unwrap() });
    };
    check("four bounds of many digits", 32 * KIB, |bytes| repeated(bytes, |i| (i % 10).to_string()), bounds);
}

#[test]
fn exponents_of_a_million_cost_no_more_than_others() {
    for [re, zoom] in [["0", "1e1000000"], ["1e1000000", "1"], ["1e-900000", "1e1000000"], [MIDPOINT, "1e300000"]] {
        for rotation in ["0", "12.5"] {
            let mut view = View::centred(re, "0", zoom).unwrap();
            view.rotation = rotation.parse().unwrap();
            let allocated = allocation_counter::measure(|| plan(view));
            assert!(allocated.bytes_total < 400 << 20, "{re}, {zoom}, {rotation}: {} B", allocated.bytes_total);
        }
    }
}

#[test]
fn rotated_views_have_a_limit_on_digits() {
    let planned = |digits: usize, rotation: &str| {
        let mut view = View::centred(&format!("-0.{}", "7".repeat(digits)), "0", "1").unwrap();
        view.rotation = rotation.parse().unwrap();
        Plan::new(&view.sized(Size::new(16, 9).unwrap()), &Settings::default(), &Limits::default())
    };
    assert!(planned(10_000, "30").is_ok() && planned(10_001, "90").is_ok() && planned(10_001, "0").is_ok());
    let error = planned(10_001, "30").unwrap_err().to_string();
    assert!(error.starts_with("re: has 10001 digits (accepted: at most 10000 digits in a view rotated by"), "{error}");
}

#[test]
fn palettes() {
    type Part = fn(usize) -> String;
    let ggr = "GIMP Gradient\nName: x\n1\n";
    let ugr = "a {\ngradient:\n";
    use PaletteFormat::{Ggr, Map, Toml, Ugr};
    let cases: [(PaletteFormat, &str, Part, &str); 16] = [
        (Map, "", |_| ";\n".into(), ""),
        (Map, "", |_| "\n".into(), ""),
        (Map, "1 2 3", |_| " x".into(), "\n"),
        (Map, "", |_| "1".into(), ""),
        (Ggr, ggr, |_| " ".into(), "x"),
        (Ggr, ggr, |_| "0 ".into(), ""),
        (Ggr, "GIMP Gradient\n", |_| "\n".into(), ""),
        (Ugr, ugr, |i| format!("index={i} color={i}\n"), "}"),
        (Ugr, ugr, |_| "title=\"a\\\n b\"\n".into(), "}"),
        (Ugr, ugr, |_| "title=\"\n\"\n".into(), "}"),
        (Ugr, ugr, |_| ";\n".into(), "}"),
        (Ugr, "", |_| "{".into(), ""),
        (Ugr, "", |_| "\"".into(), ""),
        (Toml, "", |i| format!("key{i} = 1\n"), ""),
        (Toml, "colours = [", |_| "\"#fff\",".into(), "]"),
        (Toml, "colours = [\"#fff\"]\npositions = [", |_| "0.5,".into(), "]"),
    ];
    for (at, (format, before, part, after)) in cases.into_iter().enumerate() {
        let input = |bytes| [before.as_bytes(), &repeated(bytes, part), after.as_bytes()].concat();
        let read = |bytes: &[u8]| drop(Palette::from_text(format, text(bytes), "x"));
        check(&format!("case {at}, {format}"), 64 * KIB, input, read);
    }
    // A gradient that is not in a file of many, and one of many gradients with long names.
    for name in [|i: usize| format!("g{i} {{ }}\n"), |i| format!("{i:a>20000} {{ }}\n")] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("many.ugr");
        let wanted = folder.path().join("many.ugr#wanted");
        let read = |bytes: &[u8]| {
            #[expect(clippy::disallowed_methods, reason = "an input of a test")]
            std::fs::write(&path, bytes).unwrap();
            assert!(Palette::read(&wanted).is_err());
        };
        check("a gradient of many", 64 * KIB, |bytes| repeated(bytes, name), read);
    }
}

/// A chunk of a PNG, with its checksum.
fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    let mut sum = crc32fast::Hasher::new();
    sum.update(kind);
    sum.update(data);
    [&length, kind.as_slice(), data, &sum.finalize().to_be_bytes()].concat()
}

/// A PNG of one pixel with other chunks before and after its image data.
fn picture(before: &[u8], after: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let encoder = png::Encoder::new(&mut plain, 1, 1);
    encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
    let data = plain.windows(4).position(|w| w == b"IDAT").unwrap() - 4;
    let end = plain.windows(4).position(|w| w == b"IEND").unwrap() - 4;
    [&plain[..data], before, &plain[data..end], after, &plain[end..]].concat()
}

/// Text that is compressed about a thousandfold, as zlib.
fn bomb(bytes: usize) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut encoder = png::Encoder::new(&mut plain, 1, 1);
    encoder.add_ztxt_chunk("dwell".to_owned(), " ".repeat(bytes)).unwrap();
    encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
    let at = plain.windows(4).position(|w| w == b"zTXt").unwrap() - 4;
    let length = u32::from_be_bytes(plain[at..at + 4].try_into().unwrap()) as usize;
    plain[at..at + length + 12].to_vec()
}

#[test]
fn texts_of_pictures() {
    let read = |bytes: &[u8]| {
        let _ = Location::from_png(Cursor::new(bytes), "x");
    };
    type Part = fn(usize) -> Vec<u8>;
    let parts: [(&str, Part); 5] = [
        ("texts", |_| chunk(b"tEXt", b"Comment\0x")),
        ("own texts", |_| chunk(b"tEXt", b"dwell\0re = 1")),
        ("unknown chunks", |_| chunk(b"abCd", b"")),
        ("bombs", |_| bomb(1 << 20)),
        ("profiles", |_| chunk(b"iCCP", b"x\0\0abc")),
    ];
    for (name, part) in parts {
        let chunks = |bytes: usize| {
            let one = part(0);
            one.repeat(bytes.div_ceil(one.len()))
        };
        check(&format!("{name} before the image"), 48 * KIB, |bytes| picture(&chunks(bytes), &[]), read);
        check(&format!("{name} after the image"), 48 * KIB, |bytes| picture(&[], &chunks(bytes)), read);
    }
}

fn raster(bytes: &[u8]) {
    let limits = Limits { memory_bytes: 64 << 20 };
    let open = || Raster::from_bytes(bytes.to_vec(), "x", &limits);
    let (Ok(a), Ok(b)) = (open(), open()) else { return };
    let controls = Controls { limits: &limits, cancel: &Cancel::default(), progress: &Progress::default() };
    let _ = compare(a, b, None, controls);
}

#[test]
fn rasters() {
    type Part = fn(usize) -> String;
    let npy = "\u{93}NUMPY\u{2}\0";
    let cases: [(&str, &str, Part, &str); 14] = [
        ("a table of rows", "", |_| "1,2\n".into(), ""),
        ("a table of one row", "", |_| "1,".into(), "\n"),
        ("empty lines", "1\n", |_| "\n".into(), ""),
        ("empty lines, then a value", "1\n", |_| "\n".into(), "1"),
        ("spaces", "1", |_| " ".into(), "\n"),
        ("a long value", "1", |_| "1".into(), "\n"),
        ("a header's comments", "P5\n", |_| "#\n".into(), "1 1 255 x"),
        ("a header's spaces", "P5\n", |_| " ".into(), "1 1 255 x"),
        ("a header's digits", "P5\n", |_| "1".into(), " 1 255 x"),
        ("an array's spaces", npy, |_| " ".into(), "{'descr': '<u4'}"),
        ("an array's keys", npy, |_| "'descr':'<u4',".into(), "}"),
        ("an array's shape", npy, |_| "1,".into(), ")}"),
        ("an array's quotation mark", npy, |_| "'".into(), ""),
        ("an array's name", npy, |_| "x".into(), "'"),
    ];
    for (name, before, part, after) in cases {
        let input = |bytes| {
            let body = [repeated(bytes, part), after.as_bytes().to_vec()].concat();
            if before != npy {
                return [before.as_bytes(), &body].concat();
            }
            let start = match name {
                "an array's spaces" => "",
                "an array's shape" => "{'shape':(",
                "an array's quotation mark" | "an array's name" => "{'",
                _ => "{",
            };
            let length = u32::try_from(start.len() + body.len()).unwrap().to_le_bytes();
            [b"\x93NUMPY\x02\x00", length.as_slice(), start.as_bytes(), &body].concat()
        };
        check(name, 128 * KIB, input, raster);
    }
    let chunks = |bytes: usize| chunk(b"abCd", b"").repeat(bytes / 12);
    check("chunks before the image", 48 * KIB, |bytes| picture(&chunks(bytes), &[]), raster);
    check("chunks after the image", 48 * KIB, |bytes| picture(&[], &chunks(bytes)), raster);
}
