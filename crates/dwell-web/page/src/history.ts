import { fragmentOf, sceneOf } from "./address";
import { api } from "./api";
import { Events } from "./events";
import type { Explorer } from "./explorer";
import type { Scene } from "./scene";

const MOST_ENTRIES = 200;

export interface Entry {
  readonly fragment: string;
  readonly scene: Scene;
  thumbnail: string | null;
}

/**
 * The scenes that have been at rest. The browser's history holds the same ones in addresses, so that its back button
 * and undo are the same thing.
 */
export class History {
  readonly events = new Events<{ changed: undefined }>();
  readonly entries: Entry[] = [];
  index = -1;

  constructor(
    private readonly explorer: Explorer,
    private readonly show: (scene: Scene) => void,
    private readonly failed: (error: string) => void,
  ) {
    addEventListener("popstate", (event) => this.restore(event.state));
  }

  /** Takes the scene at rest, unless it is the last one. */
  commit(): void {
    if (this.explorer.destination) return;
    const scene = this.explorer.current();
    const fragment = fragmentOf(scene, this.explorer.start.scene);
    if (fragment === this.entries[this.index]?.fragment) return;
    const first = this.index < 0;
    this.entries.length = this.index + 1;
    this.entries.push({ fragment, scene, thumbnail: null });
    if (this.entries.length > MOST_ENTRIES) forget(this.entries.shift());
    this.index = this.entries.length - 1;
    // The first scene needs no address of its own if there was none.
    if (first) history.replaceState(this.index, "", location.hash ? fragment : location.href);
    else history.pushState(this.index, "", fragment);
    this.events.emit("changed", undefined);
  }

  undo(): void {
    if (this.index > 0) history.back();
  }

  redo(): void {
    if (this.index < this.entries.length - 1) history.forward();
  }

  goTo(index: number): void {
    if (index !== this.index) history.go(index - this.index);
  }

  /** Asks for the small picture of an entry once it is looked at. */
  async thumbnail(entry: Entry): Promise<string | null> {
    if (entry.thumbnail) return entry.thumbnail;
    const blob = await api.picture(entry.scene, 160, 90, 1).catch(() => null);
    if (blob) entry.thumbnail = URL.createObjectURL(blob);
    return entry.thumbnail;
  }

  private restore(state: unknown): void {
    const { start } = this.explorer;
    try {
      const scene = sceneOf(location.hash, start.scene) ?? start.scene;
      if (typeof state === "number" && state >= 0 && state < this.entries.length) {
        this.index = state;
      }
      this.show(scene);
      this.events.emit("changed", undefined);
    } catch {
      this.failed("This address holds no place.");
    }
  }
}

function forget(entry: Entry | undefined): void {
  if (entry?.thumbnail) URL.revokeObjectURL(entry.thumbnail);
}
