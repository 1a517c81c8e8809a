"""Patterns for ladybug: lengths and shortest paths in its form, and no relation matched twice."""

from __future__ import annotations

from itertools import combinations

from clew.stores.cypher import tree
from clew.stores.cypher.hops import terms
from clew.stores.cypher.ladybug_edits import TokenEdits, label_names, quoted, refuse
from clew.stores.cypher.tree import Expression, PathPattern, Relationship, Syntax

LONGEST_LADYBUG_PATH = 30
"""Ladybug follows no path further."""

ALL_ROWS = 1_000_000_000


def rewrite_pattern(part: Syntax, edits: TokenEdits, loops: frozenset[str]) -> None:
    """Rewrite what is no expression: a clause, node or edge. Raises QueryRefused as `to_ladybug`."""
    if isinstance(part, tree.MatchClause):
        _match(part, edits)
    elif isinstance(part, tree.Projection):
        if part.star and part.keyword == "RETURN":
            refuse("RETURN *. Name what shall be returned")
        if part.order and part.keyword == "WITH":
            _keep_order(part, edits)
    elif isinstance(part, (tree.NodePattern, Relationship)):
        expression = part.labels if isinstance(part, tree.NodePattern) else part.types
        if expression is not None and label_names(expression) is None:
            refuse("label expressions with & or !")
        if isinstance(part, Relationship):
            _check_loops(part, loops)


def _keep_order(projection: tree.Projection, edits: TokenEdits) -> None:
    """Keep the order of a WITH: ladybug wants a limit there, and 0.22 forgets the order under an aggregate.

    Of `WITH m ORDER BY m.weight DESC LIMIT 2 RETURN collect(m.name)` it collects any two, but not with UNWIND
    between.
    """
    edits.behind(projection.stop - 1, f" UNWIND [1] AS {edits.new_name()}")
    if projection.skip is None and projection.limit is None:
        edits.behind(projection.limit_at - 1, f" LIMIT {ALL_ROWS}")


def inline_first_call(query: tree.CypherQuery, edits: TokenEdits) -> None:
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
    if not names:
        return
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


def _match(match: tree.MatchClause, edits: TokenEdits) -> None:
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


def _length(edge: Relationship, length: tree.Length, kind: str, edits: TokenEdits) -> None:
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


def _shortest(path: PathPattern, edits: TokenEdits) -> None:
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


def _edge_name(edge: Relationship, names: dict[int, str], edits: TokenEdits) -> str:
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


def _conditions(match: tree.MatchClause, inequalities: list[str], edges: int, edits: TokenEdits) -> None:
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
    condition = " AND ".join(inequalities)
    if is_nested:
        if edges > 2:
            refuse("conditions between parts of a pattern of several edges in OPTIONAL MATCH or a subquery")
        barrier = ""
    else:
        barrier = " WITH *"
    if where is None:
        edits.behind(match.stop - 1, f"{barrier} WHERE {condition}")
        return
    at = match.paths[-1].stop
    edits.before(at, barrier.lstrip() + " " if barrier else "")
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


def _check_loops(edge: Relationship, loops: frozenset[str]) -> None:
    """Refuse edges without direction where a relation from a node to itself would be counted twice."""
    names = label_names(edge.types) if edge.types is not None else None
    loop_types = loops if names is None else loops & set(names)
    if edge.direction == "both" and loop_types:
        refuse(
            f"edges without direction over {', '.join(sorted(loop_types))}, which leads some nodes to "
            "themselves"
        )


def _may_be_same(first: Relationship, second: Relationship) -> bool:
    if first.types is None or second.types is None:
        return True
    first_names, second_names = label_names(first.types), label_names(second.types)
    return first_names is None or second_names is None or bool(set(first_names) & set(second_names))
