import { describe, expect, it } from "vitest";
import { ENTRIES } from "./painting";
import { colourAt, evenStops, gradientOf, inlinePalette, randomColours, rgbOf, stopsOf, stopsOfTable } from "./stops";

describe("stops", () => {
  it("are written as they are when evenly spaced, and sampled otherwise", () => {
    expect(inlinePalette(evenStops(["#000000", "#ff0000", "#ffffff"]))).toBe("#000000,#ff0000,#ffffff");
    const uneven = inlinePalette([
      { at: 0, colour: "#000000" },
      { at: 0.25, colour: "#ffffff" },
    ]).split(",");
    expect(uneven.length).toBe(32);
    expect([uneven[0], uneven[8], uneven[4]]).toEqual(["#000000", "#ffffff", "#808080"]);
  });

  it("are a cycle", () => {
    const stops = evenStops(["#000000", "#ffffff"]);
    expect(colourAt(stops, 0.75)).toBe("#808080");
    expect(colourAt(stops, 1.25)).toBe("#808080");
    expect(colourAt([{ at: 0.3, colour: "#123456" }], 0.9)).toBe("#123456");
  });

  it("are read from inline palettes and from tables", () => {
    const stops = evenStops(["#000000", "#ff0000", "#ffffff"]);
    expect(stopsOf(inlinePalette(stops))).toEqual(stops);
    expect(stopsOf("#000@0, #fff@0.3")).toEqual([
      { at: 0, colour: "#000000" },
      { at: 0.3, colour: "#ffffff" },
    ]);
    const values = Uint16Array.from({ length: 3 * (ENTRIES + 1) }, (_, i) => (i < 3 * 2048 ? 0 : 65535));
    expect(stopsOfTable({ values, period: 2, dithers: false }, 2)).toEqual(evenStops(["#000000", "#ffffff"]));
  });

  it("have colours of 3, 6 or 12 digits", () => {
    expect(["#f08", "#ff0088", "#ffff00008888"].map(rgbOf)).toEqual(Array(3).fill([255, 0, 136]));
    expect(gradientOf(["#fff", "#000"])).toBe("linear-gradient(to right, #ffffff, #000000)");
  });

  it("of random palettes are colours", () => {
    for (const colour of randomColours()) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
  });
});
