import { api, type Palette } from "../api";
import type { App, Panel } from "../app";
import { button, colourField, section, segments, select, slider, toggle } from "../controls";
import { debounced, element, titleOf } from "../dom";
import { changed, halfTurn, MOST_LAYERS, newLayer, sameLayers } from "../layers";
import { allLooks, type Look, normalColour, suggestions } from "../looks";
import { type Colour, type Layer, layersOf } from "../scene";
import { evenStops, inlinePalette, randomColours, type Stop, stopsOf, stopsOfTable } from "../stops";
import { attempt, toast } from "../toast";
import { LayersEditor } from "./layers-editor";
import { PaletteList } from "./palette-list";
import { StopsEditor } from "./stops-editor";

/** An editor of stops starts from so many colours of a palette. */
const STOPS_OF_PALETTE = 8;
/** The choice of looks that stands for layers of no look. */
const OWN_LAYERS = "own";

/** Palettes, how values become colours, layers and looks. */
export function coloursPanel(app: App): Panel {
  const palette = paletteSection(app);
  const values = valuesSection(app, palette.interiorOf);
  const layers = layersSection(app, palette.inPalette);
  const parts = [palette, values, layers];
  const update = () => {
    for (const part of parts) part.update();
  };
  app.explorer.events.on("colour", update);
  app.explorer.events.on("opened", update);
  /** Asked for once: a list that is made anew loses the focus. */
  let offered: Promise<void> | null = null;
  const offer = async () => {
    const [all, looks] = await Promise.all([attempt(() => api.palettes()), attempt(() => allLooks())]);
    palette.offer(all ?? []);
    layers.offer(all ?? [], looks ?? []);
    update();
    if (!all || !looks) offered = null;
  };
  return {
    root: element("div", {}, palette.root, values.root, palette.stopsRoot, layers.lightRoot, layers.root),
    shown: () => {
      update();
      void unfoldLook(app);
      if (!offered) offered = offer();
    },
  };
}

/** Puts in place of the name of a look, which an address may have, what the look consists of. */
async function unfoldLook({ explorer }: App): Promise<void> {
  const { colour } = explorer.settings;
  if (!colour?.look) return;
  const normal = await attempt(() => api.normal(explorer.current()));
  if (normal && explorer.settings.colour === colour) {
    explorer.change({ colour: normal.colour, layer: normal.layer }, "colour");
  }
}

/** The list of palettes, and the stops of the one that is chosen. */
function paletteSection(app: App) {
  const { explorer } = app;
  let palettes: readonly Palette[] = [];
  /** The palette of which the editor has the stops. */
  let edited: string | undefined;

  /** The colours of the scene in another palette. */
  const withPalette = (palette: string): Colour => {
    const { palette_format: _format, palette_text: _text, look: _look, ...colour } = explorer.settings.colour ?? {};
    const last = palettes.find((one) => one.name === colour.palette);
    // An interior colour that was chosen stays; that of the last palette goes with it.
    if (last && colour.interior?.toLowerCase() === last.interior.toLowerCase()) delete colour.interior;
    return { ...colour, palette };
  };
  /** The same for a palette that brings its own density and offset. */
  const inPalette = (palette: string): Colour => {
    const { density: _density, offset: _offset, ...colour } = withPalette(palette);
    return colour;
  };
  /** A built-in palette brings the value and scale, too, if it suggests them. */
  const choose = async ({ name }: Palette) => {
    explorer.change({ colour: inPalette(name) }, "colour");
    const normal = await attempt(() => normalColour({ palette: name }));
    if (!normal?.colour || explorer.settings.colour?.palette !== name) return;
    const parts = suggestions(normal.colour);
    if (Object.keys(parts).length > 0) explorer.changeColour(parts);
  };
  const useStops = (stops: readonly Stop[]) => {
    edited = inlinePalette(stops);
    explorer.change({ colour: withPalette(edited) }, "colour");
  };
  const editor = new StopsEditor(debounced(60, useStops));
  const random = () => {
    const stops = evenStops(randomColours());
    editor.set(stops);
    useStops(stops);
  };
  const showStops = async (colour: Colour) => {
    const { palette } = colour;
    if (palette === edited && edited !== undefined) return;
    edited = palette;
    const known = palettes.find((one) => one.name === palette);
    if (known)
      editor.set(evenStops(known.colours.filter((_, i) => i % (known.colours.length / STOPS_OF_PALETTE) === 0)));
    else if (palette?.startsWith("#")) editor.set(stopsOf(palette));
    else {
      const table = await attempt(() => api.table(explorer.current()));
      if (table && edited === palette) editor.set(stopsOfTable(table, STOPS_OF_PALETTE));
    }
  };

  const list = new PaletteList(choose);
  return {
    root: section(
      "Palette",
      list.root,
      element(
        "div",
        { className: "inline" },
        button("Random palette", random, { icon: "dice" }),
        button("From a picture or file", () => app.chooseFile(), { icon: "open" }),
      ),
    ),
    stopsRoot: section("Stops", editor.root),
    inPalette,
    interiorOf: (palette: string | undefined) => palettes.find(({ name }) => name === palette)?.interior,
    offer: (all: readonly Palette[]) => {
      palettes = all;
      list.offer(all);
    },
    update: () => {
      const colour = explorer.settings.colour ?? {};
      list.set(colour.palette);
      if (palettes.length > 0) void showStops(colour);
    },
  };
}

/** How values become colours. */
function valuesSection(app: App, interiorOf: (palette: string | undefined) => string | undefined) {
  const { explorer } = app;
  const density = slider(
    "Density",
    { min: -6, max: 6, step: 0.02 },
    (log) => `×${(2 ** log).toPrecision(3)}`,
    (log) => explorer.changeColour({ density: Number((2 ** log).toPrecision(6)) }),
  );
  const offset = slider(
    "Offset",
    { min: 0, max: 1, step: 0.001 },
    (value) => value.toFixed(3),
    (value) => explorer.changeColour({ offset: value }),
  );
  const scale = select(
    "Scale",
    [
      ["auto", "Automatic"],
      ["root", "Square root"],
      ["linear", "Linear"],
      ["log", "Logarithm"],
      ["limit", "Share of limit"],
      ["histogram", "Histogram"],
    ],
    (value) => explorer.changeColour({ scale: value }),
  );
  const by = segments(
    "Colour by",
    [
      ["smooth", "Smooth"],
      ["banded", "Banded"],
      ["distance", "Distance"],
    ],
    (value) => explorer.changeColour({ by: value }),
  );
  const interior = colourField("Interior", (colour) => explorer.changeColour({ interior: colour }));
  return {
    root: section("Values", density.root, offset.root, scale.root, by.root, interior.root),
    update: () => {
      const colour = explorer.settings.colour ?? {};
      density.set(Math.log2(colour.density ?? 1));
      offset.set((((colour.offset ?? 0) % 1) + 1) % 1);
      scale.set(colour.scale ?? "auto");
      by.set(colour.by ?? app.session.resolved?.tables.by ?? "smooth");
      interior.set(colour.interior ?? interiorOf(colour.palette) ?? "#000000");
    },
  };
}

/** The layers: one by one, by a look, and shading in short. */
function layersSection(app: App, inPalette: (palette: string) => Colour) {
  const { explorer } = app;
  let looks: readonly Look[] = [];
  const layers = () => layersOf(explorer.settings);
  const setLayers = (next: readonly Layer[], colour = explorer.settings.colour) => {
    explorer.change({ colour, layer: next.length > 0 ? [...next] : undefined }, "colour");
  };
  const editor = new LayersEditor({ layers, colour: () => explorer.settings.colour ?? {}, change: setLayers });

  const slope = () => layers().find((layer) => layer.what === "slope");
  const setSlope = (parts: Partial<Layer>) => {
    const first = slope();
    setLayers(layers().map((layer) => (layer === first ? changed(layer, parts) : layer)));
  };
  const shaded = toggle("Shading", (on) => {
    if (!on) setLayers(layers().filter((layer) => layer.what !== "slope"));
    else if (layers().length < MOST_LAYERS) setLayers([...layers(), newLayer("slope")]);
    else {
      toast(`A picture has at most ${MOST_LAYERS} layers.`, "Remove one of them first.");
      update();
    }
  });
  const angle = slider(
    "Angle",
    { min: -180, max: 180, step: 1 },
    (value) => `${Math.round(value)}°`,
    (value) => setSlope({ angle: value }),
  );
  const strength = slider(
    "Strength",
    { min: 0, max: 1, step: 0.01 },
    (value) => `${Math.round(100 * value)} %`,
    (value) => setSlope({ opacity: value }),
  );

  const ownLayers = [OWN_LAYERS, "Own layers"] as const;
  const said = element("p", { className: "hint" });
  const chosenLook = select("Look", [ownLayers], (name) => {
    const look = looks.find((one) => one.name === name);
    if (!look) {
      update();
      return;
    }
    const { look: _look, ...kept } = explorer.settings.colour ?? {};
    const { palette } = look.colour ?? {};
    setLayers(look.layers, look.colour && palette ? { ...inPalette(palette), ...suggestions(look.colour) } : kept);
  });

  const update = () => {
    const all = layers();
    const first = slope();
    shaded.set(first !== undefined);
    angle.root.hidden = first === undefined;
    strength.root.hidden = first === undefined;
    angle.set(halfTurn(first?.angle ?? 45));
    strength.set(first?.opacity ?? 1);
    const look = looks.find((one) => sameLayers(one.layers, all));
    chosenLook.set(look?.name ?? OWN_LAYERS);
    said.textContent = look ? `${look.title[0].toUpperCase()}${look.title.slice(1)}.` : "";
    editor.update();
  };
  return {
    lightRoot: section("Light", chosenLook.root, said, shaded.root, angle.root, strength.root),
    root: section("Layers", editor.root),
    offer: (palettes: readonly Palette[], all: readonly Look[]) => {
      looks = all;
      chosenLook.offer([...all.map(({ name }) => [name, titleOf(name)] as const), ownLayers]);
      editor.offer(palettes);
    },
    update,
  };
}
