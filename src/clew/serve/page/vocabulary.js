// The vocabulary view: what relations, types and terms are called, searched.

import { get, of } from "./api.js";
import { address, browseAddress, count, el, fill, filling, mainField, name, nodeLabel, relationLabel, shown } from "./dom.js";

export function vocabularyView({ graph, query, go, failed }) {
  const field = mainField("Search", "Find a word …", query.get("q") ?? "", { oninput: () => draw() });
  const result = el("div", { class: "result" });
  const told = el("p", { class: "quiet", role: "status" });
  const body = el("tbody");
  const columns = [["stands for", (one) => one.means]];
  let entries = [];

  filling(result, failed, async () => {
    const [words, { relations, types }] = await Promise.all([get(of(graph, "vocabulary")), get(of(graph, "relations"))]);
    entries = entriesOf(words, relations, types, graph);
    if (entries.some((one) => one.also)) columns.push(["also said", (one) => name(one.also)]);
    if (entries.some((one) => one.unit)) columns.push(["unit", (one) => name(one.unit)]);
    fill(
      result,
      el(
        "section",
        { class: "card", "aria-label": "Vocabulary" },
        told,
        el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Words" }, el("table", {}, el("thead", {}, el("tr", {}, ["word", ...columns.map(([title]) => title)].map((title) => el("th", { scope: "col" }, title)))), body)),
        el("p", { class: "quiet" }, "A vocabulary is a file: ", el("code", {}, "clew vocabulary GRAPH > words.toml"), " writes it, ", el("code", {}, "--set words.toml"), " keeps it."),
      ),
    );
    draw();
  });

  function draw() {
    go("vocabulary", { q: field.value }, { replace: true });
    const low = field.value.toLowerCase();
    const some = entries.filter((one) => one.text.toLowerCase().includes(low));
    told.textContent = `${count(some.length)} of ${count(entries.length)} words`;
    fill(body, some.map((one) => el("tr", {}, el("th", { scope: "row" }, one.word), columns.map(([, cell]) => el("td", {}, cell(one))))));
  }

  return { view: [el("div", { class: "card ask" }, el("div", { class: "line" }, field)), result], focus: () => field.focus(), close: () => {} };
}

function entriesOf({ relations: named = {}, types: typed = {}, terms = {} }, relations, types, graph) {
  const entry = (word, title, means, text, about = {}) => {
    const also = (about.words ?? []).join(", ");
    const described = about.description ? el("p", { class: "quiet" }, name(about.description)) : null;
    return { word: name(word), means: [el("small", {}, `${title} `), means, described].filter(Boolean), also, unit: about.unit ?? "", text: [word, text, also, about.description].join(" ") };
  };
  const term = ([word, meaning]) => entry(word, "term", el("a", { class: "node", href: address(graph, "query", { q: meaning }) }, el("code", {}, shown(meaning))), meaning);
  const relation = (one) => entry(named[one.name]?.label ?? relationLabel(one.label), "relation", el("a", { class: "node", href: browseAddress(graph, { relation: one.name }), title: shown(one.name) }, name(nodeLabel(one.name))), one.name, named[one.name]);
  const type = (one) => entry(typed[one]?.label ?? nodeLabel(one), "type", el("a", { class: "node", href: browseAddress(graph, { type: one }), title: shown(one) }, name(nodeLabel(one))), one, typed[one]);
  return [...Object.entries(terms).map(term), ...Object.keys(types).map(type), ...relations.map(relation)];
}
