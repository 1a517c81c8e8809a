"""Graphs of NetworkX: its files (GraphML, GEXF, GML, Pajek), and what Python holds in memory."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from clew.errors import ParseError, UsageError
from clew.foundation.system import require
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.json_tables import Network, read_network
from clew.graph.readers.stream import XmlGuard, whole_file
from clew.graph.readers.table import cell_text, is_list, list_header

# Files of graphs that NetworkX reads: GraphML, GEXF, GML and Pajek, through the extra `networkx`.
#
# Nodes and edges are then read as those of a JSON network: by `label` or `name`, with their attributes. XML
# files are looked at first: elements too deep and entities that grow are refused.


_GEXF_VERSION = re.compile(rb"(?<=xmlns=[\"'])https?://(?:www\.)?gexf\.net/[^\"']*")
_OTHER_ENCODING = re.compile(rb"\s*<\?xml[^>]*encoding=[\"'](?!utf-8)", re.IGNORECASE)
_KNOWN_GEXF = b"http://www.gexf.net/1.2draft"
"""All versions say nodes and edges alike; NetworkX knows them up to this one."""


@dataclass(frozen=True, slots=True)
class NetworkReader:
    """Reader of one format of NetworkX; `mark` is the root of its XML, empty for other text."""

    name: str
    suffixes: tuple[str, ...]
    mark: bytes = b""

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`. A fault of a file is fatal even when skipping."""
        networkx = require("networkx", "networkx")
        data = whole_file(path, tally, "Give it as CSV", XmlGuard(path) if self.mark else None)
        try:
            if not _OTHER_ENCODING.match(data):
                data.decode("utf-8")
            graph = self._parse(networkx, data)
        except UnicodeDecodeError as error:
            raise ParseError(str(path), data[: error.start].count(b"\n") + 1, "invalid UTF-8") from error
        except Exception as error:  # what its parsers meet: KeyError, ValueError, ParseError …
            reason = f"not {self.name}, or damaged ({str(error) or type(error).__name__})"
            advice = "Save it anew, or as CSV of nodes and of edges"
            raise ParseError(str(path), 0, reason[:300], advice) from error
        drawn = ("x", "y", "shape") if self.name == "pajek" else ("graphics", "viz")
        yield from read_network(path, network_of(graph, drawn), tally)

    def _parse(self, networkx: Any, data: bytes) -> Any:  # noqa: ANN401 (a graph of NetworkX)
        if self.name == "graphml":
            return networkx.read_graphml(io.BytesIO(data), force_multigraph=True)
        if self.name == "gexf":
            return networkx.read_gexf(io.BytesIO(_GEXF_VERSION.sub(_KNOWN_GEXF, data)))
        text = data.decode("utf-8-sig")
        return networkx.parse_gml(text, label=None) if self.name == "gml" else networkx.parse_pajek(text)


def network_of(graph: Any, drawn: Sequence[str] = ()) -> Network:  # noqa: ANN401 (a graph of NetworkX)
    """Nodes and edges of a graph of NetworkX with their attributes, but those that only draw it."""

    def said(attributes: dict[Any, Any], *taken: str) -> dict[str, Any]:
        return {str(key): value for key, value in attributes.items() if str(key) not in (*taken, *drawn)}

    nodes = [{"id": node, **said(attributes, "id")} for node, attributes in graph.nodes(data=True)]
    edges = [
        {"source": head, "target": tail, **said(attributes, "source", "target")}
        for head, tail, attributes in graph.edges(data=True)
    ]
    return Network(nodes, edges, undirected=not graph.is_directed())


NETWORKS = (
    NetworkReader("graphml", (".graphml",), b"graphml"),
    NetworkReader("gexf", (".gexf",), b"gexf"),
    NetworkReader("gml", (".gml",)),
    NetworkReader("pajek", (".net", ".paj")),
)


# Triples, graphs of NetworkX and data frames in memory as files that the readers read: one road for all.


LOOKED_AT = 1_000
"""Rows of a frame of which the first list shows that a column has lists."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def write_triples(path: Path, triples: Iterable[tuple[str, str, str]]) -> Path:
    """Write a file of tab-separated triples; raises UsageError for what is none."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("head\trelation\ttail\n")
        for number, triple in enumerate(triples, 1):
            if isinstance(triple, str) or len(triple) != 3:
                raise UsageError(f"triple {number} is {triple!r}. Give (head, relation, tail)")
            file.write("\t".join(_field(part, number, triple) for part in triple) + "\n")
    return path


def write_pairs(path: Path, kind: str, pairs: Mapping[str, Iterable[str]] | None) -> Path | None:
    """Write a side file of types or aliases; None if there are none."""
    if pairs is None:
        return None
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"entity\t{kind}\n")
        for entity, texts in pairs.items():
            if isinstance(texts, str):
                raise UsageError(f"{kind} of {entity!r} is a text. Give a list: {{{entity!r}: [{texts!r}]}}")
            for text in texts:
                file.write(f"{_field(entity, 0, entity)}\t{_field(text, 0, text)}\n")
    return path


def write_network(path: Path, graph: Any) -> Path:  # noqa: ANN401 (a graph of NetworkX)
    """Write a graph of NetworkX as JSON of nodes and links; raises UsageError for what is none."""
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise UsageError(f"{type(graph).__name__} is no graph of NetworkX")
    network = network_of(graph)
    fields = {"directed": not network.undirected, "nodes": network.nodes, "links": network.links}
    path.write_text(json.dumps(fields, default=cell_text), "utf-8")
    return path


def write_frames(folder: Path, frames: Mapping[str, Any]) -> Path:
    """Write data frames of pandas or polars as tables in a folder, by their names; UsageError for others."""
    folder.mkdir()
    for name, frame in frames.items():
        if not name or not set("/\\\0").isdisjoint(name) or name.startswith("."):
            raise UsageError(f"{name!r} is no name of a table. Give one as in {{'films': frame}}")
        if not hasattr(frame, "columns") or not (hasattr(frame, "iter_rows") or hasattr(frame, "itertuples")):
            raise UsageError(f"{name} is no data frame of pandas or polars, but {type(frame).__name__}")
        if len(frame) == 0:
            raise UsageError(f"{name} has no rows. Give a frame with rows, one column of which names them")
        is_polars = hasattr(frame, "iter_rows")
        rows = frame.iter_rows if is_polars else partial(frame.itertuples, index=False, name=None)
        lists = {at for row in islice(rows(), LOOKED_AT) for at, value in enumerate(row) if is_list(value)}
        header = [str(column) for column in frame.columns]
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(list_header(cell) if at in lists else cell for at, cell in enumerate(header))
            writer.writerows([cell_text(value) for value in row] for row in rows())
    return folder


def _field(part: object, number: int, source: object) -> str:
    if not isinstance(part, str | int | float) or not str(part).strip():
        place = f"triple {number}, {source!r}" if number else repr(source)
        raise UsageError(f"{place}: {part!r} is no name. Give texts that are not empty")
    return str(part).encode("utf-8", "replace").decode("utf-8").translate(_ESCAPES)
