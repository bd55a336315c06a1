import "./style.css";
import { sceneOf } from "./address";
import { api, type Start } from "./api";
import type { App } from "./app";
import { element } from "./dom";
import { Explorer } from "./explorer";
import { fileChooser } from "./files";
import { History } from "./history";
import { homeScene } from "./home";
import { Link } from "./link";
import { Motion } from "./motion";
import { Overlay } from "./overlay";
import type { Renderer } from "./renderer";
import { CanvasRenderer } from "./renderer-canvas";
import { WebglRenderer } from "./renderer-webgl";
import { type Scene, viewOf } from "./scene";
import { Session } from "./session";
import { offerTests } from "./test-mode";
import { toast } from "./toast";
import { addToolsTo } from "./tools";
import { cappedSize, octaves } from "./view";

/** The tools are made once the first pixels are on the screen, or after so long. */
const TOOLS_AFTER_MS = 300;
const START_RETRY_MS = 1000;

async function main(): Promise<void> {
  // Connection and start scene come while the browser sets up WebGL, which takes longer.
  const link = new Link();
  const starting = started();
  const { canvas, renderer } = drawing();
  run(await starting, canvas, renderer, link);
}

function newCanvas(): HTMLCanvasElement {
  return element("canvas", {
    className: "picture",
    tabIndex: 0,
    role: "img",
    "aria-label": "The picture. Arrow keys move, plus and minus zoom, h lists all keys.",
  });
}

/**
 * The canvas, and what draws in it: WebGL2 where a graphics device does it, and else the 2D context. The address may choose:
 * `?canvas=2d`, `?canvas=webgl`, and with `?paint=server` a 2D canvas shows pictures of the server alone.
 */
function drawing(): { canvas: HTMLCanvasElement; renderer: Renderer } {
  const wants = new URLSearchParams(location.search);
  const kind = wants.get("canvas");
  let canvas = newCanvas();
  let renderer: Renderer | null = kind === "2d" ? null : WebglRenderer.create(canvas, kind === "webgl");
  if (!renderer) {
    // A canvas keeps the kind of its first context.
    canvas = newCanvas();
    renderer = new CanvasRenderer(canvas, wants.get("paint") !== "server");
  }
  document.body.append(canvas);
  return { canvas, renderer };
}

/** What the program says of itself; asked again until it answers. */
async function started(): Promise<Start> {
  for (;;) {
    try {
      return await api.start();
    } catch (error) {
      toast((error as Error).message, undefined, "error");
      await new Promise((resolve) => setTimeout(resolve, START_RETRY_MS));
    }
  }
}

function run(start: Start, canvas: HTMLCanvasElement, renderer: Renderer, link: Link): void {
  const explorer = new Explorer(start);
  try {
    const linked = sceneOf(location.hash, start.scene);
    if (linked) {
      viewOf(linked);
      explorer.open(linked);
    }
  } catch {
    toast("This address holds no place.", "The page shows the place it was started with.", "error");
  }

  const motion = new Motion(explorer);
  followSize(canvas, explorer);
  if (location.hash === "") explorer.open(homeScene(explorer));
  const session = new Session(explorer, renderer, link, (now) => motion.tick(now));
  motion.wake = () => session.draw();
  motion.ahead = () => {
    const shown = session.frames.newestShown;
    return shown ? octaves(shown, explorer.view) : 0;
  };
  motion.arrived = () => session.arrived();
  const history = new History(
    explorer,
    (scene) => goTo(scene === start.scene ? homeScene(explorer) : scene),
    (error) => toast(error, undefined, "error"),
  );
  explorer.events.on("rest", () => history.commit());
  history.commit();
  session.events.on("error", ({ error, hint }) => toast(error, hint, "error"));
  let warned = "";
  session.events.on("status", () => {
    const warning = session.resolved?.warnings?.join(" ") ?? "";
    // While the view moves, each frame may have a warning of its own.
    if (session.stage !== "final") return;
    if (warning && warning !== warned) toast(warning);
    warned = warning;
  });

  const goTo = (scene: Scene) => {
    motion.stop();
    try {
      viewOf(scene);
    } catch {
      toast("This scene has no place.", undefined, "error");
      return;
    }
    if (explorer.canFlyTo(scene)) {
      const target = viewOf(scene);
      explorer.destination = target;
      explorer.open(scene, true);
      motion.flyTo(target);
    } else explorer.open(scene);
  };

  const overlay = new Overlay();
  const app: App = {
    start,
    explorer,
    session,
    motion,
    history,
    overlay,
    goTo,
    openPlace: (scene) => {
      explorer.forgetLimit();
      goTo(scene);
    },
    chooseFile: fileChooser(() => app),
  };

  let hasTools = false;
  const addTools = () => {
    if (hasTools) return;
    hasTools = true;
    addToolsTo(app, canvas);
  };
  // A task of its own, after the drawing is on the screen.
  session.events.on("drawn", () => session.showsPixels && !hasTools && setTimeout(addTools));
  setTimeout(addTools, TOOLS_AFTER_MS);

  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  if (start.test) offerTests(session, explorer, renderer, () => hasTools);
  canvas.focus({ preventScroll: true });
}

/** Keeps the size of the picture that of the window, in device pixels. */
function followSize(canvas: HTMLCanvasElement, explorer: Explorer) {
  const resize = () => {
    const ratio = devicePixelRatio || 1;
    const size = cappedSize(Math.round(innerWidth * ratio), Math.round(innerHeight * ratio));
    if (size.width === explorer.size.width && size.height === explorer.size.height) return;
    explorer.size = size;
    explorer.pixelRatio = size.width / innerWidth;
    explorer.events.emit("view", undefined);
  };
  resize();
  addEventListener("resize", resize);
  // The window may move to a screen with other pixels without changing its size.
  new ResizeObserver(resize).observe(canvas);
}

main();
