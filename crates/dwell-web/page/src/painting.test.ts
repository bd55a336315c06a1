import { describe, expect, it } from "vitest";
import {
  colouredValue,
  ENTRIES,
  entryOf,
  fixedFraction,
  INSIDE,
  ranksOfRow,
  thresholdOf,
  turns,
  turnsOfBand,
} from "./painting";
import { readBand } from "./protocol";

describe("painting", () => {
  it("finds the entry that the formula gives, to one of 8192", () => {
    const density = 3.7654321;
    const offset = 0.123;
    for (const period of [1, 2]) {
      for (const smooth of [1, 2.5, 17.25, 1234.567, 98765.4, 4e9]) {
        const t = turns("root", 1)(smooth);
        const expected = Math.floor((density * t + offset) * (ENTRIES / period)) % ENTRIES;
        const dwell = Math.floor(smooth);
        const out = turnsOfBand(new Uint32Array([dwell]), new Float32Array([smooth - dwell]), {
          by: "smooth",
          scale: "root",
          limit: 1,
        });
        const rate = density / period;
        const got = entryOf(out[0], out[1], fixedFraction(rate), rate, fixedFraction(offset / period).high);
        const apart = Math.abs(got - expected);
        expect(Math.min(apart, ENTRIES - apart)).toBeLessThanOrEqual(1);
      }
    }
  });

  it("marks samples that did not escape, and keeps values at least 1", () => {
    const out = turnsOfBand(new Uint32Array([0, 1]), new Float32Array([0, -3]), {
      by: "smooth",
      scale: "log",
      limit: 9,
    });
    expect([...out]).toEqual([INSIDE, 0, 0, 0]);
    expect(colouredValue("banded", 7, 0.5)).toBe(7);
    expect(colouredValue("distance", 7, 0.25)).toBe(251);
  });

  it("dithers with eight thresholds", () => {
    const thresholds = [16, 48, 80, 112, 144, 176, 208, 240];
    const sorted = (ranks: number[]) => ranks.map(thresholdOf).sort((a, b) => a - b);
    expect(sorted(ranksOfRow(5))).toEqual(thresholds);
    expect(sorted(Array.from({ length: 8 }, (_, row) => ranksOfRow(row)[3]))).toEqual(thresholds);
  });
});

describe("bands", () => {
  it("are refused when their length is wrong", () => {
    const header = new Uint32Array([0x4c455744, 3, 1, 0, 2, 4, 1, 2]);
    const buffer = new ArrayBuffer(32 + 16);
    new Uint32Array(buffer).set(header);
    const band = readBand(buffer);
    expect([band.id, band.stage, band.firstRow, band.dwells?.length, band.values]).toEqual([3, 1, 1, 4, undefined]);
    expect(() => readBand(buffer.slice(0, 40))).toThrow();
    expect(() => readBand(new ArrayBuffer(8))).toThrow();
  });
});
