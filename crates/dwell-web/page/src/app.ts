import type { Start } from "./api";
import type { Explorer } from "./explorer";
import type { History } from "./history";
import type { Motion } from "./motion";
import type { Overlay } from "./overlay";
import type { Scene } from "./scene";
import type { Session } from "./session";
import type { Point } from "./view";

/** What the parts of the page share. */
export interface App {
  readonly start: Start;
  readonly explorer: Explorer;
  readonly session: Session;
  readonly motion: Motion;
  readonly history: History;
  readonly overlay: Overlay;
  /** Shows another scene: by a flight where it is of the same set. */
  goTo(scene: Scene): void;
  /** Shows a place that brings its own limit. */
  openPlace(scene: Scene): void;
  chooseFile(): void;
}

export interface Panel {
  readonly root: HTMLElement;
  /** Called when the panel appears. */
  shown?(): void;
  hidden?(): void;
  /** The pointer rests at a point of the screen. */
  pointer?(at: Point): void;
}
