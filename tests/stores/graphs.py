"""The example graphs in Neo4j, loaded from their sources by statements of our own."""

import csv
import re
from pathlib import Path

from cases import table

EXAMPLES = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "neo4j_examples"
FILMS = Path(__file__).resolve().parents[2] / "examples" / "films.tsv"

NAMES = {
    "movies": {"Person": "name", "Movie": "title"},
    "northwind": {
        **{"Product": "productName", "Category": "categoryName", "Supplier": "companyName"},
        **{"Customer": "companyName", "Order": "orderID"},
    },
    "films": {},
}
"""Graph → label → the property that names a node; `name` where it is not said."""


def load(driver, graph):
    """Empty the database and load a graph into it."""
    with driver.session() as session:
        session.run("MATCH (n) DETACH DELETE n").consume()
        {"movies": _movies, "northwind": _northwind, "films": _films}[graph](session)


def _movies(session):
    for statement in (EXAMPLES / "movies" / "movies.cypher").read_text("utf-8").split(";\n"):
        if statement.strip():
            session.run(statement).consume()


def _rows(name):
    with (EXAMPLES / "northwind" / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return [{k: v for k, v in row.items() if k is not None} for row in csv.DictReader(lines)]


def _northwind(session):
    sets = (
        "SET n.unitPrice = toFloat(row.unitPrice), n.unitsInStock = toInteger(row.unitsInStock), "
        "n.unitsOnOrder = toInteger(row.unitsOnOrder), n.reorderLevel = toInteger(row.reorderLevel)"
    )
    for name, label in [
        *[("products", "Product"), ("categories", "Category"), ("suppliers", "Supplier")],
        *[("customers", "Customer"), ("orders", "Order")],
    ]:
        more = sets if label == "Product" else ""
        session.run(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row {more}", rows=_rows(name)).consume()
    for label, key in [("Product", "productID"), ("Order", "orderID")]:
        session.run(f"CREATE INDEX {label}_{key} IF NOT EXISTS FOR (n:{label}) ON (n.{key})").consume()
    session.run("CALL db.awaitIndexes()").consume()
    for text in [
        "MATCH (p:Product), (c:Category) WHERE p.categoryID = c.categoryID CREATE (p)-[:PART_OF]->(c)",
        "MATCH (p:Product), (s:Supplier) WHERE p.supplierID = s.supplierID CREATE (s)-[:SUPPLIES]->(p)",
        "MATCH (c:Customer), (o:Order) WHERE c.customerID = o.customerID CREATE (c)-[:PURCHASED]->(o)",
    ]:
        session.run(text).consume()
    session.run(
        "UNWIND $rows AS row MATCH (p:Product {productID: row.productID}), (o:Order {orderID: row.orderID}) "
        "CREATE (o)-[:ORDERS {quantity: toInteger(row.quantity)}]->(p)",
        rows=_rows("order-details"),
    ).consume()


def _lines(path):
    return [line.split("\t") for line in path.read_text("utf-8").splitlines() if line]


def _films(session):
    """The film graph, with the labels that the embedded store gives its types."""
    relations = {relation for _, relation, _ in _lines(FILMS)}
    types = dict(_lines(FILMS.with_name("films.types.tsv")))
    for type_ in sorted(set(types.values())):
        label = type_ + "_node" if type_ in relations else type_
        names = [name for name, own in types.items() if own == type_]
        session.run(f"UNWIND $names AS name CREATE (:{label}:All {{name: name}})", names=names).consume()
    session.run("CREATE INDEX all_name IF NOT EXISTS FOR (n:All) ON (n.name)").consume()
    session.run("CALL db.awaitIndexes()").consume()
    for relation in sorted(relations):
        rows = [[head, tail] for head, own, tail in _lines(FILMS) if own == relation]
        session.run(
            f"UNWIND $rows AS row MATCH (a:All {{name: row[0]}}), (b:All {{name: row[1]}}) "
            f"CREATE (a)-[:{relation}]->(b)",
            rows=rows,
        ).consume()
    session.run("MATCH (n:All) REMOVE n:All").consume()


def kinds_of_queries(graph, schema):
    """For each kind of query, one over every hop of a schema; they return names and numbers, not nodes."""
    return list(zip(*(queries_over(graph, hop) for hop in schema.hops), strict=True))


def queries_over(graph, hop):
    def key(label):
        return NAMES[graph].get(label, "name")

    a, r, b = (
        f"`{part}`" if not re.fullmatch(r"\w+", part) else part for part in (hop.head, hop.type, hop.tail)
    )
    x, y = key(hop.head), key(hop.tail)
    one = f"(a:{a})-[:{r}]->(b:{b})"
    yield f"MATCH {one} RETURN a.{x} AS a, b.{y} AS b"
    yield f"MATCH {one} RETURN b.{y} AS b, count(*) AS n, count(DISTINCT a.{x}) AS m"
    yield f"MATCH {one} WITH b, count(a) AS n WHERE n > 2 RETURN b.{y} AS b, n"
    yield f"MATCH (a:{a})-[:{r}]->(b)<-[:{r}]-(c) WHERE a.{x} < 'H' RETURN a.{x}, b.{y}, c.{x}"
    yield f"MATCH (b:{b})<-[:{r}]-(a), (b)<--(c) WHERE b.{y} STARTS WITH 'M' RETURN b.{y}, count(*)"
    yield f"MATCH (a:{a}) WHERE NOT (a)-[:{r}]->(:{b}) RETURN count(*) AS n"
    yield f"MATCH (b:{b}) WHERE EXISTS {{ (b)<-[:{r}]-(a:{a}) WHERE a.{x} CONTAINS 'an' }} RETURN b.{y}"
    yield f"MATCH (b:{b}) RETURN b.{y} AS b, COUNT {{ (b)<-[:{r}]-(:{a}) }} AS n"
    yield f"MATCH (a:{a}) OPTIONAL MATCH (a)-[:{r}]->(b:{b}) WHERE b.{y} > 'M' RETURN a.{x}, b.{y}"
    yield f"MATCH (a:{a})-[r:{r}]->(b) RETURN type(r) AS t, labels(b)[0] AS l, count(*) AS n"
    yield f"MATCH (a)-[:{r}]-(b) RETURN count(*) AS n"
    yield f"MATCH (a:{a})-[:{r}*1..2]-(c) WHERE a.{x} < 'B' RETURN a.{x}, count(*) AS n"
    yield f"MATCH {one} RETURN DISTINCT toUpper(substring(b.{y}, 0, 2)) AS s ORDER BY s LIMIT 5"
    yield f"MATCH (b:{b}) RETURN b.{y} AS b, [(b)<-[:{r}]-(a:{a}) WHERE a.{x} < 'M' | a.{x}] AS l"
    into = f"(b)<-[:{r}]-(a)"
    yield f"MATCH (c)-->(b:{b}) RETURN b.{y}, COLLECT {{ MATCH {into} RETURN a.{x} }} AS l"
    yield f"MATCH (b:{b}) CALL (b) {{ MATCH {into} RETURN count(a) AS n, max(a.{x}) AS m }} RETURN n, m"
    yield f"MATCH (b:{b}) CALL {{ WITH b MATCH {into} RETURN a.{x} AS x }} RETURN b.{y}, count(x) AS n"
    yield f"MATCH (a:{a}) RETURN a.{x} AS v UNION MATCH (b:{b}) RETURN b.{y} AS v"
    yield (
        f"MATCH {one} RETURN CASE WHEN b.{y} < 'M' THEN 'low' ELSE 'high' END AS c, "
        f"min(a.{x}) AS l, max(a.{x}) AS h, size(collect(b.{y})) AS n"
    )
    yield f"MATCH {one} WHERE b.{y} =~ '.*[aeiou]n.*' AND NOT a.{x} IN ['X', 'Y'] RETURN count(*)"


EXTRA = table("differential")
