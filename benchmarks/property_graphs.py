"""The example graphs of Neo4j (movies, northwind) as node and edge CSVs, for the embedded store."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_NODE = re.compile(r"\((\w+):(Movie|Person) \{(.*?)\}\)$", re.MULTILINE)
_EDGE = re.compile(r"\((\w+)\)-\[:(\w+)(?: \{.*?\})?\]->\((\w+)\)")
_ENTRY = re.compile(r"(\w+):\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|(\d+))")


def write_csvs(graph: str, source: Path, folder: Path) -> None:
    """Write `graph`, read from its published form in `source`, as CSVs with the headers of Neo4j."""
    folder.mkdir(parents=True, exist_ok=True)
    {"movies": _movies, "northwind": _northwind}[graph](source / graph, folder)


def _nodes(path: Path, label: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow(["id:ID", "name", ":LABEL", *header])
        writer.writerows([row[0], row[1], label, *row[2:]] for row in rows)


def _edges(path: Path, rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines)
        writer.writerow([":START_ID", ":TYPE", ":END_ID"])
        writer.writerows(rows)


def _movies(source: Path, folder: Path) -> None:
    text = (source / "movies.cypher").read_text("utf-8")
    nodes_by_label: dict[str, list[tuple[str, dict[str, str]]]] = {"Movie": [], "Person": []}
    for id, label, body in _NODE.findall(text):
        nodes_by_label[label].append((id, {e[0]: e[1] or e[2] or e[3] for e in _ENTRY.findall(body)}))
    movies = [
        (i, p["title"], p["title"], p["released"], p.get("tagline", "")) for i, p in nodes_by_label["Movie"]
    ]
    _nodes(folder / "movies.csv", "Movie", ["title", "released:long", "tagline"], movies)
    people = [(i, p["name"], p.get("born", "")) for i, p in nodes_by_label["Person"]]
    _nodes(folder / "people.csv", "Person", ["born:long"], people)
    _edges(folder / "edges.csv", dict.fromkeys(_EDGE.findall(text)))


_NUMBERS = {"unitPrice": "double", "unitsInStock": "long", "unitsOnOrder": "long", "reorderLevel": "long"}
_TABLES = {
    "Product": ("products", "productID", "productName"),
    "Category": ("categories", "categoryID", "categoryName"),
    "Supplier": ("suppliers", "supplierID", "companyName"),
    "Customer": ("customers", "customerID", "companyName"),
    "Order": ("orders", "orderID", "orderID"),
}


def _northwind(source: Path, folder: Path) -> None:
    rows: dict[str, list[Mapping[str, str]]] = {}
    for label, (file, key, name) in _TABLES.items():
        with (source / f"{file}.csv").open(encoding="utf-8", newline="") as lines:
            rows[label] = [{k: v for k, v in r.items() if k is not None} for r in csv.DictReader(lines)]
        columns = [c for c in rows[label][0] if c not in ("picture",)]
        header = [f"{c}:{_NUMBERS[c]}" if c in _NUMBERS and label == "Product" else c for c in columns]
        nodes = [(f"{label}{r[key]}", r[name], *(r[c] for c in columns)) for r in rows[label]]
        _nodes(folder / f"{file}.csv", label, header, nodes)
    edges = [(f"Product{r['productID']}", "PART_OF", f"Category{r['categoryID']}") for r in rows["Product"]]
    edges += [(f"Supplier{r['supplierID']}", "SUPPLIES", f"Product{r['productID']}") for r in rows["Product"]]
    edges += [(f"Customer{r['customerID']}", "PURCHASED", f"Order{r['orderID']}") for r in rows["Order"]]
    with (source / "order-details.csv").open(encoding="utf-8", newline="") as lines:
        details = list(csv.DictReader(lines))
    edges += [(f"Order{r['orderID']}", "ORDERS", f"Product{r['productID']}") for r in details]
    _edges(folder / "edges.csv", edges)
