//! Values that other programs accept, with what does the same here.

use std::borrow::Cow;

/// What to write in place of a value of a flag, which is named with its dashes.
pub(crate) fn value(flag: &str, given: &str) -> Option<Cow<'static, str>> {
    match flag {
        "--format" => ending(given).map(Cow::from),
        _ => {
            let given = normalised(given);
            of_colours(flag, &given).or_else(|| of_computing(flag, &given)).map(Cow::from)
        }
    }
}

/// What to write in place of a key of a location.
pub(crate) fn key(given: &str) -> Option<&'static str> {
    Some(match normalised(given).as_str() {
        "center" | "centre" | "c" | "location" | "position" | "x" | "y" | "real" | "imag" => {
            "the centre has two keys: re = \"-0.75\" and im = \"0.1\""
        }
        "max-iter" | "maxiter" | "max-iterations" | "iter" | "limit" => "the limit is iterations = 1000, or \"auto\"",
        "width" | "height" | "resolution" => "the size is size = \"1920x1080\"",
        "palette" | "color" | "color-by" | "scale" | "density" | "offset" => {
            "colours have a table of their own, after the other keys: [colour] with palette, by, scale, density and others"
        }
        "rotate" | "angle" => "the rotation in degrees is rotation = \"45\"",
        "aa" | "antialias" | "antialiasing" | "supersampling" => "the samples are samples = 4, or \"auto\"",
        "precision" => "the precision is number = \"f64\"",
        "bailout" | "radius" => "the radius is escape_radius = \"2\"",
        _ => return None,
    })
}

/// A value of other programs in the form in which it is compared.
fn normalised(given: &str) -> String {
    given.trim().to_ascii_lowercase().replace([' ', '_'], "-")
}

/// What to write in place of a value that colours.
fn of_colours(flag: &str, given: &str) -> Option<&'static str> {
    Some(match flag {
        "--scale" => match given {
            "sqrt" | "square-root" => "the square root is --scale root",
            "ln" | "log2" | "log10" | "logarithmic" | "logarithm" => "logarithms are --scale log",
            "hist" | "equalize" | "equalise" | "equalized" | "equalised" => {
                "--scale histogram uses every colour equally often"
            }
            _ => return None,
        },
        "--palette" => match given {
            "rainbow" | "jet" | "hsv" => "the colours of the rainbow are --palette spectrum",
            _ => return None,
        },
        "--color-by" => match given {
            "de" | "distance-estimation" | "distance-estimate" => "the distance to the set is --color-by distance",
            "iterations" | "iteration" | "dwell" | "count" | "bands" | "escape-time" => {
                "the dwell is --color-by banded"
            }
            "continuous" | "fractional" | "potential" => "values without steps are --color-by smooth",
            _ => return None,
        },
        "--depth" if matches!(given, "24" | "32" | "48") => {
            "--depth counts the bits of one channel: 24 bits a pixel are --depth 8, and 48 are --depth 16"
        }
        "--interior" => match given {
            "black" => "black is --interior #000000",
            "white" => "white is --interior #ffffff",
            "red" => "red is --interior #ff0000",
            "green" => "green is --interior #008000",
            "blue" => "blue is --interior #0000ff",
            "yellow" => "yellow is --interior #ffff00",
            "gray" | "grey" => "grey is --interior #808080",
            _ => return None,
        },
        _ => return None,
    })
}

/// What to write in place of a value that does not colour.
fn of_computing(flag: &str, given: &str) -> Option<&'static str> {
    Some(match flag {
        "--engine" => match given {
            "gpu" | "nvidia" | "device" | "graphics" | "gpu:0" => {
                "an NVIDIA device is --engine cuda; auto uses it where it is faster"
            }
            "opencl" | "metal" | "vulkan" | "rocm" | "hip" | "amd" | "intel" | "wgpu" => {
                "--engine cuda needs an NVIDIA device; --engine cpu gives the same bytes on every machine"
            }
            "host" | "processor" | "processors" => "the processors are --engine cpu",
            _ => return None,
        },
        "--precision" => match given {
            "double" | "float64" | "fp64" | "64" | "d" | "f8" | "64bit" | "64-bit" => {
                "double precision is --precision f64"
            }
            "float" | "single" | "float32" | "fp32" | "32" | "f4" | "32bit" | "32-bit" => {
                "single precision is --precision f32"
            }
            "half" | "f16" | "float16" => "f32 is the shortest",
            "f128" | "quad" | "quadruple" | "long" | "longdouble" | "long-double" | "f80" | "float128"
            | "arbitrary" | "big" | "mpfr" | "perturbation" | "dd" => {
                "more than double precision is --precision exact, which proves every dwell; auto takes it where it is needed"
            }
            _ => return None,
        },
        "--formula" => match given {
            "julia" | "julia-set" => "--julia RE,IM draws the Julia set of a constant, of any formula",
            "ship" | "burningship" => "the Burning Ship is --formula burning-ship",
            "mandelbar" => "the Mandelbar set is --formula tricorn",
            "multi" | "mandelbrot3" | "mandelbrot-3" | "cubic" | "z3" | "z^3" => {
                "powers above 2 are --formula multibrot --power N"
            }
            _ => return None,
        },
        "--sample" if matches!(given, "middle" | "mid") => "the middle of a pixel is --sample centre",
        "--level" => match given {
            "auto" | "native" | "best" => "the widest instruction set is used without --level",
            "avx" | "sse" | "sse2" | "sse4" | "sse4.2" => "--level scalar and --level avx2 are the narrowest of x86-64",
            "avx512f" | "avx-512" => "it is --level avx512",
            _ => return None,
        },
        "--threads" if matches!(given, "all" | "auto" | "max" | "*") => {
            "leave --threads out: all processors are used without it"
        }
        "--aa" => match given {
            "off" | "no" | "none" | "false" => "--aa 1 takes one sample a pixel",
            given if given.contains(['x', '\u{d7}', '*']) => "--aa N takes N x N samples a pixel: 3x3 is --aa 3",
            _ => return None,
        },
        "--flip" => match given {
            "true" | "1" | "on" | "y" => "it is --flip=yes, or --flip alone",
            "false" | "0" | "off" | "n" => "it is --flip=no",
            _ => return None,
        },
        _ => return None,
    })
}

/// What to do about the ending of an output, or the name of a format, that is not written.
pub(crate) fn ending(ending: &str) -> Option<String> {
    let ending = ending.to_ascii_lowercase();
    let by = |flags: &str| format!("write a PNG{flags}, and convert it: magick a.png a.{ending}");
    Some(match ending.as_str() {
        "jpg" | "jpeg" | "webp" | "avif" | "heic" | "gif" | "bmp" | "tga" | "ico" | "pdf" | "eps" | "psd" | "pgm"
        | "pnm" => by(""),
        "tif" | "tiff" | "jxl" | "exr" | "hdr" => by(", with --depth 16 for 16 bits"),
        "mp4" | "webm" | "mov" | "avi" | "mkv" => "films that zoom into a place are made by `dwell zoom`".to_owned(),
        "svg" => "a picture of dwells has no outlines: write a PNG".to_owned(),
        "json" => "--stats FILE writes statistics as JSON; the dwells are written as npy or csv".to_owned(),
        "txt" | "tsv" | "dat" => "the dwells as text are csv".to_owned(),
        "npz" | "h5" | "hdf5" => "the dwells as a NumPy array are npy".to_owned(),
        "toml" => "`dwell show WHAT > place.toml` writes a location file".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_other_programs_have_a_remedy_and_own_values_have_none() {
        assert!(value("--engine", "GPU").unwrap().contains("--engine cuda"));
        assert!(value("--precision", "long double").unwrap().contains("--precision exact"));
        assert!(key("Max_Iter").unwrap().contains("iterations") && key("iterations").is_none());
        for (flag, own) in [("--engine", "cuda"), ("--precision", "f64"), ("--formula", "tricorn"), ("--threads", "4")]
        {
            assert_eq!(value(flag, own), None, "{flag} {own}");
        }
        assert!(ending("JPG").unwrap().ends_with("magick a.png a.jpg"));
    }
}
