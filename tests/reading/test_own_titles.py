"""A thing and the text of its title are one candidate of what a question names."""

import pytest

from clew.engine import Clew
from clew.graph.build.build import graph_of
from clew.reading.mentions import EXACT, Candidate, Mention
from clew.reading.own_titles import without_own_titles

MOVIES = [
    ("m1", "title", "Apollo 13"),
    ("p1", "DIRECTED", "m1"),
    ("p2", "ACTED_IN", "m1"),
    ("m2", "title", "Hoffa"),
    ("p2", "DIRECTED", "m2"),
    ("p1", "name", "Ron Howard"),
    ("p2", "name", "Danny DeVito"),
    ("m3", "based_on", "Hoffa"),
]


def named(graph, *nodes):
    ids = {label: node for node, label in enumerate(graph.entities)}
    return Mention(0, 1, "x", tuple(Candidate(ids[n], EXACT, 1.0) for n in nodes))


@pytest.mark.parametrize(
    ("nodes", "left"),
    [
        (("m1", "Apollo 13"), ["m1"]),
        (("Apollo 13", "m1"), ["m1"]),
        (("Apollo 13",), ["Apollo 13"]),
        (("m2", "Hoffa"), ["m2", "Hoffa"]),  # something else leads to it, so it is a thing of its own
        (("m1", "m2"), ["m1", "m2"]),
    ],
)
def test_a_title_is_no_thing_beside_what_it_is_the_title_of(nodes, left):
    graph = graph_of(MOVIES)
    (mention,) = without_own_titles(graph, [named(graph, *nodes)])
    assert [graph.entities[c.node] for c in mention.candidates] == left


def test_what_is_called_by_its_title_is_asked_about(tmp_path):
    path = tmp_path / "movies.tsv"
    path.write_text("".join("\t".join(t) + "\n" for t in MOVIES[:-1]), "utf-8")
    names = {h: t for h, r, t in MOVIES if r in ("title", "name")}
    aliases = tmp_path / "names.tsv"
    aliases.write_text("".join(f"{node}\t{name}\n" for node, name in names.items()), "utf-8")
    with Clew.open(path, aliases=aliases) as opened:
        answer = opened.ask("Which person directed Apollo 13?")
        assert [a.entity for a in answer.answers] == ["p1"]
