"""Files of graphs that NetworkX reads: GraphML, GEXF, GML and Pajek, through the extra `networkx`.

Nodes and edges are then read as those of a JSON network: by `label` or `name`, with their attributes. XML
files are looked at first: elements too deep and entities that grow are refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.errors import InputError, MissingExtra, ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.json_tables import read_network
from clew.graph.readers.known_json import Network
from clew.graph.readers.stream import ByteSource
from clew.graph.readers.xml_guards import DepthGuard, EntityGuard

MOST_BYTES = 256 << 20
"""Bytes of a file, which is read as a whole."""
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
        try:
            import networkx
        except ImportError as error:
            raise MissingExtra("networkx", "networkx") from error
        data = self._bytes(path, tally)
        try:
            if not _OTHER_ENCODING.match(data):
                data.decode("utf-8")
            graph = self._parse(networkx, data)
        except UnicodeDecodeError as error:
            raise ParseError(str(path), data[: error.start].count(b"\n") + 1, "invalid UTF-8") from error
        except (
            Exception
        ) as error:  # NetworkX raises what its parsers meet: KeyError, ValueError, ParseError …
            reason = f"not {self.name}, or damaged ({str(error) or type(error).__name__})"
            raise ParseError(
                str(path), 0, reason[:300], "Save it anew, or as CSV of nodes and of edges"
            ) from error
        drawn = ("x", "y", "shape") if self.name == "pajek" else ("graphics", "viz")
        yield from read_network(path, network_of(graph, drawn), tally)

    def _bytes(self, path: Path, tally: Tally) -> bytes:
        """All bytes of a file; raises InputError for one that is too large, or may fill the memory."""
        data, depth, entities = bytearray(), DepthGuard(), EntityGuard(path)
        with ByteSource(path, tally) as source:
            while chunk := source.read():
                data += chunk
                fault = depth.take(chunk) if self.mark else ""
                if self.mark:
                    entities.take(chunk)
                if fault or len(data) > MOST_BYTES:
                    raise InputError(
                        f"{path}: {fault or f'more than {MOST_BYTES >> 20} MiB'}. Give it as CSV"
                    )
        if self.mark:
            entities.take(b"")
        return bytes(data)

    def _parse(self, networkx: Any, data: bytes) -> Any:  # noqa: ANN401 (a graph of NetworkX)
        if self.name == "graphml":
            return networkx.read_graphml(io.BytesIO(data), force_multigraph=True)
        if self.name == "gexf":
            return networkx.read_gexf(io.BytesIO(_GEXF_VERSION.sub(_KNOWN_GEXF, data)))
        text = data.decode("utf-8-sig")
        if self.name == "gml":
            return networkx.parse_gml(text, label=None)
        return networkx.parse_pajek(text)


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


GRAPHML = NetworkReader("graphml", (".graphml",), b"graphml")
GEXF = NetworkReader("gexf", (".gexf",), b"gexf")
GML = NetworkReader("gml", (".gml",))
PAJEK = NetworkReader("pajek", (".net", ".paj"))
NETWORKS = (GRAPHML, GEXF, GML, PAJEK)
