// The compare view: one question, several methods, side by side.

import { of, post } from "./api.js";
import { count, el, fill, name, nodeLabel, say, shown } from "./dom.js";
import { choices } from "./ask.js";

const MOST_NAMES = 6;
const WITHOUT_MODEL = ["auto", "kg-retrieval"];

export function compareView({ graph, server, query, go, failed }) {
  const { model, fields } = choices(server, query);
  const wanted = new Set((query.get("methods") ?? "").split(",").filter(Boolean));
  const usual = server.models.length ? ["auto", "kg-rag", "kaping"] : WITHOUT_MODEL;
  const boxes = server.methods.map((method) => {
    const box = el("input", { type: "checkbox", id: `method-${method}`, value: method, checked: wanted.size ? wanted.has(method) : usual.includes(method) });
    return [box, el("span", { class: "choice" }, box, el("label", { for: box.id }, method))];
  });
  const field = el("input", { type: "text", class: "question", "aria-label": "Question", maxlength: 10000, value: query.get("q") ?? "", dir: "auto", placeholder: "A question for several methods …" });
  const result = el("div", { class: "result" });

  async function compare() {
    const methods = boxes.filter(([box]) => box.checked).map(([box]) => box.value);
    if (!field.value.trim() || !methods.length) return;
    go("compare", { q: field.value, methods: methods.join(","), model: model.value });
    result.setAttribute("aria-busy", "true");
    try {
      const told = await post(of(graph, "compare"), { question: field.value, methods, model: model.value });
      fill(result, table(told.rows));
      say(`${told.rows.length} methods have answered`);
    } catch (error) {
      fill(result, failed(error));
    } finally {
      result.removeAttribute("aria-busy");
    }
  }

  const form = el(
    "form",
    {
      class: "card ask",
      onsubmit: (event) => {
        event.preventDefault();
        compare();
      },
    },
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Compare")),
    el("fieldset", { class: "line small" }, el("legend", {}, "Methods"), boxes.map(([, label]) => label)),
    el("div", { class: "line small" }, fields[1]),
  );
  if (field.value) compare();
  return { view: [form, result], focus: () => field.focus(), close: () => {} };
}

function table(rows) {
  const head = ["Method", "Answer", "Triples read", "Cited", "Calls", "Tokens", "ms"];
  return el(
    "div",
    { class: "card wide", tabindex: "0", role: "region", "aria-label": "Methods side by side" },
    el(
      "table",
      { class: "compared" },
      el("thead", {}, el("tr", {}, head.map((title) => el("th", { scope: "col" }, title)))),
      el("tbody", {}, rows.map(tableRow)),
    ),
  );
}

function tableRow({ method, answer, evidence, cited, error }) {
  if (error !== null) return el("tr", {}, el("th", { scope: "row" }, method), el("td", { colspan: 6, class: "note" }, shown(error)));
  const figures = [evidence, cited, answer.usage.calls, answer.usage.input_tokens + answer.usage.output_tokens, Math.round(answer.timings_ms.total ?? 0)];
  return el("tr", {}, el("th", { scope: "row" }, method), el("td", {}, said(answer)), figures.map((figure) => el("td", { class: "number" }, count(figure))));
}

function said(answer) {
  if (answer.abstained) return el("span", { class: "quiet" }, `${answer.abstained.reason}: ${shown(answer.abstained.detail)}`);
  const names = answer.answers.slice(0, MOST_NAMES).map(({ label }) => el("span", { class: "chip" }, name(nodeLabel(label))));
  const left = answer.answers.length - names.length;
  return [names.length ? names : shown(answer.text), left > 0 ? ` and ${count(left)} more` : "", answer.grounded ? "" : el("span", { class: "note" }, " not proved")];
}
