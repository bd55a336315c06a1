//! Counts and sums of the differences of two rasters. All sums are exact, so they do not depend on the order of
//! summation.

use super::raster::Pixel;
use super::report::{
    Area, Compared, Details, DifferingPixel, FieldDifferences, ImageDifferences, LargestDifference, PixelValue,
};
use super::value::{Difference, Sum, Value};
use crate::view::Size;
use std::cmp::Ordering;

/// The most columns and rows of cells of the map; an image with fewer columns or rows has as many cells.
const MAP: (u32, u32) = (32, 12);
/// The most differing pixels that are listed.
const LISTED: usize = 10;

/// The positions of differing pixels, for fields and images.
pub(super) struct Positions {
    size: Size,
    map: Vec<Vec<u64>>,
    differing: u64,
    area: Option<Area>,
    first: Vec<DifferingPixel>,
}

impl Positions {
    pub(super) fn new(size: Size) -> Self {
        let (columns, rows) = (MAP.0.min(size.width), MAP.1.min(size.height));
        let map = vec![vec![0; columns as usize]; rows as usize];
        Self { size, map, differing: 0, area: None, first: Vec::new() }
    }

    /// Adds a differing pixel.
    fn add(&mut self, column: u32, row: u32, pair: impl FnOnce() -> DifferingPixel) {
        self.differing += 1;
        if self.first.len() < LISTED {
            self.first.push(pair());
        }
        let cell = |at: u32, cells: usize, side: u32| {
            usize::try_from(u64::from(at) * cells as u64 / u64::from(side)).unwrap_or(0)
        };
        let (rows, columns) = (self.map.len(), self.map[0].len());
        self.map[cell(row, rows, self.size.height)][cell(column, columns, self.size.width)] += 1;
        let here = Area { first_column: column, last_column: column, first_row: row, last_row: row };
        let area = self.area.get_or_insert(here);
        area.first_column = area.first_column.min(column);
        area.last_column = area.last_column.max(column);
        area.first_row = area.first_row.min(row);
        area.last_row = area.last_row.max(row);
    }

    fn compared(self, found: Details) -> Compared {
        let pixels = self.size.pixels();
        Compared {
            width: self.size.width,
            height: self.size.height,
            pixels,
            differing_pixels: self.differing,
            differing_percent: 100.0 * self.differing as f64 / pixels as f64,
            where_they_lie: self.area,
            map: self.map,
            first: self.first,
            found,
        }
    }
}

/// The difference of a pixel of two fields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    /// Equal values.
    None,
    /// 0 in one field only, or no numeric difference because a value is infinite or NaN.
    Kind,
    /// The first value compared with the second, and the absolute difference.
    By(Ordering, Difference),
}

/// The counts and sums of two fields.
pub(super) struct FieldTally {
    places: Positions,
    inside_only: [u64; 2],
    larger_in: [u64; 2],
    without_difference: u64,
    largest: Option<LargestDifference>,
    sum: Sum,
}

impl FieldTally {
    pub(super) fn new(size: Size) -> Self {
        let places = Positions::new(size);
        Self {
            places,
            inside_only: [0; 2],
            larger_in: [0; 2],
            without_difference: 0,
            largest: None,
            sum: Sum::default(),
        }
    }

    /// Adds a pixel and returns its difference.
    pub(super) fn add(&mut self, column: u32, row: u32, a: Value, b: Value) -> Change {
        if a == b {
            return Change::None;
        }
        let Some(apart) = a.apart(b) else { return Change::None };
        let pair = || DifferingPixel { column, row, a: PixelValue::Value(a), b: PixelValue::Value(b) };
        self.places.add(column, row, pair);
        if a.is_inside() != b.is_inside() {
            self.inside_only[usize::from(b.is_inside())] += 1;
            return Change::Kind;
        }
        if apart.difference == Difference::None {
            self.without_difference += 1;
            return Change::Kind;
        }
        self.larger_in[usize::from(apart.order == Ordering::Less)] += 1;
        self.sum.add(apart.difference);
        if self.largest.as_ref().is_none_or(|largest| apart.difference.exceeds(largest.difference)) {
            self.largest = Some(LargestDifference { difference: apart.difference, pair: pair() });
        }
        Change::By(apart.order, apart.difference)
    }

    pub(super) fn report(self) -> Compared {
        let [larger_in_a, larger_in_b] = self.larger_in;
        let [inside_only_in_a, inside_only_in_b] = self.inside_only;
        let with_difference = larger_in_a + larger_in_b;
        let without = inside_only_in_a + inside_only_in_b + self.without_difference;
        let found = FieldDifferences {
            inside_only_in_a,
            inside_only_in_b,
            larger_in_a,
            larger_in_b,
            without_difference: self.without_difference,
            largest: self.largest,
            mean_of_differing: self.sum.over(with_difference),
            mean_of_all: self.sum.over(self.places.size.pixels() - without),
        };
        self.places.compared(Details::Fields(found))
    }
}

/// The counts and sums of two images.
pub(super) struct ImageTally {
    places: Positions,
    /// The channel value of full intensity in the report, 255 or 65535.
    most: u16,
    depths_differ: bool,
    channels: usize,
    largest: u16,
    largest_at: Option<DifferingPixel>,
    sum: u128,
    squares: u128,
}

impl ImageTally {
    /// `most` are the channel values of full intensity in the two files; `alpha`: whether opacity is compared.
    pub(super) fn new(size: Size, most: [u16; 2], alpha: bool) -> Self {
        Self {
            places: Positions::new(size),
            most: if most == [255, 255] { 255 } else { u16::MAX },
            depths_differ: most[0] != most[1],
            channels: if alpha { 4 } else { 3 },
            largest: 0,
            largest_at: None,
            sum: 0,
            squares: 0,
        }
    }

    /// Adds a pixel and returns the largest difference of its channels, 0 to 65535.
    pub(super) fn add(&mut self, column: u32, row: u32, a: Pixel, b: Pixel) -> u16 {
        if a == b {
            return 0;
        }
        let channels = self.channels;
        let scale = u16::MAX / self.most;
        let shown = |pixel: Pixel| PixelValue::Channels(pixel[..channels].iter().map(|v| v / scale).collect());
        let pair = || DifferingPixel { column, row, a: shown(a), b: shown(b) };
        self.places.add(column, row, pair);
        let mut largest = 0;
        for (a, b) in a.iter().zip(&b) {
            let difference = a.abs_diff(*b);
            largest = largest.max(difference);
            self.sum += u128::from(difference);
            self.squares += u128::from(difference) * u128::from(difference);
        }
        if largest > self.largest {
            self.largest = largest;
            self.largest_at = Some(pair());
        }
        largest
    }

    pub(super) fn report(self) -> Compared {
        let scale = u16::MAX / self.most;
        let channels = self.channels as f64;
        let pixels = self.places.size.pixels() as f64;
        let over =
            |pixels: f64| if pixels > 0.0 { self.sum as f64 / f64::from(scale) / channels / pixels } else { 0.0 };
        let noise = self.squares as f64 / channels / pixels;
        // Rounded to a hundredth of a decibel, since the last digit of a logarithm depends on the machine.
        let decibels = |noise: f64| (1000.0 * (f64::from(u16::MAX).powi(2) / noise).log10()).round() / 100.0;
        let found = ImageDifferences {
            most: self.most,
            depths_differ: self.depths_differ,
            alpha: self.channels == 4,
            largest_difference: self.largest / scale,
            mean_of_differing: over(self.places.differing as f64),
            mean_of_all: over(pixels),
            psnr_db: (self.squares > 0).then(|| decibels(noise)),
            largest_at: self.largest_at,
        };
        self.places.compared(Details::Images(found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_known_differences() {
        let mut tally = FieldTally::new(Size { width: 100, height: 50 });
        let whole = Value::Whole;
        assert_eq!(tally.add(0, 0, whole(5), whole(5)), Change::None);
        assert_eq!(tally.add(3, 4, whole(5), whole(8)), Change::By(Ordering::Less, Difference::Whole(3)));
        assert_eq!(tally.add(99, 4, whole(0), whole(8)), Change::Kind);
        assert_eq!(tally.add(2, 49, whole(900), whole(0)), Change::Kind);
        assert_eq!(tally.add(50, 49, whole(17), whole(10)), Change::By(Ordering::Greater, Difference::Whole(7)));
        assert_eq!(tally.add(51, 49, whole(10), whole(17)), Change::By(Ordering::Less, Difference::Whole(7)));
        assert_eq!(tally.add(52, 49, Value::Real(f64::NAN), whole(17)), Change::Kind);
        let compared = tally.report();
        let area = Area { first_column: 2, last_column: 99, first_row: 4, last_row: 49 };
        assert_eq!((compared.differing_pixels, compared.where_they_lie), (6, Some(area)));
        assert_eq!(compared.differing_percent, 0.12);
        assert_eq!((compared.map.len(), compared.map[0].len(), compared.map[0][31]), (12, 32, 1));
        assert_eq!(compared.map.iter().flatten().sum::<u64>(), 6);
        let Details::Fields(found) = compared.found else { panic!("fields") };
        assert_eq!([found.inside_only_in_a, found.inside_only_in_b, found.without_difference], [1, 1, 1]);
        assert_eq!([found.larger_in_a, found.larger_in_b], [1, 2]);
        let largest = found.largest.unwrap();
        assert_eq!(
            (largest.difference, largest.pair.column),
            (Difference::Whole(7), 50),
            "the first of two equal differences"
        );
        assert_eq!((found.mean_of_differing, found.mean_of_all), (17.0 / 3.0, 17.0 / 4997.0));
    }

    #[test]
    fn images_with_known_differences() {
        let of = |v: [u16; 3]| [v[0] * 257, v[1] * 257, v[2] * 257, u16::MAX];
        let mut tally = ImageTally::new(Size { width: 2, height: 2 }, [255, 255], false);
        assert_eq!(tally.add(0, 0, of([1, 2, 3]), of([1, 2, 3])), 0);
        assert_eq!(tally.add(1, 0, of([1, 2, 3]), of([1, 0, 9])), 6 * 257);
        let compared = tally.report();
        assert_eq!(compared.first[0].b, PixelValue::Channels(vec![1, 0, 9]));
        let Details::Images(found) = compared.found else { panic!("images") };
        assert_eq!((found.largest_difference, found.most, found.depths_differ), (6, 255, false));
        assert_eq!((found.mean_of_differing, found.mean_of_all), (8.0 / 3.0, 8.0 / 12.0));
        // 10 log10(255^2 / (40 / 12)).
        assert_eq!(found.psnr_db, Some(42.9));
        let tally = ImageTally::new(Size { width: 2, height: 2 }, [255, 65535], true);
        let Details::Images(found) = tally.report().found else { panic!("images") };
        assert_eq!((found.most, found.depths_differ, found.alpha, found.psnr_db), (65535, true, true, None));
    }
}
