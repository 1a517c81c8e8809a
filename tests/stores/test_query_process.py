"""Queries of others run in processes of their own, within time and memory, from every thread and door."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from cases import CYPHER, SPARQL

from clew import Clew
from clew.stores.errors import QueryError, StoreError
from clew.stores.process import _Process

PRODUCT = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"

pytest.importorskip("ladybug", reason="ladybug is not installed")

FILMS = Path(__file__).parents[2] / "examples" / "films.tsv"
COUNTS = ("MATCH (f:film) RETURN count(f)", "SELECT (COUNT(?f) AS ?n) { ?f a t:film }")
SECONDS = 0.25


@pytest.fixture(scope="module")
def clew(cache):
    with Clew.open(FILMS, cache_dir=cache) as opened:
        yield opened


def children():
    """Processes that this one started, and that run queries."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            words = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == os.getpid() and b"worker.py" in words:
            found.add(process.name)
    return found


@pytest.fixture(scope="module")
def counted(clew):
    return [clew.query(count).rows for count in COUNTS]


@pytest.mark.parametrize("statement", CYPHER["bombs"] + SPARQL["bombs"], ids=lambda s: s[:40])
def test_a_bomb_ends_in_its_limits_and_alone(clew, counted, statement):
    start = time.monotonic()
    with suppress(QueryError):
        clew.query(statement, seconds=SECONDS)
    assert time.monotonic() - start < SECONDS + 5  # whole, minutes: the rest is for a busy machine
    assert [clew.query(count).rows for count in COUNTS] == counted


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("RETURN nodes(null)", "ended the process"),
        ("WITH 'xx' AS a " + "WITH replace(a, 'x', a) AS a " * 6 + "RETURN size(a)", "longer than 0.5 s"),
        ("RETURN range(1, 2000000000)", "GiB of memory"),
    ],
)
def test_the_error_says_which_limit(clew, statement, said):
    with pytest.raises(QueryError, match=said):
        clew.query(statement, seconds=0.5)


@pytest.mark.parametrize("count", COUNTS)
def test_other_limits_need_no_other_process(clew, count):
    clew.query(count)
    before = children()
    for rows in (1, 10, 11, 12):
        assert clew.query(count, rows=rows, seconds=5 + rows).rows
    assert children() == before


@pytest.mark.parametrize("slow", ["MATCH p = (a)-[*..30]-(b) RETURN max(length(p))", PRODUCT])
def test_a_query_does_not_wait_for_another_one(clew, slow):
    def hold():
        with pytest.raises(QueryError):
            clew.query(slow, seconds=4)

    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        time.sleep(0.3)
        for count in COUNTS:
            assert clew.query(count).rows
        assert not held.done()
        held.result()


@pytest.mark.parametrize("count", COUNTS)
def test_threads_that_come_first_at_once_load_the_graph_once(cache, count):
    before = children()
    with Clew.open(FILMS, cache_dir=cache) as opened, ThreadPoolExecutor(8) as threads:
        assert len({str(rows) for rows in threads.map(lambda _: opened.query(count).rows, range(8))}) == 1
        assert len(children() - before) <= 2
    assert children() == before


def test_a_closed_store_takes_no_query(cache):
    from clew.stores.ladybug import LadybugStore

    with Clew.open(FILMS, cache_dir=cache) as clew:
        one, other = (LadybugStore.of_graph(clew.opened.graph) for _ in range(2))
        expected = one.run(COUNTS[0]).rows
        one.close()
        assert other.run(COUNTS[0]).rows == expected
        with pytest.raises(StoreError, match="closed"):
            one.run(COUNTS[0])
        other.close()


def test_keys_of_the_environment_are_not_where_queries_run(clew, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with pytest.raises(QueryError):
        clew.query("RETURN nodes(null)")
    clew.query(COUNTS[0])
    for process in children():
        assert b"sk-secret" not in Path(f"/proc/{process}/environ").read_bytes()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("MATCH (f:flim) RETURN f", "no label or relation flim. Near: film"),
        ("MATCH (f:film) RETURN f.release_yaer", "no property release_yaer. Near: release_year"),
        ("MATCH (f:film) RETURN f.titel", "no property titel.*What a thing is called is its name"),
        ("SELECT ?f { ?f r:directd_by ?x }", "no r:directd_by. Near: r:directed_by"),
        ("SELECT ?f { ?f a t:flim }", "no t:flim. Near: t:film"),
    ],
)
def test_an_unknown_name_is_said_with_near_ones(clew, query, said):
    with pytest.raises(QueryError, match=said):
        clew.query(query)


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", ("n",)),
        ("select(count(*) as ?n){?s ?p ?o}", ("n",)),
        ("# one\nPREFIX x: <urn:x> ASK{ ?s ?p ?o }", ("ask",)),
        ("ASK{}", ("ask",)),
        ("/* two */ MATCH (select:film) RETURN count(select) AS ask", ("ask",)),
        ("WITH 1 AS base RETURN base", ("base",)),
        ("WITH [1] AS data RETURN data", ("data",)),
    ],
)
def test_the_language_is_told_by_the_grammar(clew, query, columns):
    assert clew.query(query).columns == columns


@pytest.mark.parametrize(
    "update", ["INSERT DATA { <a> <b> 1 }", "DELETE WHERE { ?s ?p ?o }", "DROP ALL", "INSERT {}"]
)
def test_an_update_is_called_one(clew, update):
    with pytest.raises(QueryError, match="writes"):
        clew.query(update)


@pytest.mark.slow
def test_many_queries_in_a_row_leave_memory_for_the_next(clew):
    for number in range(2_500):
        query = f"MATCH (f:film)-[r:directed_by]->(d) RETURN f.name, d.name, type(r), {number} LIMIT 20"
        assert len(clew.query(query).rows) == 20


def test_whole_numbers_have_64_bits_and_leading_zeros_are_a_text(tmp_path):
    table = tmp_path / "things.csv"
    table.write_text("id,name,code,size\n1,A,068,9007199254740993\n2,B,02647,12\n")
    with Clew.open(table, cache_dir=tmp_path) as opened:
        rows = opened.query("MATCH (t:thing) RETURN t.name, t.code, t.size ORDER BY t.code DESC").rows
        assert rows == (("A", "068", 9007199254740993), ("B", "02647", 12))
        assert opened.query("RETURN 100 + 100, -128 - 1, 7 / 2, 4611686018427387904 * 1").rows == (
            (200, -129, 3, 4611686018427387904),
        )
        (row,) = opened.query("SELECT ?size { ?t r:code ?code ; r:size ?size FILTER(?size > 100) }").rows
        assert row[0].value == "9007199254740993"
        assert row[0].datatype.endswith("#integer")


@pytest.mark.parametrize("query", ["RETURN '\ud800' AS x", "SELECT ('\udcff' AS ?x) {}"])
def test_half_of_a_character_is_an_error_of_the_query(clew, query):
    with pytest.raises(QueryError, match="is half of a character"):
        clew.query(query)


def test_texts_of_iris_and_numbers_are_joined(clew):
    query = "SELECT (GROUP_CONCAT(DISTINCT {}; SEPARATOR = ', ') AS ?x) {{ VALUES ?y {{ 1 t:film }} }}"
    (row,) = clew.query(query.format("?y")).rows
    assert row[0].value == "1, urn:clew:type:film"
    assert clew.query(query.format("(IF(isIRI(?y), ';)', STR(?y)))")).rows[0][0].value == "1, ;)"


def test_a_reply_at_the_last_moment_does_not_end_the_next_query(clew, counted, monkeypatch):
    """The process is killed while its reply is read."""
    exchange = _Process.exchange

    def slowly(process, message):
        reply = exchange(process, message)
        time.sleep(3.5)
        return reply

    clew.query(COUNTS[0])
    with monkeypatch.context() as patch:
        patch.setattr(_Process, "exchange", slowly)
        assert clew.query(COUNTS[0], seconds=3).rows == counted[0]
    assert clew.query(COUNTS[0]).rows == counted[0]
