import { type PaletteTable, turnsOfBand } from "./painting";
import { type Band, COARSE, FINAL, FULL, type Tables } from "./protocol";
import type { Placed, Rates, Renderer, Surface } from "./renderer";
import { between, covers, isIdentity, type Size, type View } from "./view";

interface Stage {
  readonly surface: Surface;
  readonly isField: boolean;
  /** Which rows have come. */
  readonly received: Uint8Array;
  rowsMissing: number;
  /** What was sent, kept so that another scale needs no new field; only of the newest frame. */
  dwells: Uint32Array | null;
  values: Float32Array | null;
}

/** What the server sent for one view, in up to three stages. */
export interface Frame {
  readonly id: number;
  readonly view: View;
  readonly size: Size;
  /** What decides the dwells, and what decides the colours of pictures. */
  readonly content: string;
  readonly painting: string;
  tables: Tables | null;
  readonly stages: (Stage | undefined)[];
}

const MOST_OLDER_FRAMES = 4;
/** An older frame that shows this much more of the plane is kept as surroundings for zooming out. */
const WIDER = 1.5;

/** The frames on the screen: the newest, and older ones drawn where they belong until it is complete. */
export class Frames {
  newest: Frame | null = null;
  private older: Frame[] = [];
  private tables: Tables | null = null;
  private hasTable = false;
  /** Whether the table or the rates have changed since fields were painted. */
  private outdated = true;

  constructor(private readonly drawing: { readonly renderer: Renderer }) {}

  begin(frame: Omit<Frame, "stages" | "tables">): void {
    const last = this.newest;
    this.newest = { ...frame, tables: null, stages: [] };
    if (!last) return;
    if (last.stages.some((stage) => stage)) {
      for (const stage of last.stages) if (stage) [stage.dwells, stage.values] = [null, null];
      this.older.unshift(last);
    }
    while (this.older.length > MOST_OLDER_FRAMES) dispose(this.older.pop());
  }

  setTable(table: PaletteTable): void {
    this.drawing.renderer.setTable(table);
    this.hasTable = true;
    this.outdated = true;
  }

  /** How values become entries of the table. `repaint` shows it. */
  setTables(tables: Tables): void {
    const last = this.tables;
    this.tables = tables;
    if (!last || !sameTurns(last, tables) || last.density !== tables.density || last.offset !== tables.offset) {
      this.outdated = true;
    }
  }

  /** Takes the tables for the newest frame, whose scene they were made for. */
  private convert(frame: Frame, tables: Tables): void {
    const before = frame.tables;
    frame.tables = tables;
    if (before && sameTurns(before, tables)) return;
    for (const stage of frame.stages) {
      if (!stage?.isField || !stage.dwells) continue;
      for (const [first, rows] of runs(stage.received)) this.writeTurns(frame, stage, first, rows);
    }
  }

  /** Takes a band of the newest frame, and says whether its stage is complete. A band of any other frame is an error of the caller. */
  add(band: Band): boolean {
    const frame = this.newest;
    if (!frame || band.id !== frame.id) throw new Error(`a band of view ${band.id} is not of the newest view`);
    const stage = this.stageFor(frame, band);
    const { firstRow, rows, width } = band;
    if (band.colours) this.drawing.renderer.writePicture(stage.surface, firstRow, rows, band.colours);
    else if (band.dwells) {
      stage.dwells ??= new Uint32Array(width * band.height);
      stage.dwells.set(band.dwells, width * firstRow);
      if (band.values) {
        stage.values ??= new Float32Array(width * band.height);
        stage.values.set(band.values, width * firstRow);
      }
      if (frame.tables) this.writeTurns(frame, stage, firstRow, rows);
    }
    for (let row = firstRow; row < firstRow + rows; row++) {
      stage.rowsMissing -= 1 - stage.received[row];
      stage.received[row] = 1;
    }
    if (stage.isField && frame.tables && this.tables && this.hasTable) {
      this.drawing.renderer.paint(stage.surface, firstRow, rows, this.tables);
    }
    if (stage.rowsMissing === 0 && band.stage !== COARSE) this.forgetCovered(frame);
    return stage.rowsMissing === 0;
  }

  /** The view of the newest frame of which something has come. */
  get newestShown(): View | null {
    const shown = (frame: Frame | null) => frame?.stages.some((stage) => stage) ?? false;
    return (shown(this.newest) ? this.newest : this.older.find(shown))?.view ?? null;
  }

  /** The tables of the newest frame have come. */
  ready(): void {
    if (this.newest && this.tables) this.newest.tables ??= this.tables;
  }

  /** Paints all fields in the present colours, which have this key. Pictures in other colours go where a field can take their place. */
  repaint(painting: string): void {
    const { newest, tables } = this;
    if (!this.hasTable || !newest || !tables || !this.outdated) return;
    this.outdated = false;
    if (newest.tables) this.convert(newest, tables);
    if (newest.painting !== painting && (newest.stages[FULL]?.isField || newest.stages[COARSE]?.isField))
      drop(newest, FINAL);
    if (newest.tables && sameTurns(newest.tables, tables)) {
      for (const stage of newest.stages) if (stage?.isField) this.paintReceived(stage, tables);
    }
    this.paintOlder(tables);
  }

  /** Paints the fields of older frames in the present colours. */
  repaintOlder(): void {
    const { tables } = this;
    if (!this.hasTable || !tables || !this.outdated) return;
    this.outdated = false;
    this.paintOlder(tables);
  }

  private paintOlder(tables: Tables): void {
    for (const frame of this.older) {
      const fits = frame.tables !== null && sameTurns(frame.tables, tables);
      for (const [i, stage] of frame.stages.entries()) {
        if (!stage) continue;
        if (fits && stage.isField) this.paintReceived(stage, tables);
        else if (stage.isField || frame.stages.some((other) => other?.isField)) drop(frame, i);
      }
    }
    this.older = this.older.filter((frame) => frame.stages.some((stage) => stage));
  }

  private paintReceived(stage: Stage, rates: Rates): void {
    for (const [first, rows] of runs(stage.received)) this.drawing.renderer.paint(stage.surface, first, rows, rates);
  }

  /** The surfaces that show a view, the coarsest at the bottom; only fields that were painted here, if wanted. */
  placed(view: View, size: Size, onlyFields = false): Placed[] {
    const newest = this.newest;
    if (!newest) return [];
    const found: (Placed & { texel: number; age: number; foreign: boolean; complete: boolean })[] = [];
    for (const [age, frame] of [newest, ...this.older].entries()) {
      const foreign = frame.content !== newest.content;
      for (const stage of frame.stages) {
        if (!stage || (onlyFields && !stage.isField)) continue;
        const map = between(view, size, frame.view, stage.surface);
        if (!map) continue;
        // A picture that only the server can repaint is out of date in other colours.
        const stale = foreign || (!stage.isField && frame.painting !== newest.painting);
        const texel = Math.max(1, 1 / Math.sqrt(Math.abs(map.a * map.d - map.b * map.c)));
        const aligned = isIdentity(map) && stage.surface.width === size.width;
        found.push({
          surface: stage.surface,
          map,
          aligned,
          texel,
          age,
          foreign: stale,
          complete: stage.rowsMissing === 0,
        });
      }
    }
    // Later stages of a frame follow earlier ones in the list, and the sort is stable.
    found.sort((p, q) => {
      if (p.foreign !== q.foreign) return p.foreign ? -1 : 1;
      if (Math.abs(p.texel / q.texel - 1) > 0.01) return q.texel - p.texel;
      return q.age - p.age;
    });
    const bottom = found.findLastIndex((one) => one.complete && covers(one.map, one.surface, size));
    return found.slice(Math.max(0, bottom));
  }

  clear(): void {
    for (const frame of [this.newest, ...this.older]) dispose(frame);
    this.outdated = true;
    this.newest = null;
    this.older = [];
  }

  private stageFor(frame: Frame, band: Band): Stage {
    const present = frame.stages[band.stage];
    if (present && present.surface.width === band.width && present.surface.height === band.height) return present;
    present?.surface.dispose();
    const isField = band.dwells !== undefined;
    const made: Stage = {
      surface: this.drawing.renderer.surface(isField ? "field" : "picture", band),
      isField,
      received: new Uint8Array(band.height),
      rowsMissing: band.height,
      dwells: null,
      values: null,
    };
    frame.stages[band.stage] = made;
    return made;
  }

  private writeTurns(frame: Frame, stage: Stage, firstRow: number, rows: number): void {
    if (!frame.tables || !stage.dwells) return;
    const { width } = stage.surface;
    const [from, to] = [width * firstRow, width * (firstRow + rows)];
    const turns = turnsOfBand(stage.dwells.subarray(from, to), stage.values?.subarray(from, to), frame.tables);
    this.drawing.renderer.writeField(stage.surface, firstRow, rows, turns);
  }

  /** Forgets older frames that the newest one covers. */
  private forgetCovered(frame: Frame): void {
    this.older = this.older.filter((old) => {
      const map = between(frame.view, frame.size, old.view, old.size);
      const wider = map !== null && old.content === frame.content && Math.hypot(map.a, map.b) < 1 / WIDER;
      if (!wider) dispose(old);
      return wider;
    });
  }
}

function sameTurns(a: Tables, b: Tables): boolean {
  return a.by === b.by && a.scale === b.scale && (a.scale !== "limit" || a.limit === b.limit);
}

function drop(frame: Frame, stage: number): void {
  frame.stages[stage]?.surface.dispose();
  frame.stages[stage] = undefined;
}

function dispose(frame: Frame | null | undefined): void {
  for (const stage of frame?.stages ?? []) stage?.surface.dispose();
}

/** The runs of rows that have come: the first row and the number of rows of each. */
function* runs(received: Uint8Array): Generator<[number, number]> {
  let first = -1;
  for (let row = 0; row <= received.length; row++) {
    const present = received[row] === 1;
    if (present && first < 0) first = row;
    if (!present && first >= 0) {
      yield [first, row - first];
      first = -1;
    }
  }
}
