import type { Explorer } from "./explorer";
import { type Motion, viewOfBox } from "./motion";
import type { Overlay } from "./overlay";
import { type Point, panned, turnedAndZoomed } from "./view";

const CLICK_DISTANCE = 5;
const DOUBLE_CLICK_MS = 350;
const REST_MS = 120;
const OCTAVES_OF_DOUBLE_CLICK = 1.5;
/** A turn of two fingers below this many degrees is not meant. */
const LEAST_TURN = 8;

interface Touch {
  start: Point;
  at: Point;
}

export interface PointerEvents {
  /** The pointer rests at a point, or clicked there. */
  rested(at: Point): void;
  boxDone(): void;
}

/** Moves the view by mouse, pen and fingers. */
export class Pointer {
  /** Whether a drag draws a box without the shift key. */
  boxMode = false;
  private readonly touches = new Map<number, Touch>();
  private boxing = false;
  private turning = false;
  /** Whether two fingers have touched since there were none: the last one to leave does not click. */
  private pinching = false;
  private lastClick = { time: 0, at: { x: 0, y: 0 } };
  private velocity = { x: 0, y: 0, time: 0 };
  private restTimer = 0;

  constructor(
    private readonly canvas: HTMLElement,
    private readonly explorer: Explorer,
    private readonly motion: Motion,
    private readonly overlay: Overlay,
    private readonly events: PointerEvents,
  ) {
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.moved(event));
    canvas.addEventListener("pointerup", (event) => this.up(event, true));
    canvas.addEventListener("pointercancel", (event) => this.up(event, false));
    canvas.addEventListener("pointerleave", () => clearTimeout(this.restTimer));
    // Browsers that report pinches as gestures would zoom the page.
    for (const name of ["gesturestart", "gesturechange"]) {
      canvas.addEventListener(name, (event) => event.preventDefault());
    }
  }

  /** Ends a box without using it. */
  cancel(): void {
    this.boxing = false;
    this.overlay.hideBox();
  }

  private pixel(event: MouseEvent): Point {
    const box = this.canvas.getBoundingClientRect();
    return {
      x: ((event.clientX - box.left) * this.explorer.size.width) / box.width,
      y: ((event.clientY - box.top) * this.explorer.size.height) / box.height,
    };
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 : event.deltaMode === 2 ? 400 : 1;
    const strength = event.ctrlKey ? 0.014 : 0.0045;
    const change = Math.max(-1.5, Math.min(1.5, -event.deltaY * lines * strength));
    if (event.shiftKey && event.deltaX !== 0 && event.deltaY === 0)
      this.motion.zoomBy(-event.deltaX * 0.0045, this.pixel(event));
    else this.motion.zoomBy(change, this.pixel(event));
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    (document.activeElement as HTMLElement | null)?.blur();
    this.canvas.setPointerCapture(event.pointerId);
    this.motion.stop();
    const at = this.pixel(event);
    this.touches.set(event.pointerId, { start: at, at });
    this.pinching = this.touches.size > 1;
    if (this.pinching) this.cancel();
    this.boxing = !this.pinching && (event.shiftKey || this.boxMode);
    this.turning = false;
    this.velocity = { x: 0, y: 0, time: event.timeStamp };
    this.canvas.classList.toggle("dragging", !this.boxing);
    clearTimeout(this.restTimer);
  }

  private moved(event: PointerEvent): void {
    const at = this.pixel(event);
    const touch = this.touches.get(event.pointerId);
    if (!touch) {
      clearTimeout(this.restTimer);
      this.restTimer = window.setTimeout(() => this.events.rested(at), REST_MS);
      return;
    }
    if (this.touches.size === 2) this.pinch(event.pointerId, at);
    else if (this.boxing) {
      touch.at = at;
      this.drawBox(touch);
    } else if (this.touches.size === 1) {
      const { explorer } = this;
      explorer.move(panned(explorer.view, explorer.size, touch.at, at));
      const elapsed = Math.max(1, event.timeStamp - this.velocity.time);
      const share = Math.min(1, elapsed / 50);
      this.velocity = {
        x: this.velocity.x * (1 - share) + ((at.x - touch.at.x) / elapsed) * share,
        y: this.velocity.y * (1 - share) + ((at.y - touch.at.y) / elapsed) * share,
        time: event.timeStamp,
      };
      touch.at = at;
    }
  }

  private pinch(id: number, at: Point): void {
    const [other] = [...this.touches].filter(([key]) => key !== id).map(([, touch]) => touch);
    const touch = this.touches.get(id);
    if (!touch) return;
    const { explorer } = this;
    const middle = (p: Point) => ({ x: (p.x + other.at.x) / 2, y: (p.y + other.at.y) / 2 });
    const vector = (p: Point) => ({ x: p.x - other.at.x, y: p.y - other.at.y });
    const angle = (p: Point) => (-Math.atan2(vector(p).y, vector(p).x) * 180) / Math.PI;
    const wrap = (degrees: number) => degrees - 360 * Math.round(degrees / 360);
    const length = (p: Point) => Math.max(1, Math.hypot(vector(p).x, vector(p).y));
    const angleAtStart = angle({
      x: touch.start.x - other.start.x + other.at.x,
      y: touch.start.y - other.start.y + other.at.y,
    });
    if (Math.abs(wrap(angle(at) - angleAtStart)) > LEAST_TURN) this.turning = true;
    // Turning the fingers counter-clockwise turns the picture with them, and so the view the other way.
    const turn = this.turning ? -wrap(angle(at) - angle(touch.at)) * (explorer.view.flip ? -1 : 1) : 0;
    const moved = panned(explorer.view, explorer.size, middle(touch.at), middle(at));
    const factor = length(at) / length(touch.at);
    explorer.move(turnedAndZoomed(moved, explorer.size, middle(at), factor, turn));
    touch.at = at;
  }

  private up(event: PointerEvent, completed: boolean): void {
    const touch = this.touches.get(event.pointerId);
    if (!touch) return;
    this.touches.delete(event.pointerId);
    this.canvas.classList.remove("dragging");
    const distance = Math.hypot(touch.at.x - touch.start.x, touch.at.y - touch.start.y) / this.explorer.pixelRatio;
    if (!completed) {
      this.cancel();
    } else if (this.boxing) {
      this.cancel();
      if (distance > 2 * CLICK_DISTANCE) {
        this.motion.flyTo(viewOfBox(this.explorer.view, this.explorer.size, ...this.boxOf(touch)));
        this.events.boxDone();
      } else this.click(event, touch.at);
    } else if (this.touches.size === 0 && !this.pinching) {
      if (distance < CLICK_DISTANCE) this.click(event, touch.at);
      else if (event.timeStamp - this.velocity.time < 40) this.motion.throwBy(this.velocity.x, this.velocity.y);
    }
  }

  private click(event: PointerEvent, at: Point): void {
    const last = this.lastClick;
    const near = Math.hypot(at.x - last.at.x, at.y - last.at.y) < 4 * CLICK_DISTANCE * this.explorer.pixelRatio;
    if (event.timeStamp - last.time < DOUBLE_CLICK_MS && near) {
      this.lastClick = { time: 0, at };
      this.motion.zoomBy(event.shiftKey ? -OCTAVES_OF_DOUBLE_CLICK : OCTAVES_OF_DOUBLE_CLICK, at);
      return;
    }
    this.lastClick = { time: event.timeStamp, at };
    this.events.rested(at);
  }

  /** The corners of the box, in the shape of the screen. */
  private boxOf({ start, at }: Touch): [Point, Point] {
    const { width, height } = this.explorer.size;
    const w = Math.max(Math.abs(at.x - start.x), (Math.abs(at.y - start.y) * width) / height);
    const end = {
      x: start.x + (at.x < start.x ? -w : w),
      y: start.y + ((at.y < start.y ? -w : w) * height) / width,
    };
    return [start, end];
  }

  private drawBox(touch: Touch): void {
    const [from, to] = this.boxOf(touch);
    const ratio = this.explorer.size.width / this.canvas.clientWidth;
    this.overlay.showBox(
      Math.min(from.x, to.x) / ratio,
      Math.min(from.y, to.y) / ratio,
      Math.abs(to.x - from.x) / ratio,
      Math.abs(to.y - from.y) / ratio,
    );
  }
}
