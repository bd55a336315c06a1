import { describe, expect, it } from "vitest";
import { format, parse } from "./decimal";
import { apply, between, cappedSize, inverse, isIdentity, offsetOf, panned, planeAt, type View, zoomed } from "./view";

const size = { width: 800, height: 400 };
function view(re: string, im: string, height: string, rotation = "0", flip = false): View {
  return { re: parse(re), im: parse(im), height: parse(height), rotation: parse(rotation), flip };
}

describe("views", () => {
  it("place pixels like the program", () => {
    const plain = view("-0.5", "0", "2");
    expect(format(planeAt(plain, size, { x: 400, y: 0 }).im)).toBe("1");
    expect(format(planeAt(plain, size, { x: 0, y: 200 }).re)).toBe("-2.5");
    expect(format(planeAt(view("-0.5", "0", "2", "0", true), size, { x: 400, y: 0 }).im)).toBe("-1");
    // Turned by a right angle counter-clockwise, what is to the right in the picture is up in the plane.
    const [right, up] = offsetOf(view("0", "0", "2", "90"), size, { x: 800, y: 200 });
    expect([right, up]).toEqual([0, 1]);
  });

  it("move exactly at a depth of 1e-1100", () => {
    const deep = view("-0.75", "0.1", "4e-1100");
    const moved = panned(deep, size, { x: 100, y: 50 }, { x: 200, y: 50 });
    expect(format(planeAt(moved, size, { x: 500, y: 200 }).re)).toBe("-0.75");
    expect(format(moved.re).length).toBeGreaterThan(1100);
    const back = panned(moved, size, { x: 200, y: 50 }, { x: 100, y: 50 });
    expect(format(back.re)).toBe("-0.75");
  });

  it("keep the point of the plane under the pointer when they zoom", () => {
    const pointer = { x: 613, y: 91 };
    const before = view("-0.7436438870371587", "0.1318259042053119", "4e-50", "30", true);
    const after = zoomed(before, size, pointer, 7.3);
    const map = between(before, size, after, size);
    const at = map && apply(map, pointer);
    expect(at?.x).toBeCloseTo(613, 3);
    expect(at?.y).toBeCloseTo(91, 3);
  });

  it("are mapped onto each other", () => {
    const a = view("0.1", "0.2", "1e-300", "20", true);
    const b = { ...zoomed(a, size, { x: 10, y: 20 }, 3), rotation: parse("50"), flip: false };
    const map = between(a, size, b, { width: 400, height: 300 });
    if (!map) throw new Error("the views are near");
    const there = apply(map, { x: 123, y: 45 });
    const back = apply(inverse(map), there);
    expect(back.x).toBeCloseTo(123, 6);
    expect(back.y).toBeCloseTo(45, 6);
    const same = between(a, size, a, size);
    expect(same && isIdentity(same)).toBe(true);
    expect(between(a, size, view("0.1", "0.2", "1e-1000"), size)).toBeNull();
  });

  it("keep pictures within the limits of the protocol", () => {
    expect(cappedSize(1280, 720)).toEqual({ width: 1280, height: 720 });
    const large = cappedSize(7680, 4320);
    expect(large.width).toBeLessThanOrEqual(4096);
    const square = cappedSize(5000, 5000);
    expect(square.width * square.height).toBeLessThanOrEqual(16_000_000);
  });
});
