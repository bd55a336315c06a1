//! Attempts against one another: whatever decides a pixel finds the same.

use super::device::Attempted;
use super::*;
use crate::base::cancel::Cancel;
use crate::base::limits::Limits;
use crate::base::progress::Progress;
use crate::deep::prepared::MOST_FIRST_OF_PAIRS;
use crate::deep::values::CHANNELS;
use crate::exact::decimal::Decimal;
use crate::field::channels::ChannelBuffers;
use crate::view::settings::{NumberKind, Settings};
use crate::view::{Size, View};
use dwell_kernels::deep::blocks::{FIRST, MOST_FIRST};
use dwell_kernels::{Fold, Formula};
use std::collections::BTreeSet;

/// The columns and rows of all pixels.
fn all_places(size: Size) -> Vec<(u32, u32)> {
    (0..size.height).flat_map(|row| (0..size.width).map(move |column| (column, row))).collect()
}

/// Checks the attempts at some values of a view.
fn with_course<R>(points: &DeepPoints, limit: u64, wanted: ChannelSet, check: impl FnOnce(Course<'_>) -> R) -> R {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let call = DeepCall { points, limit, level: Level::best(), threads: 2, control };
    check(call.course(wanted).unwrap())
}

/// The pixels of a view by dwells of exact arithmetic.
fn exact_points(view: &View) -> DeepPoints {
    let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
    DeepPoints::new(view, &settings, &Limits::default()).unwrap()
}

/// What an attempt alone finds of all pixels.
fn found_by(course: &Course<'_>, number: usize, places: &[(u32, u32)]) -> Vec<Found> {
    let mut buffers = DeepBuffers::default();
    buffers.open.extend(0..places.len() as u32);
    course.attempt(number, &mut buffers, places).unwrap();
    buffers.found
}

/// All values of all pixels of a view, by all tiers or by the last one alone.
fn computed(points: &DeepPoints, size: Size, limit: u64, last_alone: bool) -> ChannelBuffers {
    let places = all_places(size);
    let mut found = ChannelBuffers::default();
    found.resize(places.len(), CHANNELS).unwrap();
    let mut buffers = DeepBuffers::default();
    with_course(points, limit, CHANNELS, |course| {
        if last_alone {
            buffers.open.extend(0..places.len() as u32);
            course.attempt(course.attempts.len() - 1, &mut buffers, &places).unwrap();
            buffers.store(found.slices_mut());
        } else {
            course.compute(&mut buffers, &places, found.slices_mut()).unwrap();
        }
    });
    found
}

#[test]
fn all_places_are_there_once_with_neighbours_together() {
    for (width, height, missing) in [(1, 1, 0), (7, 5, 0), (8, 4, 3), (64, 3, 1), (5, 1, 0), (1, 9, 2)] {
        let mut places: Vec<_> =
            (0..height).flat_map(|row| (10..10 + width).map(move |column| (column, row))).collect();
        places.truncate(places.len() - missing);
        let mut numbers: Vec<u32> = by_neighbours(&places).collect();
        if (width, height) == (8, 4) {
            assert_eq!(numbers[..10], [0, 1, 2, 3, 8, 9, 10, 11, 4, 5]);
        }
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..places.len() as u32), "{width}x{height}");
    }
    assert_eq!(by_neighbours(&[]).count(), 0);
}

#[test]
fn all_tiers_give_the_values_of_the_last() {
    let size = Size { width: 14, height: 10 };
    // A seahorse, an elephant, a spike that is real, a view from far away, and one of the whole set.
    for (re, im, zoom, rotation, limit) in [
        ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "1e13", "0", 5000),
        ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514", "3e27", "30", 5000),
        ("0.28693186889504513", "0.014286693904085048", "1e9", "-7.5", 3000),
        ("-1.76877883727888640", "0", "1e22", "0", 900),
        ("0", "0", "1e-5", "0", 50),
        ("-0.5", "0", "0.7", "90", 300),
        ("3e9", "1e9", "1e3", "0", 50),
        ("-0.75", "0.0000000001", "1e11", "0", 400),
    ] {
        let mut view = View::centred(re, im, zoom).unwrap().sized(size);
        view.rotation = rotation.parse().unwrap();
        let points = exact_points(&view);
        let (all, last) = (computed(&points, size, limit, false), computed(&points, size, limit, true));
        assert_eq!(all.dwell, last.dwell, "{re} {im} {zoom}");
        for channel in CHANNELS.iter() {
            assert_eq!(all[channel], last[channel], "{} of {re} {im} {zoom}", channel.name());
        }
    }
}

#[test]
fn orbits_beside_the_circle_of_escape_are_decided_in_fixed_point() {
    let size = Size { width: 14, height: 10 };
    let view = View::centred("-2", "0", "1e25").unwrap().sized(size);
    let places = all_places(size);
    // z_1 = c is within 1e-25 of R, where f64 does not tell the side.
    for (fold, radius) in [(Fold::None, "2"), (Fold::Absolute, "2"), (Fold::None, "2.0000000000000000000000000001")] {
        let formula = Formula::new(fold, 2).unwrap();
        let escape_radius = radius.parse().unwrap();
        let settings = Settings { number: NumberKind::Exact, formula, escape_radius, ..Settings::default() };
        let points = DeepPoints::new(&view, &settings, &Limits::default()).unwrap();
        with_course(&points, 300, ChannelSet::default(), |course| {
            let of = |number: usize| found_by(&course, number, &places);
            let found = of(course.number_of(Attempt::InFixedPoint(0)).unwrap());
            assert!(!found.contains(&Found::Undecided), "{fold:?} {radius}");
            assert_eq!(found, of(course.attempts.len() - 1), "{fold:?} {radius}");
        });
    }
}

#[test]
fn attempts_that_end_soon_leave_long_orbits_undecided() {
    let size = Size { width: 14, height: 10 };
    let view = View::centred("-2", "0", "1e25").unwrap().sized(size);
    let (points, places) = (exact_points(&view), all_places(size));
    let in_fixed_point = |most: u64| {
        with_course(&points, 5000, ChannelSet::default(), |course| {
            let course = course.within(most);
            assert!(!course.attempts.contains(&Attempt::Exactly));
            assert_eq!(course.attempts.last(), Some(&Attempt::InFixedPoint(0)));
            found_by(&course, course.attempts.len() - 1, &places)
        })
    };
    let all = in_fixed_point(u64::MAX);
    let mut dwells: Vec<u64> =
        all.iter().map(|found| if let Found::Escapes(n, _) = found { *n } else { u64::MAX }).collect();
    dwells.sort_unstable();
    dwells.dedup();
    let most = dwells[dwells.len() / 2];
    assert!(dwells.len() > 2 && most < dwells[dwells.len() - 1], "{dwells:?}");
    for (found, of_all) in in_fixed_point(most).into_iter().zip(all) {
        let is_soon = matches!(of_all, Found::Escapes(n, _) if n <= most);
        assert_eq!(found, if is_soon { of_all } else { Found::Undecided });
    }
}

#[test]
fn a_reference_of_another_view_gives_the_same() {
    let size = Size { width: 14, height: 10 };
    // By how much the view is larger than the next, the way to it in heights of the large one, and its rotation.
    for (larger, right, up, rotation) in [
        ("1", "0.05", "0.1", "0"),
        ("2", "-0.3", "0.2", "30"),
        ("40", "0.4", "0.35", "0"),
        ("4000", "0.3", "-0.4", "-80"),
    ] {
        for (re, im, zoom, limit) in [
            ("-0.743643887037158704752191506114774", "0.131825904205311970493132056385139", "1e9", 5000),
            ("-1.768778833", "-0.001738996", "5e9", 900),
            ("-1.76877883727888640", "0", "1e22", 900),
            ("-0.16", "1.0408", "3e4", 300),
        ] {
            let number = |text: &str| text.parse::<Decimal>().unwrap().to_rational();
            let height = number("4").over(&number(zoom));
            let moved = |centre: &str, by: &str| {
                let point = number(centre).plus(&number(by).times(&height));
                Decimal::rounded(&point, 60).unwrap().text().to_owned()
            };
            let large = View::centred(re, im, zoom).unwrap().sized(size);
            let zoom = Decimal::rounded(&number(zoom).times(&number(larger)), 20).unwrap();
            let mut view = View::centred(&moved(re, right), &moved(im, up), zoom.text()).unwrap().sized(size);
            view.rotation = rotation.parse().unwrap();
            let own = exact_points(&view);
            let other = DeepPoints::with(&view, own.own_scale(), Arc::clone(&exact_points(&large).shared)).unwrap();
            assert!(other.offset(7, 5) != own.offset(7, 5));
            let (own, other) = (computed(&own, size, limit, false), computed(&other, size, limit, false));
            assert_eq!(own.dwell, other.dwell, "{re} {im} {larger}");
            for channel in CHANNELS.iter() {
                assert_eq!(own[channel], other[channel], "{} of {re} {im} {larger}", channel.name());
            }
        }
    }
}

#[test]
fn blocks_of_the_fourth_degree_give_the_values_of_the_last_tier() {
    let size = Size { width: 14, height: 10 };
    let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
    let view = View::centred(re, im, "3e27").unwrap().sized(size);
    let (points, places) = (exact_points(&view), all_places(size));
    for wanted in [ChannelSet::default(), ChannelSet::default().with(Channel::Smooth)] {
        with_course(&points, 5000, wanted, |course| {
            let last = found_by(&course, course.attempts.len() - 1, &places);
            for tier in [Tier::QUARTIC, Tier::QUARTIC_FINE] {
                let found = found_by(&course, course.number_of(Attempt::ByDeltas(tier)).unwrap(), &places);
                let decided = found.iter().filter(|found| **found != Found::Undecided).count();
                assert!(decided * 2 > found.len(), "{tier}: {decided} of {} are decided", found.len());
                for (found, last) in found.into_iter().zip(&last) {
                    assert!(found == Found::Undecided || found == *last, "{tier}: {found:?}, {last:?}");
                }
            }
        });
    }
    let is_quartic = |attempt: &Attempt| matches!(attempt, Attempt::ByDeltas(tier) if Tier::is_quartic(*tier));
    assert!(!with_course(&points, 5000, CHANNELS, |course| course.attempts.iter().any(is_quartic)), "no derivatives");
}

#[test]
fn fewer_tiers_longer_blocks_and_compressed_orbits_give_the_same_where_memory_is_short() {
    let (re, im) = ("-0.74364388703715870475219150611477", "0.13182590420531197049313205638514");
    let size = Size { width: 14, height: 10 };
    let view = View::centred(re, im, "3e27").unwrap().sized(size);
    let settings = Settings { number: NumberKind::Exact, ..Settings::default() };
    let (mut kinds, mut first) = (Vec::new(), None);
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let control = Control { cancel: &cancel, progress: &progress };
    let means = Means { level: Level::best(), threads: 2, control };
    for kibibytes in (64..512).step_by(8).chain((512..4096).step_by(32)).chain((4096..=16_384).step_by(2048)) {
        let limits = Limits { memory_bytes: kibibytes << 10 };
        let points = DeepPoints::new(&view, &settings, &limits).unwrap();
        let Ok(Some(prepared)) = points.shared.prepared(5000, means) else { continue };
        let fitting = prepared.fitting(&OF_DWELLS, &points.shared);
        if OF_DWELLS.last() == Some(&fitting) && prepared.first_level == MOST_FIRST {
            // Even these may not fit.
            continue;
        }
        kinds.push((prepared.reference.is_compressed(), prepared.first_level, fitting.len()));
        let found = computed(&points, size, 5000, false).dwell;
        assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{kibibytes} KiB");
    }
    kinds.dedup();
    let levels = |is_compressed| -> BTreeSet<u32> {
        kinds.iter().filter(|(compressed, ..)| *compressed == is_compressed).map(|(_, level, _)| *level).collect()
    };
    assert!((FIRST..=MOST_FIRST_OF_PAIRS).all(|level| levels(false).contains(&level)), "{kinds:?}");
    assert!((MOST_FIRST_OF_PAIRS..MOST_FIRST).all(|level| levels(true).contains(&level)), "{kinds:?}");
    let of_shortest = kinds.iter().filter(|(_, level, _)| *level == FIRST).map(|(.., length)| *length);
    assert!(of_shortest.eq(2..=6), "{kinds:?}");
}

#[test]
fn what_a_first_tier_with_cells_leaves_is_decided_in_pairs_with_cells() {
    // Beside -3/4, where orbits that have parted from the reference take thousands of steps through a gap.
    let size = Size { width: 64, height: 36 };
    let (re, im) = ("-0.749999987350877481864108888020013802838", "0.0010000386882368320131245812300498491327");
    let view = View::centred(re, im, "1e25").unwrap().sized(size);
    let (points, places) = (exact_points(&view), all_places(size));
    with_course(&points, 3_000_000, ChannelSet::default(), |course| follows_with_cells(&course, &places));
}

/// Of a view with long tails.
fn follows_with_cells(course: &Course<'_>, places: &[(u32, u32)]) {
    let number = |attempt: Attempt| course.number_of(attempt).unwrap();
    let of_tier = |tier: Tier| number(Attempt::ByDeltas(tier as usize));
    let first = of_tier(Tier::F64Coarse);
    let made = Attempted::default();
    let on_device = || course.next_on_device(first, places.len() as u64, &made);
    assert!(!course.is_detour(Tier::F64Fine as usize) && on_device().is_some(), "before orbits were iterated");
    let without_cells = found_by(course, first, places);
    let with_cells = found_by(course, first, places);
    assert!(course.is_detour(Tier::F64Fine as usize) && !course.is_detour(Tier::PairsMedium as usize));
    assert_eq!(on_device(), None);
    for (one, other) in without_cells.iter().zip(&with_cells) {
        assert!(one == other || [one, other].contains(&&Found::Undecided), "{one:?}, {other:?}");
    }
    let left: Vec<u32> =
        (0..).zip(&with_cells).filter(|(_, found)| **found == Found::Undecided).map(|(at, _)| at).collect();
    assert!((5..500).contains(&left.len()), "{} are left", left.len());
    let of_left = |attempt: usize| {
        let mut buffers = DeepBuffers { open: left.clone(), ..DeepBuffers::default() };
        course.attempt(attempt, &mut buffers, places).unwrap();
        (buffers.found, buffers.tiers[0].cells)
    };
    let (exact, _) = of_left(number(Attempt::InFixedPoint(0)));
    for tier in [Tier::PairsMedium, Tier::PairsQuartic] {
        let (found, cells) = of_left(of_tier(tier));
        assert!(cells > 0, "{tier:?}");
        let decided = found.iter().filter(|found| **found != Found::Undecided).count();
        assert!(decided * 4 > left.len() * 3, "{tier:?}: {decided} of {}", left.len());
        assert!(
            found.iter().zip(&exact).all(|(found, exact)| found == exact || *found == Found::Undecided),
            "{tier:?}"
        );
    }
}
