import { button, colourField } from "../controls";
import { element } from "../dom";
import { colourAt, gradientOf, type Stop } from "../stops";

/** Places and colours of a palette, moved on a strip by pointer or keys. */
export class StopsEditor {
  readonly root: HTMLElement;
  private stops: Stop[] = [];
  private selected = 0;
  private readonly strip = element("div", { className: "strip" });
  private readonly handles = element("div", { className: "handles" });
  private readonly colour = colourField("Colour", (colour) => {
    this.stops[this.selected].colour = colour;
    this.update();
  });

  constructor(private readonly changed: (stops: readonly Stop[]) => void) {
    this.strip.ondblclick = (event) => this.add(this.placeOf(event.clientX));
    this.root = element(
      "div",
      { className: "stops" },
      element("div", { className: "stops-strip" }, this.strip, this.handles),
      this.colour.root,
      element(
        "div",
        { className: "inline" },
        button("Add", () => this.addBeside(), { icon: "plus" }),
        button("Remove", () => this.remove(), { icon: "trash" }),
        button("Even", () => this.spread()),
      ),
    );
  }

  set(stops: Stop[]): void {
    this.stops = stops;
    this.selected = Math.min(this.selected, stops.length - 1);
    this.show();
  }

  private placeOf(clientX: number): number {
    const box = this.strip.getBoundingClientRect();
    return Math.max(0, Math.min(0.999, (clientX - box.left) / box.width));
  }

  private update(): void {
    this.show();
    this.changed(this.stops);
  }

  private add(at: number): void {
    if (this.stops.length >= 32) return;
    this.stops.push({ at, colour: colourAt(this.stops, at) });
    this.selected = this.stops.length - 1;
    this.update();
  }

  private addBeside(): void {
    const sorted = this.stops.map((stop) => stop.at).sort((a, b) => a - b);
    const here = this.stops[this.selected].at;
    const next = sorted.find((at) => at > here) ?? 1;
    this.add((here + next) / 2);
  }

  private remove(): void {
    if (this.stops.length <= 2) return;
    this.stops.splice(this.selected, 1);
    this.selected = Math.max(0, this.selected - 1);
    this.update();
  }

  private spread(): void {
    const chosen = this.stops[this.selected];
    this.stops.sort((a, b) => a.at - b.at);
    for (const [i, stop] of this.stops.entries()) stop.at = i / this.stops.length;
    this.selected = this.stops.indexOf(chosen);
    this.update();
  }

  private show(): void {
    const samples = Array.from({ length: 65 }, (_, i) => colourAt(this.stops, i / 64));
    this.strip.style.backgroundImage = gradientOf(samples);
    this.colour.set(this.stops[this.selected]?.colour ?? "#000000");
    // Handles are kept, so that one keeps the pointer and the focus while it moves.
    while (this.handles.children.length > this.stops.length) this.handles.lastElementChild?.remove();
    while (this.handles.children.length < this.stops.length)
      this.handles.append(this.handle(this.handles.children.length));
    for (const [i, stop] of this.stops.entries()) {
      const handle = this.handles.children[i] as HTMLElement;
      handle.style.left = `${100 * stop.at}%`;
      handle.style.setProperty("--colour", stop.colour);
      handle.setAttribute("aria-valuenow", String(Math.round(100 * stop.at)));
      handle.classList.toggle("selected", i === this.selected);
    }
  }

  private handle(i: number): HTMLElement {
    const made = element("div", {
      className: "handle",
      role: "slider",
      tabIndex: 0,
      "aria-label": `Stop ${i + 1}`,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
    });
    made.onfocus = () => {
      this.selected = i;
      this.show();
    };
    made.onpointerdown = (event) => {
      made.setPointerCapture(event.pointerId);
      made.focus();
    };
    made.onpointermove = (event) => {
      if (!made.hasPointerCapture(event.pointerId)) return;
      this.stops[i].at = this.placeOf(event.clientX);
      this.update();
    };
    made.onkeydown = (event) => {
      const step = { ArrowLeft: -0.01, ArrowRight: 0.01 }[event.key];
      if (step) this.stops[i].at = Math.max(0, Math.min(0.999, this.stops[i].at + step));
      else if (event.key === "Delete" || event.key === "Backspace") this.remove();
      else return;
      event.preventDefault();
      event.stopPropagation();
      if (step) this.update();
    };
    return made;
  }
}
