// Moves at random for long, as nobody does: `npm run soak -- LINK [MOVES]`, where the program was started with --test-mode. Fails at an
// error in the console, a page that does not come to rest, and a picture at rest that is not that of the scene.
import { tmpdir } from "node:os";
import { launch, serveLocally } from "./browser.mjs";

const [link, count = "1000"] = process.argv.slice(2);
if (!link) throw new Error("give the link that dwell explore prints");

/** Numbers that look random and are the same each time. */
let state = 0x2545f491;
function below(most) {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) % most;
}

const KEYS = [
  "ArrowLeft",
  "ArrowRight",
  "ArrowUp",
  "ArrowDown",
  "+",
  "+",
  "-",
  "[",
  "]",
  "0",
  "z",
  "Shift+Z",
  "l",
  "Home",
];
const REST_EVERY = 50;

/** In the page: compares what rests on the screen with the picture of the scene. */
async function pixelsOtherThanRendered() {
  const shown = window.dwellTest.pixels();
  const { width, height } = document.querySelector("canvas.picture");
  const body = JSON.stringify({ scene: window.dwellTest.scene(), width, height });
  const answer = await fetch("./api/v1/pictures", { method: "POST", body });
  if (!answer.ok) return -1;
  const picture = await createImageBitmap(await answer.blob(), { colorSpaceConversion: "none" });
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  let differing = 0;
  for (let i = 0, j = 0; i < data.length; i += 4, j += 3) {
    if (data[i] !== shown[j] || data[i + 1] !== shown[j + 1] || data[i + 2] !== shown[j + 2]) differing += 1;
  }
  return differing;
}

const browser = await launch();
const context = await browser.newContext({ viewport: { width: 640, height: 360 } });
await serveLocally(context);
const page = await context.newPage();
const problems = [];
page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
page.on("pageerror", (error) => problems.push(String(error.stack)));
await page.goto(link);
await page.waitForFunction(() => window.dwellTest);

/** Presses a key; the limit is doubled up to a million, since views at 10^12 take longer than anybody waits. */
async function pressAny() {
  const key = KEYS[below(KEYS.length)];
  const limit = Number(await page.evaluate(() => window.dwellTest.scene().iterations));
  if (key !== "l" || !(limit > 1e6)) await page.keyboard.press(key);
}

const moves = [
  pressAny,
  pressAny,
  async () => {
    await page.mouse.move(60 + below(500), 20 + below(300));
    await page.mouse.wheel(0, below(2) ? 120 : -240);
  },
  async () => {
    await page.mouse.move(100 + below(400), 50 + below(250));
    await page.mouse.down();
    await page.mouse.move(100 + below(400), 50 + below(250), { steps: 3 });
    await page.mouse.up();
  },
  () => page.setViewportSize({ width: 320 + below(400), height: 240 + below(300) }),
];

for (let i = 1; i <= Number(count); i++) {
  if (below(200) === 0) {
    await page.reload();
    await page.waitForFunction(() => window.dwellTest);
  } else await moves[below(moves.length)]();
  if (i % REST_EVERY === 0) {
    const rested = await Promise.race([
      page.evaluate(() => window.dwellTest.idle().then(() => true)),
      new Promise((resolve) => setTimeout(() => resolve(false), 60_000)),
    ]);
    if (!rested) problems.push(`move ${i}: the page has not come to rest`);
    // The program may refuse a view, for instance at a limit of 10^12; then there is no picture.
    const isShown = await page.evaluate(() => window.dwellTest.stage() === "final");
    const differing = isShown ? await page.evaluate(pixelsOtherThanRendered) : 0;
    if (differing !== 0) {
      const seen = `${tmpdir()}/soak-${i}.png`;
      await page.screenshot({ path: seen });
      const scene = JSON.stringify(await page.evaluate(() => window.dwellTest.scene()));
      problems.push(
        `move ${i}: ${differing} pixels are not those of the picture of ${scene}; the screen is in ${seen}`,
      );
    }
    if (i % 500 === 0) console.log(`${i} moves, ${problems.length} problems`);
  }
  if (problems.length > 0) break;
}
await browser.close();
console.log(problems.length === 0 ? `${count} moves without a problem` : problems.join("\n"));
process.exit(problems.length === 0 ? 0 : 1);
