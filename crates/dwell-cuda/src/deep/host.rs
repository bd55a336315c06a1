//! In tests, a session whose pixels are iterated by the kernels' own code, compiled for the host: its dwells are those of the processors, and it decides as many.

#![expect(unsafe_code, reason = "a function of a shared library has no types; each block says why it is sound")]

use super::faults::{TestDevice, field_of, plan_of, processors};
use super::formula_layout::{self, DeepFormula, DeepTinyParts};
use super::layout::{self, DeepOrigin, DeepPixels, DeepTiny, DeepView, WideBlock};
use super::pixels::CHANNELS;
use super::session::{DeepSession, Part};
use crate::driver::{Address, Fault};
use crate::host::compiled;
use crate::pool::SessionPool;
use dwell::{
    Attempted, Automatic, By, Cancel, Channel, ChannelSet, DeepAttempt, DeepBlocks, DeepPoints, DeepRows, DeepTable,
    DeepWork, DeviceReport, Engine, Fold, Formula, Limits, Location, NumberKind, Plan, Samples, Scene, Settings, Size,
    Tier, View,
};
use dwell_kernels::deep::blocks::Table;
use dwell_kernels::deep::formulas::Setting as FormulaSetting;
use dwell_kernels::deep::formulas::blocks::Blocks;
use dwell_kernels::deep::mantissa::Mantissa;
use dwell_kernels::deep::orbit::Setting;
use libloading::Library;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The endings of deep_orbit.cuh.
const ESCAPES: i32 = 1;
const STAYS: i32 = 2;

/// `dwell_deep_on_host` and `dwell_deep_formula_on_host` of host.cpp.
type Decide = unsafe extern "C" fn(*const DeepView<'_>, *const DeepPixels<'_>, u32, u32, u32, *mut i32);
type DecideFormula = unsafe extern "C" fn(*const DeepFormula<'_>, *const DeepPixels<'_>, u32, u32, u32, *mut i32);

/// The compiled code; `None` where there is no C++ compiler.
fn code() -> Option<&'static Library> {
    static CODE: OnceLock<Option<Library>> = OnceLock::new();
    CODE.get_or_init(|| compiled("deep", include_bytes!("host.cpp"))).as_ref()
}

/// Memory of a session for the pixels of some rows.
#[derive(Default)]
struct Rows {
    columns: Vec<i64>,
    rows: Vec<i64>,
    size: [u32; 2],
    is_list: bool,
    frame: [f64; 12],
    dwell: Vec<u32>,
    /// Of [`CHANNELS`].
    values: [Vec<f64>; CHANNELS.len()],
    open: Vec<u32>,
}

/// A session on the host, with so many operations of a pixel in each launch.
pub(super) struct HostSession {
    code: &'static Library,
    operations: u32,
    /// The only tier that decides anything, if there is one.
    tier: Option<Tier>,
    /// What an attempt is said to take.
    seconds: f64,
    /// How many points of lists it has decided.
    of_lists: Arc<AtomicU64>,
    rows: Rows,
}

impl HostSession {
    /// Iterates the open pixels.
    fn decide<T: Mantissa>(&mut self, table: &Table<T>, setting: &Setting<'_>) -> u64 {
        let reference = setting.reference;
        let [high, low] = reference.pairs().map(|pairs| pairs.iter().flatten().copied().collect::<Vec<f64>>());
        let tiny: Vec<DeepTiny> = layout::tiny(reference).collect();
        let origins: Vec<DeepOrigin> = layout::origins(table).collect();
        let blocks: Vec<f64> = table.lines().flatten().copied().collect();
        let higher: Vec<f64> = table.higher_lines().flatten().copied().collect();
        let from_zero: Vec<u32> = layout::steps_from_zero(table).collect();
        let wide: Vec<WideBlock> = layout::wide_blocks(table).collect();
        let numbers = table.wide_numbers();
        let view = DeepView {
            high: Address::of_host(&high).read_only(),
            low: Address::of_host(&low).read_only(),
            tiny: Address::of_host(&tiny).read_only(),
            origins: Address::of_host(&origins).read_only(),
            radii: Address::of_host(table.radii()).read_only(),
            blocks: Address::of_host(&blocks).read_only(),
            higher: if higher.is_empty() { Address::NULL } else { Address::of_host(&higher) }.read_only(),
            from_zero: Address::of_host(&from_zero).read_only(),
            wide_numbers: if numbers.is_empty() { Address::NULL } else { Address::of_host(numbers) }.read_only(),
            wide: Address::of_host(&wide).read_only(),
            ..layout::view(table, setting)
        };
        let (in_pairs, is_derived) = (count(T::PARTS - 1), setting.units.is_some().into());
        let operations = self.operations;
        // SAFETY: the function of that name has this type.
        let decide = unsafe { self.code.get::<Decide>(b"dwell_deep_on_host\0") }.unwrap();
        self.rows.decide(|task, endings| {
            // SAFETY: all arrays live, and have the lengths that the structs say.
            unsafe { decide(&view, task, in_pairs, is_derived, operations, endings.as_mut_ptr()) };
        })
    }

    /// As above, of a formula.
    fn decide_formula<T: Mantissa>(&mut self, blocks: &Blocks<T>, setting: &FormulaSetting<'_>) -> u64 {
        let orbits = setting.orbits;
        let entries: Vec<f64> = orbits.values().flatten().collect();
        let low: Vec<f64> = orbits.low_parts().iter().flatten().copied().collect();
        let tiny: Vec<DeepTinyParts> = formula_layout::tiny(orbits).collect();
        let radii: Vec<f64> = blocks.lists().flat_map(|list| list.radii).copied().collect();
        let lines: Vec<f64> = blocks.lists().flat_map(|list| list.lines()).flatten().copied().collect();
        let of_c: Vec<f64> = blocks.lists().flat_map(|list| list.terms_of_c()).flatten().copied().collect();
        let view = DeepFormula {
            entries: Address::of_host(&entries).read_only(),
            low: Address::of_host(&low).read_only(),
            errors: Address::of_host(orbits.error_exponents()).read_only(),
            tiny: Address::of_host(&tiny).read_only(),
            radii: Address::of_host(&radii).read_only(),
            blocks: Address::of_host(&lines).read_only(),
            of_c: if of_c.is_empty() { Address::NULL } else { Address::of_host(&of_c) }.read_only(),
            ..formula_layout::view(blocks, setting)
        };
        let (in_pairs, is_derived) = (count(T::PARTS - 1), setting.units.is_some().into());
        let operations = self.operations;
        // SAFETY: the function of that name has this type.
        let decide = unsafe { self.code.get::<DecideFormula>(b"dwell_deep_formula_on_host\0") }.unwrap();
        self.rows.decide(|task, endings| {
            // SAFETY: all arrays live, and have the lengths that the structs say.
            unsafe { decide(&view, task, in_pairs, is_derived, operations, endings.as_mut_ptr()) };
        })
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap()
}

impl Rows {
    /// Has the open pixels iterated, and takes over what is decided of them: how many are.
    fn decide(&mut self, iterate: impl FnOnce(&DeepPixels<'_>, &mut [i32])) -> u64 {
        let Rows { columns, rows, size: [width, height], is_list, frame, dwell, values, open } = self;
        let pixels = dwell.len();
        let (mut orbits, mut n, mut words) = (vec![0.0; 5 * pixels], vec![0_u64; pixels], vec![0_u32; 3 * pixels]);
        let (mut traps, mut trap_n) = (vec![0.0; 10 * pixels], vec![0_u64; pixels]);
        let mut trap_words = vec![0_u32; 5 * pixels];
        let (mut derivatives, mut derivative_units) = (vec![0.0; 10 * pixels], vec![0_i32; 2 * pixels]);
        let (mut dwells, mut endings) = (vec![0; pixels], vec![0; pixels]);
        let mut found = CHANNELS.map(|_| vec![0.0; pixels]);
        let [smooth, distance, slope_right, slope_up, overflow] = found.each_mut().map(|of| Address::of_host_mut(of));
        let task = DeepPixels {
            columns: Address::of_host(columns).read_only(),
            rows: Address::of_host(rows).read_only(),
            orbits: Address::of_host_mut(&mut orbits),
            n: Address::of_host_mut(&mut n),
            words: Address::of_host_mut(&mut words),
            traps: Address::of_host_mut(&mut traps),
            trap_n: Address::of_host_mut(&mut trap_n),
            trap_words: Address::of_host_mut(&mut trap_words),
            derivatives: Address::of_host_mut(&mut derivatives),
            derivative_units: Address::of_host_mut(&mut derivative_units),
            dwell: Address::of_host_mut(&mut dwells),
            smooth,
            distance,
            slope_right,
            slope_up,
            overflow,
            frame: *frame,
            width: *width,
            height: *height,
            capacity: count(pixels),
            is_list: (*is_list).into(),
        };
        iterate(&task, &mut endings);
        let before = open.len();
        open.retain(|pixel| {
            let pixel = *pixel as usize;
            let is_decided = [ESCAPES, STAYS].contains(&endings[pixel]);
            if is_decided {
                dwell[pixel] = dwells[pixel];
                values.iter_mut().zip(&found).for_each(|(values, found)| values[pixel] = found[pixel]);
            }
            !is_decided
        });
        (before - open.len()) as u64
    }
}

/// So many that the processors would take longer for what is left.
const MANY_STEPS: u64 = 1 << 40;

impl DeepSession for HostSession {
    fn capacity(&self) -> usize {
        1 << 11
    }

    fn begin(&mut self, points: &DeepPoints, rows: Range<u32>) -> Result<(), Fault> {
        let DeepRows { width, height, columns, rows, is_list } = points.in_rows(rows);
        let pixels = width as usize * height as usize;
        let mut frame = [0.0; 12];
        for (number, vector) in points.frame().iter().enumerate() {
            let parts = [vector.re.hi, vector.re.lo, vector.im.hi, vector.im.lo];
            frame[4 * number..4 * number + 4].copy_from_slice(&parts);
        }
        let open = (0..u32::try_from(pixels).unwrap()).collect();
        let values = CHANNELS.map(|_| vec![0.0; pixels]);
        let (columns, rows) = (columns.to_vec(), rows.to_vec());
        let dwell = vec![0; pixels];
        self.rows = Rows { columns, rows, size: [width, height], is_list, frame, dwell, values, open };
        Ok(())
    }

    fn attempt(&mut self, attempt: &DeepAttempt<'_>, _: &SessionPool, _: &Cancel) -> Result<Attempted, Fault> {
        if self.tier.is_some_and(|tier| tier != attempt.tier) {
            return Ok(Attempted::default());
        }
        let decided = match &attempt.work {
            DeepWork::Squares { setting, table: DeepTable::InF64(table) } => self.decide(table, setting),
            DeepWork::Squares { setting, table: DeepTable::InPairs(table) } => self.decide(table, setting),
            DeepWork::Formula { setting, blocks: DeepBlocks::InF64(blocks) } => self.decide_formula(blocks, setting),
            DeepWork::Formula { setting, blocks: DeepBlocks::InPairs(blocks) } => self.decide_formula(blocks, setting),
        };
        if self.rows.is_list {
            self.of_lists.fetch_add(decided, Ordering::Relaxed);
        }
        Ok(Attempted { decided, seconds: self.seconds, steps: MANY_STEPS, ..Attempted::default() })
    }

    fn finish(&mut self, channels: ChannelSet, store: &mut dyn FnMut(Part, &[u8])) -> Result<Vec<u32>, Fault> {
        let Rows { dwell, values, open, .. } = &self.rows;
        store(Part::Dwells, bytemuck::cast_slice(dwell));
        for (channel, values) in CHANNELS.into_iter().zip(values).filter(|(channel, _)| channels.contains(*channel)) {
            store(Part::Values(channel), bytemuck::cast_slice(values));
        }
        Ok(open.clone())
    }

    fn report(&mut self, _: &mut DeviceReport) {}
}

/// Distances and slopes.
const SLOPES: ChannelSet = ChannelSet::DISTANCE.with(Channel::SlopeRight).with(Channel::SlopeUp);

/// Compares a view of z^2 + c with the processors, and returns the least share of pixels that a tier of deltas decided where one alone does.
fn check(view: &View, limit: u64) -> Option<f64> {
    check_plan(&plan_of(view, limit), &[ChannelSet::NONE, ChannelSet::SMOOTH, SLOPES.and(ChannelSet::SMOOTH)])
}

/// As [`check`], of any view, for values of these channels.
fn check_plan(plan: &Plan, sets: &[ChannelSet]) -> Option<f64> {
    let (code, view) = (code()?, plan.view());
    let mut least: f64 = 1.0;
    let of_limit = ChannelSet::of_dwells(plan.limit());
    for channels in sets {
        let channels = channels.and(of_limit);
        let (field, truth) = field_of(&processors(), plan, channels);
        let first = if channels == of_limit { Tier::F64Coarse } else { Tier::F64Medium };
        for (tier, operations) in [(None, 1000), (Some(first), 7), (Some(Tier::PairsFine), 64)] {
            let session = move || HostSession {
                code,
                operations,
                tier,
                seconds: 1e-3,
                of_lists: Arc::default(),
                rows: Rows::default(),
            };
            let engine = TestDevice::engine(move || Box::new(session()));
            let (own, notes) = field_of(&engine, plan, channels);
            assert!(own == field, "{tier:?} {channels:?} {view:?}");
            let deep = notes.deep.unwrap();
            let of_device = deep.tiers.iter().filter(|of_tier| of_tier.device_samples > 0);
            let decided = of_device.map(|of_tier| of_tier.decided).max().unwrap_or(0);
            // By the times of the processors, blocks of the fourth degree may take the place of a tier.
            let is_reached = |tier: Tier| deep.tiers.iter().any(|of| of.tier == tier && of.device_samples > 0);
            if ["trap", "none"].contains(&deep.reference_end) || tier.is_some_and(|tier| !is_reached(tier)) {
                continue;
            }
            let share = decided as f64 / plan.size().pixels() as f64;
            // The device decides nearly as many as the first tier of the processors.
            if tier == Some(first) {
                let of_first = truth.deep.as_ref().and_then(|deep| deep.tiers.first()).map_or(0, |first| first.decided);
                let allowed = 0.9 * of_first as f64 / plan.size().pixels() as f64 - 0.02;
                assert!(share >= allowed, "{share} of {view:?}, {allowed} by the processors");
            }
            least = least.min(share);
        }
    }
    Some(least)
}

#[test]
fn kernels_prove_the_dwells_of_the_processors() {
    let size = Size::new(46, 31).unwrap();
    let seahorse = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
    for (re, im, zoom, rotation, limit) in [
        (seahorse.0, seahorse.1, "1e13", "0", 5000),
        (seahorse.0, seahorse.1, "3e27", "30", 5000),
        ("-0.5", "0", "0.7", "90", 300),
        ("0", "0", "1e-5", "0", 50),
        // Points inside the set.
        ("-0.16", "1.0408", "3e4", "0", 2_000_000),
        ("-1.76877883727888640", "0", "1e22", "0", 900),
        ("-1.768778833", "-0.001738996", "5e3", "10", 1_000_000),
        ("3e9", "1e9", "1e3", "0", 50),
        // Dwells of more than 32 bits.
        ("-1.76877883727888640", "0", "1e22", "40", 1 << 33),
    ] {
        let mut view = View::centred(re, im, zoom).unwrap().sized(size);
        view.rotation = rotation.parse().unwrap();
        check(&view, limit);
    }
}

#[test]
fn kernels_prove_deep_places() {
    // From the range of f64 to far below it.
    for (name, limit, size) in [
        ("kf-1e50", 200_000, (20, 12)),
        ("kf-5e113", 60_000, (31, 17)),
        ("rf-flake", 60_000, (31, 17)),
        ("kf-4e533", 300_000, (20, 12)),
        ("rf-e1000", 32_000, (31, 17)),
    ] {
        let view = Location::built_in(name).unwrap().scene.view.sized(Size::new(size.0, size.1).unwrap());
        if let Some(least) = check(&view, limit) {
            assert!(least > 0.5, "{name}: {least}");
        }
    }
}

#[test]
fn kernels_prove_the_dwells_of_other_formulas_and_of_julia_sets() {
    let size = Size::new(37, 23).unwrap();
    let sets = [ChannelSet::NONE, ChannelSet::SMOOTH, SLOPES];
    let centre_of_ship = [
        "-1.7440482698167536417604576579052554413467486576835753243",
        "-0.0176772055672213554941585900118889558372676633599361089",
    ];
    for ((fold, power), julia, [re, im], zoom, rotation, limit) in [
        ((Fold::Absolute, 2), None, ["-1.8600000000000000000003", "0"], "1e17", "0", 4000),
        ((Fold::Absolute, 2), None, centre_of_ship, "3.286e45", "20", 116_600),
        // Points whose orbits meet a repelling cycle, and repelling fixed points of Julia sets.
        ((Fold::Absolute, 3), None, ["-1.41421356237309504880168872421", "0"], "1e21", "0", 500),
        (
            (Fold::None, 3),
            None,
            ["0.34062501931660664019439424404", "1.27122987841870623913561299102"],
            "1e22",
            "0",
            500,
        ),
        ((Fold::Conjugate, 2), None, ["-1.543689012692076361570855971802", "0.00000000000000001"], "1e16", "15", 2000),
        (
            (Fold::None, 2),
            Some(["-0.8", "0.156"]),
            ["1.527503118643534610789746402444915", "-0.07591217835228786707181419482635"],
            "1e25",
            "35",
            3000,
        ),
        (
            (Fold::None, 5),
            Some(["0.6", "0.55"]),
            ["-0.08775958978371231317004809317876", "-1.12234930131758694017224892745922"],
            "1e19",
            "0",
            1000,
        ),
        (
            (Fold::Absolute, 2),
            Some(["-1.5", "-0.1"]),
            ["1.823415054753385070927333974570679", "0.03778104217600680765757748051725"],
            "1e20",
            "0",
            1000,
        ),
    ] {
        let mut view = View::centred(re, im, zoom).unwrap().sized(size);
        view.rotation = rotation.parse().unwrap();
        let julia = julia.map(|parts: [&str; 2]| parts.map(|part| part.parse().unwrap()));
        let formula = Formula::new(fold, power).unwrap();
        let settings = Settings { limit, number: NumberKind::Exact, formula, julia, ..Settings::default() };
        let plan = Plan::new(&view, &settings, &Limits::default()).unwrap();
        check_plan(&plan, &sets);
    }
}

#[test]
fn kernels_prove_dwells_by_blocks_of_the_fourth_degree() {
    let Some(code) = code() else { return };
    for (name, limit) in [("kf-1e50", 200_000), ("fs-view05", 300_000)] {
        let view = Location::built_in(name).unwrap().scene.view.sized(Size::new(24, 16).unwrap());
        let plan = plan_of(&view, limit);
        for channels in [ChannelSet::NONE, ChannelSet::SMOOTH] {
            // So long that these blocks pay.
            let session = move || HostSession {
                code,
                operations: 500,
                tier: None,
                seconds: 100.0,
                of_lists: Arc::default(),
                rows: Rows::default(),
            };
            let (own, notes) = field_of(&TestDevice::engine(move || Box::new(session())), &plan, channels);
            assert!(own == field_of(&processors(), &plan, channels).0, "{name}");
            let tiers = notes.deep.unwrap().tiers;
            let decided = |tier: Tier| {
                let of_tier = tiers.iter().find(|of_tier| of_tier.tier == tier && of_tier.device_samples > 0);
                of_tier.map_or(0, |of_tier| of_tier.decided)
            };
            assert!(decided(Tier::PairsQuartic) > 0, "{name}: {tiers:?}");
        }
    }
}

#[test]
fn kernels_prove_the_further_samples_of_pictures() {
    let Some(code) = code() else { return };
    let size = Size::new(40, 26).unwrap();
    let squares = Location::built_in("kf-5e113").unwrap().scene;
    let by_distance = Scene { colouring: squares.colouring.clone().by(By::Distance), ..squares.clone() };
    let ship = Scene {
        view: View::centred("-1.8600000000000000000003", "0", "1e17").unwrap(),
        settings: Settings { formula: Formula::new(Fold::Absolute, 2).unwrap(), ..squares.settings.clone() },
        ..squares.clone()
    };
    for (scene, rotation, limit) in [(squares, "25", 60_000), (by_distance, "0", 60_000), (ship, "0", 4000)] {
        let mut view = scene.view.clone().sized(size);
        view.rotation = rotation.parse().unwrap();
        let settings = Settings { limit, number: NumberKind::Exact, ..scene.settings.clone() };
        let samples = Samples::Auto;
        let scene = Scene { view, settings, samples, automatic: Automatic::NONE, ..scene };
        let of_lists = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&of_lists);
        let session = move || {
            let (of_lists, rows) = (Arc::clone(&counter), Rows::default());
            Box::new(HostSession { code, operations: 100, tier: None, seconds: 1e-3, of_lists, rows })
        };
        let picture =
            |engine: &dyn Engine| dwell::picture(&scene, engine, &Limits::default(), &Cancel::default()).unwrap();
        let own = picture(&TestDevice::engine(move || session()));
        assert!(own.bytes() == picture(&processors()).bytes(), "{:?}", scene.view);
        let decided = of_lists.load(Ordering::Relaxed);
        assert!(decided > size.pixels() / 4, "{decided} of the samples of {:?}", scene.view);
    }
}
