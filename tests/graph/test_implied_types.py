"""Types that triples say."""

from time import process_time

import pytest

from clew.graph.build.build import graph_of
from clew.graph.implied_types import MOST_IMPLIED_TYPES, relation_path, typing_relations, with_implied_types

SAID = """
a	instance of	lake
b	instance of	pond
pond	subclass of	lake
lake	subclass of	water
c	depth	3
"""
NAMED = """
Heat	film.film.directed_by	Ann
Heat	film.film.year	1995
Ann	people.person.born_in	Oslo
"""


def graph(text):
    return graph_of([tuple(line.split("\t")) for line in text.strip().splitlines()])


def members(found):
    names, entities = list(found.types.names), list(found.entities)
    return {
        name: {entities[n] for n in range(found.nodes) if found.types.having(t)[n]}
        for t, name in enumerate(names)
    }


def test_things_are_of_the_types_that_they_are_instances_of_and_of_wider_ones():
    assert members(with_implied_types(graph(SAID))) == {
        "lake": {"a", "b"},
        "pond": {"b"},
        "water": {"a", "b"},
    }


def test_a_relation_that_is_a_path_names_the_type_of_its_heads():
    assert members(with_implied_types(graph(NAMED))) == {"film": {"Heat"}, "person": {"Ann"}}


def test_a_graph_without_any_stays_as_it_is():
    plain = graph("Heat\tdirected_by\tAnn")
    assert with_implied_types(plain) is plain


def test_nodes_that_are_known_by_their_names_have_that_type():
    plain = graph("Heat\tfilmed_in\tSweden")
    sweden = list(plain.entities).index("Sweden")
    assert members(with_implied_types(plain, {"country": [sweden]})) == {"country": {"Sweden"}}


def test_a_typing_relation_is_one_that_most_things_have():
    assert len(typing_relations(graph(SAID))) == 1
    rare = "\n".join(f"x{i}\tdepth\t{i}" for i in range(9))
    assert typing_relations(graph(f"{rare}\na\ttype\tb")) == ()


@pytest.mark.parametrize(
    ("label", "parts"),
    [
        ("film.film.directed_by", ("film", "film", "directed_by")),
        ("directed_by", ("directed_by",)),
        ("award (USD)", ("award (USD)",)),
    ],
)
def test_the_parts_of_a_relations_name(label, parts):
    assert relation_path(label) == parts


@pytest.mark.parametrize("relation", ["film.kind{}.rel{}", "instance of"])
def test_very_many_types_take_no_time_each(relation):
    triples = [(f"n{i}", relation.format(i, i), f"m{i}") for i in range(60_000)]
    plain = graph_of(triples)
    began = process_time()
    assert len(with_implied_types(plain).types.names) == MOST_IMPLIED_TYPES
    assert process_time() - began < 10
