// The ask view: a thread of questions, each with its answer, and an address that keeps them.

import { get, listen, of, post } from "./api.js";
import { answerView } from "./answer.js";
import { complete, entityOffers, nameInQuestion } from "./complete.js";
import { chips, count, el, fill, filling, form, freshId, mainField, name, nodeLabel, say, shown } from "./dom.js";

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

/** What may be said of a question beside its words; in an address those of the second one end with 2, and so on. */
const MORE = { entities: "entity", reading: "reading", partial: "partial" };
/** Questions of a thread; each is asked again when its address is opened. */
const MOST_ASKED = 20;

const keyOf = (key, at) => (at ? `${key}${at + 1}` : key);

/** The questions of a thread, by its address. */
function turnsOf(query) {
  const turns = [];
  while (turns.length < MOST_ASKED) {
    const key = (name) => keyOf(name, turns.length);
    const question = query.get(key("q"));
    if (!question?.trim()) break;
    turns.push({ question, entities: query.getAll(key(MORE.entities)), reading: Number(query.get(key(MORE.reading))) || null, partial: query.get(key(MORE.partial)) === "yes" });
  }
  return turns;
}

/** The address of a thread: each question with what was said beside it. */
function addressOf(turns) {
  return Object.fromEntries(
    turns.flatMap(({ question, entities, reading, partial }, at) => [
      [keyOf("q", at), question],
      [keyOf(MORE.entities, at), entities],
      [keyOf(MORE.reading, at), reading ?? ""],
      [keyOf(MORE.partial, at), partial ? "yes" : ""],
    ]),
  );
}

export function askView({ graph, server, query, go, failed }) {
  const { method, model, fields } = choices(server, query);
  let turns = turnsOf(query);
  let answers = [];
  let running = null;
  const names = { find: (text, signal) => entityOffers(graph, text, signal), part: nameInQuestion };
  const field = mainField("Question", "Ask this graph a question …", turns.length === 1 ? turns[0].question : "", { id: "question" });
  const next = mainField("Follow-up", "And …?  Only those …  How many are they?", "", { id: "follow-up" });
  const offers = complete(field, names);
  const nextOffers = complete(next, names);
  const result = el("div", { class: "result", id: "result", tabindex: "-1" });
  const examples = el("div", { class: "examples" });

  const asking = form(
    { class: "card ask" },
    () => {
      offers.close();
      ask(0, field.value);
    },
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Ask")),
    offers.offers,
    el("div", { class: "line small" }, fields),
  );
  const asksOn = form(
    { class: "card ask", hidden: true, "aria-label": "Ask on" },
    () => {
      nextOffers.close();
      ask(answers.length, next.value);
    },
    el("div", { class: "line" }, next, el("button", { type: "submit", class: "main" }, "Ask on"), el("button", { type: "button", onclick: startAnew }, "Start anew")),
    nextOffers.offers,
  );

  /** Ask a question in the place of one of the thread and of all behind it. */
  async function ask(at, question, { entities = [], reading = null, partial = false } = {}) {
    if (!question.trim()) {
      (at ? next : field).focus();
      return;
    }
    turns = [...turns.slice(0, at), { question, entities, reading, partial }];
    answers = answers.slice(0, at);
    field.value = turns.length === 1 ? question : "";
    go("ask", { ...addressOf(turns), method: method.value === "auto" ? "" : method.value, model: model.value });
    await answerAll();
  }

  /** Answer what has no answer yet, each question with what the one before left. */
  async function answerAll() {
    performance.mark("clew-asked");
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    examples.hidden = true;
    await filling(result, (error) => [thread(), failed(error)], async () => {
      while (answers.length < turns.length) {
        const turn = turns[answers.length];
        const previous = turn.reading ? null : (answers.at(-1)?.thread ?? null); // other readings are of whole questions
        const body = { ...turn, method: method.value, model: model.value, explain: true, previous };
        answers.push(model.value ? await streamed(body, signal) : await post(of(graph, "ask"), body, signal));
      }
      fill(result, thread());
      const answer = answers.at(-1);
      if (turns.length > 1) result.lastElementChild.scrollIntoView({ block: "start" });
      if (document.activeElement === document.body) result.focus({ preventScroll: true }); // what was pressed is gone
      next.value = "";
      asksOn.hidden = !(answer.thread?.total || answer.thread?.query || answer.thread?.earlier?.length) || turns.length === MOST_ASKED;
      performance.mark("clew-answered");
      say(answer.abstained ? `No answer: ${answer.abstained.detail}` : told(answer, 200));
    });
  }

  /** The answers: one as it is, several as a list of their questions, of which the last one is open. */
  function thread() {
    if (turns.length === 1) return answers.map((_, at) => parts(at));
    return answers.map((answer, at) => {
      const turn = el("details", { class: "turn", open: at === turns.length - 1 }, el("summary", {}, el("strong", {}, name(answer.question)), el("span", { class: "quiet" }, " ", brief(answer))));
      const draw = () => turn.open && turn.childElementCount === 1 && turn.append(...[parts(at)].flat());
      turn.addEventListener("toggle", draw);
      draw();
      return turn;
    });
  }

  /** All of one answer; what is asked of it takes the place of its question. */
  function parts(at) {
    const again = (asked, entities, more) => ask(at, asked, { entities: entities?.length ? entities : turns[at].entities, ...more });
    return answerView(answers[at], { graph, ask: again, about, failed });
  }

  function startAnew() {
    running?.abort();
    [turns, answers] = [[], []];
    go("ask", { method: method.value === "auto" ? "" : method.value, model: model.value });
    fill(result);
    asksOn.hidden = true;
    field.value = "";
    field.focus();
    offerExamples();
  }

  /** Show what the model says and which steps are taken, while they come. */
  async function streamed(body, signal) {
    const said = el("pre", { class: "said" });
    const taken = el("ol", { class: "steps live" });
    fill(result, thread(), el("section", { class: "card" }, el("h2", {}, "Asking ", shown(body.model), " …"), taken, said));
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
    examples.hidden = false;
    try {
      const { questions } = await get(of(graph, "examples"));
      fill(
        examples,
        questions.length ? el("h2", {}, "Questions that this graph answers") : null,
        chips(questions, name, (question) => ask(0, question)),
      );
    } catch (error) {
      fill(examples, failed(error));
    }
  }

  if (turns.length) answerAll();
  else offerExamples();
  return { view: [asking, examples, result, asksOn], focus: () => field.focus(), close: () => running?.abort() };
}

/** An answer in a line. */
function brief(answer) {
  return answer.abstained ? "no answer" : shown(told(answer, 80));
}

/** How many answers there are, and the first characters of them. */
function told({ text, answers, total }, most) {
  const begun = text.length > most ? `${text.slice(0, most).trimEnd()} …` : text;
  return answers.length > 1 ? `${count(total)} answers: ${begun}` : begun;
}
