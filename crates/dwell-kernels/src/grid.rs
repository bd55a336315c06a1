//! The coordinates of a block of points, given by the contributions of each column and each row to c.

/// A block of points. c at a column and a row is the sum of the contributions of the two, each sum rounded once: re c =
/// `re_of_column[column] + re_of_row[row]`, im c = `im_of_column[column] + im_of_row[row]`.
///
/// Where a part of c depends on only one of the two, the contribution of the other is [-0](Grid::negative_zero): x + -0
/// is x to the bit, whatever the sign of a zero. So straight views, rotated views and lists of points (one row) have
/// the same representation.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a, N> {
    /// The contribution of each column to the real part.
    pub re_of_column: &'a [N],
    /// The contribution of each column to the imaginary part.
    pub im_of_column: &'a [N],
    /// The contribution of each row to the real part.
    pub re_of_row: &'a [N],
    /// The contribution of each row to the imaginary part.
    pub im_of_row: &'a [N],
    /// Whether each array is monotonic, so that its extremes are its first and last numbers.
    pub monotonic: bool,
}

impl<'a, N: crate::Number> Grid<'a, N> {
    /// -0, the contribution that leaves a sum unchanged.
    #[must_use]
    pub fn negative_zero() -> N {
        -N::default()
    }

    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.re_of_column.len()
    }

    /// The number of rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.re_of_row.len()
    }

    /// c at a column and a row.
    ///
    /// If there is no such column or row.
    #[must_use]
    pub fn point(&self, column: usize, row: usize) -> [N; 2] {
        [self.re_of_column[column] + self.re_of_row[row], self.im_of_column[column] + self.im_of_row[row]]
    }

    /// A list of points as a block of one row. `negative_zero` holds [`Self::negative_zero`].
    #[must_use]
    pub fn list(re: &'a [N], im: &'a [N], negative_zero: &'a [N; 1]) -> Self {
        Self {
            re_of_column: re,
            im_of_column: im,
            re_of_row: negative_zero,
            im_of_row: negative_zero,
            monotonic: false,
        }
    }

    /// Bounds of c, as [least, greatest] of the real and of the imaginary part. Rounding is monotonic, so the sums of
    /// the extremes bound all sums. NaN is ignored.
    pub(crate) fn extent(&self) -> [[f64; 2]; 2] {
        let extremes = |of: &[N]| {
            let ends = [of[0], of[of.len() - 1]];
            let of = if self.monotonic { &ends } else { of };
            // Eight partial extremes at a time: one after the other, each comparison would wait for the last.
            let mut parts = [[f64::INFINITY, f64::NEG_INFINITY]; 8];
            for of in of.chunks(parts.len()) {
                for (part, v) in parts.iter_mut().zip(of) {
                    let v = v.to_f64();
                    *part = [part[0].min(v), part[1].max(v)];
                }
            }
            parts.into_iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[p, q], [r, s]| [p.min(r), q.max(s)])
        };
        let sum = |columns: &[N], rows: &[N]| {
            let ([c0, c1], [r0, r1]) = (extremes(columns), extremes(rows));
            [(N::nearest(c0) + N::nearest(r0)).to_f64(), (N::nearest(c1) + N::nearest(r1)).to_f64()]
        };
        [sum(self.re_of_column, self.re_of_row), sum(self.im_of_column, self.im_of_row)]
    }
}
