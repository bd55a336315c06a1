import type { App } from "./app";
import { iconButton } from "./controls";
import { element } from "./dom";
import { helpDialog } from "./help";
import { goHome } from "./home";
import { type Binding, listenToKeys } from "./keys";
import type { Motion } from "./motion";
import { PanelArea } from "./panel-area";
import { coloursPanel } from "./panels/colours";
import { flavoursPanel } from "./panels/flavours";
import { doubleLimit, formulaPanel } from "./panels/formula";
import { historyPanel } from "./panels/history";
import { infoPanel } from "./panels/info";
import { placesPanel } from "./panels/places";
import { postersPanel } from "./panels/posters";
import { copyCommand, copyLink, sharePanel } from "./panels/share";
import { Pointer } from "./pointer";
import { statusLine } from "./status";
import { toast } from "./toast";

const PAN_STEP = 0.12;
const TURN_STEP = 15;
const KEY_OCTAVES = 0.8;

/** Makes what is around the picture, and what pointer and keys do: toolbar, panels, status line and help. */
export function addToolsTo(app: App, canvas: HTMLCanvasElement): void {
  const { start, explorer, motion, history, overlay } = app;
  const area = new PanelArea([
    { name: "places", title: "Places", icon: "places", key: "o", make: () => placesPanel(app) },
    { name: "colours", title: "Colours", icon: "colours", key: "p", make: () => coloursPanel(app) },
    { name: "formula", title: "Formula", icon: "formula", key: "m", make: () => formulaPanel(app) },
    { name: "info", title: "Info", icon: "info", key: "i", make: () => infoPanel(app) },
    { name: "history", title: "History", icon: "history", key: "y", make: () => historyPanel(app) },
    { name: "share", title: "Save and share", icon: "share", key: "s", make: () => sharePanel(app) },
    { name: "posters", title: "Posters", icon: "poster", key: "j", make: () => postersPanel(app) },
    { name: "flavours", title: "Flavours", icon: "flavours", key: "v", make: () => flavoursPanel(app) },
  ]);

  const boxButton = iconButton("box", "Zoom into a box", () => setBoxMode(!pointer.boxMode), "b");
  const setBoxMode = (on: boolean) => {
    pointer.boxMode = on;
    boxButton.setAttribute("aria-pressed", String(on));
    canvas.classList.toggle("boxing", on);
  };
  const pointer = new Pointer(canvas, explorer, motion, overlay, {
    rested: (at) => {
      if (!area.pointer(at)) return;
      overlay.showMark(at.x / explorer.pixelRatio, at.y / explorer.pixelRatio);
    },
    boxDone: () => setBoxMode(false),
  });
  explorer.events.on("view", () => overlay.hideMark());
  setBoxMode(false);

  const bindings = bindingsOf(
    app,
    area,
    () => help.showModal(),
    setBoxMode,
    () => pointer.cancel(),
  );
  const help = helpDialog(bindings, start.version);
  listenToKeys(bindings);

  const diveButton = iconButton("dive", "Fly into the depth while held", () => {}, "d");
  holdToDive(diveButton, motion);
  const undo = iconButton("undo", "Undo", () => history.undo(), "z");
  const redo = iconButton("redo", "Redo", () => history.redo(), "shift+z");
  const markHistory = () => {
    undo.disabled = history.index <= 0;
    redo.disabled = history.index >= history.entries.length - 1;
  };
  history.events.on("changed", markHistory);
  markHistory();
  const group = (label: string, ...buttons: HTMLElement[]) =>
    element("div", { className: "tool-group glass", role: "group", "aria-label": label }, ...buttons);
  const toolbar = element(
    "nav",
    { className: "toolbar", "aria-label": "Tools" },
    group("Panels", ...area.buttons),
    group(
      "View",
      iconButton("plus", "Zoom in", () => motion.zoomBy(1, explorer.centre), "+"),
      iconButton("minus", "Zoom out", () => motion.zoomBy(-1, explorer.centre), "-"),
      boxButton,
      diveButton,
      iconButton("home", "Start of the page", () => goHome(app), "Home"),
      undo,
      redo,
    ),
    group(
      "Page",
      iconButton("full", "Full screen", toggleFullScreen, "f"),
      iconButton("help", "Help", () => help.showModal(), "h"),
    ),
  );
  document.body.append(overlay.root, toolbar, area.root, statusLine(app), help);
}

function toggleFullScreen(): void {
  const done = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen();
  done.catch(() => toast("The browser does not allow full screen here."));
}

function holdToDive(button: HTMLButtonElement, motion: Motion): void {
  const stop = () => motion.setDive(0);
  button.onpointerdown = (event) => {
    button.setPointerCapture(event.pointerId);
    motion.setDive(event.shiftKey ? -1 : 1);
  };
  button.onpointerup = stop;
  button.onpointercancel = stop;
  button.onlostpointercapture = stop;
  button.onkeydown = (event) => {
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      motion.setDive(event.shiftKey ? -1 : 1);
    }
  };
  button.onkeyup = stop;
  button.onblur = stop;
}

function bindingsOf(
  app: App,
  area: PanelArea,
  showHelp: () => void,
  setBoxMode: (on: boolean) => void,
  cancelBox: () => void,
): Binding[] {
  const { explorer, motion, history } = app;
  const step = () => PAN_STEP * explorer.size.height;
  const panel = (keys: string[], name: string, what: string): Binding => ({
    keys,
    shown: keys[0],
    what,
    run: () => area.toggle(name),
    group: "Panels",
  });
  return [
    {
      keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"],
      shown: "← → ↑ ↓",
      what: "Move",
      group: "Move",
      run: ({ key }) => {
        const dx = key === "ArrowLeft" ? -1 : key === "ArrowRight" ? 1 : 0;
        const dy = key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : 0;
        motion.panBy(Math.round(dx * step()), Math.round(dy * step()));
      },
    },
    {
      keys: ["+", "="],
      shown: "+",
      what: "Zoom in",
      group: "Move",
      run: () => motion.zoomBy(KEY_OCTAVES, explorer.centre),
    },
    {
      keys: ["-", "_"],
      shown: "-",
      what: "Zoom out",
      group: "Move",
      run: () => motion.zoomBy(-KEY_OCTAVES, explorer.centre),
    },
    {
      keys: ["d", " "],
      shown: "d or Space",
      what: "Fly into the depth while held",
      group: "Move",
      run: () => motion.setDive(1),
      released: () => motion.setDive(0),
    },
    {
      keys: ["shift+d", "shift+ "],
      shown: "Shift + d",
      what: "Fly back out while held",
      group: "Move",
      run: () => motion.setDive(-1),
      released: () => motion.setDive(0),
    },
    { keys: ["["], shown: "[", what: "Turn counter-clockwise", group: "View", run: () => motion.rotateBy(-TURN_STEP) },
    { keys: ["]"], shown: "]", what: "Turn clockwise", group: "View", run: () => motion.rotateBy(TURN_STEP) },
    {
      keys: ["0"],
      shown: "0",
      what: "No rotation",
      group: "View",
      run: () => motion.flyTo({ ...explorer.view, rotation: { digits: 0n, exponent: 0 } }),
    },
    { keys: ["Home"], shown: "Home", what: "Start of the page", group: "View", run: () => goHome(app) },
    { keys: ["b"], shown: "b", what: "Zoom into a box", group: "View", run: () => setBoxMode(true) },
    { keys: ["f"], shown: "f", what: "Full screen", group: "View", run: toggleFullScreen },
    { keys: ["z", "ctrl+z"], shown: "z", what: "Undo", group: "Scene", run: () => history.undo() },
    {
      keys: ["shift+z", "ctrl+shift+z", "ctrl+y"],
      shown: "Shift + z",
      what: "Redo",
      group: "Scene",
      run: () => history.redo(),
    },
    { keys: ["l"], shown: "l", what: "Double the limit", group: "Scene", run: () => doubleLimit(app) },
    { keys: ["c"], shown: "c", what: "Copy as command", group: "Scene", run: () => void copyCommand(app) },
    { keys: ["k"], shown: "k", what: "Copy link", group: "Scene", run: () => void copyLink(app) },
    panel(["o"], "places", "Places and bookmarks"),
    panel(["p"], "colours", "Colours"),
    panel(["m"], "formula", "Formula, Julia set and limit"),
    panel(["i"], "info", "Facts of the point under the pointer"),
    panel(["y"], "history", "History"),
    panel(["s"], "share", "Save and share"),
    panel(["j"], "posters", "Posters"),
    panel(["v"], "flavours", "Flavours"),
    { keys: ["h", "?"], shown: "h", what: "This help", group: "Panels", run: showHelp },
    {
      keys: ["Escape"],
      shown: "Esc",
      what: "Close the panel, stop",
      group: "Panels",
      run: () => {
        motion.stop();
        cancelBox();
        setBoxMode(false);
        area.close();
      },
    },
  ];
}
