"""JSON that is no RDF: rows of tables, networks of nodes and links, and forms that programs write."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, cast

from clew.errors import ParseError
from clew.graph.readers.batch import Batch, Tally
from clew.graph.readers.columns import EdgeColumns, NodeColumns, header_words, known_kind, known_layout
from clew.graph.readers.documents import (
    Cells,
    Collections,
    Envelope,
    Object,
    Split,
    are_objects,
    as_text,
    collections_of,
    id_key,
    is_text,
    without,
)
from clew.graph.readers.hints import Hints
from clew.graph.readers.layout import layout_of
from clew.graph.readers.stream import numbered_lines, unpacked_name, whole_file
from clew.graph.readers.survey import (
    MOST_SHOWN,
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
    is_node = is_node and of.keys() <= {"type", "labels", "properties", *_IDS}
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
            said = without(component, "bom-ref", "components", "licenses")
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
    nodes = [without(node, *_CYCLONEDX_LEFT_OUT) for node in nodes]
    return Network(nodes, links, left_out=tuple(dict.fromkeys(parts)))


def _vulnerability(entry: Object, id_: str) -> Object:
    """A vulnerability as a node: of its ratings the values are put together, of its source is the name."""
    ratings: dict[str, list[object]] = {}
    for rating in _values(entry.get("ratings")):
        for key, value in rating.items():
            if not isinstance(value, dict | list):
                ratings.setdefault(key, []).append(value)
    said = without(entry, "id", "bom-ref", "ratings", "affects")
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
            said = without(entry, "SPDXID", *unread)
            nodes.append({ID: entry.get("SPDXID", ""), LABEL: [kind], "name": entry.get("fileName"), **said})
    ends = ("spdxElementId", "relatedSpdxElement", "relationshipType")
    links = [_link(*map(entry.get, ends)) for entry in _values(document.get("relationships"))]
    links = [link for link in links if link[END] not in ("NONE", "NOASSERTION")]
    return Network(nodes, links, left_out=tuple(sorted(left_out)))


# JSON that is no RDF: objects as rows of tables, an object a line, or a network of nodes and links.
#
# Read are the arrays of objects that a document holds at any depth, and what stands within their objects
# (`documents`); `{"nodes": […], "links": […]}` as D3, NetworkX, vis.js, Sigma, Gephi and Cytoscape write it,
# whose ends are ids of nodes, their names or their places from 0; an object a line (`.jsonl`, `.ndjson`); and
# what `known_network` makes a network of. What the columns are is found as in other tables (`survey`).


LEAST_OF_KIND = 0.5
"""The share of the objects of a kind that have a field which others never have."""
_LINKS = ("links", "edges", "relationships")
_NODE_KEYS = ("id", "key", "_id", "name", "label", "title")
_LINES = (".jsonl", ".ndjson")
UNKNOWN_FORM = "the JSON is of a form that is not known"
_ADVICE = (
    "Known are arrays of objects at any depth, an object a line, {nodes, links}, exports of Neo4j (APOC, "
    "Browser), results of SPARQL, CycloneDX, SPDX, and JSON-LD. Give one of these, or a CSV file"
)


@dataclass(frozen=True, slots=True)
class JsonReader:
    """Reader of JSON that is no RDF."""

    name: str = "json"
    suffixes: tuple[str, ...] = (".json", ".geojson", *_LINES)

    def look(self, path: Path, hints: Hints, *, alone: bool) -> list[Table]:
        """Look through the objects of a file, of which those within others are tables of their own.

        A network, which is read as a whole, has none.
        """
        found = _content(path, Tally(on_error="skip", hints=hints))
        return [] if isinstance(found, Network) else _tables_in(path, found, hints, alone=alone)

    def read(self, path: Path, tally: Tally) -> Iterator[Batch]:
        """Stream the batches of `path`; see `Reader`. A fault of a document is fatal even when skipping."""
        found = _content(path, tally)
        if isinstance(found, Network):
            yield from read_network(path, found, tally)
            return
        survey = Survey(tally.hints, {path: _tables_in(path, found, tally.hints, alone=True)})
        survey.settle()
        yield from read_tables(survey.tables, tally)
        if not survey.tables:
            tally.note(f"{path}: there are no rows")
            for _ in chain(*found.objects.values()):  # only faults: they are told
                continue


@dataclass(frozen=True, slots=True)
class _Lines:
    """The objects of a file that has one a line, each time that they are read."""

    path: Path
    tally: Tally

    def __iter__(self) -> Iterator[Object]:
        return _objects_of_lines(self.path, self.tally)


def _content(path: Path, tally: Tally) -> Network | Collections:
    """What a file holds: a network, or arrays of objects."""
    quiet = Tally(on_error="skip", hints=tally.hints)
    if not _is_lines(path, quiet):
        document = _load(path, tally)
    elif is_of_property_graph(next(_objects_of_lines(path, quiet), {})):
        document = list(_objects_of_lines(path, tally))
    else:
        return Collections({"": _Lines(path, tally)})
    # What is around the elements, as Cytoscape writes them, is left out.
    inner = cast(Object, document).get("elements") if isinstance(document, dict) else None
    try:
        networks = (known_network(part) or _network(part) for part in (inner, document))
        network = next(filter(None, networks), None)
    except (AttributeError, KeyError, TypeError) as error:
        reason = f"a part of the JSON is not as its format says ({error!r})"
        raise ParseError(str(path), 0, reason, _ADVICE) from error
    if network is not None:
        return network
    rows = result_rows(document)
    found = collections_of(document) if rows is None else Collections({"": rows}, is_empty=not rows)
    if not found.objects and not found.is_empty:
        raise ParseError(str(path), 0, UNKNOWN_FORM, _ADVICE)
    return found


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


def _parse(text: str) -> Any:  # noqa: ANN401 (any JSON)
    """Parse JSON; numbers stay as they are written. Raises ValueError."""
    try:
        hook = _plain_value if '"$' in text else None
        value = json.loads(
            text, parse_int=str, parse_float=str, parse_constant=lambda _: None, object_hook=hook
        )
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()  # half of a character is no text
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    return value


def _plain_value(fields: Object) -> object:
    """The value of an object that says only its type, as MongoDB writes it: `{"$oid": "5f1a"}`."""
    name, value = next(iter(fields.items()), ("", None))
    return value if len(fields) == 1 and name.startswith("$") else fields


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


def _network(document: object) -> Network | None:
    """A document as a network; None if it is none."""
    if not isinstance(document, dict):
        return None
    fields = cast(Object, document)
    nodes = fields.get("nodes")
    links = next((fields[key] for key in _LINKS if are_objects(fields.get(key))), None)
    if links is None and are_objects(nodes):
        links = _adjacent(cast(Sequence[Object], nodes), fields.get("adjacency"))
    if links is None or not (are_objects(nodes) or nodes in (None, [])):
        return None
    parts = [cast(Sequence[Object], part or ()) for part in (nodes, links)]
    parts = [list(map(Envelope.of(part).open, part)) for part in parts]
    said = layout_of([*parts[1][0]], [], Hints(), headed=True)
    if not parts[0] and (said is None or said.edges is None):  # links of a page to others
        return None
    return Network(*parts, undirected=fields.get("directed") is False)


def _adjacent(nodes: Sequence[Object], lists: object) -> list[Object] | None:
    """The links of NetworkX's adjacency lists: what each node leads to, in the order of the nodes."""
    ends = cast(list[list[Object]], lists) if isinstance(lists, list) else []
    if len(ends) != len(nodes) or not all(are_objects(of) or of == [] for of in ends):
        return None
    pairs = [(node, end) for node, of in zip(nodes, ends, strict=True) for end in of]
    return [{"source": node.get("id"), "target": end.get("id"), **without(end, "id")} for node, end in pairs]


@dataclass(slots=True)
class _Columns:
    """The columns of rows, as they come, and those of lists."""

    at: dict[str, int] = field(default_factory=dict[str, int])
    lists: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, rows: Iterable[Cells]) -> _Columns:
        """Columns for what rows say."""
        columns = cls()
        for name, cell in (item for row in rows for item in row.items()):
            columns.at.setdefault(name, len(columns.at))
            if isinstance(cell, list):
                columns.lists.add(name)
        return columns

    def row(self, cells: Cells) -> list[str]:
        """The cells of a row in the order of the columns."""
        row = [""] * len(self.at)
        for name, cell in cells.items():
            if name in self.at:
                row[self.at[name]] = cell if isinstance(cell, str) else ITEM.join(cell)
        return row


def _tables_in(path: Path, found: Collections, hints: Hints, *, alone: bool) -> list[Table]:
    """Look through the arrays of objects of a file.

    A document is parsed again when it is read: not all of a folder are kept until then.
    """
    kept, is_looked_through = dict(found.objects), False

    def read(name: str, tally: Tally) -> Iterable[Object]:
        if not is_looked_through:
            return kept[name]
        if name not in kept:
            again = _content(path, tally)
            kept.update({} if isinstance(again, Network) else again.objects)
        return kept.pop(name, ())

    tables: list[Table] = []
    for name in found.objects:
        of = path / name.replace("/", " ")
        tables += _tables_of(of, partial(read, name), hints, alone=alone and len(found.objects) == 1)
    kept.clear()
    is_looked_through = True
    if tables and found.left_out:
        names = ", ".join(found.left_out[:MOST_SHOWN]) + ", …" * (len(found.left_out) > MOST_SHOWN)
        outer = min(tables, key=lambda table: len(table.path.parts))
        outer.notes.append(f"left out around the rows ({len(found.left_out):,}): {names}")
    return tables


def _tables_of(
    path: Path, read: Callable[[Tally], Iterable[Object]], hints: Hints, *, alone: bool
) -> list[Table]:
    """Look through objects as rows of a table, and through what is within them before.

    `read` gives them each time; it tells faults.
    """
    quiet = Tally(on_error="skip", hints=hints)
    envelope = Envelope.of(list(islice(read(quiet), SAMPLED_ROWS)))

    def objects(tally: Tally) -> Iterator[Object]:
        return map(envelope.open, read(tally))

    first, called = list(islice(objects(quiet), SAMPLED_ROWS)), path.name.split(".")[0]
    noun = singular(header_words(called) or "row")
    kind = "" if hints.columns else known_kind(hints.known, called) or _kind_of(first)
    known = _known_kind_of(first, hints)
    if known or (kind and not hints.of_table and not hints.known and not _share_ids(first)):
        kinds = dict.fromkeys(as_text(one.get(known or kind)) or "" for one in objects(quiet))
        if 2 * len(kinds) <= SAMPLED_ROWS:  # each is a pass over the file
            return _tables_of_kinds(path, objects, hints, known or kind, list(kinds))
    id_ = id_key(first, noun) if hints.id is None else hints.id * all(is_text(o.get(hints.id)) for o in first)
    split = Split.of(first, "" if hints.columns else id_, noun, kind)  # edges have no rows
    columns = _Columns.of(map(split.row, objects(quiet)))
    split.is_done = True
    if not columns.at:
        return []
    tables = _tables_within(path, split, hints)

    def rows(tally: Tally) -> Iterable[list[str]]:
        return (columns.row(split.row(each)) for each in objects(tally))

    if split.called and not (hints.of_table or hints.known) and id_key(first, "") != id_:
        hints = replace(hints, id=id_)  # the rows within refer to it
    table = _look_at(path, columns, rows, hints, alone=alone)
    if split.left_out:
        names = ", ".join(sorted(split.left_out)[:5])
        table.notes.append(f"objects and lists without a name are left out of: {names}")
    if envelope.marks:
        table.notes.append(f"left out, as the same of all: {', '.join(envelope.marks)}")
    if kind in columns.at and not table.layout.known:
        table = _with_types(table, kind)
    tables[""] = table
    for name, leads in split.leads.items():
        tables[name].leads = {column: tables[to] for column, to in leads.items()}
    for each in tables.values():
        _settle_names(each, {key.strip() for one in first for key in one} if each is table else set())
    return list(tables.values())


def _tables_within(path: Path, split: Split, hints: Hints) -> dict[str, Table]:
    """Look through what stands within objects that were split."""
    tables: dict[str, Table] = {}
    plain = replace(hints, id=None, columns={})
    for name, found in split.found.items():
        inner = [cells for same in found.values() for cells in same]
        inner_columns = _Columns.of(inner)
        inner_rows = list(map(inner_columns.row, inner))
        is_known = known_layout(list(inner_columns.at), hints.known, name) is not None
        key = split.things.get(name, "id" if name in split.nested else None)
        said = hints if is_known else replace(plain, id=key)
        at = path / name.replace("/", " ")
        tables[name] = _look_at(at, inner_columns, lambda _, rows=inner_rows: rows, said)
        tables[name].is_within = name in split.things
    return tables


def _settle_names(table: Table, own: Set[str]) -> None:
    """Name rows by `own` fields before those of what stands within; what leads to a table names none."""
    nodes = table.layout.nodes
    if nodes is not None and not table.layout.known:
        led = {table.header.index(column) for column in table.leads} - {nodes.id, *nodes.key}
        names = tuple(at for at in nodes.names if led.isdisjoint(at))
        names = tuple(at for at in names if any(table.header[i] in own for i in at)) or names
        types = None if nodes.types in led else nodes.types
        properties = tuple(sorted({*nodes.properties, *led}))
        nodes = replace(nodes, names=names, types=types, properties=properties)
        table.layout = replace(table.layout, nodes=nodes)


def _tables_of_kinds(
    path: Path, read: Callable[[Tally], Iterable[Object]], hints: Hints, kind: str, values: Sequence[str]
) -> list[Table]:
    """Look through objects of several kinds that have no ids of one field: those of each kind are a table."""

    def of_kind(value: str, tally: Tally) -> Iterator[Object]:
        said = tally if value == values[0] else Tally(on_error="skip", hints=hints)  # faults are told once
        return (without(one, kind) for one in read(said) if (as_text(one.get(kind)) or "") == value)

    found = (
        _tables_of(path / (v or path.name).replace("/", " "), partial(of_kind, v), hints, alone=False)
        for v in values
    )
    return [table for tables in found for table in tables]


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
        are_kinds = are_kinds and all(is_text(record[key]) for record in records)
        if are_kinds and 2 * len(by_value) <= len(records):
            told[key] = sum(_is_of_some(name, list(by_value.values())) for name in partly)
    best = max(told, key=lambda key: told[key], default="")
    return best if best and 2 * told[best] > len(partly) else ""


def _share_ids(records: Sequence[Object]) -> bool:
    """Whether all objects have one field of ids; where some have one, a name does not stand for it."""
    ids = {key for one in records for key in one if header_words(key) in ("id", "key") and is_text(one[key])}
    return any(all(is_text(one.get(key)) for one in records) for key in ids or ("name",))


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
    return table


def read_network(path: Path, network: Network, tally: Tally) -> Iterator[Batch]:
    """Read the nodes, then the links between them."""
    hints, edges = tally.hints, None
    split = Split()
    said = [list(map(split.row, objects)) for objects in (network.nodes, network.links)]
    nodes, links = map(_Columns.of, said)
    cells, rows = list(map(nodes.row, said[0])), list(map(links.row, said[1]))
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
    if left_out := (*network.left_out, *sorted(split.left_out)):
        tally.note(f"{path}: left out: {', '.join(left_out)}")
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
