"""What follows from an ontology after updates is what indexing the edited sources would add."""

import numpy as np
import pytest
from film_corpus import EMBEDDER
from hypothesis import given, settings
from hypothesis import strategies as st

from clew import Clew, Hints
from clew.errors import UsageError
from clew.graph.build import build_graph
from clew.graph.edit import edited
from clew.graph.graph import INFERRED
from clew.index.names import NamesIndex
from clew.index.update.edits import EditFiles, EditRules, read_edits
from clew.index.update.resolve import resolve

PREFIXES = """@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
"""
THINGS, RELATIONS, CLASSES = "abcde", ("r", "s", "t"), ("A", "B", "C")


def one_of(*shapes):
    """A statement in Turtle: a shape whose {t}, {r} and {c} are a thing, a relation and a class."""
    return st.builds(
        lambda shape, things, relations, classes: shape.format(t=things, r=relations, c=classes),
        st.sampled_from(shapes),
        st.lists(st.sampled_from(THINGS), min_size=2, max_size=2),
        st.lists(st.sampled_from(RELATIONS), min_size=2, max_size=2),
        st.lists(st.sampled_from(CLASSES), min_size=2, max_size=2),
    )


STATEMENTS = st.one_of(
    one_of(":{t[0]} :{r[0]} :{t[1]}"),
    one_of(":{t[0]} a :{c[0]}"),
    one_of(
        ":{r[0]} rdfs:subPropertyOf :{r[1]}",
        ":{r[0]} owl:inverseOf :{r[1]}",
        ":{r[0]} owl:equivalentProperty :{r[1]}",
        ":{r[0]} rdfs:subPropertyOf :only_named",
        ":{r[0]} a owl:SymmetricProperty",
        ":{r[0]} a owl:TransitiveProperty",
        ":{c[0]} rdfs:subClassOf :{c[1]}",
        ":{c[0]} owl:equivalentClass :{c[1]}",
        # Restrictions have names here, as the labels of blank nodes differ from file to file.
        ":{c[0]} rdfs:subClassOf :Has . :Has owl:onProperty :{r[0]}",
        ":Has owl:hasValue :{t[0]}",
        ":{c[0]} owl:equivalentClass :Some . :Some owl:onProperty :{r[0]}",
        ":Some owl:someValuesFrom :{c[0]}",
        ":{c[0]} owl:intersectionOf :List . :List rdf:first :{c[1]}",
        ":List rdf:rest :More . :More rdf:first :Has",
    ),
    one_of(":{t[0]} skos:broader :{t[1]}", ":{t[0]} skos:narrower :{t[1]}", ":{t[0]} skos:related :{t[1]}"),
)


def written(path, statements):
    path.write_text(PREFIXES + "".join(f"{line} .\n" for line in sorted(statements)))
    return path


def said(graph):
    """Triples by names, each with whether it is inferred; types by names; statements of edges."""
    heads, relations, tails = (column.tolist() for column in graph.out.columns())
    sources = (graph.source == INFERRED).tolist()
    triples = {
        (graph.entities[h], graph.relations[r], graph.entities[t], inferred)
        for h, r, t, inferred in zip(heads, relations, tails, sources, strict=True)
    }
    nodes = np.repeat(np.arange(graph.nodes), np.diff(graph.types.offsets)).tolist()
    types = {
        (graph.entities[n], graph.types.names[t])
        for n, t in zip(nodes, graph.types.type.tolist(), strict=True)
    }
    return triples, types


@settings(max_examples=25)
@given(
    first=st.sets(STATEMENTS, max_size=10),
    steps=st.lists(
        st.tuples(st.sets(STATEMENTS, max_size=4), st.sets(STATEMENTS, max_size=3), st.integers(0, 4)),
        min_size=1,
        max_size=3,
    ),
)
def test_updates_infer_what_indexing_anew_would(tmp_path_factory, first, steps):
    folder = tmp_path_factory.mktemp("inference")
    anchor = {":x :r :y"}
    held = first | anchor
    graph, _ = build_graph([written(folder / "first.ttl", held)])
    for add, others, drop in steps:
        gone = (set(sorted(held - anchor)[:drop]) | (others & held)) - anchor
        files = EditFiles([written(folder / "add.ttl", add)], [written(folder / "remove.ttl", gone)])
        # A statement that the shapes share stays while another one says it.
        held = (held - gone) | add
        edit, _ = resolve(
            graph, NamesIndex.of(graph), read_edits(files), rules=EditRules(ignore_missing=True)
        )
        graph, _ = edited(graph, edit)
        held = {part for line in held for part in line.split(" . ")} - (
            {part for line in gone for part in line.split(" . ")}
            - {part for line in add for part in line.split(" . ")}
        )
        fresh, _ = build_graph([written(folder / "fresh.ttl", held)])
        assert said(graph) == said(fresh)


@pytest.fixture
def wines(tmp_path):
    text = """:Merlot rdfs:subClassOf :Red . :Red rdfs:subClassOf :Wine . :madeBy owl:inverseOf :makes .
    :m a :Merlot ; :madeBy :Bo . :region a owl:TransitiveProperty . :Medoc :region :Bordeaux ."""
    (tmp_path / "wine.ttl").write_text(PREFIXES + text)
    return Clew.index(tmp_path / "wine.ttl", tmp_path / "wine.clew", embedder=EMBEDDER)


def update(clew, folder, *, add="", remove="", **more):
    files = {"add": add, "remove": remove}
    for side, text in files.items():
        (folder / f"{side}.ttl").write_text(PREFIXES + text)
    given = {side: [folder / f"{side}.ttl"] for side, text in files.items() if text}
    return clew.update(**given, **more)


def test_an_index_keeps_what_follows_through_updates(wines, tmp_path):
    with wines as clew:
        done = update(clew, tmp_path, add=":Bordeaux :region :France . :n a :Merlot .")
        told = done.report.following
        assert (told.triples, told.triples_gone, told.types, told.types_gone) == (1, 0, 2, 0)
        done = update(clew, tmp_path, remove=":Red rdfs:subClassOf :Wine . :m :madeBy :Bo .")
        told = done.report.following
        assert (told.triples, told.triples_gone, told.types, told.types_gone) == (0, 1, 0, 2)
        triples, types = said(clew.opened.graph)
        assert ("http://ex.org/Medoc", "http://ex.org/region", "http://ex.org/France", True) in triples
        assert {type_ for node, type_ in types if node == "http://ex.org/n"} == {"Merlot", "Red"}
        assert not any(relation == "http://ex.org/makes" for _, relation, _, _ in triples)


def test_what_does_not_concern_the_ontology_infers_nothing(wines, tmp_path):
    with wines as clew:
        done = update(clew, tmp_path, add=":m :grower :Ann .")
        assert done.report.following is None
        assert not done.report.notes


def test_an_inferred_triple_that_a_source_states_is_stated_and_follows_again_without_it(wines, tmp_path):
    stated = ":Bo :makes :m ."
    triple = ("http://ex.org/Bo", "http://ex.org/makes", "http://ex.org/m")
    with wines as clew:
        assert (*triple, True) in said(clew.opened.graph)[0]
        assert update(clew, tmp_path, add=stated).report.added == 1
        assert (*triple, False) in said(clew.opened.graph)[0]
        assert update(clew, tmp_path, remove=stated).report.removed == 1
        assert (*triple, True) in said(clew.opened.graph)[0]
        with pytest.raises(UsageError, match="inferred: no source states it"):
            update(clew, tmp_path, remove=stated)


def test_an_answer_after_an_update_is_cited_as_inferred(wines, tmp_path):
    with wines as clew:
        update(clew, tmp_path, add=":p :madeBy :Cy .")
        told = clew.ask("What does Cy makes?").as_json()
        assert [a["label"] for a in told["answers"]] == ["p"]
        assert told["citations"][0]["inferred"] == [True]


def test_a_removed_entity_takes_what_followed_from_it(wines, tmp_path):
    (tmp_path / "gone.txt").write_text("http://ex.org/m\n")
    with wines as clew:
        clew.update(remove_entities=tmp_path / "gone.txt")
        triples, types = said(clew.opened.graph)
        assert not any("http://ex.org/m" in (head, tail) for head, _, tail, _ in triples)
        assert not any(node == "http://ex.org/m" for node, _ in types)


def test_types_by_their_labels_are_removed_too(wines, tmp_path):
    (tmp_path / "types.tsv").write_text("http://ex.org/m\tMerlot\n")
    with wines as clew:
        clew.update(remove_types=tmp_path / "types.tsv")
        assert not any(node == "http://ex.org/m" for node, _ in said(clew.opened.graph)[1])


def test_an_index_without_inference_infers_nothing_later(tmp_path):
    (tmp_path / "a.ttl").write_text(PREFIXES + ":in a owl:TransitiveProperty . :a :in :b .")
    hints = Hints(most_inferred=0)
    with Clew.index(tmp_path / "a.ttl", tmp_path / "a.clew", embedder=EMBEDDER, hints=hints) as clew:
        done = update(clew, tmp_path, add=":b :in :c . :A rdfs:subClassOf :B .")
        assert not any(inferred for *_, inferred in said(clew.opened.graph)[0])
        assert any("made with --no-inference" in note for note in done.report.notes)


def test_rdf_without_inference_is_refused_where_the_index_infers(wines, tmp_path):
    with wines as clew, pytest.raises(UsageError, match="--no-inference"):
        update(clew, tmp_path, add=":b :in :c .", hints=Hints(most_inferred=0))


def test_rdf_that_is_added_to_a_table_infers(tmp_path):
    (tmp_path / "a.tsv").write_text("http://ex.org/Ann\thttp://ex.org/made\thttp://ex.org/Vase\n")
    with Clew.index(tmp_path / "a.tsv", tmp_path / "a.clew", embedder=EMBEDDER) as clew:
        update(clew, tmp_path, add=":made owl:inverseOf :made_by .")
        inferred = {triple[:3] for triple in said(clew.opened.graph)[0] if triple[3]}
        assert inferred == {("http://ex.org/Vase", "http://ex.org/made_by", "http://ex.org/Ann")}


def test_more_than_may_follow_is_said(wines, tmp_path):
    chain = "".join(f":n{i} :region :n{i + 1} . " for i in range(5))
    with wines as clew:
        notes = update(clew, tmp_path, add=chain, hints=Hints(most_inferred=3)).report.notes
        assert any("more follows from the ontology" in note for note in notes)
