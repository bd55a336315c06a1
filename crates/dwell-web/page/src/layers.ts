import type { Choice } from "./controls";
import type { Colour, Layer } from "./scene";

/** The most layers of a picture. */
export const MOST_LAYERS = 8;

export const blendModes: readonly Choice[] = [
  ["normal", "Normal"],
  ["multiply", "Multiply"],
  ["screen", "Screen"],
  ["overlay", "Overlay"],
  ["soft-light", "Soft light"],
  ["add", "Add"],
  ["lighten", "Lighten"],
  ["darken", "Darken"],
];

/** A number on a slider. The slider's position may be another function of the value, such as its logarithm. */
export interface NumberKey {
  readonly type: "number";
  readonly key: string;
  readonly label: string;
  readonly usual: number;
  readonly range: { min: number; max: number; step: number };
  readonly position: (value: number) => number;
  readonly value: (position: number) => number;
  readonly shown: (value: number) => string;
}

export interface ChoiceKey {
  readonly type: "choice";
  readonly key: string;
  readonly label: string;
  readonly usual: string;
  readonly choices: readonly Choice[];
}

export interface ColourKey {
  readonly type: "colour";
  readonly key: string;
  readonly label: string;
  readonly usual: string;
}

export interface PaletteKey {
  readonly type: "palette";
  readonly key: "palette";
  readonly label: string;
  readonly usual: string;
}

export type LayerKey = NumberKey | ChoiceKey | ColourKey | PaletteKey;

/** A kind of layer, with the keys of its own. */
export interface LayerKind {
  readonly what: string;
  readonly title: string;
  readonly blend: string;
  readonly keys: readonly LayerKey[];
}

/** The angle from -180 to 180 degrees of the same direction. */
export function halfTurn(degrees: number): number {
  return Math.abs(degrees) <= 180 ? degrees : degrees - 360 * Math.round(degrees / 360);
}

/** The shift of a palette as a part of a turn. */
function partOfTurn(turns: number): number {
  return turns - Math.floor(turns);
}

/** A slider on a logarithm, with values of three digits. */
function logarithmic(least: number, most: number): Pick<NumberKey, "range" | "position" | "value"> {
  return {
    range: { min: Math.log10(least), max: Math.log10(most), step: 0.01 },
    position: Math.log10,
    value: (position) => Math.min(most, Math.max(least, Number((10 ** position).toPrecision(3)))),
  };
}

const opacity: NumberKey = {
  type: "number",
  key: "opacity",
  label: "Opacity",
  usual: 1,
  range: { min: 0, max: 1, step: 0.01 },
  position: (value) => value,
  value: (position) => Number(position.toFixed(2)),
  shown: (value) => `${Math.round(100 * value)} %`,
};

const angle: NumberKey = {
  type: "number",
  key: "angle",
  label: "Angle",
  usual: 45,
  range: { min: -180, max: 180, step: 1 },
  position: halfTurn,
  value: (position) => position,
  shown: (value) => `${Math.round(value)}°`,
};

const height: NumberKey = {
  type: "number",
  key: "height",
  label: "Height",
  usual: 1.5,
  ...logarithmic(0.1, 100),
  shown: (value) => String(Number(value.toPrecision(3))),
};

const width: NumberKey = {
  type: "number",
  key: "width",
  label: "Width",
  usual: 1,
  ...logarithmic(0.1, 1000),
  shown: (value) => `${Number(value.toPrecision(3))} ‰`,
};

const density: NumberKey = {
  type: "number",
  key: "density",
  label: "Density",
  usual: 1,
  range: { min: -6, max: 6, step: 0.02 },
  position: Math.log2,
  value: (position) => Number((2 ** position).toPrecision(6)),
  shown: (value) => `×${value.toPrecision(3)}`,
};

const offset: NumberKey = {
  type: "number",
  key: "offset",
  label: "Offset",
  usual: 0,
  range: { min: 0, max: 1, step: 0.001 },
  position: partOfTurn,
  value: (position) => position,
  shown: (value) => partOfTurn(value).toFixed(3),
};

const palette: PaletteKey = { type: "palette", key: "palette", label: "Palette", usual: "twilight" };
const colour: ColourKey = { type: "colour", key: "colour", label: "Colour", usual: "#000000" };

const over: ChoiceKey = {
  type: "choice",
  key: "over",
  label: "Over",
  usual: "all",
  choices: [
    ["all", "Everything"],
    ["escaped", "Outside"],
    ["interior", "Inside"],
  ],
};

/** The scale of a layer. Only dwells and smooth values have a limit. */
function scale(usual: string, hasLimit = false): ChoiceKey {
  const choices: Choice[] = [
    ["root", "Square root"],
    ["linear", "Linear"],
    ["log", "Logarithm"],
  ];
  if (hasLimit) choices.push(["limit", "Share of limit"]);
  return { type: "choice", key: "scale", label: "Scale", usual, choices };
}

function gradient(what: string, title: string, scaleKey: ChoiceKey): LayerKind {
  return { what, title, blend: "normal", keys: [palette, scaleKey, density, offset] };
}

/** Every kind of layer: those that cover the outside, all, and the inside. */
export const layerKinds: readonly LayerKind[] = [
  { what: "slope", title: "Slope", blend: "overlay", keys: [angle, height] },
  { what: "outline", title: "Outline", blend: "normal", keys: [width, colour] },
  gradient("smooth", "Smooth dwell", scale("root", true)),
  gradient("banded", "Dwell", scale("root", true)),
  gradient("distance", "Distance", scale("log")),
  { what: "colour", title: "One colour", blend: "normal", keys: [colour, over] },
  gradient("period", "Period", scale("log")),
  gradient("multiplier", "Multiplier", scale("linear")),
  gradient("angle", "Multiplier angle", scale("linear")),
  gradient("final-z", "Final z", scale("linear")),
];

/** The kind of a layer. One that this page does not know has no keys of its own. */
export function kindOf(what: string): LayerKind {
  return layerKinds.find((kind) => kind.what === what) ?? { what, title: what, blend: "normal", keys: [] };
}

/** All that can be set of a kind, in the order of the editor. */
export function keysOf(kind: LayerKind): readonly LayerKey[] {
  const blend: ChoiceKey = {
    type: "choice",
    key: "blend",
    label: "Blend",
    usual: kind.blend,
    choices: blendModes,
  };
  return [...kind.keys, blend, opacity];
}

/** A layer with every key. */
export function newLayer(what: string): Layer {
  return { what, ...Object.fromEntries(keysOf(kindOf(what)).map(({ key, usual }) => [key, usual])) };
}

export function numberOf(layer: Layer, { key, usual }: NumberKey): number {
  const value = layer[key];
  return typeof value === "number" ? value : usual;
}

export function textOf(layer: Layer, { key, usual }: Exclude<LayerKey, NumberKey>): string {
  const value = layer[key];
  return typeof value === "string" ? value : usual;
}

export function opacityOf(layer: Layer): number {
  return numberOf(layer, opacity);
}

/** How a layer is combined with what is below it, in a few words. */
export function summary(layer: Layer): string {
  const mode = layer.blend ?? kindOf(layer.what).blend;
  const title = blendModes.find(([name]) => name === mode)?.[1] ?? String(mode);
  return `${title}, ${opacity.shown(opacityOf(layer))}`;
}

/** The keys of a palette, all of which change together. */
export function paletteParts(from: Pick<Colour, "palette" | "palette_format" | "palette_text">): Partial<Layer> {
  const { palette: name, palette_format, palette_text } = from;
  return { palette: name, palette_format, palette_text };
}

/** The layer with other values; keys set to `undefined` go. */
export function changed(layer: Layer, parts: Partial<Layer>): Layer {
  const next: Layer = { ...layer, ...parts };
  for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
  return next;
}

/** The list with one thing at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const next = [...list];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}

/** Whether two lists of layers say the same; keys may be left out or in another order. */
export function sameLayers(a: readonly Layer[], b: readonly Layer[]): boolean {
  const text = (layers: readonly Layer[]) =>
    JSON.stringify(layers.map((layer) => Object.entries({ ...newLayer(layer.what), ...layer }).sort(byKey)));
  return text(a) === text(b);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
