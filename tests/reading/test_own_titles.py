"""A thing and the text of its title are one: what is called by its title is asked about."""

from clew import Clew

MOVIES = [
    ("m1", "title", "Apollo 13"), ("p1", "DIRECTED", "m1"), ("p2", "ACTED_IN", "m1"),
    ("m2", "title", "Hoffa"), ("p2", "DIRECTED", "m2"), ("p1", "name", "Ron Howard"),
    ("p2", "name", "Danny DeVito"),
]  # fmt: skip
NAMES = {head: [tail] for head, relation, tail in MOVIES if relation in ("title", "name")}


def test_what_is_called_by_its_title_is_asked_about():
    with Clew.from_triples(MOVIES, aliases=NAMES) as graph:
        answer = graph.ask("Who directed Apollo 13?")
    assert [a.entity for a in answer.answers] == ["p1"]
