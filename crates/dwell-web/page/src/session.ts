import { api } from "./api";
import { Events } from "./events";
import type { Explorer } from "./explorer";
import { Frames } from "./frames";
import type { Link } from "./link";
import { type Band, type DoneMessage, FINAL, type SceneMessage, type ServerMessage, type Tables } from "./protocol";
import type { Renderer } from "./renderer";
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
    private readonly renderer: Renderer,
    private readonly link: Link,
    /** Called before each drawing with the time, to move what is in motion. */
    private readonly tick: (now: number) => boolean,
  ) {
    this.frames = new Frames(renderer);
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
    this.fetchTable();
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

  get id(): number {
    return this.request?.id ?? 0;
  }

  /** Whether the final stage of the present view is on the screen, or will not come. */
  get isIdle(): boolean {
    const { request, explorer } = this;
    if (!request || !this.connected || this.drawing || this.restTimer || explorer.destination) return false;
    return (request.final || request.failed) && sameView(request.view, explorer.view) && this.isPresentPainting();
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
    if (request?.rest && !request.failed && sameView(request.view, explorer.view))
      explorer.events.emit("rest", undefined);
    else this.askNow();
    this.inMotion = false;
    this.draw();
    this.events.emit("status", undefined);
  }

  draw(): void {
    if (this.drawing) return;
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
    firstPixelsMs.push(performance.now() - request.sentAt);
    if (firstPixelsMs.length > MOST_MEASURED) firstPixelsMs.shift();
  }

  compose(): void {
    const size = this.screenSize();
    this.resize(size);
    this.renderer.compose(this.frames.placed(this.explorer.view, size));
  }

  /** The size that is drawn: a part of the window's while the view moves, in a browser that draws slowly. */
  private screenSize(): Size {
    const moves = this.restTimer !== 0 || this.inMotion;
    return moves && this.drawsSlowly ? partOf(this.explorer.size, SLOW_SCREEN_PARTS) : this.explorer.size;
  }

  private resize(size: Size): void {
    if (size.width === this.drawnSize.width && size.height === this.drawnSize.height) return;
    this.drawnSize = size;
    this.renderer.resize(size);
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
    const paint = this.renderer.paintsFields ? {} : { paint: "server" };
    if (!this.link.send({ type: "view", id, scene, width, height, rest, ...paint })) return;
    this.nextId += 1;
    this.request = {
      id,
      view,
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
      this.frames.repaint();
      this.frames.ready();
      this.draw();
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

  private receiveBand(band: Band): void {
    // Rows of a view that has been replaced may still be on the way.
    if (band.id !== this.id) {
      this.bandsOfOtherViews += 1;
      return;
    }
    const final = band.stage === FINAL;
    if (final && this.request && !this.isPresentPainting()) return;
    this.frames.add(band);
    if (this.request) this.request.begun = true;
    this.draw();
  }

  /** Whether the colours are still those that were asked for: a final picture in others would be wrong. */
  private isPresentPainting(): boolean {
    const { request, explorer } = this;
    return request !== null && paintingKey(request.scene) === paintingKey(explorer.settings);
  }

  private get pageCanPaint(): boolean {
    const { colour } = this.explorer.settings;
    const { resolved, renderer } = this;
    return (
      renderer.paintsFields &&
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
      this.frames.repaint();
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

  private fetchTable(): void {
    const scene = this.explorer.settings as Scene;
    const key = paletteKey(scene);
    if (key === this.tableKey || !this.renderer.paintsFields) return;
    this.tableKey = key;
    this.tableFetch?.abort();
    const fetching = new AbortController();
    this.tableFetch = fetching;
    api
      .table(scene, fetching.signal)
      .then((table) => {
        this.frames.setTable(table);
        this.frames.repaint();
        this.draw();
      })
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
