"""Statements of strangers by the hundred: none writes, and none goes past its time or its memory."""

import os
import random
import sys
import time
from itertools import product
from pathlib import Path
from threading import Event, Thread

import pytest

from clew import Clew
from clew.errors import UsageError
from clew.stores.process import QUERY_MEMORY
from stores.cases import CYPHER, SPARQL

pytest.importorskip("ladybug", reason="ladybug is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")]

FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"
COUNTS = (
    "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r)",
    "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
)
SECONDS = 2.0
ALLOWED = 1.2 * SECONDS
GROWING = (
    "'x' + {}", "replace({}, 'x', {})", "toUpper({})", "reverse({})", "{} + {}", "[{}, {}]",
    "[y IN {} | y]", "range(1, 10) + {}", "split({}, 'x')", "coalesce({}, {})", "toString({})",
    "CASE WHEN {} = {} THEN {} END", "substring({}, 1)", "collect({})", "size({})",
    "reduce(s = '', y IN {} | s + y)", "head([{}])", "{}[0]", "any(y IN {} WHERE y = {})", "{{a: {}}}",
    "EXISTS {{ (n {{x: {}}}) }}",
)  # fmt: skip
FLOODS = (
    "UNWIND range(1, {n}) AS a UNWIND range(1, {n}) AS b RETURN {f}",
    "MATCH (a), (b), (c), (d), (e) RETURN {f}",
    "MATCH p = (a)-[*1..{k}]-(b) RETURN {f}",
    "MATCH (a)-[*1..{k}]-(b)-[*1..{k}]-(c) RETURN {f}",
    "UNWIND range(1, {n}) AS a WITH collect(a) AS l UNWIND l AS b UNWIND l AS c RETURN {f}",
    "MATCH (a) UNWIND range(1, {n}) AS b WITH a, b ORDER BY b DESC RETURN {f}",
)
PATHS = (
    "SELECT * {{ ?s ({p})* ?o }}",
    "SELECT * {{ ?s ({p}){{1,9}} ?o }}",
    "SELECT (COUNT(*) AS ?n) {{ ?a {p} ?b . ?c {p} ?d . ?e {p} ?f . ?g {p} ?h }}",
    "SELECT * {{ ?s {p} ?o FILTER(REGEX(STR(?o), '(a+)+$')) }}",
    "SELECT * {{ ?a {p} ?b OPTIONAL {{ ?c {p} ?d OPTIONAL {{ ?e {p} ?f }} }} }}",
    "SELECT (GROUP_CONCAT(STR(?a)) AS ?x) {{ ?a {p} ?b . ?c {p} ?d . ?e {p} ?f }}",
    "SELECT * {{ ?a {p} ?b MINUS {{ ?c {p} ?d }} FILTER NOT EXISTS {{ ?e {p} ?f . ?g {p} ?h }} }}",
    "CONSTRUCT {{ ?a {p} ?d }} {{ ?a {p} ?b . ?c {p} ?d }}",
    "DESCRIBE * {{ ?a {p} ?b }}",
    "ASK {{ ?a {p} ?b . FILTER(?a > ?b || 1/0) }}",
)


def generated():
    """Statements that grow by what they say, and those that are cut, torn or nested."""
    draw = random.Random(8)
    for form, depth in product(GROWING, (1, 3, 8, 20)):
        text = "'xxxxxxxxxx'"
        for _ in range(depth):
            text = form.format(*[text] * 4) if len(text) < 20_000 else text
        yield f"MATCH (n) RETURN {text} AS t"
    for form, n, found in product(
        FLOODS, (100, 100_000, 2_000_000_000), ("count(*)", "collect(a)", "a ORDER BY a")
    ):
        yield form.format(n=n, k=min(n, 30), f=found)
    for form, path in product(
        PATHS, ("?p", "r:directed_by", "(r:directed_by|^r:directed_by)", "!r:x", "(<a>|!<a>)*")
    ):
        yield form.format(p=path)
    base = [*CYPHER["harmless"], *SPARQL["harmless"]]
    for statement in base:
        at = draw.randrange(1, len(statement))
        yield statement[:at]
        yield statement[:at] + draw.choice("'\"`{}[]()\\\x00;|/*éπ\ud800") + statement[at:]


STATEMENTS = [
    *(
        s
        for table in (CYPHER, SPARQL)
        for kind in ("refused", "bombs", "slow", "harmless")
        for s in table[kind]
    ),
    *generated(),
]


class Watch(Thread):
    """Looks how much memory the processes of queries hold, and for how long one had more than it may."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.ended = 0, Event()

    def run(self):
        while not self.ended.wait(0.02):
            for process in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
                try:
                    if b"worker.py" in Path(f"/proc/{process}/cmdline").read_bytes():
                        self.most = max(
                            self.most, int(Path(f"/proc/{process}/statm").read_text().split()[1]) * 4096
                        )
                except OSError:
                    continue


def test_none_writes_or_goes_past_its_time_or_its_memory(tmp_path):
    assert len(STATEMENTS) >= 400
    watch = Watch()
    watch.start()
    answered, late, said = 0, [], []
    with Clew.open(FILMS, cache_dir=tmp_path) as clew:
        before = [clew.query(count).rows for count in COUNTS]
        for statement in STATEMENTS:
            for count in COUNTS[:1]:  # a process is there
                clew.query(count, seconds=30)
            start = time.monotonic()
            try:
                clew.query(statement, seconds=SECONDS)
                answered += 1
            except UsageError as error:  # also of an empty one
                said.append((statement[:200], str(error)))
            except Exception as error:
                error.add_note(statement[:200])
                raise
            if (took := time.monotonic() - start) > ALLOWED:
                late.append((round(took, 2), statement[:120]))
        assert [clew.query(count, seconds=30).rows for count in COUNTS] == before
    watch.ended.set()
    print(len(STATEMENTS), "statements;", answered, "answered;", len(late), "late;", watch.most >> 20, "MiB")  # noqa: T201
    assert 0 < watch.most < QUERY_MEMORY + (1 << 30)
    assert [one for one in said if "report" in one[1]] == []
    assert late == []
