// The browse view: types and relations, a table of each, and all that is recorded of an entity.

import { get, of } from "./api.js";
import { complete, entityOffers, wholeField } from "./complete.js";
import { bar, browseAddress, chips, count, el, fill, filling, form, mainField, name, nodeLabel, nodeLink, propertyText, relationLabel, say, shown, tripleLine } from "./dom.js";
import { evidenceGraph, factOf } from "./evidence.js";
import { entityTable } from "./table.js";

const SHOWN = 8;
const PAGE = 50;
const MOST_RELATIONS = 40;
const MOST_NAMED = 2;

export function browseView({ graph, query, go, failed }) {
  const field = mainField("Entity", "Find an entity …", nodeLabel(query.get("entity") ?? ""));
  const result = el("div", { class: "result", tabindex: "-1" });
  const { offers, close } = complete(field, { find: (text, signal) => entityOffers(graph, text, signal), part: wholeField, chosen: (hit) => open({ entity: hit.entity }) });

  async function search() {
    close();
    if (!field.value.trim()) return open({});
    return filling(result, failed, async () => {
      const hits = await entityOffers(graph, field.value);
      if (hits.length === 1 || hits[0]?.how === "exact") await open({ entity: hits[0].entity });
      else fill(result, found(hits));
    });
  }

  function found(hits) {
    const none = el("p", {}, "Nothing in this graph is called so, nor nearly.");
    return el("section", { class: "card" }, hits.length ? [el("h2", {}, "Entities"), chips(hits, (hit) => name(nodeLabel(hit.label)), (hit) => open({ entity: hit.entity }))] : none);
  }

  /** Show an `entity`, a `type`, a `relation`, or what there is. */
  function open(what) {
    go("browse", what);
    return filling(result, failed, async () => {
      if (what.entity) await showEntity(what.entity).catch((error) => showNamed(what.entity, error));
      else if (what.type || what.relation) await showTable(what);
      else await showAll();
      if (document.activeElement === document.body) result.focus({ preventScroll: true }); // what was pressed is gone
    });
  }

  async function showEntity(entity) {
    const around = await get(of(graph, "entities", entity), { limit: SHOWN });
    field.value = nodeLabel(around.label);
    fill(result, entityView(around, { graph, failed, open }));
    say(`${around.label}: ${around.triples} triples`);
  }

  /** The entities that a name stands for, where it stands for several. */
  async function showNamed(text, error) {
    const hits = (await entityOffers(graph, text)).filter(({ how }) => how === "exact");
    if (hits.length < 2) throw error;
    fill(result, found(hits));
  }

  async function showTable({ type, relation }) {
    const rows = { type: type ?? `head of ${relation}` };
    const title = typeLabel(rows.type);
    const table = entityTable({ graph, rows, label: title, failed, spoken: relation ? () => [relation] : null });
    fill(result, el("section", { class: "card", "aria-label": title }, el("h2", {}, name(title)), table));
  }

  async function showAll() {
    const [told, types, info] = await Promise.all([get(of(graph, "relations")), get(of(graph, "types")), get(of(graph, "info"))]);
    fill(result, overview(told, types, info, graph));
  }

  const finding = form({ class: "card ask" }, search, el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Find"), el("a", { class: "button", href: browseAddress(graph, {}) }, "Types and relations")), offers);
  open(Object.fromEntries(["entity", "type", "relation"].map((key) => [key, query.get(key)]).filter(([, value]) => value)));
  return { view: [finding, result], focus: () => field.focus(), close: () => {} };
}

const KINDS = { string: "text", langString: "text", boolean: "yes or no", integer: "number", decimal: "number", double: "number", float: "number", gYear: "year", dateTime: "date and time" };
const END = /^(head|tail) of (.+)$/;

/** A kind of value in words: *number, USD*. */
function valueLabel(type) {
  const [kind, ...more] = nodeLabel(type).split(", ");
  return [KINDS[kind] ?? kind, ...more].join(", ");
}

/** A type in words; where a graph has none, its nodes are told by an end of a relation that they have. */
function typeLabel(type) {
  const end = END.exec(type);
  if (!end) return nodeLabel(type);
  return end[1] === "head" ? `with ${relationLabel(end[2])}` : `value of ${relationLabel(end[2])}`;
}

function overview({ relations, count: total }, { types, declared }, info, graph) {
  const most = Math.max(1, ...types.map((one) => one.count));
  const known = new Set(types.map(({ type }) => type));
  const isValue = (type) => !known.has(type) && !END.test(type);
  const ends = (some) => some.map(({ type, share }) => `${isValue(type) ? valueLabel(type) : typeLabel(type)}${share < 0.995 ? ` ${Math.round(share * 100)} %` : ""}`).join(", ");
  const heads = ["relation", "triples", "from", "to", "for example"];
  const row = (relation) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { class: "node", href: browseAddress(graph, { relation: relation.name }), title: relation.name === relation.label ? undefined : shown(relation.name) }, name(relationLabel(relation.label)))),
      el("td", { class: "number" }, count(relation.triples)),
      el("td", {}, `${count(relation.heads)} × `, name(ends(relation.head_types) || "thing")),
      el("td", {}, `${count(relation.tails)} × `, name(ends(relation.tail_types) || "thing")),
      el("td", {}, tripleLine(relation.example)),
    );
  const some = declared ? types : types.slice(0, MOST_RELATIONS);
  const schema = schemaGraph(relations.filter(({ tail_types: [first] }) => first && !isValue(first.type)));
  return [
    el(
      "div",
      { class: schema ? "two" : "one" },
      el(
        "section",
        { class: "card", "aria-label": "Types" },
        el("h2", {}, "What this graph holds"),
        el("p", {}, Object.entries(info.counts).filter(([, number]) => number).map(([what, number]) => el("span", { class: "chip" }, `${count(number)} ${what}`))),
        el("h3", {}, declared ? "Types" : "Ends of relations"),
        el("ul", { class: "counted" }, some.map((one) => el("li", {}, el("a", { class: "node", href: browseAddress(graph, { type: one.type }) }, name(typeLabel(one.type))), el("small", {}, ` ${count(one.count)}`), bar(one.count / most)))),
      ),
      schema,
    ),
    el(
      "section",
      { class: "card", "aria-label": "Relations" },
      el("h2", {}, `Relations${total > relations.length ? `, the first ${count(relations.length)} of ${count(total)}` : ""}`),
      el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Relations" }, el("table", { class: "relations" }, el("thead", {}, el("tr", {}, heads.map((title) => el("th", { scope: "col" }, title)))), el("tbody", {}, relations.map(row)))),
    ),
  ];
}

/** The most frequent of the relations between things, drawn from the type that mostly stands at one end to that of the other. */
function schemaGraph(relations) {
  const end = (types) => (types.length ? typeLabel(types[0].type) : "thing");
  const between = new Map();
  for (const relation of relations.slice(0, MOST_RELATIONS)) {
    const ends = [end(relation.head_types), end(relation.tail_types)];
    const key = JSON.stringify(ends);
    if (!between.has(key)) between.set(key, { ends, names: [] });
    between.get(key).names.push(relationLabel(relation.label));
  }
  const groups = [...between.values()].map(({ ends: [head, tail], names }) => {
    const left = names.length - MOST_NAMED;
    const triple = [head, names.slice(0, MOST_NAMED).join(", ") + (left > 0 ? ` + ${left}` : ""), tail];
    return { facts: [{ names: triple, ids: triple, properties: [], inferred: false }] };
  });
  if (!groups.length) return null;
  return evidenceGraph(groups, { label: "Schema" }).frame;
}

function entityView(around, { graph, failed, open }) {
  const groups = around.groups.flatMap((group) => group.nodes.map((node) => ({ facts: [factOf(around, group, node)] })));
  const drawing = groups.length ? evidenceGraph(groups, { graph, asked: new Set([around.entity]), label: "Neighbourhood", ask: (entity) => open({ entity }) }) : null;
  const title = shown(nodeLabel(around.label));
  const side = (direction, heading) => {
    const some = around.groups.filter((group) => group.direction === direction);
    return some.length ? [el("h3", {}, heading), el("dl", { class: "facts" }, some.map((group) => groupView(around, group, { graph, failed })))] : null;
  };
  const text = el(
    "section",
    { class: "card", "aria-label": "Entity" },
    el("h2", { title: around.label === around.entity ? undefined : shown(around.entity) }, name(title)),
    el("p", { class: "quiet" }, around.types.map((type) => [el("a", { href: browseAddress(graph, { type }) }, name(nodeLabel(type))), " · "]), `${count(around.triples)} triples`),
    around.aliases.length ? el("p", {}, "Also: ", around.aliases.map((alias, index) => [index ? ", " : "", name(alias)])) : null,
    side("out", "Recorded of it"),
    side("in", "Where it is recorded"),
    around.groups_left ? el("p", { class: "note" }, `${count(around.groups_left)} more relations are not listed.`) : null,
  );
  return el("div", { class: drawing ? "two" : "one" }, text, drawing?.frame);
}

/** A relation of an entity, in one direction, with its nodes in pages. */
function groupView(around, group, { graph, failed }) {
  const list = el("ul", { class: "nodes" });
  const more = el("button", { type: "button", class: "link", hidden: group.next === null, onclick: next }, `more of ${count(group.count)}`);
  let offset = group.next;
  const add = (nodes) => list.append(...nodes.map((node) => el("li", {}, nodeLink(graph, node.entity, node.label), node.properties ? el("small", { class: "properties" }, ` · ${propertyText(node.properties).join(" · ")}`) : null)));
  async function next() {
    try {
      const page = await get(of(graph, "entities", around.entity), { relation: group.relation, direction: group.direction, offset, limit: PAGE });
      add(page.groups[0].nodes);
      offset = page.groups[0].next;
      more.hidden = offset === null;
    } catch (error) {
      more.replaceWith(failed(error));
    }
  }
  add(group.nodes);
  return el("div", { class: "group" }, el("dt", {}, relationLabel(group.heading), group.count > 1 ? el("small", {}, ` ${count(group.count)}`) : null), el("dd", {}, list, more));
}
