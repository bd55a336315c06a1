import { api, type Location, type Named } from "../api";
import type { App, Panel } from "../app";
import { button, iconButton, section, segments } from "../controls";
import { brief, parse } from "../decimal";
import { element } from "../dom";
import { attempt, toast } from "../toast";

function tile(title: string, detail: string, image: HTMLElement | null, onclick: () => void): HTMLElement {
  return element(
    "button",
    { type: "button", className: "tile", title, onclick },
    image,
    element("span", { className: "tile-title" }, title),
    element("span", { className: "tile-detail" }, detail),
  );
}

/** A zoom in plain digits where it has few. */
function briefly(zoom: string): string {
  try {
    return brief(parse(zoom));
  } catch {
    return zoom;
  }
}

/** The built-in locations as pictures, and the bookmarks of the folder. */
export function placesPanel(app: App): Panel {
  const wall = element("div", { className: "wall" });
  const kept = element("div", { className: "list" });
  let locations: Location[] | null = null;
  let filter = "all";

  const fill = () => {
    const shown = (locations ?? []).filter((one) => filter === "all" || one.deep === (filter === "deep"));
    wall.replaceChildren(
      ...shown.map((one) =>
        tile(
          one.title || one.name,
          `${briefly(one.zoom)}×${one.slow ? " · takes hours" : ""}`,
          // Places that take hours have no picture.
          element("img", {
            src: one.slow ? undefined : api.thumbnail(one.name),
            loading: "lazy",
            alt: "",
            width: 240,
            height: 135,
            onerror: (event: Event) => (event.target as HTMLElement).classList.add("missing"),
          }),
          async () => {
            const scene = await attempt(() => api.location(one.name));
            if (scene) app.openPlace(scene);
          },
        ),
      ),
    );
  };
  const kinds = segments(
    "Show",
    [
      ["all", "All"],
      ["shallow", "Shallow"],
      ["deep", "Deep"],
    ],
    (value) => {
      filter = value;
      fill();
    },
  );
  kinds.set(filter);
  kinds.root.querySelector(".label")?.remove();

  const name = element("input", { className: "text", placeholder: "name-of-bookmark", "aria-label": "Name" });
  const refresh = async () => {
    const all = await attempt(() => api.bookmarks());
    kept.replaceChildren(...(all ?? []).map(row));
    if (all?.length === 0) kept.append(element("p", { className: "hint" }, "No bookmarks yet."));
  };
  const row = (one: Named) =>
    element(
      "div",
      { className: "row" },
      element(
        "button",
        {
          type: "button",
          className: "row-main",
          onclick: async () => {
            const scene = await attempt(() => api.bookmark(one.name));
            if (scene) app.openPlace(scene);
          },
        },
        one.name,
        one.title ? element("span", { className: "tile-detail" }, one.title) : null,
      ),
      iconButton("trash", `Remove ${one.name}`, async () => {
        await attempt(() => api.removeBookmark(one.name));
        await refresh();
      }),
    );
  const keep = async () => {
    const wanted = name.value
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "");
    if (!wanted) {
      name.focus();
      toast("Give the bookmark a name.");
      return;
    }
    const done = await attempt(async () => {
      await api.keepBookmark(wanted, app.explorer.current());
      return true;
    });
    if (done) name.value = "";
    await refresh();
  };
  name.onkeydown = (event) => {
    if (event.key === "Enter") keep();
  };

  return {
    root: element(
      "div",
      {},
      app.start.folder
        ? section(
            "Bookmarks",
            kept,
            element("div", { className: "inline" }, name, button("Keep", keep, { icon: "star" })),
          )
        : null,
      section("Locations", kinds.root, wall),
    ),
    shown: async () => {
      if (app.start.folder) refresh();
      if (locations) return;
      locations = (await attempt(() => api.locations())) ?? null;
      fill();
    },
  };
}
