import { element, type IconName, icon } from "./dom";
import { hex, rgbOf } from "./stops";

let nextId = 0;

export function button(label: string, onclick: () => void, options: { icon?: IconName; kind?: string } = {}) {
  return element(
    "button",
    { type: "button", className: `button ${options.kind ?? ""}`, onclick },
    options.icon && icon(options.icon),
    label,
  );
}

export function iconButton(name: IconName, label: string, onclick: () => void, key?: string): HTMLButtonElement {
  return element(
    "button",
    {
      type: "button",
      className: "icon-button",
      "aria-label": label,
      "aria-keyshortcuts": key,
      title: key ? `${label} (${key})` : label,
      onclick,
    },
    icon(name),
  );
}

export function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return element("section", { className: "section" }, element("h3", {}, title), ...children);
}

function labelled(label: string, control: HTMLElement, ...more: HTMLElement[]): HTMLElement {
  control.id ||= `control-${nextId++}`;
  return element("div", { className: "field" }, element("label", { htmlFor: control.id }, label), control, ...more);
}

export interface Control<T> {
  readonly root: HTMLElement;
  set(value: T): void;
}

export function slider(
  label: string,
  range: { min: number; max: number; step: number },
  shown: (value: number) => string,
  changed: (value: number) => void,
): Control<number> {
  const input = element("input", { type: "range", className: "slider", ...range });
  const output = element("output", { className: "number" });
  const show = (value: number) => {
    const share = (Number(input.value) - range.min) / (range.max - range.min);
    input.style.setProperty("--share", String(share));
    output.textContent = shown(value);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.oninput = () => {
    show(Number(input.value));
    changed(Number(input.value));
  };
  const set = (value: number) => {
    if (document.activeElement === input && input.matches(":active")) return;
    input.value = String(value);
    // A value from a file may be beyond the slider, or between two of its steps.
    show(value);
  };
  set(range.min);
  const root = labelled(label, input, output);
  root.classList.add("with-slider");
  return { root, set };
}

export type Choice = readonly [value: string, label: string];

/** One of a few values, all of them in sight. */
export function segments(label: string, choices: readonly Choice[], changed: (value: string) => void): Control<string> {
  const name = `segments-${nextId++}`;
  const inputs = choices.map(([value]) =>
    element("input", { type: "radio", name, value, onchange: () => changed(value) }),
  );
  const group = element(
    "div",
    { className: "segments", role: "radiogroup", "aria-label": label },
    ...choices.map(([, text], i) => element("label", {}, inputs[i], element("span", {}, text))),
  );
  return {
    root: element("div", { className: "field stacked" }, element("span", { className: "label" }, label), group),
    set: (value) => {
      for (const input of inputs) input.checked = input.value === value;
    },
  };
}

export function select(
  label: string,
  choices: readonly Choice[],
  changed: (value: string) => void,
): Control<string> & { readonly input: HTMLSelectElement; offer(choices: readonly Choice[]): void } {
  let offered = choices;
  const input = element("select", { className: "select" });
  const fill = (all: readonly Choice[]) =>
    input.replaceChildren(...all.map(([value, text]) => element("option", { value }, text)));
  fill(choices);
  input.onchange = () => changed(input.value);
  return {
    root: labelled(label, input),
    input,
    set: (value) => {
      if (input.value === value) return;
      // A value that is not offered, from a file, is shown all the same.
      fill(offered.some(([known]) => known === value) ? offered : [...offered, [value, value]]);
      input.value = value;
    },
    offer: (all) => {
      const { value } = input;
      offered = all;
      fill(all);
      input.value = value;
    },
  };
}

export function toggle(label: string, changed: (on: boolean) => void): Control<boolean> {
  const input = element("input", { type: "checkbox", className: "switch", role: "switch" });
  input.onchange = () => changed(input.checked);
  return {
    root: labelled(label, input),
    set: (on) => {
      input.checked = on;
    },
  };
}

/** A text that is taken when the field is left or Enter is pressed. */
export function textField(
  label: string,
  changed: (text: string) => void,
  options: { mono?: boolean; placeholder?: string; inputMode?: string } = {},
): Control<string> & { readonly input: HTMLInputElement } {
  const input = element("input", {
    type: "text",
    className: `text ${options.mono ? "mono" : ""}`,
    spellcheck: false,
    autocomplete: "off",
    placeholder: options.placeholder ?? "",
    inputMode: options.inputMode ?? "text",
  });
  input.onchange = () => changed(input.value.trim());
  input.onkeydown = (event) => {
    if (event.key === "Enter") input.blur();
  };
  return {
    root: labelled(label, input),
    input,
    set: (text) => {
      if (document.activeElement !== input) input.value = text;
    },
  };
}

export function colourField(label: string, changed: (colour: string) => void): Control<string> {
  const input = element("input", { type: "color", className: "swatch" });
  input.oninput = () => changed(input.value);
  return {
    root: labelled(label, input),
    set: (colour) => {
      input.value = hex(rgbOf(colour));
    },
  };
}

export function progressBar(label: string): Control<number | null> {
  const bar = element("div", { className: "bar" });
  const root = element(
    "div",
    { className: "progress", role: "progressbar", "aria-label": label, "aria-valuemin": 0, "aria-valuemax": 100 },
    bar,
  );
  return {
    root,
    set: (fraction) => {
      root.classList.toggle("unknown", fraction === null);
      bar.style.transform = `scaleX(${fraction ?? 1})`;
      if (fraction === null) root.removeAttribute("aria-valuenow");
      else root.setAttribute("aria-valuenow", String(Math.round(100 * fraction)));
    },
  };
}
