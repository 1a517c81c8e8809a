"""SPARQL text → tokens, as far as comments, brackets and words outside of names have to be told apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

from clew.stores.errors import QueryRefused, QuerySyntaxError

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<comment>\#[^\n\r]*)
    |(?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    |(?P<string>'''(?:'{0,2}(?:[^'\\]|\\.))*'''|\"\"\"(?:"{0,2}(?:[^"\\]|\\.))*\"\"\"
        |'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*")
    |(?P<name>(?:[^\W\d_][\w.-]*|_)?:(?:(?:[\w:.-]|%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?\#@%])*
        (?:[\w:-]|%[0-9A-Fa-f]{2}|\\[-_~.!$&'()*+,;=/?\#@%]))?)
    |(?P<variable>[?$]\w+)
    |(?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[A-Za-z_]+)
    |(?P<sign>[{}()\[\].,;|/^*+?!=<>&-])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}")


@dataclass(frozen=True, slots=True)
class SparqlToken:
    """A piece of a query: its kind (a group of the expression above) and its text."""

    kind: str
    text: str

    @property
    def keyword(self) -> str:
        """The word in capitals; empty for all that is no word."""
        return self.text.upper() if self.kind == "word" else ""


def tokens_of(text: str) -> list[SparqlToken]:
    r"""Cut a query into tokens, comments dropped.

    Escapes (`\\u0041`) are looked at by a SPARQL parser before anything else, wherever they stand, and may
    hide a quote or a word: QueryRefused. QuerySyntaxError for a character that begins no token.
    """
    escape = _ESCAPE.search(text)
    if escape is not None:
        raise QueryRefused(f"The query has the escape {escape[0]}. Write the character itself")
    tokens: list[SparqlToken] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise QuerySyntaxError(f"{text[at : at + 20]!r} is no SPARQL", text, at)
        is_comment = found.lastgroup == "comment"
        tokens.append(SparqlToken("space", " ") if is_comment else SparqlToken(found.lastgroup, found[0]))
        at = found.end()
    return tokens
