//! The composer: applies the layers of a colouring to the light of samples, in their order.

use super::blend::BlendMode;
use super::{Coverage, Layer, LayerContent, Quantity, light_of};
use crate::base::error::InputError;
use crate::base::limits::collected;
use crate::colour::elementary::{sine_of_turns, turns_of};
use crate::colour::light::FULL;
use crate::colour::mapping::Scale;
use crate::colour::palette::TABLE;
use crate::field::channels::{Channel, ChannelSlices};
use dwell_kernels::Level;

/// The most samples that are composed at once.
pub(in crate::colour) const MOST: usize = 240;

/// The layers of a colouring, prepared for a field.
#[derive(Debug)]
pub(in crate::colour) struct Composer {
    layers: Vec<Prepared>,
    limit: f64,
    level: Level,
}

#[derive(Debug)]
struct Prepared {
    source: Source,
    blend: BlendMode,
    opacity: f64,
}

/// [`LayerContent`] with its tables.
#[derive(Debug)]
enum Source {
    /// Index = slope * scale(v) + start, modulo [`TABLE`], into the light of the palette.
    Gradient {
        of: Quantity,
        scale: Scale,
        slope: f64,
        start: f64,
        light: Vec<[f64; 3]>,
    },
    /// The direction of the light, over twice its height.
    Slope {
        light: [f64; 2],
    },
    /// The distance in heights of the view at which the line begins to fade, and the factor by which it does.
    Outline {
        full: f64,
        per_fade: f64,
        light: [f64; 3],
    },
    Flat {
        light: [f64; 3],
        over: Coverage,
    },
}

/// The light and the weight of a layer at some samples.
struct Top {
    light: [[f64; 3]; MOST],
    /// 0 where the layer does not cover the sample.
    alpha: [f64; MOST],
}

impl Composer {
    /// The composer of some layers for a field with this limit.
    ///
    /// # Errors
    /// When the system has not enough memory for the tables.
    pub(in crate::colour) fn new(layers: &[Layer], limit: f64, level: Level) -> Result<Self, InputError> {
        let mut prepared = Vec::new();
        for layer in layers {
            prepared.push(Prepared { source: Source::of(&layer.content)?, blend: layer.blend, opacity: layer.opacity });
        }
        Ok(Self { layers: prepared, limit, level })
    }

    /// Whether there is no layer.
    pub(in crate::colour) fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Replaces the base light of at most [`MOST`] samples, from 0 to [`FULL`], by the composed light.
    ///
    /// # Panics
    /// When a channel of a layer is missing.
    pub(in crate::colour) fn compose(&self, samples: ChannelSlices<'_>, light: &mut [[u32; 3]]) {
        if self.is_empty() {
            return;
        }
        let count = samples.dwell.len();
        let full = f64::from(FULL);
        let mut below = [[0.0; 3]; MOST];
        let below = &mut below[..count];
        for (below, light) in below.iter_mut().zip(&*light) {
            *below = light.map(|part| f64::from(part) / full);
        }
        let mut top = Top { light: [[0.0; 3]; MOST], alpha: [0.0; MOST] };
        for Prepared { source, blend, opacity } in &self.layers {
            source.fill(self, samples, &mut top);
            top.alpha[..count].iter_mut().for_each(|alpha| *alpha *= opacity);
            blend.apply(below, &top.light, &top.alpha);
        }
        for (below, light) in below.iter().zip(light) {
            // 0 to FULL: rounding may leave a number just outside 0 to 1.
            *light = below.map(|part| (part.clamp(0.0, 1.0) * full + 0.5) as u32);
        }
    }
}

impl Source {
    fn of(content: &LayerContent) -> Result<Self, InputError> {
        Ok(match content {
            LayerContent::Gradient { of, palette, scale, density, offset } => {
                let per_turn = TABLE as f64 / palette.period();
                let light = collected(palette.table().iter().map(|colour| light_of(*colour)), "the light of a layer")?;
                Self::Gradient { of: *of, scale: *scale, slope: density * per_turn, start: offset * per_turn, light }
            }
            LayerContent::Slope { angle, height } => {
                let turns = angle / 360.0;
                Self::Slope { light: [turns + 0.25, turns].map(|turns| sine_of_turns(turns) / (2.0 * height)) }
            }
            LayerContent::Outline { width, colour } => {
                let width = width / 1000.0;
                Self::Outline { full: 0.5 * width, per_fade: 1.0 / width, light: light_of(*colour) }
            }
            LayerContent::Flat { colour, over } => Self::Flat { light: light_of(*colour), over: *over },
        })
    }

    /// Computes the light and the weight at some samples.
    fn fill(&self, composer: &Composer, samples: ChannelSlices<'_>, top: &mut Top) {
        let dwell = samples.dwell;
        let channel = |channel: Channel| samples[channel];
        let covers = |is_covered: bool| if is_covered { 1.0 } else { 0.0 };
        match self {
            Self::Gradient { of, scale, slope, start, light } => {
                let mut v = [1.0; MOST];
                let v = &mut v[..dwell.len()];
                quantities(*of, dwell, channel, v);
                // Where the quantity is not defined, the period is 0.
                match of.by() {
                    Some(_) => top.alpha.iter_mut().zip(dwell).for_each(|(alpha, n)| *alpha = covers(*n != 0)),
                    None => {
                        let period = channel(Channel::Period);
                        top.alpha.iter_mut().zip(period).for_each(|(alpha, p)| *alpha = covers(*p != 0.0));
                    }
                }
                scale.turns(composer.level, composer.limit, v);
                for (top, v) in top.light.iter_mut().zip(v) {
                    *top = light[crate::colour::palette::index(slope * *v + start)];
                }
            }
            Self::Slope { light: [right, up] } => {
                let slopes = channel(Channel::SlopeRight).iter().zip(channel(Channel::SlopeUp));
                for (i, ((x, y), n)) in slopes.zip(dwell).enumerate() {
                    top.light[i] = [(0.5 + (x * right + y * up)).clamp(0.0, 1.0); 3];
                    top.alpha[i] = covers(*n != 0);
                }
            }
            Self::Outline { full, per_fade, light } => {
                for (i, (distance, n)) in channel(Channel::Distance).iter().zip(dwell).enumerate() {
                    let t = ((distance - full) * per_fade).clamp(0.0, 1.0);
                    top.light[i] = *light;
                    top.alpha[i] = if *n == 0 { 0.0 } else { 1.0 - t * t * (3.0 - 2.0 * t) };
                }
            }
            Self::Flat { light, over } => {
                for (i, n) in dwell.iter().enumerate() {
                    top.light[i] = *light;
                    top.alpha[i] = covers(match over {
                        Coverage::All => true,
                        Coverage::Escaped => *n != 0,
                        Coverage::Interior => *n == 0,
                    });
                }
            }
        }
    }
}

/// v of each sample; 1 or more where it is not defined.
fn quantities<'a>(of: Quantity, dwell: &[u32], channel: impl Fn(Channel) -> &'a [f64], v: &mut [f64]) {
    let of_parts = |v: &mut [f64], re: Channel, im: Channel, to: fn(f64, f64) -> f64| {
        for (v, (re, im)) in v.iter_mut().zip(channel(re).iter().zip(channel(im))) {
            *v = 1.0 + 255.0 * to(*re, *im);
        }
    };
    match (of, of.by()) {
        (_, Some(by)) => by.quantities(dwell, by.values(&channel), v),
        (Quantity::Multiplier, _) => {
            of_parts(v, Channel::MultiplierRe, Channel::MultiplierIm, |re, im| (re * re + im * im).sqrt());
        }
        (Quantity::Angle, _) => {
            of_parts(v, Channel::MultiplierRe, Channel::MultiplierIm, |re, im| 2.0 * turns_of(re, im));
        }
        (Quantity::FinalZ, _) => of_parts(v, Channel::FinalRe, Channel::FinalIm, turns_of),
        _ => v.iter_mut().zip(channel(Channel::Period)).for_each(|(v, period)| *v = period.max(1.0)),
    }
}
