//! Sums over the bands of a render, for its report and its journal.

use crate::iterate::engine::{Notes, Times};
use crate::iterate::tiles::TileSize;
use crate::render::field_hash::FieldHasher;
use crate::render::record::{Reader, Record};
use crate::render::refine::Refined;
use crate::render::seconds::Seconds;
use std::time::Duration;

/// Counts, times and notes, summed over bands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) hasher: Option<FieldHasher>,
    pub(crate) iterations: u128,
    pub(crate) interior_pixels: u64,
    pub(crate) refined: Refined,
    /// Whether pixels may be refined.
    pub(crate) refines: bool,
    /// Samples of the field on a side of a pixel.
    pub(crate) samples: u32,
    /// Whether the time of iterating counts as colouring, as in the first of two passes.
    pub(crate) for_colour: bool,
    /// The size of tiles, if bands are cut into tiles.
    pub(crate) tile: Option<TileSize>,
    /// Pixels whose dwell differs from that of the strategy `every-pixel`, if that was verified.
    pub(crate) differing: Option<u64>,
    /// Planned bytes of the layout.
    pub(crate) planned_bytes: u64,
    /// How many times the render was interrupted and resumed.
    pub(crate) resumes: u32,
    pub(crate) seconds: Seconds,
    /// Warnings and facts of a device, as engines reported them.
    pub(crate) notes: Notes,
}

impl Tally {
    /// Adds the times and notes of a call of an engine.
    pub(crate) fn add_outcome(&mut self, times: Times, notes: Notes) {
        self.add_iterating(times.iterate);
        self.seconds.colour += times.channels.as_secs_f64();
        self.notes.add(notes);
    }

    /// Adds time spent on iterating.
    pub(crate) fn add_iterating(&mut self, time: Duration) {
        let seconds = if self.for_colour { &mut self.seconds.colour } else { &mut self.seconds.iterate };
        *seconds += time.as_secs_f64();
    }

    /// Adds the sums of another tally. Its hash is ignored.
    pub(crate) fn add(&mut self, other: &Self) {
        self.iterations += other.iterations;
        self.interior_pixels += other.interior_pixels;
        self.refined.add(other.refined);
        self.samples = self.samples.max(other.samples);
        self.resumes += other.resumes;
        self.notes.add(other.notes.clone());
        if let Some(differing) = other.differing {
            self.differing = Some(self.differing.unwrap_or(0) + differing);
        }
        for (own, other) in self.seconds.each_mut().into_iter().zip(other.seconds.clone().each_mut()) {
            *own += *other;
        }
    }

    /// Upper bound of the bytes that [`Self::write`] appends, some numbers aside.
    pub(crate) fn record_bytes(&self) -> usize {
        self.hasher.as_ref().map_or(0, |hasher| {
            let (_, subtrees, rest) = hasher.parts();
            subtrees.as_flattened().len() + rest.len()
        })
    }

    /// Writes what a later process needs to resume.
    pub(crate) fn write(&self, record: &mut Record) {
        record.u128(self.iterations);
        record.u64(self.interior_pixels);
        record.u64(self.refined.pixels);
        record.u64(self.refined.samples);
        record.u32(self.resumes);
        record.option(self.differing, Record::u64);
        record.option(self.hasher.as_ref(), |record, hasher| {
            let (grouped, subtrees, rest) = hasher.parts();
            record.u64(grouped);
            record.bytes(subtrees.as_flattened());
            record.bytes(rest);
        });
        for seconds in self.seconds.clone().each_mut() {
            record.f64(*seconds);
        }
    }

    /// The inverse of [`Self::write`]. `None` if the record is too short or its hash state is not valid.
    pub(crate) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let mut tally = Self {
            iterations: reader.u128()?,
            interior_pixels: reader.u64()?,
            refined: Refined { pixels: reader.u64()?, samples: reader.u64()? },
            resumes: reader.u32()?,
            differing: reader.option(Reader::u64)?,
            hasher: reader.option(|reader| {
                let (grouped, subtrees, rest) = (reader.u64()?, reader.bytes()?, reader.bytes()?);
                let (subtrees, odd) = subtrees.as_chunks();
                if odd.is_empty() { FieldHasher::from_parts(grouped, subtrees.to_vec(), rest.to_vec()) } else { None }
            })?,
            ..Self::default()
        };
        for seconds in tally.seconds.each_mut() {
            *seconds = reader.f64()?;
        }
        Some(tally)
    }
}
