/** Exact decimal numbers: `digits` times ten to the power `exponent`. Positions at any depth are such numbers. */
export interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

const powers: bigint[] = [1n];
/** Powers above this are computed each time: a table of all of them would take quadratic memory. */
const MOST_KEPT_POWERS = 2048;

function powerOfTen(n: number): bigint {
  if (n > MOST_KEPT_POWERS) return 10n ** BigInt(n);
  while (powers.length <= n) powers.push(powers[powers.length - 1] * 10n);
  return powers[n];
}

/** The number of bits of a positive integer. Hexadecimal text takes linear time, decimal text does not. */
function bits(n: bigint): number {
  const text = n.toString(16);
  return 4 * (text.length - 1) + (32 - Math.clz32(Number.parseInt(text[0], 16)));
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

export const ZERO: Decimal = { digits: 0n, exponent: 0 };

export function decimal(digits: bigint, exponent = 0): Decimal {
  return digits === 0n ? ZERO : { digits, exponent };
}

/** Reads decimal text such as `-0.75` or `4e-1100`; throws where the text is not a number. */
export function parse(text: string): Decimal {
  const match = /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,9}))?\s*$/.exec(text);
  if (!match || match[2].length + match[3].length === 0) throw new Error(`not a number: ${text.slice(0, 40)}`);
  const digits = BigInt(match[2] + match[3]);
  return decimal(match[1] === "-" ? -digits : digits, Number(match[4] ?? 0) - match[3].length);
}

/** The text of a number, without digits that say nothing: plain near 1, with an exponent elsewhere. */
export function format(a: Decimal): string {
  if (a.digits === 0n) return "0";
  const sign = a.digits < 0n ? "-" : "";
  const all = magnitude(a.digits).toString();
  const text = all.replace(/0+$/, "");
  const exponent = a.exponent + all.length - text.length;
  const leading = exponent + text.length - 1;
  if (leading < -7 || leading > 20) {
    return `${sign}${text[0]}${text.length > 1 ? `.${text.slice(1)}` : ""}e${leading}`;
  }
  if (exponent >= 0) return sign + text + "0".repeat(exponent);
  const whole = text.length + exponent;
  return whole > 0 ? `${sign}${text.slice(0, whole)}.${text.slice(whole)}` : `${sign}0.${"0".repeat(-whole)}${text}`;
}

/** The digits of two numbers at the smaller of their exponents. */
function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  if (a.digits === 0n) return [0n, b.digits, b.exponent];
  if (b.digits === 0n) return [a.digits, 0n, a.exponent];
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.digits * powerOfTen(a.exponent - exponent), b.digits * powerOfTen(b.exponent - exponent), exponent];
}

export function add(a: Decimal, b: Decimal): Decimal {
  const [x, y, exponent] = aligned(a, b);
  return decimal(x + y, exponent);
}

export function negate(a: Decimal): Decimal {
  return decimal(-a.digits, a.exponent);
}

export function subtract(a: Decimal, b: Decimal): Decimal {
  return add(a, negate(b));
}

export function multiply(a: Decimal, b: Decimal): Decimal {
  return decimal(a.digits * b.digits, a.exponent + b.exponent);
}

/** A finite double as a decimal of 17 digits, which tell all doubles apart. */
export function fromNumber(x: number): Decimal {
  return parse(x.toExponential(16));
}

/** The product of a decimal and a double. */
export function scaled(a: Decimal, factor: number): Decimal {
  return multiply(a, fromNumber(factor));
}

/** -1, 0 or 1. */
export function compare(a: Decimal, b: Decimal): number {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

export function equal(a: Decimal, b: Decimal): boolean {
  return compare(a, b) === 0;
}

/** The number rounded to a multiple of 10^exponent, halves away from zero. */
export function roundedTo(a: Decimal, exponent: number): Decimal {
  if (a.exponent >= exponent) return a;
  const unit = powerOfTen(exponent - a.exponent);
  const half = a.digits < 0n ? -unit / 2n : unit / 2n;
  return decimal((a.digits + half) / unit, exponent);
}

/** The number rounded to about so many significant digits. */
export function significant(a: Decimal, count: number): Decimal {
  return a.digits === 0n ? ZERO : roundedTo(a, Math.floor(log2(a) * Math.LOG10E * Math.LN2) + 1 - count);
}

/** The logarithm to base 2 of the absolute value; minus infinity for 0. */
export function log2(a: Decimal): number {
  if (a.digits === 0n) return Number.NEGATIVE_INFINITY;
  const n = magnitude(a.digits);
  const shift = Math.max(0, bits(n) - 64);
  return Math.log2(Number(n >> BigInt(shift))) + shift + a.exponent * Math.log2(10);
}

/** a / b as a double, for numbers far outside the range of doubles as well; b is not 0. */
export function ratio(a: Decimal, b: Decimal): number {
  if (a.digits === 0n) return 0;
  const [x, y] = aligned(a, b);
  const [n, d] = [magnitude(x), magnitude(y)];
  const shift = 64 - (bits(n) - bits(d));
  const quotient = shift >= 0 ? (n << BigInt(shift)) / d : n / (d << BigInt(-shift));
  const value = Number(quotient) * 2 ** -shift;
  return x < 0n !== y < 0n ? -value : value;
}

/** a / b to about so many digits; b is not 0. */
export function quotient(a: Decimal, b: Decimal, count: number): Decimal {
  if (a.digits === 0n) return ZERO;
  const missing = (bits(magnitude(b.digits)) - bits(magnitude(a.digits))) * Math.log10(2) + count + 1;
  const shift = Math.max(0, Math.ceil(missing));
  return decimal((a.digits * powerOfTen(shift)) / b.digits, a.exponent - b.exponent - shift);
}

export function toNumber(a: Decimal): number {
  return ratio(a, decimal(1n));
}

/** A positive number in few characters, such as `3.2e157`, for people. */
export function brief(a: Decimal, digits = 2): string {
  if (a.digits === 0n) return "0";
  const log = log2(a) * Math.LOG10E * Math.LN2;
  if (log > -3 && log < 5) return String(Number(toNumber(a).toPrecision(digits + 1)));
  let exponent = Math.floor(log);
  let mantissa = Number((10 ** (log - exponent)).toFixed(digits - 1));
  if (mantissa >= 10) {
    mantissa = 1;
    exponent += 1;
  }
  return `${mantissa}e${exponent}`;
}
