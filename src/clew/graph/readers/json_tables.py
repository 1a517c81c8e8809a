"""JSON that is no RDF: rows of a table, networks of nodes and links, and forms that programs write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from clew.errors import ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.columns import EdgeColumns, NodeColumns, header_words, known_kind, known_layout
from clew.graph.readers.hints import Hints
from clew.graph.readers.stream import numbered_lines, unpacked_name, whole_file
from clew.graph.readers.survey import (
    SAMPLED_ROWS,
    NumberedRow,
    Survey,
    Table,
    look_through,
    singular,
    unclear,
)
from clew.graph.readers.table import ITEM, read_tables

# JSON that programs write whose nodes and links are known by the names of its fields.
#
# Exports of Neo4j by APOC (an object a line, an array, by ids) and by its Browser; results of SPARQL, as
# those of the Wikidata Query Service; bills of material by CycloneDX and SPDX.


Object = Mapping[str, Any]
DEEPEST = 12
"""Levels of a result of a query that are looked into for nodes and relationships."""
ID, LABEL, START, END, TYPE = ":ID", ":LABEL", ":START_ID", ":END_ID", ":TYPE"
_IDS = ("id", "identity", "elementId")
"""What the id of a node of Neo4j is called."""
_HALF_NUMBER = re.compile(r"-?[0-9]{1,10}")


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
    if not isinstance(value, dict):
        return False
    of = cast(Object, value)
    is_node = isinstance(of.get("labels"), list) or of.get("type") == "node"
    return (is_node and any(key in of for key in _IDS)) or _is_link(of)


def _is_link(value: Object) -> bool:
    has_ends = "start" in value and "end" in value and "segments" not in value
    return has_ends and ("type" in value or "label" in value)


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
    for part in (cast(Object, _whole(part)) for record in records for part in _parts(record, 0)):
        properties = cast(Object, part.get("properties") or {})
        if not _is_link(part):
            node = {ID: _id(part), LABEL: part.get("labels") or [], **properties}
            if len(node) >= len(nodes.get(_id(part), {})):
                nodes[_id(part)] = node
            continue
        ends = _id(part["start"]), _id(part["end"])
        type_ = part["label"] if part.get("type") == "relationship" else part.get("type")
        key = part.get("identity", part.get("id", part.get("elementId", len(links))))
        links[key] = {**_link(*ends, type_), **properties}
    return Network(list(nodes.values()), list(links.values()))


def _whole(value: object) -> object:
    """A value with the whole numbers that Neo4j's drivers write as two halves: `{"low": 1980, "high": 0}`."""
    if isinstance(value, list):
        return [_whole(item) for item in cast(list[object], value)]
    if not isinstance(value, dict):
        return value
    fields = cast(Object, value)
    if set(fields) == {"low", "high"} and all(_is_half(half) for half in fields.values()):
        return str((int(fields["high"]) << 32) + int(fields["low"]) % (1 << 32))
    return {key: _whole(inner) for key, inner in fields.items()}


def _is_half(value: object) -> bool:
    """Whether a value is a whole number of 32 bits."""
    text = value if isinstance(value, str) else ""
    return _HALF_NUMBER.fullmatch(text) is not None and -(1 << 31) <= int(text) < 1 << 31


def _link(head: object, tail: object, type_: object) -> dict[str, Any]:
    return {START: head, TYPE: type_, END: tail}


def _id(value: object) -> str:
    """The id of a node, or of an end that names one."""
    if not isinstance(value, dict):
        return str(value)
    fields = cast(Object, value)
    return str(next((fields[key] for key in _IDS if key in fields), ""))


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

    def add(components: Iterable[object], kind: str = "component", whole: str | None = None) -> None:
        for component in (cast(Object, each) for each in components if isinstance(each, dict)):
            ref = _ref(component)
            links.extend([] if whole is None else [_link(whole, ref, "contains")])
            licenses = [
                _license(each) for each in _values(component.get("licenses")) if isinstance(each, dict)
            ]
            said = _without(component, "bom-ref", "components", "licenses")
            nodes.append({ID: ref, LABEL: [kind], **said, "licenses": licenses})
            add(_values(component.get("components")), kind, ref)

    main = cast(Object, document.get("metadata") or {}).get("component")
    add((main, *_values(document.get("components"))))
    add(_values(document.get("services")), "service")
    for entry in _values(document.get("dependencies")):
        for relation, key in (("depends on", "dependsOn"), ("provides", "provides")):
            links += [_link(entry.get("ref"), ref, relation) for ref in _values(entry.get(key))]
    for entry in _values(document.get("vulnerabilities")):
        id_ = str(entry.get("id") or entry.get("bom-ref") or "")
        nodes.append(_vulnerability(entry, id_))
        links += [_link(id_, at.get("ref"), "affects") for at in _values(entry.get("affects"))]
    parts = [part for node in nodes for part in _CYCLONEDX_LEFT_OUT if part in node]
    parts += [part for part in document if part not in _CYCLONEDX_READ]
    nodes = [_without(node, *_CYCLONEDX_LEFT_OUT) for node in nodes]
    return Network(nodes, links, left_out=tuple(dict.fromkeys(parts)))


def _without(fields: Object, *names: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in names}


def _vulnerability(entry: Object, id_: str) -> Object:
    """A vulnerability as a node: of its ratings the values are put together, of its source is the name."""
    ratings: dict[str, list[object]] = {}
    for rating in _values(entry.get("ratings")):
        for key, value in rating.items():
            if not isinstance(value, dict | list):
                ratings.setdefault(key, []).append(value)
    said = _without(entry, "id", "bom-ref", "ratings", "affects")
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


def _ref(component: Object) -> str:
    plain = "@".join(str(component[key]) for key in ("group", "name", "version") if component.get(key))
    return str(component.get("bom-ref") or component.get("purl") or plain)


def _license(item: Object) -> str:
    license_ = cast(Object, item.get("license") or {})
    return str(license_.get("id") or license_.get("name") or item.get("expression") or "")


def _spdx(document: Object) -> Network:
    """The document, its packages, files and snippets, and the relationships between them."""
    nodes: list[Object] = [{ID: document["SPDXID"], LABEL: ["document"], "name": document.get("name", "")}]
    unread, left_out = ("checksums", "externalRefs"), set[str]()
    for kind in ("package", "file", "snippet"):
        for entry in _values(document.get(f"{kind}s")):
            left_out |= entry.keys() & {*unread}
            said = _without(entry, "SPDXID", *unread)
            nodes.append({ID: entry.get("SPDXID", ""), LABEL: [kind], "name": entry.get("fileName"), **said})
    ends = ("spdxElementId", "relatedSpdxElement", "relationshipType")
    links = [_link(*map(entry.get, ends)) for entry in _values(document.get("relationships"))]
    links = [link for link in links if link[END] not in ("NONE", "NOASSERTION")]
    return Network(nodes, links, left_out=tuple(sorted(left_out)))


# JSON that is no RDF: objects as rows of a table, an object a line, or a network of nodes and links.
#
# Read are an array of objects; objects under their names (`{"Ann": {…}, "Bob": {…}}`); an object that holds
# one such array beside other things; `{"nodes": […], "links": […]}` as D3, NetworkX, vis.js, Sigma, Gephi and
# Cytoscape write it, whose ends are ids of nodes, their names or their places from 0; an object a line
# (`.jsonl`, `.ndjson`); and what `known_network` makes a network of. What an object of an object says is a
# column of both names (`base HP`), a list is several values, and an object in a list is its name or id. What
# the columns are is found as in other tables (`survey`).


LEAST_OF_KIND = 0.5
"""The share of the objects of a kind that have a field which others never have."""
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
UNKNOWN_FORM = "the JSON is of a form that is not known"
_ADVICE = (
    "Known are an array of objects, an object a line, {nodes, links}, exports of Neo4j (APOC, Browser), "
    "results of SPARQL, CycloneDX, SPDX, and JSON-LD. Give the part that is one of these, or a CSV file"
)


@dataclass(frozen=True, slots=True)
class JsonReader:
    """Reader of JSON that is no RDF."""

    name: str = "json"
    suffixes: tuple[str, ...] = (".json", *_LINES)

    def look(self, path: Path, hints: Hints, *, alone: bool) -> list[Table]:
        """Look through the objects of a file, of which those within others are tables of their own.

        A network, which is read as a whole, has none.
        """
        found = _content(path, Tally(on_error="skip", hints=hints))
        if isinstance(found, Network):
            return []
        return _tables_of(path, found, hints, alone=alone)

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`. A fault of a document is fatal even when skipping."""
        found = _content(path, tally)
        if isinstance(found, Network):
            yield from read_network(path, found, tally)
            return
        survey = Survey(tally.hints, {path: _tables_of(path, found, tally.hints, alone=True)})
        survey.settle()
        yield from read_tables(survey.tables, tally)
        if not survey.tables:
            for _ in found():  # only faults: they are told
                continue


def _content(path: Path, tally: Tally) -> Network | Callable[[], Iterable[Object]]:
    """What a file holds: a network, or what gives its objects, each time that it is called."""
    quiet = Tally(on_error="skip", hints=tally.hints)
    if not _is_lines(path, quiet):
        document = _load(path, tally)
    elif is_of_property_graph(next(_objects_of_lines(path, quiet), {})):
        document = list(_objects_of_lines(path, tally))
    else:
        return lambda: _objects_of_lines(path, tally)
    if isinstance(document, dict):  # what is around it, as Cytoscape writes it, is left out
        inner = cast(Object, document).get("elements")
        document = inner if isinstance(inner, dict | list) else cast(object, document)
    try:
        network = known_network(document) or _network(document)
    except (AttributeError, KeyError, TypeError) as error:
        reason = f"a part of the JSON is not as its format says ({error!r})"
        raise ParseError(str(path), 0, reason, _ADVICE) from error
    if network is not None:
        return network
    rows = result_rows(document)
    objects = _objects(document) if rows is None else rows
    if objects is None:
        raise ParseError(str(path), 0, UNKNOWN_FORM, _ADVICE)
    return lambda: objects


def _objects_in(path: Path, tally: Tally) -> Iterable[Object]:
    """The objects of a file that is no network."""
    found = _content(path, tally)
    return [] if isinstance(found, Network) else found()


def _is_lines(path: Path, quiet: Tally) -> bool:
    """Whether each line of a file is an object of its own."""
    if Path(unpacked_name(path.name)).suffix.lower() in _LINES:
        return True
    lines = list(islice((line for _, line in numbered_lines(path, quiet) if line.strip()), 2))
    with suppress(ValueError):
        return len(lines) == 2 and all(isinstance(_parse(line), dict) for line in lines)
    return False


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character that JSON writes as two."""


def _parse(text: str | bytes) -> Any:  # noqa: ANN401 (any JSON)
    """Parse JSON; numbers stay as they are written. Raises ValueError."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    if _HALF.search(text if isinstance(text, str) else text.decode()):
        json.dumps(value, ensure_ascii=False).encode()  # half of a character is no text
    return value


def _load(path: Path, tally: Tally) -> Any:  # noqa: ANN401 (any JSON)
    data = whole_file(path, tally, "Give it as an object a line (.jsonl)")
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
    if links is None and _are_objects(nodes):
        links = _adjacent(cast(Sequence[Object], nodes), fields.get("adjacency"))
    if links is None or not (_are_objects(nodes) or nodes in (None, [])):
        return None
    parts = [list(map(_without_envelope, cast(Sequence[Object], part or ()))) for part in (nodes, links)]
    return Network(*parts, undirected=fields.get("directed") is False)


def _adjacent(nodes: Sequence[Object], lists: object) -> list[Object] | None:
    """The links of NetworkX's adjacency lists: what each node leads to, in the order of the nodes."""
    ends = cast(list[list[Object]], lists) if isinstance(lists, list) else []
    if len(ends) != len(nodes) or not all(_are_objects(of) or of == [] for of in ends):
        return None
    pairs = [(node, end) for node, of in zip(nodes, ends, strict=True) for end in of]
    return [{"source": node.get("id"), "target": end.get("id"), **_without(end, "id")} for node, end in pairs]


def _without_envelope(record: Object) -> Object:
    """An object with what is in its envelope beside what is around it."""
    for name in _ENVELOPES:
        inner = record.get(name)
        if isinstance(inner, dict):
            return _without(record, *_ENVELOPES) | cast(dict[str, Any], inner)
    return record


def _objects(document: object) -> Sequence[Object] | None:
    """The objects that are rows; None if it is not clear which these are."""
    if _are_objects(document):
        return [_without_envelope(record) for record in cast(list[Object], document)]
    if not isinstance(document, dict):
        return None
    fields = cast(Mapping[str, object], document)
    lists = {name: cast(list[Object], value) for name, value in fields.items() if _are_objects(value)}
    if len(lists) == 1:
        ((name, inner),) = lists.items()
        own = {key for key in _ID_KEYS if _is_text(fields.get(key))}
        has_ids = any(all(_is_text(one.get(key)) for one in inner) for key in own)
        is_tree = has_ids and any(isinstance(one.get(name), list) for one in inner)
        return [fields] if is_tree else _objects(inner)
    if len(fields) > 1 and all(isinstance(value, dict) for value in fields.values()):
        return [{ROW_NAME: name} | cast(dict[str, Any], value) for name, value in fields.items()]
    return None


@dataclass(slots=True)
class _Columns:
    """The columns of objects, as they come; those of lists; what has no place in a cell."""

    at: dict[str, int] = field(default_factory=dict[str, int])
    lists: set[str] = field(default_factory=set[str])
    left_out: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, records: Iterable[Object]) -> _Columns:
        """Columns for what objects say."""
        columns = cls()
        for name, value in (cell for record in records for cell in columns._cells(record)):
            columns.at.setdefault(name, len(columns.at))
            if isinstance(value, list):
                columns.lists.add(name)
        return columns

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
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
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
        """The fields of which each object has an id or a name and says more, at any depth."""
        inner: dict[str, list[Object]] = {}
        strange, level = set[str](), list(records)
        while level:
            found = [(name, part) for record in level for name, part in _parts_of(record, strange)]
            for name, part in found:
                inner.setdefault(name, []).append(part)
            level = [part for _, part in found]
        ids: dict[str, str] = {}
        for name, objects in inner.items():
            id_ = next((key for key in _ID_KEYS if all(_is_text(one.get(key)) for one in objects)), None)
            if name not in strange and id_ is not None and any(len(one) > 1 for one in objects):
                ids[name] = id_
        return cls(ids, {name: {} for name in ids})

    def outer(self, record: Object) -> Object:
        """An object with the ids of what is in it instead of that."""
        for name, id_ in self.ids.items():
            value = record.get(name)
            if isinstance(value, dict):
                record = {**record, name: self._id_of(name, id_, cast(Object, value))}
            elif _are_objects(value):
                objects = cast(list[Object], value)
                record = {**record, name: [self._id_of(name, id_, one) for one in objects]}
        return record

    def _id_of(self, name: str, id_: str, value: Object) -> object:
        """The id of an object that is a thing of its own; else the object."""
        if not _is_text(value.get(id_)):
            return value
        outer = self.outer(value)
        self.found[name].setdefault(json.dumps(outer, sort_keys=True), outer)
        return value[id_]


def _parts_of(record: Object, strange: set[str]) -> Iterator[tuple[str, Object]]:
    """The objects in the fields of an object; names of fields that have something else are `strange`."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield name, cast(Object, value)
        elif _are_objects(value):
            yield from ((name, one) for one in cast(list[Object], value))
        elif value not in (None, []):
            strange.add(name)


def _is_text(value: object) -> bool:
    """Whether a field holds a text, or a number."""
    return isinstance(value, str) and bool(value.strip())


@dataclass(frozen=True, slots=True)
class _Rows:
    """Objects in lists that have no name and no id, as the shows of a tour: rows of tables of their own.

    `id` is the field of the outer objects that rows refer to, `called` the column of that for each list.
    """

    id: str
    called: Mapping[str, str]

    @classmethod
    def of(cls, records: Sequence[Object], things: _Things, id_: str, kind: str, noun: str) -> _Rows:
        """The fields that hold nothing but lists of such objects, where the outer objects have ids."""
        filled = [(name, record) for record in records for name, value in record.items() if value]
        if not id_:
            return cls("", {})
        others = {name for name, record in filled if not _are_objects(record[name])} | things.ids.keys()
        kinds: dict[str, set[object]] = {}
        for name, record in filled:
            if name not in others:
                kinds.setdefault(name, set()).add(record.get(kind, noun))
        return cls(id_, {name: str(*of) if len(of) == 1 else noun for name, of in kinds.items()})

    def outer(self, record: Object) -> Object:
        """An object without them."""
        return _without(record, *self._fields(record))

    def inner(self, records: Iterable[Object], things: _Things) -> dict[str, list[Object]]:
        """The rows of each field, each with the id of the object that it stands in."""
        rows: dict[str, list[Object]] = {name: [] for name in self.called}
        for record in records if rows else ():
            for name in self._fields(record):
                of = {self.called[name]: record[self.id]}
                rows[name] += [{**of, **things.outer(row)} for row in cast(list[Object], record[name])]
        return rows

    def _fields(self, record: Object) -> list[str]:
        """The fields of an object that hold such lists: not what comes otherwise behind the first objects."""
        has_id = _is_text(record.get(self.id))
        return [name for name in self.called if has_id and _are_objects(record.get(name))]


def _tables_of_kinds(
    path: Path, objects: Callable[[], Iterable[Object]], hints: Hints, kind: str, values: Iterable[str]
) -> list[Table]:
    """Look through objects of several kinds that have no ids of one field: those of each kind are a table."""

    def of_kind(value: str, records: Iterable[Object]) -> Iterator[Object]:
        return (_without(one, kind) for one in records if (_text(one.get(kind)) or "") == value)

    tables: list[Table] = []
    for value in values:

        def read(tally: Tally, value: str = value, *, is_first: bool = not tables) -> Iterator[Object]:
            said = tally if is_first else Tally(on_error="skip", hints=tally.hints)  # faults are told once
            return of_kind(value, _objects_in(path, said))

        tables += _tables_of(
            path / (value or path.name), lambda v=value: of_kind(v, objects()), hints, alone=False, read=read
        )
    return tables


def _tables_of(
    path: Path,
    objects: Callable[[], Iterable[Object]],
    hints: Hints,
    *,
    alone: bool,
    read: Callable[[Tally], Iterable[Object]] | None = None,
) -> list[Table]:
    """Look through objects as rows of a table, and through what is within them before.

    `read` gives them anew when it is their turn; without it they are what the file at `path` holds.
    """
    first = list(islice(objects(), SAMPLED_ROWS))
    things, called = _Things.of(first), path.name.split(".")[0]
    kind = "" if hints.columns else known_kind(hints.known, called) or _kind_of(first)
    keys = () if hints.columns else (hints.id,) if hints.id else _ID_KEYS  # edges have no rows
    id_ = next((key for key in keys if all(_is_text(one.get(key)) for one in first)), "")
    known = _known_kind_of(first, hints)
    if known or (kind and not hints.of_table and not hints.known and not _share_ids(first)):
        kinds = dict.fromkeys(_text(one.get(known or kind)) or "" for one in objects())
        if 2 * len(kinds) <= SAMPLED_ROWS:  # each is a pass over the file
            return _tables_of_kinds(path, objects, hints, known or kind, kinds)
    within = _Rows.of(first, things, id_, kind, singular(header_words(called) or "row"))

    def outer(record: Object) -> Object:
        return things.outer(within.outer(record))

    columns = _Columns.of(map(outer, objects()))
    if not columns.at:
        return []
    tables: list[Table] = []
    plain = replace(hints, id=None, columns={})
    for name, found in within.inner(objects(), things).items():
        tables.append(_look_at_objects(path / name, found, plain))
    for name, found in things.found.items():
        inner = list(found.values())
        is_known = known_layout(list(_Columns.of(inner).at), hints.known, name) is not None
        said = hints if is_known else replace(plain, id=things.ids[name])
        tables.append(_look_at_objects(path / name, inner, said))

    def rows(tally: Tally) -> Iterable[list[str]]:
        # A document is parsed again when it is its turn: not all of a folder are kept until then.
        again = _objects_in(path, tally) if read is None else read(tally)
        return (columns.row(outer(each)) for each in again)

    table = _look_at(path, columns, rows, hints, alone=alone)
    is_told = kind in columns.at and not table.layout.known
    return [*tables, _with_types(table, kind) if is_told else table]


def _look_at_objects(path: Path, objects: Sequence[Object], hints: Hints) -> Table:
    """Look through the table of objects that stand within others."""
    columns = _Columns.of(objects)
    cells = list(map(columns.row, objects))
    return _look_at(path, columns, lambda _: cells, hints)


def _kind_of(records: Sequence[Object]) -> str:
    """The field that says what each object is, "" for none: by its values most other fields are there or not.

    It is a word in all objects, whose other fields are mostly not the same, and most of these are in most
    objects of some of its values and in none of the others.
    """
    shared = set.intersection(*(set(record) for record in records)) if records else set[str]()
    partly = {name for record in records for name in record} - shared
    told: dict[str, int] = {}
    for key in sorted(shared) if len(partly) > len(shared) else ():
        by_value: dict[str, list[Object]] = {}
        for record in records:
            by_value.setdefault(str(record[key]), []).append(record)
        are_kinds = len(by_value) > 1 and all(map(_is_word, by_value))
        are_kinds = are_kinds and all(_is_text(record[key]) for record in records)
        if are_kinds and 2 * len(by_value) <= len(records):
            told[key] = sum(_is_of_some(name, list(by_value.values())) for name in partly)
    best = max(told, key=lambda key: told[key], default="")
    return best if best and 2 * told[best] > len(partly) else ""


def _share_ids(records: Sequence[Object]) -> bool:
    """Whether all objects have one field of ids; where some have one, a name does not stand for it."""
    shared = {key for key in _ID_KEYS if all(_is_text(one.get(key)) for one in records)}
    some = {key for key in _ID_KEYS[:-1] if any(_is_text(one.get(key)) for one in records)}
    return bool(shared & some) if some else bool(shared)


def _known_kind_of(records: Sequence[Object], hints: Hints) -> str:
    """The field of which each value is what a known table of a kind is called, "" for none."""
    names = {form.name for form in hints.known}
    shared = set.intersection(*(set(record) for record in records)) if records and names else set[str]()
    return next((key for key in sorted(shared) if all(str(record[key]) in names for record in records)), "")


def _is_word(text: str) -> bool:
    return any(map(str.isalpha, text)) and not any(map(str.isdigit, text))


def _is_of_some(name: str, groups: Sequence[Sequence[Object]]) -> bool:
    """Whether a field is in most objects of some groups, and in none of the others."""
    shares = [sum(name in record for record in group) / len(group) for group in groups]
    return not all(shares) and all(share == 0 or share >= LEAST_OF_KIND for share in shares)


def _look_at(
    path: Path,
    columns: _Columns,
    rows: Callable[[Tally], Iterable[list[str]]],
    hints: Hints,
    *,
    alone: bool = True,
) -> Table:
    """Look through the rows of a table."""
    header = list(columns.at)

    def records(tally: Tally) -> Iterator[NumberedRow]:
        return enumerate(chain([header], rows(tally)))

    table = look_through(path, records, hints, lists=columns.lists, list_mark=ITEM, alone=alone)
    table.unit = "node" if table.layout.edges is None else "edge"
    if columns.left_out:
        names = ", ".join(sorted(columns.left_out)[:5])
        table.notes.append(f"objects and lists without a name are left out of: {names}")
    return table


def read_network(path: Path, network: Network, tally: Tally) -> Iterator[Batch]:
    """Read the nodes, then the links between them."""
    hints, edges = tally.hints, None
    nodes, links = _Columns.of(network.nodes), _Columns.of(network.links)
    cells, rows = list(map(nodes.row, network.nodes)), list(map(links.row, network.links))
    tables: list[Table] = []
    if rows:
        said = replace(hints, id=None, names={})
        tables.append(_look_at(path / "links", links, lambda _: rows, said))
        edges = tables[0].layout.edges
        if edges is None:
            raise unclear(path, 0, list(links.at))
    if cells:
        key = hints.id
        if key is None and ID not in nodes.at:
            key = _put_names(nodes, cells, rows, edges)
        said = replace(hints, id=key, columns={})
        tables.insert(0, _with_types(_look_at(path / "nodes", nodes, lambda _: cells, said)))
    Survey(hints, {path: tables}).settle()
    if network.left_out:
        tally.note(f"{path}: left out: {', '.join(network.left_out)}")
    yield from read_tables(tables, tally, undirected=network.undirected)


_KINDS = ("kind", "node kind", "node type", "entity type")
"""What else a column is called that says what a node is, beside *type*: no name of a file does."""


def _with_types(table: Table, kind: str = "") -> Table:
    """Take the types of nodes from a column of kinds: a given one, else where none is called *type*."""
    nodes = table.layout.nodes
    if nodes is not None and (kind or nodes.types is None):
        types = table.header.index(kind) if kind else _types_of(table, nodes)
        columns = {*nodes.properties} if nodes.types is None else {*nodes.properties, nodes.types}
        if types is not None and types in columns:
            names = tuple(of for of in nodes.names if of != (types,))
            nodes = replace(nodes, types=types, names=names, properties=tuple(sorted(columns - {types})))
            table.layout = replace(table.layout, nodes=nodes)
            table.set_column(types, role="label")
    return table


def _types_of(table: Table, nodes: NodeColumns) -> int | None:
    """The column of kinds: one that all nodes have goes before one of some, *label* only beside names."""
    kinds = [at for at in nodes.properties if header_words(table.header[at]) in _KINDS]
    labels = [at for at in nodes.properties if header_words(table.header[at]) == "label"]
    shared = [at for at in kinds if all(row[at] for row in table.sample)]
    labels = [at for at in labels if nodes.names[:1] != ((at,),) and _are_kinds(table, at)]
    return next(iter((*shared, *labels, *kinds)), None)


def _are_kinds(table: Table, at: int) -> bool:
    """Whether a column has a word for each row, and few different ones."""
    cells = [row[at] for row in table.sample]
    return all(map(_is_word, cells)) and 2 * len(set(cells)) <= len(cells)


def _put_names(
    nodes: _Columns, cells: list[list[str]], links: list[list[str]], ends: EdgeColumns | None
) -> str:
    """The column of nodes that the ends of links name.

    Where these are places in the list of nodes, they become what is in the column, which may be a new one.
    """
    places = () if ends is None else (ends.head, ends.tail)
    end_names = {row[i] for row in links for i in places}
    known_keys = [key for key in dict.fromkeys((*_NODE_KEYS, *nodes.at)) if key in nodes.at]
    values = {key: {row[nodes.at[key]] for row in cells} for key in known_keys}
    unique = [key for key in known_keys if len(values[key]) == len(cells) and "" not in values[key]]
    plain = [key for key in unique if key in _NODE_KEYS]
    for key in plain:
        if end_names <= values[key]:
            return key
    if all(end.isdecimal() and len(end) < 10 and int(end) < len(cells) for end in end_names):
        key = plain[0] if plain else _add_numbers(nodes, cells)
        for row in links:
            for i in places:
                row[i] = cells[int(row[i])][nodes.at[key]]
        return key
    if not known_keys:
        return _add_numbers(nodes, cells)
    return next((key for key in unique if end_names <= values[key]), (*unique, *known_keys)[0])


def _add_numbers(nodes: _Columns, cells: list[list[str]]) -> str:
    """Give nodes their places as ids."""
    nodes.at["id"] = len(nodes.at)
    for number, row in enumerate(cells):
        row.append(str(number))
    return "id"


JSON = JsonReader()
