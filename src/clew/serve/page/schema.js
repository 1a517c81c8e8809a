// The schema as a graph: types, and relations between them with how often they are.

import { el, nodeLabel, count, relationLabel } from "./dom.js";
import { evidenceGraph } from "./evidence.js";

const MOST_RELATIONS = 40;
const MOST_NAMED = 2;

/** A type in words; where a graph has none, its nodes are told by an end of a relation that they have. */
export function typeLabel(type) {
  const end = /^(head|tail) of (.+)$/.exec(type);
  if (!end) return nodeLabel(type);
  return end[1] === "head" ? `has ${relationLabel(end[2])}` : `value of ${relationLabel(end[2])}`;
}

/** Draw the most frequent relations between the types that mostly stand at their ends, an edge from type to type. */
export function schemaGraph(relations) {
  const some = relations.slice(0, MOST_RELATIONS).filter((relation) => relation.head_types.length || relation.tail_types.length);
  const end = (types) => (types.length ? typeLabel(types[0].type) : "anything");
  const between = new Map();
  for (const relation of some) {
    const ends = [end(relation.head_types), end(relation.tail_types)];
    const key = JSON.stringify(ends);
    if (!between.has(key)) between.set(key, { ends, names: [] });
    between.get(key).names.push(`${relationLabel(relation.label)} (${count(relation.triples)})`);
  }
  const groups = [...between.values()].map(({ ends: [head, tail], names }) => ({ triples: [[head, names.join(", "), tail]], label: edgeLabel(names) }));
  if (!groups.length) return el("section", { class: "card" }, el("p", { class: "quiet" }, "No types stand at the ends of its relations."));
  return evidenceGraph(groups, { graph: "", label: "Schema", schema: true }).frame;
}

function edgeLabel(names) {
  const left = names.length - MOST_NAMED;
  return left > 0 ? `${names.slice(0, MOST_NAMED).join(", ")} and ${left} more` : names.join(", ");
}
