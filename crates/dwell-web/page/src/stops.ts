import { ENTRIES, type PaletteTable } from "./painting";

/** A colour at a place of the palette, 0 to 1. */
export interface Stop {
  at: number;
  colour: string;
}

/** The most colours of an inline palette. */
const MOST_COLOURS = 32;

type Rgb = [number, number, number];

/** The parts of a colour of 3, 6 or 12 digits, each 0 to 255. */
export function rgbOf(colour: string): Rgb {
  const digits = Math.floor((colour.length - 1) / 3);
  const most = 16 ** digits - 1;
  const part = (i: number) => Number.parseInt(colour.slice(1 + i * digits, 1 + (i + 1) * digits), 16);
  return [0, 1, 2].map((i) => (255 * part(i)) / most || 0) as Rgb;
}

export function hex(rgb: Rgb): string {
  return `#${rgb
    .map((x) =>
      Math.round(Math.max(0, Math.min(255, x)))
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

/** The colours of a palette from left to right, as an image of a style sheet. */
export function gradientOf(colours: readonly string[]): string {
  return `linear-gradient(to right, ${colours.map((colour) => hex(rgbOf(colour))).join(", ")})`;
}

/** The colour at a place of a cyclic palette of stops, on straight lines. */
export function colourAt(stops: readonly Stop[], place: number): string {
  const sorted = [...stops].sort((a, b) => a.at - b.at);
  const at = place - Math.floor(place);
  const next = sorted.findIndex((stop) => stop.at > at);
  const right = next < 0 ? sorted[0] : sorted[next];
  const left = next <= 0 ? sorted[sorted.length - 1] : sorted[next - 1];
  const span = (((right.at - left.at) % 1) + 1) % 1 || 1;
  const share = ((((at - left.at) % 1) + 1) % 1) / span;
  const [a, b] = [rgbOf(left.colour), rgbOf(right.colour)];
  return hex([0, 1, 2].map((i) => a[i] + share * (b[i] - a[i])) as Rgb);
}

/** The stops as the text of an inline palette: as they are if they are evenly spaced, otherwise sampled evenly. */
export function inlinePalette(stops: readonly Stop[]): string {
  const sorted = [...stops].sort((a, b) => a.at - b.at);
  const even = sorted.every((stop, i) => Math.abs(stop.at - i / sorted.length) < 1e-3);
  if (even && sorted.length <= MOST_COLOURS) return sorted.map((stop) => stop.colour).join(",");
  return Array.from({ length: MOST_COLOURS }, (_, i) => colourAt(stops, i / MOST_COLOURS)).join(",");
}

/** The stops of the text of an inline palette, which may have places. */
export function stopsOf(inline: string): Stop[] {
  const parts = inline.split(",").map((part) => part.trim().split("@"));
  return parts.map(([colour, at], i) => ({ at: at ? Number(at) : i / parts.length, colour: hex(rgbOf(colour)) }));
}

/** Even stops of the first turn of a table of colours. */
export function stopsOfTable({ values, period }: PaletteTable, count: number): Stop[] {
  const colourOf = (entry: number) => hex([0, 1, 2].map((k) => values[3 * entry + k] / 257) as Rgb);
  return evenStops(Array.from({ length: count }, (_, i) => colourOf(Math.floor((ENTRIES / period / count) * i))));
}

export function evenStops(colours: readonly string[]): Stop[] {
  return colours.map((colour, i) => ({ at: i / colours.length, colour }));
}

/** Colours of a random palette: from dark to light and back along two hues, so that it has contrast everywhere. */
export function randomColours(random: () => number = Math.random): string[] {
  const count = 6 + Math.floor(3 * random());
  const hue = 360 * random();
  const turn = (60 + 200 * random()) * (random() < 0.5 ? -1 : 1);
  return Array.from({ length: count }, (_, i) => {
    const light = 0.5 - 0.42 * Math.cos((2 * Math.PI * i) / count) + 0.08 * (random() - 0.5);
    const saturation = 0.55 + 0.4 * random();
    return fromHsl(hue + (turn * i) / count, saturation, Math.max(0.04, Math.min(0.96, light)));
  });
}

function fromHsl(hue: number, saturation: number, light: number): string {
  const amplitude = saturation * Math.min(light, 1 - light);
  const channel = (n: number) => {
    const k = (n + (((hue % 360) + 360) % 360) / 30) % 12;
    return 255 * (light - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return hex([channel(0), channel(8), channel(4)]);
}
