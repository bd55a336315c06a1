//! Random views and settings from a small seeded generator. Failures name the seed.

#![allow(dead_code, reason = "each test file uses a part of it")]

use dwell::{Decimal, Fold, Formula, Location, Magnification, Sample, Settings, Size, View};

/// xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
    pub(crate) fn one_of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[usize::try_from(self.below(values.len() as u64)).unwrap()]
    }
}

/// Centres on or near the boundary, to many digits.
const CENTRES: [(&str, &str); 10] = [
    ("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"),
    ("-1.401155189093314712", "0"),
    ("-1.7548776662466927", "0"),
    ("0.2925", "0.0149"),
    ("-0.0494700290631040937516922267273536301187457", "-0.6747875758446753640113920531305976563347707"),
    ("-1.759817130804847813610825010561798238244", "-0.012593310799749865383746631843264858450340"),
    ("-1.99999911758766165543764649311537154663", "0.00000000000000000000000000000000001"),
    ("-0.16070135", "1.0375665"),
    ("0.25", "0"),
    ("-0.75", "0"),
];

/// A random view at a zoom from 1 to below 10^`most_decades`: 70 % around a centre on the boundary, the others anywhere from
/// -3 to 2 and -2i to 2i; a sixth rotated, a fifth sampled at corners.
pub(crate) fn view(random: &mut Random, most_decades: u64, size: Size) -> View {
    // Written as digits: the power function of a mathematics library may differ between machines.
    let zoom = format!("{}.{:02}e{}", 1 + random.below(9), random.below(100), random.below(most_decades));
    let mut view = if random.below(10) < 7 {
        let (re, im) = *random.one_of(&CENTRES);
        View::centred(re, im, &zoom).unwrap()
    } else {
        let (re, im) = (random.unit() * 5.0 - 3.0, random.unit() * 4.0 - 2.0);
        View::centred(&format!("{re:.17}"), &format!("{im:.17}"), &zoom).unwrap()
    };
    if random.below(6) == 0 {
        let degrees = *random.one_of(&["90", "180", "-90", "30", "45", "12.34567", "-271.5", "1e-9"]);
        view.rotation = degrees.parse().unwrap();
    }
    if random.below(5) == 0 {
        view.sample = Sample::Corner;
    }
    view.sized(size)
}

/// A random shallow view that suits every formula: a quarter centred on the real axis, a quarter flipped, an eighth
/// rotated.
pub(crate) fn view_of_any_formula(random: &mut Random, size: Size) -> View {
    let zoom = format!("{}.{:02}e{}", 1 + random.below(9), random.below(100), random.below(3));
    let (re, im) = (random.unit() * 3.4 - 1.9, random.unit() * 2.8 - 1.4);
    let im = if random.below(4) == 0 { "0".to_owned() } else { format!("{im:.17}") };
    let mut view = View::centred(&format!("{re:.17}"), &im, &zoom).unwrap();
    if random.below(8) == 0 {
        view.rotation = random.one_of(&["90", "180", "30", "-271.5"]).parse().unwrap();
    }
    view.flip = random.below(4) == 0;
    view.sized(size)
}

/// The settings with a random formula; a third of them with a Julia constant.
pub(crate) fn any_formula(random: &mut Random, settings: Settings) -> Settings {
    let fold = *random.one_of(&[Fold::None, Fold::Absolute, Fold::Conjugate]);
    let power = *random.one_of(&[2, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12, 16]);
    let julia = match random.below(3) {
        0 => {
            let constants =
                [("-0.8", "0.156"), ("0.285", "0.01"), ("-1.755", "0"), ("0.5", "-0.6"), ("-1.9", "-1.2"), ("3", "4")];
            let (re, im) = *random.one_of(&constants);
            Some([re.parse().unwrap(), im.parse().unwrap()])
        }
        _ => None,
    };
    let escape_radius = if power > 6 { "2.5".parse().unwrap() } else { settings.escape_radius };
    let formula = Formula::new(fold, power).unwrap();
    let most = Settings { formula, number: dwell::NumberKind::F32, ..Settings::default() }.most_escape_radius();
    let escape_radius = if most < 100_000 { "2.5".parse().unwrap() } else { escape_radius };
    Settings { formula, julia, escape_radius, ..settings }
}

/// Random limit and escape radius. `force` is set, since exactness does not depend on whether the number resolves the view.
pub(crate) fn settings(random: &mut Random, most_limit: u64) -> Settings {
    let radius = *random.one_of(&["2", "2", "2", "2", "2.5", "16", "1e5"]);
    Settings {
        limit: 1 + random.below(most_limit),
        escape_radius: radius.parse().unwrap(),
        force: true,
        ..Settings::default()
    }
}

/// A built-in location at a size.
pub(crate) fn location(name: &str, width: u32, height: u32) -> (View, u64) {
    let location = Location::built_in(name).unwrap();
    (location.view(Size::new(width, height).unwrap()), location.iterations().unwrap())
}

/// The view at another zoom.
pub(crate) fn zoomed(mut view: View, zoom: &str) -> View {
    if let dwell::Frame::Centred { magnification, .. } = &mut view.frame {
        *magnification = Magnification::Zoom(zoom.parse::<Decimal>().unwrap());
    }
    view
}
