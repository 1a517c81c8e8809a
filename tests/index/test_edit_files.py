"""Files of an update are read as an index of them would read them."""

import pytest

from clew.engine import Clew
from clew.errors import ParseError, UsageError
from clew.index.update.edits import EditFiles
from clew.opening.graph_view import index_sources, update_index_files

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


GRANTS = """grant_id,title,recipient,amount,awarded,status
G-001,Clean Wells,O01,"$250,000",15/03/2019,closed
G-002,School Meals,O02,"$120,500",01/09/2021,active
G-003,Well Repair,O01,"$75,000",08/04/2023,active
"""


ORGANISATIONS = """org_id,name,country
O01,River Trust,Kenya
O02,Sahel Schools,Mali
"""


TOTAL = "What is the total amount of the grants of River Trust?"


@pytest.fixture
def grants(tmp_path):
    """An index of two tables of grants."""
    folder = tmp_path / "grants"
    folder.mkdir()
    (folder / "grants.csv").write_text(GRANTS)
    (folder / "organisations.csv").write_text(ORGANISATIONS)
    index_sources([folder], tmp_path / "grants.clew")
    with Clew.open(tmp_path / "grants.clew") as clew:
        yield clew


def labels(clew, question):
    return [answer.label for answer in clew.ask(question).answers]


def test_added_triples_have_the_types_of_their_relations(grants, tmp_path):
    types = tmp_path / "types.tsv"
    types.write_text("Solar Pumps\tgrant\n")
    triples = [
        ("Solar Pumps", "recipient", "River Trust"),
        ("Solar Pumps", "amount", "$99,000"),
        ("Solar Pumps", "awarded", "05/06/2024"),
        ("Solar Pumps", "status", "active"),
    ]
    assert grants.update(triples, types=types).report.new_entities == 1
    assert labels(grants, TOTAL) == ["424000"]
    assert labels(grants, "Which grants were awarded in June 2024?") == ["Solar Pumps"]
    assert grants.verify("Solar Pumps was awarded on 5 June 2024.").verdict == "supported"


def test_an_added_table_is_read_as_the_one_with_its_columns(grants, tmp_path):
    table = tmp_path / "newgrants.csv"
    table.write_text(
        'grant_id,title,status,recipient,amount,awarded\nG-013,Solar Pumps,active,O01,"$99,000",05/06/2024\n'
    )
    grants.update([table])
    assert labels(grants, TOTAL) == ["424000"]
    assert labels(grants, "How many grants are there?") == ["4"]
    assert labels(grants, "Which grants were awarded in June 2024?") == ["Solar Pumps"]


def test_columns_of_another_table_are_read_by_their_relations(grants, tmp_path):
    table = tmp_path / "decisions.csv"
    table.write_text(
        'grant_id,title,recipient,amount,juror\nG-014,Dams,O01,"$1,000",Ann\nG-015,Nets,O02,"$2,000",Bo\n'
    )
    grants.update([table])
    assert labels(grants, "What is the amount of Dams?") == ["$1,000"]
    assert grants.verify("The recipient of Dams is River Trust.").verdict == "supported"


def test_what_does_not_fit_is_kept_and_said(grants):
    report = grants.update([("Clean Wells", "amount", "a lot")]).report
    assert report.notes[-1] == "amount: 1 value is not as the others of the index are, and kept as written"


def test_values_are_removed_as_they_are_written(grants):
    assert grants.update(remove=[("Well Repair", "amount", "$75,000")]).report.removed == 1
    assert labels(grants, TOTAL) == ["250000"]


def test_added_lines_of_json_are_read_as_those_of_the_index(tmp_path):
    lines = '{"id": "ORD-%d", "customer": {"name": "%s", "city": "%s"}, "amount": %s, "items": ["yeast"]}\n'
    orders, later = tmp_path / "orders.jsonl", tmp_path / "later.jsonl"
    orders.write_text(lines % (1, "Bakery Holm", "Odense", 10) + lines % (2, "Cafe Lune", "Aarhus", 20))
    later.write_text(lines % (3, "Cafe Lune", "Aarhus", 30.5))
    index_sources([orders], tmp_path / "orders.clew")
    with Clew.open(tmp_path / "orders.clew") as clew:
        clew.update([later])
        assert labels(clew, "How many orders are there?") == ["3"]
        assert labels(clew, "What is the total amount of the orders of Cafe Lune?") == ["50.5"]


def test_triples_by_names_are_read_by_the_datatypes_of_rdf(tmp_path):
    path = tmp_path / "firms.ttl"
    path.write_text(
        "@prefix ex: <http://ex.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
        'ex:Acme ex:founded "1949"^^xsd:gYear . ex:Bolt ex:founded "1999"^^xsd:gYear .\n'
    )
    index_sources([path], tmp_path / "firms.clew")
    with Clew.open(tmp_path / "firms.clew") as clew:
        clew.update([("Corto", "founded", "2004")])
        values = clew.opened.graph.values
        assert [int(values.datatype[node]) for node in range(clew.opened.graph.nodes)].count(0) == 3


def test_a_table_of_another_thing_is_not_read_as_one_that_has_its_columns(tmp_path):
    (tmp_path / "films.csv").write_text("id,name,year\n1,Heat,1995\n2,Ran,1985\n")
    (tmp_path / "directors.csv").write_text("id,name\n1,Ann Lee\n2,Bo Ray\n")
    index_sources([tmp_path / "films.csv"], tmp_path / "films.clew")
    with Clew.open(tmp_path / "films.clew") as films:
        films.update(add=[tmp_path / "directors.csv"])
        assert dict(films.info().types)["director"] == 2
        assert labels(films, "What is the year of Ann Lee?") == []
