//! The coordinates of a rotated view: how far they are from exact.

#![expect(clippy::unwrap_used, reason = "a test may fail that way")]

use dwell::{Axes, Number, Rational, Size, View};

const SIZE: [u32; 2] = [160, 90];

fn view(rotation: &str, re: &str, im: &str, zoom: &str) -> View {
    let mut view = View::centred(re, im, zoom).unwrap().sized(Size::new(SIZE[0], SIZE[1]).unwrap());
    view.rotation = rotation.parse().unwrap();
    view
}

/// The terms of the column and of the row of a coordinate, for both axes.
fn terms<N: Number>(axes: &Axes<N>, column: u32, row: u32) -> [[N; 2]; 2] {
    let [re_of_column, im_of_column, re_of_row, im_of_row] = axes.arrays();
    let (column, row) = (column as usize, row as usize);
    [[re_of_column[column], re_of_row[row]], [im_of_column[column], im_of_row[row]]]
}

/// README.md states the bound. The error of each term is half a unit of the term, and that of the sum half a unit of the sum.
/// Of the three, at most two have the exponent of the largest, and the third has at most half its unit: 1/2 + 1/2 + 1/4.
#[test]
fn a_rotated_coordinate_is_at_most_one_and_a_quarter_units_from_exact() {
    let (mut all, mut not_nearest, mut largest) = (0_u32, 0_u32, 0.0_f64);
    for (rotation, re, im, zoom) in [
        ("33.3", "-0.75", "0.1", "1"),
        ("12.5", "-0.7436", "0.1318", "300"),
        ("45", "0.001", "-0.003", "2"),
        ("-171", "1.9", "1.1", "1.7"),
        ("60.0001", "-1.999", "0.00001", "1000"),
    ] {
        let view = view(rotation, re, im, zoom);
        // Those in f64 stand for the exact ones: their own error is 2^-29 of the units of f32.
        let (narrow, wide) = (Axes::<f32>::new(&view).unwrap(), Axes::<f64>::new(&view).unwrap());
        for (column, row) in (0..SIZE[0]).flat_map(|column| (0..SIZE[1]).map(move |row| (column, row))) {
            for ([c, r], [exact_c, exact_r]) in terms(&narrow, column, row).into_iter().zip(terms(&wide, column, row)) {
                let (sum, exact) = (c + r, exact_c + exact_r);
                let exponent = [c, r, sum].into_iter().map(Number::ulp_exponent).max().unwrap();
                let unit = Rational::whole(1).scaled_by_power_of_two(exponent).round::<f64>();
                largest = largest.max((f64::from(sum) - exact).abs() / unit);
                all += 1;
                #[expect(clippy::cast_possible_truncation, reason = "the nearest number of f32")]
                let nearest = exact as f32;
                not_nearest += u32::from(sum != nearest);
            }
        }
    }
    assert!(largest > 0.9 && largest <= 1.25 + 1e-6, "{largest} units");
    let percent = 100.0 * f64::from(not_nearest) / f64::from(all);
    assert!((5.0..40.0).contains(&percent), "{percent} % are not the nearest number");
}

#[test]
fn coordinates_of_an_upright_view_are_the_nearest_numbers() {
    let view = view("0", "-0.7436", "0.1318", "300");
    let (narrow, wide) = (Axes::<f32>::new(&view).unwrap(), Axes::<f64>::new(&view).unwrap());
    for (column, row) in (0..SIZE[0]).flat_map(|column| (0..SIZE[1]).map(move |row| (column, row))) {
        for ([c, r], [exact_c, exact_r]) in terms(&narrow, column, row).into_iter().zip(terms(&wide, column, row)) {
            #[expect(clippy::cast_possible_truncation, reason = "the nearest number of f32")]
            let nearest = (exact_c + exact_r) as f32;
            assert_eq!(c + r, nearest, "column {column}, row {row}");
        }
    }
}
