"""After an update every door sees one graph: that of an index of the changed sources."""

import itertools
import os
import random
from pathlib import Path

import numpy as np
import pytest

from clew import Clew
from clew.errors import FormatError, UsageError
from clew.graph.beside import lines_of
from clew.index.corpus import CorpusSettings, open_corpus
from clew.index.store.directory import Index, open_index

FILMS = """Memento\tdirected_by\tChristopher Nolan
Heat\tdirected_by\tMichael Mann
Heat\tstarring\tAl Pacino
Memento\tstarring\tGuy Pearce
"""
WALKS = CorpusSettings("bfs", 3, max_walks=20)


@pytest.fixture
def films(tmp_path: Path) -> Clew:
    (tmp_path / "films.tsv").write_text(FILMS)
    return Clew.index(tmp_path / "films.tsv", tmp_path / "films.clew", corpus=WALKS)


def answers(clew: Clew, question: str, method: str = "auto") -> list[str]:
    return [found.label for found in clew.ask(question, method=method).answers]


def test_a_new_entity_is_known_at_every_door(films):
    films.update(add=[("Tenet", "directed_by", "Christopher Nolan"), ("Tenet", "shot_in", "Tallinn")])
    assert answers(films, "Who directed Tenet?") == ["Christopher Nolan"]
    assert answers(films, "Where was Tenet shot in?") == ["Tallinn"]
    assert films.verify("Christopher Nolan directed Tenet.").verdict == "supported"
    assert films.verify("Michael Mann directed Tenet.").verdict == "refuted"
    pattern = {"triples": [["Tenet", "directed_by", "UNKNOWN director 1"]]}
    assert films.match(pattern).matches[0].texts[0].tail == "Christopher Nolan"
    assert films.opened.graph.nodes == films.info().counts["entities"] == 8
    found = films.query("MATCH (a)-[:shot_in]->(b) RETURN b.name")
    assert "Tallinn" in str(found)
    shown = [hit.entity for hit in films.find_entities("Tene")]
    assert shown == ["Tenet"]


def files_of(path: Path) -> dict[str, np.ndarray]:
    index = open_index(path, verify=True)
    return {name: np.asarray(array) for name, array in index.arrays.items()}


def assert_same_index(found: Path, wanted: Path) -> None:
    """All sections are the same, walks root by root."""
    found_files, wanted_files = files_of(found), files_of(wanted)
    assert found_files.keys() >= wanted_files.keys()
    if "graph.beside" in wanted_files:  # a set of statements, those of an update last
        beside = (sorted(lines_of(files["graph.beside"])) for files in (found_files, wanted_files))
        assert next(beside) == next(beside)
    apart = ("corpus.p", "corpus.settings", "graph.beside")
    for name, array in wanted_files.items():
        if not name.startswith(apart):
            np.testing.assert_array_equal(found_files[name], array, name)
            assert found_files[name].dtype == array.dtype, name
    mine, theirs = (open_corpus(open_index(path)) for path in (found, wanted))
    for root in range(len(theirs.row_of)):
        for field in ("steps", "nodes", "counts", "vectors"):
            walks = (getattr(corpus.of_root(root), field) for corpus in (mine, theirs))
            np.testing.assert_array_equal(*walks)


@pytest.mark.parametrize("seed", range(5))
def test_an_index_after_updates_is_that_of_the_changed_files(seed, tmp_path):
    rng = random.Random(seed)
    names, relations = [f"thing {i}" for i in range(25)], ["likes", "made by", "near"]

    def write(name: str, triples: list[tuple[str, str, str]]) -> Path:
        (tmp_path / name).write_text("".join("\t".join(triple) + "\n" for triple in triples))
        return tmp_path / name

    # These stay, so that ids come in the same order.
    chain = [(a, relations[i % 3], b) for i, (a, b) in enumerate(itertools.pairwise(names))]
    held = dict.fromkeys(
        [*chain, *((rng.choice(names), rng.choice(relations), rng.choice(names)) for _ in range(40))]
    )
    made = {"corpus": WALKS, "triple_vectors": True}
    made |= {"types": write("types.tsv", [("thing 1", "kind"), ("thing 2", "sort")])}
    made |= {"aliases": write("aliases.tsv", [("thing 3", "third")])}
    with Clew.index(write("first.tsv", [*held]), tmp_path / "kb.clew", **made) as clew:
        for step in range(3):
            gone = rng.sample([t for t in held if t not in chain and not t[0].startswith("new")], 5)
            new = [
                (f"new {step}", f"relation {step}", rng.choice(names)),
                *((rng.choice(names), rng.choice(relations), rng.choice(names)) for _ in "abc"),
            ]
            clew.update(add=new, remove=gone)
            held = {t: None for t in held if t not in gone}
            held = {t: None for t in [*held, *(t for t in new if t not in held)]}
    Clew.index(write("anew.tsv", [*held]), tmp_path / "anew.clew", **made)
    assert_same_index(tmp_path / "kb.clew", tmp_path / "anew.clew")


def test_twenty_updates_open_as_one_build(films, tmp_path):
    for number in range(20):
        films.update(add=[(f"Film {number}", "directed_by", "Michael Mann")])
    index = open_index(films.path)
    assert index.graph.nodes == 26
    assert len(index.manifest.files) <= 3 * 60
    assert len(open_corpus(index).parts) <= 13
    assert answers(films, "Who directed Film 7?") == ["Michael Mann"]


def test_who_has_it_open_keeps_its_generation_and_the_newest_is_read_anew(films):
    with Clew.open(films.path) as before:
        films.update(add=[("Tenet", "directed_by", "Christopher Nolan")])
        assert before.opened.graph.triples == 4
        assert answers(before, "Who directed Heat?") == ["Michael Mann"]
    assert films.opened.graph.triples == 5


STAFF = "id,name,works for\np1,Ann Bell,d1\np2,Bo Cole,d1\np3,Bo Cole,d2\n"
UNITS = "id,name\nd1,Sales\nd2,Stores\n"


@pytest.fixture
def staff(tmp_path: Path) -> Clew:
    folder = tmp_path / "staff"
    folder.mkdir()
    (folder / "people.csv").write_text(STAFF)
    (folder / "units.csv").write_text(UNITS)
    return Clew.index(folder, tmp_path / "staff.clew")


def test_names_go_to_the_entity_that_is_called_so(staff, tmp_path):
    entities = staff.info().counts["entities"]
    done = staff.update(add=[("Ann Bell", "manages", "Sales")])
    assert (done.report.new_entities, staff.info().counts["entities"]) == (0, entities)
    assert answers(staff, "Who manages Sales?") == ["Ann Bell"]


def test_a_name_of_two_is_an_error_that_says_which(staff):
    with pytest.raises(UsageError, match=r"2 entities are called Bo Cole: p2, p3"):
        staff.update(add=[("Bo Cole", "manages", "Sales")])
    staff.update(add=[("p2", "manages", "Sales")])
    assert answers(staff, "Who manages Sales?") == ["Bo Cole"]


PREFIX = "@prefix : <http://ex.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


def test_a_label_that_is_replaced_renames(tmp_path):
    def turtle(name: str, text: str) -> Path:
        (tmp_path / f"{name}.ttl").write_text(PREFIX + text)
        return tmp_path / f"{name}.ttl"

    source = turtle("kb", ':a rdfs:label "Anne" ; :knows :b . :b rdfs:label "Bob" . :c rdfs:label "Cy" .')
    clew = Clew.index(source, tmp_path / "kb.clew", corpus=WALKS, triple_vectors=True)
    new, old = turtle("new", ':b rdfs:label "Robert" .'), turtle("old", ':b rdfs:label "Bob" .')
    clew.update(add=[new], remove=[old])
    assert answers(clew, "Who does Anne know?") == ["Robert"]
    assert not clew.opened.names.exact("Bob")
    anew = turtle("anew", ':a rdfs:label "Anne" ; :knows :b . :b rdfs:label "Robert" . :c rdfs:label "Cy" .')
    Clew.index(anew, tmp_path / "anew.clew", corpus=WALKS, triple_vectors=True)
    assert_same_index(clew.path, tmp_path / "anew.clew")


@pytest.mark.parametrize("door", ["find_entities", "neighbours", "paths", "info", "example_questions"])
def test_a_file_that_is_truncated_under_an_open_index_is_an_error_and_ends_nothing(films, door):
    given = {"find_entities": ["Heat"], "neighbours": ["Heat"], "paths": ["Heat", "Al Pacino"]}.get(door, [])
    getattr(films, door)(*given)
    file = next(films.path.glob("gen-*/graph.out.neighbour.npy"))
    os.truncate(file, 10)
    with pytest.raises(FormatError, match=r"graph\.out\.neighbour\.npy: damaged.*Rebuild"):
        getattr(films, door)(*given)


def test_damage_below_the_file_system_is_told_where_it_makes_an_error(films, monkeypatch):
    """No time of the file changes then; the marks are made to look so."""
    file = next(films.path.glob("gen-*/graph.entities.offsets.npy"))
    damaged = bytearray(file.read_bytes())
    damaged[-1] ^= 64
    file.write_bytes(damaged)
    check = Index.check_unchanged
    monkeypatch.setattr(
        Index, "check_unchanged", lambda index, verify=False: verify and check(index, verify=True)
    )

    def fails(*_: object, **__: object) -> None:
        raise IndexError

    monkeypatch.setattr("clew.index.info.info_of", fails)
    with pytest.raises(FormatError, match=r"entities\.offsets\.npy: damaged"):
        films.info()


def test_what_is_said_of_a_property_is_beside_the_graph_once_it_is_a_relation(tmp_path):
    prefixes = (
        "@prefix ex: <http://e.org/> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    )
    first = (
        "ex:owns a owl:ObjectProperty ; rdfs:domain ex:Person ; rdfs:range ex:Ship .\n"
        'ex:a a ex:Person ; ex:knows ex:b .\nex:b a ex:Person .\nex:Person rdfs:label "person" .\n'
    )
    more = "ex:a ex:owns ex:s .\nex:s a ex:Ship .\n"
    for name, text in (("first", first), ("more", more), ("all", first + more)):
        (tmp_path / f"{name}.ttl").write_text(prefixes + text)
    question = (
        "SELECT ?p ?c WHERE { ?p <http://www.w3.org/2000/01/rdf-schema#domain> ?c }",
        "SELECT ?p ?c WHERE { ?p <http://www.w3.org/2000/01/rdf-schema#range> ?c }",
    )
    with (
        Clew.index(tmp_path / "first.ttl", tmp_path / "first.clew") as updated,
        Clew.index(tmp_path / "all.ttl", tmp_path / "all.clew") as anew,
    ):
        report = updated.update(add=tmp_path / "more.ttl")
        assert (report.report.added, report.report.removed) == (1, 0)
        for clew in (updated, anew):
            assert clew.info().counts["triples"] == 2
            assert set(clew.opened.graph.relation_labels) >= {"knows", "owns"}
            assert all(len(clew.query(query).rows) == 1 for query in question)
        beside = (sorted(lines_of(clew.opened.graph.beside)) for clew in (updated, anew))
        assert next(beside) == next(beside)
