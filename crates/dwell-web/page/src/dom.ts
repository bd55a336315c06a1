type Child = Node | string | null | false | undefined;
type Properties = Record<string, unknown>;

/** An element with properties (`onclick`, `className`), attributes (`aria-label`, `role`) and children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key in made && !key.startsWith("aria") && key !== "role" && key !== "list") Reflect.set(made, key, value);
    else made.setAttribute(key, String(value));
  }
  for (const child of children) if (child) made.append(child);
  return made;
}

const SVG = "http://www.w3.org/2000/svg";

/** Outlines of the icons, in a square of 24 units. */
const outlines = {
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  home: "M4 11l8-7 8 7M6 10v9h12v-9",
  undo: "M9 7L4 12l5 5M4 12h10a6 6 0 0 1 0 12",
  redo: "M15 7l5 5-5 5M20 12H10a6 6 0 0 0 0 12",
  box: "M4 8V4h4M16 4h4v4M20 16v4h-4M8 20H4v-4M9 9h6v6H9z",
  dive: "M12 3v13M7 11l5 5 5-5M5 21h14",
  places:
    "M12 21s-7-6.2-7-11.5a7 7 0 0 1 14 0C19 14.800 12 21 12 21zM12 12a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  colours:
    "M12 3a9 9 0 1 0 0 18c1.700 0 2-1.200 1.400-2.200-.8-1.400.1-2.800 1.700-2.800H18a3 3 0 0 0 3-3c0-5.500-4-10-9-10zM7.500 12.500v.01M9.500 8v.01M14.500 7.500v.01M17 11v.01",
  formula:
    "M14 4.500c-2.600-.6-3.500.8-4 3.500l-1.700 9c-.5 2.600-1.500 3.600-3.800 3M6.500 10h6.500M14.500 13.500l5 6M19.500 13.500l-5 6",
  info: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 11v5M12 8v.01",
  history: "M4 12a8 8 0 1 0 2.500-5.800L4 8.500M4 4v4.500h4.500M12 8v4.500l3 2",
  share: "M12 15V4M8 7.500L12 3.500l4 4M6 11H5v9h14v-9h-1",
  poster: "M4 4h16v16H4zM4 15l4.500-4.500L13 15l3-3 4 4",
  flavours: "M5 20V10M12 20V4M19 20v-7",
  help: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9.500a2.500 2.500 0 1 1 3.600 2.200c-.8.4-1.100.9-1.100 1.800M12 16.500v.01",
  full: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  open: "M3 18V6h6l2 2.500h10V18z",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  save: "M12 4v11M7.500 11l4.500 4.500 4.500-4.500M5 20h14",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  pause: "M9 6v12M15 6v12",
  play: "M8 5l11 7-11 7z",
  dice: "M5 5h14v14H5zM9 9v.01M15 9v.01M12 12v.01M9 15v.01M15 15v.01",
  star: "M12 4l2.500 5.200 5.500.8-4 4 1 5.700-5-2.700-5 2.700 1-5.700-4-4 5.500-.8z",
  menu: "M4 7h16M4 12h16M4 17h16",
  up: "M6 15l6-6 6 6",
  down: "M6 9l6 6 6-6",
  shown:
    "M3 12c2.500-4 5.500-6 9-6s6.500 2 9 6c-2.500 4-5.500 6-9 6s-6.500-2-9-6zM12 14.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  unseen: "M3 12c2.500-4 5.500-6 9-6s6.500 2 9 6c-2.500 4-5.500 6-9 6s-6.500-2-9-6zM5 19L19 5",
  turnLeft: "M8 5L4 9l4 4M4 9h9a6 6 0 1 1-6 6",
  turnRight: "M16 5l4 4-4 4M20 9h-9a6 6 0 1 0 6 6",
} as const;

export type IconName = keyof typeof outlines;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  // Undo and redo are drawn lower than the others.
  svg.setAttribute("viewBox", name === "undo" || name === "redo" ? "0 2.500 24 24" : "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", outlines[name]);
  svg.append(path);
  return svg;
}

/** Runs a function once calls have ceased for a while. */
export function debounced<A extends unknown[]>(ms: number, run: (...values: A) => void): (...values: A) => void {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = window.setTimeout(() => run(...values), ms);
  };
}

/** A name as it begins a line: `ink-lines` is Ink lines. */
export function titleOf(name: string): string {
  const words = name.replaceAll("-", " ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
