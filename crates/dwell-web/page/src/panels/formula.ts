import type { App, Panel } from "../app";
import { button, section, select, slider, textField, toggle } from "../controls";
import { element } from "../dom";
import { viewOf } from "../scene";
import { toast } from "../toast";

const WHOLE_SET = { re: "0", im: "0", view_height: "4" };

/** The formula, the Julia set and the limit. */
export function formulaPanel(app: App): Panel {
  const { explorer } = app;
  const setFormula = (formula: string, power: number) => {
    const whole = formula === "mandelbrot" ? { re: "-0.75", im: "0", view_height: "3" } : WHOLE_SET;
    app.openPlace({
      ...explorer.current(),
      ...whole,
      rotation: "0",
      formula,
      power,
      julia: undefined,
      iterations: "auto",
      flip: formula === "burning-ship",
    });
  };
  const formula = select(
    "Formula",
    [
      ["mandelbrot", "Mandelbrot"],
      ["multibrot", "Multibrot"],
      ["burning-ship", "Burning Ship"],
      ["tricorn", "Tricorn"],
    ],
    (value) => setFormula(value, value === "multibrot" ? 3 : 2),
  );
  const power = slider(
    "Power",
    { min: 2, max: 16, step: 1 },
    (value) => String(value),
    (value) => explorer.change({ power: value, formula: settled(explorer.settings.formula, value) }, "content"),
  );
  const setJulia = () => {
    const [re, im] = [juliaRe.input.value.trim(), juliaIm.input.value.trim()];
    if (re === "" || im === "") return;
    explorer.change({ julia: [re, im] }, "content");
  };
  const juliaRe = textField("Re c", setJulia, { mono: true, inputMode: "decimal" });
  const juliaIm = textField("Im c", setJulia, { mono: true, inputMode: "decimal" });
  const leaveJulia = button("Back to the set", () => {
    const at = explorer.settings.julia;
    if (at)
      app.goTo({
        ...explorer.current(),
        ...WHOLE_SET,
        re: at[0],
        im: at[1],
        view_height: "1",
        julia: undefined,
        iterations: "auto",
      });
  });

  const automatic = toggle("Automatic", (on) =>
    explorer.change({ iterations: on ? "auto" : String(app.session.resolved?.scene.iterations ?? 1000) }, "content"),
  );
  const limit = textField(
    "Limit",
    (text) => {
      const digits = text.replace(/[\s_,']/g, "");
      if (/^[1-9]\d{0,18}$/.test(digits)) explorer.change({ iterations: digits }, "content");
      else toast("The limit is a whole number.", "Type 5000, or switch to automatic.");
      update();
    },
    { mono: true, inputMode: "numeric" },
  );
  const twice = button("×2", () => doubleLimit(app));
  const flip = toggle("Upside down", (on) => explorer.change({ flip: on }, "content"));
  const place = textField("Centre", (text) => goToText(app, text), { mono: true, placeholder: "re, im" });

  const update = () => {
    const { settings } = explorer;
    formula.set(settings.formula ?? "mandelbrot");
    power.set(settings.power ?? 2);
    power.root.hidden =
      settings.formula !== "multibrot" && (settings.power ?? 2) === 2 && !settings.formula?.includes("multi");
    juliaRe.set(settings.julia?.[0] ?? "");
    juliaIm.set(settings.julia?.[1] ?? "");
    leaveJulia.hidden = !settings.julia;
    automatic.set(explorer.limit === "auto");
    limit.set(String(app.session.resolved?.scene.iterations ?? explorer.limit));
    flip.set(settings.flip ?? false);
  };
  for (const what of ["content", "opened"] as const) explorer.events.on(what, update);
  app.session.events.on("status", update);
  return {
    root: element(
      "div",
      {},
      section("Set", formula.root, power.root, flip.root),
      section("Julia set", juliaRe.root, juliaIm.root, leaveJulia),
      section("Limit", automatic.root, limit.root, element("div", { className: "inline" }, twice)),
      section(
        "Go to",
        place.root,
        element("p", { className: "hint" }, "Two numbers, and a zoom if you like: -0.75, 0.1, 1e9"),
      ),
    ),
    shown: update,
  };
}

/** Powers other than 2 are those of the Multibrot sets. */
function settled(formula: string | undefined, power: number): string {
  if (formula === undefined || formula === "mandelbrot" || formula === "multibrot") {
    return power === 2 ? "mandelbrot" : "multibrot";
  }
  return formula;
}

export function doubleLimit(app: App): void {
  const known = app.session.resolved?.scene.iterations ?? app.explorer.settings.iterations;
  if (!known || !/^\d+$/.test(String(known))) return;
  const most = 2n ** 63n - 1n;
  const next = 2n * BigInt(known);
  app.explorer.change({ iterations: String(next > most ? most : next) }, "content");
}

function goToText(app: App, text: string): void {
  const [re, im, zoom] = text.split(/[\s,;]+/).filter((part) => part !== "");
  if (!re || !im) return;
  const scene = { ...app.explorer.current(), re, im };
  if (zoom) {
    scene.zoom = zoom;
    delete scene.view_height;
  }
  try {
    viewOf(scene);
    app.goTo(scene);
  } catch {
    toast("This is not a place.", "Type two numbers, such as -0.75, 0.1");
  }
}
