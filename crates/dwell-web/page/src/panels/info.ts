import { api, type PointFacts } from "../api";
import type { App, Panel } from "../app";
import { button, section } from "../controls";
import { element } from "../dom";
import type { Scene } from "../scene";
import type { Point } from "../view";

const PREVIEW_DELAY_MS = 350;

/** What is known of the point under the pointer, and its Julia set. */
export function infoPanel(app: App): Panel {
  const facts = element("dl", { className: "facts" });
  const preview = element("img", { className: "preview", alt: "Julia set of this point" });
  const hint = element("p", { className: "hint" }, "Rest the pointer on the picture, or tap it.");
  let fetching: AbortController | null = null;
  let timer = 0;
  let url = "";
  let julia: Scene | null = null;

  const open = button("Go to this Julia set", () => julia && app.openPlace(julia), { kind: "wide" });
  open.hidden = true;
  const juliaSection = section("Julia set", preview, open);
  juliaSection.hidden = true;
  preview.onclick = () => julia && app.openPlace(julia);

  const put = (rows: [string, string, string?][]) =>
    facts.replaceChildren(
      ...rows.flatMap(([term, text, kind]) => [
        element("dt", {}, term),
        element("dd", { className: kind ?? "number" }, text),
      ]),
    );
  const show = (point: PointFacts) => {
    hint.hidden = true;
    put([
      ["Re", point.re, "mono"],
      ["Im", point.im, "mono"],
      ["Dwell", point.escaped ? grouped(point.dwell) : "does not escape"],
      ...(point.smooth !== null ? [["Smooth", point.smooth.toFixed(4)] as [string, string]] : []),
      ...(point.distance !== null
        ? [
            ["Distance", point.distance_text ?? ""] as [string, string],
            ["", `${point.distance.toPrecision(3)} heights`] as [string, string],
          ]
        : []),
      ...(point.period !== null ? [["Period", String(point.period)] as [string, string]] : []),
      ["Arithmetic", point.number],
      ["Proved", point.proved ? "yes" : "no"],
    ]);
  };
  const showJulia = (point: PointFacts, signal: AbortSignal) => {
    const { settings } = app.explorer;
    julia = null;
    open.hidden = true;
    if (settings.julia) {
      juliaSection.hidden = true;
      return;
    }
    const shallow = (text: string) => text.slice(0, 40).replace(/[.]$/, "");
    const scene: Scene = {
      ...settings,
      re: "0",
      im: "0",
      view_height: "3.2",
      rotation: "0",
      iterations: "auto",
      julia: [/e/i.test(point.re) ? point.re : shallow(point.re), /e/i.test(point.im) ? point.im : shallow(point.im)],
    };
    for (const key of ["zoom", "name", "title", "notes", "source", "number"]) delete scene[key];
    clearTimeout(timer);
    timer = window.setTimeout(async () => {
      const blob = await api.picture(scene, 320, 180, 1, signal).catch(() => null);
      if (!blob || signal.aborted) return;
      URL.revokeObjectURL(url);
      url = URL.createObjectURL(blob);
      preview.src = url;
      juliaSection.hidden = false;
      julia = scene;
      open.hidden = false;
    }, PREVIEW_DELAY_MS);
  };
  return {
    root: element("div", {}, hint, facts, juliaSection),
    hidden: () => {
      fetching?.abort();
      app.overlay.hideMark();
    },
    pointer: async (at: Point) => {
      fetching?.abort();
      const asking = new AbortController();
      fetching = asking;
      const { size } = app.explorer;
      const x = Math.max(0, Math.min(size.width - 1, Math.floor(at.x)));
      const y = Math.max(0, Math.min(size.height - 1, Math.floor(at.y)));
      try {
        const point = await api.point(app.explorer.current(), size.width, size.height, x, y, asking.signal);
        show(point);
        showJulia(point, asking.signal);
      } catch (error) {
        if (asking.signal.aborted) return;
        hint.hidden = false;
        hint.textContent = (error as Error).message;
        facts.replaceChildren();
      }
    },
  };
}

export function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}
