"""`verify` with a chat model: SimGRAG's fact verification (Tables 17 and 19).

The claim becomes a pattern with operations (two things compared, counts, superlatives, *not*, *only*), a
query graph. Code executes it: it is so, or something else is recorded in its place, or neither. By the
paper's letter the best subgraphs of a pattern are read, and the model says *True*, *False* or *Unknown* in a
second call; that stands only on evidence. FactKG's verdicts are two; a third is needed where a graph is not
all that is known. In a closed world that model is told that silence means *not so*, also where there is
nothing to show: it knows whether the claim denies.
"""

from __future__ import annotations

from clew.claims.verify import Stated, judge_claim, judge_stated
from clew.graph.graph import triple_text
from clew.grounding import cite
from clew.llm.types import BudgetReached, ReplyInvalid
from clew.methods.base import Run
from clew.methods.simgrag.find_subgraphs import triple_names
from clew.methods.simgrag.method import PatternSearch, no_usable_reply, read_verdict
from clew.methods.simgrag.write_pattern import Found, ShownTriples
from clew.types import Abstention, ClaimPart, Match, Verdict, Verification

_VERDICTS: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}


class VerifyWithModel(PatternSearch):
    """Verifies claims against one open index with a chat model."""

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run, found, abstained = Run(self.name, id, self.model), Found(), None
        parts: tuple[ClaimPart, ...] = (ClaimPart(claim, "not_enough_info"),)
        try:
            found = self.find(run, "claim", claim)
            if self.by_letter:
                parts = (self._read(run, claim, found, closed=closed_world),)
            else:
                stated = found.stated or (Stated(None, found.plan is not None and found.plan.denied),)
                with run.stage("execute"):
                    parts = judge_stated(self.reader, claim, stated, closed=closed_world)
                readings = [{"reading": part.text, "verdict": part.verdict} for part in parts]
                run.note(
                    "execute", {"parts": readings, "problem": found.misfit.detail if found.misfit else ""}
                )
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
            run.note("budget", {"problem": str(error)})
        except ReplyInvalid as error:
            abstained = no_usable_reply(run, error)
        citations = tuple(cite(self.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        verdict = judge_claim(parts, denied=False)
        return run.finish(
            Verification(claim, verdict, parts, citations, pattern=found.pattern, abstained=abstained)
        )

    def _read(self, run: Run, claim: str, found: Found, *, closed: bool) -> ClaimPart:
        """The model's verdict on the evidence; without evidence only of a closed world."""
        fitting = found.result.matches if found.misfit is None else ()
        match_by_graph: dict[ShownTriples, Match] = {}
        for match in fitting:
            match_by_graph.setdefault(triple_names(self.graph, match.triples), match)
        if not match_by_graph and not closed:
            return ClaimPart(claim, "not_enough_info")
        shots = self.shots.of("claim", self.settings.shots)
        with run.stage("read"):
            said, reason, cited_graphs, version = read_verdict(
                run.talk, claim, [*match_by_graph], shots, closed_world=closed
            )
        run.note("read", {"prompt": version, "reason": reason, "verdict": said})
        matches = enumerate(match_by_graph.values())
        cited = [match.triples for at, match in matches if not cited_graphs or at in cited_graphs]
        ids = tuple(dict.fromkeys(triple for triples in cited for triple in triples))
        verdict = "refuted" if closed and said == "Unknown" else _VERDICTS[said]
        return ClaimPart(claim, verdict, tuple(triple_text(self.graph, triple) for triple in ids), ids)
