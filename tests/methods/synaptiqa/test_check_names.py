"""Names and values of queries compared with those of a graph."""

import pytest

from clew.methods.synaptiqa.check_names import NameCheck
from clew.methods.synaptiqa.choose_name import NameChoice, Near, choose_by_similarity
from clew.stores.cypher.parser import parse
from clew.stores.store import GraphSchema, SchemaHop
from clew.text.embedders import StaticEmbedder
from clew.text.lexicon import Lexicon

SCHEMA = GraphSchema(
    (
        SchemaHop("Person", "ACTED_IN", "Movie"),
        SchemaHop("Person", "DIRECTED", "Movie"),
        SchemaHop("Person", "LIVES_IN", "City"),
    ),
    {
        "Person": frozenset({"name", "born"}),
        "Movie": frozenset({"title", "released", "tagline"}),
        "City": frozenset({"cityName", "population"}),
    },
    {"ACTED_IN": frozenset({"roles"}), "DIRECTED": frozenset(), "LIVES_IN": frozenset()},
)
VALUES = {
    "name": ["Tom Hanks", "Tom Cruise", "Meg Ryan"],
    "title": ["The Matrix", "Apollo 13"],
    "released": [1999, 1995],
}


class GivenValues:
    """Values from a table."""

    def has(self, place, operator, value, function=""):
        known = [v.lower() if function else v for v in VALUES.get(place.property, [])]
        if operator == "=":
            return value in known
        return any(isinstance(v, str) and value in v for v in known)

    def near(self, place, text, count):
        from clew.methods.synaptiqa.choose_name import NameSpace

        texts = [v for v in VALUES.get(place.property, []) if isinstance(v, str)]
        return NameSpace(texts, EMBEDDER, LEXICON).nearest(text, count)

    def near_parts(self, place, text, count):
        return (Near("Matrix", 1.0),) if text.lower() == "matrix" else ()


EMBEDDER, LEXICON = StaticEmbedder.load(), Lexicon.load()
CHECK = NameCheck(SCHEMA, GivenValues(), EMBEDDER, LEXICON)
BY_SIMILARITY = choose_by_similarity

NAMES = [
    ("MATCH (p:Persons) RETURN p.name", "MATCH (p:Person) RETURN p.name"),
    ("MATCH (p:person) RETURN p.name", "MATCH (p:Person) RETURN p.name"),
    ("MATCH (p:Person)-[:ACTS_IN]->(m:Movie) RETURN p", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p"),
    ("MATCH (p:Person)-[:actedIn]->(m:Movie) RETURN p", "MATCH (p:Person)-[:ACTED_IN]->(m:Movie) RETURN p"),
    ("MATCH (p:Actor)-[:ACTED_IN]->(m) RETURN p", "MATCH (p:Person)-[:ACTED_IN]->(m) RETURN p"),
    ("MATCH (p:Actor)<-[:ACTED_IN]-(m:Film) RETURN p", "MATCH (p:Person)<-[:ACTED_IN]-(m:Movie) RETURN p"),
    ("MATCH (m:Movie) RETURN m.name", "MATCH (m:Movie) RETURN m.title"),
    ("MATCH (m:Movie) RETURN m.release_year", "MATCH (m:Movie) RETURN m.released"),
    ("MATCH (c:City) RETURN c.name", "MATCH (c:City) RETURN c.cityName"),
    ("MATCH (:Person)-[:DIRECTED]->(m) RETURN m.name", "MATCH (:Person)-[:DIRECTED]->(m) RETURN m.title"),
    (
        "MATCH (p)-[:LIVES_IN]->(c) RETURN p.title, c.title",
        "MATCH (p)-[:LIVES_IN]->(c) RETURN p.name, c.cityName",
    ),
    ("MATCH (m:Movie {Title: 'x'}) RETURN m", "MATCH (m:Movie {title: 'x'}) RETURN m"),
    ("MATCH (n) RETURN n.born", "MATCH (n) RETURN n.born"),
    ("MATCH (n) WHERE n:Movies RETURN n.title", "MATCH (n) WHERE n:Movie RETURN n.title"),
]


@pytest.mark.parametrize(("query", "expected"), NAMES)
def test_names_that_the_graph_lacks_are_replaced(query, expected):
    checked = CHECK.names(parse(query), "", BY_SIMILARITY)
    assert checked.statement.text == expected
    assert checked.unknown == ()
    assert bool(checked.corrections) == (query != expected)
    assert all(c.reason.startswith("the graph has no ") for c in checked.corrections)


def test_what_is_like_nothing_is_left_and_told():
    checked = CHECK.names(parse("MATCH (p:Person)-[:COMPOSED_BY]->(m:Movie) RETURN p"), "", BY_SIMILARITY)
    assert checked.statement.text == "MATCH (p:Person)-[:COMPOSED_BY]->(m:Movie) RETURN p"
    (left,) = checked.unknown
    assert str(left) == "relation 'COMPOSED_BY'"
    assert {near.name for near in left.near} == {"ACTED_IN", "DIRECTED"}  # what leads from people to films


VALUE_CASES = [
    ("MATCH (p:Person {name: 'Tom Hank'}) RETURN p", "'Tom Hanks'"),
    ("MATCH (p:Person {name: 'tom hanks'}) RETURN p", "'Tom Hanks'"),
    ("MATCH (p:Person) WHERE p.name IN ['Meg Rian'] RETURN p", "'Meg Ryan'"),
    ("MATCH (p:Person) WHERE toLower(p.name) = 'meg rian' RETURN p", "'meg ryan'"),
    ("MATCH (m:Movie) WHERE m.released = '1999' RETURN m", "1999"),
    ("MATCH (m:Movie) WHERE m.title CONTAINS 'matrix' RETURN m", "'Matrix'"),
    ("MATCH (:Person)-[:DIRECTED]->(m {title: 'Appolo 13'}) RETURN m", "'Apollo 13'"),
]


@pytest.mark.parametrize(("query", "after"), VALUE_CASES)
def test_values_that_the_graph_lacks_are_replaced(query, after):
    checked = CHECK.values(parse(query), "", BY_SIMILARITY)
    assert [c.after for c in checked.corrections] == [after]
    assert after in checked.statement.text


def test_values_that_are_there_and_numbers_that_are_not_stay():
    query = "MATCH (p:Person {name: 'Tom Hanks'})-[:ACTED_IN]->(m:Movie {released: 2050}) RETURN m"
    checked = CHECK.values(parse(query), "", BY_SIMILARITY)
    assert checked.statement.text == query
    assert checked.corrections == checked.unknown == ()


def test_a_value_between_two_is_not_guessed():
    checked = CHECK.values(parse("MATCH (p:Person {name: 'Tom'}) RETURN p"), "", BY_SIMILARITY)
    assert checked.corrections == ()
    assert [each.written for each in checked.unknown] == ["Tom"]


def test_a_chosen_value_cannot_leave_its_string():
    def evil(question, query, unknown):
        return [NameChoice("x'}) DETACH DELETE n //\\", "test") for _ in unknown]

    checked = CHECK.values(parse("MATCH (p:Person {name: 'Nobody'}) RETURN p"), "", evil)
    assert "{name: 'x\\'}) DETACH DELETE n //\\\\'}" in checked.statement.text
