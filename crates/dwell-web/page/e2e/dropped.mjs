// How long work goes on after its connection was dropped: `npm run dropped -- LINK [TIMES]`. Drops WebSockets and requests at random moments of
// views that take long, and asks the server until it computes nothing. Times are in milliseconds.
import { randomBytes } from "node:crypto";
import http from "node:http";
import net from "node:net";

const [link, times = "50"] = process.argv.slice(2);
if (!link) throw new Error("give the link that dwell explore prints");
const { hostname, port, pathname } = new URL(link);
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function get(path) {
  return new Promise((resolve, reject) => {
    http
      .get({ hostname, port, path: `${pathname}api/v1/${path}`, agent }, (answer) => {
        let text = "";
        answer.on("data", (part) => {
          text += part;
        });
        answer.on("end", () => resolve(JSON.parse(text)));
      })
      .on("error", reject);
  });
}

const frame = (text) => {
  const body = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x81fe, 0);
  head.writeUInt16BE(body.length, 2);
  // The mask of zeros leaves the text as it is.
  return Buffer.concat([head, body]);
};

/** Connects, says what is given, reads what comes, and goes after some time. */
async function dropped(head, said, ms) {
  const socket = net.connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.resume();
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`${head} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n`);
  if (said.upgrade) {
    const key = randomBytes(16).toString("base64");
    socket.write(
      `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
    await sleep(20);
    socket.write(frame(said.text));
  } else socket.write(`Content-Length: ${Buffer.byteLength(said.text)}\r\n\r\n${said.text}`);
  await sleep(ms);
  const { computing } = await get("load");
  socket.destroy();
  const begun = performance.now();
  while ((await get("load")).computing > 0) {}
  return computing > 0 ? performance.now() - begun : null;
}

const place = async (name) => ({ ...(await get(`locations/${name}`)), samples: "auto" });
const ship = { re: "-1.76", im: "-0.03", zoom: "30", formula: "burning-ship", iterations: "4000000000", samples: 1 };
const views = {
  "the Burning Ship, limit 4e9": ship,
  "the whole set, automatic samples": await place("shallow-home"),
  "kf-1e50": await place("kf-1e50"),
  "rf-dragon: reference and blocks": await place("rf-dragon"),
  "rf-e1000: reference": await place("rf-e1000"),
};
const rows = [];
for (const [name, scene] of Object.entries(views)) {
  for (const [way, path] of [
    ["WebSocket", "GET api/v1/socket"],
    ["request", "POST api/v1/pictures"],
  ]) {
    const found = [];
    for (let i = 0; i < Number(times); i++) {
      const [width, height] = [1920, 1080];
      const upgrade = way === "WebSocket";
      const text = upgrade
        ? JSON.stringify({
            type: "view",
            id: i + 1,
            scene,
            width,
            height,
            rest: true,
            paint: i % 2 ? "server" : "page",
          })
        : JSON.stringify({ scene, width, height });
      const ms = await dropped(path.replace(" ", ` ${pathname}`), { upgrade, text }, 5 + 595 * Math.random());
      if (ms !== null) found.push(ms);
    }
    found.sort((a, b) => a - b);
    const at = (share) => found[Math.min(found.length - 1, Math.floor(share * found.length))]?.toFixed(1);
    console.log(`${name}, ${way}: ${at(0.5)} / ${at(0.99)} / ${at(1)} of ${found.length} that were under way`);
    rows.push(...found);
  }
}
rows.sort((a, b) => a - b);
const at = (share) => rows[Math.min(rows.length - 1, Math.floor(share * rows.length))].toFixed(1);
console.log(`all: median ${at(0.5)}, 99 % ${at(0.99)}, the longest ${at(1)} ms of ${rows.length}`);
agent.destroy();
