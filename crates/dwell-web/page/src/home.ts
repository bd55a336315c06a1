import type { App } from "./app";
import { toNumber } from "./decimal";
import type { Explorer } from "./explorer";
import { contentKey, type Scene, viewOf } from "./scene";

/** The whole set and a margin. */
const WIDTH_OF_SET = 3;

/** The scene the page starts with. Where that is the whole set, a narrow window shows its whole width. */
export function homeScene(explorer: Explorer): Scene {
  const { scene } = explorer.start;
  const height = toNumber(viewOf(scene).height);
  const needed = WIDTH_OF_SET / (explorer.size.width / explorer.size.height);
  if (height < WIDTH_OF_SET / 2 || height >= needed) return scene;
  const { zoom: _zoom, ...rest } = scene;
  return { ...rest, view_height: needed.toFixed(2) } as Scene;
}

/** Goes to the scene the page starts with, or to the whole set of another formula. */
export function goHome(app: App): void {
  const { explorer } = app;
  const home = homeScene(explorer);
  const now = explorer.current();
  // Of another formula or a Julia set, the start is its whole set.
  const { re, im, view_height, zoom, rotation, flip } =
    contentKey(now) === contentKey(home)
      ? home
      : { re: "0", im: "0", view_height: "4", zoom: undefined, rotation: "0", flip: now.flip };
  app.goTo({ ...now, re, im, view_height, zoom, rotation, flip });
}
