//! `dwell`: a Mandelbrot engine. Images of the set with dwells that are reproducible to the last bit.
//!
//! The flow is a line of plain values, each made by the file named after it:
//!
//! ```text
//! Location / text -> View -> Plan -> Field -> picture -> file
//! ```
//!
//! A picture in ten lines:
//!
//! ```
//! use dwell::{
//!     Cancel, Colouring, CpuEngine, Depth, Engine, Extras, Limits, Painter, Plan, Settings, Size, Strategy, View,
//! };
//!
//! let view = View::centred("-0.7436438870371587", "0.1318259042053119", "1e5")?.sized(Size::new(320, 180)?);
//! let plan = Plan::new(&view, &Settings { limit: 2000, ..Settings::default() }, &Limits::default())?;
//! let engine = CpuEngine::default();
//! let field = dwell::field(&plan, &engine, Strategy::EveryPixel, Extras::SMOOTH, &Limits::default(), &Cancel::default())?;
//! println!("{} of {} pixels did not escape", field.interior_pixels(), field.dwell().len());
//!
//! let painter = Painter::new(&Colouring::default(), plan.limit(), Depth::Eight, 1);
//! let mut picture = vec![0; field.dwell().len() * painter.bytes_per_pixel()];
//! painter.paint(field.all_rows(), &mut picture);
//! let (low, high) = (picture.iter().min(), picture.iter().max());
//! assert!(low < high, "there is something to see");
//! # Ok::<(), dwell::Error>(())
//! ```
//!
//! [`render()`] streams to files instead, in memory that does not grow with the image's height.
//!
//! **Dwell** is the least n >= 1 with |z_n|^2 > R^2, where z_0 = 0, z_1 = c, R = 2 unless said; 0 means: did not escape
//! within the limit. The same view, number and recipe give the same dwells on every instruction set and thread count.
//! See [`dwell_kernels::recipe`] for the order of roundings.

#![forbid(unsafe_code)]

mod auto_limit;
mod axes;
mod cancel;
mod colour;
mod decimal;
mod encode;
mod engine;
mod error;
mod exact_points;
mod field;
mod hash;
mod input;
mod journal;
mod keys;
mod layout;
mod limits;
mod location;
mod mirror;
mod parallel;
mod pipeline;
mod plan;
mod progress;
mod rational;
mod record;
mod render;
mod report;
mod request;
mod resolution;
mod scene;
mod settings;
mod strategy;
mod sweep;
mod tiles;
mod trig;
mod view;

pub mod compare;
pub mod peak;
pub mod precise;
pub mod store;

pub use auto_limit::auto_limit;
pub use axes::Axes;
pub use cancel::Cancel;
pub use colour::{
    By, Colouring, Depth, EncoderTables, MOST_SAMPLES, Painter, Palette, PaletteFormat, Scale, Source, Suggestion,
    Tables, colour_text, palette_sheet, parse_colour,
};
pub use decimal::Decimal;
pub use encode::{Format, png_bytes};
pub use engine::{CpuEngine, DeviceReport, Engine, Painted, Shortcuts, Spent, Work};
pub use error::{Error, InputError, nearest, quote, unknown_name};
pub use field::{Extras, Field, FieldPart, FieldRows};
pub use journal::Journaling;
pub use layout::{Layout, tile_of};
pub use limits::Limits;
pub use location::Location;
pub use parallel::{Schedule, Team};
pub use plan::{Coordinates, Plan, Points};
pub use progress::Progress;
pub use rational::Rational;
pub use render::{Buffers, estimate, field, layout, render};
pub use report::{Report, Seconds};
pub use request::{Paint, Request};
pub use resolution::bits_needed;
pub use scene::Scene;
pub use settings::{NumberKind, Settings, formula};
pub use strategy::Strategy;
pub use tiles::TileSize;
pub use view::{Frame, MAX_SIDE, Magnification, Sample, Size, View};

pub use dwell_kernels::{Fold, Formula, Level, LevelName, Map, Number, Recipe, naive};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
