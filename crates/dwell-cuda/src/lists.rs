//! Lists that kernels keep in device memory from one launch to the next: surviving points, rectangles, and the counters
//! of both.

use crate::driver::{Address, Buffer, Context, Event, Fault, Stream};
use crate::needs::Capacity;
use crate::options::Division;
use crate::proof::{CellList, ProofLists};
use crate::shared::{CELL_SIDE, shared_struct};
use dwell::Size;
use std::cell::Cell;
use std::sync::Arc;

shared_struct! {
    /// Surviving points: z and the place of each, counted along rows of the task's width from its `begin` on.
    struct Survivors<'a, N> {
        x: Address<'a, N>,
        y: Address<'a, N>,
        place: Address<'a, u32>,
        count: Address<'a, u32>,
    }
}

shared_struct! {
    /// A rectangle of pixels: columns and rows, upper ends excluded.
    struct Corners {
        pub(crate) left: u32,
        pub(crate) top: u32,
        pub(crate) right: u32,
        pub(crate) bottom: u32,
    }
}

shared_struct! {
    /// A list of rectangles.
    struct RectangleList<'a> {
        rectangles: Address<'a, Corners>,
        count: Address<'a, u32>,
        capacity: u32,
    }
}

const _: () = assert!(size_of::<Survivors<'_, f32>>() == 32 && size_of::<Survivors<'_, f64>>() == 32);
const _: () = assert!(size_of::<Corners>() == 16 && size_of::<RectangleList<'_>>() == 24);

/// Counts of lists of survivors and of rectangles.
pub(crate) const COUNTS: usize = 60;
/// Counts of lists of cells, after those.
pub(crate) const CELL_COUNTS: usize = 4;
/// Words of 32 bits before the counts of lists: pixels written (two words), device-side launches that failed, and the
/// last error.
const FIRST_COUNT: usize = 4;

/// Words in all: then the number of the next cell of a list.
const WORDS: usize = FIRST_COUNT + COUNTS + CELL_COUNTS + 1;

/// Counters that kernels add to.
#[derive(Debug)]
pub(crate) struct Counters {
    words: Buffer<u32>,
    /// Whether nothing was counted since they were cleared.
    are_clear: Cell<bool>,
}

impl Counters {
    pub(crate) fn new(context: &Arc<Context>) -> Result<Self, Fault> {
        Ok(Self { words: Buffer::new(context, WORDS)?, are_clear: Cell::new(false) })
    }

    /// Sets all of them to 0, unless they are. Call it ahead of time where that is possible: clearing takes little
    /// time, but delays kernels as much as a launch does.
    pub(crate) fn clear(&self, stream: &Stream) -> Result<(), Fault> {
        if self.are_clear.replace(true) {
            return Ok(());
        }
        self.words.clear(0..WORDS, stream)
    }

    /// Sets the counts of all lists to 0, unless they are, and leaves those of pixels.
    pub(crate) fn clear_counts(&self, stream: &Stream) -> Result<(), Fault> {
        if self.are_clear.get() { Ok(()) } else { self.words.clear(FIRST_COUNT..WORDS, stream) }
    }

    /// Notes that a launch counts.
    pub(crate) fn will_change(&self) {
        self.are_clear.set(false);
    }

    /// Sets the count of a list to 0.
    pub(crate) fn clear_count(&self, list: usize, stream: &Stream) -> Result<(), Fault> {
        self.words.clear(FIRST_COUNT + list..FIRST_COUNT + list + 1, stream)
    }

    /// The count of a list, 0 to [`COUNTS`] - 1.
    fn count(&self, list: usize) -> Address<'_, u32> {
        assert!(list < COUNTS, "one of the counts");
        self.words.view(FIRST_COUNT + list)
    }

    /// The count of a list of cells, 0 to [`CELL_COUNTS`] - 1.
    fn cell_count(&self, list: usize) -> Address<'_, u32> {
        assert!(list < CELL_COUNTS, "one of the counts");
        self.words.view(FIRST_COUNT + COUNTS + list)
    }

    /// The number of the next cell of a list.
    fn next_cell(&self) -> Address<'_, u32> {
        self.words.view(WORDS - 1)
    }

    /// Pixels written.
    pub(crate) fn written(&self) -> Address<'_, u64> {
        self.words.view(0)
    }

    /// Device-side launches that failed.
    pub(crate) fn failed(&self) -> Address<'_, u32> {
        self.words.view(2)
    }

    /// The last error of a device-side launch.
    pub(crate) fn error(&self) -> Address<'_, u32> {
        self.words.view(3)
    }

    /// Copies pixels written, failed launches and the last error to words of another buffer.
    pub(crate) fn copy_outcome(&self, to: &Buffer<u32>, at: usize, stream: &Stream) -> Result<(), Fault> {
        to.copy_from(at, &self.words, FIRST_COUNT, stream)
    }
}

/// The lists of a kernel.
#[derive(Debug)]
pub(crate) struct Lists<N> {
    survivors: Option<[SurvivorList<N>; 2]>,
    rectangles: Option<[Buffer<Corners>; 3]>,
    cells: Option<([Buffer<u32>; CELL_COUNTS], Buffer<u8>)>,
    pub(crate) counters: Counters,
    /// Recorded behind launches that the host waits for.
    pub(crate) pace: Event,
}

#[derive(Debug)]
pub(crate) struct SurvivorList<N> {
    x: Buffer<N>,
    y: Buffer<N>,
    place: Buffer<u32>,
}

impl<N> SurvivorList<N> {
    /// Bytes of the place of a point.
    pub(crate) const PLACE_BYTES: usize = size_of::<u32>();

    fn new(context: &Arc<Context>, points: usize) -> Result<Self, Fault> {
        let coordinate = || Buffer::new(context, points);
        Ok(Self { x: coordinate()?, y: coordinate()?, place: Buffer::new(context, points)? })
    }
}

/// Rows that two lists of survivors have room for, of an image of which about so many pixels are delivered at once, within
/// `free` bytes.
pub(crate) fn survivors_of<N>(size: Size, pixels: u64, free: u64) -> Result<u32, Fault> {
    let each = 2 * (2 * size_of::<N>() + SurvivorList::<N>::PLACE_BYTES) as u64;
    // Where memory is plentiful, more than are delivered at once: fewer launches that wait for a last warp.
    let roomy = pixels * 4;
    // Places are counted in 32 bits.
    let count = if roomy * each <= free / 8 { roomy } else { pixels }.min(u64::from(u32::MAX));
    if count.min(size.pixels()) * each > free {
        return Err(Fault::Memory);
    }
    let rows = (count / u64::from(size.width)).clamp(1, u64::from(size.height));
    Ok(u32::try_from(rows).unwrap_or(u32::MAX))
}

/// Rectangles of each of the lists for an image.
///
/// A rectangle that is divided has a shorter side of more than parts * min_size, so children of more than min_size,
/// less the border; those of the first level may have any size.
pub(crate) fn rectangles_of(size: Size, division: Division) -> Result<usize, Fault> {
    let Division { initial, min_size, .. } = division;
    let least = u64::from(min_size.max(2)).pow(2) / 2;
    let count = u64::from(initial).pow(2) + size.pixels() / least + 1024;
    // The kernels count them in 32 bits.
    u32::try_from(count).map(|count| count as usize).map_err(|_| Fault::Memory)
}

/// Cells of so many columns and rows.
pub(crate) fn cells_of(columns: u32, rows: u32) -> u64 {
    u64::from(columns.div_ceil(CELL_SIDE)) * u64::from(rows.div_ceil(CELL_SIDE))
}

impl<N> Lists<N> {
    /// Counters, and lists with room for so much: none of those that have no room.
    pub(crate) fn new(context: &Arc<Context>, room: &Capacity) -> Result<Self, Fault> {
        let survivors = || SurvivorList::new(context, room.list_points);
        let rectangles = || Buffer::new(context, room.rectangles);
        let cells = || Buffer::new(context, room.cells);
        Ok(Self {
            survivors: if room.list_points > 0 { Some([survivors()?, survivors()?]) } else { None },
            rectangles: if room.rectangles > 0 { Some([rectangles()?, rectangles()?, rectangles()?]) } else { None },
            cells: if room.cells > 0 {
                Some(([cells()?, cells()?, cells()?, cells()?], Buffer::new(context, room.cells)?))
            } else {
                None
            },
            counters: Counters::new(context)?,
            pace: Event::new(context)?,
        })
    }

    /// One of the two lists of survivors, with one of the counts, for a launch over so many pixels.
    pub(crate) fn survivors(&self, list: usize, count: usize, pixels: u64) -> Result<Survivors<'_, N>, Fault> {
        let Some(lists) = &self.survivors else {
            return Err(Fault::Lost("there are no lists of survivors".to_owned()));
        };
        let SurvivorList { x, y, place } = &lists[list];
        assert!(pixels <= place.len() as u64, "room for every point");
        Ok(Survivors { x: x.address(), y: y.address(), place: place.address(), count: self.counters.count(count) })
    }

    /// The lists of cells, for a launch over so many columns and rows.
    pub(crate) fn cells(&self, [columns, rows]: [u32; 2]) -> Result<ProofLists<'_>, Fault> {
        let Some((lists, dwells)) = &self.cells else {
            return Err(Fault::Lost("there are no lists of cells".to_owned()));
        };
        // There are fewer blocks than cells.
        assert!(cells_of(columns, rows) <= lists[0].len() as u64, "room for every cell");
        let list = |list: usize| CellList { cells: lists[list].address(), count: self.counters.cell_count(list) };
        Ok(ProofLists {
            dwells: dwells.address(),
            divided: list(0),
            bounded: list(1),
            left: list(2),
            late: list(3),
            next: self.counters.next_cell(),
        })
    }

    /// One of the three lists of rectangles, with one of the counts.
    pub(crate) fn rectangles(&self, list: usize, count: usize) -> Result<RectangleList<'_>, Fault> {
        let Some(lists) = &self.rectangles else {
            return Err(Fault::Lost("there are no lists of rectangles".to_owned()));
        };
        let capacity = u32::try_from(lists[list].len()).unwrap_or(u32::MAX);
        Ok(RectangleList { rectangles: lists[list].address(), count: self.counters.count(count), capacity })
    }
}
