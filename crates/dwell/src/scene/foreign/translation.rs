//! A file of another program, translated into the keys of a location file.

use super::numbers::whole;
use crate::base::error::InputError;
use crate::base::place::KeyPlace;
use crate::colour::colour_text;
use crate::exact::decimal::Decimal;
use dwell_kernels::{Fold, Formula};
use std::fmt::Write;
use toml::Value;

/// The most names of unused keys that are kept.
const MOST_UNUSED: usize = 16;
/// The most characters of such a name.
const MOST_CHARACTERS: usize = 32;

/// Keys of a location file, each with the key and the line that it comes from.
#[derive(Default)]
pub(in crate::scene) struct Translation {
    keys: Vec<(&'static str, Value, Option<KeyPlace>)>,
    colour: Vec<(&'static str, Value, Option<KeyPlace>)>,
    unused: Vec<String>,
    /// Unused keys that are not in the list.
    more: u64,
}

impl Translation {
    /// Sets a key; of several values the last counts.
    fn set(&mut self, key: &'static str, value: Value, from: Option<KeyPlace>) {
        self.keys.retain(|(known, ..)| *known != key);
        self.keys.push((key, value, from));
    }

    /// Sets a key to a text.
    pub(super) fn text(&mut self, key: &'static str, value: impl Into<String>, from: Option<KeyPlace>) {
        self.set(key, Value::String(value.into()), from);
    }

    /// Sets a key of several numbers.
    pub(super) fn list<'a>(
        &mut self,
        key: &'static str,
        numbers: impl IntoIterator<Item = &'a str>,
        from: Option<KeyPlace>,
    ) {
        let values = numbers.into_iter().map(|number| Value::String(number.trim().to_owned()));
        self.set(key, Value::Array(values.collect()), from);
    }

    /// Sets a key that is true or false.
    pub(super) fn flag(&mut self, key: &'static str, value: bool) {
        self.set(key, Value::Boolean(value), None);
    }

    /// The greatest number of iterations, as the file has it.
    pub(super) fn iterations(&mut self, text: &str, from: KeyPlace) -> Result<(), InputError> {
        let iterations = whole(text, 1, i64::MAX.cast_unsigned()).map_err(|e| e.at_key(&from))?;
        self.usual_iterations(iterations);
        Ok(())
    }

    /// The greatest number of iterations, where the file has none: that which the program takes then.
    pub(super) fn usual_iterations(&mut self, iterations: u64) {
        let value = Value::Integer(i64::try_from(iterations).unwrap_or(i64::MAX));
        self.set("iterations", value, None);
    }

    /// z^2 + c, for a file that names no formula.
    pub(super) fn usual_formula(&mut self) {
        self.text("formula", Formula::MANDELBROT.name(), None);
    }

    /// The formula. `from` is the key that gives the power.
    pub(super) fn formula(&mut self, fold: Fold, power: u64, from: Option<KeyPlace>) -> Result<(), InputError> {
        let formula = u32::try_from(power).ok().and_then(|power| Formula::new(fold, power)).ok_or_else(|| {
            let error = InputError::out_of_range(power.to_string());
            let error = error.accepts(format!("powers from 2 to {}", Formula::MAX_POWER));
            from.iter().fold(error, InputError::at_key)
        })?;
        self.text("formula", formula.name(), None);
        self.set("power", Value::Integer(formula.power().into()), None);
        Ok(())
    }

    /// The size in pixels.
    pub(super) fn size(&mut self, width: &str, height: &str, from: Option<KeyPlace>) {
        self.text("size", format!("{}x{}", width.trim(), height.trim()), from);
    }

    /// The rotation, unless it is none: -360 and 360 degrees are none as well.
    pub(super) fn rotation(&mut self, degrees: &Decimal, from: Option<KeyPlace>) {
        if !degrees.to_rational().is_zero() {
            self.text("rotation", degrees.text(), from);
        }
    }

    /// The palette, as the text of a palette file.
    pub(super) fn palette(&mut self, format: &str, text: String, from: Option<KeyPlace>) {
        self.colour.push(("palette", Value::String("palette".to_owned()), None));
        self.colour.push(("palette_format", Value::String(format.to_owned()), None));
        self.colour.push(("palette_text", Value::String(text), from));
    }

    /// The colour of the inside.
    pub(super) fn interior(&mut self, colour: [u8; 3]) {
        let colour = colour.map(|channel| u16::from(channel) * 257);
        self.colour.push(("interior", Value::String(colour_text(colour)), None));
    }

    /// Notes a key of the file that is not used, once.
    pub(super) fn unused(&mut self, name: &str) {
        let name: String = name.chars().take(MOST_CHARACTERS).collect();
        if self.unused.contains(&name) {
            return;
        }
        if self.unused.len() < MOST_UNUSED {
            self.unused.push(name);
        } else {
            self.more += 1;
        }
    }

    /// The keys of the file that are not used.
    pub(in crate::scene) fn all_unused(&self) -> Vec<String> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.unused.iter().cloned().chain(more).collect()
    }

    /// The text of a location file.
    pub(in crate::scene) fn location(&self) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        for (key, value, _) in &self.keys {
            let _ = writeln!(text, "{key} = {value}");
        }
        if !self.colour.is_empty() {
            text.push_str("[colour]\n");
        }
        for (key, value, _) in &self.colour {
            let _ = writeln!(text, "{key} = {value}");
        }
        text
    }

    /// An error in that text, as one about the key that the value comes from.
    pub(in crate::scene) fn explained(&self, error: &InputError) -> InputError {
        let mut keys = self.keys.iter().chain(&self.colour);
        let key = error.places().iter().find_map(|place| keys.find(|(key, ..)| *key == place.to_string()));
        let explained = InputError::new(error.problem().clone());
        let explained = error.accepted().into_iter().fold(explained, InputError::accepts);
        match key.and_then(|(.., from)| from.as_ref()) {
            Some(from) => explained.at_key(from),
            None => error.parameter().cloned().into_iter().fold(explained, InputError::about),
        }
    }
}

/// The error when a file says something that cannot be drawn.
pub(super) fn not_drawn(what: impl Into<String>) -> InputError {
    InputError::new(crate::base::problem::Problem::Unsupported(format!("{} cannot be drawn", what.into())))
}

/// The error when a file lacks something that is needed.
pub(super) fn missing(what: &str) -> InputError {
    InputError::malformed(format!("no {what} is given"))
}
