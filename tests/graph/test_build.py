"""Building: ids, adjacency, duplicates, literals, side files, report."""

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ParseError
from clew.graph import XSD, build
from clew.graph.build import build_graph, graph_of
from clew.graph.graph import Adjacency, Graph
from clew.graph.readers.source_files import source_bytes

Triple = tuple[str, str, str]


def all_triples(graph: Graph) -> list[Triple]:
    found = [graph.triple(i) for i in range(graph.triples)]
    return [(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in found]


def types_of(graph: Graph, entity: str) -> list[str]:
    node = list(graph.entities).index(entity)
    return [
        graph.types.names[t]
        for t in graph.types.type[graph.types.offsets[node] : graph.types.offsets[node + 1]]
    ]


def aliases_of(graph: Graph) -> list[tuple[str, str]]:
    return [
        (graph.entities[int(e)], name)
        for e, name in zip(graph.aliases.entity, graph.aliases.names, strict=True)
    ]


def rows(adjacency: Adjacency) -> list[tuple[int, int, int]]:
    node, _, _ = adjacency.columns()
    return list(zip(node.tolist(), adjacency.relation.tolist(), adjacency.neighbour.tolist(), strict=True))


SMALL = st.lists(
    st.tuples(st.sampled_from("abcde"), st.sampled_from("pqr"), st.sampled_from("abcde")), max_size=40
)


@pytest.mark.parametrize("bits", [63, 0])
@settings(max_examples=60)
@given(triples=SMALL)
def test_both_directions_are_sorted_and_hold_every_triple_once(bits: int, triples: list[Triple]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "PACKED_BITS", bits)
        graph = graph_of(triples)
    out, into = rows(graph.out), rows(graph.into)
    names, relations = list(graph.entities), list(graph.relations)
    assert out == sorted({(names.index(h), relations.index(r), names.index(t)) for h, r, t in triples})
    assert into == sorted((t, r, h) for h, r, t in out)
    assert [graph.find_triple(*row) for row in out] == list(range(len(out)))
    assert graph.out.offsets.dtype == np.int64
    assert {graph.out.relation.dtype, graph.into.neighbour.dtype} == {np.dtype(np.int32)}


def test_duplicates_are_merged_counted_and_keep_their_first_source(tmp_path: Path) -> None:
    first, second = tmp_path / "a.tsv", tmp_path / "b.psv"
    first.write_text("a\tp\tb\na\tp\tb\n\nb\tp\ta\n")
    second.write_text("x|p|a\na|p|b\n")
    graph, report = build_graph([first, second])
    assert sorted(all_triples(graph)) == [("a", "p", "b"), ("b", "p", "a"), ("x", "p", "a")]
    sources = dict(zip(all_triples(graph), graph.source.tolist(), strict=True))
    assert sources == {("a", "p", "b"): 0, ("b", "p", "a"): 0, ("x", "p", "a"): 1}
    assert (report.triples_read, report.duplicates, report.blank) == (5, 2, 1)
    assert [(s.format, s.triples, s.bytes) for s in report.sources] == [("tsv", 3, 19), ("pipe", 2, 12)]
    assert report.sources[0].sha256 == hashlib.sha256(first.read_bytes()).hexdigest()
    json.dumps(dataclasses.asdict(report))


def test_side_files(tmp_path: Path) -> None:
    kb, types, aliases = tmp_path / "a.tsv", tmp_path / "types.tsv", tmp_path / "aliases.tsv"
    kb.write_text("a\tp\tb\n")
    types.write_text("entity\ttype\nb\tFilm\nb\tNoir\nb\tFilm\na\tPerson\nzz\tFilm\n")
    aliases.write_text("b\tB.\nb\tB.\nb\tb\na\tAlpha\nyy\tY\n")
    graph, report = build_graph([kb], types=types, aliases=aliases)
    assert types_of(graph, "a") == ["Person"]
    assert types_of(graph, "b") == ["Film", "Noir"]
    assert aliases_of(graph) == [("a", "Alpha"), ("b", "B.")]
    assert (report.types_read, report.aliases_read) == (4, 4)
    assert (report.unknown, report.unknown_names) == (2, ("zz", "yy"))
    assert [s.format for s in report.side_files] == ["entity-type", "entity-alias"]
    aliases.write_text("a\n")
    with pytest.raises(ParseError, match=r"aliases\.tsv:1: 1 column where 2"):
        build_graph([kb], aliases=aliases)
    _, report = build_graph([kb], aliases=aliases, on_error="skip")
    assert (report.skipped, report.aliases_read) == (1, 0)


def test_rdf_labels_types_and_literals(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text(
        "@prefix e: <http://e.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        'e:m a e:Feature_film ; rdfs:label "Le film"@fr, "Memento"@en ; e:released_in 2000 ;\n'
        "e:by <http://e.org/J%C3%BCrg_X> .\n"
        '<http://e.org/2000> e:note "2000" . e:by rdfs:label "directed by" .\n'
    )
    graph, report = build_graph([path])
    assert list(graph.entities) == [
        "http://e.org/m", "2000", "http://e.org/J%C3%BCrg_X", "http://e.org/2000", "2000",
    ]  # fmt: skip
    assert list(graph.labels) == ["Memento", "2000", "Jürg X", "2000", "2000"]
    assert list(graph.relation_labels) == ["released in", "directed by", "note"]
    assert graph.values.datatype.tolist() == [-1, 0, -1, -1, 1]
    assert list(graph.values.datatypes) == [XSD + "integer", XSD + "string"]
    assert graph.values.kind.tolist() == [0, 1, 0, 0, 1]
    assert types_of(graph, "http://e.org/m") == ["Feature film"]
    assert aliases_of(graph) == [("http://e.org/m", "Le film")]
    assert (report.types_read, report.labels_read) == (1, 3)


def test_arrays_keep_their_ids(tmp_path: Path) -> None:
    (tmp_path / "entities.txt").write_text("lone\nb\na\n")
    (tmp_path / "relations.txt").write_text("p\n")
    for name, column in (("head", [2, 1]), ("relation", [0, 0]), ("tail", [1, 2])):
        np.save(tmp_path / f"{name}.npy", np.array(column, np.int32))
    (tmp_path / "unrelated.bin").write_bytes(b"x" * 1000)
    seen: list[int] = []
    graph, report = build_graph([tmp_path], progress=seen.append)
    assert list(graph.entities) == ["lone", "b", "a"]
    assert all_triples(graph) == [("b", "p", "a"), ("a", "p", "b")]
    assert seen == [source_bytes([tmp_path])] == [report.sources[0].bytes]


def test_a_table_read_as_triples_is_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("".join(f"k{i},text {i},v\n" for i in range(30)))
    _, report = build_graph([path])
    assert "30 relations in 30 triples" in report.notes[0]
