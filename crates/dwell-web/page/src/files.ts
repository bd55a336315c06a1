import { api } from "./api";
import type { App } from "./app";
import { element } from "./dom";
import { coloursOfFile } from "./picture-colours";
import { END_OF_PNG, startOfPixels } from "./png";
import type { Colour, Scene } from "./scene";
import { evenStops, inlinePalette } from "./stops";
import { attempt, toast } from "./toast";

const MOST_BYTES = 8 * 1024 * 1024;
async function readFile(file: File): Promise<Uint8Array<ArrayBuffer>> {
  // A poster may have gigabytes; only its first part is read.
  const head = new Uint8Array(await file.slice(0, MOST_BYTES).arrayBuffer());
  const pixels = startOfPixels(head);
  if (pixels !== null) return new Uint8Array([...head.subarray(0, pixels), ...END_OF_PNG]);
  if (file.size > MOST_BYTES) throw new Error("The file is larger than 8 MiB.");
  return head;
}

/** What a file holds: a scene or a palette. A picture that has no scene has colours. */
async function contentOf(file: File): Promise<{ scene?: Scene; palette?: Partial<Colour> }> {
  const isPicture = file.type.startsWith("image/");
  if (!isPicture || file.type === "image/png") {
    try {
      return await api.file(file.name, await readFile(file));
    } catch (error) {
      if (!isPicture) throw error;
    }
  }
  return { palette: { palette: inlinePalette(evenStops(await coloursOfFile(file))) } };
}

export async function openFiles(app: App, files: Iterable<File>): Promise<void> {
  for (const file of files) {
    const answer = await attempt(() => contentOf(file));
    if (answer?.scene) {
      app.openPlace(answer.scene);
      toast(`${file.name} opened.`);
    } else if (answer?.palette) {
      const {
        palette_format: _format,
        palette_text: _text,
        look: _look,
        ...colour
      } = app.explorer.settings.colour ?? {};
      app.explorer.change({ colour: { ...colour, ...answer.palette } }, "colour");
      toast(`Palette ${file.name} opened.`);
    }
  }
}

/** Takes files that are dropped anywhere on the page, and those chosen by a dialog. */
export function fileChooser(app: () => App): () => void {
  const input = element("input", {
    type: "file",
    className: "visually-hidden",
    tabIndex: -1,
    "aria-label": "Open a file",
  });
  input.onchange = () => {
    openFiles(app(), [...(input.files ?? [])]);
    input.value = "";
  };
  document.body.append(input);
  let depth = 0;
  const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  const mark = (change: number) => {
    depth = Math.max(0, depth + change);
    document.body.classList.toggle("dropping", depth > 0);
  };
  addEventListener("dragenter", (event) => hasFiles(event) && mark(1));
  addEventListener("dragleave", (event) => hasFiles(event) && mark(-1));
  addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    mark(-depth);
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    openFiles(app(), [...event.dataTransfer.files]);
  });
  return () => input.click();
}
