import { ENTRIES, fixedFraction, type PaletteTable } from "./painting";
import { type Placed, type Rates, type Renderer, type Surface, withAlpha, withoutAlpha } from "./renderer";
import type { Size } from "./view";

/** A table is stored in rows of this many entries, since textures may be no wider than 2048. */
const TABLE_COLUMNS = 128;

const vertexShader = `#version 300 es
void main() {
  // One triangle that covers the viewport.
  vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
  gl_Position = vec4(corner, 0.0, 1.0);
}`;

// Turns are summed modulo 1 as fractions of 2^32, which wrap around exactly. See entryOf in painting.ts.
const paintShader = `#version 300 es
precision highp float;
precision highp int;
uniform highp sampler2D field;
uniform highp usampler2D table;
uniform uint densityHigh;
uniform float densityLow;
uniform float rate;
uniform uint offset;
uniform bool dithers;
out vec4 colour;
uint reversed(uint n) { return ((n & 1u) << 2) | (n & 2u) | ((n >> 2) & 1u); }
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy);
  vec2 t = texelFetch(field, at, 0).xy;
  uint entry = ${ENTRIES}u;
  if (t.x >= 0.0) {
    uint sum = uint(t.x) * densityHigh + uint(t.x * densityLow) + uint(fract(rate * t.y) * 4294967296.0) + offset;
    entry = sum >> 19;
  }
  uvec3 value = texelFetch(table, ivec2(entry % ${TABLE_COLUMNS}u, entry / ${TABLE_COLUMNS}u), 0).rgb;
  uint t8 = 128u;
  if (dithers) {
    uint rank = reversed((uint(at.y) + reversed((uint(at.x) / 16u) & 7u)) & 7u);
    t8 = (257u * rank + 128u) / 8u;
  }
  colour = vec4(vec3((value + t8) / 257u) / 255.0, 1.0);
}`;

const composeShader = `#version 300 es
precision highp float;
uniform sampler2D picture;
uniform vec2 size;
uniform float screenHeight;
uniform mat2 linear;
uniform vec2 shift;
out vec4 colour;
void main() {
  vec2 at = linear * vec2(gl_FragCoord.x, screenHeight - gl_FragCoord.y) + shift;
  if (at.x < 0.0 || at.y < 0.0 || at.x > size.x || at.y > size.y) discard;
  colour = texture(picture, at / size);
}`;

class GlSurface implements Surface {
  readonly picture: WebGLTexture;
  readonly field: WebGLTexture | null;
  readonly target: WebGLFramebuffer | null;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    kind: "field" | "picture",
    readonly width: number,
    readonly height: number,
  ) {
    this.picture = texture(gl, gl.RGBA8, width, height);
    this.field = kind === "field" ? texture(gl, gl.RG32F, width, height) : null;
    this.target = kind === "field" ? gl.createFramebuffer() : null;
    if (this.target) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
      gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.picture, 0);
      gl.clearColor(0, 0, 0, 0);
      gl.disable(gl.SCISSOR_TEST);
      gl.clear(gl.COLOR_BUFFER_BIT);
    }
  }

  dispose(): void {
    this.gl.deleteTexture(this.picture);
    this.gl.deleteTexture(this.field);
    this.gl.deleteFramebuffer(this.target);
  }
}

function texture(gl: WebGL2RenderingContext, format: number, width: number, height: number): WebGLTexture {
  const made = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  for (const [name, value] of [
    [gl.TEXTURE_MIN_FILTER, gl.NEAREST],
    [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
    [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
  ]) {
    gl.texParameteri(gl.TEXTURE_2D, name, value);
  }
  return made;
}

function program(gl: WebGL2RenderingContext, fragment: string): WebGLProgram {
  const made = gl.createProgram();
  for (const [kind, source] of [
    [gl.VERTEX_SHADER, vertexShader],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(kind) as WebGLShader;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) {
    throw new Error(`a shader cannot be used: ${gl.getProgramInfoLog(made)}`);
  }
  return made;
}

/** Whether processors draw: browsers say so by a caveat only if they fell back to that by themselves. */
function isInSoftware(gl: WebGL2RenderingContext): boolean {
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** Paints fields and draws pictures with WebGL2. */
export class WebglRenderer implements Renderer {
  private readonly painter: WebGLProgram;
  private readonly composer: WebGLProgram;
  private readonly table: WebGLTexture;
  private readonly uniforms = new Map<string, WebGLUniformLocation | null>();
  private period = 1;
  private dithers = false;

  /** The renderer, or `null` where the browser has no WebGL2, or only in software and that is not wanted. */
  static create(canvas: HTMLCanvasElement, inSoftware: boolean): WebglRenderer | null {
    const gl = canvas.getContext("webgl2", {
      alpha: false,
      antialias: false,
      depth: false,
      failIfMajorPerformanceCaveat: !inSoftware,
      powerPreference: "low-power",
    });
    return gl && (inSoftware || !isInSoftware(gl)) ? new WebglRenderer(canvas, gl) : null;
  }

  private constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
  ) {
    this.painter = program(gl, paintShader);
    this.composer = program(gl, composeShader);
    this.table = texture(gl, gl.RGBA16UI, TABLE_COLUMNS, Math.ceil((ENTRIES + 1) / TABLE_COLUMNS));
    gl.bindVertexArray(gl.createVertexArray());
    gl.disable(gl.DITHER);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.pixelStorei(gl.PACK_ALIGNMENT, 1);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  resize({ width, height }: Size): void {
    this.canvas.width = width;
    this.canvas.height = height;
  }

  setTable({ values, period, dithers }: PaletteTable): void {
    const { gl } = this;
    const rows = Math.ceil((ENTRIES + 1) / TABLE_COLUMNS);
    const padded = new Uint16Array(4 * TABLE_COLUMNS * rows);
    for (let i = 0; i <= ENTRIES; i++) padded.set(values.subarray(3 * i, 3 * i + 3), 4 * i);
    gl.bindTexture(gl.TEXTURE_2D, this.table);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TABLE_COLUMNS, rows, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT, padded);
    this.period = period;
    this.dithers = dithers;
  }

  surface(kind: "field" | "picture", { width, height }: Size): GlSurface {
    return new GlSurface(this.gl, kind, width, height);
  }

  writePicture(surface: Surface, firstRow: number, rows: number, colours: Uint8Array): void {
    const { gl } = this;
    const bytes = new Uint8Array(withAlpha(colours).buffer);
    gl.bindTexture(gl.TEXTURE_2D, (surface as GlSurface).picture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, firstRow, surface.width, rows, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  }

  writeField(surface: Surface, firstRow: number, rows: number, turns: Float32Array): void {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, (surface as GlSurface).field);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, firstRow, surface.width, rows, gl.RG, gl.FLOAT, turns);
  }

  paint(surface: Surface, firstRow: number, rows: number, { density, offset }: Rates): void {
    const { gl, painter, period } = this;
    const { target, field, width, height } = surface as GlSurface;
    const rate = density / period;
    const fixed = fixedFraction(rate);
    gl.useProgram(painter);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.SCISSOR_TEST);
    gl.scissor(0, firstRow, width, rows);
    gl.disable(gl.BLEND);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.table);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, field);
    gl.uniform1i(this.uniform(painter, "table"), 1);
    gl.uniform1ui(this.uniform(painter, "densityHigh"), fixed.high);
    gl.uniform1f(this.uniform(painter, "densityLow"), fixed.low);
    gl.uniform1f(this.uniform(painter, "rate"), rate);
    gl.uniform1ui(this.uniform(painter, "offset"), fixedFraction(offset / period).high);
    gl.uniform1i(this.uniform(painter, "dithers"), this.dithers ? 1 : 0);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.disable(gl.SCISSOR_TEST);
  }

  compose(placed: Placed[]): void {
    const { gl, composer, canvas } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0x10 / 255, 0x12 / 255, 0x16 / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(composer);
    gl.enable(gl.BLEND);
    gl.uniform1f(this.uniform(composer, "screenHeight"), canvas.height);
    for (const { surface, map, aligned } of placed) {
      gl.bindTexture(gl.TEXTURE_2D, (surface as GlSurface).picture);
      const filter = aligned ? gl.NEAREST : gl.LINEAR;
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
      gl.uniform2f(this.uniform(composer, "size"), surface.width, surface.height);
      gl.uniformMatrix2fv(this.uniform(composer, "linear"), false, [map.a, map.b, map.c, map.d]);
      gl.uniform2f(this.uniform(composer, "shift"), map.e, map.f);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    gl.disable(gl.BLEND);
  }

  pixels(): Uint8Array {
    const { gl, canvas } = this;
    const { width, height } = canvas;
    const bottomUp = new Uint8Array(4 * width * height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, bottomUp);
    const topDown = new Uint8Array(bottomUp.length);
    for (let row = 0; row < height; row++) {
      topDown.set(bottomUp.subarray(4 * width * row, 4 * width * (row + 1)), 4 * width * (height - 1 - row));
    }
    return withoutAlpha(topDown);
  }

  private uniform(of: WebGLProgram, name: string): WebGLUniformLocation | null {
    const key = `${of === this.painter ? "paint" : "compose"} ${name}`;
    if (!this.uniforms.has(key)) this.uniforms.set(key, this.gl.getUniformLocation(of, name));
    return this.uniforms.get(key) ?? null;
  }
}
