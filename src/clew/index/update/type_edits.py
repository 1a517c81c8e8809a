"""Types of entities while an index is edited: as sources write them, and as people read them.

An index of RDF keeps types by their IRIs (`Stated`), as an ontology speaks of them. Where it keeps labels
alone, a type is its label here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from clew.graph.edit import GraphEdit, NodeText
from clew.graph.graph import Graph

NamedText = tuple[str, str]
"""An entity by its name, and a text: a type, an alias or a name of it."""
NamedTexts = Sequence[NamedText]


class TypeEdits:
    """The types in a graph, and what an edit changes of them; `label` is what people read of a new one."""

    def __init__(self, graph: Graph, label: Callable[[str], str]) -> None:
        self._graph, self._label = graph, label
        self._stated = graph.stated_types

    @property
    def infers(self) -> bool:
        """Whether what follows from an ontology is inferred."""
        return self._stated is not None

    def key(self, name: str) -> str:
        """By what a type is kept: its name, or its label."""
        return self._label(name) if self._stated is None else name

    def of(self, nodes: Iterable[int]) -> set[NodeText]:
        """The types that are stated of some nodes, by their keys."""
        if self._stated is None:
            return {(node, label) for node in nodes for label in self._labels_of(node)}
        rows, names = self._stated.pairs, self._stated.names
        spans = ((node, *rows[:, 0].searchsorted([node, node + 1]).tolist()) for node in nodes)
        return {(node, names[int(rows[row, 1])]) for node, low, high in spans for row in range(low, high)}

    def as_written(
        self, stated_types: Collection[NodeText], pairs: Sequence[tuple[int, NamedText]]
    ) -> list[NamedText]:
        """Types of entities, each with its node, by their keys: people may give what they read."""
        types: Mapping[int, set[str]] = _by_node(stated_types)
        named_texts: list[NamedText] = []
        for node, (entity, text) in pairs:
            keys = types.get(node, set())
            matches = [] if text in keys else sorted(key for key in keys if self._label_of(key) == text)
            named_texts += [(entity, key) for key in matches or [text]]
        return named_texts

    def changed(
        self,
        edit: GraphEdit,
        stated_types: Collection[NodeText],
        added: Sequence[NodeText],
        removed: Sequence[NodeText],
    ) -> GraphEdit:
        """An edit, with types that are added to `stated_types` and removed from them."""
        stated_by_node, added_by_node, removed_by_node = (
            _by_node(stated_types),
            _by_node(added),
            _by_node(removed),
        )
        types_added: list[NodeText] = []
        types_removed: list[NodeText] = []
        for node in dict.fromkeys([*added_by_node, *removed_by_node]):
            table, before = self._labels_of(node), set(map(self._label_of, stated_by_node[node]))
            after = set(
                map(self._label_of, (stated_by_node[node] - removed_by_node[node]) | added_by_node[node])
            )
            types_added += [(node, label) for label in sorted(after - table)]
            types_removed += [(node, label) for label in sorted((table & before) - after)]
        edit = replace(edit, types_added=types_added, types_removed=types_removed)
        if self._stated is None:
            return edit
        names = [key for key in dict.fromkeys(key for _, key in added) if key not in self._numbers]
        return replace(
            edit,
            stated_added=added,
            stated_removed=removed,
            stated_names=names,
            stated_labels=[self._label(key) for key in names],
        )

    def characters(
        self,
        add: Collection[NamedText],
        remove: Collection[NamedText],
        lost: Collection[str],
        missing: list[str],
    ) -> tuple[list[NamedText], list[NamedText]]:
        """Characters of properties that are new, and those that are removed; names what is not there.

        Of `lost` entities all are removed.
        """
        if self._stated is None:
            return [], []
        present, to_remove = set(self._stated.characters), dict.fromkeys(remove)
        missing += [
            f"{name} is {character}" for name, character in to_remove if (name, character) not in present
        ]
        removed = {pair for pair in present if pair in to_remove or pair[0] in lost}
        return sorted(set(add) - present), sorted(removed - set(add))

    def _labels_of(self, node: int) -> set[str]:
        """What people read of the types of a node, those that follow among them."""
        types = self._graph.types
        if not 0 <= node < self._graph.nodes:
            return set()
        return {types.names[number] for number in types.of(node)}

    def _label_of(self, key: str) -> str:
        """What people read of a type."""
        if self._stated is None:
            return key
        number = self._numbers.get(key)
        label = None if number is None else int(self._stated.label[number])
        return self._label(key) if label is None else self._graph.types.names[label]

    @cached_property
    def _numbers(self) -> dict[str, int]:
        names = () if self._stated is None else self._stated.names
        return {name: number for number, name in enumerate(names)}


def _by_node(pairs: Iterable[NodeText]) -> defaultdict[int, set[str]]:
    texts: defaultdict[int, set[str]] = defaultdict(set)
    for node, text in pairs:
        texts[node].add(text)
    return texts
