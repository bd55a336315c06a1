import { ENTRIES, entryOf, fixedFraction, type PaletteTable, ranksOfRow, THRESHOLDS, thresholdOf } from "./painting";
import { type Placed, type Rates, type Renderer, type Surface, withAlpha, withoutAlpha } from "./renderer";
import { inverse, type Size } from "./view";

interface CanvasSurface extends Surface {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
  /** Of a field, whole turns and a fraction of each pixel. */
  readonly turns: Float32Array | null;
}

/** The bytes red, green, blue and 255 as one number that is stored in that order. */
const packed = (() => {
  const word = new Uint32Array(1);
  const bytes = new Uint8Array(word.buffer);
  return (red: number, green: number, blue: number): number => {
    bytes[0] = red;
    bytes[1] = green;
    bytes[2] = blue;
    bytes[3] = 255;
    return word[0];
  };
})();

/**
 * Paints fields and draws pictures in a 2D canvas, where WebGL2 is missing or done in software: without a graphics device
 * this loop paints a field of a million pixels in a tenth of the time of a shader.
 */
export class CanvasRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  /** For each rank of a threshold, the pixel of each entry. */
  private pixelsOfEntries: Uint32Array[] = [];
  private period = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser draws neither with WebGL2 nor in a 2D canvas.");
    this.context = context;
  }

  resize({ width, height }: Size): void {
    this.canvas.width = width;
    this.canvas.height = height;
  }

  setTable({ values, period, dithers }: PaletteTable): void {
    this.period = period;
    const ofThreshold = (threshold: number) => {
      const pixels = new Uint32Array(ENTRIES + 1);
      const eight = (i: number) => Math.floor((values[i] + threshold) / 257);
      for (let i = 0; i <= ENTRIES; i++) pixels[i] = packed(eight(3 * i), eight(3 * i + 1), eight(3 * i + 2));
      return pixels;
    };
    const plain = dithers ? null : ofThreshold(128);
    this.pixelsOfEntries = Array.from({ length: THRESHOLDS }, (_, rank) => plain ?? ofThreshold(thresholdOf(rank)));
  }

  surface(kind: "field" | "picture", { width, height }: Size): CanvasSurface {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    const turns = kind === "field" ? new Float32Array(2 * width * height) : null;
    // Browsers give the memory of a canvas back when it has no pixels.
    return { width, height, canvas, context, turns, dispose: () => Object.assign(canvas, { width: 0, height: 0 }) };
  }

  writePicture(surface: Surface, firstRow: number, rows: number, colours: Uint8Array): void {
    (surface as CanvasSurface).context.putImageData(
      new ImageData(withAlpha(colours), surface.width, rows),
      0,
      firstRow,
    );
  }

  writeField(surface: Surface, firstRow: number, _rows: number, turns: Float32Array): void {
    (surface as CanvasSurface).turns?.set(turns, 2 * surface.width * firstRow);
  }

  paint(surface: Surface, firstRow: number, rows: number, { density, offset }: Rates): void {
    const { width, turns, context } = surface as CanvasSurface;
    if (!turns) return;
    const rate = density / this.period;
    const fixed = fixedFraction(rate);
    const shift = fixedFraction(offset / this.period).high;
    const image = new ImageData(width, rows);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = firstRow, at = 0; row < firstRow + rows; row++) {
      const tables = ranksOfRow(row).map((rank) => this.pixelsOfEntries[rank]);
      for (let column = 0, from = 2 * width * row; column < width; column++, at++, from += 2) {
        const whole = turns[from];
        const entry = whole < 0 ? ENTRIES : entryOf(whole, turns[from + 1], fixed, rate, shift);
        pixels[at] = tables[(column >> 4) & (THRESHOLDS - 1)][entry];
      }
    }
    context.putImageData(image, 0, firstRow);
  }

  compose(placed: Placed[]): void {
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#101216";
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (const { surface, map, aligned } of placed) {
      const { a, b, c, d, e, f } = inverse(map);
      context.setTransform(a, b, c, d, e, f);
      context.imageSmoothingEnabled = !aligned;
      context.drawImage((surface as CanvasSurface).canvas, 0, 0);
    }
  }

  pixels(): Uint8Array {
    return withoutAlpha(this.context.getImageData(0, 0, this.canvas.width, this.canvas.height).data);
  }
}
