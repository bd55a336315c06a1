//! The project's own palette files, in TOML.

use super::draft::{Draft, MAX_STOPS};
use super::table::{Blend, even_positions, from_stops};
use crate::base::error::InputError;
use crate::base::place::{Parameter, Place};
use crate::base::problem::Problem;
use crate::base::quote::shown_number;
use crate::colour::mapping::{By, MOST_TURNS, Scale, Suggestion};
use crate::colour::rgb::{Rgb16, parse_colour};
use crate::input::toml_reader::{Document, Key, Names};

/// The keys of a palette file.
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
            "interior" => interior = parse_colour(key.text()?).map_err(|e| key.wrong(e))?,
            "cyclic" => cyclic = key.flag()?,
            "blend" => blend = key.parsed()?,
            "name" => name = Some(key.text()?.to_owned()),
            "title" => title = Some(key.text()?.to_owned()),
            "by" => suggestion.by = Some(key.parsed()?),
            "scale" => (suggestion.scale, scale_key) = (Some(key.parsed()?), Some(key)),
            "density" => {
                suggestion.density = Some(in_range(&key, |d| d > 0.0 && d <= MOST_TURNS, "above 0, at most 1000000")?)
            }
            _ => {
                let accepted = "-1000000 to 1000000, in turns";
                suggestion.offset = Some(in_range(&key, |o| o.abs() <= MOST_TURNS, accepted)?);
            }
        }
    }
    let colours = colours.ok_or_else(|| {
        InputError::new(Problem::Missing("no \"colours\" are given".to_owned()))
            .accepts("colours = [\"#04082b\", \"#2a7fd4\", \"#fff8dc\"], for example")
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
        let wrong = InputError::malformed(format!("there are {}", texts.len()));
        return Err(key.wrong(wrong.accepts(format!("1 to {MAX_STOPS} colours"))));
    }
    let nth = |(i, c): (usize, &str)| {
        parse_colour(c).map_err(|e| key.wrong(e.within(Place::Part(format!("colour {}", i + 1)))))
    };
    texts.into_iter().enumerate().map(nth).collect()
}

fn in_range(key: &Key<'_>, good: fn(f64) -> bool, accepted: &str) -> Result<f64, InputError> {
    let value = key.number()?;
    if good(value) {
        return Ok(value);
    }
    Err(key.wrong(InputError::out_of_range(shown_number(value)).accepts(accepted)))
}

fn check_positions(positions: &[f64], count: usize, cyclic: bool) -> Result<(), InputError> {
    let rises = positions.windows(2).all(|p| p[0] < p[1]);
    let inside = positions.iter().all(|p| if cyclic { (0.0..1.0).contains(p) } else { (0.0..=1.0).contains(p) });
    if positions.len() == count && rises && inside {
        return Ok(());
    }
    let range = if cyclic { "from 0 to below 1" } else { "from 0 to 1" };
    Err(InputError::malformed("do not fit the colours")
        .about(Parameter::Positions)
        .accepts(format!("one for each colour, increasing, {range}")))
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    #[test]
    fn every_key_is_read() {
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
    fn errors_name_line_key_and_accepted_values() {
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
