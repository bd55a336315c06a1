import { type Placed, type Renderer, type Surface, withAlpha, withoutAlpha } from "./renderer";
import { inverse, type Size } from "./view";

interface CanvasSurface extends Surface {
  readonly canvas: HTMLCanvasElement;
  readonly context: CanvasRenderingContext2D;
}

/** Draws pictures of the server in a 2D canvas, where WebGL2 is missing. */
export class CanvasRenderer implements Renderer {
  readonly paintsFields = false;
  private readonly context: CanvasRenderingContext2D;

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("This browser draws neither with WebGL2 nor in a 2D canvas.");
    this.context = context;
  }

  resize({ width, height }: Size): void {
    this.canvas.width = width;
    this.canvas.height = height;
  }

  setTable(): void {}

  surface(_kind: string, { width, height }: Size): CanvasSurface {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d") as CanvasRenderingContext2D;
    // Browsers give the memory of a canvas back when it has no pixels.
    return { width, height, canvas, context, dispose: () => Object.assign(canvas, { width: 0, height: 0 }) };
  }

  writePicture(surface: Surface, firstRow: number, rows: number, colours: Uint8Array): void {
    (surface as CanvasSurface).context.putImageData(
      new ImageData(withAlpha(colours), surface.width, rows),
      0,
      firstRow,
    );
  }

  writeField(): void {
    throw new Error("fields are painted by the server");
  }

  paint(): void {}

  compose(placed: Placed[]): void {
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#101216";
    context.fillRect(0, 0, canvas.width, canvas.height);
    for (const { surface, map, aligned } of placed) {
      const { a, b, c, d, e, f } = inverse(map);
      context.setTransform(a, b, c, d, e, f);
      context.imageSmoothingEnabled = !aligned;
      context.drawImage((surface as CanvasSurface).canvas, 0, 0);
    }
  }

  pixels(): Uint8Array {
    return withoutAlpha(this.context.getImageData(0, 0, this.canvas.width, this.canvas.height).data);
  }
}
