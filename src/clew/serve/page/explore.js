// The explore view: what the graph holds, and what is around an entity.

import { get, of } from "./api.js";
import { completeEntities, wholeField } from "./complete.js";
import { chips, count, el, fill, filling, form, mainField, name, nodeLabel, relationLabel, say, tripleLine } from "./dom.js";
import { evidenceGraph } from "./evidence.js";
import { longList } from "./list.js";
import { schemaGraph, typeLabel } from "./schema.js";

const PAGE = 50;

export function exploreView({ graph, query, go, failed }) {
  const field = mainField("Entity", "Find an entity …", nodeLabel(query.get("entity") ?? ""));
  const result = el("div", { class: "result", tabindex: "-1" });
  const { offers, close } = completeEntities(field, { graph: () => graph, part: wholeField, chosen: (hit) => open(hit.entity) });

  async function search() {
    close();
    if (!field.value.trim()) {
      overview();
      return;
    }
    try {
      const { entities } = await get(of(graph, "entities"), { prefix: field.value, limit: 20 });
      if (entities.length === 1 || entities[0]?.how === "exact") open(entities[0].entity);
      else fill(result, hits(entities));
    } catch (error) {
      fill(result, failed(error));
    }
  }

  function hits(entities) {
    if (!entities.length) return el("section", { class: "card" }, el("p", {}, "Nothing in this graph is called so, nor nearly."));
    return el(
      "section",
      { class: "card" },
      el("h2", {}, "Entities"),
      chips(entities, (hit) => name(nodeLabel(hit.label)), (hit) => open(hit.entity)),
    );
  }

  async function open(entity) {
    go("explore", { entity });
    await filling(result, failed, async () => {
      const around = await get(of(graph, "entities", entity), { limit: 8 });
      field.value = nodeLabel(around.label);
      fill(result, entityView(around, { graph, open, failed, result }));
      if (document.activeElement === document.body) result.focus({ preventScroll: true }); // what was pressed is gone
      say(`${around.label}: ${around.triples} triples`);
    });
  }

  async function overview() {
    go("explore", {});
    try {
      const [told, info] = await Promise.all([get(of(graph, "relations")), get(of(graph, "info"))]);
      fill(result, schemaView(told, info));
    } catch (error) {
      fill(result, failed(error));
    }
  }

  const finding = form(
    { class: "card ask" },
    search,
    el("div", { class: "line" }, field, el("button", { type: "submit", class: "main" }, "Find")),
    offers,
  );
  if (query.get("entity")) open(query.get("entity"));
  else overview();
  return { view: [finding, result], focus: () => field.focus(), close: () => {} };
}

const tripleOf = (around, group, node) => (group.direction === "out" ? [around.entity, group.relation, node.entity] : [node.entity, group.relation, around.entity]);

function entityView(around, { graph, open, failed }) {
  const groups = around.groups.map((group) => ({ triples: group.nodes.map((node) => tripleOf(around, group, node)) }));
  const drawing = evidenceGraph(groups.flatMap(({ triples }) => triples.map((triple) => ({ triples: [triple] }))), {
    graph,
    asked: new Set([around.entity]),
    around: around.entity,
    label: "Neighbourhood",
    ask: (entity) => open(entity),
  });
  const text = el(
    "section",
    { class: "card", "aria-label": "Entity" },
    el("h2", {}, name(nodeLabel(around.label))),
    el("p", { class: "quiet" }, [...around.types.map(nodeLabel), `${count(around.triples)} triples`].join(" · ")),
    around.label !== around.entity ? el("p", { class: "quiet" }, name(around.entity)) : null,
    around.aliases.length ? el("p", {}, "Also: ", around.aliases.map((alias, index) => [index ? ", " : "", name(alias)])) : null,
    el(
      "p",
      {},
      el("a", { class: "button", href: `#/${encodeURIComponent(graph)}/ask?q=${encodeURIComponent("")}&entity=${encodeURIComponent(around.entity)}` }, "Ask about it"),
    ),
    around.groups.map((group) => groupView(around, group, { graph, open, failed })),
    around.groups_left ? el("p", { class: "note" }, `${count(around.groups_left)} more relations are not listed.`) : null,
  );
  return el("div", { class: "two" }, text, drawing.frame);
}

function groupView(around, group, { graph, open, failed }) {
  const list = el("ul", { class: "chips" });
  const add = (nodes) =>
    list.append(...nodes.map((node) => el("li", {}, el("button", { type: "button", onclick: () => open(node.entity) }, name(nodeLabel(node.label))))));
  const more = el("button", { type: "button", class: "link", hidden: group.next === null, onclick: next }, `more of ${count(group.count)}`);
  let offset = group.next;
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
  const title = group.direction === "out" ? [relationLabel(group.relation), " →"] : ["← ", relationLabel(group.relation)];
  return el("div", { class: "group" }, el("h3", {}, title, el("small", {}, ` ${count(group.count)}`)), list, more);
}

function schemaView({ relations, count: total }, info) {
  const detail = el("div", { class: "proof" });
  const show = (relation) =>
    fill(
      detail,
      el("h3", {}, relationLabel(relation.label)),
      el("p", {}, "For example: ", tripleLine(relation.example)),
      el("p", { class: "quiet" }, `${some(relation.heads, "head")}, ${some(relation.tails, "tail")}. ${ends(relation)}`),
    );
  const list = longList(relations, {
    label: "Relations",
    rows: 10,
    draw: (relation) => [name(relationLabel(relation.label), { class: "answer-name", title: relationLabel(relation.label) }), el("span", { class: "score" }, count(relation.triples))],
    chosen: show,
  });
  if (relations.length) show(relations[0]);
  const types = Object.entries(info.types);
  const text = el(
    "section",
    { class: "card", "aria-label": "What the graph holds" },
    el("h2", {}, "What this graph holds"),
    el("p", {}, Object.entries(info.counts).filter(([, number]) => number).map(([what, number]) => el("span", { class: "chip" }, `${count(number)} ${what}`))),
    el("h3", {}, `Relations${total > relations.length ? `, the first ${count(relations.length)} of ${count(total)}` : ""}`),
    list,
    detail,
    types.length ? [el("h3", {}, "Types"), el("p", {}, types.slice(0, 40).map(([type, number]) => el("span", { class: "chip" }, name(nodeLabel(type)), ` ${count(number)}`)), types.length > 40 ? ` and ${count(types.length - 40)} more` : "")] : null,
  );
  return el("div", { class: "two" }, text, schemaGraph(relations));
}

function some(number, what) {
  return `${count(number)} ${what}${number === 1 ? "" : "s"}`;
}

function ends({ head_types: heads, tail_types: tails }) {
  const said = (types) => types.map(({ type, share }) => `${typeLabel(type)} ${Math.round(share * 100)} %`).join(", ") || "things of no type";
  return `From ${said(heads)} to ${said(tails)}.`;
}
