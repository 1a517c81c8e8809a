"""What a chat model says that a question means (the `choose` step of `auto`).

The model sees the question, what it names, the schema and the likeliest readings, in the notation and in
words, each with how many answers it has. It replies with the number of one, with a query of its own, with a
type of which it wants to see all relations (once), or that the graph cannot tell; code executes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.llm.managed import Sampling, Talk, as_data, data_line, prompt_named, query_text
from clew.methods.names_view import NamesView
from clew.methods.schema_view import SchemaView
from clew.query.execute import Executor
from clew.query.notation import NameLookup, NotationError, lookup_of, read_query, write_query
from clew.query.tree import Query, entities_of, steps_of
from clew.query.words import say
from clew.reading.answer import answers_of
from clew.reading.reader import QuestionReader, Reading
from clew.text.normalise import counted
from clew.types import Step

MOST_READINGS = 12
MOST_EXECUTED = 40
"""Candidates that are executed to see which of them mean the same."""
_QUERY = re.compile(r"^\W*query\W*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
_SHOW = re.compile(r"^\W*show\W*:\s*(.+?)\s*$", re.IGNORECASE | re.MULTILINE)
_MISSING = re.compile(r"missing\b\s*:?\s*", re.IGNORECASE)
ASK_FOR_LINE = "Reply again, with a last line `Query: …`."
EMPTY = (
    "That finds nothing, though all that it names is there. A condition of it may not be recorded of these"
    " things: leave out what the question does not need. If the query is right and its value is not recorded,"
    " reply `Query: missing` and the query."
)
SHOWN = "The graph records of that:\n<graph>\n{}\n</graph>\nNow reply with a last line `Query: …`."
NOT_SHOWN = "There is no such type. Reply with a last line `Query: …`."
SAMPLING = Sampling(temperature=0.0, max_tokens=400)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model chose: a query, or None where it says that the graph cannot tell, or could not be read."""

    query: Query | None
    problem: str = ""
    """Why nothing was read from the reply, empty where something was."""
    may_be_empty: bool = False
    """The model knows that the query finds nothing."""


@dataclass(frozen=True, slots=True)
class Offered:
    """A reading that a prompt offers, with how many answers it has; -1 where that takes too long."""

    query: Query
    answers: int


@dataclass(frozen=True, eq=False)
class Chooser:
    """Asks a model over one graph."""

    reader: QuestionReader
    schema: SchemaView
    names: NamesView

    @classmethod
    def of(cls, reader: QuestionReader) -> Chooser:
        """Make it for a reader."""
        return cls(reader, SchemaView(reader), NamesView(reader))

    def choose(self, reading: Reading, talk: Talk, finds: Callable[[Query], bool]) -> Choice:
        """Ask once; again after a second look, and where a reply cannot be read or its query `finds` nothing.

        A second query that finds nothing leaves the first. Raises LlmError.
        """
        offered = self._offered(reading)
        values = {
            "SCHEMA": self.schema.text(reading),
            "NAMES": self.names.text(reading, "clew") or "(none)",
            "READINGS": self._readings_text(offered) or "(none)",
            "QUESTION": as_data(reading.original_question),
        }
        prompt = prompt_named("clew.methods.auto", "choose")
        reply = talk.ask(prompt, SAMPLING, stop=(), **values)
        asked_for = _SHOW.findall(reply)
        if asked_for and not _QUERY.findall(reply):
            more = self.schema.of_types(re.split(r"[,;]", asked_for[-1].strip("` .")), reading)
            values["SCHEMA"] = f"{values['SCHEMA']}\n{more}" if more else values["SCHEMA"]
            reply = talk.ask_again(prompt, SAMPLING, reply, SHOWN.format(more) if more else NOT_SHOWN, values)
        choice = self.read(reply, offered, reading)
        complaint = f"That cannot be run: {choice.problem}. {ASK_FOR_LINE}" if choice.problem else ""
        if choice.query is not None and not choice.may_be_empty and not finds(choice.query):
            complaint = f"{EMPTY} {ASK_FOR_LINE}"
        if complaint:
            reply = talk.ask_again(prompt, SAMPLING, reply, complaint, values)
            second_choice = self.read(reply, offered, reading)
            if choice.problem or (second_choice.query is not None and finds(second_choice.query)):
                choice = second_choice
        choice_text = "none" if choice.query is None else say(choice.query, self.reader.vocabulary)
        talk.steps.append(
            Step("choose", {"readings": len(offered), "chosen": choice_text, "problem": choice.problem})
        )
        return choice

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
            chosen = offered[int(number) - 1] if 0 < int(number) <= len(offered) else None
            if chosen is None:
                return Choice(None, f"there is no reading {int(number)}")
            return Choice(chosen.query, may_be_empty=not chosen.answers)
        try:
            return Choice(read_query(text, self._lookup(reading)), may_be_empty=missing is not None)
        except NotationError as error:
            return Choice(None, str(error))

    def _offered(self, reading: Reading) -> list[Offered]:
        """The likeliest readings; one of those that answer the same by the same relations and names."""
        vocabulary, executor = self.reader.vocabulary, Executor(self.reader.graph)
        offered: dict[tuple[object, ...], Offered] = {}
        for ranked in reading.ranking.ranked[:MOST_EXECUTED]:
            query = ranked.option.query
            answers, size = answers_of(executor, vocabulary, query)
            relations = frozenset(step // 2 for step in steps_of(query))
            offered.setdefault((answers, relations, frozenset(entities_of(query))), Offered(query, size))
            if len(offered) == MOST_READINGS:
                break
        return list(offered.values())

    def _readings_text(self, offered: Sequence[Offered]) -> str:
        """*1. {Memento} .directed_by — the directors of Memento (1 answer)*."""
        lines: list[str] = []
        for number, each in enumerate(offered, 1):
            try:
                notation = f"{query_text(write_query(each.query, self.reader.graph))} — "
            except NotationError:
                notation = ""
            size = counted(each.answers, "answer") if each.query.ask == "list" else f"of {each.answers:,}"
            amount = "" if each.answers < 0 else f" ({size})"
            lines.append(f"{number}. {notation}{data_line(say(each.query, self.reader.vocabulary))}{amount}")
        return "\n".join(lines)

    def _lookup(self, reading: Reading) -> NameLookup:
        """Names as a reply writes them: those that it was shown before others of the graph."""
        graph = self.reader.graph
        linked: dict[str, int] = {}
        for candidate in (c for m in reading.mentions for c in m.candidates):
            for name in (graph.label(candidate.node), graph.labels[candidate.node]):
                linked.setdefault(name.casefold(), candidate.node)
        return lookup_of(graph, self.reader.names, linked, self.reader.vocabulary)
