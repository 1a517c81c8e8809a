"""The names index: which entities a text names, exactly or with typos.

An *entry* is a name, a label that differs from it, or an alias, in this order. No string is stored twice:
entries point into the graph's own names, and all arrays may be memory-mapped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import Int32, Int64, UInt64, chunks_of
from clew.foundation.bounds import check
from clew.foundation.short import local_name
from clew.graph.graph import Graph, Names
from clew.index.names.typos import MERGED_AT_ONCE, TypoPart, Typos, buckets_for, edits_allowed
from clew.text.normalise import POSSESSIVE, Token, normalise

NameSource = Literal["name", "label", "alias"]
_KINDS: tuple[NameSource, ...] = ("name", "label", "alias")
ENTRIES_AT_ONCE = 65_536
"""Entries whose strings exist at the same time."""


@dataclass(frozen=True, slots=True)
class NameHit:
    """An entity that is called so; `exact`: the text as written is the name (an underscore is a space)."""

    entity: int
    kind: NameSource
    exact: bool


@dataclass(frozen=True, slots=True)
class SpanHit:
    """A span of tokens [start, stop) that names entities, best hits first."""

    start: int
    stop: int
    hits: tuple[NameHit, ...]


@dataclass(frozen=True, slots=True)
class FuzzyHit:
    """An entity with a name `edits` edits away (insert, delete, replace, swap); `score` in (0, 1]."""

    entity: int
    score: float
    edits: int


@dataclass(frozen=True, eq=False)
class NamesIndex:
    """Hashes of normal forms and typo lists over the names of `graph`.

    `hashes` uint64 [entries], ascending, and `entries` int32 in the same order (ascending among equals);
    `label_nodes` int32: the nodes whose label differs from their name.
    """

    graph: Graph
    hashes: UInt64
    entries: Int32
    label_nodes: Int32
    typos: Typos

    @classmethod
    def of(cls, graph: Graph, *, at_once: int = ENTRIES_AT_ONCE, merged: int = MERGED_AT_ONCE) -> NamesIndex:
        """Index all names, labels and aliases of `graph`, some entries `at_once`, as `merge` does."""
        label_nodes = differing_labels(graph)
        spans = chunks_of(0, entry_count(graph, label_nodes), at_once)
        parts = [NamePart.of(graph, label_nodes, *span) for span in spans]
        return cls.merge(graph, label_nodes, parts, merged)

    @classmethod
    def merge(
        cls, graph: Graph, label_nodes: Int32, parts: Sequence[NamePart], merged: int = MERGED_AT_ONCE
    ) -> NamesIndex:
        """Merge parts that cover all entries in order, so many postings at a time."""
        hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)])
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        typos = Typos.of([part.typos for part in parts], buckets_for(len(hashes)), merged)
        return cls(graph, hashes[order], order, label_nodes, typos)

    @classmethod
    def open(cls, graph: Graph, arrays: Mapping[str, NDArray[np.generic]]) -> NamesIndex:
        """From the arrays of `sections`, made from the same graph."""
        hashes, entries, label_nodes = (arrays[name] for name in ("hashes", "entries", "label_nodes"))
        typos = Typos.open({n.removeprefix("typos."): a for n, a in arrays.items() if n.startswith("typos.")})
        return cls(graph, hashes, entries, label_nodes, typos)  # pyright: ignore[reportArgumentType]

    def sections(self) -> dict[str, NDArray[np.generic]]:
        """Give the arrays by name, without the graph."""
        arrays = {"hashes": self.hashes, "entries": self.entries, "label_nodes": self.label_nodes}
        return arrays | {f"typos.{name}": array for name, array in self.typos.sections().items()}

    def exact(self, text: str) -> tuple[NameHit, ...]:
        """All entities so called in normal form, once each: as written, then by name, label, alias, id."""
        check()
        norm = normalise(text)
        if not norm:
            return ()
        best: _Best = {}
        first, last = self._range(hash_norms([norm]))
        self._collect(norm, int(first[0]), int(last[0]), _equals(text), best)
        return _ranked_hits(best)

    def spans(self, text: str, tokens: Sequence[Token], longest: int = 12) -> list[SpanHit]:
        """All spans of at most `longest` tokens of `text` that name an entity, by (start, stop).

        A possessive ending that is attached to the word before it begins no span.
        """
        spans = _spans(text, tokens, longest)
        if not spans:
            return []
        hashes = hash_norms([norm for _, _, norm in spans])
        found: list[SpanHit] = []
        first, last = self._range(hashes)
        for row in np.flatnonzero(last > first).tolist():
            start, stop, norm = spans[row]
            is_written = _is_written_at(text, tokens[start].start, tokens[stop - 1].stop)
            best: _Best = {}
            self._collect(norm, int(first[row]), int(last[row]), is_written, best)
            if best:
                found.append(SpanHit(start, stop, _ranked_hits(best)))
        return found

    def namesakes(self) -> frozenset[int]:
        """The entities whose label another entity has too, by equal hashes."""
        if not len(self.label_nodes):
            return frozenset()
        is_same = self.hashes[1:] == self.hashes[:-1]
        shared = np.append(is_same, False) | np.append(False, is_same)
        nodes_by_label: dict[str, set[int]] = {}
        for entry in self.entries[shared[: len(self.entries)]].tolist():
            if self._kind(entry) < _KINDS.index("alias"):
                node = self.entity(entry)
                nodes_by_label.setdefault(self.graph.labels[node], set()).add(node)
        return frozenset(node for nodes in nodes_by_label.values() if len(nodes) > 1 for node in nodes)

    def with_id(self, text: str) -> int | None:
        """The entity of a name with its id beside it, *Anna Keller (E08)*; None if it is none or several."""
        name, opening, id = text.removesuffix(")").rpartition(" (")
        if not (opening and text.endswith(")")):
            return None
        graph = self.graph
        hits = {hit.entity for hit in self.exact(name) if hit.exact}
        called = [node for node in hits if id in (graph.entities[node], local_name(graph.entities[node]))]
        return called[0] if len(called) == 1 else None

    def fuzzy(self, text: str, limit: int = 8) -> list[FuzzyHit]:
        """At most `limit` entities within the allowed edits of `text`, by (edits, -score, entity).

        Distance is optimal string alignment between normal forms; the shorter of the two says how many
        edits are allowed (`edits_allowed`). Complete within the budgets of `clew.index.names.typos`.
        """
        from rapidfuzz.distance import OSA

        norm = normalise(text)
        best = {hit.entity: (0, 0.0) for hit in self.exact(text)}
        for entry in self.typos.candidates(norm).tolist():
            name = normalise(self.string(entry))
            allowed = edits_allowed(min(len(name), len(norm)))
            edits = OSA.distance(norm, name, score_cutoff=allowed)
            if edits <= allowed:
                entity, rank = self.entity(entry), (edits, edits / max(len(name), len(norm)))
                best[entity] = min(rank, best.get(entity, rank))
        ranked = sorted((*rank, entity) for entity, rank in best.items())
        return [FuzzyHit(entity, 1.0 - cost, edits) for edits, cost, entity in ranked[:limit]]

    def string(self, entry: int) -> str:
        """Read the entry as the source writes it."""
        names, row = self._place(entry)
        return names[row]

    def entity(self, entry: int) -> int:
        """Find the entity that the entry names."""
        nodes, labels = self._bounds
        if entry < nodes:
            return entry
        if entry < labels:
            return int(self.label_nodes[entry - nodes])
        return int(self.graph.aliases.entity[entry - labels])

    @property
    def _bounds(self) -> tuple[int, int]:
        """The first entries that are labels and aliases."""
        nodes = len(self.graph.entities)
        return nodes, nodes + len(self.label_nodes)

    def _place(self, entry: int) -> tuple[Names, int]:
        graph, (nodes, labels) = self.graph, self._bounds
        if entry < nodes:
            return graph.entities, entry
        if entry < labels:
            return graph.labels, int(self.label_nodes[entry - nodes])
        return graph.aliases.names, entry - labels

    def _kind(self, entry: int) -> int:
        nodes, labels = self._bounds
        return (entry >= nodes) + (entry >= labels)

    def _range(self, hashes: UInt64) -> tuple[Int64, Int64]:
        first = np.searchsorted(self.hashes, hashes, "left")
        return first, np.searchsorted(self.hashes, hashes, "right")

    def _collect(self, norm: str, first: int, last: int, exact: Callable[[str], bool], best: _Best) -> None:
        """Add entries [first, last) of the hash table whose string really has the normal form."""
        for entry in self.entries[first:last].tolist():
            check()
            string = self.string(entry)
            if normalise(string) == norm:
                entity, rank = self.entity(entry), (not exact(string), self._kind(entry))
                best[entity] = min(rank, best.get(entity, rank))


_Best = dict[int, tuple[bool, int]]
"""How well each entity is named: inexactly, and by which kind."""


def _ranked_hits(best: _Best) -> tuple[NameHit, ...]:
    ranked = sorted((*rank, entity) for entity, rank in best.items())
    return tuple(NameHit(entity, _KINDS[kind], not inexact) for inexact, kind, entity in ranked)


@dataclass(frozen=True, eq=False)
class NamePart:
    """What some entries add: `hashes` uint64 of their normal forms, and their part of the typos."""

    hashes: UInt64
    typos: TypoPart

    @classmethod
    def of(cls, graph: Graph, label_nodes: Int32, first: int, stop: int) -> NamePart:
        """Index the entries [first, stop)."""
        norms = [normalise(s) for s in _entry_strings(graph, label_nodes, first, stop)]
        hashes = hash_norms(norms)
        # A name that has a label is an identifier; nobody misspells it.
        low, high = np.searchsorted(label_nodes, [first, min(stop, len(graph.entities))]).tolist()
        for node in label_nodes[low:high].tolist():
            norms[node - first] = ""
        return cls(hashes, TypoPart.of(first, norms, buckets_for(entry_count(graph, label_nodes))))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Give the arrays by name."""
        typos = self.typos
        return {
            "hashes": self.hashes,
            "lengths": typos.lengths,
            "signatures": typos.signatures,
            "pairs": typos.pairs,
        }

    @classmethod
    def from_arrays(cls, first: int, arrays: Mapping[str, NDArray[np.generic]]) -> NamePart:
        """From the arrays of `arrays`."""
        hashes, *typos = (arrays[name] for name in ("hashes", "lengths", "signatures", "pairs"))
        return cls(hashes, TypoPart(first, *typos))  # pyright: ignore[reportArgumentType]


def hash_norms(norms: Sequence[str]) -> UInt64:
    """64-bit hashes (BLAKE2b, little-endian), the same on every platform; uint64 [norms]."""
    blake = hashlib.blake2b
    digests = [blake(n.encode("utf-8", "surrogatepass"), digest_size=8).digest() for n in norms]
    return np.frombuffer(b"".join(digests), "<u8")


def differing_labels(graph: Graph) -> Int32:
    """Nodes whose label differs from their name, int32, ascending."""
    if graph.labels is graph.entities:
        return np.empty(0, np.int32)
    differing: list[int] = []
    for (first, names), (_, labels) in zip(_strings(graph.entities), _strings(graph.labels), strict=True):
        differing += [first + i for i, (n, s) in enumerate(zip(names, labels, strict=True)) if n != s]
    return np.array(differing, np.int32)


def entry_count(graph: Graph, label_nodes: Int32) -> int:
    """How many names, labels and aliases there are to find."""
    return len(graph.entities) + len(label_nodes) + len(graph.aliases.names)


def _entry_strings(graph: Graph, label_nodes: Int32, first: int, stop: int) -> Iterator[str]:
    """Strings of the entries [first, stop)."""
    labels, aliases = len(graph.entities), len(graph.entities) + len(label_nodes)
    yield from strings_of(graph.entities, min(first, labels), min(stop, labels))
    for node in label_nodes[max(0, first - labels) : max(0, min(stop, aliases) - labels)].tolist():
        yield graph.labels[node]
    yield from strings_of(graph.aliases.names, max(0, first - aliases), max(0, stop - aliases))


def strings_of(names: Names, first: int, stop: int) -> list[str]:
    """Strings of the rows [first, stop), read as one block."""
    offsets = names.offsets[first : stop + 1]
    if stop <= first:
        return []
    blob = bytes(names.blob[offsets[0] : offsets[-1]])
    places = (offsets - offsets[0]).tolist()
    return [blob[a:b].decode("utf-8") for a, b in pairwise(places)]


def _strings(names: Names) -> Iterator[tuple[int, list[str]]]:
    """(first row, strings) of all rows, a chunk at a time, so that millions never exist at once."""
    for start, stop in chunks_of(0, len(names), ENTRIES_AT_ONCE):
        yield start, strings_of(names, start, stop)


def _spans(text: str, tokens: Sequence[Token], longest: int) -> list[tuple[int, int, str]]:
    """(start, stop, normal form) of the spans to look up."""
    is_plain = [token.norm != POSSESSIVE and any(map(str.isalnum, token.norm)) for token in tokens]
    glued = [i > 0 and tokens[i - 1].stop == token.start for i, token in enumerate(tokens)]
    spans: list[tuple[int, int, str]] = []
    for start, token in enumerate(tokens):
        if glued[start] and token.norm == POSSESSIVE:
            continue
        joined, simple = "", True
        for stop in range(start + 1, min(start + longest, len(tokens)) + 1):
            last = stop - 1
            simple = simple and is_plain[last] and (last == start or not glued[last])
            if simple:
                joined = f"{joined} {tokens[last].norm}" if joined else token.norm
                spans.append((start, stop, joined))
            else:
                spans.append((start, stop, normalise(text[token.start : tokens[last].stop])))
    return spans


def _equals(text: str) -> Callable[[str], bool]:
    spaced = text.replace("_", " ")
    return lambda name: name.replace("_", " ") == spaced


def _is_written_at(text: str, start: int, stop: int) -> Callable[[str], bool]:
    """Whether a name stands in `text` around [start, stop), with its outer punctuation."""
    spaced = text.replace("_", " ")
    inner = spaced[start:stop]

    def stands(name: str) -> bool:
        name = name.replace("_", " ")
        lead = name.find(inner)
        return 0 <= lead <= start and spaced.startswith(name, start - lead)

    return stands
