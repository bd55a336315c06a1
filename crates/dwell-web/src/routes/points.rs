//! What is known of the point in a pixel.

use super::LONGEST;
use crate::admission::Turn;
use crate::body;
use crate::bounds;
use crate::failure::Failure;
use crate::scene_json::{self, SceneJson};
use crate::state::Shared;
use axum::Json;
use axum::extract::State;
use dwell::{
    Cancel, Channel, ChannelSet, Control, Decimal, Frame, Magnification, NumberKind, Plan, Progress, Rational, Samples,
    Scene, Scratch, Size, Strategy, Task, View,
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Digits of a height without a finite decimal.
const DIGITS: usize = 40;

#[derive(Deserialize)]
pub(crate) struct Asked {
    scene: SceneJson,
    width: u32,
    height: u32,
    /// Column and row of the pixel, from the top left.
    x: u32,
    y: u32,
}

/// A point, as far as it is known.
#[derive(Serialize)]
pub(crate) struct Point {
    re: String,
    im: String,
    escaped: bool,
    dwell: String,
    smooth: Option<f64>,
    /// In heights of the view.
    distance: Option<f64>,
    distance_text: Option<String>,
    /// Of the attracting cycle of a point that stays.
    period: Option<u64>,
    /// Whether the dwell is proved to be that of exact arithmetic.
    proved: bool,
    number: &'static str,
    iterations: String,
}

pub(crate) async fn point(
    State(shared): State<Arc<Shared>>,
    body::Json(asked): body::Json<Asked>,
) -> Result<Json<Point>, Failure> {
    let size = bounds::picture(asked.width, asked.height)?;
    if asked.x >= size.width || asked.y >= size.height {
        return Err(Failure::unprocessable(format!("there is no pixel {}, {} in {size}", asked.x, asked.y)));
    }
    let scene = scene_json::read(&asked.scene, size)?;
    let of = shared.clone();
    let work = move |cancel: &Cancel| known(&of, scene, [asked.x, asked.y], cancel);
    shared.admission.run(Turn::Point, LONGEST, Cancel::default(), work).await.map(Json)
}

/// What the field of a view of one pixel says of its point, at the limit of the whole view.
fn known(shared: &Shared, scene: Scene, pixel: [u32; 2], cancel: &Cancel) -> Result<Point, Failure> {
    let (engine, limits) = (&*shared.engine, &shared.limits);
    let control = Control { cancel, progress: &Progress::default() };
    let mut scene = dwell::resolve(&Scene { samples: Samples::Fixed(1), ..scene }, engine, limits, &control)?.scene;
    let of_view = f64::from(scene.view.size.height);
    scene.view = view_of(&scene.view, pixel)?;
    let Frame::Centred { re, im, .. } = scene.view.frame.clone() else {
        return Err(Failure::unprocessable("the view has no centre"));
    };
    let plan = Plan::new(&scene.view, &scene.settings, limits)?;
    let wanted = [Channel::Smooth, Channel::Distance, Channel::Period];
    let channels = wanted.into_iter().fold(ChannelSet::of_dwells(plan.limit()), ChannelSet::with);
    let mut scratch = Scratch::default();
    let (field, outcome) =
        scratch.field(&Task { plan: &plan, strategy: Strategy::EveryPixel, channels }, engine, limits, &control)?;
    let value = |channel: Channel| field.channel(channel).first().copied().unwrap_or(0.0);
    let dwell = field.all_rows().dwells().next().unwrap_or(0);
    let escaped = dwell > 0;
    // Of a view as high as a pixel.
    let distance = escaped.then(|| value(Channel::Distance) / of_view);
    let height = scene_height(&scene.view)?.times_whole(i64::from(of_view as u32));
    let distance_text = distance.map(|share| height.times(&Rational::from_f64(share)).scientific());
    let period = value(Channel::Period);
    let unproved = outcome.notes.deep.as_ref().is_none_or(|deep| deep.unproved > 0);
    Ok(Point {
        re: re.text().to_owned(),
        im: im.text().to_owned(),
        escaped,
        dwell: dwell.to_string(),
        smooth: escaped.then(|| value(Channel::Smooth)),
        distance,
        distance_text,
        period: (period > 0.0).then_some(period as u64),
        proved: plan.number() == NumberKind::Exact && !unproved,
        number: plan.number().name(),
        iterations: plan.limit().to_string(),
    })
}

/// The height of a view.
fn scene_height(view: &View) -> Result<Rational, Failure> {
    match view.frame.with_square_pixels()? {
        Frame::Centred { magnification, .. } => Ok(magnification.height(DIGITS)?.to_rational()),
        Frame::Bounds { .. } => Err(Failure::unprocessable("the view has no height")),
    }
}

/// The view of one pixel of a view. In a rotated view its centre is rounded to a small part of the pixel.
fn view_of(view: &View, [column, row]: [u32; 2]) -> Result<View, Failure> {
    let height = scene_height(view)?.over(&Rational::whole(view.size.height.into()));
    let point = view.nearly_plane_from_pixel(column, row);
    let digits = |value: &Rational| {
        // As many as tell a millionth of a pixel.
        let below = height.floor_log2().unwrap_or(0) - 20;
        let bits = value.floor_log2().unwrap_or(below).max(below) - below;
        usize::try_from(bits * 302 / 1000 + 2).unwrap_or(DIGITS)
    };
    let [re, im] = [Decimal::rounded(&point[0], digits(&point[0]))?, Decimal::rounded(&point[1], digits(&point[1]))?];
    let magnification = Magnification::Height(Decimal::rounded(&height, DIGITS)?);
    Ok(View { frame: Frame::Centred { re, im, magnification }, size: Size::new(1, 1)?, ..view.clone() })
}
