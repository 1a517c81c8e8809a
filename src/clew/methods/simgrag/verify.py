"""`verify` with a chat model: SimGRAG's fact verification (Tables 17 and 19), in two calls.

The claim becomes a pattern, its best subgraphs are read, and the model says *True*, *False* or *Unknown*.
Its verdict stands only on evidence: what fits no part of the claim well supports and refutes nothing.
FactKG's verdicts are two; a third is needed where a graph is not all that is known (`closed_world` brings
it back to two).
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from clew.claims.verify import Verify
from clew.grounding import cite, triple_text
from clew.index.store.directory import Index
from clew.llm.errors import BudgetReached, ReplyInvalid
from clew.llm.run import run_sync
from clew.llm.types import ChatModel, add_usage
from clew.methods.simgrag.find_subgraphs import subgraph_texts
from clew.methods.simgrag.method import Retrieval, Retrieved, Settings, Work
from clew.methods.simgrag.read import read_verdict
from clew.text.embedder import Embedder
from clew.types import ClaimPart, Pattern, Step, Verdict, Verification

_VERDICTS: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}
SAME_RELATION = 1.0
"""Distance up to which a triple's relation is the one that a part of a claim means."""


class VerifyWithModel(Retrieval):
    """Verifies claims against one open index with a chat model."""

    name = "simgrag"

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: Settings | None = None,
        verify: Verify | None = None,
    ) -> None:
        parser = None if verify is None else verify.parser
        super().__init__(index, embedder, model=model, settings=settings, parser=parser)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; raises LlmError if the model cannot be asked."""
        return run_sync(self.verify_async(claim, id=id, closed_world=closed_world))

    async def verify_async(
        self, claim: str, *, id: str | None = None, closed_world: bool = False
    ) -> Verification:
        """Verify one claim; in a closed world what is not supported is refuted."""
        began = perf_counter()
        work = self.begin(id)
        verdict: Verdict = "not_enough_info"
        retrieved = Retrieved()
        stopped = False
        try:
            retrieved = await self.retrieve(work, "claim", claim)
            verdict = await self._read(work, claim, retrieved)
        except BudgetReached as error:
            stopped = True
            work.steps.append(Step("budget", {"problem": str(error)}))
        except ReplyInvalid as error:
            stopped = True
            work.note_useless(error)
        if closed_world and verdict == "not_enough_info" and not stopped:
            verdict = "refuted"
        parts = self._parts(claim, retrieved, verdict)
        work.time("total", began)
        return Verification(
            claim=claim,
            verdict=verdict,
            parts=parts,
            citations=tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids),
            method=self.name,
            model=self.model.name,
            usage=add_usage(reply.usage for reply in work.model.replies),
            timings_ms={stage: round(ms, 3) for stage, ms in work.timings.items()},
            pattern=retrieved.pattern,
            steps=tuple(work.steps),
            id=id,
        )

    async def _read(self, work: Work, claim: str, retrieved: Retrieved) -> Verdict:
        """The model's verdict on the evidence; not enough where no evidence fits."""
        if retrieved.pattern is None or retrieved.left is not None:
            return "not_enough_info"
        since = perf_counter()
        graphs = subgraph_texts(self.graph, retrieved.found.matches)
        read = await read_verdict(work.model, claim, graphs, self.shots.of("claim", self.settings.shots))
        work.time("read", since)
        detail = {"prompt": read.prompt.version, "reason": read.reason, "verdict": read.verdict}
        work.steps.append(Step("read", detail))
        return _VERDICTS[read.verdict]

    def _parts(self, claim: str, retrieved: Retrieved, verdict: Verdict) -> tuple[ClaimPart, ...]:
        """One part for each triple of the pattern, with the best match's triple for it."""
        pattern, found = retrieved.pattern, retrieved.found
        if pattern is None or not found.matches or retrieved.left is not None:
            return (ClaimPart(claim, verdict),)
        triples = found.matches[0].triples
        held = [self._holds(pattern, at, triples[at]) for at in range(len(triples))]
        mixed = verdict == "refuted" and any(held) and not all(held)
        parts: list[ClaimPart] = []
        for at, triple in enumerate(triples):
            edge = pattern.edges[at]
            words = f"{pattern.nodes[edge.head].name} {edge.relation or ''} {pattern.nodes[edge.tail].name}"
            text = retrieved.segments[at] if retrieved.segments else words
            own: Verdict = "supported" if mixed and held[at] else verdict
            parts.append(ClaimPart(text, own, (triple_text(self.graph, triple),), (triple,)))
        return tuple(parts)

    def _holds(self, pattern: Pattern, at: int, triple: int) -> bool:
        """Whether a triple is what an edge of the pattern says.

        Near in its relation, the same in its named nodes.
        """
        edge = pattern.edges[at]
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

    def __init__(
        self,
        index: Index,
        embedder: Embedder,
        *,
        model: ChatModel | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.plain = Verify(index, embedder)
        self.with_model = VerifyWithModel(index, embedder, model=model, settings=settings, verify=self.plain)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; raises LlmError if the model is needed and cannot be asked."""
        plain = self.plain.verify(claim, id=id)
        if plain.verdict != "not_enough_info":
            return plain
        asked = self.with_model.verify(claim, id=id)
        timings = {**plain.timings_ms, **asked.timings_ms}
        timings["total"] = plain.timings_ms.get("total", 0.0) + asked.timings_ms.get("total", 0.0)
        told = replace(asked, method=self.name, timings_ms=timings, steps=(*plain.steps, *asked.steps))
        if asked.verdict != "not_enough_info":
            return told
        if closed_world:
            plain = self.plain.verify(claim, id=id, closed_world=True)
        return replace(plain, model=told.model, usage=told.usage, timings_ms=timings, steps=told.steps)
