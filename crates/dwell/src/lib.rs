//! `dwell` is a Mandelbrot engine: it renders images of the set from dwells that are reproducible to the last bit.
//!
//! Each stage of the pipeline turns one plain value into the next, in the folder or file named after its result:
//!
//! ```text
//! Location / text -> View -> Plan -> Field -> picture -> file
//! ```
//!
//! A picture in memory:
//!
//! ```
//! use dwell::{CpuEngine, Scene, Size, View};
//!
//! let view = View::centred("-0.7436438870371587", "0.1318259042053119", "1e5")?;
//! let scene = Scene { view: view.sized(Size::new(320, 180)?), ..Scene::default() };
//! let picture = dwell::picture(&scene, &CpuEngine::default(), &Default::default(), &Default::default())?;
//! assert_eq!(picture.bytes().len(), 320 * 180 * 3);
//! # Ok::<(), dwell::Error>(())
//! ```
//!
//! [`field()`] computes dwells in memory. [`render()`] streams to files and needs memory that does not grow with the image's
//! height.
//!
//! The **dwell** of a point is the least n >= 1 with |z_n|^2 > R^2, where z_0 = 0, z_1 = c and R = 2 by default. It is 0 for
//! a point that did not escape within the limit. The same view, number and recipe give the same dwells on every instruction
//! set and thread count, whatever floating-point environment (rounding mode, flush-to-zero) the calling thread has: each
//! function computes in the standard one and leaves the caller's as it was. See [`dwell_kernels::recipe`] for the order of
//! roundings.
//!
//! Cargo features, both on by default:
//!
//! - `png`: writing and comparing PNG files, and reading the text stored in them.
//! - `toml`: location files, the built-in locations, and palette files in TOML.

#![forbid(unsafe_code)]

mod base;
mod colour;
mod deep;
mod encode;
mod exact;
mod field;
mod input;
mod iterate;
#[cfg(feature = "toml")]
mod locate;
mod plan;
mod render;
mod scene;
mod view;
#[cfg(all(feature = "png", feature = "toml"))]
mod zoom;

pub mod compare;
pub mod store;
pub mod truth;

pub use base::cancel::Cancel;
pub use base::control::Control;
pub use base::error::{Error, InputError};
pub use base::limits::Limits;
pub use base::place::{Parameter, Place};
pub use base::problem::Problem;
pub use base::progress::{Phase, Progress};
pub use base::quote::{escape, needs_escape, quote};
pub use base::schedule::Schedule;
pub use base::thread_pool::ThreadPool;
pub use colour::{
    BlendMode, By, Colouring, Coverage, Depth, EncoderTables, Layer, LayerContent, Look, MOST_LAYERS, MOST_SAMPLES,
    Painter, Palette, PaletteFormat, PaletteSource, Quantity, Samples, Scale, Suggestion, Tables, colour_text,
    parse_colour,
};
pub use deep::kept::KeepReferences;
pub use deep::pending::Pending;
pub use deep::points::{DeepPoints, DeepRows};
pub use deep::report::{DeepReport, Tier, TierReport};
pub use deep::tiers::device::{Attempted, DeepAttempt, DeepBlocks, DeepDevice, DeepTable, DeepWork, DeviceFailed};
pub use encode::Format;
#[cfg(feature = "png")]
pub use encode::png_bytes;
pub use exact::decimal::Decimal;
pub use exact::rational::Rational;
pub use field::channels::{Channel, ChannelBuffers, ChannelSet, ChannelSlices, ChannelSlicesMut, Channels};
pub use field::{Field, FieldRows, FieldRowsMut};
#[cfg(feature = "toml")]
pub use input::rows::Row;
#[cfg(feature = "toml")]
pub use input::toml_reader::check_toml;
pub use iterate::cpu::CpuEngine;
pub use iterate::engine::{
    DeviceReport, Engine, EngineInfo, Notes, Outcome, PaintOutcome, PaintingEngine, Requirements, Task, Times,
};
pub use iterate::peak;
pub use iterate::shortcuts::Shortcuts;
pub use iterate::strategy::Strategy;
pub use iterate::tiles::TileSize;
#[cfg(feature = "toml")]
pub use locate::{LocateTimes, Located, Sought, Special, Wanted, Within, ZoomTo, locate};
pub use plan::Plan;
pub use plan::axes::Axes;
pub use plan::points::{DirectPoints, Points, PointsVisitor};
pub use plan::resolution::bits_needed;
pub use render::automatic::{Found, LimitCheck, Resolved, check_limit, resolve};
pub use render::estimate::{Estimate, estimate, expected_cost};
pub use render::in_memory::{field, picture};
pub use render::journal::Journaling;
pub use render::layout::{Layout, tile_of};
pub use render::picture::Picture;
pub use render::report::{OutputReport, Report};
pub use render::request::{Paint, Request};
pub use render::scratch::Scratch;
pub use render::seconds::Seconds;
pub use render::sidecar::Sidecar;
pub use render::{layout, render, render_with};
#[cfg(feature = "toml")]
pub use scene::foreign::{LocationFormat, Written};
#[cfg(feature = "toml")]
pub use scene::location::{Fit, Location};
pub use scene::{Automatic, Scene};
pub use view::settings::{NumberKind, Settings, formula};
pub use view::{Frame, MAX_SIDE, Magnification, Sample, Size, View};
#[cfg(all(feature = "png", feature = "toml"))]
pub use zoom::{Course, Easing, Film, FilmColours, FilmFindings, Means, Method, Resampler, Shared};

pub use dwell_kernels::{Fold, Formula, Kernels, Level, LevelName, Map, Number, Recipe, UnknownName, naive};

/// Compiles and runs the example in the package's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
