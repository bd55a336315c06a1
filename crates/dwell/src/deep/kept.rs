//! References that views share: plans of the same view at the same time, as those of its probe and of its picture; and as long as a program
//! asks for it ([`KeepReferences`]), views that follow one another.
//!
//! An orbit of C and its blocks are proved for every c within 2^scale of C. So they serve every view that lies in that disc, whose offsets
//! are then those from C; dwells and values are facts about points and do not change. What changes is speed: the deltas of a view that is 2^k
//! times smaller than the disc are as large as their orbits earlier, and blocks end where c would matter that the view does not have. With 1280x720 pixels of
//! kf-1e50, k = 1 to 4 take 1, 11, 15 and 35 % longer than with an orbit and blocks of their own, which take 3 % of the time. So they are kept where making others would take
//! longer than that: always for a view of the same size.

use super::prepared::Shared;
use crate::exact::rational::Rational;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The most powers of two by which a view is smaller than the one that a reference was made for.
const DEEPER: i64 = 12;
/// The share of their time that pixels take longer for each of them.
const SLOWER: f64 = 0.1;
/// Powers of two by which the disc of a reference is larger than its view where that is worth it: views that are moved lie in it.
const MARGIN: i64 = 1;
/// The most references that are kept.
const MOST: usize = 4;

/// The references in use.
#[derive(Debug)]
struct Kept {
    keepers: usize,
    /// The last one. It is freed with the last plan that has it, unless references are kept.
    last: Weak<Shared>,
    /// The last ones used, the latest first, while they are kept.
    list: Vec<Arc<Shared>>,
}

static KEPT: Mutex<Kept> = Mutex::new(Kept { keepers: 0, last: Weak::new(), list: Vec::new() });

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// While a value of this type exists, the reference orbits and blocks of deep views (`--precision exact`) are kept when the plans of a view are
/// gone, and views near an earlier one use them where that is faster: for programs that move through the plane. They are up to four,
/// and together take at most half the memory that the limits of the last view allow. Results are the same.
///
/// ```
/// use dwell::KeepReferences;
///
/// let keep = KeepReferences::default();
/// // Views that are rendered here share what they can.
/// drop(keep);
/// ```
#[derive(Debug)]
pub struct KeepReferences(());

impl Default for KeepReferences {
    fn default() -> Self {
        kept().keepers += 1;
        Self(())
    }
}

impl Drop for KeepReferences {
    fn drop(&mut self) {
        let mut kept = kept();
        kept.keepers -= 1;
        if kept.keepers == 0 {
            // They are freed after the lock.
            let list = std::mem::take(&mut kept.list);
            drop(kept);
            drop(list);
        }
    }
}

/// A view that needs a reference.
pub(super) struct Wanted<'a> {
    pub(super) centre: &'a [Rational; 2],
    /// At least the distance of every point of the view from its centre.
    pub(super) reach: &'a Rational,
    /// The power of two above it.
    pub(super) scale: i64,
    pub(super) pixels: u64,
}

/// What a view shares with an earlier one, or what `made` makes for it with a disc that is larger by a power of two.
pub(super) fn shared(wanted: &Wanted<'_>, made: impl Fn(i64) -> Shared) -> Arc<Shared> {
    let mut kept = kept();
    let new = made(0);
    if kept.keepers == 0 {
        if let Some(found) = kept.last.upgrade().filter(|found| found.is_like(&new)) {
            return found;
        }
        let new = Arc::new(new);
        kept.last = Arc::downgrade(&new);
        return new;
    }
    let serves = |known: &&Arc<Shared>| {
        let deeper = known.view_scale() - wanted.scale;
        known.is_like(&new)
            || known.has_settings_of(&new)
                && deeper <= DEEPER
                && known.holds(wanted.centre, wanted.reach)
                && known.is_worth(SLOWER * deeper.max(0) as f64, wanted.pixels)
    };
    let found = kept.list.iter().find(serves).cloned().unwrap_or_else(|| {
        let is_moved_much = kept.list.first().is_some_and(|last| last.is_worth(SLOWER * MARGIN as f64, wanted.pixels));
        Arc::new(if is_moved_much { made(MARGIN) } else { new })
    });
    kept.list.retain(|known| !Arc::ptr_eq(known, &found));
    kept.list.insert(0, Arc::clone(&found));
    let freed = kept.without_more_than(found.most_bytes());
    drop(kept);
    drop(freed);
    found
}

impl Kept {
    /// Removes what exceeds the number and the bytes of references that are kept, but not the latest.
    fn without_more_than(&mut self, bytes: u64) -> Vec<Arc<Shared>> {
        let mut sum = 0;
        let fits = |(place, known): (usize, &Arc<Shared>)| {
            sum += known.bytes_used();
            place == 0 || (place < MOST && sum <= bytes)
        };
        let count = self.list.iter().enumerate().map(fits).take_while(|fits| *fits).count();
        self.list.split_off(count)
    }
}
