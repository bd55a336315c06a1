import { describe, expect, it } from "vitest";
import { format, parse, quotient, ratio, subtract } from "./decimal";
import { between, legsBetween, viewOfBox } from "./motion";
import type { View } from "./view";

function view(re: string, im: string, height: string): View {
  return { re: parse(re), im: parse(im), height: parse(height), rotation: parse("0"), flip: false };
}

describe("flights", () => {
  it("lead straight to what is in sight", () => {
    expect(legsBetween(view("0", "0", "4"), view("-0.7436", "0.1318", "4e-1000")).length).toBe(2);
  });

  it("keep one point of the screen where it is, at any depth", () => {
    const size = { width: 800, height: 400 };
    const [from, to] = [view("0.5", "0", "4"), view("-0.7436", "0.1318", "4e-1000")];
    for (const t of [0.1, 0.5, 0.9]) {
      const now = between(from, to, t, size);
      // The fixed point of the zoom divides the way between the centres like the heights.
      const left = quotient(subtract(now.re, to.re), now.height, 20);
      expect(ratio(left, quotient(subtract(from.re, to.re), from.height, 20))).toBeCloseTo(1, 5);
    }
    expect(format(between(from, to, 1, size).re)).toBe("-0.7436");
  });

  it("lead out first where it is not", () => {
    const legs = legsBetween(view("-1.75", "0", "1e-50"), view("0.25", "0", "1e-900"));
    expect(legs.length).toBe(3);
    expect([format(legs[1].re), format(legs[1].height)]).toEqual(["-0.75", "4"]);
  });
});

describe("boxes", () => {
  it("become the view", () => {
    const size = { width: 800, height: 400 };
    const box = viewOfBox(view("0", "0", "4"), size, { x: 400, y: 0 }, { x: 800, y: 200 });
    expect([format(box.re), format(box.im), format(box.height)]).toEqual(["2", "1", "2"]);
  });
});
