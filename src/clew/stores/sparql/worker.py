"""The process of `EmbeddedSparql`: runs queries on a folder of pyoxigraph, so that one can be stopped.

Run as `python -P worker.py FOLDER BYTES`; it imports next to nothing of Clew, to be there at once. In: a
line of JSON for each query. Out: a line `MEDIA SIZE`, then so many bytes of results.
"""

from __future__ import annotations

import io
import json
import sys

import pyoxigraph

from clew.workers.memory import limit_memory


def main(folder: str, most: int) -> None:
    """Answer until stdin ends; the process has `most` bytes of memory more than it begins with."""
    store = pyoxigraph.Store.read_only(folder)
    limit_memory(most)
    for line in sys.stdin:
        query = json.loads(line)
        try:
            media, body = _answer(store, query["text"], query["prefixes"])
        except (SyntaxError, ValueError, OSError, MemoryError) as error:
            media, body = "error", f"{type(error).__name__}: {error}".encode()
        sys.stdout.buffer.write(f"{media} {len(body)}\n".encode() + body)
        sys.stdout.buffer.flush()


def _answer(store: pyoxigraph.Store, text: str, prefixes: dict[str, str]) -> tuple[str, bytes]:
    results = store.query(text, prefixes=prefixes)
    body = io.BytesIO()
    if isinstance(results, pyoxigraph.QueryTriples):
        results.serialize(body, pyoxigraph.RdfFormat.N_TRIPLES)
        return "application/n-triples", body.getvalue()
    results.serialize(body, pyoxigraph.QueryResultsFormat.JSON)
    return "application/sparql-results+json", body.getvalue()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
