"""`simgrag`: SimGRAG (Cai et al., 2025), a question in two calls of a chat model.

| section | step | where |
|---|---|---|
| 4.1, Tables 16, 17 | query to pattern | `write_pattern.py` |
| 4.2, 4.3, 5 | pattern to subgraphs, by GSD | `find_subgraphs.py`, `graph/match/matcher.py` |
| beyond | operations | `write_pattern.py`, `plan_query.py` |
| 4.4, Tables 18, 19 | verbalised subgraphs, read, grounded | here |

Defaults: k = 3 and 12 shots (C.1). Deviations, each with its reason:

- Candidates are not cut at k(n), k(r), k(t): the matcher gives what unlimited candidates would.
  `candidates=16` is the paper's letter (C.1, MetaQA: k(n) = k(r) = 16; FactKG: `candidates=16384`,
  `candidate_relations=512`, `candidate_types=16`): the nearest by embedding distance only, nothing of what
  follows but the grounding.
- Two nodes of a pattern may take one entity, as long as no two edges take one triple (Definition 1 has a
  bijection): the writer of a film may be its director.
- Of matches with equal GSD those that run in the direction of the pattern come first.
- Distances are the embedder's or smaller: where what a relation means, a misspelt name or a value agrees
  with the graph (`find_subgraphs.py`). A pattern is written without having seen the graph.
- Where the best match has a GSD per edge above a bound, or a name has nothing like it in the graph, the
  pattern is asked for once more with the first one and what was wrong with it; then the method abstains. The
  paper reads whatever is nearest.
- The first prompt shows what the graph records, in typed lines, and the reply may carry operations (compare,
  count, rank, leave out, or, yes and no). They are a query graph, which is executed over the whole graph
  without a second call (`plan_query.py`). The paper's patterns are written in ignorance of the graph.
- Answers are grounded in the subgraphs. Where the model takes every shown match that ties with the best,
  all others that tie are answers too: k = 3 cannot show the 246 answers that a question of MetaQA has.
- Subgraphs are written in JSON between marks, since names of a graph are data.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Literal

from clew.claims.verify import Stated, judge_claim, judge_stated
from clew.graph.graph import Graph, triple_text
from clew.graph.match.distances import Distances
from clew.graph.match.patterns import TIE
from clew.grounding import cite
from clew.index.vectors.entities import IndexDistances
from clew.llm.managed import Talk, query_text, run_sync, short
from clew.llm.reply import (
    LONGEST_SHOWN,
    StatedAnswer,
    build,
    clean,
    complete_parsed,
    declines,
    read_value,
    stated_answer,
)
from clew.llm.types import BudgetReached, ReplyInvalid, Request, ask
from clew.methods.base import ModelMethod, Run, ungrounded
from clew.methods.evidence import Fact, Proofs, ReadEvidence
from clew.methods.ground import ASKED_YES_NO, GroundedReply, ground_reply, refused
from clew.methods.names_view import NamesView
from clew.methods.question import asked_of, counts_things, misfit_of_value, shared_names
from clew.methods.schema_view import SchemaView
from clew.methods.settings import SimgragSettings
from clew.methods.simgrag.find_subgraphs import (
    FewCandidates,
    PatternDistances,
    find_about_claim,
    find_by_letter,
    find_subgraphs,
    find_tied,
    gsd_terms,
    triple_names,
    unfit,
)
from clew.methods.simgrag.plan_query import PlanQuery
from clew.methods.simgrag.write_pattern import (
    FINDS_NOTHING,
    GRAPH,
    ExampleKind,
    Found,
    Misfit,
    PatternPlan,
    Shot,
    ShownTriples,
    answer_nodes,
    as_name,
    default_shots,
    read_prompt,
    template,
    write_pattern,
)
from clew.reading.answer import DraftAnswer, drawn, text_of
from clew.reading.left_open import near_names
from clew.text.normalise import normalise
from clew.types import (
    Abstention,
    Answer,
    AnswerEntity,
    ClaimPart,
    Match,
    MatchResult,
    Pattern,
    Reason,
    Verdict,
    Verification,
)

# The `read` step: the model reads the subgraphs and states answers, or judges a claim. Answers are read from
# the form that states them alone (`llm/reply.py`); of prose, as the paper has it (*According to graphs [1],
# the writer is …*), none are. They are grounded in the subgraphs and in what ties with these.

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


_VERDICT_OF: dict[str, Verdict] = {"True": "supported", "False": "refuted", "Unknown": "not_enough_info"}


@dataclass(frozen=True)
class VerdictReply:
    """The reply to a claim that the model is asked for."""

    verdict: str | bool
    reason: str = ""


def read_verdict(
    talk: Talk,
    claim: str,
    graphs: Sequence[ShownTriples],
    shots: Sequence[Shot],
    *,
    closed_world: bool = False,
) -> tuple[ModelVerdict, str, tuple[int, ...], str]:
    """Ask a model whether the evidence supports a claim; a reply without a verdict is repaired once.

    Returns the verdict, its reason, the positions of the subgraphs that this names, and the version of the
    prompt. Raises LlmError.
    """
    prompt = read_prompt("claim", claim, graphs, shots, closed_world=closed_world)
    request = ask(prompt.user, temperature=0.0)
    typed = run_sync(complete_parsed(talk, request, lambda text: _verdict(text, request)))
    verdict, reason = typed.value
    named = dict.fromkeys(int(n) - 1 for n in re.findall(r"\[(\d{1,3})\]", reason) if int(n))
    return verdict, reason, tuple(named), prompt.version


def _read_statement(text: str, request: Request) -> StatedAnswer:
    """The answers that a reply states, in JSON or by its last line. Raises ReplyInvalid."""
    stated = stated_answer(clean(text, request.stop))
    if stated.form == "" or (stated.form == "bare" and not _YES_NO.fullmatch(stated.text)):
        raise ReplyInvalid('it is no JSON object with "answers"', text)
    return stated


def _verdict(text: str, request: Request) -> tuple[ModelVerdict, str]:
    """Verdict and reason of a reply. Raises ReplyInvalid."""
    cleaned = clean(text, request.stop)
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
    """The matches of a pattern that a model read; with `ties`, others that tie with the best count too."""

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


def no_usable_reply(
    run: Run,
    error: ReplyInvalid,
    reason: Reason = "empty_result",
    problem: str = "the model gave no usable reply",
) -> Abstention:
    """The abstention of a run that ends at a reply of no use, which its steps have."""
    text = run.talk.replies[-1].text if run.talk.replies else ""
    run.note("reply", {"text": short(text), "problem": error.reason})
    return Abstention(reason, f"{problem}: {error.reason}")


class PatternSearch(ModelMethod[SimgragSettings]):
    """The part of SimGRAG that questions and claims share: query to pattern to subgraphs."""

    name, settings_class = "simgrag", SimgragSettings
    settings: SimgragSettings

    def prepare(self) -> None:
        """Open the distances of names and relations; of the nearest few alone by the paper's letter."""
        self.shots = self.settings.examples or default_shots()
        self._schema, self._names = SchemaView(self.reader), NamesView(self.reader)
        self._open_distances = PatternDistances(self.index, self.embedder)
        self.distances: Distances = self._open_distances
        nodes = self.settings.candidates
        self.by_letter = nodes is not None
        if nodes is not None:
            relations, types = self.settings.candidate_relations or nodes, self.settings.candidate_types
            measured = IndexDistances(self.index, self.embedder)
            self.distances = FewCandidates(measured, nodes, relations, types or 16)

    def find(self, run: Run, task: ExampleKind, query: str) -> Found:
        """Write a pattern and match it; if not by the paper's letter, again with hints. Raises LlmError."""
        hints = "" if self.by_letter else self._hints(task, query)
        first = self._write_and_match(run, task, query, hints)
        misfit = first.misfit
        if misfit is None or misfit.reason == "budget" or self.by_letter or misfit == FINDS_NOTHING:
            return first
        second = self._write_and_match(run, task, query, self._retry(task, query, first, misfit))
        return second if second.misfit is None or second.pattern is not None else first

    def _write_and_match(self, run: Run, task: ExampleKind, query: str, hints: str) -> Found:
        shots = self.shots.of(task, self.settings.shots)
        with run.stage("pattern"):
            written = write_pattern(run.talk, task, query, shots, hints, operations=not self.by_letter)
        detail = {
            "prompt": written.version,
            "segments": list(written.segments),
            "pattern": [] if written.pattern is None else written.pattern.as_json()["triples"],
            "operations": [asdict(op) for op in (written.plan.operations if written.plan else ())],
            "schema": bool(hints),
            "problem": written.problem,
        }
        run.note("pattern", detail)
        if written.pattern is None:
            return written
        if written.plan is not None:
            return self._execute(run, task, written, written.plan)
        with run.stage("match"):
            result, misfit = self._find(written.pattern)
        rows = [
            {
                "gsd": round(m.gsd, 3),
                "triples": [list(triple) for triple in triple_names(self.graph, m.triples)],
                "terms": [list(term) for term in gsd_terms(self.graph, written.pattern, m, self.distances)],
            }
            for m in result.matches
        ]
        problem = misfit.detail if misfit else ""
        run.note("match", {"matches": rows, "complete": result.complete, "problem": problem})
        return replace(written, result=result, misfit=misfit)

    def _execute(self, run: Run, task: ExampleKind, written: Found, plan: PatternPlan) -> Found:
        """Answer by the query graph of a plan; of a claim only what it says."""
        planned = PlanQuery(self.reader.vocabulary, self._open_distances)
        if task == "claim":
            said = planned.stated(plan)
            misfit, stated = (said, ()) if isinstance(said, Misfit) else (None, said)
            return replace(written, misfit=misfit, stated=stated)
        with run.stage("execute"):
            result = planned.answer(plan)
        executed, misfit = (None, result) if isinstance(result, Misfit) else (result, None)
        detail = {
            "operations": [op.op for op in plan.operations],
            "answers": [answer.entity for answer in executed.answers] if executed else [],
            "complete": executed is None or executed.complete,
            "problem": misfit.detail if misfit else "",
        }
        run.note("execute", detail)
        return replace(written, misfit=misfit, executed=executed)

    def _find(self, pattern: Pattern) -> tuple[MatchResult, Misfit | None]:
        """The best matches, and why they do not fit; the paper's letter reads whatever is nearest."""
        graph, distances, k = self.graph, self.distances, self.settings.k
        if self.by_letter:
            result = find_by_letter(graph, pattern, distances, k)
            return result, None if result.matches else unfit(graph, pattern, result, distances)
        if not answer_nodes(pattern):
            return find_about_claim(graph, pattern, distances, k)
        result = find_subgraphs(graph, pattern, distances, k)
        return result, unfit(graph, pattern, result, distances)

    def _hints(self, task: ExampleKind, query: str, words: str = "") -> str:
        """What this graph records, and other names of what a text names."""
        reading = self._schema.reader.read(query)
        names = self._names.block(reading, "plain")
        schema = self._schema.text(reading, words)
        how = template("operations" if task == "question" else "operations_claim")
        how += template("on_edges") if "[@" in schema else ""
        return how + GRAPH.format(schema) + names

    def _retry(self, task: ExampleKind, query: str, first: Found, misfit: Misfit) -> str:
        """The first reply with the blame, and the names and relations that may have been meant."""
        words = " ".join(edge.relation or "" for edge in first.pattern.edges) if first.pattern else ""
        hints = self._hints(task, query, words)
        near = "; ".join(map(as_name, self.near_names(misfit)))
        tried = query_text(short(first.reply, LONGEST_SHOWN))
        first_try = f"A first try was {tried}\nIt did not work: {as_name(misfit.detail)}."
        return f"{hints}\n{first_try}{f' Names that are like it: {near}.' if near else ''}\n"

    def near_names(self, misfit: Misfit) -> tuple[str, ...]:
        """Names of the graph that may have been meant by those that it lacks."""
        return near_names(self.graph, self.index.names, misfit.names)


class SimGRAG(PatternSearch):
    """Answers questions over one open index with a chat model."""

    def answer(self, question: str, *, id: str | None = None, entities: Sequence[str] = ()) -> Answer:
        """Answer one question, or abstain with a reason; `entities` are what it is about. Raises LlmError."""
        run = Run(self.name, id, self.model)
        query = f"{question} (about: {', '.join(entities)})" if entities else question
        return run.answer(question, lambda: replace(self._work(run, query, entities), question=question))

    def _work(self, run: Run, question: str, entities: Sequence[str]) -> Answer:
        """Link, find the best matches of the pattern that the model writes, and have them read."""
        called, missing = self.linked(question, entities, run)
        if missing is not None:
            return Answer(question, abstained=missing)
        try:
            with run.stage("retrieve"):
                found = self.find(run, "question", question)
        except ReplyInvalid as error:
            return Answer(question, abstained=no_usable_reply(run, error))
        pattern, misfit, notes = found.pattern, found.misfit, shared_names(called)
        if misfit is not None or pattern is None:
            misfit = misfit or Misfit("empty_result", "the model wrote no pattern")
            abstained = Abstention(misfit.reason, misfit.detail, self.near_names(misfit))
            return Answer(question, pattern=pattern, abstained=abstained, notes=notes)
        if found.executed is not None:
            answer = self._executed_answer(question, pattern, found.executed)
            return replace(answer, notes=(*answer.notes, *notes))
        return self._read_answer(run, question, pattern, found.result, notes)

    def _executed_answer(self, question: str, pattern: Pattern, executed: DraftAnswer) -> Answer:
        """The answer of a query graph, if it is what is asked for."""
        values = [a.entity for a in executed.answers if a.entity.isdigit() or a.entity in ASKED_YES_NO]
        misfits = {misfit_of_value(question, value) for value in values}
        if not values or "" in misfits or len(values) < len(executed.answers):
            return drawn(Answer(question), replace(executed, pattern=pattern), None)
        detail = f'the model wrote a query for "{executed.text}": {misfits.pop()}'
        if self.settings.allow_ungrounded:
            return ungrounded(question, executed.text, (detail,))
        return Answer(question, pattern=pattern, abstained=Abstention("ungrounded", detail))

    def _read_answer(
        self, run: Run, question: str, pattern: Pattern, result: MatchResult, notes: tuple[str, ...]
    ) -> Answer:
        """Have the model read the subgraphs (section 4.4), and ground its reply in them and in their ties."""
        shots = self.shots.of("question", self.settings.shots)
        graphs = list(dict.fromkeys(triple_names(self.graph, m.triples) for m in result.matches))
        prompt = read_prompt("question", question, graphs, shots)
        try:
            with run.stage("read"):
                request = ask(prompt.user, temperature=0.0)
                stated = run_sync(
                    complete_parsed(run.talk, request, lambda text: _read_statement(text, request))
                ).value
        except ReplyInvalid as error:
            problem = "the model was asked, and states no answer"
            abstained = no_usable_reply(run, error, "not_in_evidence", problem)
            return Answer(question, pattern=pattern, abstained=abstained)
        detail = {"prompt": prompt.version, "reason": stated.text, "answers": list(stated.items)}
        run.note("read", detail)
        with run.stage("ground"):
            stated = replace(stated, text="")
            subgraphs = Subgraphs(self.graph, self.distances, pattern, result, not self.by_letter)
            known = dict.fromkeys(subgraphs.named, ())
            evidence = ReadEvidence(self.graph, self.judge, question, subgraphs.facts, known, subgraphs.named)
            found = subgraphs.ground(stated, evidence)
        if found.node is None and (relations := subgraphs.relations(stated, question)):
            return replace(self._relation_answer(question, pattern, relations), notes=notes)
        answer = self.answer_of(question, found.reply, complete=found.complete, notes=notes)
        return replace(answer, pattern=replace(pattern, answer=found.node) if answer.answers else pattern)

    def _relation_answer(self, question: str, pattern: Pattern, relations: Proofs) -> Answer:
        graph = self.graph
        answers = tuple(AnswerEntity(graph.relations[r], graph.relation_labels[r], 1.0) for r in relations)
        citations = tuple(cite(graph, graph.relations[r], triples) for r, triples in relations.items())
        return Answer(question, answers, text_of(answers), citations=citations, pattern=pattern)


class VerifyWithModel(PatternSearch):
    """Verifies claims against one open index with a chat model (Tables 17 and 19).

    The claim becomes a query graph, which code executes; by the paper's letter the best subgraphs of a
    pattern are read, and the model's *True*, *False* or *Unknown* stands only on evidence. FactKG's verdicts
    are two; a third is needed where a graph is not all that is known. In a closed world the model is told
    that silence means *not so*, also where there is nothing to show: it knows whether the claim denies.
    """

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
        verdict = "refuted" if closed and said == "Unknown" else _VERDICT_OF[said]
        return ClaimPart(claim, verdict, tuple(triple_text(self.graph, triple) for triple in ids), ids)
