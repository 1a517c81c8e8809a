// The schema as a graph: types, and relations between them with how often they are.

import { el, nodeLabel, count, relationLabel } from "./dom.js";
import { evidenceGraph } from "./evidence.js";

const MOST_RELATIONS = 40;

/** Draw the most frequent relations between the types that mostly stand at their ends. */
export function schemaGraph(relations) {
  const some = relations.slice(0, MOST_RELATIONS).filter((relation) => relation.head_types.length || relation.tail_types.length);
  const end = (types) => (types.length ? nodeLabel(types[0].type) : "anything");
  const groups = some.map((relation) => ({
    triples: [[end(relation.head_types), `${relationLabel(relation.label)} (${count(relation.triples)})`, end(relation.tail_types)]],
  }));
  if (!groups.length) return el("section", { class: "card" }, el("p", { class: "quiet" }, "No types stand at the ends of its relations."));
  return evidenceGraph(groups, { graph: "", label: "Schema", schema: true }).frame;
}
