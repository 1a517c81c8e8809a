// An answer on the page: what was found and why, or why not, and how the question was read.

import { get, of } from "./api.js";
import { copyButtons } from "./copy.js";
import { chips, count, el, fill, name, nodeLabel, relationLabel, sentence, shown, tripleLine, tripleList } from "./dom.js";
import { evidenceGraph } from "./evidence.js";
import { longList } from "./list.js";

const MOST_MENTIONS = 2;
const MOST_GROUPS = 12;

/** Why there is no answer, by the reason that the server tells. */
export const REASONS = {
  no_entity: "The graph does not have what the question names.",
  ambiguous_entity: "A name in the question stands for several entities.",
  no_relation: "The graph has no relation like the words of the question.",
  empty_result: "The graph records nothing for what is asked.",
  not_in_evidence: "What was drafted is not proved by the graph.",
  ungrounded: "The model says what nothing in the graph proves.",
  budget: "The search was stopped before it was done.",
};

/**
 * The sections of an answer. `ask(question)` asks another one, `about(entity)` prepares one about an entity,
 * `choose(number)` asks the same one in another reading.
 */
export function answerView(answer, { graph, ask, about, choose }) {
  const parts = [answer.abstained ? abstention(answer, { graph, ask }) : found(answer, { graph, about })];
  parts.push(howRead(answer, choose));
  if (answer.chain) parts.push(chain(answer.chain));
  parts.push(subgraphs(answer));
  if (answer.query) parts.push(querySection(answer));
  if (answer.steps) parts.push(steps(answer.steps));
  return parts.filter(Boolean);
}

function found(answer, { graph, about }) {
  const cited = new Map(answer.citations.map((citation) => [citation.answer, citation.triples]));
  const proof = el("div", { class: "proof", "aria-live": "polite" });
  const answers = new Set(answer.citations.map(({ label }) => label));
  const drawing = answer.citations.length
    ? evidenceGraph(answer.citations, { graph, asked: askedNodes(answer), answers, ask: about, label: "Evidence" })
    : null;
  const show = (item) => {
    const triples = cited.get(item.entity) ?? [];
    fill(
      proof,
      el("h3", {}, "Proof of ", name(nodeLabel(item.label))),
      triples.length
        ? tripleList(triples, graph, "ol")
        : el("p", { class: "quiet" }, "It has no citation of its own."),
    );
    drawing?.choose(answer.answers.length > 1 ? triples : []);
  };
  const list = answer.answers.length
    ? longList(answer.answers, {
        label: "Answers",
        rows: 8,
        draw: (item) => [
          name(nodeLabel(item.label), { class: "answer-name", title: shown(nodeLabel(item.label)) }),
          el("span", { class: "score", title: "Confidence in how the question was read" }, `${Math.round(item.score * 100)} %`),
        ],
        chosen: show,
      })
    : el("p", {}, shown(answer.text));
  if (answer.answers.length) show(answer.answers[0]);
  const text = el(
    "section",
    { class: "card found", "aria-label": "Answer" },
    el("h2", {}, headline(answer)),
    warnings(answer),
    list,
    proof,
    el("p", { class: "quiet figures" }, figures(answer)),
    copyButtons(answer),
  );
  return el("div", { class: drawing ? "two" : "one" }, text, drawing?.frame);
}

function headline(answer) {
  const [first] = answer.answers;
  if (answer.answers.length === 1) return name(nodeLabel(first.label));
  if (answer.answers.length) return `${count(answer.answers.length)} answers`;
  return "Answer";
}

function figures(answer) {
  const parts = [`${(answer.timings_ms.total ?? 0).toFixed(1)} ms`, answer.method];
  if (answer.model) parts.push(shown(answer.model), `${answer.usage.calls} calls`, `${count(answer.usage.input_tokens + answer.usage.output_tokens)} tokens`);
  return parts.join(" · ");
}

function warnings(answer) {
  const told = [];
  if (!answer.grounded) {
    const sure = answer.confidence === null ? "" : `, which says to be ${Math.round(answer.confidence * 100)} % sure`;
    told.push(`No triple proves this: it is the model's own answer${sure}.`);
  }
  if (!answer.complete) told.push("Not all was looked at: there may be more answers.");
  told.push(...answer.notes.map(shown));
  return told.map((text) => el("p", { class: "note" }, text));
}

/** What the question is about: names in the pattern that are known, else those in the evidence that it says. */
function askedNodes(answer) {
  const known = knownNames(answer);
  if (known.length) return new Set(known);
  const question = answer.question.toLowerCase();
  const cited = answer.citations.flatMap(({ triples }) => triples.flatMap(([head, , tail]) => [head, tail]));
  const answers = new Set(answer.citations.map(({ label }) => label));
  return new Set(cited.filter((node) => !answers.has(node) && saysName(question, nodeLabel(node).toLowerCase())));
}

function knownNames({ pattern }) {
  const names = (pattern?.triples ?? []).flatMap(([head, , tail]) => [head, tail]);
  return names.filter((node) => !node.startsWith("UNKNOWN"));
}

/** Whether a text has a name as whole words. */
function saysName(text, label) {
  const at = label.length > 1 ? text.indexOf(label) : -1;
  const letter = /[\p{L}\p{N}]/u;
  return at >= 0 && !letter.test(text[at - 1] ?? "") && !letter.test(text[at + label.length] ?? "");
}

/** The mentions of the reading that was taken: others were weighed, and say nothing of the answer. */
function readMentions(answer, mentions) {
  const known = new Set(knownNames(answer));
  if (!known.size) return mentions;
  return mentions.filter(({ candidates }) => !candidates?.length || candidates.some(({ entity }) => known.has(entity) || known.has(nodeLabel(entity))));
}

function abstention(answer, { graph, ask }) {
  const { reason, detail, candidates } = answer.abstained;
  const meant = candidates.length
    ? el(
        "div",
        {},
        el("h3", {}, reason === "ambiguous_entity" ? "Which one is meant?" : "Did you mean"),
        chips(candidates, (candidate) => name(nodeLabel(candidate)), (candidate) => ask(answer.question, [candidate])),
      )
    : null;
  return el(
    "section",
    { class: "card abstained", "aria-label": "No answer" },
    el("h2", {}, "No answer in this graph"),
    el("p", {}, REASONS[reason] ?? ""),
    el("p", { class: "detail" }, el("bdi", { dir: "auto" }, sentence(detail))),
    warnings(answer),
    meant,
    recorded(answer, { graph, ask }),
    el(
      "p",
      { class: "quiet" },
      "What it does record: ",
      el("a", { href: `#/${encodeURIComponent(graph)}/explore` }, "relations and types"),
      ` · ${figures(answer)}`,
    ),
    copyButtons(answer),
  );
}

/** What the graph does record of what the question names, as questions that can be clicked. */
function recorded(answer, { graph, ask }) {
  const mentions = answer.steps?.find((step) => step.name === "link")?.detail.mentions ?? [];
  const entities = [...new Set(mentions.map((mention) => mention.candidates?.[0]?.entity).filter(Boolean))].slice(0, MOST_MENTIONS);
  return entities.map((entity) => {
    const box = el("div", { class: "recorded" });
    get(of(graph, "entities", entity), { limit: 1 }).then(
      (around) => fill(box, el("h3", {}, "Recorded of ", name(nodeLabel(around.label))), el("ul", { class: "chips" }, around.groups.slice(0, MOST_GROUPS).map((group) => chip(group, around.label, ask)))),
      (problem) => fill(box, el("p", { class: "quiet" }, shown(problem.message))),
    );
    return box;
  });
}

function chip({ relation, direction, count: number }, entity, ask) {
  const words = relationLabel(relation);
  const question = direction === "out" ? `What is the ${words} of ${nodeLabel(entity)}?` : `What has the ${words} ${nodeLabel(entity)}?`;
  return el("li", {}, el("button", { type: "button", title: question, onclick: () => ask(question) }, direction === "out" ? `${words} →` : `← ${words}`, el("small", {}, ` ${count(number)}`)));
}

function patternWords({ triples, answer }) {
  const node = (text) =>
    text.startsWith("UNKNOWN")
      ? el("em", { class: text === answer ? "wanted" : "" }, text === answer ? "what is asked" : text.replace("UNKNOWN", "some").toLowerCase())
      : name(nodeLabel(text));
  return el(
    "ul",
    { class: "triples" },
    triples.map(([head, relation, tail]) =>
      el("li", { class: "triple" }, node(head), el("span", { class: "relation" }, " ─", relationLabel(relation), "→ "), node(tail)),
    ),
  );
}

function howRead(answer, choose) {
  const step = (wanted) => answer.steps?.find((one) => one.name === wanted)?.detail;
  const mentions = readMentions(answer, step("link")?.mentions ?? []);
  const alternatives = answer.alternatives ?? [];
  const readings = alternatives.length ? [] : (step("readings")?.readings ?? []);
  if (!answer.pattern && !mentions.length && !answer.reading && !alternatives.length) return null;
  return el(
    "section",
    { class: "card read", "aria-label": "How the question was read" },
    el("h2", {}, "How it was read"),
    answer.reading ? el("p", { class: "reading" }, shown(answer.reading)) : null,
    mentions.length ? el("p", {}, "Names: ", mentions.map((mention) => mentionView(mention))) : null,
    answer.pattern ? patternWords(answer.pattern) : null,
    alternatives.length
      ? [
          el("h3", {}, "Other readings"),
          el("ol", { class: "alternatives" }, alternatives.map((other, at) => alternative(other, () => choose(at + 1), answer))),
        ]
      : null,
    readings.length > 1
      ? el(
          "details",
          {},
          el("summary", {}, `${readings.length} readings were weighed`),
          el("ol", {}, readings.map((one) => el("li", {}, el("bdi", {}, shown(`${(one.mentions ?? []).join(", ")} ${one.pattern ?? ""}`)), el("span", { class: "quiet" }, ` cost ${one.cost}`)))),
        )
      : null,
  );
}

/** Another reading, which a click answers; the one that is answered is marked. */
function alternative(other, choose, answer) {
  const score = typeof other.score === "number" ? el("span", { class: "score" }, `${Math.round(other.score * 100)} %`) : null;
  const current = other.reading === answer.reading ? "true" : undefined;
  return el("li", {}, el("button", { type: "button", class: "link", onclick: choose, "aria-current": current }, shown(other.reading)), " ", score);
}

function mentionView(mention) {
  const [best] = mention.candidates ?? [];
  const where = best ? `${best.how}${mention.candidates.length > 1 ? `, ${mention.candidates.length} candidates` : ""}` : "";
  return el(
    "span",
    { class: "mention" },
    name(mention.text),
    best && best.entity !== mention.text ? [" = ", name(nodeLabel(best.entity))] : null,
    el("small", {}, ` ${where}`),
  );
}

function chain({ reasoning, links, notes }) {
  return el(
    "section",
    { class: "card", "aria-label": "Reasoning chain" },
    el("h2", {}, "Step by step"),
    reasoning ? el("p", { class: "quiet" }, shown(reasoning)) : null,
    el(
      "ol",
      { class: "chain" },
      links.map((link) =>
        el(
          "li",
          {},
          el("p", {}, el("strong", {}, shown(link.asked || link.question)), " → ", shown(link.text)),
          link.evidence.length
            ? el("details", {}, el("summary", {}, `${link.evidence.length} triples were read`), tripleList(link.evidence))
            : null,
          link.notes.map((text) => el("p", { class: "note" }, shown(text))),
        ),
      ),
    ),
    notes.map((text) => el("p", { class: "note" }, shown(text))),
  );
}

function querySection(answer) {
  const queries = (answer.steps ?? []).filter((step) => step.name === "query").map((step) => step.detail);
  const corrections = queries.flatMap((query) => query.corrections ?? []);
  return el(
    "section",
    { class: "card", "aria-label": "Database query" },
    el("h2", {}, "The query"),
    el("pre", { tabindex: "0" }, shown(answer.query)),
    corrections.length
      ? el(
          "ul",
          { class: "corrections" },
          corrections.map((one) => el("li", {}, el("del", {}, shown(one.before ?? "")), " ", el("ins", {}, shown(one.after ?? "")), el("small", {}, ` ${shown(one.reason ?? one.kind ?? "")}`))),
        )
      : el("p", { class: "quiet" }, "Nothing in it had to be corrected."),
  );
}

/** The subgraphs that SimGRAG read, the nearest first, each with its distance from the pattern. */
function subgraphs({ steps }) {
  const matches = steps?.find((step) => step.name === "match")?.detail.matches ?? [];
  if (matches[0]?.gsd === undefined) return null;
  return el("section", { class: "card subgraphs", "aria-label": "Subgraphs" }, el("h2", {}, "Subgraphs that were read"), distances(matches));
}

function distances(matches) {
  return el(
    "table",
    {},
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "distance"), el("th", { scope: "col" }, "triples"))),
    el("tbody", {}, matches.map((one) => el("tr", {}, el("td", {}, one.gsd.toFixed(3)), el("td", {}, one.triples.map((triple) => el("div", {}, tripleLine(triple))))))),
  );
}

/** Every step of a method: subgraphs with their distances, any other one as it is. */
function steps(list) {
  return el(
    "section",
    { class: "card", "aria-label": "Steps of the method" },
    el("details", {}, el("summary", {}, `${list.length} steps of the method`), el("ol", { class: "steps" }, list.map((step) => el("li", {}, el("strong", {}, shown(step.name)), stepDetail(step))))),
  );
}

function stepDetail({ detail }) {
  const matches = detail.subgraphs ?? detail.matches;
  if (Array.isArray(matches) && matches[0]?.gsd !== undefined) return distances(matches);
  return tree(detail);
}

const MOST_ITEMS = 20;

function tree(value) {
  if (Array.isArray(value)) {
    if (value.length === 3 && value.every((item) => typeof item === "string")) return tripleLine(value);
    const items = value.slice(0, MOST_ITEMS).map((item) => el("li", {}, tree(item)));
    const left = value.length - items.length;
    return el("ul", {}, items, left > 0 ? el("li", { class: "quiet" }, `${count(left)} more in the JSON`) : null);
  }
  if (value !== null && typeof value === "object") {
    return el("dl", {}, Object.entries(value).map(([key, inner]) => el("div", {}, el("dt", {}, shown(key)), el("dd", {}, tree(inner)))));
  }
  return el("span", {}, value === null ? "–" : shown(value));
}
