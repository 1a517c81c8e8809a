"""Graphs built by hand: names, labels and aliases, and a chain of triples."""

import numpy as np
import pytest
from film_corpus import Letters

from clew.graph.graph import Adjacency, Aliases, Graph, Names, Types, Values
from clew.index.names import NamesIndex
from clew.index.store.directory import IndexAbout
from clew.index.store.sections import graph_sections, with_prefix
from clew.index.store.writing import writing
from clew.index.update.update import update_index


@pytest.fixture(scope="session")
def graph_of():
    return make_graph


def make_graph(names, labels=None, aliases=()):
    """Node i has one `next` triple to node i + 1; `aliases` are (alias, node)."""
    count, triples = len(names), max(0, len(names) - 1)
    entities = Names.of(names)
    steps = np.arange(count + 1)
    relation = np.zeros(triples, np.int32)
    return Graph(
        entities=entities,
        labels=entities if labels is None else Names.of(labels),
        relations=Names.of(["next"]),
        relation_labels=Names.of(["next"]),
        out=Adjacency(np.minimum(steps, triples), relation, np.arange(1, triples + 1, dtype=np.int32)),
        into=Adjacency(np.maximum(steps - 1, 0), relation, np.arange(triples, dtype=np.int32)),
        values=Values(
            np.full(count, -1, np.int16), np.zeros(count, np.uint8), np.full(count, np.nan), Names.of([])
        ),
        types=Types(Names.of([]), np.zeros(count + 1, np.int64), np.empty(0, np.int32)),
        aliases=Aliases(Names.of([a for a, _ in aliases]), np.array([e for _, e in aliases], np.int32)),
        source=np.zeros(triples, np.uint16),
    )


@pytest.fixture(scope="session")
def write_small():
    return write_graph


def write_graph(path, graph, extra=None, **options):
    """Write an index of `graph` and extra sections without sources."""
    with writing(path, **options) as writer:
        writer.add_all(with_prefix("graph", graph_sections(graph)))
        writer.add_all(with_prefix("names", NamesIndex.of(graph).sections()))
        writer.add_all(extra or {})
        return writer.commit(IndexAbout((), None, {"nodes": graph.nodes}, {}))


@pytest.fixture(scope="session")
def letters():
    return Letters("v1")


@pytest.fixture(scope="session")
def other_letters():
    return Letters("v2")


@pytest.fixture(scope="module")
def milvus():
    """A real Milvus server, which tests may kill and start again; an idle one takes most of a core."""
    pytest.importorskip("pymilvus", reason="pymilvus is not installed")
    from servers.milvus_server import Unavailable, milvus_server

    try:
        with milvus_server() as server:
            yield server
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def killed_update(monkeypatch):
    """Begin an update that is killed before it writes what changed."""

    def dies(*_arguments, **_options):
        raise KeyboardInterrupt

    def begin(path, edits, embedder):
        with monkeypatch.context() as patched:
            patched.setattr("clew.index.update.update.write_changed", dies)
            with pytest.raises(KeyboardInterrupt):
                update_index(path, edits, embedder=embedder)

    return begin
