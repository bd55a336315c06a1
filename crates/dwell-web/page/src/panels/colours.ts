import { api, type Palette } from "../api";
import type { App, Panel } from "../app";
import { button, colourField, section, segments, select, slider, toggle } from "../controls";
import { debounced, element } from "../dom";
import { type Colour, layersOf } from "../scene";
import { evenStops, inlinePalette, randomColours, type Stop } from "../stops";
import { attempt } from "../toast";
import { StopsEditor } from "./stops-editor";

/** An editor of stops starts from so many colours of a palette. */
const STOPS_OF_PALETTE = 8;

function strip(colours: readonly string[], cyclic: boolean): HTMLElement {
  const all = cyclic ? [...colours, colours[0]] : colours;
  const made = element("span", { className: "strip" });
  made.style.backgroundImage = `linear-gradient(to right, ${all.join(", ")})`;
  return made;
}

/** Palettes, how values become colours, shading and looks. */
export function coloursPanel(app: App): Panel {
  const { explorer } = app;
  let palettes: Palette[] = [];
  const list = element("div", { className: "palettes", role: "listbox", "aria-label": "Palettes" });

  list.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -2, ArrowDown: 2 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const all = [...list.children];
    const next = all[all.indexOf(event.target as Element) + step];
    if (next instanceof HTMLElement) next.focus();
  };

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

  const slope = () => layersOf(explorer.settings).find((layer) => layer.what === "slope");
  const setSlope = (parts: Record<string, unknown> | null) => {
    const others = layersOf(explorer.settings).filter((layer) => layer.what !== "slope");
    const layer = parts ? [...others, { ...(slope() ?? { what: "slope", angle: 45, opacity: 1 }), ...parts }] : others;
    explorer.change({ layer: layer.length > 0 ? layer : undefined }, "colour");
  };
  const shaded = toggle("Shading", (on) => setSlope(on ? {} : null));
  const angle = slider(
    "Angle",
    { min: -180, max: 180, step: 1 },
    (value) => `${value}°`,
    (value) => setSlope({ angle: value }),
  );
  const strength = slider(
    "Strength",
    { min: 0, max: 1, step: 0.01 },
    (value) => `${Math.round(100 * value)} %`,
    (value) => setSlope({ opacity: value }),
  );
  const looks = select("Look", [["", "None"]], async (look) => {
    if (look === "") {
      const { look: _old, ...colour } = explorer.settings.colour ?? {};
      explorer.change({ colour, layer: undefined }, "colour");
      return;
    }
    const scene = { ...explorer.current(), colour: { look } };
    delete scene.layer;
    const normal = await attempt(() => api.normal(scene));
    if (normal) explorer.change({ colour: normal.colour, layer: normal.layer }, "colour");
  });

  const withPalette = (palette: string) => {
    const { palette_format: _format, palette_text: _text, look: _look, ...colour } = explorer.settings.colour ?? {};
    const last = palettes.find((one) => one.name === colour.palette);
    // An interior colour that was chosen stays; that of the last palette goes with it.
    if (last && colour.interior?.toLowerCase() === last.interior.toLowerCase()) delete colour.interior;
    return { ...colour, palette };
  };
  const useColours = (palette: string) => explorer.change({ colour: withPalette(palette) }, "colour");
  /** A built-in palette brings its own density and offset, and the value and scale if it suggests them. */
  const choosePalette = async (palette: string) => {
    const { density: _density, offset: _offset, ...colour } = withPalette(palette);
    explorer.change({ colour }, "colour");
    const normal = await attempt(() => api.normal({ re: "0", im: "0", view_height: "1", colour: { palette } }));
    const suggested = normal?.colour;
    if (!suggested || explorer.settings.colour?.palette !== palette) return;
    const parts: Partial<Colour> = {};
    if (suggested.density !== undefined && suggested.density !== 1) parts.density = suggested.density;
    if (suggested.offset !== undefined && suggested.offset !== 0) parts.offset = suggested.offset;
    if (suggested.by !== undefined && suggested.by !== "smooth") parts.by = suggested.by;
    if (suggested.scale !== undefined && suggested.scale !== "auto") parts.scale = suggested.scale;
    if (Object.keys(parts).length > 0) explorer.changeColour(parts);
  };
  const useStops = debounced(60, (stops: readonly Stop[]) => useColours(inlinePalette(stops)));
  const editor = new StopsEditor(useStops);
  const random = () => {
    const stops = evenStops(randomColours());
    editor.set(stops);
    useColours(inlinePalette(stops));
  };

  const option = (palette: Palette) =>
    element(
      "button",
      {
        type: "button",
        className: "palette",
        role: "option",
        "data-name": palette.name,
        title: palette.title,
        onclick: () => {
          choosePalette(palette.name);
          editor.set(evenStops(palette.colours.filter((_, i) => i % (32 / STOPS_OF_PALETTE) === 0)));
        },
      },
      strip(palette.colours, palette.cyclic),
      element("span", { className: "tile-title" }, palette.name),
    );

  const update = () => {
    const colour = explorer.settings.colour ?? {};
    const tables = app.session.resolved?.tables;
    density.set(Math.log2(colour.density ?? 1));
    offset.set((((colour.offset ?? 0) % 1) + 1) % 1);
    scale.set(colour.scale ?? "auto");
    by.set(colour.by ?? tables?.by ?? "smooth");
    const chosen = palettes.find((palette) => palette.name === colour.palette);
    interior.set(colour.interior ?? chosen?.interior ?? "#000000");
    const layer = slope();
    shaded.set(layer !== undefined);
    angle.root.hidden = layer === undefined;
    strength.root.hidden = layer === undefined;
    angle.set(layer?.angle ?? 45);
    strength.set(layer?.opacity ?? 1);
    looks.set(colour.look ?? "");
    for (const one of list.children) {
      one.setAttribute("aria-selected", String(one.getAttribute("data-name") === colour.palette));
    }
  };
  explorer.events.on("colour", update);
  explorer.events.on("opened", update);

  return {
    root: element(
      "div",
      {},
      section("Palette", list, button("Random palette", random, { icon: "dice" })),
      section("Values", density.root, offset.root, scale.root, by.root, interior.root),
      section("Stops", editor.root),
      section("Light", shaded.root, angle.root, strength.root, looks.root),
    ),
    shown: async () => {
      if (palettes.length === 0) {
        const [all, named] = await Promise.all([attempt(() => api.palettes()), attempt(() => api.looks())]);
        palettes = all ?? [];
        list.replaceChildren(...palettes.map(option));
        looks.offer([["", "None"], ...(named ?? []).map((look) => [look.name, look.title || look.name] as const)]);
        const current = palettes.find((one) => one.name === explorer.settings.colour?.palette) ?? palettes[0];
        const inline = explorer.settings.colour?.palette?.startsWith("#");
        const colours = inline
          ? (explorer.settings.colour?.palette ?? "").split(",")
          : current.colours.filter((_, i) => i % (32 / STOPS_OF_PALETTE) === 0);
        editor.set(evenStops(colours));
      }
      update();
    },
  };
}
