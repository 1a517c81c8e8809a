"""The `read` step with a model: verbalised subgraph-augmented generation (SimGRAG, Tables 18, 19), grounded.

The model reads the subgraphs and states answers, or judges a claim. Answers are read from the form that
states them alone (`llm/reply.py`); of prose, as the paper has it (*According to graphs [1][2], the writer is
…*), none are. They are grounded in the subgraphs and in what ties with these.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clew.graph.graph import Graph
from clew.graph.match.distances import Distances
from clew.graph.match.patterns import TIE
from clew.llm.managed import Prompt, Talk, run_sync
from clew.llm.reply import StatedAnswer, build, clean, complete_parsed, declines, read_value, stated_answer
from clew.llm.types import ReplyInvalid, Request, ask
from clew.methods.evidence import Fact, ReadEvidence
from clew.methods.ground import GroundedReply, ground_reply, refused
from clew.methods.question import asked_of, counts_things
from clew.methods.simgrag.find_subgraphs import find_tied
from clew.methods.simgrag.write_pattern import Shot, ShownTriples, answer_nodes, read_prompt
from clew.text.normalise import normalise
from clew.types import MatchResult, Pattern

ModelVerdict = Literal["True", "False", "Unknown"]
_YES_NO = re.compile(r"\W*(?:yes|no)\W*", re.IGNORECASE)
_VERDICT = re.compile(
    r"((?:\bnot|n['’]t)\s+(?:be(?:en)?\s+)?(?:\w+ly\s+)?)?"
    r"\b((?:un)?true|(?:un)?supported|false|refuted|unknown|not enough info(?:rmation)?)\b",
    re.IGNORECASE,
)
_VERDICTS: dict[str, ModelVerdict] = {
    "true": "True", "supported": "True", "false": "False", "refuted": "False", "untrue": "False",
}  # fmt: skip


@dataclass(frozen=True)
class VerdictReply:
    """The reply to a claim that the model is asked for."""

    verdict: str | bool
    reason: str = ""


def read_answers(talk: Talk, prompt: Prompt) -> StatedAnswer:
    """Ask a model what the evidence answers; a reply that states nothing is repaired once, else LlmError."""
    request = ask(prompt.user, temperature=0.0)
    return run_sync(complete_parsed(talk, request, lambda text: _read_statement(text, request))).value


def read_verdict(
    talk: Talk,
    claim: str,
    graphs: Sequence[ShownTriples],
    shots: Sequence[Shot],
    *,
    closed_world: bool = False,
    names: str = "",
) -> tuple[ModelVerdict, str, tuple[int, ...], str]:
    """Ask a model whether the evidence supports a claim; a reply without a verdict is repaired once.

    Returns the verdict, its reason, the positions of the subgraphs that this names, as in *graph [1] says
    so*, and the version of the prompt.

    `closed_world` and `names` are as in `read_prompt`. Raises LlmError.
    """
    prompt = read_prompt("claim", claim, graphs, shots, closed_world=closed_world, names=names)
    request = ask(prompt.user, temperature=0.0)
    typed = run_sync(complete_parsed(talk, request, lambda text: _verdict(text, request)))
    verdict, reason = typed.value
    named = dict.fromkeys(int(n) - 1 for n in re.findall(r"\[(\d{1,3})\]", reason) if int(n))
    return verdict, reason, tuple(named), prompt.version


def _read_statement(text: str, request: Request) -> StatedAnswer:
    """The answers that a reply states, in JSON or by its last line. Raises ReplyInvalid."""
    stated = stated_answer(clean(text, request.messages, request.stop))
    if stated.form == "" or (stated.form == "bare" and not _YES_NO.fullmatch(stated.text)):
        raise ReplyInvalid('it is no JSON object with "answers"', text)
    return stated


def _verdict(text: str, request: Request) -> tuple[ModelVerdict, str]:
    """Verdict and reason of a reply. Raises ReplyInvalid."""
    cleaned = clean(text, request.messages, request.stop)
    try:
        reply = read_value(cleaned, lambda value: build(VerdictReply, value))
        verdict_text = str(reply.verdict)
    except ReplyInvalid:
        reply = VerdictReply("", cleaned[:200])
        verdict_text = cleaned[:20_000]
    verdict = _last_verdict(verdict_text)
    if verdict is None:
        raise ReplyInvalid('the verdict is not "True", "False" or "Unknown"', text)
    return verdict, reply.reason


def _last_verdict(text: str) -> ModelVerdict | None:
    """The last verdict that a text gives; None where it gives none."""
    hits = list(_VERDICT.finditer(text))
    if not hits or declines(text):
        return "Unknown" if hits else None
    word = hits[-1][2].lower()
    if hits[-1][1]:  # *not supported* and *not refuted* say nothing
        return "False" if word == "true" else "Unknown"
    return _VERDICTS.get(word, "Unknown")


@dataclass(frozen=True)
class Subgraphs:
    """The matches of a pattern that a model read, and what a reply is grounded in by them.

    With `ties`, matches that it did not see are looked at too, where they tie with the best that it saw;
    without, nothing is counted.
    """

    graph: Graph
    distances: Distances
    pattern: Pattern
    result: MatchResult
    ties: bool = True

    @property
    def facts(self) -> tuple[Fact, ...]:
        """A fact for each match, of which there may be more; all of its triples prove its unknowns."""
        unknown = answer_nodes(self.pattern)
        return tuple(
            Fact(match.triples, {match.nodes[node]: match.triples for node in unknown}, cut=True)
            for match in self.result.matches
        )

    @property
    def named(self) -> frozenset[int]:
        """The entities that the pattern names."""
        known = [place for place, node in enumerate(self.pattern.nodes) if node.known]
        named = {match.nodes[place] for match in self.result.matches for place in known}
        return frozenset(named.difference(*(fact.ends for fact in self.facts)))

    def node_of(self, stated: StatedAnswer, evidence: ReadEvidence) -> int | None:
        """The node of the pattern that most of the stated names are; None if they are none."""
        linked = (link for item in stated.items for link in evidence.names.list_of(item))
        named = {entity for link in linked for entity in link.entities}
        hits = [(len(named & self._entities(node)), node) for node in answer_nodes(self.pattern)]
        count, node = max(hits, default=(0, 0))
        return node if count else None

    def _entities(self, node: int) -> set[int]:
        return {match.nodes[node] for match in self.result.matches}

    def ground(self, stated: StatedAnswer, evidence: ReadEvidence) -> SubgraphReply:
        """What of a reply the subgraphs prove. *How many* is counted, whatever number the model says."""
        unknown, node = answer_nodes(self.pattern), self.node_of(stated, evidence)
        # A number that stands in the evidence is an answer itself (*how much*); names are counted.
        numbers = bool(stated.items) and all(item.strip().isdigit() for item in stated.items)
        if counts_things(evidence.question) and unknown and stated.items and (node is None) == numbers:
            return self._count(stated, unknown[-1] if node is None else node)
        if not stated.facts:
            stated = replace(stated, facts=tuple(range(1, len(evidence.facts) + 1)))
        reply = ground_reply(stated, evidence)
        proofs = {e: p for e, p in reply.proofs.items() if node is not None and e in self._entities(node)}
        if reply.proofs and not proofs:
            reply = refused(stated, "none of the model's answers is in the evidence")
        if node is None or not proofs or not self._takes_all_best(node, proofs):
            return SubgraphReply(replace(reply, proofs=proofs), node, self.result.complete)
        tied = find_tied(self.graph, self.pattern, self.distances, self.result.matches[0], node)
        tied_proofs = {m.nodes[node]: m.triples for m in tied.matches if not evidence.misfit(m.nodes[node])}
        return SubgraphReply(replace(reply, proofs={**tied_proofs, **proofs}), node, tied.complete)

    def _takes_all_best(self, node: int, entities: Collection[int]) -> bool:
        """Whether a reply takes every match that it saw tie with the best."""
        best = self.result.matches[0]
        return self.ties and all(
            m.nodes[node] in entities
            for m in self.result.matches
            if m.gsd <= best.gsd + TIE and m.direction_misses == best.direction_misses
        )

    def _count(self, stated: StatedAnswer, node: int) -> SubgraphReply:
        """*How many*: the number of entities that the node takes among the best matches."""
        if not self.ties:
            return SubgraphReply(refused(stated, "the subgraphs that are read are too few to be counted"))
        tied = find_tied(self.graph, self.pattern, self.distances, self.result.matches[0], node)
        number = str(len({m.nodes[node] for m in tied.matches}))
        triples = tuple(dict.fromkeys(triple for m in tied.matches for triple in m.triples))
        return SubgraphReply(GroundedReply(number, {}, number, triples), node, tied.complete)

    def relations(self, stated: StatedAnswer, question: str) -> dict[int, tuple[int, ...]]:
        """The relations that a reply names, where the pattern asks for one, with the triples of a match."""
        if asked_of(question) not in ("a thing", ""):
            return {}
        graph, norms = self.graph, {normalise(item) for item in stated.items}
        triples_by_relation: dict[int, tuple[int, ...]] = {}
        for match in self.result.matches:
            for edge, triple in zip(self.pattern.edges, match.triples, strict=True):
                relation = graph.triple(triple)[1]
                names = {graph.relations[relation], graph.relation_labels[relation]}
                if edge.relation is None and norms & {normalise(n) for n in names}:
                    triples_by_relation.setdefault(relation, match.triples)
        return triples_by_relation


@dataclass(frozen=True, slots=True)
class SubgraphReply:
    """A grounded reply, the node of the pattern that it answers, and whether no answer is left out."""

    reply: GroundedReply
    node: int | None = None
    complete: bool = True
