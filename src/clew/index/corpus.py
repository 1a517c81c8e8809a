"""The corpus of Walk&Retrieve (section 2.1): walks, their vectors, and the nearest."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clew.errors import FormatError, UsageError
from clew.foundation.arrays import AnyArray, Float32, Int8, Int32, Int64, UInt16, chunks_of
from clew.graph.graph import Graph, Names, listed_places, offsets_of
from clew.graph.match.distances import Rounded
from clew.graph.neighbourhood import best_of
from clew.graph.steps import Step
from clew.graph.walks.kernels import WordSums, quantised_walks, summed_walks, weighted_sums
from clew.graph.walks.walks import Walker, WalkKind, Walks, WalkSettings, joined_walks, spread
from clew.index.store.directory import Index
from clew.index.store.sections import with_prefix, without_prefix
from clew.index.vectors.backends import open_collection, open_vectors
from clew.index.vectors.entities import (
    ENTITY_SCALES,
    ENTITY_VECTORS,
    EntitySearch,
    FoundByFile,
    open_entity_search,
    quantise,
)
from clew.index.vectors.in_milvus import NONE, MilvusCorpus
from clew.index.vectors.triples import dots
from clew.text.embedders import Additive, Embedder, unit_rows
from clew.text.verbalise import Templates

# Walks and nodes said by templates or a model, and embedded (section 2.1).
#
# An embedder whose vectors are sums over words (`Additive`) gives that of a template's sentence from those of
# its names and phrases, which is many times faster and equal up to rounding.

MOST_NAME_VECTORS = 1 << 18
"""Names whose vectors are kept; then the memory starts anew."""


class Verbaliser(Protocol):
    """Says walks in sentences, as the `verbalise` step with a model does."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    def begin(self, graph: Graph, walks: Walks, roots: int) -> None:
        """Estimate what all `roots` will take, from the `walks` of some of them, and tell it."""
        ...

    def say(self, graph: Graph, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str]:
        """Say the walks `steps`, `nodes` [walks, depth] of `roots` [walks]; empty where that failed."""
        ...


class WalkEmbedder:
    """Turns walks into vectors, `plain` ones of sentences alone, said by templates or by a `verbaliser`."""

    def __init__(
        self,
        graph: Graph,
        embedder: Embedder,
        verbaliser: Verbaliser | None = None,
        *,
        plain: bool = False,
    ) -> None:
        self.graph, self.embedder, self.verbaliser, self.plain = graph, embedder, verbaliser, plain
        self.templates = Templates(graph)
        self._adds = embedder if isinstance(embedder, Additive) and not plain else None
        if self._adds is not None:  # walks are summed up from vectors of phrases and names, which are kept
            first_phrases, later_phrases = self.templates.phrases
            phrases = self._adds.sums([*first_phrases, *later_phrases])
            self._phrases = phrases.reshape(2, len(first_phrases), -1)
            self._names = np.empty((0, phrases.shape[1]), np.float32)
            self._rows, self._name_count = np.full(graph.nodes, -1, np.int32), 0
            self._lock = Lock()

    def say(self, roots: Sequence[int], steps: Int32, nodes: Int32) -> list[str] | None:
        """Let the model say walks; None without one."""
        return None if self.verbaliser is None else self.verbaliser.say(self.graph, roots, steps, nodes)

    def vectors(self, roots: Int32, steps: Int32, nodes: Int32) -> Float32:
        """Embed walks [walks, depth] of `roots`, said by templates: float32 [walks, d]."""
        if self._adds is None:
            return self._embed_texts(roots.tolist(), steps, nodes, None)
        words, root_rows, node_rows = self._word_rows(self._adds, roots, nodes)
        summed = np.empty((len(roots), words.names.shape[1]), np.float32)
        summed_walks(words, root_rows, steps, node_rows, summed)
        return summed

    def quantised(
        self, roots: Int32, steps: Int32, nodes: Int32, model_sentences: Sequence[str] | None = None
    ) -> tuple[Int8, Float32]:
        """Embed as `vectors`, rounded as they are stored; `model_sentences` need no template."""
        if self._adds is None or model_sentences is not None:
            return quantise(self._embed_texts(roots.tolist(), steps, nodes, model_sentences))
        words, root_rows, node_rows = self._word_rows(self._adds, roots, nodes)
        q, scale = np.empty((len(roots), words.names.shape[1]), np.int8), np.empty(len(roots), np.float32)

        def fill(first: int, last: int) -> None:
            span = slice(first, last)
            quantised_walks(words, root_rows[span], steps[span], node_rows[span], q[span], scale[span])

        spread(len(roots), fill)
        return q, scale

    def node_vectors(self, walks: Walks, q: Int8, scale: Float32) -> tuple[Int8, Float32]:
        """Vectors of roots, from their names (unless plain) and their walks, each as often as made."""
        names = self.embedder.embed([self.templates.name(root) for root in walks.roots.tolist()])
        sums = np.empty_like(names)
        weighted_sums(q, scale, walks.counts, walks.offsets, sums)
        if self.plain:
            has_walks = np.diff(walks.offsets)[:, None] > 0
            return quantise(np.where(has_walks, unit_rows(sums), names))
        return quantise(unit_rows(names + unit_rows(sums)))

    def _embed_texts(
        self, roots: Sequence[int], steps: Int32, nodes: Int32, model_sentences: Sequence[str] | None
    ) -> Float32:
        step_rows: list[list[int]] = steps.tolist()
        node_rows: list[list[int]] = nodes.tolist()
        texts = model_sentences if model_sentences is not None else [""] * len(roots)
        sentences = [
            text or self.templates.sentence(root, s, n)
            for text, root, s, n in zip(texts, roots, step_rows, node_rows, strict=True)
        ]
        if self.plain:
            return self.embedder.embed(sentences)
        outlines: dict[tuple[int, ...], int] = {}
        place = [
            outlines.setdefault((root, *s), len(outlines)) for root, s in zip(roots, step_rows, strict=True)
        ]
        outlined = self.embedder.embed([self.templates.outline(key[0], key[1:]) for key in outlines])
        return unit_rows(self.embedder.embed(sentences) + outlined[place])

    def _word_rows(self, adds: Additive, roots: Int32, nodes: Int32) -> tuple[WordSums, Int32, Int32]:
        """Vectors of names and phrases, and the rows of `roots` and `nodes` among them.

        A row that was handed out is not written again, so that several threads may use it.
        """
        with self._lock:
            all_nodes = np.concatenate([roots, nodes[nodes >= 0]])
            new_nodes = np.unique(all_nodes[self._rows[all_nodes] < 0])
            if self._name_count and self._name_count + len(new_nodes) > MOST_NAME_VECTORS:
                self._names, self._name_count, self._rows[:] = np.empty_like(self._names[:0]), 0, -1
                new_nodes = np.unique(all_nodes)
            stop = self._name_count + len(new_nodes)
            if stop > len(self._names):
                old_names = self._names[: self._name_count]
                room = max(stop, min(2 * stop, len(self._rows), MOST_NAME_VECTORS))
                self._names = np.concatenate(
                    [old_names, np.empty((room - len(old_names), old_names.shape[1]), np.float32)]
                )
            names = [self.templates.name(node) for node in new_nodes.tolist()]
            self._names[self._name_count : stop] = adds.sums(names)
            self._rows[new_nodes] = np.arange(self._name_count, stop)
            self._name_count = stop
            return WordSums(self._names, self._phrases), self._rows[roots], self._rows[nodes]


# Parts of a corpus: the walks of some roots with their vectors; made, stored, joined and cut.


@dataclass(frozen=True, eq=False)
class CorpusPart:
    """Walks of some roots with their vectors: `q` int8 [walks, d] times `scale` float32 [walks].

    With Milvus there are `ids` int64 [walks] instead; a model's `sentences` are empty where it failed.
    """

    walks: Walks
    q: Int8
    scale: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    sentences: Names | None = None


def make_part(walker: Walker, maker: WalkEmbedder, roots: Int32) -> CorpusPart:
    """Walk `roots` and embed their walks."""
    walks = walker.walk(roots)
    owners = root_of_walks(walks)
    sentences = maker.say(owners.tolist(), walks.steps, walks.nodes)
    q, scale = maker.quantised(owners, walks.steps, walks.nodes, sentences)
    return CorpusPart(walks, q, scale, sentences=None if sentences is None else Names.of(sentences))


def without_vectors(part: CorpusPart, ids: Int64) -> CorpusPart:
    """Make a part whose vectors are elsewhere, by their ids."""
    return replace(part, q=part.q[:0], scale=part.scale[:0], ids=ids)


def places_of(parts: Sequence[CorpusPart], nodes: int) -> tuple[NDArray[np.int16], Int32]:
    """(part, row) of the walks of each root, the last that has it; the first part has the roots in order."""
    part_of, row_of = np.zeros(nodes, np.int16), np.arange(nodes, dtype=np.int32)
    for number, part in enumerate(parts[1:], 1):
        part_of[part.walks.roots] = number
        row_of[part.walks.roots] = np.arange(len(part.walks.roots))
    return part_of, row_of


def root_of_walks(walks: Walks) -> Int32:
    """Root of each walk: int32 [walks]."""
    return np.repeat(walks.roots, np.diff(walks.offsets))


def joined_parts(parts: Sequence[CorpusPart]) -> CorpusPart:
    """Put parts of different roots into one, in their order."""
    walks = joined_walks([p.walks for p in parts])
    said = [p.sentences for p in parts if p.sentences is not None]
    q, scale, ids = (np.concatenate([getattr(p, name) for p in parts]) for name in ("q", "scale", "ids"))
    sentences = None
    if said:
        lengths = np.concatenate([np.diff(names.offsets) for names in said])
        sentences = Names(np.concatenate([names.blob for names in said]), offsets_of(lengths))
    return CorpusPart(walks, q, scale, ids, sentences)


def part_of_rows(part: CorpusPart, rows: Int32 | Int64) -> CorpusPart:
    """Keep only the roots in `rows` of a part, in that order; the same part if these are all."""
    if np.array_equal(rows, np.arange(len(part.walks.roots))):
        return part
    places = walks_at(part.walks, rows)
    sentences = None if part.sentences is None else Names.of(part.sentences[i] for i in places.tolist())
    part = replace(part, walks=walks_of_rows(part.walks, rows), sentences=sentences)
    if len(part.ids):
        return replace(part, ids=part.ids[places])
    return replace(part, q=part.q[places], scale=part.scale[places])


def walks_of_rows(walks: Walks, rows: Int32 | Int64) -> Walks:
    """Keep only the roots in `rows`, in that order."""
    places = walks_at(walks, rows)
    offsets = offsets_of(walks.offsets[rows + 1] - walks.offsets[rows])
    return Walks(
        walks.roots[rows], offsets, walks.steps[places], walks.nodes[places], walks.counts[places],
        walks.state[rows], walks.left_out[rows],
    )  # fmt: skip


def walks_at(walks: Walks, rows: Int32 | Int64) -> Int64:
    """Rows of all walks of the roots in `rows`."""
    return listed_places(walks.offsets[rows], walks.offsets[rows + 1] - walks.offsets[rows])


# The corpus of Walk&Retrieve (section 2.1): walks as ids, a vector for every walk and node, their sections.
#
# Walks are said by templates when they are needed, or once by a chat model, whose sentences are stored. A
# walk's vector is that of its sentence and of its outline (the root's name and the relations only) together,
# since the names that a question does not know say little about it. A node's vector is that of its name and
# of its walks together. Plain ones, the paper's, are of sentences alone. Vectors are int8 with one scale a
# row. A corpus is kept in parts: what an update made anew is a part of its own, and for every root it is
# known which part holds it. With Milvus, the vectors are there (`MilvusCorpus`) and their ids here.

WALK_KINDS: tuple[WalkKind, ...] = ("bfs", "random")

CORPUS_SETTINGS, CORPUS_NODES, NODE_SCALES = "corpus.settings", "corpus.nodes.q", "corpus.nodes.scale"
WALK_COLLECTION, NODE_COLLECTION = "milvus.walks", "milvus.nodes"
NODE_SEARCH = "node_search"
CHANGED_NODES = "corpus.changed"


@dataclass(frozen=True, slots=True)
class CorpusSettings(WalkSettings):
    """Which walks are stored; `plain` vectors are of sentences alone (section 2.1). Raises UsageError."""

    plain: bool = False

    def __post_init__(self) -> None:
        if self.kind not in WALK_KINDS:
            raise UsageError(
                f"There is no corpus {self.kind!r}. Choose one of: {', '.join(WALK_KINDS)}, none"
            )
        WalkSettings.__post_init__(self)


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """What is in a corpus.

    `whole`, `drawn` and `undecided` roots as by `Walks.state`, the own triples that the cap left out, its
    parts, and the walks that a model was to say and did not.
    """

    roots: int
    walks: int
    made: int
    whole: int
    drawn: int
    undecided: int
    triples_left_out: int
    unsaid: int
    parts: int


@dataclass(frozen=True, eq=False)
class RootWalks:
    """The walks of a root: unit vectors float32 [walks, d], or `ids` in Milvus; a model's sentences."""

    root: int
    steps: Int32
    nodes: Int32
    counts: UInt16
    vectors: Float32
    ids: Int64 = field(default_factory=lambda: NONE)
    sentences: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Corpus:
    """A stored corpus; `part_of` int16 and `row_of` int32 [nodes] say where the walks of a root are.

    Node vectors are `nodes` int8 [nodes, d] times `node_scales` float32 [nodes], or in `milvus`; `changed`
    int32, ascending, are nodes whose vectors are newer than the file that searches them.
    """

    settings: CorpusSettings
    parts: tuple[CorpusPart, ...]
    part_of: NDArray[np.int16]
    row_of: Int32
    nodes: Int8
    node_scales: Float32
    model: str | None = None
    milvus: MilvusCorpus | None = None
    changed: Int32 = field(default_factory=lambda: np.zeros(0, np.int32))

    def of_root(self, root: int) -> RootWalks:
        """Get the stored walks of a root."""
        part = self.parts[int(self.part_of[root])]
        row, walks = int(self.row_of[root]), part.walks
        span = slice(*walks.offsets[row : row + 2].tolist())
        vectors = unit_rows(part.q[span].astype(np.float32))
        said = part.sentences
        sentences = () if said is None else tuple(said[i] for i in range(span.start, span.stop))
        steps, nodes = walks.steps[span], walks.nodes[span]
        return RootWalks(root, steps, nodes, walks.counts[span], vectors, part.ids[span], sentences)

    def parts_in_use(self, roots: Int32 | None = None) -> Iterator[tuple[CorpusPart, Int32]]:
        """Each part, with its rows that no later part has anew: of all roots, or of some, in their order."""
        for number, part in enumerate(self.parts):
            if roots is None:
                yield part, self.row_of[self.part_of == number]
            else:
                yield part, self.row_of[roots[self.part_of[roots] == number]]

    def with_parts(self, parts: Sequence[CorpusPart], nodes: int) -> Corpus:
        """The same with other parts, which have the walks of so many nodes."""
        part_of, row_of = places_of(parts, nodes)
        return replace(self, parts=tuple(parts), part_of=part_of, row_of=row_of)

    def report(self) -> CorpusReport:
        """Count what is there."""
        states, left_out, walks, walks_made, unsaid = np.zeros(3, np.int64), 0, 0, 0, 0
        for part, rows in self.parts_in_use():
            part_walks, places = part.walks, walks_at(part.walks, rows)
            states += np.bincount(part_walks.state[rows] + 1, minlength=3)
            left_out += int(part_walks.left_out[rows].sum())
            walks += len(places)
            walks_made += int(part_walks.counts[places].sum())
            if part.sentences is not None:
                unsaid += int((np.diff(part.sentences.offsets)[places] == 0).sum())
        undecided, drawn, whole = states.tolist()
        parts = len(self.parts)
        return CorpusReport(
            len(self.row_of), walks, walks_made, whole, drawn, undecided, left_out, unsaid, parts
        )

    def sections(self) -> dict[str, AnyArray | bytes]:
        """Give the sections of an index."""
        settings: dict[str, Any] = {**asdict(self.settings), "parts": len(self.parts), "model": self.model}
        sections: dict[str, AnyArray | bytes] = {CORPUS_NODES: self.nodes, NODE_SCALES: self.node_scales}
        if self.milvus is not None:
            settings["milvus"] = {name: getattr(self.milvus, name) for name in _NUMBERS}
            sections |= {f"corpus.milvus.{name}": getattr(self.milvus, name) for name in _ARRAYS}
        if len(self.changed):
            sections[CHANGED_NODES] = self.changed
        sections[CORPUS_SETTINGS] = json.dumps(settings).encode()
        for number, part in enumerate(self.parts):
            arrays = {**part.walks._asdict(), "q": part.q, "scale": part.scale}
            if len(part.ids):
                arrays["ids"] = part.ids
            if part.sentences is not None:
                arrays |= {"said.blob": part.sentences.blob, "said.offsets": part.sentences.offsets}
            sections |= with_prefix(f"corpus.p{number}", arrays)
        return sections


_NUMBERS = ("next_walk", "update")
_ARRAYS = ("version", "dead_walks", "dead_nodes")


def open_corpus(index: Index, *, writable: bool = False, connect: bool = True) -> Corpus | None:
    """The corpus of an index, memory-mapped; None if it has none. Without `connect` Milvus is left alone.

    Raises FormatError, VectorStoreError.
    """
    if CORPUS_SETTINGS not in index.sections:
        return None
    raw = _raw_settings(index)
    try:
        part_count, model, numbers = raw.pop("parts"), raw.pop("model"), raw.pop("milvus", None)
        settings = CorpusSettings(**raw)
    except (TypeError, KeyError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error
    opened_parts = tuple(_open_part(index, f"corpus.p{number}") for number in range(part_count))
    changed: Any = index.sections.get(CHANGED_NODES, np.zeros(0, np.int32))
    return Corpus(
        settings,
        opened_parts,
        *places_of(opened_parts, index.graph.nodes),
        *index.vectors(CORPUS_NODES, NODE_SCALES),
        model,
        _open_milvus(index, numbers, writable=writable) if numbers is not None and connect else None,
        changed,
    )


def _open_part(index: Index, name: str) -> CorpusPart:
    """Open the part whose sections begin with `name`, memory-mapped."""
    arrays: dict[str, Any] = without_prefix(name, index.sections)
    walks = Walks(**{key: index.array(f"{name}.{key}") for key in Walks._fields})
    sentences = Names(arrays["said.blob"], arrays["said.offsets"]) if "said.blob" in arrays else None
    vectors = index.vectors(f"{name}.q", f"{name}.scale")
    return CorpusPart(walks, *vectors, arrays.get("ids", NONE), sentences)


def model_of(index: Index) -> str | None:
    """Name the model that says the walks of an index; None without one. Raises FormatError."""
    return _raw_settings(index).get("model") if CORPUS_SETTINGS in index.sections else None


def _raw_settings(index: Index) -> dict[str, Any]:
    try:
        return dict(json.loads(index.data(CORPUS_SETTINGS)))
    except (ValueError, TypeError) as error:
        raise FormatError(f"{index.path}: the settings of its corpus are damaged ({error})") from error


def _open_milvus(index: Index, numbers: dict[str, Any], *, writable: bool) -> MilvusCorpus:
    try:
        walks, nodes = (
            open_collection(index.files[name], writable=writable, access=index.access)
            for name in (WALK_COLLECTION, NODE_COLLECTION)
        )
        arrays: dict[str, Any] = {name: index.array(f"corpus.milvus.{name}") for name in _ARRAYS}
        counts: dict[str, Any] = {name: numbers[name] for name in _NUMBERS}
        return MilvusCorpus(walks, nodes, **arrays, **counts)
    except (KeyError, TypeError) as error:
        raise FormatError(f"{index.path}: what it says of Milvus is damaged ({error})") from error


# Nodes and walks nearest to a question by cosine (Walk&Retrieve, eq. 3), from a stored corpus or none.

LAZY_WALKS = 1000
"""Walks made of one node where none are stored; a smaller tree is taken whole."""
LAZY_EDGES = 200_000
"""Edges looked at for one of these nodes."""
_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class NearWalk:
    """A retrieved walk: `root`, its steps and nodes, cosine with the question, its `sentence` by a model."""

    root: int
    steps: tuple[Step, ...]
    nodes: tuple[int, ...]
    score: float
    sentence: str = ""


class WalkIndex:
    """Searches the corpus of an open index; without one, names are searched, and walks made when needed."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.graph: Graph = index.graph
        self.maker = WalkEmbedder(index.graph, embedder)
        self.corpus: Corpus | None = open_corpus(index)
        self.settings = self.corpus.settings if self.corpus is not None else CorpusSettings()
        self._milvus = None if self.corpus is None else self.corpus.milvus
        self._walker: Walker | None = None
        self._search: EntitySearch | None = None
        if self._milvus is not None:
            return
        if self.corpus is None:
            self._q, self._scale = index.vectors(ENTITY_VECTORS, ENTITY_SCALES)
            self._search = open_entity_search(index)
        else:
            self._q, self._scale = self.corpus.nodes, self.corpus.node_scales
            if NODE_SEARCH in index.files:
                file = open_vectors(index.files[NODE_SEARCH], self._q.shape[1])
                self._search = FoundByFile(file, self._q, self._scale, self.corpus.changed)
        if self._search is None:
            # One over the length of each row, 0 for a row of zeros.
            self._inverse: Float32 = np.zeros(len(self._q), np.float32)
            for part in (slice(*span) for span in chunks_of(0, len(self._q), _ROWS)):
                rows = self._q[part].astype(np.float32)
                norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
                np.divide(1, norms, out=self._inverse[part], where=norms > 0)
            self._all_rows: Int64 = np.arange(len(self._q))

    def nearest_nodes(self, query: Float32, k: int, *, first: Sequence[int] = ()) -> list[int]:
        """The `k` nodes of largest cosine with `query`, ties by id, `first` before all; VectorStoreError."""
        first_nodes = list(dict.fromkeys(first))[:k]
        if len(first_nodes) == k:
            return first_nodes
        ranked = self._rank_nodes(query, k + len(first_nodes))
        return list(dict.fromkeys([*first_nodes, *ranked]))[:k]

    def _rank_nodes(self, query: Float32, count: int) -> list[int]:
        """Find the nearest nodes: in Milvus, among what faiss proposes, or by comparing all."""
        if self._milvus is not None:
            return self._milvus.nearest_nodes(query, count)
        if self._search is not None:
            return self._search.nearest(query, count).ids.tolist()
        rounded = dots(self._q, self._inverse, self._all_rows, Rounded.of(query).values)
        # Some more are compared with the query as it is, after all with its rounded form.
        near = best_of(rounded, count + 16, self._all_rows)
        cosines = (self._q[near].astype(np.float32) @ query) * self._inverse[near]
        return near[best_of(cosines, count, near)].tolist()

    def walks_of(self, root: int) -> RootWalks:
        """Get the stored walks of a node, or make them."""
        if self.corpus is not None:
            return self.corpus.of_root(root)
        if self._walker is None:
            settings = replace(self.settings, max_walks=LAZY_WALKS)
            self._walker = Walker(self.graph, settings)
        walks = self._walker.walk(np.array([root], np.int32), edges=LAZY_EDGES)
        vectors = self.maker.vectors(root_of_walks(walks), walks.steps, walks.nodes)
        return RootWalks(root, walks.steps, walks.nodes, walks.counts, vectors)

    def nearest_walks(self, root: int, query: Float32, k: int) -> list[NearWalk]:
        """The `k` of a node's own walks of largest cosine with `query`, ties in the order of the corpus."""
        walks = self.walks_of(root)
        if len(walks.ids) and self._milvus is not None:
            best = self._milvus.nearest_walks(walks.ids, query, k)
        else:
            cosines = walks.vectors @ query
            rows = np.argsort(-cosines, kind="stable")[:k].tolist()
            best = [(row, float(cosines[row])) for row in rows]
        near: list[NearWalk] = []
        for row, cosine in best:
            length = int((walks.steps[row] >= 0).sum())
            steps, nodes = (tuple(ids[row, :length].tolist()) for ids in (walks.steps, walks.nodes))
            near.append(NearWalk(root, steps, nodes, cosine, walks.sentences[row] if walks.sentences else ""))
        return near
