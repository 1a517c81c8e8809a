"""What an update adds and removes, by name; what it is to do, and what it did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from clew.graph.readers.batch import EdgeStatement, NodeKey
from clew.graph.readers.hints import MOST_INFERRED
from clew.index.update.infer_again import Following
from clew.index.update.type_edits import NamedTexts

NamedTriple = tuple[str, str, NodeKey]


@dataclass(frozen=True, slots=True)
class ReadNotes:
    """What happened while the files of an update were read: lines `skipped`, the first `reasons`, `notes`."""

    skipped: int = 0
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edits:
    """Changes by name. What is removed goes first; an entity that is removed loses all that is said of it.

    `nodes` are entities that are made even without a triple. `add_names` and `remove_names` are what a source
    calls its entities: labels and aliases; those of other names are passed over. `labels` are names
    for people of entities and relations that are new; `iris` says that names are IRIs. `statements` are edges
    with properties, beside their triples. `add_characters` and `remove_characters` are (property, `symmetric`
    or `transitive`). RDF that is read with 0 for `most_inferred` is for an index that
    infers nothing.
    """

    add: Sequence[NamedTriple] = ()
    remove: Sequence[NamedTriple] = ()
    add_types: NamedTexts = ()
    remove_types: NamedTexts = ()
    add_aliases: NamedTexts = ()
    remove_aliases: NamedTexts = ()
    add_names: NamedTexts = ()
    remove_names: NamedTexts = ()
    remove_entities: Sequence[str] = ()
    nodes: Sequence[str] = ()
    labels: dict[str, str] = field(default_factory=dict[str, str])
    iris: bool = False
    statements: Sequence[EdgeStatement] = ()
    add_characters: NamedTexts = ()
    remove_characters: NamedTexts = ()
    most_inferred: int = MOST_INFERRED
    reading: ReadNotes = ReadNotes()


@dataclass(frozen=True, slots=True)
class EditReport:
    """What an update did.

    `duplicates` were added already, `missing` not there to be removed (the first by name). `following` counts
    the triples and types that follow from an ontology and did not, and those that no longer do; None where
    nothing was inferred. `skipped`, `reasons` and `notes` tell of reading its files.
    """

    added: int
    removed: int
    duplicates: int
    missing: int
    missing_examples: tuple[str, ...]
    new_entities: int
    new_relations: int
    types: int
    aliases: int
    skipped: int = 0
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    following: Following | None = None


@dataclass(frozen=True, slots=True)
class EditRules:
    """How an update is done: `strict` refuses new entities and relations.

    `ignore_missing` goes on where what is to be removed is not there; `wait` seconds for another process that
    writes.
    """

    strict: bool = False
    ignore_missing: bool = False
    wait: float = 5.0


USUAL = EditRules()
"""New names are made, and nothing to be removed may be missing."""
