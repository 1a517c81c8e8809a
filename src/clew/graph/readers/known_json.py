"""JSON that programs write whose nodes and links are known by the names of its fields.

Exports of Neo4j by APOC (an object a line, an array, by ids) and by its Browser; results of SPARQL, as those
of the Wikidata Query Service; bills of material by CycloneDX and SPDX.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

Object = Mapping[str, Any]
DEEPEST = 12
"""Levels of a result of a query that are looked into for nodes and relationships."""
ID, LABEL, START, END, TYPE = ":ID", ":LABEL", ":START_ID", ":END_ID", ":TYPE"


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes, which may be none, and links; `undirected`: links have no direction."""

    nodes: Sequence[Object]
    links: Sequence[Object]
    undirected: bool = False


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
        nodes.append(
            {ID: entry.get("id", ""), LABEL: ["vulnerability"], "description": entry.get("description")}
        )
        links += [
            {START: entry.get("id"), TYPE: "affects", END: at.get("ref")}
            for at in _values(entry.get("affects"))
        ]
    return Network(nodes, links)


_CYCLONEDX_PARTS = (
    "bom-ref",
    "type",
    "components",
    "licenses",
    "hashes",
    "externalReferences",
    "evidence",
    "pedigree",
)


def _ref(component: Object) -> str:
    plain = "@".join(str(component[key]) for key in ("group", "name", "version") if component.get(key))
    return str(component.get("bom-ref") or component.get("purl") or plain)


def _license(item: Object) -> str:
    license_ = cast(Object, item.get("license") or {})
    return str(license_.get("id") or license_.get("name") or item.get("expression") or "")


def _spdx(document: Object) -> Network:
    """The document, its packages, files and snippets, and the relationships between them."""
    nodes: list[Object] = [{ID: document["SPDXID"], LABEL: ["document"], "name": document.get("name", "")}]
    for kind in ("package", "file", "snippet"):
        for entry in _values(document.get(f"{kind}s")):
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
    return Network(nodes, [link for link in links if link[END] not in ("NONE", "NOASSERTION")])
