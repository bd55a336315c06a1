import type { Explorer } from "./explorer";
import type { Renderer } from "./renderer";
import type { Scene } from "./scene";
import type { Session } from "./session";

declare global {
  interface Window {
    dwellTest?: {
      idle(): Promise<void>;
      pixels(): Uint8Array;
      /** The same without the final picture, as the page itself paints. */
      fieldPixels(): Uint8Array;
      stage(): string;
      id(): number;
      scene(): Scene;
      frames(): { count: number; since: number };
      /** Milliseconds from asking for a view to its first pixels on the screen, of the views since the last call. */
      firstPixelsMs(): number[];
      /** Sets the density, as the slider does. */
      density(value: number): void;
      bandsOfOtherViews(): number;
      /** Closes the connection, as when the program goes away. */
      disconnect(): void;
    };
  }
}

/** What automatic tests look at; only where the program was started for tests. */
export function offerTests(session: Session, explorer: Explorer, renderer: Renderer, hasTools: () => boolean): void {
  window.dwellTest = {
    idle: () =>
      new Promise((resolve) => {
        const look = () => (session.isIdle && hasTools() ? resolve() : void setTimeout(look, 20));
        look();
      }),
    pixels: () => {
      session.compose();
      return renderer.pixels();
    },
    fieldPixels: () => {
      renderer.compose(session.frames.placed(explorer.view, explorer.size, true));
      const pixels = renderer.pixels();
      session.compose();
      return pixels;
    },
    stage: () => session.stage,
    id: () => session.id,
    scene: () => explorer.current(),
    frames: () => {
      const counted = { count: session.frameCount, since: session.framesSince };
      session.frameCount = 0;
      session.framesSince = performance.now();
      return counted;
    },
    firstPixelsMs: () => session.firstPixelsMs.splice(0),
    density: (density) => explorer.changeColour({ density }),
    bandsOfOtherViews: () => session.bandsOfOtherViews,
    disconnect: () => session.disconnect(),
  };
}
