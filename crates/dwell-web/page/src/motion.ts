import * as D from "./decimal";
import type { Explorer } from "./explorer";
import { octaves, offsetOf, type Point, panned, type Size, turnedAndZoomed, type View, zoomed } from "./view";

/** Octaves per second while a key is held to fly into the depth. */
const DIVE_SPEED = 1.6;
/** A dive waits for the picture when it is so many octaves ahead of it. */
const MOST_OCTAVES_AHEAD = 4;
/** The time in which a smooth zoom covers most of its way. */
const EASE_MS = 70;

const easing = (t: number) => (t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2);

/** The view between two whose centre moves so that one point of the screen stays where it is. */
export function between(a: View, b: View, t: number, size: Size): View {
  const la = D.log2(a.height);
  const lb = D.log2(b.height);
  const degrees = D.toNumber(D.subtract(b.rotation, a.rotation));
  const shortest = degrees - 360 * Math.round(degrees / 360);
  const now = heightChanged(a.height, (lb - la) * t);
  // The part of the way that the centre has left: by heights if they differ, by time if they do not. It is a decimal,
  // since far below the first height it is smaller than any double.
  const left =
    Math.abs(lb - la) < 0.01
      ? D.fromNumber(1 - t)
      : D.quotient(D.subtract(now, b.height), D.subtract(a.height, b.height), 20);
  const place = Math.floor((D.log2(now) - Math.log2(size.height) - 20) * Math.log10(2));
  const along = (from: D.Decimal, to: D.Decimal) =>
    D.roundedTo(D.subtract(to, D.multiply(D.subtract(to, from), left)), place);
  return {
    re: along(a.re, b.re),
    im: along(a.im, b.im),
    height: now,
    rotation: D.add(a.rotation, D.roundedTo(D.fromNumber(shortest * t), -3)),
    flip: b.flip,
  };
}

/** A height changed by octaves, in steps that a double can hold as a factor. */
function heightChanged(from: D.Decimal, change: number): D.Decimal {
  let height = from;
  let rest = change;
  do {
    const step = Math.max(-1000, Math.min(1000, rest));
    height = D.significant(D.scaled(height, 2 ** step), 20);
    rest -= step;
  } while (rest !== 0);
  return height;
}

/** A way from one view to another in legs: out until both places are in sight, then in. */
export function legsBetween(from: View, to: View): View[] {
  const distance = [D.subtract(to.re, from.re), D.subtract(to.im, from.im)].reduce((a, b) =>
    D.log2(a) > D.log2(b) ? a : b,
  );
  const larger = D.compare(from.height, to.height) > 0 ? from.height : to.height;
  if (distance.digits === 0n || D.log2(distance) <= D.log2(larger) - 1) return [from, to];
  const peak = D.significant(
    D.scaled(D.multiply(distance, { digits: distance.digits < 0n ? -1n : 1n, exponent: 0 }), 2),
    20,
  );
  const middle = (a: D.Decimal, b: D.Decimal) => D.scaled(D.add(a, b), 0.5);
  return [from, { ...to, re: middle(from.re, to.re), im: middle(from.im, to.im), height: peak }, to];
}

interface Flight {
  readonly legs: View[];
  readonly durations: number[];
  readonly startedAt: number;
}

/** Everything that moves the view from one drawing to the next. */
export class Motion {
  private flight: Flight | null = null;
  private pending: { octaves: number; degrees: number; about: Point } | null = null;
  private inertia: { x: number; y: number } | null = null;
  private dive = 0;
  private last = 0;
  /** The octaves between the last picture and the view; a dive must not run away from its pictures. */
  ahead: () => number = () => 0;
  /** Asks for a drawing. */
  wake: () => void = () => {};
  arrived: () => void = () => {};
  private readonly reduced = matchMedia("(prefers-reduced-motion: reduce)");

  constructor(private readonly explorer: Explorer) {}

  /** Moves by what is due at a time, and says whether there is more. */
  tick(now: number): boolean {
    const elapsed = Math.min(100, this.last ? now - this.last : 16);
    this.last = now;
    if (this.flight) this.fly(this.flight, now);
    if (this.pending) this.ease(elapsed);
    if (this.inertia) this.glide(elapsed);
    if (this.dive !== 0 && !this.flight) this.sink(elapsed);
    const moving = this.flight !== null || this.pending !== null || this.inertia !== null || this.dive !== 0;
    if (!moving) this.last = 0;
    return moving;
  }

  /** Stops everything, as a hand on the picture does. */
  stop(): void {
    this.pending = null;
    this.inertia = null;
    this.dive = 0;
    if (this.flight) {
      this.flight = null;
      this.explorer.destination = null;
      this.explorer.events.emit("content", undefined);
    }
  }

  zoomBy(change: number, about: Point): void {
    this.add(change, 0, about);
  }

  rotateBy(degrees: number): void {
    this.add(0, degrees, this.explorer.centre);
  }

  panBy(dx: number, dy: number): void {
    const { view, size, centre } = this.explorer;
    this.explorer.move(panned(view, size, { x: centre.x + dx, y: centre.y + dy }, centre));
  }

  throwBy(x: number, y: number): void {
    if (this.reduced.matches || Math.hypot(x, y) < 0.15) return;
    this.inertia = { x, y };
    this.wake();
  }

  setDive(direction: number): void {
    this.dive = direction;
    if (direction !== 0) this.wake();
  }

  /** Flies to a view; the picture there is asked for at once. */
  flyTo(target: View): void {
    const { explorer } = this;
    if (this.flight) this.stop();
    [this.pending, this.inertia] = [null, null];
    if (this.reduced.matches) {
      explorer.destination = null;
      explorer.move(target);
      return;
    }
    const legs = legsBetween(explorer.view, target);
    const durations = legs.slice(1).map((leg, i) => {
      const span = Math.abs(octaves(legs[i], leg));
      return Math.min(2600, 500 + 70 * span);
    });
    this.flight = { legs, durations, startedAt: performance.now() };
    if (!explorer.destination) {
      explorer.destination = target;
      explorer.events.emit("content", undefined);
    }
    explorer.destination = target;
    this.wake();
  }

  private add(change: number, degrees: number, about: Point): void {
    if (this.flight) this.stop();
    const before = this.pending ?? { octaves: 0, degrees: 0, about };
    this.pending = { octaves: before.octaves + change, degrees: before.degrees + degrees, about };
    if (this.reduced.matches) this.ease(Number.POSITIVE_INFINITY);
    this.wake();
  }

  private ease(elapsed: number): void {
    const { pending, explorer } = this;
    if (!pending) return;
    const nearlyThere = Math.abs(pending.octaves) < 0.004 && Math.abs(pending.degrees) < 0.05;
    const share = nearlyThere ? 1 : 1 - Math.exp(-elapsed / EASE_MS);
    const [change, degrees] = [pending.octaves * share, Math.round(pending.degrees * share * 1000) / 1000];
    const turned = share === 1 ? pending.degrees : degrees;
    explorer.move(turnedAndZoomed(explorer.view, explorer.size, pending.about, 2 ** change, turned));
    pending.octaves -= change;
    pending.degrees -= turned;
    if (share === 1) this.pending = null;
  }

  private glide(elapsed: number): void {
    const { inertia } = this;
    if (!inertia) return;
    this.panBy(-inertia.x * elapsed, -inertia.y * elapsed);
    const slower = Math.exp(-elapsed / 160);
    inertia.x *= slower;
    inertia.y *= slower;
    if (Math.hypot(inertia.x, inertia.y) < 0.02) this.inertia = null;
  }

  private sink(elapsed: number): void {
    const { explorer } = this;
    if (this.dive > 0 && this.ahead() > MOST_OCTAVES_AHEAD) return;
    const factor = 2 ** ((this.dive * DIVE_SPEED * elapsed) / 1000);
    explorer.move(zoomed(explorer.view, explorer.size, explorer.centre, factor));
  }

  private fly(flight: Flight, now: number): void {
    const { explorer } = this;
    let time = Math.max(0, now - flight.startedAt);
    for (const [i, duration] of flight.durations.entries()) {
      if (time < duration) {
        explorer.move(between(flight.legs[i], flight.legs[i + 1], easing(time / duration), explorer.size));
        return;
      }
      time -= duration;
    }
    const target = flight.legs[flight.legs.length - 1];
    this.flight = null;
    explorer.move(target);
    explorer.destination = null;
    this.arrived();
  }
}

/** The view of a rectangle of the screen. */
export function viewOfBox(view: View, size: Size, from: Point, to: Point): View {
  const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
  const factor = Math.min(size.width / Math.abs(to.x - from.x), size.height / Math.abs(to.y - from.y));
  const centred = panned(view, size, middle, { x: size.width / 2, y: size.height / 2 });
  const [right, up] = offsetOf(view, size, middle);
  if (!Number.isFinite(right + up)) return view;
  return zoomed(centred, size, { x: size.width / 2, y: size.height / 2 }, factor);
}
