import { readFile } from "node:fs/promises";
import { chromium } from "playwright-core";

const WEBGL_IN_SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"];

/** Chromium without a graphics device and without connections of its own; with WebGL in software, if that is wanted. */
export function launch(webgl = false) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      ...(webgl ? WEBGL_IN_SOFTWARE : []),
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** With LOCAL_ASSETS=1, serves the built scripts and style in place of those in the program, with its headers. */
export async function serveLocally(context) {
  if (!process.env.LOCAL_ASSETS) return;
  const assets = new URL("../../assets/", import.meta.url);
  const kinds = { "app.js": "text/javascript", "tools.js": "text/javascript", "app.css": "text/css" };
  for (const [name, contentType] of Object.entries(kinds)) {
    await context.route(
      (at) => at.pathname.endsWith(`/${name}`),
      async (route) => {
        const response = await route.fetch();
        // The program may not have a file of this name yet.
        await route.fulfill({ response, status: 200, contentType, body: await readFile(new URL(name, assets)) });
      },
    );
  }
}
