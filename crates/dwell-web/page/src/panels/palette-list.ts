import type { Palette } from "../api";
import { element } from "../dom";
import { gradientOf } from "../stops";

/** Palettes of a row. */
const COLUMNS = 2;

export function strip(colours: readonly string[], cyclic: boolean): HTMLElement {
  const made = element("span", { className: "strip" });
  made.style.backgroundImage = gradientOf(cyclic ? [...colours, colours[0]] : colours);
  return made;
}

/** The built-in palettes, of which one is chosen. Tab reaches the list, arrow keys reach the palettes of it. */
export class PaletteList {
  readonly root = element("div", { className: "palettes", role: "listbox", "aria-label": "Palettes" });

  constructor(private readonly chosen: (palette: Palette) => void) {
    this.root.onkeydown = (event) => this.key(event);
  }

  offer(palettes: readonly Palette[]): void {
    this.root.replaceChildren(...palettes.map((palette) => this.option(palette)));
  }

  set(name: string | undefined): void {
    const options = this.options();
    const selected = options.find((one) => one.getAttribute("data-name") === name);
    if (selected && selected.getAttribute("aria-selected") !== "true") this.bringIntoSight(selected);
    for (const one of options) {
      one.setAttribute("aria-selected", String(one === selected));
      one.tabIndex = one === (selected ?? options[0]) ? 0 : -1;
    }
  }

  /** Scrolls the list alone, not the panel around it. */
  private bringIntoSight(option: HTMLElement): void {
    const [list, one] = [this.root, option].map((part) => part.getBoundingClientRect());
    if (one.top < list.top) this.root.scrollTop -= list.top - one.top;
    else if (one.bottom > list.bottom) this.root.scrollTop += one.bottom - list.bottom;
  }

  private options(): HTMLElement[] {
    return [...this.root.children] as HTMLElement[];
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -COLUMNS, ArrowDown: COLUMNS }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = this.options();
    all[all.indexOf(event.target as HTMLElement) + step]?.focus();
  }

  private option(palette: Palette): HTMLElement {
    return element(
      "button",
      {
        type: "button",
        className: "palette",
        role: "option",
        "data-name": palette.name,
        title: palette.title,
        onclick: () => this.chosen(palette),
      },
      strip(palette.colours, palette.cyclic),
      element("span", { className: "tile-title" }, palette.name),
    );
  }
}
