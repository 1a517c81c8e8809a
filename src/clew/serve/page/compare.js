// The compare view: one question, several methods, side by side.

import { of, post } from "./api.js";
import { count, el, fill, filling, form, mainField, name, nodeLabel, say, sentence, shown } from "./dom.js";
import { REASONS } from "./answer.js";
import { choices } from "./ask.js";

const MOST_NAMES = 6;
const WITHOUT_MODEL = ["auto"];

export function compareView({ graph, server, query, go, failed }) {
  const { model, fields } = choices(server, query);
  const wanted = new Set((query.get("methods") ?? "").split(",").filter(Boolean));
  const usual = server.models.length ? ["auto", "kg-rag", "kaping"] : WITHOUT_MODEL;
  const boxes = server.methods.map((method) => {
    const box = el("input", { type: "checkbox", id: `method-${method}`, value: method, checked: wanted.size ? wanted.has(method) : usual.includes(method), disabled: !server.models.length && !WITHOUT_MODEL.includes(method) });
    return [box, el("span", { class: "choice" }, box, el("label", { for: box.id }, method))];
  });
  const field = mainField("Question", "A question for several methods …", query.get("q") ?? "");
  const result = el("div", { class: "result" });

  async function compare() {
    const methods = boxes.filter(([box]) => box.checked).map(([box]) => box.value);
    if (!field.value.trim() || !methods.length) return;
    go("compare", { q: field.value, methods: methods.join(","), model: model.value });
    await filling(result, failed, async () => {
      const told = await post(of(graph, "compare"), { question: field.value, methods, model: model.value });
      const open = (name) => `#/${encodeURIComponent(graph)}/ask?${new URLSearchParams({ q: field.value, method: name, model: model.value })}`;
      fill(result, table(told.rows, open));
      say(`${told.rows.length} methods have answered`);
    });
  }

  const comparing = form(
    { class: "card ask" },
    compare,
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Compare")),
    el("fieldset", { class: "line small" }, el("legend", {}, "Methods"), boxes.map(([, label]) => label)),
    server.models.length ? el("div", { class: "line small" }, fields[1]) : el("p", { class: "quiet" }, "Other methods than auto need a chat model, which this server does not have."),
  );
  if (field.value) compare();
  return { view: [comparing, result], focus: () => field.focus(), close: () => {} };
}

const FIGURES = ["Triples read", "Cited", "Calls", "Tokens", "ms"];

/** A row a method; on a narrow screen a row is a card, and so its roles are said. `open(method)` is the address of its answer. */
function table(rows, open) {
  return el(
    "div",
    { class: "card wide", tabindex: "0", role: "region", "aria-label": "Methods side by side" },
    el(
      "table",
      { class: "compared", role: "table" },
      el(
        "thead",
        { role: "rowgroup" },
        el("tr", { role: "row" }, ["Method", "Answer"].map((title) => el("th", { scope: "col", role: "columnheader" }, title)), FIGURES.map((title) => el("th", { scope: "col", role: "columnheader", class: "number" }, title))),
      ),
      el("tbody", { role: "rowgroup" }, rows.map((row) => tableRow(row, open))),
    ),
  );
}

function tableRow({ method, answer, evidence, cited, error }, open) {
  const head = (inner) => el("th", { scope: "row", role: "rowheader" }, inner);
  if (error !== null) return el("tr", { role: "row" }, head(method), el("td", { colspan: 6, role: "cell" }, el("p", { class: "note" }, shown(error))));
  const figures = [evidence, cited, answer.usage.calls, answer.usage.input_tokens + answer.usage.output_tokens, Math.round(answer.timings_ms.total ?? 0)];
  return el(
    "tr",
    { role: "row" },
    head(el("a", { href: open(method), title: "Its answer with citations" }, method)),
    el("td", { class: "said", role: "cell" }, said(answer)),
    figures.map((figure, at) => el("td", { class: "number", role: "cell", "data-title": FIGURES[at] }, count(figure))),
  );
}

function said(answer) {
  if (answer.abstained) {
    const { reason, detail } = answer.abstained;
    return el("span", { class: "quiet" }, el("strong", {}, "No answer. "), REASONS[reason] ?? "", " ", el("bdi", { dir: "auto" }, sentence(detail)));
  }
  const names = answer.answers.slice(0, MOST_NAMES).map(({ label }) => el("span", { class: "chip" }, name(nodeLabel(label))));
  const left = answer.answers.length - names.length;
  return [names.length ? names : shown(answer.text), left > 0 ? ` and ${count(left)} more` : "", answer.grounded ? "" : el("span", { class: "note" }, " not proved")];
}
