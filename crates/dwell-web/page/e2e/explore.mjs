// Does what a person does, in a browser, against a running server that was started for tests.
// Usage: npm run e2e -- URL

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { launch, serveLocally } from "./browser.mjs";

const url = process.argv[2];
if (!url) throw new Error("usage: npm run e2e -- URL");
const only = process.argv[3];

const browser = await launch(true);
const size = { width: 800, height: 500 };
const failures = [];
let done = 0;

async function open(hash = "", options = {}, query = "") {
  const context = await browser.newContext({ viewport: size, acceptDownloads: true, ...options });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]).catch(() => {});
  await serveLocally(context);
  await context.addInitScript(offerPictures);
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
  page.on("pageerror", (error) => page.problems.push(String(error.stack)));
  await page.goto(url + query + hash);
  await page.waitForFunction(() => window.dwellTest, null, { timeout: 10_000 });
  await idle(page);
  return page;
}

/** Lets the page ask for the picture of its scene, as red, green and blue. */
function offerPictures() {
  window.pictureOfProgram = async (samples) => {
    const [width, height] = [innerWidth, innerHeight].map((length) => Math.round(length * devicePixelRatio));
    const scene = { ...window.dwellTest.scene(), ...(samples ? { samples } : {}) };
    const answer = await fetch("./api/v1/pictures", {
      method: "POST",
      body: JSON.stringify({ scene, width, height, samples }),
      headers: { "content-type": "application/json" },
    });
    const bitmap = await createImageBitmap(await answer.blob(), {
      colorSpaceConversion: "none",
      premultiplyAlpha: "none",
    });
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return context.getImageData(0, 0, width, height).data.filter((_, i) => i % 4 !== 3);
  };
}

/** Fails where what rests on the screen is not the picture of the program, byte for byte. */
async function assertPicture(page) {
  assert.equal(await page.evaluate(() => window.dwellTest.stage()), "final");
  const apart = await page.evaluate(async () => {
    const [ours, theirs] = [window.dwellTest.pixels(), await window.pictureOfProgram()];
    return ours.length === theirs.length ? ours.filter((byte, i) => byte !== theirs[i]).length : -1;
  });
  assert.equal(apart, 0, "bytes that differ from the picture of the program");
}

/** Drops a file in the middle of the page. */
async function drop(page, name, bytes, type = "") {
  const handled = await page.evaluate(
    ({ name, bytes, type }) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(bytes)], name, { type }));
      const under = document.elementFromPoint(innerWidth / 2, innerHeight / 2);
      const send = (type) =>
        !under.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
      const marked = () => document.body.classList.contains("dropping");
      send("dragenter");
      const [entered, over] = [marked(), send("dragover")];
      return { entered, over, dropped: send("drop"), left: !marked() };
    },
    { name, bytes: [...bytes], type },
  );
  assert.deepEqual(handled, { entered: true, over: true, dropped: true, left: true });
}

/** What a button saves: its name and its bytes. */
async function saved(page, button) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

const focused = (page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent.trim();
  });

const idle = (page) => page.evaluate(() => window.dwellTest.idle());
const scene = (page) => page.evaluate(() => window.dwellTest.scene());
const settle = async (page) => {
  await page.waitForTimeout(400);
  await idle(page);
};
/** A number for the pixels, and how many colours they have. */
const picture = (page) =>
  page.evaluate(() => {
    const pixels = window.dwellTest.pixels();
    const seen = new Set();
    let hash = 0;
    for (let i = 0; i < pixels.length; i += 3) {
      const colour = (pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2];
      hash = (Math.imul(hash, 31) + colour) | 0;
      if (seen.size < 5000) seen.add(colour);
    }
    return { hash, colours: seen.size, bytes: pixels.length };
  });
const log2Height = (text) => {
  const [mantissa, exponent = "0"] = text.split("e");
  return Math.log2(Number(mantissa)) + Number(exponent) * Math.log2(10);
};

async function check(name, work) {
  if (only && !name.includes(only)) return;
  const began = performance.now();
  let page;
  try {
    const timeout = new Promise((_, reject) =>
      setTimeout(() => reject(new Error("took longer than 20 s")), 20_000).unref(),
    );
    page = await Promise.race([work(), timeout]);
    assert.deepEqual(page?.problems ?? [], []);
    done += 1;
    console.log(`ok   ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failures.push(name);
    console.log(`FAIL ${name}: ${error.stack}`);
  }
  for (const context of browser.contexts()) await context.close();
}

await check("start", async () => {
  const page = await open();
  const { colours, bytes } = await picture(page);
  assert.equal(bytes, size.width * size.height * 3);
  assert.ok(colours > 20);
  assert.equal(await page.evaluate(() => window.dwellTest.stage()), "final");
  return page;
});

await check("wheel zooms about the pointer", async () => {
  const page = await open();
  const before = await scene(page);
  await page.mouse.move(200, 150);
  await page.mouse.wheel(0, -400);
  await settle(page);
  const after = await scene(page);
  const factor = 2 ** (log2Height(before.view_height) - log2Height(after.view_height));
  assert.ok(factor > 1.3, `${factor}`);
  // The point under the pointer stays: centre + offset * height is the same.
  const [dx, dy] = [(200 - size.width / 2) / size.height, (size.height / 2 - 150) / size.height];
  const at = (s) => [Number(s.re) + dx * Number(s.view_height), Number(s.im) + dy * Number(s.view_height)];
  const [a, b] = [at(before), at(after)];
  assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) < 1e-4 * Number(before.view_height));
  assert.match(page.url(), /#re=.*&im=.*&view_height=/);
  return page;
});

await check("drag moves, and undo and the back button go back", async () => {
  const page = await open();
  const before = await scene(page);
  await page.mouse.move(400, 250);
  await page.mouse.down();
  await page.mouse.move(500, 250, { steps: 5 });
  await page.waitForTimeout(150);
  await page.mouse.up();
  await settle(page);
  const moved = await scene(page);
  const expected = Number(before.re) - (100 / size.height) * Number(before.view_height);
  assert.ok(Math.abs(Number(moved.re) - expected) < 1e-6);
  await page.keyboard.press("z");
  await page.waitForTimeout(800);
  await settle(page);
  assert.equal(Number((await scene(page)).re), Number(before.re));
  await page.keyboard.press("Shift+Z");
  await page.waitForTimeout(800);
  await settle(page);
  assert.equal((await scene(page)).re, moved.re);
  await page.goBack();
  await page.waitForTimeout(800);
  await settle(page);
  assert.equal(Number((await scene(page)).re), Number(before.re));
  return page;
});

await check("keys move, turn and zoom", async () => {
  const page = await open();
  const before = await scene(page);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("+");
  await page.keyboard.press("]");
  await settle(page);
  const after = await scene(page);
  assert.ok(Number(after.re) > Number(before.re));
  assert.ok(log2Height(after.view_height) < log2Height(before.view_height));
  assert.equal(Math.abs(Number(after.rotation)), 15);
  await page.keyboard.press("0");
  await page.waitForTimeout(900);
  await settle(page);
  assert.equal(Number((await scene(page)).rotation), 0);
  await page.keyboard.press("Home");
  await page.waitForTimeout(1500);
  await settle(page);
  assert.equal(Number((await scene(page)).re), Number(before.re));
  return page;
});

await check("box zoom and double-click", async () => {
  const page = await open();
  const before = await scene(page);
  await page.keyboard.down("Shift");
  await page.mouse.move(300, 200);
  await page.mouse.down();
  await page.mouse.move(380, 250, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.waitForTimeout(1500);
  await settle(page);
  const boxed = await scene(page);
  const octaves = log2Height(before.view_height) - log2Height(boxed.view_height);
  assert.ok(Math.abs(octaves - Math.log2(10)) < 0.01, `${octaves}`);
  await page.mouse.dblclick(400, 250);
  await settle(page);
  assert.ok(log2Height((await scene(page)).view_height) < log2Height(boxed.view_height) - 1);
  return page;
});

await check("a dive goes in while the key is held", async () => {
  const page = await open();
  const before = await scene(page);
  await page.evaluate(() => window.dwellTest.frames());
  await page.keyboard.down("d");
  await page.waitForTimeout(1500);
  await page.keyboard.up("d");
  const { count, since } = await page.evaluate(() => {
    const frames = window.dwellTest.frames();
    return { ...frames, since: performance.now() - frames.since };
  });
  await settle(page);
  assert.ok(log2Height((await scene(page)).view_height) < log2Height(before.view_height) - 1);
  console.log(`     ${((1000 * count) / since).toFixed(0)} drawings per second`);
  return page;
});

await check("a link to a deep place keeps every digit", async () => {
  const re = `-0.75${"1234567890".repeat(6)}1`;
  const page = await open(`#re=${re}&im=0.1&view_height=4e-3`);
  assert.equal((await scene(page)).re, re);
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.notEqual((await scene(page)).re, re);
  return page;
});

await check("palette, density and offset change the picture", async () => {
  const page = await open();
  const first = await picture(page);
  await page.keyboard.press("p");
  const options = page.getByRole("option");
  await options.nth(1).waitFor();
  await options.nth(1).click();
  await settle(page);
  const second = await picture(page);
  assert.notEqual(second.hash, first.hash);
  await page.getByRole("slider", { name: "Density" }).focus();
  for (let i = 0; i < 10; i++) await page.keyboard.press("ArrowRight");
  await page.waitForTimeout(60);
  const shaded = await picture(page);
  assert.notEqual(shaded.hash, second.hash);
  await settle(page);
  await page.getByRole("button", { name: "Random palette" }).click();
  await settle(page);
  assert.match((await scene(page)).colour.palette, /^#.*,#/);
  assert.match(page.url(), /palette=%23/);
  return page;
});

await check("shading is painted by the server", async () => {
  const page = await open();
  const first = await picture(page);
  await page.keyboard.press("p");
  await page.getByRole("switch", { name: "Shading" }).check();
  await settle(page);
  assert.equal((await scene(page)).layer[0].what, "slope");
  assert.notEqual((await picture(page)).hash, first.hash);
  return page;
});

await check("the point under the pointer and its Julia set", async () => {
  const page = await open();
  await page.keyboard.press("i");
  await page.mouse.move(300, 200);
  await page.mouse.move(301, 200);
  await page.getByText("Arithmetic").waitFor();
  await page.getByRole("button", { name: "Go to this Julia set" }).click();
  await settle(page);
  assert.equal((await scene(page)).julia.length, 2);
  return page;
});

await check("locations and bookmarks", async () => {
  const page = await open();
  await page.keyboard.press("o");
  const tiles = page.locator(".wall .tile");
  await tiles.nth(1).waitFor();
  const before = await scene(page);
  await tiles.nth(1).click();
  await page.waitForTimeout(500);
  await settle(page);
  assert.notEqual((await scene(page)).view_height, before.view_height);
  return page;
});

await check("bookmarks", async () => {
  const page = await open();
  if (!(await page.evaluate(() => fetch("./api/v1/start").then((r) => r.json()))).folder) return page;
  const name = `e2e-${Date.now()}`;
  await page.keyboard.press("o");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Keep" }).click();
  const row = page.locator(".list .row", { hasText: name });
  await row.waitFor();
  await page.getByRole("button", { name: `Remove ${name}` }).click();
  await row.waitFor({ state: "detached" });
  return page;
});

await check("posters", async () => {
  const page = await open();
  if (!(await page.evaluate(() => fetch("./api/v1/start").then((r) => r.json()))).folder) return page;
  await page.keyboard.press("j");
  await page.getByLabel("Name").fill("e2e");
  await page.getByLabel("Size").fill("640x360");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const job = page.locator(".job").last();
  await job.getByRole("link", { name: "Save" }).waitFor();
  const download = page.waitForEvent("download");
  await job.getByRole("link", { name: "Save" }).click();
  assert.match((await download).suggestedFilename(), /\.png$/);
  await job.getByRole("button", { name: "Remove" }).click();
  await job.waitFor({ state: "detached" });
  return page;
});

await check("files of places, pictures and palettes", async () => {
  const page = await open();
  const input = page.getByLabel("Open a file");
  const text = 're = "-0.1"\nim = "0.9"\nzoom = "50"\n';
  await input.setInputFiles({ name: "here.toml", mimeType: "text/plain", buffer: Buffer.from(text) });
  await page.getByText("here.toml opened.").waitFor();
  await page.waitForTimeout(1500);
  await settle(page);
  assert.equal(Number((await scene(page)).im), 0.9);
  const map = Array.from({ length: 256 }, (_, i) => `${i} ${255 - i} 128`).join("\n");
  await input.setInputFiles({ name: "mine.map", mimeType: "text/plain", buffer: Buffer.from(map) });
  await page.getByText("Palette mine.map opened.").waitFor();
  await settle(page);
  assert.ok((await scene(page)).colour.palette_text.length > 100);
  assert.match(page.url(), /colours=/);
  const picture = await page.evaluate(async () => {
    const body = JSON.stringify({ scene: window.dwellTest.scene(), width: 64, height: 36 });
    const answer = await fetch("./api/v1/pictures", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    return [...new Uint8Array(await answer.arrayBuffer())];
  });
  await page.keyboard.press("Home");
  await page.waitForTimeout(1500);
  await settle(page);
  await input.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from(picture) });
  await page.getByText("a.png opened.").waitFor();
  await page.waitForTimeout(1500);
  await settle(page);
  assert.equal(Number((await scene(page)).im), 0.9);
  return page;
});

for (const canvas of ["2d", "webgl"]) {
  await check(`the page paints like the program: ${canvas}`, async () => {
    const page = await open("", {}, `?canvas=${canvas}`);
    // Without smooth edges the final picture has one sample, like the field.
    const far = await page.evaluate(async () => {
      const [ours, theirs] = [window.dwellTest.fieldPixels(), await window.pictureOfProgram(1)];
      let different = 0;
      let most = 0;
      for (let i = 0; i < ours.length; i += 3) {
        const apart = Math.max(...[0, 1, 2].map((k) => Math.abs(ours[i + k] - theirs[i + k])));
        most = Math.max(most, apart);
        if (apart > 1) different += 1;
      }
      return { different, most, pixels: ours.length / 3 };
    });
    console.log(`     pixels more than 1 of 255 apart: ${far.different} of ${far.pixels}; the most: ${far.most}`);
    assert.ok(far.different <= far.pixels / 1000);
    return page;
  });
}

await check("the limit", async () => {
  const page = await open();
  await page.keyboard.press("m");
  await page.getByLabel("Limit", { exact: true }).fill("1234");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal((await scene(page)).iterations, "1234");
  await page.keyboard.press("Escape");
  return page;
});

await check("command, link and picture", async () => {
  const page = await open();
  await page.keyboard.press("s");
  await page.getByRole("button", { name: "Copy as command" }).click();
  await page.getByText("Command copied.").waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^dwell render/);
  await page.getByLabel("Size").fill("320x180");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save PNG" }).click();
  assert.match((await download).suggestedFilename(), /\.png$/);
  return page;
});

await check("flavours", async () => {
  const page = await open();
  await page.keyboard.press("v");
  await page.getByRole("button", { name: "Run both" }).click();
  await page.getByText("Iterations/s").waitFor();
  // The laboratory's report is a page of its own.
  const [report] = await Promise.all([page.waitForEvent("popup"), page.locator(".reports a").first().click()]);
  await report.getByRole("heading", { level: 1 }).waitFor();
  assert.match(await report.title(), /^Laboratory report/);
  await report.close();
  return page;
});

await check("history has small pictures", async () => {
  const page = await open();
  await page.keyboard.press("+");
  await settle(page);
  await page.keyboard.press("y");
  await page.locator(".wall .tile img[src^=blob]").nth(1).waitFor();
  return page;
});

await check("every way to draw shows the same final picture", async () => {
  const page = await open();
  const first = await picture(page);
  for (const way of ["?canvas=2d", "?canvas=webgl", "?canvas=2d&paint=server"]) {
    const other = await open("", {}, way);
    assert.equal((await picture(other)).hash, first.hash, way);
    await other.context().close();
  }
  return page;
});

await check("a phone", async () => {
  const page = await open("", {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    hasTouch: true,
    isMobile: true,
  });
  assert.equal((await picture(page)).bytes, 780 * 1688 * 3);
  await page.getByRole("button", { name: "Colours" }).tap();
  const box = await page.locator(".panel").boundingBox();
  assert.ok(box.x === 0 && box.width === 390 && box.y > 200);
  await page.getByLabel("Look").selectOption("cells");
  await page.getByRole("button", { name: /^Period/ }).tap();
  const fits = await page.locator(".panel-body").evaluate((body) => body.scrollWidth <= body.clientWidth);
  assert.ok(fits, "the panel is wider than the screen");
  await settle(page);
  await assertPicture(page);
  return page;
});

await check("the connection comes back", async () => {
  const page = await open();
  const trouble = page.getByRole("alert");
  assert.equal(await trouble.textContent(), "");
  const id = await page.evaluate(() => window.dwellTest.id());
  await page.context().setOffline(true);
  await page.evaluate(() => window.dwellTest.disconnect());
  await trouble.getByText("The program does not answer.").waitFor();
  await page.getByText("reconnecting", { exact: true }).waitFor();
  await page.context().setOffline(false);
  await page.waitForFunction((before) => window.dwellTest.id() > before, id, { timeout: 10_000 });
  assert.equal(await trouble.textContent(), "");
  const warnings = page.locator(".status").getByText(/answer|reconnecting/i);
  assert.equal(await warnings.filter({ visible: true }).count(), 0);
  await settle(page);
  // The browser says of each attempt that it failed.
  page.problems = page.problems.filter((problem) => !problem.includes("WebSocket"));
  return page;
});

await check("two fingers zoom about the point between them", async () => {
  const page = await open("", { hasTouch: true });
  const devtools = await page.context().newCDPSession(page);
  const touch = (type, ...points) =>
    devtools.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const before = await scene(page);
  await touch("touchStart", [250, 200]);
  await touch("touchStart", [250, 200], [350, 200]);
  for (let i = 1; i <= 10; i++) await touch("touchMove", [250 - 5 * i, 200], [350 + 5 * i, 200]);
  await touch("touchEnd");
  await settle(page);
  const after = await scene(page);
  const factor = 2 ** (log2Height(before.view_height) - log2Height(after.view_height));
  assert.ok(Math.abs(factor - 2) < 0.01, `${factor}`);
  const at = ({ re, im, view_height }) => [
    Number(re) + ((300 - size.width / 2) / size.height) * Number(view_height),
    Number(im) + ((size.height / 2 - 200) / size.height) * Number(view_height),
  ];
  const [a, b] = [at(before), at(after)];
  assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) < 1e-4 * Number(before.view_height));
  assert.equal(Number(after.rotation), 0);
  await assertPicture(page);
  return page;
});

await check("full screen by key and by button", async () => {
  const page = await open();
  await page.keyboard.press("f");
  await page.waitForFunction(() => document.fullscreenElement);
  await page.getByRole("button", { name: "Full screen" }).click();
  await page.waitForFunction(() => !document.fullscreenElement);
  await settle(page);
  return page;
});

await check("files are dropped", async () => {
  const page = await open();
  await page.keyboard.press("s");
  await page.getByLabel("Size").fill("64x36");
  const png = await saved(page, "Save PNG");
  assert.match(png.name, /\.png$/);
  await drop(page, "there.toml", Buffer.from('formula = "tricorn"\nre = "-0.25"\nim = "0.125"\nzoom = "3"\n'));
  await page.getByText("there.toml opened.").waitFor();
  assert.deepEqual([(await scene(page)).formula, Number((await scene(page)).im)], ["tricorn", 0.125]);
  await drop(page, "reds.gpl", Buffer.from("GIMP Palette\nName: reds\n#\n0 0 0\n255 0 0\n255 255 255\n"));
  await page.getByText("Palette reds.gpl opened.").waitFor();
  await settle(page);
  assert.match((await scene(page)).colour.palette_text, /255 0 0/);
  await assertPicture(page);
  await drop(page, png.name, png.bytes);
  await page.getByText(`${png.name} opened.`).waitFor();
  await settle(page);
  assert.equal((await scene(page)).formula, "mandelbrot");
  assert.equal((await scene(page)).colour.palette, "twilight");
  const sunset = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(64, 64);
    const context = canvas.getContext("2d");
    for (const [i, colour] of ["#102040", "#c05020", "#f0b060", "#ffffff"].entries()) {
      context.fillStyle = colour;
      context.fillRect(0, 16 * i, 64, 16);
    }
    return [...new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer())];
  });
  await drop(page, "sunset.png", Buffer.from(sunset), "image/png");
  await page.getByText("Palette sunset.png opened.").waitFor();
  await settle(page);
  assert.equal((await scene(page)).colour.palette, "#102040,#c05020,#f0b060,#ffffff");
  await assertPicture(page);
  await drop(page, "nothing.toml", Buffer.from("no = location"));
  await page.locator(".toast.error").waitFor();
  page.problems = page.problems.filter((problem) => !problem.includes("status of 422"));
  return page;
});

await check("layers are added, changed and moved", async () => {
  const page = await open();
  const whats = async () => ((await scene(page)).layer ?? []).map((layer) => layer.what);
  const add = async (what) => {
    await page.getByLabel("New layer").selectOption(what);
    await page.getByRole("button", { name: "Add layer" }).click();
  };
  await page.keyboard.press("p");
  await page.getByRole("option").nth(1).waitFor();
  const shading = page.getByRole("switch", { name: "Shading" });
  await add("slope");
  assert.ok(await shading.isChecked());
  await add("period");
  const period = page.getByRole("group", { name: "Period" });
  await period.getByLabel("Palette").selectOption("ember");
  await period.getByLabel("Blend").selectOption("screen");
  const opacity = period.getByRole("slider", { name: "Opacity" });
  await opacity.focus();
  for (let i = 0; i < 40; i++) await page.keyboard.press("ArrowLeft");
  await settle(page);
  const [, layer] = (await scene(page)).layer;
  assert.deepEqual(
    { palette: layer.palette, blend: layer.blend, opacity: layer.opacity },
    { palette: "ember", blend: "screen", opacity: 0.6 },
  );
  await assertPicture(page);
  await add("colour");
  const flat = page.getByRole("group", { name: "One colour" });
  await flat.getByLabel("Over").selectOption("escaped");
  await flat.locator("input[type=color]").fill("#204060");
  await settle(page);
  const covered = await picture(page);
  await page.getByRole("button", { name: "Move down layer 3, One colour" }).focus();
  await page.keyboard.press("Enter");
  assert.equal(await focused(page), "Move down layer 2, One colour");
  await page.keyboard.press("Enter");
  assert.deepEqual(await whats(), ["colour", "slope", "period"]);
  assert.equal(await focused(page), "Move up layer 1, One colour");
  await settle(page);
  assert.notEqual((await picture(page)).hash, covered.hash);
  await assertPicture(page);
  await page.getByRole("button", { name: "Hide layer 1, One colour" }).click();
  assert.equal((await scene(page)).layer[0].opacity, 0);
  await page.getByRole("button", { name: "Show layer 1, One colour" }).click();
  assert.equal((await scene(page)).layer[0].opacity, 1);
  await shading.uncheck();
  assert.deepEqual(await whats(), ["colour", "period"]);
  for (let i = 2; i < 8; i++) await add("outline");
  assert.ok(await page.getByRole("button", { name: "Add layer" }).isDisabled());
  for (let i = 8; i > 0; i--) await page.getByRole("button", { name: `Remove layer ${i},` }).click();
  assert.deepEqual(await whats(), []);
  await settle(page);
  return page;
});

await check("a look fills the layers, which are changed then", async () => {
  const page = await open();
  await page.keyboard.press("p");
  const look = page.getByLabel("Look");
  await look.selectOption("ink-lines");
  await page.getByRole("button", { name: /^Outline/ }).click();
  await page.getByRole("slider", { name: "Width" }).focus();
  for (let i = 0; i < 20; i++) await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.ok((await scene(page)).layer[2].width > 1);
  assert.equal((await scene(page)).colour.palette, "opal");
  assert.equal(await look.inputValue(), "own");
  await assertPicture(page);
  await look.selectOption("relief");
  assert.ok(await page.getByRole("switch", { name: "Shading" }).isChecked());
  assert.equal((await scene(page)).colour.palette, "opal");
  await settle(page);
  return page;
});

await check("layers of an address are shown, and those that are refused are removed", async () => {
  const more = (values) => Buffer.from(JSON.stringify(values)).toString("base64url");
  const page = await open(`#re=-0.5&im=0&view_height=3&more=${more({ layer: [{ what: "shine" }] })}`);
  await page.getByText("refused").waitFor();
  await page.locator(".toast.error").first().waitFor();
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "Remove layer 1, shine" }).click();
  await settle(page);
  await assertPicture(page);
  page.problems = page.problems.filter((problem) => !problem.includes("status of 422"));
  await page.evaluate(() => {
    location.hash = "#re=-0.5&im=0&view_height=3&look=night";
  });
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await page.getByRole("button", { name: "Remove layer 3, Outline" }).waitFor();
  assert.equal(await page.getByLabel("Look").inputValue(), "night");
  await settle(page);
  await assertPicture(page);
  return page;
});

await check("locations are saved in every format, and opened again", async () => {
  const page = await open("#re=-0.25&im=0.75&view_height=0.5&formula=multibrot&power=3");
  await page.keyboard.press("s");
  const format = page.getByLabel("Format");
  const names = await format.locator("option").evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(names, ["toml", "kfr", "f3.toml", "upr", "par", "xpf"]);
  const files = [];
  for (const name of names) {
    await format.selectOption(name);
    files.push(await saved(page, "Save file"));
    assert.ok(files.at(-1).name.endsWith(`.${name}`));
  }
  for (const { name, bytes } of files) {
    await drop(page, "elsewhere.toml", Buffer.from('re = "0"\nim = "0"\nzoom = "1"\n'));
    await page.waitForFunction(() => window.dwellTest.scene().re === "0");
    await drop(page, name, bytes);
    await page.getByText(`${name} opened.`).waitFor();
    const { re, im, view_height, formula, power } = await scene(page);
    const numbers = [re, im, view_height].map((text) => Number(Number(text).toPrecision(9)));
    assert.deepEqual([...numbers, formula, power], [-0.25, 0.75, 0.5, "multibrot", 3], name);
  }
  await settle(page);
  await assertPicture(page);
  return page;
});

await check("a panel is used by keys alone", async () => {
  const page = await open();
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await press("p", "Escape");
  assert.match(await focused(page), /^The picture/);
  await press("Tab", "Tab");
  assert.equal(await focused(page), "Colours");
  await press("Enter");
  await page.getByRole("option").nth(1).waitFor();
  const order = [];
  for (let i = 0; i < 7; i++) {
    await press("Tab");
    order.push(await focused(page));
  }
  assert.deepEqual(order, [
    "Close",
    "twilight",
    "Random palette",
    "From a picture or file",
    "Density",
    "Offset",
    "Scale",
  ]);
  await press(...Array(5).fill("Shift+Tab"), "ArrowRight");
  const name = await focused(page);
  await press("Enter");
  await settle(page);
  assert.equal((await scene(page)).colour.palette, name);
  const { re } = await scene(page);
  assert.equal(re, (await page.evaluate(() => fetch("./api/v1/start").then((r) => r.json()))).scene.re);
  await press("o");
  await page.getByRole("heading", { name: "Places" }).waitFor();
  await press("Escape");
  assert.equal(await focused(page), "Colours");
  return page;
});

await browser.close();
console.log(`${done} checks passed, ${failures.length} failed`);
process.exit(failures.length ? 1 : 0);
