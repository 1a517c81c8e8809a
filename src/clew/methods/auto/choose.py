"""One call of a chat model: which query graph a question means (the `choose` step of `auto`).

The model sees the question, the names that were linked, the typed schema, and the likeliest readings in
words. It replies with the number of one, with a query of its own, or that the graph cannot tell; code
executes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clew.index.names.names import NamesIndex
from clew.llm.prompting import Sampling, Talk, as_data, data_line, data_lines, prompt_named
from clew.methods.schema_lines import SchemaText
from clew.query.lookup import lookup_of
from clew.query.notation import NameLookup, NotationError, read_query
from clew.query.tree import Query, key_of
from clew.query.vocabulary import Vocabulary
from clew.query.words import say
from clew.reading.reader import Reading
from clew.types import Step

MOST_READINGS = 12
MOST_NAMES = 16
LONGEST_OFFERED = 80
_QUERY = re.compile(r"^\W*query\W*:\s*(.*?)\s*$", re.IGNORECASE | re.MULTILINE)
ASK_FOR_LINE = "Reply again, with a last line `Query: …`."
EMPTY = (
    "That finds nothing, though all that it names is there. A condition of it may not be recorded of these"
    " things: leave out what the question does not need. If the query is right, reply with it once more."
)
SAMPLING = Sampling(temperature=0.0, max_tokens=400)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a model chose: a query, or None where it says that the graph cannot tell, or could not be read."""

    query: Query | None
    problem: str = ""
    """Why nothing was read from the reply, empty where something was."""


@dataclass(frozen=True, eq=False)
class Chooser:
    """Asks a model over one graph."""

    vocabulary: Vocabulary
    names: NamesIndex
    schema: SchemaText

    def choose(self, reading: Reading, talk: Talk, finds: Callable[[Query], bool]) -> Choice:
        """Ask once, and once more where the reply cannot be read or its query `finds` nothing.

        A second query that finds nothing leaves the first. Raises LlmError.
        """
        queries = self._likeliest_queries(reading)
        near = [c.node for m in reading.mentions for c in m.candidates[:2]][:MOST_NAMES]
        readings = data_lines(f"{i}. {say(q, self.vocabulary)}" for i, q in enumerate(queries, 1))
        values = {
            "SCHEMA": self.schema.lines(reading.question, near),
            "NAMES": self._names(reading) or "(none)",
            "READINGS": readings or "(none)",
            "QUESTION": as_data(reading.original_question),
        }
        prompt = prompt_named("clew.methods.auto", "choose")
        reply = talk.ask(prompt, SAMPLING, stop=(), **values)
        choice = self.read(reply, queries, reading)
        complaint = f"That cannot be run: {choice.problem}. {ASK_FOR_LINE}" if choice.problem else ""
        if choice.query is not None and not finds(choice.query):
            complaint = f"{EMPTY} {ASK_FOR_LINE}"
        if complaint:
            reply = talk.ask_again(prompt, SAMPLING, reply, complaint, values)
            second_choice = self.read(reply, queries, reading)
            if choice.problem or (second_choice.query is not None and finds(second_choice.query)):
                choice = second_choice
        choice_text = "none" if choice.query is None else say(choice.query, self.vocabulary)
        talk.steps.append(
            Step("choose", {"readings": len(queries), "chosen": choice_text, "problem": choice.problem})
        )
        return choice

    def read(self, reply: str, queries: Sequence[Query], reading: Reading) -> Choice:
        """Read a reply: its last line that begins with `Query:` and nothing else."""
        query_lines = _QUERY.findall(reply)
        text = query_lines[-1].strip("` .") if query_lines else ""
        if not text:
            return Choice(None, "there is no line that begins with Query:")
        if text.lower() == "none":
            return Choice(None)
        if text.isdecimal():
            chosen = queries[int(text) - 1 : int(text)] if int(text) else ()
            return Choice(chosen[0]) if chosen else Choice(None, f"there is no reading {int(text)}")
        try:
            return Choice(read_query(query_lines[-1].strip("` "), self._lookup(reading)))
        except NotationError as error:
            return Choice(None, str(error))

    def _likeliest_queries(self, reading: Reading) -> list[Query]:
        """The likeliest readings, each meaning once."""
        queries: dict[tuple[object, ...], Query] = {}
        for ranked in reading.ranking.ranked:
            queries.setdefault(key_of(ranked.option.query), ranked.option.query)
            if len(queries) == MOST_READINGS:
                break
        return list(queries.values())

    def _names(self, reading: Reading) -> str:
        labels = self.vocabulary.graph.labels
        lines: list[str] = []
        for mention in (m for m in reading.mentions if m.candidates):
            names = [data_line(labels[c.node], LONGEST_OFFERED) for c in mention.candidates[:3]]
            lines.append(f"{as_data(mention.text)} = {' or '.join(names)}")
        return data_lines(dict.fromkeys(lines[:MOST_NAMES]))

    def _lookup(self, reading: Reading) -> NameLookup:
        """Names as a reply writes them: those that it was shown before others of the graph."""
        graph = self.vocabulary.graph
        linked = {
            graph.labels[c.node].casefold(): c.node for m in reversed(reading.mentions) for c in m.candidates
        }

        return lookup_of(graph, self.names, linked)
