"""`clew cypher fix` without the command line: parse a statement and correct its directions."""

from __future__ import annotations

from dataclasses import dataclass

from clew.stores.cypher.direction import Correction, correct_directions, require_legal
from clew.stores.cypher.parser import parse
from clew.stores.cypher.schema import GraphSchema
from clew.stores.cypher.tokens import render


@dataclass(frozen=True, slots=True)
class Fixed:
    """A corrected statement and what was changed in it."""

    text: str
    corrections: tuple[Correction, ...]


def fix(text: str, schema: GraphSchema) -> Fixed:
    """Turn the hops of a statement that the schema forbids.

    Raises QuerySyntaxError and QueryRefused as `parse`, IllegalHop if a hop is legal in neither direction.
    """
    statement = parse(text)
    directions = correct_directions(statement, schema)
    require_legal(directions)
    return Fixed(render(statement.tokens, directions.edits), tuple(directions.turned))
