"""The guard of SPARQL: which queries are run, and the form in which they are sent.

rdflib's grammar reads the query language and nothing of updates. On its tree the parts are compared with
those allowed: no SERVICE and no FROM, which have a server call other servers, and no functions but those of
the language itself. What is sent is the text that was checked, without comments and with a LIMIT.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from importlib import import_module
from threading import Lock
from typing import Any, cast

from clew.graph.namespaces import XSD
from clew.stores.cypher.costs import check_regex
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import QueryRefused, QuerySyntaxError

LONGEST_SPARQL = 20_000
"""Characters of a query."""
DEEPEST_BRACKETS = 30
"""Brackets within brackets; the parser takes a multiple of the time for each."""
MOST_LENGTHENED = 10_000
"""How many times as long a text may become by all CONCAT and REPLACE of a query together."""
_FORMS = ("SELECT", "CONSTRUCT", "DESCRIBE", "ASK")
_UPDATES = ("INSERT", "DELETE", "WITH", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD")
_CALLING_SCHEMES = ("java:", "bif:", "sql:", "loadjava:", "xpath:", "file:")
"""IRIs that are code or files to some servers, as a function or as a relation."""
_PARTS = frozenset(
    """PrefixDecl Base SelectQuery ConstructQuery DescribeQuery AskQuery SubSelect vars pname literal
    TriplesBlock
ConstructTriples GroupGraphPatternSub FakeGroupGraphPatten OptionalGraphPattern GroupOrUnionGraphPattern
MinusGraphPattern GraphGraphPattern Filter Bind InlineData ValuesClause GroupClause GroupAs HavingClause
OrderClause OrderCondition LimitOffsetClauses PathAlternative PathSequence PathElt PathEltOrInverse
PathNegatedPropertySet ConditionalOrExpression ConditionalAndExpression RelationalExpression
AdditiveExpression MultiplicativeExpression
UnaryNot UnaryMinus UnaryPlus Function""".split()
)
_PREFIXES = ("Builtin_", "Aggregate_")
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
_parser_lock = Lock()


@dataclass(frozen=True, slots=True)
class SparqlToken:
    """A piece of a query: its kind (a group of the expression above) and its text."""

    kind: str
    text: str

    @property
    def keyword(self) -> str:
        """The word in capitals; empty for all that is no word."""
        return self.text.upper() if self.kind == "word" else ""


def guard_sparql(query: str, rows: int = USUAL_ROWS, prefixes: Collection[str] | None = None) -> Guarded:
    """Make a harmless query of a text, which returns at most `rows` rows, or refuse it.

    `prefixes` are those that the store knows without being told; None if that is not known. Raises
    QuerySyntaxError for what is no SPARQL query, QueryRefused for what is not a harmless read.
    """
    if len(query) > LONGEST_SPARQL:
        raise QueryRefused(f"The query is longer than {LONGEST_SPARQL:,} characters")
    tokens = tokens_of(query)
    _check_brackets(tokens)
    text = "".join(_limit_rows(tokens, rows)).strip()
    tree = _parse(text)
    for part in _walk(tree):
        _check(part)
    _check_names(tree, prefixes)
    _check_growth(tree)
    _check_regexes(tree)
    _check_limit(tree, rows)
    return Guarded(text, {}, None, rows)


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
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise QuerySyntaxError(f"{text[at : at + 20]!r} is no SPARQL", text, at)
        is_comment = match.lastgroup == "comment"
        tokens.append(SparqlToken("space", " ") if is_comment else SparqlToken(match.lastgroup, match[0]))
        at = match.end()
    return tokens


def form_of(text: str) -> str:
    """Return SELECT, CONSTRUCT, DESCRIBE or ASK; empty if it is none of them."""
    return next((token.keyword for token in tokens_of(text) if token.keyword in _FORMS), "")


def _check_brackets(tokens: list[SparqlToken]) -> None:
    """Refuse what is too deep for the parser, and say plainly what it would not."""
    depth = 0
    for token in tokens:
        depth += _opens(token)
        if depth > DEEPEST_BRACKETS:
            raise QueryRefused(f"It has more than {DEEPEST_BRACKETS} brackets within one another")
        if depth == 0 and token.keyword in _UPDATES:
            raise QueryRefused(f"{token.keyword} writes. Only SELECT, ASK, CONSTRUCT and DESCRIBE are run")
        if depth == 0 and token.text == ";":
            raise QueryRefused("A query has no semicolon outside of braces. Give one query at a time")


def _opens(token: SparqlToken) -> int:
    if token.kind != "sign":
        return 0
    return (token.text in "{([") - (token.text in "})]")


def _limit_rows(tokens: list[SparqlToken], rows: int) -> Iterator[str]:
    """Yield the texts of a query that returns one row more than `rows` at most."""
    form, limit, values = _outer_parts(tokens)
    if form == "ASK":
        yield from (token.text for token in tokens)
        return
    for number, token in enumerate(tokens):
        if number == values and limit is None:
            yield f"LIMIT {rows + 1} "
        if limit is not None and number == limit and token.text.isdigit():
            yield str(min(_count(token.text), rows + 1))
        else:
            yield token.text
    if limit is None and values is None:
        yield f" LIMIT {rows + 1}"


def _outer_parts(tokens: list[SparqlToken]) -> tuple[str, int | None, int | None]:
    """Return the form, and the positions of the number of LIMIT and of VALUES outside all brackets."""
    form, limit, values, depth, opened = "", None, None, 0, False
    for number, token in enumerate(tokens):
        depth += _opens(token)
        opened = opened or depth > 0
        if depth == 0 and token.keyword:
            form = form or (token.keyword if token.keyword in _FORMS else "")
            values = number if token.keyword == "VALUES" and opened else values
            if token.keyword == "LIMIT":
                limit = next((n for n, t in enumerate(tokens) if n > number and t.kind == "number"), None)
    return form, limit, values


def _parse(text: str) -> Any:  # noqa: ANN401
    parser = import_module("rdflib.plugins.sparql.parser")
    pyparsing = import_module("pyparsing")
    try:
        with _parser_lock:
            return parser.parseQuery(text)
    except pyparsing.ParseBaseException as error:
        reason = f"what begins there is no SPARQL 1.1 ({str(error.msg).lower()})"
        raise QuerySyntaxError(reason, text, int(error.loc)) from error
    except RecursionError as error:
        raise QueryRefused("Its parts are too deep within one another") from error


def _walk(part: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield all inner parts of the tree, and its names and values."""
    results = import_module("pyparsing").ParseResults
    waiting = [part]
    while waiting:
        at = waiting.pop()
        yield at
        if isinstance(at, dict):
            waiting.extend(cast("dict[str, Any]", at).values())
        elif isinstance(at, (list, tuple, results)):
            waiting.extend(cast("list[Any]", at))


def _check(part: Any) -> None:  # noqa: ANN401
    """Raise QueryRefused for a part that is not on the list."""
    name = getattr(part, "name", None) if isinstance(part, dict) else None
    if name is None or name in _PARTS or name.startswith(_PREFIXES):
        return
    if name == "ServiceGraphPattern":
        raise QueryRefused(
            "SERVICE has the server ask another one, which is not allowed. Ask that one itself"
        )
    if name == "DatasetClause":
        raise QueryRefused(
            "FROM may have the server load a graph from elsewhere, which is not allowed. Name a graph "
            "that it has in "
            "the address: …?default-graph-uri=NAME"
        )
    raise QueryRefused(f"The query has a {name}, which is not on the list of what is allowed")


def _check_names(tree: Any, known_prefixes: Collection[str] | None) -> None:  # noqa: ANN401
    """Refuse names that a server may run, functions that are not the language's own, unknown prefixes."""
    iri_type = import_module("rdflib").URIRef
    prefixes = {str(p.get("prefix", "")): str(p["iri"]) for p in _walk(tree) if _is(p, "PrefixDecl")}

    def whole_name(name: Any) -> str:  # noqa: ANN401
        if isinstance(name, iri_type):
            return str(name)
        prefix = str(name.get("prefix", ""))
        return prefixes.get(prefix, f"{prefix}:") + str(name.get("localname", ""))

    for part in _walk(tree):
        prefix = str(part.get("prefix", "")) if _is(part, "pname") else None
        if known_prefixes is not None and prefix is not None and prefix not in (*prefixes, *known_prefixes):
            raise QueryRefused(
                f"The prefix {prefix}: is not declared. Write PREFIX {prefix}: <…> before the query"
                + (f"; known are {', '.join(f'{p}:' for p in known_prefixes)}" if known_prefixes else "")
            )
        is_name = isinstance(part, iri_type) or _is(part, "pname")
        if is_name and whole_name(part).lower().startswith(_CALLING_SCHEMES):
            raise QueryRefused(f"The query has the name {whole_name(part)}, which some servers run as code")
        if _is(part, "Function") and not whole_name(part["iri"]).startswith((XSD, "xsd:")):
            raise QueryRefused(
                f"The query calls the function {whole_name(part['iri'])}, which is not on the list of those "
                "allowed"
            )


def _is(part: Any, name: str) -> bool:  # noqa: ANN401
    return isinstance(part, dict) and getattr(part, "name", None) == name


def _check_growth(tree: Any) -> None:  # noqa: ANN401
    """Refuse texts that are put together again and again: within one row no timeout ends that."""
    growth = 1
    for part in _walk(tree):
        if _is(part, "Builtin_CONCAT"):
            growth *= max(1, sum(_is_variable(p) for p in _walk(part)))
        elif _is(part, "Builtin_REPLACE"):
            literals = [str(p["string"]) for p in _walk(part.get("replacement")) if _is(p, "literal")]
            growth *= max(1, len(literals[0])) if len(literals) == 1 else MOST_LENGTHENED // 10
        if growth > MOST_LENGTHENED:
            raise QueryRefused("It puts texts together again and again, which may grow without end")


def _check_regexes(tree: Any) -> None:  # noqa: ANN401
    """Refuse patterns of REGEX and REPLACE that may run without end, or are made while the query runs."""
    for part in _walk(tree):
        if _is(part, "Builtin_REGEX") or _is(part, "Builtin_REPLACE"):
            inner = list(_walk(part["pattern"]))
            texts = [str(p["string"]) for p in inner if _is(p, "literal")]
            is_computed = any(_is_variable(p) or getattr(p, "name", "").startswith("Builtin_") for p in inner)
            check_regex(texts[0] if len(texts) == 1 and not is_computed else None)


def _is_variable(part: Any) -> bool:  # noqa: ANN401
    return type(part).__name__ == "Variable"


def _check_limit(tree: Any, rows: int) -> None:  # noqa: ANN401
    """Hold the parser's own reading of the query against the limit that was set."""
    query = tree[1]
    if query.name == "AskQuery":
        return
    limit = query.get("limitoffset", {}).get("limit")
    if limit is None or _count(limit) > rows + 1:
        raise QueryRefused("LIMIT must be a whole number that is written out")


def _count(digits: str) -> int:
    """The number of digits that a query has, none above what any list is long."""
    return int(digits) if len(digits) < 19 else 10**18
