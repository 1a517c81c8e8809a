"""The embedded Cypher database, in the process of a query (`stores/worker.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import ladybug

from clew.foundation.forms import local_name
from clew.stores.cypher.guard import guard
from clew.stores.cypher.ladybug import to_ladybug
from clew.stores.cypher.ladybug_forms import GraphFacts
from clew.stores.cypher.ladybug_rows import with_plain_rows
from clew.stores.cypher.parser import parse
from clew.stores.errors import QueryError, StoreTimeout
from clew.stores.process import packed

_PARAMETER = re.compile(r"\$(\w+)")
_LACKING = re.compile(r"(?:Table|Cannot bind) (.+) (?:does not exist\.|as a \w+ pattern label)")
_LACKING_PROPERTY = re.compile(r"Cannot find property (.+) for \S+\.")
_QUERY_FAULTS = ("Binder", "Catalog", "Conversion", "Parser", "Runtime", "Overflow")


class Engine:
    """A graph in ladybug, as the tables of `clew.stores.ladybug`; the first one of a folder fills them."""

    def __init__(self, folder: Path, setup: dict[str, Any], statements: Sequence[str]) -> None:
        path = str(folder / "graph")
        # Bytes in memory, and of addresses that are reserved, a power of two; left to itself it takes 8 TiB.
        sizes: dict[str, Any] = {"buffer_pool_size": 2**30, "max_db_size": 2**38}
        if statements:
            database = ladybug.Database(path, auto_checkpoint=False, **sizes)
            connection = ladybug.Connection(database)
            for statement in statements:
                connection.execute(statement)
            connection.execute("CHECKPOINT")
            connection.close()
            database.close()
        self._database = ladybug.Database(path, read_only=True, **sizes)
        self._connection = ladybug.Connection(self._database, num_threads=1)
        self._connection.execute("RETURN 1")
        self._facts = GraphFacts(**setup)

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        """Guard a query, write it in ladybug's Cypher and run it; raises as `Store.run`."""
        sent = guard(
            with_plain_rows(parse(request["query"])),
            request["rows"],
            request["parameters"],
            partial(to_ladybug, facts=self._facts, parameters=request["parameters"]),
        )
        used_names = set(_PARAMETER.findall(sent.text))
        parameters = {name: value for name, value in sent.parameters.items() if name in used_names}
        # A little before its time is over, so that the process need not be killed.
        self._connection.set_query_timeout(max(int(request["seconds"] * 950), 1))
        try:
            result: Any = self._connection.execute(sent.text, parameters)
            rows, names = packed(_rows(result), sent.rows + 1), result.get_column_names()
            result.close()
        except RuntimeError as error:
            raise _failure(str(error), self._facts.properties) from error
        columns = list(sent.columns or names)
        return {"columns": columns, "rows": rows, "text": sent.text, "parameters": dict(sent.parameters)}


def _rows(result: Any) -> Iterator[list[object]]:  # noqa: ANN401
    while result.has_next():
        yield result.get_next()


def _failure(message: str, names: Mapping[str, Sequence[str]]) -> Exception:
    if "Interrupted" in message:
        return StoreTimeout()
    kind, _, reason = message.partition(" exception: ")
    if reason.startswith("Regex match group"):
        reason = "it has a pattern (=~) that it cannot read, as those that look ahead, behind or back"
    for pattern, sort in ((_LACKING, "label or relation"), (_LACKING_PROPERTY, "property")):
        if missing := pattern.search(reason):
            keys = {key for of_one in names.values() for key in of_one} if sort == "property" else set[str]()
            by_end = {local_name(name): name for name in sorted(keys.union(names) - {missing[1]})}  # of IRIs
            near = [by_end[end] for end in get_close_matches(missing[1], by_end, n=3, cutoff=0.5)]
            advice = f"Near: {', '.join(near)}" if near else "clew info shows those that it has"
            if sort == "property" and missing[1] in names:
                advice = f"It is a relation: (a)-[:{missing[1]}]->(b), and b.name"
            elif sort == "property":
                advice += ". What a thing is called is its name"
            return QueryError(f"The graph has no {sort} {missing[1]}. {advice}")
    if kind in _QUERY_FAULTS:
        return QueryError(f"The embedded store cannot run the query: {reason.splitlines()[0]}")
    if kind == "Buffer manager" or "bad_alloc" in message:
        return MemoryError()
    if "AGGREGATE_FUNCTION" in message:
        reason = "it computes with an aggregate and a variable. Name the aggregate by WITH first"
    elif message.startswith("Assertion failed"):  # of its parser, which meets a form that it has no code for
        reason = "it has a form that it does not know"
    else:
        reason = message.splitlines()[0]
    return QueryError(f"The embedded store cannot run the query: {reason}")
