// Tables and answers to take away: JSON, CSV, Markdown to copy, and CSV as a file, with names.

import { copyText, el, saveFile } from "./dom.js";

const cell = (value) => {
  const text = String(value ?? "");
  // A cell that begins like a formula would be run by a spreadsheet; a number is none.
  const safe = /^[=+\-@\t\r]/.test(text) && !/^[-+]?[\d.,]+$/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

const escaped = (value) => String(value ?? "").replace(/[\\`*_{}[\]()#+!|<>~]/g, "\\$&").replace(/\s+/g, " ");

/** `{columns, rows}` as CSV. */
export function asCsv({ columns, rows }) {
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");
}

function asMarkdown({ columns, rows }) {
  const line = (cells) => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(columns), `|${columns.map(() => "---").join("|")}|`, ...rows.map(line), ""].join("\n");
}

function asJson({ columns, rows }) {
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]]))), null, 1);
}

/**
 * Buttons that copy a table in each form. `table()` gives `{columns, rows}`, now or later; `json`, where it is given,
 * stands in place of the rows as JSON.
 */
export function copyButtons(table, json = null) {
  const forms = {
    JSON: async () => (json === null ? asJson(await table()) : JSON.stringify(json, null, 1)),
    CSV: async () => asCsv(await table()),
    Markdown: async () => asMarkdown(await table()),
  };
  return el(
    "div",
    { class: "buttons", role: "group", "aria-label": "Copy" },
    el("span", { class: "quiet" }, "Copy as"),
    Object.entries(forms).map(([form, write]) =>
      el("button", { type: "button", "data-copy": form, onclick: (event) => copyText(event.target, write) }, form),
    ),
    el("button", { type: "button", onclick: async () => saveFile(new Blob(["\ufeff", await forms.CSV()], { type: "text/csv" }), "table.csv") }, "Save CSV"),
  );
}
