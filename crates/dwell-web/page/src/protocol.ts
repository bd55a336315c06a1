import type { Job } from "./api";
import type { Scene } from "./scene";

export const COARSE = 0;
export const FULL = 1;
export const FINAL = 2;
export const stageNames = ["coarse", "full", "final"] as const;
export type StageName = (typeof stageNames)[number];

export interface Tables {
  by: string;
  scale: string;
  density: number;
  offset: number;
  limit: number;
}

export interface SceneMessage {
  type: "scene";
  id: number;
  scene: Scene;
  paints: "page" | "server";
  tables: Tables;
  number: string;
  warnings?: string[];
  automatic?: { limit?: boolean; scale?: boolean };
}

export interface ProgressMessage {
  type: "progress";
  id: number;
  phase: string;
  fraction: number | null;
}

export interface DoneMessage {
  type: "done";
  id: number;
  stage: StageName;
  seconds: number;
  iterations: string;
  interior_pixels?: number;
  exact?: boolean;
}

export interface ErrorMessage {
  type: "error";
  id?: number;
  error: string;
  hint?: string;
}

export interface JobsMessage {
  type: "jobs";
  jobs: Job[];
}

export type ServerMessage = SceneMessage | ProgressMessage | DoneMessage | ErrorMessage | JobsMessage;

/** Some rows of a stage of a view: dwells and values, or colours. */
export interface Band {
  id: number;
  stage: number;
  width: number;
  height: number;
  firstRow: number;
  rows: number;
  dwells?: Uint32Array;
  /** What is added to the dwell, or the distance; absent for bands of whole dwells. */
  values?: Float32Array;
  colours?: Uint8Array;
}

const MAGIC = 0x4c455744;
const HEADER_BYTES = 32;

/** Reads a binary message; throws where its lengths do not agree. */
export function readBand(buffer: ArrayBuffer): Band {
  if (buffer.byteLength < HEADER_BYTES) throw new Error("a band is shorter than its header");
  const header = new DataView(buffer, 0, HEADER_BYTES);
  const word = (i: number) => header.getUint32(4 * i, true);
  const [magic, id, stage, kind, width, height, firstRow, rows] = [0, 1, 2, 3, 4, 5, 6, 7].map(word);
  if (magic !== MAGIC) throw new Error("a band does not start as one");
  if (stage > FINAL || rows === 0 || firstRow + rows > height) throw new Error("a band is outside its picture");
  const band: Band = { id, stage, width, height, firstRow, rows };
  const body = buffer.byteLength - HEADER_BYTES;
  const pixels = width * rows;
  if (kind === 1 && body === 3 * pixels) band.colours = new Uint8Array(buffer, HEADER_BYTES);
  else if (kind === 0 && (body === 4 * pixels || body === 8 * pixels)) {
    band.dwells = new Uint32Array(buffer, HEADER_BYTES, pixels);
    if (body === 8 * pixels) band.values = new Float32Array(buffer, HEADER_BYTES + 4 * pixels, pixels);
  } else throw new Error("a band has another length than its header says");
  return band;
}
