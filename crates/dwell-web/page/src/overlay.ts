import { element } from "./dom";

/** Marks over the picture: the box of a box zoom, and pixels that differ. */
export class Overlay {
  readonly root = element("div", { className: "overlay", "aria-hidden": "true" });
  private readonly box = element("div", { className: "zoom-box", hidden: true });
  private readonly mark = element("div", { className: "mark", hidden: true });
  private readonly mask = element("canvas", { className: "mask", hidden: true });

  constructor() {
    this.root.append(this.mask, this.box, this.mark);
  }

  showBox(x: number, y: number, width: number, height: number): void {
    Object.assign(this.box.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    this.box.hidden = false;
  }

  hideBox(): void {
    this.box.hidden = true;
  }

  /** Marks the point that is described. */
  showMark(x: number, y: number): void {
    Object.assign(this.mark.style, { left: `${x}px`, top: `${y}px` });
    this.mark.hidden = false;
  }

  hideMark(): void {
    this.mark.hidden = true;
  }

  /** Marks pixels by one bit each, in rows of whole bytes. */
  showMask(bits: Uint8Array, width: number, height: number): void {
    Object.assign(this.mask, { width, height, hidden: false });
    const context = this.mask.getContext("2d");
    if (!context) return;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const stride = Math.ceil(width / 8);
    for (let row = 0; row < height; row++) {
      for (let column = 0; column < width; column++) {
        const differs = (bits[row * stride + (column >> 3)] >> (7 - (column & 7))) & 1;
        pixels[row * width + column] = differs ? 0xffff2bf0 : 0x66000000;
      }
    }
    context.putImageData(image, 0, 0);
  }

  hideMask(): void {
    this.mask.hidden = true;
  }
}
