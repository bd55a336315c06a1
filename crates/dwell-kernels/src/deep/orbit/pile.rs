//! Orbits under way in columns, so that vectors of them can be loaded, and parts of vectors appended.

use super::operations::{DerivativeLanes, count_of};
use crate::deep::derivative::Derivative;
use crate::deep::lanes::{ComplexLanes, LANES, Lanes, Marks, Reals};
use crate::deep::mantissa::{Complex, Mantissa};
use fearless_simd::Simd;
use std::marker::PhantomData;

/// The most orbits of a pile: their columns stay in the first cache.
pub(super) const MOST: usize = 256;
/// A column, with room for a whole vector after the last orbit.
const COLUMN: usize = MOST + LANES;

/// The columns before those of z and c.
const E: usize = 0;
const M: usize = 1;
const ROOM: usize = 2;
const SLOT: usize = 3;
const EVENTS: usize = 4;
/// Of derivatives: two parts and the bound.
const D: [usize; 3] = [5, 6, 7];
const Z: usize = 8;
/// As many as pairs have.
const COLUMNS: usize = Z + 8;

/// Orbits in lanes. m, room and slot are whole numbers below 2^52.
pub(super) struct Orbits<T: Mantissa, S: Simd> {
    pub(super) z: ComplexLanes<T, S>,
    /// In units of 2^scale.
    pub(super) c: ComplexLanes<T, S>,
    pub(super) e: Reals<S>,
    /// 0 in a pool without derivatives.
    pub(super) derivative: DerivativeLanes<S>,
    /// The index in the reference.
    pub(super) m: Reals<S>,
    /// Steps up to the limit.
    pub(super) room: Reals<S>,
    /// Which pixel it is.
    pub(super) slot: Reals<S>,
}

/// One orbit of a pile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<T> {
    pub(super) z: Complex<T>,
    pub(super) c: Complex<T>,
    pub(super) e: f64,
    pub(super) derivative: Derivative,
    pub(super) m: usize,
    pub(super) room: usize,
    pub(super) slot: usize,
}

/// Vectors of a column are cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Column([f64; COLUMN]);

/// Bytes of a list.
pub(super) const BYTES: usize = size_of::<[Column; COLUMNS]>();

/// A list of orbits, with their derivatives where `DERIVED`.
pub(super) struct Pile<T, const DERIVED: bool> {
    columns: Box<[Column; COLUMNS]>,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Mantissa, const DERIVED: bool> Pile<T, DERIVED> {
    /// The first columns of the parts of z and c.
    const NUMBERS: [usize; 4] = [Z, Z + T::PARTS, Z + 2 * T::PARTS, Z + 3 * T::PARTS];

    pub(super) fn new() -> Self {
        Self { columns: Box::new([Column([0.0; COLUMN]); COLUMNS]), len: 0, of: PhantomData }
    }

    #[inline(always)]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// m of an orbit.
    #[inline(always)]
    pub(super) fn m(&self, at: usize) -> usize {
        self.columns[M].0[at] as usize
    }

    #[inline(always)]
    fn vector<S: Simd>(&self, simd: S, column: usize, at: usize) -> Reals<S> {
        Reals::load(simd, &self.columns[column].0[at..])
    }

    #[inline(always)]
    fn vectors<S: Simd>(&self, simd: S, column: usize, at: usize) -> T::Lanes<S> {
        <T::Lanes<S>>::from_parts(
            #[inline(always)]
            |part| self.vector(simd, column + part, at),
        )
    }

    #[inline(always)]
    fn derivative<S: Simd>(&self, simd: S, at: usize) -> DerivativeLanes<S> {
        if !DERIVED {
            return DerivativeLanes::none(simd);
        }
        let [re, im, off] = D;
        let d = Complex { re: self.vector(simd, re, at), im: self.vector(simd, im, at) };
        DerivativeLanes { d, off: self.vector(simd, off, at) }
    }

    /// The orbits from `at` on. Lanes beyond the last one hold what was there before, or zeros.
    #[inline(always)]
    pub(super) fn load<S: Simd>(&self, simd: S, at: usize) -> Orbits<T, S> {
        let [z_re, z_im, c_re, c_im] = Self::NUMBERS;
        Orbits {
            z: Complex { re: self.vectors(simd, z_re, at), im: self.vectors(simd, z_im, at) },
            c: Complex { re: self.vectors(simd, c_re, at), im: self.vectors(simd, c_im, at) },
            e: self.vector(simd, E, at),
            derivative: self.derivative(simd, at),
            m: self.vector(simd, M, at),
            room: self.vector(simd, ROOM, at),
            slot: self.vector(simd, SLOT, at),
        }
    }

    /// What [`Self::append_with`] noted of the orbits from `at` on.
    #[inline(always)]
    pub(super) fn notes<S: Simd>(&self, simd: S, at: usize) -> Reals<S> {
        self.vector(simd, EVENTS, at)
    }

    #[inline(always)]
    fn number(&self, column: usize, at: usize) -> T {
        T::from_parts(
            #[inline(always)]
            |part| self.columns[column + part].0[at],
        )
    }

    /// One orbit, and what [`Self::append_with`] noted.
    #[inline(always)]
    pub(super) fn row(&self, at: usize) -> (Row<T>, usize) {
        let [z_re, z_im, c_re, c_im] = Self::NUMBERS;
        let row = Row {
            z: Complex { re: self.number(z_re, at), im: self.number(z_im, at) },
            c: Complex { re: self.number(c_re, at), im: self.number(c_im, at) },
            e: self.columns[E].0[at],
            derivative: if DERIVED {
                let [re, im, off] = D.map(|column| self.columns[column].0[at]);
                Derivative { d: Complex { re, im }, off }
            } else {
                Derivative::NONE
            },
            m: self.columns[M].0[at] as usize,
            room: self.columns[ROOM].0[at] as usize,
            slot: self.columns[SLOT].0[at] as usize,
        };
        (row, self.columns[EVENTS].0[at] as usize)
    }

    /// Adds an orbit with a note.
    #[inline(always)]
    pub(super) fn push_with(&mut self, row: Row<T>, note: f64) {
        self.push(row);
        self.columns[EVENTS].0[self.len - 1] = note;
    }

    /// Adds an orbit.
    #[inline(always)]
    pub(super) fn push(&mut self, row: Row<T>) {
        let at = self.len;
        assert!(at < MOST, "a pile has room for all orbits under way");
        for (column, number) in Self::NUMBERS.into_iter().zip([row.z.re, row.z.im, row.c.re, row.c.im]) {
            for part in 0..T::PARTS {
                self.columns[column + part].0[at] = number.part(part);
            }
        }
        for (column, value) in [(E, row.e), (M, row.m as f64), (ROOM, row.room as f64), (SLOT, row.slot as f64)] {
            self.columns[column].0[at] = value;
        }
        if DERIVED {
            let Derivative { d, off } = row.derivative;
            for (column, value) in D.into_iter().zip([d.re, d.im, off]) {
                self.columns[column].0[at] = value;
            }
        }
        self.len += 1;
    }

    /// Adds the orbits that are marked.
    #[inline(always)]
    pub(super) fn append<S: Simd>(&mut self, orbits: &Orbits<T, S>, marks: Marks<S>) {
        // Not more than the most, which the compiler then knows of each column.
        let at = self.len.min(MOST);
        let columns = &mut *self.columns;
        let numbers = [orbits.z.re, orbits.z.im, orbits.c.re, orbits.c.im];
        for (column, number) in Self::NUMBERS.into_iter().zip(numbers) {
            for part in 0..T::PARTS {
                number.part(part).compress(marks).store(&mut columns[column + part].0[at..]);
            }
        }
        orbits.e.compress(marks).store(&mut columns[E].0[at..]);
        if DERIVED {
            let DerivativeLanes { d, off } = orbits.derivative;
            for (column, value) in D.into_iter().zip([d.re, d.im, off]) {
                value.compress(marks).store(&mut columns[column].0[at..]);
            }
        }
        orbits.m.compress(marks).store(&mut columns[M].0[at..]);
        orbits.room.compress(marks).store(&mut columns[ROOM].0[at..]);
        orbits.slot.compress(marks).store(&mut columns[SLOT].0[at..]);
        self.len = at + count_of::<S>(marks);
    }

    /// Adds the orbits that are marked, with a note to each.
    #[inline(always)]
    pub(super) fn append_with<S: Simd>(&mut self, orbits: &Orbits<T, S>, notes: Reals<S>, marks: Marks<S>) {
        let at = self.len.min(MOST);
        notes.compress(marks).store(&mut self.columns[EVENTS].0[at..]);
        self.append(orbits, marks);
    }
}
