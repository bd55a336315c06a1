// Many pages at once, and a server that is killed: `npm run many -- PROGRAM [PAGES] [SECONDS]`. Starts the server itself. Each page zooms and moves as
// soon as its picture rests; then the server is killed while a poster is rendered, and started again. Fails if a page gets far fewer pictures than
// the others, if one does not connect again, or if the poster does not go on.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "./browser.mjs";

const [program, count = "20", seconds = "30"] = process.argv.slice(2);
if (!program) throw new Error("give the program, such as target/release/dwell");
const folder = await mkdtemp(join(tmpdir(), "dwell-many-"));
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Starts a server with the folder, which gives it the same link each time. */
async function serve() {
  const server = spawn(program, ["explore", "--no-open", "--test-mode", "--folder", folder, "--lab-runs", folder]);
  server.stderr.resume();
  const link = await new Promise((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data).trim()));
    server.once("exit", () => reject(new Error("the server ended")));
  });
  return { server, link };
}

const first = await serve();
const { link } = first;
const api = async (path, body) => {
  const sent = body && { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(`${link}api/v1/${path}`, { ...sent });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

const browser = await launch();
const problems = [];
const pages = [];
for (let i = 0; i < Number(count); i++) {
  const page = await browser.newPage({ viewport: { width: 640, height: 360 } });
  page.on("pageerror", (error) => problems.push(`page ${i}: ${error.message}`));
  await page.goto(link);
  await page.waitForFunction(() => window.dwellTest);
  pages.push(page);
}

/** Moves as soon as a picture rests, until the time is over; milliseconds from each move to its picture. */
const explore = (page, number) =>
  page.evaluate(
    async ([number, until]) => {
      const waits = [];
      const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const canvas = document.querySelector("canvas");
      let turn = number;
      while (Date.now() < until) {
        turn = (turn * 48271 + 11) % 2147483647;
        const [clientX, clientY] = [100 + (turn % 440), 60 + (turn % 240)];
        const deltaY = waits.length % 6 < 4 ? -240 : 300;
        const [begun, before] = [performance.now(), window.dwellTest.id()];
        canvas.dispatchEvent(new WheelEvent("wheel", { clientX, clientY, deltaY, bubbles: true, cancelable: true }));
        while (window.dwellTest.id() === before && Date.now() < until) await sleep(5);
        await window.dwellTest.idle();
        waits.push(performance.now() - begun);
      }
      return waits;
    },
    [number + 1, Date.now() + 1000 * Number(seconds)],
  );

const waits = await Promise.all(pages.map(explore));
const pictures = waits.map((of) => of.length).sort((a, b) => a - b);
const all = waits.flat().sort((a, b) => a - b);
const middle = pictures[pictures.length >> 1];
console.log(
  `${count} pages, ${seconds} s: ${pictures[0]} to ${pictures.at(-1)} pictures each, median ${middle}; ` +
    `ms from a move to its picture: median ${all[all.length >> 1].toFixed(0)}, the longest ${all.at(-1).toFixed(0)}`,
);
if (pictures[0] * 3 < middle) problems.push(`a page got ${pictures[0]} pictures, others ${middle}`);

const { scene } = await api("start");
const job = await api("jobs", { scene, width: 16000, height: 9000, samples: 4, name: "Many" });
const state = async () => (await api("jobs")).find((of) => of.id === job.id) ?? {};
while (!((await state()).fraction > 0.05)) await sleep(100);
const before = (await state()).fraction;
first.server.kill("SIGKILL");
await sleep(1500);
const second = await serve();
if (second.link !== link) problems.push(`the link is another one: ${second.link}`);
const begun = performance.now();
for (const page of pages) {
  const id = await page.evaluate(() => window.dwellTest.id());
  await page.keyboard.press("+");
  const moved = page.waitForFunction((id) => window.dwellTest.id() !== id, id, { timeout: 30_000 });
  await moved
    .then(() => page.evaluate(() => window.dwellTest.idle()))
    .catch(() => problems.push("a page did not connect again"));
}
console.log(`after the kill: all pages have a new picture within ${((performance.now() - begun) / 1000).toFixed(1)} s`);
const after = (await state()).fraction;
console.log(
  `the poster had ${(100 * before).toFixed(0)} % when the server was killed, and has ${(100 * after).toFixed(0)} %`,
);
let last = await state();
for (const until = Date.now() + 300_000; Date.now() < until && last.state !== "done"; last = await state())
  await sleep(500);
console.log(`it is ${last.state}`);
if (last.state !== "done") problems.push(`the poster is ${last.state}`);
await browser.close();
second.server.kill();
await rm(folder, { recursive: true });
for (const problem of problems) console.error(problem);
process.exit(problems.length ? 1 : 0);
