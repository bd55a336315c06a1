//! Positions of XaoS (`.xpf`): commands in parentheses.
//!
//! ```text
//! (initstate)
//! (formula 'mandel)
//! (maxiter 1000)
//! (angle 30)
//! (view -0.75 0 2.5 2.5)
//! ```
//!
//! `view` has the centre and the least width and height that the window shows: in a window of W by H pixels the view is
//! max(width, height W / H) wide. The imaginary axis points down. A window's point (x, y) is the centre plus the vector
//! turned clockwise by `angle` degrees. `bailout` is R^2. `formula` sets the view and the angle back to the usual ones.
//! The usual limit differs between versions; that of version 3 is taken.
//!
//! Facts from the source of that program: `fractal.cpp` (`recalc_view`, `set_formula`), `fractal.h` (`rotate`),
//! `btrace.cpp`, `formulas.cpp` and `save.cpp`. A saved position has up to 20 digits.

use super::numbers::{is_zero, negative, number, radius_of_square, times};
use super::outline::Outline;
use super::translation::{Translation, not_drawn};
use crate::base::error::InputError;
use crate::base::place::KeyPlace;
use crate::base::quote::quote;
use crate::exact::decimal::Decimal;
use crate::view::{Size, View};
use dwell_kernels::Fold;

/// The formulas that can be drawn: name, fold, power, usual view.
const FORMULAS: [(&str, Fold, u32, [&str; 4]); 7] = [
    ("mandel", Fold::None, 2, ["-0.75", "0", "2.5", "2.5"]),
    ("mandel3", Fold::None, 3, ["0", "0", "2.5", "2.5"]),
    ("mandel4", Fold::None, 4, ["0", "0", "2.5", "2.5"]),
    ("mandel5", Fold::None, 5, ["0", "0", "2.5", "2.5"]),
    ("mandel6", Fold::None, 6, ["0", "0", "2.5", "2.5"]),
    ("mandel9", Fold::None, 9, ["0", "0", "2.5", "2.5"]),
    ("mbar", Fold::Conjugate, 2, ["0", "0", "2.5", "3.5"]),
];

/// The limit of a file without one.
const USUAL_ITERATIONS: u64 = 170;

/// Commands that change nothing in a picture of this project.
const QUIET: [&str; 12] = [
    "initstate",
    "periodicity",
    "fastmode",
    "range",
    "letterspersec",
    "speedup",
    "maxstep",
    "cyclingspeed",
    "rotationspeed",
    "fastrotate",
    "usleep",
    "display",
];

/// A command: its line and its words.
struct Command<'a> {
    line: u64,
    name: &'a str,
    values: Vec<&'a str>,
}

impl Command<'_> {
    fn place(&self) -> KeyPlace {
        (self.line, self.name.chars().take(40).collect())
    }

    /// Exactly `N` values.
    fn exactly<const N: usize>(&self, form: &str) -> Result<[&str; N], InputError> {
        self.values.as_slice().try_into().map_err(|_| {
            let count = self.values.len();
            InputError::malformed(format!("has {count} values")).accepts(form).at_key(&self.place())
        })
    }

    /// Whether all values are 0, false or `usual`.
    fn is_off(&self) -> bool {
        self.values.iter().all(|value| *value == "#f" || is_zero(value))
    }
}

/// What the commands so far have set.
struct State<'a> {
    formula: (Fold, u32),
    view: [Decimal; 4],
    view_place: Option<KeyPlace>,
    angle: Option<(Decimal, KeyPlace)>,
    seed: ([&'a str; 2], Option<KeyPlace>),
    julia: bool,
}

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Translation, InputError> {
    let mut file = Translation::default();
    file.usual_iterations(USUAL_ITERATIONS);
    let mut state = State {
        formula: (Fold::None, 2),
        view: decimals(FORMULAS[0].3)?,
        view_place: None,
        angle: None,
        seed: (["0", "0"], None),
        julia: false,
    };
    let mut rest = Scanner { text, at: 0, line: 1 };
    let mut any = false;
    while let Some(command) = rest.command()? {
        any = true;
        take(&command, &mut state, &mut file)?;
    }
    if !any {
        return Err(InputError::malformed("holds no command").accepts("(view RE IM WIDTH HEIGHT)"));
    }
    let (fold, power) = state.formula;
    file.formula(fold, power.into(), None)?;
    let [re, im, width, height] = &state.view;
    let place = state.view_place;
    file.text("re", re.text(), place.clone());
    file.text("im", im.text(), place.clone());
    file.text("view_height", tallest(width, height)?.text(), place);
    // The program's picture is upside down here: its rows go up the imaginary axis.
    file.flag("flip", true);
    if let Some((angle, place)) = state.angle {
        file.rotation(&negative(&angle)?, Some(place));
    }
    if state.julia {
        let (seed, place) = state.seed;
        file.list("julia", seed, place);
    }
    Ok(file)
}

fn decimals(texts: [&str; 4]) -> Result<[Decimal; 4], InputError> {
    let [a, b, c, d] = texts.map(|text| number("view", text));
    Ok([a?, b?, c?, d?])
}

/// The height of the view in the usual size: as much as shows both sides.
fn tallest(width: &Decimal, height: &Decimal) -> Result<Decimal, InputError> {
    let Size { width: w, height: h } = View::DEFAULT_SIZE;
    let sides = [times(width, h, w)?, height.clone()];
    let [by_width, by_height] = sides.map(|side| if is_negative(&side) { negative(&side) } else { Ok(side) });
    let (by_width, by_height) = (by_width?, by_height?);
    Ok(if by_width.minus(&by_height)?.is_positive() { by_width } else { by_height })
}

fn is_negative(number: &Decimal) -> bool {
    number.text().starts_with('-')
}

fn take<'a>(command: &Command<'a>, state: &mut State<'a>, file: &mut Translation) -> Result<(), InputError> {
    let place = command.place();
    match command.name {
        "view" => {
            state.view = decimals(command.exactly("(view RE IM WIDTH HEIGHT)")?).map_err(|e| e.at_key(&place))?;
            state.view_place = Some(place);
        }
        "formula" => {
            let [name] = command.exactly("(formula 'NAME)")?;
            let name = name.trim_start_matches('\'');
            let known = FORMULAS.iter().find(|(known, ..)| *known == name);
            let Some((_, fold, power, view)) = known else {
                let accepted = FORMULAS.map(|(name, ..)| name).join(", ");
                return Err(not_drawn(format!("the formula {}", quote(name))).accepts(accepted).at_key(&place));
            };
            (state.formula, state.view, state.view_place) = ((*fold, *power), decimals(*view)?, None);
            (state.angle, state.julia) = (None, false);
        }
        "maxiter" => file.iterations(command.exactly::<1>("(maxiter N)")?[0], place)?,
        "bailout" => match radius_of_square(command.exactly::<1>("(bailout SQUARE)")?[0]) {
            Some(radius) => file.text("escape_radius", radius.text(), Some(place)),
            None => file.unused("bailout"),
        },
        "angle" => {
            let [angle] = command.exactly("(angle DEGREES)")?;
            state.angle = Some((angle.parse().map_err(|e: InputError| e.at_key(&place))?, place));
        }
        "juliaseed" => {
            command.exactly::<2>("(juliaseed RE IM)")?;
            state.seed = ([command.values[0], command.values[1]], Some(place));
        }
        "julia" => state.julia = !command.is_off(),
        "plane" | "perturbation" if !command.is_off() => {
            let values = command.values.join(" ");
            return Err(not_drawn(format!("{} {}", command.name, quote(&values))).at_key(&place));
        }
        "filter" if command.values.last() == Some(&"#f") => {}
        name if QUIET.contains(&name)
            || (!command.values.is_empty() && command.is_off() && name != "defaultpalette") => {}
        name => file.unused(name),
    }
    Ok(())
}

/// A reader at a place in a text.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> Scanner<'a> {
    /// Consumes so many bytes and returns them.
    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = &self.text[self.at..self.at + bytes];
        self.at += bytes;
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count() as u64;
        taken
    }

    fn skip_space_and_comments(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            self.take(rest.len() - rest.trim_start().len());
            let rest = &self.text[self.at..];
            if !rest.starts_with(';') {
                return;
            }
            self.take(rest.find('\n').unwrap_or(rest.len()));
        }
    }

    /// The next command; none at the end of the text.
    fn command(&mut self) -> Result<Option<Command<'a>>, InputError> {
        self.skip_space_and_comments();
        let line = self.line;
        let wrong = |problem: String| InputError::malformed(problem).accepts("(COMMAND VALUE ...)").at_line(line);
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return Ok(None);
        }
        if !rest.starts_with('(') {
            let shown = rest.lines().next().unwrap_or("").trim();
            return Err(wrong(format!("{} begins no command", quote(shown))));
        }
        self.take(1);
        let mut words = Vec::new();
        loop {
            self.skip_space_and_comments();
            let rest = &self.text[self.at..];
            let length = match rest.as_bytes().first() {
                None => return Err(wrong("a parenthesis is not closed".to_owned())),
                Some(b')') => break,
                Some(b'(') => return Err(wrong("a command is inside another".to_owned())),
                Some(b'"') => match rest[1..].find('"') {
                    Some(length) => length + 2,
                    None => return Err(wrong("a quotation mark is not closed".to_owned())),
                },
                Some(_) => {
                    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | ';' | '"');
                    rest.find(ends).unwrap_or(rest.len())
                }
            };
            let word = self.take(length);
            // No command has as many values; the memory of a list of words is bounded by this.
            if words.len() < 64 {
                words.push(word);
            }
        }
        self.take(1);
        match words.split_first() {
            Some((name, values)) => Ok(Some(Command { line, name, values: values.to_vec() })),
            None => Err(wrong("the parentheses are empty".to_owned())),
        }
    }
}

/// Writes a file.
pub(super) fn write(of: &mut Outline<'_>) -> Result<String, InputError> {
    of.only_square_pixels()?;
    let settings = &of.scene.settings;
    let formula = settings.formula;
    let known = FORMULAS.iter().find(|(_, fold, power, _)| *fold == formula.fold() && *power == formula.power());
    let Some((name, ..)) = known else {
        return Err(not_drawn(format!("the formula {} with power {} in XaoS", formula.name(), formula.power())));
    };
    let view = &of.scene.view;
    if !view.flip {
        of.left_out.push("the direction of the imaginary axis, which points down in XaoS".to_owned());
    }
    let mut text = format!("(initstate)\n(formula '{name})\n(maxiter {})\n", of.iterations);
    let bailout = of.squared_radius()?;
    text.push_str(&format!("(bailout {})\n", bailout.text()));
    if let Some([re, im]) = &settings.julia {
        text.push_str(&format!("(juliaseed {} {})\n(julia #t)\n", re.text(), im.text()));
    }
    if !view.rotation.to_rational().is_zero() {
        text.push_str(&format!("(angle {})\n", negative(&view.rotation)?.text()));
    }
    let height = of.height()?;
    // A window wider than high decides by the height, any other by the width.
    let Size { width: w, height: h } = view.size;
    let width = if w >= h { height.clone() } else { times(&height, w, h)? };
    text.push_str(&format!("(view {} {} {} {})\n", of.re.text(), of.im.text(), width.text(), height.text()));
    of.left_out.extend(["size", "colours"].map(str::to_owned));
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "; ours\n(initstate)\n(palette 1 123 0)\n(formula 'mandel3)\n(maxiter 144)\n(juliaseed 0.25 -0.5)\n\
        (outcoloring 9)\n(incoloring 0)\n(bailout 16)\n(angle 51.5)\n(plane 0)\n(filter 'edge #f)\n(julia #t)\n\
        (usrform \"a ( b\")\n(view 0.29 -0.016 1.6E-06\n 8E-07) ; the place\n";

    #[test]
    fn every_command_is_read_or_named() {
        let file = read(FILE).unwrap();
        let text = file.location();
        for line in [
            "re = \"0.29\"",
            "im = \"-0.016\"",
            "view_height = \"0.0000009\"",
            "iterations = 144",
            "rotation = \"-51.5\"",
            "flip = true",
            "julia = [\"0.25\", \"-0.5\"]",
            "power = 3",
            "escape_radius = \"4\"",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert_eq!(file.all_unused(), ["palette", "outcoloring", "usrform"]);
        let usual = read("(initstate)(formula 'mbar)").unwrap().location();
        assert!(usual.contains("view_height = \"3.5\"") && usual.contains("formula = \"tricorn\""), "{usual}");
    }

    #[test]
    fn errors_name_line_and_command() {
        for (from, to, said) in [
            (
                "'mandel3",
                "'newton",
                "line 4, formula: the formula \"newton\" cannot be drawn (accepted: mandel, mandel3",
            ),
            ("(plane 0)", "(plane 2)", "line 11, plane: plane \"2\" cannot be drawn"),
            ("(maxiter 144)", "(maxiter 1 2)", "line 5, maxiter: has 2 values (accepted: (maxiter N))"),
            ("(maxiter 144)", "(maxiter x)", "line 5, maxiter"),
            ("1.6E-06\n", "x", "line 15, view, view: is not a number"),
            ("(view", "(view (view", "line 15: a command is inside another"),
            ("8E-07)", "8E-07", "line 15: a parenthesis is not closed"),
            ("(initstate)", "initstate", "line 2: \"initstate\" begins no command"),
            ("(initstate)", "()", "line 2: the parentheses are empty"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = read(&FILE.replacen(from, to, 1)).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(read("; nothing\n").err().unwrap().to_string().contains("holds no command"));
    }
}
