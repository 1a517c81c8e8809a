// The ask view: a question, its answer at once, and a link that keeps both.

import { get, listen, of, post } from "./api.js";
import { answerView } from "./answer.js";
import { complete, entityOffers, nameInQuestion } from "./complete.js";
import { chips, el, fill, filling, form, freshId, mainField, name, nodeLabel, say, shown } from "./dom.js";

/** Fields for the method and the chat model, as far as there is a choice; methods beside *auto* are folded. */
export function choices(server, query) {
  const wanted = query.get("method") ?? "auto";
  const method = select("Method", server.methods, wanted);
  const models = [["", "no model"], ...server.models.map((spec) => [spec, spec])];
  const model = select("Model", models, query.get("model") ?? server.models[0] ?? "");
  if (!server.models.length) model.field.hidden = true;
  // Without a chat model only *auto* answers.
  const more = el("details", { class: "more", open: wanted !== "auto", hidden: !server.models.length && wanted === "auto" }, el("summary", {}, "More methods"), method.field);
  return { method: method.input, model: model.input, fields: [more, model.field] };
}

function select(label, options, chosen) {
  const id = freshId("choice");
  const input = el(
    "select",
    { id },
    options.map((option) => {
      const [value, text] = Array.isArray(option) ? option : [option, option];
      return el("option", { value, selected: value === chosen }, text);
    }),
  );
  return { input, field: el("span", { class: "choice" }, el("label", { for: id }, label), input) };
}

export function askView({ graph, server, query, go, failed }) {
  const { method, model, fields } = choices(server, query);
  const field = mainField("Question", "Ask this graph a question …", query.get("q") ?? "", { id: "question" });
  const { offers, close } = complete(field, {
    find: (text, signal) => entityOffers(graph, text, signal),
    part: nameInQuestion,
  });
  const result = el("div", { class: "result", id: "result", tabindex: "-1" });
  const examples = el("div", { class: "examples" });
  let running = null;

  const asking = form(
    { class: "card ask" },
    () => {
      close();
      ask(field.value);
    },
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Ask")),
    offers,
    el("div", { class: "line small" }, fields),
  );

  async function ask(question, entities = [], { reading = null, partial = false } = {}) {
    if (!question.trim()) {
      field.focus();
      return;
    }
    performance.mark("clew-asked");
    field.value = question;
    go("ask", { q: question, method: method.value === "auto" ? "" : method.value, model: model.value, entity: entities, reading: reading ?? "", partial: partial ? "yes" : "" });
    running?.abort();
    running = new AbortController();
    examples.hidden = true;
    const body = { question, method: method.value, model: model.value, explain: true, entities, reading, partial };
    await filling(result, failed, async () => {
      const answer = model.value ? await streamed(body, running.signal) : await post(of(graph, "ask"), body, running.signal);
      fill(result, answerView(answer, { graph, ask: (asked, names, more) => ask(asked, names?.length ? names : entities, more), about, failed }));
      if (document.activeElement === document.body) result.focus({ preventScroll: true }); // what was pressed is gone
      performance.mark("clew-answered");
      say(answer.abstained ? `No answer: ${answer.abstained.detail}` : `${answer.answers.length} answers: ${answer.text.slice(0, 200)}`);
    });
  }

  /** Show what the model says and which steps are taken, while they come. */
  async function streamed(body, signal) {
    const said = el("pre", { class: "said" });
    const taken = el("ol", { class: "steps live" });
    fill(result, el("section", { class: "card" }, el("h2", {}, "Asking ", shown(body.model), " …"), taken, said));
    let call = 0;
    return listen(
      of(graph, "ask"),
      body,
      (event, data) => {
        if (event === "step") taken.append(el("li", {}, shown(data.name)));
        else if (event === "reply") {
          if (data.call !== call) said.textContent = "";
          call = data.call;
          said.textContent += shown(data.text);
        }
      },
      signal,
    );
  }

  /** Put a question about an entity into the box, of which the relation is to be written. */
  function about(entity) {
    const before = "What is the ";
    field.value = `${before}… of ${nodeLabel(entity)}?`;
    field.focus();
    field.setSelectionRange(before.length, before.length + 1);
    field.scrollIntoView({ block: "center" });
  }

  async function offerExamples() {
    try {
      const { questions } = await get(of(graph, "examples"));
      fill(
        examples,
        questions.length ? el("h2", {}, "Questions that this graph answers") : null,
        chips(questions, name, ask),
      );
    } catch (error) {
      fill(examples, failed(error));
    }
  }

  if (field.value) ask(field.value, query.getAll("entity"), { reading: Number(query.get("reading")) || null, partial: query.get("partial") === "yes" });
  else offerExamples();
  return { view: [asking, examples, result], focus: () => field.focus(), close: () => running?.abort() };
}
