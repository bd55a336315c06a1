import { api, type Job } from "../api";
import type { App, Panel } from "../app";
import { button, iconButton, progressBar, section, select, textField } from "../controls";
import { element } from "../dom";
import { attempt, toast } from "../toast";
import { zoomText } from "../view";
import { sizeOf } from "./share";

const stateNames: Record<Job["state"], string> = {
  waiting: "waiting",
  running: "running",
  paused: "paused",
  done: "done",
  failed: "failed",
};

export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

function bytes(count: number): string {
  const step = Math.min(3, Math.floor(Math.log2(Math.max(1, count)) / 10));
  return `${(count / 1024 ** step).toFixed(step ? 1 : 0)} ${["B", "KiB", "MiB", "GiB"][step]}`;
}

/** Large pictures that are computed in the background. */
export function postersPanel(app: App): Panel {
  const list = element("div", { className: "list", "aria-live": "polite" });
  let shownJobs: Job[] = [];
  const rows = new Map<string, ReturnType<typeof row>>();

  const act = async (work: () => Promise<unknown>) => {
    await attempt(work);
    const jobs = await attempt(() => api.jobs());
    if (jobs) show(jobs);
  };
  const row = (id: Job["id"]) => {
    const title = element("span", { className: "tile-title" });
    const detail = element("span", { className: "tile-detail number" });
    const bar = progressBar("Progress");
    const pause = iconButton("pause", "Pause", () => act(() => api.changeJob(id, "pause")));
    const resume = iconButton("play", "Resume", () => act(() => api.changeJob(id, "resume")));
    const download = element(
      "a",
      { className: "icon-button text-button", href: api.jobFile(id), download: "" },
      "Save",
    );
    const remove = iconButton("trash", "Remove", () => act(() => api.removeJob(id)));
    const root = element(
      "div",
      { className: "job" },
      element(
        "div",
        { className: "row" },
        element("div", { className: "row-main" }, title, detail),
        pause,
        resume,
        download,
        remove,
      ),
      bar.root,
    );
    const update = (job: Job) => {
      title.textContent = `${job.name} · ${job.width}×${job.height} ${job.format}`;
      const parts = [stateNames[job.state]];
      if (job.state === "running" || job.state === "paused") parts.push(`${(100 * job.fraction).toFixed(1)} %`);
      if (job.state === "running" && job.eta_seconds !== null) parts.push(`${duration(job.eta_seconds)} left`);
      if (job.bytes !== undefined && job.state === "done") parts.push(bytes(job.bytes));
      if (job.error) parts.push(job.error);
      detail.textContent = parts.join(" · ");
      bar.set(job.fraction);
      bar.root.hidden = job.state === "done" || job.state === "failed";
      pause.hidden = job.state !== "running" && job.state !== "waiting";
      resume.hidden = job.state !== "paused" && job.state !== "failed";
      download.hidden = job.state !== "done";
    };
    return { root, update };
  };
  const show = (jobs: Job[]) => {
    shownJobs = jobs;
    for (const [id, { root }] of rows) {
      if (jobs.some((job) => String(job.id) === id)) continue;
      root.remove();
      rows.delete(id);
    }
    for (const job of jobs) {
      const id = String(job.id);
      const present = rows.get(id) ?? row(job.id);
      rows.set(id, present);
      if (!present.root.isConnected) list.append(present.root);
      present.update(job);
    }
    empty.hidden = shownJobs.length > 0;
  };
  app.session.events.on("jobs", show);

  const empty = element("p", { className: "hint" }, "No posters yet.");
  const name = textField("Name", () => {}, { placeholder: "poster" });
  const size = textField("Size", () => {}, { mono: true });
  size.input.value = "7680x4320";
  let samples: string | number = "auto";
  let format = "png";
  const edges = select(
    "Samples",
    [
      ["auto", "Automatic"],
      ["1", "1"],
      ["2", "2 × 2"],
      ["4", "4 × 4"],
      ["8", "8 × 8"],
    ],
    (value) => {
      samples = value === "auto" ? value : Number(value);
    },
  );
  const kind = select(
    "Format",
    [
      ["png", "PNG"],
      ["ppm", "PPM"],
      ["npy", "NPY (dwells)"],
    ],
    (value) => {
      format = value;
    },
  );
  const start = button(
    "Start",
    () => {
      const wanted = sizeOf(size.input.value);
      if (!wanted) {
        toast("The size is two numbers.", "Type 7680x4320");
        return;
      }
      const called = name.input.value.trim() || `poster-${zoomText(app.explorer.view)}`;
      act(() => api.addJob({ scene: app.explorer.current(), ...wanted, samples, format, name: called }));
    },
    { kind: "wide primary" },
  );
  const form = app.start.folder
    ? section("New poster", name.root, size.root, edges.root, kind.root, start)
    : element("p", { className: "hint" }, "Posters are stored in a folder, and the program was started without one.");
  return {
    root: element("div", {}, form, section("Posters", list, empty)),
    shown: async () => {
      if (!app.start.folder) return;
      const jobs = await attempt(() => api.jobs());
      if (jobs) show(jobs);
    },
  };
}
