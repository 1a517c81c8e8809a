// An answer on the page: what was found and why, or why not, and how the question was read.

import { get, of } from "./api.js";
import { copyButtons } from "./copy.js";
import { browseAddress, chips, count, el, factsOf, fill, name, nodeLabel, nodeLink, relationLabel, sentence, shown, tripleLine, tripleList } from "./dom.js";
import { evidenceGraph } from "./evidence.js";
import { entityTable, plainTable } from "./table.js";
import { accountView, unplacedWords } from "./words.js";

const MOST_MENTIONS = 2;
const MOST_GROUPS = 12;
/** Answers whose triples say which columns a question speaks of. */
const MOST_READ = 50;

/** Why there is no answer, by the reason that the server tells. */
export const REASONS = {
  no_entity: "The graph does not have what the question names.",
  ambiguous_entity: "A name in the question stands for several entities.",
  no_relation: "The graph has no relation like the words of the question.",
  unplaced: "Some words of the question have no place in this graph.",
  empty_result: "The graph records nothing for what is asked.",
  not_in_evidence: "What was drafted is not proved by the graph.",
  ungrounded: "The model says what nothing in the graph proves.",
  budget: "The search was stopped before it was done.",
};

/**
 * The sections of an answer. `ask(question, entities, {reading, partial})` asks another one, `about(entity)` prepares
 * one about an entity, `failed(error)` draws what went wrong.
 */
export function answerView(answer, { graph, ask, about, failed }) {
  const parts = [answer.abstained ? abstention(answer, { graph, ask, failed }) : found(answer, { graph, about, failed })];
  parts.push(howRead(answer, graph, ask));
  if (answer.chain) parts.push(chain(answer.chain));
  parts.push(subgraphs(answer));
  if (answer.query) parts.push(querySection(answer));
  if (answer.steps?.length) parts.push(steps(answer.steps));
  return parts.filter(Boolean);
}

/** What proves each answer, by its entity: a number that counts many has many citations. */
function proofs(answer) {
  const cited = new Map();
  for (const citation of answer.citations) cited.set(citation.answer, [...(cited.get(citation.answer) ?? []), ...factsOf(citation)]);
  return cited;
}

function found(answer, { graph, about, failed }) {
  const cited = proofs(answer);
  const proof = el("div", { class: "proof", "aria-live": "polite" });
  const groups = answer.citations.map((citation) => ({ facts: factsOf(citation) })).filter(({ facts }) => facts.length);
  const drawing = groups.length
    ? evidenceGraph(groups, { graph, asked: askedNodes(answer), answers: new Set(answer.answers.map(({ entity }) => entity)), ask: about, label: "Evidence" })
    : null;
  const show = ({ entity, label }) => {
    const facts = cited.get(entity);
    const title = answer.answers.length > 1 ? ["Proof of ", name(nodeLabel(label))] : entity === "no" ? "What the graph records" : "Proof";
    const none = facts ? "The graph records nothing against it." : "It has no citation of its own.";
    fill(proof, el("h3", {}, title), facts?.length ? tripleList(facts, graph, "ol") : el("p", { class: "quiet" }, none));
    drawing?.choose(answer.answers.length > 1 ? (facts ?? []) : []);
  };
  const text = el(
    "section",
    { class: "card found", "aria-label": "Answer" },
    el("h2", {}, headline(answer, graph)),
    answer.reading ? el("p", { class: "quiet" }, "Read as: ", el("span", { class: "reading" }, shown(answer.reading))) : null,
    warnings(answer),
    answerList(answer, { graph, failed, show, cited }),
    proof,
    el("p", { class: "quiet figures" }, figures(answer)),
  );
  return el("div", { class: drawing ? "two" : "one" }, text, drawing?.frame);
}

/** Answers as rows with the columns that the question speaks of; groups and one answer are rows as they are. */
function answerList(answer, { graph, failed, show, cited }) {
  const label = "Answers";
  const proofText = ({ entity }) => (cited.get(entity) ?? []).map(({ names: [head, relation, tail] }) => `${head} ─${relation}→ ${tail}`).join("; ");
  if (answer.rows) {
    const row = (at) => answer.answers[at] && show(answer.answers[at]);
    return plainTable({ ...answer.rows, label, chosen: answer.answers.length ? row : null, json: answer });
  }
  if (answer.answers.length > 1) {
    const first = answer.answers.map((one) => ({ entity: one.entity, label: shownName(one), cells: [] }));
    const rows = { entities: answer.answers.map(({ entity }) => entity) };
    return entityTable({ graph, rows, label, failed, first, chosen: show, spoken: (available) => spokenColumns(answer, available), extra: { title: "proof", text: proofText }, json: answer });
  }
  const only = answer.answers.map((one) => [shownName(one), proofText(one)]);
  if (answer.answers.length) show(answer.answers[0]);
  return [
    answer.answers.length ? null : el("p", {}, shown(answer.text)),
    copyButtons(() => ({ columns: ["name", "proof"], rows: answer.answers.length ? only : [[answer.text, ""]] }), answer),
  ];
}

/** The columns of answers that a question speaks of: by the triples that prove them, and by its words. */
function spokenColumns(answer, available) {
  const wanted = new Set();
  for (const citation of answer.citations.slice(0, MOST_READ)) {
    for (const { ids: [head, relation, tail] } of factsOf(citation)) {
      if (head === citation.answer) wanted.add(relation);
      if (tail === citation.answer) wanted.add(`${relation}^`);
    }
  }
  const words = new Set(answer.account.map(({ part }) => part.toLowerCase()));
  const spoken = available.filter(({ name: column, label }) => wanted.has(column) || [column, label].some((text) => words.has(relationLabel(text).toLowerCase())));
  return spoken.map((column) => column.name);
}

/** An answer's name, with its id where others are called so too, or of what that is one: `S1 (section)`. */
function shownName({ entity, label, shared }) {
  const id = nodeLabel(entity);
  const group = id.slice(0, Math.max(0, id.indexOf(":")));
  const beside = group && id === `${group}:${label}` ? group.replaceAll("_", " ").replace(/ id$/, "") : id;
  return shared ? `${label} (${beside})` : label;
}

function headline(answer, graph) {
  const [first] = answer.answers;
  if (answer.answers.length === 1) return nodeLink(answer.citations.some(({ triples }) => triples.some((ends) => ends.includes(first.label) || ends.includes(shownName(first)))) ? graph : null, first.entity, shownName(first));
  if (answer.answers.length) return `${count(answer.total)} ${answer.rows ? "rows" : "answers"}`;
  return "Answer";
}

function figures(answer) {
  const parts = [`${(answer.timings_ms.total ?? 0).toFixed(1)} ms`, answer.method];
  if (answer.answers.length) parts.push(`${Math.round(answer.answers[0].score * 100)} % sure that it was read right`);
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

/** What the question is about, by name: as the account has it, in the pattern, or as the question says it. */
function askedNodes(answer) {
  const named = answer.account.filter((word) => word.as === "name").map((word) => word.part);
  const known = knownNames(answer);
  if (named.length || known.length) return new Set([...named, ...known]);
  const question = answer.question.toLowerCase();
  const cited = answer.citations.flatMap(({ triples }) => triples.flatMap(([head, , tail]) => [head, tail]));
  return new Set(cited.filter((node) => saysName(question, nodeLabel(node).toLowerCase())));
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

function abstention(answer, { graph, ask, failed }) {
  const { reason, detail, candidates } = answer.abstained;
  const words = reason === "unplaced" ? unplacedWords(answer) : [];
  const rest = words.length ? answer.alternatives[0] : null;
  const meant = candidates.length
    ? el("div", {}, el("h3", {}, reason === "ambiguous_entity" ? "Which one is meant?" : "Did you mean"), chips(candidates, (candidate) => name(nodeLabel(candidate)), (candidate) => ask(answer.question, [candidate])))
    : null;
  return el(
    "section",
    { class: "card abstained", "aria-label": "No answer" },
    el("h2", {}, words.length ? ["I can’t place ", words.map((word, at) => [at ? ", " : "", el("em", {}, name(word))])] : (REASONS[reason] ?? "No answer")),
    rest ? null : el("p", { class: "detail" }, el("bdi", { dir: "auto" }, sentence(detail))),
    warnings(answer),
    rest ? el("p", {}, el("button", { type: "button", class: "main", onclick: () => ask(answer.question, [], { partial: true }) }, "Answer the rest: ", shown(rest.reading))) : null,
    meant,
    recorded(answer, { graph, failed }),
    el("p", { class: "quiet" }, "What this graph records: ", el("a", { href: browseAddress(graph, {}) }, "types and relations"), ` · ${figures(answer)}`),
    copyButtons(() => ({ columns: ["question", "no answer"], rows: [[answer.question, detail]] }), answer),
  );
}

/** What the graph does record of what the question names. */
function recorded(answer, { graph, failed }) {
  const mentions = answer.steps?.find((step) => step.name === "link")?.detail.mentions ?? [];
  const named = answer.account.filter((word) => word.as === "name").map((word) => word.part);
  const linked = mentions.map((mention) => mention.candidates?.[0]?.entity);
  const { reason, candidates } = answer.abstained;
  const meant = reason === "ambiguous_entity" && candidates.length ? candidates : named.length ? named : linked;
  const entities = [...new Set(meant.filter(Boolean))].slice(0, MOST_MENTIONS);
  return entities.map((entity) => {
    const box = el("div", { class: "recorded" });
    get(of(graph, "entities", entity), { limit: 3 }).then(
      (around) => fill(box, el("h3", {}, "Recorded of ", nodeLink(graph, around.entity, around.label)), el("dl", { class: "facts" }, around.groups.slice(0, MOST_GROUPS).map((group) => fact(group, graph)))),
      (problem) => fill(box, failed(problem)),
    );
    return box;
  });
}

/** A relation of an entity with the first of what it leads to. */
function fact({ heading, nodes, count: number }, graph) {
  const left = number - nodes.length;
  return el(
    "div",
    {},
    el("dt", {}, relationLabel(heading)),
    el("dd", {}, nodes.map((node, at) => [at ? ", " : "", nodeLink(graph, node.entity, node.label)]), left > 0 ? el("small", {}, ` and ${count(left)} more`) : null),
  );
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

function howRead(answer, graph, ask) {
  const step = (wanted) => answer.steps?.find((one) => one.name === wanted)?.detail;
  const account = accountView(answer, graph);
  const mentions = account ? [] : readMentions(answer, step("link")?.mentions ?? []);
  if (!answer.pattern && !mentions.length && !answer.reading && !answer.alternatives.length && !account) return null;
  return el(
    "section",
    { class: "card read", "aria-label": "How the question was read" },
    el("h2", {}, "How it was read"),
    account,
    mentions.length ? el("p", {}, "Names: ", mentions.map((mention) => mentionView(mention))) : null,
    answer.pattern && !answer.reading ? patternWords(answer.pattern) : null,
    answer.alternatives.length
      ? [
          el("h3", {}, answer.abstained ? "It may be read as" : "Other readings"),
          el("ol", { class: "alternatives" }, answer.alternatives.map((other, at) => alternative(other, () => ask(answer.question, [], { reading: at + 1 }), answer))),
        ]
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
            ? el("details", {}, el("summary", {}, `${link.evidence.length} triples were read`), tripleList(factsOf({ triples: link.evidence })))
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
