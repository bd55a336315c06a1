//! Segments of a table, which several threads fill side by side: the blocks within 2^k steps of the reference depend on these steps alone.

use super::merge::Block;
use super::merged::Merged;
use super::path::{self, Path, Piece, is_piece};
use super::places::{first_of, origin};
use super::quartic::HigherLines;
use super::runs::{self, OutOfRange, Runs};
use super::wide::{Kept, Wide};
use super::{Entry, Origin, Table, WideEntry};
use crate::deep::lanes::Reals;
use crate::deep::mantissa::Mantissa;
use crate::deep::{NoTable, TableSetting};
use crate::level::separately;
use fearless_simd::Simd;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The least steps for which threads are started: segments are whole runs then, and take a tenth of a millisecond.
const LEAST_STEPS: usize = 1 << (runs::LEVEL + path::HALVINGS);
/// Steps between two looks at a watch: some milliseconds.
const STEPS_OF_LOOK: usize = 1 << 12;

/// A part of a table: the blocks that begin at some origins that follow one another.
pub(super) struct Segment<'a, T: Mantissa> {
    /// The level of the shortest blocks that are kept.
    pub(super) first_level: u32,
    first_origin: usize,
    first_place: usize,
    origins: &'a mut [Origin],
    radius: &'a mut [f64],
    entries: &'a mut [T::Lines],
    /// Empty in a table of the second degree.
    higher: &'a mut [HigherLines],
    /// The most blocks that are kept for deltas below the range of f64, and those that are.
    most_wide: usize,
    pub(super) wide: Vec<Kept<T>>,
}

/// What is left of a segment that is filled.
pub(super) struct Filled<B> {
    /// Blocks of falling levels.
    waiting: Waiting<B>,
    /// The pieces of the path.
    pieces: Vec<Piece>,
    /// The least level of a piece.
    least_level: u32,
}

/// A segment that is filled, and the blocks for deltas below the range of f64 that are kept of it.
type Done<B, T> = (Filled<B>, Vec<Kept<T>>);

/// Blocks that wait for their right neighbours, of falling levels.
struct Waiting<B>(Vec<(u32, Option<B>)>);

/// How blocks are merged, and which of them are kept.
#[derive(Clone, Copy)]
struct Merging {
    tolerance: f64,
    first_level: u32,
}

impl Merging {
    fn of(setting: &TableSetting<'_>) -> Self {
        Self { tolerance: setting.tolerance, first_level: setting.first_level }
    }
}

impl<B: Merged> Waiting<B> {
    /// Adds a block whose last step is m, merges it with those before it, and hands over each that is long enough, with where it begins and its level.
    #[inline(always)]
    fn add(
        &mut self,
        m: usize,
        mut level: u32,
        mut block: Option<B>,
        merging: Merging,
        mut keep: impl FnMut(usize, u32, &B),
    ) {
        while let Some((of_left, left)) = self.0.pop_if(|(of_left, _)| *of_left == level) {
            block = match (left, block) {
                (Some(left), Some(right)) => left.then(&right, merging.tolerance),
                _ => None,
            };
            level = of_left + 1;
            if level >= merging.first_level
                && let Some(block) = &block
            {
                keep(m + 1 - (1 << level), level, block);
            }
        }
        self.0.push((level, block));
    }
}

impl<T: Mantissa> Segment<'_, T> {
    /// Keeps a block at m: number `length` of its origin.
    pub(super) fn keep(&mut self, m: usize, length: usize, block: &WideEntry<T>) {
        if let Some((radius, entry)) = block.narrow() {
            self.keep_narrow(m, length, radius, |lines| entry.write(lines));
        }
        self.keep_wide(m, length, block);
    }

    /// Keeps a block in the range of f64.
    #[inline(always)]
    pub(super) fn keep_narrow(&mut self, m: usize, length: usize, radius: f64, write: impl FnOnce(&mut T::Lines)) {
        let Some(origin) = origin(m, self.first_level) else { return };
        let place = first_of(origin) + length - self.first_place;
        self.radius[place] = radius;
        if length == 0 {
            self.origins[origin - self.first_origin].shortest = radius;
        }
        write(&mut self.entries[place]);
    }

    /// Keeps a block for deltas below the range of f64, where these are kept. One for which there is no memory is left out.
    fn keep_wide(&mut self, m: usize, length: usize, block: &WideEntry<T>) {
        if let Some(origin) = origin(m, self.first_level).filter(|_| self.wide.len() < self.most_wide)
            && self.wide.try_reserve(1).is_ok()
        {
            self.wide.push((first_of(origin) + length, *block));
        }
    }

    /// Keeps a block of the fourth degree: its radius, what blocks of the second degree have, and the terms above it.
    #[inline(always)]
    pub(super) fn keep_quartic(
        &mut self,
        m: usize,
        length: usize,
        (radius, entry, higher): (f64, &Entry<T>, HigherLines),
    ) {
        self.keep_narrow(m, length, radius, |lines| entry.write(lines));
        if let Some(origin) = origin(m, self.first_level) {
            self.higher[first_of(origin) + length - self.first_place] = higher;
        }
    }

    /// Keeps the block of a run, which is kept in the range of f64, for deltas below it too. `None` where there is no such block, so that shorter ones are needed.
    pub(super) fn keep_run(&mut self, begin: usize, block: Option<&Block>) -> Option<()> {
        if self.most_wide == 0 {
            return Some(());
        }
        let block = block?;
        if let Some(length) = runs::LEVEL.checked_sub(self.first_level) {
            self.keep_wide(begin, length as usize, &WideEntry::of(block, runs::STEPS as u64));
        }
        Some(())
    }

    /// Computes the blocks of so many steps from `first` on. Those from m = 1 and of at least the least level are pieces of a path.
    ///
    /// This and what it calls are functions of their own: inlined in each of their callers, they took two fifths of the time in which this crate was compiled, for the same speed.
    #[inline(never)]
    fn fill<S: Simd, B: Merged>(
        &mut self,
        simd: S,
        setting: &TableSetting<'_>,
        (first, steps): (usize, usize),
        least_level: u32,
    ) -> Result<Filled<B>, NoTable> {
        let mut filled = Filled { waiting: Waiting(Vec::new()), pieces: Vec::new(), least_level };
        let (mut m, end) = (first, first + steps);
        let mut look = first;
        while m < end {
            if m == look {
                look = end.min(look + STEPS_OF_LOOK);
                setting.watch.done.fetch_add((look - m) as u64, Ordering::Relaxed);
                if setting.watch.stop.load(Ordering::Relaxed) {
                    return Err(NoTable::Stopped);
                }
            }
            let in_runs = B::add_runs(simd, self, setting, (m, look), &mut filled);
            m += in_runs;
            if in_runs == 0 {
                let next = end.min(m + 2);
                self.add_steps(simd, setting, (m, next), &mut filled);
                m = next;
            }
        }
        Ok(filled)
    }

    /// Adds the steps of runs from m on, up to the next look at a watch. How many.
    #[inline(always)]
    pub(super) fn add_runs<S: Simd>(
        &mut self,
        simd: S,
        setting: &TableSetting<'_>,
        (mut m, look): (usize, usize),
        filled: &mut Filled<Block>,
    ) -> usize {
        let count = if (m - 1) % runs::STEPS == 0 { (look - m) / runs::STEPS } else { 0 };
        if count == 0 {
            return 0;
        }
        let count = count.min(Reals::<S>::LEN);
        let mut runs = Runs::new(setting, (m, count), filled.least_level);
        let of_runs = separately(
            simd,
            #[inline(always)]
            || runs.compute(simd, setting.reference, self),
        );
        filled.pieces.extend(runs.pieces());
        for of_run in &of_runs[..count] {
            let end = m + runs::STEPS;
            match of_run {
                Ok(block) => self.add(simd, setting, (end - 1, runs::LEVEL, *block), filled),
                Err(OutOfRange) => {
                    for m in (m..end).step_by(2) {
                        self.add_steps(simd, setting, (m, m + 2), filled);
                    }
                }
            }
            m = end;
        }
        count * runs::STEPS
    }

    /// Adds two steps, or the last one.
    #[inline(never)]
    fn add_steps<S: Simd, B: Merged>(
        &mut self,
        simd: S,
        setting: &TableSetting<'_>,
        (m, end): (usize, usize),
        filled: &mut Filled<B>,
    ) {
        if m + 1 == end {
            filled.waiting.0.push((0, B::step(setting.reference.extended(m), setting)));
            return;
        }
        let z = [m, m + 1].map(|m| setting.reference.extended(m));
        let block = separately(
            simd,
            #[inline(always)]
            || B::two_steps(z, setting),
        );
        self.add(simd, setting, (m + 1, 1, block), filled);
    }

    /// Adds a block whose last step is m, of a level.
    #[inline(never)]
    fn add<S: Simd, B: Merged>(
        &mut self,
        simd: S,
        setting: &TableSetting<'_>,
        (m, level, block): (usize, u32, Option<B>),
        filled: &mut Filled<B>,
    ) {
        let Filled { waiting, pieces, least_level } = filled;
        separately(
            simd,
            #[inline(always)]
            || {
                waiting.add(m, level, block, Merging::of(setting), |begin, level, block| {
                    block.keep(self, begin, level);
                    if is_piece(begin, level, *least_level)
                        && let Some(piece) = block.piece()
                    {
                        pieces.push((begin, level, piece));
                    }
                });
            },
        );
    }
}

impl<T: Mantissa> Table<T> {
    /// All of the table.
    pub(super) fn whole(&mut self, with_wide: bool) -> Segment<'_, T> {
        let most_wide = if with_wide { Wide::<T>::most(self.radius.len(), self.first_level) } else { 0 };
        Segment {
            first_level: self.first_level,
            first_origin: 0,
            first_place: 0,
            origins: &mut self.origins,
            radius: &mut self.radius,
            entries: &mut self.entries,
            higher: &mut self.higher,
            most_wide,
            wide: Vec::new(),
        }
    }

    /// Computes the blocks of so many steps from m = 1 on, the path of them, and, where they are wanted, those for deltas below the range of f64.
    #[inline(always)]
    pub(super) fn fill<S: Simd, B: Merged>(
        &mut self,
        simd: S,
        setting: &TableSetting<'_>,
        steps: usize,
        with_wide: bool,
    ) -> Result<(Path, Vec<Kept<T>>), NoTable> {
        let mut path = Path::new(steps);
        // At least 256 segments, and what is left.
        let level = path.level;
        let length = 1 << level;
        let is_shared = steps >= LEAST_STEPS && level >= self.first_level && setting.threads > 1;
        let count = if is_shared { steps >> level } else { 0 };
        let mut results: Vec<Option<Done<B, T>>> = Vec::new();
        results.resize_with(count, || None);
        {
            let segments = self.whole(with_wide).split(level, count).into_iter().zip(&mut results).enumerate();
            let segments = Mutex::new(segments);
            let work = || -> Result<(), NoTable> {
                loop {
                    let next = segments.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((number, (mut segment, result))) = next else {
                        return Ok(());
                    };
                    let filled = segment.fill::<S, B>(simd, setting, (1 + number * length, length), path.level)?;
                    *result = Some((filled, segment.wide));
                }
            };
            let helpers = if count == 0 { 0 } else { setting.threads.min(count) - 1 };
            thread::scope(|scope| {
                let helpers: Vec<_> = (0..helpers).map(|_| thread::Builder::new().spawn_scoped(scope, work)).collect();
                let own = work();
                // A thread that cannot be started leaves its work to the others.
                let of_helpers =
                    helpers.into_iter().flatten().map(|helper| helper.join().unwrap_or(Err(NoTable::Stopped)));
                of_helpers.fold(own, Result::and)
            })?;
        }
        let mut whole = self.whole(with_wide);
        let mut waiting = Waiting(Vec::new());
        for (number, result) in results.into_iter().enumerate() {
            let (filled, mut kept) = result.ok_or(NoTable::Stopped)?;
            whole.wide.append(&mut kept);
            filled.pieces.iter().for_each(|(begin, level, block)| path.add(*begin, *level, block));
            let last = (number + 1) * length;
            for (level, block) in filled.waiting.0 {
                waiting.add(last, level, block, Merging::of(setting), |begin, level, block| {
                    block.keep(&mut whole, begin, level);
                    if let Some(piece) = block.piece() {
                        path.add(begin, level, &piece);
                    }
                });
            }
        }
        let done = count * length;
        let rest = whole.fill::<S, B>(simd, setting, (1 + done, steps - done), path.level)?;
        rest.pieces.iter().for_each(|(begin, level, block)| path.add(*begin, *level, block));
        let mut all = waiting.0;
        all.extend(rest.waiting.0);
        path.add_rest(all.into_iter().map(|(level, block)| (level, block.and_then(|block| block.piece()))));
        Ok((path, whole.wide))
    }
}

impl<'a, T: Mantissa> Segment<'a, T> {
    /// The segments of 2^level steps each from m = 1 on. The first has the place of m = 0 as well.
    fn split(self, level: u32, count: usize) -> Vec<Segment<'a, T>> {
        let mut rest = self;
        let mut segments = Vec::with_capacity(count);
        for number in 1..=count {
            // The origin of m = 1 is 1.
            let next_origin = 1 + (number << (level - rest.first_level));
            let next_place = first_of(next_origin);
            let (origins, places) = (next_origin - rest.first_origin, next_place - rest.first_place);
            let (own_origins, origins) = rest.origins.split_at_mut(origins.min(rest.origins.len()));
            let (radius, rest_radius) = rest.radius.split_at_mut(places.min(rest.radius.len()));
            let (entries, rest_entries) = rest.entries.split_at_mut(places.min(rest.entries.len()));
            let (higher, rest_higher) = rest.higher.split_at_mut(places.min(rest.higher.len()));
            segments.push(Segment {
                first_level: rest.first_level,
                first_origin: rest.first_origin,
                first_place: rest.first_place,
                origins: own_origins,
                radius,
                entries,
                higher,
                most_wide: if rest.most_wide > 0 { Wide::<T>::most(places, rest.first_level) } else { 0 },
                wide: Vec::new(),
            });
            rest = Segment {
                first_origin: next_origin,
                first_place: next_place,
                origins,
                radius: rest_radius,
                entries: rest_entries,
                higher: rest_higher,
                ..rest
            };
        }
        segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deep::blocks::{FIRST, MOST_FIRST, REACH};
    use crate::deep::extended::Bound;
    use crate::deep::limbs::Fixed;
    use crate::deep::mantissa::Dd;
    use crate::deep::reference::{End, Reference, Room};
    use crate::deep::table;
    use crate::deep::{Degree, Watch};
    use crate::level::Level;
    use std::sync::atomic::{AtomicBool, AtomicU64};

    /// The orbit of 1/4, which comes nearer to 1/2 for ever.
    fn reference(scale: i32, limit: u64, watch: Watch<'_>) -> Reference {
        let limbs = 3 + (170 - scale).unsigned_abs().div_ceil(64) as usize;
        let (mut x, y) = (Fixed::zero(limbs), Fixed::zero(limbs));
        x.limbs[limbs - 2] = 1 << 62;
        let radius = Bound::new(REACH, scale);
        let reference =
            Reference::new(Level::best(), [&x, &y], radius, 4.0, limit, Room::of_pairs(1 << 20), watch).unwrap();
        assert_eq!((reference.end, reference.last() as u64), (End::Limit, limit));
        reference
    }

    fn check<T: Mantissa + std::fmt::Debug>(scale: i32, limit: u64, degree: Degree, first_level: u32) {
        let stop = AtomicBool::new(false);
        let reference = reference(scale, limit, Watch::unseen(&stop));
        let of = |threads: usize| {
            let done = AtomicU64::new(0);
            let watch = Watch { stop: &stop, done: &done };
            let (reference, tolerance) = (&reference, 2_f64.powi(-26));
            let setting =
                TableSetting { reference, scale, escape_radius: 2.0, tolerance, degree, first_level, threads, watch };
            let table = table::<T>(Level::best(), setting).unwrap();
            let done = done.into_inner();
            assert!((limit - 1..limit + STEPS_OF_LOOK as u64).contains(&done), "{done}");
            // Every number, to the last bit.
            format!("{table:?}")
        };
        let one = of(1);
        for threads in [2, 3, 8] {
            assert!(of(threads) == one, "{threads} threads, 2^{scale}, {limit} steps");
        }
    }

    #[test]
    fn threads_change_nothing() {
        check::<f64>(-60, 16_386, Degree::Second, FIRST);
        check::<f64>(-500, 17_000, Degree::Second, FIRST);
        check::<f64>(-500, 17_000, Degree::Second, 6);
        check::<f64>(-500, 70_000, Degree::Second, MOST_FIRST);
        check::<Dd>(-60, 40_011, Degree::Second, FIRST);
        check::<Dd>(-60, 40_011, Degree::Second, 4);
        check::<Dd>(-60, 40_011, Degree::Fourth, FIRST);
    }

    #[test]
    fn segments_stop() {
        let stop = AtomicBool::new(false);
        let reference = reference(-60, 17_000, Watch::unseen(&stop));
        stop.store(true, Ordering::Relaxed);
        for threads in [1, 3] {
            let watch = Watch::unseen(&stop);
            let (reference, tolerance, degree) = (&reference, 1e-8, Degree::Second);
            let setting = TableSetting {
                reference,
                scale: -60,
                escape_radius: 2.0,
                tolerance,
                degree,
                first_level: FIRST,
                threads,
                watch,
            };
            assert_eq!(table::<f64>(Level::best(), setting).err(), Some(NoTable::Stopped));
        }
    }
}
