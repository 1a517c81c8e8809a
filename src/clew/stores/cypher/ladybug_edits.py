"""What all rewriting of Cypher for ladybug needs: new texts of tokens, names, and refusals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from clew.stores.cypher.tokens import quote_name
from clew.stores.cypher.tree import LabelExpression, Statement
from clew.stores.errors import QueryRefused

_RESERVED = frozenset(
    """
    ALL AND ANY ASC ASCENDING CASE COLUMN CREATE DEFAULT DESC DESCENDING DISTINCT ELSE END ENDS EXISTS
    FALSE FOREIGN GLOB GROUP HEADERS HINT IN INSTALL JOIN LIMIT MACRO MULTI_JOIN NONE NOT NULL ON ONLY
    OPTIONAL OR ORDER PRIMARY PROFILE SHORTEST SINGLE SKIP STARTS TABLE THEN TO TRAIL TRUE UNION UNIQUE
    UNWIND WHEN WHERE WITH WSHORTEST XOR
    """.split()
)
"""Words that ladybug takes for a name in backticks only."""


def refuse(feature: str) -> NoReturn:
    """Say that the embedded store cannot do something as Neo4j does it."""
    raise QueryRefused(f"The embedded store does not have {feature}. Write the query without, or use Neo4j")


NODE_ID = "clew_id"
"""The property that holds the graph's id of a node."""
_DOT = "\ufe52"
"""Stands for a dot in names of tables: ladybug takes what is before a dot for a database."""


def without_dots(name: str) -> str:
    """A name as ladybug can have it (`film.directed_by`, as Freebase writes)."""
    return name.replace(".", _DOT)


def with_dots(name: str) -> str:
    """A name of ladybug as the graph has it."""
    return name.replace(_DOT, ".")


def quoted_text(text: str) -> str:
    """Write a text for ladybug."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted(name: str) -> str:
    """Write a name for ladybug, in backticks where it needs them."""
    name = without_dots(name)
    return f"`{name}`" if name.upper() in _RESERVED else quote_name(name)


@dataclass(slots=True)
class TokenEdits:
    """New texts of tokens, and texts before and behind them.

    Outer parts are rewritten before those in them, whose texts stand nearer to the token.
    """

    statement: Statement
    texts: dict[int, str]
    nested: set[int] = field(default_factory=set[int])
    """First tokens of what stands in subqueries."""
    chained: set[int] = field(default_factory=set[int])
    """First tokens of comparisons in a row."""
    names: int = field(default=0)
    _repetitions: list[tuple[int, int, str, str]] = field(default_factory=list[tuple[int, int, str, str]])
    _token_parts: dict[int, tuple[str, str, str]] = field(default_factory=dict[int, tuple[str, str, str]])

    def put(self, token: int, text: str) -> None:
        """Replace a token."""
        self._write(token, middle=text)

    def before(self, token: int, text: str) -> None:
        """Put a text before a token."""
        self._write(token, before=text)

    def behind(self, token: int, text: str) -> None:
        """Put a text behind a token."""
        self._write(token, behind=text)

    def _write(self, token: int, *, before: str = "", middle: str | None = None, behind: str = "") -> None:
        outer, text, inner = self._token_parts.get(token, ("", self.text(token), ""))
        parts = (outer + before, text if middle is None else middle, behind + inner)
        self._token_parts[token], self.texts[token] = parts, "".join(parts)

    def repeat(self, start: int, stop: int, between: str, before: str = "") -> None:
        """Repeat tokens behind themselves, as they are when all is rewritten; `before` stands before both."""
        mark, begin = f"{between}\0{start}-{stop}\0", f"\1{start}-{stop}\1"
        self.before(start, before + begin)
        self.behind(stop - 1, mark)
        self._repetitions.append((start, stop, mark, begin))

    def finish(self) -> None:
        """Write what is repeated; inner parts first, which outer ones repeat."""
        for start, stop, mark, begin in reversed(self._repetitions):
            last_text, text_behind = self.text(stop - 1).split(mark, 1)
            text = "".join([*map(self.text, range(start, stop - 1)), last_text]).split(begin, 1)[1]
            self.texts[stop - 1] = f"{last_text}{mark.split(chr(0))[0]}{text}{text_behind}"
            self.texts[start] = self.text(start).replace(begin, "", 1)

    def text(self, token: int) -> str:
        """Get the text of a token as it is now."""
        return self.texts.get(token, self.statement.tokens[token].text)

    def drop(self, tokens: Iterable[int]) -> None:
        """Leave tokens out."""
        for token in tokens:
            self.put(token, "")

    def new_name(self) -> str:
        """Make a name for an edge that has none."""
        self.names += 1
        return f"clew_edge_{self.names}"


def label_names(expression: LabelExpression) -> tuple[str, ...] | None:
    """Return the names of `A` and `A|B`; None for other expressions."""
    alternatives = expression.parts if expression.operator == "|" else (expression,)
    if any(part.operator != "label" for part in alternatives):
        return None
    return tuple(name.text for name in expression.names)
