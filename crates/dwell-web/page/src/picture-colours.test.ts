import { describe, expect, it } from "vitest";
import { coloursOf } from "./picture-colours";

const pixels = (...colours: [number, number, number, number][]) =>
  colours.flatMap(([count, ...rgb]) => Array.from({ length: count }, () => [...rgb, 255]).flat());

describe("colours of a picture", () => {
  it("are those that it has, from dark on, each next to the nearest", () => {
    const found = coloursOf(pixels([500, 250, 250, 250], [300, 0, 0, 32], [40, 200, 30, 20], [160, 240, 160, 20]));
    expect(found).toEqual(["#000020", "#c81e14", "#f0a014", "#fafafa"]);
  });

  it("are eight of a picture with more", () => {
    const many = coloursOf(
      pixels(
        ...Array.from({ length: 200 }, (_, i) => [1, i, 255 - i, (7 * i) % 256] as [number, number, number, number]),
      ),
    );
    expect(many.length).toBe(8);
    for (const colour of many) expect(colour).toMatch(/^#[0-9a-f]{6}$/);
  });

  it("are two of a picture of one", () => {
    expect(coloursOf(pixels([9, 1, 2, 3]))).toEqual(["#010203", "#ffffff"]);
  });
});
