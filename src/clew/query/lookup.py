"""The names of a graph as a query in the notation writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clew.graph.graph import Graph
from clew.index.names.names import NamesIndex
from clew.query.notation import NameLookup
from clew.query.vocabulary import words_of_label


def lookup_of(graph: Graph, names: NamesIndex, linked: Mapping[str, int] | None = None) -> NameLookup:
    """Find names as the source writes them, then as people read them.

    `linked` entities, by their case-folded names, come before others of the graph.
    """

    def entity(name: str) -> int | None:
        if linked and name.casefold() in linked:
            return linked[name.casefold()]
        with_id = names.with_id(name)
        hits = names.exact(name)
        return with_id if with_id is not None else hits[0].entity if hits else None

    relations, types = [*graph.relations], [*graph.types.names]
    keys = [*graph.edge_properties.keys]
    edge_key = by_label(keys, keys)

    def key_named(name: str) -> str | None:
        at = edge_key(name)
        return None if at is None else keys[at]

    relation = by_label([*graph.relation_labels], relations)
    return NameLookup(entity, relation, by_label(types, types), key_named)


def by_label(labels: Sequence[str], names: Sequence[str]) -> Callable[[str], int | None]:
    """Find ids by names: as the source writes them, then as people read them."""
    ids: dict[str, int] = {}
    for i in reversed(range(len(labels))):
        for form in (words_of_label(labels[i]), labels[i].casefold(), names[i].casefold()):
            ids[form] = i

    def find(name: str) -> int | None:
        exact = ids.get(name.casefold())
        return ids.get(words_of_label(name)) if exact is None else exact

    return find
