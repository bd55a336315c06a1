//! Where points are: a block of them, given by what each column and each row contributes to c.

/// A block of points. c at a column and a row is the sum of what the two contribute, each sum rounded once:
/// re c = `re_of_column[column] + re_of_row[row]`, im c = `im_of_column[column] + im_of_row[row]`.
///
/// Where only one of the two rules, the other contributes [nothing](Grid::nothing): -0, since x + -0 is x to the bit,
/// whatever the sign of a zero. So straight and rotated views and lists of points (one row) are the same thing.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a, N> {
    /// What each column contributes to the real part.
    pub re_of_column: &'a [N],
    /// What each column contributes to the imaginary part.
    pub im_of_column: &'a [N],
    /// What each row contributes to the real part.
    pub re_of_row: &'a [N],
    /// What each row contributes to the imaginary part.
    pub im_of_row: &'a [N],
    /// Whether no array both rises and falls, so that its extremes stand at its ends.
    pub monotonic: bool,
}

impl<'a, N: crate::Number> Grid<'a, N> {
    /// The contribution that changes nothing: -0.
    #[must_use]
    pub fn nothing() -> N {
        -N::default()
    }

    /// Columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.re_of_column.len()
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.re_of_row.len()
    }

    /// c at a column and a row.
    ///
    /// # Panics
    /// When there is no such column or row.
    #[must_use]
    pub fn point(&self, column: usize, row: usize) -> [N; 2] {
        [self.re_of_column[column] + self.re_of_row[row], self.im_of_column[column] + self.im_of_row[row]]
    }

    /// A list of points: one row.
    #[must_use]
    pub fn list(re: &'a [N], im: &'a [N], nothing: &'a [N; 1]) -> Self {
        Self { re_of_column: re, im_of_column: im, re_of_row: nothing, im_of_row: nothing, monotonic: false }
    }

    /// Bounds on c, as [least, greatest] of the real and of the imaginary part: rounding is monotonic, so the sums of
    /// the extremes hold all sums. NaN is left out.
    pub(crate) fn extent(&self) -> [[f64; 2]; 2] {
        let extremes = |of: &[N]| {
            let ends = [of[0], of[of.len() - 1]];
            let of = if self.monotonic { &ends } else { of };
            of.iter()
                .map(|v| v.to_f64())
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], v| [least.min(v), most.max(v)])
        };
        let sum = |columns: &[N], rows: &[N]| {
            let ([c0, c1], [r0, r1]) = (extremes(columns), extremes(rows));
            [(N::nearest(c0) + N::nearest(r0)).to_f64(), (N::nearest(c1) + N::nearest(r1)).to_f64()]
        };
        [sum(self.re_of_column, self.re_of_row), sum(self.im_of_column, self.im_of_row)]
    }
}
