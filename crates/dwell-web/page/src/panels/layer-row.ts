import type { Palette } from "../api";
import { type Choice, type Control, colourField, iconButton, select, slider } from "../controls";
import { element, icon } from "../dom";
import {
  keysOf,
  kindOf,
  type LayerKey,
  type LayerKind,
  numberOf,
  opacityOf,
  type PaletteKey,
  summary,
  textOf,
} from "../layers";
import type { Layer } from "../scene";
import { gradientOf, stopsOf } from "../stops";

/** Stands for the palette of the picture in the list of palettes; no palette has this name. */
export const PALETTE_OF_PICTURE = "";

export interface RowActions {
  change(parts: Partial<Layer>): void;
  move(by: number): void;
  remove(): void;
  unfold(open: boolean): void;
}

interface Field {
  readonly root: HTMLElement;
  set(layer: Layer): void;
}

/** A layer in the list: its name and buttons, and its values once it is unfolded. */
export class LayerRow {
  readonly root: HTMLElement;
  private readonly kind: LayerKind;
  private readonly fields: Field[];
  private readonly detail = element("span", { className: "tile-detail" });
  private readonly mark = element("span", { className: "strip layer-mark" });
  private readonly head: HTMLButtonElement;
  private readonly body: HTMLElement;
  private readonly seen = iconButton("shown", "", () => this.toggleSeen());
  private readonly up = iconButton("up", "", () => this.actions.move(1));
  private readonly down = iconButton("down", "", () => this.actions.move(-1));
  private readonly bin = iconButton("trash", "", () => this.actions.remove());
  private readonly paletteField: PaletteField | null;
  /** The opacity before the layer was hidden. */
  private lastOpacity = 1;
  private layer: Layer;

  constructor(
    readonly what: string,
    private palettes: readonly Palette[],
    private readonly actions: RowActions,
  ) {
    this.layer = { what };
    this.kind = kindOf(what);
    const paletteKey = this.kind.keys.find((key) => key.type === "palette");
    this.paletteField = paletteKey ? new PaletteField(paletteKey, actions) : null;
    this.paletteField?.offer(palettes);
    this.fields = keysOf(this.kind).map((key) => (key.type === "palette" && this.paletteField) || this.field(key));
    this.head = element(
      "button",
      {
        type: "button",
        className: "row-main layer-name",
        "aria-expanded": "false",
        onclick: () => actions.unfold(this.body.hidden),
      },
      icon("down"),
      this.mark,
      element(
        "span",
        { className: "layer-text" },
        element("span", { className: "tile-title" }, this.kind.title),
        this.detail,
      ),
    );
    this.body = element(
      "div",
      { className: "layer-body", role: "group", "aria-label": this.kind.title, hidden: true },
      ...this.fields.map(({ root }) => root),
    );
    this.root = element(
      "li",
      { className: "layer" },
      element("div", { className: "row" }, this.head, this.seen, this.up, this.down, this.bin),
      this.body,
    );
  }

  /** Shows a layer: the number of it from below, of how many. */
  set(layer: Layer, number: number, count: number): void {
    this.layer = layer;
    const visible = opacityOf(layer) > 0;
    this.root.classList.toggle("unseen", !visible);
    this.detail.textContent = visible ? summary(layer) : "Hidden";
    this.mark.style.backgroundImage = this.markOf(layer);
    for (const field of this.fields) field.set(layer);
    this.up.disabled = number === count;
    this.down.disabled = number === 1;
    this.seen.replaceChildren(icon(visible ? "shown" : "unseen"));
    const name = `layer ${number}, ${this.kind.title}`;
    nameOf(this.seen, visible ? "Hide" : "Show", name);
    nameOf(this.up, "Move up", name);
    nameOf(this.down, "Move down", name);
    nameOf(this.bin, "Remove", name);
  }

  offer(palettes: readonly Palette[]): void {
    this.palettes = palettes;
    this.paletteField?.offer(palettes);
    this.paletteField?.set(this.layer);
    this.mark.style.backgroundImage = this.markOf(this.layer);
  }

  unfold(open: boolean): void {
    this.body.hidden = !open;
    this.head.setAttribute("aria-expanded", String(open));
    if (open) this.root.scrollIntoView({ block: "nearest" });
  }

  focus(): void {
    this.head.focus();
  }

  /** Gives the focus to the button that moves the layer further, or back where it cannot go further. */
  focusMove(by: number): void {
    const [same, other] = by > 0 ? [this.up, this.down] : [this.down, this.up];
    (same.disabled ? other : same).focus();
  }

  private toggleSeen(): void {
    const opacity = opacityOf(this.layer);
    this.actions.change({ opacity: opacity > 0 ? 0 : this.lastOpacity });
    if (opacity > 0) this.lastOpacity = opacity;
  }

  private field(key: LayerKey): Field {
    const { change } = this.actions;
    if (key.type === "number") {
      const control = slider(
        key.label,
        key.range,
        (position) => key.shown(key.value(position)),
        (position) => change({ [key.key]: key.value(position) }),
      );
      return { root: control.root, set: (layer) => control.set(key.position(numberOf(layer, key))) };
    }
    const set = (value: string) => change({ [key.key]: value });
    const control: Control<string> =
      key.type === "colour"
        ? colourField(key.label, set)
        : select(key.label, key.type === "choice" ? key.choices : [], set);
    return { root: control.root, set: (layer) => control.set(textOf(layer, key)) };
  }

  private markOf(layer: Layer): string {
    if (typeof layer.colour === "string") return gradientOf([layer.colour, layer.colour]);
    if (layer.what === "slope") return gradientOf(["#f4f4f4", "#202020"]);
    const { palette } = layer;
    if (typeof palette === "string" && palette.startsWith("#"))
      return gradientOf(stopsOf(palette).map(({ colour }) => colour));
    const colours = this.palettes.find(({ name }) => name === palette)?.colours;
    return colours ? gradientOf(colours) : "none";
  }
}

/** The palette of a layer. One from a file, or of colours, is named as such. */
class PaletteField implements Field {
  readonly root: HTMLElement;
  private readonly control;
  private offered: readonly Choice[] = [];

  constructor(
    private readonly key: PaletteKey,
    actions: RowActions,
  ) {
    this.control = select(key.label, [], (palette) =>
      actions.change({ palette, palette_format: undefined, palette_text: undefined }),
    );
    this.root = this.control.root;
  }

  offer(palettes: readonly Palette[]): void {
    this.offered = [[PALETTE_OF_PICTURE, "As the picture"], ...palettes.map(({ name }) => [name, name] as const)];
    this.control.offer(this.offered);
  }

  set(layer: Layer): void {
    const name = textOf(layer, this.key);
    const isOffered = this.offered.some(([known]) => known === name);
    if (!isOffered) this.control.offer([...this.offered, [name, name.startsWith("#") ? "Own colours" : name]]);
    this.control.set(name);
  }
}

function nameOf(made: HTMLButtonElement, what: string, layer: string): void {
  made.title = what;
  made.setAttribute("aria-label", `${what} ${layer}`);
}
