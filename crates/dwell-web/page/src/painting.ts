import type { Tables } from "./protocol";

/** The entries of a palette's table; one more holds the interior colour. */
export const ENTRIES = 8192;

/** A table of colours: three 16-bit values for each entry, and for the interior. */
export interface PaletteTable {
  readonly values: Uint16Array;
  /** The turns after which the colours repeat. */
  readonly period: number;
  readonly dithers: boolean;
}

/** The turns of a value at density 1. */
export function turns(scale: string, limit: number): (value: number) => number {
  switch (scale) {
    case "linear":
      return (v) => v / 256;
    case "log":
      return (v) => Math.log2(v) / 4;
    case "limit":
      return (v) => v / limit;
    default:
      return (v) => 0.11 * (Math.sqrt(v) - 1);
  }
}

/** The value that is coloured, from a dwell and what came with it. */
export function colouredValue(by: string, dwell: number, d: number): number {
  if (by === "distance") return 1 + 1000 * d;
  return Math.max(1, by === "banded" ? dwell : dwell + d);
}

/** Marks a sample that did not escape; the turns of all others are positive. */
export const INSIDE = -1;

/**
 * The turns of a band, as whole turns and a fraction. Two 32-bit floats hold them to 2^-24 turns, one float would hold
 * a dwell of a million to a sixteenth of a turn only.
 */
export function turnsOfBand(
  dwells: Uint32Array,
  values: Float32Array | undefined,
  tables: Pick<Tables, "by" | "scale" | "limit">,
): Float32Array {
  const out = new Float32Array(2 * dwells.length);
  const scale = turns(tables.scale, tables.limit);
  // A field has no values only if it is coloured by whole dwells.
  const by = values ? tables.by : "banded";
  for (let i = 0; i < dwells.length; i++) {
    if (dwells[i] === 0) {
      out[2 * i] = INSIDE;
      continue;
    }
    const t = Math.max(0, scale(colouredValue(by, dwells[i], values ? values[i] : 0)));
    const whole = Math.floor(t);
    out[2 * i] = whole;
    out[2 * i + 1] = t - whole;
  }
  return out;
}

/** A number of turns modulo 1 as a fraction of 2^32, and what that leaves out, for sums that wrap around. */
export interface FixedFraction {
  readonly high: number;
  readonly low: number;
}

export function fixedFraction(x: number): FixedFraction {
  const scaled = (x - Math.floor(x)) * 2 ** 32;
  const high = Math.floor(scaled);
  return { high: high >>> 0, low: scaled - high };
}

/** The entry of a table for turns in two parts, as the shader computes it. */
export function entryOf(whole: number, fraction: number, density: FixedFraction, rate: number, offset: number): number {
  const product = Math.imul(whole, density.high) >>> 0;
  const rest = Math.floor(whole * density.low);
  const part = rate * fraction;
  const sum = product + rest + Math.floor((part - Math.floor(part)) * 2 ** 32) + offset;
  // The sum is below 2^53, so that this takes it modulo 2^32.
  return (sum >>> 0) >>> 19;
}

/** By how many thresholds 16 bits become 8. */
export const THRESHOLDS = 8;

function reversedThreeBits(n: number): number {
  return ((n & 1) << 2) | (n & 2) | ((n >> 2) & 1);
}

/** The ranks of the thresholds of a row: of 16 columns each, and again after 128 columns. */
export function ranksOfRow(row: number): number[] {
  return Array.from({ length: THRESHOLDS }, (_, i) => reversedThreeBits(row + reversedThreeBits(i)));
}

/** The threshold of a rank, which is added to a value of 16 bits before it is divided by 257. */
export function thresholdOf(rank: number): number {
  return Math.floor((257 * rank + 128) / THRESHOLDS);
}
