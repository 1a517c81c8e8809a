"""Which names and values a statement uses."""

from clew.stores.cypher.parser import parse
from clew.stores.cypher.uses import uses_of


def names(query):
    return [(use.kind, use.text, use.owner, use.of) for use in uses_of(parse(query)).names]


def values(query):
    return [(u.value, u.property, u.of, u.operator, u.function) for u in uses_of(parse(query)).values]


def test_labels_relations_and_properties_with_what_is_said_of_their_owner():
    assert names("MATCH (p:Person {name: 'A'})-[r:KNOWS {since: 1}]->(:Dog|Cat) RETURN p.born, r.since") == [
        ("label", "Person", "node", ()),
        ("property", "name", "node", ("Person",)),
        ("relation", "KNOWS", "node", ()),
        ("property", "since", "relation", ("KNOWS",)),
        ("label", "Dog", "node", ()),
        ("label", "Cat", "node", ()),
        ("property", "born", "node", ("Person",)),
        ("property", "since", "relation", ("KNOWS",)),
    ]


def test_a_renamed_variable_keeps_its_labels_and_a_value_is_no_node():
    assert names("MATCH (p:Person) WITH p AS q, {name: 1} AS m RETURN q.born, m.name") == [
        ("label", "Person", "node", ()),
        ("property", "born", "node", ("Person",)),
    ]


def test_labels_of_conditions_count():
    assert ("property", "born", "node", ("Person",)) in names("MATCH (p) WHERE p:Person RETURN p.born")


def test_values_of_maps_comparisons_and_lists():
    query = (
        "MATCH (p:Person {name: 'A', born: 1964}) WHERE p.city IN ['B', 'C'] AND toLower(p.job) = 'd' "
        "AND p.note CONTAINS 'e' AND 'f' = p.x AND p.age > 3 RETURN p"
    )
    assert values(query) == [
        ("A", "name", ("Person",), "=", ""),
        (1964, "born", ("Person",), "=", ""),
        ("B", "city", ("Person",), "=", ""),
        ("C", "city", ("Person",), "=", ""),
        ("d", "job", ("Person",), "=", "toLower"),
        ("e", "note", ("Person",), "CONTAINS", ""),
        ("f", "x", ("Person",), "=", ""),
    ]
