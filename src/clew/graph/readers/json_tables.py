"""JSON that is no RDF: rows of a table, networks of nodes and links, and forms that programs write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from clew.errors import InputError, ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.columns import EdgeColumns, known_layout
from clew.graph.readers.hints import Hints
from clew.graph.readers.stream import ByteSource, numbered_lines, unpacked_name
from clew.graph.readers.survey import SAMPLED_ROWS, NumberedRow, Survey, Table, look_through, unclear
from clew.graph.readers.table import batches_of

# JSON that programs write whose nodes and links are known by the names of its fields.
#
# Exports of Neo4j by APOC (an object a line, an array, by ids) and by its Browser; results of SPARQL, as
# those of the Wikidata Query Service; bills of material by CycloneDX and SPDX.


Object = Mapping[str, Any]
DEEPEST = 12
"""Levels of a result of a query that are looked into for nodes and relationships."""
ID, LABEL, START, END, TYPE = ":ID", ":LABEL", ":START_ID", ":END_ID", ":TYPE"


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes, which may be none, and links; `undirected`: links have no direction.

    `left_out` are parts of the document that are not read.
    """

    nodes: Sequence[Object]
    links: Sequence[Object]
    undirected: bool = False
    left_out: tuple[str, ...] = ()


def known_network(document: object) -> Network | None:
    """A document as a network, if it is of a known form."""
    if isinstance(document, dict):
        fields = cast(Object, document)
        if fields.get("bomFormat") == "CycloneDX":
            return _cyclonedx(fields)
        if "spdxVersion" in fields and "SPDXID" in fields:
            return _spdx(fields)
        if isinstance(fields.get("rels"), dict | list):
            return _property_graph([*_values(fields.get("nodes")), *_values(fields["rels"])])
        return None
    records = [record for record in _values(document) if isinstance(record, dict)]
    if records and any(is_of_property_graph(part) for record in records[:5] for part in _parts(record, 0)):
        return _property_graph(records)
    return None


def is_of_property_graph(value: object) -> bool:
    """Whether an object is a node or a relationship as APOC or Neo4j's Browser writes it."""
    return isinstance(value, dict) and (_is_node(cast(Object, value)) or _is_link(cast(Object, value)))


def _is_node(value: Object) -> bool:
    has_id = any(key in value for key in ("id", "identity", "elementId"))
    return has_id and (isinstance(value.get("labels"), list) or value.get("type") == "node")


def _is_link(value: Object) -> bool:
    return (
        "start" in value
        and "end" in value
        and ("type" in value or "label" in value)
        and "segments" not in value
    )


def _values(value: object) -> list[Any]:
    if isinstance(value, dict):
        return list(cast(Mapping[str, Any], value).values())
    return cast(list[Any], value) if isinstance(value, list) else []


def _parts(value: object, depth: int) -> Iterator[Object]:
    """All objects of a value that may be nodes or relationships; what is in one of these is none."""
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    if is_of_property_graph(value):
        yield cast(Object, value)
        if not _is_link(cast(Object, value)):
            return
    for inner in _values(cast(object, value)):
        yield from _parts(inner, depth + 1)


def _property_graph(records: Sequence[object]) -> Network:
    """Nodes and relationships, each once, by their ids; an end tells what it says of its node."""
    nodes: dict[str, Object] = {}
    links: dict[object, Object] = {}
    for part in (part for record in records for part in _parts(record, 0)):
        properties = cast(Object, part.get("properties") or {})
        if not _is_link(part):
            node = {ID: _id(part), LABEL: part.get("labels") or [], **properties}
            if len(node) >= len(nodes.get(_id(part), {})):
                nodes[_id(part)] = node
            continue
        ends = _id(part["start"]), _id(part["end"])
        type_ = part["label"] if part.get("type") == "relationship" else part.get("type")
        key = part.get("identity", part.get("id", part.get("elementId", len(links))))
        links[key] = {START: ends[0], TYPE: type_, END: ends[1], **properties}
    return Network(list(nodes.values()), list(links.values()))


def _id(value: object) -> str:
    """The id of a node, or of an end that names one."""
    if not isinstance(value, dict):
        return str(value)
    fields = cast(Object, value)
    return str(next((fields[key] for key in ("id", "identity", "elementId") if key in fields), ""))


def result_rows(document: object) -> list[Object] | None:
    """The rows of results of SPARQL as JSON; None if a document is none."""
    results = cast(Object, document).get("results") if isinstance(document, dict) else None
    bindings = cast(Object, results).get("bindings") if isinstance(results, dict) else None
    if not isinstance(bindings, list):
        return None
    rows = [cast(Mapping[str, Object], row) for row in cast(list[object], bindings) if isinstance(row, dict)]
    return [{name: value.get("value", "") for name, value in row.items()} for row in rows]


def _cyclonedx(document: Object) -> Network:
    """Components and vulnerabilities; what depends on what, and what is affected."""
    nodes: list[Object] = []
    links: list[Object] = []

    def add(component: Object) -> None:
        inner = _values(component.get("components"))
        said = {key: value for key, value in component.items() if key not in _CYCLONEDX_PARTS}
        licenses = [_license(item) for item in _values(component.get("licenses")) if isinstance(item, dict)]
        nodes.append(
            {ID: _ref(component), LABEL: [component.get("type", "component")], **said, "licenses": licenses}
        )
        for part in (part for part in inner if isinstance(part, dict)):
            links.append({START: _ref(component), TYPE: "contains", END: _ref(part)})
            add(part)

    main = cast(Object, document.get("metadata") or {}).get("component")
    for component in (main, *_values(document.get("components")), *_values(document.get("services"))):
        if isinstance(component, dict):
            add(cast(Object, component))
    for entry in _values(document.get("dependencies")):
        for relation, key in (("depends on", "dependsOn"), ("provides", "provides")):
            links += [{START: entry.get("ref"), TYPE: relation, END: ref} for ref in _values(entry.get(key))]
    for entry in _values(document.get("vulnerabilities")):
        id_ = str(entry.get("id") or entry.get("bom-ref") or "")
        nodes.append(_vulnerability(entry, id_))
        links += [{START: id_, TYPE: "affects", END: at.get("ref")} for at in _values(entry.get("affects"))]
    parts = [part for node in nodes for part in _CYCLONEDX_LEFT_OUT if part in node]
    nodes = [{key: value for key, value in node.items() if key not in _CYCLONEDX_LEFT_OUT} for node in nodes]
    left_out = [key for key in document if key not in _CYCLONEDX_READ]
    return Network(nodes, links, left_out=tuple(dict.fromkeys([*parts, *left_out])))


def _vulnerability(entry: Object, id_: str) -> Object:
    """A vulnerability as a node: of its ratings the values are put together, of its source is the name."""
    ratings: dict[str, list[object]] = {}
    for rating in _values(entry.get("ratings")):
        for key, value in rating.items():
            if not isinstance(value, dict | list):
                ratings.setdefault(key, []).append(value)
    said = {key: value for key, value in entry.items() if key not in ("id", "bom-ref", "ratings", "affects")}
    source = said.get("source")
    if isinstance(source, dict):
        source = cast(Object, source)
        said |= {"source": source.get("name"), "source url": source.get("url")}
    values = {key: list(dict.fromkeys(of)) if len(set(of)) > 1 else of[0] for key, of in ratings.items()}
    return {ID: id_, LABEL: ["vulnerability"], "name": id_, **said, **values}


_CYCLONEDX_READ = (
    *("$schema", "bomFormat", "specVersion", "serialNumber", "version", "metadata"),
    *("components", "services", "dependencies", "vulnerabilities"),
)
_CYCLONEDX_LEFT_OUT = ("hashes", "externalReferences", "evidence", "pedigree")
_CYCLONEDX_PARTS = ("bom-ref", "type", "components", "licenses")


def _ref(component: Object) -> str:
    plain = "@".join(str(component[key]) for key in ("group", "name", "version") if component.get(key))
    return str(component.get("bom-ref") or component.get("purl") or plain)


def _license(item: Object) -> str:
    license_ = cast(Object, item.get("license") or {})
    return str(license_.get("id") or license_.get("name") or item.get("expression") or "")


def _spdx(document: Object) -> Network:
    """The document, its packages, files and snippets, and the relationships between them."""
    nodes: list[Object] = [{ID: document["SPDXID"], LABEL: ["document"], "name": document.get("name", "")}]
    entries: list[Object] = []
    for kind in ("package", "file", "snippet"):
        for entry in _values(document.get(f"{kind}s")):
            entries.append(entry)
            said = {
                key: value
                for key, value in entry.items()
                if key not in ("SPDXID", "checksums", "externalRefs")
            }
            nodes.append({ID: entry.get("SPDXID", ""), LABEL: [kind], "name": entry.get("fileName"), **said})
    links = [
        {
            START: entry.get("spdxElementId"),
            TYPE: entry.get("relationshipType"),
            END: entry.get("relatedSpdxElement"),
        }
        for entry in _values(document.get("relationships"))
    ]
    left_out = [part for part in ("checksums", "externalRefs") if any(part in e for e in entries)]
    links = [link for link in links if link[END] not in ("NONE", "NOASSERTION")]
    return Network(nodes, links, left_out=tuple(left_out))


# JSON that is no RDF: objects as rows of a table, an object a line, or a network of nodes and links.
#
# Read are an array of objects; objects under their names (`{"Ann": {…}, "Bob": {…}}`); an object that holds
# one such array beside other things; `{"nodes": […], "links": […]}` as D3, NetworkX, vis.js, Sigma, Gephi and
# Cytoscape write it, whose ends are ids of nodes, their names or their places from 0; an object a line
# (`.jsonl`, `.ndjson`); and what `known_json` makes a network of. What an object of an object says is a
# column of both names (`base HP`), a list is several values, and an object in a list is its name or id. What
# the columns are is found as in other tables (`survey`).


MOST_DOCUMENT_BYTES = 256 << 20
"""Bytes of a document, which is read as a whole; lines of objects may be more."""
ITEM = "\x1f"
"""What stands between the values of a list within a cell."""
ROW_NAME = "name"
"""The column of what objects are called that stand under their names."""
_ENVELOPES = ("data", "attributes", "properties")
"""Under which Cytoscape, Sigma and GeoJSON keep what a node or an edge says."""
_LINKS = ("links", "edges", "relationships")
_NODE_KEYS = ("id", "key", "_id", "name", "label", "title")
_ID_KEYS = ("id", "_id", "key", "name")
"""By which an object within another is a thing of its own."""
_NAME_KEYS = ("name", "label", "title", "id")
_LINES = (".jsonl", ".ndjson")
_ADVICE = (
    "Known are an array of objects, an object a line, {nodes, links}, exports of Neo4j (APOC, Browser), "
    "results of SPARQL, CycloneDX, SPDX, and JSON-LD. Give the part that is one of these, or a CSV file"
)


@dataclass(frozen=True, slots=True)
class JsonReader:
    """Reader of JSON that is no RDF."""

    name: str = "json"
    suffixes: tuple[str, ...] = (".json", *_LINES)
    most_bytes: int = MOST_DOCUMENT_BYTES

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`. A fault of a document is fatal even when skipping."""
        if is_lines(path, tally.hints):
            first = next(_objects_of_lines(path, Tally(on_error="skip", hints=tally.hints)), {})
            if not is_of_property_graph(first):
                yield from _read_objects(
                    path, lambda lines_tally: _objects_of_lines(path, lines_tally), tally
                )
                return
            document: object = list(_objects_of_lines(path, tally))
        else:
            document = _load(path, tally, self.most_bytes)
        yield from read_document(path, document, tally)


def read_document(path: Path, document: object, tally: Tally) -> Iterator[Batch]:
    """Stream the batches of parsed JSON; raises ParseError if its form is not known."""
    if isinstance(document, dict):  # what is around it, as Cytoscape writes it, is left out
        inner = cast(Object, document).get("elements")
        document = inner if isinstance(inner, dict | list) else cast(object, document)
    try:
        network = known_network(document) or _network(document)
    except (AttributeError, KeyError, TypeError) as error:
        raise ParseError(
            str(path), 0, f"a part of the JSON is not as its format says ({error!r})", _ADVICE
        ) from error
    if network is not None:
        yield from read_network(path, network, tally)
        return
    objects = result_rows(document)
    if objects is None:
        objects = _objects(document)
    if objects is None:
        raise ParseError(str(path), 0, "the JSON is of a form that is not known", _ADVICE)
    yield from _read_objects(path, lambda _: iter(objects), tally)


def is_lines(path: Path, hints: Hints) -> bool:
    """Whether each line of a file is an object of its own."""
    if Path(unpacked_name(path.name)).suffix.lower() in _LINES:
        return True
    numbered = numbered_lines(path, Tally(on_error="skip", hints=hints))
    lines = list(islice((line for _, line in numbered if line.strip()), 2))
    with suppress(ValueError):
        return len(lines) == 2 and all(isinstance(_parse(line), dict) for line in lines)
    return False


def _parse(text: str | bytes) -> Any:  # noqa: ANN401 (any JSON)
    """Parse JSON; numbers stay as they are written. Raises ValueError."""
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error


def _load(path: Path, tally: Tally, most: int) -> Any:  # noqa: ANN401 (any JSON)
    data = bytearray()
    with ByteSource(path, tally) as source:
        while chunk := source.read():
            data += chunk
            if len(data) > most:
                raise InputError(
                    f"{path}: more than {most >> 20} MiB of JSON. Give it as an object a line (.jsonl)"
                )
    try:
        return _parse(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ParseError(str(path), line, "invalid UTF-8", "Convert the file to UTF-8") from error
    except json.JSONDecodeError as error:
        raise ParseError(str(path), error.lineno, f"broken JSON: {error.msg}", "Correct the file") from error
    except ValueError as error:
        raise ParseError(str(path), 0, f"broken JSON: {error}", "Correct the file") from error


def _objects_of_lines(path: Path, tally: Tally) -> Iterator[Object]:
    for number, line in numbered_lines(path, tally):
        if not line.strip():
            tally.blank += 1
            continue
        try:
            value = _parse(line)
        except ValueError as error:
            tally.error(ParseError(str(path), number, f"broken JSON: {error}", "Correct the line"))
            continue
        if isinstance(value, dict):
            yield cast(Object, value)
        else:
            tally.error(ParseError(str(path), number, "the line is no object", "Correct the line"))


def _are_objects(value: object) -> bool:
    items = cast(list[object], value) if isinstance(value, list) else []
    return bool(items) and all(isinstance(v, dict) for v in items)


def _network(document: object) -> Network | None:
    """A document as a network; None if it is none."""
    if not isinstance(document, dict):
        return None
    fields = cast(Object, document)
    nodes = fields.get("nodes")
    links = next((fields[key] for key in _LINKS if _are_objects(fields.get(key))), None)
    if links is None or not (_are_objects(nodes) or nodes in (None, [])):
        return None
    parts = [
        [_without_envelope(record) for record in cast(Sequence[Object], part or ())]
        for part in (nodes, links)
    ]
    return Network(*parts, undirected=fields.get("directed") is False)


def _without_envelope(record: Object) -> Object:
    """An object with what is in its envelope beside what is around it."""
    for name in _ENVELOPES:
        inner = record.get(name)
        if isinstance(inner, dict):
            outer = {key: value for key, value in record.items() if key not in _ENVELOPES}
            return outer | cast(dict[str, Any], inner)
    return record


def _objects(document: object) -> Sequence[Object] | None:
    """The objects that are rows; None if it is not clear which these are."""
    if _are_objects(document):
        return [_without_envelope(record) for record in cast(list[Object], document)]
    if not isinstance(document, dict):
        return None
    fields = cast(Mapping[str, object], document)
    lists = [value for value in fields.values() if _are_objects(value)]
    if len(lists) == 1:
        return _objects(lists[0])
    if len(fields) > 1 and all(isinstance(value, dict) for value in fields.values()):
        return [{ROW_NAME: name} | cast(dict[str, Any], value) for name, value in fields.items()]
    return None


@dataclass(slots=True)
class _Columns:
    """The columns of objects, as they come; those of lists; what has no place in a cell."""

    at: dict[str, int] = field(default_factory=dict[str, int])
    lists: set[str] = field(default_factory=set[str])
    left_out: set[str] = field(default_factory=set[str])

    def notice(self, record: Object) -> None:
        """Make columns for what an object says."""
        for name, value in self._cells(record):
            self.at.setdefault(name, len(self.at))
            if isinstance(value, list):
                self.lists.add(name)

    def row(self, record: Object) -> list[str]:
        """The cells of an object."""
        cells = [""] * len(self.at)
        for name, value in self._cells(record):
            if name in self.at:
                cells[self.at[name]] = value if isinstance(value, str) else ITEM.join(value)
        return cells

    def _cells(self, record: Object, prefix: str = "") -> Iterator[tuple[str, str | list[str]]]:
        for key, value in record.items():
            name = f"{prefix} {key.strip()}".strip()
            if isinstance(value, dict):
                yield from self._cells(cast(Object, value), name)
            elif isinstance(value, list):
                items = [_text(item) for item in cast(list[object], value)]
                if None in items:
                    self.left_out.add(name)
                yield name, [item for item in items if item]
            else:
                yield name, _text(value) or ""


def _text(value: object) -> str | None:
    """A value as the text of a cell, of an object its name; None if it has none."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        fields = cast(Object, value)
        return next((text for key in _NAME_KEYS if (text := fields.get(key)) and isinstance(text, str)), None)
    return None if isinstance(value, list) else " ".join(str(value).split())


@dataclass(frozen=True, slots=True)
class _Things:
    """Objects within others that are things of their own, as the customer of an order.

    `ids` are the fields that say which thing it is, `found` the objects, both by the names under which they
    stand.
    """

    ids: Mapping[str, str]
    found: Mapping[str, dict[str, Object]]

    @classmethod
    def of(cls, records: Iterable[Object]) -> _Things:
        """The fields of which each object has an id or a name and says more."""
        inner: dict[str, list[object]] = {}
        for record in records:
            for name, value in record.items():
                inner.setdefault(name, []).append(value)
        ids: dict[str, str] = {}
        for name, values in inner.items():
            said = [value for value in values if value is not None]
            if _are_objects(said):
                objects = cast(list[Object], said)
                id_ = next((key for key in _ID_KEYS if all(_is_text(one.get(key)) for one in objects)), None)
                if id_ is not None and any(len(one) > 1 for one in objects):
                    ids[name] = id_
        return cls(ids, {name: {} for name in ids})

    def outer(self, record: Object) -> Object:
        """An object with the ids of what is in it instead of that."""
        for name, id_ in self.ids.items():
            value = record.get(name)
            if isinstance(value, dict) and _is_text(inner := cast(Object, value).get(id_)):
                self.found[name].setdefault(json.dumps(value, sort_keys=True), cast(Object, value))
                record = {**record, name: inner}
        return record


def _is_text(value: object) -> bool:
    """Whether a field holds a text, or a number."""
    return isinstance(value, str) and bool(value.strip())


def _read_objects(path: Path, objects: Callable[[Tally], Iterator[Object]], tally: Tally) -> Iterator[Batch]:
    """Read objects as rows of a table, of which they are asked for columns, types and the rows.

    What is within them is a table of its own if it has names.
    """
    quiet, hints = Tally(on_error="skip", hints=tally.hints), tally.hints
    things = _Things.of(islice(objects(quiet), SAMPLED_ROWS))

    def outer(read: Tally) -> Iterator[Object]:
        return map(things.outer, objects(read))

    columns = _columns_of(outer(quiet))
    if not columns.at:
        return
    survey = Survey(hints, {path: _look_at(path, columns, map(columns.row, outer(quiet)), hints)})
    inner: dict[str, tuple[_Columns, list[list[str]]]] = {}
    for name, found in things.found.items():
        inner_columns = _columns_of(found.values())
        rows = [inner_columns.row(record) for record in found.values()]
        header = list(inner_columns.at)
        said = (
            hints
            if known_layout(header, hints.known, name)
            else replace(hints, id=things.ids[name], columns={})
        )
        survey.tables[path / name] = _look_at(path / name, inner_columns, rows, said)
        inner[name] = inner_columns, rows
    survey.settle()
    for name, (inner_columns, rows) in inner.items():
        yield from _read_rows(path / name, inner_columns, survey.tables[path / name], rows, tally)
    yield from _read_rows(path, columns, survey.tables[path], map(columns.row, outer(tally)), tally)


def _look_at(path: Path, columns: _Columns, rows: Iterable[list[str]], hints: Hints) -> Table:
    """Look through rows; raises ParseError if it is not clear what their columns are."""
    header = list(columns.at)
    table = look_through(path, enumerate(chain([header], rows)), hints, lists=columns.lists, list_mark=ITEM)
    if table.layout is None:
        raise unclear(path, 0, header)
    return table


def _read_rows(
    path: Path,
    columns: _Columns,
    table: Table,
    rows: Iterable[list[str]],
    tally: Tally,
    *,
    undirected: bool = False,
) -> Iterator[Batch]:
    layout = table.layout
    if layout is None:
        return
    tally.note(f"{path}: {layout.in_words()}")
    for note in table.notes:
        tally.note(f"{path}: {note}")
    tally.take_form(table)
    numbered: Iterable[NumberedRow] = enumerate(rows, 1)
    if undirected and layout.edges is not None:
        # A direction that says of each link that it has none.
        numbered = ((number, [*cells, "undirected"]) for number, cells in numbered)
        edges = replace(layout.edges, direction=len(layout.columns))
        layout = replace(layout, columns=(*layout.columns, replace(layout.columns[0], name="")), edges=edges)
    yield from batches_of(path, layout, numbered, tally, "node" if layout.edges is None else "edge")
    if columns.left_out:
        names = ", ".join(sorted(columns.left_out)[:5])
        tally.note(f"{path}: objects and lists without a name are left out of: {names}")


def read_network(path: Path, network: Network, tally: Tally) -> Iterator[Batch]:
    """Read the nodes, then the links between them."""
    hints, survey = tally.hints, Survey(tally.hints)
    links, rows = _columns_of(network.links), list[list[str]]()
    if network.links:
        rows = [links.row(link) for link in network.links]
        survey.tables[path / "links"] = table = _look_at(path, links, rows, replace(hints, id=None, names={}))
        if table.layout is None or table.layout.edges is None:
            raise unclear(path, 0, list(links.at))
    nodes, cells = _columns_of(network.nodes), list[list[str]]()
    if network.nodes:
        cells = [nodes.row(node) for node in network.nodes]
        key = hints.id
        if key is None and ":ID" not in nodes.at:
            edges = next((t.layout.edges for t in survey.tables.values() if t.layout is not None), None)
            key = _put_names(nodes, cells, rows, edges)
        survey.tables[path / "nodes"] = _look_at(path, nodes, cells, replace(hints, id=key, columns={}))
    survey.settle()
    if network.left_out:
        tally.note(f"{path}: left out: {', '.join(network.left_out)}")
    for part, columns, part_rows in (("nodes", nodes, cells), ("links", links, rows)):
        if path / part in survey.tables:
            undirected = network.undirected and part == "links"
            yield from _read_rows(
                path, columns, survey.tables[path / part], part_rows, tally, undirected=undirected
            )


def _columns_of(objects: Iterable[Object]) -> _Columns:
    columns = _Columns()
    for record in objects:
        columns.notice(record)
    return columns


def _put_names(
    nodes: _Columns, cells: list[list[str]], links: list[list[str]], ends: EdgeColumns | None
) -> str:
    """The column of nodes that the ends of links name.

    Where these are places in the list of nodes, they become what is in the column, which may be a new one.
    """
    places = () if ends is None else (ends.head, ends.tail)
    end_names = {row[i] for row in links for i in places}
    known_keys = [key for key in dict.fromkeys((*_NODE_KEYS, *nodes.at)) if key in nodes.at]
    values = {key: [row[nodes.at[key]] for row in cells] for key in known_keys}
    unique = [key for key in known_keys if len(set(values[key])) == len(cells) and all(values[key])]
    plain = [key for key in unique if key in _NODE_KEYS]
    for key in plain:
        if end_names <= set(values[key]):
            return key
    if all(end.isdecimal() and len(end) < 10 and int(end) < len(cells) for end in end_names):
        key = plain[0] if plain else _add_numbers(nodes, cells)
        for row in links:
            for i in places:
                row[i] = cells[int(row[i])][nodes.at[key]]
        return key
    if not known_keys:
        return _add_numbers(nodes, cells)
    return next((key for key in unique if end_names <= set(values[key])), (*unique, *known_keys)[0])


def _add_numbers(nodes: _Columns, cells: list[list[str]]) -> str:
    """Give nodes their places as ids."""
    nodes.at["id"] = len(nodes.at)
    for number, row in enumerate(cells):
        row.append(str(number))
    return "id"


JSON = JsonReader()
