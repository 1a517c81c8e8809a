"""What a graph records, in lines for a prompt: `Machine ─part of line→ Production Line`.

A model that has not seen a graph guesses its relations and the way to what is asked; these lines are few
where a schema is small, and those nearest to the question where it is not. Where types are not declared, an
example stands for each end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from clew.graph.graph import Graph, ValueKind
from clew.graph.schema import MOSTLY_VALUES, Schema
from clew.index.store.directory import Index
from clew.index.store.stored_schema import schema_of_index
from clew.llm.prompting import data_line
from clew.methods.relation_ranking import RelationRanking
from clew.text.labels import readable

CHARACTERS = 3
"""Of a token: names are cut into shorter pieces than words of English are."""
SCHEMA_TOKENS = 1_200
"""Tokens of a schema in a prompt."""
MOST_NAMED_TYPES = 3
"""Types of one end that are named."""
ALL_OF = 0.95
"""From this share of an end's nodes its commonest type says what it is."""
SOME_OF = 0.05
"""A type of fewer of an end's nodes is not named."""
ENUMERATION = 8
"""An end with so many nodes or fewer, in more triples than that, is listed."""
LONGEST_NAME_IN_SCHEMA = 60


@dataclass(frozen=True, eq=False)
class SchemaText:
    """The lines of one graph."""

    graph: Graph
    schema: Schema
    ranking: RelationRanking

    @classmethod
    def of(cls, index: Index, ranking: RelationRanking) -> Self:
        """The schema text of an open index."""
        return cls(index.graph, schema_of_index(index), ranking)

    def lines(self, text: str, near: Sequence[int]) -> str:
        """The relations of the graph in its order; the nearest to a text, or at `near`, where not all fit."""
        room = SCHEMA_TOKENS * CHARACTERS
        if sum(map(len, self._all_lines)) + len(self._all_lines) <= room:
            return "\n".join(self._all_lines) or "(none)"
        scores, sides = self.ranking.scores(text), (self.graph.out, self.graph.into)
        spans = ((side, *side.span(entity)) for entity in near for side in sides)
        near_relations = {int(r) for side, start, stop in spans for r in np.unique(side.relation[start:stop])}
        scores[sorted(near_relations)] += 1.0
        shown_relations: list[int] = []
        for relation in np.argsort(-scores, kind="stable").tolist():
            room -= len(self._all_lines[relation]) + 1
            if room < 0:
                break
            shown_relations.append(relation)
        note = f"({len(self._all_lines) - len(shown_relations)} more relations are not shown)"
        return "\n".join([*(self._all_lines[relation] for relation in sorted(shown_relations)), note])

    @cached_property
    def _all_lines(self) -> tuple[str, ...]:
        return tuple(self._line(relation) for relation in range(len(self.graph.relations)))

    def _line(self, relation: int) -> str:
        name = data_line(readable(self.graph.relation_labels[relation]), LONGEST_NAME_IN_SCHEMA)
        head, tail = self._end(2 * relation), self._end(2 * relation + 1)
        if head and tail:
            return f"{head} ─{name}→ {tail}"
        start, stop = self._example(relation)
        return f"{head or start} ─{name}→ {tail or stop}"

    def _end(self, end: int) -> str:
        """What the nodes of an end are: a value with its range, declared types, or nothing that is known."""
        schema = self.schema
        if schema.numbers[end] >= MOSTLY_VALUES:
            return f"number ({schema.low[end]:,.15g} to {schema.high[end]:,.15g})"
        if schema.dates[end] >= MOSTLY_VALUES:
            dates = (n for n in self._nodes(end) if self.graph.values.kind[n] == ValueKind.DATE)
            return f"date (such as {self._name(next(dates, self._nodes(end)[0]))})"
        type_counts = schema.typed[end] if schema.typed.shape[1] else np.zeros(0, np.int64)
        shares = type_counts / max(int(schema.nodes[end]), 1)
        order = np.argsort(-shares, kind="stable")[:MOST_NAMED_TYPES].tolist()
        type_ids = [t for t in order if shares[t] >= SOME_OF]
        if type_ids and shares[type_ids[0]] >= ALL_OF:
            type_ids = type_ids[:1]
        types = (readable(self.graph.types.names[t]) for t in type_ids)
        label = " or ".join(data_line(name, LONGEST_NAME_IN_SCHEMA) for name in types)
        names = self._short_list(end)
        return f"{label} ({names})" if label and names else label or (f"one of {names}" if names else "")

    def _short_list(self, end: int) -> str:
        """All names of an end, where they are few."""
        nodes, triples = int(self.schema.nodes[end]), int(self.schema.triples[end // 2])
        if not 1 < nodes <= ENUMERATION or triples <= 2 * ENUMERATION:
            return ""
        return "; ".join(map(self._name, self._nodes(end)))

    def _nodes(self, end: int) -> list[int]:
        side = self.graph.into if end % 2 else self.graph.out
        return side.nodes_with(end // 2).tolist()

    def _example(self, relation: int) -> tuple[str, str]:
        """The ends of a triple of a relation, each as an example."""
        nodes, relations, tails = self.graph.out.columns()
        positions = np.flatnonzero(relations == relation)
        if not len(positions):
            return "something", "something"
        place = int(positions[len(positions) // 2])
        return f"(such as {self._name(int(nodes[place]))})", f"(such as {self._name(int(tails[place]))})"

    def _name(self, node: int) -> str:
        return data_line(readable(self.graph.labels[node]), LONGEST_NAME_IN_SCHEMA)
