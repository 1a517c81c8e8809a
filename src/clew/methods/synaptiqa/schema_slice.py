"""The part of a schema that a prompt shows: what is nearest to the question, in so many tokens.

SynaptiQA (section III.A) puts the types of nodes and relations and potentially useful attributes of the graph
into the prompt; too many of them make the model worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from clew.llm.prompting import query_text
from clew.methods.schema_lines import CHARACTERS
from clew.methods.synaptiqa.choose_name import NameSpace
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tokens import quote_name
from clew.stores.naming import naming_property
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon

MOST_PROPERTIES = 12
"""Properties of a label or type that are shown; the naming one is always among them."""


@dataclass(frozen=True)
class SchemaSlice:
    """Lines for a prompt, and how many labels, relation types and properties were left out."""

    lines: tuple[str, ...]
    left_out: int

    def __str__(self) -> str:
        return "\n".join(self.lines)


class SchemaSlicer:
    """Ranks the names of a schema by their likeness to a question."""

    def __init__(self, schema: GraphSchema, embedder: Embedder, lexicon: Lexicon) -> None:
        owned = (*schema.label_properties.values(), *schema.type_properties.values())
        properties = sorted({name for names in owned for name in names})
        self.schema = schema
        names = (schema.labels, schema.types, properties)
        self._spaces = tuple(NameSpace(tuple(each), embedder, lexicon) for each in names)

    def slice(self, question: str, tokens: int) -> SchemaSlice:
        """Return hops and labels, those nearest to the question first, as long as they fit."""
        labels, types, properties = (self._scores(space, question) for space in self._spaces)
        # A relation is wanted for its own name first, and for what stands at its ends.
        hops = sorted(
            (hop for hop in self.schema.hops if hop.type not in self.schema.valued),
            key=lambda h: (-(2 * types[h.type] + labels[h.head] + labels[h.tail]), str(h)),
        )
        nodes: dict[str, str] = {}
        edges: dict[str, str] = {}
        room = tokens * CHARACTERS
        for hop in hops:
            new_nodes = {end: self._node(end, properties) for end in (hop.head, hop.tail) if end not in nodes}
            line = self._edge(str(hop.head), hop.type, str(hop.tail), properties)
            cost = len(line) + 1 + sum(len(text) + 1 for text in new_nodes.values())
            if cost <= room:
                nodes |= new_nodes
                edges[str(hop)] = line
                room -= cost
        for label in sorted(self.schema.labels, key=lambda label: (-labels[label], label)):
            line = self._node(label, properties)
            if label not in nodes and len(line) < room:
                nodes[label] = line
                room -= len(line) + 1
        lines = ["Nodes:", *nodes.values(), "Relations:", *(edges.values() or ["(none)"])]
        left_out = len(self.schema.labels) + len(hops) - len(nodes) - len(edges)
        if left_out:
            lines.append(f"({left_out} more labels and relations are not shown)")
        return SchemaSlice(tuple(query_text(line) for line in lines), left_out)

    def _scores(self, space: NameSpace, question: str) -> dict[str, float]:
        """Score each name: the cosine with the question, or with the word of it that is most like it."""
        words = [word for word in question.split() if len(word) > 2]
        scores = np.maximum.reduce([space.meanings(question), *(space.scores(w) for w in words)])
        return dict(zip(space.names, map(float, scores), strict=True))

    def _node(self, label: str, scores: dict[str, float]) -> str:
        schema = self.schema
        properties = _properties_text(
            schema.label_properties.get(label, ()), scores, schema.kinds.get(label, {})
        )
        return f"(:{quote_name(label)}{properties})"

    def _edge(self, head: str, type_: str, tail: str, scores: dict[str, float]) -> str:
        schema = self.schema
        properties = _properties_text(
            schema.type_properties.get(type_, ()), scores, schema.type_kinds.get(type_, {})
        )
        return f"(:{quote_name(head)})-[:{quote_name(type_)}{properties}]->(:{quote_name(tail)})"


def _properties_text(properties: Iterable[str], scores: Mapping[str, float], kinds: Mapping[str, str]) -> str:
    """*{name, pressure: number 260}*: those nearest to the question first, the naming one always."""
    names: Sequence[str] = sorted(properties, key=lambda name: (-scores[name], name))
    naming = naming_property(names)
    if len(names) > MOST_PROPERTIES:
        names = names[:MOST_PROPERTIES]
        names = names if naming is None or naming in names else [naming, *names[:-1]]
    ellipsis = ", …" if len(names) < len(set(properties)) else ""
    texts = (quote_name(name) + (f": {kinds[name]}" if name in kinds else "") for name in names)
    return f" {{{', '.join(texts)}{ellipsis}}}" if names else ""
