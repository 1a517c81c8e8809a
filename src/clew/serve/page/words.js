// The account of words: what each word of a question is in how it was read, and a draft of what an unplaced one means.

import { get, of, post } from "./api.js";
import { copyText, count, el, fill, form, freshId, name, nodeLabel, relationLabel, shown } from "./dom.js";

const TOLD = { name: "name", relation: "relation", type: "type", value: "value", operator: "operator", unplaced: "not placed" };

/** The words of a question that have no place in how it was read. */
export function unplacedWords(answer) {
  return stretches(answer).filter((one) => one.as === "unplaced").map((one) => one.text);
}

/** Neighbouring words that stand for the same, as one; the account is of the question as it was asked. */
function stretches({ question, account }) {
  const fits = account.every((word) => question.slice(word.begin, word.end) === word.text);
  const made = [];
  for (const word of account) {
    const last = made.at(-1);
    const same = last && last.as === word.as && last.part === word.part && word.as !== "unplaced";
    if (same && (!fits || !/[\p{L}\p{N}]/u.test(question.slice(last.end, word.begin)))) {
      last.text = fits ? question.slice(last.begin, word.end) : `${last.text} ${word.text}`;
      last.end = word.end;
    } else {
      const begin = fits && word.as === "value" && /\p{Sc}$/u.test(question.slice(0, word.begin)) ? word.begin - 1 : word.begin;
      made.push({ ...word, begin, text: fits ? question.slice(begin, word.end) : word.text });
    }
  }
  return made.map((one, at) => ({ ...one, before: fits ? question.slice(made[at - 1]?.end ?? 0, one.begin) : at ? " " : "", after: fits && at === made.length - 1 ? question.slice(one.end) : "" }));
}

/** The question with each word marked as what it is; an unplaced one asks what it means. */
export function accountView(answer, graph) {
  if (!answer.account.length) return null;
  const draft = el("div", { class: "draft", hidden: true });
  const words = stretches(answer).map((one) => [shown(one.before), word(one, (text) => openDraft(draft, text, graph)), shown(one.after)]);
  return el("div", { class: "account" }, el("p", { class: "words", role: "group", "aria-label": "The question, word by word" }, words), draft);
}

function word({ text, as, part }, mean) {
  if (as === "frame") return el("span", { class: "word" }, name(text));
  const said = part && part.toLowerCase() !== text.toLowerCase() ? `${TOLD[as]}: ${relationLabel(nodeLabel(part))}` : TOLD[as];
  return el(
    "span",
    { class: `word ${as}` },
    name(text, { class: "said" }),
    el("small", {}, shown(said)),
    as === "unplaced" ? el("button", { type: "button", class: "link", onclick: () => mean(text) }, "what does it mean here?") : null,
  );
}

const literal = (text) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);
const key = (text) => (/^[\w-]+$/.test(text) ? text : JSON.stringify(text));
const step = (relation) => (/^\w[\w.:/-]*\w$|^\w$/.test(relation) ? `.${relation}` : `."${relation}"`);

/** A form that makes a line of a vocabulary to copy; nothing is written on the server. */
async function openDraft(draft, text, graph) {
  const id = freshId("meaning");
  const field = el("input", { type: "text", id, class: "question", list: `${id}-offers`, maxlength: 600, placeholder: ".relation, Type, or Type[relation > 5]", oninput: write, autocomplete: "off", spellcheck: "false" });
  const offers = el("datalist", { id: `${id}-offers` });
  const line = el("pre", { tabindex: "0", "aria-label": "Line of a vocabulary" });
  const told = el("p", { class: "quiet", role: "status" });
  const copy = el("button", { type: "button", onclick: () => copyText(copy, line.textContent) }, "Copy");
  draft.hidden = false;
  fill(
    draft,
    form({}, check, el("label", { for: id }, "Here ", el("strong", {}, shown(text)), " means, in Clew's notation:"), el("div", { class: "line" }, field, el("button", { type: "submit" }, "What is that?")), offers),
    told,
    line,
    el("div", { class: "buttons" }, copy, el("span", { class: "quiet" }, "Put it into a file, then: ", el("code", {}, "clew vocabulary GRAPH --set words.toml"))),
  );
  field.focus();
  write();

  function write() {
    line.textContent = `[terms]\n${shown(`${key(text.toLowerCase())} = ${literal(field.value || "…")}`)}`;
  }

  async function check() {
    try {
      const page = await post(of(graph, "table"), { query: field.value, columns: [], limit: 5 });
      fill(told, `It stands for ${count(page.count)}: `, page.rows.map((one, at) => [at ? ", " : "", name(nodeLabel(one.label))]), page.count > 5 ? " …" : "");
    } catch (error) {
      fill(told, shown(error.message));
    }
  }

  try {
    const { relations, types } = await get(of(graph, "relations"));
    const quoted = (type) => (/^\w+$/.test(type) ? type : `"${type}"`);
    fill(offers, relations.map((one) => el("option", { value: step(one.name) }, relationLabel(one.label))), Object.keys(types).map((type) => el("option", { value: quoted(type) }, "type")));
  } catch (error) {
    fill(told, shown(error.message));
  }
}
