// A stand-in for the program while the page is developed: escape times in doubles, few palettes, no deep views.
// Usage: npm run mock, then open the printed address. It serves ../assets.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { deflateSync, crc32 as nodeCrc } from "node:zlib";

const port = Number(process.env.PORT ?? 8123);
const assets = new URL("../../assets/", import.meta.url);
const types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
const start = {
  scene: { re: "-0.75", im: "0", view_height: "2.8", iterations: "auto", colour: { palette: "ember" } },
  folder: true,
  engine: "cpu",
  threads: 2,
  version: "0.0.0",
  level: "avx2",
  levels: ["scalar", "avx2"],
  engines: ["cpu"],
  strategies: ["every-pixel", "proven"],
  schedules: ["bands", "tiles"],
  memory_bytes: 2 ** 33,
  test: true,
};
const bases = { ember: [0, 0.05, 0.1], ice: [0.5, 0.6, 0.7], lagoon: [0.3, 0.5, 0.55], candy: [0.9, 0.8, 0.3] };
const at = (base, t) => base.map((b) => Math.round(65535 * (0.5 - 0.5 * Math.cos(2 * Math.PI * (t + b)))));
const hex = (rgb) => `#${rgb.map((v) => (v >> 8).toString(16).padStart(2, "0")).join("")}`;
const palettes = Object.entries(bases).map(([name, base]) => ({
  name,
  title: name,
  cyclic: true,
  interior: "#000000",
  colours: Array.from({ length: 32 }, (_, i) => hex(at(base, i / 32))),
}));

function field(scene, w, h) {
  const [re, im, height] = [
    Number(scene.re),
    Number(scene.im),
    Number(scene.view_height ?? 4 / Number(scene.zoom ?? 1)),
  ];
  const angle = (Number(scene.rotation ?? 0) * Math.PI) / 180;
  const dwells = new Uint32Array(w * h);
  const values = new Float32Array(w * h);
  for (let i = 0; i < w * h; i++) {
    const u = (((i % w) + 0.5 - w / 2) / h) * height;
    const v = ((h / 2 - Math.floor(i / w) - 0.5) / h) * height * (scene.flip ? -1 : 1);
    let [x, y] = [re + u * Math.cos(angle) - v * Math.sin(angle), im + u * Math.sin(angle) + v * Math.cos(angle)];
    const [a, b] = scene.julia ? scene.julia.map(Number) : [x, y];
    for (let n = 1; n <= 300; n++) {
      const r = x * x + y * y;
      if (r > 65536) {
        dwells[i] = n;
        values[i] = 1 - Math.log2(Math.log(r) / 2 / Math.log(256));
        break;
      }
      [x, y] = [x * x - y * y + a, 2 * x * y + b];
    }
  }
  return { dwells, values };
}

function colours(scene, w, h) {
  const { dwells, values } = field(scene, w, h);
  const base = bases[scene.colour?.palette] ?? [0, 0.33, 0.66];
  const out = Buffer.alloc(3 * w * h);
  const { density = 1, offset = 0 } = scene.colour ?? {};
  for (let i = 0; i < w * h; i++) {
    if (!dwells[i]) continue;
    const t = 0.11 * (Math.sqrt(Math.max(1, dwells[i] + values[i])) - 1) * density + offset;
    at(base, t).forEach((v, k) => {
      out[3 * i + k] = v >> (scene.layer?.length ? 9 : 8);
    });
  }
  return out;
}

function png(scene, w, h) {
  const rgb = colours(scene, w, h);
  const raw = Buffer.alloc((3 * w + 1) * h);
  for (let row = 0; row < h; row++) rgb.copy(raw, row * (3 * w + 1) + 1, row * 3 * w, (row + 1) * 3 * w);
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(nodeCrc(body), body.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(w, 0);
  head.writeUInt32BE(h, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(raw)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function table(scene) {
  const base = bases[scene.colour?.palette] ?? [0, 0.33, 0.66];
  const out = Buffer.alloc(8193 * 6);
  for (let i = 0; i < 8192; i++) out.set(Buffer.from(Uint16Array.from(at(base, i / 8192)).buffer), 6 * i);
  return { palette: out.toString("base64"), period: 1, dithers: false };
}

const bookmarks = new Map();
const locations = ["home", "seahorse", "elephant", "spiral"].map((name, i) => ({
  name,
  title: `The ${name} place`,
  zoom: `1e${3 * i}`,
  deep: i > 2,
  slow: false,
}));
const places = [
  { re: "-0.75", im: "0", view_height: "2.8" },
  { re: "-0.7453", im: "0.1127", view_height: "0.0065" },
  { re: "0.2925", im: "0.0149", view_height: "0.05" },
  { re: "-0.761574", im: "-0.0847596", view_height: "0.0005" },
].map((place, i) => ({
  ...place,
  iterations: "auto",
  name: locations[i].name,
  title: locations[i].title,
  colour: { palette: "ember" },
}));

const routes = {
  "GET start": () => ({ ...start, table: table(start.scene) }),
  "GET locations": () => locations,
  "GET palettes": () => palettes,
  "GET looks": () => [{ name: "night", title: "Night", palette: "night" }],
  "GET reports": () => [],
  "GET formulas": () => [{ name: "mandelbrot", power: 2 }],
  "GET bookmarks": () => [...bookmarks.keys()].map((name) => ({ name, title: name })),
  "GET jobs": () => [],
  "POST tables": ({ scene }) => table(scene),
  "POST scenes": ({ scene }) => scene,
  "POST scenes/command": ({ scene }) => ({ command: `dwell render --center ${scene.re},${scene.im}` }),
  "POST scenes/export": ({ scene }) => ({ text: JSON.stringify(scene), left_out: [] }),
  "POST pictures": ({ scene, width, height }) => png(scene, width, height),
  "POST points": ({ scene, width, height, x, y }) => ({
    re: String(Number(scene.re) + ((x - width / 2) / height) * Number(scene.view_height)),
    im: String(Number(scene.im) + ((height / 2 - y) / height) * Number(scene.view_height)),
    escaped: true,
    dwell: "12345",
    smooth: 12345.678,
    distance: 0.0123,
    distance_text: "0.0123 heights",
    period: null,
    proved: true,
    number: "f64",
  }),
  "POST flavours": ({ width, height }) => {
    const mask = Buffer.alloc(Math.ceil(width / 8) * height);
    for (let i = 0; i < 500; i++) mask[Math.floor(Math.random() * mask.length)] = 255;
    const one = {
      seconds: 0.0123,
      iterations: "123456789",
      iterations_per_second: 1.2e9,
      peak_fraction: 0.87,
      hash: "0123456789abcdef",
    };
    return { results: [one, { ...one, seconds: 0.034 }], differing: 4000, mask: mask.toString("base64") };
  },
};

const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://x");
  const path = url.pathname.replace(/^\/t\//, "");
  const parts = [];
  for await (const part of request) parts.push(part);
  const answer = (status, type, body) => {
    response.writeHead(status, { "content-type": type });
    response.end(body);
  };
  if (!path.startsWith("api/v1/")) {
    try {
      const name = path || "index.html";
      return answer(200, types[name.split(".").pop()], readFileSync(new URL(name, assets)));
    } catch {
      return answer(404, "text/plain", "");
    }
  }
  const route = path.slice(7);
  const body = request.method === "POST" && parts.length ? JSON.parse(Buffer.concat(parts).toString()) : {};
  const thumbnail = /^locations\/(\w+)\/thumbnail$/.exec(route);
  const place = /^locations\/(\w+)$/.exec(route);
  const find = (name) => places[locations.findIndex((one) => one.name === name)];
  if (thumbnail) return answer(200, "image/png", png(find(thumbnail[1]), 240, 135));
  if (place) return answer(200, "application/json", JSON.stringify(find(place[1])));
  const handler = routes[`${request.method} ${route}`];
  if (!handler)
    return answer(
      404,
      "application/json",
      JSON.stringify({ error: `There is no ${route}.`, hint: "This is the stand-in." }),
    );
  const result = handler(body);
  if (Buffer.isBuffer(result)) answer(200, "image/png", result);
  else answer(200, "application/json", JSON.stringify(result));
});

server.on("upgrade", (request, socket) => {
  const key = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${key}\r\n\r\n`,
  );
  socket.on("error", () => {});
  const frame = (opcode, data) => {
    const long = data.length > 65535;
    const head = Buffer.alloc(data.length < 126 ? 2 : long ? 10 : 4);
    head[0] = 0x80 | opcode;
    head[1] = data.length < 126 ? data.length : long ? 127 : 126;
    if (long) head.writeBigUInt64BE(BigInt(data.length), 2);
    else if (data.length >= 126) head.writeUInt16BE(data.length, 2);
    socket.write(Buffer.concat([head, data]));
  };
  const text = (value) => frame(1, Buffer.from(JSON.stringify(value)));
  let latest = 0;
  const view = async ({ id, scene, width, height, rest, paint }) => {
    latest = id;
    const server = paint === "server" || scene.layer?.length > 0;
    const { density = 1, offset = 0 } = scene.colour ?? {};
    text({
      type: "scene",
      id,
      scene: { ...scene, iterations: "300" },
      paints: server ? "server" : "page",
      number: "f64",
      warnings: [],
      tables: { by: "smooth", scale: "root", density, offset, limit: 300 },
      automatic: { limit: true, scale: true },
    });
    for (const [stage, w, h] of [
      [0, Math.ceil(width / 8), Math.ceil(height / 8)],
      [1, width, height],
      [2, width, height],
    ]) {
      if (stage === 2 && !rest) break;
      const began = performance.now();
      const picture = server || stage === 2;
      const data = picture ? colours(scene, w, h) : field(scene, w, h);
      for (let row = 0; row < h; row += 64) {
        await new Promise(setImmediate);
        if (latest !== id) return;
        const rows = Math.min(64, h - row);
        const head = Buffer.from(new Uint32Array([0x4c455744, id, stage, picture ? 1 : 0, w, h, row, rows]).buffer);
        const slice = (array) => Buffer.from(array.slice(row * w, (row + rows) * w).buffer);
        const bytes = picture
          ? data.subarray(3 * row * w, 3 * (row + rows) * w)
          : Buffer.concat([slice(data.dwells), slice(data.values)]);
        frame(2, Buffer.concat([head, bytes]));
      }
      text({
        type: "done",
        id,
        stage: ["coarse", "full", "final"][stage],
        seconds: (performance.now() - began) / 1000,
        iterations: "1",
        exact: true,
      });
    }
  };
  let pending = Buffer.alloc(0);
  let message = Buffer.alloc(0);
  socket.on("data", (data) => {
    pending = Buffer.concat([pending, data]);
    for (;;) {
      if (pending.length < 6) return;
      const short = pending[1] & 127;
      const at = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (pending.length < at + 4) return;
      const length =
        short === 126 ? pending.readUInt16BE(2) : short === 127 ? Number(pending.readBigUInt64BE(2)) : short;
      if (pending.length < at + 4 + length) return;
      const payload = Buffer.from(pending.subarray(at + 4, at + 4 + length)).map(
        (byte, i) => byte ^ pending[at + (i & 3)],
      );
      const [opcode, last] = [pending[0] & 15, pending[0] & 128];
      pending = pending.subarray(at + 4 + length);
      if (opcode === 8) return socket.end();
      message = Buffer.concat([message, payload]);
      if (!last) continue;
      const parsed = JSON.parse(message.toString());
      message = Buffer.alloc(0);
      if (parsed.type === "view") view(parsed);
    }
  });
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${port}/t/`));
