//! The project's own palette files, in TOML.

use super::colouring::Colouring;
use super::mapping::{By, Scale, Suggestion};
use super::palette::{Draft, MAX_STOPS};
use super::rgb::{Rgb16, parse_colour};
use super::table::{BLENDS, Blend, from_stops};
use crate::base::error::{InputError, shown_number, unknown_name};
use crate::input::toml_reader::{Document, Key, Names};

/// Every key.
const NAMES: Names = Names {
    of: "a palette",
    keys: &["colours", "positions", "interior", "cyclic", "blend", "name", "title", "by", "scale", "density", "offset"],
    aliases: &[("colors", "colours")],
};

/// The palette of a file.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let document = Document::parse(text)?;
    let (mut colours, mut positions) = (None, None);
    let (mut cyclic, mut blend, mut interior) = (true, Blend::default(), [0; 3]);
    let (mut name, mut title) = (None, None);
    let mut suggestion = Suggestion::default();
    let mut scale_key: Option<Key<'_>> = None;
    for key in document.keys().in_order(&NAMES) {
        let (known, key) = key?;
        match known {
            "colours" => colours = Some(colours_of(&key)?),
            "positions" => positions = Some((key.numbers()?, key)),
            "interior" => interior = key.parsed(parse_colour)?,
            "cyclic" => cyclic = key.flag()?,
            "blend" => blend = key.parsed(parse_blend)?,
            "name" => name = Some(key.text()?.to_owned()),
            "title" => title = Some(key.text()?.to_owned()),
            "by" => suggestion.by = Some(key.parsed(By::parse)?),
            "scale" => (suggestion.scale, scale_key) = (Some(key.parsed(Scale::parse)?), Some(key)),
            "density" => {
                suggestion.density =
                    Some(in_range(&key, |d| d > 0.0 && d <= Colouring::MOST, "above 0, at most 1000000")?)
            }
            _ => {
                let accepted = "-1000000 to 1000000, in turns";
                suggestion.offset = Some(in_range(&key, |o| o.abs() <= Colouring::MOST, accepted)?);
            }
        }
    }
    let colours = colours.ok_or_else(|| {
        InputError::new("", "no \"colours\" are given")
            .hint("such as colours = [\"#04082b\", \"#2a7fd4\", \"#fff8dc\"]")
    })?;
    if let (Some(By::Distance), Some(Scale::Limit), Some(key)) = (suggestion.by, suggestion.scale, scale_key) {
        return Err(key.wrong(Scale::limit_of_distances()));
    }
    let positions = match positions {
        None => even_positions(colours.len(), cyclic, blend),
        Some((positions, key)) => {
            check_positions(&positions, colours.len(), cyclic).map_err(|e| key.wrong(e))?;
            positions
        }
    };
    let stops: Vec<_> = positions.into_iter().zip(colours).collect();
    Ok(Draft { name, title, interior, cyclic, suggestion, table: from_stops(&stops, blend, cyclic) })
}

fn colours_of(key: &Key<'_>) -> Result<Vec<Rgb16>, InputError> {
    let texts = key.texts("a list of texts in quotes")?;
    if !(1..=MAX_STOPS).contains(&texts.len()) {
        let wrong = InputError::new("", format!("there are {}", texts.len()));
        return Err(key.wrong(wrong.accepted(format!("1 to {MAX_STOPS} colours"))));
    }
    let nth =
        |(i, c): (usize, &str)| parse_colour(c).map_err(|e| e.named(&format!("{}, colour {}", key.place(), i + 1)));
    texts.into_iter().enumerate().map(nth).collect()
}

fn in_range(key: &Key<'_>, good: fn(f64) -> bool, accepted: &str) -> Result<f64, InputError> {
    let value = key.number()?;
    if good(value) {
        return Ok(value);
    }
    Err(key.wrong(InputError::new("", format!("{} is out of range", shown_number(value))).accepted(accepted)))
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
            ("by = \"distance\"\nscale = \"limit\"", "line 3, scale: \"limit\" does not go with distances"),
            ("scale = \"limit\"\nby = \"distance\"", "line 2, scale"),
            ("colors = [\"#000\"]", "line 2, colors: is given twice: it is colours in line 1"),
            ("shine = 3", "line 2: \"shine\" is no key of a palette"),
            ("density = 1e7", "at most 1000000"),
            ("interior = \"red\"", "line 2, interior"),
            ("positions = [0.0, \"1\"]", "line 2, positions: has"),
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
