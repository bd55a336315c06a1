//! A group of blocks that are iterated together: one block in each lane.

use super::model::Model;
use crate::number::Number;
use crate::vector::{MAX_LANES, Vector};
use fearless_simd::Simd;

/// A number for each lane of `U` vectors.
pub(super) type Lanes<N, const U: usize> = [[N; MAX_LANES]; U];

/// The blocks of a group, lane by lane.
pub(super) struct Group<N, const U: usize> {
    /// The lanes in use, as bits for each vector.
    pub(super) used: [u64; U],
    /// The model, in the order of [`Self::model`].
    state: [Lanes<N, U>; 7],
    /// c of the centre, or of the Julia set.
    pub(super) c: [Lanes<N, U>; 2],
    pub(super) radius: Lanes<N, U>,
}

impl<N: Number, const U: usize> Group<N, U> {
    pub(super) fn new() -> Self {
        let none = [[N::default(); MAX_LANES]; U];
        Self { used: [0; U], state: [none; 7], c: [none; 2], radius: none }
    }

    /// Puts a block into a lane.
    #[inline(always)]
    pub(super) fn set(&mut self, [vector, lane]: [usize; 2], model: &Model<N>, c: [N; 2], radius: N) {
        let Model { z, slope, second, e } = *model;
        for (state, value) in self.state.iter_mut().zip([z[0], z[1], slope[0], slope[1], second[0], second[1], e]) {
            state[vector][lane] = value;
        }
        for (lanes, part) in self.c.iter_mut().zip(c) {
            lanes[vector][lane] = part;
        }
        self.radius[vector][lane] = radius;
        self.used[vector] |= 1 << lane;
    }

    /// The model in a lane.
    #[inline(always)]
    pub(super) fn get(&self, [vector, lane]: [usize; 2]) -> Model<N> {
        let [x, y, p, q, s, t, e] = self.state.each_ref().map(|state| state[vector][lane]);
        Model { z: [x, y], slope: [p, q], second: [s, t], e }
    }

    #[inline(always)]
    pub(super) fn model<S: Simd>(&self, simd: S, vector: usize) -> Model<Vector<S, N>> {
        let load = |i: usize| Vector::load(simd, &self.state[i][vector]);
        Model { z: [load(0), load(1)], slope: [load(2), load(3)], second: [load(4), load(5)], e: load(6) }
    }

    /// Replaces the models of the lanes in a mask.
    #[inline(always)]
    pub(super) fn store<S: Simd>(&mut self, simd: S, vector: usize, lanes: u64, model: &Model<Vector<S, N>>) {
        let mask = Vector::<S, N>::mask(simd, lanes);
        let Model { z, slope, second, e } = *model;
        for (state, value) in self.state.iter_mut().zip([z[0], z[1], slope[0], slope[1], second[0], second[1], e]) {
            let old = Vector::load(simd, &state[vector]);
            value.where_else(mask, old).store(&mut state[vector]);
        }
    }
}
