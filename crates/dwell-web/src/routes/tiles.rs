//! Tiles of the plane, for other programs: level z has 2^z x 2^z tiles of 256 x 256 pixels over [-2,2] x [-2,2], counted from the top
//! left. Numbers are texts of any length, so that there is no last level.

use super::{LONGEST, png};
use crate::admission::Turn;
use crate::assets::tagged;
use crate::failure::Failure;
use crate::scene_json;
use crate::state::Shared;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use dwell::{Cancel, Decimal, Rational, Size};
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// The size of a tile.
const TILE: Size = Size { width: 256, height: 256 };
/// The greatest level: the numbers of its tiles have 3000 digits.
const MOST_LEVEL: u32 = 10_000;

/// How a tile is computed and coloured; the names of a location file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Coloured {
    formula: Option<String>,
    power: Option<u32>,
    iterations: Option<String>,
    palette: Option<String>,
    density: Option<f64>,
    offset: Option<f64>,
}

/// Centre and height of a tile, exactly: they are binary fractions.
fn place(level: &str, column: &str, row: &str) -> Result<[Decimal; 3], Failure> {
    let wrong = || {
        Failure::unprocessable(format!("the tile {level:.20}/{column:.20}/{row:.20} is out of range"))
            .hint("a level from 0 to 10000, and a column and a row from 0 to 2^level - 1")
    };
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let level: u32 = level.parse().ok().filter(|level| *level <= MOST_LEVEL).ok_or_else(wrong)?;
    let part = |power: i64| Rational::whole(4).scaled_by_power_of_two(power - i64::from(level));
    let tiles = Rational::whole(1).scaled_by_power_of_two(level.into());
    let middle = |text: &str| -> Result<Rational, Failure> {
        let number = text.parse::<Decimal>().ok().filter(|_| is_whole(text)).ok_or_else(wrong)?.to_rational();
        if number >= tiles {
            return Err(wrong());
        }
        Ok(number.times(&part(0)).plus(&part(-1)).minus(&Rational::whole(2)))
    };
    let (re, im) = (middle(column)?, middle(row)?.negated());
    let decimal = |value: &Rational| Decimal::rounded(value, 1);
    Ok([decimal(&re)?, decimal(&im)?, decimal(&part(0))?])
}

pub(crate) async fn tile(
    State(shared): State<Arc<Shared>>,
    Path((level, column, row)): Path<(String, String, String)>,
    Query(coloured): Query<Coloured>,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let row = row.strip_suffix(".png").unwrap_or(&row);
    let [re, im, height] = place(&level, &column, row)?;
    let Coloured { formula, power, iterations, palette, density, offset } = coloured;
    let scene = json!({
        "re": re.text(), "im": im.text(), "view_height": height.text(),
        "formula": formula, "power": power, "iterations": iterations,
        // Neighbours have one scale, which no view decides.
        "colour": { "palette": palette, "density": density, "offset": offset, "scale": "root" },
    });
    let serde_json::Value::Object(scene) = scene else { return Err(Failure::bad("the tile is not one")) };
    let scene = scene_json::read(&scene, TILE)?;
    let of = shared.clone();
    let work = move |cancel: &Cancel| png(&scene, &of, cancel);
    let bytes = shared.admission.run(Turn::Aside, LONGEST, Cancel::default(), work).await?;
    Ok(tagged(&headers, "image/png", bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_have_exact_places() {
        let at = |level: &str, column: &str, row: &str| {
            place(level, column, row).map(|place| place.map(|number| number.text().to_owned()))
        };
        assert_eq!(at("0", "0", "0").unwrap(), ["0", "0", "4"]);
        assert_eq!(at("1", "0", "1").unwrap(), ["-1", "-1", "2"]);
        assert_eq!(at("3", "7", "0").unwrap(), ["1.75", "1.75", "0.5"]);
        let deep = at("200", &format!("1{}", "0".repeat(60)), "5").unwrap();
        assert!(deep[0].len() > 150 && deep[2].ends_with("e-60"), "{deep:?}");
        for (level, column, row) in [
            ("0", "1", "0"),
            ("1", "0", "2"),
            ("10001", "0", "0"),
            ("-1", "0", "0"),
            ("1", "-1", "0"),
            ("1", "1e0", "0"),
            ("1", "0.5", "0"),
            ("1", "", "0"),
            ("x", "0", "0"),
        ] {
            assert!(at(level, column, row).is_err(), "{level}/{column}/{row}");
        }
    }
}
