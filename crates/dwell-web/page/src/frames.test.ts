import { describe, expect, it } from "vitest";
import { parse } from "./decimal";
import { Frames } from "./frames";
import { COARSE, FINAL, FULL, type Tables } from "./protocol";
import type { Renderer, Surface } from "./renderer";
import type { View } from "./view";

const size = { width: 80, height: 40 };
const home: View = { re: parse("0"), im: parse("0"), height: parse("2"), rotation: parse("0"), flip: false };
const nearer: View = { ...home, height: parse("1") };
const tables: Tables = { by: "smooth", scale: "root", density: 1, offset: 0, limit: 100 };

/** A renderer that only writes down what it is told. */
function recorder() {
  const log: string[] = [];
  let made = 0;
  const renderer: Renderer = {
    resize: () => {},
    setTable: () => log.push("table"),
    surface: (kind, { width, height }) => {
      const name = `${kind} ${++made}`;
      return { width, height, name, dispose: () => log.push(`dispose ${name}`) } as Surface;
    },
    writePicture: (_surface, first, rows) => log.push(`picture ${first}+${rows}`),
    writeField: (_surface, first, rows) => log.push(`turns ${first}+${rows}`),
    paint: (_surface, first, rows, { density }) => log.push(`paint ${first}+${rows} at ${density}`),
    compose: () => {},
    pixels: () => new Uint8Array(),
  };
  return { renderer, log };
}

function field(id: number, stage: number, width: number, height: number, firstRow = 0, rows = height) {
  return {
    id,
    stage,
    width,
    height,
    firstRow,
    rows,
    dwells: new Uint32Array(width * rows).fill(3),
    values: new Float32Array(width * rows),
  };
}

function picture(id: number, stage: number) {
  return { id, stage, ...size, firstRow: 0, rows: size.height, colours: new Uint8Array(3 * size.width * size.height) };
}

function begun(id: number, view = home, content = "a") {
  const { renderer, log } = recorder();
  const frames = new Frames({ renderer });
  frames.setTable({ values: new Uint16Array(), period: 1, dithers: false });
  frames.begin({ id, view, size, content, painting: "" });
  frames.setTables(tables);
  frames.ready();
  return { frames, log };
}

describe("frames", () => {
  it("refuse rows of another view", () => {
    const { frames } = begun(2);
    expect(() => frames.add(field(1, COARSE, 10, 5))).toThrow();
  });

  it("draw finer stages over coarser ones, and nothing below what covers the screen", () => {
    const { frames } = begun(1);
    frames.add(field(1, COARSE, 10, 5));
    frames.add(field(1, FULL, 80, 40, 0, 20));
    expect(frames.placed(home, size).map(({ surface }) => surface.width)).toEqual([10, 80]);
    frames.add(field(1, FULL, 80, 40, 20, 20));
    expect(frames.placed(home, size).map(({ surface }) => surface.width)).toEqual([80]);
    expect(frames.placed(home, size)[0].aligned).toBe(true);
  });

  it("keep the last frame over a coarser new one, unless it shows something else", () => {
    for (const [content, order] of [
      ["a", [10, 80]],
      ["b", [10]],
    ] as const) {
      const { frames } = begun(1);
      frames.add(field(1, FULL, 80, 40));
      frames.begin({ id: 2, view: nearer, size, content, painting: "" });
      frames.ready();
      frames.add(field(2, COARSE, 10, 5));
      const widths = frames.placed(nearer, size).map(({ surface }) => surface.width);
      expect(widths).toEqual(order[order.length - 1] === 80 ? [80] : order);
    }
  });

  it("paint again in other colours without new fields, and drop the picture in the old ones", () => {
    const { frames, log } = begun(1);
    frames.add(field(1, FULL, 80, 40));
    frames.add(picture(1, FINAL));
    log.length = 0;
    frames.setTables({ ...tables, density: 2 });
    frames.repaint("other");
    expect(log).toEqual(["dispose picture 2", "paint 0+40 at 2"]);
    log.length = 0;
    frames.setTables({ ...tables, density: 2, scale: "log" });
    frames.repaint("other");
    expect(log).toEqual(["turns 0+40", "paint 0+40 at 2"]);
    log.length = 0;
    frames.repaint("other");
    expect(log).toEqual([]);
  });

  it("keep the picture when the table comes after it", () => {
    const { renderer, log } = recorder();
    const frames = new Frames({ renderer });
    frames.begin({ id: 1, view: home, size, content: "a", painting: "own" });
    frames.setTables(tables);
    frames.ready();
    frames.add(field(1, FULL, 80, 40));
    frames.add(picture(1, FINAL));
    frames.setTable({ values: new Uint16Array(), period: 1, dithers: false });
    log.length = 0;
    frames.repaint("own");
    expect(log).toEqual(["paint 0+40 at 1"]);
  });
});
