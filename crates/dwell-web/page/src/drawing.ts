import { element } from "./dom";
import type { Renderer } from "./renderer";
import { CanvasRenderer } from "./renderer-canvas";
import { WebglRenderer } from "./renderer-webgl";

/**
 * The canvas, and what draws in it: WebGL2 where a graphics device does it, and else the 2D context. The address may choose:
 * `?canvas=2d`, `?canvas=webgl`, and with `?paint=server` a 2D canvas shows pictures of the server alone.
 *
 * Both are made when they are first wanted: a browser takes tens of milliseconds to set up WebGL.
 */
export class Drawing {
  /** Whether fields are painted here; otherwise the server is asked for pictures. */
  readonly paintsFields: boolean;
  private readonly kind: string | null;
  private made: { canvas: HTMLCanvasElement; renderer: Renderer } | null = null;

  constructor(search: string) {
    const wants = new URLSearchParams(search);
    this.paintsFields = wants.get("paint") !== "server";
    this.kind = this.paintsFields ? wants.get("canvas") : "2d";
  }

  get canvas(): HTMLCanvasElement {
    return this.both.canvas;
  }

  get renderer(): Renderer {
    return this.both.renderer;
  }

  private get both(): { canvas: HTMLCanvasElement; renderer: Renderer } {
    this.made ??= this.make();
    return this.made;
  }

  private make(): { canvas: HTMLCanvasElement; renderer: Renderer } {
    let canvas = newCanvas();
    let renderer: Renderer | null = this.kind === "2d" ? null : WebglRenderer.create(canvas, this.kind === "webgl");
    if (!renderer) {
      // A canvas keeps the kind of its first context.
      canvas = newCanvas();
      renderer = new CanvasRenderer(canvas);
    }
    document.body.append(canvas);
    return { canvas, renderer };
  }
}

function newCanvas(): HTMLCanvasElement {
  return element("canvas", {
    // Nothing is shown before the first drawing.
    width: 0,
    height: 0,
    className: "picture",
    tabIndex: 0,
    role: "img",
    "aria-label": "The picture. Arrow keys move, plus and minus zoom, h lists all keys.",
  });
}
