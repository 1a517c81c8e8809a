"""What a reader yields and what it counts: `Batch`, `Tally`, and the `Reader` protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from clew.errors import ParseError
from clew.foundation.arrays import Int32
from clew.graph.graph import Names
from clew.graph.readers.hints import Hints

if TYPE_CHECKING:
    from clew.graph.readers.columns import TableForm

BATCH_TRIPLES = 50_000
"""A reader hands its triples over when it holds about so many."""

MAX_REASONS = 5
"""How many reasons of skipped lines are kept; all are counted."""

MAX_FAULTS = 20
"""How many bad places of a source are told at once; reading stops at the last of them."""

RANKS = 4
"""Ranks of labels by their language, the last for one that is not read; those of names come after."""

OnError = Literal["fail", "skip"]

NodeKey = str | tuple[str, str]
"""An entity's name, or (lexical form, datatype) of a literal: the two never collide."""


def shown_key(key: NodeKey) -> str:
    """A node as people write it: its name, or the text of a literal."""
    return key if isinstance(key, str) else key[0]


@dataclass(frozen=True, slots=True)
class Label:
    """A name of `subject` for people; of several, the lowest `rank` wins and the others are aliases."""

    subject: str
    text: str
    rank: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class IdTriples:
    """Triples as positions in `entities` and `relations`: three int32 arrays [triples]."""

    entities: Names
    relations: Names
    head: Int32
    relation: Int32
    tail: Int32


EdgeStatement = tuple[str, str, NodeKey, tuple[tuple[str, str, str | None], ...]]
"""An edge with its properties: head, relation, tail, and (key, value, datatype) of each."""
End = tuple[str, str, str, str]
"""What is said of an end of a property: head, relation, tail, and the line of N-Quads."""


@dataclass(slots=True)
class Batch:
    """Triples `heads[i], relations[i], tails[i]`, and what the source says about nodes beside them.

    `nodes` are entities that exist even without a triple; `types` and `aliases` are (entity, text);
    `iris` says that names are IRIs, whose local names are their labels unless they have others;
    `joined`: the ends of its triples are ids, of nodes that other rows or files describe; `ids` are further
    triples, of a source that has ids of its own; `statements` are edges that have properties, beside their
    triples; `characters` are (relation, `symmetric` or `transitive`). `beside` are lines of N-Quads: what a
    source of RDF says that is no triple of the graph. `ends` are triples that say of what and to what a
    property leads, each with its line: no triples of the graph, if the property is one of its relations.
    """

    heads: list[str] = field(default_factory=list[str])
    relations: list[str] = field(default_factory=list[str])
    tails: list[NodeKey] = field(default_factory=list[NodeKey])
    nodes: list[str] = field(default_factory=list[str])
    types: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    labels: list[Label] = field(default_factory=list[Label])
    aliases: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    iris: bool = False
    joined: bool = False
    ids: IdTriples | None = None
    statements: list[EdgeStatement] = field(default_factory=list[EdgeStatement])
    characters: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    beside: list[str] = field(default_factory=list[str])
    ends: list[End] = field(default_factory=list[End])

    def add(self, head: str, relation: str, tail: NodeKey) -> None:
        """Append one triple."""
        self.heads.append(head)
        self.relations.append(relation)
        self.tails.append(tail)

    @property
    def full(self) -> bool:
        """Whether it is time to hand the batch over."""
        return len(self.heads) + len(self.nodes) + len(self.labels) >= BATCH_TRIPLES


@dataclass(slots=True)
class Tally:
    """What happened to one source while it was read; the reader writes it, the builder reports it.

    `progress` is called with the number of bytes of the source (compressed, if it is) read so far;
    `scope` keeps apart what is named within one file only, as blank nodes are: it begins their names;
    `collect` tells all faults together (`raise_faults`, when the source is read) instead of the first;
    `hints` are what the user says of the source;
    `line` is how far the source was read; `begun` says that the first triples were looked at; `forms` are
    those of the tables that were read.
    """

    on_error: OnError = "fail"
    progress: Callable[[int], None] | None = None
    scope: str = ""
    collect: bool = False
    hints: Hints = field(default_factory=Hints)
    line: int = 0
    begun: bool = False
    blank: int = 0
    skipped: int = 0
    reasons: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    faults: list[ParseError] = field(default_factory=list[ParseError])
    forms: list[TableForm] = field(default_factory=list["TableForm"])

    def error(self, error: ParseError) -> None:
        """Raise `error`, or count it as a skipped line if the user asked for that."""
        if self.on_error == "fail":
            if not self.collect:
                raise error
            self.faults.append(error)
            if len(self.faults) == MAX_FAULTS:
                self.raise_faults()
            return
        self.skipped += 1
        if len(self.reasons) < MAX_REASONS:
            self.reasons.append(str(error))

    def raise_faults(self) -> None:
        """Raise the faults that were collected as one ParseError, that of the first; nothing without any."""
        if self.faults:
            first, *other_faults = self.faults
            messages = tuple(str(ParseError(fault.file, fault.line, fault.reason)) for fault in other_faults)
            stopped = len(self.faults) == MAX_FAULTS
            raise ParseError(
                first.file, first.line, first.reason, first.advice, others=messages, stopped=stopped
            )

    def note(self, text: str) -> None:
        """Tell the user something that was done with the source, once."""
        if text not in self.notes:
            self.notes.append(text)


class Reader(Protocol):
    """Reads one format. `name` is what the user gives as `--format`."""

    @property
    def name(self) -> str:
        """Name of the format."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """File name endings of the format, without those of compression (`.gz`)."""
        ...

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`.

        Raises ParseError for a line that cannot be read unless `tally.on_error` is "skip", and
        InputError for a file that cannot be read at all.
        """
        ...
