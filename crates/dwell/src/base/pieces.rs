//! Sequences of pieces of work that are divided among threads.
//!
//! A sequence makes a piece when a thread takes it, so that its memory does not grow with the number of pieces. An image of
//! a gigapixel in tiles of one pixel would otherwise need many times the memory of its pixels.

use std::ops::Range;

/// A sequence of pieces of work that can be divided. Pieces that need memory fail with an `E` where there is none.
pub(crate) trait Pieces<E>: Send + Sized {
    /// A piece of work.
    type Piece;

    /// The number of pieces that are left.
    fn count(&self) -> usize;

    /// How many of the first pieces a thread takes at once, of those that others may take meanwhile: more than one where a
    /// sequence makes one piece of them that costs less than they do.
    fn at_once(&self) -> usize {
        1
    }

    /// Removes the first `count` pieces, at most all, and returns them.
    fn take_front(&mut self, count: usize) -> Result<Self, E>;

    /// Removes the first piece and returns it; `None` if none is left.
    fn next(&mut self) -> Result<Option<Self::Piece>, E>;
}

/// Numbers, each a piece.
impl<E> Pieces<E> for Range<usize> {
    type Piece = usize;

    fn count(&self) -> usize {
        self.len()
    }

    fn take_front(&mut self, count: usize) -> Result<Self, E> {
        let first = self.start;
        self.start = self.end.min(first.saturating_add(count));
        Ok(first..self.start)
    }

    fn next(&mut self) -> Result<Option<usize>, E> {
        Ok(Iterator::next(self))
    }
}

/// The elements of a slice, several at a time, with the number of each piece.
pub(crate) struct ChunksMut<'a, T> {
    numbers: Range<usize>,
    slice: &'a mut [T],
    size: usize,
}

impl<'a, T> ChunksMut<'a, T> {
    /// Pieces of `size` elements, at least 1; the last may have fewer.
    pub(crate) fn new(slice: &'a mut [T], size: usize) -> Self {
        let size = size.max(1);
        Self { numbers: 0..slice.len().div_ceil(size), slice, size }
    }

    fn cut(&mut self, elements: usize) -> &'a mut [T] {
        let slice = std::mem::take(&mut self.slice);
        let (front, rest) = slice.split_at_mut(elements.min(slice.len()));
        self.slice = rest;
        front
    }
}

impl<'a, T: Send, E> Pieces<E> for ChunksMut<'a, T> {
    type Piece = (usize, &'a mut [T]);

    fn count(&self) -> usize {
        self.numbers.len()
    }

    fn take_front(&mut self, count: usize) -> Result<Self, E> {
        let numbers = Pieces::<E>::take_front(&mut self.numbers, count)?;
        let slice = self.cut(numbers.len().saturating_mul(self.size));
        Ok(Self { numbers, slice, size: self.size })
    }

    fn next(&mut self) -> Result<Option<Self::Piece>, E> {
        let number = Pieces::<E>::next(&mut self.numbers)?;
        Ok(number.map(|number| (number, self.cut(self.size))))
    }
}

/// Chosen elements of a slice, several at a time: a few of many are divided evenly without a copy of them.
pub(crate) struct Segments<'a, T> {
    slice: &'a mut [T],
    /// The number of the first element of `slice` in the whole.
    first: usize,
    chosen: &'a [u32],
    size: usize,
}

/// Chosen elements and those between them.
pub(crate) struct Segment<'a, T> {
    slice: &'a mut [T],
    first: usize,
    chosen: &'a [u32],
}

impl<T> Segment<'_, T> {
    /// The chosen elements.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = &T> {
        self.chosen.iter().map(|number| &self.slice[*number as usize - self.first])
    }

    /// The numbers of the chosen elements.
    pub(crate) fn numbers(&self) -> &[u32] {
        self.chosen
    }

    /// The chosen elements.
    pub(crate) fn chosen_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (mut rest, mut first) = (&mut *self.slice, self.first);
        self.chosen.iter().filter_map(move |number| {
            let (element, after) = std::mem::take(&mut rest)[*number as usize - first..].split_first_mut()?;
            (rest, first) = (after, *number as usize + 1);
            Some(element)
        })
    }
}

impl<'a, T> Segments<'a, T> {
    /// Pieces of `size` of the elements whose numbers are `chosen`, which must ascend; at least 1, and fewer in the last.
    pub(crate) fn new(slice: &'a mut [T], chosen: &'a [u32], size: usize) -> Self {
        Self { slice, first: 0, chosen, size: size.max(1) }
    }

    /// Cuts off the first elements, of which so many are chosen, at most all.
    fn cut(&mut self, chosen: usize) -> Segment<'a, T> {
        let (chosen, rest) = self.chosen.split_at(chosen.min(self.chosen.len()));
        let end = chosen.last().map_or(self.first, |last| *last as usize + 1);
        let (slice, after) = std::mem::take(&mut self.slice).split_at_mut(end - self.first);
        let cut = Segment { slice, first: self.first, chosen };
        (self.slice, self.first, self.chosen) = (after, end, rest);
        cut
    }
}

impl<'a, T: Send, E> Pieces<E> for Segments<'a, T> {
    type Piece = Segment<'a, T>;

    fn count(&self) -> usize {
        self.chosen.len().div_ceil(self.size)
    }

    fn take_front(&mut self, count: usize) -> Result<Self, E> {
        let Segment { slice, first, chosen } = self.cut(count.saturating_mul(self.size));
        Ok(Self { slice, first, chosen, size: self.size })
    }

    fn next(&mut self) -> Result<Option<Self::Piece>, E> {
        Ok((!self.chosen.is_empty()).then(|| self.cut(self.size)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn pieces_are_taken_in_order_and_each_once() {
        let mut elements: Vec<usize> = (0..23).collect();
        let mut pieces = ChunksMut::new(&mut elements, 5);
        let Ok(mut front) = Pieces::<Infallible>::take_front(&mut pieces, 2);
        let mut seen = Vec::new();
        for pieces in [&mut front, &mut pieces] {
            while let Ok(Some((number, piece))) = Pieces::<Infallible>::next(pieces) {
                seen.push((number, piece.to_vec()));
            }
            assert_eq!(Pieces::<Infallible>::count(pieces), 0);
        }
        let expected: Vec<_> = (0..23).collect::<Vec<_>>().chunks(5).map(<[usize]>::to_vec).enumerate().collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn segments_hold_each_chosen_element_once() {
        for (len, size) in [(100, 5), (100, 1), (7, 3), (1, 4), (30, 1000), (0, 2)] {
            let mut elements: Vec<usize> = (0..len).map(|i| i * 7 % 23).collect();
            let all = elements.clone();
            let chosen: Vec<u32> = (0..len as u32).filter(|i| all[*i as usize].is_multiple_of(3)).collect();
            let mut pieces = Segments::new(&mut elements, &chosen, size);
            let count = Pieces::<Infallible>::count(&pieces);
            assert_eq!(count, chosen.len().div_ceil(size));
            let Ok(mut front) = Pieces::<Infallible>::take_front(&mut pieces, count / 2);
            let mut seen = Vec::new();
            for pieces in [&mut front, &mut pieces] {
                while let Ok(Some(mut piece)) = Pieces::<Infallible>::next(pieces) {
                    let held = piece.numbers().len();
                    assert!(piece.chosen().eq(piece.numbers().iter().map(|number| &all[*number as usize])));
                    assert!(held == size || held > 0 && Pieces::<Infallible>::count(pieces) == 0);
                    piece.chosen_mut().for_each(|element| {
                        seen.push(*element);
                        *element = 1000;
                    });
                }
            }
            assert!(all.iter().copied().filter(|element| element.is_multiple_of(3)).eq(seen));
            assert!(elements.iter().zip(&all).all(|(now, then)| *now == if then % 3 == 0 { 1000 } else { *then }));
        }
    }
}
