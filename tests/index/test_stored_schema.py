"""A graph's schema is stored with it, and counts only for the graph that it was counted from."""

from dataclasses import fields

import numpy as np
import pytest

from clew.graph import schema as counted
from clew.graph.graph import Graph
from clew.graph.schema import Schema, schema_of
from clew.index.build import build_index
from clew.index.store import stored_schema
from clew.index.store.directory import open_index
from clew.index.store.stored_schema import schema_of_index, write_schema
from clew.index.store.writing import write_changed, writing
from clew.index.update.edit_files import EditFiles, read_edits
from clew.index.update.update import update_index
from graph.reference import dense


@pytest.fixture
def large(tmp_path, letters):
    (tmp_path / "a.tsv").write_text("a\tr\tb\nb\tr\tc\na\ts\t12\nc\ts\t7\n")
    build_index([tmp_path / "a.tsv"], tmp_path / "a.clew", embedder=letters)
    return tmp_path / "a.clew"


def equal(one: Schema, other: Schema) -> None:
    for name in [field.name for field in fields(Schema) if field.name != "together"]:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    np.testing.assert_array_equal(dense(one.together), dense(other.together))


def no_counting(graph: Graph) -> Schema:
    raise AssertionError("counted")


def test_a_stored_schema_is_that_of_the_graph_and_is_not_counted(large, monkeypatch):
    index = open_index(large)
    wanted = schema_of(index.graph)
    monkeypatch.setattr(counted, "schema_of", no_counting)
    equal(schema_of_index(index), wanted)


def test_after_an_update_it_is_that_of_the_new_graph_and_only_changes_are_counted(
    large, tmp_path, letters, monkeypatch
):
    (tmp_path / "more.tsv").write_text("d\tt\ta\n")
    (tmp_path / "less.tsv").write_text("b\tr\tc\n")
    (tmp_path / "types.tsv").write_text("a\tletter\n")
    edits = read_edits(
        EditFiles([tmp_path / "more.tsv"], [tmp_path / "less.tsv"], types=tmp_path / "types.tsv")
    )
    update_index(large, edits, embedder=letters)
    index = open_index(large)
    wanted = schema_of(index.graph)
    monkeypatch.setattr(counted, "schema_of", no_counting)
    assert len(wanted.triples) == 3
    equal(schema_of_index(index), wanted)


def test_one_of_other_files_counts_as_none(large, monkeypatch):
    index = open_index(large)
    monkeypatch.setattr(stored_schema, "_digest", lambda _files: b"another")
    monkeypatch.setattr(counted, "schema_of", no_counting)
    with pytest.raises(AssertionError, match="counted"):
        schema_of_index(index)


def test_one_that_is_larger_than_its_graph_is_not_stored(large):
    index = open_index(large)
    with writing(large) as writer:
        write_changed(writer, index, {}, dropped=("schema.",))
        write_schema(writer, index.graph, most_bytes=100)
        writer.commit(index.manifest.about)
    index = open_index(large)
    assert not [section for section in index.sections if section.startswith("schema.")]
    equal(schema_of_index(index), schema_of(index.graph))
