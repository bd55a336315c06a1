//! `dwell locations`: lists the built-in locations, or those that match.

use crate::cli::LocationsArgs;
use crate::error_text::{Failure, Usage};
use crate::{engine, output};
use dwell::{Formula, Frame, Location, Magnification, Number, Rational, View, bits_needed, quote};
use serde::Serialize;

/// A row of the list.
#[derive(Serialize)]
struct Listed {
    name: String,
    title: String,
    formula: &'static str,
    power: u32,
    /// The constant of a Julia set.
    #[serde(skip_serializing_if = "Option::is_none")]
    julia: Option<[String; 2]>,
    /// Centre; absent where the location has bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    im: Option<String>,
    zoom: String,
    iterations: Option<u64>,
    /// The bits of a number that resolves it at 1920x1080.
    bits: i64,
    /// Whether f64 resolves it at 1920x1080.
    drawable: bool,
    palette: String,
    source: String,
    notes: String,
    #[serde(skip)]
    exact_zoom: Rational,
}

/// What the flags select.
struct Filter {
    words: Vec<String>,
    formula: Option<&'static str>,
    drawable: bool,
    deep: bool,
    min_zoom: Option<Rational>,
    max_zoom: Option<Rational>,
}

pub(crate) fn run(args: &LocationsArgs) -> Result<(), Failure> {
    let filter = Filter::new(args)?;
    let mut listed = Vec::new();
    for name in Location::built_in_names() {
        let row = Listed::of(&Location::built_in(name)?);
        if filter.selects(&row) {
            listed.push(row);
        }
    }
    if args.json {
        return output::print_json(&listed);
    }
    if listed.is_empty() {
        let what = quote(&args.text.join(" ")).to_string();
        let problem = if args.text.is_empty() {
            "no built-in location matches".to_owned()
        } else {
            format!("no built-in location matches {what}")
        };
        return Err(Usage::new("dwell locations", problem)
            .hint("`dwell locations` without filters lists every one")
            .into());
    }
    output::print(&table(&listed))
}

/// The list as text.
fn table(listed: &[Listed]) -> String {
    let mut text = format!("{:<26} {:>8} {:>13}  {:<9} {}\n", "NAME", "ZOOM", "ITERATIONS", "NEEDS", "TITLE");
    for Listed { name, zoom, iterations, bits, drawable, title, .. } in listed {
        let needs = match bits {
            ..=24 => "f32".to_owned(),
            _ if *drawable => "f64".to_owned(),
            _ => format!("{bits} bits"),
        };
        let iterations = iterations.map_or_else(|| "auto".to_owned(), |iterations| iterations.to_string());
        text.push_str(&format!("{name:<26} {zoom:>8} {iterations:>13}  {needs:<9} {title}\n"));
    }
    text.push_str(
        "\nNEEDS is for 1920x1080; views that need more than f64 (53 bits) are rendered in exact arithmetic.\n",
    );
    text
}

impl Filter {
    fn new(args: &LocationsArgs) -> Result<Self, Failure> {
        let zoom = |flag: &'static str, text: &Option<String>| -> Result<Option<Rational>, Failure> {
            let Some(text) = text else { return Ok(None) };
            let zoom = engine::decimal(flag, text)?;
            if !zoom.is_positive() {
                return Err(Usage::new(flag, format!("{} is out of range", quote(text))).accepts("above 0").into());
            }
            Ok(Some(zoom.to_rational()))
        };
        let formula = match &args.formula {
            Some(name) => Some(name.parse::<Formula>()?.name()),
            None => None,
        };
        let (min_zoom, max_zoom) = (zoom("--min-zoom", &args.min_zoom)?, zoom("--max-zoom", &args.max_zoom)?);
        if let (Some(least), Some(most)) = (&min_zoom, &max_zoom)
            && least > most
        {
            return Err(Usage::new("--min-zoom", "is greater than --max-zoom").into());
        }
        let words = args.text.iter().flat_map(|text| text.split_whitespace()).map(str::to_lowercase).collect();
        Ok(Self { words, formula, drawable: args.drawable, deep: args.deep, min_zoom, max_zoom })
    }

    fn selects(&self, row: &Listed) -> bool {
        let text = [&row.name, &row.title, &row.notes].map(|text| text.to_lowercase()).join("\n");
        self.words.iter().all(|word| text.contains(word))
            && self.formula.is_none_or(|formula| formula == row.formula)
            && (!self.drawable || row.drawable)
            && (!self.deep || !row.drawable)
            && self.min_zoom.as_ref().is_none_or(|least| row.exact_zoom >= *least)
            && self.max_zoom.as_ref().is_none_or(|most| row.exact_zoom <= *most)
    }
}

impl Listed {
    fn of(location: &Location) -> Self {
        let scene = &location.scene;
        let over = |height: Rational| Rational::whole(4).over(&height);
        let (centre, exact_zoom) = match &scene.view.frame {
            Frame::Centred { re, im, magnification } => {
                let zoom = match magnification {
                    Magnification::Zoom(zoom) => zoom.to_rational(),
                    Magnification::Height(height) => over(height.to_rational()),
                };
                (Some([re, im]), zoom)
            }
            Frame::Bounds { ymin, ymax, .. } => (None, over(ymax.to_rational().minus(&ymin.to_rational()))),
        };
        let [re, im] = centre.map_or([None, None], |centre| centre.map(|part| Some(part.text().to_owned())));
        let bits = bits_needed(&location.view(View::DEFAULT_SIZE));
        Self {
            name: location.name.clone(),
            title: scene.title.clone(),
            formula: scene.settings.formula.name(),
            power: scene.settings.formula.power(),
            julia: scene.settings.julia.as_ref().map(|c| c.each_ref().map(|part| part.text().to_owned())),
            re,
            im,
            zoom: exact_zoom.scientific(),
            iterations: location.iterations(),
            bits,
            drawable: bits <= i64::from(f64::SIGNIFICAND_BITS),
            palette: scene.colouring.palette.name().to_owned(),
            source: scene.source.clone(),
            notes: location.notes.clone(),
            exact_zoom,
        }
    }
}
