import * as D from "./decimal";

/** What of the plane is seen: the centre, the height, the counter-clockwise rotation in degrees, and the flip. */
export interface View {
  readonly re: D.Decimal;
  readonly im: D.Decimal;
  readonly height: D.Decimal;
  readonly rotation: D.Decimal;
  readonly flip: boolean;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** A point of the screen in pixels from the top left. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** An affine map of points: (a x + c y + e, b x + d y + f). */
export interface Affine {
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly e: number;
  readonly f: number;
}

/** The greatest side and area of a picture that is asked for while exploring. */
const MOST_PIXELS_OF_SIDE = 4096;
const MOST_PIXELS = 16_000_000;
/** A moved centre keeps this many bits below a pixel. */
const BITS_BELOW_PIXEL = 20;
const DIGITS_OF_HEIGHT = 20;
/** Heights at which a view is stopped: further out, nothing is left to see. */
const GREATEST_HEIGHT = D.decimal(64n);

export function sameView(a: View, b: View): boolean {
  return (
    a === b ||
    (a.flip === b.flip &&
      D.equal(a.re, b.re) &&
      D.equal(a.im, b.im) &&
      D.equal(a.height, b.height) &&
      D.equal(a.rotation, b.rotation))
  );
}

/** The size in device pixels, reduced where it is more than may be asked for. */
export function cappedSize(width: number, height: number): Size {
  const factor = Math.min(
    1,
    MOST_PIXELS_OF_SIDE / width,
    MOST_PIXELS_OF_SIDE / height,
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
  return { width: Math.max(1, Math.floor(width * factor)), height: Math.max(1, Math.floor(height * factor)) };
}

function direction(view: View): [number, number] {
  const degrees = D.toNumber(view.rotation) % 360;
  // Right angles are exact, so that a view turned by one stays aligned with the pixels.
  const right = { 0: [1, 0], 90: [0, 1], 180: [-1, 0], 270: [0, -1] }[(degrees + 360) % 360];
  if (right) return [right[0], right[1]];
  const radians = (degrees * Math.PI) / 180;
  return [Math.cos(radians), Math.sin(radians)];
}

/** The offset from the centre of a point of the screen, in heights of the view. */
export function offsetOf(view: View, size: Size, { x, y }: Point): [number, number] {
  const right = (x - size.width / 2) / size.height;
  const up = ((size.height / 2 - y) / size.height) * (view.flip ? -1 : 1);
  const [cosine, sine] = direction(view);
  return [right * cosine - up * sine, right * sine + up * cosine];
}

/** The decimal place to which a centre is rounded: a pixel's size times 2^-20. */
function placeOfCentre(height: D.Decimal, size: Size): number {
  const log = D.log2(height) - Math.log2(size.height) - BITS_BELOW_PIXEL;
  return Math.floor(log * Math.log10(2));
}

function withCentre(view: View, size: Size, re: D.Decimal, im: D.Decimal): View {
  const place = placeOfCentre(view.height, size);
  return { ...view, re: D.roundedTo(re, place), im: D.roundedTo(im, place) };
}

/** The point of the plane at a point of the screen. */
export function planeAt(view: View, size: Size, point: Point): { re: D.Decimal; im: D.Decimal } {
  const [right, up] = offsetOf(view, size, point);
  const moved = withCentre(
    view,
    size,
    D.add(view.re, D.scaled(view.height, right)),
    D.add(view.im, D.scaled(view.height, up)),
  );
  return { re: moved.re, im: moved.im };
}

/** The view moved so that what is seen at `from` is seen at `to`. */
export function panned(view: View, size: Size, from: Point, to: Point): View {
  const centre = planeAt(view, size, {
    x: size.width / 2 + from.x - to.x,
    y: size.height / 2 + from.y - to.y,
  });
  return { ...view, ...centre };
}

/** The view with another height and rotation, in which the point of the plane at `about` stays where it is. */
export function turnedAndZoomed(view: View, size: Size, about: Point, factor: number, degrees: number): View {
  let height = D.significant(D.scaled(view.height, 1 / factor), DIGITS_OF_HEIGHT);
  if (D.compare(height, GREATEST_HEIGHT) > 0) {
    height = D.compare(view.height, GREATEST_HEIGHT) > 0 ? view.height : GREATEST_HEIGHT;
  }
  const next = { ...view, height, rotation: degrees === 0 ? view.rotation : turned(view.rotation, degrees) };
  const [right, up] = offsetOf(view, size, about);
  const [nextRight, nextUp] = offsetOf(next, size, about);
  const re = D.subtract(D.scaled(view.height, right), D.scaled(height, nextRight));
  const im = D.subtract(D.scaled(view.height, up), D.scaled(height, nextUp));
  return withCentre(next, size, D.add(view.re, re), D.add(view.im, im));
}

export function zoomed(view: View, size: Size, about: Point, factor: number): View {
  return turnedAndZoomed(view, size, about, factor, 0);
}

/** A rotation with degrees added, in thousandths, from -180 (exclusive) to 180. */
function turned(rotation: D.Decimal, degrees: number): D.Decimal {
  let sum = D.add(rotation, D.roundedTo(D.fromNumber(degrees), -3));
  const whole = D.decimal(360n);
  while (D.compare(sum, D.decimal(180n)) > 0) sum = D.subtract(sum, whole);
  while (D.compare(sum, D.decimal(-180n)) <= 0) sum = D.add(sum, whole);
  return sum;
}

/** The map from the pixels of one view to those of another; `null` where they are too far apart for doubles. */
export function between(from: View, fromSize: Size, to: View, toSize: Size): Affine | null {
  const scale = (D.ratio(from.height, to.height) * toSize.height) / fromSize.height;
  const right = D.ratio(D.subtract(from.re, to.re), to.height) * toSize.height;
  const up = D.ratio(D.subtract(from.im, to.im), to.height) * toSize.height;
  if (![scale, right, up].every((x) => Math.abs(x) < 1e9) || scale < 1e-9) return null;
  const [fc, fs] = direction(from);
  const [tc, ts] = direction(to);
  const [fromUp, toUp] = [from.flip ? -1 : 1, to.flip ? -1 : 1];
  // Pixels to the plane by the first view, and back by the second, whose rotation is inverted by its transpose.
  const forward = (x: number, y: number): [number, number] => {
    const u = x * scale;
    const v = -y * scale * fromUp;
    const [re, im] = [u * fc - v * fs, u * fs + v * fc];
    return [re * tc + im * ts, (re * ts - im * tc) * toUp];
  };
  const [a, b] = forward(1, 0);
  const [c, d] = forward(0, 1);
  const [e, f] = [right * tc + up * ts, (right * ts - up * tc) * toUp];
  const [x, y] = [fromSize.width / 2, fromSize.height / 2];
  return { a, b, c, d, e: toSize.width / 2 + e - a * x - c * y, f: toSize.height / 2 + f - b * x - d * y };
}

export function inverse({ a, b, c, d, e, f }: Affine): Affine {
  const det = a * d - b * c;
  return {
    a: d / det,
    b: -b / det,
    c: -c / det,
    d: a / det,
    e: (c * f - d * e) / det,
    f: (b * e - a * f) / det,
  };
}

export function apply({ a, b, c, d, e, f }: Affine, { x, y }: Point): Point {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

/** Whether a map moves no pixel of a picture of this size visibly. */
export function isIdentity({ a, b, c, d, e, f }: Affine): boolean {
  const near = (x: number, y: number, tolerance: number) => Math.abs(x - y) < tolerance;
  return (
    near(a, 1, 1e-7) && near(b, 0, 1e-7) && near(c, 0, 1e-7) && near(d, 1, 1e-7) && near(e, 0, 1e-3) && near(f, 0, 1e-3)
  );
}

/** Whether a surface covers the screen, from whose pixels the map leads to those of the surface. */
export function covers({ a, b, c, d, e, f }: Affine, surface: Size, screen: Size): boolean {
  const slack = 1e-3;
  return [
    [0, 0],
    [screen.width, 0],
    [0, screen.height],
    [screen.width, screen.height],
  ].every(([x, y]) => {
    const [u, v] = [a * x + c * y + e, b * x + d * y + f];
    return u >= -slack && v >= -slack && u <= surface.width + slack && v <= surface.height + slack;
  });
}

/** The magnification as a decimal: 4 / height. */
export function zoomText(view: View): string {
  const log = 2 - D.log2(view.height);
  const exponent = Math.floor(log * Math.log10(2));
  const mantissa = 10 ** (log * Math.log10(2) - exponent);
  return D.brief({ digits: BigInt(Math.round(mantissa * 1e6)), exponent: exponent - 6 });
}

/** The number of octaves from the height of one view to that of another; positive inwards. */
export function octaves(from: View, to: View): number {
  return D.log2(from.height) - D.log2(to.height);
}
