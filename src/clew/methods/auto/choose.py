"""What a chat model says that a question means (the `choose` step of `auto`), or a claim.

The model sees the question, what it names, the schema and the likeliest readings in the notation, each with
how many answers it has. It replies with the number of one, with a query of its own, with a
type of which it wants to see all relations (once), or that the graph cannot tell; code executes it.

A small model chooses by the place of a reading in the list, or by lot. So the readings stand in an order
that says nothing, and a model that chooses the one that is likely is believed at once, as is a query of its
own that finds something: by lot none is written. Where the reader does not answer the same, it is shown the
readings alone once more, in words too and in another order, and once more again where the reader finds what
it chose very unlikely. It is believed if it chooses the same each time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast
from zlib import crc32

import numpy as np

from clew.claims.verify import Stated, judge_claim, judge_stated
from clew.graph.steps import relation_of
from clew.grounding import cite
from clew.index.store.directory import Index
from clew.llm.managed import Prompt, Talk, as_data, data_line, prompt_named, query_text, short
from clew.llm.reply import ChatModel
from clew.llm.types import BudgetReached, Request
from clew.methods.base import Run
from clew.methods.names_view import NamesView
from clew.methods.schema_view import SchemaView
from clew.query.execute import Executor
from clew.query.notation import NameLookup, NotationError, lookup_of, read_query, write_query
from clew.query.tree import Anchor, Extreme, Query, Sign, Walk, entities_of, steps_of
from clew.query.words import say
from clew.reading.answer import LEAST_LIKELY, answers_of
from clew.reading.certainty import LikelyReading
from clew.reading.reader import QuestionReader, Reading, reader_of
from clew.text.embedders import Embedder
from clew.text.normalise import counted
from clew.types import Abstention, ClaimPart, Verification

MOST_READINGS = 8
FEWEST_TO_TELL = 4
"""Readings from which on one does not easily hit the likeliest without reading them."""
LIKELY, CERTAIN = 0.6, 0.4
"""How likely the first reading must be if one is right, or how sure the surest, to be believed at once.

Of 880 development questions 173 that the reader leaves open have such a reading, 74 of these a wrong one,
which a model that chooses by lot comes to in one of eight; without a model 35 answers are wrong.
"""
_QUERY = re.compile(r"^\W*query\W*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_SHOW = re.compile(r"^\W*show\W*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_MISSING = re.compile(r"missing\b\s*:?\s*", re.IGNORECASE)
ASK_FOR_LINE = "Reply again, with a last line `Query: …`."
EMPTY = (
    "That finds nothing, though all that it names is there. A condition of it may not be recorded of these"
    " things: leave out what the question does not need. If the query is right and its value is not recorded,"
    " reply `Query: missing` and the query."
)
SHOWN = "The graph records of that:\n<graph>\n{}\n</graph>\nNow reply"
MAY_SHOW = (
    "- `Show: Type` (or several, with commas), once, to see the relations of a type that are not shown\n"
)
ON_EDGES = (
    "A .relation[@date > 2023]: over edges with such a property, which the graph shows as [@date]."
    " @date(A .relation): that property itself; argmax(A .relation, @date): by it\n"
)
NOT_SHOWN = "There is no such type. Reply"
SAMPLING = Request(temperature=0.0, max_tokens=400)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model chose: a query, or None where it says that the graph cannot tell, or could not be read."""

    query: Query | None
    problem: str = ""
    """Why nothing was read from the reply, empty where something was."""
    may_be_empty: bool = False
    """The model knows that the query finds nothing."""
    believed: bool = True
    """The reader answers the same, or the model chose the same again of the readings in another order."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A reading that a prompt offers, its probability, and its count of answers, -1 where that takes long."""

    query: Query
    answers: int
    probability: float = 1.0


_YES_OR_NO = frozenset(("yes", "every"))
"""What is asked of which the answer is *no* where nothing is found."""
Meant = tuple[object, ...]
"""Equal for queries that mean the same."""


class Chooser:
    """Asks a model over one graph."""

    def __init__(self, reader: QuestionReader) -> None:
        self.reader, self.schema, self.names = reader, SchemaView(reader), NamesView(reader)

    def choose(
        self,
        likeliest: LikelyReading,
        talk: Talk,
        finds: Callable[[Query], bool],
        agrees: Callable[[Query | None], bool],
    ) -> Choice:
        """Ask once; again after `Show`, and where a reply cannot be read or its query `finds` nothing.

        A second query that finds nothing leaves the first. Where the reader does not `agree`, the model has
        to choose the same of the readings in other orders. Raises LlmError.
        """
        reading = likeliest.reading
        likeliest_first, question = self._offered(reading), reading.original_question
        # In an order that only the question decides.
        order = np.random.default_rng(crc32(question.encode())).permutation(len(likeliest_first))
        offered = [likeliest_first[place] for place in order.tolist()]
        values = self.shown(reading) | {
            "READINGS": self._readings_text(offered) or "(none)",
            "QUESTION": as_data(question),
        }
        prompt = prompt_named("clew.methods.auto", "choose")
        reply = self.ask(talk, prompt, values, reading, "Query")
        choice = self.read(reply, offered, reading)
        complaint = f"That cannot be run: {choice.problem}. {ASK_FOR_LINE}" if choice.problem else ""
        query = choice.query
        may_be_empty = choice.may_be_empty or (query is not None and query.ask in _YES_OR_NO)
        if query is not None and not may_be_empty and not finds(query):
            complaint = f"{EMPTY} {ASK_FOR_LINE}"
        if complaint:
            reply = talk.ask_again(prompt, SAMPLING, reply, complaint, values)
            second_choice = self.read(reply, offered, reading)
            if choice.problem or (second_choice.query is not None and finds(second_choice.query)):
                choice = second_choice
        choice_text = "none" if choice.query is None else say(choice.query, self.reader.vocabulary)
        detail = {"readings": len(offered), "chosen": choice_text, "problem": choice.problem}
        talk.note("choose", detail)
        if (
            choice.problem
            or agrees(choice.query)
            or self._is_likeliest(choice.query, likeliest_first, likeliest)
        ):
            return choice
        same = self._meaning(choice.query)
        chosen = next((each for each in offered if self._meaning(each.query) == same), None)
        if chosen is None and choice.query is not None and finds(choice.query):  # its own
            return replace(choice, believed=bool(steps_of(choice.query)))
        believed = self._chooses_again(chosen, offered, reading, talk)
        talk.note("choose_again", {"same": believed})
        return replace(choice, believed=believed)

    def shown(self, reading: Reading) -> dict[str, str]:
        """What a prompt shows of the graph, and what of the notation only some graphs need."""
        schema = self.schema.text(reading, brief=True)
        return {
            "SCHEMA": schema,
            "NAMES": self.names.text(reading, "clew") or "(none)",
            "SHOW": MAY_SHOW if "not shown" in schema else "",
            "EDGES": ON_EDGES if "[@" in schema else "",
        }

    def ask(self, talk: Talk, prompt: Prompt, values: dict[str, str], reading: Reading, line: str) -> str:
        """Ask for a `line`; again where the model asks to see types, which go into `values`."""
        reply = talk.ask(prompt, SAMPLING, stop=(), **values)
        asked_for = _SHOW.findall(reply)
        if asked_for and not re.search(rf"^\W*{line}\W*:", reply, re.IGNORECASE | re.MULTILINE):
            more = self.schema.of_types(re.split(r"[,;]", asked_for[-1].strip("` .")), reading)
            values["SCHEMA"] = f"{values['SCHEMA']}\n{more}" if more else values["SCHEMA"]
            problem = (SHOWN.format(more) if more else NOT_SHOWN) + f" with a last line `{line}: …`."
            reply = talk.ask_again(prompt, SAMPLING, reply, problem, values)
        return reply

    def lookup(self, reading: Reading) -> NameLookup:
        """Names as a prompt showed them, before others of the graph."""
        graph, linked = self.reader.graph, dict[str, int]()
        for candidate in (c for m in reading.mentions for c in m.candidates):
            for name in (graph.label(candidate.node), graph.labels[candidate.node]):
                linked.setdefault(name.casefold(), candidate.node)
        return lookup_of(graph, self.reader.names, linked, self.reader.vocabulary)

    def _is_likeliest(
        self, query: Query | None, offered: Sequence[Offered], likeliest: LikelyReading
    ) -> bool:
        """Whether a model chose the reading that is likely or sure, which the prompt did not tell."""
        if len(offered) < FEWEST_TO_TELL or query is None:
            return False
        none = likeliest.reading.ranking.none
        first = offered[0].query if offered[0].probability >= LIKELY * (1 - none) else None
        surest = likeliest.query if likeliest.likelihood >= CERTAIN else None
        return any(self._meaning(query) == self._meaning(one) for one in (first, surest) if one is not None)

    def _chooses_again(
        self, chosen: Offered | None, offered: Sequence[Offered], reading: Reading, talk: Talk
    ) -> bool:
        """Whether the model chooses the same of the readings, or none again, in other orders."""
        same, orders = self._meaning(chosen and chosen.query), [_turned(offered)]
        if chosen is not None and chosen.probability < LEAST_LIKELY * (1 - reading.ranking.none):
            middle = len(offered) // 2
            orders.append([*offered[middle:], *offered[:middle]])  # as one cuts cards
        prompt = prompt_named("clew.methods.auto", "choose_again")
        question = as_data(reading.original_question)
        for order in orders:
            readings = self._readings_text(order, in_words=True) or "(none)"
            reply = talk.ask(prompt, SAMPLING, stop=(), READINGS=readings, QUESTION=question)
            next_choice = self.read(reply, order, reading)
            if next_choice.problem or self._meaning(next_choice.query) != same:
                return False
        return True

    def read(self, reply: str, offered: Sequence[Offered], reading: Reading) -> Choice:
        """Read a reply: its last line that begins with `Query:` and nothing else."""
        query_lines = _QUERY.findall(reply)
        text = query_lines[-1].strip("` ") if query_lines else ""
        missing = _MISSING.match(text)
        text = text[missing.end() :] if missing else text
        number = text.strip(".")
        if not number:
            return Choice(None, "there is no line that begins with Query:")
        if number.lower() == "none":
            return Choice(None)
        if number.isdecimal():
            chosen = dict(zip(map(str, range(1, len(offered) + 1)), offered, strict=True)).get(
                number.lstrip("0")
            )
            if chosen is None:
                return Choice(None, f"there is no reading {short(number)}")
            return Choice(chosen.query, may_be_empty=not chosen.answers)
        try:
            return Choice(read_query(text, self.lookup(reading)), may_be_empty=missing is not None)
        except NotationError as error:
            return Choice(None, str(error))

    def answers_alike(self, query: Query, other: Query) -> bool:
        """Whether the same things answer both."""
        executor = Executor(self.reader.graph)
        return self._with_size(query, executor)[0] == self._with_size(other, executor)[0]

    def _meaning(self, query: Query | None) -> Meant:
        if query is None:
            return ()
        answers, _ = self._with_size(query, Executor(self.reader.graph))
        return answers, *_relations_and_names(query)

    def _offered(self, reading: Reading) -> list[Offered]:
        """The likeliest readings; one of those that answer the same by the same relations and names."""
        offered, executor = dict[Meant, Offered](), Executor(self.reader.graph)
        for ranked in reading.ranking.ranked[:40]:
            answers, each = self._with_size(ranked.option.query, executor, ranked.probability)
            offered.setdefault((answers, *_relations_and_names(each.query)), each)
            if len(offered) == MOST_READINGS:
                break
        return list(offered.values())

    def _with_size(self, query: Query, executor: Executor, probability: float = 1.0) -> tuple[Meant, Offered]:
        """What answers a query, as `answers_of`, and the query with how many do."""
        answers, size = answers_of(executor, self.reader.vocabulary, query)
        return answers, Offered(query, size, probability)

    def _readings_text(self, offered: Sequence[Offered], *, in_words: bool = False) -> str:
        """*1. {Memento} .directed_by (1 answer)*, in words too, which are all of what has no notation."""
        lines: list[str] = []
        for number, each in enumerate(offered, 1):
            words = data_line(say(each.query, self.reader.vocabulary))
            try:
                notation = query_text(write_query(each.query, self.reader.graph))
                text = f"{notation} — {words}" if in_words else notation
            except NotationError:
                text = words
            is_sized = each.query.ask == "list" and each.answers >= 0
            amount = f" ({counted(each.answers, 'answer')})" if is_sized else ""
            lines.append(f"{number}. {text}{amount}")
        return "\n".join(lines)


def _relations_and_names(query: Query) -> Meant:
    return frozenset(relation_of(step) for step in steps_of(query)), frozenset(entities_of(query))


def _turned(offered: Sequence[Offered]) -> list[Offered]:
    """The readings from last to first; of two or more none has the number that it had."""
    turned = list(reversed(offered))
    middle = len(turned) // 2
    if middle and len(turned) % 2:
        turned[middle], turned[middle + 1] = turned[middle + 1], turned[middle]
    return turned


# What a model says that a claim says (`verify` of `auto`): query graphs, by which code judges it.
#
#     L-211 has lost more than three kilos and is no longer in the North Vault.
#     → Claim: diff({L-211} .wt_in, {L-211} .wt_now) > 3
#       Claim: not {L-211} .cellar & {North Vault}

_CLAIM = re.compile(r"^\W*claim\W*:\s*(.+?)[\s.`]*$", re.IGNORECASE | re.MULTILINE)
_NOT = re.compile(r"`?\s*not\b\s*", re.IGNORECASE)
_COMPARED = re.compile(r"(?<=\))\s*(>=|<=|!=|[=<>])\s*(-?\d+(?:\.\d+)?)$")
ASK_FOR_LINES = "Reply again, with a line `Claim: …` for each thing that the claim says."


class VerifyByQuery:
    """Verifies claims over one open index by the queries that a model writes for them.

    The model sees the claim, what it names and the schema. It sees no facts, and gives no verdict.
    """

    name = "auto"

    def __init__(self, index: Index, embedder: Embedder, model: ChatModel) -> None:
        self.model, self.reader = model, reader_of(index, embedder)
        self.chooser = Chooser(self.reader)

    def verify(self, claim: str, *, id: str | None = None, closed_world: bool = False) -> Verification:
        """Verify one claim; in a closed world what the graph does not record is not so. Raises LlmError."""
        run, abstained = Run(self.name, id, self.model), None
        parts: tuple[ClaimPart, ...] = (ClaimPart(claim, "not_enough_info"),)
        try:
            with run.stage("write"):
                stated = self._write(run, claim)
            with run.stage("execute"):
                parts = judge_stated(self.reader, claim, stated, closed=closed_world)
            run.note("execute", {"parts": [[p.text, p.verdict] for p in parts]})
        except BudgetReached as error:
            abstained = Abstention("budget", str(error))
        except NotationError as error:
            abstained = Abstention("empty_result", f"the model gave no usable reply: {error}")
        citations = tuple(cite(self.reader.graph, p.verdict, p.triple_ids) for p in parts if p.triple_ids)
        verdict = judge_claim(parts, denied=False)
        return run.finish(Verification(claim, verdict, parts, citations, abstained=abstained))

    def _write(self, run: Run, claim: str) -> tuple[Stated, ...]:
        """Ask what a claim says, once more where it cannot be read. Raises LlmError, NotationError."""
        reading, prompt = self.reader.read(claim), prompt_named("clew.methods.auto", "claim")
        values = self.chooser.shown(reading) | {"CLAIM": as_data(claim)}
        reply = self.chooser.ask(run.talk, prompt, values, reading, "Claim")
        lookup = self.chooser.lookup(reading)
        try:
            return read_stated(reply, lookup)
        except NotationError as error:
            problem = f"That cannot be run: {error}. {ASK_FOR_LINES}"
            return read_stated(run.talk.ask_again(prompt, SAMPLING, reply, problem, values), lookup)


def read_stated(reply: str, lookup: NameLookup) -> tuple[Stated, ...]:
    """Read a reply: its lines that begin with `Claim:`. Raises NotationError."""
    lines = _CLAIM.findall(reply)
    if not lines:
        raise NotationError("there is no line that begins with Claim:")
    return tuple(_stated(line.strip("` "), lookup) for line in lines)


def _stated(text: str, lookup: NameLookup) -> Stated:
    if text.lower() == "none":
        return Stated(None)
    denied, compared = _NOT.match(text), _COMPARED.search(text)
    query = read_query(text[denied.end() if denied else 0 : compared.start() if compared else None], lookup)
    if query.ask == "list" and not query.by and not query.key and compared is None:
        query = replace(query, ask="yes")
    if query.by or (compared is None) != (query.ask in ("yes", "every")) or query.ask in ("names", "called"):
        raise NotationError("a line is a set, every(A, B), or a number that is compared: count(A) >= 3")
    start = query.part
    while isinstance(start, Walk):
        start = start.source
    if query.ask == "yes" and (
        isinstance(start, Extreme) or (start is query.part and isinstance(start, Anchor))
    ):
        raise NotationError("that is always so: join it by & with what the claim says that it is")
    sign, number = compared.groups() if compared else ("=", None)
    return Stated(query, denied is not None, cast("Sign", sign), None if number is None else float(number))
