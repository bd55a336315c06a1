import { fragmentOf } from "../address";
import { api } from "../api";
import type { App, Panel } from "../app";
import { button, type Choice, section, select, textField } from "../controls";
import { element, saveBlob } from "../dom";
import type { Scene } from "../scene";
import { attempt, toast } from "../toast";
import { type Size, zoomText } from "../view";

export function sizeOf(text: string): Size | null {
  const match = /^\s*(\d{1,6})\s*[x×]\s*(\d{1,6})\s*$/i.exec(text);
  return match && Number(match[1]) > 0 && Number(match[2]) > 0
    ? { width: Number(match[1]), height: Number(match[2]) }
    : null;
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without leave to use the clipboard, a selection can still be copied.
    const area = element("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(`${what} copied.`);
}

export async function copyCommand(app: App): Promise<void> {
  const { width, height } = app.explorer.size;
  const answer = await attempt(() => api.command(app.explorer.current(), width, height));
  if (answer) await copy(answer.command, "Command");
}

export async function copyLink(app: App): Promise<void> {
  const address = new URL(location.href);
  address.hash = fragmentOf(app.explorer.current(), app.start.scene);
  await copy(address.href, "Link");
}

/** The formats of location files, each named as its files end. */
const formats: readonly Choice[] = [
  ["toml", "dwell (.toml)"],
  ["kfr", "Kalles Fraktaler (.kfr)"],
  ["f3.toml", "Fraktaler 3 (.f3.toml)"],
  ["upr", "Ultra Fractal (.upr)"],
  ["par", "Fractint (.par)"],
  ["xpf", "XaoS (.xpf)"],
];

/** The scene to be written. Other programs choose no limit by themselves, so they get the one that was found. */
function written(app: App, format: string): Scene {
  const scene = app.explorer.current();
  const found = app.session.resolved?.scene.iterations;
  if (format === "toml" || app.explorer.limit !== "auto" || !found) return scene;
  return { ...scene, iterations: String(found) };
}

/** Ways out and in: commands, links, pictures and files. */
export function sharePanel(app: App): Panel {
  const baseName = () => `dwell-${zoomText(app.explorer.view)}`;
  const size = textField("Size", () => {}, { mono: true, placeholder: "3840x2160" });
  size.input.value = "1920x1080";
  let samples: "auto" | 1 = "auto";
  const edges = select(
    "Edges",
    [
      ["auto", "Smooth"],
      ["1", "One sample"],
    ],
    (value) => {
      samples = value === "1" ? 1 : "auto";
    },
  );
  const save = button(
    "Save PNG",
    async () => {
      const wanted = sizeOf(size.input.value);
      if (!wanted) {
        toast("The size is two numbers.", "Type 1920x1080");
        return;
      }
      save.disabled = true;
      const blob = await attempt(() => api.picture(app.explorer.current(), wanted.width, wanted.height, samples));
      save.disabled = false;
      if (blob) saveBlob(blob, `${baseName()}.png`);
    },
    { icon: "save", kind: "wide primary" },
  );
  const format = select("Format", formats, () => {});
  const saveFile = async () => {
    const ending = format.input.value;
    const answer = await attempt(() => api.exported(written(app, ending), ending));
    if (!answer) return;
    saveBlob(new Blob([answer.text], { type: "text/plain" }), `${baseName()}.${ending}`);
    if (answer.left_out?.length) toast("The file does not hold everything.", `Left out: ${answer.left_out.join(", ")}`);
  };
  return {
    root: element(
      "div",
      {},
      section(
        "Copy",
        button("Copy as command", () => copyCommand(app), { icon: "copy", kind: "wide" }),
        button("Copy link", () => copyLink(app), { icon: "copy", kind: "wide" }),
      ),
      section("Picture", size.root, edges.root, save),
      section(
        "File",
        format.root,
        button("Save file", saveFile, { icon: "save", kind: "wide" }),
        button("Open a file", () => app.chooseFile(), { icon: "open", kind: "wide" }),
        element(
          "p",
          { className: "hint" },
          "Pictures of dwell, files of these six formats, and palettes (.map, .ggr, .ugr, .gpl, .kfp). They can be dropped on the page.",
        ),
      ),
    ),
  };
}
