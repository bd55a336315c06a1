import { api, type Configuration, type Named } from "../api";
import type { App, Panel } from "../app";
import { button, type Choice, section, select } from "../controls";
import { element } from "../dom";
import { attempt } from "../toast";

const AUTOMATIC: Choice = ["", "Automatic"];

function choices(values: readonly string[]): Choice[] {
  return [AUTOMATIC, ...values.map((value) => [value, value] as const)];
}

/** Controls of one way to compute the view. */
function configurationForm(app: App, title: string): { root: HTMLElement; read: () => Configuration } {
  const { start } = app;
  const chosen: Configuration = {};
  const set = (key: keyof Configuration, parse: (text: string) => unknown) => (value: string) => {
    if (value === "") delete chosen[key];
    else Reflect.set(chosen, key, parse(value));
  };
  const text = (value: string) => value;
  const threads = [...new Set([1, 2, 4, 8, 16, start.threads])].filter((n) => n <= start.threads).sort((a, b) => a - b);
  return {
    root: section(
      title,
      select("Engine", choices(start.engines), set("engine", text)).root,
      select("Level", choices(start.levels), set("level", text)).root,
      select("Threads", choices(threads.map(String)), set("threads", Number)).root,
      select("Schedule", choices(start.schedules), set("schedule", text)).root,
      select("Strategy", choices(start.strategies), set("strategy", text)).root,
      select("Rounding", choices(["fused", "separate"]), set("rounding", text)).root,
      select("Precision", choices(["f32", "f64", "exact"]), set("precision", text)).root,
      select(
        "Shortcuts",
        [
          AUTOMATIC,
          ["exact", "All"],
          ["none", "None"],
          ["interior", "Interior"],
          ["cycles", "Cycles"],
          ["symmetry", "Symmetry"],
        ],
        set("shortcuts", text),
      ).root,
    ),
    read: () => ({ ...chosen }),
  };
}

/** A rate with a prefix, such as 3.21 G. */
export function rate(perSecond: number): string {
  const step = Math.max(0, Math.min(4, Math.floor(Math.log10(Math.max(1, perSecond)) / 3)));
  return `${(perSecond / 1000 ** step).toPrecision(3)} ${["", "k", "M", "G", "T"][step]}`;
}

/** The recorded runs of the laboratory: each opens its report. */
function reportsSection(): { root: HTMLElement; update: () => Promise<void> } {
  const list = element("ul", { className: "reports" });
  return {
    root: section("Laboratory", list),
    update: async () => {
      const all = (await attempt(() => api.reports())) ?? [];
      const none = element(
        "li",
        { className: "hint" },
        "“dwell lab run” records the experiments of five publications here.",
      );
      const link = ({ name, title }: Named) =>
        element(
          "a",
          { href: `./api/v1/reports/${encodeURIComponent(name)}`, target: "_blank", rel: "noopener" },
          title,
        );
      list.replaceChildren(...(all.length > 0 ? all.map((one) => element("li", {}, link(one))) : [none]));
    },
  };
}

/** Two ways to compute the present view, timed and compared. */
export function flavoursPanel(app: App): Panel {
  const forms = [configurationForm(app, "A"), configurationForm(app, "B")];
  const results = element("div", { className: "results", "aria-live": "polite" });
  const clear = button("Hide marks", () => {
    app.overlay.hideMask();
    clear.hidden = true;
  });
  clear.hidden = true;
  const run = button(
    "Run both",
    async () => {
      const { explorer } = app;
      const { width, height } = explorer.size;
      run.disabled = true;
      run.textContent = "Running";
      const answer = await attempt(() =>
        api.flavours(
          explorer.current(),
          width,
          height,
          forms.map((form) => form.read()),
        ),
      );
      run.disabled = false;
      run.textContent = "Run both";
      if (!answer) return;
      const cell = (text: string, kind = "number") => element("td", { className: kind }, text);
      const line = (name: string, values: string[]) =>
        element("tr", {}, element("th", { scope: "row" }, name), ...values.map((value) => cell(value)));
      const [a, b] = answer.results;
      const both = (read: (one: typeof a) => string) => [read(a), read(b)];
      results.replaceChildren(
        element(
          "table",
          {},
          element(
            "thead",
            {},
            element(
              "tr",
              {},
              element("td"),
              element("th", { scope: "col" }, "A"),
              element("th", { scope: "col" }, "B"),
            ),
          ),
          element(
            "tbody",
            {},
            line(
              "Time",
              both((one) => `${(1000 * one.seconds).toFixed(1)} ms`),
            ),
            line(
              "Iterations/s",
              both((one) => rate(one.iterations_per_second)),
            ),
            line(
              "Of peak",
              both((one) => (one.peak_fraction === null ? "–" : `${(100 * one.peak_fraction).toFixed(0)} %`)),
            ),
            line(
              "Hash",
              both((one) => one.hash.slice(0, 8)),
            ),
          ),
        ),
        element(
          "p",
          { className: answer.differing === 0 ? "verdict same" : "verdict" },
          answer.differing === 0
            ? "Every pixel is the same."
            : `${answer.differing} ${answer.differing === 1 ? "pixel differs" : "pixels differ"}.`,
        ),
      );
      if (answer.differing > 0) {
        app.overlay.showMask(answer.mask, width, height);
        clear.hidden = false;
      } else app.overlay.hideMask();
    },
    { kind: "wide primary" },
  );
  app.explorer.events.on("view", () => {
    app.overlay.hideMask();
    clear.hidden = true;
  });
  const reports = reportsSection();
  return {
    root: element(
      "div",
      {},
      element("div", { className: "columns" }, ...forms.map((form) => form.root)),
      run,
      results,
      clear,
      reports.root,
    ),
    shown: reports.update,
    hidden: () => app.overlay.hideMask(),
  };
}
