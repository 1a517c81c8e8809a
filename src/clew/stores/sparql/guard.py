"""The guard of SPARQL: which queries are run, and the form in which they are sent.

A query is only cut into tokens, since no keyword of SPARQL can be the name of anything else; its grammar is
left to the database. Every word must be a keyword on a list without updates, and without SERVICE and FROM, by
which a server calls others. Every function must be one of the language or a cast to a type of XML Schema. The
tokens are sent without comments and with a LIMIT.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clew.graph import XSD
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import QueryRefused, QuerySyntaxError, check_text

LONGEST_SPARQL = 20_000
"""Characters of a query."""
DEEPEST_BRACKETS = 100
"""Brackets within brackets."""
_FORMS = ("SELECT", "CONSTRUCT", "DESCRIBE", "ASK")
_UPDATES = ("INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD")
_WORDS = frozenset(
    """BASE PREFIX SELECT CONSTRUCT DESCRIBE ASK DISTINCT REDUCED AS WHERE GROUP BY HAVING ORDER ASC DESC
    LIMIT OFFSET VALUES UNDEF OPTIONAL UNION MINUS GRAPH FILTER BIND EXISTS NOT IN A TRUE FALSE
    COUNT SUM MIN MAX AVG SAMPLE GROUP_CONCAT SEPARATOR
    STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE
    ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE
    TZ NOW UUID STRUUID MD SHA COALESCE IF STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC
    REGEX SUBSTR REPLACE TRIPLE SUBJECT PREDICATE OBJECT ISTRIPLE""".split()
)
"""Keywords of queries, in capitals; of a name with digits (SHA256) the letters only, as tokens have them."""
_CALLING_SCHEMES = ("java:", "bif:", "sql:", "loadjava:", "xpath:", "file:")
"""Schemes of IRIs that some servers run as code or open as files."""
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
_NAME_ESCAPE = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class SparqlToken:
    """A piece of a query: its text, and its kind, which is the name of a group of `_TOKEN`."""

    kind: str
    text: str

    @property
    def keyword(self) -> str:
        """The word in capitals; empty for any other token."""
        return self.text.upper() if self.kind == "word" else ""


def guard_sparql(query: str, rows: int = USUAL_ROWS, prefixes: Mapping[str, str] | None = None) -> Guarded:
    """Make a harmless query of a text, which returns at most `rows` rows, or refuse it.

    `prefixes` are those that the store knows without a declaration, None if they are unknown. Raises
    QuerySyntaxError for what is no SPARQL query, QueryRefused for what is not a harmless read.
    """
    tokens = tokens_of(query)
    outside = _outside_brackets(tokens, query)
    if form_of(query) == "SELECT" and not any(token.text == "{" for token in tokens):
        reason = "SPARQL has a pattern in braces, as in SELECT ?s WHERE { ?s ?p ?o }. SQL is not run"
        raise QuerySyntaxError(reason, query, len(query))
    for token in tokens:
        _check_word(token)
    _check_names(tokens, prefixes)
    return Guarded("".join(_limit_rows(tokens, outside, rows, query)).strip(), {}, None, rows)


def tokens_of(text: str) -> list[SparqlToken]:
    r"""Cut a query into tokens; a comment becomes a blank.

    Raises QueryRefused for an escape (`\u0041`), which may hide a quote or a word: a SPARQL parser replaces
    escapes before it reads anything. Raises QuerySyntaxError for a character that begins no token.
    """
    if len(text) > LONGEST_SPARQL:
        raise QueryRefused(f"The query is longer than {LONGEST_SPARQL:,} characters")
    check_text(text)
    escape = _ESCAPE.search(text)
    if escape is not None:
        raise QueryRefused(f"The query has the escape {escape[0]}. Write the character itself")
    tokens: list[SparqlToken] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise QuerySyntaxError(f"{text[at : at + 20]!r} is no SPARQL", text, at)
        is_comment = match.lastgroup == "comment"
        tokens.append(SparqlToken("space", " ") if is_comment else SparqlToken(match.lastgroup, match[0]))
        at = match.end()
    return tokens


def with_texts(text: str) -> str:
    """Have GROUP_CONCAT join whatever it is given by its text, as servers do: IRIs and numbers too."""
    tokens = tokens_of(text)
    texts = [token.text for token in tokens]
    parts = [at for at, token in enumerate(tokens) if token.kind != "space"]
    for name, opening, first, second in zip(parts, parts[1:], parts[2:], parts[3:], strict=False):
        if tokens[name].keyword != "GROUP_CONCAT" or tokens[opening].text != "(":
            continue
        start = second if tokens[first].keyword == "DISTINCT" else first
        depth, stop = 0, start
        while depth or tokens[stop].text not in (";", ")"):
            depth += _opens(tokens[stop])
            stop += 1
        texts[start], texts[stop] = f"STR({texts[start]}", f"){texts[stop]}"
    return "".join(texts)


def form_of(text: str) -> str:
    """Return SELECT, CONSTRUCT, DESCRIBE or ASK; empty for a text that has none of them."""
    return next((token.keyword for token in tokens_of(text) if token.keyword in _FORMS), "")


def names_of(tokens: list[SparqlToken], prefixes: Mapping[str, str]) -> dict[str, str]:
    """The IRIs in a query, each with its text there; not those of declarations and datatypes."""
    parts = [token for token in tokens if token.kind != "space"]
    names: dict[str, str] = {}
    for number, iri, _ in _names(parts, prefixes):
        before = parts[max(number - 2, 0) : number]
        is_declared = any(token.keyword in ("PREFIX", "BASE") for token in before)
        if not is_declared and "".join(token.text for token in before) != "^^":
            names.setdefault(iri, parts[number].text)
    return names


def short_name(iri: str, prefixes: Mapping[str, str], otherwise: str) -> str:
    """Write an IRI with its prefix; one that has none is `otherwise`."""
    known = ((prefix, start) for prefix, start in prefixes.items() if iri.startswith(start))
    return next((f"{prefix}:{iri.removeprefix(start)}" for prefix, start in known), otherwise)


def _names(
    parts: Sequence[SparqlToken], prefixes: Mapping[str, str]
) -> Iterator[tuple[int, str, str | None]]:
    """Yield the position and IRI of each IRI and prefixed name, and its prefix if that is not declared.

    Names that are declared by PREFIX are left out.
    """
    known = dict(prefixes)
    for number, token in enumerate(parts):
        before = parts[number - 1].keyword if number else ""
        if before == "PREFIX" and number + 1 < len(parts):
            known[token.text.rstrip(":")] = parts[number + 1].text[1:-1]
        elif token.kind == "iri":
            yield number, token.text[1:-1], None
        elif token.kind == "name":
            prefix, _, local = token.text.partition(":")
            iri = known.get(prefix, f"{prefix}:") + _NAME_ESCAPE.sub(r"\1", local)
            yield number, iri, None if prefix == "_" or prefix in known else prefix


def _outside_brackets(tokens: list[SparqlToken], query: str) -> list[int]:
    """Positions of the tokens outside brackets, blanks left out.

    Raises QuerySyntaxError if brackets do not match, QueryRefused for deep nesting, updates and semicolons.
    """
    depth, outside = 0, list[int]()
    for number, token in enumerate(tokens):
        depth += _opens(token)
        if depth > DEEPEST_BRACKETS:
            raise QueryRefused(f"It has more than {DEEPEST_BRACKETS} brackets within one another")
        if depth < 0:
            raise QuerySyntaxError(f"{token.text!r} closes nothing", query, len(query))
        if depth == 0 and token.keyword in _UPDATES:
            raise QueryRefused(f"{token.keyword} writes. Only SELECT, ASK, CONSTRUCT and DESCRIBE are run")
        if depth == 0 and token.text == ";":
            raise QueryRefused("A query has no semicolon outside of braces. Give one query at a time")
        if depth == 0 and token.kind != "space":
            outside.append(number)
    if depth:
        raise QuerySyntaxError("a bracket is never closed", query, len(query))
    return outside


def _opens(token: SparqlToken) -> int:
    """1 for an opening bracket, -1 for a closing one, else 0."""
    if token.kind != "sign":
        return 0
    return (token.text in "{([") - (token.text in "})]")


def _check_word(token: SparqlToken) -> None:
    word = token.keyword
    if not word or word in _WORDS:
        return
    if word == "SERVICE":
        raise QueryRefused(
            "SERVICE has the server ask another one, which is not allowed. Ask that one itself"
        )
    if word in ("FROM", "NAMED"):
        raise QueryRefused(
            "FROM may have the server load a graph from elsewhere, which is not allowed. Name a graph "
            "that it has in the address: …?default-graph-uri=NAME"
        )
    raise QueryRefused(f"{token.text} is no word of SPARQL's queries, which are all that is run")


def _check_names(tokens: list[SparqlToken], prefixes: Mapping[str, str] | None) -> None:
    """Refuse IRIs that a server may run or call, except casts, and prefixes that are not declared."""
    parts = [token for token in tokens if token.kind != "space"]
    in_modifiers = [False]
    for token in parts:
        in_modifiers.append((in_modifiers[-1] or token.text == "}") and token.text != "{")
    for number, name, unknown_prefix in _names(parts, prefixes or {}):
        if prefixes is not None and unknown_prefix is not None:
            raise QueryRefused(
                f"The prefix {unknown_prefix}: is not declared. Write PREFIX {unknown_prefix}: <…> before "
                "the query" + (f"; known are {', '.join(f'{p}:' for p in prefixes)}" if prefixes else "")
            )
        if name.lower().startswith(_CALLING_SCHEMES):
            raise QueryRefused(f"The query has the name {name}, which some servers run as code")
        before = parts[number - 1] if number else SparqlToken("space", "")
        is_call = number + 1 < len(parts) and parts[number + 1].text == "("
        is_relation = not in_modifiers[number + 1] and (
            before.kind in ("variable", "iri", "name", "string", "number") or before.text in tuple(";.[]{")
        )
        if is_call and not is_relation and not name.startswith((XSD, "xsd:")):
            raise QueryRefused(
                f"The query calls the function {name}, which is not on the list of those allowed"
            )


def _limit_rows(tokens: list[SparqlToken], outside: list[int], rows: int, query: str) -> Iterator[str]:
    """Yield the texts of the tokens, with a LIMIT of at most `rows + 1` unless it is an ASK."""
    forms = [tokens[at].keyword for at in outside if tokens[at].keyword in _FORMS]
    if not forms:
        raise QuerySyntaxError("it is no query: SELECT, ASK, CONSTRUCT or DESCRIBE", query, 0)
    if len(forms) > 1:
        raise QueryRefused("The text has several queries. Give one at a time")
    if forms == ["ASK"]:
        yield from (token.text for token in tokens)
        return
    limits = [at for before, at in pairwise(outside) if tokens[before].keyword == "LIMIT"]
    if len(limits) > 1 or any(not tokens[at].text.isdigit() for at in limits):
        raise QueryRefused("LIMIT must be a whole number that is written out, once")
    # VALUES behind the pattern comes after LIMIT.
    opened = next((at for at, token in enumerate(tokens) if _opens(token)), len(tokens))
    values = [at for at in outside if at > opened and tokens[at].keyword == "VALUES"][-1:]
    for number, token in enumerate(tokens):
        if number in values and not limits:
            yield f"LIMIT {rows + 1} "
        if number in limits:  # Python limits the digits that it reads
            yield str(min(int(token.text), rows + 1) if len(token.text) < 19 else rows + 1)
        else:
            yield token.text
    if not limits and not values:
        yield f" LIMIT {rows + 1}"
