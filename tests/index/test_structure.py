"""Arrays that were made up are refused, whatever their checksums say."""

from types import SimpleNamespace

import numpy as np
import pytest

from clew.errors import FormatError
from clew.graph.build import graph_of
from clew.graph.schema import schema_of
from clew.index.names import NamesIndex
from clew.index.store.directory import IndexAbout, open_index
from clew.index.store.sections import graph_sections, with_prefix
from clew.index.store.writing import write_schema, writing


@pytest.fixture(scope="module")
def sections():
    graph = graph_of(
        [("Memento", "by", "Nolan"), ("Memento", "year", "2000"), ("Été", "by", "Nolan")],
        {"Memento": ["Film"]},
        {"Nolan": ["Chris"]},
    )
    held = with_prefix("graph", graph_sections(graph)) | with_prefix("names", NamesIndex.of(graph).sections())
    nodes = graph.nodes
    held |= {
        "entity_vectors.q": np.zeros((nodes, 4), np.int8),
        "entity_vectors.scale": np.ones(nodes, np.float32),
    }
    write_schema(SimpleNamespace(add_all=held.update), schema_of(graph))
    held["relation_vectors"] = np.zeros((len(graph.relations), 4), np.float32)
    return held


def write(path, sections):
    with writing(path) as writer:
        writer.add_all(sections)
        writer.commit(IndexAbout((), None, {}, {}))
    for seal in path.glob("gen-*/sealed.json"):
        seal.unlink()  # as an index that came from elsewhere
    return path


def test_what_a_build_writes_is_sound(tmp_path, sections):
    assert open_index(write(tmp_path / "x.clew", sections)).graph.triples == 3


def _set(at, value):
    def change(array):
        array = array.copy()
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("section", "change", "reason"),
    [
        ("graph.out.neighbour", _set(0, 99), "ids from .* to 99"),
        ("graph.out.neighbour", _set(2, -1), "ids from -1"),
        ("graph.out.relation", _set(1, 2), "ids from"), ("graph.into.offsets", _set(1, 99), "overlap"),
        ("graph.out.offsets", _set(-1, 99), "do not end at 3"),
        ("graph.out.offsets", lambda a: a[:-1], "rows where the other arrays|do not end"),
        ("graph.into.relation", lambda a: a[:-1], "2 rows where the other arrays have 3"),
        ("graph.out.neighbour", lambda a: a.astype(float), "holds float64"),
        ("graph.out.neighbour", lambda a: a.reshape(1, -1), r"holds int32 \[1, 3\]"),
        ("graph.entities.blob", _set(0, 0xFF), "no UTF-8"),
        ("graph.entities.offsets", lambda a: a + (np.arange(len(a)) == 3), "cuts a character"),
        ("graph.node_types.type", _set(0, 7), "ids from 7"),
        ("graph.aliases.entity", _set(0, -2), "ids from -2"),
        ("graph.values.datatype", _set(0, 3), "ids from"), ("graph.values.kind", _set(0, 9), "ids from"),
        ("graph.values.value", lambda a: a[1:], "rows where"),
        ("graph.source", lambda a: a[1:], "rows where"), ("names.entries", _set(0, 1000), "ids from"),
        ("names.hashes", lambda a: a[1:], "rows where"),
        ("names.typos.postings", _set(0, 1000), "ids from"),
        ("names.typos.posting_offsets", _set(3, -5), "overlap"),
        ("names.typos.by_length", _set(0, -1), "ids from -1"),
        ("entity_vectors.q", lambda a: a[1:], "rows where"),
        ("schema.together", lambda a: a[1:], "rows where"),
        ("schema.together", lambda a: a[:, 1:], "rows where"),
        ("schema.inverse", _set(0, 7), "ids from"), ("schema.nodes", lambda a: a[1:], "rows where"),
        ("schema.low", lambda a: np.zeros(len(a), int), "holds int64"),
        ("schema.typed", lambda a: a[:, 1:], "rows where"),
        ("entity_vectors.scale", lambda a: a[1:], "rows where"),
        ("relation_vectors", lambda a: a[1:], "rows where"),
    ],
)  # fmt: skip
def test_every_array_that_does_not_fit_is_named(tmp_path, sections, section, change, reason):
    path = write(tmp_path / "x.clew", {**sections, section: change(sections[section])})
    with pytest.raises(
        FormatError, match=rf"{section.rpartition('.')[0]}.*npy: damaged, .*({reason}).*clew index"
    ):
        open_index(path)


def test_a_section_that_is_missing_is_named(tmp_path, sections):
    without = {name: array for name, array in sections.items() if name != "graph.source"}
    with pytest.raises(FormatError, match=r"graph\.source.*missing|graph\.source"):
        open_index(write(tmp_path / "x.clew", without))
