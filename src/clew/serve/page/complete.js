// Completing the name of an entity in a text field, while it is typed: a combobox.

import { get, of } from "./api.js";
import { count, el, fill, freshId, name, nodeLabel, shown } from "./dom.js";

const WAIT = 120;

/** Entities of a graph that a text names or begins, as offers. */
export async function entityOffers(graph, text, signal) {
  const { entities } = await get(of(graph, "entities"), { prefix: text, limit: 8 }, signal);
  const note = (hit) => [hit.types[0] && nodeLabel(hit.types[0]), hit.how === "typo" && "similar", `${count(hit.triples)} triples`].filter(Boolean).join(" · ");
  return entities.map((hit) => ({ ...hit, text: nodeLabel(hit.label), note: note(hit) }));
}

/**
 * Let `field` offer what may be typed. `part(text, caret)` says which stretch [start, end) that is, null for none;
 * `find(stretch, signal)` gives the offers, `{text, note}` each; `chosen(offer)` hears of a choice.
 */
export function complete(field, { find, part, chosen = () => {} }) {
  const id = freshId("offers");
  const offers = el("ul", { class: "offers", role: "listbox", id, hidden: true, "aria-label": "Names of the graph" });
  const isLine = field.tagName === "INPUT"; // a text of several lines is no combobox
  let hits = [];
  let at = -1;
  let span = null;
  let timer = 0;
  let running = null;
  for (const [key, value] of Object.entries({
    role: isLine ? "combobox" : undefined,
    "aria-autocomplete": "list",
    "aria-expanded": isLine ? "false" : undefined,
    "aria-controls": id,
    autocomplete: "off",
    spellcheck: "false",
  })) {
    if (value !== undefined) field.setAttribute(key, value);
  }

  function close() {
    offers.hidden = true;
    at = -1;
    if (isLine) field.setAttribute("aria-expanded", "false");
    field.removeAttribute("aria-activedescendant");
  }

  function draw() {
    fill(
      offers,
      hits.map((hit, index) =>
        el(
          "li",
          {
            role: "option",
            id: `${id}-${index}`,
            class: index === at ? "chosen" : "",
            "aria-selected": String(index === at),
            onmousedown: (event) => {
              event.preventDefault();
              take(index);
            },
          },
          name(hit.label ? nodeLabel(hit.label) : hit.text),
          el("small", {}, shown(hit.note)),
        ),
      ),
    );
    offers.hidden = hits.length === 0;
    if (isLine) field.setAttribute("aria-expanded", String(hits.length > 0));
    if (at >= 0) field.setAttribute("aria-activedescendant", `${id}-${at}`);
    else field.removeAttribute("aria-activedescendant");
  }

  function take(index) {
    const hit = hits[index];
    const [start, end] = span;
    field.setRangeText(hit.text, start, end, "end");
    close();
    field.focus();
    chosen(hit);
  }

  async function look() {
    span = part(field.value, field.selectionStart ?? field.value.length);
    if (running) running.abort();
    if (!span) {
      close();
      return;
    }
    running = new AbortController();
    try {
      hits = await find(field.value.slice(...span), running.signal);
      at = -1;
      if (document.activeElement === field) draw();
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(look, WAIT);
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (offers.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      at = (at + step + hits.length + 1) % (hits.length + 1);
      if (at === hits.length) at = -1;
      draw();
    } else if (event.key === "Enter" && at >= 0) {
      event.preventDefault();
      take(at);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter") {
      clearTimeout(timer);
      close();
    }
  });
  return { offers, close };
}

const ASKING = /^(?:who|whom|whose|which|what|when|where|why|how|is|are|was|were|did|does|do|has|have|list|name|show|give|in|of|by)$/i;
const CAPITAL = /^["“(]?[\p{Lu}\p{N}]/u;
const LONGEST_GAP = 2;

/**
 * In a question: the words before the caret that may be a name. These are the last words in upper case, with at most
 * two in lower case between them (Lord of the Rings), else the word that is being typed.
 */
export function nameInQuestion(text, caret) {
  const words = [...text.slice(0, caret).matchAll(/[^\s,;?!]+/g)];
  const last = words.at(-1);
  if (!last || last.index + last[0].length !== caret) return null;
  let first = null;
  let gap = 0;
  for (let at = words.length - 1; at >= 0 && gap <= LONGEST_GAP; at -= 1) {
    const [word] = words[at];
    if (CAPITAL.test(word) && !(at === 0 && ASKING.test(word))) {
      first = at;
      gap = 0;
    } else gap += 1;
  }
  if (first === null) {
    if (last[0].length < 3 || ASKING.test(last[0])) return null;
    first = words.length - 1;
  }
  const start = words[first].index;
  return caret - start >= 2 ? [start, caret] : null;
}

/** All of a field is a name. */
export function wholeField(text) {
  return text.trim().length >= 1 ? [0, text.length] : null;
}
