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

mod base;
mod colour;
mod encode;
mod exact;
mod field;
mod input;
mod iterate;
mod plan;
mod render;
mod scene;
mod view;

pub mod compare;
pub mod store;
pub mod truth;

pub use base::cancel::Cancel;
pub use base::error::{Error, InputError, nearest, quote, unknown_name};
pub use base::limits::Limits;
pub use base::progress::Progress;
pub use base::thread_pool::{Schedule, Team};
pub use colour::{
    By, Colouring, Depth, EncoderTables, MOST_SAMPLES, Painter, Palette, PaletteFormat, Scale, Source, Suggestion,
    Tables, colour_text, parse_colour,
};
pub use encode::{Format, png_bytes};
pub use exact::decimal::Decimal;
pub use exact::rational::Rational;
pub use field::{Extras, Field, FieldPart, FieldRows};
pub use iterate::auto_limit::auto_limit;
pub use iterate::cpu::CpuEngine;
pub use iterate::engine::{DeviceReport, Engine, Painted, Shortcuts, Spent, Work};
pub use iterate::peak;
pub use iterate::strategy::Strategy;
pub use iterate::tiles::TileSize;
pub use plan::axes::Axes;
pub use plan::resolution::bits_needed;
pub use plan::{Coordinates, Plan, Points};
pub use render::journal::Journaling;
pub use render::layout::{Layout, tile_of};
pub use render::report::{Report, Seconds};
pub use render::request::{Paint, Request};
pub use render::{Buffers, estimate, field, layout, render};
pub use scene::Scene;
pub use scene::location::Location;
pub use view::settings::{NumberKind, Settings, formula};
pub use view::{Frame, MAX_SIDE, Magnification, Sample, Size, View};

pub use dwell_kernels::{Fold, Formula, Level, LevelName, Map, Number, Recipe, naive};

/// The README's example, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
