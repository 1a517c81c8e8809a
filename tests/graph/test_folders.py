"""A folder, or several files given together, is one source, whatever its files are."""

from __future__ import annotations

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


def test_bytes_that_were_read_add_up(folder: Path):
    (folder / "package.json").unlink()
    told: list[int] = []
    build_graph([folder], progress=told.append)
    assert told == sorted(told)
    assert told[-1] == source_bytes([folder])


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


def test_a_folder_without_files_of_graphs_names_the_formats(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("a b c\n", "utf-8")
    with pytest.raises(ClewError, match=r"no file in this folder .*: notes\.txt\. Read are .*\.ttl.*\.json"):
        build_graph([tmp_path])
