//! The cells of a quadrant outside a set of its cells: those that a way leads to from infinity, over sides of cells that are not in the
//! set. No way leads over a corner between two cells of the set, since the set is closed and contains the corner.
//!
//! A sweep goes over all rows and back, and fills each row word by word; sweeps are repeated until nothing changes.

use super::{Division, WORD};

/// Makes `outside` the cells outside `cells`. Both have one bit for each cell, by rows from the axis y = 0.
pub(super) fn find(division: &Division, cells: &[u64], outside: &mut [u64]) {
    let Division { side, words, .. } = *division;
    let last = 1 << ((side - 1) % WORD);
    for (outside, cells) in outside.chunks_mut(words).zip(cells.chunks(words)) {
        outside.fill(0);
        outside[words - 1] = last & !cells[words - 1];
    }
    let top = (side - 1) * words;
    outside[top..].iter_mut().zip(&cells[top..]).for_each(|(outside, cells)| *outside = !cells);
    let mut changes = true;
    while changes {
        changes = false;
        for row in (0..side - 1).rev() {
            changes |= fill(words, cells, outside, row, row + 1);
        }
        for row in 1..side {
            changes |= fill(words, cells, outside, row, row - 1);
        }
    }
}

/// Adds the cells of a row that are reached from another row beside it, and from those in the row. Returns whether there are any.
fn fill(words: usize, cells: &[u64], outside: &mut [u64], row: usize, beside: usize) -> bool {
    let (mut changes, mut carry) = (false, 0);
    for word in 0..words {
        let at = row * words + word;
        let (free, reached) = (!cells[at], outside[at] | outside[beside * words + word] | carry);
        let filled = towards(free, reached & free, |bits, cells| bits << cells);
        changes |= filled != outside[at];
        outside[at] = filled;
        carry = filled >> (WORD - 1);
    }
    carry = 0;
    for at in (row * words..(row + 1) * words).rev() {
        let free = !cells[at];
        let filled = towards(free, (outside[at] | carry << (WORD - 1)) & free, |bits, cells| bits >> cells);
        changes |= filled != outside[at];
        outside[at] = filled;
        carry = filled & 1;
    }
    changes
}

/// The free cells of a word that are reached in one direction, in a number of steps that is the logarithm of its cells.
fn towards(mut free: u64, mut reached: u64, moved: impl Fn(u64, u32) -> u64) -> u64 {
    for cells in [1, 2, 4, 8, 16, 32] {
        reached |= free & moved(reached, cells);
        free &= moved(free, cells);
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Fold;
    use crate::test_random::Random;

    #[test]
    fn cells_outside_are_those_that_steps_over_sides_reach() {
        let mut random = Random(7);
        for per_unit in [4, 32, 64] {
            let division = Division::new(Fold::Absolute, per_unit);
            let Division { side, words, .. } = division;
            // Of a third of the cells, what is free is one winding component and many small ones.
            for one_in in [2, 3, 3, 4, 40] {
                let mut is_in = vec![false; side * side];
                is_in.iter_mut().for_each(|cell| *cell = random.below(one_in) == 0);
                let mut cells = vec![0; side * words];
                for (cell, _) in is_in.iter().enumerate().filter(|(_, is_in)| **is_in) {
                    cells[cell / side * words + cell % side / WORD] |= 1 << (cell % side % WORD);
                }
                let mut expected = vec![false; side * side];
                let border = |cell: &usize| cell / side == side - 1 || cell % side == side - 1;
                let mut ways: Vec<_> = (0..side * side).filter(border).collect();
                while let Some(cell) = ways.pop() {
                    if !is_in[cell] && !std::mem::replace(&mut expected[cell], true) {
                        let (row, column) = (cell / side, cell % side);
                        let beside = [
                            (row > 0).then(|| cell - side),
                            (row + 1 < side).then_some(cell + side),
                            (column > 0).then(|| cell - 1),
                            (column + 1 < side).then_some(cell + 1),
                        ];
                        ways.extend(beside.into_iter().flatten());
                    }
                }
                let mut outside = vec![u64::MAX; side * words];
                find(&division, &cells, &mut outside);
                for (cell, expected) in expected.iter().enumerate() {
                    let bit = outside[cell / side * words + cell % side / WORD] >> (cell % side % WORD) & 1;
                    assert_eq!(bit == 1, *expected, "{per_unit} {one_in} {cell}");
                }
            }
        }
    }
}
