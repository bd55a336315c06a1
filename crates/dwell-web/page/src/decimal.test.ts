import { describe, expect, it } from "vitest";
import * as D from "./decimal";

const n = D.parse;
const text = (a: D.Decimal) => D.format(a);

describe("decimals", () => {
  it("are read and written without losing a digit", () => {
    for (const t of ["0", "1", "-0.75", "12345.678", "4e-1100", "-1.25e300", "0.0000001", "100", "1e21"]) {
      expect(text(n(t))).toBe(t);
    }
    expect(text(n("+.50"))).toBe("0.5");
    expect(text(n("1200e-2"))).toBe("12");
    expect(text(n("-0"))).toBe("0");
    const digits = `-0.${"7436438870371587".repeat(300)}`;
    expect(text(n(digits))).toBe(digits);
    for (const t of ["", ".", "1e", "x", "1.2.3", "--1"]) expect(() => n(t)).toThrow();
  });

  it("add, subtract and multiply exactly", () => {
    expect(text(D.add(n("1e-1100"), n("-1e-1100")))).toBe("0");
    expect(text(D.subtract(D.add(n("0.1"), n("1e-50")), n("0.1")))).toBe("1e-50");
    expect(text(D.multiply(n("-0.1"), n("0.2")))).toBe("-0.02");
    expect(text(D.scaled(n("4e-1100"), 0.5))).toBe("2e-1100");
    expect(text(D.add(D.ZERO, n("1e900")))).toBe("1e900");
  });

  it("are rounded to a place, halves away from zero", () => {
    expect(text(D.roundedTo(n("0.125"), -2))).toBe("0.13");
    expect(text(D.roundedTo(n("-0.125"), -2))).toBe("-0.13");
    expect(text(D.roundedTo(n("0.124"), -2))).toBe("0.12");
    expect(text(D.roundedTo(n("3"), -5))).toBe("3");
    expect(text(D.significant(n("1.23456e-1000"), 3))).toBe("1.23e-1000");
  });

  it("compare across exponents", () => {
    expect(D.compare(n("1e-1100"), n("0"))).toBe(1);
    expect(D.compare(n("-1"), n("1e-1100"))).toBe(-1);
    expect(D.equal(n("10e-1"), n("1"))).toBe(true);
  });

  it("have ratios and logarithms far outside the range of doubles", () => {
    expect(D.ratio(n("3e-1100"), n("4e-1100"))).toBe(0.75);
    expect(D.ratio(n("-1"), n("8"))).toBe(-0.125);
    expect(D.ratio(n("1e-1100"), n("1"))).toBe(0);
    expect(D.ratio(n("1"), n("1e-1100"))).toBe(Number.POSITIVE_INFINITY);
    expect(D.ratio(n("1"), n("3"))).toBeCloseTo(1 / 3, 15);
    expect(D.log2(n("1e-1100"))).toBeCloseTo(-1100 * Math.log2(10), 8);
    expect(D.log2(D.ZERO)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("have quotients to a number of digits", () => {
    expect(text(D.significant(D.quotient(n("4"), n("3e1000"), 20), 10))).toBe("1.333333333e-1000");
    expect(text(D.quotient(n("-4e-1000"), n("2"), 20))).toBe("-2e-1000");
    expect(text(D.significant(D.quotient(n("123456789123456789"), n("3"), 5), 3))).toBe("41200000000000000");
  });

  it("are shown briefly", () => {
    expect(D.brief(n("3.21e157"))).toBe("3.2e157");
    expect(D.brief(n("9.99e157"))).toBe("1e158");
    expect(D.brief(n("1.5"))).toBe("1.5");
    expect(D.brief(n("0.0001"))).toBe("1e-4");
  });
});
