"""The part of a schema that a prompt shows, in Cypher: what a question may need, in so many tokens.

SynaptiQA (section III.A) puts the types of nodes and relations and potentially useful attributes of the graph
into the prompt; too many of them make the model worse. What is left out is named (`schema_view.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from clew.llm.prompting import query_text
from clew.methods.schema_view import MEASURING, NAMED, SchemaLine, left_out_names, lines_that_fit
from clew.methods.synaptiqa.choose_name import NameSpace, words_of
from clew.stores.cypher.schema import GraphSchema, SchemaHop, naming_property
from clew.stores.cypher.tree import quote_name
from clew.text.embedder import Embedder
from clew.text.lexicon import Lexicon

_TEXTS = ("text", "true", "list of text", "list of true")
"""What kinds of values begin with that are no numbers or dates."""
_RELATIONS = "relations of "
"""Before the label of the head, in the owner of a relation's line."""


@dataclass(frozen=True)
class SchemaSlice:
    """Lines for a prompt, and how many labels, relations and properties are not shown but named."""

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

    def slice(self, question: str, tokens: int, ranks: Mapping[str, float] | None = None) -> SchemaSlice:
        """Show the labels with their properties and relations that a question may need.

        `ranks` of relations by name, where a graph's own view has them (`SchemaView.ranks`), come first.
        """
        return self._rendered(self.schema.labels, question, tokens, ranks or {})

    def of_labels(self, names: Collection[str], question: str, tokens: int) -> SchemaSlice | None:
        """All that some labels have: a second look. None where none of the names is a label."""
        wanted = {words_of(name.strip("` :")).casefold() for name in names}
        labels = [label for label in self.schema.labels if words_of(label).casefold() in wanted]
        return self._rendered(labels, question, tokens, {}) if labels else None

    def _rendered(
        self, labels: Collection[str], question: str, tokens: int, ranks: Mapping[str, float]
    ) -> SchemaSlice:
        lines, scores = self._lines(set(labels), question, ranks)
        fits = lines_that_fit(lines, scores, tokens)
        hidden = left_out_names(lines, scores, fits)
        properties: dict[str, list[str]] = {}
        hops: list[str] = []
        for line, fit in zip(lines, fits, strict=True):
            if fit and line.owner.startswith(_RELATIONS):
                hops.append(line.text)
            elif fit:
                properties.setdefault(line.owner, []).append(line.text)
        shown = ["Nodes:"]
        for label, texts in properties.items():
            named = ", ".join(text for text in texts if text)
            note = f"  ({hidden[label]})" if hidden.get(label) else ""
            shown.append(f"(:{quote_name(label)}{f' {{{named}}}' if named else ''}){note}")
        shown += ["Relations:", *(hops or ["(none)"])]
        rest = {owner: text for owner, text in hidden.items() if text and owner not in properties}
        shown += [
            "Not shown:",
            *(f"{owner}: {text}" if owner else text for owner, text in rest.items()),
        ] * bool(rest)
        return SchemaSlice(tuple(query_text(line) for line in shown), fits.count(False))

    def _lines(
        self, labels: set[str], question: str, ranks: Mapping[str, float]
    ) -> tuple[list[SchemaLine], list[float]]:
        """A line for each label, property and hop, and how likely the question needs it."""
        schema = self.schema
        near_labels, near_types, near_properties = (self._scores(space, question) for space in self._spaces)
        hops = [hop for hop in schema.hops if hop.type not in schema.valued and labels & {hop.head, hop.tail}]
        lines, scores = list[SchemaLine](), list[float]()
        for label in (each for each in schema.labels if each in labels):
            names = schema.label_properties.get(label, ())
            naming, kinds = naming_property(sorted(names)), schema.kinds.get(label, {})
            if not names:
                lines.append(SchemaLine(label, "", ""))
                scores.append(near_labels[label])
            for name in sorted(names, key=lambda name: (name != naming, -near_properties[name], name)):
                own = near_properties[name] + near_labels[label] / 2
                is_measure = name in kinds and not kinds[name].startswith(_TEXTS)
                tier = NAMED * (name == naming) or MEASURING * (is_measure and near_labels[label] > 0)
                lines.append(SchemaLine(label, name, _property_text(name, kinds)))
                scores.append(max(tier * near_labels[label] + own, ranks.get(name, 0.0)))
        for hop in hops:
            # A relation is wanted for its own name first, and for what stands at its ends.
            own = near_types[hop.type] + (near_labels[hop.head] + near_labels[hop.tail]) / 2
            lines.append(SchemaLine(_RELATIONS + hop.head, f"{hop.type} to {hop.tail}", self._edge(hop)))
            scores.append(max(own, ranks.get(hop.type, 0.0)))
        return lines, scores

    def _scores(self, space: NameSpace, question: str) -> dict[str, float]:
        """Score each name: the cosine with the question, or with the word of it that is most like it."""
        words = [word for word in question.split() if len(word) > 2]
        scores = np.maximum.reduce([space.meanings(question), *(space.scores(w) for w in words)])
        return dict(zip(space.names, map(float, scores), strict=True))

    def _edge(self, hop: SchemaHop) -> str:
        kinds = self.schema.type_kinds.get(hop.type, {})
        names = sorted(self.schema.type_properties.get(hop.type, ()))
        properties = ", ".join(_property_text(name, kinds) for name in names)
        properties = f" {{{properties}}}" if properties else ""
        return f"(:{quote_name(hop.head)})-[:{quote_name(hop.type)}{properties}]->(:{quote_name(hop.tail)})"


def _property_text(name: str, kinds: Mapping[str, str]) -> str:
    """*pressure: number 260*."""
    return quote_name(name) + (f": {kinds[name]}" if name in kinds else "")
