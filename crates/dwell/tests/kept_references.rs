//! Views that use the reference orbit of an earlier view have the values that they have by themselves.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{
    Cancel, ChannelSet, Control, CpuEngine, Field, KeepReferences, Level, Limits, NumberKind, Plan, Progress, Scratch,
    Settings, Size, Strategy, Task, View,
};

/// A view of a path: how far its centre is from that of the first, in heights of the first, its magnification and its rotation.
type Step = ([&'static str; 2], u32, &'static str);

/// Steps to views of the same size in the disc of the first.
const NEAR: [Step; 4] =
    [(["0", "0"], 1, "0"), (["0.1", "-0.15"], 1, "0"), (["-0.1", "0.02"], 1, "40"), (["1e-300", "0"], 1, "0")];
/// Steps to smaller ones: whether they use the reference depends on the time that another would take.
const DEEPER: [Step; 3] = [(["0", "0"], 2, "0"), (["0.2", "0.25"], 64, "-7"), (["0.1", "0.2502"], 1000, "90")];
/// Steps that need a reference of their own.
const FAR: [Step; 3] = [(["5", "0"], 1, "0"), (["0", "0"], 100_000, "0"), (["0.5", "9"], 2, "3")];

const PLACES: [([&str; 2], &str, u64); 4] = [
    (["-0.743643887037158704752191506114774", "0.131825904205311970493132056385139"], "1e18", 60_000),
    (["-1.768778833", "-0.001738996"], "5e9", 900),
    (["-1.76877883727888640", "0"], "1e22", 900),
    (["-0.16", "1.0408"], "3e4", 300),
];

fn view(([re, im], zoom, _): ([&str; 2], &str, u64), ([right, up], magnification, rotation): Step) -> View {
    let number = |text: &str| text.parse::<dwell::Decimal>().unwrap().to_rational();
    let height = number("4").over(&number(zoom));
    let moved = |centre: &str, by: &str| {
        dwell::Decimal::rounded(&number(centre).plus(&number(by).times(&height)), 400).unwrap().text().to_owned()
    };
    let zoom = dwell::Decimal::rounded(&number(zoom).times_whole(magnification.into()), 20).unwrap();
    let size = Size::new(32, 20).unwrap();
    let mut view = View::centred(&moved(re, right), &moved(im, up), zoom.text()).unwrap().sized(size);
    view.rotation = rotation.parse().unwrap();
    view
}

/// The values of a view, and the time that its reference took.
fn computed(view: &View, limit: u64, engine: &CpuEngine) -> (Field, f64) {
    let settings = Settings { number: NumberKind::Exact, limit, ..Settings::default() };
    let limits = Limits::default();
    let plan = Plan::new(view, &settings, &limits).unwrap();
    let task = Task { plan: &plan, strategy: Strategy::EveryPixel, channels: ChannelSet::ALL };
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let mut scratch = Scratch::default();
    let (_, outcome) = scratch.field(&task, engine, &limits, &control).unwrap();
    let seconds = outcome.notes.deep.unwrap().reference_seconds;
    (scratch.last_field().clone(), seconds)
}

#[test]
fn kept_references_change_no_value() {
    let engine = CpuEngine::new(Level::best(), 2);
    for place in PLACES {
        let of = |step: Step| computed(&view(place, step), place.2, &engine);
        let keep = KeepReferences::default();
        // No two orbits take the same time to the nanosecond.
        let kept = NEAR.map(of);
        let of_first = kept[0].1;
        for ((_, seconds), step) in kept.iter().zip(NEAR) {
            assert!(of_first.to_bits() == seconds.to_bits(), "{place:?}: {step:?} has a reference of its own");
        }
        let deeper = DEEPER.map(of);
        // Several are kept.
        let again = of(NEAR[1]).1;
        let far = FAR.map(of);
        drop(keep);
        assert!(again.to_bits() == of_first.to_bits(), "{place:?}: the first reference was not kept");
        for ((_, seconds), step) in far.iter().zip(FAR) {
            assert!(of_first.to_bits() != seconds.to_bits(), "{place:?}: {step:?} has no reference of its own");
        }
        let steps = NEAR.into_iter().chain(DEEPER).chain(FAR);
        for ((field, _), step) in kept.iter().chain(&deeper).chain(&far).zip(steps) {
            let (alone, seconds) = of(step);
            assert!(of_first.to_bits() != seconds.to_bits(), "{place:?}: the reference was not freed");
            assert_eq!(field.dwell(), alone.dwell(), "{place:?}: {step:?}");
            for channel in ChannelSet::ALL.iter() {
                assert_eq!(field.channel(channel), alone.channel(channel), "{place:?}: {step:?} {}", channel.name());
            }
        }
    }
}
