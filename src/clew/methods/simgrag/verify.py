"""`verify` with a chat model: SimGRAG's fact verification (Tables 17 and 19), in two calls.

The claim becomes a pattern, its best subgraphs are read, and the model says *True*, *False* or *Unknown*.
Its verdict stands only on evidence: what fits no part of the claim well supports and refutes nothing. Where
the pattern fits nothing well, the paths between the things that it names are evidence too (`connect.py`).
FactKG's verdicts are two; a third is needed where a graph is not all that is known. In a closed world the
model is told that silence means *not so*, also where there is nothing to show: it knows whether the claim
denies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clew.claims.verify import Verify
from clew.errors import UsageError
from clew.grounding import cite, triple_text
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached, ReplyInvalid
from clew.llm.run import run_sync
from clew.llm.types import ChatModel
from clew.methods.fact_lines import other_names
from clew.methods.run import Run
from clew.methods.simgrag.connect import connect
from clew.methods.simgrag.examples import ShownTriples
from clew.methods.simgrag.find_subgraphs import named_entities, triple_names, unfit
from clew.methods.simgrag.method import Retrieval, Retrieved, no_usable_reply
from clew.methods.simgrag.read import read_verdict
from clew.methods.simgrag.settings import SimgragSettings
from clew.text.embedder import Embedder
from clew.types import Abstention, ClaimPart, Match, Pattern, PatternEdge, Step, Verdict, Verification

_VERDICTS: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}
SAME_RELATION = 1.0
"""Distance up to which a triple's relation is the one that a part of a claim means."""


@dataclass(frozen=True, slots=True)
class ClaimJudgement:
    """The model's verdict, and the subgraphs that it rests on: matches of the pattern, and paths."""

    verdict: Verdict = "not_enough_info"
    matches: tuple[Match, ...] = ()
    paths: tuple[tuple[int, ...], ...] = ()


class VerifyWithModel(Retrieval):
    """Verifies claims against one open index with a chat model."""

    name = "simgrag"

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run = Run.begin(self.name, id, self.model)
        judged, retrieved, abstained = ClaimJudgement(), Retrieved(), None
        try:
            retrieved = run_sync(self.retrieve(run, "claim", claim))
            judged = run_sync(self._read(run, claim, retrieved, closed_world=closed_world))
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
            run.steps.append(Step("budget", {"problem": str(error)}))
        except ReplyInvalid as error:
            abstained = no_usable_reply(run, error)
        if closed_world and judged.verdict == "not_enough_info" and abstained is None:
            judged = replace(judged, verdict="refuted")
        parts = self._parts(claim, retrieved, judged)
        cited = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        return run.finish(
            Verification(claim, judged.verdict, parts, cited, pattern=retrieved.pattern, abstained=abstained)
        )

    async def _read(
        self, run: Run, claim: str, retrieved: Retrieved, *, closed_world: bool
    ) -> ClaimJudgement:
        """The model's verdict on the evidence; without evidence only of a closed world."""
        found = retrieved.found.matches if retrieved.left is None else ()
        paths = self._paths(run, claim, retrieved)
        shown: dict[ShownTriples, Match] = {}
        for match in found:
            shown.setdefault(triple_names(self.graph, match.triples), match)
        evidence = [*shown, *(triple_names(self.graph, path) for path in paths or ())]
        if not evidence and (not closed_world or retrieved.written is None):
            return ClaimJudgement()
        shots, names = self.shots.of("claim", self.settings.shots), ""
        if self._schema is not None:  # not in the paper's form
            names = other_names(self.graph, self._find_entities.called(claim))
        with run.stage("read"):
            read = await read_verdict(
                self.model_of(run), claim, evidence, shots,
                closed_world=closed_world, names=names,
            )  # fmt: skip
        detail = {"prompt": read.prompt.version, "reason": read.reason, "verdict": read.verdict}
        run.steps.append(Step("read", detail))
        matches, named = list(shown.values()), read.graphs
        if not named and closed_world and paths is not None:
            return ClaimJudgement(_VERDICTS[read.verdict])  # it rests on what the graph does not record
        return ClaimJudgement(
            _VERDICTS[read.verdict],
            tuple(m for at, m in enumerate(matches) if not named or at in named),
            tuple(
                p for at, p in enumerate(paths or (), len(matches)) if at in named or not (named or matches)
            ),
        )

    def _paths(self, run: Run, claim: str, retrieved: Retrieved) -> Sequence[tuple[int, ...]] | None:
        """How the graph joins what the pattern names; None where the pattern itself fits."""
        pattern, graph, distances = retrieved.pattern, self.graph, self.distances
        if pattern is None:
            return ()
        if self.cut is not None:
            return None
        if unfit(graph, pattern, retrieved.found, distances, self.settings.bound) is None:
            return None
        with run.stage("connect"):
            named = named_entities(graph, pattern, distances)
            found = connect(graph, named, self.ranking.alike(claim))
        shown = [[list(triple) for triple in triple_names(graph, path)] for path in found.paths]
        run.steps.append(Step("connect", {"paths": shown, "complete": found.complete}))
        return found.paths

    def _parts(self, claim: str, retrieved: Retrieved, judged: ClaimJudgement) -> tuple[ClaimPart, ...]:
        """A part for each triple of the pattern with that of its match; the whole claim without a match."""
        verdict, pattern = judged.verdict, retrieved.pattern
        if pattern is None or not judged.matches:
            ids = tuple(dict.fromkeys(triple for path in judged.paths for triple in path))
            return (ClaimPart(claim, verdict, tuple(triple_text(self.graph, t) for t in ids), ids),)
        triples, segments = judged.matches[0].triples, retrieved.written and retrieved.written.segments
        held = [self._holds(pattern, *each) for each in zip(pattern.edges, triples, strict=True)]
        mixed = verdict == "refuted" and any(held) and not all(held)
        parts: list[ClaimPart] = []
        for at, (edge, triple) in enumerate(zip(pattern.edges, triples, strict=True)):
            words = f"{pattern.nodes[edge.head].name} {edge.relation or ''} {pattern.nodes[edge.tail].name}"
            text = segments[at] if segments else words
            own: Verdict = "supported" if mixed and held[at] else verdict
            parts.append(ClaimPart(text, own, (triple_text(self.graph, triple),), (triple,)))
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


class AutoVerify:
    """The built-in verifier first; where it has not enough, the model's."""

    name = "auto"

    def __init__(self, plain: Verify, with_model: VerifyWithModel) -> None:
        self.plain, self.with_model = plain, with_model

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; raises LlmError if the model is needed and cannot be asked."""
        plain = self.plain.verify(claim, id=id)
        if plain.verdict != "not_enough_info":
            return plain
        asked = self.with_model.verify(claim, id=id, closed_world=closed_world)
        timings = {**plain.timings_ms, **asked.timings_ms}
        timings["total"] = plain.timings_ms.get("total", 0.0) + asked.timings_ms.get("total", 0.0)
        told = replace(asked, method=self.name, timings_ms=timings, steps=(*plain.steps, *asked.steps))
        if asked.verdict != "not_enough_info":
            return told
        if closed_world and asked.abstained is None:
            plain = self.plain.verify(claim, id=id, closed_world=True)
        return replace(
            plain, model=told.model, usage=told.usage, timings_ms=timings, steps=told.steps,
            abstained=asked.abstained,
        )  # fmt: skip


def make_auto_verifier(
    index: Index, embedder: Embedder, *, model: ChatModel | None, settings: SimgragSettings | None = None
) -> Verify | AutoVerify:
    """Make the default verifier: without a model the built-in one alone, which has no settings."""
    plain = Verify(index, embedder)
    if model is not None:
        return AutoVerify(plain, VerifyWithModel(index, embedder, model=model, settings=settings))
    if settings is not None:
        raise UsageError("These settings are for a language model. Name one with --llm provider/model")
    return plain
