import "./style.css";
import { sceneOf } from "./address";
import { api, type Start } from "./api";
import type { App } from "./app";
import { Drawing } from "./drawing";
import { Explorer } from "./explorer";
import { fileChooser } from "./files";
import { History } from "./history";
import { homeScene } from "./home";
import { Link } from "./link";
import { Motion } from "./motion";
import { Overlay } from "./overlay";
import { type Scene, viewOf } from "./scene";
import { Session } from "./session";
import { offerTests } from "./test-mode";
import { attempt, toast } from "./toast";
import { cappedSize, octaves } from "./view";

/** The tools are made once all pixels are on the screen, or after so long: they take the time in which the browser would draw those. */
const TOOLS_AFTER_MS = 400;
/** The page waits for a connection for so long before it sets up the drawing. */
const CONNECTED_AFTER_MS = 50;
const START_RETRY_MS = 1000;

async function main(): Promise<void> {
  const link = new Link();
  const [start] = await Promise.all([started(), link.connected(CONNECTED_AFTER_MS)]);
  run(start, link);
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

function run(start: Start, link: Link): void {
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
  followSize(explorer);
  if (location.hash === "") explorer.open(homeScene(explorer));
  // The session asks for the view at once, and the program computes while the browser sets up WebGL, which takes longer.
  const drawing = new Drawing(location.search);
  const session = new Session(explorer, drawing, link, (now) => motion.tick(now));
  const { canvas, renderer } = drawing;
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

  // The tools are a file of their own, so that the browser reads what the first pixels need alone.
  let tools: "none" | "loading" | "made" = "none";
  const addTools = async () => {
    if (tools !== "none") return;
    tools = "loading";
    const loaded = await attempt(() => import("./tools"));
    loaded?.addToolsTo(app, canvas);
    tools = loaded ? "made" : "none";
  };
  // Tasks of their own, after the drawing is on the screen.
  const afterPixels = () => {
    if (session.showsPixels && history.index < 0) setTimeout(() => history.commit());
    if (session.showsAllPixels && tools === "none") setTimeout(addTools);
  };
  session.events.on("drawn", afterPixels);
  session.events.on("status", afterPixels);
  setTimeout(addTools, TOOLS_AFTER_MS);

  canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
  canvas.addEventListener("webglcontextrestored", () => location.reload());
  if (start.test) offerTests(session, explorer, renderer, () => tools === "made");
  canvas.focus({ preventScroll: true });
}

/** Keeps the size of the picture that of the window, in device pixels. */
function followSize(explorer: Explorer) {
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
  new ResizeObserver(resize).observe(document.documentElement);
}

main();
