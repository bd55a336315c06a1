import { iconButton } from "./controls";
import { element } from "./dom";
import type { Binding } from "./keys";

const gestures: readonly (readonly [string, string])[] = [
  ["Wheel, pinch", "Zoom about the pointer"],
  ["Drag", "Move"],
  ["Double-click", "Zoom in there; with Shift: out"],
  ["Shift + drag", "Zoom into a box"],
  ["Two fingers", "Zoom, turn and move"],
  ["Drop a file", "Open a location, picture or palette"],
];

/** Keys as they are printed on them, with the words between. */
function keysOf(text: string): (string | HTMLElement)[] {
  const parts = text.split(" ");
  return parts.map((part, i) => (i % 2 === 1 && /^(or|\+)$/.test(part) ? part : element("kbd", {}, part)));
}

/** The dialog that lists what keys and gestures do. */
export function helpDialog(bindings: readonly Binding[], version: string): HTMLDialogElement {
  const list = (rows: readonly (readonly [string, string])[]) =>
    element(
      "dl",
      { className: "keys" },
      ...rows.flatMap(([key, what]) => [element("dt", {}, ...keysOf(key)), element("dd", {}, what)]),
    );
  const groups = ["Move", "View", "Scene", "Panels"] as const;
  const dialog = element(
    "dialog",
    { className: "help glass", "aria-label": "Help" },
    element(
      "header",
      { className: "panel-head" },
      element("h2", {}, "Keys and gestures"),
      iconButton("close", "Close", () => dialog.close()),
    ),
    element(
      "div",
      { className: "help-body" },
      element(
        "section",
        {},
        element("h3", {}, "Gestures"),
        element(
          "dl",
          { className: "keys" },
          ...gestures.flatMap(([gesture, what]) => [element("dt", {}, gesture), element("dd", {}, what)]),
        ),
      ),
      ...groups.map((group) =>
        element(
          "section",
          {},
          element("h3", {}, group),
          list(bindings.filter((one) => one.group === group).map((one) => [one.shown, one.what])),
        ),
      ),
    ),
    element("p", { className: "hint" }, `dwell ${version}`),
  );
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  return dialog;
}
