import type { PaletteTable } from "./painting";
import type { Scene } from "./scene";

/** A table of colours as it is sent. */
interface SentTable {
  palette: string;
  period: number;
  dithers: boolean;
}

export interface Start {
  scene: Scene;
  /** The colours of the scene. */
  table: SentTable;
  folder: boolean;
  engine: string;
  threads: number;
  version: string;
  level: string;
  levels: string[];
  engines: string[];
  strategies: string[];
  schedules: string[];
  memory_bytes: number;
  test: boolean;
}

export interface Location {
  name: string;
  title: string;
  zoom: string;
  deep: boolean;
  slow: boolean;
}

export interface Palette {
  name: string;
  title: string;
  cyclic: boolean;
  colours: string[];
  interior: string;
}

/** A look; without a palette it keeps that of the picture. */
export interface NamedLook extends Named {
  palette: string | null;
}

export interface Named {
  name: string;
  title: string;
}

export interface PointFacts {
  re: string;
  im: string;
  escaped: boolean;
  dwell: string;
  smooth: number | null;
  distance: number | null;
  distance_text?: string | null;
  period: number | null;
  proved: boolean;
  number: string;
}

export interface Configuration {
  engine?: string;
  level?: string;
  threads?: number;
  schedule?: string;
  strategy?: string;
  rounding?: string;
  precision?: string;
  shortcuts?: string;
}

export interface FlavourResult {
  seconds: number;
  iterations: string;
  iterations_per_second: number;
  peak_fraction: number | null;
  hash: string;
}

export interface Flavours {
  results: FlavourResult[];
  differing: number;
  mask: string;
}

export interface Job {
  id: string | number;
  name: string;
  width: number;
  height: number;
  format: string;
  state: "waiting" | "running" | "paused" | "done" | "failed";
  fraction: number;
  eta_seconds: number | null;
  error?: string;
  bytes?: number;
}

export interface PaletteFile {
  palette: { palette: string; palette_format?: string; palette_text?: string };
  colours: string[];
}

/** An error that the server explains: a sentence, and what to do about it. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

const BASE = "./api/v1/";

async function send(method: string, path: string, body?: BodyInit, signal?: AbortSignal): Promise<Response> {
  const headers = typeof body === "string" ? { "content-type": "application/json" } : undefined;
  let response: Response;
  try {
    response = await fetch(BASE + path, { method, body, headers, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServerError("The program does not answer.", "It may have been closed; the page tries again by itself.");
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => null);
  throw new ServerError(answer?.error ?? `The program refused this (${response.status}).`, answer?.hint);
}

async function get<T>(path: string): Promise<T> {
  return (await send("GET", path)).json();
}

async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await send("POST", path, JSON.stringify(body), signal)).json();
}

function base64Bytes(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export function readTable({ palette, period, dithers }: SentTable): PaletteTable {
  return { values: new Uint16Array(base64Bytes(palette).buffer), period, dithers };
}

const name = encodeURIComponent;

export const api = {
  start: () => get<Start>("start"),
  locations: () => get<Location[]>("locations"),
  location: (of: string) => get<Scene>(`locations/${name(of)}`),
  thumbnail: (of: string) => `${BASE}locations/${name(of)}/thumbnail`,
  palettes: () => get<Palette[]>("palettes"),
  looks: () => get<NamedLook[]>("looks"),
  normal: (scene: Scene) => post<Scene>("scenes", { scene }),
  exported: (scene: Scene, format: string) =>
    post<{ text: string; left_out?: string[] }>("scenes/export", { scene, format }),
  command: (scene: Scene, width: number, height: number) =>
    post<{ command: string }>("scenes/command", { scene, width, height }),
  async file(fileName: string, bytes: BodyInit): Promise<{ scene?: Scene } & Partial<PaletteFile>> {
    return (await send("POST", `files?name=${name(fileName)}`, bytes)).json();
  },
  async table(scene: Scene, signal?: AbortSignal): Promise<PaletteTable> {
    return readTable(await post<SentTable>("tables", { scene }, signal));
  },
  async picture(scene: Scene, width: number, height: number, samples?: 1 | "auto", signal?: AbortSignal) {
    const body = JSON.stringify({ scene, width, height, ...(samples ? { samples } : {}) });
    return (await send("POST", "pictures", body, signal)).blob();
  },
  point: (scene: Scene, width: number, height: number, x: number, y: number, signal?: AbortSignal) =>
    post<PointFacts>("points", { scene, width, height, x, y }, signal),
  async flavours(scene: Scene, width: number, height: number, configurations: Configuration[]) {
    const answer = await post<Flavours>("flavours", { scene, width, height, configurations });
    return { ...answer, mask: base64Bytes(answer.mask) };
  },
  bookmarks: () => get<Named[]>("bookmarks"),
  bookmark: (of: string) => get<Scene>(`bookmarks/${name(of)}`),
  async keepBookmark(as: string, scene: Scene) {
    await send("PUT", `bookmarks/${name(as)}`, JSON.stringify({ scene }));
  },
  async removeBookmark(of: string) {
    await send("DELETE", `bookmarks/${name(of)}`);
  },
  reports: () => get<Named[]>("reports"),
  jobs: () => get<Job[]>("jobs"),
  addJob: (job: {
    scene: Scene;
    width: number;
    height: number;
    samples: string | number;
    format: string;
    name: string;
  }) => post<Job>("jobs", job),
  async changeJob(id: Job["id"], what: "pause" | "resume") {
    await send("POST", `jobs/${name(String(id))}/${what}`);
  },
  async removeJob(id: Job["id"]) {
    await send("DELETE", `jobs/${name(String(id))}`);
  },
  jobFile: (id: Job["id"]) => `${BASE}jobs/${name(String(id))}/file`,
};
