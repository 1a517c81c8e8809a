"""The embedded Cypher store under many threads: one database of a graph, a connection for each thread."""

import gc
import mmap
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clew.errors import ClewError
from clew.stores.errors import StoreError

ladybug = pytest.importorskip("ladybug", reason="ladybug is not installed")

from clew.stores.ladybug import LadybugStore  # noqa: E402 - it needs ladybug

COUNT = "MATCH (f:Film) RETURN count(f)"


@pytest.fixture
def databases(monkeypatch):
    """How often a database is made."""
    made = []

    class Counted(ladybug.Database):
        def __init__(self, *args, **options):
            made.append(options)
            super().__init__(*args, **options)

    monkeypatch.setattr(ladybug, "Database", Counted)
    return made


def test_threads_that_come_first_at_once_load_the_graph_once(films, databases):
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: LadybugStore.of_graph(films[0]), range(8)))
        counts = set(threads.map(lambda store: store.run(COUNT).rows, stores))
    assert len(databases) == len(counts) == 1


def test_stores_of_one_graph_have_their_own_limits(films, databases):
    one, all_ = (LadybugStore.of_graph(films[0], rows=rows) for rows in (1, 1000))
    query = "MATCH (f:Film) RETURN f.name"
    assert len(one.run(query).rows) == 1 < len(all_.run(query).rows)
    assert len(databases) == 1


def test_who_closes_one_store_leaves_the_others_open(films):
    one, other = (LadybugStore.of_graph(films[0]) for _ in range(2))
    before = one.run(COUNT).rows
    one.close()
    assert other.run(COUNT).rows == before
    with pytest.raises(StoreError, match="closed"):
        one.run(COUNT)


def test_the_database_goes_with_its_last_store(films, databases):
    for _ in range(2):
        store = LadybugStore.of_graph(films[0])
        store.run(COUNT)
        store.close()
        del store
        gc.collect()
    assert len(databases) == 2


def test_a_query_does_not_wait_for_another_one(films):
    store = LadybugStore.of_graph(films[0])
    with store._connection() as busy, ThreadPoolExecutor(1) as threads:
        assert threads.submit(store.run, COUNT).result(timeout=60).rows
        assert busy in store._connections
    assert len(store._connections) == 2


def test_a_thread_takes_the_connection_that_another_one_gave_back(films):
    store = LadybugStore.of_graph(films[0])
    for _ in range(3):
        with ThreadPoolExecutor(1) as threads:
            threads.submit(store.run, COUNT).result()
    assert len(store._connections) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="addresses are counted as Linux does")
def test_a_hundred_graphs_find_addresses(films, databases):
    """A process has 128 TiB of them; left to itself a database takes 8, and the 16th ends in an error."""
    gc.collect()
    before = _addresses()
    store = LadybugStore.of_graph(films[0])
    assert store.run(COUNT).rows
    assert len(databases) == 1
    assert (_addresses() - before) * 100 < 1 << 47


def _addresses():
    """Bytes that this process has reserved."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE


def test_a_graph_that_cannot_be_loaded_says_so(films, monkeypatch):
    def full(*args, **options):
        raise RuntimeError("Buffer manager exception: Mmap for size 8796093022208 failed.")

    gc.collect()
    monkeypatch.setattr(ladybug, "Database", full)
    with pytest.raises(ClewError, match=r"cannot be loaded into the embedded store: .*Mmap"):
        LadybugStore.of_graph(films[0])
