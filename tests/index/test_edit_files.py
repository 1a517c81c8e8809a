"""Files of an update are read as an index of them would read them."""

import pytest

from clew.engine import Clew
from clew.errors import ParseError, UsageError
from clew.index.update.edits import EditFiles
from clew.opening.graph_view import update_index_files

PREFIXES = """@prefix ex: <http://ex.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
SHOP = """ex:acme a ex:Company ; rdfs:label "Acme"@en ; ex:address [ ex:street "Main Street" ] .
ex:pump a ex:Product ; rdfs:label "Pump"@en ; ex:madeBy ex:acme .
"""
MORE = """ex:nine a ex:Company, owl:NamedIndividual ; rdfs:label "Neun"@de, "Nine"@en ;
  ex:address [ ex:street "Other Street" ] .
ex:acme rdfs:label "Acme Limited"@en .
ex:madeBy rdfs:label "made by"@en .
"""


@pytest.fixture
def turtle(tmp_path):
    def write(name, text):
        path = tmp_path / f"{name}.ttl"
        path.write_text(PREFIXES + text)
        return path

    return write


@pytest.fixture
def shop(turtle, tmp_path):
    """An index of `SHOP`, and what opens it."""
    from clew.opening.graph_view import index_sources

    index_sources([turtle("shop", SHOP)], tmp_path / "shop.clew")
    return tmp_path / "shop.clew"


def streets_of(path, name):
    with Clew.open(path) as clew:
        graph = clew.opened.graph
        triples = [clew.triple(i) for i in range(graph.triples)]
    nodes = [t.tail for t in triples if t.head == name and t.relation.endswith("address")]
    return [t.tail for t in triples if t.head in nodes and t.relation.endswith("street")]


def test_blank_nodes_of_two_files_are_two(shop, turtle):
    update_index_files(shop, EditFiles([turtle("more", MORE)]))
    assert streets_of(shop, "Nine") == ["Other Street"]
    assert streets_of(shop, "Acme") == ["Main Street"]


def test_what_a_file_added_it_also_removes(shop, turtle):
    more = turtle("more", "ex:nine ex:address [ ex:street 'Other Street' ] .")
    before = update_index_files(shop, EditFiles([more])).manifest.about.counts["triples"]
    assert update_index_files(shop, EditFiles([more])).report.duplicates == 2
    updated = update_index_files(shop, EditFiles(remove=[more]))
    assert updated.report.removed == 2
    assert updated.manifest.about.counts["triples"] == before - 2


def test_what_the_first_source_said_its_file_removes(shop, turtle):
    updated = update_index_files(shop, EditFiles(remove=[turtle("shop", SHOP)]))
    assert updated.manifest.about.counts["triples"] == 0
    assert updated.report.notes == ()


def test_labels_in_other_languages_and_of_entities_that_are_there_are_aliases(shop, turtle):
    update_index_files(shop, EditFiles([turtle("more", MORE)]))
    with Clew.open(shop) as clew:
        graph, names = clew.opened.graph, clew.opened.names
        called = {name: graph.labels[names.exact(name)[0].entity] for name in ("Neun", "Acme Limited")}
    assert called == {"Neun": "Nine", "Acme Limited": "Acme"}


def test_types_have_the_names_that_the_index_gives_them(shop, turtle):
    update_index_files(shop, EditFiles([turtle("more", MORE)]))
    with Clew.open(shop) as clew:
        assert clew.info().types == {"Company": 2, "Product": 1}


def test_a_label_of_what_is_no_entity_makes_none(shop, turtle):
    report = update_index_files(shop, EditFiles([turtle("label", "ex:Tool rdfs:label 'tool' .")])).report
    assert (report.new_entities, report.aliases) == (0, 0)


def test_an_entity_of_a_node_file_is_made_without_a_triple(shop, tmp_path):
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,name\n7,Bolt\n")
    assert update_index_files(shop, EditFiles([nodes])).report.new_entities == 1
    with Clew.open(shop) as clew:
        assert clew.opened.names.exact("Bolt")


def test_notes_and_skipped_lines_are_told(shop, turtle, tmp_path):
    lines = tmp_path / "more.tsv"
    lines.write_text("head\trelation\ttail\na\tb\tc\nonly one column\n")
    with pytest.raises(ParseError, match=r"more\.tsv:3"):
        update_index_files(shop, EditFiles([lines]))
    report = update_index_files(shop, EditFiles([lines, turtle("more", MORE)], on_error="skip")).report
    assert report.skipped == 1
    assert "more.tsv:3" in report.reasons[0]
    assert any("taken as a header" in note for note in report.notes)
    assert any("left out" in note for note in report.notes)


def test_a_blank_node_that_is_not_there_is_named_as_in_its_file(shop, turtle):
    with pytest.raises(UsageError, match=r"_:x http://ex.org/street Nowhere"):
        update_index_files(shop, EditFiles(remove=[turtle("gone", "_:x ex:street 'Nowhere' .")]))
