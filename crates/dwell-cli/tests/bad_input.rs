//! Over a hundred bad inputs. Each gives exit code 2 and one clear error that names the input and the accepted range or a
//! remedy; nothing is written, and nothing panics.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

mod common;

use common::{Folder, Ran};

fn folder() -> Folder {
    let good = "re = \"-0.75\"\nim = \"0\"\nzoom = \"1.5\"\niterations = 100\n";
    let folder = Folder::new()
        .with("cut.toml", &good.as_bytes()[..25])
        .with("no-re.toml", good.replace("re = \"-0.75\"\n", "").as_bytes())
        .with("typo.toml", good.replace("zoom", "zoon").as_bytes())
        .with("number.toml", good.replace("\"1.5\"", "1.5").as_bytes())
        .with("negative.toml", good.replace("100", "-100").as_bytes())
        .with("none.toml", good.replace("iterations = 100", "iterations = 0").as_bytes())
        .with("huge.toml", good.replace("100", "99999999999999999999999").as_bytes())
        .with("many.toml", good.replace("100", "5000000000").as_bytes())
        .with("nan.toml", good.replace("\"0\"", "\"nan\"").as_bytes())
        .with("no-zoom.toml", good.replace("zoom = \"1.5\"\n", "").as_bytes())
        .with("zero-zoom.toml", good.replace("\"1.5\"", "\"0\"").as_bytes())
        .with("twice.toml", format!("{good}{good}").as_bytes())
        .with("binary.toml", &[0x89, b'P', b'N', b'G', 0xff, 0xfe, 0, 1, 2])
        .with("empty.toml", b"")
        .with("nested.toml", "[".repeat(10_000).as_bytes())
        .with("other.kfr", b"Re: -0.75\nIm: 0\nZoom 1\n")
        .with("buffalo.kfr", b"Re: 0\nIm: 0\nZoom: 1\nFractalType: 2\n")
        .with("other.f3.toml", b"location.real = \"0\"\n")
        .with("other.upr", b"a {\nmapping:\n center=0/0\nformula:\n entry=\"Nova\"\n}\n")
        .with("other.par", b"a { type=lambda }\nb { center-mag=0/0/x }\n")
        .with("other.xpf", b"(formula 'newton)\n")
        .with("bad.gpl", b"GIMP Palette\n1 2\n")
        .with("bad.kfp", b"Colors: 1,2\n")
        .with("good.toml", good.as_bytes())
        .with("empty-palette.toml", b"colours = []\n")
        .with("bad-palette.toml", b"colours = [\"red\"]\n")
        .with("palette.map", b"0 0 0\n255 255 255\n")
        .with("bad.map", b"0 0 0\n1 2\n")
        .with("empty.map", b"")
        .with("palette.xyz", b"0 0 0\n")
        .with("good.png.map", b"0 0 0\n")
        .with("bad.ggr", b"GIMP Gradient\nName: x\n2\n0 0.5 1 0 0 0 1 1 1 1 1 0 0\n")
        .with("bad.ugr", b"x {\ngradient:\n  index=0 color=x\n}\n")
        .with("two.ugr", b"a {\ngradient:\n index=0 color=1\n}\nb {\ngradient:\n index=0 color=2\n}\n")
        .with("other.png", &others_png())
        .with("cut.png", &others_png()[..40])
        .with("text.png", b"re = \"0\"\n")
        .with("formula.toml", format!("{good}formula = \"mandelbulb\"\n").as_bytes())
        .with("power.toml", format!("{good}formula = \"tricorn\"\npower = 17\n").as_bytes())
        .with("julia.toml", format!("{good}julia = [\"0\", \"x\"]\n").as_bytes())
        .with("both.toml", format!("{good}bounds = [\"0\", \"1\", \"0\", \"1\"]\n").as_bytes())
        .with("size.toml", format!("{good}size = \"0x5\"\n").as_bytes())
        .with("samples.toml", format!("{good}samples = 17\n").as_bytes())
        .with("dither.toml", format!("{good}dither = \"yes\"\n").as_bytes())
        .with("often.toml", format!("{good}samples = \"often\"\n").as_bytes())
        .with("depth.toml", format!("{good}depth = 9\n").as_bytes())
        .with("by.toml", format!("{good}[colour]\nby = \"stripes\"\n").as_bytes())
        .with("density.toml", format!("{good}[colour]\ndensity = -1.0\n").as_bytes())
        .with("interior.toml", format!("{good}[colour]\ninterior = \"black\"\n").as_bytes())
        .with("half.toml", format!("{good}[colour]\npalette_text = \"x\"\n").as_bytes())
        .with("layer-what.toml", format!("{good}[[layer]]\nblend = \"add\"\n").as_bytes())
        .with("layer-kind.toml", format!("{good}[[layer]]\nwhat = \"slop\"\n").as_bytes())
        .with("layer-key.toml", format!("{good}[[layer]]\nwhat = \"slope\"\nwidth = 3\n").as_bytes())
        .with("layer-range.toml", format!("{good}[[layer]]\nwhat = \"slope\"\nopacity = 1.5\n").as_bytes())
        .with("layer-scale.toml", format!("{good}[[layer]]\nwhat = \"period\"\nscale = \"histogram\"\n").as_bytes())
        .with("layer-many.toml", format!("{good}{}", "[[layer]]\nwhat = \"slope\"\n".repeat(9)).as_bytes())
        .with("layer-table.toml", format!("{good}[layer]\nwhat = \"slope\"\n").as_bytes())
        .with("layer-text.toml", format!("{good}[[layer]]\nwhat = \"period\"\npalette_text = \"x\"\n").as_bytes())
        .with("look.toml", format!("{good}[colour]\nlook = \"releif\"\n").as_bytes())
        .with("bounds.toml", b"bounds = [\"-2\", \"1\", \"-1\", \"1\"]\niterations = 100\n");
    let folder = folder
        .with("counts.npy", b"\x93NUMPY\x01\0v\0{'descr': '<u4'}\n")
        .with("picture.ppm", b"P6\n1 1\n255\n\0\0\0")
        .with("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF")
        .with("counts.csv", b"7,0,12\n5,3,2\n")
        .with("stats.json", b"{\n  \"width\": 3\n}\n")
        .with("picture.map", &others_png())
        .with("dwell.png", &png_of("dwell 0.1.0", None))
        .with("with-path.png", &png_of("dwell 0.1.0", Some(&format!("{good}[colour]\npalette = \"./palette.map\"\n"))))
        .with("distance.toml", b"colours = [\"#fff\"]\nby = \"distance\"\nscale = \"limit\"\n")
        .with("dense.toml", b"colours = [\"#fff\"]\ndensity = 1e7\n")
        .with("typo-palette.toml", b"coulours = [\"#fff\"]\n")
        .with("wide.toml", format!("{good}size = \"2147483647x1\"\nsamples = 2\n").as_bytes())
        .with("alias.toml", format!("{good}samples = 2\naa = 2\n").as_bytes())
        .with("palette-3.toml", format!("{good}[colour]\npalette = 3\n").as_bytes())
        .with("lost-palette.toml", format!("{good}[colour]\npalette = \"no/such.ggr\"\n").as_bytes());
    with_folders(folder, good)
}

/// Adds a text with a wrong palette, one of a newer version, and folders in the place of files.
fn with_folders(folder: Folder, good: &str) -> Folder {
    let folder = folder
        .with("near-palette.toml", format!("{good}[colour]\npalette = \"embr\"\n").as_bytes())
        .with("newer.toml", format!("dwell = \"99.0.0\"\n{good}shine = 3\n").as_bytes());
    std::fs::create_dir(folder.join("site")).unwrap();
    let folder = folder.with("site/index.html", b"<!doctype html>\n<title>Mine</title>\n");
    std::fs::create_dir(folder.join("folder")).unwrap();
    std::fs::create_dir(folder.join("folder.toml")).unwrap();
    folder
}

/// A PNG of another program.
fn others_png() -> Vec<u8> {
    png_of("Paint", None)
}

/// A PNG whose `Software` text names a program, with an optional location text.
fn png_of(software: &str, text: Option<&str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 1, 1);
    encoder.add_text_chunk("Software".to_owned(), software.to_owned()).unwrap();
    if let Some(text) = text {
        encoder.add_itxt_chunk("dwell".to_owned(), text.to_owned()).unwrap();
    }
    encoder.write_header().unwrap().write_image_data(&[0]).unwrap();
    bytes
}

/// Arguments, and the text that the error must contain.
const LINES: &[(&str, &str)] = &[
    // Malformed numbers.
    ("render -o x.png --zoom x", "--zoom"),
    ("render -o x.png --zoom nan", "--zoom"),
    ("render -o x.png --zoom inf", "not a finite number"),
    ("render -o x.png --zoom -inf", "--zoom"),
    ("render -o x.png --zoom 0", "above 0"),
    ("render -o x.png --zoom -5", "above 0"),
    ("render -o x.png --zoom 1e", "--zoom"),
    ("render -o x.png --zoom 1e5x", "\"x\" at character 4"),
    ("render -o x.png --zoom 1..5", "--zoom"),
    ("render -o x.png --zoom 1e1000001", "exponent"),
    ("render -o x.png --zoom 1e-1000001", "exponent"),
    ("render -o x.png --zoom 1e99999999999999999999999", "exponent"),
    ("render -o x.png --zoom 0x10", "--zoom"),
    ("render -o x.png --zoom 1,5", "--zoom"),
    ("render -o x.png --zoom ١", "--zoom"),
    ("render -o x.png --view-height 0", "--view-height"),
    ("render -o x.png --view-height -1", "above 0"),
    ("render -o x.png --view-height NaN", "--view-height"),
    ("render -o x.png --view-height 1 --zoom 1", "--view-height"),
    ("render -o x.png --center 1", "has 1 number, not 2"),
    ("render -o x.png --center -0.5+0.1i", "write RE,IM, without spaces or brackets: -0.5,0.1"),
    ("render -o x.png --center 1,2,3", "RE,IM"),
    ("render -o x.png --center ,", "empty"),
    ("render -o x.png --center 1,", "empty"),
    ("render -o x.png --center a,b", "--center RE"),
    ("render -o x.png --center 0,nan", "--center IM"),
    ("render -o x.png --center 0,infinity", "--center IM"),
    ("render -o x.png --centre 0,1e2000000", "--center IM"),
    ("render -o x.png --center --zoom", "--center"),
    ("render -o x.png --bounds 1", "XMIN,XMAX,YMIN,YMAX"),
    ("render -o x.png --bounds 1,2,3", "XMIN,XMAX,YMIN,YMAX"),
    ("render -o x.png --bounds -2,1,-1,1,0", "XMIN,XMAX,YMIN,YMAX"),
    ("render -o x.png --bounds 1,-2,-1,1", "XMIN < XMAX"),
    ("render -o x.png --bounds -2,1,1,-1", "YMIN < YMAX"),
    ("render -o x.png --bounds 1,1,-1,1", "XMIN < XMAX"),
    ("render -o x.png --bounds -2,x,-1,1", "--bounds XMAX"),
    ("render -o x.png --bounds -2,1,-1,inf", "--bounds YMAX"),
    ("render -o x.png --bounds -2,1,-1,1 --zoom 3", "--bounds"),
    ("render -o x.png --bounds -2,1,-1,1 --center 0,0", "--bounds"),
    ("render -o x.png --bounds -2,1,-1,1 --view-height 2", "--bounds"),
    // Sizes.
    ("render -o x.png --size 0x5", "1 to 2147483647"),
    ("render -o x.png --size 5x0", "1 to 2147483647"),
    ("render -o x.png --size -5x5", "--size"),
    ("render -o x.png --size 5", "\"x\" between"),
    ("render -o x.png --size x", "--size"),
    ("render -o x.png --size 5x", "--size"),
    ("render -o x.png --size 5x5x5", "--size"),
    ("render -o x.png --size 1.5x2", "--size"),
    ("render -o x.png --size 1e3x5", "--size"),
    ("render -o x.png --size 2147483648x1", "out of range"),
    ("render -o x.png --size 99999999999999999999999x1", "out of range"),
    // Rotation, sample, radius.
    ("render -o x.png --rotate x", "--rotate"),
    ("render -o x.png --rotate nan", "--rotate"),
    ("render -o x.png --rotate 1e7", "--rotate"),
    ("render -o x.png --rotate 1e-100", "decimals"),
    ("render -o x.png --sample middle", "--sample"),
    ("render -o x.png --sample cornr", "did you mean \"corner\""),
    ("render -o x.png --escape-radius 1.999", "2 to 1e9"),
    ("render -o x.png --escape-radius -2", "--escape-radius"),
    ("render -o x.png --escape-radius 1e10", "2 to 1e9"),
    ("render -o x.png --escape-radius inf", "--escape-radius"),
    // Limits.
    ("render -o x.png --max-iter 0", "1 to 9223372036854775807"),
    ("render -o x.png --max-iter -1", "out of range"),
    ("render -o x.png --max-iter 4294967296 --precision f64", "1 to 4294967295 in f64"),
    ("render -o x.png --max-iter 9223372036854775808", "out of range"),
    ("render -o x.png --max-iter 99999999999999999999", "out of range"),
    ("render -o x.png --formula burning-ship --precision f64 --max-iter 5e9", "1 to 4294967295 in f64"),
    ("render -o x.png --max-iter 1e-3", "whole number"),
    ("render -o x.png --max-iter 1.5", "whole number"),
    ("render -o x.png --max-iter 1e10 --precision f32", "out of range"),
    ("render -o x.png --max-iter autos", "whole number"),
    ("render -o x.png --max-iter many", "auto"),
    // Names.
    ("render -o x.png --precision f16", "f32, f64"),
    ("render -o x.png --precision F64", "did you mean \"f64\""),
    ("render -o x.png --rounding fuse", "did you mean \"fused\""),
    ("render -o x.png --rounding none", "fused, separate"),
    ("render -o x.png --level avx", "--level"),
    ("render -o x.png --level AVX2", "did you mean"),
    ("render -o x.png --look releif", "did you mean \"relief\""),
    ("render -o x.png --shade=400", "--shade: 400 is out of range (accepted: -360 to 360, in degrees)"),
    ("render -o x.png --shade 45", "--shade: the angle \"45\" does not follow after = (accepted: --shade=45)"),
    ("render -o x.png --shade=north", "--shade: is not a number"),
    ("render -o x.png --shade-height 0", "--shade-height: 0 is out of range (accepted: 0.1 to 100)"),
    ("render -o x.png --shade-strength 2", "--shade-strength: 2 is out of range (accepted: 0 to 1)"),
    (
        "render -o x.png --interior-by smooth",
        "--interior-by: \"smooth\" is not known (accepted: period, multiplier, angle, final-z)",
    ),
    ("render -o x.png --interior-by period --interior-palette spectrm", "--interior-palette: \"spectrm\" is not known"),
    ("render -o x.png --interior-palette fire", "--interior-by"),
    ("render -o x.png layer-what.toml", "line 5, layer 1: no \"what\" is given (accepted: smooth, banded"),
    ("render -o x.png layer-kind.toml", "line 6, what: \"slop\" is not known"),
    (
        "render -o x.png layer-key.toml",
        "line 7, width: does not go with what = \"slope\" (accepted: angle, height, blend, opacity)",
    ),
    ("render -o x.png layer-range.toml", "line 7, opacity: 1.5 is out of range (accepted: 0 to 1)"),
    ("render -o x.png layer-scale.toml", "line 7, scale: \"histogram\" is a scale of the base colours"),
    ("render -o x.png layer-many.toml", "layer: there are 9 (accepted: at most 8 layers)"),
    ("render -o x.png layer-table.toml", "layer: is a table, not a list of tables, [[layer]]"),
    ("render -o x.png layer-text.toml", "line 7, palette_text: palette_format and palette_text are given together"),
    ("render -o x.png look.toml", "line 6, look: \"releif\" is not known"),
    ("render -o x.png --palette twilght", "did you mean \"twilight\""),
    ("render -o x.png --palette nothing-like-it", "twilight, ember"),
    ("render -o x.png --palette no-such-file.map", "cannot be read"),
    ("render -o x.png --palette folder/none.toml", "cannot be read"),
    ("render -o x.png --palette palette.xyz", ".toml, .map"),
    ("render -o x.png --palette ./folder", "is a directory"),
    ("render -o x.png --palette folder", "is a directory"),
    ("render -o x.png --palette other.png", "is a picture, not a palette"),
    ("render -o x.png --palette picture.map", "is a picture, not a palette"),
    ("render -o x.png --palette photo.jpg", "is a JPEG picture, not a palette"),
    ("render -o x.png --palette distance.toml", "distance.toml, line 3, scale"),
    ("render -o x.png --palette dense.toml", "dense.toml, line 2, density"),
    ("render -o x.png --palette typo-palette.toml", "did you mean colo"),
    ("render -o x.png --palette folder.toml", "is a directory"),
    ("render -o x.png --palette empty-palette.toml", "1 to 4096 colours"),
    ("render -o x.png --palette bad-palette.toml", "#rrggbb"),
    ("render -o x.png --palette bad.map", "line 2"),
    ("render -o x.png --palette empty.map", "no colour"),
    ("render -o x.png --palette binary.toml", "not UTF-8"),
    ("render shallow-hom -o x.png", "did you mean \"shallow-home\""),
    ("render seahors -o x.png", "did you mean"),
    ("render qqq -o x.png", "dwell locations"),
    ("render counts.npy -o x.png", "is a NumPy array, not a location"),
    ("render picture.ppm -o x.png", "is a PPM picture"),
    ("render photo.jpg -o x.png", "is a JPEG picture"),
    ("render counts.csv -o x.png", "is a table of numbers (CSV)"),
    ("render stats.json -o x.png", "is JSON"),
    ("show counts.npy", ".xpf), or a PNG made by dwell"),
    ("render -o x.png --format gif", "png, ppm, npy, csv"),
    ("render -o x.png --format pgn", "did you mean \"png\""),
    ("render -o x.jpeg", "png, ppm, npy, csv"),
    ("render -o", "--output"),
    ("render", "no output"),
    ("render -o x.png -o ./x.png", "as well"),
    ("render -o x.png --stats x.png", "--stats"),
    ("render good.toml -o good.toml --format png", "WHAT"),
    ("render good.toml -o x.png --stats ./good.toml", "WHAT"),
    ("render -o palette.map --format csv --palette palette.map", "--palette"),
    ("render -o --format=png", "--output"),
    ("render -o - -o /dev/stdout --format ppm", "as well"),
    ("render -o x.png --size 5k", "phone"),
    ("render -o x.png --size a4@9999dpi", "@1dpi to @4800dpi"),
    ("render -o x.png --size 4k-wide", "4k-portrait"),
    ("locations --formula mandelbulb", "burning-ship"),
    ("locations --min-zoom 0", "above 0"),
    ("locations --min-zoom x", "--min-zoom"),
    ("locations --min-zoom 10 --max-zoom 5", "greater than --max-zoom"),
    ("locations qqqq", "no built-in location matches"),
    // Files.
    ("render none.toml.toml -o x.png", "cannot be read"),
    ("render no/such/file -o x.png", "cannot be read"),
    ("render folder -o x.png", "is a directory"),
    ("render folder.toml -o x.png", "is a directory"),
    ("render cut.toml -o x.png", "line 3"),
    ("render no-re.toml -o x.png", "re"),
    ("render typo.toml -o x.png", "zoon"),
    ("render number.toml -o x.png", "quotes"),
    ("render negative.toml -o x.png", "line 4"),
    ("render none.toml -o x.png", "line 4"),
    ("render huge.toml -o x.png", "line 4"),
    ("render many.toml -o x.png --precision f64", "5000000000 is out of range (accepted: 1 to 4294967295 in f64"),
    ("render many.toml -o x.png --precision f64", "--max-iter"),
    ("render wide.toml -o x.png", "wide.toml, samples"),
    ("render wide.toml -o x.png --size 2000000000x1", "--size"),
    ("render alias.toml -o x.png", "line 6, aa: is given twice: it is samples in line 5"),
    ("render palette-3.toml -o x.png", "line 6, palette: is the number 3, not text in quotes"),
    ("render lost-palette.toml -o x.png", "no/such.ggr: cannot be read"),
    ("render near-palette.toml -o x.png", "\"./my.ggr\""),
    ("render newer.toml -o x.png", "which is newer than this one"),
    ("render nan.toml -o x.png", "line 2, im"),
    ("render no-zoom.toml -o x.png", "zoom"),
    ("render zero-zoom.toml -o x.png", "line 3"),
    ("render twice.toml -o x.png", "line 5: the key \"re\" is given twice"),
    ("render binary.toml -o x.png", "not UTF-8"),
    ("render empty.toml -o x.png", "empty.toml"),
    ("render nested.toml -o x.png", "nested.toml"),
    ("render other.kfr -o x.png", "other.kfr, line 3: \"Zoom 1\" has no colon (accepted: Key: value)"),
    ("render buffalo.kfr -o x.png", "line 4, FractalType: the Buffalo cannot be drawn (accepted: 0: Mandelbrot"),
    ("render other.f3.toml -o x.png", "other.f3.toml: no \"location.imag\" is given"),
    ("render other.upr -o x.png", "other.upr, line 5, entry: the formula \"Nova\" cannot be drawn"),
    ("render other.upr#b -o x.png", "other.upr, entry: \"b\" is not known (accepted: a)"),
    ("render other.par -o x.png", "other.par, line 1, type: the type \"lambda\" cannot be drawn"),
    ("render other.par#b -o x.png", "other.par, line 2, center-mag: is not a number"),
    ("render other.xpf -o x.png", "line 1, formula: the formula \"newton\" cannot be drawn"),
    ("render --palette bad.gpl -o x.png", "line 2: \"1 2\" is no colour"),
    ("render --palette bad.kfp -o x.png", "line 1: has 2 channels"),
    ("render --palette #001,red -o x.png", "--palette: \"red\" is no colour"),
    ("render --palette #001@2 -o x.png", "--palette: the position \"2\" is out of order or range"),
    ("locate good.toml --point 1", "--point"),
    ("locate good.toml --point 1,x", "--point IM"),
    ("locate good.toml --box 0,1,0", "--box"),
    ("locate good.toml --box 0,-1,0,1", "--box: 0 is not below -1 (accepted: XMIN < XMAX)"),
    ("locate good.toml --point 0,0 --box 0,1,0,1", "--box"),
    ("locate good.toml --kind nucleus", "--kind: \"nucleus\" is not known (accepted: minibrot, misiurewicz)"),
    ("locate good.toml --max-period 0", "1 to 4294967294"),
    ("locate good.toml --zoom-to near", "mini, embedded, or a zoom above 0"),
    ("locate good.toml --zoom-to 0", "--zoom-to: 0 is out of range"),
    ("locate good.toml --zoom-to 1x", "--zoom-to"),
    (
        "locate good.toml --kind misiurewicz --zoom-to embedded",
        "--zoom-to: a Misiurewicz point has no embedded Julia set",
    ),
    ("locate good.toml -o - --json", "--json"),
    ("locate good.toml -o good.toml", "-o"),
    ("locate good.toml --level mmx", "--level"),
    ("locate good.toml --max-memory 1x", "--max-memory"),
    ("locate burning-ship", "minibrots are located in the Mandelbrot set only"),
    ("locate julia-rabbit", "minibrots are located in the Mandelbrot set only"),
    ("locate --center -0.5,0.1 --zoom 100", "every point stays bounded"),
    ("locate --center 0.6,0.6 --zoom 100", "no minibrot was found here"),
    ("locate no-such-place", "no-such-place"),
    ("convert good.toml -o x.doc", "-o: the ending of \"x.doc\" is no format of locations (accepted: .toml, .kfr"),
    ("convert good.toml -o -", "-o: standard output has no ending that selects a format"),
    ("convert good.toml -o x.kfr --format gif", "--format: \"gif\" is not known"),
    ("convert good.toml -o good.toml", "-o"),
    ("convert burning-ship -o x.upr", "the formula burning-ship in Ultra Fractal's standard formulas cannot be drawn"),
    ("convert julia-rabbit -o x.kfr", "a Julia set in Kalles Fraktaler cannot be drawn"),
    // Exact arithmetic.
    ("render kf-1e50 -o x.png --precision exact --rounding separate", "exact arithmetic rounds nothing"),
    ("render kf-1e50 -o x.png --precision exact --force", "--force"),
    ("render kf-1e50 -o x.png --strategy mariani-silver", "every-pixel"),
    ("render -o x.png --precision exakt", "exact"),
    ("peak --precision exact", "f32, f64"),
    // Views too deep.
    ("render kf-1e50 -o x.png --precision f64", "bits would be needed"),
    ("render rf-e8000 -o x.png --precision f64", "e-8003"),
    ("render fs-view05 -o x.png --precision f64", "too deep for f64"),
    ("render kf-1e14 -o x.png --precision f64", "--precision exact"),
    ("render shallow-seahorse -o x.png --precision f32", "--precision f64"),
    ("render -o x.png --center 1e400,0", "beyond f64"),
    ("render -o x.png --center 1e39,0 --zoom 1e-38 --precision f32", "beyond f32"),
    ("render -o x.png --bounds 1,1.000000000000001,-1,1 --size 64x36 --precision f64", "too deep"),
    // Formulas.
    ("render -o x.png --formula mandelbrt", "did you mean \"mandelbrot\""),
    ("render -o x.png --formula julia", "mandelbrot, multibrot, burning-ship, tricorn"),
    ("render -o x.png --power 3", "multibrot"),
    ("render -o x.png --formula mandelbrot --power 3", "multibrot"),
    ("render -o x.png --formula multibrot --power 17", "2 to 16"),
    ("render -o x.png --formula multibrot --power 1", "2 to 16"),
    ("render -o x.png --formula tricorn --power x", "--power"),
    ("render -o x.png --julia 1", "RE,IM"),
    ("render -o x.png --julia 1,x", "--julia IM"),
    ("render -o x.png --formula multibrot --power 16 --precision f32 --escape-radius 100", "2 to 8"),
    ("point 0,0 --formula mandelbulb", "--formula"),
    ("peak --formula multibrot --power 99", "2 to 16"),
    // Colours.
    ("render -o x.png --color-by stripes", "banded, smooth, distance"),
    ("render -o x.png --color-by smoth", "did you mean \"smooth\""),
    ("render -o x.png --scale sqrt", "root, linear, log, limit, histogram"),
    ("render -o x.png --color-by distance --scale limit", "--scale"),
    ("render -o x.png --density 0", "--density"),
    ("render -o x.png --density -1", "-1 is out of range (accepted: above 0"),
    ("render -o x.png --density 1e7", "1000000"),
    ("render -o x.png --density nan", "--density"),
    ("render -o x.png --offset x", "--offset"),
    ("render -o x.png --offset 1e300", "-1000000 to 1000000"),
    ("render -o x.png --interior red", "#rrggbb"),
    ("render -o x.png --interior #12345", "--interior"),
    ("render -o x.png --depth 12", "12 is not known (accepted: 8, 16)"),
    ("render -o x.png --depth -8", "8, 16"),
    ("render -o x.png --palette bad.ggr", "bad.ggr"),
    ("render -o x.png --palette bad.ugr", "line 3"),
    ("render -o x.png --palette two.ugr#c", "two.ugr"),
    ("render -o x.png --flip=maybe", "yes, no"),
    // Samples.
    ("render -o x.png --aa 0", "1 to 16"),
    ("render -o x.png --aa 17", "1 to 16"),
    ("render -o x.png --aa two", "auto, or 1 to 16"),
    ("render -o x.png --dither maybe", "yes, no"),
    ("render dither.toml -o x.png", "true or false"),
    ("render often.toml -o x.png", "auto, or 1 to 16"),
    ("render -o x.npy --aa 2", "--aa"),
    ("render -o x.png -o x.csv --aa 2", "no average"),
    ("render -o x.png --aa 2 --size 2147483647x1", "--aa"),
    // Pictures and locations with invalid text.
    ("render other.png -o x.png", "not made by dwell, but by \"Paint\""),
    ("render cut.png -o x.png", "no PNG that can be read"),
    ("render text.png -o x.png", "no PNG that can be read"),
    ("show other.png", "not made by dwell"),
    ("show none.png", "cannot be read"),
    ("show qqq", "dwell locations"),
    ("show", "WHAT"),
    ("render formula.toml -o x.png", "line 5, formula"),
    ("render power.toml -o x.png", "line 6, power"),
    ("render julia.toml -o x.png", "line 5, julia"),
    ("render both.toml -o x.png", "bounds"),
    ("render size.toml -o x.png", "line 5, size"),
    ("render samples.toml -o x.png", "1 to 16"),
    ("render depth.toml -o x.png", "8, 16"),
    ("render by.toml -o x.png", "line 6, by"),
    ("render density.toml -o x.png", "line 6, density"),
    ("render interior.toml -o x.png", "#rrggbb"),
    ("render half.toml -o x.png", "palette_format"),
    ("render bounds.toml -o x.png --zoom 0", "--zoom"),
    ("render dwell.png -o x.png", "was made by dwell, but its text is missing or damaged"),
    ("render with-path.png -o x.png", "palette: \"./palette.map\" is a file"),
    ("palettes nothing-like-it", "palette: \"nothing-like-it\""),
    ("palettes palette.map -o palette.map", "does not end in .png"),
    ("palettes palette.map -o ./PALETTE.npy", "does not end in .png"),
    ("palettes good.png.map -o good.png.map", "does not end in .png"),
    ("palettes mine -o x.png", "dwell palettes"),
    ("palettes -o", "--output"),
    ("explore nowhere", "location"),
    ("explore --center nowhere", "--center"),
    ("explore --zoom 1,5", "decimal point"),
    ("explore --power 99", "--power"),
    ("explore --listen evil.example", "--listen"),
    ("explore --listen 127.0.0.1:99999", "--listen"),
    ("explore --threads 0", "--threads"),
    ("explore --max-memory much", "--max-memory"),
    ("explore --engine quick", "--engine"),
    ("explore --lab-runs nowhere", "--lab-runs"),
    ("explore --folder size.toml", "is not a folder"),
    ("gallery", "--output"),
    ("gallery -o x --size 0x0", "--size"),
    ("gallery -o x --aa 99", "--aa"),
    ("gallery -o x --size 2147483647x2147483647 --aa 1", "--size"),
    ("gallery -o site", "was not written by dwell"),
    // Zooms.
    ("zoom kf-1e50", "-o: no output is named"),
    ("zoom kf-1e50 -o -", "a folder, or a film: .mp4, .webm, .mkv, .mov"),
    ("zoom kf-1e50 -o x.avi", "the ending \".avi\" is no film's"),
    ("zoom kf-1e50 -o x.png", "a folder holds the frames as PNGs"),
    ("zoom -o x", "--to: the zoom of the last frame is not given"),
    ("zoom kf-1e50 -o x --from 0", "--from: 0 is out of range (accepted: above 0, at most 1e1000000)"),
    ("zoom kf-1e50 -o x --from -1", "--from: -1 is out of range"),
    ("zoom kf-1e50 -o x --to nan", "--to: \"nan\" is not a finite number"),
    ("zoom kf-1e50 -o x --to 1e1000001", "--to: the exponent"),
    ("zoom kf-1e50 -o x --from 1e50", "is the zoom of the first frame as well"),
    ("zoom kf-1e50 -o x --frames 1", "--frames: \"1\" is out of range (accepted: 2 to 1000000)"),
    ("zoom kf-1e50 -o x --frames many", "--frames: \"many\" is not a whole number"),
    ("zoom kf-1e50 -o x --easing quick", "--easing: \"quick\" is not known (accepted: linear, smooth)"),
    ("zoom kf-1e50 -o x --method strip", "--method: \"strip\" is not known (accepted: direct, exponential)"),
    ("zoom kf-1e50 -o x --fit all", "--fit: \"all\" is not known (accepted: film, frame)"),
    ("zoom kf-1e50 -o x --fps 0", "--fps: \"0\" is no number of frames a second (accepted: 1 to 240)"),
    ("zoom kf-1e50 -o x --crf 52", "--crf: \"52\" is out of range (accepted: 0 to 51)"),
    ("zoom kf-1e50 -o x --size 0x5", "--size"),
    ("zoom kf-1e50 -o x.mp4 --size 65x36", "--size: 65x36 has an odd side"),
    ("zoom kf-1e50 -o x --precision f64", "--to: too deep for f64"),
    ("zoom kf-1e50 -o x --method exponential --color-by distance", "--method: frames cannot be resampled"),
    ("zoom kf-1e50 -o x --method exponential --scale histogram", "--method: frames cannot be resampled"),
    ("zoom kf-1e50 -o x --method exponential --fit frame", "--method: frames cannot be resampled"),
    ("zoom qqq -o x", "dwell locations"),
    ("zoom good.toml -o x --to 10 --palette twilght", "did you mean \"twilight\""),
    ("zoom good.toml -o x --to 10 --threads 0", "1 to 4096"),
    ("zoom good.toml -o x --to 10 --max-memory much", "--max-memory"),
    ("zoom good.toml -o x --to 10 --sync-interval 0", "--sync-interval"),
    // Running.
    ("render -o x.png --threads 0", "1 to 4096"),
    ("render -o x.png --threads -1", "--threads"),
    ("render -o x.png --threads two", "--threads"),
    ("render -o x.png --threads 4097", "1 to 4096"),
    ("render -o x.png --shortcuts all", "none, exact"),
    ("render -o x.png --shortcuts interior,cycle", "\"cycles\""),
    ("render -o x.png --shortcuts interior,,cycles", "--shortcuts"),
    ("render -o x.png --strategy fast", "--strategy"),
    ("render -o x.png --strategy mariani-silvr", "\"mariani-silver\""),
    ("render -o x.png --schedule eager", "--schedule"),
    ("render -o x.png --schedule dynamic:0", "1 to 1000000000"),
    ("render -o x.png --schedule dynamic:", "not a whole number"),
    ("render -o x.png --schedule dynamic:99999999999999999999", "out of range"),
    ("render -o x.png --schedule static:4", "takes no chunk"),
    ("render -o x.png --tile 64", "WxH"),
    ("render -o x.png --tile 0x64", "1 to 4096"),
    ("render -o x.png --tile 64x-1", "1 to 4096"),
    ("render -o x.png --tile 5000x1", "1 to 4096"),
    ("render -o x.png --tile 4096x4096", "1048576"),
    ("render -o x.png --tile 18446744073709551617x1", "1 to 4096"),
    ("render -o x.png --repeat 0", "--repeat"),
    ("render -o x.png --repeat x", "--repeat"),
    ("render -o x.png --no-such-flag", "--no-such-flag"),
    ("render -o x.png --zom 3", "--zoom"),
    ("render -o x.png --zoom 3 --zoom 4", "--zoom"),
    ("render a b -o x.png", "b"),
    ("rendr", "render"),
    ("point", "RE,IM"),
    ("point 1", "RE,IM"),
    ("point 1,x", "point IM"),
    ("point 0,0 --max-iter 0", "--max-iter"),
    ("point 0,0 --escape-radius 1", "2 to 1e9"),
    ("point 0,0 --rounding exact", "--rounding"),
    ("peak --precision f128", "--precision"),
    ("peak --level mmx", "--level"),
    ("peak --threads 0", "--threads"),
    ("completions tcsh", "bash"),
    ("info --jsn", "--json"),
];

/// A violation of the rules for bad input, if there is one.
fn mishandled(ran: &Ran, expected: &str) -> Option<String> {
    let wrong = if ran.code != 2 {
        "exit code"
    } else if !ran.out.is_empty() {
        "prints to standard output"
    } else if !ran.err.starts_with("error: ") || ran.err.contains("panicked") {
        "no clear error"
    } else if !ran.err.contains(expected) {
        "does not mention what it should"
    } else if ran.err.len() >= 1500 {
        "too long"
    } else {
        return None;
    };
    Some(format!("{wrong} ({}), expected {expected:?}: {}", ran.code, ran.err))
}

fn check(ran: &Ran, expected: &str, line: &str) {
    assert_eq!(mishandled(ran, expected), None, "{line}");
}

#[test]
fn every_bad_input_is_one_clear_error_and_writes_nothing() {
    assert!(LINES.len() >= 100, "{}", LINES.len());
    let folder = folder();
    let before = folder.names();
    let mut wrong = Vec::new();
    for (line, expected) in LINES {
        wrong.extend(mishandled(&folder.run(line.split_whitespace()), expected).map(|w| format!("{line}: {w}")));
        assert_eq!(folder.names(), before, "{line} wrote something");
    }
    assert!(wrong.is_empty(), "{} mishandled:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn ten_thousand_digits_and_one_bad_character() {
    let folder = Folder::new();
    let centre = format!("-0.{}O{},0", "7".repeat(5000), "7".repeat(5000));
    let ran = folder.run(["render", "-o", "x.png", "--center", &centre]);
    check(&ran, "\"O\" at character 5004", "long centre");
    assert!(ran.err.len() < 400, "{}", ran.err);
    // Without the bad character it is accepted.
    let centre = format!("-0.{},0", "7".repeat(10_000));
    assert_eq!(folder.run(["render", "-o", "x.png", "--size", "8x8", "--center", &centre]).code, 0);
}

#[test]
fn empty_arguments_and_control_characters() {
    let folder = Folder::new();
    for (args, expected) in [
        (vec!["render", "-o", ""], "--output"),
        (vec!["render", "-o", "x.png", "--zoom", ""], "--zoom"),
        (vec!["render", "-o", "x.png", "--zoom", " "], "empty"),
        (vec!["render", "-o", "x.png", "--palette", ""], "--palette"),
        (vec!["render", "-o", "x.png", "--precision", ""], "--precision"),
        (vec!["render", "", "-o", "x.png"], "WHAT"),
        (vec!["render", "-o", "x.png", "--zoom", "1\n2"], "\\n"),
        (vec!["render", "-o", "x.png", "--zoom", "1\u{1b}[31m"], "\\u{1b}"),
    ] {
        check(&folder.run(&args), expected, &args.join(" "));
    }
    assert!(folder.names().is_empty());
}

#[test]
#[cfg(unix)]
fn arguments_that_are_not_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let bad = OsStr::from_bytes(b"\xff\xfe");
    let (render, o, png, zoom) = (OsStr::new("render"), OsStr::new("-o"), OsStr::new("x.png"), OsStr::new("--zoom"));
    assert_eq!(folder.run([render, o, png, zoom, bad]).code, 2);
    assert_eq!(folder.run([render, bad, o, png]).code, 2);
    // It is a valid file name.
    assert_eq!(folder.run([render, OsStr::new("--size"), OsStr::new("4x4"), o, bad]).code, 0);
}

#[test]
fn a_level_in_the_environment_is_checked() {
    let folder = Folder::new();
    let ran = Ran::from(folder.command().args(["render", "-o", "x.png"]).env("DWELL_LEVEL", "sse9").output().unwrap());
    check(&ran, "DWELL_LEVEL", "DWELL_LEVEL=sse9");
    let missing = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    let ran = Ran::from(folder.command().args(["render", "-o", "x.png"]).env("DWELL_LEVEL", missing).output().unwrap());
    check(&ran, "this machine does not have", missing);
    check(&folder.run(["render", "-o", "x.png", "--level", missing]), "--level", missing);
}

#[test]
#[cfg(unix)]
fn unreadable_files() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new().with("a.toml", b"x");
    std::fs::set_permissions(folder.join("a.toml"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read the file, which is malformed, so there is an error in any case.
    check(&folder.run(["render", "a.toml", "-o", "x.png"]), "a.toml", "unreadable");
}
