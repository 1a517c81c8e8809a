"""The Cypher of ladybug: what differs from Neo4j's is rewritten to mean the same, or refused.

Ladybug matches walks where Neo4j matches trails (no relation twice in a MATCH), counts positions from one,
names some functions otherwise and lacks others. Its own tests and ours (`tests/stores`) are the source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from clew.stores.cypher import tree
from clew.stores.cypher.guard import AGGREGATES, groups, tokens_of_bounds
from clew.stores.cypher.ladybug_forms import (
    NODE_ID,
    OF_PROPERTIES,
    VALUE_COLUMNS,
    GraphFacts,
    LadybugEdits,
    check_condition,
    check_optional_paths,
    inline_first_call,
    label_names,
    quoted,
    refuse,
    rewrite_pattern,
    rewrite_values,
    without_dots,
)
from clew.stores.cypher.tree import Expression, Relationship, Statement, Syntax, labels_of, quote_text

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
_PARTS = ("year", "quarter", "month", "week", "day")
"""Parts of a date that stand behind it as a property does."""
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
_COMPUTING = frozenset(("-", "*", "/", "%", "^", "NEG", "POS"))
_FAR_POSITION = 2**40
"""A position behind the end of any list or text."""
_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))
_REPEATABLE = (tree.PropertyAccess, tree.Variable, tree.LiteralValue, tree.Parameter, tree.Call)
"""What may stand in the middle of comparisons in a row."""
_REFUSED: dict[type[Syntax], str] = {
    tree.Reduce: "reduce",
    tree.PatternComprehension: "pattern comprehensions",
    tree.TypeCheck: "checks of types",
    tree.CallProcedure: "CALL of procedures",
    tree.Parenthesised: "repeated parts of paths",
}


def to_ladybug(
    statement: Statement, texts: dict[int, str], facts: GraphFacts, parameters: Mapping[str, object]
) -> None:
    """Change `texts` (new texts of tokens) so that the statement means in ladybug what it means in Neo4j.

    Raises QueryRefused for what has no such form.
    """
    edits, query = LadybugEdits(statement, texts, facts), statement.query
    for name in query.find(tree.Name):
        edits.put(name.start, quoted(name.text))
    _check_case(query)
    _write_numbers(edits, parameters)
    rewrite_values(edits)
    check_optional_paths(query)
    sizes = (call for call in query.find(tree.Call) if call.name.lower() == "size")
    counted_tokens = {
        call.arguments[0].start for call in sizes if _has_argument_of(tree.PatternComprehension, call)
    }
    inline_first_call(query, edits)
    for part in list(query.walk()):
        feature = _REFUSED.get(type(part))
        if feature is not None and part.start not in counted_tokens:
            refuse(feature)
        if not isinstance(part, Expression):
            rewrite_pattern(part, edits)
        elif (rewrite := _FORMS.get(type(part))) is not None:
            rewrite(part, edits)
    edits.finish()


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


def _write_numbers(edits: LadybugEdits, parameters: Mapping[str, object]) -> None:
    """Whole numbers have 64 bits: ladybug gives a parameter the least type that it fits."""
    in_bounds = tokens_of_bounds(edits.statement.query)
    for part in edits.statement.query.find(tree.LiteralValue, tree.Parameter):
        if part.start in in_bounds:
            continue
        if isinstance(part, tree.LiteralValue):
            if part.kind == "integer":
                edits.put(part.start, str(part.value))
        elif (kind := _whole_kind(parameters.get(part.name))) is not None:
            edits.put(part.start, f"CAST(${part.name} AS {kind})")


def _whole_kind(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return "INT64"
    items = cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()
    return "INT64[]" if items and all(_whole_kind(item) == "INT64" for item in items) else None


def _check_keys(part: tree.MapLiteral | tree.MapProjection, statement: Statement) -> None:
    """Refuse keys by which ladybug writes what a node or an edge is, but in a pattern."""
    patterns = statement.query.find(tree.NodePattern, Relationship)
    if any(pattern.properties is part for pattern in patterns):
        return
    selected = part.selected if isinstance(part, tree.MapProjection) else ()
    for key in (*selected, *(entry.key for entry in part.entries)):
        if key.text.startswith("_") or key.text.lower().startswith("clew_"):
            refuse(f"the key {key.text} of a map")


def _map_projection(part: tree.MapProjection, edits: LadybugEdits) -> None:
    """*m {.title, n: 1, x}* is {title: m.title, n: 1, x: x}."""
    if part.all_keys:
        refuse("all keys of a map projection")
    subject = quoted(part.subject.name.text)
    edits.null_where_absent(part, subject)
    _check_keys(part, edits.statement)
    edits.put(part.subject.start, "")
    for key in part.selected:
        edits.drop((key.start - 1,))
        edits.put(key.start, f"{quoted(key.text)}: {subject}.{quoted(key.text)}")
    for variable in part.variables:
        edits.before(variable.start, f"{quoted(variable.name.text)}: ")


def _call(call: tree.Call, edits: LadybugEdits) -> None:
    name, at = call.name.lower(), call.start
    if name in _SAME_FUNCTIONS:
        if name == "replace" and call.arguments:
            _as_first(call.arguments[0], edits)
        return
    if (rewrite := _REWRITES.get(name)) is not None:
        rewrite(call, edits)
        return
    if name in _CASTS and len(call.arguments) == 1:
        argument = call.arguments[0]
        value = argument.value if isinstance(argument, tree.LiteralValue) else None
        if isinstance(value, str) and "time" in name and "T" in value and _ZONE.search(value):
            refuse("times of another zone than UTC")
        if _CASTS[name] == "DOUBLE" and _kind(argument, edits) == "STRING":
            behind = f", {_FRACTION}, 1), '^\\\\+', ''), '')"
            edits.around(argument, "nullif(regexp_replace(regexp_extract(", behind)
            _as_first(argument, edits)
        edits.put(at, "CAST")
        edits.before(call.stop - 1, f" AS {_CASTS[name]}")
        return
    if name == "date" and len(call.arguments) <= 1:
        edits.put(at, "date" if call.arguments else "current_date")
        return
    if name in _RENAMED_FUNCTIONS:
        edits.put(at, _RENAMED_FUNCTIONS[name])
    elif name == "sum":
        edits.around(call, "coalesce(", ", 0)")
    else:
        refuse(f"the function {call.name}")


def _split(call: tree.Call, edits: LadybugEdits) -> None:
    """Mark where each part begins: ladybug leaves out empty parts."""
    match call.arguments:
        case (text, tree.LiteralValue(value=str() as separator) as part) if separator.isprintable():
            edits.drop(range(_token(",", text, part, edits), call.stop))
        case _:
            refuse("split() but of a text by one that is written out")
    separator, mark = quote_text(separator), "\ue000"
    if separator == "''":
        edits.put(call.start, "string_split")
        edits.before(call.stop - 1, ", '')")
    else:
        edits.put(call.start, "list_transform(string_split(regexp_replace(replace")
        marked = f"{separator[:-1]}{mark}'), '^', '{mark}'), {separator})"
        edits.put(call.stop - 1, f", {separator}, {marked}, clew_s -> regexp_replace(clew_s, '^{mark}', ''))")
    edits.around(text, "coalesce(", ")")
    _as_text(text, edits)


def _substring(call: tree.Call, edits: LadybugEdits) -> None:
    """The letters of the text, less those before the start, of them as many as are wanted.

    Ladybug's own has the whole text behind the last letter of one that is not all ASCII.
    """
    if len(call.arguments) not in (2, 3):
        refuse("substring() but of a text, a start and a length")
    text, first, *length = call.arguments
    letters = "list_slice(coalesce(list_slice(coalesce(regexp_extract_all"
    edits.put(call.start, f"list_to_string('', CAST({letters}")
    edits.put(_token(",", text, first, edits), ", '(?s).')), 1 + (")
    between = f"), {_FAR_POSITION})), 1, "
    if length:
        edits.put(_token(",", first, length[0], edits), between)
    else:
        edits.before(call.stop - 1, f"{between}{_FAR_POSITION}")
    edits.behind(call.stop - 1, " AS STRING[]))")
    _as_text(text, edits)
    _check_lengths(call, edits)


def _check_lengths(call: tree.Call, edits: LadybugEdits) -> None:
    """Refuse a start or length below zero, which is an error in Neo4j."""
    for number in call.arguments[1:]:
        _keep_within(number, "UINT64", range(2**63), f"{call.name}() with a number below zero", edits)


def _range(call: tree.Call, edits: LadybugEdits) -> None:
    """Refuse far bounds: ladybug counts the items of *range(0, 9223372036854775807)* as a float."""
    for bound in call.arguments[:2]:
        _keep_within(bound, "INT32", range(-(2**31), 2**31), "range() with a bound of over 32 bits", edits)


def _keep_within(part: Expression, kind: str, values: range, feature: str, edits: LadybugEdits) -> None:
    """Refuse a whole number that is not among the `values` of ladybug's type `kind`.

    A computed one is cast to that type, whose error ends the query. It is cast from a text, as a cast from a
    float would round it.
    """
    number = _whole_number(part)
    if number is None:
        edits.around(part, "CAST(CAST(CAST((", f") + 0 AS STRING) AS {kind}) AS INT64)")
    elif number not in values:
        refuse(feature)


def _to_whole(call: tree.Call, edits: LadybugEdits) -> None:
    """Cut off what is behind the point, towards zero; a text that is no number is null."""
    if len(call.arguments) != 1:
        refuse("toInteger of several values")
    argument, end = call.arguments[0], call.stop - 1
    kind = _kind(argument, edits)
    if kind == "INT64":
        edits.put(call.start, "CAST")
        edits.before(end, " AS INT64")
    elif kind == "STRING":
        edits.put(call.start, "CAST(nullif(regexp_extract")
        _as_first(argument, edits)
        edits.before(end, r", '^([+-]?[0-9]+)(?:\\.[0-9]*)?$', 1")
        edits.behind(end, ", '') AS INT64)")
    else:
        edits.put(call.start, "CAST(sign(CAST")
        edits.repeat(argument.start, argument.stop, " AS DOUBLE)) * floor(abs(CAST(")
        edits.before(end, " AS DOUBLE))) AS INT64")


def _kind(part: Expression, edits: LadybugEdits) -> str | None:
    """The type that an expression shows to have: INT64, DOUBLE, STRING; None where it is not known."""
    match part:
        case tree.LiteralValue(kind=kind):
            return {"integer": "INT64", "float": "DOUBLE", "string": "STRING"}.get(kind)
        case tree.PropertyAccess(key=key):
            if (kind := _COLUMN_KINDS.get(edits.text(key.start))) is not None:
                return kind
            return "STRING" if key.text == "name" else edits.facts.columns.get(key.text)
        case tree.Call(name=name, arguments=arguments) if name.lower() in _OF_THE_SAME:
            return _common(arguments, edits)
        case tree.Call(name=name):
            return _RESULTS.get(name.lower())
        case tree.Calculation(operator="^"):
            return "DOUBLE"
        case tree.Calculation(operator=operator, operands=operands) if operator in ("+", *_COMPUTING):
            return _common(operands, edits)
        case _:
            return None


def _common(parts: Sequence[Expression], edits: LadybugEdits) -> str | None:
    kinds = {_kind(part, edits) for part in parts}
    return "DOUBLE" if kinds == {"INT64", "DOUBLE"} else kinds.pop() if len(kinds) == 1 else None


def _to_text(call: tree.Call, edits: LadybugEdits) -> None:
    """Refuse fractions, which ladybug cuts after six places, and write *true* for *True*."""
    kind = _kind(call.arguments[0], edits) if len(call.arguments) == 1 else "DOUBLE"
    if kind == "DOUBLE":
        refuse("toString() but of one whole number, text, date or boolean")
    if kind is not None:
        edits.put(call.start, "CAST")
        edits.before(call.stop - 1, " AS STRING")
        return
    # Other types are known when the query is bound, and only there.
    edits.put(call.start, "list_extract(list_transform")
    edits.put(call.start + 1, "([")
    edits.put(
        call.stop - 1,
        "], clew_v -> CASE WHEN typeof(clew_v) IN ['DOUBLE', 'FLOAT'] THEN CAST(error('toString() of a ' +"
        " typeof(clew_v)) AS STRING) WHEN typeof(clew_v) = 'BOOL' THEN lower(CAST(clew_v AS STRING)) ELSE "
        "CAST(clew_v AS STRING) END), 1)",
    )


def _token(text: str, left: Syntax, right: Syntax, edits: LadybugEdits) -> int:
    """The token between two parts, which may be in brackets of their own."""
    return next(at for at in range(left.stop, right.start) if edits.statement.tokens[at].text == text)


def _add(sum_: tree.Calculation, edits: LadybugEdits) -> None:
    """A sum with a null in it is null, where ladybug takes a null among texts for an empty one."""
    if (sum_.start, sum_.stop) in edits.added:
        return
    operands, operators, waiting = list[Expression](), list[int](), [cast("Expression", sum_)]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, tree.Calculation) or part.operator != "+":
            operands.append(part)
            continue
        edits.added.add((part.start, part.stop))
        left, right = part.operands
        operators.append(_token("+", left, right, edits))
        waiting += [right, left]
    are_computed = (isinstance(part, tree.Calculation) and part.operator in _COMPUTING for part in operands)
    are_numbers = (_kind(part, edits) in ("INT64", "DOUBLE") for part in operands)
    are_written = all(isinstance(part, (tree.LiteralValue, tree.ListLiteral)) for part in operands)
    if not (are_written or any(are_computed) or any(are_numbers)):
        edits.null_where_any_is(sum_, operands, operators)


def _label(call: tree.Call, edits: LadybugEdits) -> None:
    """*type(r)* and *labels(n)*; null of what OPTIONAL MATCH has not found, where ladybug says a table."""
    if not _has_argument_of(tree.Variable, call):
        refuse(f"{call.name}() of what is no variable")
    subject = edits.statement.source(call.arguments[0])
    edits.null_where_absent(call, subject)
    edits.put(call.start, "label" if call.name.lower() == "type" else "[label")
    edits.behind(call.stop - 1, "" if call.name.lower() == "type" else "]")


def _is_empty(call: tree.Call, edits: LadybugEdits) -> None:
    edits.put(call.start, "(size")
    edits.behind(call.stop - 1, " = 0)")


def _round(call: tree.Call, edits: LadybugEdits) -> None:
    """Without places half way is up, also of what is below zero; with them it is away from zero.

    Ladybug multiplies first, and of 1.005 * 100 has less than half way left. The next number up has not.
    """
    number, *places = call.arguments
    if not places or _whole_number(places[0]) == 0:
        edits.put(call.start, "floor(0.5 + ")
        edits.behind(call.stop - 1, ")")
        edits.drop(range(_token(",", number, places[0], edits), call.stop - 1) if places else ())
    elif _kind(number, edits) != "INT64":
        edits.around(number, "((", ") * 1.0000000000000002)")


def _head(call: tree.Call, edits: LadybugEdits) -> None:
    if len(call.arguments) != 1:
        refuse(f"{call.name}() of several values")
    _item(call.arguments[0], 1 if call.name.lower() == "head" else -1, edits)
    edits.put(call.start, "")


def _percentile(call: tree.Call, edits: LadybugEdits) -> None:
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
    edits.drop(range(call.start, call.stop))
    edits.put(call.start, f"(CASE WHEN count({value}) = 0 THEN NULL ELSE {between} END)")


def _keys(call: tree.Call, edits: LadybugEdits) -> None:
    """*keys(n)*: the names of the properties that have a value."""
    name = call.arguments[0].name.text if _has_argument_of(tree.Variable, call) else ""  # pyright: ignore
    patterns = [
        p for p in edits.statement.query.find(tree.NodePattern, Relationship)
        if p.variable is not None and p.variable.text == name
    ]  # fmt: skip
    owners = next((names for pattern in patterns if (names := label_names(labels_of(pattern)))), None)
    if owners is None:
        refuse("keys() of what has no label or type in the query")
    properties = sorted({key for owner in owners for key in edits.facts.properties.get(owner, ())})
    items = ", ".join(
        f"CASE WHEN {quoted(name)}.{quoted(key)} IS NOT NULL THEN {quote_text(key)} END" for key in properties
    )
    edits.drop(range(call.start, call.stop))
    edits.put(call.start, f"list_filter([{items}], clew_key -> clew_key IS NOT NULL)")


def _properties(call: tree.Call, edits: LadybugEdits) -> None:
    """*properties(n)* as a column: a node or edge under a key of ours, which the store reads so."""
    last_clauses = [branch.clauses[-1] for branch in edits.statement.query.branches]
    columns = [
        item.expression for last in last_clauses
        if isinstance(last, tree.Projection) and not groups(last) for item in last.items
    ]  # fmt: skip
    if not _has_argument_of(tree.Variable, call) or call not in columns:
        refuse("properties() but of a variable, as a column of a RETURN that does not group")
    edits.put(call.start, "")
    edits.put(call.start + 1, f"{{{OF_PROPERTIES}: ")
    edits.put(call.stop - 1, "}")


def _has_argument_of(kind: type[Expression], call: tree.Call) -> bool:
    return len(call.arguments) == 1 and isinstance(call.arguments[0], kind)


def _exists(call: tree.Call, edits: LadybugEdits) -> None:
    if _has_argument_of(tree.PropertyAccess, call):
        edits.put(call.start, "")
        edits.before(call.stop - 1, " IS NOT NULL")
    elif _has_argument_of(tree.PatternExpression, call):
        _call_to_subquery("EXISTS", call, edits)
    else:
        refuse("exists() of what is neither a property nor a pattern")


def _call_to_subquery(kind: str, call: tree.Call, edits: LadybugEdits) -> None:
    """*exists((a)-->(b))* is EXISTS { MATCH (a)-->(b) }."""
    edits.put(call.start, kind)
    edits.put(call.start + 1, "{ MATCH ")
    edits.put(call.stop - 1, "}")


def _size(call: tree.Call, edits: LadybugEdits) -> None:
    """*size* of a pattern, or of a list made of one, is how often it is matched."""
    argument = call.arguments[0] if len(call.arguments) == 1 else None
    if isinstance(argument, tree.PatternExpression):
        _call_to_subquery("COUNT", call, edits)
    elif isinstance(argument, tree.PatternComprehension):
        if argument.path.variable is not None:
            refuse("a name for the path of a pattern comprehension")
        check_condition(argument.path)
        edits.put(argument.start, "MATCH ")
        pattern_stop = argument.path.stop if argument.where is None else argument.where.stop
        edits.drop(range(pattern_stop, argument.stop))
        _call_to_subquery("COUNT", call, edits)
        edits.put(call.start + 1, "{ ")


def _id(call: tree.Call, edits: LadybugEdits) -> None:
    """*id(n)* is the graph's id of a node; those of ladybug are no numbers."""
    variable = edits.statement.source(call.arguments[0]) if _has_argument_of(tree.Variable, call) else ""
    names = (node.variable for node in edits.statement.query.find(tree.NodePattern))
    if not any(name is not None and edits.statement.source(name) == variable for name in names):
        refuse("the id of what is no node")
    edits.put(call.start, "")
    edits.behind(call.stop - 1, f".{NODE_ID}")


def _days(call: tree.Call, edits: LadybugEdits) -> None:
    """*duration.inDays(a, b).days*: dates less dates are days here."""
    next_texts = [token.text for token in edits.statement.tokens[call.stop : call.stop + 2]]
    if next_texts != [".", "days"] or len(call.arguments) != 2:
        refuse("durations but for duration.inDays(a, b).days")
    first, last = call.arguments
    edits.drop(range(call.start, first.start))
    edits.before(call.start, "(-1 * (")
    edits.put(first.stop, " - ")
    edits.drop((call.stop, call.stop + 1))
    edits.put(last.stop, "))")


_REWRITES = {
    "size": _size, "exists": _exists, "id": _id, "elementid": _id, "duration.indays": _days, "type": _label,
    "labels": _label, "percentilecont": _percentile, "round": _round, "head": _head, "last": _head,
    "tostring": _to_text, "tostringornull": _to_text, "tointeger": _to_whole, "tointegerornull": _to_whole,
    "keys": _keys, "split": _split, "substring": _substring, "left": _check_lengths, "range": _range,
    "right": _check_lengths, "isempty": _is_empty, "properties": _properties,
}  # fmt: skip
"""Functions that may take a pattern, are of nodes, or become arithmetic."""


def _index(index: tree.Subscript, edits: LadybugEdits) -> None:
    at, subject = _whole_number(index.bounds[0]) if not index.slice else None, index.subject
    if index.slice:
        first, last = _slice(index, edits.statement)
        edits.drop(range(subject.stop, index.stop))
        edits.around(subject, "list_slice(coalesce(", f"), {first}, {last})")
    elif at is not None:
        edits.drop(range(subject.stop, index.stop))
        _item(subject, at + 1 if at >= 0 else at, edits)
    else:
        refuse("[ ] on a list as Neo4j has it")


def _item(subject: Expression, at: int, edits: LadybugEdits) -> None:
    """The item of a list at a position that is counted from one, or from the end; null where it has none."""
    edits.behind(subject.stop - 1, f", {at}) ELSE NULL END)")
    between = f") >= {abs(at)} THEN list_extract("
    edits.repeat(subject.start, subject.stop, between, before="(CASE WHEN size(")


def _as_first(part: Expression, edits: LadybugEdits) -> None:
    """Ladybug 0.22 loses values among nulls in the first of three arguments, but not behind coalesce."""
    edits.around(part, "coalesce(", ")")


def _slice(index: tree.Subscript, statement: Statement) -> tuple[int, int]:
    """The first and last position of a slice as ladybug counts them; Neo4j's last one is left out."""
    bounds = [value for bound in index.bounds if (value := _whole_number(bound)) is not None]
    if len(bounds) != len(index.bounds):
        refuse("slices of a list between computed positions")
    opens = statement.tokens[index.subject.stop + 1].text == ".."
    low, high = (0 if opens else bounds[0]), (bounds[-1] if opens or len(bounds) == 2 else None)
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


def _iteration(part: tree.Iteration, edits: LadybugEdits) -> None:
    """*[x IN list WHERE x > 1 | x.name]*, *any(x IN list WHERE x > 1)* as ladybug's functions of lists.

    Ladybug 0.22 writes over what it has of a list where two functions go over it: each has a copy.
    """
    name = quoted(part.variable.text)
    inner_expressions = [expression for expression in (part.where, part.result) if expression is not None]
    kept_ranges = (
        range(expression.start, expression.stop) for expression in (part.source, *inner_expressions)
    )
    edits.drop(set(range(part.start, part.stop)).difference(*kept_ranges))
    own_names = {iteration.variable.text for iteration in (part, *part.find(tree.Iteration))}
    of_items, of_list = (
        {variable.name.text for expression in expressions for variable in expression.find(tree.Variable)}
        for expressions in (inner_expressions, [part.source])
    )
    others = of_items - own_names
    has_length = any(edge.length for edge in edits.statement.query.find(Relationship))
    # Ladybug 0.22 may take their values of other rows there.
    if others and (edits.has_optional or has_length or len(others | (of_list - own_names)) > 1):
        refuse(
            "a comprehension with variables of the query beside OPTIONAL MATCH, paths of any length or "
            "several of them"
        )
    before, behind = _QUANTIFIERS.get(part.kind, ("", ""))
    is_filtered = part.kind == "LIST" and part.where is not None
    functions = len(inner_expressions) * ["list_transform("]
    functions[-1:] = ["list_filter("] if is_filtered else functions[-1:]
    edits.around(part.source, f"{before}{''.join(functions)}list_slice(coalesce(", f"), 1, {_FAR_POSITION})")
    for expression in inner_expressions:
        opens, closes = (f", {name} -> ", ")")
        if part.kind != "LIST":
            opens, closes = f"{opens}coalesce(CAST(", f" AS STRING), 'Half'){closes}{behind}"
        edits.around(expression, opens, closes)
        _write_out(expression, edits)


def _write_out(expression: Expression, edits: LadybugEdits) -> None:
    """Texts and numbers as they are: a function of a list can have no parameters in it."""
    for part in expression.walk():
        if isinstance(part, tree.Parameter):
            refuse("parameters in a comprehension")
        if isinstance(part, (tree.PatternExpression, tree.Subquery)):
            refuse("patterns in a condition on the items of a list")
        if isinstance(part, tree.LiteralValue) and isinstance(part.value, str):
            if not part.value.isprintable():
                refuse("texts with control characters in a comprehension")
            edits.put(part.start, quote_text(part.value))
        elif isinstance(part, tree.LiteralValue) and part.kind in ("integer", "float"):
            edits.put(part.start, repr(part.value))


def _part_of_date(part: tree.PropertyAccess, edits: LadybugEdits) -> None:
    """*m.date.year*: a property of a property is a part of a date."""
    if part.key.text.lower() not in _PARTS or not isinstance(part.subject, (tree.PropertyAccess, tree.Call)):
        return
    edits.drop(range(part.subject.stop, part.stop))
    edits.around(part.subject, f"date_part('{part.key.text.lower()}', ", ")")


def _operation(operation: tree.Calculation, edits: LadybugEdits) -> None:
    if operation.operator == "||":
        refuse("the operator ||")
    if operation.operator == "+":
        _add(operation, edits)
    if operation.operator == "IN":
        _in_list(operation, edits)
    if operation.operator == "=~":
        text, pattern = operation.operands
        _as_text(text, edits)
        # Ladybug finds nothing by a pattern that it cannot read; taking a group of it is an error.
        before = "(CASE WHEN regexp_extract('', "
        edits.behind(pattern.stop - 1, " END)")
        edits.repeat(pattern.start, pattern.stop, ") IS NULL THEN NULL ELSE ", before=before)
    if operation.operator == "CONTAINS":
        _contains(operation, edits)
    if "NORMALIZED" in operation.operator:
        refuse("IS NORMALIZED")
    if operation.operator in _COMPARISONS and any(map(_may_hold_null, operation.operands)):
        refuse("comparisons of lists that may hold a null")
    if operation.operator in _COMPARISONS and operation.start not in edits.chained:
        _split_comparisons(operation, edits)


def _contains(operation: tree.Calculation, edits: LadybugEdits) -> None:
    """Every text contains an empty one, of which ladybug says false."""
    at, part = _operator(operation, edits), operation.operands[1]
    if isinstance(part, tree.LiteralValue):
        if part.value == "":
            edits.put(at, "STARTS WITH")
        return
    edits.behind(operation.stop - 1, " = '' END)")
    edits.repeat(operation.start, at, " IS NULL THEN NULL ELSE ", before="(CASE WHEN ")
    edits.repeat(at + 1, operation.stop, " OR ")


def _operator(operation: tree.Calculation, edits: LadybugEdits) -> int:
    """The token between two operands."""
    left, right = operation.operands
    return next(at for at in range(left.stop, right.start) if edits.statement.tokens[at].text != ")")


def _in_list(operation: tree.Calculation, edits: LadybugEdits) -> None:
    """What is not in a list with a null may be in it: null, where ladybug says false.

    Nothing is in an empty list, also a null, where ladybug says null.
    """
    item, items = operation.operands
    is_written, at = (
        isinstance(items, tree.ListLiteral) and bool(items.items),
        _operator(operation, edits) + 1,
    )
    if not is_written and not (isinstance(item, tree.LiteralValue) and _family(item)):
        edits.before(operation.start, "(")
        edits.behind(operation.stop - 1, ") > 0)")
        edits.repeat(at, operation.stop, " AND size(")
    if _is_node(item, edits):  # ladybug compares no nodes with those of a list
        edits.behind(item.stop - 1, f".{NODE_ID}")
        edits.before(at, "list_transform(list_slice(coalesce(")
        edits.behind(operation.stop - 1, f"), 1, {_FAR_POSITION}), clew_n -> clew_n.{NODE_ID})")
    if not is_written:
        return
    written = cast("tree.ListLiteral", items).items
    nulls = [item for item in written if isinstance(item, tree.LiteralValue) and item.kind == "null"]
    others = [item for item in written if item not in nulls]
    if not nulls:
        return
    if not others:
        refuse("IN of a list of nulls")
    edits.drop(range(items.start + 1, items.stop - 1))
    for number, item in enumerate(others):
        if item.stop - item.start != 1:
            refuse("IN of a list with null and computed items")
        text = edits.statement.tokens[item.start].text
        edits.put(item.start, f", {text}" if number else text)
    edits.around(operation, "(CASE WHEN ", " THEN true ELSE NULL END)")


def _is_node(part: Expression, edits: LadybugEdits) -> bool:
    """Whether an expression is a variable that nodes of patterns have, and nothing else has."""
    nodes, others = set[str](), set[str]()
    for each in edits.statement.query.find(tree.NodePattern, tree.ReturnItem, tree.Unwind, tree.Iteration):
        name = each.alias if isinstance(each, tree.ReturnItem) else each.variable
        if name is not None:
            (nodes if isinstance(each, tree.NodePattern) else others).add(name.text)
    return isinstance(part, tree.Variable) and part.name.text in nodes - others


def _list(part: tree.ListLiteral, edits: LadybugEdits) -> None:
    """Ladybug makes texts of the numbers in a list with texts."""
    if len({_family(item) for item in part.items} - {""}) > 1 and part.start not in edits.numbers:
        refuse("lists of texts, numbers and booleans together")


def _family(part: Expression) -> str:
    """Whether an expression is written out as a text, number or boolean; empty for another one."""
    if isinstance(part, tree.Calculation) and part.operator == "NEG":
        return _family(part.operands[0])
    kind = part.kind if isinstance(part, tree.LiteralValue) else "null"
    return {"null": "", "integer": "number", "float": "number"}.get(kind, kind)


def _case(part: tree.Case, edits: LadybugEdits) -> None:
    """*CASE x WHEN y* takes a null for another null in ladybug, and for nothing in Neo4j."""
    has_subject = edits.statement.tokens[part.start + 1].value != "WHEN"
    if has_subject and not all(map(_family, part.parts[1 : (len(part.parts) - 1) // 2 * 2 + 1 : 2])):
        refuse("CASE x WHEN y, but with what is written out for y. Write CASE WHEN x = y")


def _may_hold_null(part: Expression) -> bool:
    """Whether an expression shows that it is a list, and not that no item of it is null."""
    if isinstance(part, tree.ListLiteral):
        return not all(isinstance(item, tree.LiteralValue) and item.kind != "null" for item in part.items)
    is_slice = isinstance(part, tree.Subscript) and part.slice
    return is_slice or (isinstance(part, tree.Iteration) and part.kind == "LIST")


def _keeps_rows(projection: tree.Projection) -> bool:
    """Whether a RETURN has as many rows as there are matches."""
    calls = (call.name.lower() for call in projection.find(tree.Call))
    changes = (
        projection.distinct or projection.skip or projection.limit or any(c in AGGREGATES for c in calls)
    )
    return projection.keyword == "RETURN" and not changes


def _as_text(part: Expression, edits: LadybugEdits) -> None:
    """Make a text of what may be a number: ladybug 0.22 reads its bytes as one, and may end the process."""
    edits.around(part, "CAST(", " AS STRING)")


def _split_comparisons(last: tree.Calculation, edits: LadybugEdits) -> None:
    """*a < b < c* is *a < b AND b < c*."""
    middles: list[Expression] = []
    first = last.operands[0]
    while isinstance(first, tree.Calculation) and first.operator in _COMPARISONS:
        middles.append(first.operands[-1])
        first = first.operands[0]
    if not middles:
        return
    edits.chained.add(last.start)
    for middle in middles:
        in_brackets = edits.statement.tokens[middle.stop].text not in _COMPARISONS
        if in_brackets or not isinstance(middle, _REPEATABLE):
            refuse("comparisons in a row (a < b < c) with an expression between")
        edits.repeat(middle.start, middle.stop, " AND ")
    edits.around(last, "(", ")")


def _label_check(check: tree.LabelCheck, edits: LadybugEdits) -> None:
    names = label_names(check.labels)
    if names is None:
        refuse("label expressions with & or !")
    texts = ", ".join(quote_text(without_dots(name)) for name in names)
    subject = edits.statement.source(check.subject)
    edits.drop(range(check.subject.stop, check.stop))
    absent = f"(CASE WHEN {subject} IS NULL THEN NULL ELSE label("
    edits.around(check.subject, absent, f") IN [{texts}] END)")


def _subquery(subquery: tree.Subquery, edits: LadybugEdits) -> None:
    """*EXISTS { MATCH (a)-->(b) MATCH (b)-->(c) RETURN c }* is one MATCH, as ladybug matches walks."""
    clauses = [clause for branch in subquery.query.branches for clause in branch.clauses]
    last = clauses[-1]
    if len(subquery.query.branches) == 1 and isinstance(last, tree.Projection) and _keeps_rows(last):
        edits.drop(range(last.start, last.stop))
        clauses = clauses[:-1]
    matches = [c for c in clauses if isinstance(c, tree.MatchClause) and not c.optional]
    plain = len(matches) == len(clauses) > 0 and all(match.where is None for match in matches[:-1])
    if subquery.kind == "COLLECT" or not plain:
        refuse("subqueries that are more than MATCH and WHERE")
    for match in matches[1:]:
        edits.put(match.start, ",")
    first = edits.statement.tokens[clauses[0].start]
    if not (first.kind == "word" and first.value == "MATCH"):
        edits.behind(subquery.start + 1, " MATCH")


_FORMS: Mapping[type[Syntax], Callable[[Any, LadybugEdits], None]] = {
    tree.Call: _call, tree.MapProjection: _map_projection, tree.Subscript: _index, tree.Case: _case,
    tree.Calculation: _operation, tree.LabelCheck: _label_check, tree.Iteration: _iteration,
    tree.PropertyAccess: _part_of_date, tree.Subquery: _subquery, tree.ListLiteral: _list,
    tree.MapLiteral: lambda part, edits: _check_keys(part, edits.statement),
    tree.PatternExpression: lambda part, _: check_condition(part.path),
}  # fmt: skip
"""What rewrites, or refuses, an expression of a kind."""
