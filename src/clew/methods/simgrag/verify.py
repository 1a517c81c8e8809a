"""`verify` with a chat model: SimGRAG's fact verification (Tables 17 and 19).

The claim becomes a pattern with operations (two things compared, counts, superlatives, *not*, *only*), a
query graph. Code executes it: it is so, or something else is recorded in its place, or neither. By the
paper's letter the best subgraphs of a pattern are read, and the model says *True*, *False* or *Unknown* in a
second call; that stands only on evidence. FactKG's verdicts are two; a third is needed where a graph is not
all that is known. In a closed world that model is told that silence means *not so*, also where there is
nothing to show: it knows whether the claim denies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from clew.claims.verify import judge_claim, judge_stated
from clew.graph.graph import triple_text
from clew.grounding import cite
from clew.llm.types import BudgetReached, ReplyInvalid
from clew.methods.base import Run
from clew.methods.simgrag.find_subgraphs import triple_names
from clew.methods.simgrag.method import PatternSearch, no_usable_reply, read_verdict
from clew.methods.simgrag.write_pattern import Found, ShownTriples
from clew.types import Abstention, ClaimPart, Match, Pattern, PatternEdge, Verdict, Verification

_VERDICTS: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}
SAME_RELATION = 1.0
"""Distance up to which a triple's relation is the one that a part of a claim means."""


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """A verdict, and the matches of the pattern that it rests on where a model read them."""

    verdict: Verdict = "not_enough_info"
    matches: tuple[Match, ...] = ()


class VerifyWithModel(PatternSearch):
    """Verifies claims against one open index with a chat model."""

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run = Run(self.name, id, self.model)
        judgement, retrieved, abstained = ClaimJudgement(), Found(), None
        parts: tuple[ClaimPart, ...] = ()
        try:
            retrieved = self.find(run, "claim", claim)
            if retrieved.stated:
                parts = self._judged(run, claim, retrieved, closed=closed_world)
                judgement = ClaimJudgement(judge_claim(parts, denied=False))
            elif self.by_letter:
                judgement = self._read(run, claim, retrieved, closed_world=closed_world)
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
            run.note("budget", {"problem": str(error)})
        except ReplyInvalid as error:
            abstained = no_usable_reply(run, error)
        if closed_world and judgement.verdict == "not_enough_info" and abstained is None:
            judgement = replace(judgement, verdict="refuted")
        parts = parts or self._parts(claim, retrieved, judgement)
        citations = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        return run.finish(
            Verification(
                claim, judgement.verdict, parts, citations, pattern=retrieved.pattern, abstained=abstained
            )
        )

    def _judged(self, run: Run, claim: str, retrieved: Found, *, closed: bool) -> tuple[ClaimPart, ...]:
        """The verdicts on what a pattern with its operations says."""
        with run.stage("execute"):
            parts = judge_stated(self.reader, claim, retrieved.stated, closed=closed)
        run.note("execute", {"parts": [{"reading": part.text, "found": part.verdict} for part in parts]})
        return parts

    def _read(self, run: Run, claim: str, retrieved: Found, *, closed_world: bool) -> ClaimJudgement:
        """The model's verdict on the evidence; without evidence only of a closed world."""
        fitting = retrieved.result.matches if retrieved.misfit is None else ()
        match_by_graph: dict[ShownTriples, Match] = {}
        for match in fitting:
            match_by_graph.setdefault(triple_names(self.graph, match.triples), match)
        if not match_by_graph and not closed_world:
            return ClaimJudgement()
        shots = self.shots.of("claim", self.settings.shots)
        with run.stage("read"):
            said, reason, cited_graphs, version = read_verdict(
                run.talk, claim, [*match_by_graph], shots, closed_world=closed_world
            )
        run.note("read", {"prompt": version, "reason": reason, "verdict": said})
        matches = enumerate(match_by_graph.values())
        return ClaimJudgement(
            _VERDICTS[said], tuple(m for at, m in matches if not cited_graphs or at in cited_graphs)
        )

    def _parts(self, claim: str, retrieved: Found, judgement: ClaimJudgement) -> tuple[ClaimPart, ...]:
        """A part for each triple of the pattern with that of its match; the whole claim without a match."""
        verdict, pattern = judgement.verdict, retrieved.pattern
        if pattern is None or not judgement.matches:
            return (ClaimPart(claim, verdict),)
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
