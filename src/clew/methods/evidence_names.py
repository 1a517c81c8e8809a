"""Which entities of the evidence a stated answer means.

Only entities that stand in the evidence are candidates. A name is taken as it is written, by an alias,
without an article or a bracket behind it, as a part of a longer name, or misspelt, in this order, and where
that leaves one. Numbers and dates are compared by value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from rapidfuzz.distance import OSA

from clew.graph.graph import Graph, ValueKind
from clew.graph.values import parse_value
from clew.text.labels import readable
from clew.text.normalise import normalise

ARTICLES = frozenset(("the", "a", "an"))
SHORTEST_MISSPELT = 5
"""Letters of the shortest name that is looked for misspelt; one in `LETTERS_A_TYPO` may differ."""
LETTERS_A_TYPO = 6
MOST_EXTRA_WORDS = 3
"""Words that a name may have beyond the part that an answer states of it."""
MOST_MISSPELT = 20_000
"""Names of the evidence that one misspelt name is compared with."""
_BRACKET = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_NUMBER = re.compile(r"[+\-\u2212]?\d[\d,]*(?:\.\d+)?")
_DIGITS = re.compile(r"\d+")
_PARTS = re.compile(r"(,?\s+(?:and|or)\s+|,\s+|\s+&\s+|\s*[/|·]\s*)")
LONGEST_PART = 8
"""Parts of a list, cut at commas and *and*, that one name may hold."""

IsName = Callable[[str], bool]
"""Whether a text is exactly the name of some entity of the whole graph."""


@dataclass(frozen=True, slots=True)
class Linked:
    """The entities that an item means, several where they are called alike, or `why` there are none."""

    item: str
    entities: tuple[int, ...]
    why: str = ""


@dataclass(frozen=True, eq=False)
class EvidenceNames:
    """The names of the entities `nodes` of the evidence.

    `is_name` tells a misspelt name of the evidence from the right name of something else.
    """

    graph: Graph
    nodes: tuple[int, ...]
    is_name: IsName | None = None

    @cached_property
    def _labels(self) -> dict[str, list[int]]:
        """Nodes by the normal forms of their labels and source names."""
        nodes_by_name: dict[str, list[int]] = {}
        for node in dict.fromkeys(self.nodes):
            for name in {normalise(self.graph.labels[node]), normalise(self.graph.entities[node])}:
                if name:
                    nodes_by_name.setdefault(name, []).append(node)
        return nodes_by_name

    @cached_property
    def _aliases(self) -> dict[str, list[int]]:
        aliases = self.graph.aliases
        nodes_by_name: dict[str, list[int]] = {}
        for at in np.flatnonzero(np.isin(aliases.entity, np.array(self.nodes, np.int64))).tolist():
            nodes_by_name.setdefault(normalise(aliases.names[at]), []).append(int(aliases.entity[at]))
        return nodes_by_name

    def list_of(self, item: str) -> list[Linked]:
        """What an item means: one thing, else several joined by commas and *and* if each of them is known."""
        whole = self.link_name(item)
        if whole.entities:
            return [whole]
        return self._link_list(item) or [whole]

    def exactly(self, item: str) -> list[Linked]:
        """The same by names as they are written alone; nothing where anything is left over."""
        entities = self._exact(item)
        return [Linked(item, entities)] if entities else self._link_list(item)

    def called(self, item: str) -> bool:
        """Whether an entity is called so to the letter."""
        return any(
            readable(self.graph.labels[node]) == item for node in self._labels.get(normalise(item), ())
        )

    def link_name(self, item: str) -> Linked:
        """The entities that an item means as one name."""
        for name in _shapes(item):
            if entities := self._exact(name):
                return Linked(item, entities)
        if equal_values := self._equal_values(item):
            return Linked(item, equal_values)
        for link in (self._partial, self._misspelt):
            for name in _shapes(item):
                linked = link(item, name)
                if linked is not None:
                    return linked
        return Linked(item, (), "it is not in the facts")

    def _exact(self, name: str) -> tuple[int, ...]:
        norm = normalise(name)
        nodes = self._labels.get(norm) or self._aliases.get(norm) or []
        if len(nodes) > 1:
            nodes = [node for node in nodes if readable(self.graph.labels[node]) == name] or nodes
        return tuple(dict.fromkeys(nodes))

    def _equal_values(self, item: str) -> tuple[int, ...]:
        """Numbers and dates of the evidence that are equal, however they are written; a unit may follow."""
        values = self.graph.values
        kind, value = parse_value(item)
        if kind == ValueKind.NONE:
            numbers = _NUMBER.findall(item)
            if len(numbers) != 1:
                return ()
            kind, value = parse_value(numbers[0])
        return tuple(
            node
            for node in dict.fromkeys(self.nodes)
            if values.kind[node] == kind and abs(values.value[node] - value) <= 1e-9 * max(1.0, abs(value))
        )

    def _partial(self, item: str, name: str) -> Linked | None:
        """Names of which the item is a whole-word part; the one with the fewest words beyond it."""
        words = normalise(name).split()
        if not words or (len(words) == 1 and (len(words[0]) < 2 or words[0].isdigit())):
            return None  # 18 is not *professor 18*
        extra_words: dict[int, int] = {}
        for names in (self._labels, self._aliases):
            for label, nodes in names.items():
                tokens = label.split()
                if len(tokens) - len(words) <= MOST_EXTRA_WORDS and _contains(tokens, words):
                    for node in nodes:
                        extra_words[node] = min(extra_words.get(node, 1_000), len(tokens) - len(words))
        return self._only(item, extra_words, "a part of")

    def _misspelt(self, item: str, name: str) -> Linked | None:
        norm = normalise(name)
        if len(norm) < SHORTEST_MISSPELT or (self.is_name is not None and self.is_name(name)):
            return None
        most = max(1, len(norm) // LETTERS_A_TYPO)
        digits = _DIGITS.findall(norm)
        distances: dict[int, int] = {}
        for label, nodes in list(self._labels.items())[:MOST_MISSPELT]:
            if abs(len(label) - len(norm)) > most or _DIGITS.findall(label) != digits:
                continue
            distance = OSA.distance(norm, label, score_cutoff=most)
            if distance <= most:
                distances |= dict.fromkeys(nodes, distance)
        return self._only(item, distances, "like")

    def _only(self, item: str, cost: dict[int, int], how: str) -> Linked | None:
        """The entities of least cost, if they are called alike."""
        if not cost:
            return None
        least = min(cost.values())
        best = [node for node, node_cost in cost.items() if node_cost == least]
        names = {normalise(self.graph.labels[node]) for node in best}
        if len(names) > 1:
            names_text = ", ".join(readable(self.graph.labels[node]) for node in best[:3])
            return Linked(item, (), f"it is {how} {len(names)} names of the facts ({names_text})")
        return Linked(item, tuple(best))

    def _link_list(self, item: str) -> list[Linked]:
        """Cut an item at commas and *and* so that each part is a name; nothing where one is not."""
        parts = _PARTS.split(item)
        linked_parts: list[Linked] = []
        at = 0
        while at < len(parts):
            for stop in range(min(len(parts), at + 2 * LONGEST_PART), at, -1):
                name = "".join(parts[at:stop]).strip()
                linked = (nodes for shape in _shapes(name) if (nodes := self._exact(shape)))
                if (stop - at) % 2 and (entities := next(linked, ())):
                    linked_parts.append(Linked(name, entities))
                    at = stop + 1
                    break
            else:
                return []
        return linked_parts if len(linked_parts) > 1 else []


def evidence_nodes(graph: Graph, triples: Iterable[int]) -> tuple[int, ...]:
    """Heads and tails of triples, in order, each once."""
    return tuple(dict.fromkeys(node for triple in triples for node in graph.triple(triple)[::2]))


def _shapes(item: str) -> Iterator[str]:
    """An item as it is; without a bracket behind it; and each without an article."""
    bare = _BRACKET.sub("", item)
    for text in dict.fromkeys((item, bare) if bare else (item,)):
        yield text
        first, _, without_article = text.partition(" ")
        if without_article and first.casefold() in ARTICLES:
            yield without_article


def _contains(tokens: Sequence[str], words: Sequence[str]) -> bool:
    return any(tokens[at : at + len(words)] == list(words) for at in range(len(tokens) - len(words) + 1))
