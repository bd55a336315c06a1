import type { PaletteTable } from "./painting";
import type { Affine, Size } from "./view";

/** A picture in the memory of the renderer, of which rows that have not come are transparent. */
export interface Surface {
  readonly width: number;
  readonly height: number;
  dispose(): void;
}

/** How turns become entries of the table. */
export interface Rates {
  readonly density: number;
  readonly offset: number;
}

export interface Placed {
  readonly surface: Surface;
  /** From the pixels of the screen to those of the surface. */
  readonly map: Affine;
  /** Whether pixels fall on pixels, so that nothing is interpolated. */
  readonly aligned: boolean;
}

export interface Renderer {
  resize(size: Size): void;
  setTable(table: PaletteTable): void;
  surface(kind: "field" | "picture", size: Size): Surface;
  writePicture(surface: Surface, firstRow: number, rows: number, colours: Uint8Array): void;
  writeField(surface: Surface, firstRow: number, rows: number, turns: Float32Array): void;
  paint(surface: Surface, firstRow: number, rows: number, rates: Rates): void;
  /** Draws surfaces over each other, the first at the bottom. */
  compose(placed: Placed[]): void;
  /** Red, green and blue of what was composed last, from the top; to be called right after `compose`. */
  pixels(): Uint8Array;
}

/** Three bytes a pixel as four, opaque. */
export function withAlpha(colours: Uint8Array): Uint8ClampedArray<ArrayBuffer> {
  const out = new Uint8ClampedArray((colours.length / 3) * 4);
  for (let i = 0, j = 0; i < colours.length; i += 3, j += 4) {
    out[j] = colours[i];
    out[j + 1] = colours[i + 1];
    out[j + 2] = colours[i + 2];
    out[j + 3] = 255;
  }
  return out;
}

export function withoutAlpha(pixels: Uint8Array | Uint8ClampedArray): Uint8Array {
  const out = new Uint8Array((pixels.length / 4) * 3);
  for (let i = 0, j = 0; j < pixels.length; i += 3, j += 4) {
    out[i] = pixels[j];
    out[i + 1] = pixels[j + 1];
    out[i + 2] = pixels[j + 2];
  }
  return out;
}
