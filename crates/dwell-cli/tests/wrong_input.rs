//! Wrong input as people type it, with the remedy that the answer must name: one line that says what is wrong, one with
//! what to type, exit code 2, and nothing written.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};

/// What is typed, the words separated by spaces, where `_` stands for a space within a word; what is wrong, a part of the
/// first line; and the remedy, a part of the second line or of what the first says is accepted.
const TYPED: &[(&str, &str, &str)] = &[
    // Flags of other programs.
    ("render -o a.png --width 1920", "--width", "--size 1920x1080"),
    ("render -o a.png --width=1920", "--width", "--size WxH"),
    ("render -o a.png --res 1920x1080", "--res", "--size WxH"),
    ("render -o a.png --resolution 1920x1080", "--resolution", "--size WxH"),
    ("render -o a.png --colour red", "--colour", "--palette"),
    ("render -o a.png --color red", "--color", "--palette"),
    ("render -o a.png --colors red", "--colors", "--palette"),
    ("render -o a.png --gradient red", "--gradient", "--palette"),
    ("render -o a.png --palette rainbow", "is not known", "--palette spectrum"),
    ("render -o a.png --iter 500", "--iter", "--max-iter N"),
    ("render -o a.png --maxiter 500", "--maxiter", "--max-iter N"),
    ("render -o a.png --max-iterations 500", "--max-iterations", "--max-iter N"),
    ("render -o a.png --limit 500", "--limit", "--max-iter N"),
    ("render -o a.png --supersampling 4", "--supersampling", "--aa N"),
    ("render -o a.png --antialias", "--antialias", "--aa N"),
    ("render -o a.png --ssaa 2", "--ssaa", "--aa N"),
    ("render -o a.png --quality 90", "--quality", "--aa N"),
    ("render --out a.png", "--out", "-o FILE"),
    ("render --outfile a.png", "--outfile", "-o FILE"),
    ("render -o a.png --verbose", "--verbose", "--stats"),
    ("render -o a.png -v", "-v", "--stats"),
    ("render -o a.png --gpu", "--gpu", "--engine cuda"),
    ("render -o a.png --cuda", "--cuda", "--engine cuda"),
    ("render -o a.png --cpu", "--cpu", "--engine cpu"),
    ("render -o a.png --jobs 4", "--jobs", "--threads N"),
    ("render -o a.png -j 4", "-j", "--threads N"),
    ("render -o a.png --angle 45", "--angle", "--rotate DEG"),
    ("render -o a.png --radius 0.5", "--radius", "--view-height"),
    ("render -o a.png --xmin -2 --xmax 1", "--xmin", "--bounds XMIN,XMAX,YMIN,YMAX"),
    ("render -o a.png --re -0.7 --im 0.1", "--re", "--center RE,IM"),
    ("render -o a.png --overwrite", "--overwrite", "--no-clobber"),
    ("render -o a.png --nonsense 3", "--nonsense", "dwell render --help"),
    ("render -o a.png --nonsense --help", "--nonsense", "dwell render --help"),
    ("palettes --width 100", "--width", "for `dwell render`: --size"),
    ("gallery -o g --iter 5", "--iter", "for `dwell render`: --max-iter"),
    ("info --size 4x4", "--size", "`dwell render` has it"),
    // Lists of numbers.
    ("render -o a.png --center -0.7 0.1", "are two arguments", "--center -0.7,0.1"),
    ("render -o a.png --center -0.7, 0.1", "are two arguments", "--center -0.7,0.1"),
    ("render -o a.png --center=0.3", "has 1 number, not 2", "write RE,IM, such as -0.5,0.1"),
    ("render -o a.png --center (-0.7,_0.1)", "--center RE", "write RE,IM, without spaces or brackets: -0.7,0.1"),
    ("render -o a.png --center -0.7+0.1i", "--center", "write RE,IM, without spaces or brackets: -0.7,0.1"),
    ("render -o a.png --center -0.7_0.1", "--center", ": -0.7,0.1"),
    ("render -o a.png --center -0,7;0,1", "--center", ": -0.7,0.1"),
    ("render -o a.png --center \u{2212}0.7,0.1", "--center RE", ": -0.7,0.1"),
    ("render -o a.png --center \u{201c}-0.7,0.1\u{201d}", "--center RE", ": -0.7,0.1"),
    ("render -o a.png --julia -o a.png", "--julia: its value is missing before -o (accepted: RE,IM)", "-0.8,0.156"),
    ("render -o a.png --julia -0.8 0.156", "are two arguments", "--julia -0.8,0.156"),
    ("render -o a.png --julia", "--julia: its value is missing (accepted: RE,IM)", "--julia -0.8,0.156"),
    ("render -o a.png --bounds -2,1,-1", "has 3 numbers, not 4", "XMIN,XMAX,YMIN,YMAX"),
    ("render -o a.png --bounds 1,-2,-1,1", "1 is not below -2", "XMIN < XMAX"),
    ("point 0.1 0.2", "\"0.2\": is one argument too many", "dwell point 0.1,0.2"),
    // Numbers.
    ("render -o a.png --zoom 1,5", "--zoom", "write a decimal point: 1.5"),
    ("render -o a.png --zoom 1e", "ends too early", "1e5"),
    ("render -o a.png --zoom 2x", "\"x\" at character 2", "write 2"),
    ("render -o a.png --zoom 10^9", "--zoom", "write 1e9"),
    ("render -o a.png --zoom 1_000", "--zoom", "write 1000"),
    ("render -o a.png --zoom 0", "--zoom", "above 0"),
    ("render -o a.png --zoom -3", "--zoom", "above 0"),
    ("render -o a.png --zoom \u{2013}3", "--zoom", "the minus sign is a hyphen: -3"),
    ("render -o a.png --rotate 45deg", "--rotate", "write 45"),
    ("render -o a.png --rotate 45\u{b0}", "--rotate", "write 45"),
    ("render -o a.png --max-iter 0", "--max-iter", "1 to 9223372036854775807"),
    ("render -o a.png --max-iter -5", "-5", "1 to 9223372036854775807"),
    ("render -o a.png --max-iter 5.5", "is not a whole number", "auto"),
    ("render -o a.png --max-iter 10,000", "is not a whole number", "write 10000"),
    ("render -o a.png --formula multibrot --power 1", "--power", "2 to 16"),
    ("render -o a.png --formula multibrot --power 2.5", "is not a whole number", "2 to 16"),
    ("render -o a.png --power 5", "--power", "add --formula multibrot"),
    ("convert", "dwell convert", "dwell convert kf-1e50.kfr -o kf-1e50.toml"),
    ("render -o a.png --aa 5x5", "--aa", "--aa N takes N x N samples"),
    ("render -o a.png --aa 0", "--aa", "1 to 16"),
    ("render -o a.png --threads 0", "--threads", "1 to 4096"),
    ("render -o a.png --threads all", "--threads", "leave --threads out"),
    ("render -o a.png --threads auto", "--threads", "leave --threads out"),
    ("render -o a.png --depth 24", "--depth", "--depth 8"),
    ("render -o a.png --max-memory lots", "--max-memory", "512M"),
    // Sizes.
    ("render -o a.png --size 1920", "--size", "1920x1080"),
    ("render -o a.png --size 1920,1080", "--size", "write WxH: --size 1920x1080"),
    ("render -o a.png --size 1920*1080", "--size", "write WxH: --size 1920x1080"),
    ("render -o a.png --size 1920 1080", "are two arguments", "--size 1920x1080"),
    ("render -o a.png --size 0x0", "--size", "each 1 to 2147483647"),
    // Names.
    ("render -o a.png --formula mandlebrot", "--formula", "did you mean \"mandelbrot\"?"),
    ("render -o a.png --formula julia", "--formula", "--julia RE,IM"),
    ("render -o a.png --formula ship", "--formula", "--formula burning-ship"),
    ("render -o a.png --interior black", "--interior", "#000000"),
    ("render -o a.png --engine gpu", "--engine", "--engine cuda"),
    ("render -o a.png --engine opencl", "--engine", "--engine cuda needs an NVIDIA device"),
    ("render -o a.png --engine metal", "--engine", "--engine cpu"),
    ("render -o a.png --precision double", "--precision", "--precision f64"),
    ("render -o a.png --precision float", "--precision", "--precision f32"),
    ("render -o a.png --precision f128", "--precision", "--precision exact"),
    ("render -o a.png --max-iter 2^33", "--max-iter", "8589934592"),
    ("render -o a.png --size a4@150", "--size", "a4@150dpi"),
    ("render -o a.png --scale sqrt", "--scale", "--scale root"),
    ("render -o a.png --color-by iterations", "--color-by", "--color-by banded"),
    ("render -o a.png --sample middle", "--sample", "--sample centre"),
    ("render -o a.png --flip no", "--flip", "--flip=no"),
    ("render -o a.png --flip=false", "--flip", "--flip=no"),
    // Files.
    ("render out.png", "out.png", "-o out.png"),
    ("show out.png", "out.png", "cannot be read"),
    ("render -o a.jpg", ".jpg", "magick a.png"),
    ("render -o a.gif", ".gif", "magick a.png a.gif"),
    ("render -o a.webp", ".webp", "magick a.png"),
    ("render -o a.tif", ".tif", "--depth 16"),
    ("render -o a --format jpg", "--format", "magick a.png"),
    ("render", "no output", "-o mandelbrot.png"),
    ("compare a.npy", "B is missing", "dwell compare A B"),
    ("compare", "dwell compare", "dwell compare --truth FIELD"),
    ("show", "WHAT is missing", "dwell show seahorse.png"),
    ("show difference.png", "is a comparison", "one of the two pictures"),
    ("completions", "SHELL is missing", "dwell completions bash"),
    ("man rendr", "COMMAND", "render"),
    // Locations.
    ("render seahorse -o a.png", "seahorse", "\"shallow-seahorse\" or \"shallow-seahorse-1e13\" or \"julia-seahorse\""),
    ("render spiral -o a.png", "spiral", "\"mandelbrot-triple-spiral\" or"),
    ("render shalow-home -o a.png", "shalow-home", "did you mean \"shallow-home\"?"),
    // Commands.
    ("-o a.png", "-o", "dwell render -o a.png"),
    ("--width 5", "--width", "for `dwell render`: --size WxH"),
    ("-v", "-v", "--version"),
    ("seahorse", "seahorse", "dwell render shallow-seahorse -o shallow-seahorse.png"),
    ("a.png", "a.png", "dwell render -o a.png"),
    ("place.toml", "place.toml", "dwell render place.toml -o"),
    ("point 0.1", "has 1 number, not 2", "write RE,IM, such as"),
    ("draw -o a.png", "draw", "dwell render"),
    ("diff a.npy b.npy", "diff", "dwell compare"),
    ("rendr -o a.png", "rendr", "did you mean `dwell render`?"),
    ("nonsense", "nonsense", "dwell --help"),
];

/// What the answer lacks, if anything.
fn lacks(ran: &Ran, problem: &str, remedy: &str) -> Option<&'static str> {
    let lines: Vec<&str> = ran.err.lines().collect();
    let [error, hints @ ..] = lines.as_slice() else { return Some("an error") };
    if ran.code != 2 {
        Some("exit code 2")
    } else if !ran.out.is_empty() {
        Some("an empty standard output")
    } else if !error.starts_with("error: ") || !error.contains(problem) {
        Some("an error that says what is wrong")
    } else if hints.len() > 1 || hints.iter().any(|hint| !hint.starts_with("  hint: ")) {
        Some("a single line with a hint")
    } else if !ran.err.contains(remedy) {
        Some("the remedy")
    } else {
        None
    }
}

#[test]
fn every_answer_names_the_remedy() {
    let place = b"re = \"0\"\nim = \"0\"\nzoom = \"1\"\niterations = 50\n";
    let folder = Folder::new().with("place.toml", place).with("one.csv", b"1,2\n").with("other.csv", b"1,3\n");
    assert_eq!(folder.run("compare one.csv other.csv -o difference.png".split(' ')).code, 1);
    let before = folder.names();
    let mut wrong = Vec::new();
    for (typed, problem, remedy) in TYPED {
        let ran = folder.run(typed.split(' ').map(|word| word.replace('_', " ")));
        let missing = lacks(&ran, problem, remedy);
        wrong.extend(missing.map(|missing| format!("dwell {typed}: the answer lacks {missing}:\n{}", ran.err)));
        assert_eq!(folder.names(), before, "{typed} wrote something");
    }
    assert!(wrong.is_empty(), "{} of {} answers:\n{}", wrong.len(), TYPED.len(), wrong.join("\n"));
}

#[test]
fn memory_is_told_exactly() {
    let folder = Folder::new();
    let ran = folder.run("render --size 640x360 -o a.png --max-memory 1".split(' '));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("the render needs ") && ran.err.contains("at most 1 byte here"), "{}", ran.err);
    assert!(!ran.err.contains("--aa"), "there are no samples to reduce: {}", ran.err);
    let ran = folder.run("render --size 640x360 -o a.png --max-memory 1 --aa 2".split(' '));
    assert!(ran.err.contains("fewer samples with --aa"), "{}", ran.err);
    // A view that is too deep has samples to reduce in the second case only.
    let deep = "render -o a.png --center -0.7436438870371587,0.1318259042053119 --zoom 2e13 --precision f64";
    for (line, said) in [(deep.to_owned(), false), (format!("{deep} --aa 4"), true)] {
        let ran = folder.run(line.split(' '));
        assert_eq!((ran.code, ran.err.contains("fewer samples")), (2, said), "{line}: {}", ran.err);
    }
}

#[test]
fn what_people_type_is_accepted_where_it_can_be_meant_only_in_one_way() {
    let folder = Folder::new();
    for line in [
        "render -o a.png --size 8x8 --max-iter 1e3",
        "render -o a.png --size 8x8 --iterations 500",
        "render -o a.png --size 8X8 --centre -0.7,0.1",
        "render -o a.png --size 8x8 --sample center",
        "render -o a.png --size 8x8 --flip=no",
        "render -o a.PNG --size 8x8",
    ] {
        folder.good(line);
    }
}
