import { expect, it } from "vitest";
import { startOfPixels } from "./png";

it("finds where the pixels of a PNG begin", () => {
  const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  const chunk = (name: string, length: number) => [
    0,
    0,
    0,
    length,
    ...[...name].map((c) => c.charCodeAt(0)),
    ...new Array(length + 4).fill(0),
  ];
  const bytes = new Uint8Array([...signature, ...chunk("IHDR", 13), ...chunk("iTXt", 20), ...chunk("IDAT", 5)]);
  expect(startOfPixels(bytes)).toBe(8 + 25 + 32);
  expect(startOfPixels(new Uint8Array([1, 2, 3]))).toBeNull();
});
