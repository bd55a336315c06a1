import type { App, Panel } from "../app";
import { element, titleOf } from "../dom";
import { viewOf } from "../scene";
import { zoomText } from "../view";

/** The scenes seen before, the latest first, with small pictures that are made when they come into sight. */
export function historyPanel(app: App): Panel {
  const wall = element("div", { className: "wall" });
  let visible = false;
  const observer = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      const entry = app.history.entries[Number(target.getAttribute("data-index"))];
      if (!entry) continue;
      app.history.thumbnail(entry).then((url) => {
        if (url) (target.querySelector("img") as HTMLImageElement).src = url;
      });
    }
  });
  const fill = () => {
    if (!visible) return;
    observer.disconnect();
    const { entries, index } = app.history;
    const tiles = entries.map((entry, i) =>
      element(
        "button",
        {
          type: "button",
          className: "tile",
          "data-index": i,
          "aria-current": i === index ? "true" : false,
          onclick: () => app.history.goTo(i),
        },
        element("img", { alt: "", width: 160, height: 90 }),
        element("span", { className: "tile-title" }, entry.scene.title || titleOf(entry.scene.formula || "mandelbrot")),
        element("span", { className: "tile-detail" }, `${zoomText(viewOf(entry.scene))}×`),
      ),
    );
    wall.replaceChildren(...tiles.reverse());
    for (const one of tiles) observer.observe(one);
  };
  app.history.events.on("changed", fill);
  return {
    root: element("div", {}, wall),
    shown: () => {
      visible = true;
      fill();
    },
    hidden: () => {
      visible = false;
    },
  };
}
