// Tables: entities with columns that the server sorts, filters, counts and pages; and rows that are all here.

import { of, post } from "./api.js";
import { copyButtons } from "./copy.js";
import { bar, browseAddress, count, el, fill, form, freshId, name, nodeLabel, refill, relationLabel, say, shown } from "./dom.js";

const PAGE = 50;
const FETCHED = 1000;
const MOST_DRAWN = 200;
const SIGNS = { "=": "is", "!=": "is not", contains: "contains", ">": ">", ">=": "≥", "<": "<", "<=": "≤", present: "is recorded", missing: "is not recorded" };
const NAME = "name";

/** A button in the head of a column, which sorts by it, and whether it is sorted so. */
function sortHead(title, sorted, sort, extra = null, attributes = {}) {
  const arrow = { ascending: " ▲", descending: " ▼" }[sorted] ?? "";
  return el(
    "th",
    { scope: "col", "aria-sort": sorted ?? "none", ...attributes },
    el("span", { class: "head" }, el("button", { type: "button", class: "sort", title: "Sort", "data-key": `sort ${title}`, onclick: sort }, name(title), arrow), extra),
  );
}

/** Let the arrow keys go from row to row. */
function byArrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.closest("tbody")) return;
  const all = [...event.currentTarget.querySelectorAll("tbody .row-name")];
  const next = all[all.indexOf(event.target.closest("tr").querySelector(".row-name")) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  if (next.tagName === "BUTTON") next.click();
}

/**
 * Entities as a table. `rows` says which: `{type}`, `{query}` or `{entities}`. `spoken(available)` chooses the columns
 * that are shown first, `first` are rows that are known before the server answers, `chosen(row)` hears of a row that
 * is picked, `extra` (`{title, text(row)}`) is one more column of what is copied, and `json` what is copied as JSON.
 */
export function entityTable({ graph, rows, label, failed, first = [], spoken = null, chosen = null, extra = null, json = null }) {
  const state = { sort: null, descending: false, filters: [], offset: 0, columns: null, opened: null };
  let available = [];
  let total = 0;
  let page = { count: first.length, columns: [], rows: first.slice(0, PAGE), next: null };
  let picked = null;
  const told = el("span", { class: "quiet", role: "status" });
  const filters = el("ul", { class: "chips filters" });
  const panel = el("div", { class: "panel", hidden: true });
  const chooser = el("details", { class: "columns", hidden: true });
  const grid = el("table", { class: "entities", onkeydown: byArrows });
  const pager = el("div", { class: "buttons pager" });
  const frame = el(
    "div",
    { class: "table", role: "group", "aria-label": label },
    el("div", { class: "line small" }, told, filters, chooser),
    panel,
    el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label }, grid),
    pager,
    copyButtons(whole, json),
  );

  const asked = (more) => ({ ...rows, filters: state.filters, ...more });

  async function load() {
    frame.setAttribute("aria-busy", "true");
    const wanted = { columns: state.columns ?? undefined, sort: state.sort, descending: state.descending, offset: state.offset, limit: PAGE };
    try {
      page = await post(of(graph, "table"), asked(wanted));
      if (state.columns === null) {
        available = page.available;
        total = page.count;
        const some = spoken?.(available);
        state.columns = some?.length ? some : page.columns.map((column) => column.name);
        if (some?.length) page = await post(of(graph, "table"), asked({ ...wanted, columns: state.columns }));
      }
      draw();
      performance.mark("clew-table");
    } catch (error) {
      fill(panel, failed(error));
      panel.hidden = false;
    } finally {
      frame.removeAttribute("aria-busy");
    }
  }

  function change(more) {
    Object.assign(state, { offset: 0 }, more);
    return load();
  }

  function sortBy(column) {
    const same = state.sort === column;
    change(same && state.descending ? { sort: null, descending: false } : { sort: column, descending: same });
  }

  const sorted = (column) => (state.sort === column ? (state.descending ? "descending" : "ascending") : null);
  const titleOf = (column) => relationLabel(available.find((one) => one.name === column)?.label ?? column);
  const kindOf = (column) => available.find((one) => one.name === column)?.kind ?? "text";

  function draw() {
    told.textContent = `${count(page.count)} ${page.count === 1 ? "row" : "rows"}`;
    fill(
      filters,
      state.filters.map((one) =>
        el("li", {}, el("button", { type: "button", "aria-label": `Remove the filter ${one.column} ${one.is} ${one.value}`, onclick: () => change({ filters: state.filters.filter((other) => other !== one) }) }, titleOf(one.column), ` ${SIGNS[one.is]} `, name(one.value), " ✕")),
      ),
    );
    drawColumns();
    const heads = page.columns.map((column) => sortHead(titleOf(column.name), sorted(column.name), () => sortBy(column.name), valuesButton(column.name), { class: kindOf(column.name) }));
    refill(
      grid,
      el("thead", {}, el("tr", {}, sortHead(NAME, sorted(""), () => sortBy("")), heads)),
      el("tbody", {}, page.rows.map(row)),
    );
    const last = state.offset + page.rows.length;
    fill(
      pager,
      page.count > PAGE
        ? [
            el("button", { type: "button", disabled: state.offset === 0, onclick: () => turn(state.offset - PAGE) }, "‹ Previous"),
            el("span", { class: "quiet" }, `${count(state.offset + 1)} to ${count(last)} of ${count(page.count)}`),
            el("button", { type: "button", disabled: last >= page.count, onclick: () => turn(state.offset + PAGE) }, "Next ›"),
          ]
        : null,
    );
  }

  function turn(offset) {
    state.offset = Math.max(0, offset);
    load();
  }

  function row(one) {
    const title = one.entity === one.label ? undefined : shown(one.entity);
    const label = name(nodeLabel(one.label));
    const link = { href: browseAddress(graph, { entity: one.entity }), title };
    const head = chosen
      ? el("div", { class: "row-head" }, el("button", { type: "button", class: "link row-name", "data-key": one.entity, title, onclick: (event) => pick(one, event.target) }, label), el("a", { ...link, class: "open", "aria-label": `All about ${shown(nodeLabel(one.label))}` }, "↗"))
      : el("a", { class: "node row-name", ...link }, label);
    return el(
      "tr",
      { class: picked === one.entity ? "chosen" : undefined },
      el("th", { scope: "row" }, head),
      one.cells.map((cell, at) => el("td", { class: kindOf(page.columns[at].name) }, values(cell, page.columns[at].name))),
    );
  }

  function values(cell, column) {
    const link = kindOf(column) === "text";
    const one = (value) => (link ? el("a", { class: "node", href: browseAddress(graph, { entity: value }) }, name(nodeLabel(value))) : name(value));
    return [cell.values.map((value, at) => [at ? ", " : "", one(value)]), cell.more ? el("small", {}, ` and ${count(cell.more)} more`) : null];
  }

  function pick(one, target) {
    picked = one.entity;
    for (const other of grid.querySelectorAll("tr.chosen")) other.classList.remove("chosen");
    target.closest("tr").classList.add("chosen");
    chosen(one);
  }

  /** What there is to show: each column with how many have it, its kind, and its least and largest value. */
  function drawColumns() {
    if (!available.length) return;
    const heads = ["column", "have it", "kind", "values", "from", "to"];
    const entry = (column) => {
      const id = freshId("column");
      const share = column.filled / Math.max(1, total);
      const box = el("input", { type: "checkbox", id, "data-key": `column ${column.name}`, checked: state.columns.includes(column.name), onchange: () => toggle(column.name, box.checked) });
      return el(
        "tr",
        {},
        el("th", { scope: "row" }, box, " ", el("label", { for: id }, name(relationLabel(column.label)))),
        el("td", {}, `${Math.round(100 * share)} %`, bar(share)),
        el("td", {}, column.kind),
        el("td", { class: "number" }, count(column.distinct)),
        [column.low, column.high].map((end) => el("td", { class: "number" }, name(end))),
      );
    };
    const wide = chooser.querySelector(".wide");
    const top = wide?.scrollTop ?? 0;
    refill(
      chooser,
      el("summary", { "data-key": "columns" }, `Columns (${page.columns.length} of ${available.length})`),
      el("div", { class: "wide choose", tabindex: "0", role: "group", "aria-label": "Columns" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((title) => el("th", { scope: "col" }, title)))), el("tbody", {}, available.map(entry)))),
    );
    chooser.querySelector(".wide").scrollTop = top;
    chooser.hidden = false;
  }

  function toggle(column, wanted) {
    const kept = state.columns.filter((other) => other !== column);
    load(Object.assign(state, { columns: wanted ? [...kept, column] : kept }));
  }

  function valuesButton(column) {
    const open = state.opened === column;
    return el("button", { type: "button", class: "values", "data-key": `values ${column}`, title: "Values, chart, filter", "aria-label": `Values of ${titleOf(column)}`, "aria-expanded": String(open), onclick: () => openPanel(open ? null : column) }, "▾");
  }

  /** The values of a column with their counts, a histogram of numbers, and a filter. */
  async function openPanel(column) {
    state.opened = column;
    panel.hidden = column === null;
    draw();
    if (column === null) return;
    try {
      const facts = await post(of(graph, "facets"), asked({ column }));
      fill(panel, facets(column, facts));
    } catch (error) {
      fill(panel, failed(error));
    }
  }

  function addFilter(...more) {
    state.opened = null;
    panel.hidden = true;
    change({ filters: [...state.filters, ...more] });
  }

  function facets(column, { values: listed, left, bars }) {
    const sign = el("select", { "aria-label": "Comparison" }, Object.entries(SIGNS).map(([value, text]) => el("option", { value }, text)));
    const value = el("input", { type: "text", "aria-label": "Value", placeholder: "value", maxlength: 2000 });
    const filtering = form({ class: "line small" }, () => addFilter({ column, is: sign.value, value: value.value }), el("strong", {}, titleOf(column)), sign, value, el("button", { type: "submit" }, "Filter"), el("button", { type: "button", class: "plain", "aria-label": "Close", onclick: () => openPanel(null) }, "✕"));
    const most = Math.max(1, ...listed.map((one) => one.count));
    const chart = bars.length > 1 ? histogram(column, bars) : null;
    const counted = el(
      "ul",
      { class: "counted" },
      listed.map((one) => el("li", {}, el("button", { type: "button", onclick: () => addFilter({ column, is: "=", value: one.label }) }, name(nodeLabel(one.label)), el("small", {}, ` ${count(one.count)}`)), bar(one.count / most))),
    );
    return [
      filtering,
      chart,
      chart ? el("details", {}, el("summary", {}, "The commonest values"), counted) : counted,
      left ? el("p", { class: "quiet" }, `${count(left)} more values are not listed.`) : null,
    ];
  }

  function histogram(column, bars) {
    const most = Math.max(1, ...bars.map((one) => one.count));
    const last = bars.length - 1;
    return el(
      "div",
      { class: "histogram", role: "group", "aria-label": `Chart of ${titleOf(column)}` },
      el(
        "div",
        { class: "bars" },
        bars.map((one, at) => {
          const range = `${one.from} to ${one.to}: ${count(one.count)}`;
          const within = [{ column, is: ">=", value: String(one.from) }, { column, is: at === last ? "<=" : "<", value: String(one.to) }];
          const made = el("button", { type: "button", title: range, "aria-label": `Only ${range}`, onclick: () => addFilter(...within) });
          made.style.blockSize = `${(one.count / most) * 100}%`;
          return made;
        }),
      ),
      el("div", { class: "ends quiet" }, el("span", {}, bars[0].from), el("span", {}, bars[last].to)),
    );
  }

  /** All rows that pass the filters, with names. */
  async function whole() {
    const columns = state.columns ?? [];
    const found = [];
    for (let offset = 0; offset !== null; ) {
      const part = await post(of(graph, "table"), asked({ columns, sort: state.sort, descending: state.descending, offset, limit: FETCHED }));
      found.push(...part.rows);
      offset = part.next;
    }
    const cellText = ({ values, more }) => values.join(", ") + (more ? ` and ${more} more` : "");
    const titles = [NAME, ...columns.map(titleOf), ...(extra ? [extra.title] : [])];
    return { columns: titles, rows: found.map((one) => [one.label, ...one.cells.map(cellText), ...(extra ? [extra.text(one)] : [])]) };
  }

  if (first.length) draw();
  load();
  if (chosen && first.length) {
    picked = first[0].entity;
    chosen(first[0]);
  }
  return frame;
}

const shownCell = (value) => (Array.isArray(value) ? value.map((one) => shownCell(one)).join(", ") : value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value));

/** Rows that are all here: sorted at a click, numbers with a bar. `chosen(index)` hears of a row that is picked. */
export function plainTable({ columns, rows, label, chosen = null, json = null }) {
  let order = rows.map((_, at) => at);
  let sort = null;
  let picked = chosen && rows.length ? 0 : null;
  let drawn = MOST_DRAWN;
  const numeric = columns.map((_, at) => rows.length > 0 && rows.every((row) => typeof row[at] === "number"));
  const most = columns.map((_, at) => (numeric[at] ? Math.max(...rows.map((row) => Math.abs(row[at]))) || 1 : 1));
  const grid = el("table", { class: "entities", onkeydown: byArrows });
  const more = el("button", { type: "button", class: "link", onclick: () => draw((drawn = rows.length)) });

  function sortBy(at) {
    const down = sort?.at === at ? !sort.down : numeric[at];
    sort = { at, down };
    const compare = numeric[at] ? (a, b) => rows[a][at] - rows[b][at] : (a, b) => shownCell(rows[a][at]).localeCompare(shownCell(rows[b][at]));
    order = rows.map((_, index) => index).sort((a, b) => (down ? -compare(a, b) : compare(a, b)));
    draw();
    say(`Sorted by ${columns[at]}`);
  }

  function cell(value, at, index) {
    if (numeric[at]) return el("td", { class: "number" }, count(value), bar(Math.abs(value) / most[at]));
    const text = name(nodeLabel(shownCell(value)));
    if (at || !chosen) return el("td", {}, text);
    return el("th", { scope: "row" }, el("button", { type: "button", class: "link row-name", "data-key": `row ${index}`, onclick: () => draw((picked = index), chosen(index)) }, text));
  }

  function draw() {
    const sorted = (at) => (sort?.at === at ? (sort.down ? "descending" : "ascending") : null);
    refill(
      grid,
      el("thead", {}, el("tr", {}, columns.map((title, at) => sortHead(relationLabel(title), sorted(at), () => sortBy(at), null, { class: numeric[at] ? "number" : undefined })))),
      el("tbody", {}, order.slice(0, drawn).map((index) => el("tr", { class: index === picked ? "chosen" : undefined }, rows[index].map((value, at) => cell(value, at, index))))),
    );
    more.hidden = drawn >= rows.length;
    more.textContent = `Show all ${count(rows.length)}`;
  }

  draw();
  if (picked !== null) chosen(picked);
  return el(
    "div",
    { class: "table", role: "group", "aria-label": label },
    el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label }, grid),
    more,
    copyButtons(() => ({ columns: columns.map(relationLabel), rows: order.map((index) => rows[index].map((value) => (typeof value === "number" ? value : shownCell(value)))) }), json),
  );
}
