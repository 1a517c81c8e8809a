// The verify view: a claim, its verdict, and what the graph says of each part.

import { of, post } from "./api.js";
import { complete, entityOffers, nameInQuestion } from "./complete.js";
import { el, factsOf, fill, filling, form, mainField, name, say, shown, tripleList } from "./dom.js";
import { evidenceGraph } from "./evidence.js";
import { choices } from "./ask.js";

const WORDS = { supported: "Supported", refuted: "Refuted", not_enough_info: "Not enough in this graph" };
const SIGNS = { supported: "✓", refuted: "✗", not_enough_info: "?" };
const METHODS = ["auto", "simgrag"];

export function verifyView({ graph, server, query, go, failed }) {
  const { method, model, fields } = choices({ ...server, methods: METHODS }, query);
  const field = mainField("Claim", "A statement to check, as in: A was made by B and C.", query.get("q") ?? "", { id: "claim" });
  const closed = el("input", { type: "checkbox", id: "closed", checked: query.get("closed") === "yes" });
  const { offers, close } = complete(field, { find: (text, signal) => entityOffers(graph, text, signal), part: nameInQuestion });
  const result = el("div", { class: "result" });

  async function check() {
    if (!field.value.trim()) return;
    go("verify", { q: field.value, method: method.value === "auto" ? "" : method.value, model: model.value, closed: closed.checked ? "yes" : "" });
    await filling(result, failed, async () => {
      const told = await post(of(graph, "verify"), { claim: field.value, closed_world: closed.checked, method: method.value, model: model.value });
      fill(result, verdictView(told, graph));
      say(`${WORDS[told.verdict]}`);
    });
  }

  const checking = form(
    { class: "card ask" },
    () => {
      close();
      check();
    },
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Verify")),
    offers,
    el("div", { class: "line small" }, fields, el("span", { class: "choice" }, closed, el("label", { for: "closed" }, "what is not recorded is not so"))),
  );
  if (field.value) check();
  return { view: [checking, result], focus: () => field.focus(), close: () => {} };
}

function verdictView(told, graph) {
  const groups = told.parts.filter((part) => part.triples.length).map((part) => ({ facts: factsOf(part), mark: part.verdict }));
  const text = el(
    "section",
    { class: "card", "aria-label": "Verdict" },
    el("h2", { class: `verdict ${told.verdict}` }, `${SIGNS[told.verdict]} ${WORDS[told.verdict]}`),
    told.abstained ? el("p", { class: "quiet" }, told.abstained.detail) : null,
    el(
      "p",
      { class: "claim-parts" },
      told.parts.map((part) => [el("span", { class: `part ${part.verdict}`, title: WORDS[part.verdict] }, name(part.text)), " "]),
    ),
    el(
      "ul",
      { class: "parts" },
      told.parts.map((part) =>
        el(
          "li",
          { class: part.verdict },
          el("strong", {}, `${SIGNS[part.verdict]} ${WORDS[part.verdict]}: `),
          name(part.text),
          part.verdict === "refuted" && part.triples.length ? el("p", { class: "quiet" }, "The graph records:") : null,
          part.triples.length
            ? tripleList(factsOf(part), graph)
            : el("p", { class: "quiet" }, "No triple says so, or otherwise."),
        ),
      ),
    ),
    el("p", { class: "quiet" }, `${(told.timings_ms.total ?? 0).toFixed(1)} ms · ${told.method}${told.model ? ` · ${shown(told.model)}` : ""}`),
  );
  const drawing = groups.length ? evidenceGraph(groups, { graph, label: "Evidence" }) : null;
  return el("div", { class: drawing ? "two" : "one" }, text, drawing?.frame);
}
