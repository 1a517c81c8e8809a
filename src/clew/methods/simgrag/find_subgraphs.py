"""Pattern-to-subgraph alignment (SimGRAG section 4.2): the best matches of a pattern, or why none fits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product

import numpy as np
from numpy.typing import NDArray

from clew.graph.graph import Graph, ValueKind
from clew.graph.match.distances import (
    Distance,
    Distances,
    FixedDistances,
    Mask,
    NearestEntities,
    distances_from,
)
from clew.graph.match.matcher import Distinct, match
from clew.graph.match.patterns import TIE
from clew.index.explore import nodes_containing
from clew.index.store.directory import Index
from clew.index.vectors.entities import IndexDistances
from clew.methods.evidence import without_article
from clew.methods.simgrag.write_pattern import Misfit, ShownTriples
from clew.query.execute import against
from clew.query.values import values_in
from clew.query.vocabulary import words_of_label
from clew.reading.reader import reader_of
from clew.text.embedders import Embedder
from clew.text.normalise import normalise
from clew.text.verbalise import relation_text
from clew.types import Match, MatchResult, Pattern, PatternEdge, PatternNode

# Distances for patterns that a model writes: the embedder's (SimGRAG, eq. 2), nearer where words agree.
#
# A model does not know the graph's names: *actor in* is meant for `starring`, *2 May 1908* for `1908-05-02`,
# a misspelt name for the right one. `FewCandidates` is the paper's letter: the nearest k only, by embedding
# alone.

FITTING_GSD = 1.0
"""GSD per edge up to which a pattern fits.

With `PatternDistances`, 101 of 109 ways to say a relation of four graphs are nearer to it with the built-in
embedder, 108 with MiniLM, and 1 and 3 of 24 relations that they lack (benchmarks/bound.py).
"""
LEAST_WEIGHT = 0.05
"""Weight of a word that is like no relation; a word that is one weighs 1 more."""
SHARPER = 1.3
"""Power of the likeness of words: those that are half alike mean the same less than half of the time."""
MEANT = 0.42
"""Likeness, to the reader's encoder, from which words mean a relation (`benchmarks/bound.py`)."""
TYPO_DISTANCE = 0.5
"""Distance of a name from one with which it shares nothing; a misspelt one is at a share of it."""
_BESIDE = re.compile(r"(.+?)(?: \(([^()]+)\)|, ([^,]+))")
"""A name, and what tells it from others behind it."""
PART_DISTANCE = 0.3
"""Distance of a name from longer ones that hold it whole; of the shortest of them, none."""


def _distance(cosine: NDArray[np.float32]) -> Distance:
    """L2 distances of unit vectors of these cosines."""
    return np.sqrt(2 * np.clip(1 - cosine, 0.0, None))


class PatternDistances(IndexDistances):
    """`IndexDistances`, and what the reader's encoder says of relations; misspelt names and values."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        super().__init__(index, embedder)
        self._reader = reader_of(index, embedder)
        self._by_relation: dict[str, Distance] = {}

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """The least of the embedder's distance, the words', and, where no relation is near, the encoder's."""
        name = edge.relation or ""
        if name not in self._by_relation:
            words = words_of_label(relation_text(name))
            distances = np.minimum(super().relation_distances(edge), self._by_words(words))
            if name and len(distances) and distances.min() > FITTING_GSD:
                nearest = np.argsort(distances, kind="stable")[:512]
                # By the reader's encoder; `MEANT` is 1.
                alike = self._reader.likenesses(self._reader.vector(words), nearest.tolist())
                meant = _distance(0.5 + 0.5 * (alike - MEANT) / (1 - MEANT))
                distances[nearest] = np.minimum(distances[nearest], meant)
            self._by_relation[name] = distances
        return self._by_relation[name]

    def _by_words(self, words: str) -> Distance:
        """Distances of words from all relations, by the forms and the meanings of each word."""
        likeness = self._reader.compare(words).exact_relations ** SHARPER
        if not len(likeness):
            return np.full(likeness.shape[1], np.inf)
        # *film director*: a word that names no relation says little of which one is meant.
        weight = likeness.max(axis=1) + LEAST_WEIGHT
        return _distance(weight @ likeness / weight.sum())

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """Find the nearest entities; the distances of the latest names only are remembered."""
        if node.name not in self._nodes and len(self._nodes) >= 8:
            self._nodes.pop(next(iter(self._nodes)))
        return super().node_candidates(node, count)

    def _entity_distances(self, name: str) -> NDArray[np.float32]:
        names, labels = self._index.names, self._index.graph.labels
        distances = distances_from(self.rows, self.scale, self._embed(name))
        exact = [*self._exact(name), *self._exact(without_article(name))]
        distances[exact] = 0.0
        if distances.min(initial=1.0) > 0.0 and (parts := nodes_containing(names, name)):
            # *HP-40* is a whole word of few names; the shortest of them is the plainest.
            shortest = min(len(labels[node]) for node in parts)
            for node in parts:
                far = PART_DISTANCE * (len(labels[node]) > shortest)
                distances[node] = min(float(distances[node]), far)
        if distances.min(initial=1.0) > 0.0:
            distances[self._value_nodes(name)] = 0.0
        if distances.min(initial=1.0) > 0.0:
            for hit in names.fuzzy(name, 5):
                distances[hit.entity] = min(float(distances[hit.entity]), TYPO_DISTANCE * (1 - hit.score))
        return distances

    def _exact(self, text: str) -> Iterator[int]:
        """The entities of a name; or with an id or their type behind it: *Ann (E08)*, *Ann, nurse*."""
        hits = [*super()._exact(text)]
        with_id, match = self._index.names.with_id(text), _BESIDE.fullmatch(text)
        if not hits and with_id is not None:
            hits = [with_id]
        elif not hits and match is not None:
            types, word = self._index.graph.types, normalise(match[2] or match[3])
            named = super()._exact(match[1])
            hits = [n for n in named if word in {normalise(types.names[t]) for t in types.of(n)}]
        return iter(hits)

    def _value_nodes(self, name: str) -> list[int]:
        """Nodes whose number or date is the one that a name says."""
        stated = values_in(name)
        whole = {(stop - start) >= len(name.strip(' "')) for start, stop in stated}
        if len(stated) != 1 or whole != {True}:
            return []
        values, nodes = self._index.graph.values, set[int]()
        for value in next(iter(stated.values())):
            typed = np.flatnonzero(values.kind == (ValueKind.DATE if value.date else ValueKind.NUMBER))
            nodes.update(typed[against(values.value[typed], "=", value, value.date)].tolist())
        return sorted(nodes)


class FewCandidates(Distances):
    """The paper's letter (5.1, C.1): the nearest k(n) nodes, k(r) relations, k(t) types, no others."""

    def __init__(self, distances: IndexDistances, nodes: int, relations: int, types: int) -> None:
        self.distances, self.nodes, self.relations, self.types = distances, nodes, relations, types
        self._masks: dict[str, Mask | None] = {}

    def node_candidates(self, node: PatternNode, count: int) -> NearestEntities:
        """The nearest, however many are asked for."""
        near = self.distances.node_candidates(node, self.nodes)
        return NearestEntities(near.entities[: self.nodes], near.distances[: self.nodes], True)

    def prepare(self, nodes: Sequence[PatternNode], count: int) -> None:
        """Look up the same few of all."""
        self.distances.prepare(nodes, self.nodes)

    def relation_distances(self, edge: PatternEdge) -> Distance:
        """Distances of the nearest; all others are infinite."""
        distances = self.distances.relation_distances(edge)
        if len(distances) <= self.relations:
            return distances
        nearest = np.argsort(distances, kind="stable")[: self.relations]
        cut_distances = np.full(len(distances), np.inf)
        cut_distances[nearest] = distances[nearest]
        return cut_distances

    def allowed(self, node: PatternNode) -> Mask | None:
        """Return the entities of the k(t) nearest types (section C.1)."""
        if node.type is None:
            return None
        if node.type not in self._masks:
            self._masks[node.type] = self.distances.of_nearest_types(node.type, self.types)
        return self._masks[node.type]


SAME_NAME = 0.5
"""Distance up to which an entity may stand for a name with which it shares no word."""
BY_TRIPLE: Distinct = "triples"
"""No two edges take one triple. The paper's isomorphism has no two nodes take one entity, so that the writer
of a film could not be its director too."""
MOST_COMBINATIONS = 16


_match = partial(match, expansions=200_000_000)


def find_subgraphs(graph: Graph, pattern: Pattern, distances: Distances, k: int) -> MatchResult:
    """The `k` matches of least GSD; types that leave no match, or none that fits, restrict nothing."""
    result = _match(graph, pattern, distances, k=k, distinct=BY_TRIPLE)
    if not result.complete or not any(node.type for node in pattern.nodes) or _is_near(pattern, result):
        return result
    untyped = replace(pattern, nodes=tuple(replace(node, type=None) for node in pattern.nodes))
    untyped_result = _match(graph, untyped, distances, k=k, distinct=BY_TRIPLE)
    return untyped_result if not result.matches or _is_near(pattern, untyped_result) else result


def _is_near(pattern: Pattern, result: MatchResult) -> bool:
    """Whether the best match is as near as one that fits."""
    return bool(result.matches) and result.matches[0].gsd / len(pattern.edges) <= FITTING_GSD


def find_by_letter(graph: Graph, pattern: Pattern, distances: Distances, k: int) -> MatchResult:
    """Find the `k` matches of least GSD as the paper does (Definition 1): no two nodes take one entity."""
    return _match(graph, pattern, distances, k=k, distinct="nodes")


def find_tied(graph: Graph, pattern: Pattern, distances: Distances, best: Match, node: int) -> MatchResult:
    """All matches that tie with the best, one for every entity that a node takes.

    The pattern is searched once for each way to fix its names and relations to what is as near.
    """
    names, relations = same_names(pattern, distances, best), same_relations(graph, pattern, distances, best)
    ways = list(islice(product(*names, *relations), MOST_COMBINATIONS + 1))
    search = partial(_match, graph, k=None, project=node, distinct=BY_TRIPLE)
    if len(ways) > MOST_COMBINATIONS:
        return search(pattern, distances, all_tied=True)
    turned = [
        graph.triple(t)[0] != best.nodes[e.head] for e, t in zip(pattern.edges, best.triples, strict=True)
    ]
    fixed_distances = FixedDistances(_masks(pattern, distances, best))
    match_by_entity: dict[int, Match] = {}
    complete = True
    for way in ways:
        result = search(_fixed(pattern, way, turned), fixed_distances, undirected=False)
        complete = complete and result.complete
        for way_match in result.matches:
            tied = replace(way_match, gsd=best.gsd, direction_misses=best.direction_misses)
            match_by_entity.setdefault(way_match.nodes[node], tied)
    return MatchResult(tuple(match_by_entity.values()), complete)


def _masks(pattern: Pattern, distances: Distances, best: Match) -> dict[str, Mask]:
    """Masks of the entities that types of unknowns allow; none if the best match does not keep to them."""
    masks: dict[str, Mask] = {}
    for node, entity in zip(pattern.nodes, best.nodes, strict=True):
        mask = distances.allowed(node)
        if node.type is None or mask is None:
            continue
        if not mask[entity]:
            return {}
        masks[node.type] = mask
    return masks


def same_names(pattern: Pattern, distances: Distances, best: Match) -> list[list[int]]:
    """For each known node the entities that are as near as that of the best match."""
    tied_entities: list[list[int]] = []
    for node, entity in zip(pattern.nodes, best.nodes, strict=True):
        if not node.known:
            tied_entities.append([-1])
            continue
        near = distances.node_candidates(node, 64)
        own = near.distances[near.entities == entity]
        is_tied = np.abs(near.distances - own[0]) <= TIE if len(own) else near.entities == entity
        tied_entities.append(near.entities[is_tied].tolist() or [entity])
    return tied_entities


def same_relations(graph: Graph, pattern: Pattern, distances: Distances, best: Match) -> list[list[int]]:
    """For each edge the relations that are as near as that of the best match; any where it names none."""
    relations: list[list[int]] = []
    for edge, triple in zip(pattern.edges, best.triples, strict=True):
        if edge.relation is None:
            relations.append([-1])
            continue
        far = distances.relation_distances(edge)
        is_tied = np.abs(far - far[graph.triple(triple)[1]]) <= TIE
        relations.append(np.flatnonzero(is_tied).tolist())
    return relations


def _fixed(pattern: Pattern, way: Sequence[int], turned: Sequence[bool]) -> Pattern:
    """The pattern with entities and relations fixed, and its edges in the direction of the best match."""
    count, edges = len(pattern.nodes), list[PatternEdge]()
    nodes = tuple(
        node if entity < 0 else replace(node, entity=entity)
        for node, entity in zip(pattern.nodes, way[:count], strict=True)
    )
    for edge, relation, back in zip(pattern.edges, way[count:], turned, strict=True):
        head, tail = (edge.tail, edge.head) if back else (edge.head, edge.tail)
        edges.append(replace(edge, head=head, tail=tail, fixed=None if relation < 0 else relation))
    return replace(pattern, nodes=nodes, edges=tuple(edges))


def unfit(graph: Graph, pattern: Pattern, result: MatchResult, distances: Distances) -> Misfit | None:
    """Say why the best match does not fit; None if it does."""
    if not result.matches:
        if not result.complete:
            return Misfit("budget", "the search was stopped")
        return Misfit("empty_result", "it holds nothing of the shape that is asked for")
    best = result.matches[0]
    missing_names = tuple(
        node.name
        for node, entity in zip(pattern.nodes, best.nodes, strict=True)
        if node.known and not _stands_for(graph, node, entity, distances)
    )
    misfit = _missing_entity(graph, [node for node in pattern.nodes if node.name in missing_names], distances)
    if misfit is not None:
        return misfit
    if missing_names:
        names = " and ".join(f'"{name}"' for name in missing_names)
        return Misfit("empty_result", f"it has {names}, but nothing of this shape around it")
    if _is_near(pattern, result):
        return None
    pairs = zip(pattern.edges, best.triples, strict=True)
    costs = [_edge_distance(graph, edge, triple, distances) for edge, triple in pairs]
    worst = pattern.edges[int(np.argmax(costs))].relation
    return Misfit("no_relation", f'it has no relation like "{worst}"')


def _missing_entity(graph: Graph, nodes: Sequence[PatternNode], distances: Distances) -> Misfit | None:
    """Why nothing fits, where the graph has nothing that names of a pattern may mean."""
    missing = tuple(n.name for n in nodes if n.known and _entity_meant(graph, n, distances) is None)
    names = " or ".join(f'"{name}"' for name in missing)
    return Misfit("no_entity", f"it has no entity like {names}", missing) if missing else None


def find_about_claim(
    graph: Graph, pattern: Pattern, distances: Distances, k: int
) -> tuple[MatchResult, Misfit | None]:
    """The subgraphs that a claim is judged by (else what is so instead), or why there are none."""
    result = find_subgraphs(graph, pattern, distances, k)
    misfit = unfit(graph, pattern, result, distances)
    if misfit is None:
        return result, None
    missing = _missing_entity(graph, pattern.nodes, distances)
    if missing is not None:
        return result, missing
    opened_matches: list[Match] = []
    for opened in opened_patterns(pattern):
        opened_result = find_subgraphs(graph, opened, distances, k)
        if opened_result.matches and unfit(graph, opened, opened_result, distances) is None:
            opened_matches += opened_result.matches
    if not opened_matches:
        return result, misfit
    return MatchResult((*dict.fromkeys(opened_matches), *result.matches), result.complete, result.bound), None


def opened_patterns(pattern: Pattern) -> list[Pattern]:
    """The pattern with each of its named nodes at the rim left open, the last first; one named node stays."""
    ends = [end for edge in pattern.edges for end in (edge.head, edge.tail)]
    rim = [i for i, node in enumerate(pattern.nodes) if node.known and ends.count(i) == 1]
    if sum(node.known for node in pattern.nodes) < 2:
        return []
    nodes = pattern.nodes
    opened = ((at, PatternNode(f"UNKNOWN rim {at}", known=False)) for at in reversed(rim))
    return [replace(pattern, nodes=(*nodes[:at], node, *nodes[at + 1 :])) for at, node in opened]


def _entity_meant(graph: Graph, node: PatternNode, distances: Distances) -> int | None:
    """The entity that a name means; None where the graph has nothing that it may mean."""
    nearest = distances.node_candidates(node, 1).entities[:1].tolist()
    return next((entity for entity in nearest if _stands_for(graph, node, entity, distances)), None)


def _stands_for(graph: Graph, node: PatternNode, entity: int, distances: Distances) -> bool:
    """Whether an entity may be what a name means: it is near, or, if nothing is called so, shares a word."""
    near = distances.node_candidates(node, 64)
    is_called_so = bool(len(near.entities)) and float(near.distances[0]) <= TIE
    name_words, label_words = set(normalise(node.name).split()), set(normalise(graph.labels[entity]).split())
    # *HP-99* is not *HP-12*, though they share a word.
    codes = (word for word in name_words if any(c.isdigit() for c in word))
    if not is_called_so and name_words & label_words and all(word in label_words for word in codes):
        return True
    at = np.flatnonzero(near.entities == entity)
    return bool(len(at)) and float(near.distances[at[0]]) <= SAME_NAME


def triple_names(graph: Graph, triples: Sequence[int]) -> ShownTriples:
    """Some triples by names, as people read them, each once."""
    rows: list[tuple[str, str, str]] = []
    for triple in dict.fromkeys(triples):
        head, relation, tail = graph.triple(triple)
        rows.append((graph.labels[head], graph.relation_labels[relation], graph.labels[tail]))
    return tuple(rows)


def gsd_terms(
    graph: Graph, pattern: Pattern, subgraph: Match, distances: Distances
) -> list[tuple[str, str, float | None]]:
    """The terms of eq. 3: (name in the pattern, in the graph, distance or None), nodes and then relations."""
    terms: list[tuple[str, str, float | None]] = []
    for node, entity in zip(pattern.nodes, subgraph.nodes, strict=True):
        if node.known:
            far = _node_distance(node, entity, distances)
            terms.append((node.name, graph.labels[entity], None if far is None else round(far, 3)))
    for edge, triple in zip(pattern.edges, subgraph.triples, strict=True):
        if edge.relation is not None:
            far = _edge_distance(graph, edge, triple, distances)
            terms.append((edge.relation, graph.relation_labels[graph.triple(triple)[1]], round(far, 3)))
    return terms


def _edge_distance(graph: Graph, edge: PatternEdge, triple: int, distances: Distances) -> float:
    """How far the relation of a triple is from that of an edge."""
    if edge.relation is None:
        return 0.0
    return float(distances.relation_distances(edge)[graph.triple(triple)[1]])


def _node_distance(node: PatternNode, entity: int, distances: Distances) -> float | None:
    """How far an entity is from a known node; None if it is not among its candidates."""
    measured = distances.measure(node)
    near = distances.node_candidates(node, 1 << 20) if measured is None else measured
    at = np.flatnonzero(near.entities == entity)
    if len(at):
        return float(near.distances[at[0]])
    if measured is None or measured.scale is None:
        return None
    if measured.rows is None or measured.query is None:
        return float(measured.scale[entity])
    query = measured.query.values.astype(np.float64) * measured.query.step
    vector = measured.rows[entity].astype(np.float64) * float(measured.scale[entity])
    return float(np.linalg.norm(vector - query))
