import type { App } from "./app";
import { progressBar } from "./controls";
import { element } from "./dom";
import { grouped } from "./panels/info";
import { zoomText } from "./view";

const stageNames: Record<string, string> = {
  none: "asked",
  coarse: "preview",
  full: "full",
  final: "final",
};
/** Quick frames need no bar; it appears when one takes longer. */
const BAR_DELAY_MS = 300;

function time(seconds: number): string {
  if (seconds < 1) return `${Math.round(1000 * seconds)} ms`;
  return seconds < 100 ? `${seconds.toPrecision(3)} s` : `${Math.round(seconds)} s`;
}

/** The line at the bottom: where, how deep, and how far the picture is. */
export function statusLine(app: App): HTMLElement {
  const item = (title: string, className = "") => element("span", { className: `status-item ${className}`, title });
  const zoom = item("Zoom", "zoom number");
  const limit = item("Limit on iterations", "number");
  const seconds = item("Time of the last stage", "number");
  const stage = item("Stage", "stage");
  const proved = element("span", { className: "badge", title: "Every dwell is that of exact arithmetic" });
  const lost = element("span", { className: "badge warning" }, "reconnecting");
  const bar = progressBar("Progress of the picture");
  const live = element("div", { className: "visually-hidden", role: "status", "aria-live": "polite" });
  const alarm = element("div", { className: "visually-hidden", role: "alert" });
  let since = performance.now();
  let timer = 0;
  let said = "";

  const update = () => {
    const { session, explorer } = app;
    zoom.textContent = `${zoomText(explorer.view)}×`;
    const { resolved, done } = session;
    const known = resolved?.scene.iterations;
    limit.textContent = known ? `limit ${grouped(String(known))}${resolved?.automatic?.limit ? " auto" : ""}` : "";
    seconds.textContent = done ? time(done.seconds) : "";
    const phase = session.progress?.phase;
    stage.textContent = session.failed ? "refused" : phase && phase !== "pixels" ? phase : stageNames[session.stage];
    proved.hidden = resolved?.number !== "exact";
    proved.textContent =
      done?.id === session.id && done.exact && session.stage !== "coarse" ? "exact, proved" : "exact";
    lost.hidden = !session.lost;
    const trouble = session.lost ? "The program does not answer. Reconnecting." : "";
    if (alarm.textContent !== trouble) alarm.textContent = trouble;
    const busy = session.connected && session.progress !== null;
    if (!busy) since = performance.now();
    const waited = performance.now() - since;
    bar.root.classList.toggle("shown", busy && waited > BAR_DELAY_MS);
    bar.set(session.progress?.fraction ?? null);
    clearTimeout(timer);
    if (busy && waited <= BAR_DELAY_MS) timer = window.setTimeout(update, BAR_DELAY_MS - waited + 10);
    // What is read aloud changes only when a picture is complete.
    const words =
      session.isIdle && !session.failed ? `Zoom ${zoom.textContent}, ${limit.textContent}, picture complete.` : said;
    if (words !== said) {
      said = words;
      live.textContent = words;
    }
  };
  app.session.events.on("status", update);
  app.session.events.on("drawn", update);
  app.explorer.events.on("view", update);
  update();
  return element(
    "footer",
    { className: "status", "aria-label": "State" },
    bar.root,
    element("div", { className: "status-line glass" }, zoom, limit, seconds, stage, proved, lost),
    live,
    alarm,
  );
}
