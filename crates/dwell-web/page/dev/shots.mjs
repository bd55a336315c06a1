// Pictures of the page for the eye. Usage: node dev/shots.mjs URL FOLDER
import { mkdirSync } from "node:fs";
import { launch } from "../e2e/browser.mjs";

const [url, folder = "shots"] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
const views = [
  ["dark", { width: 1280, height: 720 }, "dark", 1],
  ["light", { width: 1280, height: 720 }, "light", 1],
  ["phone", { width: 390, height: 844 }, "dark", 2],
];
const panels = {
  colours: "p",
  places: "o",
  info: "i",
  flavours: "v",
  formula: "m",
  share: "s",
  posters: "j",
  history: "y",
  help: "h",
};
const only = process.env.ONLY?.split(",");
for (const [name, viewport, colorScheme, deviceScaleFactor] of views) {
  const page = await browser.newPage({ viewport, colorScheme, deviceScaleFactor });
  page.on("console", (message) => console.log(name, message.type(), message.text()));
  page.on("pageerror", (error) => console.log(name, "pageerror", error.stack));
  await page.goto(url);
  await page.waitForFunction(() => window.dwellTest);
  await page.evaluate(() => window.dwellTest.idle());
  await page.screenshot({ path: `${folder}/${name}.png` });
  for (const [panel, key] of Object.entries(panels)) {
    if (only && !only.includes(panel)) continue;
    await page.keyboard.press(key);
    if (panel === "info") {
      await page.mouse.move(viewport.width / 3, viewport.height / 3);
      await page.waitForTimeout(1200);
    }
    if (panel === "flavours") {
      await page.getByRole("button", { name: "Run both" }).click();
    }
    await page.waitForTimeout(700);
    await page.screenshot({ path: `${folder}/${name}-${panel}.png` });
    await page.keyboard.press("Escape");
    await page.waitForTimeout(100);
  }
  await page.close();
}
await browser.close();
