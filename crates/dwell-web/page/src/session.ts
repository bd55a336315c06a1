import { api, readTable } from "./api";
import type { Drawing } from "./drawing";
import { Events } from "./events";
import type { Explorer } from "./explorer";
import { Frames } from "./frames";
import type { Link } from "./link";
import type { PaletteTable } from "./painting";
import {
  type Band,
  COARSE,
  type DoneMessage,
  FINAL,
  type SceneMessage,
  type ServerMessage,
  type Tables,
} from "./protocol";
import { contentKey, layersOf, paintingKey, paletteKey, type Scene } from "./scene";
import { between, covers, type Size, sameView, type View } from "./view";

/** A view that has not moved for so long is at rest. */
const REST_MS = 250;
/** While moving, a view is replaced after so long even if nothing of it has come. */
const LEAST_PATIENCE_MS = 150;
const MOST_PATIENCE_MS = 1500;
/** After the coarse stage, the next view waits for so long, so that some of the full stage can come. */
const PACE_MS = 100;
/** The same where the view stays inside the one before, which then is sharper than the next coarse stage. */
const PACE_INWARDS_MS = 450;
/** Where drawings take longer, the screen and views that are soon replaced have these parts of their width and height. */
const SLOW_DRAWING_MS = 24;
const SLOW_SCREEN_PARTS = 2;
const SLOW_VIEW_PARTS = 3;
/** Rows that come for a view which is on the screen already are drawn together, so often: each drawing takes time from the next rows. */
const ROWS_DRAWN_MS = 80;
/** How long older frames keep the colours of their own scales. */
const OLDER_REPAINTED_MS = 120;
/** A longer time between two drawings is a pause. */
const LONGEST_DRAWING_MS = 400;
/** Views whose first pixels are measured. */
const MOST_MEASURED = 100;

export type SessionEvents = {
  status: undefined;
  drawn: undefined;
  error: { error: string; hint?: string };
  jobs: import("./api").Job[];
};

interface Request {
  readonly id: number;
  readonly view: View;
  readonly size: Size;
  readonly scene: Scene;
  readonly rest: boolean;
  readonly sentAt: number;
  coarse: boolean;
  full: boolean;
  final: boolean;
  failed: boolean;
  /** Whether some of its pixels have come, and whether they have been drawn. */
  begun: boolean;
  drawn: boolean;
}

/** Asks the server for views and shows what comes. */
export class Session {
  readonly events = new Events<SessionEvents>();
  readonly frames: Frames;
  connected = false;
  /** Whether there was a connection, or an attempt at one, that failed. */
  lost = false;
  progress: { phase: string; fraction: number | null } | null = null;
  resolved: SceneMessage | null = null;
  done: DoneMessage | null = null;
  /** Bands that were not drawn, since their view had been replaced. */
  bandsOfOtherViews = 0;
  frameCount = 0;
  framesSince = performance.now();
  /** How long it took from asking for a view to the drawing with its first pixels, of the last views. */
  readonly firstPixelsMs: number[] = [];
  private request: Request | null = null;
  private nextId = 1;
  private restTimer = 0;
  private paceTimer = 0;
  /** How long coarse stages take lately. */
  private coarseMs = 100;
  private drawing = 0;
  private rowsTimer = 0;
  /** Rows that came before the drawing with the first pixels. */
  private readonly later: Band[] = [];
  private olderTimer = 0;
  /** The time between two drawings lately, and when the last one was. */
  private drawingMs = 0;
  private lastDrawing = 0;
  /** Whether drawings have taken long: the browser has no graphics device. */
  private drawsSlowly = false;
  /** Whether a flight, a dive or a glide is under way. */
  private inMotion = false;
  private drawnSize: Size = { width: 0, height: 0 };
  private tableKey = "";
  private tableFetch: AbortController | null = null;

  constructor(
    private readonly explorer: Explorer,
    private readonly drawn: Drawing,
    private readonly link: Link,
    /** Called before each drawing with the time, to move what is in motion. */
    private readonly tick: (now: number) => boolean,
  ) {
    this.frames = new Frames(drawn);
    explorer.events.on("view", () => {
      this.draw();
      // On the way to a destination, the destination is computed already.
      if (!explorer.destination) this.moved();
    });
    explorer.events.on("colour", () => this.recoloured());
    explorer.events.on("content", () => this.askNow());
    explorer.events.on("opened", () => {
      this.fetchTable();
      this.askNow();
    });
    link.attach({
      connected: () => {
        this.connected = true;
        this.lost = false;
        this.ask(this.target, true);
        this.events.emit("status", undefined);
      },
      lost: () => {
        this.connected = false;
        this.lost = true;
        this.progress = null;
        this.events.emit("status", undefined);
      },
      message: (message) => this.receive(message),
      band: (band) => this.receiveBand(band),
    });
    // After the view has been asked for: painting needs the drawing, which takes a while to set up.
    this.fetchTable();
  }

  get stage(): string {
    const { request } = this;
    if (!request || request.failed) return "none";
    return request.final ? "final" : request.full ? "full" : request.coarse ? "coarse" : "none";
  }

  /** Whether the program refused what was asked last. */
  get failed(): boolean {
    return this.request?.failed ?? false;
  }

  /** Whether some pixels of what was asked last are on the screen. */
  get showsPixels(): boolean {
    return this.request?.drawn ?? false;
  }

  /** Whether all pixels of what was asked last are on the screen. */
  get showsAllPixels(): boolean {
    return this.showsPixels && this.later.length === 0 && this.drawing === 0 && (this.request?.full ?? false);
  }

  get id(): number {
    return this.request?.id ?? 0;
  }

  /** Whether the final stage of the present view is on the screen, or will not come. */
  get isIdle(): boolean {
    const { request, explorer } = this;
    if (
      !request ||
      !this.connected ||
      this.later.length > 0 ||
      this.drawing ||
      this.rowsTimer ||
      this.olderTimer ||
      this.restTimer ||
      explorer.destination
    )
      return false;
    return (request.final || request.failed) && this.isOfScreen(request) && this.isPresentPainting();
  }

  /** Whether a request is for the view and the size of the screen. */
  private isOfScreen({ view, size }: Request): boolean {
    const { explorer } = this;
    return sameView(view, explorer.view) && size.width === explorer.size.width && size.height === explorer.size.height;
  }

  /** Asks for the present view again, as a view at rest. */
  askNow(): void {
    clearTimeout(this.restTimer);
    this.restTimer = 0;
    this.ask(this.target, true);
    this.explorer.events.emit("rest", undefined);
  }

  disconnect(): void {
    this.link.close();
  }

  /** A flight has ended. Its picture has been asked for at its start, unless something came between. */
  arrived(): void {
    const { request, explorer } = this;
    // The window may have been resized on the way.
    if (request?.rest && !request.failed && this.isOfScreen(request)) explorer.events.emit("rest", undefined);
    else this.askNow();
    this.inMotion = false;
    this.draw();
    this.events.emit("status", undefined);
  }

  draw(): void {
    if (this.drawing) return;
    clearTimeout(this.rowsTimer);
    this.rowsTimer = 0;
    this.drawing = requestAnimationFrame((now) => {
      this.drawing = 0;
      const moving = this.tick(now);
      this.inMotion = moving;
      this.compose();
      this.measureDrawing(now);
      this.frameCount += 1;
      this.measureFirstPixels();
      this.events.emit("drawn", undefined);
      if (moving) this.draw();
    });
  }

  /** Drawings that follow each other tell how fast this browser is. */
  private measureDrawing(now: number): void {
    const sinceLast = now - this.lastDrawing;
    this.lastDrawing = now;
    if (this.drawsSlowly || sinceLast > LONGEST_DRAWING_MS) return;
    this.drawingMs += 0.2 * (sinceLast - this.drawingMs);
    this.drawsSlowly = this.drawingMs > SLOW_DRAWING_MS;
  }

  private measureFirstPixels(): void {
    const { request, firstPixelsMs } = this;
    if (!request?.begun || request.drawn) return;
    request.drawn = true;
    // A task of its own, after the drawing is on the screen.
    if (this.later.length > 0) setTimeout(() => this.receiveLater());
    firstPixelsMs.push(performance.now() - request.sentAt);
    if (firstPixelsMs.length > MOST_MEASURED) firstPixelsMs.shift();
  }

  compose(): void {
    const size = this.screenSize();
    const placed = this.frames.placed(this.explorer.view, size);
    // An empty drawing takes as long as any other, and the first pixels would wait for it.
    if (placed.length === 0 && this.drawnSize.width === 0) return;
    this.resize(size);
    this.drawn.renderer.compose(placed);
  }

  /** The size that is drawn: a part of the window's while the view moves, in a browser that draws slowly. */
  private screenSize(): Size {
    const moves = this.restTimer !== 0 || this.inMotion;
    return moves && this.drawsSlowly ? partOf(this.explorer.size, SLOW_SCREEN_PARTS) : this.explorer.size;
  }

  private resize(size: Size): void {
    if (size.width === this.drawnSize.width && size.height === this.drawnSize.height) return;
    this.drawnSize = size;
    this.drawn.renderer.resize(size);
  }

  private get target(): View {
    return this.explorer.destination ?? this.explorer.view;
  }

  private moved(): void {
    clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => this.askNow(), REST_MS);
    this.askSoon();
  }

  private askSoon(): void {
    if (this.paceTimer) return;
    const { request } = this;
    const waited = request ? performance.now() - request.sentAt : Number.POSITIVE_INFINITY;
    const patience = Math.max(LEAST_PATIENCE_MS, Math.min(MOST_PATIENCE_MS, 2 * this.coarseMs));
    const pace = this.isInside(request) ? PACE_INWARDS_MS : PACE_MS;
    const wait = !request || request.failed || request.full ? 0 : request.coarse ? pace : patience;
    if (waited >= wait) {
      this.ask(this.target, false);
      return;
    }
    this.paceTimer = window.setTimeout(() => {
      this.paceTimer = 0;
      if (this.request && !sameView(this.request.view, this.target)) this.askSoon();
    }, wait - waited);
  }

  private isInside(request: Request | null): boolean {
    const { size } = this.explorer;
    const map = request && between(this.target, size, request.view, size);
    return map !== null && covers(map, size, size);
  }

  private ask(view: View, rest: boolean): void {
    clearTimeout(this.paceTimer);
    this.paceTimer = 0;
    const { explorer } = this;
    const scene = explorer.sceneAtView(view);
    const { width, height } = rest ? explorer.size : this.movingSize();
    const id = this.nextId;
    const paint = this.drawn.paintsFields ? {} : { paint: "server" };
    if (!this.link.send({ type: "view", id, scene, width, height, rest, ...paint })) return;
    this.nextId += 1;
    this.later.length = 0;
    this.request = {
      id,
      view,
      size: { width, height },
      scene,
      rest,
      sentAt: performance.now(),
      coarse: false,
      full: false,
      final: false,
      failed: false,
      begun: false,
      drawn: false,
    };
    this.frames.begin({ id, view, size: { width, height }, content: contentKey(scene), painting: paintingKey(scene) });
    this.progress = { phase: "", fraction: null };
    this.draw();
    this.events.emit("status", undefined);
  }

  /** The size of views that are soon replaced: smaller where the browser draws slowly. */
  private movingSize(): Size {
    return this.drawsSlowly ? partOf(this.explorer.size, SLOW_VIEW_PARTS) : this.explorer.size;
  }

  private receive(message: ServerMessage): void {
    if (message.type === "jobs") {
      this.events.emit("jobs", message.jobs);
      return;
    }
    if (message.type === "error") {
      // An error without a number, or with 0, is of a request that could not be read.
      if (message.id && message.id !== this.id) return;
      if (this.request) this.request.failed = true;
      this.progress = null;
      this.events.emit("error", message);
      this.events.emit("status", undefined);
      return;
    }
    const { request } = this;
    if (!request || message.id !== request.id) return;
    if (message.type === "scene") {
      this.resolved = message;
      this.frames.setTables(this.effectiveTables(message, request.scene));
      this.frames.ready();
      this.repaintOlderSoon();
    } else if (message.type === "progress") {
      this.progress = message;
    } else if (message.type === "done") {
      request[message.stage] = true;
      this.done = message;
      if (message.stage === "coarse") {
        this.coarseMs += 0.3 * (performance.now() - request.sentAt - this.coarseMs);
      }
      if (message.stage === (request.rest ? "final" : "full")) this.progress = null;
      // While moving, the next view follows once this one is good enough.
      if (!request.rest && !sameView(request.view, this.target)) this.askSoon();
    }
    this.events.emit("status", undefined);
  }

  /** Older frames take the scale of the newest one if that does not cover them soon: painting them delays its first pixels. */
  private repaintOlderSoon(): void {
    clearTimeout(this.olderTimer);
    this.olderTimer = window.setTimeout(() => {
      this.olderTimer = 0;
      this.frames.repaintOlder();
      this.draw();
    }, OLDER_REPAINTED_MS);
  }

  private receiveBand(band: Band): void {
    // Rows of a view that has been replaced may still be on the way.
    if (band.id !== this.id) {
      this.bandsOfOtherViews += 1;
      return;
    }
    // Painting it would delay the drawing with the first pixels.
    if (band.stage !== COARSE && this.request?.begun && !this.request.drawn) {
      this.later.push(band);
      return;
    }
    const final = band.stage === FINAL;
    if (final && this.request && !this.isPresentPainting()) return;
    const isComplete = this.frames.add(band);
    if (this.request) this.request.begun = true;
    if (isComplete || !this.showsPixels) this.draw();
    else this.drawRows();
  }

  private receiveLater(): void {
    for (const band of this.later.splice(0)) this.receiveBand(band);
  }

  /** Draws rows of a view of which some pixels are on the screen. */
  private drawRows(): void {
    if (this.rowsTimer || this.drawing) return;
    const wait = ROWS_DRAWN_MS - (performance.now() - this.lastDrawing);
    if (wait <= 0) this.draw();
    else
      this.rowsTimer = window.setTimeout(() => {
        this.rowsTimer = 0;
        this.draw();
      }, wait);
  }

  /** Whether the colours are still those that were asked for: a final picture in others would be wrong. */
  private isPresentPainting(): boolean {
    const { request, explorer } = this;
    return request !== null && paintingKey(request.scene) === paintingKey(explorer.settings);
  }

  private get pageCanPaint(): boolean {
    const { colour } = this.explorer.settings;
    const { resolved, drawn } = this;
    return (
      drawn.paintsFields &&
      resolved?.paints === "page" &&
      layersOf(this.explorer.settings).length === 0 &&
      colour?.scale !== "histogram" &&
      (colour?.by ?? "smooth") === (this.request?.scene.colour?.by ?? "smooth")
    );
  }

  private recoloured(): void {
    this.fetchTable();
    clearTimeout(this.restTimer);
    this.restTimer = window.setTimeout(() => this.askNow(), REST_MS);
    if (this.pageCanPaint && this.resolved && this.request) {
      this.frames.setTables(this.effectiveTables(this.resolved, this.request.scene));
      this.frames.repaint(paintingKey(this.explorer.settings));
    } else this.askSoon();
    this.draw();
  }

  /** The server's values for the scene it was sent, changed as the colours were since. */
  private effectiveTables(message: SceneMessage, sent: Scene): Tables {
    const now = this.explorer.settings.colour ?? {};
    const then = sent.colour ?? {};
    const [density, offset] = [now.density ?? 1, now.offset ?? 0];
    if (now.scale !== then.scale && now.scale && now.scale !== "auto" && now.scale !== "histogram") {
      return { ...message.tables, scale: now.scale, density, offset };
    }
    return {
      ...message.tables,
      density: (message.tables.density * density) / (then.density ?? 1),
      offset: message.tables.offset + offset - (then.offset ?? 0),
    };
  }

  private useTable(table: PaletteTable): void {
    this.frames.setTable(table);
    this.frames.repaint(paintingKey(this.explorer.settings));
    // Before there is a view, there is nothing to draw.
    if (this.request) this.draw();
  }

  private fetchTable(): void {
    const scene = this.explorer.settings as Scene;
    const key = paletteKey(scene);
    if (key === this.tableKey || !this.drawn.paintsFields) return;
    this.tableKey = key;
    this.tableFetch?.abort();
    this.tableFetch = null;
    const { start } = this.explorer;
    if (key === paletteKey(start.scene)) {
      this.useTable(readTable(start.table));
      return;
    }
    const fetching = new AbortController();
    this.tableFetch = fetching;
    api
      .table(scene, fetching.signal)
      .then((table) => this.useTable(table))
      .catch((error) => {
        if (fetching.signal.aborted) return;
        this.tableKey = "";
        this.events.emit("error", { error: error.message, hint: error.hint });
      });
  }
}

function partOf({ width, height }: Size, parts: number): Size {
  return { width: Math.ceil(width / parts), height: Math.ceil(height / parts) };
}
