import type { Palette } from "../api";
import { button, select } from "../controls";
import { element } from "../dom";
import { changed, layerKinds, MOST_LAYERS, moved, newLayer, paletteParts } from "../layers";
import type { Colour, Layer } from "../scene";
import { LayerRow, PALETTE_OF_PICTURE } from "./layer-row";

export interface LayersOfScene {
  layers(): readonly Layer[];
  colour(): Colour;
  change(layers: Layer[]): void;
}

/** The layers over the base colours, as a list with the uppermost one first. */
export class LayersEditor {
  readonly root: HTMLElement;
  /** In the order of the scene: the uppermost one is last. */
  private rows: LayerRow[] = [];
  private palettes: readonly Palette[] = [];
  private readonly list = element("ol", { className: "layers", "aria-label": "Layers, the uppermost first" });
  private readonly hint = element("p", { className: "hint" });
  private readonly kind = select(
    "New layer",
    layerKinds.map(({ what, title }) => [what, title] as const),
    () => {},
  );
  private readonly addButton = button("Add", () => this.add(), { icon: "plus" });

  constructor(private readonly scene: LayersOfScene) {
    this.addButton.setAttribute("aria-label", "Add layer");
    this.kind.root.append(this.addButton);
    this.kind.root.classList.add("with-button");
    this.root = element("div", { className: "layers-editor" }, this.kind.root, this.list, this.hint);
  }

  offer(palettes: readonly Palette[]): void {
    this.palettes = palettes;
    for (const row of this.rows) row.offer(palettes);
  }

  /** Shows the layers of the scene. Rows of layers that stay are kept, with the focus and what is unfolded. */
  update(): void {
    const layers = this.scene.layers();
    const rows = layers.map(({ what }, i) => (this.rows[i]?.what === what ? this.rows[i] : this.row(what)));
    const isSame = rows.length === this.rows.length && rows.every((row, i) => row === this.rows[i]);
    if (!isSame) this.place(rows);
    for (const [i, row] of rows.entries()) row.set(layers[i], i + 1, rows.length);
    const isFull = layers.length >= MOST_LAYERS;
    this.addButton.disabled = isFull;
    this.hint.textContent = isFull
      ? `A picture has at most ${MOST_LAYERS} layers.`
      : layers.length === 0
        ? "Layers are drawn over the colours of the palette."
        : "The uppermost layer is drawn last.";
  }

  private row(what: string): LayerRow {
    const row: LayerRow = new LayerRow(what, this.palettes, {
      change: (parts) => this.changeRow(row, parts),
      move: (by) => this.move(row, by),
      remove: () => this.remove(row),
      unfold: (open) => {
        for (const one of this.rows) one.unfold(open && one === row);
      },
    });
    return row;
  }

  private place(rows: LayerRow[]): void {
    this.rows = rows;
    this.list.replaceChildren(...rows.map((row) => row.root).reverse());
  }

  private changeRow(row: LayerRow, parts: Partial<Layer>): void {
    const at = this.rows.indexOf(row);
    const all = parts.palette === PALETTE_OF_PICTURE ? paletteParts(this.scene.colour()) : parts;
    this.scene.change(this.scene.layers().map((layer, i) => (i === at ? changed(layer, all) : layer)));
  }

  private add(): void {
    if (this.rows.length >= MOST_LAYERS) return;
    this.scene.change([...this.scene.layers(), newLayer(this.kind.input.value)]);
    const row = this.rows.at(-1);
    for (const one of this.rows) one.unfold(one === row);
    row?.focus();
  }

  private move(row: LayerRow, by: number): void {
    const from = this.rows.indexOf(row);
    const to = from + by;
    if (to < 0 || to >= this.rows.length) return;
    this.place(moved(this.rows, from, to));
    this.scene.change(moved(this.scene.layers(), from, to));
    row.focusMove(by);
  }

  private remove(row: LayerRow): void {
    const at = this.rows.indexOf(row);
    this.place(this.rows.filter((one) => one !== row));
    this.scene.change(this.scene.layers().filter((_, i) => i !== at));
    const next = this.rows[Math.max(0, at - 1)];
    if (next) next.focus();
    else this.addButton.focus();
  }
}
