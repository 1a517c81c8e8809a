"""The Cypher of ladybug: what differs from Neo4j's is written to mean the same, or refused.

Ladybug matches walks where Neo4j matches trails (no relation twice in a MATCH), counts positions from one,
names some functions otherwise and lacks others. Its own tests and ours (`tests/stores`) are the source.

A statement is written part by part, from its tree: a kind of part that ladybug reads otherwise has a form,
a function from the part to its text; every other part stands as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count
from typing import Any, NoReturn, cast

from clew.stores.cypher import tree
from clew.stores.cypher.direction import terms
from clew.stores.cypher.guard import AGGREGATES, aggregates, groups, tokens_of_bounds
from clew.stores.cypher.ladybug_forms import (
    COMPUTING,
    NODE_ID,
    OF_PROPERTIES,
    VALUE_COLUMNS,
    GraphFacts,
    label_names,
    quoted,
    refuse,
    values_of_names,
    without_dots,
)
from clew.stores.cypher.tree import (
    Expression,
    PathPattern,
    Relationship,
    Statement,
    Syntax,
    labels_of,
    quote_text,
)
from clew.stores.errors import QueryRefused


class LadybugText:
    """The texts of a statement's parts in ladybug's Cypher.

    `texts` are those of single tokens, `limits` what stands behind a projection that has no LIMIT, by the
    token where that belongs.
    """

    def __init__(
        self, statement: Statement, texts: dict[int, str], limits: Mapping[int, str], facts: GraphFacts
    ) -> None:
        self.statement, self.texts, self.limits, self.facts = statement, texts, limits, facts
        query = statement.query
        self.has_optional = any(match.optional for match in query.find(tree.MatchClause))
        self.has_counts = any(part.kind == "COUNT" for part in query.find(tree.Subquery)) or any(
            call.name.lower() == "size" for call in query.find(tree.Call)
        )
        projections = list(query.find(tree.Projection))
        grouped = (each for each in projections if any(map(aggregates, each.items)))
        keys = (item for each in grouped for item in each.items if not aggregates(item))
        self.carried = {
            id(part)
            for each in (*query.find(tree.Unwind), *(p for p in projections if p.keyword == "WITH"), *keys)
            for part in each.find(tree.Iteration)
        }
        """Comprehensions whose values are read by clauses behind, or that rows are grouped by."""
        sums = (part for part in query.find(tree.Calculation) if part.operator == "+")
        self.added = {id(operand) for part in sums for operand in part.operands}
        """The operands of sums, which are sums themselves or not."""
        self._written, self.numbers = values_of_names(statement, facts)
        self._edge_numbers = count(1)
        self._edge_names: dict[int, str] = {}

    def text(self, part: Syntax) -> str:
        """The text of a part. A long row of operators is written from its left, without a deep recursion."""
        row = [part]
        while id(row[-1]) not in self._written and isinstance(row[-1], tree.Calculation):
            row.append(row[-1].operands[0])
        text, written = "", list[int]()
        while row:
            part = row.pop()
            if (known := self._written.get(id(part))) is not None:
                text = known
            else:
                form = _FORMS.get(type(part))
                own = form(part, self) if form is not None else None
                text = self.plain(part) if own is None else own
            for left in written:
                del self._written[left]
            written = []
            if row and id(part) not in self._written:
                self._written[id(part)] = text
                written = [id(part)]
        return text

    def write(self, part: Syntax, text: str) -> None:
        """Give a part its text, whatever it is."""
        self._written[id(part)] = text

    def plain(self, part: Syntax) -> str:
        """A part as it stands, with the texts of what is in it."""
        return self.span(part.start, part.stop, part.children())

    def span(self, start: int, stop: int, parts: Iterable[Syntax]) -> str:
        """Tokens as they stand, with the texts of those `parts` that are among them."""
        part_at = {part.start: part for part in parts}
        texts, at = list[str](), start
        while at < stop:
            token, part = self.statement.tokens[at], part_at.get(at)
            text = self.texts.get(at, token.text) if part is None else self.text(part)
            is_apart = bool(token.space) and token.text != ","
            if texts and (is_apart or (texts[-1][-1:].isalnum() and text[:1].isalnum())):
                texts.append(" ")
            texts.append(text)
            at = at + 1 if part is None else part.stop
        return "".join(texts)

    def call(self, function: str, arguments: Iterable[str]) -> str:
        """A call of a function of ladybug."""
        return f"{function}({', '.join(arguments)})"

    def sides(self, operation: tree.Calculation) -> tuple[str, str]:
        """The texts of two operands, with the brackets around them."""
        left, right = operation.operands
        tokens = self.statement.tokens
        at = next(at for at in range(left.stop, right.start) if tokens[at].text != ")")
        return self.span(operation.start, at, (left,)), self.span(at + 1, operation.stop, (right,))

    def null_where_absent(self, text: str, subject: str) -> str:
        """Null where OPTIONAL MATCH has not found its subject: ladybug says something else."""
        return f"(CASE WHEN {subject} IS NULL THEN NULL ELSE {text} END)" if self.has_optional else text

    def new_name(self) -> str:
        """Make a name for an edge that has none."""
        return f"clew_edge_{next(self._edge_numbers)}"

    def edge_name(self, edge: Relationship, *, make: bool = False) -> str:
        """The name of an edge; empty for one without, unless it is made."""
        if edge.variable is not None:
            return self.text(edge.variable)
        if make and edge.start not in self._edge_names:
            self._edge_names[edge.start] = self.new_name()
        return self._edge_names.get(edge.start, "")


def to_ladybug(
    statement: Statement,
    texts: dict[int, str],
    limits: Mapping[int, str],
    facts: GraphFacts,
    parameters: Mapping[str, object],
) -> str:
    """Write a statement so that it means in ladybug what it means in Neo4j; see `guard.Dialect`.

    Raises QueryRefused for what has no such form.
    """
    _check_case(statement.query)
    _check_optional_paths(statement.query)
    in_bounds = tokens_of_bounds(statement.query)
    for part in statement.query.find(tree.LiteralValue, tree.Parameter):
        # Whole numbers have 64 bits: ladybug gives a parameter the least type that it fits.
        if part.start in in_bounds:
            continue
        if isinstance(part, tree.LiteralValue):
            if part.kind == "integer":
                texts[part.start] = str(part.value)
        elif (kind := _whole_kind(parameters.get(part.name))) is not None:
            texts[part.start] = f"CAST(${part.name} AS {kind})"
    return LadybugText(statement, texts, limits, facts).text(statement.query)


def _check_case(query: tree.CypherQuery) -> None:
    """Refuse names of variables that differ in case alone: ladybug takes them for one."""
    spellings: dict[str, str] = {}
    for part in query.walk():
        names = [getattr(part, "variable", None), part.name if isinstance(part, tree.Variable) else None]
        if isinstance(part, tree.Projection) and (part.keyword == "WITH" or part.order):
            names += [item.alias for item in part.items]
        for name in (name.text for name in names if isinstance(name, tree.Name)):
            if (other := spellings.setdefault(name.lower(), name)) != name:
                refuse(f"names that differ in case alone, as {other} and {name}")


def _check_optional_paths(query: tree.CypherQuery) -> None:
    """Refuse all but returning a path of OPTIONAL MATCH: where none is found ladybug has one of nulls."""
    optional = (match for match in query.find(tree.MatchClause) if match.optional)
    names = {path.variable.text for match in optional for path in match.paths if path.variable is not None}
    plain = {
        id(item.expression) for part in query.find(tree.Projection) for item in part.items
        if isinstance(item.expression, tree.Variable)
    }  # fmt: skip
    for variable in query.find(tree.Variable):
        if variable.name.text in names and id(variable) not in plain:
            refuse("functions and conditions of a path of OPTIONAL MATCH. Use a node or relation of it")


def _whole_kind(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return "INT64"
    items = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()
    return "INT64[]" if items and all(_whole_kind(item) == "INT64" for item in items) else None


# Clauses and patterns: lengths and shortest paths in ladybug's form, and no relation matched twice.

LONGEST_LADYBUG_PATH = 30
"""Ladybug follows no path further."""


def _branch(branch: tree.Branch, out: LadybugText) -> None:
    """*CALL { … RETURN x } …* as the first clause is *… WITH x …*; other subqueries are refused."""
    for number, clause in enumerate(branch.clauses):
        if not isinstance(clause, tree.CallQuery):
            continue
        branches = clause.query.branches
        last = branches[0].clauses[-1]
        simple = not number and len(branches) == 1 and not clause.optional and not clause.imports
        if not simple or clause.imports_all or not isinstance(last, tree.Projection) or last.star:
            refuse("CALL { } but as the first clause, with one RETURN")
        if any(item.alias is None and not isinstance(item.expression, tree.Variable) for item in last.items):
            refuse("CALL { } that returns an expression without AS")
        out.texts[last.start] = "WITH"
        out.write(clause, out.text(clause.query))


def _projection(part: tree.Projection, out: LadybugText) -> str:
    """Keep the order of a WITH: ladybug wants a limit there, and 0.22 forgets the order under an aggregate.

    Of `WITH m ORDER BY m.weight DESC LIMIT 2 RETURN collect(m.name)` it collects any two, but not with UNWIND
    between.
    """
    if part.star and part.keyword == "RETURN":
        refuse("RETURN *. Name what shall be returned")
    _check_aggregates(part)
    limit, unwind = out.limits.get(part.limit_at, ""), ""
    if part.order and part.keyword == "WITH":
        limit = " LIMIT 1000000000" if part.skip is None and part.limit is None else ""
        unwind = f" UNWIND [1] AS {out.new_name()}"
    before, parts = _counted_before(part, out), list(part.children())
    rest = out.span(part.limit_at, part.stop, parts)
    return f"{before}{out.span(part.start, part.limit_at, parts)}{limit}{f' {rest}' if rest else ''}{unwind}"


_PATTERNS = (tree.Subquery, tree.PatternExpression, tree.PatternComprehension)


def _counted_before(part: tree.Projection, out: LadybugText) -> str:
    """*RETURN m.name ORDER BY COUNT { (m)--() }*: what is counted has a name before, as ladybug wants it."""
    before, renamed = "", {item.alias.text for item in part.items if item.alias is not None}
    for expression in part.order:
        if not any(expression.find(*_PATTERNS)):
            continue
        if part.distinct or groups(part) or renamed & {name.text for name in expression.find(tree.Name)}:
            refuse("a pattern in ORDER BY beside DISTINCT, an aggregate or with a name of the RETURN")
        name = out.new_name()
        before += f"WITH *, {out.text(expression)} AS {name} "
        out.write(expression, name)
    return before


def _check_aggregates(projection: tree.Projection) -> None:
    """Refuse to compute with an aggregate and a variable that the rows are not grouped by, as Neo4j does.

    Ladybug has a value where the variable is always the same: `WITH 7 AS k MATCH (n) RETURN count(n) + k`.
    """
    if projection.star:
        return
    keys = [item for item in projection.items if not aggregates(item)]
    grouping_names = {variable.name.text for key in keys for variable in key.find(tree.Variable)}
    for item in projection.items:
        names = _names_beside_aggregates(item.expression) if aggregates(item) else ()
        if others := [name for name in names if name not in grouping_names]:
            raise QueryRefused(
                f"The query computes with an aggregate and {others[0]}, which its rows are not grouped by. "
                "Name the aggregate by WITH first"
            )


def _names_beside_aggregates(part: Syntax) -> Iterator[str]:
    """Yield the variables that an expression has outside aggregates; those of its own lists are left out."""
    if isinstance(part, (tree.Subquery, tree.PatternExpression, tree.PatternComprehension)):
        refuse("subqueries and patterns beside an aggregate")
    if isinstance(part, tree.Call) and part.name.lower() in AGGREGATES:
        return
    if isinstance(part, tree.Variable):
        yield part.name.text
    children = list(part.children())
    is_scope = isinstance(part, (tree.Iteration, tree.Reduce))
    own_names = {child.text for child in children if is_scope and isinstance(child, tree.Name)}
    for child in children:
        yield from (name for name in _names_beside_aggregates(child) if name not in own_names)


def _match(match: tree.MatchClause, out: LadybugText) -> str:
    """Say that no relation is matched twice, and test what compares several parts behind the MATCH.

    Ladybug 0.22 loses rows where such a condition is tested before the last edge is followed: of 46 rows of
    `(a {…})-[x]->(m)<-[y]-(b)-[z]->(n) WHERE id(x) <> id(y)` it returns 22. `WITH *` between the two makes it
    return all; in OPTIONAL MATCH and subqueries, which can have none, longer patterns are refused. A text
    that is made a number or a date is looked at behind the MATCH too: before an edge is followed it may be
    any name.
    """
    conditions, is_compared = _conditions([match], out, is_nested=match.optional)
    is_late = is_compared or (match.where is not None and _casts(match.where))
    barrier = " WITH *" if is_late and not match.optional else ""
    return f"{out.span(match.start, match.paths[-1].stop, match.paths)}{barrier}{conditions}"


def _conditions(
    matches: Sequence[tree.MatchClause], out: LadybugText, *, is_nested: bool
) -> tuple[str, bool]:
    """WHERE of one or several MATCH, of which the last alone may have one, and whether it compares parts.

    Ladybug 0.22 loses the nodes that COUNT { } counts nothing of, where no property of theirs is read.
    """
    inequalities, reads, edge_count = list[str](), list[str](), 0
    for match in matches:
        alone = [path.elements[0].variable for path in match.paths if len(path.elements) == 1]
        if out.has_counts:
            reads += [f"{out.text(name)}.{NODE_ID} >= 0" for name in alone if name is not None]
        edges = [e for path in match.paths for e in path.elements if isinstance(e, Relationship)]
        edge_count += len(edges)
        for first, second in combinations(edges, 2):
            if _may_be_same(first, second):
                if first.length or second.length:
                    refuse("paths of any length beside edges of the same relation in one MATCH")
                names = (out.edge_name(edge, make=True) for edge in (first, second))
                inequalities.append(" <> ".join(f"id({name})" for name in names))
    where = matches[-1].where
    is_compared = bool(inequalities) or (where is not None and any(map(_compares, terms(where, "AND"))))
    if is_compared and is_nested and edge_count > 2:
        refuse("conditions between parts of a pattern of several edges in OPTIONAL MATCH or a subquery")
    if where is not None:
        own = out.span(matches[-1].paths[-1].stop + 1, matches[-1].stop, (where,))
        reads.append(f"({own})" if inequalities or reads else own)
    inequalities += reads
    return f" WHERE {' AND '.join(inequalities)}" if inequalities else "", is_compared


def _compares(condition: Expression) -> bool:
    """Whether a condition holds several variables against each other."""
    return len({variable.name.text for variable in condition.find(tree.Variable)}) > 1


def _casts(expression: Expression) -> bool:
    return any(
        call.name.lower().startswith(("tointeger", "tofloat", "date", "datetime", "localdatetime"))
        and not all(isinstance(argument, tree.LiteralValue) for argument in call.arguments)
        for call in expression.find(tree.Call)
    )


def _may_be_same(first: Relationship, second: Relationship) -> bool:
    first_names, second_names = label_names(first.types), label_names(second.types)
    return first_names is None or second_names is None or bool(set(first_names) & set(second_names))


def _check_condition(path: PathPattern) -> None:
    """Refuse a pattern in a condition unless ladybug reads it as Neo4j does."""
    edges = [e for e in path.elements if isinstance(e, Relationship)]
    if path.selector or any(e.length for e in edges):
        refuse("paths of any length in a condition")
    if any(_may_be_same(a, b) for a, b in combinations(edges, 2)):
        refuse("a pattern of several edges in a condition. Write EXISTS { … }")


def _path(path: PathPattern, out: LadybugText) -> str | None:
    """`shortestPath((a)-[:R*..5]-(b))` → `(a)-[:R* SHORTEST 1..5]-(b)`."""
    if not path.selector:
        return None
    kinds = {"shortestPath": "SHORTEST", "allShortestPath": "ALL SHORTEST"}
    edge = path.elements[1] if len(path.elements) == 3 else None
    if path.selector not in kinds or not isinstance(edge, Relationship) or edge.length is None:
        refuse("this form of shortest paths. Write shortestPath((a)-[*..5]-(b))")
    if edge.length.low > 1:
        refuse("shortest paths of a least length")
    out.write(edge.length, f"* {kinds[path.selector]} 1..{edge.length.high}")
    name = "" if path.variable is None else f"{out.text(path.variable)} = "
    return name + out.span(path.elements[0].start, path.elements[-1].stop, path.elements)


def _node(node: tree.NodePattern | Relationship, out: LadybugText) -> None:
    if node.where is not None:
        refuse("WHERE inside a pattern")
    labels = labels_of(node)
    if labels is not None and label_names(labels) is None:
        refuse("label expressions with & or !")


def _relationship(edge: Relationship, out: LadybugText) -> str:
    """An edge with its length in ladybug's form, and a name if it needs one."""
    if (length := edge.length) is not None:
        if edge.variable is not None:
            refuse("a variable for the edges of a path of any length")
        if edge.properties is not None:
            refuse("properties of the edges of a path of any length")
        if length.high is None or length.high > LONGEST_LADYBUG_PATH:
            longest = LONGEST_LADYBUG_PATH
            refuse(f"paths of any length without a bound. Write one of at most {longest}, as in *..5")
    _node(edge, out)
    # An edge without direction from a node to itself would be counted twice.
    names = label_names(edge.types)
    loop_types = set(out.facts.loops) if names is None else set(out.facts.loops) & set(names)
    if edge.direction == "both" and loop_types:
        loops = ", ".join(sorted(loop_types))
        refuse(f"edges without direction over {loops}, which leads some nodes to themselves")
    text = out.plain(edge)
    if length is not None and length.start > edge.right[0]:  # -[:R]->{1,2}
        text = out.span(edge.start, length.start, (part for part in edge.children() if part is not length))
        before, bracket, arrow = text.rpartition("]")
        left = "".join(out.statement.tokens[token].text for token in edge.left)
        text = f"{before or f'{left}['}{out.text(length)}]{arrow if bracket else text[len(left) :]}"
    if edge.variable is None and (name := out.edge_name(edge)):
        dash, opening, rest = text.partition("[")
        arrow = "".join(out.statement.tokens[token].text for token in edge.left)
        text = f"{dash}[{name}{rest}" if opening else f"{arrow}[{name}]{text[len(arrow) :]}"
    return text


def _subquery(subquery: tree.Subquery, out: LadybugText) -> str:
    """*EXISTS { MATCH (a)-->(b) MATCH (b)-->(c) RETURN c }* is one MATCH, as ladybug matches walks."""
    clauses = [clause for branch in subquery.query.branches for clause in branch.clauses]
    if isinstance(last := clauses[-1], tree.Projection) and _keeps_rows(last):
        clauses = clauses[:-1]
    matches = [c for c in clauses if isinstance(c, tree.MatchClause) and not c.optional]
    plain = len(matches) == len(clauses) > 0 and all(match.where is None for match in matches[:-1])
    if subquery.kind == "COLLECT" or len(subquery.query.branches) > 1 or not plain:
        refuse("subqueries that are more than MATCH and WHERE")
    conditions, _ = _conditions(matches, out, is_nested=True)
    paths = ", ".join([out.text(path) for match in matches for path in match.paths])
    return f"{subquery.kind} {{ MATCH {paths}{conditions} }}"


def _keeps_rows(projection: tree.Projection) -> bool:
    """Whether a RETURN has as many rows as there are matches."""
    calls = (call.name.lower() for call in projection.find(tree.Call))
    changes = (
        projection.distinct or projection.skip or projection.limit or any(c in AGGREGATES for c in calls)
    )
    return projection.keyword == "RETURN" and not changes


def _pattern_expression(part: tree.PatternExpression, out: LadybugText) -> None:
    _check_condition(part.path)


# Functions.

_RENAMED_FUNCTIONS = {
    "tolower": "lower", "toupper": "upper", "lower": "lower", "upper": "upper",
    "relationships": "rels", "log": "ln", "log10": "log",
}  # fmt: skip
_SAME_FUNCTIONS = frozenset(
    """
    count collect min max avg coalesce abs ceil floor sqrt sign trim ltrim rtrim replace reverse
    nodes length pi
    """.split()
)
_CASTS = {
    "tofloat": "DOUBLE", "tofloatornull": "DOUBLE",
    "datetime": "TIMESTAMP", "localdatetime": "TIMESTAMP",
}  # fmt: skip
_COLUMN_KINDS = {column: kind for kind, column in VALUE_COLUMNS.items()}
_FRACTION = r"'^\\s*([+-]?(?:[0-9]+\\.?[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?\\s*$'"
"""The texts of which Neo4j's *toFloat* makes a number."""
_ZONE = re.compile(r"[+-]\d\d:?(\d\d)?$|\]$")
"""How a time ends that is of another zone than UTC."""
_TEXTS = frozenset(
    "substring left right split trim ltrim rtrim replace tolower toupper lower upper tostring type".split()
)
"""Functions that make texts."""
_RESULTS = {
    **dict.fromkeys(_TEXTS, "STRING"), **dict.fromkeys("size length count tointeger id".split(), "INT64"),
    **dict.fromkeys("ceil floor round sqrt log log10 tofloat avg pi percentilecont".split(), "DOUBLE"),
}  # fmt: skip
_OF_THE_SAME = frozenset("min max sum abs coalesce".split())
"""Functions whose results are of the type of what they are given."""
_FAR_POSITION = 2**40
"""A position behind the end of any list or text."""


def _call(call: tree.Call, out: LadybugText) -> str | None:
    name = call.name.lower()
    if name in _SAME_FUNCTIONS and name != "replace":
        return None
    if name == "sum":
        return f"coalesce({out.plain(call)}, 0)"
    if call.distinct and name not in AGGREGATES:
        refuse(f"{call.name}() with DISTINCT")
    if not call.arguments and name != "date":
        refuse(f"{call.name}() of nothing" if name in _REWRITES else f"the function {call.name}")
    if (rewrite := _REWRITES.get(name)) is not None:
        return rewrite(call, out)
    first, *others = (out.text(argument) for argument in call.arguments) if call.arguments else ("",)
    if name == "replace":
        return out.call("replace", [f"coalesce({first})", *others])  # as in `_first`
    if name == "date" and not others:
        return f"date({first})" if first else "current_date()"
    if name in _CASTS and not others:
        argument = call.arguments[0]
        value = argument.value if isinstance(argument, tree.LiteralValue) else None
        if isinstance(value, str) and "time" in name and "T" in value and _ZONE.search(value):
            refuse("times of another zone than UTC")
        if _CASTS[name] == "DOUBLE" and _kind(argument, out) == "STRING":
            number = f"regexp_extract({_first(argument, out)}, {_FRACTION}, 1)"
            first = f"nullif(regexp_replace({number}, '^\\\\+', ''), '')"
        return f"CAST({first} AS {_CASTS[name]})"
    if name in _RENAMED_FUNCTIONS:
        return out.call(_RENAMED_FUNCTIONS[name], [first, *others])
    refuse(f"the function {call.name}")


def _first(part: Expression, out: LadybugText) -> str:
    """Ladybug 0.22 loses values among nulls in the first of three arguments, but not behind coalesce."""
    return f"coalesce({out.text(part)})"


def _as_text(part: Expression, out: LadybugText) -> str:
    """Make a text of what may be a number: ladybug 0.22 reads its bytes as one, and may end the process."""
    return f"CAST({out.text(part)} AS STRING)"


def _only(call: tree.Call) -> Expression:
    """The one argument of a call."""
    if len(call.arguments) != 1:
        refuse(f"{call.name}() of several values")
    return call.arguments[0]


def _split(call: tree.Call, out: LadybugText) -> str:
    """Mark where each part begins: ladybug leaves out empty parts."""
    match call.arguments:
        case (part, tree.LiteralValue(value=str() as separator)) if separator.isprintable():
            text, separator, mark = f"coalesce({_as_text(part, out)})", quote_text(separator), "\ue000"
        case _:
            refuse("split() but of a text by one that is written out")
    if separator == "''":
        return f"string_split({text}, '')"
    marked = f"regexp_replace(replace({text}, {separator}, {separator[:-1]}{mark}'), '^', '{mark}')"
    parts = f"string_split({marked}, {separator})"
    return f"list_transform({parts}, clew_s -> regexp_replace(clew_s, '^{mark}', ''))"


def _substring(call: tree.Call, out: LadybugText) -> str:
    """The letters of the text, less those before the start, of them as many as are wanted.

    Ladybug's own has the whole text behind the last letter of one that is not all ASCII.
    """
    if len(call.arguments) not in (2, 3):
        refuse("substring() but of a text, a start and a length")
    first, *length = _lengths(call, out)
    letters = f"regexp_extract_all({_as_text(call.arguments[0], out)}, '(?s).')"
    behind = f"list_slice(coalesce({letters}), 1 + ({first}), {_FAR_POSITION})"
    most = length[0] if length else str(_FAR_POSITION)
    return f"list_to_string('', CAST(list_slice(coalesce({behind}), 1, {most}) AS STRING[]))"


def _lengths(call: tree.Call, out: LadybugText) -> list[str]:
    """The arguments behind the first. Refuses a start or length below zero, which is an error in Neo4j."""
    feature = f"{call.name}() with a number below zero"
    return [_within(number, "UINT64", range(2**63), feature, out) for number in call.arguments[1:]]


def _end_of_text(call: tree.Call, out: LadybugText) -> str:
    return out.call(call.name, [out.text(call.arguments[0]), *_lengths(call, out)])


def _range(call: tree.Call, out: LadybugText) -> str:
    """Refuse far bounds: ladybug counts the items of *range(0, 9223372036854775807)* as a float."""
    feature, bounds = "range() with a bound of over 32 bits", range(-(2**31), 2**31)
    ends = [_within(bound, "INT32", bounds, feature, out) for bound in call.arguments[:2]]
    return out.call(call.name, [*ends, *(out.text(step) for step in call.arguments[2:])])


def _within(part: Expression, kind: str, values: range, feature: str, out: LadybugText) -> str:
    """Refuse a whole number that is not among the `values` of ladybug's type `kind`.

    A computed one is cast to that type, whose error ends the query. It is cast from a text, as a cast from a
    float would round it.
    """
    number, text = _whole_number(part), out.text(part)
    if number is None:
        return f"CAST(CAST(CAST(({text}) + 0 AS STRING) AS {kind}) AS INT64)"
    if number not in values:
        refuse(feature)
    return text


def _to_whole(call: tree.Call, out: LadybugText) -> str:
    """Cut off what is behind the point, towards zero; a text that is no number is null."""
    argument = _only(call)
    kind, text = _kind(argument, out), out.text(argument)
    if kind == "INT64":
        return f"CAST({text} AS INT64)"
    if kind == "STRING":
        pattern = r"'^([+-]?[0-9]+)(?:\\.[0-9]*)?$'"
        return f"CAST(nullif(regexp_extract({_first(argument, out)}, {pattern}, 1), '') AS INT64)"
    return f"CAST(sign(CAST({text} AS DOUBLE)) * floor(abs(CAST({text} AS DOUBLE))) AS INT64)"


def _kind(part: Expression, out: LadybugText) -> str | None:
    """The type that an expression shows to have: INT64, DOUBLE, STRING; None where it is not known."""
    match part:
        case tree.LiteralValue(kind=kind):
            return {"integer": "INT64", "float": "DOUBLE", "string": "STRING"}.get(kind)
        case tree.PropertyAccess(key=key):
            if (kind := _COLUMN_KINDS.get(out.text(key))) is not None:
                return kind
            return "STRING" if key.text == "name" else out.facts.columns.get(key.text)
        case tree.Call(name=name, arguments=arguments) if name.lower() in _OF_THE_SAME:
            return _common(arguments, out)
        case tree.Call(name=name):
            return _RESULTS.get(name.lower())
        case tree.Calculation(operator="^"):
            return "DOUBLE"
        case tree.Calculation(operator=operator, operands=operands) if operator in ("+", *COMPUTING):
            return _common(operands, out)
        case _:
            return None


def _common(parts: Sequence[Expression], out: LadybugText) -> str | None:
    kinds = {_kind(part, out) for part in parts}
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else kinds.pop() if len(kinds) == 1 else None


def _to_text(call: tree.Call, out: LadybugText) -> str:
    """Refuse fractions, which ladybug cuts after six places, and write *true* for *True*."""
    kind = _kind(call.arguments[0], out) if len(call.arguments) == 1 else "DOUBLE"
    if kind == "DOUBLE":
        refuse("toString() but of one whole number, text, date or boolean")
    if kind is not None:
        return _as_text(call.arguments[0], out)
    # Other types are known when the query is bound, and only there.
    return (
        f"list_extract(list_transform([{out.text(call.arguments[0])}], clew_v -> CASE "
        "WHEN typeof(clew_v) IN ['DOUBLE', 'FLOAT'] THEN CAST(error('toString() of a ' + typeof(clew_v)) "
        "AS STRING) WHEN typeof(clew_v) = 'BOOL' THEN lower(CAST(clew_v AS STRING)) ELSE "
        "CAST(clew_v AS STRING) END), 1)"
    )


def _label(call: tree.Call, out: LadybugText) -> str:
    """*type(r)* and *labels(n)*; null of what OPTIONAL MATCH has not found, where ladybug says a table."""
    if not _has_argument_of(tree.Variable, call):
        refuse(f"{call.name}() of what is no variable")
    subject = out.text(call.arguments[0])
    label = f"label({subject})" if call.name.lower() == "type" else f"[label({subject})]"
    return out.null_where_absent(label, subject)


def _round(call: tree.Call, out: LadybugText) -> str | None:
    """Without places half way is up, also of what is below zero; with them it is away from zero.

    Ladybug multiplies first, and of 1.005 * 100 has less than half way left. The next number up has not.
    """
    number, *places = call.arguments
    text = out.text(number)
    if not places or _whole_number(places[0]) == 0:
        return f"floor(0.5 + {text})"
    if _kind(number, out) == "INT64":
        return None
    return out.call("round", [f"(({text}) * 1.0000000000000002)", *map(out.text, places)])


def _percentile(call: tree.Call, out: LadybugText) -> str:
    """*percentileCont(n.x, 0.5)*: between the two values around a place in their order."""
    match call.arguments:
        case (
            tree.PropertyAccess(subject=tree.Variable(name=owner), key=key),
            tree.LiteralValue(value=int() | float() as share),
        ) if not call.distinct and key.text != "name" and 0 <= share <= 1:
            value = f"{quoted(owner.text)}.{quoted(key.text)}"
        case _:
            refuse(f"{call.name} but of a property and a number from 0 to 1")
    place = f"CASE WHEN count({value}) = 0 THEN 0.0 ELSE {share!r} * (count({value}) - 1) END"
    # One more than there are, so that there is an item also where no value is.
    values = f"list_append(list_sort(collect(CAST({value} AS DOUBLE))), 0.0)"
    low, high = (f"list_extract({values}, CAST({f}({place}) AS INT64) + 1)" for f in ("floor", "ceil"))
    between = f"{low} + ({high} - {low}) * ({place} - floor({place}))"
    return f"(CASE WHEN count({value}) = 0 THEN NULL ELSE {between} END)"


def _keys(call: tree.Call, out: LadybugText) -> str:
    """*keys(n)*: the names of the properties that have a value."""
    name = call.arguments[0].name.text if _has_argument_of(tree.Variable, call) else ""  # pyright: ignore
    patterns = (
        p for p in out.statement.query.find(tree.NodePattern, Relationship)
        if p.variable is not None and p.variable.text == name
    )  # fmt: skip
    owners = next((names for pattern in patterns if (names := label_names(labels_of(pattern)))), None)
    if owners is None:
        refuse("keys() of what has no label or type in the query")
    properties = sorted({key for owner in owners for key in out.facts.properties.get(owner, ())})
    items = ", ".join(
        f"CASE WHEN {quoted(name)}.{quoted(key)} IS NOT NULL THEN {quote_text(key)} END" for key in properties
    )
    return f"list_filter([{items}], clew_key -> clew_key IS NOT NULL)"


def _properties(call: tree.Call, out: LadybugText) -> str:
    """*properties(n)* as a column: a node or edge under a key of ours, which the store reads so."""
    last_clauses = [branch.clauses[-1] for branch in out.statement.query.branches]
    columns = [
        item.expression for last in last_clauses
        if isinstance(last, tree.Projection) and not groups(last) for item in last.items
    ]  # fmt: skip
    if not _has_argument_of(tree.Variable, call) or call not in columns:
        refuse("properties() but of a variable, as a column of a RETURN that does not group")
    return f"{{{OF_PROPERTIES}: {out.text(call.arguments[0])}}}"


def _has_argument_of(kind: type[Expression], call: tree.Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], kind)


def _exists(call: tree.Call, out: LadybugText) -> str:
    if _has_argument_of(tree.PropertyAccess, call):
        return f"({out.text(call.arguments[0])} IS NOT NULL)"
    if _has_argument_of(tree.PatternExpression, call):
        return f"EXISTS {{ MATCH {out.text(call.arguments[0])} }}"
    refuse("exists() of what is neither a property nor a pattern")


def _size(call: tree.Call, out: LadybugText) -> str | None:
    """*size* of a pattern, or of a list made of one, is how often it is matched."""
    argument = call.arguments[0]
    if len(call.arguments) == 1 and isinstance(argument, tree.PatternExpression):
        return f"COUNT {{ MATCH {out.text(argument)} }}"
    if len(call.arguments) == 1 and isinstance(argument, tree.PatternComprehension):
        if argument.path.variable is not None:
            refuse("a name for the path of a pattern comprehension")
        _check_condition(argument.path)
        where = "" if argument.where is None else f" WHERE {out.text(argument.where)}"
        return f"COUNT {{ MATCH {out.text(argument.path)}{where} }}"
    return None


def _id(call: tree.Call, out: LadybugText) -> str:
    """*id(n)* is the graph's id of a node; those of ladybug are no numbers."""
    node = call.arguments[0].name.text if _has_argument_of(tree.Variable, call) else ""  # pyright: ignore
    names = (node.variable for node in out.statement.query.find(tree.NodePattern))
    if not any(name is not None and name.text == node for name in names):
        refuse("the id of what is no node")
    return f"{out.text(call.arguments[0])}.{NODE_ID}"


def _duration(call: tree.Call, out: LadybugText) -> NoReturn:
    refuse("durations but for duration.inDays(a, b).days")


_REWRITES: Mapping[str, Callable[[tree.Call, LadybugText], str | None]] = {
    "size": _size, "exists": _exists, "id": _id, "elementid": _id, "duration.indays": _duration,
    "type": _label, "labels": _label, "percentilecont": _percentile, "round": _round,
    "head": lambda call, out: _item(_only(call), 1, out), "keys": _keys, "split": _split,
    "last": lambda call, out: _item(_only(call), -1, out), "substring": _substring, "range": _range,
    "tostring": _to_text, "tostringornull": _to_text, "tointeger": _to_whole, "tointegerornull": _to_whole,
    "left": _end_of_text, "right": _end_of_text,
    "isempty": lambda call, out: f"(size({out.text(_only(call))}) = 0)", "properties": _properties,
}  # fmt: skip
"""Functions that may take a pattern, are of nodes, or become arithmetic."""


# Lists, maps, texts and nulls.

_PARTS = ("year", "quarter", "month", "week", "day")
"""Parts of a date that stand behind it as a property does."""
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_REPEATABLE = (tree.PropertyAccess, tree.Variable, tree.LiteralValue, tree.Parameter, tree.Call)
"""What may stand in the middle of comparisons in a row."""


def _property(part: tree.PropertyAccess, out: LadybugText) -> str | None:
    """*m.date.year*: a property of a property is a part of a date; dates less dates are days here."""
    subject, key = part.subject, part.key.text.lower()
    if isinstance(subject, tree.Call) and subject.name.lower() == "duration.indays":
        if part.key.text != "days" or len(subject.arguments) != 2:
            _duration(subject, out)
        first, last = map(out.text, subject.arguments)
        return f"(-1 * ({first} - ({last})))"
    if key in _PARTS and isinstance(subject, (tree.PropertyAccess, tree.Call)):
        return f"date_part('{key}', {out.text(subject)})"
    return None


def _map_projection(part: tree.MapProjection, out: LadybugText) -> str:
    """*m {.title, n: 1, x}* is {title: m.title, n: 1, x: x}."""
    if part.all_keys:
        refuse("all keys of a map projection")
    _check_keys(part, out)
    subject = out.text(part.subject)
    texts = {key.start: f"{quoted(key.text)}: {subject}.{quoted(key.text)}" for key in part.selected}
    texts |= {entry.start: out.text(entry) for entry in part.entries}
    texts |= {v.start: f"{quoted(v.name.text)}: {out.text(v)}" for v in part.variables}
    return out.null_where_absent(f"{{{', '.join(texts[at] for at in sorted(texts))}}}", subject)


def _check_keys(part: tree.MapLiteral | tree.MapProjection, out: LadybugText) -> None:
    """Refuse keys by which ladybug writes what a node or an edge is, but in a pattern."""
    patterns = out.statement.query.find(tree.NodePattern, Relationship)
    if any(pattern.properties is part for pattern in patterns):
        return
    selected = part.selected if isinstance(part, tree.MapProjection) else ()
    for key in (*selected, *(entry.key for entry in part.entries)):
        if key.text.startswith("_") or key.text.lower().startswith("clew_"):
            refuse(f"the key {key.text} of a map")


def _index(index: tree.Subscript, out: LadybugText) -> str:
    if index.slice:
        first, last = _slice(index, out.statement)
        return f"list_slice({_first(index.subject, out)}, {first}, {last})"
    if (at := _whole_number(index.bounds[0])) is None:
        refuse("[ ] on a list as Neo4j has it")
    return _item(index.subject, at + 1 if at >= 0 else at, out)


def _item(subject: Expression, at: int, out: LadybugText) -> str:
    """The item of a list at a position that is counted from one, or from the end; null where it has none."""
    text = out.text(subject)
    return f"(CASE WHEN size({text}) >= {abs(at)} THEN list_extract({text}, {at}) ELSE NULL END)"


def _slice(index: tree.Subscript, statement: Statement) -> tuple[int, int]:
    """The first and last position of a slice as ladybug counts them; Neo4j's last one is left out."""
    bounds = [value for bound in index.bounds if (value := _whole_number(bound)) is not None]
    if len(bounds) != len(index.bounds):
        refuse("slices of a list between computed positions")
    opening = next(at for at in range(index.subject.stop, index.stop) if statement.tokens[at].text == "[")
    opens = statement.tokens[opening + 1].text == ".."
    low, high = (0 if opens else bounds[0]), (bounds[-1] if bounds and (opens or len(bounds) == 2) else None)
    if high == 0:
        refuse("an empty slice of a list")
    return (low + 1 if low >= 0 else low), (_FAR_POSITION if high is None else high if high > 0 else high - 1)


def _whole_number(part: Expression) -> int | None:
    """A whole number that is written out, with or without a sign; None for anything else."""
    if isinstance(part, tree.Calculation) and part.operator == "NEG":
        value = _whole_number(part.operands[0])
        return None if value is None else -value
    return part.value if isinstance(part, tree.LiteralValue) and isinstance(part.value, int) else None


_QUANTIFIERS = {
    "ANY": ("CAST(nullif(list_max(list_append(", ", 'False')), 'Half') AS BOOL)"),
    "ALL": ("CAST(nullif(list_min(list_append(", ", 'True')), 'Half') AS BOOL)"),
    "NONE": ("(NOT CAST(nullif(list_max(list_append(", ", 'False')), 'Half') AS BOOL))"),
    "SINGLE": (
        "list_extract(list_transform([list_to_string('', list_sort(",
        "))], clew_n -> CASE WHEN clew_n CONTAINS 'TrueTrue' THEN false WHEN clew_n CONTAINS 'Half' THEN NULL"
        " ELSE clew_n CONTAINS 'True' END), 1)",
    ),
}
"""What makes one truth of a list of *True*, *Half* (null) and *False*, which are so in their order."""


def _iteration(part: tree.Iteration, out: LadybugText) -> str:
    """*[x IN list WHERE x > 1 | x.name]*, *any(x IN list WHERE x > 1)* as ladybug's functions of lists.

    Ladybug 0.22 writes over what it has of a list where two functions go over it: each has a copy.
    """
    inner = [expression for expression in (part.where, part.result) if expression is not None]
    own_names = {iteration.variable.text for iteration in (part, *part.find(tree.Iteration))}
    of_items, of_list = (
        {variable.name.text for expression in expressions for variable in expression.find(tree.Variable)}
        for expressions in (inner, [part.source])
    )
    others = of_items - own_names
    # Ladybug 0.22 takes their values of other rows there.
    if others and id(part) in out.carried:
        refuse("a comprehension with variables of the query in WITH, UNWIND or a key of groups")
    has_length = any(edge.length for edge in out.statement.query.find(Relationship))
    if others and (out.has_optional or has_length or len(others | (of_list - own_names)) > 1):
        refuse(
            "a comprehension with variables of the query beside OPTIONAL MATCH, paths of any length or "
            "several of them"
        )
    name, text = quoted(part.variable.text), f"list_slice({_first(part.source, out)}, 1, {_FAR_POSITION})"
    if any(_of_items(access, own_names) for each in inner for access in each.find(tree.PropertyAccess)):
        # Ladybug 0.22 takes it of other items where the lists of 2,048 rows have more than 2,048 together.
        result = part.result
        is_plain = isinstance(result, tree.PropertyAccess) and isinstance(result.subject, tree.Variable)
        if not is_plain or part.where is not None or not _is_list_of_nodes(part.source, out.statement.query):
            refuse("properties of the items of a list, but as in [n IN nodes(p) | n.name]. Use UNWIND")
        return f"properties({text}, {quote_text(without_dots(result.key.text))})"
    for expression in inner:
        _write_out(expression, out)
    where = "" if part.where is None else out.text(part.where)
    if part.kind != "LIST":
        if not where:
            refuse(f"{part.kind.lower()}() without WHERE")
        before, behind = _QUANTIFIERS[part.kind]
        truth = f"coalesce(CAST({where} AS STRING), 'Half')"
        return f"{before}list_transform({text}, {name} -> {truth}){behind}"
    text = f"list_filter({text}, {name} -> {where})" if where else text
    return text if part.result is None else f"list_transform({text}, {name} -> {out.text(part.result)})"


def _of_items(access: tree.PropertyAccess, names: set[str]) -> bool:
    """Whether a property is one of the items that a comprehension goes over."""
    return any(variable.name.text in names for variable in access.find(tree.Variable))


def _is_list_of_nodes(part: Expression, query: tree.CypherQuery) -> bool:
    """Whether an expression shows that it is a list of nodes or edges: *nodes(p)*, *collect(n)* by name."""
    if isinstance(part, tree.Variable):
        given = [item.expression for item in query.find(tree.ReturnItem) if item.name == part.name.text]
        return bool(given) and all(_is_list_of_nodes(each, query) for each in given)
    name = part.name.lower() if isinstance(part, tree.Call) else ""
    if name == "collect":
        return _is_node(cast("tree.Call", part).arguments[0], query)
    return name in ("nodes", "relationships")


def _write_out(expression: Expression, out: LadybugText) -> None:
    """Texts and numbers as they are: a function of a list can have no parameters in it."""
    for part in expression.walk():
        if isinstance(part, tree.Parameter):
            refuse("parameters in a comprehension")
        if isinstance(part, (tree.PatternExpression, tree.Subquery)):
            refuse("patterns in a condition on the items of a list")
        if isinstance(part, tree.LiteralValue) and isinstance(part.value, str):
            if not part.value.isprintable():
                refuse("texts with control characters in a comprehension")
            out.write(part, quote_text(part.value))
        elif isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float"):
            out.write(part, repr(part.value))


def _list(part: tree.ListLiteral, out: LadybugText) -> None:
    """Ladybug makes texts of the numbers in a list with texts."""
    if len({_family(item) for item in part.items} - {""}) > 1 and id(part) not in out.numbers:
        refuse("lists of texts, numbers and booleans together")


def _family(part: Expression) -> str:
    """Whether an expression is written out as a text, number or boolean; empty for another one."""
    if isinstance(part, tree.Calculation) and part.operator == "NEG":
        return _family(part.operands[0])
    kind = part.kind if isinstance(part, tree.LiteralValue) else "null"
    return {"null": "", "integer": "number", "float": "number"}.get(kind, kind)


def _case(part: tree.Case, out: LadybugText) -> None:
    """*CASE x WHEN y* takes a null for another null in ladybug, and for nothing in Neo4j."""
    has_subject = out.statement.tokens[part.start + 1].value != "WHEN"
    if has_subject and not all(map(_family, part.parts[1 : (len(part.parts) - 1) // 2 * 2 + 1 : 2])):
        refuse("CASE x WHEN y, but with what is written out for y. Write CASE WHEN x = y")


def _label_check(check: tree.LabelCheck, out: LadybugText) -> str:
    names = label_names(check.labels)
    if names is None:
        refuse("label expressions with & or !")
    texts = ", ".join(quote_text(without_dots(name)) for name in names)
    subject = out.text(check.subject)
    return f"(CASE WHEN {subject} IS NULL THEN NULL ELSE label({subject}) IN [{texts}] END)"


def _operation(operation: tree.Calculation, out: LadybugText) -> str | None:
    match operation.operator:
        case "||":
            refuse("the operator ||")
        case "+":
            return _sum(operation, out)
        case "IN":
            return _in_list(operation, out)
        case "=~":
            # Ladybug finds nothing by a pattern that it cannot read; taking a group of it is an error.
            text, pattern = _as_text(operation.operands[0], out), out.text(operation.operands[1])
            return f"{text} =~ (CASE WHEN regexp_extract('', {pattern}) IS NULL THEN NULL ELSE {pattern} END)"
        case "CONTAINS":
            return _contains(operation, out)
        case operator if operator in _COMPARISONS:
            return _comparison(operation, out)
        case _:
            return None


def _sum(sum_: tree.Calculation, out: LadybugText) -> str | None:
    """A sum with a null in it is null, where ladybug takes a null among texts for an empty one."""
    if id(sum_) in out.added:
        return None
    operands, waiting = list[Expression](), [cast("Expression", sum_)]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tree.Calculation) and part.operator == "+":
            waiting += reversed(part.operands)
        else:
            operands.append(part)
    are_computed = (isinstance(part, tree.Calculation) and part.operator in COMPUTING for part in operands)
    are_numbers = (_kind(part, out) in ("INT64", "DOUBLE") for part in operands)
    are_written = all(isinstance(part, (tree.LiteralValue, tree.ListLiteral)) for part in operands)
    if are_written or any(are_computed) or any(are_numbers):
        return None
    absent = " OR ".join([f"({out.text(operand)}) IS NULL" for operand in operands])
    return f"(CASE WHEN {absent} THEN NULL ELSE {out.plain(sum_)} END)"


def _contains(operation: tree.Calculation, out: LadybugText) -> str | None:
    """Every text contains an empty one, of which ladybug says false."""
    (text, part), wanted = out.sides(operation), operation.operands[1]
    if isinstance(wanted, tree.LiteralValue):
        return f"{text} STARTS WITH {part}" if wanted.value == "" else None
    return f"(CASE WHEN {text} IS NULL THEN NULL ELSE {text} CONTAINS {part} OR {part} = '' END)"


def _in_list(operation: tree.Calculation, out: LadybugText) -> str:
    """What is not in a list with a null may be in it: null, where ladybug says false.

    Nothing is in an empty list, also a null, where ladybug says null.
    """
    (left, right), (item, items) = out.sides(operation), operation.operands
    written = items.items if isinstance(items, tree.ListLiteral) else ()
    others = [each for each in written if not (isinstance(each, tree.LiteralValue) and each.kind == "null")]
    if len(others) < len(written):
        if not others:
            refuse("IN of a list of nulls")
        if any(each.stop - each.start != 1 for each in others):
            refuse("IN of a list with null and computed items")
        right = f"[{', '.join(map(out.text, others))}]"
    if _is_node(item, out.statement.query):  # ladybug compares no nodes with those of a list
        left = f"{left}.{NODE_ID}"
        nodes = f"list_slice(coalesce({right}), 1, {_FAR_POSITION})"
        right = f"properties({nodes}, {quote_text(NODE_ID)})"
    if len(others) < len(written):
        return f"(CASE WHEN {left} IN {right} THEN true ELSE NULL END)"
    if written or (isinstance(item, tree.LiteralValue) and _family(item)):
        return f"{left} IN {right}"
    return f"({left} IN {right} AND size({right}) > 0)"


def _is_node(part: Expression, query: tree.CypherQuery) -> bool:
    """Whether an expression is a variable that nodes of patterns have, and nothing else has."""
    nodes, others = set[str](), set[str]()
    last = [clause for branch in query.branches for clause in branch.clauses[-1:]]
    columns = {id(item) for clause in last if isinstance(clause, tree.Projection) for item in clause.items}
    for each in query.find(tree.NodePattern, tree.ReturnItem, tree.Unwind, tree.Iteration):
        if id(each) in columns:  # its name is for whoever reads the rows
            continue
        name = each.alias if isinstance(each, tree.ReturnItem) else each.variable
        if name is not None:
            (nodes if isinstance(each, tree.NodePattern) else others).add(name.text)
    return isinstance(part, tree.Variable) and part.name.text in nodes - others


def _comparison(last: tree.Calculation, out: LadybugText) -> str | None:
    """*a < b < c* is *a < b AND b < c*; lists that may hold a null are not compared."""
    if any(map(_may_hold_null, last.operands)):
        refuse("comparisons of lists that may hold a null")
    first, right = last.operands
    if not (isinstance(first, tree.Calculation) and first.operator in _COMPARISONS):
        return None
    middle = first.operands[-1]
    in_brackets = out.statement.tokens[middle.stop].text not in _COMPARISONS
    if in_brackets or not isinstance(middle, _REPEATABLE):
        refuse("comparisons in a row (a < b < c) with an expression between")
    return f"({out.text(first)} AND {out.span(middle.start, last.stop, (middle, right))})"


def _may_hold_null(part: Expression) -> bool:
    """Whether an expression shows that it is a list, and not that no item of it is null."""
    if isinstance(part, tree.ListLiteral):
        return not all(isinstance(item, tree.LiteralValue) and item.kind != "null" for item in part.items)
    is_slice = isinstance(part, tree.Subscript) and part.slice
    return is_slice or (isinstance(part, tree.Iteration) and part.kind == "LIST")


def _refused(feature: str) -> Callable[[Any, LadybugText], None]:
    return lambda part, out: refuse(feature)


_FORMS: Mapping[type[Syntax], Callable[[Any, LadybugText], str | None]] = {
    tree.Name: lambda name, out: quoted(name.text),
    tree.Branch: _branch, tree.Projection: _projection, tree.MatchClause: _match, tree.PathPattern: _path,
    tree.NodePattern: _node, tree.Relationship: _relationship, tree.Length: lambda part, out: (
        f"* TRAIL {part.low}..{part.high}"
    ),
    tree.Call: _call, tree.MapProjection: _map_projection, tree.Subscript: _index, tree.Case: _case,
    tree.Calculation: _operation, tree.LabelCheck: _label_check, tree.Iteration: _iteration,
    tree.PropertyAccess: _property, tree.Subquery: _subquery, tree.ListLiteral: _list,
    tree.MapLiteral: _check_keys, tree.PatternExpression: _pattern_expression,
    tree.Reduce: _refused("reduce"), tree.PatternComprehension: _refused("pattern comprehensions"),
    tree.CallProcedure: _refused("CALL of procedures"),
    tree.Parenthesised: _refused("repeated parts of paths"),
}  # fmt: skip
"""The text of a part of a kind, None where it stands as it is; raises QueryRefused."""
