"""From a model's reply to the one statement in it, and rules that mend what is nearly Cypher.

SynaptiQA, section III.B, *statement optimisation*: what is no query is taken off (prose, fences), and the
statement is checked by rules. The rules are tried only on what does not parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice

from clew.llm.extract import statements
from clew.stores.cypher.direction import Correction
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import LONGEST_STATEMENT, Relationship, Statement, Syntax
from clew.stores.errors import QueryError, QueryRefused, QuerySyntaxError

BOUND = 10
"""Edges of a path without a bound, as in the paper's `[*..10]` (section III.C)."""
MOST_BEGINNINGS = 8
"""Places of a reply at which a statement may begin."""
MOST_CUTS = 30
"""Lines behind which a text is tried without what follows."""
ROOM = 4 * LONGEST_STATEMENT
"""Characters that are parsed in all, so that no reply takes long."""

_INLINE = re.compile(r"`([^`\n]+)`")
_BEGINS = re.compile(
    r"(?:^|[\n:>`])[ \t]*((?:OPTIONAL[ \t]+)?MATCH\b|WITH\b|UNWIND\b|CALL\b|RETURN\b)", re.IGNORECASE
)
_ANYWHERE = re.compile(r"\b(?:OPTIONAL[ \t]+)?MATCH[ \t]*\(", re.IGNORECASE)
_CLAUSE = re.compile(
    r"[ \t]*(?:(?:OPTIONAL|MATCH|WHERE|WITH|RETURN|ORDER|SKIP|LIMIT|UNWIND|CALL|UNION|AND|OR|XOR|CREATE|"
    r"MERGE|SET|DELETE|DETACH|REMOVE|DROP|FOREACH|LOAD|USE|USING|YIELD|INSERT)\b|[(){}\[\],.;<>=+*/-])",
    re.IGNORECASE,
)
_LABELLED = re.compile(
    r"^\s*(?:cypher(?:\s+query|\s+statement)?|query|statement|answer)\s*[:=]?\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A statement, its text, and what was done to the reply to get it."""

    statement: Statement
    text: str
    corrections: tuple[Correction, ...]


def extract_query(reply: str) -> Extracted:
    """Find the statement in a reply: the first text in it that parses, as it is or by the rules.

    Of several statements it is the first. Raises QueryError: no text in it is a statement (the error of the
    first); QueryRefused: one does more than read.
    """
    first_error: QueryError | None = None
    for text in statements(reply[:LONGEST_STATEMENT])[1:MOST_BEGINNINGS]:
        with suppress(QuerySyntaxError):
            parse(text)
    room = ROOM
    for candidate in _candidates(reply[:LONGEST_STATEMENT]):
        room -= len(candidate)
        if room < 0:
            break
        mended, rule_corrections = apply_rules(candidate)
        for text, corrections in ((candidate, []), (mended, rule_corrections))[: 1 + bool(rule_corrections)]:
            try:
                statement = parse(text)
            except QueryError as error:
                begins = _BEGINS.match(text) is not None
                if begins and isinstance(error, QueryRefused):
                    raise
                first_error = error if first_error is None and begins else first_error
                continue
            if candidate != reply.strip():
                line = " ".join(reply[:400].split())
                beginning = line if len(line) <= 80 else line[:80] + " …"
                reason = "what is around the statement is left out"
                corrections = [Correction("extract", beginning, candidate, reason), *corrections]
            return Extracted(statement, text, tuple(corrections))
    raise first_error or QueryError("The reply has no statement of Cypher")


def _candidates(reply: str) -> Iterator[str]:
    """Texts that may be the statement: as the reply marks them, then from where one begins, whole and cut."""
    texts = [_LABELLED.sub("", text) for text in statements(reply)]
    texts += [code for code in _INLINE.findall(reply) if _BEGINS.match(code)]
    begins = [*islice(_BEGINS.finditer(reply), MOST_BEGINNINGS)]
    begins += islice(_ANYWHERE.finditer(reply), MOST_BEGINNINGS)
    texts += [reply[match.start(match.lastindex or 0) :].strip() for match in begins]
    seen: set[str] = set()
    for text in texts:
        for cut in _cuts(text.strip("` \t\r\n")):
            if cut and cut not in seen:
                seen.add(cut)
                yield cut


def _cuts(text: str) -> Iterator[str]:
    """The whole text, and then what stands before each line of it that begins no clause, the last first."""
    yield text
    lines = text.split("\n")
    ends = [at for at in range(1, len(lines)) if not _CLAUSE.match(lines[at])]
    for at in reversed(ends[:MOST_CUTS]):
        yield "\n".join(lines[:at]).strip()


_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'"})
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`", re.DOTALL)
_COMMA = r",\s*(?=(?:RETURN|WHERE|WITH|MATCH|ORDER\s+BY|LIMIT)\b)"
_NO_BRACES = r"(\((?:[A-Za-z_]\w*)?\s*:\s*[A-Za-z_]\w*)\s+([A-Za-z_]\w*\s*:\s*(?:\x00\d+\x00|\d+))\s*\)"
_GROUP_BY = r"\bGROUP\s+BY\s+[\w.,\s]+?(?=\bORDER\b|\bLIMIT\b|\Z|;)"
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("no comma before a clause", re.compile(_COMMA, re.IGNORECASE), " "),
    ("== is =", re.compile(r"(?<![<>=!])==(?!=)"), "="),
    ("!= is <>", re.compile(r"!="), "<>"),
    ("&& is AND", re.compile(r"&&"), " AND "),
    ("properties stand in braces", re.compile(_NO_BRACES), r"\1 {\2})"),
    ("RETURN groups by itself", re.compile(_GROUP_BY, re.IGNORECASE), " "),
)
"""Why, what, and what for it; strings are hidden as a number between zero characters."""
_LIKE = re.compile(r"\bI?LIKE\s+\x00(\d+)\x00", re.IGNORECASE)


def apply_rules(text: str) -> tuple[str, list[Correction]]:
    """Mend what is nearly Cypher; texts in quotes stay as they are. Returns the text and what was changed."""
    plain = text.translate(_QUOTES)
    corrections = [Correction("rule", text, plain, "typographic quotes")] if plain != text else []
    strings: list[str] = []

    def hide(match: re.Match[str]) -> str:
        strings.append(match[0])
        return f"\x00{len(strings) - 1}\x00"

    plain = _STRING.sub(hide, plain.replace("\x00", " "))
    for reason, pattern, replacement in (*_RULES, ("LIKE is CONTAINS", _LIKE, partial(_contains, strings))):
        mended = pattern.sub(replacement, plain)
        if mended != plain:
            corrections.append(
                Correction("rule", _with_strings(plain, strings), _with_strings(mended, strings), reason)
            )
            plain = mended
    return _with_strings(plain, strings), corrections


def _contains(strings: list[str], match: re.Match[str]) -> str:
    at = int(match[1])
    body = strings[at][1:-1]
    operator = {(True, True): "CONTAINS", (True, False): "ENDS WITH", (False, True): "STARTS WITH"}.get(
        (body.startswith("%"), body.endswith("%")), "="
    )
    strings[at] = strings[at][0] + body.strip("%") + strings[at][0]
    return f"{operator} \x00{at}\x00"


def _with_strings(text: str, strings: list[str]) -> str:
    return re.sub(r"\x00(\d+)\x00", lambda match: strings[int(match[1])], text)


def bound_paths(statement: Statement) -> tuple[dict[int, str], list[Correction]]:
    """Give paths without an upper bound one; returns new texts of tokens, and what was changed."""
    edits: dict[int, str] = {}
    corrections: list[Correction] = []
    for part in statement.query.walk():
        if not isinstance(part, Relationship) or part.length is None:
            continue
        length = part.length
        if length.high is not None or statement.tokens[length.start].text != "*":
            continue
        if length.start > part.right[0]:  # a quantifier behind the edge, which the guard looks at
            continue
        before = statement.source(Syntax(length.start, length.stop))
        after = f"*{length.low}..{BOUND}"
        edits[length.start] = after
        edits |= dict.fromkeys(range(length.start + 1, length.stop), "")
        corrections.append(Correction("rule", before, after, f"a path without a bound gets one of {BOUND}"))
    return edits, corrections
