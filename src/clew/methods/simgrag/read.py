"""The `read` step with a model: verbalised subgraph-augmented generation (SimGRAG, Tables 18, 19), grounded.

The model reads the subgraphs and states answers, or judges a claim. Answers are read from the form that
states them alone (`llm/reply.py`); of prose, as the paper has it (*According to graphs [1][2], the writer is
…*), none are. They are grounded in the subgraphs and in what ties with these.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clew.graph.graph import Graph
from clew.graph.match.conditions import TIE
from clew.graph.match.distances import Distances
from clew.grounding import cite, ground
from clew.llm.errors import ReplyInvalid
from clew.llm.extract import clean, read_value
from clew.llm.prompting import Prompt, short
from clew.llm.refusals import declines
from clew.llm.reply import StatedAnswer, is_none, stated_answer
from clew.llm.shapes import build
from clew.llm.typed import complete_parsed
from clew.llm.types import ChatModel, Request, ask
from clew.methods.asked import Judge, asked_of, misfit_of_value, says
from clew.methods.evidence_names import EvidenceNames
from clew.methods.simgrag.examples import Shot, ShownTriples, read_prompt
from clew.methods.simgrag.find_subgraphs import find_tied
from clew.methods.simgrag.write_pattern import answer_nodes
from clew.reading.answer import DraftAnswer, text_of
from clew.reading.english import HOW_MANY
from clew.text.normalise import normalise
from clew.types import Abstention, AnswerEntity, Citation, Match, MatchResult, Pattern

ModelVerdict = Literal["True", "False", "Unknown"]
LONGEST_PROSE = 20_000
"""Characters of a reply in prose that are looked through."""
_GRAPH = re.compile(r"\[(\d{1,3})\]")
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


@dataclass(frozen=True, slots=True)
class ReadAnswers:
    """Names that the model gives as answers, as it writes them, and its reason."""

    answers: tuple[str, ...]
    reason: str
    prompt: Prompt


@dataclass(frozen=True, slots=True)
class ReadVerdict:
    """The model's verdict on a claim, and its reason."""

    verdict: ModelVerdict
    reason: str
    prompt: Prompt

    @property
    def graphs(self) -> tuple[int, ...]:
        """Positions of the subgraphs that the reason names, as in *graph [1] says so*."""
        return tuple(dict.fromkeys(int(n) - 1 for n in _GRAPH.findall(self.reason) if int(n)))


async def read_answers(
    model: ChatModel, question: str, graphs: Sequence[ShownTriples], shots: Sequence[Shot]
) -> ReadAnswers:
    """Ask a model what the evidence answers; a reply that states nothing is repaired once, else LlmError."""
    prompt = read_prompt("question", question, graphs, shots)
    request = ask(prompt.user, temperature=0.0)
    typed = await complete_parsed(model, request, lambda text: _read_statement(text, request))
    stated = typed.value
    items = () if len(stated.items) == 1 and is_none(stated.items[0]) else stated.items
    return ReadAnswers(items, stated.text, prompt)


async def read_verdict(
    model: ChatModel,
    claim: str,
    graphs: Sequence[ShownTriples],
    shots: Sequence[Shot],
    *,
    closed_world: bool = False,
    names: str = "",
) -> ReadVerdict:
    """Ask a model whether the evidence supports a claim; a reply without a verdict is repaired once.

    `closed_world` and `names` are as in `read_prompt`. Raises LlmError.
    """
    prompt = read_prompt("claim", claim, graphs, shots, closed_world=closed_world, names=names)
    request = ask(prompt.user, temperature=0.0)
    typed = await complete_parsed(model, request, lambda text: _verdict(text, request))
    verdict, reason = typed.value
    return ReadVerdict(verdict, reason, prompt)


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
        verdict_text = cleaned[:LONGEST_PROSE]
    verdict = _last_verdict(verdict_text)
    if verdict is None:
        raise ReplyInvalid('the verdict is not "True", "False" or "Unknown"', text)
    return verdict, reply.reason


def _last_verdict(text: str) -> ModelVerdict | None:
    """The last verdict that a text gives; None where it gives none."""
    hits = list(_VERDICT.finditer(text))
    if not hits:
        return None
    negated, word = bool(hits[-1][1]), hits[-1][2].lower()
    if declines(text):
        return "Unknown"
    if negated:  # *not supported* and *not refuted* say nothing
        return "False" if word == "true" else "Unknown"
    return _VERDICTS.get(word, "Unknown")


@dataclass(frozen=True)
class Draft:
    """What a model read in the matches of a pattern that it saw.

    With `ties`, matches that it did not see are looked at too, where they tie with the best that it saw;
    without, nothing is counted.
    """

    graph: Graph
    distances: Distances
    question: str
    pattern: Pattern
    result: MatchResult
    reply: ReadAnswers
    judge: Judge
    ties: bool = True

    def grounded(self) -> DraftAnswer:
        """The answers that the evidence proves."""
        if not self.reply.answers:
            return self._abstain("the model finds no answer in the evidence")
        norms = [normalise(a) for a in self.reply.answers]
        node = self._answer_node()
        # A number that stands in the evidence is an answer itself (*how much*); names are counted.
        numbers = all(answer.strip().isdigit() for answer in self.reply.answers)
        unknown = answer_nodes(self.pattern)
        if HOW_MANY.search(self.question) and unknown and (node is None) == numbers:
            return self._count_answer(unknown[-1] if node is None else node)
        if node is not None:
            return self._entity_answer(node)
        if len(norms) == 1 and norms[0] in ("yes", "no"):
            return self._truth_answer(norms[0])
        if len(norms) == 1 and numbers:
            return self._ungrounded("the subgraphs do not come to it")
        return self._relation_answer()

    def _truth_answer(self, value: str) -> DraftAnswer:
        """Yes or no, where it is asked for and a query graph of the question comes to it."""
        if misfit := misfit_of_value(self.question, value):
            return self._ungrounded(misfit)
        triples = frozenset(triple for match in self.result.matches for triple in match.triples)
        decided = self.judge.decides(self.question, value, triples)
        if isinstance(decided, str):
            return self._ungrounded(says(decided))
        best = self.result.matches[0].triples
        citation = cite(self.graph, value, best if value == "no" else decided or best)
        return self._draft_answer((AnswerEntity(value, value, 1.0),), (citation,))

    def _answer_node(self) -> int | None:
        """The node of the pattern that the model's answers are; None if they are none."""
        hits = ((len(self._named_entities(node)), node) for node in answer_nodes(self.pattern))
        count, node = max(hits, default=(0, 0))
        return node if count else None

    def _named_entities(self, node: int) -> list[int]:
        """Entities at a node that the model names, in its order."""
        entities = tuple(dict.fromkeys(m.nodes[node] for m in self.result.matches))
        names = EvidenceNames(self.graph, entities)
        linked = (link for answer_text in self.reply.answers for link in names.list_of(answer_text))
        return list(dict.fromkeys(entity for link in linked for entity in link.entities))

    def _entity_answer(self, node: int) -> DraftAnswer:
        entities = self._named_entities(node)
        matches: Sequence[Match] = self.result.matches
        asked = asked_of(self.question)
        complete = self.result.complete
        if self._takes_all_best(node, entities):
            tied = find_tied(self.graph, self.pattern, self.distances, self.result.matches[0], node)
            matches, complete = (*matches, *tied.matches), tied.complete
            entities = list(dict.fromkeys([*entities, *(m.nodes[node] for m in tied.matches)]))
        misfits = {e: why for e in entities if (why := self.judge.misfit(asked, e))}
        if entities and len(misfits) == len(entities):
            return self._ungrounded(next(iter(misfits.values())))
        entities = [entity for entity in entities if entity not in misfits]
        answers, citations, abstention = ground(self.graph, entities, matches, node)
        if abstention is not None:
            return self._abstain(abstention.detail)
        return self._draft_answer(answers, citations, node=node, complete=complete)

    def _takes_all_best(self, node: int, entities: Sequence[int]) -> bool:
        """Whether the model takes every match that it saw tie with the best."""
        if not self.ties:
            return False
        best = self.result.matches[0]
        best_entities = {
            m.nodes[node]
            for m in self.result.matches
            if m.gsd <= best.gsd + TIE and m.direction_misses == best.direction_misses
        }
        return best_entities <= set(entities)

    def _count_answer(self, node: int) -> DraftAnswer:
        """*How many*: the number of entities that the node takes among the best matches."""
        if not self.ties:
            return self._abstain("the subgraphs that are read are too few to be counted")
        tied = find_tied(self.graph, self.pattern, self.distances, self.result.matches[0], node)
        number = str(len({m.nodes[node] for m in tied.matches}))
        citations = tuple(cite(self.graph, number, m.triples) for m in tied.matches)
        entity = (AnswerEntity(number, number, 1.0),)
        return self._draft_answer(entity, citations, node=node, complete=tied.complete)

    def _relation_answer(self) -> DraftAnswer:
        """Answers that are relations, where the pattern asks for one."""
        graph, asked = self.graph, asked_of(self.question)
        if asked not in ("a thing", ""):
            return self._abstain("none of the model's answers is in the evidence")
        norms = {normalise(a) for a in self.reply.answers}
        triples_by_relation: dict[int, tuple[int, ...]] = {}
        for match in self.result.matches:
            for edge, triple in zip(self.pattern.edges, match.triples, strict=True):
                relation = graph.triple(triple)[1]
                names = {graph.relations[relation], graph.relation_labels[relation]}
                if edge.relation is None and norms & {normalise(n) for n in names}:
                    triples_by_relation.setdefault(relation, match.triples)
        if not triples_by_relation:
            return self._abstain("none of the model's answers is in the evidence")
        answers = tuple(
            AnswerEntity(graph.relations[r], graph.relation_labels[r], 1.0) for r in triples_by_relation
        )
        citations = tuple(
            cite(graph, graph.relations[r], triples) for r, triples in triples_by_relation.items()
        )
        return self._draft_answer(answers, citations)

    def _draft_answer(
        self,
        answers: tuple[AnswerEntity, ...],
        citations: tuple[Citation, ...],
        *,
        node: int | None = None,
        complete: bool = True,
    ) -> DraftAnswer:
        pattern = replace(self.pattern, answer=node)
        return DraftAnswer(answers, citations, text_of(answers), pattern, None, complete)

    def _ungrounded(self, why: str) -> DraftAnswer:
        text = "; ".join(self.reply.answers)
        detail = f'the model was asked, and it answers "{short(text)}", which nothing proves: {why}'
        return DraftAnswer(text=text, pattern=self.pattern, abstained=Abstention("ungrounded", detail))

    def _abstain(self, detail: str) -> DraftAnswer:
        return DraftAnswer(pattern=self.pattern, abstained=Abstention("not_in_evidence", detail))
