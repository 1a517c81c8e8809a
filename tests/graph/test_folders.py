"""A folder, or several files given together, is one source, whatever its files are."""

import json
from pathlib import Path

import pytest

from clew import Clew, ClewError
from clew.graph.build import build_graph
from clew.graph.graph import Graph
from clew.graph.readers.source_files import source_bytes

FILMS = [
    {"id": "f1", "title": "The Salt Road", "year": 2023, "directed_by": ["p1"], "genres": ["Drama", "Crime"]},
    {"id": "f2", "title": "Winter Orchard", "year": 2024, "directed_by": ["p2", "p1"], "genres": ["Drama"]},
    {"id": "f3", "title": "Paper Lanterns", "year": 2024, "directed_by": ["p3"], "genres": ["Crime"]},
]
PEOPLE = [
    {"id": "p1", "name": "Marguerite Lacombe", "born": 1968},
    {"id": "p2", "name": "Tadeusz Zielinski", "born": 1975},
    {"id": "p3", "name": "Aiko Moriyama", "born": 1983},
]
SCREENINGS = "screening_id,film,venue\ns1,f1,Kino Aurora\ns2,f2,Teatro Miramar\ns3,f3,Kino Aurora\n"
TURTLE = '@prefix : <http://e.org/> .\n:aurora :label "Kino Aurora" ; :built 1912 .\n'


def lines(records: list[dict[str, object]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "festival"
    folder.mkdir()
    files = {
        "films.jsonl": lines(FILMS),
        "people.json": json.dumps(PEOPLE),
        "screenings.csv": SCREENINGS,
        "venues.ttl": TURTLE,
        "facts.tsv": "Kino Aurora\tis in\tHeron Bay\nTeatro Miramar\tis in\tSea Point\n",
        "README.md": "# The festival, its films, and more\n",
        "notes.txt": "a, b, c\n",
        "films.types.tsv": "f1\tdocumentary\n",
        "package.json": '{"name": "festival", "private": true}',
        ".hidden.csv": "id,name\n1,x\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def labels(clew: Clew, question: str) -> list[str]:
    return sorted(answer.label for answer in clew.ask(question).answers)


def tails(graph: Graph, head: str, relation: str) -> list[str]:
    """The labels of what a relation leads to."""
    rows = zip(*(column.tolist() for column in graph.out.columns()), strict=True)
    said = ((graph.labels[h], graph.relation_labels[r], graph.labels[t]) for h, r, t in rows)
    return sorted(t for h, r, t in said if (h, r) == (head, relation))


DIRECTORS = ["Marguerite Lacombe", "Tadeusz Zielinski"]


def test_records_of_a_folder_link_whatever_their_format(folder: Path):
    graph, report = build_graph([folder])
    assert tails(graph, "Winter Orchard", "directed_by") == DIRECTORS
    assert tails(graph, "s2", "film") == ["Winter Orchard"]
    assert tails(graph, "The Salt Road", "genres") == ["Crime", "Drama"]
    assert tails(graph, "Kino Aurora", "is in") == ["Heron Bay"]
    assert tails(graph, "aurora", "built") == ["1912"]
    assert not {"f1", "p1"} & set(graph.labels)
    assert set(graph.types.names) == {"film", "person", "screening"}
    assert [source.format for source in report.sources] == ["tsv, json, table, turtle"]
    left = f"{folder}: 5 of 10 files are not read: .hidden.csv, README.md, films.types.tsv, …"
    assert left in report.notes
    assert [source.bytes for source in report.sources] == [source_bytes([folder])]


def test_files_given_together_are_read_as_their_folder(folder: Path):
    names = ("films.jsonl", "people.json", "screenings.csv", "facts.tsv", "venues.ttl")
    listed, _ = build_graph([folder / name for name in names])
    whole, _ = build_graph([folder])
    assert tails(listed, "Winter Orchard", "directed_by") == DIRECTORS
    assert sorted(listed.entities) == sorted(whole.entities)
    assert listed.triples == whole.triples


def test_semicolons_between_names_make_a_list_and_other_marks_do_not(tmp_path: Path):
    grapes = [
        "Merlot; Cabernet Sauvignon", "Arinto; Antão Vaz", "Grenache; Syrah", "Nebbiolo", "Gamay",
        "Barbera",
    ]  # fmt: skip
    seats = ["Rossi, Ada", "Lescure, Paul", "Berg, Ada", "Ferraris, Ines", "Frost, Ina", "Orr, Ann"]
    remarks = ["cold; then wet", "dry; tested in May", "late frost", "sold N/A", "at 30 km/h", "and/or"]
    rows = (
        f'w{i},Wine {i}x,{a},"{b}",{c}\n'
        for i, (a, b, c) in enumerate(zip(grapes, seats, remarks, strict=True))
    )
    (tmp_path / "wines.csv").write_text("id,name,grapes,maker,remarks\n" + "".join(rows), "utf-8")
    graph, _ = build_graph([tmp_path])
    assert tails(graph, "Wine 0x", "grapes") == ["Cabernet Sauvignon", "Merlot"]
    assert tails(graph, "Wine 0x", "maker") == ["Rossi, Ada"]
    assert tails(graph, "Wine 0x", "remarks") == ["cold; then wet"]


def test_rows_that_others_refer_to_are_called_by_names_of_which_some_are_shared(tmp_path: Path):
    devices = ["Vida", "Sola", "Evita", "Evita", "Zenon", "LifePak", "Carina", "Voluson"]
    kinds = ["Scanner", "Scanner", "Ventilator", "Ventilator", "Lens", "Lens", "Ventilator", "Scanner"]
    rows = (
        f"04{i:02},{d} {i // 4},{k},Makers {i % 3},{i}0\n"
        for i, (d, k) in enumerate(zip(devices, kinds, strict=True))
    )
    (tmp_path / "equipment.csv").write_text(
        "Inventory no.,Device,Kind,Maker,Price\n" + "".join(rows), "utf-8"
    )
    (tmp_path / "log.csv").write_text(
        "inv_no,cost\n" + "".join(f"04{i % 8:02},{i}\n" for i in range(20)), "utf-8"
    )
    graph, _ = build_graph([tmp_path])
    assert tails(graph, "Sola 0", "Price") == ["10"]
    assert list(graph.labels).count("Evita 0") == 2


def test_a_column_called_like_the_key_it_refers_to_is_called_by_what_it_leads_to(tmp_path: Path):
    tables = {
        "buyers.csv": "bid,buyer,city\nB1,Copper Kettle,Dublin\nB2,Harbour House,Cork\nB3,Hennessy,Galway\n",
        "doctors.csv": "doc_no,name\nD1,Ingrid Solberg\nD2,Matteo Ricci\n",
        "orders.csv": "order_no,bid,doc_no,bottles\n4001,B2,D1,6\n4002,B1,D2,24\n4003,B1,D1,9\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text, "utf-8")
    with Clew.open(tmp_path, cache_dir=tmp_path / "cache") as clew:
        assert labels(clew, "Who is the buyer of order 4001?") == ["Harbour House"]
        answer = clew.ask("Which doctor does order 4002 have?")
        assert [found.label for found in answer.answers] == ["Matteo Ricci"]
        assert {each.relation for each in answer.citations[0].triples} >= {"doc_no"}


def test_any_file_of_a_folder_that_changes_is_noticed(folder: Path, tmp_path: Path):
    cache = tmp_path / "cache"
    with Clew.open(folder, cache_dir=cache) as clew:
        assert not labels(clew, "Who directed Late Ferry?")
    late = {"id": "f4", "title": "Late Ferry", "year": 2024, "directed_by": ["p3"], "genres": ["Drama"]}
    (folder / "films.jsonl").write_text(lines([*FILMS, late]), "utf-8")
    with Clew.open(folder, cache_dir=cache) as clew:
        assert labels(clew, "Who directed Late Ferry?") == ["Aiko Moriyama"]


def test_a_folder_is_added_to_an_index_as_its_files_are(folder: Path, tmp_path: Path):
    clew = Clew.index(folder, out=tmp_path / "a.clew")
    more = tmp_path / "more"
    more.mkdir()
    late = {"id": "f4", "title": "Late Ferry", "year": 2024, "directed_by": ["p9"], "genres": ["Drama"]}
    (more / "films.jsonl").write_text(lines([late]), "utf-8")
    (more / "people.jsonl").write_text(lines([{"id": "p9", "name": "Ida Brandt", "born": 1990}]), "utf-8")
    clew.update(add=[more])
    assert labels(clew, "Who directed Late Ferry?") == ["Ida Brandt"]


def test_a_broken_file_is_a_fault_or_passed_over_if_asked(folder: Path):
    (folder / "worse.ttl").write_text("@prefix : <http://e.org/> .\n:a :b", "utf-8")
    with pytest.raises(ClewError, match=r"worse\.ttl"):
        build_graph([folder])
    graph, report = build_graph([folder], on_error="skip")
    assert tails(graph, "Winter Orchard", "directed_by") == DIRECTORS
    assert report.skipped == 1
