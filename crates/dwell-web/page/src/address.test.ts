import { describe, expect, it } from "vitest";
import { fragmentOf, sceneOf } from "./address";
import type { Scene } from "./scene";

const start: Scene = {
  re: "-0.75",
  im: "0",
  view_height: "3",
  iterations: "auto",
  name: "home",
  escape_radius: "256",
  colour: { palette: "ember", scale: "auto" },
};

describe("addresses", () => {
  it("say only what differs, and give the scene back", () => {
    const scene: Scene = {
      ...start,
      re: `-0.${"743".repeat(700)}`,
      view_height: "4e-1100",
      iterations: "5000",
      julia: ["-0.8", "0.156"],
      colour: { palette: "#001,#fff", density: 2.5 },
      layer: [{ what: "slope", angle: 135 }],
    };
    delete scene.name;
    const fragment = fragmentOf(scene, start);
    expect(fragment).toContain("palette=%23001,%23fff");
    expect(fragment).not.toContain("escape_radius");
    expect(sceneOf(fragment, start)).toEqual(scene);
  });

  it("forget what a scene no longer has", () => {
    const other: Scene = { ...start, julia: ["0", "1"], layer: [{ what: "slope" }], formula: "tricorn" };
    const plain: Scene = { re: "1", im: "2", view_height: "3", iterations: "auto", escape_radius: "256", colour: {} };
    expect(sceneOf(fragmentOf(plain, other), other)).toEqual(plain);
  });

  it("are none where there is no fragment", () => {
    expect(sceneOf("", start)).toBeNull();
  });
});
