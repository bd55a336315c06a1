import { decimal, format, parse, quotient, ZERO } from "./decimal";
import type { View } from "./view";

/** Digits of a height that is found from a zoom, which may have no finite decimal. */
const DIGITS_OF_HEIGHT = 40;

export interface Colour {
  palette?: string;
  palette_format?: string;
  palette_text?: string;
  by?: string;
  scale?: string;
  density?: number;
  offset?: number;
  interior?: string;
  look?: string;
  [key: string]: unknown;
}

export interface Layer {
  what: string;
  angle?: number;
  height?: number;
  opacity?: number;
  [key: string]: unknown;
}

/** A picture to be made, with the keys of a location file. Keys that this page does not know are kept. */
export interface Scene {
  re: string;
  im: string;
  view_height?: string;
  zoom?: string;
  rotation?: string;
  flip?: boolean;
  iterations?: string;
  formula?: string;
  power?: number;
  julia?: [string, string];
  number?: string;
  samples?: string | number;
  title?: string;
  name?: string;
  colour?: Colour;
  layer?: Layer[];
  [key: string]: unknown;
}

export function viewOf(scene: Scene): View {
  const height = scene.view_height
    ? parse(scene.view_height)
    : // 4 / zoom, to more digits than a picture can show.
      quotient(decimal(4n), parse(scene.zoom ?? "1"), DIGITS_OF_HEIGHT);
  return {
    re: parse(scene.re ?? "0"),
    im: parse(scene.im ?? "0"),
    height,
    rotation: scene.rotation ? parse(scene.rotation) : ZERO,
    flip: scene.flip ?? false,
  };
}

/** The scene at another view. What names the old place goes. */
export function sceneAt(scene: Scene, view: View): Scene {
  const next: Scene = {
    ...scene,
    re: format(view.re),
    im: format(view.im),
    view_height: format(view.height),
    rotation: format(view.rotation),
    flip: view.flip,
  };
  delete next.zoom;
  return next;
}

/** What decides the dwells of a point, apart from the view: frames that differ in it do not show the same thing. */
export function contentKey(scene: Scene): string {
  return JSON.stringify([scene.formula ?? "mandelbrot", scene.power ?? 2, scene.julia ?? null, scene.escape_radius]);
}

/** What decides the table of colours. */
export function paletteKey(scene: Scene): string {
  const { palette, palette_format, palette_text, interior, look } = scene.colour ?? {};
  return JSON.stringify([palette, palette_format, palette_text, interior, look]);
}

/** What decides the colours that only the server can paint. */
export function paintingKey(scene: Scene): string {
  return JSON.stringify([scene.colour ?? {}, scene.layer ?? []]);
}

export function layersOf(scene: Scene): Layer[] {
  return scene.layer ?? [];
}
