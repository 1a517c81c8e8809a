// The query view: Clew's notation, Cypher and SPARQL, with completion, errors at their place, and the query in the address.

import { get, of, post } from "./api.js";
import { complete, entityOffers } from "./complete.js";
import { count, el, fill, filling, form, relationLabel, shown } from "./dom.js";
import { entityTable, plainTable } from "./table.js";

const LANGUAGES = { clew: "Clew’s notation", cypher: "Cypher", sparql: "SPARQL" };
const HELP = {
  clew: '{Name} · Type · .relation from head to tail · ^relation back · A[relation > 5] · A & B, A | B, A - B · "several words"',
  cypher: "MATCH (a)-[:relation]->(b) RETURN a.name, b.name LIMIT 10; it may only read",
  sparql: "SELECT ?a ?b WHERE { ?a <relation> ?b } LIMIT 10; it may only read",
};
/** How a query of another language than Clew's notation begins. */
const BEGINS = { cypher: /^(?:optional )?match\s*\(/i, sparql: /^(?:select\s+[?*(\w]|(?:ask|prefix|base|construct|describe)\s+[?*<{\w:])/i };
const ROWS = 200;
const OFFERS = 8;

export function queryView({ graph, query, go, failed }) {
  const editor = el("textarea", { class: "question code", id: "query", rows: 4, "aria-label": "Query", maxlength: 20000, spellcheck: "false" });
  editor.value = query.get("q") ?? "";
  const language = el("select", { id: "language", onchange: explain }, Object.entries(LANGUAGES).map(([value, text]) => el("option", { value, selected: value === query.get("lang") }, text)));
  const help = el("p", { class: "quiet code" });
  const result = el("div", { class: "result" });
  let schema = { relations: [], types: {} };
  const { offers, close } = complete(editor, { part: typed, find });

  function explain() {
    help.textContent = HELP[language.value];
  }

  /** What the name of a relation stands behind. */
  const beforeStep = () => (language.value === "clew" ? "[.^[]" : "[:<]");

  /** The name that is typed: in braces of an entity, behind a dot of a relation, else of a type. */
  function typed(text, caret) {
    const before = text.slice(0, caret);
    const match = /\{([^{}]*)$/.exec(before) ?? new RegExp(`${beforeStep()}"?([\\w ]*)$`).exec(before) ?? /(?:^|[\s(&|,-])(\w+)$/.exec(before);
    return match && match[1].length ? [caret - match[1].length, caret] : null;
  }

  async function find(text, signal) {
    const before = editor.value.slice(0, editor.selectionStart - text.length);
    if (before.endsWith("{") && language.value === "clew") return entityOffers(graph, text, signal);
    const low = text.toLowerCase();
    const isNode = language.value === "cypher" && /\([^()]*$/.test(before);
    const isStep = !isNode && new RegExp(`${beforeStep()}"?$`).test(before);
    const plain = (word) => (/^[\w.:/]+$/.test(word) || /["<]$/.test(before) || language.value !== "clew" ? word : `"${word}"`);
    const all = isStep
      ? schema.relations.map((one) => ({ text: plain(one.name), label: relationLabel(one.label), note: `relation · ${count(one.triples)}` }))
      : Object.entries(schema.types).map(([type, number]) => ({ text: plain(type), label: type, note: `type · ${count(number)}` }));
    return all.filter((one) => one.label.toLowerCase().includes(low) || one.text.toLowerCase().includes(low)).slice(0, OFFERS);
  }

  async function run() {
    close();
    const text = editor.value.trim();
    if (!text) return;
    const other = Object.keys(BEGINS).find((each) => BEGINS[each].test(text));
    if (other && language.value === "clew") {
      language.value = other;
      explain();
    }
    go("query", { q: editor.value, lang: language.value === "clew" ? "" : language.value });
    await filling(result, wrong, async () => {
      if (language.value === "clew") {
        await post(of(graph, "table"), { query: text, columns: [], limit: 1 }); // it is said at once whether it can be read
        fill(result, el("section", { class: "card", "aria-label": "Result" }, entityTable({ graph, rows: { query: text }, label: "Result", failed })));
        return;
      }
      const { columns, rows, complete: whole } = await post(of(graph, "query"), { query: text, rows: ROWS });
      fill(
        result,
        el("section", { class: "card", "aria-label": "Result" }, el("p", { class: "quiet" }, `${count(rows.length)} rows${whole ? "" : ", and there are more"}`), plainTable({ columns, rows, label: "Result" })),
      );
    });
  }

  /** What is wrong, with the place in the query that it is said of. */
  function wrong(error) {
    const [start, end] = placeOf(error.message, editor.value) ?? [];
    const box = failed(error);
    if (start === undefined) return box;
    editor.focus();
    editor.setSelectionRange(start, end);
    const line = el("pre", { "aria-label": "Where" }, shown(editor.value.slice(0, start)), el("mark", {}, shown(editor.value.slice(start, end) || " ")), shown(editor.value.slice(end)));
    box.append(line);
    return box;
  }

  const asking = form(
    { class: "card ask" },
    run,
    editor,
    offers,
    el("div", { class: "line small" }, el("span", { class: "choice" }, el("label", { for: "language" }, "Language"), language), el("button", { type: "submit", class: "main" }, "Run"), el("span", { class: "quiet" }, "Ctrl + Enter")),
    help,
  );
  editor.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      run();
    }
  });
  explain();
  get(of(graph, "relations")).then(
    (told) => {
      schema = told;
    },
    (error) => fill(result, failed(error)),
  );
  if (editor.value) run();
  return { view: [asking, result], focus: () => editor.focus(), close: () => {} };
}

/** Characters [start, end) of a query that an error is about, as its words say: a place, else what they quote. */
function placeOf(message, text) {
  const at = /at character (\d+)/.exec(message);
  if (at) {
    const start = Math.min(Number(at[1]) - 1, text.length);
    return [start, start + (/^\{[^}]*\}|^"[^"]*"|^[.^]?"[^"]*"|^\W?[\w.:/]*/.exec(text.slice(start))?.[0].length || 1)];
  }
  const line = /line:? ?(\d+),? (?:column|offset|position):? ?(\d+)/i.exec(message);
  if (line) {
    const lines = text.split("\n");
    const start = lines.slice(0, Number(line[1]) - 1).reduce((sum, one) => sum + one.length + 1, 0) + Number(line[2]) - 1;
    return [Math.min(start, text.length), Math.min(start + 1, text.length)];
  }
  for (const quoted of message.matchAll(/["'`]([^"'`]+)["'`]/g)) {
    const start = text.indexOf(quoted[1]);
    if (start >= 0) return [start, start + quoted[1].length];
  }
  return null;
}
