import type { Panel } from "./app";
import { iconButton } from "./controls";
import { element, type IconName } from "./dom";
import type { Point } from "./view";

export interface PanelEntry {
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  readonly key: string;
  readonly make: () => Panel;
}

/** The place of the panels, of which one is open at a time, and their buttons. */
export class PanelArea {
  readonly root: HTMLElement;
  readonly buttons: HTMLButtonElement[];
  private open: PanelEntry | null = null;
  private readonly made = new Map<string, Panel>();
  private readonly title = element("h2", {});
  private readonly body = element("div", { className: "panel-body" });
  private opener: Element | null = null;

  constructor(private readonly entries: readonly PanelEntry[]) {
    this.buttons = entries.map((entry) => {
      const made = iconButton(entry.icon, entry.title, () => this.toggle(entry.name), entry.key);
      made.setAttribute("aria-expanded", "false");
      made.setAttribute("aria-controls", "panel");
      return made;
    });
    this.root = element(
      "aside",
      { className: "panel glass", id: "panel", role: "region", tabIndex: -1, hidden: true },
      element(
        "header",
        { className: "panel-head" },
        this.title,
        iconButton("close", "Close", () => this.close(), "Escape"),
      ),
      this.body,
    );
    this.root.onkeydown = (event) => {
      if (event.key === "Escape") this.close();
    };
  }

  get openName(): string | null {
    return this.open?.name ?? null;
  }

  toggle(name: string): void {
    if (this.open?.name === name) this.close();
    else this.show(name);
  }

  show(name: string): void {
    const entry = this.entries.find((one) => one.name === name);
    if (!entry) return;
    this.current?.hidden?.();
    // From one panel to another, what opened the first one has the focus afterwards.
    if (!this.root.contains(document.activeElement)) this.opener = document.activeElement;
    this.open = entry;
    const panel = this.made.get(name) ?? entry.make();
    this.made.set(name, panel);
    this.title.textContent = entry.title;
    this.root.setAttribute("aria-label", entry.title);
    this.body.replaceChildren(panel.root);
    this.root.hidden = false;
    // What is hidden does not scroll.
    this.body.scrollTop = 0;
    document.body.classList.add("with-panel");
    this.mark();
    panel.shown?.();
    this.root.focus({ preventScroll: true });
  }

  close(): void {
    if (!this.open) return;
    this.current?.hidden?.();
    this.open = null;
    this.root.hidden = true;
    document.body.classList.remove("with-panel");
    this.mark();
    if (this.opener instanceof HTMLElement && this.opener.isConnected) this.opener.focus({ preventScroll: true });
  }

  /** Tells the open panel of a point, and says whether it wants to know. */
  pointer(at: Point): boolean {
    this.current?.pointer?.(at);
    return this.current?.pointer !== undefined;
  }

  private get current(): Panel | undefined {
    return this.open ? this.made.get(this.open.name) : undefined;
  }

  private mark(): void {
    for (const [i, entry] of this.entries.entries()) {
      this.buttons[i].setAttribute("aria-expanded", String(entry === this.open));
    }
  }
}
