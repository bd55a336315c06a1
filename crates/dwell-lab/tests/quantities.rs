//! Figures of the publications, derived by re-running their arithmetic, come out of the quantities. Those that take longer than
//! a second are quantities of the built-in experiments only.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{Cancel, CpuEngine, Frame, Level, Limits, NumberKind, Recipe, Scene, Schedule};
use dwell_lab::convention::{AxisRule, Convention, Counts, Escape};
use dwell_lab::experiment::{Flags, Quantity, Text};
use dwell_lab::quantity::{Computed, compute};
use dwell_lab::{FlagReader, Setup, Unusable};
use std::sync::Arc;

/// Reads the few flags of these tests.
struct Reader;

impl FlagReader for Reader {
    fn peak(&self, _: &Setup, _: &Cancel) -> Result<f64, Unusable> {
        Err(Unusable::NotHere("a test measures no peak".to_owned()))
    }

    fn setup(&self, flags: &Flags) -> Result<Setup, Unusable> {
        let mut scene = Scene::default();
        for (name, Text(value)) in flags {
            match name.as_str() {
                "size" => scene.view.size = value.parse().unwrap(),
                "bounds" => {
                    let edges: Vec<_> = value.split(',').map(|edge| edge.parse().unwrap()).collect();
                    let [xmin, xmax, ymin, ymax] = edges.try_into().unwrap();
                    scene.view.frame = Frame::Bounds { xmin, xmax, ymin, ymax };
                }
                "max-iter" => scene.settings.limit = value.parse().unwrap(),
                "precision" => scene.settings.number = value.parse::<NumberKind>().unwrap(),
                "rounding" => scene.settings.recipe = value.parse::<Recipe>().unwrap(),
                _ => return Err(Unusable::Wrong(format!("--{name} is not known"))),
            }
        }
        let (level, threads, schedule) = (Level::best(), 2, Schedule::default());
        Ok(Setup {
            scene,
            engine: Arc::new(CpuEngine::new(level, threads)),
            device: None,
            level,
            threads,
            schedule,
            formats: Vec::new(),
            limits: Limits::default(),
        })
    }
}

/// zhong and nvidia.
const FRACTION: Convention = Convention {
    axes: AxisRule::Fraction,
    escape: Escape::AtLeast,
    counts: Counts::FromZero,
    transposed: false,
    upward: true,
};
const HYBRIDIZER: Convention = Convention {
    axes: AxisRule::Step,
    escape: Escape::Beyond,
    counts: Counts::Lagging,
    transposed: true,
    upward: true,
};
const GENOVA: Convention = Convention {
    axes: AxisRule::FusedStep,
    escape: Escape::AtLeast,
    counts: Counts::Dwell,
    transposed: false,
    upward: true,
};
const TOADER: Convention = Convention {
    axes: AxisRule::CentredStep,
    escape: Escape::AtLeast,
    counts: Counts::Byte,
    transposed: false,
    upward: true,
};

const LAYOUT: &[(&str, f64)] = &[("initial", 32.0), ("parts", 4.0), ("min-size", 32.0), ("max-depth", 4.0)];

/// Flags as `name=value` with spaces between them.
fn flags(text: &str) -> Flags {
    let pairs = text.split_whitespace().map(|pair| pair.split_once('=').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), Text::from(value))).collect()
}

fn quantity(kind: &str, of: &str, other: &str, convention: Convention, params: &[(&str, f64)]) -> Quantity {
    Quantity {
        name: kind.to_owned(),
        title: String::new(),
        compute: kind.to_owned(),
        flags: flags(of),
        other: flags(other),
        convention,
        other_convention: None,
        reference_loop: None,
        other_loop: None,
        params: params.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        expect: None,
        tolerance: 0.0,
        source: String::new(),
        check: true,
        quick: true,
    }
}

fn computed(kind: &str, of: &str, other: &str, convention: Convention, params: &[(&str, f64)]) -> Computed {
    compute(&quantity(kind, of, other, convention, params), &Reader, &Cancel::default()).unwrap()
}

fn value(kind: &str, of: &str, convention: Convention, params: &[(&str, f64)]) -> f64 {
    computed(kind, of, "", convention, params).value
}

/// The flags of zhong with the text's bounds, and with those that its code really used.
const ZHONG_TEXT: &str = "bounds=-1.5,0.5,-1,1 precision=f32";
const ZHONG_CODE: &str = "bounds=-1.5,0.5,-1,0.5 precision=f32";

#[test]
fn means_of_iterations() {
    let mean = |bounds: &str, limit: u32| {
        let of = format!("{bounds} size=2048x2048 max-iter={limit}");
        value("mean-iterations", &of, FRACTION, &[])
    };
    // The page of the publications has 124.7 and 200.7 of 512 x 512 samples; these are of every pixel.
    near(mean(ZHONG_CODE, 256), 124.774);
    near(mean(ZHONG_TEXT, 256), 103.596);
    near(mean(ZHONG_TEXT, 512), 200.648);
    let of = format!("{ZHONG_CODE} size=512x512 max-iter=256");
    near(value("mean-iterations", &of, FRACTION, &[]), 124.672);
    near(value("interior-percent", &of, FRACTION, &[]), 46.3455);
    let of = format!("{ZHONG_TEXT} size=2048x2048 max-iter=256");
    near(value("interior-percent", &of, FRACTION, &[]), 38.0268);
    let genova = "bounds=-2,1,-1,1 size=1500x1000 max-iter=1000";
    near(value("mean-iterations", genova, GENOVA, &[]), 257.754);
    assert_eq!(value("iterations", genova, GENOVA, &[]), 386_631_424.0);
    near(value("interior-percent", genova, GENOVA, &[]), 25.1672);
}

/// Whether a value has the first digits of another.
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 1e-5 * expected, "{value}, not {expected}");
}

#[test]
fn means_of_bodies() {
    let of = "bounds=-2,2,-2,2 size=2048x2048 precision=f32";
    near(value("mean-bodies", &format!("{of} max-iter=256"), HYBRIDIZER, &[("extra", 0.0)]), 28.3436);
    near(value("mean-bodies", &format!("{of} max-iter=32"), HYBRIDIZER, &[("extra", 0.0)]), 6.70440);
    assert_eq!(value("merged", &format!("{of} max-iter=256"), HYBRIDIZER, &[]), 38.0);
    assert_eq!(value("merged", &format!("{of} max-iter=256"), FRACTION, &[]), 0.0);
    let toader = "bounds=-2.6,1.4,-2,2 size=512x512 max-iter=255";
    near(value("mean-bodies", toader, TOADER, &[("extra", 1.0)]), 27.3994);
    let tested = |cardioid, bulb| value("bodies-with-tests", toader, TOADER, &[("cardioid", cardioid), ("bulb", bulb)]);
    near(tested(0.0, 0.0), 27.3994);
    near(tested(1.0, 0.0), 8.55170);
    near(tested(1.0, 1.0), 5.41888);
}

#[test]
fn pixels_that_are_not_written_and_those_outside() {
    let tiles =
        |size: u32| value("unwritten-tiles", &format!("{ZHONG_CODE} size={size}x{size}"), FRACTION, &[("tile", 16.0)]);
    assert_eq!((tiles(4000), tiles(5000), tiles(23150)), (0.0, 79_936.0, 648_004.0));
    let adaptive =
        |kind: &str, size: &str| value(kind, &format!("{ZHONG_CODE} size={size} max-iter=256"), FRACTION, LAYOUT);
    assert_eq!(adaptive("outside-writes", "600x400"), 101_376.0);
    assert_eq!(adaptive("unwritten-adaptive", "600x400"), 9_600.0);
    assert_eq!(adaptive("outside-writes", "400x600"), 0.0);
    assert_eq!(adaptive("unwritten-adaptive", "400x600"), 92_544.0);
    assert_eq!(adaptive("unwritten-adaptive", "5000x5000"), 79_936.0);
    assert_eq!(adaptive("unwritten-adaptive", "6250x6250"), 711_205.0);
}

#[test]
fn launches_and_depth() {
    let zhong =
        |kind: &str, size: u32| value(kind, &format!("{ZHONG_CODE} size={size}x{size} max-iter=256"), FRACTION, LAYOUT);
    assert_eq!([4000, 4223, 4224].map(|size| zhong("recursion-depth", size)), [1.0, 1.0, 2.0]);
    assert_eq!(zhong("device-launches", 4000), 1024.0);
    let nvidia =
        |kind: &str, size: u32| value(kind, &format!("{ZHONG_TEXT} size={size}x{size} max-iter=512"), FRACTION, LAYOUT);
    assert_eq!((nvidia("recursion-depth", 4096), nvidia("recursion-depth", 8192)), (1.0, 2.0));
    assert_eq!(nvidia("device-launches", 8192), 9_888.0);
    near(nvidia("leaf-percent", 8192), 31.67114);
    near(nvidia("borders-per-pixel", 8192), 0.0494385);
}

#[test]
fn work_that_is_saved() {
    let ratio = |bounds: &str| value("work-ratio", &format!("{bounds} size=2048x2048 max-iter=256"), FRACTION, LAYOUT);
    near(ratio(ZHONG_CODE), 3.53296);
    near(ratio(ZHONG_TEXT), 3.09645);
}

#[test]
fn wrong_pixels_of_borders() {
    let wrong =
        |kind: &str, size: &str| value(kind, &format!("{ZHONG_CODE} size={size} max-iter=256"), FRACTION, LAYOUT);
    assert_eq!([wrong("reduction-wrong", "1000x1000"), wrong("uniform-wrong", "1000x1000")], [45.0, 0.0]);
    assert_eq!([wrong("reduction-wrong", "400x600"), wrong("uniform-wrong", "400x600")], [4.0, 0.0]);
    let inside_one_tile = "bounds=-82.5,77.5,-82.5,77.5 size=2048x2048 max-iter=256 precision=f32";
    assert_eq!(value("uniform-wrong", inside_one_tile, FRACTION, LAYOUT), 2_061.0);
}

#[test]
fn vectors_that_go_on() {
    let genova = "bounds=-2,1,-1,1 size=1500x1000 max-iter=1000";
    let beyond = Convention { escape: Escape::Beyond, ..GENOVA };
    assert_eq!(value("lane-waste-vectors", genova, beyond, &[("lanes", 4.0)]), 11_071.0);
    near(value("lane-waste-percent", genova, beyond, &[("lanes", 4.0)]), 9.98558);
    // A vector of one lane ends when it escapes.
    assert_eq!(value("lane-waste-vectors", genova, beyond, &[("lanes", 1.0)]), 0.0);
}

#[test]
fn ties_of_the_two_tests() {
    let step = Convention { axes: AxisRule::Step, ..GENOVA };
    let of = "bounds=-2,1,-1,1 size=1500x1000 max-iter=1000 rounding=separate";
    // -2 and -1.92 + 0.56 i and its mirror image.
    assert_eq!(value("ties", of, step, &[]), 3.0);
}

#[test]
fn differing_pixels_are_counted_and_shown() {
    let of = "bounds=-2,1,-1,1 size=300x200 max-iter=1000";
    let differing = |kind: &str, other: &str| computed(kind, &format!("{of} precision=f32"), other, GENOVA, &[]);
    let (count, percent) = (differing("differing", "precision=f64"), differing("differing-percent", "precision=f64"));
    assert!(count.value > 100.0 && count.value < 600.0, "{}", count.value);
    assert_eq!(percent.value, count.value * 100.0 / 60_000.0);
    assert!(count.picture.unwrap().starts_with(b"\x89PNG"));
    assert_eq!(differing("differing", "").value, 0.0);
    // Loops: the same one on both sides, and one with another test.
    let loops = |reference: &str, other: &str, convention: Option<Convention>| {
        let mut quantity = quantity("differing", "bounds=-2,1,-1,1 size=150x100 max-iter=50", "", GENOVA, &[]);
        quantity.reference_loop = Some(reference.to_owned());
        quantity.other_loop = Some(other.to_owned());
        quantity.other_convention = convention;
        compute(&quantity, &Reader, &Cancel::default()).map(|computed| computed.value)
    };
    assert_eq!(loops("norm", "norm", None), Ok(0.0));
    assert!(loops("norm", "norm", Some(Convention { escape: Escape::Beyond, ..GENOVA })).unwrap() >= 1.0);
    assert!(loops("nrm", "norm", None).unwrap_err().contains("norm"));
}

#[test]
fn wrong_quantities_are_refused() {
    let of = "bounds=-2,1,-1,1 size=30x20";
    let refused = |kind: &str, other: &str, convention: Convention, params: &[(&str, f64)], says: &str| {
        let error = compute(&quantity(kind, of, other, convention, params), &Reader, &Cancel::default()).unwrap_err();
        assert!(error.contains(says), "{error}");
    };
    refused("mean-iteration", "", GENOVA, &[], "mean-iterations");
    refused("iterations", "", GENOVA, &[("tile", 3.0)], "iterations has no parameters, but \"tile\" is given");
    refused("unwritten-tiles", "", GENOVA, &[], "unwritten-tiles needs the parameter tile");
    refused("unwritten-tiles", "", GENOVA, &[("tile", 2.5)], "is 2.5 (accepted: a whole number from 1 to 65536)");
    refused("mean-bodies", "", GENOVA, &[("extra", 2.0)], "accepted: a whole number from 0 to 1");
    refused("iterations", "precision=f32", GENOVA, &[], "compares no fields");
    refused("differing", "size=31x20", GENOVA, &[], "30x20 and 31x20 pixels cannot be compared");
    refused("device-launches", "", FRACTION, LAYOUT, "32 tiles on a side of 30 pixels are 0 pixels wide");
    let few = [("initial", 3.0), ("parts", 2.0), ("min-size", 1.0), ("max-depth", 4.0)];
    refused("device-launches", "", Convention::default(), &few, "tiles leave the image");
    let cancel = Cancel::default();
    cancel.cancel();
    for kind in ["iterations", "differing"] {
        let error = compute(&quantity(kind, of, "", GENOVA, &[]), &Reader, &cancel).unwrap_err();
        assert_eq!(error, "interrupted");
    }
}
