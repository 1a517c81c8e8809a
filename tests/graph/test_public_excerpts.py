"""Excerpts of public graphs are read as they are published (`tests/data/public`)."""

from pathlib import Path

import pytest

from clew.graph.build import build_graph
from clew.graph.graph import INFERRED, Graph
from clew.graph.readers.hints import Hints

PUBLIC = Path(__file__).parents[1] / "data" / "public"


def told(graph: Graph, relation: str, *, inferred: bool = False) -> set[tuple[str, str]]:
    """The ends of all triples of a relation, as people read them."""
    found = {
        (graph.labels[head], graph.labels[tail])
        for triple in range(graph.triples)
        for head, number, tail in [graph.triple(triple)]
        if graph.relation_labels[number] == relation and (graph.source[triple] == INFERRED) == inferred
    }
    assert found or inferred, f"no {relation}"
    return found


def test_the_wine_ontology_says_what_its_wines_and_their_classes_have() -> None:
    graph, report = build_graph([PUBLIC / "wine" / "wine.owl"])
    assert report.skipped == 0
    assert ("MountadamRiesling", "Mountadam") in told(graph, "hasMaker")
    assert told(graph, "hasColor", inferred=True) == {("Zinfandel", "Red"), ("CotturiZinfandel", "Red")}
    grapes = {("Zinfandel", "ZinfandelGrape"), ("CotturiZinfandel", "ZinfandelGrape")}
    assert told(graph, "madeFromGrape", inferred=True) == grapes


def test_flights_without_the_right_id_are_told_which_column_has_it() -> None:
    files = [PUBLIC / "airports" / name for name in ("airports.csv", "routes.csv")]
    _, report = build_graph(files)
    assert any("are in the column IATA of the nodes: give --id IATA" in note for note in report.notes)


def test_flights_are_between_airports_by_the_id_that_is_said() -> None:
    files = [PUBLIC / "airports" / name for name in ("airports.csv", "routes.csv")]
    graph, report = build_graph(files, hints=Hints(id="IATA", relation="flies to"))
    assert any("routes.csv" in note and "it has no column IATA" in note for note in report.notes)
    flights = told(graph, "flies to")
    assert ("Lehigh Valley International Airport", "Nashville International Airport") in flights
    assert ("Lehigh Valley International Airport", "ABE") in told(graph, "IATA")
    names = {name for pair in flights for name in pair}
    assert {name for name in names if len(name) == 3} == {"DEN", "MCO", "MLB", "RSW"}  # no row of airports


def test_the_airline_is_a_property_of_its_flight() -> None:
    graph, _ = build_graph([PUBLIC / "airports" / "routes.csv"])
    ids = {name: number for number, name in enumerate(graph.entities)}
    statements = graph.edge_properties.statements(ids["ABE"], 0, ids["ATL"])
    held = [graph.edge_properties.of(statement) for statement in statements]
    said = [{key: value for key, value, *_ in properties} for properties in held]
    assert [of["Airline"] for of in said] == ["DL"]


def test_characters_appear_together_both_ways_if_edges_have_no_direction() -> None:
    files = [PUBLIC / "got" / name for name in ("nodes.csv", "edges.csv")]
    directed = told(build_graph(files)[0], "linked to")
    graph, report = build_graph(files, hints=Hints(undirected=True))
    both = told(graph, "linked to")
    assert both == directed | {(tail, head) for head, tail in directed}
    assert len(directed) == 174
    assert any("each edge is kept both ways" in note for note in report.notes)
    assert ("Jon-Snow", "268.15") in told(graph, "screentime")


NODES = "code,name,iata\n1,Rome Airport,FCO\n2,Pisa Airport,PSA\n"
FLIGHTS = "source,target,airline\nFCO,PSA,AZ\n"


def write(folder: Path, nodes: str, edges: str = FLIGHTS) -> list[Path]:
    files = {"nodes.csv": nodes, "edges.csv": edges}
    for name, text in files.items():
        (folder / name).write_text(text)
    return [folder / name for name in files]


@pytest.mark.parametrize("together", [True, False])
def test_each_table_takes_what_is_said_of_its_own_columns(together: bool, tmp_path: Path) -> None:
    files = write(tmp_path, NODES, FLIGHTS.replace("source,target", "a,b"))
    hints = Hints({"head": "a", "tail": "b"}, id="iata", relation="flies to")
    graph, report = build_graph([tmp_path] if together else files, hints=hints)
    assert told(graph, "flies to") == {("Rome Airport", "Pisa Airport")}
    assert any("it has no column iata" in note for note in report.notes)


def test_an_empty_cell_as_databases_write_it_is_empty(tmp_path: Path) -> None:
    nodes = NODES + "3,Farm Strip,\\N\n"
    graph, _ = build_graph(write(tmp_path, nodes))
    assert told(graph, "iata") == {("Rome Airport", "FCO"), ("Pisa Airport", "PSA")}
    _, report = build_graph(write(tmp_path, nodes), hints=Hints(id="iata"), on_error="skip")
    assert report.skipped == 1
    assert "the id is empty" in report.reasons[0]
