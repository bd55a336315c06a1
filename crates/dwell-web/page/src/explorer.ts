import type { Start } from "./api";
import { Events } from "./events";
import { contentKey, type Scene, sceneAt, viewOf } from "./scene";
import { octaves, type Point, type Size, sameView, type View } from "./view";

export type ExplorerEvents = {
  /** The view moves; more of it may follow. */
  view: undefined;
  /** The colours changed, the dwells did not. */
  colour: undefined;
  /** The dwells change as well. */
  content: undefined;
  /** Another scene was opened, at once and as a whole. */
  opened: { scene: Scene; keepsContent: boolean };
  /** The view has rested. */
  rest: undefined;
};

/** What is explored: the scene and the view, and who is told when they change. */
export class Explorer {
  readonly events = new Events<ExplorerEvents>();
  private scene: Scene;
  private present: View;
  /** The view that the scene's text says. */
  private written: View;
  size: Size = { width: 1, height: 1 };
  /** Device pixels of a CSS pixel, as far as the size is not reduced. */
  pixelRatio = 1;
  /** The limit that was chosen by hand. The limit of a place is that place's own, and other views find theirs. */
  private chosenLimit: string | null;
  /** Where a flight ends, while one is under way. */
  destination: View | null = null;

  constructor(readonly start: Start) {
    this.scene = start.scene;
    this.present = viewOf(start.scene);
    this.written = this.present;
    const { iterations, title } = start.scene;
    this.chosenLimit = iterations && iterations !== "auto" && !title ? iterations : null;
  }

  get view(): View {
    return this.present;
  }

  get centre(): Point {
    return { x: this.size.width / 2, y: this.size.height / 2 };
  }

  /** The scene as it is shown now, with the view in exact text. */
  current(): Scene {
    return this.sceneAtView(this.present);
  }

  sceneAtView(view: View): Scene {
    // A scene that has not moved keeps its own text and title.
    if (sameView(view, this.written)) return this.scene;
    return sceneAt({ ...withoutPlace(this.scene), iterations: this.chosenLimit ?? "auto" }, view);
  }

  /** The limit at the present view, or `auto`. */
  get limit(): string {
    const isWritten = sameView(this.present, this.written);
    return String((isWritten ? this.scene.iterations : this.chosenLimit) ?? "auto");
  }

  /** The parts of the scene apart from the view. */
  get settings(): Readonly<Scene> {
    return this.scene;
  }

  move(view: View): void {
    if (sameView(view, this.present)) return;
    this.present = view;
    this.events.emit("view", undefined);
  }

  /** Changes parts of the scene. Keys set to `undefined` go. */
  change(parts: Partial<Scene>, what: "colour" | "content"): void {
    if ("iterations" in parts) this.chosenLimit = parts.iterations === "auto" ? null : (parts.iterations ?? null);
    const next: Scene = { ...this.current(), ...parts };
    for (const key of Object.keys(next)) if (next[key] === undefined) delete next[key];
    this.scene = next;
    this.present = viewOf(next);
    this.written = this.present;
    this.events.emit(what, undefined);
  }

  changeColour(parts: Partial<Scene["colour"]>): void {
    const colour = { ...this.scene.colour, ...parts };
    for (const key of Object.keys(colour)) if (colour[key] === undefined) delete colour[key];
    this.change({ colour }, "colour");
  }

  /** Shows another scene. With `keepView` the view stays, so that a flight can lead to it. */
  open(scene: Scene, keepView = false): void {
    const keepsContent = contentKey(scene) === contentKey(this.scene);
    this.scene = scene;
    this.written = viewOf(scene);
    if (!keepView) this.present = this.written;
    this.events.emit("opened", { scene, keepsContent });
  }

  /** Leaves the limit to the places that are opened. */
  forgetLimit(): void {
    this.chosenLimit = null;
  }

  /** Whether a flight to a scene shows something on the way. */
  canFlyTo(scene: Scene): boolean {
    return contentKey(scene) === contentKey(this.scene) && Number.isFinite(octaves(this.present, viewOf(scene)));
  }
}

/** A scene without what belongs to its place: what it is called, and the arithmetic that it needs there. */
function withoutPlace(scene: Scene): Scene {
  const { name: _name, title: _title, notes: _notes, source: _source, number, ...rest } = scene;
  // Single precision is nobody's default, so somebody wants it.
  return { ...rest, ...(number === "f32" ? { number } : {}) } as Scene;
}
