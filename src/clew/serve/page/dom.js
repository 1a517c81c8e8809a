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

/** A triple in words: head ─relation→ tail; its ends lead to what is around them if a graph is given. */
export function tripleLine([head, relation, tail], graph = null) {
  const end = (node) => (graph === null ? name(nodeLabel(node)) : el("a", { class: "node", href: exploreAddress(graph, node) }, name(nodeLabel(node))));
  return el("span", { class: "triple" }, end(head), el("span", { class: "relation" }, " ─", relationLabel(relation), "→ "), end(tail));
}

/** Triples in words, one below the other. */
export function tripleList(triples, graph = null, tag = "ul") {
  return el(tag, { class: "triples" }, triples.map((triple) => el("li", {}, tripleLine(triple, graph))));
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

/** The address of what is around an entity. */
export function exploreAddress(graph, entity) {
  return `#/${encodeURIComponent(graph)}/explore?entity=${encodeURIComponent(entity)}`;
}

/** Say something to those who do not see the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
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
