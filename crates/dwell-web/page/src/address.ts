import type { Colour, Scene } from "./scene";

/** Keys of the scene that are written as plain text, and how they are read back. */
const plain: Record<string, (text: string) => unknown> = {
  rotation: (text) => text,
  flip: (text) => text === "true",
  iterations: (text) => text,
  formula: (text) => text,
  power: Number,
  number: (text) => text,
  julia: (text) => text.split(","),
};
/** The same for the keys of its colours. */
const plainColours: Record<string, (text: string) => unknown> = {
  palette: (text) => text,
  by: (text) => text,
  scale: (text) => text,
  density: Number,
  offset: Number,
  interior: (text) => text,
  look: (text) => text,
};
/** Keys that say what a place is called, which a link to another place must not repeat. */
const descriptive = new Set(["name", "title", "notes", "source", "zoom"]);
const always = ["re", "im", "view_height"];

function encoded(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decoded(text: string): unknown {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
}

function different(a: unknown, b: unknown): boolean {
  return JSON.stringify(a ?? null) !== JSON.stringify(b ?? null);
}

/** The fragment of an address that says how a scene differs from the one the page started with. */
export function fragmentOf(scene: Scene, start: Scene): string {
  const parts: string[] = [];
  const put = (key: string, text: string) => parts.push(`${key}=${encodeURIComponent(text).replaceAll("%2C", ",")}`);
  for (const key of always) put(key, String(scene[key] ?? ""));
  const others: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(start), ...Object.keys(scene)])) {
    if (always.includes(key) || descriptive.has(key) || key === "colour") continue;
    if (!different(scene[key], start[key])) continue;
    if (key in plain) put(key, scene[key] === undefined ? "" : String(scene[key]));
    else others[key] = scene[key] ?? null;
  }
  const [colour, startColour] = [scene.colour ?? {}, start.colour ?? {}];
  const otherColours: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(startColour), ...Object.keys(colour)])) {
    if (!different(colour[key], startColour[key])) continue;
    if (key in plainColours) put(key, colour[key] === undefined ? "" : String(colour[key]));
    else otherColours[key] = colour[key] ?? null;
  }
  if (Object.keys(others).length > 0) put("more", encoded(others));
  if (Object.keys(otherColours).length > 0) put("colours", encoded(otherColours));
  return `#${parts.join("&")}`;
}

/** The scene of a fragment, or `null` where it has none. Throws where it is damaged. */
export function sceneOf(fragment: string, start: Scene): Scene | null {
  const text = fragment.replace(/^#/, "");
  if (text === "") return null;
  const scene: Scene = structuredClone(start);
  const colour: Colour = scene.colour ?? {};
  for (const key of descriptive) delete scene[key];
  const merge = (target: Record<string, unknown>, values: Record<string, unknown>) => {
    for (const [key, value] of Object.entries(values)) {
      if (value === null) delete target[key];
      else target[key] = value;
    }
  };
  for (const part of text.split("&")) {
    const split = part.indexOf("=");
    if (split < 0) continue;
    const key = part.slice(0, split);
    const value = decodeURIComponent(part.slice(split + 1));
    if (always.includes(key)) scene[key] = value;
    else if (key in plain) merge(scene, { [key]: value === "" ? null : plain[key](value) });
    else if (key in plainColours) merge(colour, { [key]: value === "" ? null : plainColours[key](value) });
    else if (key === "more") merge(scene, decoded(value) as Record<string, unknown>);
    else if (key === "colours") merge(colour, decoded(value) as Record<string, unknown>);
  }
  scene.colour = colour;
  return scene;
}
