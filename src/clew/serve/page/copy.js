// An answer to take away: JSON, CSV, Markdown, with its citations.

import { el, say } from "./dom.js";

const cell = (text) => {
  // A cell that begins like a formula would be run by a spreadsheet.
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const escaped = (text) => text.replace(/[\\`*_{}[\]()#+!|<>~-]/g, "\\$&").replace(/\s+/g, " ");

const pathText = (triples) => triples.map(([head, relation, tail]) => `${head} ─${relation}→ ${tail}`).join("; ");

export function asCsv(answer) {
  const cited = new Map(answer.citations.map(({ answer: name, triples }) => [name, triples]));
  const rows = answer.answers.map(({ entity, label, score }) => [entity, label, String(score), pathText(cited.get(entity) ?? [])]);
  return [["answer", "label", "score", "triples"], ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

function asMarkdown(answer) {
  const cited = new Map(answer.citations.map(({ answer: name, triples }) => [name, triples]));
  const lines = answer.answers.map(({ entity, label }) => {
    const triples = cited.get(entity) ?? [];
    return [`- **${escaped(label)}**`, ...triples.map((triple) => `  - ${escaped(pathText([triple]))}`)].join("\n");
  });
  const none = answer.abstained ? `No answer: ${escaped(answer.abstained.detail)}` : escaped(answer.text);
  return [`**${escaped(answer.question)}**`, "", ...(lines.length ? lines : [none]), ""].join("\n");
}

const FORMS = {
  JSON: (answer) => JSON.stringify(answer, null, 1),
  CSV: asCsv,
  Markdown: asMarkdown,
};

/** Buttons that copy an answer in each form. */
export function copyButtons(answer) {
  return el(
    "div",
    { class: "buttons", role: "group", "aria-label": "Copy the answer" },
    el("span", { class: "quiet" }, "Copy as"),
    Object.entries(FORMS).map(([form, write]) =>
      el("button", { type: "button", "data-copy": form, onclick: (event) => copy(event.target, form, write(answer)) }, form),
    ),
  );
}

async function copy(button, form, text) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = false; // The browser lets a page copy on https and localhost only.
  }
  button.dataset.text = text;
  button.textContent = done ? "Copied" : "Not allowed";
  say(done ? `Copied as ${form}` : "The browser does not let this page copy");
  setTimeout(() => {
    button.textContent = form;
  }, 1500);
}
