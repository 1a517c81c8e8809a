"""The RDF store in process: an index as a folder of pyoxigraph, asked in SPARQL.

Names that are IRIs stay; others get a prefix each, known to every query: `e:` entities, `r:` relations,
`t:` types (`e:Christopher%20Nolan`). Every entity has its label as `rdfs:label` and its aliases as
`skos:altLabel`. Queries run in a process of their own, since pyoxigraph has no timeout: one that is over its
time is ended with it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from threading import Lock, Timer
from urllib.parse import quote

import numpy as np

from clew.graph.graph import Graph, ValueKind
from clew.graph.namespaces import RDF, RDFS, SKOS, XSD
from clew.graph.values import as_xsd
from clew.stores.cypher.guard import USUAL_ROWS, Guarded
from clew.stores.errors import QueryError, StoreError, StoreTimeout
from clew.stores.sparql import worker
from clew.stores.sparql.guard import guard_sparql
from clew.stores.sparql.results import rows_of
from clew.stores.sparql.terms import quoted
from clew.stores.store import Rows

QUERY_MEMORY = 2 * 2**30
"""Bytes that a query may take."""
PREFIXES = {
    "e": "urn:clew:entity:",
    "r": "urn:clew:relation:",
    "t": "urn:clew:type:",
    "p": "urn:clew:property:",
    "rdf": RDF,
    "rdfs": RDFS,
    "skos": SKOS,
    "xsd": XSD,
}
_IRI = re.compile(r"(?:[a-z][a-z0-9+.-]*://|urn:)[^\s<>\"{}|\\^`\x00-\x20]+")
_ESCAPED = re.compile(r"[^\w.:-]")
_BLOCK = 50_000
"""Triples that are written at a time."""


class _StoreResources:
    """What a store must give back: its folder and its process."""

    def __init__(self, folder: tempfile.TemporaryDirectory[str]) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """End the process."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self.process = None

    def give_back(self) -> None:
        """End the process and remove the folder."""
        self.stop()
        self.folder.cleanup()


class EmbeddedSparql:
    """An index in pyoxigraph; made with `of_graph`. One that nobody holds any more closes itself."""

    name = "embedded"

    def __init__(self, folder: tempfile.TemporaryDirectory[str], *, seconds: float, rows: int) -> None:
        self._resources, self._seconds, self._rows = _StoreResources(folder), seconds, rows
        self.folder, self._process_lock = Path(folder.name), Lock()
        self._give_back = weakref.finalize(self, self._resources.give_back)

    @classmethod
    def of_graph(cls, graph: Graph, *, seconds: float = 10.0, rows: int = USUAL_ROWS) -> EmbeddedSparql:
        """Load a graph; queries end after `seconds`."""
        import pyoxigraph

        folder = tempfile.TemporaryDirectory(prefix="clew-rdf-")
        store = pyoxigraph.Store(folder.name)
        for block in _blocks(statements(graph)):
            store.bulk_load(block, pyoxigraph.RdfFormat.N_TRIPLES)
        store.flush()
        del store
        return cls(folder, seconds=seconds, rows=rows)

    def run(self, query: str) -> Rows:
        """Guard a query and run it, after those that other threads run; raises as `SparqlStore.run`."""
        sent = guard_sparql(query, self._rows, PREFIXES)
        with self._process_lock:
            media, body = self._results(sent)
        if media == "error":
            reason = body.decode("utf-8", "replace").splitlines()[0]
            raise QueryError(f"The embedded store cannot run the query: {reason[:200]}")
        return rows_of(io.BytesIO(body), media, sent)

    def _results(self, sent: Guarded) -> tuple[str, bytes]:
        """Media type, or `error`, and the results; StoreTimeout and StoreError as `run`."""
        process = self._live_process()
        timer = Timer(self._seconds, process.kill)
        timer.start()
        try:
            return _ask_process(process, sent)
        except (OSError, ValueError) as error:
            self._resources.stop()
            if timer.finished.is_set():
                raise StoreTimeout.after(self._seconds) from error
            raise StoreError(
                f"The query needs more than {QUERY_MEMORY >> 30} GiB of memory and was stopped. Ask for less"
            ) from error
        finally:
            timer.cancel()

    def _live_process(self) -> subprocess.Popen[bytes]:
        """Return the process, a new one if the last one was stopped."""
        process = self._resources.process
        if process is None or process.poll() is not None:
            self._resources.stop()
            command = [sys.executable, "-P", worker.__file__, str(self.folder), str(QUERY_MEMORY)]
            process = self._resources.process = subprocess.Popen(  # noqa: S603 - this Python, a file of ours
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        return process

    def close(self) -> None:
        """End the process and remove the folder."""
        self._give_back()


def _ask_process(process: subprocess.Popen[bytes], sent: Guarded) -> tuple[str, bytes]:
    """Hand a query over; (media type or `error`, results). OSError or ValueError if the process ended."""
    if process.stdin is None or process.stdout is None:
        raise OSError("no pipes")
    process.stdin.write(json.dumps({"text": sent.text, "prefixes": PREFIXES}).encode() + b"\n")
    process.stdin.flush()
    media, size = process.stdout.readline().decode("ascii").split()
    body = process.stdout.read(int(size))
    if len(body) < int(size):
        raise OSError("the process ended")
    return media, body


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    while block := "".join(islice(lines, _BLOCK)):
        yield block.encode("utf-8", "replace")


def statements(graph: Graph) -> Iterator[str]:
    """Yield a graph as lines of N-Triples."""
    literal = graph.values.datatype >= 0
    terms = [
        _literal(graph, node) if is_literal else _iri("e", graph.entities[node])
        for node, is_literal in enumerate(literal.tolist())
    ]
    relations = [_iri("r", name) for name in graph.relations]
    for head, relation, tail in zip(*(column.tolist() for column in graph.out.columns()), strict=True):
        yield f"{terms[head]} {relations[relation]} {terms[tail]} .\n"
    label, alias, type_ = f"<{RDFS}label>", f"<{SKOS}altLabel>", f"<{RDF}type>"
    for node in np.flatnonzero(~literal).tolist():
        yield f"{terms[node]} {label} {quoted(graph.labels[node])} .\n"
    for name, node in zip(graph.aliases.names, graph.aliases.entity.tolist(), strict=True):
        yield f"{terms[node]} {alias} {quoted(name)} .\n"
    yield from _edge_properties(graph, terms, relations)
    types = [_iri("t", name) for name in graph.types.names]
    typed_nodes = np.repeat(np.arange(graph.nodes), np.diff(graph.types.offsets))
    for node, type_id in zip(typed_nodes.tolist(), graph.types.type.tolist(), strict=True):
        yield f"{terms[node]} {type_} {types[type_id]} .\n"


def _edge_properties(graph: Graph, terms: Sequence[str], relations: Sequence[str]) -> Iterator[str]:
    """Yield the statements that have properties as reified ones: `rdf:subject`, …, `p:since`."""
    properties = graph.edge_properties
    ends = [f"<{RDF}{name}>" for name in ("subject", "predicate", "object")]
    keys = [_iri("p", name) for name in properties.keys]
    number = f"^^<{XSD}double>"
    for statement, (head, relation, tail) in enumerate(properties.triples.tolist()):
        node = f"_:s{statement}"
        for end, term in zip(ends, (terms[head], relations[relation], terms[tail]), strict=True):
            yield f"{node} {end} {term} .\n"
        for at in range(int(properties.offsets[statement]), int(properties.offsets[statement + 1])):
            numeric = properties.kind[at] == ValueKind.NUMBER
            value = f'"{float(properties.value[at])!r}"{number}' if numeric else quoted(properties.texts[at])
            yield f"{node} {keys[int(properties.key[at])]} {value} .\n"


def _iri(prefix: str, name: str) -> str:
    """Write a name as an IRI; one that is an IRI stays."""
    if _IRI.fullmatch(name):
        return f"<{name}>"
    return f"<{PREFIXES[prefix]}{_ESCAPED.sub(lambda c: quote(c[0], safe=''), name)}>"


def _literal(graph: Graph, node: int) -> str:
    written, datatype = as_xsd(graph.labels[node], graph.values.datatypes[int(graph.values.datatype[node])])
    text = quoted(written)
    if datatype.startswith("@"):
        return text + datatype
    return f"{text}^^<{datatype}>" if _IRI.fullmatch(datatype) else text
