"""The names index: which entities a text names, exactly by hash or with typos.

An *entry* is a name, a label that differs from it, or an alias, in this order. No string is stored twice:
entries point into the graph's own names, and all arrays may be memory-mapped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.foundation.arrays import AT_ONCE, Int32, Int64, UInt16, UInt32, UInt64, chunks_of
from clew.foundation.forms import id_beside, local_name
from clew.foundation.system import check
from clew.graph.graph import Graph, Names, offsets_of
from clew.graph.naming import named_by
from clew.text.normalise import POSSESSIVE, Token, normalise

# Names within a few edits: character trigrams for long names, letter signatures for short ones.
#
# Both only propose candidates; `NamesIndex.fuzzy` measures the distance. Entries are ranked by length, and
# every list holds ranks, so that names of nearly the length of a query are one slice of it. An edit changes
# at most four trigrams (a swap of neighbours), so a name within k edits shares all but 4k of a query's
# trigrams: they are counted, and the letter signatures (an edit changes at most two bits) sort out most of
# what is left. A query of so few trigrams that none need be shared is compared with the signatures alone.

LONGEST_WITH_TYPOS = 128
"""Names of more characters than this are not searched for typos (they are found exactly)."""
POSTINGS_BUDGET = 8_000_000
"""Postings read for one query; beyond it, names that share only frequent trigrams may be missed."""
CANDIDATES_BUDGET = 4096
"""Names measured for one query, likeliest first."""
_TRIGRAMS_AN_EDIT = 4
_BITS_AN_EDIT = 2
_SHARED = 3
"""Of the lists that are read, how many a candidate must be in."""
_ROW_BITS = 32
_ROWS = (1 << _ROW_BITS) - 1
_NOTHING = np.zeros(0, np.int64)


def edits_allowed(length: int) -> int:
    """How many edits still mean the same name of `length` characters: 0 below 3, 1 below 5, else 2."""
    if length < 3:
        return 0
    return 1 if length < 5 else 2


def buckets_for(entries: int) -> int:
    """How many lists of trigrams so many entries have; a power of two."""
    return 1 << min(20, max(8, entries.bit_length()))


@dataclass(frozen=True, eq=False)
class TypoPart:
    """What the entries from `first` on add, made apart from the others.

    `lengths` uint16 (0: left out) and `signatures` uint32 of each; `pairs` int64: its trigrams as
    `bucket << 32 | row`, distinct and sorted, rows counted from `first`.
    """

    first: int
    lengths: UInt16
    signatures: UInt32
    pairs: Int64

    @classmethod
    def of(
        cls, first: int, norms: Sequence[str], buckets: int, longest: int = LONGEST_WITH_TYPOS
    ) -> TypoPart:
        """Index normal forms, but none that is empty or has more than `longest` characters."""
        norms = [norm if len(norm) <= longest else "" for norm in norms]
        lengths = np.fromiter(map(len, norms), np.uint16, len(norms))
        # Code points, with a space before and after each norm.
        text = "".join(f" {norm} " for norm in norms if norm)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        entries = np.flatnonzero(lengths)
        padded = lengths[entries].astype(np.int64) + 2
        signatures = np.zeros(len(norms), np.uint32)
        if len(entries):
            bits = np.left_shift(np.uint32(1), points & np.uint32(31))
            signatures[entries] = np.bitwise_or.reduceat(bits, np.cumsum(padded) - padded)
        return cls(first, lengths, signatures, _trigrams(points, np.repeat(entries, padded), buckets))

    def ranked(self, low: int, high: int, rank: Int32) -> Int64:
        """What it adds to the buckets [low, high): `bucket << 32 | rank`, by the rank of each entry."""
        ends = np.array([low << _ROW_BITS, high << _ROW_BITS], self.pairs.dtype)
        start, stop = self.pairs.searchsorted(ends).tolist()
        pairs = np.asarray(self.pairs[start:stop])
        return pairs >> _ROW_BITS << _ROW_BITS | rank[(pairs & _ROWS) + self.first]


def _trigrams(points: UInt32, rows: Int64, buckets: int) -> Int64:
    """Distinct `bucket << 32 | row` of code points and their rows, sorted; `buckets` is a power of two."""
    wide = points.astype(np.uint64)
    mixed = wide[:-2] * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= wide[1:-1] * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed ^= wide[2:] * np.uint64(0x165667B19E3779F9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    bucket = (mixed >> np.uint64(64 - (buckets.bit_length() - 1))).astype(np.int64)
    inside = rows[:-2] == rows[2:]
    pairs = bucket[inside] << _ROW_BITS | rows[:-2][inside]
    pairs.sort()  # several times faster than what np.unique does
    return pairs[np.append(True, pairs[1:] != pairs[:-1])] if len(pairs) else pairs


@dataclass(frozen=True, eq=False)
class Typos:
    """Arrays over entries by rank: in order of length, then entry.

    `by_length` int32: the entry of each rank; `signatures` uint32: a bit for each letter that occurs in it;
    `length_offsets` int64 [LONGEST_WITH_TYPOS + 2]: first rank of each length. `posting_offsets` int64
    [buckets + 1] and `postings` int32: ranks, ascending, with a trigram in that bucket.
    """

    posting_offsets: Int64
    postings: Int32
    length_offsets: Int64
    by_length: Int32
    signatures: UInt32

    @classmethod
    def of(cls, parts: Sequence[TypoPart], buckets: int) -> Typos:
        """Merge parts that cover all entries in order, in 4 bytes a trigram of every entry."""
        lengths = np.concatenate([np.zeros(0, np.uint16), *(part.lengths for part in parts)])
        signatures = np.concatenate([np.zeros(0, np.uint32), *(part.signatures for part in parts)])
        counts = np.zeros(buckets, np.int64)
        for part in parts:
            counts += np.bincount(np.asarray(part.pairs) >> _ROW_BITS, minlength=buckets)

        def ranked(low: int, high: int, rank: Int32) -> list[Int64]:
            return [part.ranked(low, high, rank) for part in parts]

        return cls._merged(lengths, signatures, counts, ranked)

    def changed(self, new_numbers: Int64, added: Int64, norms: Sequence[str], entries: int) -> Typos:
        """The lists of `entries` entries after a change: old ones by `new_numbers` (-1: gone), and `added`.

        `norms` are the normal forms of the added ones; names of the old ones are not read.
        """
        lengths, signatures = np.zeros(entries, np.uint16), np.zeros(entries, np.uint32)
        moved = new_numbers[self.by_length]
        stays, counts = moved >= 0, np.diff(self.posting_offsets)
        of_rank = np.repeat(np.arange(LONGEST_WITH_TYPOS + 1), np.diff(self.length_offsets))
        lengths[moved[stays]], signatures[moved[stays]] = of_rank[stays], self.signatures[stays]
        part = TypoPart.of(0, norms, len(counts))
        lengths[added], signatures[added] = part.lengths, part.signatures

        def kept(low: int, high: int) -> tuple[Int64, Int64]:
            """The lists, and the new numbers in them, of what stays in the lists [low, high)."""
            numbers = moved[self.postings[self.posting_offsets[low] : self.posting_offsets[high]]]
            lists = np.repeat(np.arange(low, high), np.diff(self.posting_offsets[low : high + 1]))
            return lists[numbers >= 0], numbers[numbers >= 0]

        def ranked(low: int, high: int, rank: Int32) -> list[Int64]:
            lists, numbers = kept(low, high)
            return [lists << _ROW_BITS | rank[numbers], part.ranked(low, high, rank[added])]

        if not stays.all():
            counts = np.zeros_like(counts)
            for span in _cut_lists(self.posting_offsets):
                counts += np.bincount(kept(*span)[0], minlength=len(counts))
        counts = counts + np.bincount(part.pairs >> _ROW_BITS, minlength=len(counts))
        return self._merged(lengths, signatures, counts, ranked)

    @classmethod
    def _merged(
        cls,
        lengths: UInt16,
        signatures: UInt32,
        counts: Int64,
        ranked: Callable[[int, int, Int32], Iterable[Int64]],
    ) -> Typos:
        """Make the lists, from the length of each entry and the number of postings in each bucket.

        `ranked(low, high, rank)` gives those of the buckets [low, high), as `TypoPart.ranked` does.
        """
        order = np.argsort(lengths, kind="stable").astype(np.int32)[int((lengths == 0).sum()) :]
        rank = np.zeros(len(lengths), np.int32)
        rank[order] = np.arange(len(order), dtype=np.int32)
        offsets = offsets_of(counts)
        postings = np.empty(int(offsets[-1]), np.int32)
        for low, high in _cut_lists(offsets):
            keys = np.concatenate([_NOTHING, *ranked(low, high, rank)])
            keys.sort()
            postings[offsets[low] : offsets[high]] = keys & _ROWS
        per_length = np.bincount(lengths[order], minlength=LONGEST_WITH_TYPOS + 1)
        return cls(offsets, postings, offsets_of(per_length), order, signatures[order])

    @classmethod
    def open(cls, arrays: Mapping[str, NDArray[np.generic]]) -> Typos:
        """From the arrays of `sections`."""
        return cls(*(arrays[name] for name in _FIELDS))  # pyright: ignore[reportArgumentType]

    def sections(self) -> dict[str, NDArray[np.generic]]:
        """Give the arrays by name."""
        return {name: getattr(self, name) for name in _FIELDS}

    def candidates(self, norm: str) -> Int32:
        """Entries that may be within the allowed edits of `norm`, likeliest first; `CANDIDATES_BUDGET`."""
        edits = edits_allowed(len(norm))
        if not edits or len(norm) > LONGEST_WITH_TYPOS + edits:
            return np.empty(0, np.int32)
        shortest, longest = max(1, len(norm) - edits), min(LONGEST_WITH_TYPOS, len(norm) + edits)
        low, high = int(self.length_offsets[shortest]), int(self.length_offsets[longest + 1])
        part = TypoPart.of(0, [norm], len(self.posting_offsets) - 1, LONGEST_WITH_TYPOS + edits)
        signature, trigrams = part.signatures[0], part.pairs >> _ROW_BITS
        if len(trigrams) > _TRIGRAMS_AN_EDIT * edits:
            ranks, shared = self._by_postings(trigrams, low, high, edits)
            near = _differing_bits(self.signatures[ranks], signature) <= _BITS_AN_EDIT * edits
            ranks, cost = ranks[near], -shared[near]
        else:
            bits = _differing_bits(self.signatures[low:high], signature)
            ranks = np.flatnonzero(bits <= _BITS_AN_EDIT * edits)
            cost = bits[ranks].astype(np.int64)
            ranks += low
        return self.by_length[ranks[np.argsort(cost, kind="stable")[:CANDIDATES_BUDGET]]]

    def _by_postings(self, trigrams: Int64, low: int, high: int, edits: int) -> tuple[Int64, Int64]:
        """(ranks from `low` to `high` that share enough trigrams, how many they share)."""
        lists: list[tuple[int, int]] = []
        for trigram in trigrams.tolist():
            start, stop = int(self.posting_offsets[trigram]), int(self.posting_offsets[trigram + 1])
            ranks = self.postings[start:stop]
            # Of the lists' own type, or all of a list is converted first.
            first, after = ranks.searchsorted(np.array([low, high], ranks.dtype)).tolist()
            lists.append((start + first, start + after))
        lists.sort(key=lambda span: span[1] - span[0])
        affordable, total = 0, 0
        for start, stop in lists:
            total += stop - start
            affordable += affordable == 0 or total <= POSTINGS_BUDGET
        # The rarest are enough: a name within the edits shares all but so many of any of them.
        affordable = min(affordable, _TRIGRAMS_AN_EDIT * edits + _SHARED)
        least_shared = max(1, affordable - _TRIGRAMS_AN_EDIT * edits)
        times = np.bincount(np.concatenate([self.postings[a:b] for a, b in lists[:affordable]]) - low)
        candidates = np.flatnonzero(times >= least_shared)
        return candidates + low, times[candidates]


_FIELDS = ("posting_offsets", "postings", "length_offsets", "by_length", "signatures")


def _cut_lists(offsets: Int64) -> Iterator[tuple[int, int]]:
    """Cut lists, by their offsets, into runs [low, high) of about `AT_ONCE` postings, or one list."""
    low, lists = 0, len(offsets) - 1
    while low < lists:
        high = int(offsets.searchsorted(offsets[low] + AT_ONCE, "right")) - 1
        high = max(high, low + 1)
        yield low, high
        low = high


def _differing_bits(words: UInt32, signature: np.uint32) -> NDArray[np.uint8]:
    """How many bits of each word differ from those of `signature`."""
    bits = words ^ signature
    bits -= bits >> np.uint32(1) & np.uint32(0x55555555)
    bits = (bits & np.uint32(0x33333333)) + (bits >> np.uint32(2) & np.uint32(0x33333333))
    bits = bits + (bits >> np.uint32(4)) & np.uint32(0x0F0F0F0F)
    return (bits * np.uint32(0x01010101) >> np.uint32(24)).astype(np.uint8)


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
    def of(cls, graph: Graph) -> NamesIndex:
        """Index all names, labels and aliases of `graph`."""
        label_nodes = differing_labels(graph)
        spans = chunks_of(0, entry_count(graph, label_nodes), ENTRIES_AT_ONCE)
        return cls.merge(graph, label_nodes, [NamePart.of(graph, label_nodes, *span) for span in spans])

    @classmethod
    def merge(cls, graph: Graph, label_nodes: Int32, parts: Sequence[NamePart]) -> NamesIndex:
        """Merge parts that cover all entries in order."""
        hashes = np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)])
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        typos = Typos.of([part.typos for part in parts], buckets_for(len(hashes)))
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
        first, last = self._range(hash_norms([norm]))
        return self._hits(norm, int(first[0]), int(last[0]), _equals(text))

    def spans(self, text: str, tokens: Sequence[Token], longest: int = 12) -> list[SpanHit]:
        """All spans of at most `longest` tokens of `text` that name an entity, by (start, stop)."""
        spans = _spans(text, tokens, longest)
        if not spans:
            return []
        hashes = hash_norms([norm for _, _, norm in spans])
        found: list[SpanHit] = []
        first, last = self._range(hashes)
        for row in np.flatnonzero(last > first).tolist():
            start, stop, norm = spans[row]
            is_written = _is_written_at(text, tokens[start].start, tokens[stop - 1].stop)
            hits = self._hits(norm, int(first[row]), int(last[row]), is_written)
            if hits:
                found.append(SpanHit(start, stop, hits))
        return found

    def namesakes(self) -> frozenset[int]:
        """The entities whose label another entity has too, by equal hashes."""
        if not len(self.label_nodes):
            return frozenset()
        is_same = self.hashes[1:] == self.hashes[:-1]
        shared = np.append(is_same, False) | np.append(False, is_same)
        nodes_by_label: dict[str, set[int]] = {}
        for entry in self.entries[shared[: len(self.entries)]].tolist():
            node = self.entity(entry)
            if self._kind(entry) < _KINDS.index("alias") and not named_by(self.graph, node):
                nodes_by_label.setdefault(self.graph.labels[node], set()).add(node)
        return frozenset(node for nodes in nodes_by_label.values() if len(nodes) > 1 for node in nodes)

    def with_id(self, text: str) -> int | None:
        """The entity of a name with its id beside it, *Anna Keller (E08)*; None if it is none or several."""
        name, opening, id = text.removesuffix(")").rpartition(" (")
        if not (opening and text.endswith(")")):
            return None
        graph = self.graph
        hits = {hit.entity for hit in self.exact(name) if hit.exact}
        ids = {node: graph.entities[node] for node in hits}
        called = [
            n for n, own in ids.items() if id in (own, local_name(own), id_beside(graph.labels[n], own))
        ]
        return called[0] if len(called) == 1 else None

    def fuzzy(self, text: str, limit: int = 8) -> list[FuzzyHit]:
        """At most `limit` entities within the allowed edits of `text`, by (edits, -score, entity).

        Distance is optimal string alignment between normal forms; the shorter of the two says how many
        edits are allowed (`edits_allowed`). Complete within the budgets of `clew.index.names`.
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
        graph, (nodes, labels) = self.graph, self._bounds
        if entry < nodes:
            return graph.entities[entry]
        if entry < labels:
            return graph.labels[int(self.label_nodes[entry - nodes])]
        return graph.aliases.names[entry - labels]

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

    def _kind(self, entry: int) -> int:
        nodes, labels = self._bounds
        return (entry >= nodes) + (entry >= labels)

    def _range(self, hashes: UInt64) -> tuple[Int64, Int64]:
        first = np.searchsorted(self.hashes, hashes, "left")
        return first, np.searchsorted(self.hashes, hashes, "right")

    def _hits(self, norm: str, first: int, last: int, exact: Callable[[str], bool]) -> tuple[NameHit, ...]:
        """The entities of the entries [first, last) of the hash table that really have the normal form."""
        best: dict[int, tuple[bool, int]] = {}  # named inexactly, and by which kind
        for entry in self.entries[first:last].tolist():
            check()
            string = self.string(entry)
            if normalise(string) == norm:
                entity, rank = self.entity(entry), (not exact(string), self._kind(entry))
                best[entity] = min(rank, best.get(entity, rank))
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
        arrays = {"lengths": typos.lengths, "signatures": typos.signatures, "pairs": typos.pairs}
        return {"hashes": self.hashes, **arrays}

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
    for first, stop in chunks_of(0, graph.nodes, ENTRIES_AT_ONCE):  # so that millions never exist at once
        names, labels = strings_of(graph.entities, first, stop), strings_of(graph.labels, first, stop)
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
