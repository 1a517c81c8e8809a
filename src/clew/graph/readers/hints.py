"""What the user says of how files are read, where looking at them is not enough."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.errors import UsageError

if TYPE_CHECKING:
    from clew.graph.readers.columns import TableForm

ROLES = ("head", "relation", "tail")
_TAG = re.compile(r"[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
MOST_INFERRED = 2_000_000
"""Triples, and types, that are inferred at most; the rest is left out with a note."""


@dataclass(frozen=True, slots=True)
class Hints:
    """How tables and RDF are to be read; what is left out is found by looking.

    `columns` maps `head`, `relation` and `tail` to columns, `id` is the column that says what a row is of: by
    their names in the header, or by their numbers from 1. `relation` is what edges are called in a table
    that does not say it; if they are `undirected`, each is kept both ways. `encoding` is that of text files.
    `language` is that of the labels of RDF that people read, a tag such as `de`; others are aliases. Of what
    follows from an ontology in RDF at most so many triples, and types, are added (`most_inferred`; 0: none).
    `names` says by which column the nodes of a type are called, or by several, separated by spaces; those of
    the type "" are all. `split` maps a column to what separates several values in its cells; unless `splits`,
    no other column is split. `known` are the tables of an index that the files are to be added to.

    Raises UsageError for a role, an encoding or a tag that there is not, and a number below 0.
    """

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    id: str | None = None
    relation: str | None = None
    encoding: str | None = None
    language: str = "en"
    most_inferred: int = MOST_INFERRED
    undirected: bool = False
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    split: Mapping[str, str] = field(default_factory=dict[str, str])
    splits: bool = True
    known: Sequence[TableForm] = ()

    def __post_init__(self) -> None:
        wrong = [role for role in self.columns if role not in ROLES]
        if wrong:
            raise UsageError(f"columns are head, relation and tail, not {wrong[0]!r}")
        if self.columns and not {"head", "tail"} <= self.columns.keys():
            raise UsageError("columns need a head and a tail, as in: head=from,relation=type,tail=to")
        if self.most_inferred < 0:
            raise UsageError(f"most_inferred is {self.most_inferred}: it must be at least 0")
        if not _TAG.fullmatch(self.language):
            raise UsageError(f"{self.language!r} is no language. Give a tag, as in: en, de, pt-BR")
        if self.encoding is not None:
            try:
                " ".encode(self.encoding)  # not of rot13 or zlib, which are of no text
            except (LookupError, ValueError) as error:
                raise UsageError(
                    f"unknown encoding {self.encoding!r}. Give one as utf-8 or cp1252"
                ) from error

    @property
    def of_table(self) -> bool:
        """Whether anything is said of the columns of a table."""
        return bool(self.columns or self.id or self.relation or self.undirected)


def names_of(text: str) -> dict[str, str]:
    """Read `Movie=title,Person="first last"`, or a column that names nodes of all types.

    >>> names_of('Movie=title,Person="first last"')
    {'Movie': 'title', 'Person': 'first last'}
    """
    names: dict[str, str] = {}
    for part in text.split(","):
        type_, equals, columns = part.rpartition("=")
        if not columns.strip(' "') or (equals and not type_.strip()):
            raise UsageError(f'names are given as Movie=title,Person="first last", not {text!r}')
        names[type_.strip()] = columns.strip(' "')
    return names


def split_of(text: str) -> dict[str, str]:
    """Read what separates values in the cells of a column, or of several.

    >>> split_of("genres=, ")
    {'genres': ', '}
    >>> split_of('genres=", ",cast="|"')
    {'genres': ', ', 'cast': '|'}
    """
    quoted = re.findall(r'\s*([^=",]+)="([^"]+)"', text)
    column, _, separator = text.partition("=")
    pairs = quoted if '"' in text else [(column, separator)]
    if not pairs or not all(name.strip() and mark for name, mark in pairs):
        raise UsageError(f'what separates values is given as genres=", ", not {text!r}')
    return {name.strip(): mark for name, mark in pairs}


def columns_of(text: str) -> dict[str, str]:
    """Read `head=from,relation=type,tail=to`; raises UsageError for anything else."""
    columns: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or not column.strip():
            raise UsageError(f"columns are given as head=from,relation=type,tail=to, not {text!r}")
        columns[role.strip()] = column.strip()
    return columns
