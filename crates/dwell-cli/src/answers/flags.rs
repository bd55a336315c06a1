//! Names of flags that other programs have, with the flag that does the same here.

/// Names, the long name of the flag that is meant, and how to write it.
struct Synonym {
    names: &'static [&'static str],
    flag: &'static str,
    remedy: &'static str,
}

const fn synonym(names: &'static [&'static str], flag: &'static str, remedy: &'static str) -> Synonym {
    Synonym { names, flag, remedy }
}

const SYNONYMS: [Synonym; 33] = [
    synonym(
        &["width", "w", "size-x", "sizex", "xsize", "x-size"],
        "size",
        "--size WxH gives both sides in pixels: --size 1920x1080",
    ),
    synonym(
        &["res", "resolution", "dimensions", "dimension", "dim", "dims", "geometry", "pixels", "image-size", "shape"],
        "size",
        "--size WxH gives width and height in pixels: --size 1920x1080",
    ),
    synonym(
        &[
            "colour",
            "color",
            "colours",
            "colors",
            "colourmap",
            "colormap",
            "colour-map",
            "color-map",
            "cmap",
            "gradient",
            "theme",
            "palettes",
            "colour-scheme",
            "color-scheme",
        ],
        "palette",
        "--palette NAME|FILE chooses the colours: --palette ember; `dwell palettes` shows them",
    ),
    synonym(
        &[
            "iter",
            "iters",
            "maxiter",
            "maxiters",
            "max-iters",
            "max-iterations",
            "maxiterations",
            "iteration",
            "limit",
            "max",
            "n",
            "i",
            "bailout-iterations",
            "max-dwell",
            "dwell",
        ],
        "max-iter",
        "--max-iter N is the limit on iterations, and --max-iter auto finds one",
    ),
    synonym(
        &[
            "supersampling",
            "supersample",
            "antialias",
            "antialiasing",
            "anti-aliasing",
            "anti-alias",
            "ssaa",
            "msaa",
            "oversampling",
            "oversample",
            "multisample",
            "subsamples",
            "spp",
            "samples-per-pixel",
        ],
        "aa",
        "--aa N takes N x N samples a pixel: --aa 3",
    ),
    synonym(
        &["quality", "smooth-edges"],
        "aa",
        "--aa N takes N x N samples a pixel, for smooth edges: --aa 3; --size WxH gives more pixels",
    ),
    synonym(
        &["out", "outfile", "out-file", "output-file", "file", "filename", "save", "write", "to", "png", "image"],
        "output",
        "-o FILE, or --output FILE, names the file: -o mandelbrot.png",
    ),
    synonym(
        &["output-dir", "outdir", "out-dir", "directory", "folder"],
        "output",
        "-o DIR, or --output DIR, names the folder",
    ),
    synonym(
        &[
            "verbose",
            "v",
            "vv",
            "debug",
            "benchmark",
            "bench",
            "timing",
            "timings",
            "time",
            "statistics",
            "stat",
            "log",
        ],
        "stats",
        "--stats FILE writes statistics, and --stats - prints them",
    ),
    synonym(
        &["gpu", "cuda", "nvidia", "device", "backend", "use-gpu"],
        "engine",
        "--engine cuda renders on an NVIDIA device; auto, the default, uses one where it is faster",
    ),
    synonym(
        &["opencl", "metal", "vulkan", "hip", "rocm"],
        "engine",
        "--engine cuda (NVIDIA) and --engine cpu are the engines; both give the same bytes",
    ),
    synonym(&["cpu", "no-gpu"], "engine", "--engine cpu renders on the processors"),
    synonym(
        &[
            "x",
            "y",
            "re",
            "im",
            "real",
            "imag",
            "imaginary",
            "position",
            "pos",
            "location",
            "at",
            "point",
            "c",
            "coords",
            "coordinates",
            "middle",
            "cx",
            "cy",
            "center-x",
            "center-y",
            "origin",
            "target",
        ],
        "center",
        "--center RE,IM gives both parts of the centre: --center -0.7436,0.1318",
    ),
    synonym(
        &["magnification", "magnify", "mag", "depth-of-zoom", "zoom-level", "z", "zoomlevel"],
        "zoom",
        "--zoom Z is the magnification: --zoom 1e6",
    ),
    synonym(
        &["radius", "span", "view-width", "range", "extent", "viewport"],
        "view-height",
        "--view-height H is the height of the view in the plane, twice its radius; --zoom Z is 4 / H",
    ),
    synonym(
        &[
            "xmin", "xmax", "ymin", "ymax", "x-min", "x-max", "y-min", "y-max", "rect", "region", "box", "window",
            "edges", "left", "right", "top", "bottom",
        ],
        "bounds",
        "--bounds XMIN,XMAX,YMIN,YMAX gives all four edges: --bounds -2,1,-1,1",
    ),
    synonym(&["angle", "theta", "turn", "tilt"], "rotate", "--rotate DEG turns the view, in degrees: --rotate 45"),
    synonym(&["flip-y", "mirror", "upside-down", "vflip", "invert-y"], "flip", "--flip draws the view upside down"),
    synonym(
        &["fractal", "type", "fractal-type", "set", "function", "equation", "kind"],
        "formula",
        "--formula NAME is mandelbrot, multibrot, burning-ship or tricorn; --julia RE,IM draws a Julia set",
    ),
    synonym(
        &["burning-ship", "tricorn", "multibrot", "mandelbrot", "ship", "mandelbar"],
        "formula",
        "--formula NAME chooses it: --formula burning-ship",
    ),
    synonym(
        &["exponent", "degree", "pow"],
        "power",
        "--power N is the power of the formula: --formula multibrot --power 5",
    ),
    synonym(
        &["julia-c", "constant", "seed-c", "julia-set", "k"],
        "julia",
        "--julia RE,IM draws the Julia set of a constant: --julia -0.8,0.156",
    ),
    synonym(&["bailout", "escape", "escape-r", "bail", "r"], "escape-radius", "--escape-radius R is the escape radius"),
    synonym(
        &["float", "double", "single", "fp", "bits-of-precision", "digits", "f64", "f32", "dtype"],
        "precision",
        "--precision is f32, f64 or exact; auto, the default, is f64, and exact where f64 does not resolve the view",
    ),
    synonym(
        &["background", "inside", "inside-color", "inside-colour", "interior-color", "interior-colour", "set-color"],
        "interior",
        "--interior COLOUR is the colour inside the set: --interior #000000",
    ),
    synonym(
        &["bits", "bit-depth", "bitdepth", "color-depth", "colour-depth"],
        "depth",
        "--depth 8 or 16 is the number of bits per channel",
    ),
    synonym(
        &["smooth", "smoothing", "coloring", "colouring", "color-mode", "colour-mode", "banded", "distance"],
        "color-by",
        "--color-by smooth, banded or distance chooses what is coloured; smooth is the default",
    ),
    synonym(&["histogram", "log", "linear", "normalize"], "scale", "--scale root, linear, log, limit or histogram"),
    synonym(
        &["j", "cores", "workers", "parallel", "nproc", "thread", "t", "num-threads", "processes"],
        "threads",
        "--threads N is the number of threads; all processors are used without it",
    ),
    synonym(&["mem", "memory", "ram", "memory-limit"], "max-memory", "--max-memory BYTES, such as --max-memory 4G"),
    synonym(&["type-of-file", "ext", "extension", "filetype"], "format", "--format png, ppm, npy or csv"),
    synonym(
        &["overwrite", "y", "yes", "replace", "clobber"],
        "no-clobber",
        "existing files are replaced already, unless --no-clobber is given",
    ),
    synonym(&["silent", "s", "no-progress"], "quiet", "-q, or --quiet, prints no progress and no summary"),
];

/// The flags that a name may stand for, each with how to write it, in the order of the table. `name` has its dashes.
pub(super) fn meant_by(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let name = name.trim_start_matches('-').to_ascii_lowercase().replace('_', "-");
    SYNONYMS
        .iter()
        .filter(move |synonym| synonym.names.contains(&name.as_str()))
        .map(|synonym| (synonym.flag, synonym.remedy))
}

/// A value for a flag, as an example.
pub(super) fn example(flag: &str) -> Option<&'static str> {
    Some(match flag {
        "output" => "mandelbrot.png",
        "center" => "-0.7436,0.1318",
        "zoom" => "1e6",
        "view-height" => "0.5",
        "bounds" => "-2,1,-1,1",
        "size" => "1920x1080",
        "aa" => "3",
        "rotate" => "45",
        "julia" => "-0.8,0.156",
        "power" => "3",
        "max-iter" => "5000",
        "palette" => "ember",
        "density" => "2",
        "offset" => "0.5",
        "interior" => "#102030",
        "threads" => "4",
        "max-memory" => "4G",
        "stats" => "stats.json",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_remedy_is_a_flag_of_some_command_and_no_synonym_is_one_of_render() {
        let mut command = Cli::command();
        command.build();
        let has = |command: &clap::Command, flag: &str| {
            let long = |arg: &clap::Arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&flag));
            command.get_arguments().any(long)
        };
        let render = command.find_subcommand("render").unwrap();
        for synonym in &SYNONYMS {
            assert!(command.get_subcommands().any(|command| has(command, synonym.flag)), "{}", synonym.flag);
            for name in synonym.names {
                assert!(!has(render, name), "--{name} is a flag");
            }
        }
    }
}
