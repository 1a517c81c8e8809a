"""Subqueries that Cypher runs for each row, as clauses that ladybug has: OPTIONAL MATCH and WITH.

    MATCH (f:film) CALL (f) { MATCH (f)-[:directed_by]->(d) RETURN count(d) AS n } RETURN f.name, n
    → MATCH (f:film) OPTIONAL MATCH (f)-[:directed_by]->(d) WITH f, count(d) AS n RETURN f.name, n

A WITH keeps rows apart by what they hold. So every node and edge before gets a name, and what is neither a
plain MATCH nor a WITH that groups is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeGuard

from clew.stores.cypher import tree
from clew.stores.cypher.guard import AGGREGATES, aggregates, groups
from clew.stores.cypher.ladybug_forms import refuse
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import Expression, Name, PathPattern, Relationship, Statement, Syntax

_ONLY = "CALL { } but behind MATCH, of one MATCH and a RETURN without DISTINCT, ORDER BY and LIMIT"


@dataclass(slots=True)
class _TokenEdits:
    """New texts of tokens, and texts before and behind them.

    Outer parts are rewritten before those in them, whose texts stand nearer to the token.
    """

    statement: Statement
    texts: dict[int, str] = field(default_factory=dict[int, str])
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

    def drop(self, tokens: Iterable[int]) -> None:
        """Leave tokens out."""
        for token in tokens:
            self._write(token, middle="")

    def text(self, token: int) -> str:
        """Get the text of a token as it is now."""
        return self.texts.get(token, self.statement.tokens[token].text)

    def _write(self, token: int, *, before: str = "", middle: str | None = None, behind: str = "") -> None:
        outer, text, inner = self._token_parts.get(token, ("", self.text(token), ""))
        parts = (outer + before, text if middle is None else middle, behind + inner)
        self._token_parts[token], self.texts[token] = parts, "".join(parts)


def with_plain_rows(statement: Statement) -> Statement:
    """The statement without CALL (x) { } and lists of a pattern's nodes, which means the same.

    Raises QueryRefused for forms of them that are not known to. CALL { } as the first clause stays.
    """
    for rewrite in (_call_lists, lambda edits, branch: _Rows(edits, branch).rewrite()):
        edits = _TokenEdits(statement)
        for branch in statement.query.branches:
            rewrite(edits, branch)
        if edits.texts:
            statement = parse(tree.render(statement.tokens, edits.texts))
    return statement


def _call_lists(edits: _TokenEdits, branch: tree.Branch) -> None:
    """*RETURN [(f)-->(d) | d.name]* is *CALL (f) { MATCH (f)-->(d) RETURN collect(d) AS l } RETURN …*.

    Of the nodes in *l* the properties are taken, also those that are null. Other lists are left, and refused.
    """
    *before, last = branch.clauses
    if not isinstance(last, tree.Projection) or last.keyword != "RETURN":
        return
    outer, tokens = (
        {name.text for clause in before for name in clause.find(tree.Name)},
        edits.statement.tokens,
    )
    rewritten = list[tree.PatternComprehension]()
    for part in _lists(last):
        result = part.result
        node = result.subject if isinstance(result, tree.PropertyAccess) else result
        own = {e.variable.text for e in part.path.elements if isinstance(e, tree.NodePattern) and e.variable}
        is_own = isinstance(node, tree.Variable) and node.name.text in own - outer
        if not is_own or tokens[result.start - 1].text != "|":
            continue
        rewritten.append(part)
        column, match = f"row_list_{len(rewritten)}_", tokens[part.start + 1 : result.start - 1]
        collected = f"collect({_source(node.name)}) AS {column}"
        edits.before(last.start, f"CALL (*) {{ MATCH {tree.render(match, {})} RETURN {collected} }} ")
        edits.drop(range(part.start, part.stop))
        key = f" | row_item_.{_source(result.key)}" if isinstance(result, tree.PropertyAccess) else ""
        edits.put(part.start, f"[row_item_ IN {column}{key}]" if key else column)
    for item in last.items:
        if item.alias is None and any(part in item.walk() for part in rewritten):
            edits.behind(item.stop - 1, f" AS {tree.quote_name(item.name)}")


def _lists(part: Syntax) -> Iterator[tree.PatternComprehension]:
    """The pattern comprehensions of a part that are in no other list or subquery; *size* counts its own."""
    for child in part.children():
        is_counted = isinstance(child, tree.Call) and child.name.lower() == "size"
        if isinstance(child, tree.PatternComprehension):
            yield child
        elif not is_counted and not isinstance(child, (tree.Iteration, tree.Reduce, tree.Subquery)):
            yield from _lists(child)


@dataclass
class _Rows:
    """One branch of a statement; `names` are the variables that tell its rows apart, `kept` all in sight."""

    edits: _TokenEdits
    branch: tree.Branch
    names: list[str] = field(default_factory=list[str])
    columns: list[str] = field(default_factory=list[str])
    new_numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def rewrite(self) -> None:
        """Rewrite the calls of the branch."""
        clauses = self.branch.clauses
        *before, last = clauses
        calls = [c for c in before if isinstance(c, tree.CallQuery) and c is not clauses[0]]
        if not calls:
            return
        for clause in before:
            if isinstance(clause, tree.MatchClause):
                self._name_all(clause)
            elif isinstance(clause, tree.CallQuery) and clause in calls:
                is_last = clause is calls[-1]
                if self._call(clause) and not is_last:
                    refuse(_ONLY)
                if is_last:
                    return
            elif _tells_apart(clause, last):
                self.names = [
                    tree.quote_name(item.alias.text if item.alias else item.name) for item in clause.items
                ]
                self.columns = []
            else:
                refuse(_ONLY)

    def _name_all(self, match: tree.MatchClause) -> None:
        """Name every node and edge of a MATCH."""
        for path in match.paths:
            for element in _plain_elements(path, "CALL { } behind such paths"):
                self.names.append(self._name(element))
            if path.variable is not None:
                self.columns.append(_source(path.variable))
        self.names = list(dict.fromkeys(self.names))

    def _name(self, element: tree.NodePattern | Relationship) -> str:
        """The name of a node or edge, which gets one if it has none."""
        if element.variable is not None:
            return _source(element.variable)
        name = self._new()
        if not isinstance(element, Relationship):
            self.edits.behind(element.start, name)
        elif element.left[-1] + 1 == element.right[0]:
            self.edits.behind(element.left[-1], f"[{name}]")
        else:
            self.edits.behind(element.left[-1] + 1, name)
        return name

    def _new(self) -> str:
        return f"row_{next(self.new_numbers)}_"

    def _scope(self) -> str:
        return ", ".join((*self.names, *self.columns))

    def _call(self, call: tree.CallQuery) -> bool:
        """Put the clauses of CALL (x) { } in its place; returns whether there may be several rows of each."""
        inner = call.query.branches[0].clauses if len(call.query.branches) == 1 else ()
        imports = {name.text for name in call.imports or ()}
        opening = inner[0] if inner else None
        if call.imports is None and isinstance(opening, tree.Projection) and _only_variables(opening):
            imports, inner = {item.name for item in opening.items}, inner[1:]
        match inner:
            case (tree.MatchClause(paths=(path,)) as match, tree.Projection(keyword="RETURN") as last):
                pass
            case _:
                refuse(_ONLY)
        if last.distinct or last.star or last.order or last.skip or last.limit:
            refuse(_ONLY)
        if call.imports_all:
            imports = {name.strip("`") for name in (*self.names, *self.columns)}
        elements = _plain_elements(path, "CALL { } of such paths")
        own = {name.text for element in elements if (name := element.variable) is not None} - imports
        if own & {name.strip("`") for name in (*self.names, *self.columns)} or path.variable is not None:
            refuse("CALL { } with a name that is used outside of it")
        if any(item.alias is None and not isinstance(item.expression, tree.Variable) for item in last.items):
            refuse("CALL { } that returns an expression without AS")
        is_grouped = any(aggregates(item) for item in last.items)
        if is_grouped and len(elements) > 3:
            refuse("CALL { } with an aggregate over a path of several edges")
        stars = [e for item in last.items if isinstance(e := item.expression, tree.Call) and e.star]
        if stars:
            self._count_matches(stars, match, elements[len(elements) // 2], own)
        aggregated = [item.expression for item in last.items if item.expression not in stars]
        if is_grouped and not all(_of_matches(expression, own) for expression in aggregated):
            refuse("CALL { } that computes with an aggregate. Count a variable of its MATCH")
        if call.optional and not is_grouped and not all(_is_of(item.expression, own) for item in last.items):
            refuse("OPTIONAL CALL { } that returns what is no variable of its MATCH")
        start, stop = match.start, last.start
        self.edits.drop((*range(call.start, start), *range(last.stop, call.stop)))
        self.edits.before(start, "OPTIONAL " if (is_grouped or call.optional) and not match.optional else "")
        self.edits.put(stop, f"WITH {self._scope()},")
        self.columns += [tree.quote_name(item.alias.text if item.alias else item.name) for item in last.items]
        return not is_grouped

    def _count_matches(
        self,
        stars: Sequence[tree.Call],
        match: tree.MatchClause,
        element: tree.NodePattern | Relationship,
        own: set[str],
    ) -> None:
        """Count an edge, or the only node, of a MATCH in the place of `*`."""
        if match.optional or (element.variable is not None and element.variable.text not in own):
            refuse("CALL { } that counts *. Count a variable of its MATCH")
        name = self._name(element)
        for star in stars:
            self.edits.put(star.stop - 2, name)


def _plain_elements(path: PathPattern, feature: str) -> list[tree.NodePattern | Relationship]:
    """The nodes and edges of a path of fixed length; any other is refused."""
    plain = [e for e in path.elements if not isinstance(e, tree.Parenthesised)]
    if path.selector or len(plain) < len(path.elements):
        refuse(feature)
    if any(isinstance(e, Relationship) and e.length is not None for e in plain):
        refuse(feature)
    return plain


def _tells_apart(clause: tree.Clause, last: tree.Clause) -> TypeGuard[tree.Projection]:
    """Whether a WITH makes rows that differ in what they hold, in no order that is still seen behind it."""
    if not isinstance(clause, tree.Projection) or clause.star or not groups(clause):
        return False
    is_named = all(item.alias or isinstance(item.expression, tree.Variable) for item in clause.items)
    return is_named and (not clause.order or (isinstance(last, tree.Projection) and bool(last.order)))


def _only_variables(projection: tree.Projection) -> bool:
    """Whether a WITH only says which variables are imported."""
    extra = projection.where or projection.order or projection.skip or projection.limit
    plain = all(isinstance(i.expression, tree.Variable) and i.alias is None for i in projection.items)
    return projection.keyword == "WITH" and plain and not (extra or projection.star or projection.distinct)


def _of_matches(part: Expression, own: set[str]) -> bool:
    """Whether an expression is an aggregate over a variable of the MATCH: nothing where nothing matches."""
    if not isinstance(part, tree.Call) or part.name.lower() not in AGGREGATES or part.star:
        return False
    return len(part.arguments) == 1 and _is_of(part.arguments[0], own)


def _is_of(part: Expression, own: set[str]) -> bool:
    """Whether an expression is one of some variables, or a property of one."""
    subject = part.subject if isinstance(part, tree.PropertyAccess) else part
    return isinstance(subject, tree.Variable) and subject.name.text in own


def _source(name: Name) -> str:
    return tree.quote_name(name.text)
