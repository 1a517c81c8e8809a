"""Statements as Wikibase writes them (Wikidata and others), whose qualifiers are properties of edges.

`wd:Q1 p:P39 wds:S`, `wds:S ps:P39 wd:Q2` and `wds:S pq:P580 "2001"` say of the triple `wd:Q1 wdt:P39 wd:Q2`
that its P580 is 2001. The label of an entity `wd:P39` is that of the relation `wdt:P39`.
https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from clew.graph.namespaces import RDF

StatementRole = Literal["claim", "value", "qualifier", "beside"]
"""What a triple says of a statement: whose it is, its value, a qualifier, or what is kept nowhere."""

_ONTOLOGY = "http://wikiba.se/ontology#"
_BESIDE = (RDF + "type", "http://www.w3.org/ns/prov#wasDerivedFrom")
_PREDICATE = re.compile(
    r"(?P<base>.+/prop/)(?P<place>|(?:statement|qualifier)/(?:[a-z-]+/)?|direct-normalized/)P(?P<id>\d+)"
)
_PROPERTY = re.compile(r"(.+)/entity/(P\d+)")
_PLACES: dict[str, StatementRole] = {"": "claim", "statement/": "value", "qualifier/": "qualifier"}


@dataclass(frozen=True, slots=True)
class StatementPart:
    """What a predicate says of a statement, and the relation or key that it is of."""

    part: StatementRole
    relation: str


@lru_cache(maxsize=1 << 14)
def statement_part(predicate: str) -> StatementPart | None:
    """What the predicate of a triple with a statement of Wikibase says of it; None for any other."""
    if predicate in _BESIDE or predicate.startswith(_ONTOLOGY):
        return StatementPart("beside", predicate)
    parts = _PREDICATE.fullmatch(predicate)
    if parts is None:
        return None
    return StatementPart(_PLACES.get(parts["place"], "beside"), f"{parts['base']}direct/P{parts['id']}")


def is_statement(name: str) -> bool:
    """Whether an IRI is that of a statement."""
    return "/entity/statement/" in name


def relation_of(entity: str) -> str | None:
    """The relation that an entity describes, if it is a property."""
    parts = _PROPERTY.fullmatch(entity)
    return None if parts is None else f"{parts[1]}/prop/direct/{parts[2]}"


def is_spelling(predicate: str, object_: str) -> bool:
    """Whether a triple says by what IRIs a property is written."""
    return predicate.startswith(_ONTOLOGY) and "/prop/" in object_
