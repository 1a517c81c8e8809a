"""Pattern-to-subgraph alignment (SimGRAG section 4.2).

The best matches of a model's pattern, or why it fits nothing well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

import numpy as np

from clew.graph.graph import Graph
from clew.graph.match.conditions import TIE
from clew.graph.match.distances import Distances, FixedDistances, Mask
from clew.graph.match.matcher import Budget, Distinct, match
from clew.methods.simgrag.examples import ShownTriples
from clew.methods.simgrag.settings import FITTING_GSD
from clew.text.normalise import normalise
from clew.types import Match, MatchResult, Pattern, PatternNode, Reason

SAME_NAME = 0.5
"""Distance up to which an entity may stand for a name with which it shares no word."""
BY_TRIPLE: Distinct = "triples"
"""No two edges take one triple. The paper's isomorphism has no two nodes take one entity.

So that the writer of a film could not be its director too.
"""
FIRST_CANDIDATES = 64
MOST_WAYS = 16
SEARCH = Budget(expansions=200_000_000)


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why the best matches do not fit, as an abstention would say it.

    `names` are those that are not in the graph.
    """

    reason: Reason
    detail: str
    names: tuple[str, ...] = ()


def find_subgraphs(graph: Graph, pattern: Pattern, distances: Distances, k: int) -> MatchResult:
    """The `k` matches of least GSD; types that leave no match restrict nothing."""
    found = match(graph, pattern, distances, k=k, distinct=BY_TRIPLE, budget=SEARCH)
    if found.matches or not found.complete or not any(node.type for node in pattern.nodes):
        return found
    return match(graph, without_types(pattern), distances, k=k, distinct=BY_TRIPLE, budget=SEARCH)


def find_by_letter(graph: Graph, pattern: Pattern, distances: Distances, k: int) -> MatchResult:
    """Find the `k` matches of least GSD as the paper does (Definition 1): no two nodes take one entity."""
    return match(graph, pattern, distances, k=k, distinct="nodes", budget=SEARCH)


def find_tied(graph: Graph, pattern: Pattern, distances: Distances, best: Match, node: int) -> MatchResult:
    """All matches that tie with the best, one for every entity that a node takes.

    What ties has the same distances: the pattern is searched once for each way to fix its names and
    relations to what is as near as in the best match.
    """
    ways = list(
        islice(
            product(*same_names(pattern, distances, best), *same_relations(graph, pattern, distances, best)),
            MOST_WAYS + 1,
        )
    )
    if len(ways) > MOST_WAYS:
        return match(
            graph, pattern, distances, k=None, all_tied=True, project=node, distinct=BY_TRIPLE, budget=SEARCH
        )
    turned = [
        graph.triple(t)[0] != best.nodes[e.head] for e, t in zip(pattern.edges, best.triples, strict=True)
    ]
    fixed_distances = FixedDistances(_masks(pattern, distances, best))
    found: dict[int, Match] = {}
    complete = True
    for way in ways:
        fixed = _fixed(pattern, way, turned)
        every = match(
            graph,
            fixed,
            fixed_distances,
            k=None,
            project=node,
            distinct=BY_TRIPLE,
            undirected=False,
            budget=SEARCH,
        )
        complete = complete and every.complete
        for one in every.matches:
            found.setdefault(
                one.nodes[node], replace(one, gsd=best.gsd, direction_misses=best.direction_misses)
            )
    return MatchResult(tuple(found.values()), complete)


def _masks(pattern: Pattern, distances: Distances, best: Match) -> dict[str, Mask]:
    """What the types of unknowns allow; nothing if the best match was found without regard to them."""
    masks: dict[str, Mask] = {}
    for node, entity in zip(pattern.nodes, best.nodes, strict=True):
        mask = None if node.type is None or node.known else distances.allowed(node)
        if node.type is None or mask is None:
            continue
        if not mask[entity]:
            return {}
        masks[node.type] = mask
    return masks


def same_names(pattern: Pattern, distances: Distances, best: Match) -> list[list[int]]:
    """For each known node the entities that are as near as that of the best match."""
    same: list[list[int]] = []
    for node, entity in zip(pattern.nodes, best.nodes, strict=True):
        if not node.known:
            same.append([-1])
            continue
        near = distances.node_candidates(node, FIRST_CANDIDATES)
        at = np.flatnonzero(near.entities == entity)
        if not len(at):
            same.append([entity])
            continue
        tied = np.abs(near.distances - near.distances[at[0]]) <= TIE
        same.append([int(e) for e in near.entities[tied]])
    return same


def same_relations(graph: Graph, pattern: Pattern, distances: Distances, best: Match) -> list[list[int]]:
    """For each edge the relations that are as near as that of the best match.

    Any where the pattern names none.
    """
    same: list[list[int]] = []
    for edge, triple in zip(pattern.edges, best.triples, strict=True):
        if edge.relation is None:
            same.append([-1])
            continue
        far = distances.relation_distances(edge)
        same.append([int(r) for r in np.flatnonzero(np.abs(far - far[graph.triple(triple)[1]]) <= TIE)])
    return same


def _fixed(pattern: Pattern, way: Sequence[int], turned: Sequence[bool]) -> Pattern:
    """The pattern with entities and relations fixed, and its edges in the direction of the best match."""
    count = len(pattern.nodes)
    nodes = tuple(
        node if entity < 0 else replace(node, entity=entity)
        for node, entity in zip(pattern.nodes, way[:count], strict=True)
    )
    edges = tuple(
        replace(
            edge,
            head=edge.tail if back else edge.head,
            tail=edge.head if back else edge.tail,
            fixed=None if relation < 0 else relation,
        )
        for edge, relation, back in zip(pattern.edges, way[count:], turned, strict=True)
    )
    return replace(pattern, nodes=nodes, edges=edges)


def without_types(pattern: Pattern) -> Pattern:
    """The same pattern whose unknowns may be anything."""
    return replace(pattern, nodes=tuple(replace(node, type=None) for node in pattern.nodes))


def unfit(
    graph: Graph, pattern: Pattern, found: MatchResult, distances: Distances, bound: float = FITTING_GSD
) -> Unfit | None:
    """Say why the best match does not fit; None if it does."""
    if not found.matches:
        if not found.complete:
            return Unfit("budget", "the search was stopped")
        return Unfit("empty_result", "it holds nothing of the shape that is asked for")
    best = found.matches[0]
    far = tuple(
        node.name
        for node, entity in zip(pattern.nodes, best.nodes, strict=True)
        if node.known and not _stands_for(graph, node, entity, distances)
    )
    missing = tuple(n.name for n in pattern.nodes if n.name in far and not _is_there(graph, n, distances))
    if missing:
        names = " or ".join(f'"{name}"' for name in missing)
        return Unfit("no_entity", f"it has no entity like {names}", missing)
    if far:
        names = " and ".join(f'"{name}"' for name in far)
        return Unfit("empty_result", f"it has {names}, but nothing of this shape around it")
    if best.gsd / len(pattern.edges) <= bound:
        return None
    costs = [
        float(distances.relation_distances(edge)[graph.triple(triple)[1]])
        if edge.relation is not None
        else 0.0
        for edge, triple in zip(pattern.edges, best.triples, strict=True)
    ]
    worst = pattern.edges[int(np.argmax(costs))].relation
    return Unfit("no_relation", f'it has no relation like "{worst}"')


def find_about_claim(
    graph: Graph, pattern: Pattern, distances: Distances, k: int, bound: float = FITTING_GSD
) -> tuple[MatchResult, Unfit | None]:
    """What a graph has of a claim, or why it has nothing.

    The matches, and where the best does not fit, first those of the claim with a named thing at its rim
    left open, since they show what is so instead.
    """
    found = find_subgraphs(graph, pattern, distances, k)
    left = unfit(graph, pattern, found, distances, bound)
    if left is None:
        return found, None
    missing = tuple(n.name for n in pattern.nodes if n.known and not _is_there(graph, n, distances))
    if missing:
        names = " or ".join(f'"{name}"' for name in missing)
        return found, Unfit("no_entity", f"it has no entity like {names}", missing)
    shown: list[Match] = []
    for opened in opened_patterns(pattern):
        others = find_subgraphs(graph, opened, distances, k)
        if others.matches and unfit(graph, opened, others, distances, bound) is None:
            shown += others.matches
    if not shown:
        return found, left
    return MatchResult((*dict.fromkeys(shown), *found.matches), found.complete, found.bound), None


def opened_patterns(pattern: Pattern) -> list[Pattern]:
    """The pattern with each of its named nodes at the rim left open, the last one first.

    One named node stays.
    """
    ends = [end for edge in pattern.edges for end in (edge.head, edge.tail)]
    rim = [i for i, node in enumerate(pattern.nodes) if node.known and ends.count(i) == 1]
    named = sum(node.known for node in pattern.nodes)
    if named < 2:
        return []
    return [
        replace(
            pattern,
            nodes=tuple(
                PatternNode(f"UNKNOWN rim {i}", known=False) if i == at else node
                for i, node in enumerate(pattern.nodes)
            ),
        )
        for at in reversed(rim)
    ]


def _is_there(graph: Graph, node: PatternNode, distances: Distances) -> bool:
    """Whether the graph has something that a name may mean."""
    near = distances.node_candidates(node, 1)
    return bool(len(near.entities)) and _stands_for(graph, node, int(near.entities[0]), distances)


def _stands_for(graph: Graph, node: PatternNode, entity: int, distances: Distances) -> bool:
    """Whether an entity may be what a name means: it is near, or shares a word with it.

    Where something is called just so, a word in common is not enough.
    """
    near = distances.node_candidates(node, 64)
    is_called_so = bool(len(near.entities)) and float(near.distances[0]) <= TIE
    wanted, words = set(normalise(node.name).split()), set(normalise(graph.labels[entity]).split())
    # *HP-99* is not *HP-12*, though they share a word.
    coded = (word for word in wanted if any(c.isdigit() for c in word))
    if not is_called_so and wanted & words and all(word in words for word in coded):
        return True
    at = np.flatnonzero(near.entities == entity)
    return bool(len(at)) and float(near.distances[at[0]]) <= SAME_NAME


def subgraph_texts(graph: Graph, matches: Sequence[Match]) -> list[ShownTriples]:
    """The triples of each match by names, as people read them; equal subgraphs once."""
    return list(dict.fromkeys(triple_names(graph, found.triples) for found in matches))


def triple_names(graph: Graph, triples: Sequence[int]) -> ShownTriples:
    """Some triples by names, as people read them, each once."""
    rows: list[tuple[str, str, str]] = []
    for triple in dict.fromkeys(triples):
        head, relation, tail = graph.triple(triple)
        rows.append((graph.labels[head], graph.relation_labels[relation], graph.labels[tail]))
    return tuple(rows)


def named_entities(graph: Graph, pattern: Pattern, distances: Distances) -> list[int]:
    """The entities that the names of a pattern stand for, where the graph has them."""
    found: list[int] = []
    for node in pattern.nodes:
        near = distances.node_candidates(node, 1) if node.known else None
        if (
            near is not None
            and len(near.entities)
            and _stands_for(graph, node, int(near.entities[0]), distances)
        ):
            found.append(int(near.entities[0]))
    return found
