/** What a key does, and how the help names it. */
export interface Binding {
  readonly keys: readonly string[];
  readonly shown: string;
  readonly what: string;
  readonly run: (event: KeyboardEvent) => void;
  readonly released?: () => void;
  readonly group: "Move" | "View" | "Scene" | "Panels";
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.matches("input:not([type=range], [type=radio], [type=checkbox], [type=color]), textarea, select") ||
      target.isContentEditable)
  );
}

/** Controls that use some keys themselves while they have the focus. */
function isUsedByControl(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches("input[type=range], input[type=radio]")) return key.startsWith("Arrow") || key === "Home";
  return target.matches("button, a, [role=switch], input") && (key === " " || key === "Enter");
}

/** Listens to keys of the whole page. */
export function listenToKeys(bindings: readonly Binding[]): void {
  const byKey = new Map(bindings.flatMap((binding) => binding.keys.map((key) => [key, binding] as const)));
  const held = new Map<string, Binding>();
  const nameOf = (event: KeyboardEvent) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    return `${event.ctrlKey || event.metaKey ? "ctrl+" : ""}${event.shiftKey && /^[a-z ]$/.test(key) ? "shift+" : ""}${key}`;
  };
  const release = (code: string) => {
    held.get(code)?.released?.();
    held.delete(code);
  };
  addEventListener("keydown", (event) => {
    if (isTyping(event.target) || isUsedByControl(event) || event.altKey || document.querySelector("dialog[open]"))
      return;
    const binding = byKey.get(nameOf(event));
    if (!binding) return;
    event.preventDefault();
    if (binding.released) {
      if (held.has(event.code)) return;
      held.set(event.code, binding);
    }
    binding.run(event);
  });
  addEventListener("keyup", (event) => release(event.code));
  addEventListener("blur", () => {
    for (const code of [...held.keys()]) release(code);
  });
}
