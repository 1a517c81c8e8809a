"""The names of a graph as a query in the notation writes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from clew.graph.graph import Graph
from clew.index.names import NamesIndex
from clew.query.notation import NameLookup
from clew.query.vocabulary import Vocabulary, words_of_label


def lookup_of(
    graph: Graph,
    names: NamesIndex,
    linked: Mapping[str, int] | None = None,
    vocabulary: Vocabulary | None = None,
) -> NameLookup:
    """Find names as the source writes them, then as people read them, then by other words of a `vocabulary`.

    `linked` entities, by their case-folded names, come before others of the graph.
    """

    def entity(name: str) -> int | None:
        if linked and name.casefold() in linked:
            return linked[name.casefold()]
        with_id = names.with_id(name)
        hits = names.exact(name)
        return with_id if with_id is not None else hits[0].entity if hits else None

    relations, types, keys = [*graph.relations], [*graph.types.names], [*graph.edge_properties.keys]
    key_of = by_label(keys, keys)

    def edge_key(name: str) -> str | None:
        at = key_of(name)
        return None if at is None else keys[at]

    other_words = (
        ({}, {}) if vocabulary is None else (vocabulary.relations_by_words, vocabulary.types_by_words)
    )
    return NameLookup(
        entity,
        by_label([*graph.relation_labels], relations, other_words[0]),
        by_label(types, types, other_words[1]),
        edge_key,
    )


def stored_relation(graph: Graph, relation: int) -> str:
    """A relation as the source writes it; of one with an IRI its label."""
    name = graph.relations[relation]
    return graph.relation_labels[relation] if "://" in name else name


def by_label(
    labels: Sequence[str], names: Sequence[str], other_words: Mapping[tuple[str, ...], Sequence[int]] = {}
) -> Callable[[str], int | None]:
    """Find ids by names: as the source writes them, then as people read them; or by words for one alone."""
    ids = {" ".join(words): numbers[0] for words, numbers in other_words.items() if len(numbers) == 1}
    for i in reversed(range(len(labels))):
        for form in (words_of_label(labels[i]), labels[i].casefold(), names[i].casefold()):
            ids[form] = i

    def find(name: str) -> int | None:
        exact = ids.get(name.casefold())
        return ids.get(words_of_label(name)) if exact is None else exact

    return find
