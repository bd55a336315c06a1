import { describe, expect, it } from "vitest";
import { colourAt, evenStops, inlinePalette, randomColours } from "./stops";

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

  it("of random palettes are colours", () => {
    for (const colour of randomColours()) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
  });
});
