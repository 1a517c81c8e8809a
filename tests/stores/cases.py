"""The tables of cases in `tests/data/stores`, and the attacks that are too long to be written down."""

import tomllib
from pathlib import Path

TABLES = Path(__file__).resolve().parents[1] / "data" / "stores"


def table(name):
    return tomllib.loads((TABLES / f"{name}.toml").read_text("utf-8"))


CYPHER, SPARQL = table("cypher_attacks"), table("sparql_attacks")
CYPHER["refused"] += [
    "RETURN " + "(" * 5000 + "1" + ")" * 5000,
    "RETURN " + "[" * 3000 + "]" * 3000,
    "RETURN " + "NOT " * 3000 + "true",
    "RETURN " + "-" * 3001 + "1",
    "MATCH (n) WHERE " + "EXISTS { MATCH (m) WHERE " * 200 + "true" + " }" * 200 + " RETURN n",
    "RETURN '" + "x" * 60_000 + "'",
]
CYPHER["bombs"] += [
    "RETURN " + "replace(" * 20 + "'a'" + ", 'a', 'aaaaaaaaaa')" * 20,
    "WITH 'aaaaaaaaaa' AS a " + "WITH a + a AS a " * 40 + "RETURN a",
    "WITH [1, 2] AS a " + "WITH a + a + a AS a " * 30 + "RETURN size(a)",
    "RETURN " + "1+" * 20000 + "1",
    "RETURN [" + "[(a)-->(b {x: " * 25 + "1" + "}) | 1]" * 25 + "]",
]
SPARQL["refused"] += [
    "SELECT * " + "{" * 300 + "?s ?p ?o" + "}" * 300,
    f"SELECT * {{ ?s ?p ?o FILTER({'(' * 500}1{')' * 500}) }}",
    f"SELECT * {{ ?s ?p ?o FILTER(?o = '{'x' * 30_000}') }}",
]
SPARQL["bombs"] += [
    "SELECT ?x { BIND('aaaaaaaaaa' AS ?a0) "
    + " ".join(f"BIND(CONCAT(?a{i}, ?a{i}) AS ?a{i + 1})" for i in range(40))
    + " BIND(STRLEN(?a40) AS ?x) }",
    "SELECT ?x { VALUES ?x { 1 } FILTER(?x IN (" + "1," * 6_000 + "1)) }",
    "SELECT * { ?a ?b ?c } ORDER BY " + "?a" * 6_000,
    "SELECT * { ?s ?p ?o FILTER(" + "!" * 15_000 + "?o) }",
    "SELECT * { ?s " + "<a>/" * 4_000 + "<a> ?o }",
]
