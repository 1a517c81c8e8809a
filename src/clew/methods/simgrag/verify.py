"""`verify` with a chat model: SimGRAG's fact verification (Tables 17 and 19), in two calls.

The claim becomes a pattern, its best subgraphs are read, and the model says *True*, *False* or *Unknown*.
Its verdict stands only on evidence: what fits no part of the claim well supports and refutes nothing. Where
the pattern fits nothing well, the paths between the things that it names are evidence too.
FactKG's verdicts are two; a third is needed where a graph is not all that is known. In a closed world the
model is told that silence means *not so*, also where there is nothing to show: it knows whether the claim
denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice

import numpy as np

from clew.foundation.arrays import Float32, Int64
from clew.graph.graph import Graph, triple_text
from clew.graph.neighbourhood import triples_at
from clew.graph.steps import Step, step_of
from clew.grounding import cite
from clew.llm.types import BudgetReached, ReplyInvalid
from clew.methods.base import Run
from clew.methods.evidence import other_names
from clew.methods.schema_view import path_scores
from clew.methods.simgrag.find_subgraphs import named_entities, triple_names, unfit
from clew.methods.simgrag.method import PatternSearch, no_usable_reply, read_verdict
from clew.methods.simgrag.write_pattern import Found, ShownTriples
from clew.types import Abstention, ClaimPart, Match, Pattern, PatternEdge, Verdict, Verification

# Paths of up to three edges between two named things of a claim.
#
# A claim says one step where a graph has two or three (*works in Oslo*: at a firm, whose seat is there).
# Where its pattern fits nothing well, the model is shown how the graph connects what the claim names.

Path = tuple[int, ...]
"""Triple ids, from the first thing to the second."""
MOST_LISTED_PATHS = 20_000
"""Paths of one length that are listed before they are ranked."""


def connect(
    graph: Graph,
    entities: Sequence[int],
    alike: Float32,
    *,
    most: int = 6,
    of_one_kind: int = 2,
    edges_around: int = 100_000,
) -> tuple[tuple[Path, ...], bool]:
    """The paths between any two entities, ranked by the words of a claim (`alike` of `RelationRanking`).

    And whether all were looked for. `most` paths of two entities are shown, and `of_one_kind` of these by the
    same relations; of a thing with more `edges_around` its neighbours no third step is looked for.
    """
    paths: dict[Path, None] = {}
    complete = True
    for first, last in combinations(dict.fromkeys(entities), 2):
        listed, is_whole = paths_between(graph, first, last, edges_around)
        paths_by_kind: dict[tuple[Step, ...], list[Path]] = {}
        for path in listed:
            paths_by_kind.setdefault(_steps(graph, first, path), []).append(path)
        kinds = list(paths_by_kind)
        scores = path_scores(alike, kinds)
        best = sorted(range(len(kinds)), key=lambda at: (-scores[at], len(kinds[at]), kinds[at]))
        best_paths = [path for at in best for path in paths_by_kind[kinds[at]][:of_one_kind]]
        paths |= dict.fromkeys(best_paths[:most])
        complete = complete and is_whole
    return tuple(paths), complete


def paths_between(graph: Graph, first: int, last: int, edges_around: int) -> tuple[list[Path], bool]:
    """The paths of one, two and three edges, and whether they are all."""
    at_first, at_last = triples_at(graph, [first]), triples_at(graph, [last])
    near, far = _by_other_end(graph, at_first, first, last), _by_other_end(graph, at_last, last, first)
    out_degrees, into_degrees = graph.out.degrees(), graph.into.degrees()
    around = [sorted(ends) for ends in (near, far)]
    edges = [int(out_degrees[nodes].sum() + into_degrees[nodes].sum()) for nodes in around]
    has_hub = min(edges) > edges_around
    middle = [] if has_hub else triples_at(graph, around[edges.index(min(edges))]).tolist()
    lengths = (
        ((triple,) for triple in np.intersect1d(at_first, at_last).tolist()),
        ((a, b) for node in sorted(near.keys() & far.keys()) for a in near[node] for b in far[node]),
        (
            (a, triple, b)
            for triple, (head, _, tail) in zip(middle, map(graph.triple, middle), strict=True)
            for one, other in ((head, tail), (tail, head))
            if one != other
            for a in near.get(one, ())
            for b in far.get(other, ())
        ),
    )
    listed = [list(islice(paths, MOST_LISTED_PATHS + 1)) for paths in lengths]
    complete = not has_hub and all(len(paths) <= MOST_LISTED_PATHS for paths in listed)
    return [path for paths in listed for path in paths[:MOST_LISTED_PATHS]], complete


def _by_other_end(graph: Graph, triples: Int64, entity: int, other: int) -> dict[int, list[int]]:
    """The triples at an entity by their other end, which is neither of two entities."""
    triples_by_end: dict[int, list[int]] = {}
    for triple in triples.tolist():
        head, _, tail = graph.triple(triple)
        end = tail if head == entity else head
        if end not in (entity, other):
            triples_by_end.setdefault(end, []).append(triple)
    return triples_by_end


def _steps(graph: Graph, node: int, path: Path) -> tuple[Step, ...]:
    """The steps of a path, from its first entity."""
    steps: list[Step] = []
    for triple in path:
        head, relation, tail = graph.triple(triple)
        steps.append(step_of(relation, head != node))
        node = tail if head == node else head
    return tuple(steps)


_VERDICTS: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}
SAME_RELATION = 1.0
"""Distance up to which a triple's relation is the one that a part of a claim means."""


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """The model's verdict, and the subgraphs that it rests on: matches of the pattern, and paths."""

    verdict: Verdict = "not_enough_info"
    matches: tuple[Match, ...] = ()
    paths: tuple[tuple[int, ...], ...] = ()


class VerifyWithModel(PatternSearch):
    """Verifies claims against one open index with a chat model."""

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run = Run(self.name, id, self.model)
        judgement, retrieved, abstained = ClaimJudgement(), Found(), None
        try:
            retrieved = self.find(run, "claim", claim)
            judgement = self._read(run, claim, retrieved, closed_world=closed_world)
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
            run.note("budget", {"problem": str(error)})
        except ReplyInvalid as error:
            abstained = no_usable_reply(run, error)
        if closed_world and judgement.verdict == "not_enough_info" and abstained is None:
            judgement = replace(judgement, verdict="refuted")
        parts = self._parts(claim, retrieved, judgement)
        citations = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        return run.finish(
            Verification(
                claim, judgement.verdict, parts, citations, pattern=retrieved.pattern, abstained=abstained
            )
        )

    def _read(self, run: Run, claim: str, retrieved: Found, *, closed_world: bool) -> ClaimJudgement:
        """The model's verdict on the evidence; without evidence only of a closed world."""
        fitting = retrieved.result.matches if retrieved.misfit is None else ()
        paths = self._paths(run, claim, retrieved)
        match_by_graph: dict[ShownTriples, Match] = {}
        for match in fitting:
            match_by_graph.setdefault(triple_names(self.graph, match.triples), match)
        evidence = [*match_by_graph, *(triple_names(self.graph, path) for path in paths or ())]
        if not evidence and not closed_world:
            return ClaimJudgement()
        shots, names = self.shots.of("claim", self.settings.shots), ""
        if not self.by_letter:
            names = other_names(self.graph, self.find_topic_entities.called(claim))
        with run.stage("read"):
            said, reason, cited_graphs, version = read_verdict(
                run.talk, claim, evidence, shots, closed_world=closed_world, names=names
            )
        run.note("read", {"prompt": version, "reason": reason, "verdict": said})
        matches = list(match_by_graph.values())
        if not cited_graphs and closed_world and paths is not None:
            return ClaimJudgement(_VERDICTS[said])  # it rests on what the graph does not record
        return ClaimJudgement(
            _VERDICTS[said],
            tuple(m for at, m in enumerate(matches) if not cited_graphs or at in cited_graphs),
            tuple(
                p
                for at, p in enumerate(paths or (), len(matches))
                if at in cited_graphs or not (cited_graphs or matches)
            ),
        )

    def _paths(self, run: Run, claim: str, retrieved: Found) -> Sequence[tuple[int, ...]] | None:
        """How the graph joins what the pattern names; None where the pattern itself fits."""
        pattern, graph, distances = retrieved.pattern, self.graph, self.distances
        if pattern is None:
            return ()
        if self.by_letter or unfit(graph, pattern, retrieved.result, distances) is None:
            return None
        with run.stage("connect"):
            entities = named_entities(graph, pattern, distances)
            paths, complete = connect(graph, entities, self.ranking.alike(claim))
        shown_paths = [[list(triple) for triple in triple_names(graph, path)] for path in paths]
        run.note("connect", {"paths": shown_paths, "complete": complete})
        return paths

    def _parts(self, claim: str, retrieved: Found, judgement: ClaimJudgement) -> tuple[ClaimPart, ...]:
        """A part for each triple of the pattern with that of its match; the whole claim without a match."""
        verdict, pattern = judgement.verdict, retrieved.pattern
        if pattern is None or not judgement.matches:
            ids = tuple(dict.fromkeys(triple for path in judgement.paths for triple in path))
            return (ClaimPart(claim, verdict, tuple(triple_text(self.graph, t) for t in ids), ids),)
        triples, segments = judgement.matches[0].triples, retrieved.segments
        holds = [self._holds(pattern, *each) for each in zip(pattern.edges, triples, strict=True)]
        mixed = verdict == "refuted" and any(holds) and not all(holds)
        parts: list[ClaimPart] = []
        for at, (edge, triple) in enumerate(zip(pattern.edges, triples, strict=True)):
            words = f"{pattern.nodes[edge.head].name} {edge.relation or ''} {pattern.nodes[edge.tail].name}"
            text = segments[at] if segments else words
            part_verdict: Verdict = "supported" if mixed and holds[at] else verdict
            parts.append(ClaimPart(text, part_verdict, (triple_text(self.graph, triple),), (triple,)))
        return tuple(parts)

    def _holds(self, pattern: Pattern, edge: PatternEdge, triple: int) -> bool:
        """Whether a triple is near in its relation to an edge of the pattern, and the same in named nodes."""
        head, relation, tail = self.graph.triple(triple)
        if edge.relation is not None and self.distances.relation_distances(edge)[relation] > SAME_RELATION:
            return False
        for place in (edge.head, edge.tail):
            node = pattern.nodes[place]
            if node.known:
                near = self.distances.node_candidates(node, 8)
                same = {int(e) for e, d in zip(near.entities, near.distances, strict=True) if d <= 0.1}
                if not same & {head, tail}:
                    return False
        return True
