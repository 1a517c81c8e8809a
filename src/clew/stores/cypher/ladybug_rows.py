"""Values that Cypher computes for each row, as clauses that ladybug has: OPTIONAL MATCH and WITH.

    MATCH (f:film) RETURN f.name, [(f)-[:directed_by]->(d) | d.name] AS by
    → MATCH (f:film) OPTIONAL MATCH (f)-[e:directed_by]->(d)
      WITH f, collect(CASE WHEN e IS NOT NULL THEN {item: d.name} END) AS c
      RETURN f.name, [z IN c | z.item] AS by

*COLLECT { }* is the same, and *CALL (f) { MATCH … RETURN count(d) AS n }* ends in a WITH too. A WITH keeps
rows apart by what they hold. So every node and edge before gets a name, and what is neither a plain MATCH nor
a WITH that groups is refused. So is what is collected over several edges: ladybug 0.22 collects others there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TypeGuard

from clew.stores.cypher import tree
from clew.stores.cypher.guard import AGGREGATES, aggregates, groups
from clew.stores.cypher.ladybug_forms import refuse
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import Expression, Name, PathPattern, Relationship, Statement, Syntax

_ITEM = "item"
"""The key under which a value is collected, so that a null is not left out."""
_COMPREHENSIONS = "pattern comprehensions and COLLECT { }"
_PLAIN = "but in the RETURN behind MATCH, of a path of fixed length"
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

    def around(self, part: Syntax, before: str, behind: str) -> None:
        """Put a text before a part, and one behind it."""
        self._write(part.start, before=before)
        self._write(part.stop - 1, behind=behind)

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
    """The statement without pattern comprehensions, COLLECT { } and CALL (x) { }, which means the same.

    Raises QueryRefused for forms of them that are not known to. CALL { } as the first clause stays.
    """
    edits = _TokenEdits(statement)
    for branch in statement.query.branches:
        _Rows(edits, branch).rewrite()
    if not edits.texts:
        return statement
    return parse(tree.render(statement.tokens, edits.texts))


@dataclass
class _Rows:
    """One branch of a statement; `names` are the variables that tell its rows apart, `kept` all in sight."""

    edits: _TokenEdits
    branch: tree.Branch
    names: list[str] = field(default_factory=list[str])
    columns: list[str] = field(default_factory=list[str])
    new_numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def rewrite(self) -> None:
        """Rewrite the calls of the branch, then the comprehensions of its RETURN."""
        clauses = self.branch.clauses
        *before, last = clauses
        calls = [c for c in before if isinstance(c, tree.CallQuery) and c is not clauses[0]]
        collected = list(_collected(last))
        if not calls and not collected:
            return
        for at, clause in enumerate(before):
            if isinstance(clause, tree.MatchClause):
                self._name_all(clause)
            elif isinstance(clause, tree.CallQuery) and clause in calls:
                is_last = clause is calls[-1] and not collected
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
                refuse(f"{_COMPREHENSIONS} {_PLAIN}" if collected or at == 0 else _ONLY)
        self._collect(last, collected)

    def _name_all(self, match: tree.MatchClause) -> None:
        """Name every node and edge of a MATCH."""
        for path in match.paths:
            for element in _plain_elements(path, f"{_COMPREHENSIONS} or CALL {{ }} behind such paths"):
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

    def _collect(self, last: tree.Clause, collected: list[_Collected]) -> None:
        """Collect the values of each comprehension before the RETURN, and put the list in its place."""
        clauses: list[str] = []
        for part in collected:
            edges = [e for e in _plain_elements(part.path, _COMPREHENSIONS) if isinstance(e, Relationship)]
            if part.path.variable is not None or len(edges) != 1:
                refuse(f"{_COMPREHENSIONS} of a path with a name, or of several edges")
            inner, column, item = _TokenEdits(self.edits.statement), self._new(), self._new()
            rows = _Rows(inner, self.branch, new_numbers=self.new_numbers)
            edge = rows._name(edges[0])
            path, result = (_text(inner, each) for each in (part.path, part.result))
            where = "" if part.where is None else f" WHERE {_text(inner, part.where)}"
            value = f"CASE WHEN {edge} IS NULL THEN NULL ELSE {{{_ITEM}: {result}}} END"
            clauses.append(f"OPTIONAL MATCH {path}{where} WITH {self._scope()}, collect({value}) AS {column}")
            self.columns.append(column)
            self.edits.drop(range(part.part.start, part.part.stop))
            self.edits.put(part.part.start, f"[{item} IN {column} | {item}.{_ITEM}]")
        self.edits.before(last.start, " ".join((*clauses, "")))
        for item in last.find(tree.ReturnItem):
            if item.alias is None and any(part.part in item.walk() for part in collected):
                self.edits.behind(item.stop - 1, f" AS {tree.quote_name(item.name)}")

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
        limits = last.distinct or last.star or last.order or last.skip or last.limit
        if call.optional or call.imports_all or match.optional or limits:
            refuse(_ONLY)
        elements = _plain_elements(path, "CALL { } of such paths")
        own = {name.text for element in elements if (name := element.variable) is not None} - imports
        if own & {name.strip("`") for name in (*self.names, *self.columns)} or path.variable is not None:
            refuse("CALL { } with a name that is used outside of it")
        if any(item.alias is None and not isinstance(item.expression, tree.Variable) for item in last.items):
            refuse("CALL { } that returns an expression without AS")
        is_grouped = any(aggregates(item) for item in last.items)
        if is_grouped and len(elements) != 3:
            refuse("CALL { } with an aggregate over a path of several edges")
        if is_grouped and not all(_of_matches(item.expression, own) for item in last.items):
            refuse("CALL { } that computes with an aggregate, or counts *. Count a variable of its MATCH")
        start, stop = match.start, last.start
        self.edits.drop((*range(call.start, start), *range(last.stop, call.stop)))
        self.edits.before(start, "OPTIONAL " if is_grouped else "")
        self.edits.put(stop, f"WITH {self._scope()},")
        self.columns += [tree.quote_name(item.alias.text if item.alias else item.name) for item in last.items]
        return not is_grouped


@dataclass(frozen=True)
class _Collected:
    """What a comprehension or COLLECT { } collects: the `result` of each match of a path."""

    part: Expression
    path: PathPattern
    where: Expression | None
    result: Expression


def _collected(clause: tree.Clause) -> Iterator[_Collected]:
    """The comprehensions of a clause; what is only counted by *size* is left. Raises QueryRefused."""
    counted = {
        call.arguments[0].start
        for call in clause.find(tree.Call)
        if call.name.lower() == "size" and len(call.arguments) == 1
    }
    waiting: list[Syntax] = [clause]
    while waiting:
        part = waiting.pop()
        match part:
            case tree.PatternComprehension(path=path, where=where, result=result):
                if part.start in counted:
                    continue
                found = _Collected(part, path, where, result)
            case tree.Subquery(kind="COLLECT", query=query):
                match query.branches[0].clauses:
                    case (
                        tree.MatchClause(optional=False, paths=(path,), where=where),
                        tree.Projection(items=(item,), distinct=False, order=(), skip=None, limit=None),
                    ) if len(query.branches) == 1 and not aggregates(item):
                        found = _Collected(part, path, where, item.expression)
                    case _:
                        refuse("COLLECT { } of more than MATCH, WHERE and one value")
            case tree.Iteration() | tree.Reduce() | tree.Subquery():
                if any(part.find(tree.PatternComprehension)):
                    refuse(f"{_COMPREHENSIONS} within lists and subqueries")
                continue
            case _:
                waiting.extend(reversed(list(part.children())))
                continue
        if not isinstance(clause, tree.Projection) or clause.keyword != "RETURN":
            refuse(f"{_COMPREHENSIONS} {_PLAIN}")
        inner = (each for each in found.part.walk() if each is not found.part)
        if any(isinstance(each, (tree.PatternComprehension, tree.Subquery)) for each in inner):
            refuse(f"{_COMPREHENSIONS} within one another")
        yield found


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
    argument = part.arguments[0] if len(part.arguments) == 1 else None
    subject = argument.subject if isinstance(argument, tree.PropertyAccess) else argument
    return isinstance(subject, tree.Variable) and subject.name.text in own


def _source(name: Name) -> str:
    return tree.quote_name(name.text)


def _text(edits: _TokenEdits, part: Syntax) -> str:
    """A part as it is with the edits."""
    texts = {at - part.start: edits.text(at) for at in range(part.start, part.stop)}
    return tree.render(edits.statement.tokens[part.start : part.stop], texts, comments=False).strip()
