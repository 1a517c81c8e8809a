"""A statement rewritten so that each row also returns the paths that it matched: what its answers rest on.

Every path of MATCH gets a variable. A WITH or RETURN that groups (it aggregates, or is DISTINCT) collects
them, any other hands them on, so that neither the rows nor their order change. What is matched inside
CALL { } is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clew.stores.cypher import tree
from clew.stores.cypher.functions import AGGREGATES
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tokens import render
from clew.stores.cypher.tree import Statement, Syntax

PATH_COLUMNS = "evidence_"
"""Of the columns that hold paths."""


@dataclass(slots=True)
class _Rewriting:
    """New texts of tokens, and the paths in sight: what gives each, and the column that it goes by."""

    statement: Statement
    edits: dict[int, str] = field(default_factory=dict[int, str])
    paths: dict[str, str] = field(default_factory=dict[str, str])

    def put(self, token: int, before: str = "", behind: str = "") -> None:
        """Add texts around a token."""
        self.edits[token] = before + self.edits.get(token, self.statement.tokens[token].text) + behind


def with_evidence(statement: Statement) -> tuple[str, ...]:
    """Return the statement with columns of paths, one text for each branch of a UNION."""
    return tuple(_branch(statement, branch) for branch in statement.query.branches)


def sample_of_evidence(statement: Statement, most: int) -> tuple[str, ...]:
    """Return queries for at most `most` of the paths behind a statement, before anything is grouped."""
    return tuple(_branch(statement, branch, most) for branch in statement.query.branches)


def subquery_evidence(statement: Statement, most: int) -> tuple[str, ...]:
    """Return queries for at most `most` paths of the EXISTS, COUNT and patterns of the last RETURN."""
    queries: list[str] = []
    for branch in statement.query.branches:
        last = branch.clauses[-1]
        if not isinstance(last, tree.Projection) or groups(last):
            continue
        earlier_clauses = render(statement.tokens[branch.start : last.start], {}, comments=False)
        for part in (p for item in last.items for p in item.walk()):
            pattern = _subquery_pattern(part, statement)
            if pattern:
                match = "" if pattern.upper().startswith("MATCH") else "MATCH "
                queries += sample_of_evidence(parse(f"{earlier_clauses} {match}{pattern} RETURN 1"), most)
    return tuple(queries)


def _subquery_pattern(part: Syntax, statement: Statement) -> str:
    """What a subquery, or a pattern that is a condition, matches; empty for any other part."""
    if isinstance(part, tree.PatternExpression):
        return "" if part.path.selector else statement.source(part.path)
    if not isinstance(part, tree.Subquery) or part.kind not in ("EXISTS", "COUNT"):
        return ""
    inner = render(statement.tokens[part.start + 2 : part.stop - 1], {}, comments=False).strip()
    return "" if "RETURN" in inner.upper() else inner


def is_evidence(column: str) -> bool:
    """Whether a column was added by `with_evidence`."""
    return column.startswith(PATH_COLUMNS)


def _branch(statement: Statement, branch: tree.Branch, most: int | None = None) -> str:
    rewriting = _Rewriting(statement)
    stop = branch.stop
    for clause in branch.clauses:
        if isinstance(clause, tree.MatchClause):
            for path in clause.paths:
                column = f"{PATH_COLUMNS}{len(rewriting.paths)}"
                if path.variable is None:
                    rewriting.put(path.start, before=f"{column} = ")
                rewriting.paths[column] = column if path.variable is None else statement.source(path.variable)
        elif isinstance(clause, tree.Projection):
            if most is not None and (groups(clause) or clause.keyword == "RETURN"):
                stop = clause.start
                break
            _project(clause, rewriting)
    text = render(
        statement.tokens[branch.start : stop],
        {token - branch.start: text for token, text in rewriting.edits.items()},
        comments=False,
    ).strip()
    if most is None:
        return text
    return f"{text} RETURN {', '.join(_columns(rewriting, collect=False))} LIMIT {most}"


def _project(clause: tree.Projection, rewriting: _Rewriting) -> None:
    if not rewriting.paths or (clause.star and clause.keyword == "WITH"):
        return
    if clause.distinct and not clause.star:
        rewriting.edits[clause.start + 1] = ""
    if clause.items:
        path_columns = ", ".join(_columns(rewriting, collect=groups(clause) and not clause.star))
        rewriting.put(clause.items[-1].stop - 1, behind=f", {path_columns}")
    rewriting.paths = {column: column for column in rewriting.paths}


def _columns(rewriting: _Rewriting, *, collect: bool) -> Iterator[str]:
    for column, value in rewriting.paths.items():
        if collect:
            yield f"collect({value}) AS {column}"
        else:
            yield column if value == column else f"{value} AS {column}"


def groups(clause: tree.Projection) -> bool:
    """Whether a WITH or RETURN makes one row of many."""
    return clause.distinct or any(_aggregates(item) for item in clause.items)


def _aggregates(part: Syntax) -> bool:
    if isinstance(part, tree.Subquery):
        return False
    if isinstance(part, tree.Call) and part.name.lower() in AGGREGATES:
        return True
    return any(_aggregates(child) for child in part.children())
