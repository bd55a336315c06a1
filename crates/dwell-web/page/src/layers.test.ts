import { describe, expect, it } from "vitest";
import {
  changed,
  keysOf,
  kindOf,
  layerKinds,
  moved,
  newLayer,
  numberOf,
  paletteParts,
  sameLayers,
  summary,
  textOf,
} from "./layers";

describe("layers", () => {
  it("have the defaults of location files", () => {
    expect(newLayer("slope")).toEqual({ what: "slope", angle: 45, height: 1.5, blend: "overlay", opacity: 1 });
    expect(newLayer("outline")).toEqual({
      what: "outline",
      width: 1,
      colour: "#000000",
      blend: "normal",
      opacity: 1,
    });
    expect(newLayer("colour")).toMatchObject({ over: "all", colour: "#000000" });
    const scales = ["smooth", "banded", "distance", "period", "multiplier", "angle", "final-z"].map(
      (what) => newLayer(what).scale,
    );
    expect(scales).toEqual(["root", "root", "log", "log", "linear", "linear", "linear"]);
    expect(layerKinds).toHaveLength(10);
  });

  it("have sliders whose values are in range and come back", () => {
    const limits: Record<string, [number, number]> = {
      opacity: [0, 1],
      angle: [-360, 360],
      height: [0.1, 100],
      width: [0, 1000],
      density: [0, 1e6],
      offset: [-1e6, 1e6],
    };
    for (const key of layerKinds.flatMap((kind) => keysOf(kind))) {
      if (key.type !== "number") continue;
      const [least, most] = limits[key.key];
      for (const position of [key.range.min, key.range.max, key.position(key.usual)]) {
        const value = key.value(position);
        expect(value).toBeGreaterThanOrEqual(least);
        expect(value).toBeLessThanOrEqual(most);
        if (key.key !== "offset") expect(key.position(value)).toBeCloseTo(position, 2);
      }
      expect(key.value(key.position(key.usual))).toBeCloseTo(key.usual, 9);
    }
  });

  it("offer the limit as a scale only where there is one", () => {
    const offered = (what: string) =>
      keysOf(kindOf(what)).flatMap((key) => (key.key === "scale" && key.type === "choice" ? key.choices : []));
    expect(offered("smooth")).toHaveLength(4);
    expect(offered("distance")).toHaveLength(3);
  });

  it("show angles within half a turn", () => {
    const angle = keysOf(kindOf("slope"))[0];
    if (angle.type !== "number") throw new Error();
    expect([-360, -181, -180, 180, 190, 360].map(angle.position)).toEqual([0, 179, -180, 180, -170, 0]);
    expect(numberOf({ what: "slope" }, angle)).toBe(45);
  });

  it("are described by blend and opacity", () => {
    expect(summary({ what: "slope" })).toBe("Overlay, 100 %");
    expect(summary({ what: "shine", blend: "burn", opacity: 0.255 })).toBe("burn, 26 %");
  });

  it("are moved, changed and compared", () => {
    expect(moved([1, 2, 3], 0, 2)).toEqual([2, 3, 1]);
    expect(moved([1, 2, 3], 2, 1)).toEqual([1, 3, 2]);
    const own = { what: "period", palette: "mine", palette_format: "map", palette_text: "0 0 0" };
    expect(changed(own, paletteParts({ palette: "ember" }))).toEqual({ what: "period", palette: "ember" });
    expect(sameLayers([{ what: "slope" }], [{ opacity: 1, angle: 45, what: "slope" }])).toBe(true);
    expect(sameLayers([{ what: "slope" }], [{ what: "slope", opacity: 0.9 }])).toBe(false);
    const [, colour] = keysOf(kindOf("outline"));
    if (colour.type === "number") throw new Error();
    expect(textOf({ what: "outline" }, colour)).toBe("#000000");
  });
});
