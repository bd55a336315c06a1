//! The project's own palette files, in TOML.

use super::mapping::{By, Scale, Suggestion};
use super::palette::{Draft, MAX_STOPS};
use super::rgb::parse_colour;
use super::table::{BLENDS, Blend, from_stops};
use crate::error::{InputError, unknown_name};
use crate::location::toml_error;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    title: Option<String>,
    interior: Option<String>,
    #[serde(alias = "colors")]
    colours: Vec<String>,
    positions: Option<Vec<f64>>,
    cyclic: Option<bool>,
    blend: Option<String>,
    by: Option<String>,
    scale: Option<String>,
    density: Option<f64>,
    offset: Option<f64>,
}

/// The palette of a file.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let file: File = toml::from_str(text).map_err(|e| toml_error(text, &e))?;
    let nth = |(i, c): (usize, &String)| parse_colour(c).map_err(|e| e.named(&format!("colour {}", i + 1)));
    let colours = file.colours.iter().enumerate().map(nth).collect::<Result<Vec<_>, _>>()?;
    if !(1..=MAX_STOPS).contains(&colours.len()) {
        return Err(InputError::new("colours", format!("there are {}", colours.len()))
            .accepted(format!("1 to {MAX_STOPS} colours")));
    }
    let cyclic = file.cyclic.unwrap_or(true);
    let blend = file.blend.as_deref().map_or(Ok(Blend::default()), parse_blend)?;
    let positions = match file.positions {
        None => even_positions(colours.len(), cyclic, blend),
        Some(positions) => {
            check_positions(&positions, colours.len(), cyclic)?;
            positions
        }
    };
    let stops: Vec<_> = positions.into_iter().zip(colours).collect();
    let in_range = |name: &str, value: Option<f64>, good: fn(f64) -> bool, accepted: &str| match value {
        Some(value) if !good(value) => {
            Err(InputError::new(name, format!("{value:e} is out of range")).accepted(accepted))
        }
        _ => Ok(value),
    };
    Ok(Draft {
        name: file.name,
        title: file.title,
        interior: file.interior.as_deref().map_or(Ok([0; 3]), parse_colour).map_err(|e| e.named("interior"))?,
        cyclic,
        suggestion: Suggestion {
            by: file.by.as_deref().map(By::parse).transpose()?,
            scale: file.scale.as_deref().map(Scale::parse).transpose()?,
            density: in_range("density", file.density, |d| d > 0.0 && d.is_finite(), "a number above 0")?,
            offset: in_range("offset", file.offset, f64::is_finite, "a number, in turns")?,
        },
        table: from_stops(&stops, blend, cyclic),
    })
}

fn parse_blend(name: &str) -> Result<Blend, InputError> {
    let found = BLENDS.iter().find(|(known, _)| *known == name).map(|(_, blend)| *blend);
    found.ok_or_else(|| unknown_name("blend", name, BLENDS.iter().map(|(known, _)| *known)))
}

/// Colours with equal shares: of a cycle, and of a sequence of steps; blended ones stand from end to end of a sequence.
fn even_positions(count: usize, cyclic: bool, blend: Blend) -> Vec<f64> {
    let shares = if cyclic || blend == Blend::Step { count } else { (count - 1).max(1) };
    (0..count).map(|i| i as f64 / shares as f64).collect()
}

fn check_positions(positions: &[f64], count: usize, cyclic: bool) -> Result<(), InputError> {
    let rises = positions.windows(2).all(|p| p[0] < p[1]);
    let inside = positions.iter().all(|p| if cyclic { (0.0..1.0).contains(p) } else { (0.0..=1.0).contains(p) });
    if positions.len() == count && rises && inside {
        return Ok(());
    }
    let range = if cyclic { "from 0 to below 1" } else { "from 0 to 1" };
    Err(InputError::new("positions", "do not fit the colours")
        .accepted(format!("one for each colour, increasing, {range}")))
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn places_colours_evenly() {
        assert_eq!(even_positions(4, true, Blend::Smooth), [0.0, 0.25, 0.5, 0.75]);
        assert_eq!(even_positions(3, false, Blend::Light), [0.0, 0.5, 1.0]);
        assert_eq!(even_positions(2, false, Blend::Step), [0.0, 0.5]);
        assert_eq!(even_positions(1, false, Blend::Smooth), [0.0]);
    }

    #[test]
    fn reads_every_key() {
        let text = "name = \"n\"\ntitle = \"t\"\ninterior = \"#123\"\ncolours = [\"#000\", \"#fff\"]\npositions = [0, 1.0]\n\
            cyclic = false\nblend = \"light\"\nby = \"distance\"\nscale = \"log\"\ndensity = 2\noffset = -0.5\n";
        let draft = draft(text).unwrap();
        assert_eq!((draft.name.as_deref(), draft.title.as_deref()), (Some("n"), Some("t")));
        assert_eq!((draft.interior, draft.cyclic), ([0x1111, 0x2222, 0x3333], false));
        assert_eq!(
            draft.suggestion,
            Suggestion { by: Some(By::Distance), scale: Some(Scale::Log), density: Some(2.0), offset: Some(-0.5) }
        );
        assert_eq!(draft.table[TABLE / 4], [48192; 3]);
    }

    #[test]
    fn says_what_is_wrong() {
        for (more, said) in [
            ("blend = \"lineal\"", "smooth, linear, step, light"),
            ("by = \"bands\"", "banded, smooth, distance"),
            ("scale = 1", "line 2"),
            ("density = 0.0", "above 0"),
            ("density = inf", "above 0"),
            ("offset = nan", "in turns"),
            ("cyclic = \"yes\"", "line 2"),
            ("positions = [0.5, 1.0]", "below 1"),
            ("cyclic = false\npositions = [0.5, 1.01]", "from 0 to 1"),
        ] {
            let error = draft(&format!("colours = [\"#000000\", \"#ffffff\"]\n{more}")).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
