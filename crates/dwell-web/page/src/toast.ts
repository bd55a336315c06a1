import { element } from "./dom";

const SHOWN_MS = 6000;
const list = element("div", { className: "toasts", role: "status", "aria-live": "polite" });

/** Says something at the edge of the page for a while. */
export function toast(text: string, hint?: string, kind: "error" | "note" = "note"): void {
  if (!list.isConnected) document.body.append(list);
  for (const old of [...list.children]) if (old.getAttribute("data-text") === text) old.remove();
  const made = element(
    "div",
    { className: `toast ${kind}`, "data-text": text, onclick: () => made.remove() },
    element("p", {}, text),
    hint ? element("p", { className: "hint" }, hint) : null,
  );
  list.append(made);
  while (list.children.length > 3) list.firstElementChild?.remove();
  setTimeout(() => made.remove(), SHOWN_MS);
}

/** Runs something that asks the server, and says what went wrong if it does. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const { message, hint } = error as { message: string; hint?: string };
    toast(message, hint, "error");
    return undefined;
  }
}
