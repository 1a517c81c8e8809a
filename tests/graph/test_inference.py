# ruff: noqa: E501 - a rule and its triples on one line
"""What follows from an ontology: added with a bound, cited as inferred, or left out."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from clew import Clew, Hints
from clew.cli.app import app
from clew.graph.graph import INFERRED

PREFIXES = """@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
"""


def opened(tmp_path, text, **hints):
    (tmp_path / "x.ttl").write_text(PREFIXES + text)
    return Clew.open(
        tmp_path / "x.ttl", cache_dir=tmp_path / "cache", hints=Hints(**hints) if hints else None
    )


def inferred(clew):
    """(head, relation, tail) by labels of the triples that no source states."""
    graph = clew.opened.graph
    slots = np.arange(graph.triples)
    found = slots[graph.source[slots] == INFERRED]
    rows = (graph.triple(int(slot)) for slot in found)
    return {f"{graph.labels[h]} {graph.relation_labels[r]} {graph.labels[t]}" for h, r, t in rows}


def types(clew, entity):
    (node,) = [i for i, label in enumerate(clew.opened.graph.labels) if label == entity]
    table = clew.opened.graph.types
    return {table.names[int(t)] for t in table.type[table.offsets[node] : table.offsets[node + 1]]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":made rdfs:subPropertyOf :touched . :Ann :made :Vase .", {"Ann touched Vase"}),
        (":made owl:equivalentProperty :built . :Ann :built :Vase . :Bo :made :Jug .", {"Ann made Vase", "Bo built Jug"}),
        (":made owl:inverseOf :madeBy . :Ann :made :Vase . :Jug :madeBy :Bo .", {"Vase madeBy Ann", "Bo made Jug"}),
        (":near a owl:SymmetricProperty . :a :near :b . :b :near :a . :c :near :d .", {"d near c"}),
        (":in a owl:TransitiveProperty . :a :in :b . :b :in :c . :c :in :a .",
         {"a in c", "b in a", "c in b"}),
        # Rules follow one another: an inverse of a part of a transitive relation.
        (":in a owl:TransitiveProperty . :cityIn rdfs:subPropertyOf :in . :in owl:inverseOf :holds . :a :cityIn :b . :b :in :c .",
         {"a in b", "a in c", "b holds a", "c holds b", "c holds a"}),
        (":Red rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :colour ; owl:hasValue :red ] . "
         ":Merlot rdfs:subClassOf :Red . :x a :Merlot ; :colour :deep .", {"x colour red", "Red colour red"}),
    ],
)  # fmt: skip
def test_triples_that_follow(tmp_path, text, expected):
    ontology = ":made a owl:ObjectProperty . :touched :x :y . :built :x :y . :madeBy :x :y . :in :x :y . :holds :x :y ."
    with opened(tmp_path, text + ontology) as clew:
        assert inferred(clew) == expected


def test_types_that_follow(tmp_path):
    text = """:Merlot rdfs:subClassOf :Red . :Red rdfs:subClassOf :Wine . :Wine owl:equivalentClass :Vin . :m a :Merlot .
    :Parent owl:equivalentClass [ a owl:Restriction ; owl:onProperty :child ; owl:someValuesFrom :Person ] .
    :bo a :Person . :ann :child :bo . :cat :child :kitten ."""
    with opened(tmp_path, text) as clew:
        assert types(clew, "m") == {"Merlot", "Red", "Wine", "Vin"}
        assert types(clew, "ann") == {"Parent"}
        assert types(clew, "cat") == set()
        assert any("types follow from the ontology" in n for n in clew.opened.manifest.about.report["notes"])


def test_a_triple_that_is_stated_is_not_inferred(tmp_path):
    text = ":made owl:inverseOf :madeBy . :Ann :made :Vase . :Vase :madeBy :Ann ."
    with opened(tmp_path, text) as clew:
        assert inferred(clew) == set()
        assert clew.opened.manifest.about.report["duplicates"] == 0


def test_an_answer_says_what_is_inferred(tmp_path):
    text = ":made owl:inverseOf :made_by . :Ann :made :Vase . :Jug :made_by :Bo ."
    with opened(tmp_path, text) as clew:
        told = clew.ask("Who is Vase made by?").as_json()
        assert [a["label"] for a in told["answers"]] == ["Ann"]
        assert told["citations"][0]["inferred"] == [True]
        assert "inferred" not in clew.ask("Who is Jug made by?").as_json()["citations"][0]


def test_no_inference_leaves_it_out(tmp_path):
    text = ":made owl:inverseOf :made_by . :Ann :made :Vase . :Jug :made_by :Bo ."
    with opened(tmp_path, text, most_inferred=0) as clew:
        assert inferred(clew) == set()
    index = tmp_path / "stated.clew"
    made = CliRunner().invoke(app, ["index", str(tmp_path / "x.ttl"), "-o", str(index), "--no-inference"])
    assert made.exit_code == 0, made.stderr
    told = json.loads(CliRunner().invoke(app, ["info", str(index), "--json"]).stdout)
    assert told["counts"]["triples"] == 3


def test_what_follows_is_bounded(tmp_path):
    chain = "".join(f":n{i} :in :n{i + 1} . " for i in range(40))
    with opened(tmp_path, ":in a owl:TransitiveProperty . " + chain, most_inferred=50) as clew:
        assert 40 <= len(inferred(clew)) <= 50
        assert any("more follows from the ontology" in n for n in clew.opened.manifest.about.report["notes"])


def test_what_every_member_of_a_class_has_is_said_of_the_class(tmp_path):
    some = "[ a owl:Restriction ; owl:onProperty :topping ; owl:someValuesFrom %s ]"
    text = f"""
    :Margherita rdfs:subClassOf :Pizza , {some % ":Mozzarella"} , {some % "[ owl:unionOf ( :A :B ) ]"} .
    :Vegan rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :topping ; owl:allValuesFrom :Plant ] .
    :Mozzarella rdfs:subClassOf :Cheese . :topping a owl:ObjectProperty . :Pizza :topping :Base ."""
    with opened(tmp_path, text) as clew:
        assert inferred(clew) == {"Margherita topping Mozzarella"}


def test_a_class_is_below_each_part_of_its_intersection(tmp_path):
    """As the Wine ontology of the OWL guide says it; what its parts say is said of the class too."""
    value = "[ a owl:Restriction ; owl:onProperty :%s ; owl:hasValue %s ]"
    text = f"""
    :Zinfandel owl:intersectionOf ( :Wine {value % ("grape", ":ZinfandelGrape")} ) ; rdfs:subClassOf {value % ("color", ":Red")} .
    :Old owl:equivalentClass [ owl:intersectionOf ( :Wine {value % ("age", '"9"')} ) ] .
    :z a :Zinfandel . :y a :Wine ; :grape :ZinfandelGrape ; :color :Red ; :age "7" ."""
    with opened(tmp_path, text) as clew:
        of_class = {"Zinfandel grape ZinfandelGrape", "Zinfandel color Red", "Old age 9"}
        assert inferred(clew) == of_class | {"z grape ZinfandelGrape", "z color Red"}
        assert types(clew, "z") == {"Zinfandel", "Wine"}
        assert types(clew, "y") == {"Wine"}


def test_a_thesaurus_says_broader_and_narrower_both_ways(tmp_path):
    skos = "http://www.w3.org/2004/02/skos/core#"
    text = f""":Talent <{skos}broader> :Intelligence ; <{skos}related> :Gift .
    :Mind <{skos}narrower> :Intelligence . :Intelligence <{skos}broader> :Mind ."""
    with opened(tmp_path, text) as clew:
        assert inferred(clew) == {"Intelligence narrower Talent", "Gift related Talent"}
    with opened(tmp_path, text, most_inferred=0) as clew:
        assert inferred(clew) == set()


def test_a_list_that_runs_in_a_circle_ends(tmp_path):
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    text = f""":A owl:intersectionOf :l . :l <{rdf}first> :B ; <{rdf}rest> :l . :x a :A ; :in :y ."""
    with opened(tmp_path, text) as clew:
        assert types(clew, "x") == {"A", "B"}


def test_names_of_iris_are_aliases_in_words_unless_a_label_is_read(tmp_path):
    text = """:FetaCheese :on :RocketLeaf . :FetaCheese rdfs:label "Queijo"@pt . :RocketLeaf rdfs:label "Rocket"@en .
    :GreekSalad :on :RocketLeaf , :a1 . :a1 rdfs:label "AtomicPhysics" ."""
    with opened(tmp_path, text) as clew:
        aliases = clew.opened.graph.aliases
        found = {
            (clew.opened.graph.labels[int(n)], a) for n, a in zip(aliases.entity, aliases.names, strict=True)
        }
        assert found == {
            ("Queijo", "Feta Cheese"),
            ("GreekSalad", "Greek Salad"),
            ("AtomicPhysics", "Atomic Physics"),
        }
