import itertools
from collections import namedtuple

import pytest
from cases import table
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.stores.cypher.direction import correct_directions, require_legal
from clew.stores.cypher.parser import parse
from clew.stores.cypher.tree import render
from clew.stores.errors import QueryError
from clew.stores.store import GraphSchema, SchemaHop

CASES = table("directions")
Fixed = namedtuple("Fixed", ("text", "corrections"))


def schema_of(hops):
    return GraphSchema(tuple(dict.fromkeys(SchemaHop(*hop) for hop in hops)))


FORMS = schema_of(tuple(hop.strip("` ") for hop in triple.split(",")) for triple in CASES["schema"])


def fix(text, schema):
    statement = parse(text)
    directions = correct_directions(statement, schema)
    require_legal(directions)
    return Fixed(render(statement.tokens, directions.edits), tuple(directions.corrections))


@pytest.mark.parametrize("statement", CASES["unchanged"])
def test_a_legal_statement_stays(statement):
    fixed = fix(statement, FORMS)
    assert (fixed.text, fixed.corrections) == (statement, ())


@pytest.mark.parametrize(("before", "after"), CASES["turned"])
def test_a_forbidden_hop_is_turned(before, after):
    assert fix(before, FORMS).text == after
    assert fix(after, FORMS).corrections == ()


@pytest.mark.parametrize(("statement", "hop"), CASES["illegal"])
def test_a_hop_that_no_direction_makes_legal_is_named(statement, hop):
    with pytest.raises(QueryError) as raised:
        fix(statement, FORMS)
    assert str(raised.value).startswith(f"Illegal hop {hop}: ")
    assert hop in str(raised.value)


def test_all_illegal_hops_are_named():
    with pytest.raises(QueryError) as raised:
        fix("MATCH (a:City)-[:KNOWS]->(b:Movie), (b)-[:WORKS_AT]->(:City) RETURN a", FORMS)
    assert str(raised.value).count(": the schema") == 2


def test_a_correction_says_what_the_schema_has():
    (correction,) = fix("MATCH (c:Company)-[:WORKS_AT]->(p:Person) RETURN p", FORMS).corrections
    assert correction.before == "(c:Company)-[:WORKS_AT]->(p:Person)"
    assert correction.after == "(c:Company)<-[:WORKS_AT]-(p:Person)"
    assert "(:Person)-[:WORKS_AT]->(:Company)" in correction.reason


LABELS, TYPES = "ABC", "XY"


@settings(max_examples=80)
@given(st.data())
def test_paths_agree_with_trying_all_labels(data):
    """Against brute force: all labels for all nodes, and all sets of turned hops, fewest first."""
    triple = st.tuples(st.sampled_from(LABELS), st.sampled_from(TYPES), st.sampled_from(LABELS))
    hops = data.draw(st.lists(triple, min_size=1, max_size=4, unique=True))
    length = data.draw(st.integers(1, 3))
    nodes = data.draw(st.lists(st.sampled_from(["", *LABELS]), min_size=length + 1, max_size=length + 1))
    edges = data.draw(
        st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from("<>-")), min_size=length, max_size=length)
    )
    known = {label for head, _, tail in hops for label in (head, tail)}

    def is_legal(directions):
        return any(
            all(
                ((a, edge, b) in hops and d in ">-") or ((b, edge, a) in hops and d in "<-")
                for (edge, _), d, a, b in zip(edges, directions, row, row[1:], strict=False)
            )
            for row in itertools.product(*([n] if n else sorted(known) for n in nodes))
        )

    def text(directions):
        arrows = [
            f"{'<-' if d == '<' else '-'}[:{edge}]{'->' if d == '>' else '-'}"
            for (edge, _), d in zip(edges, directions, strict=True)
        ]
        parts = [f"(n{i}{':' + n if n else ''})" for i, n in enumerate(nodes)]
        return (
            "MATCH " + parts[0] + "".join(a + p for a, p in zip(arrows, parts[1:], strict=True)) + " RETURN 1"
        )

    written = [d for _, d in edges]
    choices = itertools.product(*(["<", ">"] if d != "-" else ["-"] for d in written))
    turns = sorted((sum(a != b for a, b in zip(c, written, strict=True)), c) for c in choices if is_legal(c))
    try:
        fixed = fix(text(written), schema_of(hops)).text
    except QueryError:
        assert not turns
        return
    if not turns:  # every hop is legal by itself, but not all together: it stays, labels may be unknown
        assert fixed == text(written) or len(nodes) > 2
        return
    assert fixed in {text(c) for n, c in turns if n == turns[0][0]}


@settings(max_examples=60)
@given(st.data())
def test_an_undirected_path_is_legal_where_its_steps_are(data):
    triple = st.tuples(st.sampled_from(LABELS), st.sampled_from(TYPES), st.sampled_from(LABELS))
    schema = schema_of(data.draw(st.lists(triple, min_size=1, max_size=4, unique=True)))
    first, last = data.draw(st.sampled_from(LABELS)), data.draw(st.sampled_from(LABELS))
    steps, edge = data.draw(st.integers(1, 4)), data.draw(st.sampled_from(TYPES))

    def legal(path):
        try:
            fix(f"MATCH (a:{first}){path}(b:{last}) RETURN 1", schema)
        except QueryError:
            return False
        return True

    single = f"-[:{edge}]-"
    reached = {first}
    hops = {(h.head, h.tail) for h in schema.hops if h.type == edge}
    for _ in range(steps):
        reached = {b for a, b in hops | {(b, a) for a, b in hops} if a in reached}
    assert legal(f"-[:{edge}*{steps}]-") == (last in reached)
    assert legal(single) == ((first, last) in hops or (last, first) in hops)
