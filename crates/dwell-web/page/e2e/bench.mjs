// Measures what a person waits for, in a browser without a graphics device: `npm run bench -- LINK [PLACE]`, where the program was
// started with --test-mode. Times are in milliseconds, as median and 95th percentile.
import { launch, serveLocally } from "./browser.mjs";

const link = process.argv[2];
if (!link) throw new Error("give the link that dwell explore prints");

const PLACES = {
  home: "",
  "seahorse 1e9": "#re=-0.7436438870371587&im=0.1318259042053119&view_height=4e-9",
  "kf-1e50": "",
};
const OPENED = 12;
const MOVES = 30;
const DRAG_MS = 3000;

const sorted = (times) => [...times].sort((a, b) => a - b);
const quantile = (times, share) =>
  Math.round(sorted(times)[Math.min(times.length - 1, Math.floor(share * times.length))]);
const summary = (times) => `${quantile(times, 0.5)} / ${quantile(times, 0.95)}`;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const browser = await launch();

/** Opens the page and measures from the navigation to its pixels. */
async function open(hash) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  await serveLocally(context);
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.addInitScript(() => {
    window.seen = {};
    const look = () => {
      const stage = window.dwellTest?.stage();
      if (stage && stage !== "none") window.seen[stage] ??= performance.now();
      if (stage !== "final") setTimeout(look, 4);
      else console.log("final");
    };
    look();
  });
  // A question to the page would take time from it, so that it tells by itself.
  const final = page.waitForEvent("console", { predicate: (message) => message.text() === "final", timeout: 60_000 });
  await page.goto(link + hash, { waitUntil: "commit" });
  await final;
  const seen = await page.evaluate(() => window.seen);
  return { context, page, problems, seen };
}

async function moves(page) {
  await page.evaluate(() => window.dwellTest.firstPixelsMs());
  const keys = ["ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "+", "-"];
  for (let i = 0; i < MOVES; i++) {
    await page.keyboard.press(keys[i % keys.length]);
    await page.evaluate(() => window.dwellTest.idle());
  }
  return page.evaluate(() => window.dwellTest.firstPixelsMs());
}

async function drag(page) {
  await page.mouse.move(700, 400);
  await page.mouse.down();
  await page.evaluate(() => window.dwellTest.frames());
  const begun = performance.now();
  while (performance.now() - begun < DRAG_MS) {
    const t = (performance.now() - begun) / 300;
    await page.mouse.move(700 + 120 * Math.sin(t), 400 + 90 * Math.cos(1.3 * t));
    await sleep(8);
  }
  const { count } = await page.evaluate(() => window.dwellTest.frames());
  const seconds = (performance.now() - begun) / 1000;
  await page.mouse.up();
  await page.evaluate(() => window.dwellTest.idle());
  return count / seconds;
}

/** Drawings a second while the density is changed at every frame. */
async function recolour(page) {
  return page.evaluate(
    (ms) =>
      new Promise((resolve) => {
        const begun = performance.now();
        window.dwellTest.frames();
        const step = () => {
          const t = performance.now() - begun;
          if (t > ms) resolve(window.dwellTest.frames().count / (t / 1000));
          else {
            window.dwellTest.density(1 + t / ms);
            requestAnimationFrame(step);
          }
        };
        step();
      }),
    DRAG_MS,
  );
}

for (const name of Object.keys(PLACES).filter((name) => name.startsWith(process.argv[3] ?? ""))) {
  let hash = PLACES[name];
  if (name.startsWith("kf")) {
    const scene = await (await fetch(`${link}api/v1/locations/${name}`)).json();
    hash = `#re=${scene.re}&im=${scene.im}&view_height=${scene.view_height}`;
  }
  const opened = [];
  for (let i = 0; i < (name.startsWith("kf") ? 3 : OPENED); i++) {
    const one = await open(hash);
    // The first start of a browser reads its own files.
    if (i > 0) opened.push(one.seen);
    await one.context.close();
  }
  const of = (what) => summary(opened.map((seen) => seen[what]));
  console.log(`${name}: first pixels ${of("coarse")}, all pixels ${of("full")}, final ${of("final")}`);
  const { context, page, problems } = await open(hash);
  const first = await moves(page);
  console.log(`${name}: new pixels after a move ${summary(first)} of ${first.length} views`);
  console.log(
    `${name}: drawings a second: dragging ${(await drag(page)).toFixed(0)}, recolouring ${(await recolour(page)).toFixed(0)}`,
  );
  if (problems.length > 0) console.log(`${name}: problems: ${problems.join("; ")}`);
  await context.close();
}
await browser.close();
