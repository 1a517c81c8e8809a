// Making elements. Whatever comes from a graph, a model or a user is text here, never markup.

// Control characters and marks that turn the direction of a text would make a name look like another one.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;

/** A text that is safe to look at: invisible characters are shown as escapes. */
export function shown(text) {
  return String(text).replace(UNSAFE, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/** An element with attributes (`on…` are listeners, `class` is its class) and children; strings become text. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key in made && typeof value === "boolean") made[key] = value;
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter(isShown));
  return made;
}

const isShown = (child) => child !== null && child !== undefined && child !== false;

/** A name of the graph, in its own direction of writing. */
export function name(text, attributes = {}) {
  return el("bdi", { dir: "auto", ...attributes }, shown(text));
}

/** A text of the server as a sentence. */
export function sentence(text) {
  const safe = shown(text);
  return safe.charAt(0).toUpperCase() + safe.slice(1) + (/[.?!]$/.test(safe) ? "" : ".");
}

/** Put children in place of what an element holds. */
export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(isShown));
  return parent;
}

/** The same, and the focus stays on what has the same `data-key` as what had it. */
export function refill(parent, ...children) {
  const key = parent.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  fill(parent, ...children);
  if (key !== undefined) [...parent.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key)?.focus({ preventScroll: true });
  return parent;
}

/** A relation as people read it. */
export function relationLabel(relation) {
  const last = /[#/]([^#/]+)$/.exec(relation);
  return shown((last ? last[1] : relation).replaceAll("_", " "));
}

/** A node's name without the address that it stands at. */
export function nodeLabel(node) {
  const last = /^(?:https?|urn):.*[#/:]([^#/:]+)$/.exec(node);
  return last ? decode(last[1]).replaceAll("_", " ") : String(node);
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The triples of a citation, a part of a claim, or a path: `{names, ids, properties, inferred}` each. */
export function factsOf({ triples, ids, properties, inferred }) {
  return triples.map((names, at) => ({ names, ids: ids?.[at] ?? names, properties: properties?.[at] ?? [], inferred: inferred?.[at] ?? false }));
}

/** Properties of edges in words, one after the other: *since 2015*, *hours 40*. */
export function propertyText(properties) {
  return properties.flatMap((edge) => Object.entries(edge).map(([key, values]) => `${relationLabel(key)} ${values.map(shown).join(", ")}`));
}

/** A name that leads to what is around it; its id is on hover, where it is another. */
export function nodeLink(graph, id, label) {
  const attributes = { title: id === label ? undefined : shown(id) };
  if (graph === null) return name(nodeLabel(label), attributes);
  return el("a", { class: "node", href: browseAddress(graph, { entity: id }), ...attributes }, name(nodeLabel(label)));
}

/** A triple in words: head ─relation→ tail with the properties of its edge; its ends lead to what is around them. */
export function tripleLine(fact, graph = null) {
  const { names, ids, properties, inferred } = Array.isArray(fact) ? factsOf({ triples: [fact] })[0] : fact;
  return el(
    "span",
    { class: "triple" },
    nodeLink(graph, ids[0], names[0]),
    el("span", { class: "relation" }, " ─", relationLabel(names[1]), "→ "),
    nodeLink(graph, ids[2], names[2]),
    properties.length ? el("small", { class: "properties" }, ` · ${propertyText(properties).join(" · ")}`) : null,
    inferred ? el("small", {}, " inferred") : null,
  );
}

const MOST_TRIPLES = 12;

/** Triples in words, one below the other; those beyond the first ones are folded. */
export function tripleList(facts, graph = null, tag = "ul") {
  const list = (some) => el(tag, { class: "triples" }, some.map((fact) => el("li", {}, tripleLine(fact, graph))));
  if (facts.length <= MOST_TRIPLES) return list(facts);
  return [list(facts.slice(0, MOST_TRIPLES)), el("details", {}, el("summary", {}, `${count(facts.length - MOST_TRIPLES)} more`), list(facts.slice(MOST_TRIPLES)))];
}

/** Buttons in a row, one for each item: what `content(item)` is on it, and `chosen(item)` hears of a click. */
export function chips(items, content, chosen) {
  return el("ul", { class: "chips" }, items.map((item) => el("li", {}, el("button", { type: "button", onclick: () => chosen(item) }, content(item)))));
}

/** A form that `submit` sends, in place of the browser. */
export function form(attributes, submit, ...children) {
  const onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  return el("form", { ...attributes, onsubmit }, ...children);
}

/** The field that a view is about. */
export function mainField(label, placeholder, value, attributes = {}) {
  const usual = { type: "text", class: "question", "aria-label": label, placeholder, value, maxlength: 10000, dir: "auto" };
  return el("input", { ...usual, ...attributes });
}

/** The address of a view with what it shows; empty values are left out. */
export function address(graph, view, query = {}) {
  const pairs = Object.entries(query).flatMap(([key, value]) => (Array.isArray(value) ? value.map((one) => [key, one]) : [[key, value]]));
  const search = new URLSearchParams(pairs.filter(([, value]) => value)).toString();
  return `#/${encodeURIComponent(graph)}/${view}${search ? `?${search}` : ""}`;
}

/** The address of an `entity`, a `type` or a `relation`. */
export function browseAddress(graph, what) {
  return address(graph, "browse", what);
}

/** A bar of a share in [0, 1], beside a figure that says it. */
export function bar(share, attributes = {}) {
  const made = el("span", { class: "bar", "aria-hidden": "true", ...attributes });
  made.style.inlineSize = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return made;
}

/** Say something to those who do not see the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Copy a text, or what a function makes, at the press of a button, which says so. */
export async function copyText(button, text) {
  const before = button.textContent;
  let told = "Copied";
  try {
    button.dataset.text = typeof text === "function" ? await text() : text;
    await navigator.clipboard.writeText(button.dataset.text);
  } catch (error) {
    // The browser lets a page copy on https and localhost only.
    told = button.dataset.text === undefined ? error.message : "Not allowed";
  }
  button.textContent = told;
  say(told === "Copied" ? `${before} copied` : `Nothing was copied: ${told}`);
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}

/** Save a file on the machine of who reads. */
export function saveFile(blob, file) {
  const link = el("a", { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  say(`Saved as ${file}`);
}

/** Let `work` fill a part of the page, which is busy meanwhile; what fails is shown there, as `failed` draws it. */
export async function filling(part, failed, work) {
  part.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    if (error.name !== "AbortError") fill(part, failed(error));
  } finally {
    part.removeAttribute("aria-busy");
  }
}

/** A number as people read it. */
export function count(number) {
  return Number(number).toLocaleString("en");
}

let numbers = 0;

/** An id that no other element has. */
export function freshId(prefix) {
  numbers += 1;
  return `${prefix}-${numbers}`;
}
