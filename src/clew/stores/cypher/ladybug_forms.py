"""What rewriting Cypher for ladybug is made of: new texts of tokens, patterns, and values that are nodes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import NoReturn

from clew.stores.cypher import tree
from clew.stores.cypher.direction import terms
from clew.stores.cypher.guard import AGGREGATES, aggregates, groups
from clew.stores.cypher.tree import (
    Expression,
    LabelExpression,
    PathPattern,
    Relationship,
    Statement,
    Syntax,
    TokenEdits,
    labels_of,
    quote_name,
)
from clew.stores.errors import QueryRefused

# What all rewriting of Cypher for ladybug needs: new texts of tokens, names, and refusals.

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
OF_PROPERTIES = "clew_properties"
"""The key of a map that stands for the properties of the node or edge that it holds."""
_DOT = "\ufe52"
"""Stands for a dot in names of tables: ladybug takes what is before a dot for a database."""


def without_dots(name: str) -> str:
    """A name as ladybug can have it (`film.directed_by`, as Freebase writes)."""
    return name.replace(".", _DOT)


def with_dots(name: str) -> str:
    """A name of ladybug as the graph has it."""
    return name.replace(_DOT, ".")


def quoted(name: str) -> str:
    """Write a name for ladybug, in backticks where it needs them."""
    name = without_dots(name)
    return f"`{name}`" if name.upper() in _RESERVED else quote_name(name)


@dataclass(frozen=True, slots=True)
class GraphFacts:
    """What a statement is rewritten by.

    `loops` are the relation types that lead some node to itself, `kinds` the types of ladybug of relations
    whose tails are all values, `columns` those of properties (of the same name everywhere), `properties` the
    names of each label and relation type.
    """

    loops: Collection[str]
    kinds: Mapping[str, str]
    columns: Mapping[str, str]
    properties: Mapping[str, Sequence[str]]


_IS_NULL, _OR = "\2", "\3"
"""Stand behind the operands, and their operators, of what is asked for nulls before it is computed."""


class LadybugEdits(TokenEdits):
    """New texts of a statement for ladybug, by what is known of the graph."""

    def __init__(self, statement: Statement, texts: dict[int, str], facts: GraphFacts) -> None:
        super().__init__(statement, texts)
        self.facts = facts
        inner = (subquery.query for subquery in statement.query.find(tree.Subquery))
        self.nested = {part.start for query in inner for part in query.walk()}
        """First tokens of what stands in subqueries."""
        self.chained: set[int] = set()
        """First tokens of comparisons in a row."""
        self.numbers: set[int] = set()
        """First tokens of lists whose texts are written as numbers."""
        self.added: set[tuple[int, int]] = set()
        """First and last tokens of sums that are part of a longer one."""
        self.has_optional = any(match.optional for match in statement.query.find(tree.MatchClause))
        self._edge_numbers = count(1)
        self._repetitions: list[tuple[int, int, str, str]] = []

    def repeat(self, start: int, stop: int, between: str, before: str = "") -> None:
        """Repeat tokens behind themselves, as they are when all is rewritten; `before` stands before both."""
        number = len(self._repetitions)
        mark, begin = f"{between}\0{number}\0", f"\1{number}\1"
        self.before(start, before + begin)
        self.behind(stop - 1, mark)
        self._repetitions.append((start, stop, mark, begin))

    def null_where_any_is(self, part: Syntax, operands: Sequence[Syntax], operators: Sequence[int]) -> None:
        """Make a part null where an operand is; `operators` are the tokens between them."""
        self.behind(part.stop - 1, " END)")
        self.repeat(part.start, part.stop, " THEN NULL ELSE ", before="(CASE WHEN ")
        for operand in operands:
            self.around(operand, "(", f"){_IS_NULL}")
        for operator in operators:
            self.behind(operator, _OR)

    def finish(self) -> None:
        """Write what is repeated; inner parts first, which outer ones repeat."""
        for start, stop, mark, begin in reversed(self._repetitions):
            last_text, text_behind = self.text(stop - 1).split(mark, 1)
            texts = [*map(self.text, range(start, stop - 1)), last_text]
            before, texts[0] = texts[0].split(begin, 1)
            second = " ".join(text.replace(_IS_NULL, "").replace(_OR, "") for text in texts)
            texts = [" OR " if _OR in text else text.replace(_IS_NULL, " IS NULL") for text in texts]
            texts[0] = before + texts[0]
            texts[-1] += f"{mark.split(chr(0))[0]}{second}{text_behind}"
            self.texts.update(zip(range(start, stop), texts, strict=True))

    def null_where_absent(self, part: Syntax, subject: str) -> None:
        """Make a part null where OPTIONAL MATCH has not found its subject: ladybug says something else."""
        if self.has_optional:
            self.around(part, f"(CASE WHEN {subject} IS NULL THEN NULL ELSE ", " END)")

    def new_name(self) -> str:
        """Make a name for an edge that has none."""
        return f"clew_edge_{next(self._edge_numbers)}"


def label_names(expression: LabelExpression | None) -> tuple[str, ...] | None:
    """Return the names of `A` and `A|B`; None for other expressions, and for none."""
    if expression is None:
        return None
    alternatives = expression.parts if expression.operator == "|" else (expression,)
    if any(part.operator != "label" for part in alternatives):
        return None
    return tuple(name.text for name in expression.names)


# Patterns for ladybug: lengths and shortest paths in its form, and no relation matched twice.

LONGEST_LADYBUG_PATH = 30
"""Ladybug follows no path further."""

ALL_ROWS = 1_000_000_000


def rewrite_pattern(part: Syntax, edits: LadybugEdits) -> None:
    """Rewrite what is no expression: a clause, node or edge. Raises QueryRefused as `to_ladybug`."""
    if isinstance(part, tree.MatchClause):
        _match(part, edits)
    elif isinstance(part, tree.Projection):
        if part.star and part.keyword == "RETURN":
            refuse("RETURN *. Name what shall be returned")
        if part.order and part.keyword == "WITH":
            _keep_order(part, edits)
        if not part.star:
            _check_aggregates(part)
    elif isinstance(part, (tree.NodePattern, Relationship)):
        expression = labels_of(part)
        if expression is not None and label_names(expression) is None:
            refuse("label expressions with & or !")
        if isinstance(part, Relationship):
            _check_loops(part, edits.facts.loops)


def _check_aggregates(projection: tree.Projection) -> None:
    """Refuse to compute with an aggregate and a variable that the rows are not grouped by, as Neo4j does.

    Ladybug has a value where the variable is always the same: `WITH 7 AS k MATCH (n) RETURN count(n) + k`.
    """
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


def _keep_order(projection: tree.Projection, edits: LadybugEdits) -> None:
    """Keep the order of a WITH: ladybug wants a limit there, and 0.22 forgets the order under an aggregate.

    Of `WITH m ORDER BY m.weight DESC LIMIT 2 RETURN collect(m.name)` it collects any two, but not with UNWIND
    between.
    """
    edits.behind(projection.stop - 1, f" UNWIND [1] AS {edits.new_name()}")
    if projection.skip is None and projection.limit is None:
        edits.behind(projection.limit_at - 1, f" LIMIT {ALL_ROWS}")


def inline_first_call(query: tree.CypherQuery, edits: LadybugEdits) -> None:
    """*CALL { … RETURN x } …* as the first clause is *… WITH x …*; other subqueries are refused."""
    for branch in query.find(tree.Branch):
        for number, clause in enumerate(branch.clauses):
            if not isinstance(clause, tree.CallQuery):
                continue
            branches = clause.query.branches
            last = branches[0].clauses[-1]
            simple = not number and len(branches) == 1 and not clause.optional and not clause.imports
            if not simple or clause.imports_all or not isinstance(last, tree.Projection) or last.star:
                refuse("CALL { } but as the first clause, with one RETURN")
            if any(
                item.alias is None and not isinstance(item.expression, tree.Variable) for item in last.items
            ):
                refuse("CALL { } that returns an expression without AS")
            edits.drop((*range(clause.start, clause.query.start), *range(clause.query.stop, clause.stop)))
            edits.put(last.start, "WITH")


def check_optional_paths(query: tree.CypherQuery) -> None:
    """Refuse all but returning a path of OPTIONAL MATCH: where none is found ladybug has one of nulls."""
    names = {
        path.variable.text
        for match in query.find(tree.MatchClause)
        if match.optional
        for path in match.paths
        if path.variable is not None
    }
    plain = {
        item.expression.start for part in query.find(tree.Projection) for item in part.items
        if isinstance(item.expression, tree.Variable)
    }  # fmt: skip
    for variable in query.find(tree.Variable):
        if variable.name.text in names and variable.start not in plain:
            refuse("functions and conditions of a path of OPTIONAL MATCH. Use a node or relation of it")


def check_condition(path: PathPattern) -> None:
    """Refuse a pattern in a condition unless ladybug reads it as Neo4j does."""
    edges = [e for e in path.elements if isinstance(e, Relationship)]
    if path.selector or any(e.length for e in edges):
        refuse("paths of any length in a condition")
    if any(_may_be_same(a, b) for a, b in combinations(edges, 2)):
        refuse("a pattern of several edges in a condition. Write EXISTS { … }")


def _match(match: tree.MatchClause, edits: LadybugEdits) -> None:
    """Give lengths ladybug's form, and say that no relation is matched twice."""
    edges: list[Relationship] = []
    for path in match.paths:
        if path.selector:
            _shortest(path, edits)
        for element in path.elements:
            if isinstance(element, (tree.NodePattern, Relationship)) and element.where is not None:
                refuse("WHERE inside a pattern")
            if isinstance(element, Relationship):
                edges.append(element)
                if element.length is not None and not path.selector:
                    _length(element, element.length, "TRAIL", edits)
    names: dict[int, str] = {}
    inequalities: list[str] = []
    for first, second in combinations(edges, 2):
        if _may_be_same(first, second):
            if first.length or second.length:
                refuse("paths of any length beside edges of the same relation in one MATCH")
            inequalities.append(
                f"id({_edge_name(first, names, edits)}) <> id({_edge_name(second, names, edits)})"
            )
    _conditions(match, inequalities, len(edges), edits)


def _length(edge: Relationship, length: tree.Length, kind: str, edits: LadybugEdits) -> None:
    if edge.variable is not None:
        refuse("a variable for the edges of a path of any length")
    if edge.properties is not None:
        refuse("properties of the edges of a path of any length")
    if length.high is None or length.high > LONGEST_LADYBUG_PATH:
        refuse(
            f"paths of any length without a bound. Write one of at most {LONGEST_LADYBUG_PATH}, as in *..5"
        )
    if edits.statement.tokens[length.start].text != "*" or length.start > edge.right[0]:
        refuse("quantifiers of paths. Write *1..5 inside the brackets")
    edits.drop(range(length.start, length.stop))
    edits.put(length.start, f"* {kind} {length.low}..{length.high}")


def _shortest(path: PathPattern, edits: LadybugEdits) -> None:
    """`shortestPath((a)-[:R*..5]-(b))` → `(a)-[:R* SHORTEST 1..5]-(b)`."""
    kinds = {"shortestPath": "SHORTEST", "allShortestPath": "ALL SHORTEST"}
    edge = path.elements[1] if len(path.elements) == 3 else None
    if path.selector not in kinds or not isinstance(edge, Relationship) or edge.length is None:
        refuse("this form of shortest paths. Write shortestPath((a)-[*..5]-(b))")
    if edge.length.low > 1:
        refuse("shortest paths of a least length")
    length = tree.Length(edge.length.start, edge.length.stop, 1, edge.length.high)
    _length(edge, length, kinds[path.selector], edits)
    opening = path.elements[0].start - 1
    edits.drop((opening - 1, opening, path.stop - 1))


def _edge_name(edge: Relationship, names: dict[int, str], edits: LadybugEdits) -> str:
    """Return the name of an edge; one without gets one."""
    if edge.variable is not None:
        return quoted(edge.variable.text)
    if edge.start not in names:
        names[edge.start] = edits.new_name()
        if edge.left[-1] + 1 == edge.right[0]:
            edits.behind(edge.left[-1], f"[{names[edge.start]}]")
        else:
            edits.behind(edge.left[-1] + 1, names[edge.start])
    return names[edge.start]


def _conditions(match: tree.MatchClause, inequalities: list[str], edges: int, edits: LadybugEdits) -> None:
    """Add conditions to a MATCH, and put those that compare several of its parts behind it.

    Ladybug 0.22 loses rows where such a condition is tested before the last edge is followed: of 46 rows of
    `(a {…})-[x]->(m)<-[y]-(b)-[z]->(n) WHERE id(x) <> id(y)` it returns 22. `WITH *` between the two makes it
    return all; in OPTIONAL MATCH and subqueries, which can have none, longer patterns are refused. A text
    that is made a number or a date is looked at behind the MATCH too: before an edge is followed it may be
    any name.
    """
    where = match.where
    compares = where is not None and any(map(_compares, terms(where, "AND")))
    is_nested = match.optional or match.start in edits.nested
    if not inequalities and not compares and (is_nested or where is None or not _casts(where)):
        return
    if is_nested and edges > 2:
        refuse("conditions between parts of a pattern of several edges in OPTIONAL MATCH or a subquery")
    condition, barrier = " AND ".join(inequalities), "" if is_nested else "WITH * "
    if where is None:
        edits.behind(match.stop - 1, f" {barrier}WHERE {condition}")
        return
    at = match.paths[-1].stop
    edits.before(at, barrier)
    if inequalities:
        edits.before(at + 1, f"{condition} AND (")
        edits.behind(match.stop - 1, ")")


def _compares(condition: Expression) -> bool:
    """Whether a condition holds several variables against each other."""
    return len({variable.name.text for variable in condition.find(tree.Variable)}) > 1


def _casts(expression: Expression) -> bool:
    return any(
        call.name.lower().startswith(("tointeger", "tofloat", "date", "datetime", "localdatetime"))
        and not all(isinstance(argument, tree.LiteralValue) for argument in call.arguments)
        for call in expression.find(tree.Call)
    )


def _check_loops(edge: Relationship, loops: Collection[str]) -> None:
    """Refuse edges without direction where a relation from a node to itself would be counted twice."""
    names = label_names(edge.types)
    loop_types = loops if names is None else set(loops) & set(names)
    if edge.direction == "both" and loop_types:
        refuse(
            f"edges without direction over {', '.join(sorted(loop_types))}, which leads some nodes to "
            "themselves"
        )


def _may_be_same(first: Relationship, second: Relationship) -> bool:
    first_names, second_names = label_names(first.types), label_names(second.types)
    return first_names is None or second_names is None or bool(set(first_names) & set(second_names))


# Numbers, days and booleans that are nodes: compared, ordered and computed with as such, and not as texts.
#
# Where a source tells no literals from entities, a number is a node with its text for a name. Of a relation
# whose tails are all whole numbers, numbers, days or booleans, the embedded store has the value in a column
# of its own beside the name. Here *p.name* becomes that column where *p* is such a tail, and only where a
# value is wanted: in comparisons, ORDER BY, arithmetic, and functions of numbers and dates. Days are in order
# as texts too, so that they stay texts but beside dates.

VALUE_COLUMNS = {"INT64": "clew_whole", "DOUBLE": "clew_number", "DATE": "clew_day", "BOOLEAN": "clew_true"}
"""Type of ladybug → the column of nodes that are such values."""
_ORDER_OPERATORS = frozenset(("<", ">", "<=", ">="))
_COMPUTING_OPERATORS = frozenset(("-", "*", "/", "%", "^", "NEG", "POS"))
_NUMBER_FUNCTIONS = frozenset(
    "max min sum avg abs ceil floor round sqrt sign tointeger tointegerornull tofloat tofloatornull".split()
)
_NUMBER = re.compile(r"-?\d{1,15}(\.\d+)?")
_DATE_FUNCTIONS = frozenset(("date", "datetime", "localdatetime"))


def rewrite_values(edits: LadybugEdits) -> None:
    """Put the value's column in the place of a name."""
    query, kinds = edits.statement.query, edits.facts.kinds
    for part in query.find(tree.Calculation):
        if part.operator == "IN":
            _rewrite_list(part, edits, kinds)
    if columns := _columns(edits.statement, kinds):
        for branch in query.find(tree.Branch):
            _branch(branch, edits, columns)


def _rewrite_list(part: tree.Calculation, edits: LadybugEdits, kinds: Mapping[str, str]) -> None:
    """*b.year IN ['1999', 2004]*: texts of numbers are numbers, where the property is one."""
    left, items = part.operands
    if not isinstance(left, tree.PropertyAccess) or not isinstance(items, tree.ListLiteral):
        return
    if kinds.get(left.key.text) not in ("INT64", "DOUBLE"):
        return
    edits.numbers.add(items.start)
    for item in items.items:
        if isinstance(item, tree.LiteralValue) and isinstance(item.value, str):
            if not _NUMBER.fullmatch(item.value):
                refuse(f"a comparison of numbers with {item.value!r}")
            edits.put(item.start, item.value)


def _branch(branch: tree.Branch, edits: LadybugEdits, columns: Mapping[str, str]) -> None:
    aliases = {
        item.alias.text: item.expression
        for part in branch.find(tree.Projection)
        for item in part.items
        if item.alias is not None and _column(item.expression, columns)
    }
    for expression, is_date in _value_expressions(branch):
        # What is called otherwise gets its value where it gets that name.
        original = aliases.get(expression.name.text) if isinstance(expression, tree.Variable) else None
        target = expression if original is None else original
        if is_date or _column(target, columns) != VALUE_COLUMNS["DATE"]:
            _put_column(target, edits, columns)
    for part in branch.find(tree.Projection):
        if part.order and groups(part):
            # Only what a projection has can order it then.
            ordered_names = {_name_variable(order) for order in part.order} & columns.keys()
            ordered_names -= {name for name in ordered_names if columns[name] == VALUE_COLUMNS["DATE"]}
            for item in part.items:
                if _name_variable(item.expression) in ordered_names:
                    _put_column(item.expression, edits, columns)


def _columns(statement: Statement, kinds: Mapping[str, str]) -> dict[str, str]:
    """The column of each variable that can only be the tail of relations with values of one type."""
    kinds_by_variable: dict[str, set[str]] = {}
    for path in statement.query.find(PathPattern):
        for at, edge in enumerate(path.elements):
            if isinstance(edge, Relationship) and edge.direction != "both":
                tail = path.elements[at + 1 if edge.direction == "right" else at - 1]
                if isinstance(tail, tree.NodePattern) and tail.variable is not None:
                    names = label_names(edge.types) if edge.length is None else None
                    kind = _common_kind({kinds.get(name, "") for name in names or ("",)})
                    kinds_by_variable.setdefault(tail.variable.text, set()).add(kind)
    return {
        name: VALUE_COLUMNS[kind]
        for name, tail_kinds in kinds_by_variable.items()
        if (kind := _common_kind(tail_kinds))
    }


def _common_kind(kinds: set[str]) -> str:
    """The one type, or numbers where some are whole; empty where there is none for all."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else ""


def _value_expressions(branch: tree.Branch) -> Iterator[tuple[Expression, bool]]:
    """What is taken for a value, and whether for a date."""
    for part in branch.walk():
        if isinstance(part, tree.Projection):
            yield from ((order, False) for order in part.order)
        elif isinstance(part, tree.Call) and part.name.lower() in (*_NUMBER_FUNCTIONS, *_DATE_FUNCTIONS):
            yield from ((first, part.name.lower() in _DATE_FUNCTIONS) for first in part.arguments[:1])
        elif isinstance(part, tree.Calculation) and _is_of_values(part):
            calls = (operand for operand in part.operands if isinstance(operand, tree.Call))
            is_date = part.operator == "-" or any(call.name.lower() in _DATE_FUNCTIONS for call in calls)
            yield from ((operand, is_date) for operand in part.operands)


def _is_of_values(part: tree.Calculation) -> bool:
    """Whether an operation is one of values whatever its operands are, or beside a number or boolean."""
    if part.operator in (*_ORDER_OPERATORS, *_COMPUTING_OPERATORS, "NOT"):
        return True
    with_number = part.operator in ("=", "<>", "+", "IN") and any(map(_is_number, part.operands))
    literals = (operand for operand in part.operands if isinstance(operand, tree.LiteralValue))
    return with_number or (part.operator in ("=", "<>") and any(x.kind == "boolean" for x in literals))


def _is_number(part: Expression) -> bool:
    if isinstance(part, tree.ListLiteral):
        return bool(part.items) and all(map(_is_number, part.items))
    is_literal = isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float")
    return is_literal or (isinstance(part, tree.Call) and part.name.lower() in _NUMBER_FUNCTIONS)


def _put_column(expression: Expression, edits: LadybugEdits, columns: Mapping[str, str]) -> None:
    if isinstance(expression, tree.PropertyAccess) and (column := _column(expression, columns)):
        edits.put(expression.key.start, column)


def _column(expression: Expression, columns: Mapping[str, str]) -> str:
    return columns.get(_name_variable(expression), "")


def _name_variable(expression: Expression) -> str:
    """The variable whose name an expression is (*p* of *p.name*); empty for anything else."""
    match expression:
        case tree.PropertyAccess(subject=tree.Variable(name=variable), key=tree.Name(text="name")):
            return variable.text
        case _:
            return ""
