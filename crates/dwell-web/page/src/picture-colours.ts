import { hex } from "./stops";

type Rgb = [number, number, number];

/** The colours of a palette from a picture. */
const COLOURS = 8;
/** The most pixels on a side that are looked at. */
const MOST_SIDE = 128;

/** A palette of a picture in any format that the browser reads. */
export async function coloursOfFile(file: Blob): Promise<string[]> {
  const whole = await createImageBitmap(file);
  const scale = Math.min(1, MOST_SIDE / Math.max(whole.width, whole.height));
  const [width, height] = [whole.width, whole.height].map((side) => Math.max(1, Math.round(scale * side)));
  const context = new OffscreenCanvas(width, height).getContext("2d", { alpha: false });
  if (!context) throw new Error("This browser does not read pictures.");
  context.drawImage(whole, 0, 0, width, height);
  whole.close();
  return coloursOf(context.getImageData(0, 0, width, height).data);
}

/**
 * The colours of pixels of four bytes: the means of the boxes of a median cut (Heckbert 1982), from the darkest one on, each followed
 * by the nearest of those that are left, so that the palette changes as little as it can from one to the next.
 */
export function coloursOf(pixels: ArrayLike<number>): string[] {
  const all = Array.from({ length: pixels.length / 4 }, (_, i) => [0, 1, 2].map((k) => pixels[4 * i + k]) as Rgb);
  const boxes = [all];
  while (boxes.length < COLOURS) {
    const spreads = boxes.map(widest);
    const next = spreads.reduce((best, { score }, i) => (score > spreads[best].score ? i : best), 0);
    const { axis, score } = spreads[next];
    if (score === 0) break;
    boxes.splice(next, 1, ...halves(boxes[next], axis));
  }
  const means = boxes.map((box) => [0, 1, 2].map((k) => box.reduce((sum, p) => sum + p[k], 0) / box.length) as Rgb);
  means.sort((a, b) => lightness(a) - lightness(b));
  const ordered = means.splice(0, 1);
  while (means.length > 0) {
    const last = ordered[ordered.length - 1];
    const nearest = means.reduce((best, one, i) => (distance(last, one) < distance(last, means[best]) ? i : best), 0);
    ordered.push(...means.splice(nearest, 1));
  }
  const colours = ordered.map(hex);
  // A palette needs two colours.
  return colours.length > 1 ? colours : [colours[0], lightness(ordered[0]) < 128 ? "#ffffff" : "#000000"];
}

/** The axis along which colours differ most, and how much cutting there gains. */
function widest(box: readonly Rgb[]): { axis: number; score: number } {
  const extents = [0, 1, 2].map((k) => {
    let [least, most] = [255, 0];
    for (const p of box) [least, most] = [Math.min(least, p[k]), Math.max(most, p[k])];
    return most - least;
  });
  const axis = extents.indexOf(Math.max(...extents));
  // Large areas count, but not as their size: a small one of a colour of its own gets a box, too.
  return { axis, score: extents[axis] * Math.sqrt(box.length) };
}

/** A box in two, neither empty, at the median or where the values change next to it. */
function halves(box: Rgb[], axis: number): [Rgb[], Rgb[]] {
  const sorted = [...box].sort((p, q) => p[axis] - q[axis]);
  const median = sorted[sorted.length >> 1][axis];
  let cut = sorted.findIndex((p) => p[axis] >= median);
  if (cut === 0) cut = sorted.findIndex((p) => p[axis] > median);
  return [sorted.slice(0, cut), sorted.slice(cut)];
}

function lightness([red, green, blue]: Rgb): number {
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function distance(a: Rgb, b: Rgb): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
