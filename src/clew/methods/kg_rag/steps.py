"""The steps of KG-RAG that answer (sections 3.4.3, 3.4.4), each with a model and without, and all together.

`reformulate`: the answers so far go into the next sub-question. `answer`: its top-K triples become a grounded
answer. `synthesise`: sub-questions and their answers become the final answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from clew.graph.graph import Graph
from clew.llm.evidence_names import IsName
from clew.llm.grounded_reply import GroundedReply, ask_and_ground
from clew.llm.prompting import Sampling, Talk, as_data, data_line, data_lines, prompt_named
from clew.llm.read_evidence import Fact, Proofs, ReadEvidence
from clew.llm.refusals import declines
from clew.methods.built_in import BuiltInReader
from clew.methods.fact_lines import fact_lines, other_names
from clew.methods.kg_rag.chain import (
    Link,
    Plan,
    SubQuestion,
    edges_of,
    follow,
    given_proofs,
    owned_values,
    used_of,
)
from clew.methods.kg_rag.decompose import (
    LONGEST_QUESTION,
    About,
    Decompose,
    ModelDecompose,
    PatternDecompose,
    default_demonstrations,
    hop_text,
)
from clew.methods.kg_rag.retrieve import lists_are_whole
from clew.methods.kg_rag.settings import Frontier, Handed, KgRagSettings
from clew.methods.topic_entities import Called, FindTopicEntities, entities_named_in, entities_of
from clew.text.labels import readable

TABLE_3 = Sampling(temperature=0.3, top_k=40, min_p=0.05, max_tokens=256)
ANSWER_TOKENS = 2_048
"""Tokens of a reply that states answers."""
MOST_REPEATED_NAMES = 30
"""Names of one sub-answer that a prompt repeats."""
MOST_SUB_ANSWER_TRIPLES = 80
"""Triples of one sub-answer that the prompt shows."""
Reformulate = Callable[[Plan, SubQuestion, Sequence[Link], Talk | None], tuple[str, tuple[str, ...]]]
"""Puts earlier answers into a sub-question: (plan, sub-question, links before it, talk) → the question to
ask, and notes. Raises LlmError."""
Synthesise = Callable[[str, Called, Sequence[Link], Talk | None], GroundedReply]
"""Answers the main question, with what it calls its entities, from the chain: without proofs and value if
nothing that was said is in it. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class ModelReformulate:
    """By a chat model, which stops at the question mark."""

    graph: Graph
    sampling: Sampling
    handed: Handed = "facts"

    def __call__(
        self, plan: Plan, question: SubQuestion, earlier: Sequence[Link], talk: Talk | None
    ) -> tuple[str, tuple[str, ...]]:
        """Ask the model; a reply that is no question leaves the sub-question as it was."""
        if talk is None:
            raise ValueError("this form needs a model")
        answers_text = earlier_answers(self.graph, earlier, self.handed)
        stop = stop_of_question(question.text, answers_text)
        prompt = prompt_named("clew.methods.kg_rag", "reformulate")
        reply = talk.ask(
            prompt, self.sampling, stop=stop, QUESTION=as_data(question.text), EARLIER=answers_text
        )
        names = [self.graph.labels[entity] for link in earlier for entity in link.proofs]
        text = reformulated(reply, question.text, names)
        if not text:
            return question.text, ("the reformulation is no question: the sub-question is asked as it was",)
        return text, ()


def stop_of_question(question: str, earlier: str) -> tuple[str, ...]:
    """Where a reformulation stops: at its question mark (3.4.3), unless a name in it may hold one."""
    lines = [question, *earlier.splitlines()]
    answers = (line.removeprefix("Answer: ") for line in lines if line.startswith("Answer: "))
    questions = (line.rstrip("? ") for line in lines if not line.startswith("Answer: "))
    return () if any("?" in text for text in (*questions, *answers)) else ("?",)


def reformulated(reply: str, question: str, names: Sequence[str] = ()) -> str:
    """The question of a reply that puts `names` into another; empty where it has none, or refuses."""
    text = as_question(reply)
    return "" if declines(text, names) and not declines(question) else text


def as_question(reply: str) -> str:
    """The question in a reply that was stopped at its mark: its last line, empty where that is too long."""
    lines = [line.strip(' "*') for line in reply.splitlines()]
    text = next((line for line in reversed(lines) if any(c.isalnum() for c in line)), "")
    if not text or len(text) > LONGEST_QUESTION:
        return ""
    return text.rstrip("?. ") + "?"


def earlier_answers(graph: Graph, links: Sequence[Link], handed: Handed = "facts") -> str:
    """Sub-questions and their answers, for a prompt: the names that are proved, or the model's sentences."""
    lines: list[str] = []
    for number, link in enumerate(links, 1):
        answer = data_line(link.text) if handed == "sentences" else answer_line(graph, link)
        lines += [data_line(f"{number}. {link.reformulated}"), f"Answer: {answer}"]
    return "\n".join(lines)


def answer_line(graph: Graph, link: Link) -> str:
    """The answer to a sub-question, each name cut by itself, values with their owners (*party 6: 4*)."""
    if not link.proofs:
        return data_line(link.value) or "not found"
    names = [data_line(readable(graph.labels[e])) for e in link.proofs]
    if owned := owned_values(graph, link):
        labels = {item.value: readable(graph.labels[item.value]) for item in owned}
        names = [data_line(f"{readable(graph.labels[item.head])}: {labels[item.value]}") for item in owned]
    remainder = f" and {len(names) - MOST_REPEATED_NAMES} more" if len(names) > MOST_REPEATED_NAMES else ""
    return f"{'; '.join(names[:MOST_REPEATED_NAMES])}{remainder}"


@dataclass(frozen=True, slots=True)
class SubstituteAnswers:
    """Without a model: the names that were found, in their place.

    More than `most` names would blur what a sub-question asks for. They are left out then, if the triples to
    choose from are around them anyway, else (`keep_first`) the first are named.
    """

    graph: Graph
    most: int = 3
    keep_first: bool = False

    def __call__(
        self, plan: Plan, question: SubQuestion, earlier: Sequence[Link], talk: Talk | None
    ) -> tuple[str, tuple[str, ...]]:
        """Write the sub-question of the hop again, with names."""
        hop = question.hop
        if hop is None or plan.pattern is None:
            return question.text, ()
        ends = {link.question.hop.end: link for link in earlier if link.question.hop is not None}
        proofs = ends[hop.start].proofs if hop.start in ends else {}
        names = [readable(self.graph.labels[e]) for e in proofs]
        if len(names) > self.most:
            names = names[: self.most] if self.keep_first else []
        return hop_text(self.graph, plan.pattern, hop, names, joins=hop.end in ends), ()


@dataclass(frozen=True, slots=True)
class AskedSubQuestion:
    """A sub-question to be answered: as it is asked, from which triples (best first), after which links.

    `topic_entities` are the entities of the main question, `called` what it calls them.
    """

    plan: Plan
    question: SubQuestion
    text: str
    triples: tuple[int, ...]
    earlier: Sequence[Link]
    topic_entities: tuple[int, ...]
    notes: tuple[str, ...] = ()
    called: Called = field(default_factory=dict[str, tuple[int, ...]])


AnswerSubQuestion = Callable[[AskedSubQuestion, Talk | None], Link]
"""Answers a sub-question from triples: a link without proofs if they do not hold it. Raises LlmError."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """By a chat model, zero-shot; of what it states as its answer, what the evidence proves counts."""

    graph: Graph
    sampling: Sampling
    is_name: IsName | None = None

    def __call__(self, sub_question: AskedSubQuestion, talk: Talk | None) -> Link:
        """Ask the model, and ground its reply."""
        if talk is None:
            raise ValueError("this form needs a model")
        start_proofs = known_proofs(self.graph, sub_question.earlier, sub_question.topic_entities)
        lines = fact_lines(self.graph, sub_question.triples, start_proofs)
        # In a chain, what the main question names may well answer a sub-question that does not.
        topics = frozenset(() if sub_question.earlier else sub_question.topic_entities)
        named_entities = topics | set(entities_named_in(self.graph, sub_question.text, start_proofs))
        evidence = ReadEvidence(self.graph, lines.facts, start_proofs, named_entities, self.is_name)
        values = {
            "TRIPLES": str(lines),
            "NAMES": other_names(self.graph, sub_question.called),
            "QUESTION": data_lines([sub_question.text]),
        }
        prompt = prompt_named("clew.methods.kg_rag", "sub_answer")
        reply = ask_and_ground(talk, prompt, self.sampling, evidence, values)
        notes = (*sub_question.notes, *reply.notes)
        earlier_proofs, proofs = {*start_proofs.values(), ()}, reply.proofs.values()
        if proofs and all(proof[:-1] not in earlier_proofs and len(proof) > 1 for proof in proofs):
            notes = (*notes, "under-decomposed: this sub-question spans several triples")
        complete = lists_are_whole(self.graph, reply.proofs, set(sub_question.triples))
        return Link(
            sub_question.question, sub_question.text, reply.text, reply.proofs, sub_question.triples, notes,
            complete=complete and not reply.cut, value=reply.value, rests_on=reply.rests_on,
        )  # fmt: skip


def known_proofs(graph: Graph, earlier: Sequence[Link], topic_entities: Sequence[int]) -> Proofs:
    """Where proofs begin: the earlier answers, the last ones first, and the question's entities."""
    proofs: dict[int, tuple[int, ...]] = {}
    for link in reversed(earlier):
        proofs |= {e: p for e, p in link.proofs.items() if e not in proofs}
        # The owner of a value that is proved is proved too.
        proofs |= {h.head: (h.triple,) for h in owned_values(graph, link) if h.head not in proofs}
    return proofs | {seed: () for seed in topic_entities if seed not in proofs}


@dataclass(frozen=True, slots=True)
class FollowHop:
    """Without a model: the triples of the sub-question's edge at what is known."""

    graph: Graph

    def __call__(self, sub_question: AskedSubQuestion, talk: Talk | None) -> Link:
        """Walk the edge through the given triples; notes how many the whole graph has."""
        hop, pattern = sub_question.question.hop, sub_question.plan.pattern
        if hop is None or pattern is None:
            raise ValueError("this form needs a pattern")
        proofs_by_node = given_proofs(pattern)
        for link in sub_question.earlier:
            if link.question.hop is not None:
                proofs_by_node[link.question.hop.end] = link.proofs
        proofs = follow(self.graph, hop, proofs_by_node, sub_question.triples)
        total = edges_of(self.graph, hop, proofs_by_node[hop.start])
        used = used_of(self.graph, hop, proofs_by_node[hop.start], sub_question.triples)
        notes = list(sub_question.notes)
        if used < total:
            notes.append(
                f"{used} of the {total} triples of this step are among the {len(sub_question.triples)} given"
            )
        text = ", ".join(self.graph.labels[e] for e in proofs) or "not in these triples"
        return Link(
            sub_question.question,
            sub_question.text,
            text,
            proofs,
            sub_question.triples,
            tuple(notes),
            used == total,
        )


@dataclass(frozen=True, slots=True)
class ModelSynthesis:
    """By a chat model, zero-shot, from the sub-answers with the triples that prove them ("facts")."""

    graph: Graph
    sampling: Sampling
    handed: Handed = "facts"
    is_name: IsName | None = None

    def __call__(
        self, question: str, called: Called, links: Sequence[Link], talk: Talk | None
    ) -> GroundedReply:
        """Ask the model; what it states has to be proved by the chain."""
        if talk is None:
            raise ValueError("this form needs a model")
        topics = entities_of(called)
        start_proofs = known_proofs(self.graph, links, topics)
        answers_text, facts = self._answers_text(links, start_proofs)
        evidence = ReadEvidence(self.graph, facts, start_proofs, frozenset(topics), self.is_name)
        values = {
            "ANSWERS": answers_text,
            "NAMES": other_names(self.graph, called),
            "QUESTION": as_data(question),
        }
        prompt = prompt_named("clew.methods.kg_rag", "synthesise")
        return ask_and_ground(talk, prompt, self.sampling, evidence, values)

    def _answers_text(self, links: Sequence[Link], start_proofs: Proofs) -> tuple[str, tuple[Fact, ...]]:
        lines, facts = list[str](), list[Fact]()
        for number, link in enumerate(links, 1):
            triples = tuple(dict.fromkeys([*(p[-1] for p in link.proofs.values()), *link.rests_on]))
            if self.handed == "sentences":
                lines += [f"[{number}] {data_line(link.reformulated)}", f"Answer: {data_line(link.text)}"]
                facts.append(Fact(triples))
                continue
            # What was known before a link: its own answers are the lists of its facts.
            proofs_before = {
                entity: proof for entity, proof in start_proofs.items() if entity not in link.proofs
            }
            link_facts = fact_lines(
                self.graph, triples[:MOST_SUB_ANSWER_TRIPLES], proofs_before, len(facts) + 1
            )
            hidden_count = len(triples) - MOST_SUB_ANSWER_TRIPLES
            lines += [data_line(f"{number}. {link.reformulated}"), *link_facts.lines]
            lines += [f"({hidden_count:,} more facts are not shown)"] if hidden_count > 0 else []
            lines.append(f"Answer: {answer_line(self.graph, link)}")
            facts += link_facts.facts
        return "\n".join(lines), tuple(facts)


@dataclass(frozen=True, slots=True)
class LastAnswer:
    """Without a model: what was found for the pattern's answer."""

    graph: Graph

    def __call__(
        self, question: str, called: Called, links: Sequence[Link], talk: Talk | None
    ) -> GroundedReply:
        """The last link's entities."""
        proofs = links[-1].proofs
        return GroundedReply(" · ".join(self.graph.label(e) for e in proofs), proofs)


def table_3(seed: int, temperature: float) -> Sampling:
    """Return the sampling of Table 3, with the same seed for all steps (4.2.1)."""
    return replace(TABLE_3, seed=seed, temperature=temperature)


@dataclass(frozen=True, slots=True)
class KgRagSteps:
    """The exchangeable steps of KG-RAG."""

    decompose: Decompose
    answer: AnswerSubQuestion
    reformulate: Reformulate
    synthesise: Synthesise


def model_steps(settings: KgRagSettings, about: About, find: FindTopicEntities) -> KgRagSteps:
    """Make the steps as in the paper, by a chat model."""
    sampling, handed = table_3(settings.seed, settings.temperature), settings.handed
    demonstrations = default_demonstrations() if settings.examples is None else settings.examples
    stated = replace(sampling, max_tokens=ANSWER_TOKENS)
    return KgRagSteps(
        ModelDecompose(sampling, demonstrations[: settings.shots], about),
        ModelAnswer(find.graph, replace(stated, repeat_penalty=1.1), find.is_name),
        ModelReformulate(find.graph, sampling, handed),
        ModelSynthesis(find.graph, stated, handed, find.is_name),
    )


def built_in_steps(built_in: BuiltInReader, frontier: Frontier) -> KgRagSteps:
    """Make the steps that need no model; candidates around the question alone need names to go on from."""
    graph = built_in.reader.graph
    substitute = SubstituteAnswers(graph)
    if frontier == "question":
        substitute = SubstituteAnswers(graph, 8, keep_first=True)
    decompose = PatternDecompose(graph, built_in.pattern)
    return KgRagSteps(decompose, FollowHop(graph), substitute, LastAnswer(graph))
