//! GIMP's gradients, `.ggr` files:
//!
//! ```text
//! GIMP Gradient
//! Name: Three colours
//! 2
//! 0.0 0.25 0.5  1.0 0.0 0.0 1.0  0.0 1.0 0.0 1.0  0 0 0 0
//! 0.5 0.75 1.0  0.0 1.0 0.0 1.0  0.0 0.0 1.0 1.0  2 1 0 0
//! ```
//!
//! Each line is a segment: its left end, middle and right end, 0 to 1; red, green, blue and alpha at its left end and
//! at its right; the blending function, which is one half at the middle; the colour model; and, in files since 2006,
//! whether the colours of the ends follow the program's foreground and background. The last two numbers are ignored:
//! the file holds colours for these ends as well.
//!
//! Alpha is composited over black: there is no layer below a fractal, and the colours stored at fully transparent ends
//! are never visible in GIMP, so they are often arbitrary.

use super::draft::{Draft, MAX_STOPS};
use super::table::from_function;
use crate::base::error::InputError;
use crate::base::place::Place;
use crate::base::quote::quote;
use crate::colour::elementary::{log2, power, sine_of_turns};
use crate::colour::rgb::{FULL, Rgb16, channel};

#[derive(Clone, Copy)]
enum Blending {
    Linear,
    Curved,
    Sinusoidal,
    SphereIncreasing,
    SphereDecreasing,
    Step,
}

#[derive(Clone, Copy)]
enum SegmentColouring {
    Rgb,
    /// Hue rising.
    HsvCounterClockwise,
    /// Hue falling.
    HsvClockwise,
}

type Rgba = [f64; 4];

struct Segment {
    left: f64,
    middle: f64,
    right: f64,
    from: Rgba,
    to: Rgba,
    blending: Blending,
    colouring: SegmentColouring,
}

/// The most that the ends of neighbouring segments may differ: files have six decimals.
const SEAM: f64 = 1e-4;

/// The palette of a file.
pub(super) fn draft(text: &str) -> Result<Draft, InputError> {
    let (name, segments) = parse(text)?;
    let end = |colour: Rgba| rounded(composited(colour));
    let (Some(first), Some(last)) = (segments.first(), segments.last()) else {
        return Err(InputError::malformed("holds no segment"));
    };
    let cyclic = end(first.from) == end(last.to);
    let last_colour = end(last.to);
    let table = from_function(cyclic, |at| {
        // A segment includes its left end; position 1 has the last segment's right colour.
        let next = segments.partition_point(|s| s.left <= at).max(1);
        if at >= 1.0 { last_colour } else { rounded(segments[next - 1].colour(at)) }
    });
    Ok(Draft { cyclic, title: name, ..Draft::cycle(table) })
}

fn parse(text: &str) -> Result<(Option<String>, Vec<Segment>), InputError> {
    // Some editors begin a text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim())).filter(|(_, line)| !line.is_empty());
    let wrong = |(number, line): (usize, &str), accepted: &str| {
        InputError::malformed(format!("{} is not understood", quote(line))).accepts(accepted).at_line(number as u64)
    };
    let ended = |accepted: &str| InputError::malformed("ends too early").accepts(accepted);

    let header = "\"GIMP Gradient\"";
    match lines.next() {
        Some((_, "GIMP Gradient")) => {}
        line => return Err(line.map_or_else(|| ended(header), |line| wrong(line, header))),
    }
    let count_is = format!("the number of segments, 1 to {MAX_STOPS}");
    let mut line = lines.next().ok_or_else(|| ended(&count_is))?;
    let mut name = None;
    if let Some(rest) = line.1.strip_prefix("Name:") {
        name = Some(rest.trim().to_owned()).filter(|name| !name.is_empty());
        line = lines.next().ok_or_else(|| ended(&count_is))?;
    }
    let count = line.1.parse().ok().filter(|count| (1..=MAX_STOPS).contains(count));
    let count = count.ok_or_else(|| wrong(line, &count_is))?;

    let mut segments: Vec<Segment> = Vec::new();
    for _ in 0..count {
        let line = lines.next().ok_or_else(|| ended(&format!("{count} segments, the number in the file")))?;
        let mut segment = segment(line.1).map_err(|accepted| wrong(line, accepted))?;
        let left = segments.last().map_or(0.0, |s| s.right);
        if (segment.left - left).abs() > SEAM {
            return Err(wrong(line, &format!("a segment that begins at {left}")));
        }
        segment.left = left;
        segments.push(segment);
    }
    if segments.last().is_some_and(|s| (s.right - 1.0).abs() > SEAM) {
        return Err(InputError::malformed("does not end at 1").within(Place::Part("the last segment".to_owned())));
    }
    Ok((name, segments))
}

/// The segment of a line; the error describes what is accepted.
fn segment(line: &str) -> Result<Segment, &'static str> {
    let words: Vec<&str> = line.split_whitespace().take(16).collect();
    if !matches!(words.len(), 13 | 15) {
        return Err("13 or 15 numbers");
    }
    let mut numbers = [0.0; 11];
    for (number, word) in numbers.iter_mut().zip(&words) {
        *number = word.parse().ok().filter(|n: &f64| n.is_finite()).ok_or("11 decimal numbers first")?;
    }
    let [left, middle, right, colours @ ..] = numbers;
    if !(0.0 <= left && left <= middle && middle <= right && right <= 1.0 + SEAM) {
        return Err("left end, middle, right end, not falling, from 0 to 1");
    }
    let colours = colours.map(|value| value.clamp(0.0, 1.0));
    let [r0, g0, b0, a0, r1, g1, b1, a1] = colours;
    let blending = match words[11] {
        "0" => Blending::Linear,
        "1" => Blending::Curved,
        "2" => Blending::Sinusoidal,
        "3" => Blending::SphereIncreasing,
        "4" => Blending::SphereDecreasing,
        "5" => Blending::Step,
        _ => return Err("blending, the 12th number: 0 to 5"),
    };
    let colouring = match words[12] {
        "0" => SegmentColouring::Rgb,
        "1" => SegmentColouring::HsvCounterClockwise,
        "2" => SegmentColouring::HsvClockwise,
        _ => return Err("colouring, the 13th number: 0 to 2"),
    };
    Ok(Segment { left, middle, right, from: [r0, g0, b0, a0], to: [r1, g1, b1, a1], blending, colouring })
}

impl Segment {
    fn colour(&self, at: f64) -> [f64; 3] {
        let width = self.right - self.left;
        let (middle, t) = if width < TINY {
            (0.5, 0.5)
        } else {
            (((self.middle - self.left) / width).clamp(0.0, 1.0), ((at - self.left) / width).clamp(0.0, 1.0))
        };
        composited(mixed(self.from, self.to, self.blending.share(middle, t), self.colouring))
    }
}

/// Smaller widths count as 0.
const TINY: f64 = 1e-10;

impl Blending {
    /// The share of the right colour at t, 0 to 1, for a middle in 0 to 1.
    fn share(self, middle: f64, t: f64) -> f64 {
        // Two straight pieces: 0 at 0, a half at the middle, 1 at 1.
        let bent = if t <= middle {
            if middle < TINY { 0.0 } else { 0.5 * t / middle }
        } else if 1.0 - middle < TINY {
            1.0
        } else {
            0.5 + 0.5 * (t - middle) / (1.0 - middle)
        };
        match self {
            Self::Linear => bent,
            // The power of t that is one half at the middle.
            Self::Curved if middle < TINY => 1.0,
            Self::Curved if 1.0 - middle < TINY => 0.0,
            Self::Curved => power(t, -1.0 / log2(middle)),
            Self::Sinusoidal => 0.5 + 0.5 * sine_of_turns(0.5 * bent - 0.25),
            Self::SphereIncreasing => (1.0 - (bent - 1.0) * (bent - 1.0)).sqrt(),
            Self::SphereDecreasing => 1.0 - (1.0 - bent * bent).sqrt(),
            Self::Step => f64::from(u8::from(t >= middle)),
        }
    }
}

fn mixed(from: Rgba, to: Rgba, share: f64, colouring: SegmentColouring) -> Rgba {
    let between = |a: f64, b: f64| (b - a).mul_add(share, a);
    let straight: Rgba = std::array::from_fn(|i| between(from[i], to[i]));
    let rising = match colouring {
        SegmentColouring::Rgb => return straight,
        SegmentColouring::HsvCounterClockwise => true,
        SegmentColouring::HsvClockwise => false,
    };
    let ([h0, s0, v0], [h1, s1, v1]) = (hsv(from), hsv(to));
    // Equal hues are a whole turn apart, as in GIMP, whose rainbows are made so.
    let to_hue = match (rising, h0 < h1, h1 < h0) {
        (true, false, _) => h1 + 1.0,
        (false, _, false) => h1 - 1.0,
        _ => h1,
    };
    let hue = between(h0, to_hue);
    let [r, g, b] = rgb([hue - hue.floor(), between(s0, s1), between(v0, v1)]);
    [r, g, b, straight[3]]
}

/// Hue in turns, 0 to below 1 (0 for greys), saturation and value, 0 to 1.
fn hsv([r, g, b, _]: Rgba) -> [f64; 3] {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let range = most - least;
    if range < TINY {
        return [0.0, 0.0, most];
    }
    let sixths = if r == most {
        (g - b) / range
    } else if g == most {
        2.0 + (b - r) / range
    } else {
        4.0 + (r - g) / range
    };
    let hue = sixths / 6.0;
    [hue - hue.floor(), range / most, most]
}

fn rgb([h, s, v]: [f64; 3]) -> [f64; 3] {
    // Each channel is 0 at the hue opposite to it, and rises from one to two sixths of a turn on both sides.
    [0.0, 4.0, 2.0].map(|opposite| {
        let sixths = (h * 6.0 + opposite) % 6.0;
        let full = ((sixths - 3.0).abs() - 1.0).clamp(0.0, 1.0);
        v * (full - 1.0).mul_add(s, 1.0)
    })
}

fn composited([r, g, b, a]: Rgba) -> [f64; 3] {
    [r * a, g * a, b * a]
}

fn rounded(colour: [f64; 3]) -> Rgb16 {
    colour.map(|value| channel(value * FULL))
}

#[cfg(test)]
mod tests {
    use super::super::table::TABLE;
    use super::*;

    fn file(segments: &[&str]) -> String {
        format!("GIMP Gradient\nName: A b\n{}\n{}\n", segments.len(), segments.join("\n"))
    }

    /// The colour of a sequential gradient of one segment at `at`, in thousandths of full.
    fn thousandths(segment: &str, at: f64) -> [u32; 3] {
        let draft = draft(&file(&[segment])).unwrap();
        assert!(!draft.cyclic);
        draft.table[(at * (TABLE / 2) as f64) as usize].map(|c| (f64::from(c) / 65.535).round() as u32)
    }

    #[test]
    fn blending_functions_equal_values_computed_by_hand() {
        // Black to red, the middle at 1/4. By hand, at 1/8, 1/4 and 5/8: linear 1/4, 1/2, 3/4; curved, sqrt(t), since
        // sqrt(1/4) = 1/2; sinusoidal (1 - cos(pi linear)) / 2; spheres sqrt(1 - (1 - linear)^2), 1 - sqrt(1 -
        // linear^2).
        for (blending, expected) in [
            (0, [250, 500, 750]),
            (1, [354, 500, 791]),
            (2, [146, 500, 854]),
            (3, [661, 866, 968]),
            (4, [32, 134, 339]),
            (5, [0, 1000, 1000]),
        ] {
            let segment = format!("0 0.25 1 0 0 0 1 1 0 0 1 {blending} 0 0 0");
            let found = [0.125, 0.25, 0.625].map(|at| thousandths(&segment, at)[0]);
            assert_eq!(found, expected, "{blending}");
            assert_eq!((thousandths(&segment, 0.0)[0], thousandths(&segment, 1.0)), (0, [1000, 0, 0]));
        }
    }

    #[test]
    fn a_middle_at_an_end_is_accepted() {
        for (blending, middle, expected) in
            [(0, 0, 750), (0, 1, 250), (1, 0, 1000), (1, 1, 0), (2, 0, 854), (4, 1, 32), (5, 0, 1000), (5, 1, 0)]
        {
            let segment = format!("0 {middle} 1 0 0 0 1 1 0 0 1 {blending} 0");
            assert_eq!(thousandths(&segment, 0.5)[0], expected, "{blending} {middle}");
        }
    }

    #[test]
    fn hues_turn_in_the_given_direction() {
        // From red to green, rising: by yellow; falling: by magenta, blue, cyan.
        assert_eq!(thousandths("0 0.5 1 1 0 0 1 0 1 0 1 0 1", 0.5), [1000, 1000, 0]);
        assert_eq!(thousandths("0 0.5 1 1 0 0 1 0 1 0 1 0 2", 0.5), [0, 0, 1000]);
        assert_eq!(thousandths("0 0.5 1 1 0 0 1 0 1 0 1 0 2", 0.25), [1000, 0, 1000]);
        // From green to red, rising: by blue.
        assert_eq!(thousandths("0 0.5 1 0 1 0 1 1 0 0 1 0 1", 0.5), [0, 0, 1000]);
        // Saturation and value go straight: dark red (v 1/2) to pale green (s 1/2): yellow of s 3/4, v 3/4.
        assert_eq!(thousandths("0 0.5 1 0.5 0 0 1 0.5 1 0.5 1 0 1", 0.5), [750, 750, 188]);
        // From red to red: the whole rainbow, a cycle.
        let rainbow = draft(&file(&["0 0.5 1 1 0 0 1 1 0 0 1 0 1"])).unwrap();
        assert!(rainbow.cyclic);
        assert_eq!(rainbow.table[TABLE / 2], [0, 65535, 65535]);
    }

    #[test]
    fn alpha_is_composited_over_black() {
        assert_eq!(thousandths("0 0.5 1 1 1 1 1 1 0 0 0 0 0", 0.5), [500, 250, 250]);
        assert_eq!(thousandths("0 0.5 1 1 1 1 1 1 0 0 0 0 0", 1.0), [0, 0, 0]);
    }

    #[test]
    fn segments_are_joined() {
        let text = file(&["0 0.1 0.250001 1 0 0 1 0 1 0 1 0 0 0 0", "0.25 0.5 1 0 0 1 1 1 0 0 1 5 0 0 0"]);
        let draft = draft(&format!("\u{feff}{}", text.replace('\n', "\r\n"))).unwrap();
        assert_eq!((draft.title.as_deref(), draft.cyclic), (Some("A b"), true));
        assert_eq!((draft.table[0], draft.table[TABLE / 2 + 1]), ([65535, 0, 0], [65535, 0, 0]));
        assert_eq!(draft.table[TABLE / 4 + 1], [0, 0, 65535]);
    }

    #[test]
    fn errors_name_the_line_and_what_is_accepted() {
        let good = "0 0.5 1 0 0 0 1 1 0 0 1 0 0 0 0";
        assert!(draft(&format!("GIMP Gradient\n1\n{good}")).is_ok(), "the name may be missing");
        for (text, said) in [
            (String::new(), "ends too early"),
            ("GIMP Palette\n".to_owned(), "line 1"),
            ("GIMP Gradient\nName: x\n".to_owned(), "number of segments"),
            ("GIMP Gradient\nName: x\n0\n".to_owned(), "line 3"),
            ("GIMP Gradient\n5000\n".to_owned(), "1 to 4096"),
            (format!("GIMP Gradient\n2\n{good}\n"), "2 segments"),
            (file(&["0 0.5 1 0 0 0 1 1 0 0 1 0"]), "13 or 15"),
            (file(&["0 0.5 1 0 0 0 1 1 0 0 1 6 0"]), "0 to 5"),
            (file(&["0 0.5 1 0 0 0 1 1 0 0 1 0 3"]), "0 to 2"),
            (file(&["0 0.5 1 0 0 0 1 1 0 nan 1 0 0"]), "line 4"),
            (file(&["0 0.6 0.5 0 0 0 1 1 0 0 1 0 0"]), "not falling"),
            (file(&["0 0.5 0.9 0 0 0 1 1 0 0 1 0 0"]), "does not end at 1"),
            (file(&["0 0.5 1 0 0 0 1 1 0 0 1 0 0", good]), "begins at 1"),
        ] {
            let error = draft(&text).err().unwrap().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
