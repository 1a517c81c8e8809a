"""The schema of a graph as sections of an index, so that it is not counted at every start.

A stored schema names the files of the graph that it was counted from; one of any other graph counts as none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.graph.edit import GraphEdit
from clew.graph.graph import Graph
from clew.index.store.directory import Index
from clew.index.store.files import FileEntry
from clew.index.store.sections import with_prefix, without_prefix
from clew.index.store.writing import IndexWriter

if TYPE_CHECKING:
    from clew.graph.schema import Schema

_LARGE = 1_000_000
"""Triples of a graph whose schema is stored however large it is."""
MOST_BYTES = 1 << 26
"""Bytes that the schema of any other graph may take; a larger one is counted when needed."""
_OF, _TOGETHER = "of", "together"


def write_schema(writer: IndexWriter, graph: Graph) -> None:
    """Count and write the schema of a written graph, if not too large; IndexAccessError, as `schema_of`."""
    # It compiles kernels, which nothing else of a build of few triples needs.
    from clew.graph.schema import schema_of

    sections = schema_arrays(schema_of(graph))
    if graph.triples < _LARGE and sum(array.nbytes for array in sections.values()) > MOST_BYTES:
        return
    _write(writer, sections)


def _write(writer: IndexWriter, sections: dict[str, NDArray[np.generic]]) -> None:
    sections[_OF] = np.frombuffer(_digest(writer.files), np.uint8)
    writer.add_all(with_prefix("schema", sections))


def schema_arrays(schema: Schema) -> dict[str, NDArray[np.generic]]:
    """Give the arrays of a schema by name."""
    arrays = {f.name: getattr(schema, f.name) for f in fields(schema) if f.name != _TOGETHER}
    return arrays | with_prefix(_TOGETHER, schema.together.arrays())


def write_updated_schema(writer: IndexWriter, index: Index, graph: Graph, edit: GraphEdit) -> None:
    """Write the schema of `graph`, which is that of `index` after `edit`; only what changes is counted.

    Raises IndexAccessError.
    """
    from clew.graph.schema import schema_after

    stored = _stored_schema(index)
    if stored is None:
        write_schema(writer, graph)
        return
    changed = edit.changed_nodes(index.graph.nodes)
    _write(writer, schema_arrays(schema_after(stored, index.graph, graph, changed)))


def schema_of_index(index: Index) -> Schema:
    """Give the schema of an index: the stored one, or count it."""
    from clew.graph.schema import schema_of

    return _stored_schema(index) or schema_of(index.graph)


def _stored_schema(index: Index) -> Schema | None:
    """The schema that is stored, of the graph as the files of the index hold it."""
    from clew.graph.schema import COOCCURRENCE_ARRAYS, Cooccurrence, Schema

    arrays = without_prefix("schema", index.sections)
    digest = arrays.get(_OF, np.zeros(0, np.uint8)).tobytes()
    names = [field.name for field in fields(Schema) if field.name != _TOGETHER]
    together = without_prefix(_TOGETHER, arrays)
    if not together.keys() >= set(COOCCURRENCE_ARRAYS):
        return None  # it was counted by an earlier Clew
    if digest != _digest(index.manifest.files) or not arrays.keys() >= set(names):
        return None
    contents: dict[str, Any] = {name: arrays[name] for name in names}
    return Schema(**contents, together=Cooccurrence.of_arrays(together))


def _digest(files: Iterable[FileEntry]) -> bytes:
    """Stand for what a graph's files hold."""
    graph = sorted(repr(entry) for entry in files if entry.section.startswith("graph."))
    return hashlib.blake2b("\n".join(graph).encode(), digest_size=16).digest()
